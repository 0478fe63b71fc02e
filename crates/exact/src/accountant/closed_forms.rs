//! δ of Gaussian noise where it has a closed form.

use std::f64::consts::FRAC_1_SQRT_2;

use libm::{erfc, exp, expm1, log, log1p};

use super::normal::{Normal, Order};
use super::sides::ToldSides;
use crate::extreme::Extreme;
use crate::hockey_stick;
use crate::profile::Noise;

/// Half of the distance from 1 to the next number.
const UNIT: f64 = 0.5 * f64::EPSILON;

/// What is true of any δ.
pub(super) const UNKNOWN: ToldSides = ToldSides {
    most: (1.0, 0.0),
    least: (0.0, 1.0),
};

impl Normal {
    /// Both sides of δ(ε) of one step: see [`Subsampled`](crate::mechanism::Subsampled). `None` where the digits of a replaced
    /// record's are lost.
    pub(super) fn one_step(&self, epsilon: f64) -> Option<ToldSides> {
        const ROUNDING: f64 = 1e-11;
        let rate = self.rate;
        let delta = match self.order {
            Order::Added if epsilon > 700.0 => {
                rate * hockey_stick::gaussian(self.mu, epsilon - log(rate))
            }
            Order::Added => rate * hockey_stick::gaussian(self.mu, log1p(expm1(epsilon) / rate)),
            Order::Removed => {
                let less = expm1(epsilon) * (1.0 - rate) / rate;
                if less >= 1.0 {
                    0.0
                } else {
                    let raised = (epsilon - log1p(-less)).at_least(0.0);
                    rate * (1.0 - less) * hockey_stick::gaussian(self.mu, raised)
                }
            }
            Order::Replaced => return replaced_once(self.mu, rate, epsilon),
        };
        let (most, least) = (delta * (1.0 + ROUNDING), delta * (1.0 - ROUNDING));
        Some(ToldSides {
            most: (most, 1.0 - most),
            least: (least, 1.0 - least),
        })
    }
}

/// One step of a record that is used with a probability q, against another in its place.
///
/// # Formula
/// The loss rises with the place, and is ε at x: δ = q·(Φ(μ − x) − Φ(−μ − x)) − (e^ε − 1)·((1 − q)·Φ(−x) + q·Φ(−μ − x)).
/// Every x gives at most δ, so that rounding of x counts by its square.
fn replaced_once(mu: f64, rate: f64, epsilon: f64) -> Option<ToldSides> {
    /// What is wrong with a tail, relative to it, beside the rounding of the square of its argument.
    const ROUNDING: f64 = 64.0 * UNIT;
    /// Tails below lose digits.
    const LEAST: f64 = 1e-280;
    let x = Noise::Gaussian(mu).place(epsilon, rate);
    let beyond = |center: f64| 0.5 * erfc((x - center) * FRAC_1_SQRT_2);
    let (own, other, none) = (beyond(mu), beyond(-mu), beyond(0.0));
    let (told, lost) = (
        rate * (own - other),
        expm1(epsilon) * ((1.0 - rate) * none + rate * other),
    );
    let far = x.abs() + mu;
    let wrong = ROUNDING * (1.0 + far * far) * (rate * (own + other) + lost);
    let delta = told - lost;
    let is_known = x.is_finite() && rate * own > LEAST && wrong <= 1e-3 * delta;
    is_known.then(|| ToldSides {
        most: (delta + wrong, (1.0 - delta - wrong).at_least(0.0)),
        least: (delta - wrong, 1.0 - delta + wrong),
    })
}

/// N(0, 1) against N(μ, 1).
pub(super) fn plain(mu: f64, epsilon: f64) -> ToldSides {
    const ROUNDING: f64 = 1e-11;
    let delta = hockey_stick::gaussian(mu, epsilon);
    let (c, d) = (epsilon / mu - 0.5 * mu, epsilon / mu + 0.5 * mu);
    let own = 0.5 * erfc(-c * FRAC_1_SQRT_2);
    let other = 0.5 * exp(-0.5 * c * c) * hockey_stick::scaled_erfc(d * FRAC_1_SQRT_2);
    let kept = own + other;
    // The exponent is rounded.
    let rounding = ROUNDING + 4.0 * UNIT * c * c;
    ToldSides {
        most: (
            (delta * (1.0 + rounding)).at_most(1.0),
            kept * (1.0 - rounding),
        ),
        least: (
            delta * (1.0 - rounding),
            (kept * (1.0 + rounding)).at_most(1.0),
        ),
    }
}
