//! What single cells of a row mean: the secret, the bin of a number, a count.

use std::borrow::Cow;

use crate::layout::Layout;
use crate::number::Number;
use crate::options::Missing;
use crate::row::{self, Field, MISSING, NULL, Row, is_absent};
use leakgauge_base::error::{Error, Place, Result};
use leakgauge_base::naming::setting;

/// The text of a field as it stands, blanks around it included. Numbers are written into `scratch`.
///
/// # Errors
/// Bytes that are no UTF-8.
pub(crate) fn text<'r>(
    row: &'r Row,
    column: usize,
    layout: &Layout,
    place: &dyn Fn() -> Place,
    scratch: &'r mut String,
) -> Result<&'r str> {
    match row.get(column) {
        Some(Field::Text(bytes) | Field::Quoted(bytes)) => std::str::from_utf8(bytes)
            .map_err(|_| row::not_utf8(place().column(&layout.names[column]))),
        Some(Field::Number(number)) => {
            scratch.clear();
            number.write(scratch);
            Ok(scratch)
        }
        Some(Field::Null) => Ok(NULL),
        Some(Field::Missing) | None => Ok(MISSING),
    }
}

/// A problem with what stands in a column.
pub(crate) fn at_column(
    place: Place,
    layout: &Layout,
    column: usize,
    row: &Row,
    problem: &str,
) -> Error {
    let value = row.text(column).unwrap_or_default();
    Error::data(
        place.column(&layout.names[column]).value(value.trim()),
        problem,
    )
}

/// The label of a row's secret: the text of its column, or of its columns joined by semicolons; [`MISSING`] for a
/// value that it may lack.
///
/// # Errors
/// A secret that is blank or missing.
pub(crate) fn secret<'r>(
    row: &'r Row,
    layout: &Layout,
    place: &dyn Fn() -> Place,
    may_lack: bool,
    scratch: &'r mut String,
) -> Result<Cow<'r, str>> {
    if let [column] = layout.secret[..] {
        return part_of_secret(row, column, layout, place, may_lack, scratch).map(Cow::Borrowed);
    }
    let part = |&column: &usize| {
        part_of_secret(row, column, layout, place, may_lack, &mut String::new()).map(str::to_owned)
    };
    let parts: Vec<String> = layout.secret.iter().map(part).collect::<Result<_>>()?;
    Ok(parts.join(";").into())
}

fn part_of_secret<'r>(
    row: &'r Row,
    column: usize,
    layout: &Layout,
    place: &dyn Fn() -> Place,
    may_lack: bool,
    scratch: &'r mut String,
) -> Result<&'r str> {
    let text = text(row, column, layout, place, scratch)?.trim();
    if may_lack && is_absent(text) {
        return Ok(MISSING);
    }
    let problem = match text {
        "" => "the secret is blank",
        MISSING => "the secret is missing",
        NULL => "the secret is null",
        _ => return Ok(text),
    };
    let blank = Error::data(place().column(&layout.names[column]), problem);
    Err(blank.with_hint(format!(
        "remove the row, or give its secret a label; {} leaves such rows out, {} makes them a secret",
        setting("missing", Missing::Drop.name()),
        setting("missing", Missing::Label.name())
    )))
}

/// The number of the bin of a width, anchored at 0, that a value falls into. A value within rounding
/// of an edge counts as on it.
pub(crate) fn bin(value: f64, width: f64) -> std::result::Result<f64, &'static str> {
    let quotient = value / width;
    // Beyond, the rounding of the number itself is a visible part of a bin.
    if quotient.abs() >= (1u64 << 40) as f64 {
        return Err("is more bins from 0 than can be told apart");
    }
    let nearest = quotient.round();
    let rounding = 4.0 * f64::EPSILON * quotient.abs();
    if (quotient - nearest).abs() <= rounding {
        Ok(nearest)
    } else {
        Ok(quotient.floor())
    }
}

/// Integers up to this one are told apart by their numbers.
const EXACT: f64 = (1u64 << 53) as f64;

/// One text for each number, however it is written: `1`, `1.0`, `+1`. Integers that a number does not hold stay as they
/// are.
pub(crate) fn canonical(text: &str) -> Cow<'_, str> {
    match text.parse::<f64>() {
        Ok(value) if value.abs() >= EXACT && !text.contains(['.', 'e', 'E']) => {
            let is_minus = text.starts_with('-');
            let digits = text.trim_start_matches(['+', '-', '0']);
            match is_minus {
                true => format!("-{digits}").into(),
                false => digits.into(),
            }
        }
        Ok(value) if !text.bytes().all(|byte| byte.is_ascii_digit()) || text.starts_with('0') => {
            (value + 0.0).to_string().into()
        }
        _ => text.into(),
    }
}

/// How often a row occurred, where a number says so.
pub(crate) fn occurrences_of(number: Number) -> std::result::Result<u64, &'static str> {
    const ALL: f64 = u64::MAX as f64;
    let count = match number {
        Number::Integer(count) => u64::try_from(count).ok(),
        Number::Unsigned(count) => Some(count),
        Number::Float(count) if count >= 0.0 && count == count.trunc() && count < ALL => {
            Some(count as u64)
        }
        Number::Float(_) => None,
    };
    count.ok_or(NO_COUNT)
}

const NO_COUNT: &str = "is not a number of occurrences (a whole number, 0 or more)";

/// How often a row of an aggregated log occurred.
pub(crate) fn occurrences(text: &str) -> std::result::Result<u64, &'static str> {
    if let Ok(count) = text.parse::<u64>() {
        return Ok(count);
    }
    // Databases export counts as 12.0 or 1e3 too.
    match text.parse::<f64>() {
        Ok(value) if value >= 0.0 && value == value.trunc() && value < 9e15 => Ok(value as u64),
        _ if text.is_empty() => Err("is blank, where the number of occurrences belongs"),
        _ => Err(NO_COUNT),
    }
}

/// Larger scores count as this large: sums and differences of scores stay finite.
const LARGEST: f64 = f64::MAX / 4.0;

/// The score that a field holds, or what is wrong with it. An attack that is certain writes infinity: it
/// is the largest score there is.
pub(crate) fn score(field: &str) -> std::result::Result<f64, &'static str> {
    match field.parse::<f64>() {
        Ok(value) => score_of(value),
        Err(_) if field.is_empty() => Err("is blank, where a score belongs"),
        Err(_) => Err("is not a number, where a score belongs"),
    }
}

/// The score that a number is; see [`score`].
pub(crate) fn score_of(value: f64) -> std::result::Result<f64, &'static str> {
    match value.is_nan() {
        true => Err("is not a number, where a score belongs"),
        false => Ok(value.clamp(-LARGEST, LARGEST)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_one_text_and_large_integers_keep_their_digits() {
        for (text, expected) in [
            ("1.0", "1"),
            ("+1", "1"),
            ("007", "7"),
            ("12", "12"),
            ("-2943745068094242303", "-2943745068094242303"),
            ("+09007199254740993", "9007199254740993"),
            ("1e20", "100000000000000000000"),
            ("word", "word"),
        ] {
            assert_eq!(canonical(text), expected, "{text}");
        }
    }

    #[test]
    fn infinity_is_the_largest_score_and_nan_is_none() {
        assert_eq!(score("inf"), Ok(LARGEST));
        assert_eq!(score("-1e400"), Ok(-LARGEST));
        assert_eq!(score("-2.5"), Ok(-2.5));
        for wrong in ["NaN", "", "high", "0,5"] {
            assert!(score(wrong).is_err(), "{wrong}");
        }
    }
}
