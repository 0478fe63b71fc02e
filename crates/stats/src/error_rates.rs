//! Error rates of a test between two secrets, and what they say about privacy.

use crate::renyi;
use crate::special::normal_quantile;
use leakgauge_base::quantity::PrivacyParameter;

/// Error rates of a rule, or limits of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ErrorRates {
    /// Probability of taking a for b.
    pub missed: f64,
    /// Probability of taking b for a.
    pub false_alarm: f64,
}

impl ErrorRates {
    /// TPR − FPR.
    pub fn advantage(&self) -> f64 {
        1.0 - self.missed - self.false_alarm
    }

    /// The ε that (ε, δ)-differential privacy needs at least, given these error rates or upper limits
    /// of them.
    ///
    /// # Formula
    /// max(0, ln((1 − δ − FNR)/FPR), ln((1 − δ − FPR)/FNR)): both P(A | a) ≤ e^ε P(A | b) + δ and its
    /// mirror image must hold for the event A = "the rule says a" and its complement. The other two of
    /// these four inequalities bind only rules worse than guessing, and the least ε of all rates within
    /// upper limits is at the limits themselves, so this is the whole region.
    ///
    /// # References
    /// Kairouz, Oh, Viswanath 2015, Theorem 2.1, doi:10.1109/TIT.2017.2685505.
    pub fn epsilon_at_least(&self, delta: f64) -> f64 {
        self.odds_at_least(delta).max(1.0).ln()
    }

    /// e^ε before it is cut at 1: max((1 − δ − FNR)/FPR, (1 − δ − FPR)/FNR).
    pub fn odds_at_least(&self, delta: f64) -> f64 {
        let one_way = |missed: f64, false_alarm: f64| (1.0 - delta - missed) / false_alarm;
        // max ignores the NaN of 0/0.
        one_way(self.missed, self.false_alarm).max(one_way(self.false_alarm, self.missed))
    }

    /// The least value of a parameter that two secrets need, given these error rates or upper limits of
    /// them.
    pub fn at_least(&self, parameter: PrivacyParameter) -> f64 {
        match parameter {
            PrivacyParameter::Epsilon { delta } => self.epsilon_at_least(delta),
            PrivacyParameter::Mu => self.mu_at_least(),
            PrivacyParameter::Rho => renyi::concentrated_at_least(self.missed, self.false_alarm),
            PrivacyParameter::Renyi { order } => {
                renyi::divergence_at_least(self.missed, self.false_alarm, order)
            }
        }
    }

    /// The μ that Gaussian differential privacy needs at least, given these error rates or upper
    /// limits of them.
    ///
    /// # Formula
    /// max(0, Φ⁻¹(1 − FPR) − Φ⁻¹(FNR)): the trade-off function G_μ(x) = Φ(Φ⁻¹(1 − x) − μ) must be
    /// at most FNR at x = FPR. Exchanging the secrets gives the same μ, and the complement of the
    /// rule gives −μ. It falls in both rates, so upper limits give a lower limit.
    ///
    /// # References
    /// J. Dong, A. Roth, W. J. Su, *Gaussian differential privacy*, Definition 2.6,
    /// doi:10.1111/rssb.12454.
    pub fn mu_at_least(&self) -> f64 {
        if self.missed + self.false_alarm >= 1.0 {
            return 0.0;
        }
        // Φ⁻¹(1 − x) = −Φ⁻¹(x).
        (-normal_quantile(self.false_alarm) - normal_quantile(self.missed)).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::normal_cdf;

    fn rates(missed: f64, false_alarm: f64) -> ErrorRates {
        ErrorRates {
            missed,
            false_alarm,
        }
    }

    /// Every threshold of the Gaussian test between N(0, 1) and N(μ, 1) gives μ back.
    #[test]
    fn gaussian_tests_give_their_mu_and_no_more_rho_than_they_have() {
        for mu in [0.1, 1.0, 4.0] {
            let mut largest = 0.0f64;
            for i in -30..=45 {
                let cut = 0.1 * f64::from(i);
                let rates = rates(normal_cdf(cut - mu), normal_cdf(-cut));
                assert!((rates.mu_at_least() - mu).abs() < 1e-9, "{mu} {cut}");
                largest = largest.max(rates.at_least(PrivacyParameter::Rho));
            }
            let rho = 0.5 * mu * mu;
            assert!(
                largest <= rho && largest > 0.6 * rho,
                "{mu}: {largest} of {rho}"
            );
        }
    }

    #[test]
    fn a_rule_no_better_than_guessing_shows_nothing() {
        for parameter in [
            PrivacyParameter::Mu,
            PrivacyParameter::Rho,
            PrivacyParameter::Epsilon { delta: 0.0 },
        ] {
            for (missed, false_alarm) in
                [(0.5, 0.5), (1.0, 0.0), (0.0, 1.0), (0.9, 0.9), (1.0, 1.0)]
            {
                assert_eq!(rates(missed, false_alarm).at_least(parameter), 0.0);
            }
        }
    }

    /// The least ε over all rates within upper limits, from all four inequalities of
    /// (ε, δ)-differential privacy on the rule's event and its complement, both ways.
    #[test]
    fn epsilon_is_the_least_of_the_whole_region_within_the_limits() {
        let of = |missed: f64, false_alarm: f64, delta: f64| {
            let (p, q) = (1.0 - missed, false_alarm);
            let one = |p: f64, q: f64| {
                let needed = p - delta;
                match needed > 0.0 {
                    true => (needed / q).ln(),
                    false => f64::NEG_INFINITY,
                }
            };
            let all = [
                one(p, q),
                one(q, p),
                one(1.0 - p, 1.0 - q),
                one(1.0 - q, 1.0 - p),
            ];
            all.into_iter().fold(0.0, f64::max)
        };
        for (missed, false_alarm) in [(0.4, 0.2), (0.05, 0.9), (0.7, 0.01), (0.9, 0.9), (0.5, 0.5)]
        {
            for delta in [0.0, 1e-3, 0.2] {
                let mut least = f64::INFINITY;
                for i in 0..=200 {
                    for j in 0..=200 {
                        let (x, y) = (f64::from(i) / 200.0, f64::from(j) / 200.0);
                        least = least.min(of(missed * x, false_alarm * y, delta));
                    }
                }
                let found = rates(missed, false_alarm).epsilon_at_least(delta);
                assert!(
                    found <= least + 1e-12,
                    "{missed} {false_alarm} {delta}: {found} {least}"
                );
                assert!(
                    found >= least - 0.02,
                    "{missed} {false_alarm} {delta}: {found} {least}"
                );
            }
        }
    }

    #[test]
    fn epsilon_takes_the_better_direction_and_is_never_negative() {
        let rates = ErrorRates {
            missed: 0.1,
            false_alarm: 0.3,
        };
        assert!((rates.epsilon_at_least(0.0) - (0.7f64 / 0.1).ln()).abs() < 1e-15);
        let useless = ErrorRates {
            missed: 0.6,
            false_alarm: 0.7,
        };
        assert_eq!(useless.epsilon_at_least(0.0), 0.0);
        assert_eq!(
            ErrorRates {
                missed: 0.5,
                false_alarm: 0.9
            }
            .epsilon_at_least(0.9),
            0.0
        );
    }

    /// Randomized response attains the definition: FPR = FNR = 1/(1+e^ε).
    #[test]
    fn epsilon_of_randomized_response_is_its_epsilon() {
        for epsilon in [0.1f64, 1.0, 5.0] {
            let error = 1.0 / (1.0 + epsilon.exp());
            let rates = ErrorRates {
                missed: error,
                false_alarm: error,
            };
            assert!((rates.epsilon_at_least(0.0) - epsilon).abs() < 1e-12);
        }
    }
}
