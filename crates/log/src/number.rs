//! Numbers that a format stores in binary, and the texts that mean the same.

use std::fmt;

/// Powers of ten that a float holds exactly.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// A number as it is stored. `Display` writes its shortest text, without an exponent: the text that reads back
/// as the same number, and the label of the number where a column holds labels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// A signed integer.
    Integer(i64),
    /// An unsigned integer.
    Unsigned(u64),
    /// A float, finite or not.
    Float(f64),
}

impl Number {
    /// The nearest float: what reading its text gives.
    #[inline]
    pub fn value(self) -> f64 {
        match self {
            Number::Integer(value) => value as f64,
            Number::Unsigned(value) => value as f64,
            Number::Float(value) => value,
        }
    }

    /// Appends the shortest text.
    pub fn write(self, out: &mut String) {
        match self {
            Number::Integer(value) => out.push_str(itoa::Buffer::new().format(value)),
            Number::Unsigned(value) => out.push_str(itoa::Buffer::new().format(value)),
            Number::Float(value) => write_float(value, out),
        }
    }

    /// The larger of a number of decimals and the decimals of the shortest text.
    ///
    /// Most columns soon meet their largest number of decimals. So it is first asked whether this number needs
    /// more: writing it out takes far longer.
    pub(crate) fn max_decimals(self, most: u32) -> u32 {
        let Number::Float(value) = self else {
            return most;
        };
        if value == value.trunc() || !value.is_finite() {
            return most;
        }
        // A decimal that reads back as the number has at least as many digits as the shortest one.
        if let Some(power) = POWERS.get(most as usize) {
            let scaled = value * power;
            if scaled.abs() < (1u64 << 53) as f64 && scaled.round() / power == value {
                return most;
            }
        }
        if digits_bound(value) <= i64::from(most) {
            return most;
        }
        let mut text = String::new();
        self.write(&mut text);
        let behind_point = text.find('.').map_or(0, |at| text.len() - at - 1);
        most.max(behind_point as u32)
    }
}

/// Appends the shortest text of a float, without an exponent: decimals that are written out can be counted.
fn write_float<F: zmij::Float + fmt::Display>(value: F, out: &mut String) {
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format(value);
    if text.contains('e') {
        out.push_str(&value.to_string());
    } else {
        out.push_str(text.strip_suffix(".0").unwrap_or(text));
    }
}

/// No number of this size needs more decimals: 17 significant digits tell all floats apart.
fn digits_bound(value: f64) -> i64 {
    let exponent = (value.to_bits() >> 52 & 0x7ff) as i64 - 1023;
    // log10(2) from below; the last digits of it, where exponents are large and negative, are made up for by 1.
    let log10 = ((exponent * 1233) >> 12) - i64::from(exponent < 0);
    // Subnormal numbers have the exponent of none.
    if exponent == -1023 {
        i64::MAX
    } else {
        16 - log10
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.write(&mut text);
        f.write_str(&text)
    }
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Number::Float(value)
    }
}

/// The float that the shortest decimal text of the value says: 0.1 stays 0.1, where widening would make it
/// 0.10000000149. So a column means the same in every format and precision.
impl From<f32> for Number {
    fn from(value: f32) -> Self {
        let mut text = String::new();
        write_float(value, &mut text);
        Number::Float(text.parse().unwrap_or_else(|_| f64::from(value)))
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Number::Integer(value)
    }
}

impl From<u64> for Number {
    fn from(value: u64) -> Self {
        Number::Unsigned(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spelling::Spelling;
    use proptest::prelude::*;

    #[test]
    fn the_shortest_text_has_no_exponent() {
        for (number, text) in [
            (Number::Float(1.0), "1"),
            (Number::Float(-0.0), "-0"),
            (Number::Float(1e-7), "0.0000001"),
            (Number::Float(1e21), "1000000000000000000000"),
            (Number::Float(f64::NAN), "NaN"),
            (Number::Float(f64::NEG_INFINITY), "-inf"),
            (Number::from(0.1f32), "0.1"),
            (Number::Integer(i64::MIN), "-9223372036854775808"),
            (Number::Unsigned(u64::MAX), "18446744073709551615"),
        ] {
            assert_eq!(number.to_string(), text);
        }
    }

    proptest! {
        #[test]
        fn decimals_are_those_of_the_text(bits: u64, mantissa in -100_000i64..100_000, places in 0usize..12, most in 0u32..25) {
            for value in [f64::from_bits(bits), mantissa as f64 / POWERS[places], f64::from_bits(bits % (1 << 62))] {
                if value.is_finite() {
                    let number = Number::Float(value);
                    let expected = Spelling::default().add(&number.to_string(), value, false);
                    let expected = expected.expect("no exponent");
                    prop_assert_eq!(number.max_decimals(most), most.max(expected), "{}", value);
                }
            }
        }

        #[test]
        fn a_text_reads_back_as_the_number(bits: u64, short: u32, integer: i64) {
            for number in [
                Number::Float(f64::from_bits(bits)),
                Number::from(f32::from_bits(short)),
                Number::Integer(integer),
                Number::Unsigned(bits),
            ] {
                let read: f64 = number.to_string().parse().unwrap();
                prop_assert!(read == number.value() || read.is_nan() && number.value().is_nan());
            }
            let single = f32::from_bits(short);
            if single.is_finite() {
                let text = Number::from(single).to_string();
                prop_assert_eq!(text.parse::<f32>().unwrap(), single);
                let mut shortest = String::new();
                write_float(single, &mut shortest);
                prop_assert_eq!(text, shortest);
            }
        }
    }
}
