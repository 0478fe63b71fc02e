//! The report about a mechanism of least expected loss.

use super::number::{likeliest, number};
use crate::report::document::Document;
use crate::report::numbers::{plain_above, plain_below};
use leakgauge_exact::channel::Optimal;

/// The digits of figures with a side.
const DIGITS: i32 = 9;
/// A loss that is so near to the least possible one is that.
const NEAR: f64 = 1e-6;
/// The number of secrets whose answers are listed.
const LISTED: usize = 20;

/// The whole report.
pub fn optimal(found: &Optimal, file: &str, written: Option<&str>) -> Document {
    let mut document = Document::default();
    document.opening(file);
    document.heading("Summary");
    let privacy = match &found.distances {
        None => format!("{}-LDP", number(found.epsilon)),
        Some(_) => format!("privacy of {} per distance", number(found.epsilon)),
    };
    let is_near = found.loss - found.loss_at_least <= NEAR * found.loss.abs();
    let what = match is_near {
        true => "The mechanism of least expected loss",
        false => "The best mechanism that was found",
    };
    document.paragraph(format!(
        "{} secrets, {} answers. {what} with {privacy} loses {}; no other one loses less than {}.",
        found.secrets.len(),
        found.answers.len(),
        plain_above(found.loss, DIGITS),
        plain_below(found.loss_at_least, DIGITS)
    ));
    document.heading("Figures");
    let row = |name: &str, what: &str, value: String| vec![name.to_owned(), what.to_owned(), value];
    let rows = vec![
        row(
            "expected loss",
            "of the matrix",
            plain_above(found.loss, DIGITS),
        ),
        row(
            "expected loss",
            "of any such mechanism, at least",
            plain_below(found.loss_at_least, DIGITS),
        ),
        row(
            "expected loss",
            "of the best answer for all secrets",
            number(found.constant_loss),
        ),
        row(
            "expected loss",
            "without privacy",
            number(found.loss_without_privacy),
        ),
        row(
            "epsilon",
            "of the matrix, at most",
            plain_above(found.reached_epsilon, 15),
        ),
    ];
    document.table(vec!["figure", "", "value"], 2, rows);
    document.heading("Mechanism");
    let rows = found.secrets.iter().zip(&found.matrix).take(LISTED);
    let rows = rows.map(|(secret, row)| vec![secret.clone(), likeliest(&found.answers, row)]);
    document.table(vec!["secret", "answers"], 2, rows.collect());
    if found.secrets.len() > LISTED {
        document.paragraph(format!("The first {LISTED} of {}.", found.secrets.len()));
    }
    document.heading("Method");
    let mut items = vec![
        "A linear program; its solution was rounded to a matrix that keeps every constraint, and multipliers of the dual \
         program, made feasible, give the lower limit."
            .to_owned(),
    ];
    items.push(match written {
        Some(file) => format!("{file} has the matrix with all digits."),
        None => "JSON has the matrix with all digits.".to_owned(),
    });
    document.list(items);
    document
}
