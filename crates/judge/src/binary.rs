//! The least of a parameter over the binary laws that a certified ε leaves possible.

use leakgauge_stats::error_rates::ErrorRates;

/// The largest part of the least value that the search may miss; what is found is lowered by it.
const MISSED: f64 = 1e-9;
/// Each keeps 0.618 of the interval: 1e-17 of it are left.
const STEPS: u32 = 80;

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
