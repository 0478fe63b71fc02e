//! High dimension: one pass over all points of a secret, stored column by column in tiles.

use crate::scorer::neighbors::LN_NEAR;

/// Points a tile: a few vector registers.
const TILE: usize = 16;

/// All points of every secret in tiles of `TILE` points, each tile column by column.
pub struct Brute {
    secrets: Vec<Tiles>,
    d: usize,
}

struct Tiles {
    numbers: Vec<f64>,
    rows: usize,
}

impl Brute {
    /// Arranges row-major points of each secret.
    pub fn new(points: &[Vec<f64>], d: usize) -> Self {
        Brute {
            secrets: points.iter().map(|points| Tiles::new(points, d)).collect(),
            d,
        }
    }

    /// Distances from row-major queries; see `Group::search`.
    pub fn search(
        &self,
        secret: usize,
        queries: &[f64],
        ks: &[usize],
        found: &mut dyn FnMut(usize, usize, f64),
    ) {
        let tiles = &self.secrets[secret];
        let mut squares = vec![0.0; tiles.rows.next_multiple_of(TILE)];
        for (query, x) in queries.chunks_exact(self.d).enumerate() {
            tiles.squared_distances(x, &mut squares);
            select(&mut squares[..tiles.rows], ks, &mut |rank, ln| {
                found(query, rank, ln)
            });
        }
    }
}

impl Tiles {
    fn new(points: &[f64], d: usize) -> Self {
        let rows = points.len() / d;
        let mut numbers = vec![0.0; rows.next_multiple_of(TILE) * d];
        for (row, point) in points.chunks_exact(d).enumerate() {
            let tile = &mut numbers[row / TILE * TILE * d..];
            for (column, &value) in point.iter().enumerate() {
                tile[column * TILE + row % TILE] = value;
            }
        }
        Tiles { numbers, rows }
    }

    /// Sums column by column, in the order that the tree sums in: equal inputs give equal bits.
    fn squared_distances(&self, x: &[f64], squares: &mut [f64]) {
        for (tile, squares) in self
            .numbers
            .chunks_exact(TILE * x.len())
            .zip(squares.chunks_exact_mut(TILE))
        {
            let mut sums = [0.0; TILE];
            for (column, &coordinate) in tile.chunks_exact(TILE).zip(x) {
                for (sum, &value) in sums.iter_mut().zip(column) {
                    let difference = coordinate - value;
                    *sum += difference * difference;
                }
            }
            squares.copy_from_slice(&sums);
        }
    }
}

/// Reports the root mean square distance of the k nearest for each k, from squared distances that may
/// be reordered.
pub(super) fn select(squares: &mut [f64], ks: &[usize], found: &mut dyn FnMut(usize, f64)) {
    let largest = ks.iter().copied().max().unwrap_or(1).min(squares.len());
    if largest < squares.len() {
        squares.select_nth_unstable_by(largest - 1, f64::total_cmp);
    }
    let nearest = &mut squares[..largest];
    nearest.sort_unstable_by(f64::total_cmp);
    for (rank, &k) in ks.iter().enumerate() {
        found(rank, ln_mean_distance(&nearest[..k.min(largest)]));
    }
}

/// The logarithm of the root mean square of sorted distances given as squares. Ties in the k-th
/// distance, which rounded data has everywhere, are broken by the nearer ones.
pub(super) fn ln_mean_distance(sorted_squares: &[f64]) -> f64 {
    let mean = sorted_squares.iter().sum::<f64>() / sorted_squares.len() as f64;
    (0.5 * mean.ln()).max(LN_NEAR)
}
