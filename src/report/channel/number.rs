//! How figures of channels are written.

/// The number of labels of a distribution that are named.
const NAMED: usize = 5;

/// Six decimals, or scientific notation if they would hide the value.
pub(super) fn number(value: f64) -> String {
    if value != 0.0 && (value.abs() < 1e-4 || value.abs() >= 1e7) {
        format!("{value:.5e}")
    } else {
        let text = format!("{value:.6}");
        let short = text.trim_end_matches('0').trim_end_matches('.');
        short.to_owned()
    }
}

/// The likeliest labels and their probabilities.
pub(super) fn likeliest(labels: &[String], weights: &[f64]) -> String {
    let mut order: Vec<usize> = (0..labels.len()).filter(|&s| weights[s] > 0.0).collect();
    order.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]).then(a.cmp(&b)));
    let named = order.iter().take(NAMED);
    let mut parts: Vec<String> = named
        .map(|&s| format!("{} {}", labels[s], number(weights[s])))
        .collect();
    if order.len() > NAMED {
        parts.push("…".to_owned());
    }
    parts.join(", ")
}
