//! From a log to findings, in five stages: `prepare` checks options and splits rows, `attack` learns and
//! chooses, `plan` settles what will be judged, `judge` looks at the certification rows, `assemble` puts the
//! findings together.

mod advice;
mod assemble;
mod assumptions;
mod basis;
mod certified_limit;
mod claims;
mod closure;
mod copies;
mod detection;
mod evidence;
mod figures;
mod findings;
mod judge;
mod learn;
mod level;
mod measured;
mod members;
mod neighbors;
mod options;
mod pair;
mod parts;
mod plan;
mod prepare;
mod promises;
mod reading;
mod some_pair;
mod tallies;
mod targets;
mod units;
mod upper;
mod warnings;

use std::borrow::Cow;

use figures::FigurePlans;
use leakgauge_base::error::Result;
use leakgauge_base::parallel;
use leakgauge_log::Log;

pub use advice::LogAdvice;
pub use assumptions::Assumption;
pub use claims::goodness::{Fit, FitTest, GoodnessTest, Impossible, RecordedGrid, Untested};
pub use claims::reason::{
    ClaimReason, CurveGrounds, CurveOutcome, Distance, Divergence, Grounds, PrivacyGrounds,
    PrivacyKind, PrivacyOutcome, Qualification, Unproved,
};
pub use claims::report::{ClaimReport, Verdict};
pub(crate) use claims::rows_needed::sensible as two_digits;
pub use claims::smallest::SmallestLeak;
pub(crate) use claims::time_check::{
    about_one_observation, factor, families, incomparable_step, needs_blocks, refuse_other_unit,
    slower, unknown_unit,
};
pub(crate) use copies::in_common;
pub use detection::{Detection, Planted};
pub use evidence::column_limits::{ColumnLimit, ColumnLimits};
pub use evidence::leaking_columns::LeakingColumns;
pub use evidence::no_leak::NoLeak;
pub use figures::Figures;
pub use figures::convergence::conclusion::{Conclusion, Course, Learning};
pub use figures::convergence::{Asymptotic, Convergence, ConvergencePoint, Extrapolated};
pub use figures::differences::times::SecretTimes;
pub use figures::differences::{BlocksCompared, Difference, Differences};
pub use figures::distributions::{Distributions, Shape};
pub use figures::g_leakage::GLeakage;
pub use figures::leakage_family::{FamilyOrder, FamilyTries, LeakageFamily, TellingEvent};
pub use figures::overall::Overall;
pub use figures::pairs::{PairFigures, TotalVariationPoints, WorstPair};
pub use figures::privacy::witness::{Stronger, Witness, WitnessEvent};
pub use figures::privacy::{EpsilonLimit, PrivacyLimit};
pub use figures::reconstruction::Reconstruction;
pub use figures::trade_off::{
    Band, BandEpsilon, Curve, GaussianFit, Levels, OperatingPoint, TradeOff,
};
pub use findings::{
    Correction, CountedUnits, Findings, Input, MethodUsed, Multiplicity, PartRows, Sample,
};
pub use leakgauge_attack::blocks::Reference;
pub(crate) use leakgauge_attack::blocks::{best_reference, relative_to};
pub use leakgauge_stats::column_tests::{ColumnTest, Compared};
pub use learn::given::check_scores;
pub use level::{LevelShare, LevelUse};
pub(crate) use members::is_member;
pub use options::{Attacker, AuditOptions, Design, PriorChoice, RequestedFigures, SplitChoice};
pub use pair::{Labels, Pair};
pub use reading::{Reading, reading};
pub use tallies::{EffectiveSampleSize, PlugIn, Tallies};
pub(crate) use warnings::dependence;
pub(crate) use warnings::order::order_warnings;
pub use warnings::warning::{Lack, MissingTimes, Warning};

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
    let (tuned, earlier) = parallel::both(
        || learn::attack::attack(&prepared),
        || learn::earlier::earlier(&prepared),
    );
    let (tuned, earlier) = (tuned?, earlier?);
    let earlier_units = units::earlier::earlier(&prepared)?;
    let of_rows = earlier.first().map(|block| &block.tuned);
    let of_units = earlier_units.first().and_then(|block| block.tuned());
    let first = of_rows.or(of_units).unwrap_or(&tuned);
    let mut plan = plan::plan(&prepared, &tuned, first, &earlier);
    let figures = FigurePlans::new(&prepared, &tuned, &mut plan);
    let judged = judge::judge(&prepared, &tuned, (&earlier, &earlier_units), &plan);
    let figures = figures.judge(&prepared, &tuned);
    Ok(assemble::assemble(
        &prepared, &tuned, &plan, &judged, &figures,
    ))
}
