//! Which pair is judged next: the one that looks worst, with a bonus for those of which little is known.
//!
//! The choice depends on past outputs only, so bets on what is drawn next are as valid as if it were fixed.

/// Standard errors that a pair's growth is held to be better than it looks, to explore.
const BONUS: f64 = 1.0;
/// Standard errors within which growth is plausible.
const PLAUSIBLE: f64 = 2.5;
/// A pair is estimated again once there are so many times as many outputs.
const AGAIN: f64 = 1.3;

#[derive(Debug, Clone, Copy, Default)]
struct Estimate {
    /// The growth of a bet for one output of each input, as a distance in standard deviations: √(2 rate).
    distance: f64,
    /// Outputs of the input that has fewer.
    rows: usize,
    /// Outputs of both when it was estimated.
    total: usize,
}

impl Estimate {
    fn optimistic(&self, errors: f64) -> f64 {
        self.distance + errors / (self.rows.max(1) as f64).sqrt()
    }
}

/// What is known of the pairs.
#[derive(Debug)]
pub(crate) struct Allocation {
    estimates: Vec<Estimate>,
    choices: u64,
}

impl Allocation {
    pub fn new(pairs: usize) -> Self {
        Allocation {
            estimates: vec![Estimate::default(); pairs],
            choices: 0,
        }
    }

    /// Whether there are enough more outputs to estimate a pair again.
    pub fn is_due(&self, pair: usize, total: usize) -> bool {
        total as f64 >= AGAIN * self.estimates[pair].total as f64
            && total > self.estimates[pair].total
    }

    pub fn record(&mut self, pair: usize, rate: f64, rows: usize, total: usize) {
        self.estimates[pair] = Estimate {
            distance: (2.0 * rate).sqrt(),
            rows,
            total,
        };
    }

    /// The pair to judge next. Where all pairs are needed (`even`), every second choice is the pair with the fewest
    /// outputs; `rows` are those of its input that has fewer.
    pub fn choose(&mut self, rows: impl Fn(usize) -> usize, even: bool) -> usize {
        self.choices += 1;
        let pairs = 0..self.estimates.len();
        if even && self.choices.is_multiple_of(2) {
            return pairs.min_by_key(|&at| rows(at)).unwrap_or(0);
        }
        let index = |at: usize| self.estimates[at].optimistic(BONUS);
        pairs.fold(
            0,
            |best, at| if index(at) > index(best) { at } else { best },
        )
    }

    /// The fastest growth that is plausible at any pair: nats for an output of each input.
    pub fn plausible_rate(&self) -> f64 {
        let distances = self
            .estimates
            .iter()
            .map(|estimate| estimate.optimistic(PLAUSIBLE));
        0.5 * distances.fold(0.0, f64::max).powi(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_pair_is_judged_and_unknown_ones_are_explored() {
        let mut allocation = Allocation::new(3);
        allocation.record(0, 0.02, 10_000, 20_000);
        allocation.record(1, 0.08, 10_000, 20_000);
        allocation.record(2, 0.02, 10_000, 20_000);
        assert_eq!(allocation.choose(|_| 0, false), 1);
        allocation.record(2, 0.02, 10, 20);
        assert_eq!(allocation.choose(|_| 0, false), 2);
        assert!(allocation.is_due(2, 26) && !allocation.is_due(2, 25));
    }
}
