//! The worst pairs seen so far, kept so that the result does not depend on the order of the search.

use crate::extreme::Extreme;

/// Relative difference below which two overlaps are equal up to rounding.
const EQUAL: f64 = 1e-12;

/// All pairs that can still be the first of those with the smallest overlap.
///
/// A pair is dropped only if another pair has at most its overlap and an earlier position, or if its overlap exceeds
/// the smallest by more than rounding. The result depends only on the set of pairs offered.
#[derive(Debug, Clone, Default)]
pub struct Frontier {
    entries: Vec<(f64, (usize, usize))>,
    best: Option<f64>,
}

impl Frontier {
    /// The overlap above which a pair cannot be the result; infinite before the first pair.
    pub fn limit(&self) -> f64 {
        self.best.map_or(f64::INFINITY, |best| best * (1.0 + EQUAL))
    }

    /// Adds a pair; its order does not matter.
    pub fn offer(&mut self, overlap: f64, a: usize, b: usize) {
        if overlap > self.limit() {
            return;
        }
        let pair = (a.min(b), a.max(b));
        let better = |entry: &(f64, (usize, usize))| entry.0 <= overlap && entry.1 <= pair;
        if self.entries.iter().any(better) {
            return;
        }
        self.best = Some(self.best.map_or(overlap, |best| best.at_most(overlap)));
        let limit = self.limit();
        self.entries
            .retain(|entry| entry.0 <= limit && !(overlap <= entry.0 && pair <= entry.1));
        self.entries.push((overlap, pair));
    }

    /// Adds the pairs of another frontier.
    pub fn merge(&mut self, other: &Frontier) {
        for &(overlap, (a, b)) in &other.entries {
            self.offer(overlap, a, b);
        }
    }

    /// The first of the pairs with the smallest overlap, up to rounding.
    pub fn first(&self) -> Option<(usize, usize)> {
        self.entries.iter().map(|entry| entry.1).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_offers_does_not_matter() {
        let pairs = [
            (0.5, (3, 4)),
            (0.5 * (1.0 + 0.9e-12), (0, 1)),
            (0.5 * (1.0 + 0.5e-12), (1, 2)),
            (0.5 * (1.0 - 0.5e-12), (2, 3)),
            (0.7, (0, 2)),
        ];
        let mut orders = vec![
            [0, 1, 2, 3, 4],
            [4, 3, 2, 1, 0],
            [1, 0, 3, 2, 4],
            [2, 4, 1, 0, 3],
        ];
        orders.push([3, 1, 4, 2, 0]);
        for order in orders {
            let mut frontier = Frontier::default();
            for k in order {
                let (overlap, (a, b)) = pairs[k];
                frontier.offer(overlap, b, a);
            }
            assert_eq!(frontier.first(), Some((1, 2)), "{order:?}");
        }
    }
}
