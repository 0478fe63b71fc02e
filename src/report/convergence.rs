//! Whether more rows would help.

use crate::audit::Convergence;
use crate::report::document::Document;
use crate::report::numbers::nearest;
use crate::report::sentences::learning;

/// The learning curve and what it says.
pub fn would_more_rows_help(document: &mut Document, convergence: &Convergence) {
    let rows = convergence.points.iter().map(|point| {
        vec![
            point.rows.to_string(),
            nearest(point.bayes_risk),
            nearest(point.total_variation),
        ]
    });
    document.table(
        vec!["training rows", "Bayes risk", "advantage at the worst pair"],
        0,
        rows.collect(),
    );
    let mut text = learning::conclusion(&convergence.conclusion);
    if let Some(bracket) = &convergence.cover_hart {
        let [least, most] = bracket.bayes_risk;
        text.push_str(&format!(
            " If the nearest neighbor erred on infinitely many rows as it does on {}, the Bayes risk would lie between {least:.3} \
             and {most:.3} (Cover and Hart; asymptotic, not a limit for this log).",
            bracket.rows
        ));
    }
    document.paragraph(text);
}
