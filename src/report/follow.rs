//! One line of a log that is followed.

use crate::audit::Verdict;
use crate::follow::Line;
use crate::report::sentences::warnings;
use leakgauge_base::error::shorten;
use leakgauge_base::rounding::{at_least, nearest};

/// What the lines say, before the first.
pub const LEGEND: &str = "advantage at least X: some pair of secrets can be told apart with an advantage of X or more; holds on all lines \
     together, if rows are independent";

/// A line of text, and one for each warning.
pub fn line(line: &Line) -> String {
    let pair = line.pair.as_ref().map_or("no pair yet".to_owned(), |pair| {
        let [a, b] = pair.each_ref().map(|label| shorten(label));
        format!("{a} | {b}")
    });
    let point = line.advantage.point.map_or("n/a".to_owned(), nearest);
    let lower = line.advantage.lower.map_or("n/a".to_owned(), at_least);
    let doubt = line
        .warnings
        .iter()
        .find(|warning| warning.is_about_order());
    let doubt = doubt.map_or(String::new(), |warning| {
        format!(". {}", warnings::doubt(warning))
    });
    let violated = line
        .claims
        .iter()
        .filter(|claim| claim.verdict == Verdict::Violated);
    let violated: String = violated
        .map(|claim| format!("; VIOLATED: {}{doubt}", claim.claim))
        .collect();
    let warnings = line.warnings.iter();
    let warnings: String = warnings
        .map(|warning| {
            format!(
                "\n  warning ({}): {}",
                warning.code(),
                warnings::message(warning)
            )
        })
        .collect();
    format!(
        "{} rows, {} judged: advantage at least {lower}, estimate {point} ({pair}){violated}{warnings}",
        line.rows, line.judged
    )
}
