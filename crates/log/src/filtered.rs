//! Rows that are looked at: those that have certain values in a column, or have not.

use std::collections::{BTreeMap, BTreeSet};

use crate::format::Format;
use crate::options::{HeaderChoice, ReadOptions, RowFilter};
use crate::records::Records;
use crate::row::Row;
use leakgauge_base::error::{Error, Place, Result, listing, shorten};
use leakgauge_base::naming::setting;
use leakgauge_base::suggest;

/// Which rows are read, in a sentence; `None` if all are.
pub(crate) fn note(filters: &[RowFilter]) -> Option<String> {
    let condition = |filter: &RowFilter| {
        let not = if filter.keeps { "" } else { "not " };
        let values: Vec<String> = filter.values.iter().map(|value| shorten(value)).collect();
        format!("{} {not}{}", shorten(&filter.column), values.join(" or "))
    };
    let all: Vec<String> = filters.iter().map(condition).collect();
    (!all.is_empty()).then(|| format!("Only rows with {} were read.", all.join(" and ")))
}

/// Values of the column that are named in a message.
const NAMED: usize = 5;

/// The rows that pass.
struct Filtered {
    records: Box<dyn Records>,
    name: String,
    filters: Vec<RowFilter>,
    /// Columns are known by their numbers: there is no header.
    is_headless: bool,
    /// The position of the column of each filter, once the first row was seen.
    positions: Vec<usize>,
    /// Rows behind the header, and those of them that passed.
    rows: u64,
    kept: u64,
    /// Some values of the column of the first filter.
    seen: BTreeSet<String>,
    /// The column of the secret, or its columns, by what they were called; and where they are.
    secret: Option<String>,
    secrets: Vec<Vec<usize>>,
    /// Of rows that were dropped for a word: the first of each value that the secret may be, and how many there were.
    dropped: Dropped,
}

/// The rows of a file that pass the filters of the options; the same rows without any.
pub(crate) fn filtered(
    name: &str,
    records: Box<dyn Records>,
    options: &ReadOptions,
) -> Box<dyn Records> {
    if options.filters.is_empty() {
        return records;
    }
    Box::new(Filtered {
        is_headless: options.header == HeaderChoice::Absent && !records.is_named(),
        records,
        name: name.to_owned(),
        filters: options.filters.clone(),
        positions: Vec::new(),
        rows: 0,
        kept: 0,
        seen: BTreeSet::new(),
        secret: options.secret.clone(),
        secrets: Vec::new(),
        dropped: Dropped::default(),
    })
}

impl Filtered {
    /// Where the columns are: the first row says it.
    fn find(&mut self, first: &Row) -> Result<()> {
        let names: Vec<String> = first
            .fields()
            .map(|field| field.text().trim().to_owned())
            .collect();
        for filter in &self.filters {
            let by_number = || {
                let number: usize = filter.column.parse().ok()?;
                (self.is_headless && (1..=names.len()).contains(&number)).then(|| number - 1)
            };
            let position = names.iter().position(|name| *name == filter.column);
            let position = position
                .filter(|_| !self.is_headless)
                .or_else(by_number)
                .ok_or_else(|| self.no_column(filter, &names))?;
            self.positions.push(position);
        }
        let asked = self.secret.as_deref().unwrap_or("secret");
        let is_secret = |(at, name): &(usize, &String)| {
            let mut parts = asked.split(',').map(str::trim);
            *name == asked
                || parts.any(|part| name.eq_ignore_ascii_case(part) || part == (at + 1).to_string())
        };
        let found = names.iter().enumerate().filter(is_secret);
        let named: Vec<usize> = found.map(|(at, _)| at).collect();
        self.secrets = if named.is_empty() {
            // Any other column may turn out to be the secret.
            let others = (0..names.len()).filter(|at| !self.positions.contains(at));
            others.map(|at| vec![at]).collect()
        } else {
            vec![named]
        };
        Ok(())
    }

    fn no_column(&self, filter: &RowFilter, names: &[String]) -> Error {
        let problem = match self.is_headless {
            true => format!(
                "{} has no header: name the column by its number, 1 to {}",
                shorten(&self.name),
                names.len()
            ),
            false => format!(
                "{} has no column {} in its header",
                shorten(&self.name),
                shorten(&filter.column)
            ),
        };
        let error = Error::parameter(setting(filter.option(), filter.text()), problem);
        match suggest::nearest(&filter.column, names.iter().map(String::as_str)) {
            Some(near) => error.with_hint(format!("did you mean {near}?")),
            None => error.with_hint(format!(
                "its columns: {}",
                listing(names.iter().map(String::as_str))
            )),
        }
    }

    fn passes(&mut self, row: &Row) -> bool {
        self.rows += 1;
        for (at, (filter, &position)) in self.filters.iter().zip(&self.positions).enumerate() {
            let text = row.text(position).unwrap_or_default();
            let text = text.trim();
            if at == 0 && self.seen.len() < NAMED && !self.seen.contains(text) {
                self.seen.insert(text.to_owned());
            }
            if filter.has(text) != filter.keeps {
                if filter.drops_words() {
                    for secret in &self.secrets {
                        self.dropped.count(secret, row);
                    }
                }
                return false;
            }
        }
        self.kept += 1;
        true
    }

    /// Some values of the first filter's column.
    fn values(&self) -> String {
        let mut seen: Vec<String> = self.seen.iter().map(|value| shorten(value)).collect();
        if seen.len() == NAMED {
            seen.push("…".to_owned());
        }
        seen.join(", ")
    }

    fn nothing_left(&self) -> Error {
        let filters = self.filters.iter();
        let texts: Vec<String> = filters
            .map(|filter| setting(filter.option(), filter.text()))
            .collect();
        let problem = format!(
            "none of its {} rows is left by {}",
            self.rows,
            texts.join(" and ")
        );
        let column = shorten(&self.filters[0].column);
        Error::data(Place::file(&self.name), problem).with_hint(format!(
            "column {column} holds {}; several values of a column stand between commas",
            self.values()
        ))
    }
}

/// Rows that a word has dropped, by what their secret may be: which words stand in them may depend on that.
#[derive(Default)]
struct Dropped {
    /// By the columns of the secret; none of columns that hold too much for one.
    rows: BTreeMap<Vec<usize>, Option<Counted>>,
    /// How many rows are kept.
    kept: usize,
}

/// The first row of each label, and how many there were.
type Counted = BTreeMap<String, (Row, u64)>;

impl Dropped {
    fn count(&mut self, secret: &[usize], row: &Row) {
        /// A column of more values is no secret.
        const MOST_SECRETS: usize = 2000;
        /// Rows that are kept of all columns together.
        const MOST_ROWS: usize = 20_000;
        let texts = secret.iter().map(|&at| row.text(at).unwrap_or_default());
        let label: String = texts.map(|text| format!("{text}\u{0}")).collect();
        if !self.rows.contains_key(secret) {
            self.rows.insert(secret.to_vec(), Some(Counted::new()));
        }
        let Some(Some(found)) = self.rows.get_mut(secret) else {
            return;
        };
        if let Some(known) = found.get_mut(&label) {
            known.1 += 1;
        } else if found.len() < MOST_SECRETS && self.kept < MOST_ROWS {
            found.insert(label, (row.compact(), 1));
            self.kept += 1;
        } else {
            self.kept -= found.len();
            self.rows.insert(secret.to_vec(), None);
        }
    }

    /// Those of the secret in these columns.
    fn take(&mut self, secret: &[usize]) -> Vec<(Row, u64)> {
        let mut rows = std::mem::take(&mut self.rows);
        let is_only = rows.len() == 1;
        let found = rows
            .iter_mut()
            .find(|(columns, _)| is_only || *columns == secret);
        let found = found.and_then(|(_, found)| found.take());
        found.map_or_else(Vec::new, |found| found.into_values().collect())
    }
}

impl Records for Filtered {
    fn is_named(&self) -> bool {
        self.records.is_named()
    }

    fn unnamed(&self) -> Option<usize> {
        self.records.unnamed()
    }

    fn format(&self) -> Format {
        self.records.format()
    }

    fn delimiter(&self) -> Option<char> {
        self.records.delimiter()
    }

    fn resumes(&self) -> bool {
        self.records.resumes()
    }

    fn dropped(&mut self, secret: &[usize]) -> Vec<(Row, u64)> {
        self.dropped.take(secret)
    }

    fn next(&mut self, row: &mut Row) -> Result<bool> {
        while self.records.next(row)? {
            // Whoever reads on says that this is no text.
            if self.positions.is_empty() && row.not_utf8().is_some() {
                return Ok(true);
            }
            if self.positions.is_empty() {
                self.find(row)?;
                if !self.is_headless {
                    return Ok(true);
                }
            }
            if self.passes(row) {
                return Ok(true);
            }
        }
        match self.rows > 0 && self.kept == 0 {
            true => Err(self.nothing_left()),
            false => Ok(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Log, ReadOptions, RowFilter, read_from};
    use leakgauge_base::error::Result;

    const LOG: &str = "metric,secret,value,status\nwait,a,1.5,200\nsend,a,100,200\nwait,b,2.5,200\nwait,b,3.5,500\n\
                       wait,a,2.25,200.0\n";

    fn read(filters: &[(&str, bool)]) -> Result<Log> {
        let filters = filters.iter();
        let filters =
            filters.map(|(text, keeps)| RowFilter::parse(text, *keeps).expect("a filter"));
        let options = ReadOptions {
            filters: filters.collect(),
            ..ReadOptions::default()
        };
        read_from("log", LOG.as_bytes(), &options)
    }

    #[test]
    fn rows_are_kept_and_dropped_by_the_values_of_columns() {
        assert_eq!(read(&[("metric=wait", true)]).unwrap().counts.total(), 4);
        let both = [("metric=wait", true), ("status=500", false)];
        let log = read(&both).unwrap();
        assert_eq!(log.counts.total(), 3);
        // Columns that chose the rows are not observed.
        let names: Vec<&str> = log
            .observations
            .columns()
            .iter()
            .map(|c| c.name.as_str())
            .collect();
        assert_eq!(names, ["value"]);
        assert_eq!(read(&[("status=200", true)]).unwrap().counts.total(), 4);
        assert_eq!(
            read(&[("metric=send,wait", true)]).unwrap().counts.total(),
            5
        );
    }

    #[test]
    fn a_filter_that_leaves_nothing_says_what_there_is() {
        let error = read(&[("metric=waits", true)]).unwrap_err();
        assert!(error.problem().contains("none of its 5 rows"), "{error}");
        assert!(error.hint().unwrap().contains("send, wait"), "{error}");
        let error = read(&[("metrics=wait", true)]).unwrap_err();
        assert!(error.to_string().contains("no column metrics"), "{error}");
        assert!(error.hint().unwrap().contains("metric"), "{error}");
    }
}
