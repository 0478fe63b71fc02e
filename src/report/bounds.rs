//! The figures of a mechanism or promise as a document.

use super::bounds_names::{Side, column, name, number, side};
use super::document::Document;
use leakgauge_exact::bounds::{Bounds, Edge, Kind, ParameterValue, Row, Solved};

/// A table with one row per point of the grid; for a single point, a list of its figures.
pub(super) fn document(table: &Bounds) -> Document {
    let mut document = Document::default();
    let is_certified = table.rows.iter().any(|row| row.figure("steps").is_some());
    let what = match (table.kind, is_certified) {
        (Kind::Mechanism, false) => "Exact figures",
        (Kind::Mechanism, true) => "Certified figures",
        (Kind::Promise, _) => "Bounds implied by the promise",
    };
    document.heading(format!("{what}: {}", table.mechanism));
    let are_bounds = is_certified || table.kind == Kind::Promise;
    match &table.rows[..] {
        [row] => single(&mut document, row, are_bounds),
        rows => grid(&mut document, rows, are_bounds),
    }
    if let Some(Solved {
        parameter,
        value,
        edge,
        keeps,
    }) = &table.solved
    {
        let edge = match edge {
            Edge::Smallest => "smallest",
            Edge::Largest => "largest",
        };
        document.paragraph(format!(
            "To six digits, {parameter} = {value} is the {edge} value that keeps {keeps}."
        ));
    }
    for note in &table.notes {
        document.paragraph(*note);
    }
    document
}

/// Figures of other papers, which do not always exist.
const PUBLISHED: [&str; 4] = [
    "advantage_corollary_2",
    "advantage_yeom",
    "bayes_security_yeom",
    "advantage_humphries",
];

/// Figures that may equal the advantage, and are named below the table then.
const SAME: [&str; 4] = [
    "total_variation",
    "delta_at_epsilon_zero",
    "advantage_corollary_2",
    "advantage_humphries",
];

fn single(document: &mut Document, row: &Row, are_bounds: bool) {
    let advantage = row.figure("advantage");
    let is_same = |key: &str| SAME.contains(&key) && row.figure(key) == advantage;
    let is_shown = |key: &&str| {
        let is_missing = PUBLISHED.contains(key) && row.figure(key).is_none();
        // The lower side of the total variation stands beside the advantage.
        !is_same(key) && !is_missing && *key != "total_variation_at_least"
    };
    let keys = row.figures.iter().map(|&(key, _)| key);
    let keys: Vec<&'static str> = keys.filter(is_shown).collect();
    let text = |key: &'static str, side: Side| figure_text(row, key, row.figure(key), side);
    let (facts, bounds): (Vec<&'static str>, Vec<&'static str>) = keys
        .into_iter()
        .partition(|key| !are_bounds || side(key) == Side::Exact);
    let mut rows: Vec<Vec<String>> = Vec::new();
    for key in bounds {
        let label = name(key).to_owned();
        let at = match side(key) {
            Side::AtLeast => 1,
            Side::Exact | Side::AtMost => 2,
        };
        // The other side of a figure stands beside it.
        match rows.iter_mut().find(|row| row[0] == label) {
            Some(known) => known[at] = text(key, side(key)),
            None => {
                let mut cells = vec![label, String::new(), String::new()];
                cells[at] = text(key, side(key));
                if let Some(least) = lower_side(row, key) {
                    cells[1] = text(least, Side::AtLeast);
                }
                rows.push(cells);
            }
        }
    }
    let value = |key: &'static str| match single_side(row, key) {
        Side::Exact => vec![name(key).to_owned(), text(key, Side::Exact)],
        Side::AtLeast => vec![format!("{}, at least", name(key)), text(key, Side::AtLeast)],
        Side::AtMost => vec![format!("{}, at most", name(key)), text(key, Side::AtMost)],
    };
    let worst = row.worst_pair.as_ref().map(|[a, b]| format!("{a} | {b}"));
    match are_bounds {
        true => {
            document.table(vec!["figure", "at least", "at most"], 1, rows);
            let facts = facts.into_iter().map(value).map(|fact| fact.join(": "));
            let worst = worst.map(|pair| format!("worst pair: {pair}"));
            document.list(facts.chain(worst).collect());
        }
        false => {
            let worst = worst.map(|pair| vec!["worst pair".to_owned(), pair]);
            let rows = facts.into_iter().map(value).chain(worst).collect();
            document.table(vec!["figure", "value"], 1, rows);
        }
    }
    let same = row.figures.iter().filter(|(key, _)| is_same(key));
    let same: Vec<&str> = same.map(|(key, _)| name(key)).collect();
    if !same.is_empty() {
        let same = same.join("; ");
        document.paragraph(format!(
            "The advantage is also: {}.",
            same.trim_end_matches('.')
        ));
    }
}

/// The side of a figure among exact ones, where a few are bounded from both sides.
fn single_side(row: &Row, key: &str) -> Side {
    let has_other = |(name, _): &(&str, _)| name.strip_suffix("_at_least") == Some(key);
    if key == "steps" || key == "bayes_security_closed_form" {
        Side::Exact
    } else if key.ends_with("_at_least") {
        Side::AtLeast
    } else if row.figures.iter().any(has_other) {
        Side::AtMost
    } else {
        Side::Exact
    }
}

/// The lower side of the advantage, where there is one: the figure has another name there.
fn lower_side(row: &Row, key: &str) -> Option<&'static str> {
    let has = |name| row.figure(name).is_some();
    (key == "advantage" && has("total_variation_at_least")).then_some("total_variation_at_least")
}

/// The columns to show. Figures that every row lacks are left out, as are those that repeat the advantage or follow
/// from it.
fn grid(document: &mut Document, rows: &[Row], are_bounds: bool) {
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
    let names = figures.iter().map(|key| column(key));
    let header = shown.iter().copied().chain(names).collect();
    let line = |row: &Row| {
        let parameters = row
            .parameters
            .iter()
            .filter(|(name, _)| shown.contains(name));
        let figures = figures.iter().map(|key| {
            // What was given is no bound.
            let side = match are_bounds && !same(rows, key) {
                true => side(key),
                false => single_side(row, key),
            };
            figure_text(row, key, row.figure(key), side)
        });
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

fn parameter(value: &ParameterValue) -> String {
    match value {
        ParameterValue::Number(x) => number("", Some(*x), Side::Exact),
        ParameterValue::Text(text) => text.clone(),
    }
}

/// A figure with its name: one that cannot be 0 or infinite is beyond the range of numbers. Where noise makes one so
/// large, or ε is finite, it cannot be infinite; where secrets are confused although ε is infinite, no noise made it
/// large.
fn figure_text(row: &Row, name: &str, figure: Option<f64>, side: Side) -> String {
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
        figure => number(name, figure, side),
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
    fn a_parameter_that_is_a_figure_is_shown_once() {
        let header = |text: &str| text.lines().nth(3).unwrap_or_default().to_owned();
        let table = text("randomized-response(epsilon=0..1:3, secrets=4)");
        assert_eq!(header(&table).matches("epsilon").count(), 1, "{table}");
        let table = text("laplace(epsilon=0.5..1:2, secrets=0..4)");
        assert_eq!(header(&table).matches("epsilon").count(), 2, "{table}");
    }

    #[test]
    fn figures_have_names_and_sides_and_are_shown_once() {
        let table = text("ldp(epsilon=1)");
        let table = table.split_whitespace().collect::<Vec<_>>().join(" ");
        for line in [
            "Bayes security 0.5378",
            "Bayes security, Yeom et al. -0.7183",
            "advantage, Yeom et al. 1.719",
            "best guess between two secrets 73.11 %",
            "also: total variation; delta at epsilon 0; advantage, Corollary 2",
        ] {
            assert!(table.contains(line), "{line}\n{table}");
        }
        assert_eq!(table.matches("0.462").count(), 1, "{table}");
        assert!(!table.contains('_'), "{table}");
    }

    #[test]
    fn both_sides_of_a_figure_stand_side_by_side() {
        let options = BoundsOptions {
            repeat: Some(10),
            ..BoundsOptions::default()
        };
        let table = bounds("gaussian(sigma=4, secrets=2)", &options).unwrap();
        let text = document(&table).to_text(&crate::report::Layout::default());
        assert!(text.starts_with("Certified figures"), "{text}");
        let of = |name: &str| {
            let line = text.lines().find(|line| line.starts_with(name));
            let cells = line.expect("a row").split_whitespace().rev();
            let cells = cells.take(2).map(|cell| cell.parse::<f64>().unwrap());
            cells.collect::<Vec<_>>()
        };
        for name in [" Bayes security", " advantage", " multiplicative capacity"] {
            let found = of(name);
            assert!(
                found[1] < found[0] && found[0] - found[1] < 1e-3 * found[0] + 1e-3,
                "{name}\n{text}"
            );
        }
        assert!(text.contains("- steps: 10"), "{text}");
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
