//! Claims of a mechanism.

use crate::audit::basis::Evidence;
use crate::audit::claims::goodness;
use crate::audit::claims::goodness::{Fit, Impossible, Untested};
use crate::audit::claims::privacy;
use crate::audit::claims::reason::{Divergence, Grounds};
use crate::audit::claims::report::{ClaimReport, Verdict};
use crate::audit::claims::rows_needed;
use crate::estimate::Estimate;
use leakgauge_attack::tuning::Tuned;
use leakgauge_base::quantity::{PrivacyParameter, Quantity};
use leakgauge_exact::claim::BoundClaim;
use leakgauge_exact::mechanism::BoundMechanism;
use leakgauge_log::Log;
use leakgauge_stats::dp_upper::Allowed;

/// Judges the claim of a mechanism: refuted by a pair whose lower limit exceeds its own analytic value,
/// or by an ε above the mechanism's; holding where every pair's upper limit is within the margin of its own,
/// and the divergences at the mechanism's ε are within the margin of 0. A log with an observation that the
/// mechanism cannot produce never holds.
pub(crate) fn judge(
    evidence: &Evidence,
    log: &Log,
    claim: &BoundClaim,
    mechanism: &dyn BoundMechanism,
) -> ClaimReport {
    let case = Case {
        evidence,
        mechanism,
        impossible: goodness::impossible(log, mechanism),
    };
    let fit = Some(match (evidence.effective, evidence.units) {
        (None, None) => goodness::fit(log, mechanism),
        _ => Fit::untested(Untested::DependentRows),
    });
    let mut report = match case.refuted_by_epsilon(claim) {
        Some(report) => report,
        None => case.by_total_variation(claim),
    };
    report.p_value = case.p_value();
    report.fit = fit;
    report
}

struct Case<'a> {
    evidence: &'a Evidence<'a>,
    mechanism: &'a dyn BoundMechanism,
    /// An observation of the log that the mechanism cannot produce.
    impossible: Option<Impossible>,
}

impl Case<'_> {
    fn analytic(&self, pair: usize) -> f64 {
        analytic(self.mechanism, self.evidence.tuned, pair).0
    }

    /// The pair whose lower limit exceeds its own analytic value most, and by how much.
    fn suspect(&self) -> (usize, f64) {
        let evidence = self.evidence;
        let excess = |pair: usize| {
            let lower = evidence.lower(pair);
            (
                pair,
                lower.map_or(f64::MIN, |limit| limit.0 - self.analytic(pair)),
            )
        };
        let pairs = (0..evidence.pair_count()).map(excess);
        pairs.fold((evidence.worst, f64::MIN), |best, next| {
            if next.1 > best.1 { next } else { best }
        })
    }

    fn p_value(&self) -> Option<f64> {
        let tables = self.evidence.smallest_p_value(|pair| self.analytic(pair));
        let epsilon = self.mechanism.epsilon();
        let privacy = epsilon.is_finite().then(|| {
            let pure = PrivacyParameter::Epsilon { delta: 0.0 };
            let pair = self.evidence.privacy(0).pair;
            let average = self.evidence.some_privacy_p_value(pure, epsilon);
            average.min(self.evidence.privacy_p_value(pair, pure, epsilon))
        });
        tables.into_iter().chain(privacy).reduce(f64::min)
    }

    /// Where the total variation does not refute the mechanism and a certified ε does.
    fn refuted_by_epsilon(&self, claim: &BoundClaim) -> Option<ClaimReport> {
        let (evidence, epsilon) = (self.evidence, self.mechanism.epsilon());
        let read = evidence.privacy(0);
        let limit = &read.limit;
        // The analytic ε is a rounded logarithm.
        let refuted = epsilon.is_finite()
            && self.suspect().1 <= 0.0
            && limit
                .lower
                .is_some_and(|lower| lower > epsilon * (1.0 + 1e-12));
        refuted.then(|| ClaimReport {
            claim: claim.claim().clone(),
            quantity: Quantity::Privacy(PrivacyParameter::Epsilon { delta: 0.0 }),
            analytic: epsilon,
            pair: limit.secrets.clone(),
            estimate: privacy::estimate(&read),
            verdict: Verdict::Violated,
            reason: Grounds::MechanismEpsilon.into(),
            rows_needed: None,
            units_needed: None,
            p_value: None,
            fit: None,
        })
    }

    fn by_total_variation(&self, claim: &BoundClaim) -> ClaimReport {
        let evidence = self.evidence;
        let (verdict, pair, total_variation, divergence) = self.decide();
        let rows_needed = match (&self.impossible, &divergence) {
            (None, None) => rows_needed::for_mechanism(
                evidence,
                verdict,
                &total_variation,
                |pair| self.analytic(pair),
                pair,
            ),
            _ => None,
        };
        ClaimReport {
            claim: claim.claim().clone(),
            quantity: Quantity::BayesSecurity,
            analytic: analytic(self.mechanism, evidence.tuned, pair).1,
            pair: evidence.pair(pair),
            estimate: total_variation.decreasing(|tv| 1.0 - tv),
            verdict,
            reason: Grounds::Mechanism {
                impossible: self.impossible.clone(),
                margin: evidence.options.margin,
                divergence,
            }
            .into(),
            rows_needed,
            units_needed: None,
            p_value: None,
            fit: None,
        }
    }

    /// The verdict, the pair that decides, its total variation, and the divergence that may be too large where
    /// the total variation is not.
    fn decide(&self) -> (Verdict, usize, Estimate, Option<Divergence>) {
        let evidence = self.evidence;
        let (suspect, excess) = self.suspect();
        let of_suspect = evidence.listed_total_variation(suspect);
        if excess > 0.0 {
            return (Verdict::Violated, suspect, of_suspect, None);
        }
        let Some((pair, upper)) = self.nearest().filter(|_| self.impossible.is_none()) else {
            return (Verdict::Inconclusive, suspect, of_suspect, None);
        };
        if let Some(divergence) = self.divergence() {
            return (Verdict::Inconclusive, suspect, of_suspect, Some(divergence));
        }
        let estimate = evidence.total_variation(pair, Some(upper));
        (Verdict::Holds, pair, estimate, None)
    }

    /// If every pair's upper limit is within the margin: the pair that is nearest to exceeding it.
    fn nearest(&self) -> Option<(usize, f64)> {
        let limits = self.evidence.upper?;
        let margin = self.evidence.options.margin;
        let room = |pair: usize| {
            let upper = limits.single(pair)?;
            let room = self.analytic(pair) + margin - upper;
            (room >= 0.0).then_some((pair, upper, room))
        };
        let all: Option<Vec<_>> = (0..self.evidence.pair_count()).map(room).collect();
        let nearest = all?
            .into_iter()
            .reduce(|best, next| if next.2 < best.2 { next } else { best });
        nearest.map(|(pair, upper, _)| (pair, upper))
    }

    /// A divergence at the mechanism's ε that may be too large: the largest. It weighs one probability once and the
    /// other e^ε times, where the total variation weighs both once: so the margin is (1 + e^ε)/2 times as wide, at
    /// most five times.
    fn divergence(&self) -> Option<Divergence> {
        /// Beyond this e^ε times a probability says nothing of any log.
        const MOST: f64 = 30.0;
        let (evidence, epsilon) = (self.evidence, self.mechanism.epsilon());
        let limits = evidence.upper.filter(|_| epsilon < MOST)?;
        let wider = (0.5 * (1.0 + epsilon.exp())).min(5.0);
        let margin = evidence.options.margin * wider;
        let ordered = self.evidence.tuned.choices.iter().flat_map(|choice| {
            let (a, b) = (choice.rule.a, choice.rule.b);
            [[a, b], [b, a]]
        });
        let allowed = |pair: [u32; 2]| Allowed {
            pair,
            epsilon,
            delta: 0.0,
        };
        let pairs: Vec<Allowed> = ordered.map(allowed).collect();
        let (at, upper) = limits.largest_divergence(&pairs)?;
        (upper > margin).then(|| Divergence {
            pair: evidence.secrets(pairs[at].pair),
            distance: None,
            upper,
            epsilon,
            delta: 0.0,
        })
    }
}

/// The analytic values of a mechanism at a pair, (total variation, Bayes security).
fn analytic(mechanism: &dyn BoundMechanism, tuned: &Tuned, pair: usize) -> (f64, f64) {
    let rule = tuned.choices[pair].rule;
    let (a, b) = (rule.a as usize, rule.b as usize);
    (
        mechanism.total_variation(a, b),
        mechanism.bayes_security(a, b),
    )
}
