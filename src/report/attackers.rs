//! The attackers that were tried on the tuning rows.

use crate::audit::MethodUsed;
use crate::report::document::Document;
use leakgauge_attack::tuning::{Failure, Quality, Tried};

/// Attackers listed one by one; of more, the best of each kind.
const LISTED: usize = 12;

/// A table of what was tried, and what was not and why.
pub fn attackers(document: &mut Document, method: &MethodUsed) {
    let fitted: Vec<&Tried> = method
        .tried
        .iter()
        .filter(|tried| tried.quality.is_ok())
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
    document.paragraph(
        "Columns: lower bound for the worst pair, pair average, identifying the secret. Costs are estimated, not measured.",
    );
    let missing: Vec<String> = method.tried.iter().filter_map(missing).collect();
    if !missing.is_empty() {
        document.list(missing);
    }
}

fn header() -> Vec<&'static str> {
    vec![
        "attack",
        "how",
        "worst pair",
        "pair average",
        "identifying",
        "training rows",
        "cost (s)",
    ]
}

/// The cost of a kind is that of all its attackers.
fn best_of_each_kind(fitted: &[&Tried]) -> Vec<Vec<String>> {
    let mut kinds: Vec<(&Tried, f64)> = Vec::new();
    for tried in fitted {
        match kinds
            .iter_mut()
            .find(|(best, _)| best.scorer == tried.scorer)
        {
            Some((best, cost)) => {
                *cost += tried.cost;
                if total(tried) > total(best) {
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

fn total(tried: &Tried) -> Option<f64> {
    Some(tried.quality.as_ref().ok()?.total())
}

fn row(tried: &Tried, cost: f64) -> Vec<String> {
    let quality = tried.quality.as_ref().ok();
    let limit = |of: fn(&Quality) -> f64| {
        quality.map_or_else(String::new, |quality| format!("{:.3}", of(quality)))
    };
    vec![
        tried.scorer.clone(),
        tried.description.clone(),
        limit(|quality| quality.largest),
        limit(|quality| quality.mean),
        limit(|quality| quality.naming),
        tried.rows.to_string(),
        if cost < 0.01 {
            "< 0.01".to_owned()
        } else {
            format!("{cost:.2}")
        },
    ]
}

fn missing(tried: &Tried) -> Option<String> {
    let (what, reason) = match &tried.quality {
        Ok(_) => return None,
        Err(Failure::Unfit(reason)) => ("could not learn", reason),
        Err(Failure::Skipped(reason)) => ("not tried", reason),
    };
    Some(format!("{}: {what}: {reason}.", tried.scorer))
}
