//! Secrets that are orders of a group's values.

use leakgauge_base::error::{Error, Result, shorten};
use leakgauge_base::naming::option;

/// What may stand between the items of an order.
const BETWEEN: [char; 4] = ['-', ';', ',', ' '];

/// Checks that the secrets are orders of the same items and differ only within the group. Then all of them
/// are neighbors (Definition 4.2 of d_σ-privacy).
///
/// # Errors
/// A label that is not an order of the first's items, or that differs from the first outside the group.
pub(super) fn check(group: Option<(i64, i64)>, claim: &str, labels: &[String]) -> Result<()> {
    let wrong = |label: &str, problem: String| {
        Error::parameter(
            shorten(claim),
            format!("{problem}; the log has the secret {:?}", shorten(label)),
        )
        .with_hint(format!(
            "restrict the log to such secrets with {}",
            option("secrets")
        ))
    };
    let orders: Vec<Vec<&str>> = labels.iter().map(|label| items(label)).collect();
    let Some(first) = orders.first() else {
        return Ok(());
    };
    let sorted = |order: &[&str]| {
        let mut sorted: Vec<String> = order.iter().map(|&item| item.to_owned()).collect();
        sorted.sort_unstable();
        sorted
    };
    let of_first = sorted(first);
    if of_first.windows(2).any(|pair| pair[0] == pair[1]) || of_first.iter().any(String::is_empty) {
        let problem = "the secrets must be orders of distinct items, such as 2-1-3".to_owned();
        return Err(wrong(&labels[0], problem));
    }
    for (label, order) in labels.iter().zip(&orders) {
        if sorted(order) != of_first {
            let problem = format!(
                "the secrets must be orders of the items of {}",
                shorten(&labels[0])
            );
            return Err(wrong(label, problem));
        }
        let outside =
            |at: usize| group.is_some_and(|(from, to)| !(from..=to).contains(&(at as i64 + 1)));
        let differs = (0..order.len()).find(|at| outside(*at) && order[*at] != first[*at]);
        if let Some(at) = differs {
            let problem = format!(
                "promises nothing about orders that differ outside its group; this one differs from {} at place {}",
                shorten(&labels[0]),
                at + 1
            );
            return Err(wrong(label, problem));
        }
    }
    Ok(())
}

fn items(label: &str) -> Vec<&str> {
    let label = label.trim();
    match BETWEEN.iter().find(|between| label.contains(**between)) {
        Some(between) => label.split(*between).map(str::trim).collect(),
        None => vec![label],
    }
}
