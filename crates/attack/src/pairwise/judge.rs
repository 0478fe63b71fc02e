//! Judging rules on the certify rows, in blocks, so that the score table need never exist whole.

use leakgauge_base::parallel;

use crate::pairwise::rows::rows_by_secret;
use crate::pairwise::{PairErrors, Rule, ScoredRows};
use crate::scorer::{Scorer, score_table};
use crate::scores::ScoreTable;
use leakgauge_log::observations::{Cell, Counts, Observations};

/// How guesses among all secrets fared.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GuessErrors {
    /// Rows of each secret.
    pub rows: Vec<u64>,
    /// Rows of each secret that were guessed wrong.
    pub errors: Vec<u64>,
}

/// What the certify rows say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// One tally per rule.
    pub tallies: Vec<PairErrors>,
    /// One tally per prior.
    pub guesses: Vec<GuessErrors>,
}

/// The largest number of observations that are scored at once.
const MAX_BLOCK: usize = 1 << 16;
/// The largest number of scores that exist at once, unless one observation has more.
const MAX_SCORES: usize = 1 << 22;

/// Applies rules, and for each prior the guess argmax(score + ln prior), to rows that nothing was
/// learned or chosen on. Ties of a guess go to the first secret.
pub fn judge(
    scorer: &dyn Scorer,
    observations: &Observations,
    certify: &Counts,
    rules: &[Rule],
    priors: &[Vec<f64>],
) -> Judgement {
    judge_and_keep(scorer, observations, certify, rules, priors, None).0
}

/// [`judge`], and the rows of one pair (a, b) as they were scored: score_a − score_b with the rows of a and
/// of b that have it.
pub fn judge_and_keep(
    scorer: &dyn Scorer,
    observations: &Observations,
    certify: &Counts,
    rules: &[Rule],
    priors: &[Vec<f64>],
    keep: Option<(u32, u32)>,
) -> (Judgement, ScoredRows) {
    let secrets = certify.secrets();
    let mut kept = Vec::new();
    let mut judgement = Judgement::untested(certify, rules, priors);
    let ln_priors: Vec<Vec<f64>> = priors.iter().map(|prior| logarithms(prior)).collect();
    for cells in blocks(certify.cells(), block_size(secrets)) {
        let part = Counts::new(secrets, cells.to_vec());
        let scores = score_table(scorer, observations, part.symbols(), secrets);
        let by_secret = rows_by_secret(&part);
        judgement.add(&scores, &part, &by_secret, rules, &ln_priors);
        if let Some((a, b)) = keep {
            let scored = |&(row, count): &(usize, u64)| {
                let scores = scores.row(row);
                (scores[a as usize] - scores[b as usize], count)
            };
            let of_a = by_secret[a as usize].iter().map(scored);
            let of_b = by_secret[b as usize].iter().map(scored);
            kept.extend(of_a.map(|(score, count)| (score, count, 0)));
            kept.extend(of_b.map(|(score, count)| (score, 0, count)));
        }
    }
    (judgement, ScoredRows::new(kept))
}

/// [`judge`] for each of some groups of rows; what occurs in several is scored once.
pub fn judge_groups(
    scorer: &dyn Scorer,
    observations: &Observations,
    groups: &[Counts],
    rules: &[Rule],
    priors: &[Vec<f64>],
) -> Vec<Judgement> {
    let Some(secrets) = groups.first().map(Counts::secrets) else {
        return Vec::new();
    };
    let mut ids: Vec<u32> = groups.iter().flat_map(Counts::symbols).collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.len() > MAX_BLOCK || ids.len() * secrets > MAX_SCORES {
        let judge = |group| judge(scorer, observations, group, rules, priors);
        return groups.iter().map(judge).collect();
    }
    let scores = score_table(scorer, observations, ids, secrets);
    let ln_priors: Vec<Vec<f64>> = priors.iter().map(|prior| logarithms(prior)).collect();
    let of_group = |group: &Counts| {
        let mut judgement = Judgement::untested(group, rules, priors);
        let scores = scores.of(group.symbols());
        judgement.add(&scores, group, &rows_by_secret(group), rules, &ln_priors);
        judgement
    };
    groups.iter().map(of_group).collect()
}

/// How the guesses argmax(score + ln prior) fare on rows whose scores are at hand.
pub fn tally_guesses(scores: &ScoreTable, counts: &Counts, prior: &[f64]) -> GuessErrors {
    let mut tally = GuessErrors::untested(counts);
    add_errors(scores, counts, &logarithms(prior), &mut tally.errors);
    tally
}

impl Judgement {
    fn untested(rows: &Counts, rules: &[Rule], priors: &[Vec<f64>]) -> Self {
        Judgement {
            tallies: vec![PairErrors::default(); rules.len()],
            guesses: vec![GuessErrors::untested(rows); priors.len()],
        }
    }

    /// Adds rows by the scores of their observations.
    fn add(
        &mut self,
        scores: &ScoreTable,
        rows: &Counts,
        by_secret: &[Vec<(usize, u64)>],
        rules: &[Rule],
        ln_priors: &[Vec<f64>],
    ) {
        let view = if rules.len() < scores.secrets() {
            scores.for_few_pairs()
        } else {
            scores.for_pairs()
        };
        parallel::for_each_row(&mut self.tallies, 1, &|at, tally| {
            let (rule, tally) = (&rules[at], &mut tally[0]);
            let says_a = |row: usize| {
                let [a, b] = view.pair(row, [rule.a, rule.b]);
                a - b > rule.threshold
            };
            for &(row, count) in &by_secret[rule.a as usize] {
                tally.a_rows += count;
                tally.a_missed += if says_a(row) { 0 } else { count };
            }
            for &(row, count) in &by_secret[rule.b as usize] {
                tally.b_rows += count;
                tally.b_missed += if says_a(row) { count } else { 0 };
            }
        });
        for (tally, ln_prior) in self.guesses.iter_mut().zip(ln_priors) {
            add_errors(scores, rows, ln_prior, &mut tally.errors);
        }
    }
}

impl GuessErrors {
    fn untested(counts: &Counts) -> Self {
        GuessErrors {
            rows: counts.rows().to_vec(),
            errors: vec![0; counts.secrets()],
        }
    }
}

fn logarithms(prior: &[f64]) -> Vec<f64> {
    prior.iter().map(|p| p.ln()).collect()
}

fn add_errors(scores: &ScoreTable, counts: &Counts, ln_prior: &[f64], errors: &mut [u64]) {
    for (row, cells) in counts.by_symbol().enumerate() {
        let guess = guess(scores.row(row), ln_prior);
        for cell in cells.iter().filter(|cell| cell.secret as usize != guess) {
            errors[cell.secret as usize] += cell.count;
        }
    }
}

/// How many observations of so many secrets are scored at once.
pub(super) fn block_size(secrets: usize) -> usize {
    (MAX_SCORES / secrets.max(1)).clamp(1, MAX_BLOCK)
}

/// Runs of cells with at most about `size` distinct observations, cut between observations.
pub(super) fn blocks(cells: &[Cell], size: usize) -> Vec<&[Cell]> {
    let mut blocks = Vec::new();
    let mut rest = cells;
    while !rest.is_empty() {
        let mut seen = 0;
        let mut at = 0;
        for cells in rest.chunk_by(|a, b| a.symbol == b.symbol) {
            seen += 1;
            at += cells.len();
            if seen == size {
                break;
            }
        }
        let (block, later) = rest.split_at(at);
        blocks.push(block);
        rest = later;
    }
    blocks
}

/// The secret with the largest score + ln prior; the first of equals.
pub fn guess(scores: &[f64], ln_prior: &[f64]) -> usize {
    let mut best = (0, f64::NEG_INFINITY);
    for (secret, (score, ln_prior)) in scores.iter().zip(ln_prior).enumerate() {
        let value = score + ln_prior;
        if value > best.1 {
            best = (secret, value);
        }
    }
    best.0
}
