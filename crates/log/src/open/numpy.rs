//! Arrays of NumPy: `.npy` files, and `.npz` files that hold several.
//!
//! A structured array has a column a field; of a plain one, every row is a row of the log. Arrays of an archive stand
//! side by side: each is a column, or several if it has two dimensions.

use std::io::{Cursor, Read};

use serde_json::Value;
use zip::ZipArchive;

use crate::format::Format;
use crate::layout::MAX_COLUMNS;
use crate::number::Number;
use crate::records::Records;
use crate::row::{Field, Row};
use crate::source;
use crate::unpack::{may_hold, too_large};
use leakgauge_base::error::{Error, Result, shorten};

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

/// How the items of a column are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bool,
    Signed,
    Unsigned,
    Float,
    /// Bytes, padded with zeros.
    Bytes,
    /// UTF-32, padded with zeros.
    Unicode,
}

/// A type of items: kind, bytes, byte order.
#[derive(Debug, Clone, Copy)]
struct Type {
    kind: Kind,
    size: usize,
    is_big: bool,
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

/// Arrays side by side.
pub(super) struct Numpy {
    format: Format,
    arrays: Vec<Vec<u8>>,
    columns: Vec<Column>,
    rows: usize,
    at: usize,
    is_begun: bool,
}

impl Numpy {
    /// Reads a file of this format; with `wide` its columns may be of unequal length.
    ///
    /// # Errors
    /// A file that is broken; types that are no numbers or texts; arrays of unequal length.
    pub(super) fn new(name: &str, format: Format, file: impl Read, wide: bool) -> Result<Self> {
        let on_disk = source::on_disk(name);
        let bytes = source::whole(name, file, on_disk)?;
        let mut numpy = Numpy {
            format,
            arrays: Vec::new(),
            columns: Vec::new(),
            rows: 0,
            at: 0,
            is_begun: false,
        };
        let wrong = |what: &str, problem: String| Error::file(name, format!("{what}{problem}"));
        if format == Format::Npy {
            numpy
                .add(None, bytes)
                .map_err(|problem| wrong("", problem))?;
        } else {
            for (array, bytes) in members(bytes, on_disk).map_err(|problem| wrong("", problem))? {
                let what = format!("array `{}`: ", shorten(&array));
                numpy
                    .add(Some(array), bytes)
                    .map_err(|problem| wrong(&what, problem))?;
            }
        }
        let rows = || numpy.columns.iter().map(|column| column.rows);
        numpy.rows = rows().max().unwrap_or(0);
        if !wide && rows().any(|rows| rows != numpy.rows) {
            let (least, most) = (rows().min().unwrap_or(0), numpy.rows);
            return Err(
                Error::file(name, format!("has arrays of {least} and of {most} rows"))
                    .with_hint("save only arrays that have an item for every row of the log"),
            );
        }
        Ok(numpy)
    }

    fn add(&mut self, name: Option<String>, file: Vec<u8>) -> std::result::Result<(), String> {
        let (header, start) = header(&file)?;
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
        if width > MAX_COLUMNS {
            return Err(format!("has {width} columns, more than {MAX_COLUMNS}"));
        }
        let fields = fields(&header["descr"])?;
        let item: usize = fields.iter().map(|(_, of)| of.size).sum();
        let wanted = rows.checked_mul(width).and_then(|n| n.checked_mul(item));
        if wanted != Some(file.len() - start) {
            return Err("is not as long as its header says".to_owned());
        }
        let is_fortran = header["fortran_order"] == Value::Bool(true);
        for at in 0..width {
            let mut offset = start + at * if is_fortran { rows * item } else { item };
            for (field, of) in &fields {
                let names = [name.as_deref(), field.as_deref()];
                let mut name = names.into_iter().flatten().collect::<Vec<_>>().join(".");
                if width > 1 && !name.is_empty() {
                    name = format!("{name}[{}]", at + 1);
                }
                self.columns.push(Column {
                    name: (!name.is_empty()).then_some(name),
                    of: *of,
                    array: self.arrays.len(),
                    offset,
                    stride: if is_fortran { item } else { item * width },
                    rows,
                });
                offset += of.size;
            }
        }
        self.arrays.push(file);
        Ok(())
    }

    fn push(&self, column: &Column, row: &mut Row) {
        if self.at >= column.rows {
            row.push(Field::Missing);
            return;
        }
        let from = column.offset + self.at * column.stride;
        let bytes = &self.arrays[column.array][from..from + column.of.size];
        column.of.push(bytes, row);
    }
}

impl Type {
    /// Adds an item to a row.
    fn push(self, bytes: &[u8], row: &mut Row) {
        let mut word = [0u8; 8];
        let little = |word: &mut [u8; 8]| {
            for (at, &byte) in bytes.iter().enumerate() {
                word[if self.is_big {
                    bytes.len() - 1 - at
                } else {
                    at
                }] = byte;
            }
        };
        match self.kind {
            Kind::Bool => row.push_text(if bytes[0] == 0 { b"false" } else { b"true" }),
            Kind::Unsigned => {
                little(&mut word);
                row.push(Field::Number(Number::Unsigned(u64::from_le_bytes(word))));
            }
            Kind::Signed => {
                little(&mut word);
                let shift = 64 - 8 * self.size as u32;
                let value = (u64::from_le_bytes(word) << shift).cast_signed() >> shift;
                row.push(Field::Number(Number::Integer(value)));
            }
            Kind::Float => {
                little(&mut word);
                let value = match self.size {
                    2 => half(u64::from_le_bytes(word) as u16),
                    // The number that its shortest text means, as in text formats.
                    4 => {
                        let value = f32::from_bits(u64::from_le_bytes(word) as u32);
                        value.to_string().parse().unwrap_or(f64::from(value))
                    }
                    _ => f64::from_le_bytes(word),
                };
                row.push(Field::Number(Number::Float(value)));
            }
            Kind::Bytes => {
                let end = bytes
                    .iter()
                    .rposition(|&byte| byte != 0)
                    .map_or(0, |at| at + 1);
                row.push_text(&bytes[..end]);
            }
            Kind::Unicode => {
                let code = |four: &[u8]| {
                    let four = [four[0], four[1], four[2], four[3]];
                    let code = if self.is_big {
                        u32::from_be_bytes(four)
                    } else {
                        u32::from_le_bytes(four)
                    };
                    char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
                };
                let text: String = bytes.chunks_exact(4).map(code).collect();
                row.push_text(text.trim_end_matches('\0').as_bytes());
            }
        }
    }

    fn parse(text: &str) -> std::result::Result<Self, String> {
        let unknown = || format!("has items of type {text:?}, which are no numbers or texts");
        let mut letters = text.chars();
        let (order, kind) = (letters.next(), letters.next());
        let size: usize = letters.as_str().parse().map_err(|_| unknown())?;
        let (kind, size) = match (kind, size) {
            (Some('b'), 1) => (Kind::Bool, 1),
            (Some('i'), 1 | 2 | 4 | 8) => (Kind::Signed, size),
            (Some('u'), 1 | 2 | 4 | 8) => (Kind::Unsigned, size),
            (Some('f'), 2 | 4 | 8) => (Kind::Float, size),
            (Some('S'), _) if size > 0 => (Kind::Bytes, size),
            (Some('U'), _) if size > 0 => (Kind::Unicode, size.checked_mul(4).ok_or_else(unknown)?),
            _ => return Err(unknown()),
        };
        Ok(Type {
            kind,
            size,
            is_big: order == Some('>'),
        })
    }
}

impl Records for Numpy {
    fn is_named(&self) -> bool {
        self.columns.iter().any(|column| column.name.is_some())
    }

    fn unnamed(&self) -> Option<usize> {
        (!self.is_named()).then_some(self.columns.len())
    }

    fn format(&self) -> Format {
        self.format
    }

    fn delimiter(&self) -> Option<char> {
        None
    }

    fn next(&mut self, row: &mut Row) -> Result<bool> {
        row.clear();
        if !self.is_begun {
            self.is_begun = true;
            if self.is_named() {
                let names = self.columns.iter().map(|column| column.name.as_deref());
                names.for_each(|name| row.push_text(name.unwrap_or_default().as_bytes()));
                return Ok(true);
            }
        }
        if self.at == self.rows {
            return Ok(false);
        }
        self.columns
            .iter()
            .for_each(|column| self.push(column, row));
        row.set_position(self.at as u64);
        self.at += 1;
        Ok(true)
    }
}

/// A number in half precision (IEEE 754 binary16).
fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023) / 1024.0);
    let size = match exponent {
        0 => fraction * 2f64.powi(-14),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction) * 2f64.powi(exponent - 15),
    };
    if bits >> 15 == 1 { -size } else { size }
}

/// The arrays of an archive by their names; what it has on disk.
fn members(
    bytes: Vec<u8>,
    on_disk: Option<u64>,
) -> std::result::Result<Vec<(String, Vec<u8>)>, String> {
    let on_disk = Some(on_disk.unwrap_or(bytes.len() as u64));
    let mut held = 0u64;
    let broken = |error: &dyn std::fmt::Display| format!("is a broken archive: {error}");
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| broken(&error))?;
    let mut arrays = Vec::new();
    for at in 0..archive.len() {
        let mut member = archive.by_index(at).map_err(|error| broken(&error))?;
        let name = member.name().map_err(|error| broken(&error))?.into_owned();
        let Some(array) = name.strip_suffix(".npy").map(str::to_owned) else {
            let other = shorten(&name);
            return Err(format!(
                "is an archive that holds {other}, and only arrays of NumPy are read"
            ));
        };
        // What an archive says of itself may be wrong: never more than that is read.
        let size = member.size();
        held = held.saturating_add(size);
        if !may_hold(held, on_disk) {
            return Err(too_large());
        }
        let mut file = Vec::new();
        (&mut member)
            .take(size.saturating_add(1))
            .read_to_end(&mut file)
            .map_err(|error| broken(&error))?;
        if file.len() as u64 != size {
            return Err(broken(&"a member is not as long as it says"));
        }
        arrays.push((array, file));
    }
    Ok(arrays)
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
mod tests {
    use super::*;

    /// By the standard: 1, −2, the largest, the smallest, a third, infinity.
    #[test]
    fn numbers_in_half_precision_are_read() {
        let known = [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x0001, 2f64.powi(-24)),
            (0x3555, 0.333_251_953_125),
            (0xfc00, f64::NEG_INFINITY),
        ];
        for (bits, value) in known {
            assert_eq!(half(bits), value, "{bits:#x}");
        }
        assert!(half(0x7e00).is_nan());
    }

    /// An array as NumPy writes it.
    fn npy(descr: &str, order: &str, shape: &str, items: &[u8]) -> Vec<u8> {
        let header =
            format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n");
        let mut file = MAGIC.to_vec();
        file.extend([1, 0]);
        file.extend((header.len() as u16).to_le_bytes());
        file.extend(header.as_bytes());
        file.extend(items);
        file
    }

    fn rows(file: Vec<u8>) -> std::result::Result<Vec<String>, String> {
        let mut numpy = Numpy::new("x.npy", Format::Npy, Cursor::new(file), false)
            .map_err(|error| error.to_string())?;
        let (mut rows, mut row) = (Vec::new(), Row::new());
        while numpy.next(&mut row).unwrap() {
            let fields: Vec<_> = row
                .fields()
                .map(|field| field.text().into_owned())
                .collect();
            rows.push(fields.join(","));
        }
        Ok(rows)
    }

    #[test]
    fn items_are_read_in_either_order_of_bytes_and_of_rows() {
        let floats: Vec<u8> = [1.5f64, -2.0, 3.0, 0.25]
            .iter()
            .flat_map(|x| x.to_le_bytes())
            .collect();
        assert_eq!(
            rows(npy("'<f8'", "False", "(2, 2)", &floats)).unwrap(),
            ["1.5,-2", "3,0.25"]
        );
        assert_eq!(
            rows(npy("'<f8'", "True", "(2, 2)", &floats)).unwrap(),
            ["1.5,3", "-2,0.25"]
        );
        assert_eq!(
            rows(npy("'>i2'", "False", "(2,)", &[0xff, 0xfe, 0, 7])).unwrap(),
            ["-2", "7"]
        );
        assert_eq!(
            rows(npy("'|u1'", "False", "(1,)", &[200])).unwrap(),
            ["200"]
        );
        assert_eq!(
            rows(npy("'|b1'", "False", "(2,)", &[0, 1])).unwrap(),
            ["false", "true"]
        );
        assert_eq!(
            rows(npy("'<f4'", "False", "(1,)", &0.1f32.to_le_bytes())).unwrap(),
            ["0.1"]
        );
        assert_eq!(
            rows(npy("'<U2'", "False", "(1,)", b"\xe9\0\0\0\0\0\0\0")).unwrap(),
            ["é"]
        );
        let records = npy(
            "[('secret', '|S2'), ('t', '<u2')]",
            "False",
            "(2,)",
            b"ab\x01\0c\0\0\x01",
        );
        assert_eq!(rows(records).unwrap(), ["secret,t", "ab,1", "c,256"]);
    }

    /// An archive of one array of zeros.
    fn zeros(bytes: usize) -> Vec<u8> {
        use std::io::Write;
        let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file("x.npy", options).unwrap();
        let shape = format!("({bytes},)");
        archive
            .write_all(&npy("'|u1'", "False", &shape, &vec![0; bytes]))
            .unwrap();
        archive.finish().unwrap().into_inner()
    }

    #[test]
    fn an_archive_that_unpacks_to_far_more_than_it_has_is_refused() {
        let read = |file: Vec<u8>| Numpy::new("x.npz", Format::Npz, Cursor::new(file), false);
        assert!(read(zeros(1 << 20)).is_ok());
        let Err(refused) = read(zeros(80 << 20)) else {
            panic!("80 MiB of zeros");
        };
        assert!(refused.to_string().contains("hold in memory"), "{refused}");
    }

    #[test]
    fn broken_and_foreign_arrays_are_refused() {
        for (file, words) in [
            (npy("'<f8'", "False", "(2,)", &[0; 15]), "not as long"),
            (npy("'|O'", "False", "(1,)", &[0; 8]), "no numbers or texts"),
            (
                npy("'<c16'", "False", "(1,)", &[0; 16]),
                "no numbers or texts",
            ),
            (npy("'<f8'", "False", "()", &[0; 8]), "0 dimensions"),
            (
                npy("'<f8'", "False", "(18446744073709551615, 9)", &[]),
                "not as long",
            ),
            (npy("'<f8", "False", "(1,)", &[0; 8]), "broken header"),
            (MAGIC.to_vec(), "broken header"),
            (b"\x93NUMPY\x01\0\xff\xff{".to_vec(), "broken header"),
        ] {
            let problem = rows(file).unwrap_err();
            assert!(problem.contains(words), "{problem}");
        }
    }
}
