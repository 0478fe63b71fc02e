//! The direct algorithm, and the rounds that all searches over pairs use.

use leakgauge_base::parallel;
use std::ops::Range;

use crate::channel::diameter::reduced::Reduced;
use crate::channel::diameter::{Found, Frontier, Work};

/// The number of rows that one task compares with all later rows; they stay in the cache.
pub const TILE: usize = 16;
/// Tasks of the first round; each round has twice as many, up to [`MAX_TASKS`].
const FIRST_TASKS: usize = 8;
const MAX_TASKS: usize = 64;

/// The result of one task.
#[derive(Default)]
pub struct TileFound {
    pub frontier: Frontier,
    pub work: Work,
}

impl TileFound {
    /// No work done yet, with the worst pairs of earlier rounds.
    pub fn starting_at(best: Frontier) -> Self {
        TileFound {
            frontier: best,
            work: Work::default(),
        }
    }
}

/// Runs the tiles of rows in rounds. Every tile of a round starts from the same worst pair, so that the work
/// does not depend on the number of threads.
pub fn rounds(
    rows: usize,
    start: Frontier,
    tile: impl Fn(Range<usize>, Frontier) -> TileFound + Sync,
) -> (Frontier, Work) {
    let mut best = start;
    let mut work = Work::default();
    let (mut from, mut tasks) = (0, FIRST_TASKS);
    while from < rows {
        let to = rows.min(from + tasks * TILE);
        let found: Vec<TileFound> = parallel::map((to - from).div_ceil(TILE), |at| {
            let first = from + at * TILE;
            tile(first..to.min(first + TILE), best.clone())
        });
        for found in found {
            best.merge(&found.frontier);
            work.add(found.work);
        }
        from = to;
        tasks = (tasks * 2).min(MAX_TASKS);
    }
    (best, work)
}

/// Compares every pair, stopping within a pair as soon as it cannot be the worst.
pub fn all(reduced: &Reduced) -> Found {
    let rows: Vec<usize> = (0..reduced.rows).collect();
    let (best, work) = among(reduced, &rows);
    Found {
        pair: best.first().unwrap_or((0, 1)),
        work,
    }
}

/// Compares every pair of some rows, in their order.
pub fn among(reduced: &Reduced, rows: &[usize]) -> (Frontier, Work) {
    rounds(rows.len(), Frontier::default(), |tile, best| {
        let mut found = TileFound::starting_at(best);
        for b in tile.start + 1..rows.len() {
            for a in tile.start..tile.end.min(b) {
                let pair = (rows[a], rows[b]);
                evaluate(reduced, pair, pair, &mut found);
            }
        }
        found
    })
}

/// Computes the overlap of two rows as far as needed and offers it under the rows' own numbers.
pub fn evaluate(
    reduced: &Reduced,
    (a, b): (usize, usize),
    names: (usize, usize),
    found: &mut TileFound,
) -> f64 {
    let (overlap, seen) = reduced.overlap(a, b, found.frontier.limit());
    found.work.begun += 1;
    found.work.full += u64::from(seen == reduced.width);
    found.work.entries += seen as u64;
    found.frontier.offer(overlap, names.0, names.1);
    overlap
}
