//! What claims allow at each pair of inputs, as bets are placed against it, and how they share the error probability.

use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::setting;
use leakgauge_exact::claim::{BoundClaim, Claim, Guarantee, Terms};
use leakgauge_sequential::claims::{MAX_EPSILON, inequalities};
use leakgauge_sequential::product_bets::Allowed;

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
    inequalities(bound, a, b).ok_or_else(|| {
        let text = setting("claim", &bound.claim().text);
        let hint = match bound.terms() {
            Terms::TimeDifference(_) => {
                "it is about times that were measured in blocks: audit a log of them"
            }
            _ => "it is about the best attack found: draw a fixed number of samples",
        };
        Error::parameter(text, "cannot be decided while samples are drawn").with_hint(hint)
    })
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
        | Terms::Overall { .. }
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
}
