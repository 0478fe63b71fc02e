//! The first stage: options are checked, claims bound to the log's secrets, rows split.

use crate::audit::claims::time_check;
use crate::audit::claims::written::check_bits;
use crate::audit::learn::given::check_scores;
use crate::audit::measured::Measured;
use crate::audit::neighbors::NeighborPairs;
use crate::audit::options::{AuditOptions, check, payoff, prior};
use crate::audit::pair::Labels;
use crate::audit::parts::{Parts, Sequence, refuse_uncertifiable, split_rows};
use crate::audit::targets::Targets;
use crate::audit::warnings::warning::Warning;
use leakgauge_attack::split::{Split, UnitParts};
use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::{option, setting};
use leakgauge_exact::channel::Payoff;
use leakgauge_exact::claim::BoundClaim;
use leakgauge_judge::Independence;
use leakgauge_log::{Log, UnitRows};
use leakgauge_stats::column_tests::affordable_windows;
use leakgauge_stats::random::Randomness;

/// Columns are tested in logs of at most so many rows: of more rows the limits of attacks say enough.
pub(super) const MOST_ROWS_BY_COLUMN: u64 = 4_000_000;

/// What an audit starts from.
pub(super) struct Prepared<'a> {
    pub log: &'a Log,
    pub options: &'a AuditOptions,
    pub labels: Labels,
    pub claims: Vec<BoundClaim>,
    /// The prior asked for, then the uniform one.
    pub priors: [Vec<f64>; 2],
    pub split: Split,
    /// What limits take for independent draws.
    pub independence: Independence,
    /// In a split by time, the certification rows in their order.
    pub ordered: Option<Sequence<'a>>,
    /// The units of each part, where limits count units.
    pub units: Option<UnitParts>,
    /// The measurements themselves, where they come in blocks.
    pub measured: Option<Measured>,
    /// What was found about copies of rows.
    pub copies: Vec<Warning>,
    pub targets: Targets,
    /// The pairs that claims of privacy are about.
    pub neighbors: NeighborPairs,
    /// A gain (false) or loss (true) function of the user's, where it was asked for.
    pub payoff: Option<(Payoff, bool)>,
    /// α of the whole log.
    pub alpha: f64,
    /// The seed's random numbers for this log.
    pub random: Randomness,
}

impl Prepared<'_> {
    /// All units of the log that is judged, where limits count units.
    pub fn units_of_the_log(&self) -> Option<&UnitRows> {
        self.log.units.as_ref().map(|units| &units.rows)
    }
}

/// Refuses products of columns where columns are not tested.
/// How many windows of columns have products that can be tested; `None` where two are too many for the rows.
pub(crate) fn product_windows(log: &Log) -> Option<usize> {
    /// At most, and windows times rows.
    const WINDOWS: u64 = 60;
    const MOST_WINDOW_ROWS: u64 = 20_000_000;
    let rows = log.counts.total();
    let most = (MOST_WINDOW_ROWS / rows.max(1)).clamp(2, WINDOWS) as usize;
    let columns = log.observations.dimensions();
    affordable_windows(rows as usize, columns, log.secrets.len(), most)
}

fn refuse_products(log: &Log, options: &AuditOptions, independence: Independence) -> Result<()> {
    if !options.requested.wants_products() {
        return Ok(());
    }
    let wrong = |problem: String, hint: &str| {
        Err(Error::parameter(setting("order", 2), problem).with_hint(hint.to_owned()))
    };
    if options.quick {
        let quick = option("quick");
        return wrong(
            format!("columns are not tested with {quick}"),
            "leave one of the two out",
        );
    }
    if !independence.is_of_rows() {
        let problem = "products of columns are tested of independent rows only, and limits count something else here";
        return wrong(problem.to_owned(), "leave it out");
    }
    let columns = log.observations.dimensions();
    if columns < 2 {
        let problem = format!("takes two columns of numbers or more, and the log has {columns}");
        return wrong(problem, "leave it out");
    }
    if log.counts.total() > MOST_ROWS_BY_COLUMN {
        let problem = format!(
            "columns are tested in logs of at most {} rows",
            MOST_ROWS_BY_COLUMN
        );
        return wrong(problem, "leave it out, or judge a part of the log");
    }
    if product_windows(log).is_none() {
        let problem = format!(
            "{} rows of {columns} columns are too many numbers to test products",
            log.counts.total()
        );
        return wrong(problem, "observe fewer columns, or judge a part of the log");
    }
    Ok(())
}

/// Checks what was asked for and splits the rows. No row is looked at.
pub(super) fn prepare<'a>(
    log: &'a Log,
    measured: Option<Measured>,
    copies: Vec<Warning>,
    options: &'a AuditOptions,
) -> Result<Prepared<'a>> {
    check(options)?;
    check_scores(&options.attacks, log.facts.scores.is_some())?;
    let claims = BoundClaim::bind_all(&options.claims, &log.secrets, &log.left_out)?;
    time_check::check(log, options, &claims)?;
    check_bits(log, &claims)?;
    let secrets = log.secrets.len();
    let neighbors = NeighborPairs::of(&options.neighbors, log, &claims)?;
    let priors = [
        prior(log, &options.prior)?,
        vec![1.0 / secrets as f64; secrets],
    ];
    // Of the measurements, where the log holds what an observer makes of them.
    let random = match &measured {
        Some(measured) => measured.random,
        None => log.randomness(options.seed),
    };
    let given = options.attacks.are_given();
    let Parts {
        split,
        independence,
        ordered,
        units,
    } = split_rows(log, options.split, given, random)?;
    refuse_uncertifiable(log, &split)?;
    refuse_products(log, options, independence)?;
    Ok(Prepared {
        payoff: payoff(log, &options.requested)?,
        targets: Targets::new(&claims, secrets, &neighbors),
        neighbors,
        labels: log.secrets.as_slice().into(),
        alpha: 1.0 - options.confidence,
        log,
        options,
        claims,
        priors,
        split,
        independence,
        ordered,
        units,
        measured,
        copies,
        random,
    })
}
