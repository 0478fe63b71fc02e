//! Whether a log holds times that can be compared, and whether claims about times can be judged on it.

use std::collections::BTreeSet;

use crate::audit::options::{AuditOptions, SplitChoice};
use leakgauge_base::error::{Error, Result, listing, shorten};
use leakgauge_base::naming::{option, setting};
use leakgauge_base::rounding::allowance;
use leakgauge_base::time::{ClockStep, TimeUnit};
use leakgauge_exact::claim::{BoundClaim, Claim, Terms, TimeBound};
use leakgauge_log::observations::ColumnType;
use leakgauge_log::{Log, Missing};

/// Refuses units of times that nothing would read.
fn check_units(log: &Log, options: &AuditOptions, claims: &[BoundClaim]) -> Result<()> {
    let given = [
        ("unit", options.unit.is_some()),
        ("clock_frequency", options.clock_frequency.is_some()),
        ("clock_step", options.clock_step.is_some()),
    ];
    if let (true, Some(unit)) = (log.facts.in_seconds, options.unit) {
        let problem = "the cells of the log say their units themselves";
        return Err(
            Error::parameter(setting("unit", unit.name()), problem).with_hint("leave it out")
        );
    }
    if let (Some(unit), Some(column)) = (options.unit, log.observations.columns().first()) {
        refuse_other_unit(unit, &column.name)?;
    }
    match (
        given.iter().find(|(_, is_given)| *is_given),
        unfit(log, options),
    ) {
        (Some((name, _)), Some(why)) => {
            Err(
                Error::parameter(option(name), format!("is for times, and {why}")).with_hint(
                    column_of_times(log)
                        .or_else(|| rows_without_time(log))
                        .unwrap_or_else(|| "leave it out".to_owned()),
                ),
            )
        }
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

/// Refuses a unit that contradicts the name of the column of times.
pub(crate) fn refuse_other_unit(unit: TimeUnit, column: &str) -> Result<()> {
    let Some(named) = TimeUnit::of_column(column).filter(|named| *named != unit) else {
        return Ok(());
    };
    let problem = format!("the name of the column {} says {named}", shorten(column));
    Err(Error::parameter(setting("unit", unit.name()), problem)
        .with_hint("leave it out, or rename the column if its name is wrong"))
}

/// Refuses a claim without a unit about times whose unit the log says itself: whoever wrote it may have meant another.
fn refuse_bare(
    options: &AuditOptions,
    unit: Option<TimeUnit>,
    claim: &str,
    bound: &TimeBound,
) -> Result<()> {
    let Some(unit) = unit.filter(|_| options.unit.is_none() && bound.unit.is_none()) else {
        return Ok(());
    };
    if bound.at_most == 0.0 {
        return Ok(());
    }
    let problem = format!("has no unit, and the times of the log are in {unit}");
    let with = format!("time-difference({}{})", bound.at_most, unit.name());
    Err(
        Error::parameter(setting("claim", claim), problem).with_hint(format!(
            "say which is meant, for instance {}",
            setting("claim", with)
        )),
    )
}

/// Refuses times that are shorter than any clock can tell, as those in seconds are that are taken for nanoseconds.
fn refuse_too_short(log: &Log, options: &AuditOptions, unit: Option<TimeUnit>) -> Result<()> {
    /// A hundredth of a nanosecond.
    const SHORTEST: f64 = 1e-11;
    let scale = unit.and_then(|unit| Some((unit, unit.seconds(options.clock_frequency)?)));
    let Some((unit, seconds)) = scale else {
        return Ok(());
    };
    let symbols = 0..log.observations.len() as u32;
    let times = symbols.filter_map(|symbol| log.observations.numbers(symbol).first().copied());
    let mut times: Vec<f64> = times.map(f64::abs).filter(|time| *time > 0.0).collect();
    times.sort_unstable_by(f64::total_cmp);
    match times.get(times.len() / 2) {
        Some(&middle) if middle * seconds < SHORTEST => {
            let problem = format!(
                "half of the times of the log would be shorter than {} {unit}, which no clock can tell",
                allowance(middle)
            );
            let named = setting("unit", unit.name());
            let hint = format!(
                "are they in seconds? {}",
                setting("unit", TimeUnit::Seconds.name())
            );
            Err(Error::parameter(named, problem).with_hint(hint))
        }
        _ => Ok(()),
    }
}

/// Refuses a step of the clock in a unit that the times of the log cannot be compared with.
fn check_step(log: &Log, options: &AuditOptions) -> Result<()> {
    match options.clock_step {
        Some(step) if options.step_of(log).is_none() => Err(incomparable_step(
            step,
            options.unit_of(log),
            options.clock_frequency,
        )),
        _ => Ok(()),
    }
}

/// That a step cannot be compared with times in this unit.
pub(crate) fn incomparable_step(
    step: ClockStep,
    unit: Option<TimeUnit>,
    frequency: Option<f64>,
) -> Error {
    let text = setting("clock_step", step);
    if unit.is_some() && frequency.is_none() {
        return Error::parameter(text, "cycles are not compared with seconds by themselves")
            .with_hint(format!(
                "say how fast the clock runs, in hertz: {}; or give the step in the unit of the log",
                setting("clock_frequency", "2.4e9")
            ));
    }
    Error::parameter(text, "the log does not say what unit its times are in").with_hint(format!(
        "say it, for instance {}, or give the step without a unit",
        setting("unit", "ns")
    ))
}

/// Checks that claims can be judged on the log: differences of times need one column of numbers and a known unit,
/// mechanisms need measurements that stand alone.
///
/// # Errors
/// A claim that cannot.
pub(crate) fn check(log: &Log, options: &AuditOptions, claims: &[BoundClaim]) -> Result<()> {
    if let Some(hertz) = options
        .clock_frequency
        .filter(|hertz| !(hertz.is_finite() && *hertz > 0.0))
    {
        let problem = "the frequency of a clock is a number above 0, in hertz";
        return Err(Error::parameter(setting("clock_frequency", hertz), problem));
    }
    check_units(log, options, claims)?;
    check_step(log, options)?;
    for claim in claims {
        let text = &claim.claim().text;
        match (claim.terms(), &log.facts.blocks) {
            (Terms::TimeDifference(bound), _) => {
                if let Some(why) = unfit(log, options) {
                    let error = no_times(text, why);
                    return Err(
                        match column_of_times(log).or_else(|| rows_without_time(log)) {
                            Some(hint) => error.with_hint(hint),
                            None => error,
                        },
                    );
                }
                slower(claim.claim(), &log.secrets)?;
                let unit = options.unit_of(log);
                if unit.is_none() && bound.unit.is_some() && log.facts.ticks {
                    return Err(are_ticks(text));
                }
                factor(unit, options.clock_frequency, bound)
                    .ok_or_else(|| unknown_unit(unit, text, bound))?;
                refuse_bare(options, unit, text, bound)?;
                refuse_too_short(log, options, unit)?;
            }
            (Terms::Mechanism(_), Some(_)) => {
                return Err(about_one_observation(text));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The number of the only secret that a claim says is no slower than the others; `None` of a claim about any two.
///
/// # Errors
/// A secret that the log does not have.
pub(crate) fn slower(claim: &Claim, secrets: &[String]) -> Result<Option<u32>> {
    let Some(label) = claim.slower() else {
        return Ok(None);
    };
    match secrets.iter().position(|secret| secret == label) {
        Some(secret) => Ok(Some(secret as u32)),
        None => {
            let problem = format!("no secret that is compared is called {:?}", shorten(label));
            let error = Error::parameter(setting("claim", &claim.text), problem);
            let names = listing(secrets.iter().map(String::as_str));
            Err(error.with_hint(format!("they are {names}")))
        }
    }
}

/// The families of limits that claims about times read: those of any two secrets, and those of one secret against the
/// others for each that is named. They share the level; at least 1.
pub(crate) fn families<'c>(claims: impl Iterator<Item = &'c Claim>) -> f64 {
    let mut named: Vec<Option<&str>> = claims
        .filter(|claim| claim.is_about_times())
        .map(Claim::slower)
        .collect();
    named.sort_unstable();
    named.dedup();
    named.len().max(1) as f64
}

/// That a claim is about times and the log holds none that could be compared.
fn no_times(claim: &str, why: String) -> Error {
    let problem = format!("compares times, and {why}");
    let error = Error::parameter(setting("claim", claim), problem);
    error.with_hint("claim advantage(0.1), for example, which is about any observation")
}

/// That times of a recognized form cannot be in its unit.
fn are_ticks(claim: &str) -> Error {
    let problem = "in the unit of their form, half of the times of the log would be longer than 1000 s: they seem to be counts of a \
                   clock";
    Error::parameter(setting("claim", claim), problem).with_hint(format!(
        "say what they are: {} with {}, or {} if they are that long",
        setting("unit", "cycles"),
        option("clock_frequency"),
        setting("unit", "s")
    ))
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

/// Why the observations of a log without blocks are no times that can be compared; `None` if they can, or if the log
/// has blocks.
pub(crate) fn unfit(log: &Log, options: &AuditOptions) -> Option<String> {
    if log.facts.blocks.is_some() {
        return None;
    }
    let columns = log.observations.columns();
    Some(match columns {
        [column] if column.resolution.is_some() => {
            format!("this log was reduced to bins ({})", option("resolution"))
        }
        [column] if column.kind == ColumnType::Mixed => {
            let words = log.facts.words.first();
            let rows = words.map_or(0, |words| words.rows);
            format!(
                "column {} holds no number in {rows} of its rows",
                shorten(&column.name)
            )
        }
        [column] if column.kind != ColumnType::Numeric => {
            "what is observed of this log is no column of numbers".to_owned()
        }
        [_] if log.units.is_some() => format!(
            "rows of a unit of this log depend on each other ({}): only blocks of simultaneous measurements can be \
             compared then ({})",
            option("group"),
            option("block")
        ),
        [_] if options.split == SplitChoice::Blocks => format!(
            "limits of times need independent rows without blocks, which {} says they are not",
            setting("split", "blocks")
        ),
        [_] if options.attacks.are_given() => {
            format!("this log holds scores ({})", option("scores"))
        }
        [_] if !is_finite(log) => "this log holds a value that is not a finite number".to_owned(),
        [_] => return None,
        _ => "several columns of this log are observed".to_owned(),
    })
}

/// What to do where times are missing in some rows.
fn rows_without_time(log: &Log) -> Option<String> {
    let words = log.facts.words.first()?;
    let last = match words.are_blank() {
        true => format!(
            ", or count them as longer than all others with {}",
            setting("missing", Missing::Last.name())
        ),
        false => String::new(),
    };
    let drop = match words.are_blank() {
        true => setting("missing", Missing::Drop.name()),
        false => setting("drop", words.condition()?),
    };
    Some(format!(
        "leave out the rows without a time with {drop}, if that does not depend on the secret{last}"
    ))
}

/// Which of several columns may be that of the times: those of many numbers.
fn column_of_times(log: &Log) -> Option<String> {
    const MANY: usize = 20;
    let observations = &log.observations;
    let columns = observations.columns();
    if columns.len() < 2 {
        return None;
    }
    let holds_many = |at: usize| {
        let numbers = (0..observations.len() as u32).filter_map(|s| observations.number_in(s, at));
        let mut seen = BTreeSet::new();
        let mut numbers = numbers.map(f64::to_bits);
        numbers.any(|number| seen.insert(number) && seen.len() > MANY)
    };
    let candidates = (0..columns.len())
        .filter(|&at| columns[at].kind != ColumnType::Categorical && holds_many(at));
    let candidates = candidates
        .take(5)
        .map(|at| setting("observe", shorten(&columns[at].name)));
    let candidates: Vec<String> = candidates.collect();
    (!candidates.is_empty())
        .then(|| format!("name the column of the times: {}", candidates.join(" or ")))
}

/// Whether every value of the one column of numbers is finite.
fn is_finite(log: &Log) -> bool {
    let mut all = 0..log.observations.len() as u32;
    all.all(|symbol| {
        log.observations
            .numbers(symbol)
            .iter()
            .all(|x| x.is_finite())
    })
}

/// Whether a log is known to hold times, by what it says or by a unit that was given.
pub(crate) fn holds_times(log: &Log, options: &AuditOptions) -> bool {
    let is_timed = log.facts.recognized.is_some_and(|form| form.is_timed());
    is_timed || options.unit_of(log).is_some()
}

/// Whether times are asked for: by a claim, by a unit, or by a log that is known to hold times.
pub(crate) fn is_asked(log: &Log, options: &AuditOptions, claims: &[BoundClaim]) -> bool {
    let mut claims = claims.iter();
    holds_times(log, options)
        || claims.any(|claim| matches!(claim.terms(), Terms::TimeDifference(_)))
}
