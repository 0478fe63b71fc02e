//! What the error rates of a rule say about privacy.

use crate::pairwise::ErrorRates;
use leakgauge_base::quantity::PrivacyParameter;
use leakgauge_stats::renyi;
use leakgauge_stats::special::normal_quantile;

/// The parameter of privacy for which a threshold is chosen at every pair.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// The same at all pairs.
    All(PrivacyParameter),
    /// One for each pair, in the order of [`pairs`](crate::pairwise::pairs); `None` at a pair that is not looked at.
    Each(Vec<Option<PrivacyParameter>>),
}

impl Target {
    /// The parameter at a pair; `None` if the pair is not looked at.
    pub fn at(&self, pair: usize) -> Option<PrivacyParameter> {
        match self {
            Target::All(parameter) => Some(*parameter),
            Target::Each(parameters) => parameters[pair],
        }
    }

    /// The parameters, that of all pairs once.
    pub fn parameters(&self) -> impl Iterator<Item = PrivacyParameter> {
        let (all, each) = match self {
            Target::All(parameter) => (Some(*parameter), None),
            Target::Each(parameters) => (None, Some(parameters.iter().flatten().copied())),
        };
        all.into_iter().chain(each.into_iter().flatten())
    }
}

impl ErrorRates {
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
    use leakgauge_stats::special::normal_cdf;

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
}
