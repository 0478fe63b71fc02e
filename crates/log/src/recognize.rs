//! Logs of other tools, told by the name of the file and its first rows, so that they need no options.
//!
//! A form says which column plays which part. It never looks at how observations differ between secrets.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;

use serde::Serialize;

use crate::counted_lines::{self, CountedLines};
use crate::filtered::filtered;
use crate::format::Format;
use crate::options::{HeaderChoice, Like, ReadOptions};
use crate::records::Records;
use crate::row::{Field, Row};
use crate::unpack::without_packing;
use crate::wide::Wide;
use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::{option, setting};
use leakgauge_base::time::TimeUnit;

/// Rows that tell a form.
const ROWS: usize = 500;
/// … unless they are this many bytes.
const BYTES: usize = 1 << 20;
/// Fewer different values than this are too few for a measurement beside a class of 0 or 1.
const MIN_MEASUREMENTS: usize = 20;
/// Names of a column of two classes.
const CLASS_NAMES: [&str; 5] = ["class", "classes", "group", "label", "type"];

/// Names of the columns that RTLF reads.
const RTLF_NAMES: [[&str; 2]; 2] = [["v1", "v2"], ["type", "value"]];
/// The columns of `ab -g`.
const APACHE_BENCH: [&str; 6] = ["starttime", "seconds", "ctime", "dtime", "ttime", "wait"];
/// The column of `leakgauge probe` that holds the time of the round trip.
const PROBE_TIME: &str = "time_ns";

/// How the log of another tool is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Form {
    /// `timing.csv` of tlsfuzzer: a column a class, a row a block, seconds.
    TlsfuzzerTiming,
    /// `measurements.csv` of tlsfuzzer: no header, block, class, seconds.
    TlsfuzzerMeasurements,
    /// Two columns, a class of 0 or 1 and a measurement, as programs around dudect write them.
    TwoClasses,
    /// Two columns, a class and a time, as RTLF reads them: `V1,V2` or `Type;Value`.
    Rtlf,
    /// A column a class, as RTLF reads them: `Series1,Series2` or `V1,V2`.
    RtlfSeries,
    /// Lines behind the number of times that they occurred, as `uniq -c` writes them.
    CountedLines,
    /// The file of `ab -g`: when a request was sent and how long its parts took, in milliseconds.
    ApacheBench,
    /// The export of hyperfine: the command is the secret.
    Hyperfine,
    /// An audit of a prompt cache: requests that may hit it and requests that cannot.
    PromptCache,
    /// What `leakgauge probe` writes: block, sequence, secret, what was answered, time.
    Probe,
    /// Numbers without a header, the secret first, as F-BLEAU reads them.
    Fbleau,
}

impl Form {
    /// Whether rows come in blocks of simultaneous measurements.
    pub fn has_blocks(self) -> bool {
        matches!(
            self,
            Form::TlsfuzzerTiming | Form::TlsfuzzerMeasurements | Form::Probe
        )
    }

    /// The unit of the measurements in a column, where the form has one.
    pub fn unit(self, column: &str) -> Option<TimeUnit> {
        match self {
            Form::TlsfuzzerTiming | Form::TlsfuzzerMeasurements => Some(TimeUnit::Seconds),
            Form::Hyperfine | Form::PromptCache => Some(TimeUnit::Seconds),
            Form::ApacheBench => Some(TimeUnit::Milliseconds),
            Form::Probe if column == PROBE_TIME => Some(TimeUnit::Nanoseconds),
            _ => None,
        }
    }

    /// Whether its measurements are times, whatever their unit.
    pub fn is_timed(self) -> bool {
        !matches!(self, Form::CountedLines | Form::Fbleau | Form::Probe)
    }

    /// Whether its rows are sorted by what is measured, so that their order says nothing.
    pub fn is_sorted(self) -> bool {
        self == Form::ApacheBench
    }

    /// Reads a form that [has blocks](Self::has_blocks) by its blocks, unless an option does not go with that: rows are
    /// then read one by one.
    fn in_blocks(self, options: &mut ReadOptions) {
        let one_by_one = options.one_by_one
            || options.group.is_some()
            || options.count.is_some()
            || options.row_id.is_some()
            || options.scores.is_some()
            || options.fit_on.is_some()
            || !options.resolution.is_empty()
            || !options.categorical.is_empty();
        let is_one_column = options
            .observe
            .as_ref()
            .is_none_or(|columns| columns.len() == 1);
        if !self.has_blocks() || options.is_blocked() || one_by_one || !is_one_column {
            return;
        }
        match self {
            Form::TlsfuzzerTiming => options.blocks = true,
            Form::TlsfuzzerMeasurements => options.block = Some("1".to_owned()),
            _ => options.block = Some("block".to_owned()),
        }
        // Blocks are numbered in their order.
        options.keep_order = false;
    }

    /// The options that the form stands for. What the user said stays.
    fn complete(self, options: &mut ReadOptions, answers: Vec<String>) {
        let own = |field: &mut Option<String>, name: &str| {
            field.get_or_insert_with(|| name.to_owned());
        };
        match self {
            Form::TlsfuzzerTiming | Form::RtlfSeries => options.wide = true,
            Form::TlsfuzzerMeasurements => {
                options.header = HeaderChoice::Absent;
                own(&mut options.secret, "2");
                options.observe.get_or_insert_with(|| vec!["3".to_owned()]);
            }
            Form::TwoClasses | Form::Rtlf => own(&mut options.secret, "1"),
            Form::CountedLines => own(&mut options.count, "1"),
            Form::ApacheBench => {
                // Who asks sees how long all took together.
                let seen = || vec![APACHE_BENCH[4].to_owned()];
                options.observe.get_or_insert_with(seen);
            }
            Form::Hyperfine => own(&mut options.secret, "command"),
            Form::PromptCache => {
                own(&mut options.secret, "requests");
                // Who asks sees this one.
                let seen = || vec!["client_time".to_owned()];
                options.observe.get_or_insert_with(seen);
            }
            Form::Probe => {
                options.header = HeaderChoice::Present;
                own(&mut options.secret, "secret");
                options.observe.get_or_insert(answers);
            }
            Form::Fbleau => {
                options.header = HeaderChoice::Absent;
                own(&mut options.secret, "1");
            }
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Form::TlsfuzzerTiming => "timing.csv of tlsfuzzer",
            Form::TlsfuzzerMeasurements => "measurements.csv of tlsfuzzer",
            Form::TwoClasses => "a dump of two classes",
            Form::Rtlf | Form::RtlfSeries => "a log of RTLF",
            Form::CountedLines => "the output of uniq -c",
            Form::ApacheBench => "a file of ab -g",
            Form::Hyperfine => "an export of hyperfine",
            Form::PromptCache => "an audit of a prompt cache",
            Form::Probe => "a log of leakgauge probe",
            Form::Fbleau => "a log of F-BLEAU",
        })
    }
}

/// The first file of a log, as it is going to be read, and the options for all its files.
pub(crate) struct Recognized {
    pub records: Box<dyn Records>,
    pub options: ReadOptions,
    pub form: Option<Form>,
}

/// Looks at the first rows of the first file. A form that has blocks is read by them if `by_block` is set.
///
/// # Errors
/// A row that cannot be read; a file that is not like what the options say.
pub(crate) fn recognize(
    name: &str,
    records: Box<dyn Records>,
    options: &ReadOptions,
    by_block: bool,
) -> Result<Recognized> {
    let mut records = filtered(name, records, options);
    let mut options = options.clone();
    let mut answers = Vec::new();
    let mut has_numbers = true;
    let form = if records.format() == Format::Hyperfine {
        Some(Form::Hyperfine)
    } else if records.format() == Format::PromptCache {
        Some(Form::PromptCache)
    } else if records.is_named() && options.is_file_a_secret() {
        // The secret stands beside the columns of the files.
        let (ahead, rows) = look_ahead(records)?;
        records = ahead;
        let is_it = has_no_columns_named(&options) && is_of_apache_bench(&rows);
        is_it.then_some(Form::ApacheBench)
    } else if records.is_named() {
        None
    } else {
        let (ahead, rows) = look_ahead(records)?;
        records = ahead;
        answers = probe_answers(rows.first());
        has_numbers = answers.is_empty() || has_probed_numbers(&rows, &options);
        match options.like {
            Some(Like::Fbleau) => {
                refuse_beside_fbleau(&options)?;
                refuse_unlike_fbleau(name, &rows)?;
                Some(Form::Fbleau)
            }
            Some(Like::Nothing) => None,
            None if !answers.is_empty()
                && has_no_other_parts(&options)
                && options.header != HeaderChoice::Absent =>
            {
                Some(Form::Probe)
            }
            None => form_of(name, &rows, &options),
        }
    };
    if let Some(form) = form {
        form.complete(&mut options, answers);
        // Blocks are compared by numbers: texts are read one by one.
        if by_block && has_numbers {
            form.in_blocks(&mut options);
        }
    }
    Ok(Recognized {
        records: shape(name, records, &options, form)?,
        options,
        form,
    })
}

/// A file's rows as a form and the options have them.
///
/// # Errors
/// A first row that does not fit.
pub(crate) fn shape(
    name: &str,
    records: Box<dyn Records>,
    options: &ReadOptions,
    form: Option<Form>,
) -> Result<Box<dyn Records>> {
    Ok(match form {
        Some(Form::CountedLines) => Box::new(CountedLines::new(name, records)),
        _ if options.wide => Box::new(Wide::new(
            name,
            records,
            options,
            form.map(|form| form.to_string()),
        )?),
        _ => records,
    })
}

/// Rows that were looked at, and those behind them.
struct Ahead {
    rows: VecDeque<Row>,
    inner: Box<dyn Records>,
}

/// The first rows of some, which still come.
///
/// # Errors
/// A row that cannot be read.
pub(crate) fn look_ahead(mut inner: Box<dyn Records>) -> Result<(Box<dyn Records>, Vec<Row>)> {
    let mut rows = Vec::new();
    let mut bytes = 0;
    let mut row = Row::new();
    while rows.len() < ROWS && bytes < BYTES && inner.next(&mut row)? {
        bytes += row.bytes();
        rows.push(row.compact());
    }
    let ahead = Ahead {
        rows: rows.iter().cloned().collect(),
        inner,
    };
    Ok((Box::new(ahead), rows))
}

impl Records for Ahead {
    fn is_named(&self) -> bool {
        self.inner.is_named()
    }

    fn unnamed(&self) -> Option<usize> {
        self.inner.unnamed()
    }

    fn note(&self) -> Option<String> {
        self.inner.note()
    }

    fn format(&self) -> Format {
        self.inner.format()
    }

    fn delimiter(&self) -> Option<char> {
        self.inner.delimiter()
    }

    fn resumes(&self) -> bool {
        self.inner.resumes()
    }

    fn ahead(&mut self) -> Result<&[u32]> {
        match self.rows.is_empty() {
            true => self.inner.ahead(),
            false => Ok(&[]),
        }
    }

    fn pass(&mut self, rows: usize) {
        self.inner.pass(rows);
    }

    fn dropped(&mut self, secret: &[usize]) -> Vec<(Row, u64)> {
        self.inner.dropped(secret)
    }

    fn next(&mut self, row: &mut Row) -> Result<bool> {
        match self.rows.pop_front() {
            Some(ahead) => {
                *row = ahead;
                Ok(true)
            }
            None => self.inner.next(row),
        }
    }
}

/// Whether row 1 names the columns of `ab -g`, perhaps with others beside them.
fn is_of_apache_bench(rows: &[Row]) -> bool {
    let names = rows.iter().take(1).flat_map(Row::fields);
    let names: Vec<String> = names.map(|name| name.text().trim().to_owned()).collect();
    names
        .windows(APACHE_BENCH.len())
        .any(|names| names == APACHE_BENCH)
}

/// The form of a file without names of columns for sure.
fn form_of(name: &str, rows: &[Row], options: &ReadOptions) -> Option<Form> {
    if options.wide || options.scores.is_some() {
        return None;
    }
    if options.count.is_none() && counted_lines::are_counted(rows) {
        return Some(Form::CountedLines);
    }
    // Whoever names columns has said how the file is laid out.
    if !has_no_columns_named(options) {
        return None;
    }
    if options.header != HeaderChoice::Absent && is_of_apache_bench(rows) {
        return Some(Form::ApacheBench);
    }
    let stem = stem(name);
    if stem == "timing" && options.header != HeaderChoice::Absent && is_wide_timing(rows) {
        Some(Form::TlsfuzzerTiming)
    } else if stem.starts_with("measurements")
        && options.header != HeaderChoice::Present
        && is_in_blocks(rows)
    {
        Some(Form::TlsfuzzerMeasurements)
    } else if options.header != HeaderChoice::Absent && is_of_rtlf(rows) {
        Some(Form::Rtlf)
    } else if options.header != HeaderChoice::Absent && are_series(rows) {
        Some(Form::RtlfSeries)
    } else if has_two_classes(rows) {
        Some(Form::TwoClasses)
    } else {
        None
    }
}

/// Whether nothing is said of the parts that columns play.
fn has_no_columns_named(options: &ReadOptions) -> bool {
    let named = [
        &options.secret,
        &options.count,
        &options.group,
        &options.row_id,
    ];
    let is_named = named.into_iter().any(Option::is_some) || options.observe.is_some();
    !is_named && !options.wide && options.scores.is_none()
}

/// The same of a log that was probed, of which an answer or its time may be observed.
fn has_no_other_parts(options: &ReadOptions) -> bool {
    const PARTS: [&str; 6] = ["block", "sequence", "secret", "1", "2", "3"];
    let mut observed = options.observe.iter().flatten();
    let is_secret = |name: &String| name == "secret" || name == "3";
    let bare = ReadOptions {
        secret: options.secret.clone().filter(|name| !is_secret(name)),
        observe: None,
        ..options.clone()
    };
    has_no_columns_named(&bare) && !observed.any(|name| PARTS.contains(&name.as_str()))
}

/// The columns of answers, if row 1 is the header of a log that was probed; else none.
fn probe_answers(first: Option<&Row>) -> Vec<String> {
    let names: Vec<String> = first
        .iter()
        .flat_map(|row| row.fields())
        .map(|field| field.text().trim().to_owned())
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    match names[..] {
        ["block", "sequence", "secret", ref answers @ .., "time_ns"] => {
            answers.iter().map(|&name| name.to_owned()).collect()
        }
        _ => Vec::new(),
    }
}

/// The name of a file without directory, packing and ending.
fn stem(name: &str) -> &str {
    let name = without_packing(name);
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// Names of classes, and nothing but numbers below them.
fn is_wide_timing(rows: &[Row]) -> bool {
    let Some((first, body)) = rows.split_first() else {
        return false;
    };
    let names: Vec<_> = first.fields().map(Field::text).collect();
    let is_name = |name: &str| !name.is_empty() && !name.eq_ignore_ascii_case("secret");
    names.len() > 1
        && names.iter().all(|name| is_name(name.trim()))
        && !first.fields().any(Field::is_number)
        && !body.is_empty()
        && body.iter().all(|row| row.fields().all(is_number_or_blank))
}

fn is_number_or_blank(field: Field) -> bool {
    field.is_number() || field.text().trim().is_empty()
}

/// Whole numbers that never fall, something, a number.
fn is_in_blocks(rows: &[Row]) -> bool {
    let block = |row: &Row| row.text(0)?.trim().parse::<u64>().ok();
    let blocks: Option<Vec<u64>> = rows.iter().map(block).collect();
    let is_measurement = |row: &Row| row.len() == 3 && row.get(2).is_some_and(Field::is_number);
    !rows.is_empty()
        && rows.iter().all(is_measurement)
        && blocks.is_some_and(|blocks| blocks.is_sorted())
}

/// Two columns, the first 0 or 1, the second a number of many values. A header must name the first a class. What never
/// falls without a header is a clock, beside the direction of packets and no class.
fn has_two_classes(rows: &[Row]) -> bool {
    let Some(first) = rows.first().filter(|row| row.len() == 2) else {
        return false;
    };
    let is_header = !first.fields().any(Field::is_number);
    let name = first.text(0).unwrap_or_default();
    let name = name.trim().to_ascii_lowercase();
    if is_header && !CLASS_NAMES.contains(&name.as_str()) {
        return false;
    }
    let body = &rows[usize::from(is_header)..];
    if !body
        .iter()
        .all(|row| row.len() == 2 && row.fields().all(Field::is_number))
    {
        return false;
    }
    let values = |column: usize| -> BTreeSet<String> {
        let texts = body.iter().filter_map(|row| row.text(column));
        texts.map(|text| text.trim().to_owned()).collect()
    };
    let numbers = || {
        body.iter()
            .filter_map(|row| row.text(1)?.trim().parse().ok())
    };
    if !is_header && numbers().is_sorted_by(|before: &f64, after| before <= after) {
        return false;
    }
    let measured = values(1).len();
    values(0).into_iter().eq(["0", "1"])
        && measured >= MIN_MEASUREMENTS
        && 10 * measured >= body.len()
}

/// The columns that RTLF reads: a class, and a number below it.
fn is_of_rtlf(rows: &[Row]) -> bool {
    let Some((first, body)) = rows.split_first() else {
        return false;
    };
    let names = first
        .fields()
        .map(|field| field.text().trim().to_ascii_lowercase());
    let names: Vec<String> = names.collect();
    let is_measurement = |row: &Row| row.len() == 2 && row.get(1).is_some_and(Field::is_number);
    RTLF_NAMES.iter().any(|known| names == *known)
        && !body.is_empty()
        && body.iter().all(is_measurement)
        && !is_measured(body, 0)
}

/// Whether a column has numbers of many values, which are no names of classes.
fn is_measured(body: &[Row], column: usize) -> bool {
    let fields = || body.iter().filter_map(|row| row.get(column));
    let values: BTreeSet<String> = fields().map(|field| field.text().into_owned()).collect();
    fields().all(Field::is_number) && values.len() > MIN_MEASUREMENTS
}

/// `Series1,Series2,…` or `V1,V2,…`, and nothing but numbers below.
fn are_series(rows: &[Row]) -> bool {
    let are_numbered = |word: &str| {
        let numbered = |(at, name): (usize, Field)| {
            let name = name.text().trim().to_ascii_lowercase();
            name == format!("{word}{}", at + 1)
        };
        rows[0].fields().enumerate().all(numbered)
    };
    let are_values = || are_numbered("v") && is_measured(&rows[1..], 0);
    is_wide_timing(rows) && (are_numbered("series") || are_values())
}

/// Whether the answers in the first rows of a probed log are numbers, or blank.
fn has_probed_numbers(rows: &[Row], options: &ReadOptions) -> bool {
    let Some((header, body)) = rows.split_first() else {
        return true;
    };
    let asked = options.observe.iter().flatten();
    let asked: Vec<&str> = asked.map(String::as_str).collect();
    let is_observed = |at: usize, name: &str| match asked[..] {
        [] => at > 2 && at + 1 < header.len(),
        _ => asked.contains(&name) || asked.contains(&&*(at + 1).to_string()),
    };
    let names = header.fields().map(Field::text).enumerate();
    let mut columns = names.filter(|(at, name)| is_observed(*at, name.trim()));
    columns.all(|(at, _)| {
        let mut values = body.iter().filter_map(|row| row.get(at));
        values.all(is_number_or_blank)
    })
}

/// Refuses options that say otherwise how a log is laid out.
fn refuse_beside_fbleau(options: &ReadOptions) -> Result<()> {
    if options.wide {
        return Err(Error::parameter(
            option("wide"),
            format!(
                "does not go with {}: the first column of logs of F-BLEAU is the secret",
                setting("like", Like::Fbleau.name())
            ),
        )
        .with_hint("leave one of the two out"));
    }
    match options.header {
        HeaderChoice::Present => Err(Error::parameter(
            option("header"),
            format!(
                "does not go with {}: logs of F-BLEAU have no header",
                setting("like", Like::Fbleau.name())
            ),
        )
        .with_hint("leave one of the two out")),
        HeaderChoice::Absent | HeaderChoice::Detect => Ok(()),
    }
}

fn refuse_unlike_fbleau(name: &str, rows: &[Row]) -> Result<()> {
    let Some(first) = rows.first() else {
        return Ok(());
    };
    if first.fields().all(Field::is_number) {
        return Ok(());
    }
    Err(Error::data(
        first.place(name),
        format!(
            "holds a word, and logs of F-BLEAU hold numbers only ({})",
            setting("like", Like::Fbleau.name())
        ),
    )
    .with_hint("leave the option out: headers and words are read without it"))
}

#[cfg(test)]
mod tests;
