//! Verdicts on claims from evidence about members and others.

use crate::audit::{
    ClaimReport, CurveGrounds, CurveOutcome, Grounds, Pair, PrivacyGrounds, PrivacyKind,
    PrivacyLimit, PrivacyOutcome, Unproved, Verdict,
};
use crate::estimate::{Estimate, Method, Methods, Reason};
use leakgauge_base::error::{Error, Result, shorten};
use leakgauge_base::naming::setting;
use leakgauge_base::quantity::{PrivacyParameter, Quantity};
use leakgauge_exact::claim::{BoundClaim, Claim, ClaimKind, Curve, Guarantee, Terms};
use leakgauge_stats::bisection::bisect;
use leakgauge_stats::level;

/// Evidence that nothing was chosen on.
pub(super) trait Evidence {
    /// The estimate without limits, if there is one.
    fn point(&self, quantity: Quantity) -> Option<f64>;
    /// The limits of total variation, of the attack's advantage or of a parameter of privacy, at α.
    fn limits(&self, quantity: Quantity, alpha: f64) -> [Option<f64>; 2];
    /// Whether the lower limit at α exceeds this.
    fn refutes(&self, quantity: Quantity, allowed: f64, alpha: f64) -> bool;
    /// Whether several (ε, δ) at once are refuted at α.
    fn refutes_curve(&self, curve: &[(f64, f64)], alpha: f64) -> bool;
    /// How limits are obtained.
    fn method(&self) -> Method;
    /// Why (ε, δ) cannot be said to hold.
    fn unproved(&self) -> Unproved;
    /// Why there is no upper limit of a total variation.
    fn no_upper(&self) -> Reason;
}

/// Claims about two secrets. All limits hold together at α: they follow from the same statements about the answers.
pub(super) struct Case<'a> {
    pub evidence: &'a dyn Evidence,
    pub pair: &'a Pair,
    /// α of all claims together.
    pub alpha: f64,
}

impl Case<'_> {
    /// A limit of privacy at the level of claims.
    pub fn privacy(&self, quantity: PrivacyParameter) -> PrivacyLimit {
        PrivacyLimit {
            quantity,
            secrets: self.pair.clone(),
            is_of_some_pair: false,
            point: self.evidence.point(Quantity::Privacy(quantity)),
            lower: self
                .evidence
                .limits(Quantity::Privacy(quantity), self.alpha)[0],
            witness: None,
        }
    }

    /// A figure with its limits at the level of claims.
    pub fn estimate(&self, quantity: Quantity) -> Estimate {
        let [lower, upper] = self.evidence.limits(quantity, self.alpha);
        let point = self.evidence.point(quantity);
        let method = Some(self.evidence.method());
        let mut estimate = Estimate {
            point,
            raw: None,
            lower,
            upper,
            method: Methods {
                point: point.and(Some(Method::HeldOutAttack)),
                lower: lower.and(method),
                upper: upper.and(method),
            },
            reason: upper.is_none().then(|| match quantity {
                Quantity::Privacy(parameter) => Reason::Unbounded(parameter),
                _ => self.evidence.no_upper(),
            }),
        };
        if quantity == Quantity::Advantage {
            estimate.constrain(0.0, 1.0);
        }
        estimate
    }

    /// Judges a claim.
    ///
    /// # Errors
    /// A mechanism, whose law needs a log.
    pub fn judge(&self, claim: &BoundClaim) -> Result<ClaimReport> {
        match claim.terms() {
            Terms::Curve(curve) => Ok(self.curve_claim(claim.claim(), curve)),
            Terms::Privacy(promise) => Ok(self.privacy_claim(claim.claim(), promise.between(0, 1))),
            Terms::Advantage { at_most } => {
                let quantity = Quantity::Advantage;
                Ok(self.bound(claim.claim(), quantity, *at_most, Grounds::Advantage))
            }
            Terms::AttackAdvantage { at_most } => {
                let quantity = Quantity::AttackAdvantage;
                Ok(self.bound(claim.claim(), quantity, *at_most, Grounds::AttackAdvantage))
            }
            Terms::BayesSecurity { at_least } => Ok(self.security(claim.claim(), *at_least)),
            Terms::Mechanism(_) => Err(no_log(claim.claim())),
            Terms::Overall { .. } => Err(no_observations(claim.claim())),
            Terms::TimeDifference(_) => Err(no_times(claim.claim())),
        }
    }

    /// The p-value of a claim, at the level of this case in any event.
    fn smallest(&self, refuted: impl Fn(f64) -> bool) -> Option<f64> {
        level::smallest_up_to(level::LARGEST.max(self.alpha), refuted)
    }

    fn p_value(&self, quantity: Quantity, allowed: f64) -> Option<f64> {
        self.p_value_of(|alpha| self.evidence.refutes(quantity, allowed, alpha))
    }

    fn privacy_claim(&self, claim: &Claim, allowed: Guarantee) -> ClaimReport {
        let parameter = allowed.quantity();
        let quantity = Quantity::Privacy(parameter);
        let estimate = self.estimate(quantity);
        let refuted = estimate.lower > Some(allowed.parameter());
        let outcome = match (refuted, allowed) {
            (true, _) => PrivacyOutcome::Refuted,
            (_, Guarantee::Dp { delta, .. }) if delta > 0.0 => {
                PrivacyOutcome::Open(self.evidence.unproved())
            }
            (_, Guarantee::Dp { .. }) => never(PrivacyKind::Pure),
            (_, Guarantee::Gaussian { .. }) => never(PrivacyKind::Gaussian),
            (_, Guarantee::Concentrated { .. }) => never(PrivacyKind::Concentrated),
            (_, Guarantee::Renyi { .. }) => never(PrivacyKind::Renyi),
        };
        let grounds = Grounds::Privacy(PrivacyGrounds {
            quantity: parameter,
            distance: None,
            outcome,
        });
        let verdict = if refuted {
            Verdict::Violated
        } else {
            Verdict::Inconclusive
        };
        self.report(
            claim,
            quantity,
            allowed.parameter(),
            estimate,
            verdict,
            grounds,
        )
    }

    /// A claim that bounds a whole curve of (ε, δ). What is reported is the point whose ε the log exceeds by the largest
    /// factor, or comes nearest to.
    fn curve_claim(&self, claim: &Claim, curve: &Curve) -> ClaimReport {
        let refuted = |alpha: f64| self.evidence.refutes_curve(curve.points(), alpha);
        let p_value = self.p_value_of(refuted);
        let verdict = match refuted(self.alpha) {
            true => Verdict::Violated,
            false => Verdict::Inconclusive,
        };
        let Some((epsilon, delta)) = self.deciding_point(curve.points()) else {
            let at_most = curve.largest_total_variation();
            let estimate = self.estimate(Quantity::Advantage);
            let grounds = Grounds::Curve;
            let advantage = Quantity::Advantage;
            let mut report = self.report(claim, advantage, at_most, estimate, verdict, grounds);
            report.p_value = p_value;
            return report;
        };
        let quantity = Quantity::Privacy(PrivacyParameter::Epsilon { delta });
        let estimate = self.estimate(quantity);
        // Several points together may refute what none of them does.
        let grounds = match verdict == Verdict::Violated && estimate.lower > Some(epsilon) {
            true => Grounds::PrivacyCurve(CurveGrounds {
                points: curve.points().len(),
                delta,
                outcome: CurveOutcome::Refuted,
            }),
            false => Grounds::Curve,
        };
        let mut report = self.report(claim, quantity, epsilon, estimate, verdict, grounds);
        report.p_value = p_value;
        report
    }

    /// The point whose ε can be multiplied by the largest factor and is still exceeded by the limit at its δ; `None`
    /// where no point has an ε above 0.
    fn deciding_point(&self, points: &[(f64, f64)]) -> Option<(f64, f64)> {
        /// Each is judged at many factors.
        const MOST: usize = 12;
        const STEPS: u32 = 16;
        const LARGEST: f64 = 1e6;
        let positive: Vec<(f64, f64)> = points
            .iter()
            .copied()
            .filter(|point| point.0 > 0.0)
            .collect();
        let looked_at: Vec<(f64, f64)> = positive
            .iter()
            .copied()
            .step_by(positive.len().div_ceil(MOST).max(1))
            .collect();
        let exceeded = |factor: f64| {
            let is_exceeded = |&(epsilon, delta): &(f64, f64)| {
                let quantity = Quantity::Privacy(PrivacyParameter::Epsilon { delta });
                self.evidence
                    .refutes(quantity, factor * epsilon, self.alpha)
            };
            looked_at.iter().copied().find(is_exceeded)
        };
        let factors = (-LARGEST.ln(), LARGEST.ln());
        let (factor, _) = bisect(factors, STEPS, |ln: f64| exceeded(ln.exp()).is_some());
        exceeded(factor.exp()).or(looked_at.first().copied())
    }

    fn p_value_of(&self, refuted: impl Fn(f64) -> bool) -> Option<f64> {
        Some(self.smallest(refuted).unwrap_or(1.0))
    }

    fn bound(
        &self,
        claim: &Claim,
        quantity: Quantity,
        at_most: f64,
        grounds: Grounds,
    ) -> ClaimReport {
        let estimate = self.estimate(quantity);
        let verdict = match (estimate.lower, estimate.upper) {
            (Some(lower), _) if lower > at_most => Verdict::Violated,
            (_, Some(upper)) if upper <= at_most => Verdict::Holds,
            _ => Verdict::Inconclusive,
        };
        self.report(claim, quantity, at_most, estimate, verdict, grounds)
    }

    fn security(&self, claim: &Claim, at_least: f64) -> ClaimReport {
        let estimate = self.estimate(Quantity::Advantage);
        let estimate = estimate.decreasing(|advantage| 1.0 - advantage);
        let verdict = if estimate.upper.is_some_and(|upper| upper < at_least) {
            Verdict::Violated
        } else {
            Verdict::Inconclusive
        };
        let mut report = self.report(
            claim,
            Quantity::BayesSecurity,
            at_least,
            estimate,
            verdict,
            Grounds::BayesSecurity,
        );
        report.p_value = self.p_value(Quantity::Advantage, 1.0 - at_least);
        report
    }

    fn report(
        &self,
        claim: &Claim,
        quantity: Quantity,
        analytic: f64,
        estimate: Estimate,
        verdict: Verdict,
        grounds: Grounds,
    ) -> ClaimReport {
        let p_value = match quantity {
            Quantity::BayesSecurity => None,
            _ => self.p_value(quantity, analytic),
        };
        ClaimReport {
            claim: claim.clone(),
            quantity,
            analytic,
            pair: self.pair.clone(),
            estimate,
            verdict,
            reason: grounds.into(),
            rows_needed: None,
            units_needed: None,
            p_value,
            fit: None,
        }
    }
}

fn never(kind: PrivacyKind) -> PrivacyOutcome {
    PrivacyOutcome::Open(Unproved::Never(kind))
}

/// The quantity that a claim reads.
///
/// # Errors
/// A mechanism, whose law needs a log.
pub(super) fn quantity(claim: &BoundClaim) -> Result<Quantity> {
    match claim.terms() {
        Terms::Privacy(promise) => Ok(Quantity::Privacy(promise.between(0, 1).quantity())),
        Terms::Curve(_) | Terms::Advantage { .. } | Terms::BayesSecurity { .. } => {
            Ok(Quantity::Advantage)
        }
        Terms::AttackAdvantage { .. } => Ok(Quantity::AttackAdvantage),
        Terms::Mechanism(_) => Err(no_log(claim.claim())),
        Terms::Overall { .. } => Err(no_observations(claim.claim())),
        Terms::TimeDifference(_) => Err(no_times(claim.claim())),
    }
}

/// Refuses claims about the law of observations.
///
/// # Errors
/// A mechanism.
pub(super) fn refuse_mechanisms(claims: &[Claim]) -> Result<()> {
    let is_mechanism = |claim: &&Claim| matches!(claim.kind, ClaimKind::Mechanism(_));
    let found = claims.iter().find(is_mechanism);
    found.map_or(Ok(()), |claim| Err(no_log(claim)))
}

/// A table of answers has no observations.
fn no_observations(claim: &Claim) -> Error {
    Error::parameter(
        claim.to_string(),
        "is about observations of secrets, and there are only answers of an attack",
    )
    .with_hint("name a promise about attacks, such as advantage(0.1), or audit a log")
}

fn no_times(claim: &Claim) -> Error {
    Error::parameter(
        setting("claim", shorten(&claim.text)),
        "is about differences of times, and there are only answers of an attack",
    )
}

fn no_log(claim: &Claim) -> Error {
    Error::parameter(
        setting("claim", shorten(&claim.text)),
        "a claim about a mechanism is about the law of observations, and there are only answers of an attack",
    )
    .with_hint("claim dp, dp-curve, f-dp, gdp, zcdp, rdp, dp-sgd, advantage or bayes-security")
}
