//! Claims as they are written on the command line, where one may name a file.

use leakgauge_base::error::{Error, Result};
use leakgauge_exact::claim::{Claim, ClaimKind, Promise};

use super::rows;

/// Reads claims. `f-dp(FILE)` takes the points of its trade-off function from a file, `dp-curve(FILE)` its (ε, δ).
///
/// # Errors
/// Those of [`Claim::parse`]; a file that cannot be read, or whose points are those of no trade-off function.
pub fn parse(texts: &[String]) -> Result<Vec<Claim>> {
    texts.iter().map(|text| claim(text)).collect()
}

fn claim(text: &str) -> Result<Claim> {
    if let Some(file) = file_of(text, "dp-curve", "dp") {
        let kind = Claim::parse(&of_curve(file)?)?.kind;
        let text = text.trim().to_owned();
        return Ok(Claim { text, kind });
    }
    let Some(file) = file_of(text, "f-dp", "point") else {
        return Claim::parse(text);
    };
    Ok(Claim {
        text: text.trim().to_owned(),
        kind: ClaimKind::Promise(Promise::of_trade_off(file, points(file)?)?),
    })
}

/// The file of `name(FILE)`; `None` of other claims, points in the claim included.
fn file_of<'t>(text: &'t str, name: &str, point: &str) -> Option<&'t str> {
    let inside = text.trim().strip_prefix(name)?.trim_start();
    let file = inside.strip_prefix('(')?.strip_suffix(')')?.trim();
    let is_point = file
        .strip_prefix(point)
        .is_some_and(|rest| rest.trim_start().is_empty());
    let is_file = !file.is_empty() && !is_point && !file.contains(['(', ')']);
    is_file.then_some(file)
}

/// The claim with all points of a file of ε and δ, as `bounds` writes it; a first row of names is left out, and so are
/// further columns.
fn of_curve(file: &str) -> Result<String> {
    let mut points = Vec::new();
    for (at, (place, record)) in rows::read(file)?.into_iter().enumerate() {
        let numbers: Vec<Option<f64>> = record.iter().map(|field| field.parse().ok()).collect();
        match numbers[..] {
            [Some(epsilon), Some(delta), ..]
                if (0.0..f64::INFINITY).contains(&epsilon) && (0.0..=1.0).contains(&delta) =>
            {
                points.push(format!("dp(epsilon={epsilon:e}, delta={delta:e})"));
            }
            [None, None, ..] if at == 0 => {}
            _ => {
                return Err(Error::data(
                    place,
                    "is not an epsilon of at least 0 and a delta between 0 and 1",
                )
                .with_hint("each row begins with both: 0.5,1e-3"));
            }
        }
    }
    if points.is_empty() {
        return Err(Error::file(file, "has no epsilon and delta"));
    }
    Ok(format!("dp-curve({})", points.join(", ")))
}

/// Reads two comma-separated numbers a row, a false positive rate and the least false negative rate there; a first
/// row of names is left out.
fn points(file: &str) -> Result<Vec<(f64, f64)>> {
    let mut points = Vec::new();
    for (at, (place, record)) in rows::read(file)?.into_iter().enumerate() {
        let rates: Vec<Option<f64>> = record.iter().map(|field| field.parse().ok()).collect();
        match rates[..] {
            [Some(fpr), Some(fnr)] if [fpr, fnr].iter().all(|rate| (0.0..=1.0).contains(rate)) => {
                points.push((fpr, fnr));
            }
            [None, None] if at == 0 => {}
            _ => {
                return Err(
                    Error::data(place, "is not two rates between 0 and 1").with_hint(
                        "each row is a false positive rate and the least false negative rate there: 0.1,0.6",
                    ),
                );
            }
        }
    }
    if points.is_empty() {
        return Err(Error::file(file, "has no point of a trade-off function"));
    }
    Ok(points)
}
