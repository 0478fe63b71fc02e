//! Which rows are for training, tuning and certification.

use crate::audit::options::SplitChoice;
use leakgauge_attack::split::{Split, UnitParts};
use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::{option, setting};
use leakgauge_judge::Independence;
use leakgauge_log::Log;
use leakgauge_stats::random::{Randomness, Stream};

/// Rows in the order of the log, each a secret and an observation.
pub(super) type Sequence<'a> = &'a [(u32, u32)];

/// The rows of each part.
pub(super) struct Parts<'a> {
    pub split: Split,
    /// What limits take for independent draws.
    pub independence: Independence,
    /// In a split by time, the certification rows in their order.
    pub ordered: Option<Sequence<'a>>,
    /// The units of each part, where limits count units.
    pub units: Option<UnitParts>,
}

/// Splits the rows, by units where the log has them.
pub(super) fn split_rows<'a>(
    log: &'a Log,
    choice: SplitChoice,
    given: bool,
    random: Randomness,
) -> Result<Parts<'a>> {
    // Blocks beside each other may resemble each other: those that judge come after those that were learned from.
    if let (Some(units), Some(_)) = (&log.units, &log.facts.blocks) {
        let (split, units) = Split::by_units_in_order(&units.rows, log.secrets.len(), !given);
        return Ok(Parts {
            split,
            independence: Independence::Blocks,
            ordered: None,
            units: Some(units),
        });
    }
    let rng = &mut random.rng(Stream::Split);
    if let (Some(units), SplitChoice::Random) = (&log.units, choice) {
        let secrets = log.secrets.len();
        let (split, units) = match &units.fit {
            Some(fit) => Split::across_units(fit, &units.rows, secrets, !given, rng),
            None => Split::by_units(&units.rows, secrets, !given, rng),
        };
        return Ok(Parts {
            split,
            independence: Independence::Units,
            ordered: None,
            units: Some(units),
        });
    }
    let ordered = match choice {
        SplitChoice::Random => None,
        SplitChoice::Blocks => Some(log.sequence.as_deref().ok_or_else(|| {
            Error::parameter(
                setting("split", "blocks"),
                "the log was read without its order",
            )
            .with_hint("read it with ReadOptions::keep_order")
        })?),
    };
    let split = match (&log.fit_counts, ordered, given) {
        (Some(learn), _, false) => Split::across(learn, log.counts.clone(), rng),
        (Some(tune), _, true) => Split::across_without_fit(tune, log.counts.clone()),
        (None, None, false) => Split::stratified(&log.counts, rng),
        (None, None, true) => Split::without_fit(&log.counts, rng),
        (None, Some(rows), _) => {
            let (split, certify) = Split::blocks(rows, log.secrets.len());
            if split.in_every_part() < 2 {
                return Err(recorded_apart(log));
            }
            return Ok(Parts {
                split: if given { split.all_to_tune() } else { split },
                independence: Independence::Time,
                ordered: Some(certify),
                units: None,
            });
        }
    };
    Ok(Parts {
        split,
        independence: match ordered {
            Some(_) => Independence::Time,
            None => Independence::Rows,
        },
        ordered,
        units: None,
    })
}

fn recorded_apart(log: &Log) -> Error {
    Error::data(
        leakgauge_base::error::Place::file(leakgauge_base::error::file_listing(&log.facts.files)),
        format!(
            "{} needs two secrets that occur early, midway and late in the log",
            setting("split", "blocks")
        ),
    )
    .with_hint(
        "with secrets recorded one after the other, whatever else changed meanwhile looks like leakage under any \
         split: record them in random order",
    )
}

/// Whether a column that is observed is named as if it were the secret.
fn has_column_secret(log: &Log) -> bool {
    let mut columns = log.observations.columns().iter();
    columns.any(|column| column.name.eq_ignore_ascii_case("secret"))
}

pub(super) fn refuse_uncertifiable(log: &Log, split: &Split) -> Result<()> {
    /// With fewer secrets every one may be rare.
    const MANY: u64 = 50;
    let (secrets, rows) = (log.secrets.len() as u64, log.counts.total());
    if secrets >= MANY && rows < 2 * secrets && log.units.is_none() {
        let column = leakgauge_base::error::shorten(&log.facts.secret_column);
        return Err(Error::data(
            leakgauge_base::error::Place::file(leakgauge_base::error::file_listing(&log.facts.files)),
            format!("the secret, column {column}, has {secrets} values in {rows} rows: most of them once"),
        )
        .with_hint(match has_column_secret(log) {
            true => format!(
                "column secret is there and was observed: leave {} out, or name another column with it",
                option("secret")
            ),
            false => format!(
            "is it a measurement? Name the secret with {}; if every column is one, {}. Otherwise take more rows of each secret",
            option("secret"),
            option("wide")
        )}));
    }
    let usable = split
        .certify
        .rows()
        .iter()
        .filter(|&&rows| rows > 0)
        .count();
    if usable >= 2 {
        return Ok(());
    }
    Err(Error::data(
        leakgauge_base::error::Place::file(leakgauge_base::error::file_listing(&log.facts.files)),
        "too few rows: fewer than two secrets have certification rows",
    )
    .with_hint("each secret needs at least two rows, and hundreds to be useful"))
}
