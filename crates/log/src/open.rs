//! Opening a log in any format: what a file holds is told by its first bytes and its name.

mod archive;
mod comments;
mod declared;
mod delimited;
mod drawn;
mod exported;
mod foreign;
mod hyperfine;
mod items;
mod json_array;
mod json_columns;
mod json_lines;
mod nested;
mod numpy;
mod prompt_cache;
mod rewritten;
mod trs;

use std::io::{Cursor, Read};

pub(crate) use foreign::is_document;

use crate::format::{Columnar, Format, MAGIC_BYTES};
use crate::objects;
use crate::options::{Opened, ReadOptions};
use crate::records::{PROBE_BYTES, PROBE_ROWS, Records};
use crate::row::{self, Row};
use crate::source::{self, ReadMeter, STDIN};
use delimited::Delimited;
use drawn::Drawn;
use json_array::ArrayLines;
use json_columns::Found;
use json_lines::JsonLines;
use leakgauge_base::error::{Error, Result};
use nested::Unfolded;
use numpy::Numpy;
use trs::TraceSet;

/// A table of numbers that is needed whole, such as a matrix, as delimited text: an array of NumPy as one row a line.
///
/// # Errors
/// Those of [`whole_text`](source::whole_text); an array that is broken or holds no numbers.
pub fn whole_table(name: &str, input: impl Read) -> Result<Vec<u8>> {
    let text = source::whole_text(name, input)?;
    if numpy::format_of(&text) != Some(Format::Npy) {
        return Ok(text);
    }
    let options = ReadOptions::default();
    let mut rows = Numpy::new(name, Format::Npy, Box::new(Cursor::new(text)), &options)?;
    let (mut row, mut table) = (Row::new(), Vec::new());
    while rows.next(&mut row)? {
        table.extend_from_slice(row.joined().as_bytes());
        table.push(b'\n');
    }
    Ok(table)
}

/// Opens what the user named: a file, an object behind a URL, or standard input.
///
/// # Errors
/// A file that cannot be read or is not what it seems; options that do not fit its format.
pub fn open_file(name: &str, meter: &ReadMeter, options: &ReadOptions) -> Result<Box<dyn Records>> {
    if name == STDIN {
        return open(
            name,
            source::unpack(name, std::io::stdin(), meter)?,
            options,
        );
    }
    if objects::is_url(name) {
        return open_object(name, meter, options);
    }
    let file = source::open_file(name, meter)?;
    let file = match options.columnar {
        None => file,
        Some(reader) => match reader.open_file(name, file, meter, options)? {
            Opened::Records(records) => return Ok(records),
            Opened::Other(file) => file,
        },
    };
    open(name, source::unpack(name, file, meter)?, options)
}

/// Opens a log behind a URL: columns in binary by the parts that are needed, everything else as a stream.
///
/// # Errors
/// A build that fetches nothing; an object that cannot be read; as [`open_file`].
fn open_object(name: &str, meter: &ReadMeter, options: &ReadOptions) -> Result<Box<dyn Records>> {
    let object = objects::reader(name, options.objects)?.open(name)?;
    meter.found(object.size());
    let first = object.size().min(MAGIC_BYTES as u64);
    let needs_end = |columnar| matches!(columnar, Columnar::Parquet | Columnar::ArrowFile);
    if let Some(columnar) = options.columnar.filter(|_| first > 0) {
        // A server without ranges can still give a text from its beginning.
        let head = object.ranges(std::slice::from_ref(&(0..first)));
        if let Ok(head) = head
            && Columnar::of(&head.concat()).is_some_and(needs_end)
        {
            return columnar.open_object(name, object, meter, options);
        }
    }
    let mut text = source::unpack(name, object.stream(), meter)?;
    // Where the server gives no parts, the columns cannot be picked.
    let head = source::first_bytes(&mut text, MAGIC_BYTES)
        .map_err(|error| source::read_error(name, &error))?;
    if options.columnar.is_some() && Columnar::of(&head).is_some_and(needs_end) {
        return Err(Error::file(
            name,
            "has columns in binary, and its server gives no parts of a file",
        )
        .with_hint(
            "fetch the file, and name the copy; or serve it with support of range requests",
        ));
    }
    open(name, Box::new(Cursor::new(head).chain(text)), options)
}

/// Opens a text by its name and its first bytes.
///
/// # Errors
/// As [`open_file`].
pub(crate) fn open(
    name: &str,
    mut input: Box<dyn Read + Send>,
    options: &ReadOptions,
) -> Result<Box<dyn Records>> {
    let mut head = Vec::new();
    (&mut input)
        .take(1 << 16)
        .read_to_end(&mut head)
        .map_err(|error| source::read_error(name, &error))?;
    // What is followed is not read to its end, and an object of columns is known there only.
    if json_lines::is_json_lines(name, &head, options.delimiter) {
        match json_columns::find(name, head, &mut input, options.wide)? {
            Found::Lines(lines) => {
                options.refuse_no_header(name, NAMED)?;
                let lines = Box::new(Cursor::new(lines));
                let lines = JsonLines::new(name, lines, options, PROBE_ROWS)?;
                return Ok(Box::new(lines.of_columns()));
            }
            Found::Other(all) => head = all,
        }
    }
    open_behind(name, head, input, options, PROBE_ROWS)
}

/// What JSON holds.
const NAMED: &str = "JSON, whose rows name their fields";

/// What a log with declared columns holds.
const DECLARED: &str = "a line that names its columns";

/// As [`open`], behind what was already read; so many rows may be looked at before the first is given.
///
/// # Errors
/// As [`open_file`].
pub(crate) fn open_behind(
    name: &str,
    head: Vec<u8>,
    input: Box<dyn Read + Send>,
    options: &ReadOptions,
    probe: usize,
) -> Result<Box<dyn Records>> {
    let columnar = Columnar::of(&head);
    if let (Some(Columnar::ArrowStream), Some(reader)) = (columnar, options.columnar) {
        let stream = Box::new(Cursor::new(head).chain(input));
        return reader.open_stream(name, stream, options);
    }
    if let Some(columnar) = columnar {
        return Err(columnar.needs_file(name, options.columnar.is_some()));
    }
    if numpy::format_of(&head).is_some() || trs::is_trace_set(name, &head) {
        return open_matrix(name, head, input, options);
    }
    foreign::refuse(name, &head)?;
    let declared = declared::of(&head).filter(|_| options.delimiter.is_none());
    if let Some(declared) = declared {
        options.refuse_no_header(name, DECLARED)?;
        let (header, separator) = (declared.header(), Some(declared.separator));
        let note = declared.note();
        let rows = declared.rows(Cursor::new(head).chain(input));
        let rows = Delimited::new(name, header, rows, separator);
        return Ok(Box::new(rows.with_header(note)));
    }
    if options.delimiter.is_none() && drawn::is_drawn(&head, is_document(name)) {
        let rows = Box::new(Drawn::new(Cursor::new(head).chain(input)));
        let separator = Some(drawn::DELIMITER);
        return Ok(Box::new(Delimited::new(name, Vec::new(), rows, separator)));
    }
    if !json_lines::is_json_lines(name, &head, options.delimiter) {
        return Ok(Box::new(Delimited::new(
            name,
            head,
            input,
            options.delimiter,
        )));
    }
    options.refuse_no_header(name, NAMED)?;
    if prompt_cache::is_audit(&head) {
        let audit = prompt_cache::read(name, Cursor::new(head).chain(input))?;
        return Ok(Box::new(audit));
    }
    if hyperfine::is_export(&head) {
        let export = hyperfine::read(name, Cursor::new(head).chain(input))?;
        return Ok(Box::new(export));
    }
    let begin = head.trim_ascii_start();
    let is_array = begin.starts_with(b"[");
    // An object that is written over many lines is all there is.
    let first = begin.split(|&byte| byte == b'\n').next();
    let is_spread = first.is_some_and(|line| line.trim_ascii() == b"{");
    let text = Cursor::new(head).chain(input);
    let path = nested::Path::default();
    let filters = options.filters.iter().map(|filter| filter.column.as_str());
    let wanted: Vec<String> = options
        .named_columns()
        .chain(filters)
        .map(str::to_owned)
        .collect();
    let lines: Box<dyn Read + Send> = match (is_array, is_spread) {
        (true, _) => Box::new(Unfolded::new(ArrayLines::new(text), path.clone(), wanted)),
        (_, true) => Box::new(Unfolded::new(
            ArrayLines::of_objects(text),
            path.clone(),
            wanted,
        )),
        _ => Box::new(Unfolded::new(text, path.clone(), wanted)),
    };
    let lines = JsonLines::new(name, lines, options, probe)?.unfolded(path);
    Ok(Box::new(match is_array {
        true => lines.of_array(),
        false => lines,
    }))
}

/// Opens arrays of NumPy, or a trace set.
fn open_matrix(
    name: &str,
    head: Vec<u8>,
    input: Box<dyn Read + Send>,
    options: &ReadOptions,
) -> Result<Box<dyn Records>> {
    let format = numpy::format_of(&head);
    let file = Box::new(Cursor::new(head).chain(input));
    Ok(match format {
        Some(format) => Box::new(Numpy::new(name, format, file, options)?),
        None => Box::new(TraceSet::new(name, file, options)?),
    })
}

/// The first rows of a source, at most `most`. All their texts are UTF-8.
///
/// # Errors
/// A row that cannot be read.
pub fn read_probe(name: &str, records: &mut dyn Records, most: usize) -> Result<Vec<Row>> {
    read_probe_or(name, records, most, &mut Err)
}

/// As [`read_probe`]; a row that cannot be read is left out if `skip` accepts its error.
///
/// # Errors
/// An error that `skip` gives back.
pub(crate) fn read_probe_or(
    name: &str,
    records: &mut dyn Records,
    most: usize,
    skip: &mut dyn FnMut(Error) -> Result<()>,
) -> Result<Vec<Row>> {
    let mut probe = Vec::new();
    let mut bytes = 0;
    let mut row = Row::new();
    while probe.len() < most && bytes < PROBE_BYTES {
        match records.next(&mut row) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) if records.resumes() => {
                skip(error)?;
                continue;
            }
            Err(error) => return Err(error),
        }
        bytes += row.bytes();
        if let Some(column) = row.not_utf8() {
            let column = (column + 1).to_string();
            skip(row::not_utf8(row.place(name).column(column)))?;
            continue;
        }
        probe.push(row.compact());
    }
    Ok(probe)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::Log;
    use crate::objects::tests::Memory;
    use crate::objects::{ObjectReader, RemoteObject};

    #[derive(Debug)]
    struct Memories;

    impl ObjectReader for Memories {
        fn open(&self, _: &str) -> Result<Arc<dyn RemoteObject>> {
            Ok(Arc::new(Memory(b"secret,o\na,1\nb,2\n")))
        }

        fn expand(&self, url: &str) -> Result<Vec<String>> {
            Ok(vec![url.to_owned()])
        }
    }

    fn read(objects: Option<&'static dyn ObjectReader>) -> Result<Log> {
        let options = ReadOptions {
            files: vec!["s3://bucket/log.csv".into()],
            objects,
            ..ReadOptions::default()
        };
        crate::read(&options, &ReadMeter::default())
    }

    #[test]
    fn a_log_behind_a_url_is_read_through_the_reader_of_objects() {
        assert_eq!(read(Some(&Memories)).unwrap().secrets, ["a", "b"]);
    }

    #[test]
    fn without_a_reader_of_objects_the_feature_is_named() {
        let error = read(None).unwrap_err();
        assert!(
            error
                .problem()
                .contains("this build reads no object stores")
        );
        assert!(error.hint().unwrap().contains("--features object-store"));
        let file = source::open_file("https://host/log.csv", &ReadMeter::default());
        assert!(file.unwrap_err().problem().starts_with("is a URL"));
    }
}
