//! Wide files, as timing tools write them: a column a secret, a cell an observation of it.

use csv::{ByteRecord, Position};
use hashbrown::HashSet;

use crate::format::Format;
use crate::records::{MISSING, NULL, Records};
use crate::rows::{not_utf8, place_of};
use crate::{HeaderChoice, ReadOptions};
use leakgauge_base::error::{Error, Place, Result, shorten};

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
    row: ByteRecord,
    /// The next column of `row`.
    at: usize,
    is_begun: bool,
}

impl Wide {
    /// Takes the names of the secrets from row 1, unless it is said to be data.
    ///
    /// # Errors
    /// Names that are blank or not unlike each other, an unreadable first row.
    pub fn new(name: &str, mut inner: Box<dyn Records>, options: &ReadOptions) -> Result<Self> {
        let mut row = ByteRecord::new();
        let has_rows = inner.next(&mut row)?;
        let header = options.header != HeaderChoice::Absent;
        let secrets = if !has_rows {
            Vec::new()
        } else if header {
            names(name, &row)?
        } else {
            (1..=row.len()).map(|number| number.to_string()).collect()
        };
        Ok(Wide {
            name: name.to_owned(),
            inner,
            ended: vec![None; secrets.len()],
            // A header has been dealt with; data still has to be.
            at: if header { secrets.len() } else { 0 },
            secrets,
            row,
            is_begun: false,
        })
    }

    fn place(&self) -> Place {
        place_of(&self.name, &self.row)
    }

    /// Goes to the next row of the file.
    fn next_row(&mut self) -> Result<bool> {
        if !self.inner.next(&mut self.row)? {
            return Ok(false);
        }
        self.at = 0;
        // Behind the last column nothing belongs to any secret; a short row has blanks there.
        if self.row.len() > self.secrets.len() {
            let (found, expected) = (self.row.len(), self.secrets.len());
            let problem = format!("has {found} fields where {expected} are expected");
            return Err(Error::data(self.place(), problem).with_hint(
                "row 1 has a name for every column, or is said to be data: --no-header",
            ));
        }
        Ok(true)
    }

    /// The observation in a column of the row; `None` if there is none.
    fn cell(&mut self, column: usize) -> Result<Option<&str>> {
        let place = || place_of(&self.name, &self.row).column(&self.secrets[column]);
        let field = self.row.get(column).unwrap_or_default();
        let text = std::str::from_utf8(field).map_err(|_| not_utf8(place()))?;
        let is_blank = matches!(text.trim(), "" | MISSING | NULL);
        match (is_blank, self.ended[column]) {
            (true, None) => {
                self.ended[column] = place().row;
                Ok(None)
            }
            (true, Some(_)) => Ok(None),
            (false, None) => Ok(Some(text)),
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

    fn next(&mut self, record: &mut ByteRecord) -> Result<bool> {
        if self.secrets.is_empty() {
            return Ok(false);
        }
        record.clear();
        if !self.is_begun {
            self.is_begun = true;
            record.extend(COLUMNS);
            return Ok(true);
        }
        loop {
            if self.at == self.secrets.len() && !self.next_row()? {
                return Ok(false);
            }
            while self.at < self.secrets.len() {
                let column = self.at;
                self.at += 1;
                if let Some(text) = self.cell(column)?.map(str::to_owned) {
                    record.push_field(self.secrets[column].as_bytes());
                    record.push_field(text.as_bytes());
                    record.set_position(self.row.position().cloned());
                    return Ok(true);
                }
            }
        }
    }
}

/// An error about an observation, said of the column of the file that it stands in.
pub fn in_its_column(options: &ReadOptions, record: &ByteRecord, mut error: Error) -> Error {
    if options.wide
        && let Error::Data { place, .. } = &mut error
    {
        place.column = Some(String::from_utf8_lossy(&record[0]).into_owned());
    }
    error
}

/// Refuses options about columns that a wide file does not have.
pub fn refuse_others(options: &ReadOptions) -> Result<()> {
    let others = [
        ("--secret", options.secret.is_some()),
        ("--observe", options.observe.is_some()),
        ("--count", options.count.is_some()),
        ("--scores", options.scores.is_some()),
    ];
    if let Some((option, _)) = others.into_iter().find(|(_, is_given)| *is_given) {
        return Err(Error::parameter(
            option,
            "cannot be together with --wide: every column is a secret, every cell an observation",
        )
        .with_hint("leave one of the two options out"));
    }
    if options.keep_order {
        return Err(Error::parameter(
            "--split blocks",
            "a wide log does not say which of its columns was recorded when",
        )
        .with_hint("give one observation a row as they were recorded, or use --split random"));
    }
    Ok(())
}

fn names(file: &str, row: &ByteRecord) -> Result<Vec<String>> {
    let place = || Place::file(file).row(row.position().map_or(0, Position::record) + 1);
    let mut names: Vec<String> = Vec::with_capacity(row.len());
    let mut known = HashSet::new();
    for (at, field) in row.iter().enumerate() {
        let number = (at + 1).to_string();
        let name = std::str::from_utf8(field)
            .map_err(|_| not_utf8(place().column(&number)))?
            .trim();
        let problem = if name.is_empty() {
            "the name of a secret belongs here, and it is blank".to_owned()
        } else if !known.insert(name) {
            format!("two columns are named `{}`", shorten(name))
        } else {
            names.push(name.to_owned());
            continue;
        };
        return Err(Error::data(place().column(number), problem).with_hint(
            "with --wide row 1 names a secret in every column; if it is data, say --no-header",
        ));
    }
    Ok(names)
}
