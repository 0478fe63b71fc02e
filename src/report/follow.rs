//! One line of a log that is followed.

use crate::audit::{Verdict, Warning};
use crate::follow::{FollowedClaim, Line};
use crate::report::numbers::{at_least, nearest};
use crate::report::sentences::follow::difference;
use crate::report::sentences::warnings;
use crate::report::words::p_value_of;
use leakgauge_base::error::shorten;
use leakgauge_plot::clean;

/// What the lines say, before the first.
pub const LEGEND: &str = "advantage at least X: some pair of secrets can be told apart with an advantage of X or more; epsilon at \
     least Y: some pair needs an epsilon of Y or more; p: the smallest error probability at which the claim would be \
     violated; all hold on all lines together, if rows are independent";

/// The same of a log in blocks.
pub const LEGEND_OF_BLOCKS: &str = "takes at least X longer: the median of the differences inside blocks is X or more; advantage at least X: some pair of \
     secrets can be told apart with an advantage of X or more; epsilon at least Y: some pair needs an epsilon of Y or \
     more; p: the smallest error probability at which the claim would be violated; all hold on all lines together, if \
     blocks are independent";

/// A line of text, and one for each warning.
pub fn line(line: &Line) -> String {
    let pair = clean(&estimated(line));
    let point = line.advantage.point.map_or("n/a".to_owned(), nearest);
    let lower = line.advantage.lower.map_or("n/a".to_owned(), at_least);
    let epsilon = line.epsilon.lower.map_or("n/a".to_owned(), at_least);
    let doubt = line
        .warnings
        .iter()
        .find(|warning| warning.is_about_order());
    let claims: String = line.claims.iter().map(|one| claim(one, doubt)).collect();
    let warnings = line.warnings.iter();
    let warnings: String = warnings
        .map(|warning| {
            format!(
                "\n  warning ({}): {}",
                warning.code(),
                clean(&warnings::message(warning))
            )
        })
        .collect();
    let rows = match line.blocks {
        None => format!("{} rows", line.rows),
        Some(blocks) => format!("{blocks} blocks of {} rows", line.rows),
    };
    // The pair that differs most.
    let differs = line.differences.first();
    let differs = differs.map_or(String::new(), |found| clean(&difference(found)) + "; ");
    format!(
        "{rows}, {} judged: {differs}advantage at least {lower}, estimate {point} ({pair}); epsilon at least {epsilon}{claims}{warnings}",
        line.judged.max(line.epsilon_judged)
    )
}

/// What the estimate of the advantage is of: the pair that is judged now, unless the limit is above its estimate. Then
/// another pair has it, and the estimate is the limit.
pub fn estimated(line: &Line) -> String {
    match &line.pair {
        None => "no pair yet".to_owned(),
        Some(_) if line.advantage.raw.is_some() => "some pair".to_owned(),
        Some(pair) => pair.each_ref().map(|label| shorten(label)).join(" | "),
    }
}

/// How a claim stands.
fn claim(claim: &FollowedClaim, doubt: Option<&Warning>) -> String {
    let p = p_value_of(claim.p_value);
    match claim.verdict {
        Verdict::Inconclusive => return format!("; {}: {p}", clean(&claim.claim.to_string())),
        Verdict::Holds => return format!("; HOLDS: {}", clean(&claim.claim.to_string())),
        Verdict::Violated => {}
    }
    let doubt = doubt.map_or(String::new(), |warning| {
        format!(". {}", warnings::doubt(warning))
    });
    format!(
        "; VIOLATED: {} ({p}){doubt}",
        clean(&claim.claim.to_string())
    )
}
