//! The k-th neighbour at several ranks, all from one search.

use std::sync::Arc;

use rayon::prelude::*;

use crate::observations::Counts;
use crate::scorer::{KNearest, Neighbors, Rank};
use crate::scores::ScoreTable;
use crate::tuning::ScorerChoice;
use crate::tuning::families::Family;
use crate::tuning::race::{Race, Task};

pub(super) struct NeighborFamily;

impl Family for NeighborFamily {
    fn name(&self) -> &'static str {
        "knn"
    }

    fn is_asked(&self, choice: ScorerChoice) -> bool {
        matches!(
            choice,
            ScorerChoice::Auto | ScorerChoice::KNearest | ScorerChoice::Nearest
        )
    }

    fn applies(&self, task: &Task) -> bool {
        task.dimensions() > 0
    }

    /// All numbers are in memory, some of them twice.
    fn most_rows(&self, task: &Task) -> u64 {
        const MOST_NUMBERS: u64 = 200_000_000;
        match task.dimensions() as u64 {
            0 | 1 => u64::MAX,
            d => MOST_NUMBERS / d,
        }
    }

    fn cost(&self, task: &Task, fit_rows: u64) -> f64 {
        let (rows, secrets) = (fit_rows as f64, task.secrets() as f64);
        match task.dimensions() {
            0 | 1 => 1e-7 * (rows * rows.max(2.0).log2() / 10.0 + task.scored() * secrets),
            // A blocked loop; trees, where they pay, take less.
            d => 1.2e-11 * rows * task.scored() * d as f64,
        }
    }

    fn enter(&self, race: &mut Race, fit: &Counts) -> Result<(), String> {
        let task = race.task();
        let neighbors = Arc::new(Neighbors::fit(task.observations, fit));
        let most = fit.rows().iter().copied().max().unwrap_or(0) as usize;
        let ranks = ranks(most, task.choice);
        let distances = distances(&task, &neighbors, &ranks, race.symbols());
        let dimension = dimension(&task, fit, &neighbors, &ranks, &distances);
        for (rank, mut values) in ranks.into_iter().zip(distances) {
            let name = if rank == Rank::Fixed(1) {
                "nearest"
            } else {
                "knn"
            };
            let scorer = KNearest::new(name, neighbors.clone(), rank, dimension);
            scorer.to_scores(task.observations, race.symbols(), &mut values);
            let scores = ScoreTable::new(race.symbols().to_vec(), task.secrets(), values);
            race.enter_scored(Arc::new(scorer), scores);
        }
        Ok(())
    }
}

/// ln r of the tune rows, one table a rank.
fn distances(task: &Task, neighbors: &Neighbors, ranks: &[Rank], symbols: &[u32]) -> Vec<Vec<f64>> {
    const BLOCK: usize = 1024;
    let secrets = task.secrets();
    let blocks: Vec<Vec<Vec<f64>>> = symbols
        .par_chunks(BLOCK)
        .map(|symbols| {
            let mut block = vec![vec![0.0; symbols.len() * secrets]; ranks.len()];
            let mut out: Vec<&mut [f64]> = block.iter_mut().map(Vec::as_mut_slice).collect();
            neighbors.ln_distances(task.observations, symbols, ranks, &mut out);
            block
        })
        .collect();
    let mut distances = vec![Vec::with_capacity(symbols.len() * secrets); ranks.len()];
    for block in blocks {
        for (all, part) in distances.iter_mut().zip(block) {
            all.extend(part);
        }
    }
    distances
}

/// The intrinsic dimension: how fast the number of neighbours of the same secret grows with the
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
