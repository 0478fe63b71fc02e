//! High dimension: one pass over all points of a secret, stored column by column in tiles.

use crate::scorer::neighbors::Points;
use crate::scorer::neighbors::metric::{Metric, Norm, with_norm};
use crate::scorer::neighbors::nearest::smallest;

/// Points a tile: a few vector registers.
const TILE: usize = 16;

/// The distinct points of one secret in tiles of `TILE` points, each tile column by column.
pub(super) struct Brute {
    d: usize,
    metric: Metric,
    numbers: Vec<f64>,
    counts: Vec<u32>,
}

impl Brute {
    /// Arranges distinct points.
    pub fn new(points: &Points, d: usize, metric: Metric) -> Self {
        let rows = points.counts.len();
        let mut numbers = vec![0.0; rows.next_multiple_of(TILE) * d];
        for (row, point) in points.numbers.chunks_exact(d).enumerate() {
            let tile = &mut numbers[row / TILE * TILE * d..];
            for (column, &value) in point.iter().enumerate() {
                tile[column * TILE + row % TILE] = value;
            }
        }
        Brute {
            d,
            metric,
            numbers,
            counts: points.counts.clone(),
        }
    }

    /// The keys of the nearest of row-major queries; see `Group::search`.
    pub fn search(&self, queries: &[f64], k: usize, found: &mut dyn FnMut(usize, &[f64])) {
        let mut all = vec![0.0; self.counts.len().next_multiple_of(TILE)];
        let (mut keys, mut sorted) = (Vec::new(), Vec::new());
        for (query, x) in queries.chunks_exact(self.d).enumerate() {
            with_norm!(self.metric, N => self.keys::<N>(x, &mut all));
            keys.clear();
            keys.extend(all.iter().copied().zip(self.counts.iter().copied()));
            smallest(&mut keys, k, &mut sorted);
            found(query, &sorted);
        }
    }

    fn keys<N: Norm>(&self, x: &[f64], keys: &mut [f64]) {
        let tiles = self.numbers.chunks_exact(TILE * self.d);
        for (tile, keys) in tiles.zip(keys.chunks_exact_mut(TILE)) {
            let mut sums = [0.0; TILE];
            for (column, &coordinate) in tile.chunks_exact(TILE).zip(x) {
                for (sum, &value) in sums.iter_mut().zip(column) {
                    *sum = N::add(*sum, coordinate - value);
                }
            }
            keys.copy_from_slice(&sums);
        }
    }
}
