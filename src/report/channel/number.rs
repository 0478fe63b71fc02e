//! How figures of channels are written.

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
