//! What a claim allows the laws of two secrets, as inequalities that bets are placed against.

use leakgauge_exact::claim::{BoundClaim, Guarantee, Terms};
use leakgauge_stats::special::normal_cdf;

use crate::product_bets::Allowed;

/// An ε above this is compared through the total variation only: e^ε would overflow, and no samples show it.
pub const MAX_EPSILON: f64 = 300.0;
/// Where the δ that a Rényi divergence leaves is tested.
const EPSILONS: [f64; 8] = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8];
/// Rates of events at which the trade-off of a claim is read.
const RATES: [f64; 7] = [0.5, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3];
/// A claimed δ is rounded up by this where it is computed.
const ROUNDING: f64 = 1e-12;

/// The inequalities that a claim implies for the laws of two secrets; a bet picks one. `None` if it is about the best attack
/// found, or about differences of times, which are not laws of single rows.
pub fn inequalities(bound: &BoundClaim, a: usize, b: usize) -> Option<Vec<Allowed>> {
    Some(match bound.terms() {
        Terms::Privacy(promise) => by_guarantee(promise.between(a, b)),
        Terms::Curve(curve) => {
            let points = curve.points().iter();
            let points = points.filter(|point| point.0 <= MAX_EPSILON);
            points
                .map(|&(epsilon, delta)| Allowed::privacy(epsilon, delta))
                .collect()
        }
        Terms::BayesSecurity { at_least } => vec![Allowed::total_variation(1.0 - at_least)],
        Terms::Advantage { at_most } => vec![Allowed::total_variation(*at_most)],
        Terms::Mechanism(mechanism) => {
            let variation = (mechanism.total_variation(a, b) + ROUNDING).min(1.0);
            let epsilon = mechanism.epsilon();
            let privacy = (epsilon <= MAX_EPSILON).then(|| Allowed::privacy(epsilon, 0.0));
            privacy
                .into_iter()
                .chain([Allowed::total_variation(variation)])
                .collect()
        }
        Terms::AttackAdvantage { .. } | Terms::Overall { .. } | Terms::TimeDifference(_) => {
            return None;
        }
    })
}

/// The inequalities that a guarantee implies.
fn by_guarantee(guarantee: Guarantee) -> Vec<Allowed> {
    let variation = || {
        let largest = guarantee.largest_total_variation();
        Allowed::total_variation((largest + ROUNDING).min(1.0))
    };
    match guarantee {
        Guarantee::Dp { epsilon, delta } if epsilon <= MAX_EPSILON => {
            vec![Allowed::privacy(epsilon, delta)]
        }
        Guarantee::Dp { .. } => vec![variation()],
        // The lines that touch the trade-off curve where an event has these rates under the second law.
        Guarantee::Gaussian { mu } if mu > 0.0 && mu < 10.0 => {
            let tangent = |rate: f64| {
                let at = -leakgauge_stats::special::normal_quantile(rate);
                let epsilon = mu * at - 0.5 * mu * mu;
                (epsilon > 0.0).then(|| {
                    let delta = normal_cdf(mu - at) - epsilon.exp() * normal_cdf(-at);
                    Allowed::privacy(epsilon, (delta + ROUNDING).clamp(0.0, 1.0))
                })
            };
            let tangents = RATES.iter().filter_map(|&rate| tangent(rate));
            std::iter::once(variation()).chain(tangents).collect()
        }
        // (ρ + 2√(ρ ln 1/δ), δ) for every δ (Bun and Steinke, Proposition 1.3).
        Guarantee::Concentrated { rho } if rho > 0.0 && rho < 100.0 => {
            let line =
                |&delta: &f64| Allowed::privacy(rho + 2.0 * (-rho * f64::ln(delta)).sqrt(), delta);
            std::iter::once(variation())
                .chain(RATES.iter().map(line))
                .collect()
        }
        // Whoever keeps one order keeps the δ that it leaves, at every ε.
        Guarantee::Renyi { .. } => {
            let line = |&epsilon: &f64| {
                let delta = guarantee.largest_delta(epsilon);
                Allowed::privacy(epsilon, (delta + ROUNDING).min(1.0))
            };
            std::iter::once(variation())
                .chain(EPSILONS.iter().map(line))
                .collect()
        }
        Guarantee::Gaussian { .. } | Guarantee::Concentrated { .. } => vec![variation()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_exact::claim::Claim;

    fn allowed(claim: &str) -> Option<Vec<Allowed>> {
        let labels = ["0", "1"].map(str::to_owned);
        let claim = Claim::parse(claim).expect("a claim");
        let bound = BoundClaim::bind(&claim, &labels, &[]).expect("secrets that it is about");
        inequalities(&bound, 0, 1)
    }

    /// Two normal laws at distance μ touch every line, so none is refuted by the truth, and each is nearly reached.
    #[test]
    fn lines_of_gaussian_privacy_touch_its_trade_off() {
        let mu = 1.3;
        let lines = allowed("gdp(1.3)").unwrap();
        assert!(lines.len() > 4);
        for allowed in lines {
            let excess =
                |at: f64| normal_cdf(mu - at) - allowed.weight * normal_cdf(-at) - allowed.delta;
            let largest = (-600..600)
                .map(|i| excess(0.01 * f64::from(i)))
                .fold(-1.0, f64::max);
            assert!(largest <= 0.0 && largest > -1e-4, "{allowed:?} {largest}");
        }
        assert_eq!(allowed("zcdp(0.5)").unwrap().len(), 8);
    }

    #[test]
    fn claims_about_the_best_attack_or_times_are_refuted_by_no_bet() {
        assert_eq!(allowed("attack-advantage(0.1)"), None);
        assert_eq!(allowed("dp(1)"), Some(vec![Allowed::privacy(1.0, 0.0)]));
    }
}
