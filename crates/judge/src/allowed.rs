//! How much of one parameter a bound on another one allows.

use std::cell::RefCell;
use std::collections::HashMap;

use leakgauge_base::quantity::PrivacyParameter;
use leakgauge_stats::bisection::bisect;

use crate::Certified;

/// Larger odds than any log shows.
const MOST: f64 = 1e3;

/// The δ, the parameter and what is allowed of it.
type Asked = (u64, (u8, u64), u64);

thread_local! {
    /// What was found before. A plan judges hundreds of logs by the same claim, and a claim about a curve asks for every
    /// δ of it: the search took nine tenths of the time.
    static FOUND: RefCell<HashMap<Asked, Option<f64>>> = RefCell::default();
}

/// Numbers of a claim that are remembered; a program that judges claim after claim does not keep them all.
const MOST_FOUND: usize = 1 << 16;

/// The largest ε at a δ that does not imply more of another parameter than is allowed; `None` where every one implies no
/// more.
///
/// ```
/// use leakgauge_base::quantity::PrivacyParameter;
/// use leakgauge_judge::{Certified, largest_epsilon};
///
/// let epsilon = largest_epsilon(1e-3, PrivacyParameter::Mu, 1.0).unwrap();
/// let implied = |epsilon| Certified::Parameter(PrivacyParameter::Epsilon { delta: 1e-3 }, epsilon).at_least(PrivacyParameter::Mu);
/// assert!(implied(epsilon - 1e-9) <= 1.0 && implied(epsilon + 1e-9) >= 1.0);
/// ```
pub fn largest_epsilon(delta: f64, parameter: PrivacyParameter, allowed: f64) -> Option<f64> {
    let asked = (delta.to_bits(), key(parameter), allowed.to_bits());
    if let Some(known) = FOUND.with_borrow(|found| found.get(&asked).copied()) {
        return known;
    }
    let of_delta = PrivacyParameter::Epsilon { delta };
    let within =
        |epsilon: f64| Certified::Parameter(of_delta, epsilon).at_least(parameter) <= allowed;
    let epsilon = (!within(MOST)).then(|| bisect((0.0, MOST), 60, within).1);
    FOUND.with_borrow_mut(|found| {
        if found.len() >= MOST_FOUND {
            found.clear();
        }
        found.insert(asked, epsilon);
    });
    epsilon
}

fn key(parameter: PrivacyParameter) -> (u8, u64) {
    match parameter {
        PrivacyParameter::Epsilon { delta } => (0, delta.to_bits()),
        PrivacyParameter::Mu => (1, 0),
        PrivacyParameter::Rho => (2, 0),
        PrivacyParameter::Renyi { order } => (3, order.to_bits()),
    }
}
