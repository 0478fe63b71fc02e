//! Claims of differential privacy.

use crate::audit::basis::Evidence;
use crate::audit::claims::reason::{
    Distance, Divergence, Grounds, PrivacyGrounds, PrivacyKind, PrivacyOutcome, Unproved,
};
use crate::audit::claims::report::{ClaimReport, Verdict};
use crate::audit::claims::rows_needed;
use crate::audit::closure::Read;
use crate::estimate::{Estimate, Method, Methods, Reason};
use leakgauge_attack::measure::plug_in::hockey_stick_of;
use leakgauge_base::quantity::Quantity;
use leakgauge_exact::claim::{BoundClaim, BoundPromise, Guarantee};
use leakgauge_stats::dp_upper::Allowed;

/// Differential privacy of any kind between all secrets: refuted by the certified lower limit of its
/// parameter; (ε, δ) with δ > 0 on a discrete log is proved by the upper limits of the hockey-stick
/// divergences. Every pair is held to what its distance allows.
pub(crate) fn judge(
    evidence: &Evidence,
    claim: &BoundClaim,
    promise: &BoundPromise,
    at: usize,
) -> ClaimReport {
    let case = Case::new(evidence, promise, at);
    let outcome = case.decide();
    let verdict = match outcome {
        PrivacyOutcome::Refuted => Verdict::Violated,
        PrivacyOutcome::Proved(_) => Verdict::Holds,
        PrivacyOutcome::Open(_) => Verdict::Inconclusive,
    };
    let rows_needed = (verdict == Verdict::Inconclusive)
        .then(|| case.rows())
        .flatten();
    let estimate = case.estimate(&outcome);
    let limit = &case.read.limit;
    let [a, b] = limit.secrets.secrets();
    let reason = Grounds::Privacy(PrivacyGrounds {
        quantity: limit.quantity,
        distance: case.distance(a, b),
        outcome,
    });
    ClaimReport {
        claim: claim.claim().clone(),
        quantity: Quantity::Privacy(limit.quantity),
        analytic: case.allowed.parameter(),
        estimate,
        p_value: (limit.lower.is_some()).then(|| case.p_value()),
        pair: limit.secrets.clone(),
        verdict,
        reason: reason.into(),
        rows_needed,
        units_needed: None,
        fit: None,
    }
}

/// A limit of privacy as an estimate.
pub(crate) fn estimate(read: &Read) -> Estimate {
    let limit = &read.limit;
    Estimate {
        point: limit.point,
        raw: None,
        lower: limit.lower,
        upper: None,
        method: Methods {
            point: limit.point.map(|_| Method::HeldOutAttack),
            lower: read.source.map(|source| source.method),
            upper: None,
        },
        reason: Some(Reason::Unbounded(limit.quantity)),
    }
}

/// An estimate of what is proved to be at most so much, by limits of divergences.
pub(super) fn proved(evidence: &Evidence, mut estimate: Estimate, most: f64) -> Estimate {
    estimate.upper = Some(most);
    estimate.method.upper = evidence.upper.map(|limits| limits.event_method());
    estimate.reason = None;
    estimate.constrain(0.0, f64::INFINITY);
    estimate
}

/// A claim, the limit that it is judged by and what it allows there.
struct Case<'a> {
    evidence: &'a Evidence<'a>,
    promise: &'a BoundPromise,
    /// The planned limit.
    at: usize,
    read: Read,
    allowed: Guarantee,
    divergence: Option<Found>,
}

/// The hockey-stick divergence of an ordered pair.
struct Found {
    pair: [u32; 2],
    plug_in: f64,
    upper: f64,
    /// What the pair is allowed.
    epsilon: f64,
    delta: f64,
}

impl Found {
    fn excess(&self) -> f64 {
        self.upper - self.delta
    }
}

impl<'a> Case<'a> {
    fn new(evidence: &'a Evidence<'a>, promise: &'a BoundPromise, at: usize) -> Self {
        let at = evidence.plan.privacy_at(at);
        let read = if promise.is_uniform() {
            evidence.privacy(at)
        } else {
            most_beyond(evidence, promise, at)
        };
        let [a, b] = read.limit.secrets.secrets();
        let allowed = promise.between(a as usize, b as usize);
        Case {
            evidence,
            promise,
            at,
            read,
            allowed,
            divergence: (needs_delta(allowed) && evidence.is_discrete())
                .then(|| largest_divergence(evidence, promise))
                .flatten(),
        }
    }

    /// The smallest p-value of the pair that was planned and of the one that decides.
    fn p_value(&self) -> f64 {
        let evidence = self.evidence;
        let planned = evidence.pair_of(evidence.plan.privacy[self.at].rule);
        let of_pair = |pair: usize| {
            let allowed = allowed_at(evidence, self.promise, pair);
            evidence.privacy_p_value(pair, allowed.quantity(), allowed.parameter())
        };
        let uniform = self.promise.is_uniform();
        let average = match uniform {
            true => {
                evidence.some_privacy_p_value(self.allowed.quantity(), self.allowed.parameter())
            }
            false => 1.0,
        };
        let p = of_pair(planned).min(average);
        if self.read.pair == planned {
            p
        } else {
            p.min(of_pair(self.read.pair))
        }
    }

    /// The limits of the parameter: where the claim is proved, it is at most what is claimed.
    fn estimate(&self, outcome: &PrivacyOutcome) -> Estimate {
        let estimate = estimate(&self.read);
        match outcome {
            PrivacyOutcome::Proved(_) => proved(self.evidence, estimate, self.allowed.parameter()),
            PrivacyOutcome::Refuted | PrivacyOutcome::Open(_) => estimate,
        }
    }

    /// What was found.
    fn decide(&self) -> PrivacyOutcome {
        let allowed = self.allowed.parameter();
        if self.read.limit.lower.is_some_and(|lower| lower > allowed) {
            return PrivacyOutcome::Refuted;
        }
        match &self.divergence {
            Some(found) if found.excess() <= 0.0 => PrivacyOutcome::Proved(self.divergence(found)),
            Some(found) => PrivacyOutcome::Open(Unproved::Divergence(self.divergence(found))),
            None => PrivacyOutcome::Open(self.unproved()),
        }
    }

    fn divergence(&self, found: &Found) -> Divergence {
        let [a, b] = found.pair;
        Divergence {
            pair: self.evidence.secrets(found.pair),
            distance: self.distance(a, b),
            upper: found.upper,
            epsilon: found.epsilon,
            delta: found.delta,
        }
    }

    /// How far apart two secrets are, if that matters.
    fn distance(&self, a: u32, b: u32) -> Option<Distance> {
        let (steps, unit) = self.promise.steps(a as usize, b as usize)?;
        Some(Distance { steps, unit })
    }

    /// Why there is no divergence that could prove the claim.
    fn unproved(&self) -> Unproved {
        match self.allowed {
            Guarantee::Dp { delta, .. } if delta > 0.0 => {
                if self.evidence.effective.is_some() {
                    Unproved::DependentRows
                } else if self.evidence.is_discrete() {
                    Unproved::SecretWithoutRows
                } else {
                    Unproved::RawNumbers
                }
            }
            Guarantee::Dp { .. } => Unproved::Never(PrivacyKind::Pure),
            Guarantee::Gaussian { .. } => Unproved::Never(PrivacyKind::Gaussian),
            Guarantee::Concentrated { .. } => Unproved::Never(PrivacyKind::Concentrated),
            Guarantee::Renyi { .. } => Unproved::Never(PrivacyKind::Renyi),
        }
    }

    /// Rows that would prove the claim, else rows that would refute it, if either can be named.
    fn rows(&self) -> Option<u64> {
        let (limit, allowed) = (&self.read.limit, self.allowed.parameter());
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
        if limit.is_of_some_pair {
            let (point, lower) = limit.point.zip(limit.lower)?;
            return rows_needed::by_width(self.evidence, point, lower, allowed);
        }
        let Some(at) = self.read.source.and_then(|source| source.planned) else {
            // The total variation decides, or the band of all thresholds.
            let most = self.allowed.largest_total_variation();
            return rows_needed::to_refute(self.evidence, self.read.pair, most);
        };
        let guessed = self.evidence.guesses[at].is_some();
        let weighed = self.evidence.bins[at].is_some();
        if guessed || weighed || self.evidence.independence.is_of_units() {
            let (point, lower) = limit.point.zip(limit.lower)?;
            return rows_needed::by_width(self.evidence, point, lower, allowed);
        }
        let plan = &self.evidence.plan.privacy[at];
        let share = self.evidence.plan.share(plan.read);
        let tally = self.evidence.judgement.tallies[plan.position];
        rows_needed::scaled(self.evidence, tally.is_judged(), |factor| {
            let errors = self.evidence.errors(plan.position).scaled(factor);
            let errors = errors.errors_at_most(share);
            errors.at_least(limit.quantity) > allowed
        })
    }
}

/// What a promise leaves to a pair.
fn allowed_at(evidence: &Evidence, promise: &BoundPromise, pair: usize) -> Guarantee {
    let rule = evidence.tuned.choices[pair].rule;
    promise.between(rule.a as usize, rule.b as usize)
}

/// The limit that exceeds what its pair is allowed most: at the pair that was planned, at others of which more than a total
/// variation is certified, and at the one whose total variation exceeds most what the promise leaves possible.
fn most_beyond(evidence: &Evidence, promise: &BoundPromise, at: usize) -> Read {
    let is_neighbor = |pair: usize| {
        let rule = evidence.tuned.choices[pair].rule;
        evidence.neighbors.contain(rule.a, rule.b)
    };
    let excess = |pair: usize| {
        let most = allowed_at(evidence, promise, pair).largest_total_variation();
        Some((evidence.lower(pair)?.0 - most, pair))
    };
    let pairs = (0..evidence.pair_count()).filter(|pair| is_neighbor(*pair));
    let by_total_variation = pairs.filter_map(excess);
    let by_total_variation =
        by_total_variation.reduce(|best, next| if next.0 > best.0 { next } else { best });
    let planned = evidence.pair_of(evidence.plan.privacy[at].rule);
    let closed = evidence.closures.iter().map(|closed| closed.0);
    let closed = closed.filter(|pair| is_neighbor(*pair));
    let others = closed.chain(by_total_variation.map(|found| found.1));
    let beyond = |pair: usize| {
        let allowed = allowed_at(evidence, promise, pair);
        let read = evidence.privacy_at(pair, allowed.quantity());
        let lower = read.limit.lower.unwrap_or(0.0).max(0.0);
        let excess = allowed.quantity().excess(lower, allowed.parameter());
        (excess, read)
    };
    let larger = |best: (f64, Read), next: (f64, Read)| if next.0 > best.0 { next } else { best };
    others.map(beyond).fold(beyond(planned), larger).1
}

fn needs_delta(allowed: Guarantee) -> bool {
    matches!(allowed, Guarantee::Dp { delta, .. } if delta > 0.0)
}

/// The hockey-stick divergence of the ordered pair whose upper limit, at the pair's own ε and level,
/// exceeds the pair's own δ most, of those that are neighbors.
fn largest_divergence(evidence: &Evidence, promise: &BoundPromise) -> Option<Found> {
    if evidence.counts.rows().contains(&0) {
        return None;
    }
    let limits = evidence.upper?;
    let allowed = |a: usize, b: usize| match promise.between(a, b) {
        Guarantee::Dp { epsilon, delta } => (epsilon, delta),
        Guarantee::Gaussian { .. } | Guarantee::Concentrated { .. } | Guarantee::Renyi { .. } => {
            (0.0, 0.0)
        }
    };
    let secrets = 0..evidence.counts.secrets() as u32;
    let ordered = secrets
        .clone()
        .flat_map(|a| secrets.clone().map(move |b| [a, b]));
    let pairs: Vec<Allowed> = ordered
        .filter(|&[a, b]| a != b && evidence.neighbors.contain(a, b))
        .map(|pair| {
            let [a, b] = pair.map(|secret| secret as usize);
            let (epsilon, delta) = allowed(a, b);
            Allowed {
                pair,
                epsilon,
                delta,
            }
        })
        .collect();
    let (at, upper) = limits.largest_divergence(&pairs)?;
    let Allowed {
        pair,
        epsilon,
        delta,
    } = pairs[at];
    Some(Found {
        pair,
        plug_in: hockey_stick_of(evidence.counts, pair, epsilon),
        upper,
        epsilon,
        delta,
    })
}
