//! The attackers that were tried on the rows to choose with.

use crate::audit::{MethodSection, TriedScorer};
use crate::report::document::Document;

/// Attackers listed one by one; of more, the best of each kind.
const LISTED: usize = 12;

/// A table of what was tried, and what was not and why.
pub fn attackers(document: &mut Document, method: &MethodSection) {
    let fitted: Vec<&TriedScorer> = method
        .tried
        .iter()
        .filter(|tried| tried.quality.is_some())
        .collect();
    if fitted.len() > LISTED {
        document.paragraph(format!(
            "The best of each kind; the JSON report has all {}.",
            fitted.len()
        ));
        document.table(header(), 2, best_of_each_kind(&fitted));
    } else {
        document.table(
            header(),
            2,
            fitted.iter().map(|tried| row(tried, tried.cost)).collect(),
        );
    }
    let missing: Vec<String> = method.tried.iter().filter_map(missing).collect();
    if !missing.is_empty() {
        document.list(missing);
    }
}

fn header() -> Vec<&'static str> {
    vec![
        "Attack",
        "how",
        "advantage",
        "mean of pairs",
        "of naming",
        "rows learned from",
        "cost (s)",
    ]
}

/// The cost of a kind is that of all its attackers.
fn best_of_each_kind(fitted: &[&TriedScorer]) -> Vec<Vec<String>> {
    let mut kinds: Vec<(&TriedScorer, f64)> = Vec::new();
    for tried in fitted {
        match kinds
            .iter_mut()
            .find(|(best, _)| best.scorer == tried.scorer)
        {
            Some((best, cost)) => {
                *cost += tried.cost;
                if tried.quality > best.quality {
                    *best = tried;
                }
            }
            None => kinds.push((tried, tried.cost)),
        }
    }
    kinds
        .into_iter()
        .map(|(best, cost)| row(best, cost))
        .collect()
}

fn row(tried: &TriedScorer, cost: f64) -> Vec<String> {
    let limit = |limit: Option<f64>| limit.map_or_else(String::new, |limit| format!("{limit:.3}"));
    vec![
        tried.scorer.to_owned(),
        tried.in_words.clone(),
        limit(tried.advantage),
        limit(tried.mean_advantage),
        limit(tried.naming_advantage),
        tried.rows.to_string(),
        if cost < 0.01 {
            "< 0.01".to_owned()
        } else {
            format!("{cost:.2}")
        },
    ]
}

fn missing(tried: &TriedScorer) -> Option<String> {
    let failed = tried
        .failed
        .as_ref()
        .map(|reason| ("could not learn", reason));
    let skipped = tried.skipped.as_ref().map(|reason| ("not tried", reason));
    let (what, reason) = failed.or(skipped)?;
    Some(format!("{}: {what}: {reason}.", tried.scorer))
}
