//! What guesses about the canaries of a single training run say about differential privacy.
//!
//! m canaries are each included in the training data with probability ½, independently. From what the training
//! releases, an auditor guesses of r canaries whether they were included, and abstains from the others. A true claim
//! leaves few ways to be right often, although all guesses are about one run:
//!
//! - *Domination*: under (ε, δ)-differential privacy the number of right guesses is stochastically smaller than
//!   Bin(r, e^ε/(1 + e^ε)), up to a term in δ.
//! - *Recursion*: under f-differential privacy the probabilities of the numbers of right guesses keep one inequality
//!   for each number, which together bound the tail.
//!
//! Both bound the same probability, so their minimum does too.

use crate::binomial_tail::{at_most, mass};
use crate::bisection::bisect;
use crate::special::{normal_cdf, normal_quantile};

/// Guesses about the canaries of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CanaryGuesses {
    canaries: u64,
    guesses: u64,
    right: u64,
}

/// The inverse of 1 − f for a trade-off function f: the least false positive rate at which a test can have this true
/// positive rate.
pub type LeastFalseAlarms<'f> = &'f dyn Fn(f64) -> f64;

impl CanaryGuesses {
    /// So many right guesses among `guesses`, about some of `canaries`.
    ///
    /// # Panics
    /// If there are more right guesses than guesses, or more guesses than canaries.
    pub fn new(canaries: u64, guesses: u64, right: u64) -> Self {
        assert!(
            right <= guesses && guesses <= canaries,
            "guesses of canaries"
        );
        CanaryGuesses {
            canaries,
            guesses,
            right,
        }
    }

    /// The number of canaries.
    pub fn canaries(&self) -> u64 {
        self.canaries
    }

    /// The number of guesses.
    pub fn guesses(&self) -> u64 {
        self.guesses
    }

    /// How many of them are right.
    pub fn right(&self) -> u64 {
        self.right
    }

    /// A bound on the probability of so many right guesses under (ε, δ)-differential privacy.
    ///
    /// # Formula
    /// The smaller of P(B ≥ v) + 2mδ·max over i of P(v − i ≤ B < v)/i with B ~ Bin(r, e^ε/(1 + e^ε)), and of
    /// [`CanaryGuesses::p_value_of_trade_off`] with [`dp_false_alarms`].
    ///
    /// # Conditions
    /// Every canary was included with probability ½, independently of all else; the guesses use what the claim is
    /// about, and their number does not depend on who was included.
    ///
    /// # References
    /// T. Steinke, M. Nasr, M. Jagielski, *Privacy auditing with one (1) training run*, Theorem 5.2,
    /// arXiv:2305.08846.
    pub fn p_value_of_dp(&self, epsilon: f64, delta: f64) -> f64 {
        let dominated = self.domination(epsilon, delta);
        let by_trade_off = self.p_value_of_trade_off(&|rate| dp_false_alarms(rate, epsilon, delta));
        dominated.min(by_trade_off)
    }

    /// The first of both bounds. It does not fall in ε as long as 2mδ ≤ 1: for every i it is
    /// (1 − c)·P(B ≥ v) + c·P(B ≥ v − i) with c = 2mδ/i.
    fn domination(&self, epsilon: f64, delta: f64) -> f64 {
        let wrong = (-epsilon).exp() / (1.0 + (-epsilon).exp());
        // At most so many wrong guesses, which is exact where ε is large.
        let most_wrong = self.guesses - self.right;
        let beyond = at_most(most_wrong, self.guesses, wrong);
        let weight = 2.0 * self.canaries as f64 * delta;
        if weight == 0.0 {
            return beyond;
        }
        if weight > 1.0 {
            return 1.0;
        }
        let (mut sum, mut largest) = (0.0, 0.0f64);
        for i in 1..=self.right {
            let more = mass((most_wrong + i) as f64, self.guesses as f64, wrong);
            sum += more;
            largest = largest.max(sum / i as f64);
            // No later mean is larger once a term is below the mean of those before.
            if more < largest {
                break;
            }
        }
        (beyond + weight * largest).min(1.0)
    }

    /// A bound on the probability of so many right guesses under f-differential privacy.
    ///
    /// # Formula
    /// Let p_i be the probability of exactly i right guesses, N_i that of at least i, S_i = N_i + … + N_v. For a
    /// canary picked at random, *its guess is right and at least i are* and *its guess is wrong and at least i − 1 are
    /// right* are one event of the output and of the other canaries, seen with and without its inclusion. Averaged
    /// over canaries, f being convex, Σ_(j ≥ i) (j/m)·p_j ≤ 1 − f(Σ_(j ≥ i−1) ((r − j)/m)·p_j), or, with g the inverse
    /// of 1 − f,
    ///
    /// N_(i−1)·(r − i + 1) ≥ S_i + m·g((i·N_i + S_(i+1))/m).
    ///
    /// The right side grows in every N_j. So N_v = x, N_j = 0 above v, and equality (or N_(i−1) = N_i where that is
    /// larger) down to N_0 gives the least N_0 that a tail x needs. It must be at most 1: the bound is the largest such
    /// x.
    ///
    /// # Conditions
    /// Those of [`CanaryGuesses::p_value_of_dp`]; f is the trade-off function of either direction.
    ///
    /// # References
    /// S. Mahloujifar, L. Melis, K. Chaudhuri, *Auditing f-differential privacy in one run*, Theorem 3.2 and
    /// algorithm 3, arXiv:2410.22235.
    pub fn p_value_of_trade_off(&self, least_false_alarms: LeastFalseAlarms<'_>) -> f64 {
        const STEPS: u32 = 60;
        if self.is_possible(1.0, least_false_alarms) {
            return 1.0;
        }
        // In logarithms: p-values far below α have their digits.
        let possible = |ln: f64| self.is_possible(ln.exp(), least_false_alarms);
        bisect((-700.0, 0.0), STEPS, possible).1.exp()
    }

    /// Whether at least so many right guesses can have this probability under f-differential privacy.
    pub fn is_possible(&self, probability: f64, least_false_alarms: LeastFalseAlarms<'_>) -> bool {
        let (m, r) = (self.canaries as f64, self.guesses as f64);
        // N_i, and S_(i + 1).
        let (mut at_least, mut sum_above) = (probability, 0.0);
        for i in (1..=self.right).rev() {
            let i = i as f64;
            let found = (i * at_least + sum_above) / m;
            let sum = at_least + sum_above;
            let needed = (sum + m * least_false_alarms(found.min(1.0))) / (r - i + 1.0);
            if needed <= at_least {
                // Neither side changes from here on.
                return true;
            }
            (at_least, sum_above) = (needed, sum);
            if at_least > 1.0 {
                return false;
            }
        }
        true
    }

    /// Lower limit of ε at a δ: the smallest ε at which such guesses are not refuted at `alpha`.
    pub fn epsilon_at_least(&self, delta: f64, alpha: f64) -> f64 {
        least(|epsilon| self.refutes_curve(&[(epsilon, delta)], alpha))
    }

    /// Lower limit of total variation between a run with a canary and one without, at `alpha`: of the δ at ε = 0.
    pub fn total_variation_at_least(&self, alpha: f64) -> f64 {
        const STEPS: u32 = 40;
        let refuted = |delta: f64| self.refutes_curve(&[(0.0, delta)], alpha);
        if refuted(0.0) {
            bisect((0.0, 1.0), STEPS, refuted).0
        } else {
            0.0
        }
    }

    /// Whether so many right guesses are refuted at `alpha` under several (ε, δ) at once.
    pub fn refutes_curve(&self, curve: &[(f64, f64)], alpha: f64) -> bool {
        let one = |&(epsilon, delta): &(f64, f64)| self.domination(epsilon, delta) <= alpha;
        curve.iter().any(one) || !self.is_possible(alpha, &|rate| curve_false_alarms(rate, curve))
    }

    /// Whether so many right guesses are refuted at `alpha` under μ-Gaussian differential privacy.
    pub fn refutes_gaussian(&self, mu: f64, alpha: f64) -> bool {
        !self.is_possible(alpha, &|rate| gaussian_false_alarms(rate, mu))
    }

    /// Lower limit of μ of Gaussian differential privacy at `alpha`.
    pub fn mu_at_least(&self, alpha: f64) -> f64 {
        least(|mu| self.refutes_gaussian(mu, alpha))
    }
}

/// The smallest parameter that is not refuted, from below: 0 if 0 is not.
pub fn least(refuted: impl Fn(f64) -> bool) -> f64 {
    const LARGEST: f64 = 700.0;
    const STEPS: u32 = 40;
    if !refuted(0.0) {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, 1.0);
    while refuted(high) {
        if high >= LARGEST {
            return high;
        }
        (low, high) = (high, 2.0 * high);
    }
    bisect((low, high), STEPS, refuted).0
}

/// The least false positive rate of a test with this true positive rate under (ε, δ)-differential privacy.
///
/// # Formula
/// max(0, e^−ε(y − δ), 1 − δ − e^ε(1 − y)).
pub fn dp_false_alarms(rate: f64, epsilon: f64, delta: f64) -> f64 {
    let one_way = (-epsilon).exp() * (rate - delta);
    let other_way = 1.0 - delta - epsilon.exp() * (1.0 - rate);
    one_way.max(other_way).max(0.0)
}

/// The same under several (ε, δ) at once: the largest of theirs.
pub fn curve_false_alarms(rate: f64, curve: &[(f64, f64)]) -> f64 {
    let one = |&(epsilon, delta): &(f64, f64)| dp_false_alarms(rate, epsilon, delta);
    curve.iter().map(one).fold(0.0, f64::max)
}

/// The same under μ-Gaussian differential privacy.
///
/// # Formula
/// Φ(Φ⁻¹(y) − μ).
pub fn gaussian_false_alarms(rate: f64, mu: f64) -> f64 {
    if rate <= 0.0 || rate >= 1.0 {
        return rate.clamp(0.0, 1.0);
    }
    normal_cdf(normal_quantile(rate) - mu)
}

#[cfg(test)]
mod tests;
