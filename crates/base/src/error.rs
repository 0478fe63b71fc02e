//! What a user can have got wrong, said once and in full: what, where, what to do.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

/// The result of everything in this crate that reads what a user wrote.
pub type Result<T> = std::result::Result<T, Error>;

/// Where in a log a problem was found. Rows are counted from 1 and include the header; blank lines are
/// not rows, and a row with a quoted line break is one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// The file as the user named it; `-` is standard input.
    pub file: String,
    /// The row of the file, from 1.
    pub row: Option<u64>,
    /// The column, by name or number.
    pub column: Option<String>,
    /// The offending text.
    pub value: Option<String>,
}

impl Place {
    /// A place that is a whole file.
    pub fn file(file: impl Into<String>) -> Self {
        Place {
            file: file.into(),
            ..Place::default()
        }
    }

    /// The same place, at a row.
    #[must_use]
    pub fn row(mut self, row: u64) -> Self {
        self.row = Some(row);
        self
    }

    /// The same place, at a column.
    #[must_use]
    pub fn column(mut self, column: impl Into<String>) -> Self {
        self.column = Some(column.into());
        self
    }

    /// The same place, with the text found there.
    #[must_use]
    pub fn value(mut self, value: impl AsRef<str>) -> Self {
        self.value = Some(shorten(value.as_ref()));
        self
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&file_name(&self.file))?;
        if let Some(row) = self.row {
            write!(f, ", row {row}")?;
        }
        if let Some(column) = &self.column {
            write!(f, ", column {}", shorten(&visible(column)))?;
        }
        if let Some(value) = &self.value {
            write!(f, ", value {value:?}")?;
        }
        Ok(())
    }
}

/// A problem with the data or the command line. The program answers it with exit code 2.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A file that cannot be opened or read.
    #[error("{}: {}{}", file_name(file), visible(problem), hint_line(hint))]
    File {
        /// The file as the user named it.
        file: String,
        /// What went wrong.
        problem: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// A log whose content is wrong.
    #[error("{place}: {}{}", visible(problem), hint_line(hint))]
    Data {
        /// File, row, column, value.
        place: Box<Place>,
        /// What went wrong.
        problem: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// An option, claim or mechanism that cannot be.
    #[error("{}: {}{}", visible(what), visible(problem), hint_line(hint))]
    Parameter {
        /// The option or text that is wrong, as the user wrote it.
        what: String,
        /// What went wrong.
        problem: String,
        /// What to do about it.
        hint: Option<String>,
    },
}

impl Error {
    /// A file that cannot be opened or read.
    pub fn file(path: impl AsRef<Path>, problem: impl Into<String>) -> Self {
        Error::File {
            file: path.as_ref().display().to_string(),
            problem: problem.into(),
            hint: None,
        }
    }

    /// A log whose content is wrong, at a place.
    pub fn data(place: Place, problem: impl Into<String>) -> Self {
        Error::Data {
            place: Box::new(place),
            problem: problem.into(),
            hint: None,
        }
    }

    /// An option, claim or mechanism that cannot be.
    pub fn parameter(what: impl Into<String>, problem: impl Into<String>) -> Self {
        Error::Parameter {
            what: what.into(),
            problem: problem.into(),
            hint: None,
        }
    }

    /// The same error, with what to do about it.
    #[must_use]
    pub fn with_hint(mut self, text: impl Into<String>) -> Self {
        let (Error::File { hint, .. } | Error::Data { hint, .. } | Error::Parameter { hint, .. }) =
            &mut self;
        *hint = Some(text.into());
        self
    }
}

fn hint_line(hint: &Option<String>) -> String {
    hint.as_ref()
        .map_or_else(String::new, |hint| format!("\n  hint: {}", visible(hint)))
}

fn file_name(file: &str) -> Cow<'_, str> {
    match file {
        "-" => "standard input".into(),
        _ => visible(file),
    }
}

/// A text without characters that a terminal acts on instead of showing: they are written as Rust
/// writes them, `\u{1b}`. A log is not the user's own text.
pub fn visible(text: &str) -> Cow<'_, str> {
    // Beside control characters, those that break a line or reorder what follows.
    let acts = |letter: char| {
        letter.is_control() || matches!(letter, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(acts) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        if acts(letter) {
            shown.extend(letter.escape_default());
        } else {
            shown.push(letter);
        }
    }
    shown.into()
}

/// The first names of a list that may be long, separated by commas.
pub fn listing<'n>(names: impl ExactSizeIterator<Item = &'n str>) -> String {
    const MAX_NAMES: usize = 30;
    let all = names.len();
    let mut items: Vec<String> = names.take(MAX_NAMES).map(shorten).collect();
    if all > MAX_NAMES {
        items.push(format!("… {all} in all"));
    }
    items.join(", ")
}

/// The files of a log, which may be many.
pub fn file_listing(files: &[String]) -> String {
    match files {
        [first, second, .., last] if files.len() > 4 => {
            format!("{first}, {second}, … {last} ({} files)", files.len())
        }
        _ => files.join(", "),
    }
}

/// At most 60 characters of a text: a message must stay a message.
pub fn shorten(text: &str) -> String {
    const MAX_LENGTH: usize = 60;
    if text.chars().count() <= MAX_LENGTH {
        return text.to_owned();
    }
    text.chars().take(MAX_LENGTH - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_where_and_what_to_do() {
        let place = Place::file("log.csv").row(17).column("time").value("NaN");
        let error = Error::data(place, "not a finite number").with_hint("remove the row");
        assert_eq!(
            error.to_string(),
            "log.csv, row 17, column time, value \"NaN\": not a finite number\n  hint: remove the row"
        );
    }

    #[test]
    fn what_a_terminal_would_act_on_is_written_out() {
        let place = Place::file("a\nb").column("\u{1b}[31mred").value("\u{7}");
        let error = Error::data(place, "is not \u{9b}2J a number").with_hint("ask \u{202e}eht");
        assert_eq!(
            error.to_string(),
            "a\\nb, column \\u{1b}[31mred, value \"\\u{7}\": is not \\u{9b}2J a number\n  hint: ask \\u{202e}eht"
        );
        assert_eq!(visible("naïve 时间 🙂"), "naïve 时间 🙂");
    }

    #[test]
    fn long_values_are_cut_at_a_character() {
        let place = Place::file("-").value("é".repeat(500));
        assert!(place.value.unwrap().chars().count() == 60);
    }
}
