//! A claim with what it says about the secrets of a log.

use super::{BoundPromise, Claim, ClaimKind, Curve, Requirement, TimeBound};
use crate::mechanism::BoundMechanism;
use leakgauge_base::error::Result;
use leakgauge_base::quantity::OverallFigure;

/// A claim with what it says about the secrets of a log.
#[derive(Debug)]
pub struct BoundClaim {
    claim: Claim,
    terms: Terms,
}

/// What a claim says about secrets, one variant for each way of judging it. Secrets are numbered as their
/// labels were given to [`BoundClaim::bind`].
#[derive(Debug)]
pub enum Terms {
    /// The observations come from this mechanism.
    Mechanism(Box<dyn BoundMechanism>),
    /// Every pair of secrets has differential privacy of some form.
    Privacy(BoundPromise),
    /// Every pair of secrets has all of these (ε, δ).
    Curve(Curve),
    /// Bayes security is at least this.
    BayesSecurity {
        /// The least Bayes security.
        at_least: f64,
    },
    /// The advantage of the optimal adversary is at most this at every pair.
    Advantage {
        /// The largest advantage.
        at_most: f64,
    },
    /// The advantage of the best attack found is at most this at every pair.
    AttackAdvantage {
        /// The largest advantage.
        at_most: f64,
    },
    /// A figure of all secrets together is at most this.
    Overall {
        /// Which figure.
        figure: OverallFigure,
        /// The most bits.
        at_most: f64,
    },
    /// The medians of differences of times are at most this at every pair.
    TimeDifference(TimeBound),
}

impl BoundClaim {
    /// Binds a claim to the secrets that are looked at. `left_out` are the log's other secrets: a mechanism is
    /// what it is on all secrets of the log, so they are part of its domain and are numbered last.
    ///
    /// # Errors
    /// Labels that the mechanism or the promise says nothing about, or too few for the mechanism.
    pub fn bind(claim: &Claim, secrets: &[String], left_out: &[String]) -> Result<BoundClaim> {
        let terms = match &claim.kind {
            ClaimKind::Mechanism(mechanism) => {
                let all: Vec<String> = secrets.iter().chain(left_out).cloned().collect();
                Terms::Mechanism(mechanism.bind(&all)?)
            }
            ClaimKind::Promise(promise) => match promise.requirement() {
                Requirement::Privacy(guarantee) => {
                    let neighbors = promise.neighbors();
                    Terms::Privacy(BoundPromise::bind(
                        guarantee,
                        neighbors,
                        &claim.text,
                        secrets,
                    )?)
                }
                Requirement::Curve { .. } => {
                    let curve = promise.curve().expect("it is what is required");
                    Terms::Curve(curve.clone())
                }
                Requirement::BayesSecurity { at_least } => Terms::BayesSecurity { at_least },
                Requirement::Advantage { at_most } => Terms::Advantage { at_most },
                Requirement::AttackAdvantage { at_most } => Terms::AttackAdvantage { at_most },
                Requirement::Overall { figure, at_most } => Terms::Overall { figure, at_most },
                Requirement::TimeDifference(bound) => Terms::TimeDifference(bound),
            },
        };
        Ok(BoundClaim {
            claim: claim.clone(),
            terms,
        })
    }

    /// Binds several claims to the same secrets.
    ///
    /// # Errors
    /// Those of [`BoundClaim::bind`].
    pub fn bind_all(
        claims: &[Claim],
        secrets: &[String],
        left_out: &[String],
    ) -> Result<Vec<BoundClaim>> {
        let claims = claims.iter();
        claims
            .map(|claim| BoundClaim::bind(claim, secrets, left_out))
            .collect()
    }

    /// The claim.
    pub fn claim(&self) -> &Claim {
        &self.claim
    }

    /// What it says about the secrets.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// The mechanism, if it is one.
    pub fn mechanism(&self) -> Option<&dyn BoundMechanism> {
        match &self.terms {
            Terms::Mechanism(mechanism) => Some(&**mechanism),
            Terms::Privacy(_)
            | Terms::Curve(_)
            | Terms::BayesSecurity { .. }
            | Terms::Advantage { .. }
            | Terms::AttackAdvantage { .. }
            | Terms::Overall { .. }
            | Terms::TimeDifference(_) => None,
        }
    }

    /// What a promise of privacy leaves to each pair, if it is one.
    pub fn privacy(&self) -> Option<&BoundPromise> {
        match &self.terms {
            Terms::Privacy(promise) => Some(promise),
            Terms::Mechanism(_)
            | Terms::Curve(_)
            | Terms::BayesSecurity { .. }
            | Terms::Advantage { .. }
            | Terms::AttackAdvantage { .. }
            | Terms::Overall { .. }
            | Terms::TimeDifference(_) => None,
        }
    }

    /// The figure of all secrets that it bounds, if it bounds one.
    pub fn overall_figure(&self) -> Option<OverallFigure> {
        match self.terms {
            Terms::Overall { figure, .. } => Some(figure),
            _ => None,
        }
    }

    /// The (ε, δ) that every pair has, if the claim is of several.
    pub fn curve(&self) -> Option<&Curve> {
        match &self.terms {
            Terms::Curve(curve) => Some(curve),
            Terms::Privacy(_)
            | Terms::Mechanism(_)
            | Terms::BayesSecurity { .. }
            | Terms::Advantage { .. }
            | Terms::AttackAdvantage { .. }
            | Terms::Overall { .. }
            | Terms::TimeDifference(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bind(text: &str, secrets: &[&str], left_out: &[&str]) -> Result<BoundClaim> {
        let labels = |labels: &[&str]| labels.iter().map(|&label| label.to_owned()).collect();
        let (secrets, left_out): (Vec<String>, Vec<String>) = (labels(secrets), labels(left_out));
        BoundClaim::bind(&Claim::parse(text).expect(text), &secrets, &left_out)
    }

    #[test]
    fn secrets_that_are_left_out_belong_to_the_domain_of_a_mechanism_only() {
        let bound = bind("randomized-response(epsilon=1)", &["a", "b"], &["c"]).unwrap();
        assert_eq!(bound.mechanism().unwrap().secret_count(), 3);
        assert!(bound.privacy().is_none());
        // A label that is left out is asked nothing.
        let bound = bind("gdp(mu=0.5, unit=1)", &["0", "2"], &["two"]).unwrap();
        assert_eq!(bound.privacy().unwrap().steps(0, 1), Some((2.0, 1.0)));
        assert!(bind("gdp(mu=0.5, unit=1)", &["0", "two"], &["2"]).is_err());
    }

    #[test]
    fn promises_are_judged_by_what_they_require() {
        let terms = |text: &str| bind(text, &["1-2", "2-1"], &[]).unwrap();
        for text in ["ldp(1)", "dp(1)", "gdp(1)", "zcdp(1)", "dsigma(1)"] {
            assert!(terms(text).privacy().is_some(), "{text}");
        }
        assert!(matches!(
            terms("advantage(0.1)").terms(),
            Terms::Advantage { at_most: 0.1 }
        ));
        let claim = terms("attack-advantage(0.1)");
        assert!(matches!(
            claim.terms(),
            Terms::AttackAdvantage { at_most: 0.1 }
        ));
        let claim = terms("bayes-security(0.9)");
        assert!(matches!(
            claim.terms(),
            Terms::BayesSecurity { at_least: 0.9 }
        ));
    }
}
