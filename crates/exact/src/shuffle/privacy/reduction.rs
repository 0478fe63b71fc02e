//! Reductions of shuffled reports to two counts.

use crate::extreme::Extreme;
use crate::hockey_stick::Level;
use leakgauge_base::parallel;
use leakgauge_stats::binomial_tail::{at_most, mass};

/// Shuffled reports reduced to two counts: with C binomial(n − 1, `shown`) and A binomial(C, ½), the pair (A, C − A) of
/// which the target raises the first count with probability `ahead`, the second with `behind`; of the neighboring input the
/// two are exchanged. Otherwise the target raises none and its message says nothing: which of the two happened is told.
///
/// It has to be. What others send who raise no count need not look like what the target then sends, so that messages can
/// tell whether the target raised one, and this depends on its input: as a count that nobody is told of it, δ would come out
/// too small (randomized response of four values with e^ε₀ = 3, four users, e^ε = 2: 0.0270 where 13/432 = 0.0301 is the
/// truth).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reduction {
    ahead: f64,
    behind: f64,
    shown: f64,
}

impl Reduction {
    /// The clone reduction of any ε₀-private randomizer.
    pub fn clones(epsilon: f64) -> Reduction {
        let behind = 1.0 / (1.0 + epsilon.exp());
        Reduction {
            ahead: 1.0 - behind,
            behind,
            shown: (-epsilon).exp(),
        }
    }

    /// The variation-ratio reduction of an ε₀-private randomizer with total variation β between any two inputs:
    /// α = β/(e^ε₀ − 1), the target's counts with e^ε₀·α and α, the others' with 2α. Where the densities of two inputs
    /// differ, Q₀ = (P₀ − P₁)⁺/β and Q₁ = (P₁ − P₀)⁺/β, they are e^ε₀·αQ₀ + αQ₁ and αQ₀ + e^ε₀·αQ₁ beside what they share,
    /// and every other input has αQ₀ + αQ₁ at least. With the largest β that ε₀ allows, (e^ε₀ − 1)/(e^ε₀ + 1), it is the
    /// stronger clone.
    pub fn variation_ratio(epsilon: f64, variation: f64) -> Reduction {
        let behind = if epsilon == 0.0 {
            0.0
        } else {
            variation / epsilon.exp_m1()
        };
        Reduction {
            ahead: (variation + behind).at_most(1.0),
            behind,
            shown: (2.0 * behind).at_most(1.0),
        }
    }

    /// The hockey-stick divergence at ε of the two laws.
    ///
    /// # Formula
    /// The probability that the target raises a count, times the divergence if it does. Given the sum s of both counts, the
    /// likelihood ratio rises with the first count a, so that this is a sum over s of binomial tails from a threshold on.
    pub fn delta(&self, n: u64, epsilon: f64) -> f64 {
        let raises = self.ahead + self.behind;
        if raises <= 0.0 {
            return 0.0;
        }
        let raised = Reduction {
            ahead: self.ahead / raises,
            behind: self.behind / raises,
            shown: self.shown,
        };
        raises.at_most(1.0) * raised.delta_if_raised(n, epsilon)
    }

    fn delta_if_raised(&self, n: u64, epsilon: f64) -> f64 {
        let others = n - 1;
        let mean = others as f64 * self.shown;
        let reach = 12.0 * (mean * (1.0 - self.shown)).sqrt() + 45.0;
        let first = (mean - reach).at_least(0.0) as u64;
        let last = ((mean + reach) as u64 + 1).min(n);
        let all = parallel::map((last - first + 1) as usize, |at| {
            self.given_sum(first + at as u64, others, epsilon)
        });
        // What lies beyond the reach has a mass below e^−45.
        (all.iter().sum::<f64>() + 1e-19).at_most(1.0)
    }

    fn given_sum(&self, sum: u64, others: u64, epsilon: f64) -> f64 {
        let mass = |count: u64| match self.shown {
            0.0 => f64::from(u8::from(count == 0)),
            1.0 => f64::from(u8::from(count == others)),
            shown => mass(count as f64, others as f64, shown),
        };
        let raised = if sum > 0 { mass(sum - 1) } else { 0.0 };
        let level = Level::new(epsilon);
        // P(Bin(count, ½) ≥ a), by symmetry from the other side.
        let tail = |a: u64, count: u64| {
            if a > count {
                0.0
            } else {
                at_most(count - a, count, 0.5)
            }
        };
        let gain = |a: u64| {
            let (up, down) = match sum {
                0 => (0.0, 0.0),
                _ => (tail(a.saturating_sub(1), sum - 1), tail(a, sum - 1)),
            };
            let p = raised * (self.ahead * up + self.behind * down);
            let q = raised * (self.behind * up + self.ahead * down);
            level.excess(p, q)
        };
        // Over Bin(s, ½) at a, the two laws are linear in a: so is their difference, times e^−ε.
        let inverse = (-epsilon).exp();
        let per_count = raised * 2.0 * (1.0 + inverse) * (self.ahead - self.behind);
        let fixed = raised * 2.0 * (self.behind * inverse - self.ahead);
        if per_count <= 0.0 {
            return 0.0;
        }
        let threshold = ((-fixed / per_count) * sum as f64).floor() + 1.0;
        gain((threshold.at_least(0.0) as u64).min(sum + 1)).at_least(0.0)
    }
}
