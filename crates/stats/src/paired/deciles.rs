//! Shifts of deciles between two classes.

use super::Located;
use crate::special::normal_quantile;

/// The deciles: 0.1, 0.2, …, 0.9.
pub const DECILES: [f64; 9] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

/// By how much each decile of `b` exceeds that of `a`; limits hold for each decile by itself. `None` for
/// fewer than 20 blocks.
///
/// # Formula
/// q̂_b(p) − q̂_a(p) ± z·s, with s² = s_a² + s_b² − 2·r·s_a·s_b. s_a is half the distance of the order statistics at
/// n·p ± z·√(n·p(1 − p)), over z, which needs no estimate of a density; r is the correlation over blocks of
/// "a's value is at most q̂_a(p)" with the same of b.
///
/// # Conditions
/// Independent blocks, `a[i]` and `b[i]` of one block, dependent on each other as they may; positive densities at
/// the quantiles; asymptotic.
///
/// # References
/// Woodruff (1952), 10.1080/01621459.1952.10483443, for s_a; Bahadur (1966), 10.1214/aoms/1177699450, for the
/// joint law of two sample quantiles. RTLF (Dunsche et al., USENIX Security 2024) tests the same nine shifts.
///
/// # Panics
/// If the two have different lengths.
pub fn decile_shifts(a: &[f64], b: &[f64], alpha: f64) -> Option<[Located; 9]> {
    const MIN_BLOCKS: usize = 20;
    assert_eq!(a.len(), b.len(), "one value of each class a block");
    if a.len() < MIN_BLOCKS {
        return None;
    }
    let z = -normal_quantile(alpha);
    let sorted = [a, b].map(|values| {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        sorted
    });
    Some(DECILES.map(|p| {
        let [(q_a, s_a), (q_b, s_b)] = [0, 1].map(|class| quantile(&sorted[class], p, z));
        let r = agreement(a, b, q_a, q_b);
        let variance = s_a * s_a + s_b * s_b - 2.0 * r * s_a * s_b;
        // The order statistics of one class say how far the values are apart: no error is smaller than one value.
        let radius = z * variance.max(0.0).sqrt();
        Located {
            point: q_b - q_a,
            lower: q_b - q_a - radius,
            upper: q_b - q_a + radius,
        }
    }))
}

/// A sample quantile and its standard error.
fn quantile(sorted: &[f64], p: f64, z: f64) -> (f64, f64) {
    let n = sorted.len() as f64;
    let reach = z * (n * p * (1.0 - p)).sqrt();
    let at = |rank: f64| sorted[rank.clamp(1.0, n) as usize - 1];
    let (low, high) = (
        at((n * p - reach).floor()),
        at((n * p + reach).ceil() + 1.0),
    );
    (at((n * p).ceil()), 0.5 * (high - low) / z)
}

/// The correlation of being at most the quantile.
fn agreement(a: &[f64], b: &[f64], q_a: f64, q_b: f64) -> f64 {
    let (mut in_a, mut in_b, mut in_both) = (0.0, 0.0, 0.0);
    for (&x, &y) in a.iter().zip(b) {
        let (is_a, is_b) = (x <= q_a, y <= q_b);
        in_a += f64::from(u8::from(is_a));
        in_b += f64::from(u8::from(is_b));
        in_both += f64::from(u8::from(is_a && is_b));
    }
    let n = a.len() as f64;
    let (p, q) = (in_a / n, in_b / n);
    let scale = (p * (1.0 - p) * q * (1.0 - q)).sqrt();
    if scale == 0.0 {
        return 0.0;
    }
    ((in_both / n - p * q) / scale).clamp(-1.0, 1.0)
}
