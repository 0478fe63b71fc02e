//! Arrays of NumPy: `.npy` files, and `.npz` files that hold several.
//!
//! A structured array has a column a field; of a plain one, every row is a row of the log. Arrays of an archive stand
//! side by side: each is a column, or several if it has two dimensions. Where all are matrices of one kind, each is a
//! class, and they stand one behind the other.

use std::io::{ErrorKind, Read};

use serde_json::Value;

use super::archive::{Choice, Shape, choose, members};
use super::items::Type;
use crate::format::Format;
use crate::layout::MAX_COLUMNS;
use crate::options::ReadOptions;
use crate::records::Records;
use crate::row::{Field, Row};
use crate::source;
use leakgauge_base::error::{Error, Result, listing};

/// The first bytes of an array.
const MAGIC: &[u8] = b"\x93NUMPY";
/// The first bytes of an archive.
const ARCHIVE: &[u8] = b"PK\x03\x04";

/// The format of a text by its first bytes.
pub(super) fn format_of(head: &[u8]) -> Option<Format> {
    match head {
        _ if head.starts_with(MAGIC) => Some(Format::Npy),
        _ if head.starts_with(ARCHIVE) => Some(Format::Npz),
        _ => None,
    }
}

/// How the items of an array are laid out.
struct Array {
    rows: usize,
    width: usize,
    fields: Vec<(Option<String>, Type)>,
    /// The bytes of an item.
    item: usize,
    is_fortran: bool,
    /// Where items begin in its file.
    start: usize,
}

/// A column of the log: items at equal distances in the bytes of an array.
struct Column {
    name: Option<String>,
    of: Type,
    array: usize,
    offset: usize,
    stride: usize,
    rows: usize,
}

/// Columns side by side, and what class their rows are of where that is the array.
struct Table {
    columns: Vec<Column>,
    rows: usize,
    class: Option<String>,
}

/// A file whose rows are read one by one; the array that is held is one of them.
struct Stream {
    file: Box<dyn Read + Send>,
    rows: usize,
}

/// Arrays side by side, or one behind the other.
pub(super) struct Numpy {
    name: String,
    format: Format,
    arrays: Vec<Vec<u8>>,
    tables: Vec<Table>,
    stream: Option<Stream>,
    /// Arrays of an archive that are no part of the log.
    left_out: Vec<String>,
    /// The table and the row in it that come next.
    next: (usize, usize),
    is_begun: bool,
}

/// What the column of the class is called.
const CLASS: &[u8] = b"secret";
/// The longest header that is read: NumPy itself trusts none beyond 10,000 bytes.
const LONGEST_HEADER: usize = 1 << 20;

impl Numpy {
    /// Reads a file of this format. A single array whose rows stand together is read row by row.
    ///
    /// # Errors
    /// A file that is broken; types that are no numbers or texts; arrays of which it is not clear which are the log.
    pub(super) fn new(
        name: &str,
        format: Format,
        file: Box<dyn Read + Send>,
        options: &ReadOptions,
    ) -> Result<Self> {
        let mut numpy = Numpy {
            name: name.to_owned(),
            format,
            arrays: Vec::new(),
            tables: Vec::new(),
            stream: None,
            left_out: Vec::new(),
            next: (0, 0),
            is_begun: false,
        };
        match format {
            Format::Npy => numpy.open_array(file)?,
            _ => numpy.open_archive(file, options)?,
        }
        Ok(numpy)
    }

    fn open_array(&mut self, mut file: Box<dyn Read + Send>) -> Result<()> {
        let name = self.name.clone();
        let wrong = |problem: String| Error::file(&name, problem);
        let begin = begin(&name, &mut file)?;
        let mut array = Array::of(&begin).map_err(wrong)?;
        let row = array.item * array.width;
        if array.is_fortran || row > source::LONGEST_ROW {
            let mut all = begin;
            all.append(&mut source::whole(&name, file, source::on_disk(&name))?);
            array.check_length(&all).map_err(wrong)?;
            self.arrays.push(all);
        } else {
            array.start = 0;
            self.arrays.push(vec![0; row]);
            self.stream = Some(Stream {
                file,
                rows: array.rows,
            });
        }
        let mut columns = array.columns(None, 0);
        if self.stream.is_some() {
            columns.iter_mut().for_each(|column| column.stride = 0);
        }
        self.tables.push(Table {
            columns,
            rows: array.rows,
            class: None,
        });
        Ok(())
    }

    fn open_archive(&mut self, file: Box<dyn Read + Send>, options: &ReadOptions) -> Result<()> {
        let name = self.name.clone();
        let on_disk = source::on_disk(&name);
        let bytes = source::whole(&name, file, on_disk)?;
        let members = members(bytes, on_disk).map_err(|problem| Error::file(&name, problem))?;
        let (names, files): (Vec<String>, Vec<Vec<u8>>) = members.into_iter().unzip();
        let found: Vec<std::result::Result<Array, String>> =
            files.iter().map(|file| Array::whole(file)).collect();
        let of = |found: &std::result::Result<Array, String>| {
            let fields = found.as_ref().map(|array| &array.fields);
            fields.map_or_else(|_| String::new(), |fields| format!("{fields:?}"))
        };
        let shapes = names.iter().zip(&found).map(|(name, found)| Shape {
            name,
            size: found
                .as_ref()
                .map(|array| (array.rows, array.width * array.fields.len()))
                .map_err(String::as_str),
            of: of(found),
        });
        let choice = choose(&name, &shapes.collect::<Vec<_>>(), options)?;
        self.arrays = files;
        let rows_of = |at: usize| found[at].as_ref().map_or(0, |array| array.rows);
        let columns_of = |at: usize, name: Option<&str>| {
            let array = found[at].as_ref();
            array.map_or_else(|_| Vec::new(), |array| array.columns(name, at))
        };
        match choice {
            Choice::Classes => {
                self.tables = (0..names.len())
                    .map(|at| Table {
                        columns: columns_of(at, None),
                        rows: rows_of(at),
                        class: Some(names[at].clone()),
                    })
                    .collect();
            }
            Choice::Beside(kept) => {
                let others = (0..names.len()).filter(|at| !kept.contains(at));
                self.left_out = others.map(|at| names[at].clone()).collect();
                let columns = kept.iter().flat_map(|&at| columns_of(at, Some(&names[at])));
                self.tables.push(Table {
                    columns: columns.collect(),
                    rows: kept.iter().map(|&at| rows_of(at)).max().unwrap_or(0),
                    class: None,
                });
            }
        }
        Ok(())
    }

    /// Reads the row of a stream that comes next, and demands the end behind the last.
    fn advance(&mut self, at: usize) -> Result<()> {
        let Some(stream) = &mut self.stream else {
            return Ok(());
        };
        let wrong = |problem: &str| Error::file(&self.name, problem);
        if at < stream.rows {
            let read = stream.file.read_exact(&mut self.arrays[0]);
            return read.map_err(|error| match error.kind() {
                ErrorKind::UnexpectedEof => wrong(&format!(
                    "is not as long as its header says: it has {at} of {} rows",
                    stream.rows
                )),
                _ => source::read_error(&self.name, &error),
            });
        }
        let mut more = [0];
        let more = stream.file.read(&mut more);
        match more.map_err(|error| source::read_error(&self.name, &error))? {
            0 => Ok(()),
            _ => Err(wrong(
                "is not as long as its header says: it goes on behind the last row",
            )),
        }
    }

    fn push(&self, column: &Column, at: usize, row: &mut Row) {
        if at >= column.rows {
            row.push(Field::Missing);
            return;
        }
        let from = column.offset + at * column.stride;
        let bytes = &self.arrays[column.array][from..from + column.of.size];
        column.of.push(bytes, row);
    }

    fn first(&self) -> &[Column] {
        self.tables.first().map_or(&[], |table| &table.columns)
    }

    fn has_classes(&self) -> bool {
        self.tables.iter().any(|table| table.class.is_some())
    }
}

impl Array {
    /// An array whose items are all in its file.
    fn whole(file: &[u8]) -> std::result::Result<Self, String> {
        let array = Array::of(file)?;
        array.check_length(file)?;
        Ok(array)
    }

    fn of(file: &[u8]) -> std::result::Result<Self, String> {
        let (header, start) = header(file)?;
        let shape = shape(&header)?;
        let (rows, width) = match shape[..] {
            [rows] => (rows, 1),
            [rows, width] => (rows, width),
            _ => {
                let dimensions = shape.len();
                return Err(format!(
                    "has {dimensions} dimensions, and a log has 1 or 2: rows, and their columns"
                ));
            }
        };
        let fields = fields(&header["descr"])?;
        let columns = width.saturating_mul(fields.len());
        if columns > MAX_COLUMNS {
            return Err(format!("has {columns} columns, more than {MAX_COLUMNS}"));
        }
        let mut sizes = fields.iter().map(|(_, of)| of.size);
        let item = sizes.try_fold(0usize, |sum, size| sum.checked_add(size));
        let item = item.filter(|item| item.checked_mul(width).is_some());
        Ok(Array {
            rows,
            width,
            fields,
            item: item.ok_or_else(|| "has a broken header".to_owned())?,
            is_fortran: header["fortran_order"] == Value::Bool(true),
            start,
        })
    }

    fn check_length(&self, file: &[u8]) -> std::result::Result<(), String> {
        let items = self.rows.checked_mul(self.width);
        match items.and_then(|items| items.checked_mul(self.item)) == Some(file.len() - self.start)
        {
            true => Ok(()),
            false => Err("is not as long as its header says".to_owned()),
        }
    }

    /// Its columns, where it is the array of this number.
    fn columns(&self, name: Option<&str>, array: usize) -> Vec<Column> {
        let mut columns = Vec::with_capacity(self.width * self.fields.len());
        for at in 0..self.width {
            let distance = if self.is_fortran {
                self.rows * self.item
            } else {
                self.item
            };
            let mut offset = self.start + at * distance;
            for (field, of) in &self.fields {
                let names = [name, field.as_deref()];
                let mut name = names.into_iter().flatten().collect::<Vec<_>>().join(".");
                if self.width > 1 && !name.is_empty() {
                    name = format!("{name}[{}]", at + 1);
                }
                columns.push(Column {
                    name: (!name.is_empty()).then_some(name),
                    of: *of,
                    array,
                    offset,
                    stride: if self.is_fortran {
                        self.item
                    } else {
                        self.item * self.width
                    },
                    rows: self.rows,
                });
                offset += of.size;
            }
        }
        columns
    }
}

impl Records for Numpy {
    fn is_named(&self) -> bool {
        self.has_classes() || self.first().iter().any(|column| column.name.is_some())
    }

    fn unnamed(&self) -> Option<usize> {
        (!self.is_named()).then_some(self.first().len())
    }

    fn format(&self) -> Format {
        self.format
    }

    fn delimiter(&self) -> Option<char> {
        None
    }

    fn note(&self) -> Option<String> {
        if self.has_classes() {
            let classes = self
                .tables
                .iter()
                .filter_map(|table| table.class.as_deref());
            let classes = listing(classes.collect::<Vec<_>>().into_iter());
            return Some(format!(
                "The secret of a row is the array that it stands in: {classes}."
            ));
        }
        let left_out = listing(self.left_out.iter().map(String::as_str));
        (!self.left_out.is_empty())
            .then(|| format!("Arrays that have no item for each row are left out: {left_out}."))
    }

    fn next(&mut self, row: &mut Row) -> Result<bool> {
        row.clear();
        if !std::mem::replace(&mut self.is_begun, true) && self.is_named() {
            for (at, column) in self.first().iter().enumerate() {
                match self.has_classes() {
                    true => row.push_text((at + 1).to_string().as_bytes()),
                    false => row.push_text(column.name.as_deref().unwrap_or_default().as_bytes()),
                }
            }
            if self.has_classes() {
                row.push_text(CLASS);
            }
            return Ok(true);
        }
        while self
            .tables
            .get(self.next.0)
            .is_some_and(|table| self.next.1 >= table.rows)
        {
            if self.next.0 + 1 == self.tables.len() {
                self.advance(self.next.1)?;
            }
            self.next = (self.next.0 + 1, 0);
        }
        let (table, at) = self.next;
        if table == self.tables.len() {
            return Ok(false);
        }
        self.advance(at)?;
        let found = &self.tables[table];
        found
            .columns
            .iter()
            .for_each(|column| self.push(column, at, row));
        found
            .class
            .iter()
            .for_each(|class| row.push_text(class.as_bytes()));
        let before = self.tables[..table]
            .iter()
            .map(|table| table.rows)
            .sum::<usize>();
        row.set_position((before + at) as u64);
        self.next.1 += 1;
        Ok(true)
    }
}

/// The beginning of a file up to its items.
fn begin(name: &str, file: &mut impl Read) -> Result<Vec<u8>> {
    let read = |file: &mut dyn Read, bytes: usize| {
        let mut found = Vec::new();
        let taken = file.take(bytes as u64).read_to_end(&mut found);
        taken
            .map(|_| found)
            .map_err(|error| source::read_error(name, &error))
    };
    let mut begin = read(file, 12)?;
    let length = match begin[..] {
        [_, _, _, _, _, _, 1, _, low, high, ..] => {
            usize::from(u16::from_le_bytes([low, high])) + 10
        }
        [_, _, _, _, _, _, 2 | 3, _, a, b, c, d] => u32::from_le_bytes([a, b, c, d]) as usize + 12,
        _ => return Ok(begin),
    };
    let rest = length.saturating_sub(begin.len()).min(LONGEST_HEADER);
    begin.append(&mut read(file, rest)?);
    Ok(begin)
}

/// The header of an array, and where its items begin.
fn header(file: &[u8]) -> std::result::Result<(Value, usize), String> {
    let broken = || "has a broken header".to_owned();
    if !file.starts_with(MAGIC) {
        return Err("is no array of NumPy".to_owned());
    }
    let (length, from) = match (file.get(6).ok_or_else(broken)?, file.get(8..12)) {
        (1, Some(bytes)) => (usize::from(u16::from_le_bytes([bytes[0], bytes[1]])), 10),
        (2 | 3, Some(&[a, b, c, d])) => (u32::from_le_bytes([a, b, c, d]) as usize, 12),
        _ => return Err(broken()),
    };
    let text = file.get(from..from + length).ok_or_else(broken)?;
    let text = std::str::from_utf8(text).map_err(|_| broken())?;
    // A dictionary of Python; names of fields that hold quotes or brackets are not read.
    let json = text
        .replace('\'', "\"")
        .replace('(', "[")
        .replace(')', "]")
        .replace("False", "false")
        .replace("True", "true");
    let compact: String = json.chars().filter(|letter| *letter != '\n').collect();
    let compact = compact
        .replace(", }", "}")
        .replace(",}", "}")
        .replace(",]", "]")
        .replace(", ]", "]");
    let header = serde_json::from_str(compact.trim()).map_err(|_| broken())?;
    Ok((header, from + length))
}

fn shape(header: &Value) -> std::result::Result<Vec<usize>, String> {
    let broken = || "has a broken header".to_owned();
    let lengths = header["shape"].as_array().ok_or_else(broken)?;
    let length = |value: &Value| value.as_u64().and_then(|n| usize::try_from(n).ok());
    let lengths: Option<Vec<usize>> = lengths.iter().map(length).collect();
    lengths.ok_or_else(broken)
}

/// The fields of an item: one without a name, or those of a structure.
fn fields(descr: &Value) -> std::result::Result<Vec<(Option<String>, Type)>, String> {
    match descr {
        Value::String(text) => Ok(vec![(None, Type::parse(text)?)]),
        Value::Array(fields) => fields.iter().map(field).collect(),
        _ => Err("has a broken header".to_owned()),
    }
}

fn field(field: &Value) -> std::result::Result<(Option<String>, Type), String> {
    match field.as_array().map(Vec::as_slice) {
        Some([Value::String(name), Value::String(of)]) => {
            Ok((Some(name.clone()), Type::parse(of)?))
        }
        _ => Err("has fields of fields, which are no columns".to_owned()),
    }
}

#[cfg(test)]
mod tests;
