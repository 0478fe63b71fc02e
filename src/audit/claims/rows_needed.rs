//! How many rows like these would decide a claim.

use crate::audit::advice::LogAdvice;
use crate::audit::basis::Evidence;
use crate::audit::certified_limit::CertifiedLimit;
use crate::audit::claims::report::Verdict;
use crate::estimate::{Estimate, Method};
use leakgauge_log::Log;
use leakgauge_stats::bisection::bisect;
use leakgauge_stats::special::{NINTH_DECILE, normal_quantile};

/// Rows at which the same rates would decide a bound on the advantage of a pair; `None` where the
/// estimate is too near the bound to say on which side the truth is.
pub(crate) fn for_bound(
    evidence: &Evidence,
    verdict: Verdict,
    estimate: &Estimate,
    bound: f64,
    pair: usize,
) -> Option<u64> {
    let point = estimate
        .point
        .filter(|_| verdict == Verdict::Inconclusive)?;
    if point <= bound {
        return match estimate.method.upper {
            Some(Method::FixedEvent | Method::SparseCloseness) => for_plug_in(evidence, |_| bound),
            _ => for_upper(evidence, estimate, bound),
        };
    }
    refuting(
        evidence,
        pair,
        (point, estimate.lower?, estimate.method.lower),
        bound,
    )
}

/// Rows at which the lower limit of a pair's total variation would exceed a bound.
pub(crate) fn to_refute(evidence: &Evidence, pair: usize, bound: f64) -> Option<u64> {
    let (lower, method) = evidence.lower(pair)?;
    let point = evidence.advantages[pair].point()?;
    refuting(evidence, pair, (point, lower, Some(method)), bound)
}

fn refuting(
    evidence: &Evidence,
    pair: usize,
    (point, lower, method): (f64, f64, Option<Method>),
    bound: f64,
) -> Option<u64> {
    if is_within_noise(point, lower, bound) {
        None
    } else if method.is_some_and(|m| m == Method::KolmogorovDkw || m.is_of_some_pair())
        || evidence.independence.is_of_units()
    {
        by_width(evidence, point, lower, bound)
    } else {
        for_refutation(evidence, pair, bound)
    }
}

/// Rows at which a lower limit would exceed a bound, if its width falls like 1/√rows, or with units like
/// 1/√units.
pub(crate) fn by_width(evidence: &Evidence, point: f64, lower: f64, bound: f64) -> Option<u64> {
    let factor = ((point - lower) / (point - bound)).powi(2);
    sensible(evidence.counts.total() as f64 * factor)
}

/// Rows at which the same rates would decide a mechanism claim: `analytic` is its total variation of a
/// pair.
pub(crate) fn for_mechanism(
    evidence: &Evidence,
    verdict: Verdict,
    estimate: &Estimate,
    analytic: impl Fn(usize) -> f64,
    pair: usize,
) -> Option<u64> {
    let margin = evidence.options.margin;
    let point = estimate
        .point
        .filter(|_| verdict == Verdict::Inconclusive)?;
    let refutable =
        point > analytic(pair) + margin && !is_within_noise(point, estimate.lower?, analytic(pair));
    if refutable && evidence.independence.is_of_units() {
        by_width(evidence, point, estimate.lower?, analytic(pair))
    } else if refutable {
        for_refutation(evidence, pair, analytic(pair))
    } else {
        for_plug_in(evidence, |pair| analytic(pair) + margin)
    }
}

/// A standard error, as a part of the distance from an estimate to its limit.
const NOISE: f64 = 0.5;

/// Whether an estimate is within about a standard error of a bound: a limit is about two away.
pub(crate) fn is_within_noise(point: f64, lower: f64, bound: f64) -> bool {
    point - bound < NOISE * (point - lower)
}

/// Rows at which the upper limit of every pair would come down to its bound. Plug-in estimates that are
/// above it, as they are while most observations are new, promise nothing.
fn for_plug_in(evidence: &Evidence, bound: impl Fn(usize) -> f64) -> Option<u64> {
    let limits = evidence.upper?;
    let mut largest = 1.0f64;
    for (pair, &plug_in) in limits.plug_in.iter().enumerate() {
        let (room, radius) = (bound(pair) - plug_in, limits.radius(pair)?);
        // Noise moves the estimate by as much: what is left is no forecast.
        if room <= NOISE * radius {
            return None;
        }
        largest = largest.max(radius / room);
    }
    sensible(evidence.counts.total() as f64 * largest * largest)
}

/// Rows at which the attack's rates on a pair would exceed a bound on its advantage.
fn for_refutation(evidence: &Evidence, pair: usize, bound: f64) -> Option<u64> {
    let advantage = &evidence.advantages[pair];
    let level = evidence.plan.pair_share(CertifiedLimit::Table(0), pair);
    if level <= 0.0 {
        return None;
    }
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
pub(crate) fn for_divergence(
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
pub(crate) fn scaled(
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
    let (_, high) = bisect((high / 2.0, high), 12, |factor| !enough(factor));
    sensible(evidence.counts.total() as f64 * high)
}

/// Rows at which nine of ten logs would decide, from those at which half of them would: where a limit is z standard errors
/// away from its estimate, the bound must be z and those of the ninth decile from the truth.
pub(crate) fn in_nine_of_ten(evidence: &Evidence, half: u64) -> Option<u64> {
    let z = -normal_quantile(evidence.alpha());
    // A level of a half or more asks for no distance at all.
    sensible(half as f64 * ((z + NINTH_DECILE) / z.max(0.5)).powi(2))
}

/// So many rows in units with as many rows each as those of the log, where limits count units.
pub(crate) fn as_units(evidence: &Evidence, log: &Log, rows: Option<u64>) -> Option<u64> {
    let units = log.units.as_ref();
    let units = units.filter(|_| evidence.independence.is_of_units())?;
    let times = rows? as f64 / log.counts.total().max(1) as f64;
    sensible(times * units.rows.len() as f64)
}

/// Where a sample was used: how to use as many rows of the log as are wanted.
pub(crate) fn from_the_log(evidence: &Evidence, wanted: u64) -> Option<LogAdvice> {
    let sampled = evidence.sampled?;
    Some(LogAdvice {
        rows: sampled.rows_in_all(),
        used: sampled.rows_used(),
        wanted,
    })
}

/// Two significant digits, rounded up; `None` beyond what anyone could log.
pub(crate) fn sensible(rows: f64) -> Option<u64> {
    if !rows.is_finite() || rows > 1e13 {
        return None;
    }
    let unit = 10f64.powf((rows.max(1.0).log10().floor() - 1.0).max(0.0));
    Some(((rows / unit).ceil() * unit) as u64)
}
