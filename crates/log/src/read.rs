//! Reading a log from files, from anything that can be read, or from rows.

use std::io::Read;

use crate::files::documents_beside;
use crate::filtered::filtered;
use crate::ingest::{Ingest, Part};
use crate::labeled::labeled;
use crate::log::Log;
use crate::open;
use crate::options::ReadOptions;
use crate::partitions;
use crate::recognize::{recognize, shape};
use crate::records::Records;
use crate::source::{self, ReadMeter};
use crate::unchanged::Unchanged;
use leakgauge_base::error::Result;

/// Reads a log.
///
/// # Errors
/// Anything wrong with a file or its content, with file, row, column and value; a file that changes meanwhile.
pub fn read(options: &ReadOptions, meter: &ReadMeter) -> Result<Log> {
    options.check()?;
    let files = || {
        let all = options.files.iter().chain(&options.fit_on);
        let apart = options.secret_from.iter();
        all.chain(apart.filter(|_| !options.is_file_a_secret()))
    };
    let meter = &meter.expecting(files());
    let unchanged = Unchanged::watch(files());
    let first = &options.files[0];
    let records = partitions::open(first, meter, options)?;
    let apart = options.secret_from.as_ref();
    let apart = apart.map(|file| format!("The secrets are those of {file}."));
    let (records, options) = with_secrets(first, records, (meter, options))?;
    let note = partitions::note(&*records, &options).or(apart);
    let beside = documents_beside(&options.directories);
    let found = recognize(first, records, &options, true)?;
    let (options, form) = (&found.options, found.form);
    options.check()?;
    let mut ingest = Ingest::new(options);
    ingest.recognized(form);
    let notes = note.into_iter().chain(beside);
    notes.for_each(|note| ingest.note(note));
    ingest.file(first, Part::Log, found.records)?;
    let others = options.files[1..].iter().map(|file| (file, Part::Log));
    let fit_on = options.fit_on.iter().map(|file| (file, Part::FitOn));
    for (file, part) in others.chain(fit_on) {
        let records = filtered(file, partitions::open(file, meter, options)?, options);
        ingest.file(file, part, shape(file, records, options, form)?)?;
    }
    unchanged.check()?;
    ingest.finish()
}

/// The rows with their secrets, where these have a file of their own, and the options that say where they are.
fn with_secrets(
    log: &str,
    records: Box<dyn Records>,
    (meter, options): (&ReadMeter, &ReadOptions),
) -> Result<(Box<dyn Records>, ReadOptions)> {
    let mut options = options.clone();
    if options.is_file_a_secret() {
        return Ok((records, options));
    }
    let Some(file) = options.secret_from.take() else {
        return Ok((records, options));
    };
    let (records, column) = labeled(log, records, &file, (meter, &options))?;
    options.secret = Some(column.to_string());
    Ok((records, options))
}

/// Reads a log from anything that can be read; `options.files` and `options.fit_on` are not looked at.
///
/// ```
/// use leakgauge_log::{ReadOptions, read_from};
///
/// let log = read_from("example", "secret,time\na,1.5\nb,2.5\n".as_bytes(), &ReadOptions::default())?;
/// assert_eq!(log.secrets, ["a", "b"]);
/// # Ok::<(), leakgauge_base::error::Error>(())
/// ```
///
/// # Errors
/// As [`read`].
pub fn read_from(
    name: &str,
    input: impl Read + Send + 'static,
    options: &ReadOptions,
) -> Result<Log> {
    let options = ReadOptions {
        files: vec![name.to_owned()],
        fit_on: None,
        ..options.clone()
    };
    options.check()?;
    let input = source::unpack(name, input, &ReadMeter::default())?;
    let found = recognize(name, open::open(name, input, &options)?, &options, true)?;
    found.options.check()?;
    let mut ingest = Ingest::new(&found.options);
    ingest.recognized(found.form);
    ingest.file(name, Part::Log, found.records)?;
    ingest.finish()
}

/// Reads a log from rows of any source; `options.files` and `options.fit_on` are not looked at. The types of
/// columns are found out from the first rows, unless the options say what they are. The name stands for the
/// source in messages and in the report.
///
/// # Errors
/// As [`read`].
pub fn read_records(name: &str, records: Box<dyn Records>, options: &ReadOptions) -> Result<Log> {
    read_both((name, records), None, options)
}

/// As [`read_records`], with the rows of a second log to learn and tune on. Its columns are those of the first.
///
/// # Errors
/// As [`read`].
pub fn read_both(
    (name, records): (&str, Box<dyn Records>),
    fit_on: Option<(&str, Box<dyn Records>)>,
    options: &ReadOptions,
) -> Result<Log> {
    let options = ReadOptions {
        files: vec![name.to_owned()],
        fit_on: fit_on.as_ref().map(|(name, _)| (*name).to_owned()),
        ..options.clone()
    };
    options.check()?;
    let records = shape(name, filtered(name, records, &options), &options, None)?;
    let mut ingest = Ingest::new(&options);
    ingest.file(name, Part::Log, records)?;
    if let Some((name, records)) = fit_on {
        let records = shape(name, filtered(name, records, &options), &options, None)?;
        ingest.file(name, Part::FitOn, records)?;
    }
    ingest.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Format;
    use crate::number::Number;
    use crate::row::{Field, Row};

    /// Rows that hold numbers in binary, as columnar formats do.
    struct Typed {
        rows: std::vec::IntoIter<Vec<Field<'static>>>,
    }

    impl Records for Typed {
        fn is_named(&self) -> bool {
            true
        }

        fn format(&self) -> Format {
            Format::Delimited
        }

        fn delimiter(&self) -> Option<char> {
            Some(',')
        }

        fn next(&mut self, row: &mut Row) -> Result<bool> {
            row.clear();
            let fields = self.rows.next();
            fields.iter().flatten().for_each(|&field| row.push(field));
            Ok(fields.is_some())
        }
    }

    /// A log whose fields are numbers in binary, and the same as text.
    fn both(rows: &[[Number; 4]], options: &ReadOptions) -> [Result<Log>; 2] {
        let names = ["secret", "x", "y", "n"];
        let mut text = names.join(",") + "\n";
        let mut typed = vec![names.map(|name| Field::Text(name.as_bytes())).to_vec()];
        for row in rows {
            text += &(row.map(|number| number.to_string()).join(",") + "\n");
            typed.push(row.map(Field::Number).to_vec());
        }
        let typed = Typed {
            rows: typed.into_iter(),
        };
        [
            read_records("log", Box::new(typed), options),
            read_from("log", std::io::Cursor::new(text), options),
        ]
    }

    fn rows() -> Vec<[Number; 4]> {
        let row = |at: i64| {
            [
                Number::Float([-0.0, 1.5, 1e21][at as usize % 3]),
                Number::Float((at * 37 % 101) as f64 / 8.0 - 3.0),
                Number::Integer(at % 4 - 1),
                Number::Unsigned(at as u64 % 5),
            ]
        };
        (0..12_000).map(row).collect()
    }

    #[test]
    fn numbers_mean_what_their_shortest_texts_mean() {
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let options = ReadOptions::default;
        for options in [
            options(),
            ReadOptions {
                count: Some("n".into()),
                ..options()
            },
            ReadOptions {
                secret: Some("secret,y".into()),
                ..options()
            },
            ReadOptions {
                categorical: names(&["x", "n"]),
                numeric: names(&["y"]),
                ..options()
            },
            ReadOptions {
                resolution: vec![("x".into(), 0.5)],
                secrets: names(&["-0", "1.5"]),
                ..options()
            },
        ] {
            let [typed, text] = both(&rows(), &options).map(Result::unwrap);
            assert_eq!(typed.secrets, text.secrets);
            assert_eq!(typed.left_out, text.left_out);
            assert_eq!(typed.counts, text.counts);
            let found = |log: &Log| {
                let mut facts = log.facts.clone();
                facts.header_detected = false;
                format!("{facts:?} {:?} {:?}", log.observations, log.order)
            };
            assert_eq!(found(&typed), found(&text));
        }
    }

    #[test]
    fn numbers_that_are_refused_are_refused_alike() {
        for (column, number) in [
            (1, Number::Float(f64::NAN)),
            (1, Number::Float(f64::NEG_INFINITY)),
            (3, Number::Float(0.5)),
            (3, Number::Integer(-1)),
            (3, Number::Float(1e17)),
        ] {
            let mut rows = rows();
            rows[7][column] = number;
            let options = ReadOptions {
                count: Some("n".into()),
                ..ReadOptions::default()
            };
            // Rows of a table without positions have no place of their own.
            let [typed, text] = both(&rows, &options).map(|log| log.unwrap_err().to_string());
            assert_eq!(typed, text.replace(", row 9", ""), "{number}");
        }
    }
}
