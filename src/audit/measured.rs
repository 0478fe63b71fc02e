//! Measurements in blocks: one of each secret, taken close together, so that drift meets all secrets alike. What an
//! observer of a block sees of one of them.
//!
//! Blocks are the units of the log. An observer sees a measurement and the others of its block: [`observed`] makes of
//! the measurements what it sees, relative to the block if that separates secrets better on training blocks.

use std::borrow::Cow;

use crate::audit::options::AuditOptions;
use crate::audit::parts::split_rows;
use leakgauge_attack::blocks::{Measurements, Reference, best, relative, sampled, with_rows};
use leakgauge_base::error::Result;
use leakgauge_log::Log;
use leakgauge_stats::random::Randomness;

/// The measurements of a log in blocks.
#[derive(Debug)]
pub(super) struct Measured {
    /// By secret, in the order of the blocks.
    pub rows: Measurements,
    /// What the attacks see them relative to.
    pub reference: Reference,
    /// How many blocks the attacks see: all, or a random sample.
    pub attacked: u64,
    /// The seed's random numbers for the measurements.
    pub random: Randomness,
}

/// A log in blocks as its observer sees it, with the measurements themselves; another log as it is.
///
/// The reference is chosen on training blocks: the one with which two secrets differ most by Kolmogorov's distance.
/// Without training blocks it is the median of the others.
///
/// # Errors
/// Those of splitting the log.
pub(super) fn observed<'a>(
    log: Cow<'a, Log>,
    options: &AuditOptions,
) -> Result<(Cow<'a, Log>, Option<Measured>)> {
    let (Some(_), Some(units)) = (&log.facts.blocks, &log.units) else {
        return Ok((log, None));
    };
    let secrets = log.secrets.len();
    let random = log.randomness(options.seed);
    let rows = Measurements::new(&units.rows, &log.observations, secrets);
    let sample = sampled(&units.rows, random);
    let log = match sample {
        Some(rows) => {
            let observations = log.observations.clone();
            let some = with_rows(&log, observations, &units.column, rows);
            // Millions of rows that nothing needs any more, if the log was given away.
            drop(log);
            Cow::Owned(some)
        }
        None => log,
    };
    let units = log.units.as_ref().expect("the same as before");
    let attacked = units.rows.len() as u64;
    let given = options.attacks.are_given();
    // The split that the audit will make.
    let parts = split_rows(&log, options.split, given, random)?;
    let fit = parts.units.map(|parts| parts.fit);
    let reference = fit.map_or(Reference::MedianOfOthers, |fit| best(&log, &fit, secrets));
    let seen = relative(&log, units, reference);
    let measured = Measured {
        rows,
        reference,
        attacked,
        random,
    };
    Ok((Cow::Owned(seen), Some(measured)))
}
