//! Claims about differences of times.

use crate::audit::claims::reason::Grounds;
use crate::audit::claims::report::{ClaimReport, Verdict};
use crate::audit::claims::time_check::factor;
use crate::audit::figures::differences::{Difference, Differences};
use crate::audit::options::AuditOptions;
use crate::audit::pair::{Labels, Pair};
use crate::estimate::{Estimate, Method, Methods};
use leakgauge_base::quantity::Quantity;
use leakgauge_exact::claim::{BoundClaim, TimeBound};
use leakgauge_stats::clock::within_rounding;

/// Judges a claim: violated if the lower limit of the median of some pair, all pairs together, exceeds the bound;
/// holds if the upper limit of every pair is within it, each at the whole level, because the pair that breaks a
/// false claim is one fixed pair (two one-sided tests, intersection–union).
pub(crate) fn judge(
    claim: &BoundClaim,
    bound: &TimeBound,
    differences: &Differences,
    options: &AuditOptions,
    (labels, share): (&Labels, f64),
) -> ClaimReport {
    let factor = factor(differences.unit, options.clock_frequency, bound).unwrap_or(1.0);
    let pairs = &differences.pairs;
    let worst = pairs.first();
    // In the unit of the log: nothing but the bound itself is rounded.
    let allowed = within_rounding(bound.at_most / factor);
    let blur = differences.clock.blur();
    let lower = worst.map(Difference::smallest);
    let fewest = pairs.iter().flat_map(Difference::rows).min().unwrap_or(0);
    let complete = pairs.len() == labels.len() * (labels.len() - 1) / 2;
    let upper = pairs.iter().map(Difference::largest).fold(0.0, f64::max);
    let upper = (complete && upper.is_finite()).then_some(upper);
    let verdict = if lower.is_some_and(|lower| lower > allowed) {
        Verdict::Violated
    } else if upper.is_some_and(|upper| upper <= allowed) {
        Verdict::Holds
    } else {
        Verdict::Inconclusive
    };
    // What is printed does not contradict the verdict by its rounding.
    let printed = |size: f64| match (size - bound.at_most / factor).abs() {
        rounding if rounding <= allowed - bound.at_most / factor => bound.at_most,
        _ => factor * size,
    };
    let [lower, upper] = [lower, upper].map(|limit| limit.map(printed));
    let point = worst.map(|pair| factor * pair.median.point);
    let method = match differences.blocks {
        Some(_) => Method::MedianDifference,
        None => Method::DifferenceOfMedians,
    };
    ClaimReport {
        claim: claim.claim().clone(),
        quantity: Quantity::TimeDifference,
        analytic: bound.at_most,
        pair: worst.map_or_else(
            || Pair::new(labels.clone(), [0, 1]),
            |pair| pair.secrets.clone(),
        ),
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
        p_value: p_value(differences, bound.at_most / factor, share),
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

/// The p-value of no median beyond the bound: tests of order statistics, both directions and all pairs together, at
/// their part of the level.
fn p_value(differences: &Differences, at_most: f64, part: f64) -> Option<f64> {
    let pairs = &differences.pairs;
    let recorded = differences.clock.hides(at_most);
    let of_pair = |pair: &Difference| pair.beyond(recorded);
    let smallest = pairs.iter().map(of_pair).reduce(f64::min)?;
    Some((2.0 * pairs.len() as f64 * smallest / part).min(1.0))
}
