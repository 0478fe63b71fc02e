//! What limits are of, and what the bets that they come from are against.

use crate::bettor::Lessons;
use crate::product_bets::{Allowed, Counts};

/// Steps of the total variation.
const VARIATION_STEP: f64 = 0.0025;
/// Steps of ε, and from ε = 2 on of ln ε.
const EPSILON_STEP: f64 = 0.01;
/// The steps of ε up to 2.
const EVEN_STEPS: usize = 200;
/// The largest ε that is looked at.
const MAX_EPSILON: f64 = 40.0;
/// What learning costs: nats that bets lose before rules are good.
const LEARNING: f64 = 2.0;
/// Rows of either secret that are to come, at least, where a limit is aimed at.
const FEW: f64 = 50.0;

/// What limits are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// The total variation.
    TotalVariation,
    /// ε at δ = 0.
    Epsilon,
}

impl Quantity {
    /// The value at a position of the grid.
    fn value(self, at: usize) -> f64 {
        match self {
            Quantity::TotalVariation => VARIATION_STEP * at as f64,
            Quantity::Epsilon if at < EVEN_STEPS => EPSILON_STEP * at as f64,
            Quantity::Epsilon => {
                let more = (at - EVEN_STEPS) as f64;
                2.0 * (more * EPSILON_STEP.ln_1p()).exp()
            }
        }
    }

    fn allowed(self, value: f64) -> Allowed {
        match self {
            Quantity::TotalVariation => Allowed::total_variation(value),
            Quantity::Epsilon => Allowed::privacy(value, 0.0),
        }
    }

    fn largest(self) -> f64 {
        match self {
            Quantity::TotalVariation => 1.0 - VARIATION_STEP,
            Quantity::Epsilon => MAX_EPSILON,
        }
    }

    /// What is allowed by the value at a position of the grid; `None` behind its end.
    pub(crate) fn at(self, at: usize) -> Option<Allowed> {
        let value = self.value(at);
        (value <= self.largest() + 1e-9).then(|| self.allowed(value))
    }

    /// The limit where all values before a position are refuted.
    pub(crate) fn limit(self, next: usize) -> f64 {
        next.checked_sub(1).map_or(0.0, |at| self.value(at))
    }

    /// What rows in the cells of rules show, from the latest on until half of them are counted.
    pub(crate) fn latest(self, segments: impl Iterator<Item = Counts> + Clone) -> Option<f64> {
        let all: f64 = segments.clone().map(|counts| counts.total()).sum();
        let mut sum = Counts::default();
        for counts in segments {
            for cell in 0..3 {
                sum.first[cell] += counts.first[cell];
                sum.second[cell] += counts.second[cell];
            }
            if 2.0 * sum.total() >= all {
                break;
            }
        }
        let rows = 0.5 * sum.total();
        let [right_a, wrong_a] = [sum.first[0], sum.second[0]];
        let [right_b, wrong_b] = [sum.second[2], sum.first[2]];
        match self {
            Quantity::TotalVariation => {
                let event = (right_a - wrong_a).max(right_b - wrong_b);
                (rows > 0.0).then(|| event / rows)
            }
            Quantity::Epsilon => {
                let (right, wrong) = (right_a + right_b, wrong_a + wrong_b);
                (right > 0.0 && wrong > 0.0).then(|| (right / wrong).ln())
            }
        }
    }
}

/// What bets are against that are to raise a limit: the largest value, from the first that is not refuted on, that as
/// many rows as there were would refute, where bets grow as past rows promise.
pub(crate) fn aim(
    quantity: Quantity,
    next: usize,
    lessons: &Lessons,
    rows: f64,
    ln_wanted: f64,
) -> Allowed {
    let front = quantity.value(next).min(quantity.largest());
    let refutes = |value: f64| {
        let rate = lessons.rate(&[quantity.allowed(value)]);
        rows.max(FEW) * rate >= ln_wanted + LEARNING
    };
    let (mut low, mut high) = (front, quantity.largest());
    if quantity == Quantity::Epsilon {
        // From small steps on: most are far below the largest.
        let mut step = 0.25;
        while low + step < high && refutes(low + step) {
            low += step;
            step *= 2.0;
        }
        high = high.min(low + step);
    }
    for _ in 0..5 {
        let middle = 0.5 * (low + high);
        if refutes(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    quantity.allowed(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_rise_from_zero_to_their_end() {
        for (quantity, largest) in [
            (Quantity::TotalVariation, 0.9975),
            (Quantity::Epsilon, 40.0),
        ] {
            let values: Vec<f64> = (0..)
                .take_while(|&at| quantity.at(at).is_some())
                .map(|at| quantity.value(at))
                .collect();
            assert_eq!(values[0], 0.0);
            assert!(values.is_sorted_by(|x, y| x < y));
            let last = *values.last().unwrap();
            assert!(last <= largest + 1e-9 && last > 0.98 * largest, "{last}");
            assert_eq!(quantity.limit(0), 0.0);
            assert_eq!(quantity.limit(3), values[2]);
        }
    }

    #[test]
    fn estimates_are_of_the_latest_half() {
        let old = Counts {
            first: [50.0, 0.0, 50.0],
            second: [50.0, 0.0, 50.0],
        };
        let new = Counts {
            first: [80.0, 10.0, 10.0],
            second: [20.0, 30.0, 50.0],
        };
        let both = [new, old];
        let found = Quantity::TotalVariation.latest(both.iter().copied());
        assert_eq!(found, Some(0.6));
        let found = Quantity::Epsilon.latest(both.iter().copied()).unwrap();
        assert!((found - (130.0f64 / 30.0).ln()).abs() < 1e-12);
        assert_eq!(Quantity::Epsilon.latest(std::iter::empty()), None);
    }
}
