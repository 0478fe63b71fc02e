//! Logs in directories: every file below is part of the log, and what the names of its directories say is a column.
//!
//! `logs/day=2026-11-01/user=7/part-0.parquet` below `logs` has the columns `day` and `user` beside those in the file,
//! as Hive, Spark and DuckDB write and read them. Names are decoded from their `%` escapes.

use std::path::Path;

use crate::format::Format;
use crate::layout::looks_like_header;
use crate::objects::is_url;
use crate::open::open_file;
use crate::options::{HeaderChoice, ReadOptions};
use crate::recognize::look_ahead;
use crate::records::Records;
use crate::row::{Field, Row};
use crate::source::ReadMeter;
use crate::unpack::without_packing;
use leakgauge_base::error::{Error, Result, shorten};
use leakgauge_base::naming::setting;

/// What writers put in place of a null.
const NULL_VALUE: &str = "__HIVE_DEFAULT_PARTITION__";

/// Whether a name stands for all files below it: a directory, or a URL that ends in `/`.
pub fn is_directory(name: &str) -> bool {
    match is_url(name) {
        true => name.ends_with('/'),
        false => Path::new(name).is_dir(),
    }
}

/// The columns that the directories of a file stand for, in their order: names, and values, of which a null is `None`.
type Columns = Vec<(String, Option<String>)>;

/// The columns of a file below one of these directories.
fn columns(file: &str, directories: &[String]) -> Result<Columns> {
    let below = directories.iter().filter_map(|directory| {
        let rest = file.strip_prefix(directory.trim_end_matches('/'))?;
        rest.strip_prefix('/')
    });
    // The shortest rest is that of the innermost directory that the user named.
    let Some(below) = below.min_by_key(|rest| rest.len()) else {
        return Ok(Vec::new());
    };
    let mut parts: Vec<&str> = below.split('/').collect();
    parts.pop();
    let named = parts.into_iter().filter_map(|part| part.split_once('='));
    named
        .map(|(name, value)| {
            let value = (value != NULL_VALUE).then(|| decoded(file, value));
            Ok((decoded(file, name)?, value.transpose()?))
        })
        .collect()
}

/// The columns of a file of the log: those of its directories, else its class where each file is one.
fn columns_of_file(file: &str, unnamed: Option<usize>, options: &ReadOptions) -> Result<Columns> {
    let columns = columns(file, &options.directories)?;
    let is_array = unnamed == Some(1) && may_be_class_a_file(options);
    if (columns.is_empty() && is_array) || options.is_file_a_secret() {
        return Ok(vec![("secret".to_owned(), Some(class(file, options)))]);
    }
    Ok(columns)
}

/// Whether each file may be a secret: several arrays of NumPy, which have no names, and no column is said to be the
/// secret. Those of one column have none but their numbers.
fn may_be_class_a_file(options: &ReadOptions) -> bool {
    let is_array = |file: &String| without_packing(file).ends_with(".npy");
    let is_told = options.secret.is_some() || options.wide || options.scores.is_some();
    !is_told
        && options.fit_on.is_none()
        && options.files.len() > 1
        && options.files.iter().all(is_array)
}

/// The name of a file without directories and ending, where no other file has it; else its whole path.
fn class(file: &str, options: &ReadOptions) -> String {
    let stem = |file: &str| {
        let name = without_packing(file).rsplit(['/', '\\']).next();
        let name = name.unwrap_or(file);
        let stem = name.rsplit_once('.').map(|(stem, _)| stem);
        stem.filter(|stem| !stem.is_empty())
            .unwrap_or(name)
            .to_owned()
    };
    let own = stem(file);
    let same = options.files.iter().filter(|other| stem(other) == own);
    if same.count() > 1 {
        file.to_owned()
    } else {
        own
    }
}

/// A name without its `%` escapes.
fn decoded(file: &str, text: &str) -> Result<String> {
    let digit = |byte: u8| (byte as char).to_digit(16);
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escape = match bytes[at..] {
            [b'%', high, low, ..] => digit(high).zip(digit(low)),
            _ => None,
        };
        match escape {
            Some((high, low)) => {
                out.push((16 * high + low) as u8);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8(out).map_err(|_| {
        Error::file(
            file,
            format!("{:?} does not decode to UTF-8", shorten(text)),
        )
    })
}

/// A file of a log in directories, with the columns of its directories behind its own.
pub(crate) struct Partitioned {
    file: String,
    inner: Box<dyn Records>,
    columns: Columns,
    /// Columns of the file that have no names.
    unnamed: Option<usize>,
    is_begun: bool,
}

impl Partitioned {
    /// Refuses a column that stands in the file too.
    fn refuse_twice(&self, names: &Row) -> Result<()> {
        let mut own = self.columns.iter().map(|column| &column.0);
        let Some(name) = own.find(|name| {
            (0..names.len()).any(|at| {
                names
                    .text(at)
                    .is_some_and(|text| text.trim() == name.as_str())
            })
        }) else {
            return Ok(());
        };
        let problem = format!(
            "has a column {:?}, which is also made of the names of files or directories",
            shorten(name)
        );
        Err(Error::file(&self.file, problem)
            .with_hint("rename the one or the other: which of both is meant cannot be told"))
    }
}

impl Records for Partitioned {
    fn is_named(&self) -> bool {
        // The first row gets names, so it has to hold some.
        true
    }

    fn unnamed(&self) -> Option<usize> {
        self.unnamed
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

    fn next(&mut self, row: &mut Row) -> Result<bool> {
        let is_first = !std::mem::replace(&mut self.is_begun, true);
        match self.unnamed.filter(|_| is_first) {
            // Row 1 holds values: columns go by their numbers.
            Some(columns) => {
                row.clear();
                (1..=columns).for_each(|number| row.push_text(number.to_string().as_bytes()));
            }
            None if !self.inner.next(row)? => return Ok(false),
            None => {}
        }
        if is_first {
            self.refuse_twice(row)?;
        }
        for (name, value) in &self.columns {
            row.push(match (is_first, value) {
                (true, _) => Field::Text(name.as_bytes()),
                (false, Some(value)) => Field::Text(value.as_bytes()),
                (false, None) => Field::Null,
            });
        }
        Ok(true)
    }
}

/// The rows of a file with the columns of its directories.
///
/// # Errors
/// Files whose directories stand for other columns than those of the first one; row 1 is said to be data.
fn with_columns(
    file: &str,
    records: Box<dyn Records>,
    unnamed: Option<usize>,
    options: &ReadOptions,
) -> Result<Box<dyn Records>> {
    let Some(first) = options.files.first() else {
        return Ok(records);
    };
    let columns = columns_of_file(file, unnamed, options)?;
    let names = |columns: &Columns| columns.iter().map(|column| column.0.clone()).collect();
    let (own, wanted): (Vec<String>, Vec<String>) = (
        names(&columns),
        names(&columns_of_file(first, unnamed, options)?),
    );
    if own != wanted {
        let list = |names: &[String]| match names {
            [] => "none".to_owned(),
            names => names.join(", "),
        };
        let problem = format!(
            "the names of its directories give other columns ({}) than those of {first} ({})",
            list(&own),
            list(&wanted)
        );
        return Err(Error::file(file, problem)
            .with_hint("all files below a directory need the same column=value directories"));
    }
    if columns.is_empty() {
        return Ok(records);
    }
    if options.header == HeaderChoice::Absent && unnamed.is_none() {
        return Err(Error::parameter(
            setting("header", "absent"),
            format!("the directories of {file} name columns, so its row 1 has to hold names too"),
        ));
    }
    Ok(Box::new(Partitioned {
        file: file.to_owned(),
        inner: records,
        columns,
        unnamed,
        is_begun: false,
    }))
}

/// The rows of a file, and the number of its columns if none of them has a name.
///
/// # Errors
/// A row that cannot be read.
fn with_header_known(
    records: Box<dyn Records>,
    options: &ReadOptions,
) -> Result<(Box<dyn Records>, Option<usize>)> {
    let unnamed = records.unnamed();
    if records.is_named() || unnamed.is_some() || !options.is_file_a_secret() {
        return Ok((records, unnamed));
    }
    let (records, rows) = look_ahead(records)?;
    let Some((first, later)) = rows.split_first() else {
        return Ok((records, None));
    };
    let has_header = match options.header {
        HeaderChoice::Present => true,
        HeaderChoice::Absent => false,
        HeaderChoice::Detect => looks_like_header(first, later, options),
    };
    Ok((records, (!has_header).then_some(first.len())))
}

/// Whether the directories of a file of the log stand for columns.
///
/// # Errors
/// A name whose escapes are wrong.
pub fn has_columns(file: &str, options: &ReadOptions) -> Result<bool> {
    Ok(is_of_log(file, options) && !columns(file, &options.directories)?.is_empty())
}

/// That each file is a secret, for the report.
pub(crate) fn note(records: &dyn Records, options: &ReadOptions) -> Option<String> {
    let is_array = may_be_class_a_file(options)
        && options.directories.is_empty()
        && records.unnamed() == Some(1)
        && records.is_named();
    (is_array || options.is_file_a_secret())
        .then(|| "Each file is a secret, which goes by the name of the file.".to_owned())
}

/// The rows of a file of the log, or of one to learn from, with the columns of its directories.
///
/// # Errors
/// A file that cannot be read; files whose directories stand for different columns; row 1 is said to be data.
pub fn open(file: &str, meter: &ReadMeter, options: &ReadOptions) -> Result<Box<dyn Records>> {
    let records = open_file(file, meter, options)?;
    if !is_of_log(file, options) {
        return Ok(records);
    }
    let (records, unnamed) = with_header_known(records, options)?;
    with_columns(file, records, unnamed, options)
}

/// A file to learn from stands for itself.
fn is_of_log(file: &str, options: &ReadOptions) -> bool {
    options.fit_on.iter().all(|known| known != file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_directories_below_the_one_that_is_named_are_columns() {
        let of = |file: &str, directories: &[&str]| {
            let directories: Vec<String> =
                directories.iter().map(|name| (*name).to_owned()).collect();
            columns(file, &directories).unwrap()
        };
        let some = |name: &str, value: &str| (name.to_owned(), Some(value.to_owned()));
        assert_eq!(
            of("x=1/logs/day=2026-11-01/a%20b=c%3Dd/e=f.csv", &["x=1/logs"]),
            [some("day", "2026-11-01"), some("a b", "c=d")]
        );
        assert_eq!(
            of(
                "s3://bucket/logs/year=2026/part.parquet",
                &["s3://bucket/logs/"]
            ),
            [some("year", "2026")]
        );
        assert_eq!(
            of("logs/k=__HIVE_DEFAULT_PARTITION__/a.csv", &["logs"]),
            [("k".to_owned(), None)]
        );
        assert_eq!(of("logs/k=/a.csv", &["logs/"]), [some("k", "")]);
        // Files that were named themselves, and the inner one of two directories.
        assert!(of("logs/k=1/a.csv", &[]).is_empty());
        assert_eq!(
            of("logs/k=1/j=2/a.csv", &["logs", "logs/k=1"]),
            [some("j", "2")]
        );
        assert!(of("logsk/k=1/a.csv", &["logs"]).is_empty());
        assert!(columns("logs/k=%ff/a.csv", &["logs".to_owned()]).is_err());
    }
}
