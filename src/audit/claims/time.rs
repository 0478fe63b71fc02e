//! Claims about differences of times.

use crate::audit::claims::reason::Grounds;
use crate::audit::claims::report::{ClaimReport, Verdict};
use crate::audit::claims::time_check::{factor, slower};
use crate::audit::figures::differences::{Difference, Differences};
use crate::audit::options::AuditOptions;
use crate::audit::pair::{Labels, Pair};
use crate::estimate::{Estimate, Method, Methods};
use leakgauge_base::quantity::Quantity;
use leakgauge_exact::claim::{BoundClaim, TimeBound};
use leakgauge_stats::clock::within_rounding;
use leakgauge_stats::paired::Located;

/// What decides about a claim, in the unit of the log.
struct Found {
    /// The pair that differs most, the one that takes longer second.
    pair: Pair,
    point: Option<f64>,
    lower: Option<f64>,
    upper: Option<f64>,
    /// The least number of rows that a secret of a pair has.
    fewest: u64,
    p_value: Option<f64>,
}

/// Judges a claim: violated if the lower limit of the median of some pair, all pairs together, exceeds the bound;
/// holds if the upper limit of every pair is within it, each at the whole level, because the pair that breaks a
/// false claim is one fixed pair (two one-sided tests, intersection–union). A claim about one secret reads the pairs
/// that have it, and limits of one side.
pub(crate) fn judge(
    claim: &BoundClaim,
    bound: &TimeBound,
    differences: &Differences,
    options: &AuditOptions,
    (labels, share): (&Labels, f64),
) -> ClaimReport {
    let factor = factor(differences.unit, options.clock_frequency, bound).unwrap_or(1.0);
    // In the unit of the log: nothing but the bound itself is rounded.
    let at_most = bound.at_most / factor;
    let allowed = within_rounding(at_most);
    let blur = differences.clock.blur();
    let named = slower(claim.claim(), labels).ok().flatten();
    let found = match named {
        Some(secret) => of_secret(differences, secret, options, (labels, share), at_most),
        None => of_all(differences, (labels, share), at_most),
    };
    let Found {
        pair,
        point,
        lower,
        upper,
        fewest,
        p_value,
    } = found;
    let verdict = if lower.is_some_and(|lower| lower > allowed) {
        Verdict::Violated
    } else if upper.is_some_and(|upper| upper <= allowed) {
        Verdict::Holds
    } else {
        Verdict::Inconclusive
    };
    let upper = match lower {
        // Beside a difference that is shown stands its interval, which has two sides.
        Some(lower) if lower > 0.0 && named.is_none() => {
            with_interval(upper, differences, (verdict, allowed))
        }
        _ => upper,
    };
    // What is printed does not contradict the verdict by its rounding.
    let printed = |size: f64| match (size - at_most).abs() {
        rounding if rounding <= allowed - at_most => bound.at_most,
        _ => factor * size,
    };
    let [lower, upper] = [lower, upper].map(|limit| limit.map(printed));
    let point = point.map(|point| factor * point);
    let method = match differences.blocks {
        Some(_) => Method::MedianDifference,
        None => Method::DifferenceOfMedians,
    };
    ClaimReport {
        claim: claim.claim().clone(),
        quantity: Quantity::TimeDifference,
        analytic: bound.at_most,
        pair,
        verdict,
        reason: Grounds::TimeDifference {
            in_blocks: differences.blocks.is_some(),
            unit: bound.unit.or(differences.unit),
            least: (blur > allowed).then_some(factor * blur),
            needed: (fewest < differences.least).then_some(differences.least),
        }
        .into(),
        rows_needed: None,
        units_needed: None,
        p_value,
        estimate: Estimate {
            point,
            lower,
            upper,
            method: Methods {
                point: point.map(|_| method),
                lower: lower.map(|_| Method::OrderStatistics),
                upper: upper.map(|_| Method::OrderStatistics),
            },
            ..Estimate::default()
        },
        fit: None,
    }
}

/// The upper limit that is printed: that of the intervals of all pairs, if it is finite and does not contradict a verdict.
fn with_interval(
    upper: Option<f64>,
    differences: &Differences,
    (verdict, allowed): (Verdict, f64),
) -> Option<f64> {
    let by_intervals = differences.largest_by_intervals();
    let contradicts = verdict == Verdict::Holds && by_intervals > allowed;
    match by_intervals.is_finite() && !contradicts {
        true => upper.map(|upper| upper.max(by_intervals)),
        false => upper,
    }
}

/// What decides about a claim of any two secrets. The p-value is that of no median beyond the bound: tests of order
/// statistics, both directions and all pairs together, at their part of the level.
fn of_all(differences: &Differences, (labels, part): (&Labels, f64), at_most: f64) -> Found {
    let pairs = &differences.pairs;
    // A pair that is shown to differ decides, whatever another with few times may be estimated at.
    let shown = pairs.iter().filter(|pair| pair.smallest() > 0.0);
    let shown = shown.reduce(|best, next| match next.smallest() > best.smallest() {
        true => next,
        false => best,
    });
    let worst = shown.or(pairs.first());
    let complete = pairs.len() == labels.len() * (labels.len() - 1) / 2;
    let upper = differences.largest();
    let recorded = differences.clock.hides(at_most);
    let of_pair = |pair: &Difference| pair.beyond(recorded);
    let smallest = pairs.iter().map(of_pair).reduce(f64::min);
    Found {
        pair: worst.map_or_else(
            || Pair::new(labels.clone(), [0, 1]),
            |pair| pair.secrets.clone(),
        ),
        point: worst.map(|pair| pair.median.point),
        lower: worst.map(Difference::smallest),
        upper: (complete && upper.is_finite()).then_some(upper),
        fewest: pairs.iter().flat_map(Difference::rows).min().unwrap_or(0),
        p_value: smallest.map(|p| (2.0 * pairs.len() as f64 * p / part).min(1.0)),
    }
}

/// What decides about a claim of one secret: by how much it takes longer than some other, 0 if it does not. One
/// direction, and the pairs that have the secret, share the part of the level.
fn of_secret(
    differences: &Differences,
    secret: u32,
    options: &AuditOptions,
    (labels, part): (&Labels, f64),
    at_most: f64,
) -> Found {
    let clock = &differences.clock;
    let others = labels.len() as f64 - 1.0;
    let alpha = 1.0 - options.confidence;
    let together = |pair: &Difference| pair.slower_by(secret, alpha * part / others, clock);
    let mut pairs: Vec<(&Difference, Located)> = differences
        .pairs
        .iter()
        .filter_map(|pair| Some((pair, together(pair)?)))
        .collect();
    pairs.sort_by(|(_, x), (_, y)| {
        let by_limit = y.lower.total_cmp(&x.lower);
        by_limit.then(y.point.total_cmp(&x.point))
    });
    let alone = pairs
        .iter()
        .filter_map(|(pair, _)| pair.slower_by(secret, alpha, clock));
    let upper = alone.map(|found| found.upper).fold(0.0, f64::max);
    let complete = pairs.len() + 1 == labels.len();
    let recorded = clock.hides(at_most);
    let of_pair = |(pair, _): &(&Difference, Located)| pair.slower_beyond(secret, recorded);
    let smallest = pairs.iter().map(of_pair).reduce(f64::min);
    let worst = pairs.first();
    let other = worst.map_or(u32::from(secret == 0), |(pair, _)| {
        let [a, b] = pair.secrets.secrets();
        if a == secret { b } else { a }
    });
    Found {
        pair: Pair::new(labels.clone(), [other, secret]),
        point: worst.map(|(_, found)| found.point.max(0.0)),
        lower: worst.map(|(_, found)| found.lower.max(0.0)),
        upper: (complete && upper.is_finite()).then_some(upper),
        fewest: pairs
            .iter()
            .flat_map(|(pair, _)| pair.rows())
            .min()
            .unwrap_or(0),
        p_value: smallest.map(|p| (others * p / part).min(1.0)),
    }
}
