//! The figures of a mechanism or promise as a document.

use super::document::Document;
use leakgauge_base::grammar::format_number;
use leakgauge_exact::bounds::{Bounds, Kind, ParameterValue, Row};

/// A table with one row per point of the grid; for a single point, a list of its figures.
pub(super) fn document(table: &Bounds) -> Document {
    let mut document = Document::default();
    let what = match table.kind {
        Kind::Mechanism => "Exact figures",
        Kind::Promise => "Bounds implied by the promise",
    };
    document.heading(format!("{what}: {}", table.mechanism));
    match &table.rows[..] {
        [row] => single(&mut document, row),
        rows => grid(&mut document, rows),
    }
    for note in &table.notes {
        document.paragraph(*note);
    }
    document
}

fn single(document: &mut Document, row: &Row) {
    let mut rows: Vec<_> = row
        .figures
        .iter()
        .map(|&(name, figure)| vec![words(name), figure_text(row, name, figure)])
        .collect();
    if let Some([a, b]) = &row.worst_pair {
        rows.push(vec!["worst pair".to_owned(), format!("{a} | {b}")]);
    }
    document.table(vec!["figure", "value"], 1, rows);
}

/// The columns to show. Figures that every row lacks are left out, as are those that repeat the advantage or follow
/// from it.
fn grid(document: &mut Document, rows: &[Row]) {
    let Some(first) = rows.first() else {
        return;
    };
    let derived = ["guess_probability", "bayes_security_yeom", "group_size"];
    let repeats = |name: &str| {
        let as_advantage = |row: &Row| row.figure(name) == row.figure("advantage");
        name != "advantage" && rows.iter().all(as_advantage)
    };
    let figures: Vec<&'static str> = first
        .figures
        .iter()
        .map(|&(name, _)| name)
        .filter(|name| !derived.contains(name) && !repeats(name))
        .filter(|name| rows.iter().any(|row| row.figure(name).is_some()))
        .collect();
    let parameters = first.parameters.iter().map(|&(name, _)| name);
    let shown: Vec<_> = parameters
        .filter(|name| !figures.contains(name) || !same(rows, name))
        .collect();
    let header = shown.iter().chain(&figures).copied().collect();
    let line = |row: &Row| {
        let parameters = row
            .parameters
            .iter()
            .filter(|(name, _)| shown.contains(name));
        let figures = figures
            .iter()
            .map(|name| figure_text(row, name, row.figure(name)));
        parameters
            .map(|(_, value)| parameter(value))
            .chain(figures)
            .collect()
    };
    document.table(header, 0, rows.iter().map(line).collect());
}

/// Whether a parameter equals the figure of the same name in all rows.
fn same(rows: &[Row], name: &str) -> bool {
    rows.iter().all(|row| {
        let found = row.parameters.iter().find(|(known, _)| *known == name);
        matches!(found, Some((_, ParameterValue::Number(x))) if row.figure(name) == Some(*x))
    })
}

fn words(name: &str) -> String {
    name.replace('_', " ")
}

fn parameter(value: &ParameterValue) -> String {
    match value {
        ParameterValue::Number(x) => number(Some(*x)),
        ParameterValue::Text(text) => text.clone(),
    }
}

/// A figure with its name: one that cannot be 0 or infinite is beyond the range of numbers. Where noise makes one so
/// large, or ε is finite, it cannot be infinite; where secrets are confused although ε is infinite, no noise made it
/// large.
fn figure_text(row: &Row, name: &str, figure: Option<f64>) -> String {
    let finite_epsilon = row.figure("epsilon").is_some_and(f64::is_finite);
    let confused = row
        .figure("bayes_security")
        .is_some_and(|security| security > 0.0);
    match figure {
        Some(0.0) if name.starts_with("bayes_security") && finite_epsilon => {
            "below 1e-307".to_owned()
        }
        Some(f64::INFINITY) if !name.contains("epsilon") && (finite_epsilon || !confused) => {
            "above 1e308".to_owned()
        }
        figure => number(figure),
    }
}

/// Six significant digits.
fn number(figure: Option<f64>) -> String {
    match figure {
        None => "unknown".to_owned(),
        Some(x) if !x.is_finite() => "infinite".to_owned(),
        Some(x) => {
            let rounded = format!("{x:.5e}").parse().unwrap_or(x);
            format_number(rounded)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_exact::bounds::{BoundsOptions, bounds};

    fn text(call: &str) -> String {
        let table = bounds(call, &BoundsOptions::default()).unwrap();
        document(&table).to_text(&crate::report::Layout::default())
    }

    #[test]
    fn numbers_keep_six_digits_however_small() {
        assert_eq!(number(Some(2.0 / 3.0)), "0.666667");
        assert_eq!(number(Some(2.862_518_58e-20)), "2.86252e-20");
        assert_eq!(number(Some(1e9)), "1000000000");
        assert_eq!(number(Some(f64::INFINITY)), "infinite");
        assert_eq!(number(None), "unknown");
    }

    #[test]
    fn a_parameter_that_is_a_figure_is_shown_once() {
        let header = |text: &str| text.lines().nth(3).unwrap_or_default().to_owned();
        let table = text("randomized-response(epsilon=0..1:3, secrets=4)");
        assert_eq!(header(&table).matches("epsilon").count(), 1, "{table}");
        let table = text("laplace(epsilon=0.5..1:2, secrets=0..4)");
        assert_eq!(header(&table).matches("epsilon").count(), 2, "{table}");
    }

    #[test]
    fn one_point_is_a_list() {
        let table = text("gaussian(1, secrets=2)");
        assert!(
            table.contains("infinite") && table.contains("0 | 1"),
            "{table}"
        );
    }
}
