//! Columns that number rows or say when they were recorded: whoever keeps the log writes them, and no attacker sees
//! them. Only their own values and names are looked at, and where secrets change, never how they differ by secret.

use std::collections::{BTreeMap, BTreeSet};

use crate::column_names::{is_of_persons, words};
use crate::row::{Row, is_absent};
use crate::units::Unit;
use leakgauge_base::error::{Error, Place, Result};
use leakgauge_base::naming::setting;

/// Fewer rows may count by chance.
const MIN_ROWS: usize = 20;
/// Numbers of blocks that are seen before they are taken for such.
const MIN_BLOCKS: usize = 10;
/// Rows of a clock whose zero is not known.
const MIN_RISING: usize = 50;

/// The times of one log differ by at most this part of their distance from 1970: no latency of a second in nanoseconds,
/// which would be as large, is so regular.
const MOST_SPREAD: f64 = 0.1;

/// Names of columns that number rows, in lower case, letters and digits only.
const NUMBERS_OF_ROWS: [&str; 12] = [
    "no",
    "nr",
    "index",
    "idx",
    "row",
    "rowno",
    "rownumber",
    "lineno",
    "unnamed0",
    "seq",
    "frame",
    "framenumber",
];
/// Names of columns that tell rows apart, in the same way.
const IDS_OF_ROWS: [&str; 11] = [
    "id",
    "rowid",
    "runid",
    "requestid",
    "reqid",
    "traceid",
    "sampleid",
    "recordid",
    "uid",
    "uuid",
    "guid",
];
/// Last words of names of columns that tell runs, persons or sessions apart.
const IDS: [&str; 3] = ["id", "uuid", "guid"];
/// Rows that an id has on average, at most.
const ROWS_OF_ID: usize = 20;
/// Names of columns that say when a row was recorded, whatever the order of the rows. Others, such as `time`, may be
/// names of what was measured.
const CLOCKS: [&str; 8] = [
    "timestamp",
    "ts",
    "datetime",
    "starttime",
    "createdat",
    "recordedat",
    "startedat",
    "loggedat",
];

/// Names of columns that say when a row was recorded, or in which part of a collection, if what they hold never falls, as
/// words without a unit. A column that was measured is called so too: nothing is said to hold then unless someone says which it
/// is.
const MOMENTS: [&[&str]; 14] = [
    &["time"],
    &["clock"],
    &["uptime"],
    &["date"],
    &["day"],
    &["hour"],
    &["minute"],
    &["epoch"],
    &["batch"],
    &["round"],
    &["pid"],
    &["when"],
    &["frame", "time"],
    &["frame", "time", "relative"],
];
/// Words of units behind these.
const UNITS_OF_MOMENTS: [&str; 9] = [
    "s", "ms", "us", "ns", "sec", "secs", "second", "seconds", "utc",
];
/// Values that rise within the rows of each secret, at least, where secrets follow each other.
const RISING_OF_SECRET: usize = 5;

/// Names of columns of seconds since 1970, as load generators write them in whole ones: nothing that is measured takes
/// decades.
const SECONDS: [&str; 6] = [
    "seconds",
    "sec",
    "secs",
    "epoch",
    "unixtime",
    "epochseconds",
];

/// Why a column is not observed unless it is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordKeeping {
    /// It counts with the rows, or with groups of them.
    Counts,
    /// It counts with blocks of rows that have each secret at most once.
    CountsBlocks,
    /// It says when a row was recorded.
    Clock,
    /// It never falls, and its name is one of clocks. What was measured may be sorted, too.
    NeverFalls,
    /// It names the row, or the run or the person of some rows.
    RowId,
    /// Rows were chosen by its values.
    Filter,
    /// It is blank.
    Blank,
}

/// A column that is not observed unless it is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOutColumn {
    /// Its position.
    pub position: usize,
    /// Its name.
    pub name: String,
    /// Why.
    pub why: RecordKeeping,
}

/// The first rows of a file, as its columns are looked at.
pub(crate) struct FirstLook<'a> {
    pub names: &'a [String],
    /// The rows behind the header.
    pub body: &'a [Row],
    /// The columns of the secret.
    pub secret: &'a [usize],
}

impl FirstLook<'_> {
    /// Those of some columns that keep records.
    pub(crate) fn find(&self, columns: &[usize]) -> Vec<LeftOutColumn> {
        if self.body.len() < MIN_ROWS {
            return Vec::new();
        }
        let mut found: Vec<LeftOutColumn> = columns
            .iter()
            .filter_map(|&position| self.found(position, self.why(position)?))
            .collect();
        // Rows that are numbered stand as they were recorded: what never falls beside is a clock.
        let counts = [RecordKeeping::Counts, RecordKeeping::CountsBlocks];
        if found.iter().any(|one| counts.contains(&one.why)) {
            let others = columns
                .iter()
                .filter(|&&column| found.iter().all(|one| one.position != column));
            let clocks =
                others.filter(|&&column| self.numbers(column).is_some_and(|n| is_rising(&n)));
            let clocks: Vec<_> = clocks
                .filter_map(|&at| self.found(at, RecordKeeping::Clock))
                .collect();
            found.extend(clocks);
            for one in &mut found {
                if one.why == RecordKeeping::NeverFalls {
                    one.why = RecordKeeping::Clock;
                }
            }
        }
        let day = self.date_and_time(columns).into_iter().flatten();
        let day = day.filter(|&column| found.iter().all(|one| one.position != column));
        let day: Vec<_> = day
            .filter_map(|at| self.found(at, RecordKeeping::Clock))
            .collect();
        found.extend(day);
        let is_left = |column: &usize| found.iter().all(|one| one.position != *column);
        let (blank, seen): (Vec<usize>, Vec<usize>) = columns
            .iter()
            .copied()
            .filter(is_left)
            .partition(|&column| self.is_blank(column));
        // A log of nothing else has nothing to observe, which the audit says.
        let blank = blank.into_iter().filter(|_| !seen.is_empty());
        let blank: Vec<_> = blank
            .filter_map(|at| self.found(at, RecordKeeping::Blank))
            .collect();
        found.extend(blank);
        found.sort_by_key(|one| one.position);
        found
    }

    fn is_blank(&self, column: usize) -> bool {
        let is_blank = |row: &Row| row.text(column).is_none_or(|text| is_absent(text.trim()));
        self.body.iter().all(is_blank)
    }

    /// A column of days and one of times of day that together say when a row was recorded.
    fn date_and_time(&self, columns: &[usize]) -> Option<[usize; 2]> {
        let named = |wanted: &str| {
            let mut columns = columns.iter().copied();
            columns.find(|&column| self.names[column].eq_ignore_ascii_case(wanted))
        };
        let (date, time) = (named("date")?, named("time")?);
        let moment = |row: &Row| {
            let (date, time) = (row.text(date)?, row.text(time)?);
            let time = time.trim();
            let is_of_day = time.contains(':') && !date.contains(':');
            let text = format!("{} {time}", date.trim());
            is_of_day.then(|| Unit::Date.seconds(&text)).flatten()
        };
        let moments: Option<Vec<f64>> = self.body.iter().map(moment).collect();
        moments
            .is_some_and(|moments| mostly_rises(&moments))
            .then_some([date, time])
    }

    fn found(&self, position: usize, why: RecordKeeping) -> Option<LeftOutColumn> {
        let name = self.names[position].clone();
        Some(LeftOutColumn {
            position,
            name,
            why,
        })
    }

    fn why(&self, column: usize) -> Option<RecordKeeping> {
        let name: String = self.names[column]
            .chars()
            .filter(|c| c.is_alphanumeric())
            .collect();
        let name = name.to_lowercase();
        let is_named = |known: &[&str]| known.contains(&name.as_str());
        if let Some(numbers) = self.numbers(column) {
            if counts(&numbers) {
                return Some(RecordKeeping::Counts);
            }
            let is_clock = is_named(&CLOCKS) && (is_rising(&numbers) || numbers.is_sorted());
            if let Some(counts) = self.counts_blocks(&numbers).filter(|_| !is_clock) {
                return Some(counts);
            }
            let numbers_rows = is_named(&NUMBERS_OF_ROWS) || is_named(&IDS_OF_ROWS);
            let are_whole = numbers.iter().all(|number| number.fract() == 0.0);
            if numbers_rows && are_whole && numbers.windows(2).all(|two| two[0] < two[1]) {
                return Some(RecordKeeping::Counts);
            }
            if are_epochs(&numbers) && (mostly_rises(&numbers) || is_named(&CLOCKS)) {
                return Some(RecordKeeping::Clock);
            }
            if is_clock || is_named(&SECONDS) && are_whole && numbers.iter().all(is_epoch) {
                return Some(RecordKeeping::Clock);
            }
            if self.is_of_moments(column) && self.never_falls(column, &numbers) {
                return Some(RecordKeeping::NeverFalls);
            }
            // In another order: whoever shuffled the rows kept their numbers.
            let is_row_id = numbers_rows && are_whole && self.is_distinct(column);
            return is_row_id.then_some(RecordKeeping::RowId);
        }
        if let Some(dates) = self.dates(column)
            && (is_named(&CLOCKS) || (mostly_rises(&dates) && 2 * distinct(&dates) > dates.len()))
        {
            return Some(RecordKeeping::Clock);
        }
        let moments = || self.times_of_day(column).or_else(|| self.dates(column));
        if self.is_of_moments(column)
            && moments().is_some_and(|moments| self.never_falls(column, &moments))
        {
            return Some(RecordKeeping::NeverFalls);
        }
        let is_of_rows = is_named(&IDS_OF_ROWS);
        // A name of a user who never comes again tells rows apart as an id does.
        let is_of_one_row =
            is_of_rows || is_of_persons(&self.names[column]) && self.are_ids(column);
        let is_row_id = is_of_one_row && self.are_tokens(column) && self.is_distinct(column);
        let is_called_id = is_of_rows || self.is_called_id(column);
        (is_row_id || is_called_id && self.are_ids(column)).then_some(RecordKeeping::RowId)
    }

    /// Whether the name is that of a moment, and another column is there to be observed.
    fn is_of_moments(&self, column: usize) -> bool {
        let mut words = words(&self.names[column]);
        if words.len() > 1
            && words
                .last()
                .is_some_and(|word| UNITS_OF_MOMENTS.contains(&word.as_str()))
        {
            words.pop();
        }
        let is_one = |moment: &&[&str]| words.iter().map(String::as_str).eq(moment.iter().copied());
        self.names.len() > self.secret.len() + 1 && MOMENTS.iter().any(is_one)
    }

    /// Whether moments never fall, and rise within the rows of each secret: what each secret has one of was measured.
    fn never_falls(&self, column: usize, moments: &[f64]) -> bool {
        let is_sorted = moments.len() >= MIN_RISING
            && moments.windows(2).all(|two| two[0] <= two[1])
            && moments.first() < moments.last();
        let mut of_secrets: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for row in self.body.iter().filter(|_| is_sorted) {
            let secret = self
                .secret
                .iter()
                .map(|&at| row.text(at).unwrap_or_default());
            let secret = secret.collect::<Vec<_>>().join(",");
            let moment = row.text(column).unwrap_or_default().into_owned();
            of_secrets.entry(secret).or_default().insert(moment);
        }
        is_sorted
            && of_secrets
                .values()
                .all(|moments| moments.len() >= RISING_OF_SECRET)
    }

    /// Times of day in seconds, if all are some: `09:00:01.5`.
    fn times_of_day(&self, column: usize) -> Option<Vec<f64>> {
        let seconds = |row: &Row| {
            let text = row.text(column)?;
            let mut parts = text.trim().splitn(3, ':');
            let mut part = || {
                parts
                    .next()?
                    .parse::<f64>()
                    .ok()
                    .filter(|part| *part >= 0.0)
            };
            let (hours, minutes) = (part()?, part()?);
            Some(3600.0 * hours + 60.0 * minutes + part().unwrap_or(0.0))
        };
        self.body.iter().map(seconds).collect()
    }

    fn is_called_id(&self, column: usize) -> bool {
        let words = words(&self.names[column]);
        words
            .last()
            .is_some_and(|word| IDS.contains(&word.as_str()))
    }

    /// Whether texts are tokens with digits that hardly recur: names of rows, of runs of some rows, of persons.
    fn are_ids(&self, column: usize) -> bool {
        let has_digit = |row: &Row| {
            row.text(column)
                .is_some_and(|text| text.chars().any(|c| c.is_ascii_digit()))
        };
        let with_digits = self.body.iter().filter(|row| has_digit(row)).count();
        let texts = self.body.iter().filter_map(|row| row.text(column));
        let different = texts.collect::<BTreeSet<_>>().len();
        // A hash has a digit nearly always.
        10 * with_digits >= 9 * self.body.len()
            && different >= MIN_ROWS
            && different * ROWS_OF_ID >= self.body.len()
            && self.are_tokens(column)
    }

    /// The values of a column, if all are numbers.
    fn numbers(&self, column: usize) -> Option<Vec<f64>> {
        let number = |row: &Row| row.text(column)?.trim().parse::<f64>().ok();
        let numbers: Option<Vec<f64>> = self.body.iter().map(number).collect();
        numbers.filter(|numbers| numbers.iter().all(|number| number.is_finite()))
    }

    /// The values of a column in seconds, if all are dates.
    fn dates(&self, column: usize) -> Option<Vec<f64>> {
        let texts: Option<Vec<_>> = self.body.iter().map(|row| row.text(column)).collect();
        let texts = texts?;
        let trimmed = texts.iter().map(|text| text.trim());
        let unit = Unit::of_slashed(trimmed.clone()).unwrap_or(Unit::Date);
        trimmed.map(|text| unit.seconds(text)).collect()
    }

    /// Whether texts are of letters, digits and hyphens. Lists and sentences are observations.
    fn are_tokens(&self, column: usize) -> bool {
        let is_of_token = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let is_token = |row: &Row| {
            row.text(column)
                .is_some_and(|text| !text.is_empty() && text.trim().chars().all(is_of_token))
        };
        self.body.iter().all(is_token)
    }

    /// Whether no value comes again.
    fn is_distinct(&self, column: usize) -> bool {
        let mut seen = BTreeSet::new();
        self.body.iter().all(|row| {
            row.text(column)
                .is_some_and(|text| seen.insert(text.into_owned()))
        })
    }

    /// What counts blocks: numbers that rise by one from time to time, where rows of several secrets have each. What
    /// depended on the secret would change with it.
    fn counts_blocks(&self, numbers: &[f64]) -> Option<RecordKeeping> {
        let rises_by_one = |two: &[f64]| two[1] == two[0] || two[1] == two[0] + 1.0;
        if !numbers.windows(2).all(rises_by_one) {
            return None;
        }
        // Each run of rows with its secrets, and how many rows it has.
        let mut runs: Vec<(f64, BTreeSet<String>, usize)> = Vec::new();
        for (row, &number) in self.body.iter().zip(numbers) {
            let secret = self
                .secret
                .iter()
                .map(|&column| row.text(column).unwrap_or_default());
            let secret = secret.collect::<Vec<_>>().join(",");
            match runs.last_mut() {
                Some((last, secrets, rows)) if *last == number => {
                    secrets.insert(secret);
                    *rows += 1;
                }
                _ => runs.push((number, BTreeSet::from([secret]), 1)),
            }
        }
        let mixed = runs.iter().filter(|run| run.1.len() > 1).count();
        if runs.len() < MIN_BLOCKS || 10 * mixed < 9 * (runs.len() - 1) {
            return None;
        }
        // Blocks of measurements have each secret at most once.
        let is_each_once = runs.iter().all(|run| run.1.len() == run.2);
        Some(match is_each_once {
            true => RecordKeeping::CountsBlocks,
            false => RecordKeeping::Counts,
        })
    }
}

/// Whether numbers rise or fall by the same from row to row. They may begin again, as those of files that were joined.
pub(crate) fn counts(numbers: &[f64]) -> bool {
    if numbers.len() < MIN_ROWS {
        return false;
    }
    let (first, step) = (numbers[0], numbers[1] - numbers[0]);
    if step == 0.0 {
        return false;
    }
    let mut begun_again = 0;
    for two in numbers.windows(2) {
        if two[1] - two[0] == step {
            continue;
        }
        if two[1] != first {
            return false;
        }
        begun_again += 1;
    }
    begun_again * MIN_ROWS <= numbers.len()
}

/// Whether a number may be seconds since 1970, from 1998 to 2049.
fn is_epoch(number: &f64) -> bool {
    (9e8..2.5e9).contains(number)
}

/// Whether numbers are seconds, milliseconds, microseconds or nanoseconds since 1970, from 1998 to 2049, and of few
/// years.
fn are_epochs(numbers: &[f64]) -> bool {
    let is_in = |scale: f64| numbers.iter().all(|number| is_epoch(&(number / scale)));
    let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let most = numbers.iter().copied().fold(0.0, f64::max);
    [1.0, 1e3, 1e6, 1e9].into_iter().any(is_in)
        && most - least <= MOST_SPREAD * least
        && 2 * distinct(numbers) > numbers.len()
}

/// Whether nine of ten numbers are no less than those before them.
fn mostly_rises(numbers: &[f64]) -> bool {
    let falls = numbers.windows(2).filter(|two| two[1] < two[0]).count();
    10 * falls < numbers.len()
}

/// Whether numbers never fall, and hardly one comes again.
fn is_rising(numbers: &[f64]) -> bool {
    numbers.len() >= MIN_RISING
        && numbers.windows(2).all(|two| two[0] <= two[1])
        && 2 * distinct(numbers) > numbers.len()
}

fn distinct(numbers: &[f64]) -> usize {
    let bits: BTreeSet<u64> = numbers.iter().map(|number| number.to_bits()).collect();
    bits.len()
}

/// Looks whether a column that counted with the first rows goes on to do so.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Watch {
    column: LeftOutColumn,
    last: Option<f64>,
    /// 1 if it rises, −1 if it falls, 0 as long as that is not known.
    direction: f64,
    rows: u64,
    /// Rows where it went the other way, or was no number.
    breaks: u64,
}

impl Watch {
    /// Those of the columns that count.
    pub(crate) fn of(columns: &[LeftOutColumn]) -> Vec<Watch> {
        let is_counter = |why| matches!(why, RecordKeeping::Counts | RecordKeeping::CountsBlocks);
        let counts = columns.iter().filter(|column| is_counter(column.why));
        let watch = |column: &LeftOutColumn| Watch {
            column: column.clone(),
            last: None,
            direction: 0.0,
            rows: 0,
            breaks: 0,
        };
        counts.map(watch).collect()
    }

    /// Takes the next row.
    pub(crate) fn push(&mut self, row: &Row) {
        let text = row.text(self.column.position).unwrap_or_default();
        let number = text.trim().parse().unwrap_or(f64::NAN);
        if let Some(last) = self.last {
            if self.direction == 0.0 && number != last {
                self.direction = if number > last { 1.0 } else { -1.0 };
            }
            let goes_on = (number - last) * self.direction >= 0.0;
            self.breaks += u64::from(!goes_on);
        }
        self.last = Some(number);
        self.rows += 1;
    }

    /// Refuses to leave out what does not count any more.
    ///
    /// # Errors
    /// A column that went the other way at more than one row in twenty.
    pub(crate) fn check(&self, file: &str, observed: &[&str]) -> Result<()> {
        if self.breaks * MIN_ROWS as u64 <= self.rows {
            return Ok(());
        }
        let name = &self.column.name;
        let others = observed.join(",");
        Err(Error::data(
            Place::file(file).column(name),
            "counts with the first rows and not with later ones: it is not clear whether an attacker sees it",
        )
        .with_hint(format!(
            "say which columns are observed: {} with it, {} without it",
            setting("observe", format!("{others},{name}")),
            setting("observe", others),
        )))
    }
}

#[cfg(test)]
mod tests;
