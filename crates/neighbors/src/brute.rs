//! High dimension: one pass over all points.

use crate::Points;
use crate::filter::Filter;
use crate::kernel::Kernel;
use crate::metric::{Metric, Norm, with_norm};
use crate::nearest::{smallest, sort};

/// Points a tile: a few vector registers.
const TILE: usize = 16;
/// Filtering pays if the distinct points are so many times k, and at least so many.
const TIMES_K: usize = 4;
const LEAST: usize = 64;

/// All points. For the Euclidean distance, products in single precision say first which points may be near.
pub struct Brute {
    d: usize,
    metric: Metric,
    kernel: Kernel,
    /// In tiles of `TILE` points, each tile column by column; point by point where there is a filter.
    numbers: Vec<f64>,
    counts: Vec<u32>,
    /// Whether every point stands for one row.
    single: bool,
    /// For the Euclidean distance; the points are in its order.
    filter: Option<Filter>,
}

impl Brute {
    /// Arranges distinct points.
    pub fn new(points: &Points, d: usize, metric: Metric) -> Self {
        Self::with_kernel(points, d, metric, Kernel::best())
    }

    fn with_kernel(points: &Points, d: usize, metric: Metric, kernel: Kernel) -> Self {
        let rows = points.counts.len();
        let mut order: Vec<usize> = (0..rows).collect();
        let mut filter = None;
        if metric == Metric::Euclidean && rows >= LEAST && d < 10_000 {
            let (arranged, by_norm) = Filter::new(&points.numbers, d, kernel);
            (filter, order) = (Some(arranged), by_norm);
        }
        Self::arranged(points, d, metric, kernel, order, filter)
    }

    /// Arranges points in their own order, without a filter.
    pub fn in_order(points: &Points, d: usize, metric: Metric) -> Self {
        let order = (0..points.counts.len()).collect();
        Self::arranged(points, d, metric, Kernel::best(), order, None)
    }

    fn arranged(
        points: &Points,
        d: usize,
        metric: Metric,
        kernel: Kernel,
        order: Vec<usize>,
        filter: Option<Filter>,
    ) -> Self {
        let width = if filter.is_some() { 1 } else { TILE };
        let mut numbers = vec![0.0; order.len().next_multiple_of(width) * d];
        for (at, &row) in order.iter().enumerate() {
            let tile = &mut numbers[at / width * width * d..];
            for (column, &value) in points.numbers[row * d..(row + 1) * d].iter().enumerate() {
                tile[column * width + at % width] = value;
            }
        }
        Brute {
            d,
            metric,
            kernel,
            numbers,
            single: points.counts.iter().all(|&rows| rows == 1),
            counts: order.iter().map(|&row| points.counts[row]).collect(),
            filter,
        }
    }

    /// The key of every point to one query, if the points were arranged in their own order.
    pub fn keys_in_order(&self, x: &[f64]) -> Vec<f64> {
        let mut keys = vec![0.0; self.counts.len().next_multiple_of(TILE)];
        with_norm!(self.metric, N => self.kernel.keys::<N, TILE>(&self.numbers, x, &mut keys));
        keys.truncate(self.counts.len());
        keys
    }

    /// The keys of the nearest of row-major queries; see [`Tree::search`](crate::Tree::search).
    pub fn search(&self, queries: &[f64], k: usize, found: &mut dyn FnMut(usize, &[f64])) {
        match &self.filter {
            Some(filter) if TIMES_K * k <= self.counts.len() => {
                self.search_filtered(filter, queries, k, found);
            }
            _ => self.search_all(queries, k, found),
        }
    }

    fn search_filtered(
        &self,
        filter: &Filter,
        queries: &[f64],
        k: usize,
        found: &mut dyn FnMut(usize, &[f64]),
    ) {
        let mut kept = Kept::default();
        let never_ruled_out = filter.points()..self.counts.len();
        filter.candidates(queries, k, &mut |query, places| {
            let x = &queries[query * self.d..(query + 1) * self.d];
            let places = places.iter().map(|&place| place as usize);
            let places = places.chain(never_ruled_out.clone());
            let keys = places.map(|place| (self.key(x, place), self.counts[place]));
            found(query, kept.smallest(keys, self.single, k));
        });
    }

    /// The squared Euclidean distance to one point where there is a filter, summed as everywhere.
    fn key(&self, x: &[f64], place: usize) -> f64 {
        use crate::metric::Squares;
        let point = &self.numbers[place * self.d..][..self.d];
        x.iter()
            .zip(point)
            .fold(0.0, |sum, (a, b)| Squares::add(sum, a - b))
    }

    fn search_all(&self, queries: &[f64], k: usize, found: &mut dyn FnMut(usize, &[f64])) {
        let mut all = vec![0.0; self.counts.len().next_multiple_of(TILE)];
        let mut kept = Kept::default();
        for (query, x) in queries.chunks_exact(self.d).enumerate() {
            with_norm!(self.metric, N => if self.filter.is_some() {
                self.kernel.keys::<N, 1>(&self.numbers, x, &mut all);
            } else {
                self.kernel.keys::<N, TILE>(&self.numbers, x, &mut all);
            });
            let keys = all.iter().copied().zip(self.counts.iter().copied());
            found(query, kept.smallest(keys, self.single, k));
        }
    }
}

/// Room for keys.
#[derive(Default)]
struct Kept {
    /// Of points that stand for one row each.
    single: Vec<f64>,
    /// With their numbers of rows.
    counted: Vec<(f64, u32)>,
    sorted: Vec<f64>,
}

impl Kept {
    /// The k smallest, ascending, each as often as it has rows.
    fn smallest(
        &mut self,
        keys: impl Iterator<Item = (f64, u32)>,
        single: bool,
        k: usize,
    ) -> &[f64] {
        if !single {
            self.counted.clear();
            self.counted.extend(keys);
            smallest(&mut self.counted, k, &mut self.sorted);
            return &self.sorted;
        }
        let kept = &mut self.single;
        kept.clear();
        kept.extend(keys.map(|(key, _)| key));
        // Where most of them are wanted, sorting all costs less than finding these first.
        if kept.len() > 2 * k {
            kept.select_nth_unstable_by(k - 1, f64::total_cmp);
            kept.truncate(k);
        }
        sort(kept);
        kept.truncate(k);
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Row-major numbers, some of them far out.
    fn numbers(integers: &[i32], scale: f64, far: f64) -> Vec<f64> {
        let number = |&v: &i32| {
            if v == 7 {
                far
            } else {
                f64::from(v) * scale + 1e3
            }
        };
        integers.iter().map(number).collect()
    }

    fn keys(brute: &Brute, queries: &[f64], k: usize) -> Vec<Vec<f64>> {
        let mut keys = vec![Vec::new(); queries.len() / brute.d];
        brute.search(queries, k, &mut |query, found| keys[query] = found.to_vec());
        keys
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// Tied, identical and very distant points, every instruction set: the bits of a plain loop.
        #[test]
        fn the_filter_never_changes_a_bit(
            d in 1usize..24,
            points in prop::collection::vec(-7i32..8, 2000..4000),
            queries in prop::collection::vec(-8i32..9, 30..200),
            scale in prop::sample::select(vec![1.0, 0.1, 1e-9, 1e7]),
            far in prop::sample::select(vec![5.0, 1e9, 1e16, 1e140]),
            k in prop_oneof![1usize..20, 60usize..300],
            most in 1u32..4,
        ) {
            let numbers_of = |v: &[i32]| numbers(&v[..v.len() / d * d], scale, far);
            let (points, queries) = (numbers_of(&points), numbers_of(&queries));
            let counts: Vec<u32> = (0..points.len() / d).map(|row| 1 + row as u32 % most).collect();
            let points = Points { numbers: points, counts };
            let mut expected = Vec::new();
            for x in queries.chunks_exact(d) {
                let mut all = Vec::new();
                for (point, &count) in points.numbers.chunks_exact(d).zip(&points.counts) {
                    let key = x.iter().zip(point).fold(0.0, |sum, (a, b)| sum + (a - b) * (a - b));
                    all.extend(vec![key; count as usize]);
                }
                all.sort_by(f64::total_cmp);
                all.truncate(k);
                expected.push(all);
            }
            for kernel in Kernel::available() {
                let brute = Brute::with_kernel(&points, d, Metric::Euclidean, kernel);
                prop_assert_eq!(&keys(&brute, &queries, k), &expected, "{:?}", kernel);
            }
        }
    }
}
