//! Errors that a user can cause. Each says what is wrong, where, and what to do about it.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::{fmt, io};

use crate::credentials::without_credentials;
use crate::naming;

/// The result of a function that reads what a user wrote.
pub type Result<T> = std::result::Result<T, Error>;

/// Where in a file a problem is. Rows are counted from 1 and include the header. Blank lines do not count;
/// a row with a quoted line break counts once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// The file as the user named it; `-` is standard input.
    pub file: String,
    /// The row of the file, from 1.
    pub row: Option<u64>,
    /// The column, by name or number.
    pub column: Option<String>,
    /// The text found there, at most 60 characters of it.
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

    /// The same place, with the text found there, shortened to 60 characters.
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

/// What a user of the program or of the library got wrong. The program prints it and exits with code 2.
///
/// The variants tell the causes apart; more may follow. [`Display`](fmt::Display) gives the whole message:
/// where, what, and on a second line what to do. Two errors are equal if they have the same variant and the
/// same message.
///
/// ```
/// use leakgauge_base::error::{Error, Place};
/// use leakgauge_base::grammar::Call;
///
/// let wrong = Call::parse("laplace(scale=)").unwrap_err();
/// assert!(matches!(wrong, Error::Grammar { character: 15, .. }));
///
/// let place = Place::file("log.csv").row(17).column("time").value("NaN");
/// let error = Error::data(place, "not a finite number").with_hint("remove the row");
/// assert_eq!(error.problem(), "not a finite number");
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be opened, read or written, or its content as a whole is unusable.
    #[non_exhaustive]
    File {
        /// The file as the user named it; `-` is standard input.
        file: String,
        /// What went wrong.
        problem: String,
        /// What to do about it.
        hint: Option<String>,
        /// The error of the operating system, if that was the cause; also
        /// [`source`](std::error::Error::source).
        source: Option<Arc<io::Error>>,
    },
    /// One row, column or value of a file is wrong.
    #[non_exhaustive]
    Data {
        /// File, row, column, value.
        place: Box<Place>,
        /// What went wrong.
        problem: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// An option has a value that it cannot have, lacks one, or does not go with another option.
    #[non_exhaustive]
    Option {
        /// The name of its field, such as `fit_on`; messages write it as [`naming`] says.
        field: String,
        /// Its value as the user gave it, if the value is the problem.
        value: Option<String>,
        /// What went wrong.
        problem: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// The text of a mechanism or claim is not in the [grammar](crate::grammar).
    #[non_exhaustive]
    Grammar {
        /// The text, shortened.
        text: String,
        /// The character at which reading stopped, from 1.
        character: usize,
        /// What went wrong.
        problem: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// A mechanism or claim is in the grammar, but has a wrong name or a wrong parameter.
    #[non_exhaustive]
    Call {
        /// The mechanism or claim, shortened.
        call: String,
        /// The parameter that is wrong or missing, if it is one parameter.
        parameter: Option<String>,
        /// What went wrong.
        problem: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// Any other argument is invalid.
    #[non_exhaustive]
    Parameter {
        /// The argument, as the user wrote it.
        what: String,
        /// What went wrong.
        problem: String,
        /// What to do about it.
        hint: Option<String>,
    },
}

impl Error {
    /// [`Error::File`] without a cause; [`Error::with_source`] adds one.
    pub fn file(path: impl AsRef<Path>, problem: impl Into<String>) -> Self {
        Error::File {
            file: path.as_ref().display().to_string(),
            problem: problem.into(),
            hint: None,
            source: None,
        }
    }

    /// [`Error::File`] for an error of the operating system, whose text is the problem.
    pub fn io(path: impl AsRef<Path>, source: io::Error) -> Self {
        Error::file(path, source.to_string()).with_source(source)
    }

    /// [`Error::Data`] at a place.
    pub fn data(place: Place, problem: impl Into<String>) -> Self {
        Error::Data {
            place: Box::new(place),
            problem: problem.into(),
            hint: None,
        }
    }

    /// [`Error::Option`] for an option as such: it is missing, or does not go with another.
    pub fn option(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Error::Option {
            field: field.into(),
            value: None,
            problem: problem.into(),
            hint: None,
        }
    }

    /// [`Error::Option`] for the value of an option.
    pub fn setting(
        field: impl Into<String>,
        value: impl fmt::Display,
        problem: impl Into<String>,
    ) -> Self {
        Error::Option {
            field: field.into(),
            value: Some(value.to_string()),
            problem: problem.into(),
            hint: None,
        }
    }

    /// [`Error::Grammar`] at a character, counted from 1.
    pub fn grammar(text: &str, character: usize, problem: impl Into<String>) -> Self {
        Error::Grammar {
            text: shorten(text),
            character,
            problem: problem.into(),
            hint: None,
        }
    }

    /// [`Error::Call`], about one parameter if that is known.
    pub fn call(call: &str, parameter: Option<&str>, problem: impl Into<String>) -> Self {
        Error::Call {
            call: shorten(call),
            parameter: parameter.map(str::to_owned),
            problem: problem.into(),
            hint: None,
        }
    }

    /// [`Error::Parameter`].
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
        let (Error::File { hint, .. }
        | Error::Data { hint, .. }
        | Error::Option { hint, .. }
        | Error::Grammar { hint, .. }
        | Error::Call { hint, .. }
        | Error::Parameter { hint, .. }) = &mut self;
        *hint = Some(text.into());
        self
    }

    /// The same about another option, whose value has the form of the one that was read. Only [`Error::Option`] names
    /// one; other errors stay as they are.
    #[must_use]
    pub fn about(mut self, option: &str) -> Self {
        if let Error::Option { field, .. } = &mut self {
            option.clone_into(field);
        }
        self
    }

    /// The same error with the error of the operating system that caused it. Only [`Error::File`] holds one;
    /// other errors stay as they are.
    #[must_use]
    pub fn with_source(mut self, cause: io::Error) -> Self {
        if let Error::File { source, .. } = &mut self {
            *source = Some(Arc::new(cause));
        }
        self
    }

    /// What went wrong, without place and hint.
    pub fn problem(&self) -> &str {
        let (Error::File { problem, .. }
        | Error::Data { problem, .. }
        | Error::Option { problem, .. }
        | Error::Grammar { problem, .. }
        | Error::Call { problem, .. }
        | Error::Parameter { problem, .. }) = self;
        problem
    }

    /// What to do about it, if that is known.
    pub fn hint(&self) -> Option<&str> {
        let (Error::File { hint, .. }
        | Error::Data { hint, .. }
        | Error::Option { hint, .. }
        | Error::Grammar { hint, .. }
        | Error::Call { hint, .. }
        | Error::Parameter { hint, .. }) = self;
        hint.as_deref()
    }

    /// What the problem is about, as messages write it.
    fn subject(&self) -> String {
        match self {
            Error::File { file, .. } => file_name(file).into_owned(),
            Error::Data { place, .. } => place.to_string(),
            Error::Option { field, value, .. } => {
                let name = match value {
                    None => naming::option(field),
                    Some(value) => naming::setting(field, value),
                };
                visible(&name).into_owned()
            }
            Error::Grammar { text: what, .. }
            | Error::Call { call: what, .. }
            | Error::Parameter { what, .. } => visible(what).into_owned(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |text: &str| without_long_words(&without_credentials(&visible(text)));
        let (subject, problem) = (self.subject(), self.problem());
        write!(f, "{}: {}", shown(&subject), shown(problem))?;
        match self.hint() {
            Some(hint) => write!(f, "\n  hint: {}", shown(hint)),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::File {
                source: Some(source),
                ..
            } => Some(&**source),
            _ => None,
        }
    }
}

impl PartialEq for Error {
    fn eq(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
            && self.to_string() == other.to_string()
    }
}

impl Eq for Error {}

fn file_name(file: &str) -> Cow<'_, str> {
    match file {
        "-" => "standard input".into(),
        _ => visible(file),
    }
}

/// Whether a terminal acts on a character or shows others elsewhere: control characters, separators of lines, and marks
/// that change the direction of text.
pub fn acts_on_terminal(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Where a text has the first letter that a terminal acts on.
pub fn first_acting_on_terminal(text: &str) -> Option<usize> {
    // Most texts are plain, which is seen at once.
    let is_plain = text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    if is_plain {
        None
    } else {
        text.find(acts_on_terminal)
    }
}

/// The text with control characters escaped as in Rust, `\u{1b}`. A log is not trusted: written to a terminal
/// as it is, its text could move the cursor or hide what follows.
pub fn visible(text: &str) -> Cow<'_, str> {
    if first_acting_on_terminal(text).is_none() {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        if acts_on_terminal(letter) {
            shown.extend(letter.escape_default());
        } else {
            shown.push(letter);
        }
    }
    shown.into()
}

/// Names separated by commas: the first 30, and how many there are if there are more.
pub fn listing<'n>(names: impl ExactSizeIterator<Item = &'n str>) -> String {
    const MAX_NAMES: usize = 30;
    let all = names.len();
    let mut items: Vec<String> = names.take(MAX_NAMES).map(shorten).collect();
    if all > MAX_NAMES {
        items.push(format!("… {all} in all"));
    }
    items.join(", ")
}

/// Names of files separated by commas; of more than four, the first two and the last.
pub fn file_listing(files: &[String]) -> String {
    match files {
        [first, second, .., last] if files.len() > 4 => {
            format!("{first}, {second}, … {last} ({} files)", files.len())
        }
        _ => files.join(", "),
    }
}

/// The longest word that a message has whole: as long as the name of a file may be.
const LONGEST_WORD: usize = 255;

/// The text with words of more than 255 characters cut, which nobody reads: labels of kilobytes, numbers of hundreds of
/// digits. A path is a word for each of its names.
pub fn without_long_words(text: &str) -> String {
    if text.len() <= LONGEST_WORD {
        return text.to_owned();
    }
    let words = text.split_inclusive(|letter: char| letter.is_whitespace() || letter == '/');
    words
        .map(|word| match word.char_indices().nth(LONGEST_WORD) {
            None => word.to_owned(),
            Some(_) => {
                let end = word.chars().next_back();
                let end = end.filter(|end| end.is_whitespace() || *end == '/');
                let kept = word.chars().take(60 - 1);
                kept.chain(['…']).chain(end).collect()
            }
        })
        .collect()
}

/// The text, or its first 59 characters and `…` if it has more than 60.
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
    fn long_words_of_messages_are_cut() {
        let long = "x".repeat(5_000);
        let error = Error::parameter(
            format!("--unit {long}"),
            format!("{long} is\n{long}/{long}"),
        )
        .with_hint(format!("not {long}"));
        let text = error.to_string();
        assert!(text.len() < 500, "{text}");
        assert!(
            text.starts_with("--unit xxx") && text.contains("… is"),
            "{text}"
        );
        let path = vec!["n".repeat(200); 10].join("/");
        assert_eq!(without_long_words(&path), path);
        let name = "é".repeat(255);
        assert_eq!(without_long_words(&name), name);
    }

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
    fn the_cause_of_a_file_error_can_be_matched() {
        let error = Error::io("log.csv", io::ErrorKind::PermissionDenied.into()).with_hint("x");
        let cause = std::error::Error::source(&error.clone())
            .and_then(|source| source.downcast_ref::<io::Error>())
            .map(io::Error::kind);
        assert_eq!(cause, Some(io::ErrorKind::PermissionDenied));
        assert_eq!(error.to_string(), "log.csv: permission denied\n  hint: x");
    }

    #[test]
    fn options_and_their_values_are_named_by_field() {
        let error = Error::setting("fit_on", "-", "must be a file").with_hint("save it first");
        assert!(matches!(&error, Error::Option { field, .. } if field == "fit_on"));
        assert_eq!(
            error.to_string(),
            "`fit_on = -`: must be a file\n  hint: save it first"
        );
        assert_ne!(error, Error::option("fit_on", "must be a file"));
    }

    #[test]
    fn control_characters_are_escaped() {
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
