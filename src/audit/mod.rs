//! From a log to findings, in five stages: `prepare` checks options and splits rows, `attack` learns and
//! chooses, `plan` settles what will be judged, `judge` looks at the certification rows, `assemble` puts the
//! findings together.

mod advice;
mod agreement;
mod assemble;
mod assumptions;
mod attack;
mod blocks;
mod certified_limit;
mod claim_reason;
mod claim_report;
mod claims;
mod column_events;
mod conclusion;
mod convergence;
mod copies;
mod cross_fit;
mod detection;
mod differences;
mod distributions;
mod earlier;
mod events;
mod evidence;
mod family;
mod figures;
mod findings;
mod given;
mod goodness;
mod guesses;
mod judge;
mod last_bits;
mod masked;
mod measured;
mod mechanism_claim;
mod members;
mod neighbors;
mod no_leak;
mod options;
mod order;
mod overall;
mod pair;
mod pair_figures;
mod paired;
mod parts;
mod plan;
mod points;
mod prepare;
mod privacy;
mod privacy_curve;
mod privacy_limit;
mod privacy_plan;
mod promises;
mod reading;
mod reconstruction;
mod risk;
mod rows_needed;
mod secret_blind;
mod similar_rows;
mod tallies;
mod targets;
mod time_check;
mod time_claim;
mod times;
mod trade_off;
mod trials;
mod unit_laws;
mod units;
mod unpaired;
mod upper;
mod warning;
mod warnings;
mod witness;

use std::borrow::Cow;

use leakgauge_base::error::Result;
use leakgauge_base::parallel;
use leakgauge_log::Log;

pub use advice::LogAdvice;
pub use assumptions::Assumption;
pub use claim_reason::{
    ClaimReason, CurveGrounds, CurveOutcome, Distance, Divergence, Grounds, PrivacyGrounds,
    PrivacyKind, PrivacyOutcome, Qualification, Unproved,
};
pub use claim_report::{ClaimReport, Verdict};
pub use conclusion::{Conclusion, Course, Learning};
pub use convergence::{Asymptotic, Convergence, ConvergencePoint, Extrapolated};
pub(crate) use copies::in_common;
pub use detection::Detection;
pub use differences::{BlocksCompared, Difference, Differences};
pub use distributions::{Distributions, Shape};
pub use family::{FamilyOrder, FamilyTries, LeakageFamily, TellingEvent};
pub use findings::{
    Correction, CountedUnits, Findings, Input, MethodUsed, Multiplicity, PartRows, Sample,
};
pub use given::check_scores;
pub use goodness::{Fit, FitTest, GoodnessTest, RecordedGrid, Untested};
pub use leakgauge_attack::blocks::Reference;
pub(crate) use leakgauge_attack::blocks::{best_reference, relative_to};
pub(crate) use members::is_member;
pub use no_leak::NoLeak;
pub use options::{AuditOptions, Design, PriorChoice, RequestedFigures, SplitChoice};
pub(crate) use order::order_warnings;
pub use overall::Overall;
pub use pair::{Labels, Pair};
pub use pair_figures::{PairFigures, TotalVariationPoints, WorstPair};
pub use privacy_limit::{EpsilonLimit, PrivacyLimit};
pub use reading::{Reading, reading};
pub use reconstruction::Reconstruction;
pub(crate) use rows_needed::sensible as two_digits;
pub use tallies::{EffectiveSampleSize, PlugIn, Tallies};
pub(crate) use time_check::{about_one_observation, factor, needs_blocks, unknown_unit};
pub use times::SecretTimes;
pub use trade_off::{Band, BandEpsilon, Curve, GaussianFit, Levels, OperatingPoint, TradeOff};
pub use warning::Warning;
pub use witness::{Stronger, Witness, WitnessEvent};

/// Audits a log.
///
/// # Errors
/// Options out of range, a claim that does not fit the log's secrets, an invalid prior, a log with too few
/// rows to certify anything.
pub fn audit(log: &Log, options: &AuditOptions) -> Result<Findings> {
    of_log(Cow::Borrowed(log), options)
}

/// Audits a log that nothing else needs. Of a log in blocks, what is not needed is dropped early: of millions of blocks
/// that is most of the memory.
///
/// # Errors
/// Those of [`audit`].
pub fn audit_owned(log: Log, options: &AuditOptions) -> Result<Findings> {
    of_log(Cow::Owned(log), options)
}

fn of_log(log: Cow<Log>, options: &AuditOptions) -> Result<Findings> {
    let (log, copies) = copies::without_copies(log)?;
    let (log, measured) = measured::observed(log, options)?;
    let prepared = prepare::prepare(&log, measured, copies, options)?;
    // Beside each other: parts of learning run on one thread.
    let (tuned, earlier) =
        parallel::both(|| attack::attack(&prepared), || earlier::earlier(&prepared));
    let (tuned, earlier) = (tuned?, earlier?);
    let plan = plan::plan(&prepared, &tuned, &earlier);
    let judged = judge::judge(&prepared, &tuned, &earlier, &plan);
    Ok(assemble::assemble(&prepared, &tuned, &plan, &judged))
}
