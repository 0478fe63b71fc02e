//! Reading a log from files, from anything that can be read, or from rows.

use std::io::Read;

use crate::ingest::{Ingest, Part};
use crate::log::Log;
use crate::open;
use crate::options::ReadOptions;
use crate::records::Records;
use crate::source::{self, ReadMeter};
use leakgauge_base::error::Result;

/// Reads a log.
///
/// # Errors
/// Anything wrong with a file or its content, with file, row, column and value.
pub fn read(options: &ReadOptions, meter: &ReadMeter) -> Result<Log> {
    options.check()?;
    let meter = &meter.expecting(options.files.iter().chain(&options.fit_on));
    let mut ingest = Ingest::new(options);
    for file in &options.files {
        let records = open::open_file(file, meter, options)?;
        ingest.file(file, Part::Log, records)?;
    }
    if let Some(file) = &options.fit_on {
        let records = open::open_file(file, meter, options)?;
        ingest.file(file, Part::FitOn, records)?;
    }
    ingest.finish()
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
    let mut ingest = Ingest::new(&options);
    let input = source::unpack(name, input, &ReadMeter::default())?;
    let records = open::open(name, input, &options)?;
    ingest.file(name, Part::Log, records)?;
    ingest.finish()
}

/// Reads a log from rows of any source; `options.files` and `options.fit_on` are not looked at. The types of
/// columns are found out from the first rows, unless the options say what they are. The name stands for the
/// source in messages and in the report.
///
/// # Errors
/// As [`read`].
pub fn read_records(name: &str, records: Box<dyn Records>, options: &ReadOptions) -> Result<Log> {
    let options = ReadOptions {
        files: vec![name.to_owned()],
        fit_on: None,
        ..options.clone()
    };
    options.check()?;
    let records = open::shaped(name, records, &options)?;
    let mut ingest = Ingest::new(&options);
    ingest.file(name, Part::Log, records)?;
    ingest.finish()
}
