//! Wide files, as timing tools write them: a column a secret, a cell an observation of it.

use std::collections::VecDeque;

use hashbrown::HashSet;

use crate::format::Format;
use crate::options::{HeaderChoice, Missing, ReadOptions};
use crate::record_keeping::counts;
use crate::records::Records;
use crate::row::{Field, Row, is_absent, not_utf8};
use leakgauge_base::error::{Error, Place, Result, shorten};
use leakgauge_base::naming::{option, setting};

/// Rows that are looked at before the first is read.
const LOOKED_AT: usize = 30;
/// The names of the two columns that a wide file becomes.
pub const COLUMNS: [&str; 2] = ["secret", "observation"];

/// A wide file as rows of (secret, observation), row by row of the file.
pub struct Wide {
    name: String,
    inner: Box<dyn Records>,
    /// The secrets, by column.
    secrets: Vec<String>,
    /// By column: the row in which a blank was found. Nothing may come behind it.
    ended: Vec<Option<u64>>,
    row: Row,
    /// Rows behind it that were looked at.
    ahead: VecDeque<Row>,
    /// The next column of `row`.
    at: usize,
    is_begun: bool,
    /// Whether each row is a block, so that none may lack an observation.
    is_blocked: bool,
    /// Whether a blank is an observation.
    counts_blanks: bool,
    /// The tool whose log this is, if it is recognized.
    form: Option<String>,
}

impl Wide {
    /// Takes the names of the secrets from row 1, unless it is said to be data. `form`: the tool whose log it is, if
    /// that was recognized.
    ///
    /// # Errors
    /// Names that are blank or not unlike each other, a column that counts the rows, unreadable first rows.
    pub fn new(
        name: &str,
        mut inner: Box<dyn Records>,
        options: &ReadOptions,
        form: Option<String>,
    ) -> Result<Self> {
        let mut row = Row::new();
        let has_rows = inner.next(&mut row)?;
        let header = options.header != HeaderChoice::Absent && inner.unnamed().is_none();
        let secrets = if !has_rows {
            Vec::new()
        } else if header {
            names(name, &row, !options.secrets.is_empty())?
        } else {
            (1..=row.len()).map(|number| number.to_string()).collect()
        };
        let mut ahead = VecDeque::new();
        while has_rows && ahead.len() < LOOKED_AT {
            let mut next = Row::new();
            if !inner.next(&mut next)? {
                break;
            }
            ahead.push_back(next);
        }
        if options.secrets.is_empty() && form.is_none() {
            refuse_counters(name, &secrets, &ahead)?;
        }
        Ok(Wide {
            name: name.to_owned(),
            inner,
            ahead,
            ended: vec![None; secrets.len()],
            // A header has been dealt with; data still has to be.
            at: if header { secrets.len() } else { 0 },
            secrets,
            row,
            is_begun: false,
            is_blocked: options.blocks,
            counts_blanks: options.missing == Missing::Last,
            form,
        })
    }

    fn place(&self) -> Place {
        self.row.place(&self.name)
    }

    /// Goes to the next row of the file.
    fn next_row(&mut self) -> Result<bool> {
        match self.ahead.pop_front() {
            Some(row) => self.row = row,
            None if self.inner.next(&mut self.row)? => {}
            None => return Ok(false),
        }
        self.at = 0;
        // Behind the last column nothing belongs to any secret; a short row has blanks there.
        if self.row.len() > self.secrets.len() {
            let (found, expected) = (self.row.len(), self.secrets.len());
            let problem = format!("has {found} fields where {expected} are expected");
            return Err(Error::data(self.place(), problem).with_hint(format!(
                "row 1 has a name for every column, or is said to be data: {}",
                setting("header", "absent")
            )));
        }
        Ok(true)
    }

    fn incomplete_block(&self, place: Place) -> Error {
        let error = Error::data(place, "the block has no observation of this secret");
        let block = setting("block", "COLUMN");
        error.with_hint(match &self.form {
            Some(form) => format!(
                "the file is read as {form}, whose rows are complete blocks: remove the row, or read cells one by one with \
                 {}; a log with one observation a row may have incomplete blocks ({block})",
                setting("block", "none")
            ),
            None => format!(
                "with {} every row is a complete block; where blocks lack observations, write one observation a row and \
                 name the column of the block: {block}",
                option("blocks")
            ),
        })
    }

    /// Whether a column of the row holds an observation.
    fn holds_observation(&mut self, column: usize) -> Result<bool> {
        let place = || self.row.place(&self.name).column(&self.secrets[column]);
        let is_blank = match self.row.get(column).unwrap_or(Field::Missing) {
            Field::Text(bytes) | Field::Quoted(bytes) => {
                let text = std::str::from_utf8(bytes).map_err(|_| not_utf8(place()))?;
                is_absent(text.trim())
            }
            Field::Number(_) => false,
            Field::Null | Field::Missing => true,
        };
        // A row that ends too soon was not written to its end.
        let is_there = column < self.row.len();
        if is_blank && self.is_blocked && self.counts_blanks && is_there {
            return Ok(true);
        }
        if is_blank && self.is_blocked {
            return Err(self.incomplete_block(place()));
        }
        match (is_blank, self.ended[column]) {
            (true, None) => {
                self.ended[column] = place().row;
                Ok(false)
            }
            (true, Some(_)) => Ok(false),
            (false, None) => Ok(true),
            (false, Some(row)) => {
                let blank = place().row(row);
                let behind = self.place().row.unwrap_or(0);
                let problem = format!("is blank, and row {behind} of the column is not");
                Err(Error::data(blank, problem).with_hint(
                    "a shorter column may end in blanks only: close the gap, or give one observation a row",
                ))
            }
        }
    }
}

impl Records for Wide {
    fn is_named(&self) -> bool {
        true
    }

    fn format(&self) -> Format {
        self.inner.format()
    }

    fn delimiter(&self) -> Option<char> {
        self.inner.delimiter()
    }

    fn next(&mut self, row: &mut Row) -> Result<bool> {
        if self.secrets.is_empty() {
            return Ok(false);
        }
        row.clear();
        if !self.is_begun {
            self.is_begun = true;
            COLUMNS
                .iter()
                .for_each(|name| row.push_text(name.as_bytes()));
            return Ok(true);
        }
        loop {
            if self.at == self.secrets.len() && !self.next_row()? {
                return Ok(false);
            }
            while self.at < self.secrets.len() {
                let column = self.at;
                self.at += 1;
                if self.holds_observation(column)?
                    && let Some(field) = self.row.get(column)
                {
                    row.push_text(self.secrets[column].as_bytes());
                    row.push(field);
                    row.stands_at(&self.row);
                    return Ok(true);
                }
            }
        }
    }
}

/// An error about an observation, said of the column of the file that it stands in.
pub fn in_its_column(options: &ReadOptions, row: &Row, mut error: Error) -> Error {
    if options.wide
        && let Error::Data { place, .. } = &mut error
    {
        place.column = Some(row.text(0).unwrap_or_default().into_owned());
    }
    error
}

/// Refuses a column that numbers the rows: as a secret it would be told from all others.
fn refuse_counters(file: &str, secrets: &[String], rows: &VecDeque<Row>) -> Result<()> {
    let counts_rows = |column: &usize| {
        let number = |row: &Row| row.text(*column)?.trim().parse::<f64>().ok();
        let numbers: Option<Vec<f64>> = rows.iter().map(number).collect();
        numbers.is_some_and(|numbers| counts(&numbers))
    };
    let (counters, others): (Vec<usize>, Vec<usize>) = (0..secrets.len()).partition(counts_rows);
    let Some(&counter) = counters.first().filter(|_| !others.is_empty()) else {
        return Ok(());
    };
    let place = Place::file(file).column(&secrets[counter]);
    let named: Vec<&str> = others.iter().map(|&at| secrets[at].as_str()).collect();
    let problem = "counts the rows, and every column would be a secret";
    Err(Error::data(place, problem).with_hint(format!(
        "say which columns are secrets: {}",
        setting("secrets", named.join(","))
    )))
}

/// The names of the secrets. Where secrets are chosen by name, columns without one are none.
fn names(file: &str, row: &Row, are_chosen: bool) -> Result<Vec<String>> {
    let place = || Place::file(file).row(row.position().unwrap_or(0) + 1);
    let mut names: Vec<String> = Vec::with_capacity(row.len());
    let mut known = HashSet::new();
    for (at, field) in row.fields().enumerate() {
        let number = (at + 1).to_string();
        let name = match field {
            Field::Text(bytes) if std::str::from_utf8(bytes).is_err() => {
                return Err(not_utf8(place().column(&number)));
            }
            field => field.text().trim().to_owned(),
        };
        let problem = if name.is_empty() && are_chosen {
            names.push(format!("column {number}"));
            continue;
        } else if name.is_empty() {
            "the name of a secret belongs here, and it is blank".to_owned()
        } else if !known.insert(name.clone()) {
            format!("two columns are named `{}`", shorten(&name))
        } else {
            names.push(name);
            continue;
        };
        return Err(
            Error::data(place().column(number), problem).with_hint(format!(
                "with {} row 1 names a secret in every column; if it is data, say {}; if only some columns are secrets, name \
                 them: {}",
                option("wide"),
                setting("header", "absent"),
                setting("secrets", "A,B")
            )),
        );
    }
    Ok(names)
}
