//! Numbers and texts as arrays and trace sets store them.

use crate::number::Number;
use crate::row::{Field, Row};

/// How the items of a column are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
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
pub(super) struct Type {
    pub kind: Kind,
    pub size: usize,
    pub is_big: bool,
}

impl Type {
    /// Adds an item to a row.
    pub fn push(self, bytes: &[u8], row: &mut Row) {
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
                    // What is no character keeps its number, so that different texts stay so.
                    char::from_u32(code).map_or_else(|| format!("\\u{{{code:x}}}"), String::from)
                };
                let text: String = bytes.chunks_exact(4).map(code).collect();
                row.push_text(text.trim_end_matches('\0').as_bytes());
            }
        }
    }

    /// The type that NumPy writes so.
    ///
    /// # Errors
    /// Items that are neither numbers nor texts.
    pub fn parse(text: &str) -> std::result::Result<Self, String> {
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
}
