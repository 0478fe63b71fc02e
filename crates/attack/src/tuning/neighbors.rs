//! The k-th neighbor at several ranks, all from one search.

use std::sync::Arc;

use leakgauge_base::parallel;

use crate::scorer::neighbors::Search;
use crate::scorer::{KNearest, Kind, Metric, Neighbors, Rank, TransformKind, Vote};
use crate::scores::ScoreTable;
use crate::tuning::family::Family;
use crate::tuning::model_selection::ModelSelection;
use crate::tuning::scorer_choice::ScorerChoice;
use crate::tuning::task::Task;
use leakgauge_log::observations::Counts;

/// A distance in a space.
pub(super) struct NeighborFamily {
    metric: Metric,
    transform: TransformKind,
    /// Whether the k nearest of all rows vote too.
    votes: bool,
}

/// What may be spent on any but the usual distance.
const MAX_FOR_OTHERS: f64 = 2.0;

impl NeighborFamily {
    /// The usual distance first.
    pub fn all() -> impl Iterator<Item = NeighborFamily> {
        use {Metric::*, TransformKind::*};
        let families = [
            (Euclidean, Scaled, false),
            (Hamming, Scaled, true),
            (Manhattan, Scaled, true),
            (Chebyshev, Scaled, false),
            (Euclidean, Whitened, false),
            (Euclidean, Principal, false),
        ];
        families
            .into_iter()
            .map(|(metric, transform, votes)| NeighborFamily {
                metric,
                transform,
                votes,
            })
    }

    fn is_usual(&self) -> bool {
        self.metric == Metric::Euclidean && self.transform == TransformKind::Scaled
    }

    /// The ranks to try: the nearest, then multiples of the square root of the number of fit rows. Most of
    /// the time of a search with many neighbors goes into sorting these, so that other distances do
    /// without the largest.
    fn ranks(&self, most_rows: usize, choice: Option<ScorerChoice>) -> Vec<Rank> {
        const MULTIPLES: [f64; 6] = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0];
        let multiples = &MULTIPLES[..if self.is_usual() { 6 } else { 4 }];
        let mut ranks = Vec::new();
        if choice != Some(ScorerChoice::KNearest) {
            ranks.push(Rank::Fixed(1));
        }
        if choice != Some(ScorerChoice::Nearest) {
            let fits = |rank: &Rank| {
                rank.neighbors(most_rows) > 1 && 4 * rank.neighbors(most_rows) <= most_rows
            };
            let multiples = multiples.iter().copied();
            ranks.extend(multiples.map(Rank::RootTimes).filter(fits));
        }
        if ranks.is_empty() {
            ranks.push(Rank::RootTimes(1.0));
        }
        ranks
    }

    fn enter_votes(&self, selection: &mut ModelSelection, neighbors: &Arc<Neighbors>) {
        let task = selection.task();
        if !self.votes || task.attacks.built_in() == Some(ScorerChoice::Nearest) {
            return;
        }
        let ranks = [Rank::Fixed(3), Rank::LogTimes(1.0)];
        let ids = selection.ids().to_vec();
        let tables = in_blocks(&ids, task.secrets(), ranks.len(), |ids, out| {
            neighbors.votes(task.observations, ids, &ranks, out);
        });
        for (rank, values) in ranks.into_iter().zip(tables) {
            let scores = ScoreTable::new(ids.clone(), task.secrets(), values);
            selection.enter_scored(Arc::new(Vote::new("vote", neighbors.clone(), rank)), scores);
        }
    }
}

impl Family for NeighborFamily {
    fn kind(&self) -> Kind {
        Kind::neighbors(self.metric, self.transform)
    }

    fn names(&self) -> &'static [ScorerChoice] {
        &[ScorerChoice::KNearest, ScorerChoice::Nearest]
    }

    /// In one column there is one distance, and columns that do not recur differ anyway.
    fn applies(&self, task: &Task) -> bool {
        /// Eigenvectors of more columns take time in proportion to their cube.
        const MAX_ROTATED: usize = 200;
        if self.transform != TransformKind::Scaled && task.dimensions() > MAX_ROTATED {
            return false;
        }
        let columns = match self.metric {
            Metric::Hamming => task.recurring,
            _ => task.dimensions(),
        };
        columns > usize::from(!self.is_usual())
    }

    fn most_seconds(&self) -> f64 {
        if self.is_usual() {
            f64::INFINITY
        } else {
            MAX_FOR_OTHERS
        }
    }

    /// All numbers are in memory, some of them twice.
    fn most_rows(&self, task: &Task) -> u64 {
        const MAX_NUMBERS: u64 = 200_000_000;
        match task.dimensions() as u64 {
            0 | 1 => u64::MAX,
            d => MAX_NUMBERS / d,
        }
    }

    fn cost(&self, task: &Task, fit_rows: u64) -> f64 {
        let rows = (fit_rows as f64 / task.secrets() as f64).ceil() as usize;
        let ranks = self.ranks(rows, task.attacks.built_in());
        let neighbors = ranks.iter().map(|rank| rank.neighbors(rows)).max();
        let search = Search {
            metric: self.metric,
            neighbors: neighbors.unwrap_or(1),
            dimensions: match self.metric {
                Metric::Hamming => task.recurring,
                _ => task.dimensions(),
            },
            secrets: task.secrets(),
            fit_rows,
        };
        let seconds = search.nominal_seconds(task.scored() as usize);
        if self.votes { 1.5 * seconds } else { seconds }
    }

    fn enter(&self, selection: &mut ModelSelection, fit: &Counts) -> Result<(), String> {
        let task = selection.task();
        let neighbors = Neighbors::fit_with(task.observations, fit, self.metric, self.transform)
            .map(Arc::new)?;
        let most = fit.rows().iter().copied().max().unwrap_or(0) as usize;
        let ranks = self.ranks(most, task.attacks.built_in());
        let distances = in_blocks(selection.ids(), task.secrets(), ranks.len(), |ids, out| {
            neighbors.ln_distances(task.observations, ids, &ranks, out);
        });
        let dimension = dimension(&task, fit, &neighbors, &ranks, &distances);
        for (rank, mut values) in ranks.into_iter().zip(distances) {
            let name = if rank == Rank::Fixed(1) {
                "nearest"
            } else {
                "knn"
            };
            let scorer = KNearest::new(name, neighbors.clone(), rank, dimension);
            scorer.to_scores(task.observations, selection.ids(), &mut values);
            let scores = ScoreTable::new(selection.ids().to_vec(), task.secrets(), values);
            selection.enter_scored(Arc::new(scorer), scores);
        }
        self.enter_votes(selection, &neighbors);
        Ok(())
    }
}

/// Tables of some observations, one a rank, filled block by block.
fn in_blocks(
    ids: &[u32],
    secrets: usize,
    ranks: usize,
    fill: impl Fn(&[u32], &mut [&mut [f64]]) + Sync,
) -> Vec<Vec<f64>> {
    const BLOCK: usize = 1024;
    let blocks = parallel::map(ids.len().div_ceil(BLOCK), |at| {
        let ids = &ids[at * BLOCK..ids.len().min((at + 1) * BLOCK)];
        let mut block = vec![vec![0.0; ids.len() * secrets]; ranks];
        let mut out: Vec<&mut [f64]> = block.iter_mut().map(Vec::as_mut_slice).collect();
        fill(ids, &mut out);
        block
    });
    let mut tables = vec![Vec::with_capacity(ids.len() * secrets); ranks];
    for block in blocks {
        for (all, part) in tables.iter_mut().zip(block) {
            all.extend(part);
        }
    }
    tables
}

/// The intrinsic dimension: how fast the number of neighbors of the same secret grows with the
/// distance, between the smallest and a middle rank.
fn dimension(
    task: &Task,
    fit: &Counts,
    neighbors: &Neighbors,
    ranks: &[Rank],
    distances: &[Vec<f64>],
) -> f64 {
    let most = neighbors.dimensions();
    if most <= 1 || ranks.len() < 2 {
        return most as f64;
    }
    let (near, far) = (0, ranks.len() / 2);
    let (mut neighbors_grow, mut distance_grows) = (0.0, 0.0);
    for (row, cells) in task.split.tune.by_symbol().enumerate() {
        for cell in cells {
            let at = row * task.secrets() + cell.secret as usize;
            let rows = fit.rows()[cell.secret as usize] as usize;
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
