//! What single cells of a row mean: the secret, the bin of a number, a count.

use std::borrow::Cow;

use csv::ByteRecord;

use crate::layout::Layout;
use crate::records::{MISSING, NULL};
use crate::rows::field;
use leakgauge_base::error::{Error, Place, Result};

/// The label of a row's secret: the text of its column, or of its columns joined by semicolons.
pub fn secret<'r>(
    record: &'r ByteRecord,
    layout: &Layout,
    place: &dyn Fn() -> Place,
) -> Result<Cow<'r, str>> {
    let part = |&column: &usize| {
        let text = field(record, column, layout, place)?;
        let problem = match text {
            "" => Some("the secret is blank"),
            MISSING => Some("the secret is missing"),
            NULL => Some("the secret is null"),
            _ => None,
        };
        if let Some(problem) = problem {
            let blank = Error::data(place().column(&layout.names[column]), problem);
            return Err(blank.with_hint("remove the row, or give its secret a label"));
        }
        Ok(text)
    };
    match &layout.secret[..] {
        [column] => Ok(part(column)?.into()),
        columns => Ok(columns
            .iter()
            .map(part)
            .collect::<Result<Vec<_>>>()?
            .join(";")
            .into()),
    }
}

/// The number of the bin of a width, anchored at 0, that a value falls into. A value within rounding
/// of an edge counts as on it.
pub fn bin(value: f64, width: f64) -> std::result::Result<f64, &'static str> {
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

/// One text for each number, however it is written: `1`, `1.0`, `+1`.
pub fn canonical(text: &str) -> Cow<'_, str> {
    match text.parse::<f64>() {
        Ok(value) if !text.bytes().all(|byte| byte.is_ascii_digit()) || text.starts_with('0') => {
            (value + 0.0).to_string().into()
        }
        _ => text.into(),
    }
}

/// How often a row of a `--count` log occurred.
pub fn occurrences(text: &str) -> std::result::Result<u64, &'static str> {
    if let Ok(count) = text.parse::<u64>() {
        return Ok(count);
    }
    // Databases export counts as 12.0 or 1e3 too.
    match text.parse::<f64>() {
        Ok(value) if value >= 0.0 && value == value.trunc() && value < 9e15 => Ok(value as u64),
        _ if text.is_empty() => Err("is blank, where the number of occurrences belongs"),
        _ => Err("is not a number of occurrences (a whole number, 0 or more)"),
    }
}
