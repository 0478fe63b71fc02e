//! What claims allow at each pair of inputs, as bets are placed against it, and how they share the error probability.

use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::setting;
use leakgauge_exact::claim::{BoundClaim, Claim, Guarantee, Terms};
use leakgauge_stats::product_bets::Allowed;
use leakgauge_stats::special::normal_cdf;

/// An ε above this is compared through the total variation only: e^ε would overflow, and no samples show it.
const MAX_EPSILON: f64 = 300.0;
/// Where the δ that a Rényi divergence leaves is tested.
const EPSILONS: [f64; 8] = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8];
/// Rates of events at which the trade-off of a claim is read.
const RATES: [f64; 7] = [0.5, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3];
/// A claimed δ is rounded up by this where it is computed.
const ROUNDING: f64 = 1e-12;

/// What a claim about total variation or (ε, δ) allows all pairs alike, for a proof that it holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Provable {
    /// The hockey-stick divergence at ε is at most δ > 0.
    Privacy { epsilon: f64, delta: f64 },
    /// The total variation is at most so much.
    TotalVariation(f64),
}

/// Claims that are judged by one capital.
#[derive(Debug)]
pub(crate) struct Target {
    /// Their positions.
    pub claims: Vec<usize>,
    /// For each pair, inequalities that the claim implies; a bet picks one. One entry if all pairs are alike.
    allowed: Vec<Vec<Allowed>>,
    /// What samples can prove, if anything.
    pub provable: Option<Provable>,
}

impl Target {
    /// What is allowed at the pair at this position.
    pub fn allowed(&self, pair: usize) -> &[Allowed] {
        &self.allowed[pair.min(self.allowed.len() - 1)]
    }

    /// The one inequality of all pairs, if there is only one.
    pub fn uniform(&self) -> Option<Allowed> {
        match &self.allowed[..] {
            [one] if one.len() == 1 => Some(one[0]),
            _ => None,
        }
    }
}

/// The targets of claims about inputs with these labels; claims that allow the same share one.
///
/// # Errors
/// No claims; a claim that no bet can refute; labels that a claim says nothing about.
pub(crate) fn targets(
    claims: &[Claim],
    labels: &[String],
    pairs: &[(usize, usize)],
) -> Result<Vec<Target>> {
    if claims.is_empty() {
        return Err(
            Error::parameter(setting("claims", "[]"), "there is nothing to decide").with_hint(
                "claim something, such as dp(epsilon=1), or draw a fixed number of samples",
            ),
        );
    }
    let mut targets: Vec<Target> = Vec::new();
    for (at, claim) in claims.iter().enumerate() {
        let bound = BoundClaim::bind(claim, labels, &[])?;
        let all: Result<Vec<Vec<Allowed>>> =
            pairs.iter().map(|&(a, b)| at_pair(&bound, a, b)).collect();
        let mut allowed = all?;
        if allowed.windows(2).all(|two| two[0] == two[1]) {
            allowed.truncate(1);
        }
        // Claims that are refuted alike may differ in what would prove them.
        let provable = provable(&bound);
        let same = |target: &&mut Target| target.allowed == allowed && target.provable == provable;
        match targets.iter_mut().find(same) {
            Some(target) => target.claims.push(at),
            None => targets.push(Target {
                claims: vec![at],
                provable,
                allowed,
            }),
        }
    }
    Ok(targets)
}

fn at_pair(bound: &BoundClaim, a: usize, b: usize) -> Result<Vec<Allowed>> {
    let text = || setting("claim", &bound.claim().text);
    Ok(match bound.terms() {
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
        Terms::AttackAdvantage { .. } => {
            return Err(
                Error::parameter(text(), "cannot be decided while samples are drawn")
                    .with_hint("it is about the best attack found: draw a fixed number of samples"),
            );
        }
        Terms::TimeDifference(_) => {
            return Err(
                Error::parameter(text(), "cannot be decided while samples are drawn").with_hint(
                    "it is about times that were measured in blocks: audit a log of them",
                ),
            );
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

fn provable(bound: &BoundClaim) -> Option<Provable> {
    match bound.terms() {
        Terms::Advantage { at_most } => Some(Provable::TotalVariation(*at_most)),
        Terms::BayesSecurity { at_least } => Some(Provable::TotalVariation(1.0 - at_least)),
        Terms::Privacy(promise) if promise.is_uniform() => match promise.between(0, 1) {
            Guarantee::Dp { epsilon, delta } if delta > 0.0 && epsilon <= MAX_EPSILON => {
                Some(Provable::Privacy { epsilon, delta })
            }
            _ => None,
        },
        Terms::Privacy(_)
        | Terms::Curve(_)
        | Terms::Mechanism(_)
        | Terms::AttackAdvantage { .. }
        | Terms::TimeDifference(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(claims: &[&str], labels: &[&str]) -> Result<Vec<Target>> {
        let claims: Vec<Claim> = claims
            .iter()
            .map(|text| Claim::parse(text).unwrap())
            .collect();
        let labels: Vec<String> = labels.iter().map(|&label| label.to_owned()).collect();
        let all = 0..labels.len();
        let pairs: Vec<_> = all
            .flat_map(|a| (a + 1..labels.len()).map(move |b| (a, b)))
            .collect();
        targets(&claims, &labels, &pairs)
    }

    #[test]
    fn claims_that_allow_the_same_share_a_capital() {
        let found = of(&["dp(1)", "ldp(1)", "advantage(0.1)"], &["0", "1", "2"]).unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].claims, [0, 1]);
        assert_eq!(found[0].uniform(), Some(Allowed::privacy(1.0, 0.0)));
        assert_eq!(found[1].provable, Some(Provable::TotalVariation(0.1)));
        assert!(
            of(&["attack-advantage(0.1)"], &["0", "1"]).is_err() && of(&[], &["0", "1"]).is_err()
        );
    }

    #[test]
    fn distance_and_mechanisms_allow_pairs_different_things() {
        let found = of(&["dp(1, unit=1)", "laplace(scale=1)"], &["0", "1", "3"]).unwrap();
        let weights: Vec<f64> = (0..3)
            .map(|pair| found[0].allowed(pair)[0].weight.ln())
            .collect();
        assert_eq!(weights, [1.0, 3.0, 2.0]);
        assert_eq!(found[1].allowed(0).len(), 2);
        assert!(found[1].allowed(0)[1].delta < found[1].allowed(1)[1].delta);
    }

    /// Two normal laws at distance μ touch every line, so none is refuted by the truth, and each is nearly reached.
    #[test]
    fn lines_of_gaussian_privacy_touch_its_trade_off() {
        let mu = 1.3;
        let claim = of(&["gdp(1.3)"], &["0", "1"]).unwrap();
        assert!(claim[0].allowed(0).len() > 4);
        for allowed in claim[0].allowed(0) {
            let excess =
                |at: f64| normal_cdf(mu - at) - allowed.weight * normal_cdf(-at) - allowed.delta;
            let largest = (-600..600)
                .map(|i| excess(0.01 * f64::from(i)))
                .fold(-1.0, f64::max);
            assert!(largest <= 0.0 && largest > -1e-4, "{allowed:?} {largest}");
        }
        let zero = of(&["zcdp(0.5)"], &["0", "1"]).unwrap();
        assert_eq!(zero[0].allowed(0).len(), 8);
    }
}
