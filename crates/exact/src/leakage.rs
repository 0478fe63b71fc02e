//! Leakage measures as functions of the Bayes vulnerability V.
//!
//! All are monotone functions of V = 1 − R*, so confidence limits of V carry over.
//!
//! # References
//! Smith 2009, doi:10.1007/978-3-642-00596-1_21; Chatzikokolakis et al., Bayes security, Definition 1.

use crate::extreme::Extreme;

/// Prior vulnerability max π: the probability of guessing right without an observation.
pub fn prior_vulnerability(prior: &[f64]) -> f64 {
    prior.iter().copied().fold(0.0, f64::at_least)
}

/// Guessing error G(π) = 1 − max π.
pub fn guessing_error(prior: &[f64]) -> f64 {
    1.0 - prior_vulnerability(prior)
}

/// Multiplicative risk leakage β(π, C) = R*/G; 1 minus it is the normalized advantage. `None` if G = 0.
pub fn risk_leakage(bayes_risk: f64, guessing_error: f64) -> Option<f64> {
    (guessing_error > 0.0).then(|| bayes_risk / guessing_error)
}

/// Multiplicative leakage L× = V / max π, in [1, number of secrets].
pub fn multiplicative(vulnerability: f64, prior_vulnerability: f64) -> f64 {
    vulnerability / prior_vulnerability
}

/// Additive leakage L⁺ = V − max π.
pub fn additive(vulnerability: f64, prior_vulnerability: f64) -> f64 {
    vulnerability - prior_vulnerability
}

/// Min-entropy leakage ln L×, in nats.
pub fn min_entropy(vulnerability: f64, prior_vulnerability: f64) -> f64 {
    multiplicative(vulnerability, prior_vulnerability).ln()
}

/// Multiplicative capacity ML× = Σ_o max_s C\[s,o\] = n·V at the uniform prior: the largest L× over all
/// priors.
pub fn capacity(uniform_vulnerability: f64, secrets: usize) -> f64 {
    uniform_vulnerability * secrets as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// k-ary randomized response by hand: V(υ) = e^ε/(e^ε+k−1).
    #[test]
    fn randomized_response_with_three_values_and_odds_of_two() {
        let v = 2.0 / 4.0;
        let prior = [1.0 / 3.0; 3];
        let blind = prior_vulnerability(&prior);
        assert!((multiplicative(v, blind) - 1.5).abs() < 1e-15);
        assert!((additive(v, blind) - 1.0 / 6.0).abs() < 1e-15);
        assert!((risk_leakage(1.0 - v, guessing_error(&prior)).unwrap() - 0.75).abs() < 1e-15);
        assert!((capacity(v, 3) - 1.5).abs() < 1e-15);
    }

    #[test]
    fn a_prior_that_knows_the_secret_leaves_nothing_to_leak() {
        assert_eq!(risk_leakage(0.0, guessing_error(&[1.0, 0.0])), None);
    }
}
