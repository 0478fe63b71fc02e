//! Claims about differences of times.

use crate::audit::claim_reason::Grounds;
use crate::audit::differences::{Difference, Differences};
use crate::audit::findings::{ClaimReport, Verdict};
use crate::audit::options::AuditOptions;
use crate::audit::pair::{Labels, Pair};
use crate::audit::unpaired::{is_asked, unfit};
use crate::estimate::{Estimate, Method, Methods};
use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::{option, setting};
use leakgauge_base::quantity::Quantity;
use leakgauge_base::time::TimeUnit;
use leakgauge_exact::claim::{BoundClaim, Terms, TimeBound};
use leakgauge_log::Log;
use leakgauge_stats::paired::bound_with_rounding;

/// Refuses units of times that nothing would read.
fn check_units(log: &Log, options: &AuditOptions, claims: &[BoundClaim]) -> Result<()> {
    let given = [
        ("unit", options.unit.is_some()),
        ("clock_frequency", options.clock_frequency.is_some()),
    ];
    if let (true, Some(unit)) = (log.facts.in_seconds, options.unit) {
        let problem = "the cells of the log say their units themselves";
        return Err(
            Error::parameter(setting("unit", unit.name()), problem).with_hint("leave it out")
        );
    }
    match (
        given.iter().find(|(_, is_given)| *is_given),
        unfit(log, options),
    ) {
        (Some((name, _)), Some(why)) => Err(Error::parameter(
            option(name),
            format!("is for times, and {why}"),
        )
        .with_hint("leave it out")),
        (Some((name, _)), None)
            if log.facts.blocks.is_none() && !is_asked(log, options, claims) =>
        {
            let problem = "is for times, and nothing says that this log holds any";
            Err(Error::parameter(option(name), problem).with_hint(format!(
                "say it with {}, or leave it out",
                setting("unit", "cycles")
            )))
        }
        _ => Ok(()),
    }
}

/// Checks that claims can be judged on the log: differences of times need one column of numbers and a known unit,
/// mechanisms need measurements that stand alone.
///
/// # Errors
/// A claim that cannot.
pub(super) fn check(log: &Log, options: &AuditOptions, claims: &[BoundClaim]) -> Result<()> {
    if let Some(hertz) = options
        .clock_frequency
        .filter(|hertz| !(hertz.is_finite() && *hertz > 0.0))
    {
        let problem = "the frequency of a clock is a number above 0, in hertz";
        return Err(Error::parameter(setting("clock_frequency", hertz), problem));
    }
    check_units(log, options, claims)?;
    for claim in claims {
        let text = &claim.claim().text;
        match (claim.terms(), &log.facts.blocks) {
            (Terms::TimeDifference(bound), _) => {
                if let Some(why) = unfit(log, options) {
                    return Err(no_times(text, why));
                }
                let unit = options.unit_of(log);
                factor(unit, options.clock_frequency, bound)
                    .ok_or_else(|| unknown_unit(unit, text, bound))?;
            }
            (Terms::Mechanism(_), Some(_)) => {
                return Err(about_one_observation(text));
            }
            _ => {}
        }
    }
    Ok(())
}

/// That a claim is about times and the log holds none that could be compared.
fn no_times(claim: &str, why: String) -> Error {
    let problem = format!("compares times, and {why}");
    let error = Error::parameter(setting("claim", claim), problem);
    error.with_hint("claim advantage(0.1), for example, which is about any observation")
}

/// That a claim is about times in blocks.
pub(crate) fn needs_blocks(claim: &str) -> Error {
    let problem = "needs times that were measured in blocks";
    Error::parameter(setting("claim", claim), problem).with_hint(format!(
        "a block has one measurement of each secret: say {} where each row of a wide file is one, or name the column \
         of the block with {}; for times without blocks, claim advantage(0.1) for example",
        option("blocks"),
        option("block")
    ))
}

/// That a claim is about observations without blocks.
pub(crate) fn about_one_observation(claim: &str) -> Error {
    let problem = "says how one observation is made, and an observer of a block sees several";
    Error::parameter(setting("claim", claim), problem).with_hint(format!(
        "leave {} out, or read rows one by one: {}",
        option("blocks"),
        setting("block", "none")
    ))
}

/// That a claim cannot be compared with times in this unit.
pub(crate) fn unknown_unit(unit: Option<TimeUnit>, claim: &str, bound: &TimeBound) -> Error {
    let text = setting("claim", claim);
    let cycles = [unit, bound.unit].contains(&Some(TimeUnit::Cycles));
    if unit.is_some() && cycles {
        return Error::parameter(text, "cycles are not compared with seconds by themselves")
            .with_hint(format!(
                "say how fast the clock runs, in hertz: {}",
                setting("clock_frequency", "2.4e9")
            ));
    }
    Error::parameter(text, "the log does not say what unit its times are in").with_hint(format!(
        "say it, for instance {}; units are {}",
        setting("unit", "ns"),
        TimeUnit::ALL.map(TimeUnit::name).join(", ")
    ))
}

/// What a measurement is to be multiplied by to be in the unit of the claim.
pub(crate) fn factor(
    unit: Option<TimeUnit>,
    frequency: Option<f64>,
    bound: &TimeBound,
) -> Option<f64> {
    match (unit, bound.unit) {
        (_, None) => Some(1.0),
        (Some(log), Some(claim)) if log == claim => Some(1.0),
        (Some(log), Some(claim)) => Some(log.seconds(frequency)? / claim.seconds(frequency)?),
        (None, Some(_)) => None,
    }
}

/// Judges a claim: violated if the lower limit of the median of some pair, all pairs together, exceeds the bound;
/// holds if the upper limit of every pair is within it, each at the whole level, because the pair that breaks a
/// false claim is one fixed pair (two one-sided tests, intersection–union).
pub(super) fn judge(
    claim: &BoundClaim,
    bound: &TimeBound,
    differences: &Differences,
    options: &AuditOptions,
    (labels, share): (&Labels, f64),
) -> ClaimReport {
    let factor = factor(differences.unit, options.clock_frequency, bound).unwrap_or(1.0);
    let pairs = &differences.pairs;
    let worst = pairs.first();
    // In the unit of the log, where nothing but the subtraction was rounded.
    let allowed = bound_with_rounding(bound.at_most / factor, differences.largest);
    let lower = worst.map(Difference::smallest);
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
        }
        .into(),
        rows_needed: None,
        p_value: p_value(differences, allowed, share),
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

/// The p-value of no median beyond the bound: tests of order statistics, both directions and all pairs together, at their part of
/// the level.
fn p_value(differences: &Differences, at_most: f64, part: f64) -> Option<f64> {
    let pairs = &differences.pairs;
    let of_pair = |pair: &Difference| pair.beyond(at_most);
    let smallest = pairs.iter().map(of_pair).reduce(f64::min)?;
    Some((2.0 * pairs.len() as f64 * smallest / part).min(1.0))
}
