//! Which points are near one.

use leakgauge_neighbors::{Collect, Metric, Points, Tree};

/// Points in a tree, found by their numbers.
pub(super) struct Near {
    tree: Tree,
    /// The number of the point at each place of the tree.
    numbers: Vec<usize>,
}

impl Near {
    /// Arranges row-major points of `d` coordinates.
    pub fn new(points: &[f64], d: usize) -> Self {
        let points = Points::of_rows(points.to_vec(), d);
        let (tree, numbers) = Tree::with_order(&points, d, Metric::Euclidean);
        Near { tree, numbers }
    }

    /// The numbers of the points in tree order: what is near stands near.
    pub fn numbers(&self) -> &[usize] {
        &self.numbers
    }

    /// Appends the points within a squared distance of `x`.
    pub fn within(&self, x: &[f64], square: f64, found: &mut Vec<u32>) {
        let numbers = &self.numbers;
        self.tree.collect(
            x,
            &mut Within {
                square,
                numbers,
                found,
            },
        );
    }

    /// The `k` nearest points as (squared distance, point), the nearest first. Ties are broken by the
    /// tree alone.
    pub fn nearest(&self, x: &[f64], k: usize, best: &mut Vec<(f64, u32)>) {
        best.clear();
        let numbers = &self.numbers;
        self.tree.collect(x, &mut First { k, numbers, best });
    }
}

/// All points within a squared distance.
struct Within<'a> {
    square: f64,
    numbers: &'a [usize],
    found: &'a mut Vec<u32>,
}

impl Collect for Within<'_> {
    fn reaches(&self, bound: f64) -> bool {
        bound <= self.square
    }

    fn offer(&mut self, key: f64, place: usize, _: usize) {
        if key <= self.square {
            self.found.push(self.numbers[place] as u32);
        }
    }
}

/// The nearest points.
struct First<'a> {
    k: usize,
    numbers: &'a [usize],
    best: &'a mut Vec<(f64, u32)>,
}

impl First<'_> {
    fn farthest(&self) -> f64 {
        match self.best.last() {
            Some((last, _)) if self.best.len() == self.k => *last,
            _ => f64::INFINITY,
        }
    }
}

impl Collect for First<'_> {
    /// A point as far away as the last one cannot enter.
    fn reaches(&self, bound: f64) -> bool {
        bound < self.farthest()
    }

    fn offer(&mut self, key: f64, place: usize, _: usize) {
        if self.best.len() == self.k {
            if key >= self.farthest() {
                return;
            }
            self.best.pop();
        }
        let at = self.best.partition_point(|(nearer, _)| *nearer <= key);
        self.best.insert(at, (key, self.numbers[place] as u32));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn finds_what_a_plain_loop_finds() {
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        for d in 1..=4 {
            // Many ties.
            let points: Vec<f64> = (0..500 * d)
                .map(|_| f64::from(rng.random_range(0..12u8)))
                .collect();
            let tree = Near::new(&points, d);
            for query in points.chunks(d).take(60) {
                let distance = |p: &[f64]| -> f64 {
                    p.iter().zip(query).map(|(a, b)| (a - b) * (a - b)).sum()
                };
                let mut all: Vec<(f64, u32)> = points.chunks(d).map(distance).zip(0..).collect();
                let mut found = Vec::new();
                tree.within(query, 9.0, &mut found);
                found.sort_unstable();
                let expected: Vec<u32> = all.iter().filter(|p| p.0 <= 9.0).map(|p| p.1).collect();
                assert_eq!(found, expected);
                let mut best = Vec::new();
                tree.nearest(query, 20, &mut best);
                all.sort_by(|a, b| a.0.total_cmp(&b.0));
                let distances = |list: &[(f64, u32)]| list.iter().map(|p| p.0).collect::<Vec<_>>();
                assert_eq!(distances(&best), distances(&all[..20]));
            }
        }
    }
}
