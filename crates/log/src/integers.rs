//! Integers that a number in double precision does not hold: what is kept beside the nearest number.

use std::borrow::Cow;

/// Integers from here on may lose their lowest bits.
const EXACT: f64 = (1u64 << 53) as f64;
/// The lowest bits that are kept together: a number holds them, and those above are in the nearest number.
const LOW_BITS: u32 = 52;
/// The lowest bits that are kept one by one: all of a word of a machine.
pub const SINGLE_BITS: u32 = 64;

/// What is observed of an integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The nearest number.
    Nearest,
    /// Its remainder modulo 2⁵²; 0 of what is no integer.
    Low,
    /// One of its lowest bits, from 0, of two's complement; that of what is no integer is 0.
    Bit(u32),
}

impl Part {
    /// All parts.
    pub fn all() -> impl Iterator<Item = Part> {
        let bits = (0..SINGLE_BITS).map(Part::Bit);
        [Part::Nearest, Part::Low].into_iter().chain(bits)
    }

    /// Its name behind that of the column.
    pub fn name(self) -> String {
        match self {
            Part::Nearest => String::new(),
            Part::Low => ".low".to_owned(),
            Part::Bit(at) => format!(".bit[{at}]"),
        }
    }

    /// The part of a cell.
    pub fn text(self, cell: &str) -> Cow<'_, str> {
        let word = || word(cell.trim()).unwrap_or(0);
        match self {
            Part::Nearest => cell.into(),
            Part::Low => (word() & ((1 << LOW_BITS) - 1)).to_string().into(),
            Part::Bit(at) => (word() >> at & 1).to_string().into(),
        }
    }
}

/// Whether texts hold an integer that a number does not hold, and no number that is too large.
pub fn are_beyond_double(cells: &[Cow<str>]) -> bool {
    let mut is_beyond = false;
    for cell in cells.iter().map(|cell| cell.trim()) {
        // Fifteen digits are held by all numbers.
        if cell.len() > 15 && magnitude(cell).is_some() {
            let value: f64 = cell.parse().unwrap_or(f64::INFINITY);
            if value.is_infinite() {
                return false;
            }
            is_beyond |= loses(cell, value);
        }
    }
    is_beyond
}

/// Whether a number and its lowest bits together hold the integer that a text says.
pub fn are_held(text: &str, value: f64) -> bool {
    magnitude(text).is_some() && value.abs() < EXACT * (1u64 << LOW_BITS) as f64
}

fn loses(text: &str, value: f64) -> bool {
    let digits = magnitude(text).unwrap_or_default().trim_start_matches('0');
    value.abs() >= EXACT && format!("{:.0}", value.abs()) != digits
}

/// The digits of an integer.
fn magnitude(text: &str) -> Option<&str> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_integer = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_integer.then_some(digits)
}

/// The remainder of an integer modulo 2⁶⁴.
fn word(text: &str) -> Option<u64> {
    let digits = magnitude(text)?.bytes().map(|byte| u64::from(byte - b'0'));
    let value = digits.fold(0u64, |value, digit| {
        value.wrapping_mul(10).wrapping_add(digit)
    });
    Some(match text.starts_with('-') {
        true => value.wrapping_neg(),
        false => value,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_bits_are_those_of_the_integer() {
        for value in [
            0i128,
            1,
            -1,
            2_048_155_026_917_666_816,
            -2_943_745_068_094_242_303,
            i128::from(i64::MIN),
            i128::from(u64::MAX),
            -(1 << 100) + 12_345,
        ] {
            let text = value.to_string();
            let expected = value.rem_euclid(1 << LOW_BITS);
            assert_eq!(Part::Low.text(&text), expected.to_string(), "{value}");
            for at in [3, 63] {
                let bit = (value.rem_euclid(1 << 64) >> at & 1).to_string();
                assert_eq!(Part::Bit(at).text(&text), bit, "{value}");
            }
        }
        assert_eq!(Part::Low.text("1.5"), "0");
        assert_eq!(Part::Nearest.text(" 17"), " 17");
    }

    #[test]
    fn a_number_and_the_lowest_bits_tell_integers_apart() {
        let base = (1i128 << 104) - 7;
        let held = |value: i128| {
            let text = value.to_string();
            let number: f64 = text.parse().unwrap();
            assert!(are_held(&text, number));
            (number.to_bits(), Part::Low.text(&text).into_owned())
        };
        let all: std::collections::HashSet<_> = (0..5000i128).map(|at| held(base - at)).collect();
        assert_eq!(all.len(), 5000);
        assert!(!are_held(&(1i128 << 106).to_string(), 2f64.powi(106)));
    }

    #[test]
    fn integers_beyond_double_precision_are_found() {
        let found = |cells: &[&str]| {
            let cells: Vec<Cow<str>> = cells.iter().map(|&cell| cell.into()).collect();
            are_beyond_double(&cells)
        };
        assert!(found(&["1", "9007199254740993"]));
        assert!(found(&["-2943745068094242303", "timeout"]));
        assert!(!found(&["9007199254740992", "9007199254740994"]));
        assert!(!found(&["0.12345678901234567890", "1e19"]));
        assert!(!found(&["9007199254740993", &"9".repeat(400)]));
        assert!(!found(&[]));
    }
}
