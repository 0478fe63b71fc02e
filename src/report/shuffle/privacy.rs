//! The report about differential privacy of shuffled reports.

use crate::report::document::Document;
use leakgauge_base::grammar::format_number;
use leakgauge_exact::shuffle::privacy::{ShuffleDelta, Survey};

/// One row per number of users and ε.
pub fn document(survey: &Survey) -> Document {
    let mut document = Document::default();
    document.heading(format!("Delta of shuffled reports: {}", survey.randomizer));
    let header = vec![
        "n",
        "epsilon",
        "at least",
        "at most",
        "clone",
        "stronger clone",
        "variation ratio",
        "blanket",
    ];
    let line = |row: &ShuffleDelta| {
        let figures = [
            row.least,
            Some(row.best),
            row.clone,
            row.stronger_clone,
            row.variation_ratio,
            row.blanket,
        ];
        let first = [row.n.to_string(), format_number(row.epsilon)];
        first.into_iter().chain(figures.map(number)).collect()
    };
    document.table(header, 0, survey.rows.iter().map(line).collect());
    document.paragraph(
        "At most: the smallest of the four upper bounds, for any inputs of the other users. At least: the exact \
         value if all other users have the same input, the worst one; with many messages and users, a lower limit of it. \
         Of two inputs with two messages both are the exact value, up to rounding.",
    );
    document
}

/// Six significant digits.
fn number(figure: Option<f64>) -> String {
    figure.map_or_else(
        || "n/a".to_owned(),
        |x| match x {
            _ if x > 0.0 && x < 1e-300 => "below 1e-300".to_owned(),
            _ => format_number(format!("{x:.5e}").parse().unwrap_or(x)),
        },
    )
}
