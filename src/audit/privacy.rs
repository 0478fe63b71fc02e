//! Claims of differential privacy.

use crate::audit::Evidence;
use crate::audit::model::{ClaimReport, PrivacyLimit, Verdict};
use crate::audit::plan::PrivacyPlan;
use crate::audit::rows_needed;
use crate::estimate::{Estimate, Method, Methods};
use leakgauge_attack::measure::plug_in::hockey_stick;
use leakgauge_base::error::shorten;
use leakgauge_base::quantity::{PrivacyParameter, Quantity};
use leakgauge_base::rounding::{allowance, at_least, at_least_beyond, at_most, at_most_beyond};
use leakgauge_exact::claim::{BoundClaim, BoundPromise, Guarantee};
use leakgauge_stats::concentration::mcdiarmid_hockey_stick_radius;

/// Differential privacy of any kind between all secrets: refuted by the certified lower limit of its
/// parameter; (ε, δ) with δ > 0 on a discrete log is proved by the upper limits of the hockey-stick
/// divergences. Every pair is held to what its distance allows.
pub(super) fn judge(
    evidence: &Evidence,
    claim: &BoundClaim,
    promise: &BoundPromise,
    at: usize,
) -> ClaimReport {
    let case = Case::new(evidence, promise, at);
    let (verdict, reason) = case.decide();
    let rows_needed = (verdict == Verdict::Inconclusive)
        .then(|| case.rows())
        .flatten();
    let limit = case.limit;
    ClaimReport {
        claim: claim.claim().clone(),
        quantity: Quantity::Privacy(limit.quantity),
        analytic: case.allowed.parameter(),
        estimate: Estimate {
            point: limit.point,
            lower: limit.lower,
            upper: None,
            method: Methods {
                point: limit.point.map(|_| Method::HeldOutAttack),
                lower: limit.lower.map(|_| evidence.errors_method()),
                upper: None,
            },
            reason: Some(format!(
                "no upper limit of {} exists from samples",
                limit.quantity
            )),
        },
        pair: limit.secrets,
        verdict,
        reason,
        rows_needed,
        fit: None,
    }
}

/// A claim, the limit that it is judged by and what it allows there.
struct Case<'a> {
    evidence: &'a Evidence<'a>,
    promise: &'a BoundPromise,
    plan: PrivacyPlan,
    limit: PrivacyLimit,
    allowed: Guarantee,
    divergence: Option<Divergence>,
}

/// The hockey-stick divergence of an ordered pair.
struct Divergence {
    pair: [usize; 2],
    plug_in: f64,
    upper: f64,
    /// What the pair is allowed.
    epsilon: f64,
    delta: f64,
}

impl Divergence {
    fn excess(&self) -> f64 {
        self.upper - self.delta
    }
}

impl<'a> Case<'a> {
    fn new(evidence: &'a Evidence<'a>, promise: &'a BoundPromise, at: usize) -> Self {
        let plan = evidence.plan.privacy_of(at);
        let allowed = promise.between(plan.rule.a as usize, plan.rule.b as usize);
        Case {
            evidence,
            promise,
            plan,
            limit: evidence.privacy(&plan),
            allowed,
            divergence: (needs_delta(allowed) && evidence.is_discrete())
                .then(|| largest_divergence(evidence, promise))
                .flatten(),
        }
    }

    /// The verdict and why.
    fn decide(&self) -> (Verdict, String) {
        let allowed = self.allowed.parameter();
        let (name, bound) = (self.limit.quantity, allowance(allowed));
        let article = match name {
            PrivacyParameter::Epsilon { .. } => "an",
            PrivacyParameter::Mu | PrivacyParameter::Rho => "a",
        };
        let [a, b] = self.limit.secrets.each_ref().map(|label| shorten(label));
        let (one, other) = (self.plan.rule.a as usize, self.plan.rule.b as usize);
        let apart = self.apart(one, other);
        if let Some(lower) = self.limit.lower.filter(|lower| *lower > allowed) {
            let lower = at_least_beyond(lower, allowed);
            let (at_delta, more) = match (&apart, self.plan.quantity) {
                (None, _) => (String::new(), bound),
                (Some(_), PrivacyParameter::Epsilon { delta }) if delta > 0.0 => (
                    format!(" at delta {}", allowance(delta)),
                    format!("the {bound} that the claim allows there"),
                ),
                (Some(_), _) => (
                    String::new(),
                    format!("the {bound} that the claim allows there"),
                ),
            };
            let apart = apart.map_or(String::new(), |apart| format!(", {apart},"));
            let reason = format!(
                "Secrets {a} and {b}{apart} need {article} {name} of at least {lower}{at_delta}, more than {more}."
            );
            return (Verdict::Violated, reason);
        }
        if let Some(reason) = self.confirmed() {
            return (Verdict::Holds, reason);
        }
        let lower = self.limit.lower.map_or("no limit".to_owned(), |lower| {
            format!("at least {}", at_least(lower))
        });
        let (place, allows) = match apart {
            None => (String::new(), format!("which the claimed {bound} allows")),
            Some(apart) => (
                format!(" between {a} and {b}, {apart}"),
                format!("where the claim allows {bound}"),
            ),
        };
        let reason = format!(
            "Not refuted: the log shows {article} {name} of {lower}{place}, {allows}. Not confirmed: {}.",
            self.unconfirmed()
        );
        (Verdict::Inconclusive, reason)
    }

    /// How far apart two secrets are, in words, if that matters.
    fn apart(&self, a: usize, b: usize) -> Option<String> {
        let (steps, unit) = self.promise.steps(a, b)?;
        Some(format!(
            "{} {} of {} apart",
            allowance(steps),
            if steps == 1.0 { "step" } else { "steps" },
            allowance(unit)
        ))
    }

    /// Why the claim holds, if it does.
    fn confirmed(&self) -> Option<String> {
        let found = self
            .divergence
            .as_ref()
            .filter(|found| found.excess() <= 0.0)?;
        let upper = at_most_beyond(found.upper, found.delta);
        let (epsilon, delta) = (allowance(found.epsilon), allowance(found.delta));
        let [a, b] = found.pair;
        Some(match self.apart(a, b) {
            None => format!(
                "At epsilon {epsilon} every ordered pair needs a delta of at most {upper}, within {delta}."
            ),
            Some(apart) => format!(
                "At its own epsilon every ordered pair needs no more than its own delta; the nearest is {} and {}, \
                 {apart}: at epsilon {epsilon} a delta of at most {upper}, within {delta}.",
                shorten(&self.evidence.secrets[a]),
                shorten(&self.evidence.secrets[b]),
            ),
        })
    }

    /// Why it cannot be said to hold.
    fn unconfirmed(&self) -> String {
        if let Some(found) = &self.divergence {
            let [a, b] = found.pair;
            let of = self.apart(a, b).map_or(String::new(), |apart| {
                let [a, b] = found
                    .pair
                    .map(|secret| shorten(&self.evidence.secrets[secret]));
                format!(
                    " of {a} and {b}, {apart}, where {} is allowed,",
                    allowance(found.delta)
                )
            });
            return format!(
                "the delta needed at epsilon {}{of} is only limited to {}",
                allowance(found.epsilon),
                at_most(found.upper)
            );
        }
        let kind = match self.allowed {
            Guarantee::Dp { delta, .. } if delta > 0.0 && self.evidence.effective.is_some() => {
                return self.evidence.no_upper("").to_owned();
            }
            Guarantee::Dp { delta, .. } if delta > 0.0 && self.evidence.is_discrete() => {
                return "some secret has no rows in this log".to_owned();
            }
            Guarantee::Dp { delta, .. } if delta > 0.0 => {
                return "no upper limit exists for numeric observations".to_owned();
            }
            Guarantee::Dp { .. } => "pure",
            Guarantee::Gaussian { .. } => "Gaussian",
            Guarantee::Concentrated { .. } => "concentrated",
        };
        format!(
            "samples can refute {kind} differential privacy but never prove it: an observation too rare to be seen could \
             still break it"
        )
    }

    /// Rows that would prove the claim, else rows that would refute it, if either can be named.
    fn rows(&self) -> Option<u64> {
        let (limit, allowed) = (&self.limit, self.allowed.parameter());
        let proof = self.divergence.as_ref().and_then(|found| {
            rows_needed::for_divergence(self.evidence, found.plug_in, found.upper, found.delta)
        });
        let unclear = limit
            .point
            .zip(limit.lower)
            .is_some_and(|(point, lower)| rows_needed::is_within_noise(point, lower, allowed));
        if proof.is_some() || unclear {
            return proof;
        }
        let tally = self.evidence.judgement.tallies[self.plan.position];
        let share = self.evidence.plan.share(self.plan.read);
        rows_needed::scaled(self.evidence, tally.is_judged(), |factor| {
            let errors = self.evidence.errors(self.plan.position).scaled(factor);
            let errors = errors.errors_at_most(share);
            errors.at_least(self.plan.quantity) > allowed
        })
    }
}

fn needs_delta(allowed: Guarantee) -> bool {
    matches!(allowed, Guarantee::Dp { delta, .. } if delta > 0.0)
}

/// The hockey-stick divergence of the ordered pair whose upper limit, at the pair's own ε and level,
/// exceeds the pair's own δ most.
fn largest_divergence(evidence: &Evidence, promise: &BoundPromise) -> Option<Divergence> {
    let rows = evidence.counts.rows();
    if rows.contains(&0) {
        return None;
    }
    let alpha = evidence.alpha();
    let allowed = |a: usize, b: usize| match promise.between(a, b) {
        Guarantee::Dp { epsilon, delta } => (epsilon, delta),
        Guarantee::Gaussian { .. } | Guarantee::Concentrated { .. } => (0.0, 0.0),
    };
    let epsilon = |a: u32, b: u32| allowed(a as usize, b as usize).0;
    let limits = hockey_stick(evidence.counts, epsilon)
        .into_iter()
        .map(|(a, b, plug_in)| {
            let pair = [a as usize, b as usize];
            let (epsilon, delta) = allowed(pair[0], pair[1]);
            let [a, b] = pair.map(|secret| rows[secret]);
            let radius = mcdiarmid_hockey_stick_radius(a, b, epsilon, alpha);
            Divergence {
                pair,
                plug_in,
                // No divergence exceeds 1, however wide its limit.
                upper: (plug_in + radius).min(1.0),
                epsilon,
                delta,
            }
        });
    limits.reduce(|best, next| {
        if next.excess() > best.excess() {
            next
        } else {
            best
        }
    })
}
