//! Trace sets of Riscure's Inspector (`.trs`): a header of tags, lengths and values, then traces of equal length, each
//! its title, the data of the device, and samples.
//!
//! Rows are traces, and their columns the samples. Of what stands beside them (title, bytes of the data, parameters)
//! only what an option names is a column: it says what the device was given, which is no observation.

use std::io::{ErrorKind, Read};

use super::items::{Kind, Type};
use crate::format::Format;
use crate::layout::MAX_COLUMNS;
use crate::options::ReadOptions;
use crate::records::Records;
use crate::row::Row;
use crate::source;
use crate::unpack::without_packing;
use leakgauge_base::error::{Error, Result, listing, shorten};
use leakgauge_base::naming::{option, setting};

/// Tags of the header: numbers of traces and samples, how samples are coded, bytes of data and of the title, the end of
/// the header, what the parameters of a trace are.
const TRACES: u8 = 0x41;
const SAMPLES: u8 = 0x42;
const CODING: u8 = 0x43;
const DATA: u8 = 0x44;
const TITLE: u8 = 0x45;
const END: u8 = 0x5f;
const PARAMETERS: u8 = 0x77;
/// The longest value that is kept.
const LONGEST: u64 = 1 << 20;

/// Where a column stands in a trace.
struct Column {
    name: String,
    offset: usize,
    of: Type,
}

/// A trace set, trace by trace.
pub(super) struct TraceSet {
    name: String,
    file: Box<dyn Read + Send>,
    traces: usize,
    read: usize,
    trace: Vec<u8>,
    columns: Vec<Column>,
    is_begun: bool,
}

/// Whether a file is a trace set: by its ending, and zeros, which no text has.
pub(super) fn is_trace_set(name: &str, head: &[u8]) -> bool {
    without_packing(name).ends_with(".trs") && head.contains(&0)
}

/// What the header says.
#[derive(Default)]
struct Header {
    traces: usize,
    samples: usize,
    coding: u8,
    data: usize,
    title: usize,
    parameters: Option<Vec<u8>>,
}

impl TraceSet {
    /// Reads the header.
    ///
    /// # Errors
    /// A header that is broken; no option that says what the secret is.
    pub(super) fn new(
        name: &str,
        mut file: Box<dyn Read + Send>,
        options: &ReadOptions,
    ) -> Result<Self> {
        let wrong = |problem: String| Error::file(name, problem);
        let header = Header::read(&mut file).map_err(wrong)?;
        let kind = match header.coding {
            1 | 2 | 4 => Kind::Signed,
            0x14 => Kind::Float,
            other => {
                return Err(wrong(format!(
                    "has samples of the unknown coding {other:#04x}"
                )));
            }
        };
        let size = usize::from(header.coding & 0xf);
        if !(1..=MAX_COLUMNS).contains(&header.samples) {
            let samples = header.samples;
            return Err(wrong(format!(
                "has traces of {samples} samples, and 1 to {MAX_COLUMNS} are read"
            )));
        }
        let from = header.title + header.data;
        let length = from + header.samples * size;
        if length > source::LONGEST_ROW || header.data > MAX_COLUMNS {
            return Err(wrong(format!(
                "has traces of {length} bytes, which is too much"
            )));
        }
        let sample = |at: usize| column((at + 1).to_string(), from + at * size, kind, size);
        let mut columns: Vec<Column> = (0..header.samples).map(sample).collect();
        let beside = header.beside().map_err(wrong)?;
        let names = listing(beside.iter().map(|column| column.name.as_str()));
        let known: Vec<String> = beside.iter().map(|column| column.name.clone()).collect();
        let is_named = |name: &str| {
            options.named_columns().any(|wanted| wanted == name)
                || options.filters.iter().any(|filter| filter.column == name)
        };
        columns.extend(beside.into_iter().filter(|column| {
            is_named(&column.name)
                || (options.secret.is_none() && column.name.eq_ignore_ascii_case("secret"))
        }));
        refuse_without_secret(name, &known, &names, options)?;
        Ok(TraceSet {
            name: name.to_owned(),
            file,
            traces: header.traces,
            read: 0,
            trace: vec![0; length],
            columns,
            is_begun: false,
        })
    }
}

fn column(name: String, offset: usize, kind: Kind, size: usize) -> Column {
    let of = Type {
        kind,
        size,
        is_big: false,
    };
    Column { name, offset, of }
}

/// Asks for the secret, with what may be it.
fn refuse_without_secret(
    name: &str,
    known: &[String],
    names: &str,
    options: &ReadOptions,
) -> Result<()> {
    let may_be = |known: &String| {
        options
            .secret
            .as_ref()
            .map_or(known.eq_ignore_ascii_case("secret"), |secret| {
                secret == known
            })
    };
    let is_number = |secret: &String| secret.parse::<usize>().is_ok();
    if options.secret_from.is_some()
        || known.iter().any(may_be)
        || options.secret.as_ref().is_some_and(is_number)
    {
        return Ok(());
    }
    let problem = match &options.secret {
        Some(secret) => format!(
            "{}: no such part of a trace; ",
            setting("secret", shorten(secret))
        ),
        None => "does not say what the secret is; ".to_owned(),
    } + &format!("beside its samples a trace has {names}");
    let first = known
        .iter()
        .find(|name| *name != "title")
        .map_or("title", String::as_str);
    Err(Error::file(name, problem).with_hint(format!(
        "name it with {}, or a file of secrets with {}",
        setting("secret", format!("'{}'", shorten(first))),
        option("secret_from")
    )))
}

impl Header {
    fn read(file: &mut impl Read) -> std::result::Result<Self, String> {
        let mut header = Header::default();
        loop {
            let [tag, length] = bytes(file)?;
            let length = match length {
                0..0x80 => u64::from(length),
                // So many bytes with the length follow.
                _ => {
                    let value = value(file, u64::from(length & 0x7f))?;
                    number(&value)? as u64
                }
            };
            if tag == END {
                return Ok(header);
            }
            let is_known = matches!(tag, TRACES..=TITLE | PARAMETERS);
            if !is_known {
                let skipped = std::io::copy(&mut file.take(length), &mut std::io::sink());
                if skipped.is_ok_and(|skipped| skipped == length) {
                    continue;
                }
                return Err(broken());
            }
            let value = value(file, length)?;
            match tag {
                TRACES => header.traces = number(&value)?,
                SAMPLES => header.samples = number(&value)?,
                CODING => header.coding = u8::try_from(number(&value)?).unwrap_or(u8::MAX),
                DATA => header.data = number(&value)?,
                TITLE => header.title = number(&value)?,
                _ => header.parameters = Some(value),
            }
        }
    }

    /// What stands beside the samples: the title, and the bytes of the data or the parameters that they are.
    fn beside(&self) -> std::result::Result<Vec<Column>, String> {
        let mut columns = Vec::new();
        if self.title > 0 {
            columns.push(column("title".to_owned(), 0, Kind::Bytes, self.title));
        }
        let Some(parameters) = &self.parameters else {
            let byte = |at: usize| {
                column(
                    format!("data[{}]", at + 1),
                    self.title + at,
                    Kind::Unsigned,
                    1,
                )
            };
            columns.extend((0..self.data).map(byte));
            return Ok(columns);
        };
        let mut rest = &parameters[..];
        let [low, high] = bytes(&mut rest)?;
        for _ in 0..u16::from_le_bytes([low, high]) {
            let [low, high] = bytes(&mut rest)?;
            let name = value(&mut rest, u64::from(u16::from_le_bytes([low, high])))?;
            let name = String::from_utf8_lossy(&name).into_owned();
            let [code, low, high, from_low, from_high] = bytes(&mut rest)?;
            let number = usize::from(u16::from_le_bytes([low, high]));
            let from = usize::from(u16::from_le_bytes([from_low, from_high]));
            let (kind, size, number) = match code {
                1 => (Kind::Unsigned, 1, number),
                2 | 4 | 8 => (Kind::Signed, usize::from(code), number),
                0x14 | 0x18 => (Kind::Float, usize::from(code & 0xf), number),
                0x20 => (Kind::Bytes, number, number.min(1)),
                0x31 => (Kind::Bool, 1, number),
                other => return Err(format!("has a parameter of the unknown type {other:#04x}")),
            };
            if from + number * size > self.data || columns.len() + number > MAX_COLUMNS {
                return Err(broken());
            }
            columns.extend((0..number).map(|at| {
                let name = if number == 1 {
                    name.clone()
                } else {
                    format!("{name}[{}]", at + 1)
                };
                column(name, self.title + from + at * size, kind, size)
            }));
        }
        Ok(columns)
    }
}

fn broken() -> String {
    "has a broken header".to_owned()
}

fn bytes<const N: usize>(file: &mut impl Read) -> std::result::Result<[u8; N], String> {
    let mut found = [0; N];
    file.read_exact(&mut found)
        .map(|()| found)
        .map_err(|_| broken())
}

/// A value that is kept.
fn value(file: &mut impl Read, length: u64) -> std::result::Result<Vec<u8>, String> {
    let mut found = Vec::new();
    let read = file.take(length.min(LONGEST)).read_to_end(&mut found);
    match read {
        Ok(read) if read as u64 == length => Ok(found),
        _ => Err(broken()),
    }
}

/// A number of at most four bytes, the lowest first.
fn number(bytes: &[u8]) -> std::result::Result<usize, String> {
    if bytes.len() > 4 {
        return Err(broken());
    }
    Ok(bytes
        .iter()
        .rev()
        .fold(0, |number, &byte| number << 8 | usize::from(byte)))
}

impl Records for TraceSet {
    fn is_named(&self) -> bool {
        true
    }

    fn format(&self) -> Format {
        Format::TraceSet
    }

    fn delimiter(&self) -> Option<char> {
        None
    }

    fn next(&mut self, row: &mut Row) -> Result<bool> {
        row.clear();
        if !std::mem::replace(&mut self.is_begun, true) {
            self.columns
                .iter()
                .for_each(|column| row.push_text(column.name.as_bytes()));
            return Ok(true);
        }
        let (read, traces) = (self.read, self.traces);
        let wrong = |problem: String| Error::file(&self.name, problem);
        let failed = |error: std::io::Error| source::read_error(&self.name, &error);
        if read == traces {
            return match self.file.read(&mut [0]).map_err(failed)? {
                0 => Ok(false),
                _ => Err(wrong(format!(
                    "goes on behind the {traces} traces of its header"
                ))),
            };
        }
        self.file
            .read_exact(&mut self.trace)
            .map_err(|error| match error.kind() {
                ErrorKind::UnexpectedEof => wrong(format!(
                    "ends behind {read} of the {traces} traces of its header"
                )),
                _ => failed(error),
            })?;
        for Column { offset, of, .. } in &self.columns {
            of.push(&self.trace[*offset..offset + of.size], row);
        }
        row.set_position(read as u64);
        self.read += 1;
        Ok(true)
    }
}

#[cfg(test)]
mod tests;
