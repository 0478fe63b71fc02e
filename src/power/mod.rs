//! How many rows a log needs so that an audit finds a leak of a given size.
//!
//! The audit itself is asked: logs of a pair of secrets that has the leak are drawn and audited, each split and judged
//! as any log is. So whatever changes the limits (claims that share α, the confidence, the rows of each secret) changes
//! the answer.
//!
//! # What is drawn
//! Two secrets with two outcomes, as [`Leak`] describes; all other secrets give either outcome with probability ½. For a log
//! that is there ([`detection`]), either secret has a half of the labels of the log as its own; where the log is of numbers
//! that hardly recur, the two secrets have noise of one kind that is moved ([`Leak::moved_noise`]), in as many columns.
//! Other mechanisms need as many rows or more: their attacks must learn more.

mod design;
mod search;
mod simulated;

pub use search::{PlanOptions, RowsPlan, plan};

use crate::audit::{AuditOptions, Detection, SplitChoice};
use crate::power::design::Design;
use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::{option, setting};
use leakgauge_exact::claim::Leak;
use leakgauge_log::Log;

/// The power that is asked for, if nothing else is said.
pub const POWER: f64 = 0.9;

/// Whether an audit of a log with as many rows of each secret as this one finds a leak with this power. Of the log,
/// the numbers of rows are looked at, how often labels came and how many columns of numbers there are. The rarest two secrets between which such a leak violates a
/// claim are taken to have it.
///
/// # Errors
/// A power out of range; a leak that violates no claim; a log whose rows depend on each other (units, blocks, a split
/// by time), which is not simulated.
pub fn detection(leak: &Leak, power: f64, log: &Log, options: &AuditOptions) -> Result<Detection> {
    check_power(power)?;
    if log.units.is_some() || options.split == SplitChoice::Blocks {
        return Err(Error::parameter(
            option("must_detect"),
            "how much rows that depend on each other can show is not simulated",
        )
        .with_hint(
            "it goes with logs of independent rows: no groups, no blocks, no split by time",
        ));
    }
    let design = Design::of_log(log, *leak, options)?;
    simulated::detection(
        &design,
        power,
        power - Detection::TOLERANCE,
        simulated::LOGS,
    )
}

fn check_power(power: f64) -> Result<()> {
    if power > 0.0 && power < 1.0 {
        return Ok(());
    }
    Err(
        Error::parameter(setting("power", power), "must be above 0 and below 1")
            .with_hint("0.9 means that nine of ten such leaks are found"),
    )
}
