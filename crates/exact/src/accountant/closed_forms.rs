//! δ of Gaussian noise where it has a closed form.

use std::f64::consts::FRAC_1_SQRT_2;

use libm::{erfc, exp, expm1, log, log1p};

use super::normal::{Normal, Order};
use super::sides::ToldSides;
use crate::extreme::Extreme;
use crate::hockey_stick;

/// Half of the distance from 1 to the next number.
const UNIT: f64 = 0.5 * f64::EPSILON;

/// What is true of any δ.
pub(super) const UNKNOWN: ToldSides = ToldSides {
    most: (1.0, 0.0),
    least: (0.0, 1.0),
};

impl Normal {
    /// Both sides of δ(ε) of one step: see [`Subsampled`](crate::mechanism::Subsampled). `None` for a replaced record.
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
            Order::Replaced => return None,
        };
        let (most, least) = (delta * (1.0 + ROUNDING), delta * (1.0 - ROUNDING));
        Some(ToldSides {
            most: (most, 1.0 - most),
            least: (least, 1.0 - least),
        })
    }
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
