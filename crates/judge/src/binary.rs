//! The least of a parameter over the binary laws that a certified ε leaves possible.

use leakgauge_stats::error_rates::ErrorRates;

/// The largest part of the least value that the search may miss; what is found is lowered by it.
const MISSED: f64 = 1e-9;
/// Each keeps 0.618 of the interval: 1e-17 of it are left.
const STEPS: u32 = 80;

/// The least ε(`asked`) over the laws (p, q) with p = e^ε·q + δ, in closed form.
///
/// # Formula
/// Along the line ln((p − δ′)/q) falls in q and ln((1 − q − δ′)/(1 − p)) rises, so the larger of both is least where they are
/// equal. With u = e^ε·q and t = e^−ε that is the positive root of (t² − 1)u² + (1 − 2δ + δ′ − (1 − δ′)t)u + (δ − δ′)(1 − δ), and
/// the value is ε + ln(1 + (δ − δ′)/u).
///
/// # Conditions
/// ε > 0 and 0 ≤ δ′ < δ < 1.
pub(crate) fn least_epsilon(epsilon: f64, delta: f64, asked: f64) -> f64 {
    let t = (-epsilon).exp();
    let square = (-2.0 * epsilon).exp_m1();
    let linear = 1.0 - 2.0 * delta + asked - (1.0 - asked) * t;
    let constant = (delta - asked) * (1.0 - delta);
    let root = (linear * linear - 4.0 * square * constant).sqrt();
    // Of both forms of the root the one without cancellation.
    let u = match linear >= 0.0 {
        true => (linear + root) / (-2.0 * square),
        false => 2.0 * constant / (root - linear),
    };
    // What rounding of the coefficients makes of u, and so of what is added, relatively.
    let error = (8.0 * f64::EPSILON / root).min(1.0);
    epsilon + ((delta - asked) / u).ln_1p() * (1.0 - error)
}

/// The least value of a parameter over the laws (p, q) with p = e^ε·q + δ, the events that just exceed (ε, δ); both error
/// rates of such an event are (1 − p, q).
///
/// # Formula
/// Golden-section search over q from 0 to (1 − δ)e^−ε, where p = 1. A parameter with convex sublevel sets has one
/// minimum on a line; above the line it is larger still.
///
/// # Conditions
/// δ > 0; the parameter is the larger of both directions, rises in p and falls in q.
pub(crate) fn least_along_line(
    epsilon: f64,
    delta: f64,
    parameter: &dyn Fn(ErrorRates) -> f64,
) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let most = (1.0 - delta) * (-epsilon).exp();
    // e^ε·q as a share of 1 − δ, so that no power overflows.
    let value = |share: f64| {
        parameter(ErrorRates {
            missed: (1.0 - delta) * (1.0 - share),
            false_alarm: share * most,
        })
    };
    let (mut low, mut high) = (0.0, 1.0);
    let (mut left, mut right) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
    let (mut at_left, mut at_right) = (value(left), value(right));
    let mut least = at_left.min(at_right);
    for _ in 0..STEPS {
        if at_left <= at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - GOLDEN * (high - low);
            at_left = value(left);
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + GOLDEN * (high - low);
            at_right = value(right);
        }
        least = least.min(at_left).min(at_right);
    }
    least * (1.0 - MISSED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_testing::rng;
    use rand::RngExt;

    #[test]
    fn the_closed_form_is_what_the_search_finds() {
        let mut rng = rng(11);
        for _ in 0..4_000 {
            let epsilon = 10f64.powf(rng.random_range(-6.0..2.7));
            let delta = 10f64.powf(rng.random_range(-9.0..-0.001));
            let asked = match rng.random_bool(0.2) {
                true => 0.0,
                false => delta * rng.random::<f64>(),
            };
            let value = |rates: ErrorRates| rates.epsilon_at_least(asked);
            let searched = least_along_line(epsilon, delta, &value);
            let found = least_epsilon(epsilon, delta, asked);
            let close = (found - searched).abs() <= 1e-6 * found + 1e-12;
            assert!(close, "{epsilon} {delta} {asked}: {found} {searched}");
            // No law that was looked at has less, but for the rounding of its logarithms.
            let least = searched / (1.0 - MISSED) + 1e-15;
            assert!(
                found * (1.0 - 1e-12) <= least,
                "{epsilon} {delta} {asked}: {found} {least}"
            );
        }
    }
}
