//! Choosing the attacker on the tune rows.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::observations::{Counts, Observations};
use crate::pairwise::{self, AdvantageGuide, PairChoice, Tally, Target, choose_rules};
use crate::scorer::{
    Frequentist, KNearest, Linear, Neighbors, Parameter, Rank, Scorer, score_table,
};
use crate::scores::ScoreTable;
use crate::split::Split;

/// Numbers that the points of a neighbour search may be, 8 bytes each, some of them held twice.
const MOST_NUMBERS: u64 = 200_000_000;

/// Which attacker to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ScorerChoice {
    /// Whichever does best on the tune rows.
    #[default]
    Auto,
    /// Counts.
    Frequentist,
    /// The k-th neighbour of each secret, k chosen on the tune rows.
    KNearest,
    /// The nearest neighbour of each secret.
    Nearest,
    /// Logistic regression on the numeric columns.
    Linear,
}

/// An attacker that was tried on the tune rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Tried {
    /// Its name.
    pub scorer: &'static str,
    /// Its parameters.
    pub parameters: BTreeMap<&'static str, Parameter>,
    /// Its quality on the tune rows, see [`quality`]; or why it could not be fitted.
    pub quality: std::result::Result<f64, String>,
}

/// The chosen attacker and the rules that it brings.
pub struct Tuned {
    /// The attacker.
    pub scorer: Arc<dyn Scorer>,
    /// A rule for every pair, in the order of [`pairwise::pairs`].
    pub choices: Vec<PairChoice>,
    /// The attacker's scores of the tune rows.
    pub scores: ScoreTable,
    /// Everything that was tried, in order.
    pub tried: Vec<Tried>,
    /// How neighbours are found, if they are.
    pub index: Option<&'static str>,
}

/// Fits the attackers asked for on the fit rows, keeps the one that does best on the tune rows, and
/// chooses its rules there.
///
/// # Errors
/// An attack on numbers and a log without numeric columns; an attack asked for that cannot be fitted;
/// more rows than a neighbour search can hold.
pub fn tune(
    observations: &Observations,
    split: &Split,
    choice: ScorerChoice,
    alpha: f64,
    targets: &[Target],
) -> Result<Tuned> {
    refuse_numbers(observations, split, choice)?;
    let numeric = observations.dimensions() > 0;
    let mut race = Race::new(observations, split, alpha);
    let mut index = None;
    if matches!(choice, ScorerChoice::Auto | ScorerChoice::Frequentist) {
        race.enter(Arc::new(Frequentist::fit(&split.fit)));
    }
    if choice == ScorerChoice::Linear
        || (choice == ScorerChoice::Auto && observations.dimensions() > 1)
    {
        race.enter_linear(choice == ScorerChoice::Linear);
    }
    if numeric
        && matches!(
            choice,
            ScorerChoice::Auto | ScorerChoice::KNearest | ScorerChoice::Nearest
        )
    {
        let neighbors = Arc::new(Neighbors::fit(observations, &split.fit));
        index = Some(neighbors.index_name());
        race.enter_neighbors(&neighbors, choice);
    }
    let (scorer, scores) = race.winner()?;
    Ok(Tuned {
        choices: choose_rules(&scores, &split.tune, alpha, targets),
        scores,
        index: index.filter(|_| matches!(scorer.name(), "knn" | "nearest")),
        scorer,
        tried: race.tried,
    })
}

/// Refuses attacks on numbers where there are none, or more than can be held.
fn refuse_numbers(observations: &Observations, split: &Split, choice: ScorerChoice) -> Result<()> {
    let numeric = observations.dimensions() > 0;
    let for_numbers = [
        ScorerChoice::KNearest,
        ScorerChoice::Nearest,
        ScorerChoice::Linear,
    ];
    if !numeric && for_numbers.contains(&choice) {
        return Err(Error::parameter(
            "--scorer",
            "this attack needs a numeric observation column, and the log has only labels",
        )
        .with_hint("use --scorer frequentist, or read a column as numbers with --numeric COLUMN"));
    }
    let numbers = split
        .fit
        .total()
        .saturating_mul(observations.dimensions() as u64);
    if observations.dimensions() > 1
        && numbers > MOST_NUMBERS
        && choice != ScorerChoice::Frequentist
    {
        return Err(Error::parameter(
            "--scorer",
            format!(
                "neighbours in several numeric columns hold every row in memory, and {} rows are too many",
                split.fit.total()
            ),
        )
        .with_hint("use --scorer frequentist, --observe one column, or fewer rows"));
    }
    Ok(())
}

/// How well scores tell the secrets apart, pair by pair at threshold 0: the largest approximate lower
/// limit of the advantage plus the mean of all of them, negative ones counting 0. Limits rather than
/// rates, so that secrets with a handful of rows do not decide.
pub fn quality(scores: &ScoreTable, tune: &Counts, alpha: f64) -> f64 {
    let by_secret: Vec<Vec<(usize, u64)>> = pairwise::rows_by_secret(tune);
    let secrets = tune.secrets();
    let guide = AdvantageGuide::new(alpha);
    let lower: Vec<f64> = pairwise::pairs(secrets)
        .collect::<Vec<_>>()
        .into_par_iter()
        .map(|(a, b)| {
            let (wins_a, ties_a) = wins(scores, &by_secret[a as usize], a, b);
            let (wins_b, ties_b) = wins(scores, &by_secret[b as usize], b, a);
            let (a_rows, b_rows) = (tune.rows()[a as usize], tune.rows()[b as usize]);
            let tally = |a_right: u64, b_right: u64| Tally {
                a_rows,
                a_missed: a_rows - a_right,
                b_rows,
                b_missed: b_rows - b_right,
            };
            let lower = |tally: Tally| {
                if tally.is_judged() {
                    guide.at_least(&tally).max(0.0)
                } else {
                    0.0
                }
            };
            lower(tally(wins_a + ties_a, wins_b)).max(lower(tally(wins_a, wins_b + ties_b)))
        })
        .collect();
    let largest = lower.iter().copied().fold(0.0, f64::max);
    largest + lower.iter().sum::<f64>() / lower.len().max(1) as f64
}

/// Rows on which one secret scores higher than another, and rows on which they tie.
fn wins(scores: &ScoreTable, rows: &[(usize, u64)], one: u32, other: u32) -> (u64, u64) {
    let (mut wins, mut ties) = (0, 0);
    for &(row, count) in rows {
        let scores = scores.row(row);
        let (mine, theirs) = (scores[one as usize], scores[other as usize]);
        wins += if mine > theirs { count } else { 0 };
        ties += if mine == theirs { count } else { 0 };
    }
    (wins, ties)
}

/// Attackers compared on the tune rows; the first of equals wins.
struct Race<'a> {
    observations: &'a Observations,
    split: &'a Split,
    symbols: Vec<u32>,
    alpha: f64,
    tried: Vec<Tried>,
    best: Option<(f64, Arc<dyn Scorer>, ScoreTable)>,
}

impl<'a> Race<'a> {
    fn new(observations: &'a Observations, split: &'a Split, alpha: f64) -> Self {
        Race {
            observations,
            split,
            symbols: split.tune.symbols(),
            alpha,
            tried: Vec::new(),
            best: None,
        }
    }

    fn enter(&mut self, scorer: Arc<dyn Scorer>) {
        let scores = score_table(
            &*scorer,
            self.observations,
            self.symbols.clone(),
            self.split.fit.secrets(),
        );
        self.enter_scored(scorer, scores);
    }

    fn enter_scored(&mut self, scorer: Arc<dyn Scorer>, scores: ScoreTable) {
        let quality = quality(&scores, &self.split.tune, self.alpha);
        self.tried.push(Tried {
            scorer: scorer.name(),
            parameters: scorer.parameters(),
            quality: Ok(quality),
        });
        if self.best.as_ref().is_none_or(|(best, ..)| quality > *best) {
            self.best = Some((quality, scorer, scores));
        }
    }

    /// All ranks from one search.
    fn enter_neighbors(&mut self, neighbors: &Arc<Neighbors>, choice: ScorerChoice) {
        let most = self.split.fit.rows().iter().copied().max().unwrap_or(0) as usize;
        let ranks = ranks(most, choice);
        let distances = self.distances(neighbors, &ranks);
        let dimension = self.dimension(neighbors, &ranks, &distances);
        for (rank, mut values) in ranks.into_iter().zip(distances) {
            let name = if rank == Rank::Fixed(1) {
                "nearest"
            } else {
                "knn"
            };
            let scorer = KNearest::new(name, neighbors.clone(), rank, dimension);
            scorer.to_scores(self.observations, &self.symbols, &mut values);
            let scores = ScoreTable::new(self.symbols.clone(), self.split.fit.secrets(), values);
            self.enter_scored(Arc::new(scorer), scores);
        }
    }

    fn distances(&self, neighbors: &Neighbors, ranks: &[Rank]) -> Vec<Vec<f64>> {
        const BLOCK: usize = 1024;
        let secrets = self.split.fit.secrets();
        let blocks: Vec<Vec<Vec<f64>>> = self
            .symbols
            .par_chunks(BLOCK)
            .map(|symbols| {
                let mut block = vec![vec![0.0; symbols.len() * secrets]; ranks.len()];
                let mut out: Vec<&mut [f64]> = block.iter_mut().map(Vec::as_mut_slice).collect();
                neighbors.ln_distances(self.observations, symbols, ranks, &mut out);
                block
            })
            .collect();
        let mut distances = vec![Vec::with_capacity(self.symbols.len() * secrets); ranks.len()];
        for block in blocks {
            for (all, part) in distances.iter_mut().zip(block) {
                all.extend(part);
            }
        }
        distances
    }

    /// The intrinsic dimension: how fast the number of neighbours of the same secret grows with the
    /// distance, between the smallest and a middle rank.
    fn dimension(&self, neighbors: &Neighbors, ranks: &[Rank], distances: &[Vec<f64>]) -> f64 {
        let most = neighbors.dimensions();
        if most <= 1 || ranks.len() < 2 {
            return most as f64;
        }
        let (near, far) = (0, ranks.len() / 2);
        let secrets = self.split.fit.secrets();
        let (mut neighbors_grow, mut distance_grows) = (0.0, 0.0);
        for (row, cells) in self.split.tune.by_symbol().enumerate() {
            for cell in cells {
                let at = row * secrets + cell.secret as usize;
                let rows = self.split.fit.rows()[cell.secret as usize] as usize;
                let [k_near, k_far] = [near, far].map(|rank| ranks[rank].neighbors(rows) as f64);
                let [r_near, r_far] = [near, far].map(|rank| distances[rank][at]);
                if r_near > Neighbors::LN_ZERO && k_far > k_near {
                    neighbors_grow += cell.count as f64 * (k_far / k_near).ln();
                    distance_grows += cell.count as f64 * (r_far - r_near);
                }
            }
        }
        let dimension = neighbors_grow / distance_grows;
        if dimension.is_finite() {
            dimension.clamp(1.0, most as f64)
        } else {
            1.0
        }
    }

    /// An attack that cannot be fitted is said so in the report and takes no further part.
    fn enter_linear(&mut self, patient: bool) {
        match Linear::fit(self.observations, &self.split.fit, patient) {
            Ok(scorer) => self.enter(Arc::new(scorer)),
            Err(reason) => self.tried.push(Tried {
                scorer: "linear",
                parameters: BTreeMap::new(),
                quality: Err(reason),
            }),
        }
    }

    fn winner(&mut self) -> Result<(Arc<dyn Scorer>, ScoreTable)> {
        let best = self.best.take().map(|(_, scorer, scores)| (scorer, scores));
        best.ok_or_else(|| {
            let reasons = self
                .tried
                .iter()
                .filter_map(|tried| tried.quality.clone().err());
            Error::parameter(
                "--scorer",
                format!(
                    "could not be fitted: {}",
                    reasons.collect::<Vec<_>>().join("; ")
                ),
            )
            .with_hint("let `auto` choose another attack")
        })
    }
}

/// The ranks to try: the nearest, then multiples of the square root of the number of fit rows.
fn ranks(most_rows: usize, choice: ScorerChoice) -> Vec<Rank> {
    const MULTIPLES: [f64; 6] = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0];
    let mut ranks = Vec::new();
    if choice != ScorerChoice::KNearest {
        ranks.push(Rank::Fixed(1));
    }
    if choice != ScorerChoice::Nearest {
        let fits = |rank: &Rank| {
            rank.neighbors(most_rows) > 1 && 4 * rank.neighbors(most_rows) <= most_rows
        };
        ranks.extend(MULTIPLES.map(Rank::RootTimes).into_iter().filter(fits));
    }
    if ranks.is_empty() {
        ranks.push(Rank::RootTimes(1.0));
    }
    ranks
}
