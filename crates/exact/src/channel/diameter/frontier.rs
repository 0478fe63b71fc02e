//! The best pairs seen so far, kept so that the answer does not depend on the order of looking.

/// Relative difference below which two overlaps are equal up to rounding.
const EQUAL: f64 = 1e-12;

/// All pairs that could still be "the first among those equal to the best".
///
/// A pair is dropped only if another has both a smaller or equal overlap and an earlier place, or if it
/// is worse than the best by more than rounding. What is left depends only on the set of pairs offered.
#[derive(Debug, Clone, Default)]
pub struct Frontier {
    entries: Vec<(f64, (usize, usize))>,
    best: Option<f64>,
}

impl Frontier {
    /// The smallest overlap that is certainly worse than the best; infinite before the first.
    pub fn limit(&self) -> f64 {
        self.best.map_or(f64::INFINITY, |best| best * (1.0 + EQUAL))
    }

    /// Considers a pair, given in any order.
    pub fn offer(&mut self, overlap: f64, a: usize, b: usize) {
        if overlap > self.limit() {
            return;
        }
        let pair = (a.min(b), a.max(b));
        let better = |entry: &(f64, (usize, usize))| entry.0 <= overlap && entry.1 <= pair;
        if self.entries.iter().any(better) {
            return;
        }
        self.best = Some(self.best.map_or(overlap, |best| best.min(overlap)));
        let limit = self.limit();
        self.entries
            .retain(|entry| entry.0 <= limit && !(overlap <= entry.0 && pair <= entry.1));
        self.entries.push((overlap, pair));
    }

    /// Considers everything another has kept.
    pub fn merge(&mut self, other: &Frontier) {
        for &(overlap, (a, b)) in &other.entries {
            self.offer(overlap, a, b);
        }
    }

    /// The first pair among those equal to the best.
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
