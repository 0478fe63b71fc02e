//! How many rows like these would decide a claim.

use crate::audit::Evidence;
use crate::audit::model::Verdict;
use crate::estimate::{Estimate, Method};

/// Rows at which the same rates would decide a bound on the advantage of a pair.
pub(super) fn for_bound(
    evidence: &Evidence,
    verdict: Verdict,
    estimate: &Estimate,
    bound: f64,
    pair: usize,
) -> Option<u64> {
    let point = estimate
        .point
        .filter(|_| verdict == Verdict::Inconclusive)?;
    if point > bound && estimate.method.lower == Some(Method::KolmogorovDkw) {
        // The width of that limit falls like 1/√rows.
        let factor = ((point - estimate.lower?) / (point - bound)).powi(2);
        sensible(evidence.counts.total() as f64 * factor)
    } else if point > bound {
        for_refutation(evidence, pair, bound)
    } else {
        for_upper(evidence, estimate, bound)
    }
}

/// Rows at which the same rates would decide a mechanism claim. `tightest` is the pair whose upper limit
/// exceeds its analytic value and the margin most, and by how much.
pub(super) fn for_mechanism(
    evidence: &Evidence,
    verdict: Verdict,
    estimate: &Estimate,
    analytic: f64,
    tightest: Option<(usize, f64)>,
    pair: usize,
) -> Option<u64> {
    let margin = evidence.options.margin;
    let point = estimate
        .point
        .filter(|_| verdict == Verdict::Inconclusive)?;
    if point > analytic + margin {
        return for_refutation(evidence, pair, analytic);
    }
    // A correct mechanism sits on its own value: what the limit must shrink to is the margin.
    let (_, excess) = tightest?;
    sensible(evidence.counts.total() as f64 * ((excess + margin) / margin).powi(2))
}

/// Rows at which the attack's rates on a pair would exceed a bound on its advantage.
fn for_refutation(evidence: &Evidence, pair: usize, bound: f64) -> Option<u64> {
    let advantage = &evidence.advantages[pair];
    let share = evidence
        .plan
        .share(evidence.plan.advantage_read(evidence.tuned, pair));
    let level = evidence.one_side(share);
    scaled(evidence, advantage.tally().is_judged(), |factor| {
        advantage.scaled(factor).at_least(level) > bound
    })
}

/// The width of an upper limit falls like 1/√rows.
fn for_upper(evidence: &Evidence, estimate: &Estimate, bound: f64) -> Option<u64> {
    let (point, upper) = (estimate.point?, estimate.upper?);
    if point >= bound {
        return None;
    }
    let factor = ((upper - point) / (bound - point)).powi(2);
    sensible(evidence.counts.total() as f64 * factor)
}

/// Rows at which the upper limit of a divergence would come down to a bound, if the plug-in value is
/// below it.
pub(super) fn for_divergence(
    evidence: &Evidence,
    plug_in: f64,
    upper: f64,
    bound: f64,
) -> Option<u64> {
    let factor = ((upper - plug_in) / (bound - plug_in)).powi(2);
    (plug_in < bound)
        .then(|| sensible(evidence.counts.total() as f64 * factor))
        .flatten()
}

/// The rows of the log at which the same error rates on a multiple of its rows would be enough, by
/// doubling and bisection.
pub(super) fn scaled(
    evidence: &Evidence,
    judged: bool,
    enough: impl Fn(f64) -> bool,
) -> Option<u64> {
    if !judged {
        return None;
    }
    let mut high = 1.0;
    while !enough(high) {
        high *= 2.0;
        if high > 1e6 {
            return None;
        }
    }
    let mut low = high / 2.0;
    for _ in 0..12 {
        let middle = 0.5 * (low + high);
        if enough(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    sensible(evidence.counts.total() as f64 * high)
}

/// Two significant digits, rounded up; `None` for more rows than anyone has.
fn sensible(rows: f64) -> Option<u64> {
    if !rows.is_finite() || rows > 1e13 {
        return None;
    }
    let unit = 10f64.powf((rows.max(1.0).log10().floor() - 1.0).max(0.0));
    Some(((rows / unit).ceil() * unit) as u64)
}
