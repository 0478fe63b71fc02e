//! Privacy losses of Gaussian noise that is used with a probability, as weights on a line of points.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use libm::{atan2, cos, exp, expm1, log, log1p, sin};

use crate::extreme::Extreme;

/// The two distributions of a step, with the noise in units of its σ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Normal {
    /// The distance of the record from none.
    pub mu: f64,
    /// The probability that the record is used.
    pub rate: f64,
    pub order: Order,
}

/// Which distribution is against which, with w(x) = 1 − q + q·e^(μx − μ²/2).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Order {
    /// (1 − q)·N(0, 1) + q·N(μ, 1) against N(0, 1): L = ln w(x).
    Added,
    /// N(0, 1) against the mixture: L = −ln w(x).
    Removed,
    /// The mixture against that with −μ: L = ln w(x) − ln w(−x).
    Replaced,
}

/// A step tilted by θ at some points: weights that sum to 1, and losses.
#[derive(Debug)]
pub(super) struct Tilted {
    pub weights: Vec<f64>,
    pub losses: Vec<f64>,
    /// K(θ) = ln E\[e^(θL)\], K′(θ) and K″(θ).
    pub log_moment: f64,
    pub mean: f64,
    pub variance: f64,
    /// The mean of the absolute exponents of the weights, which are rounded, and that of |L|.
    pub exponent: f64,
    pub size: f64,
}

/// Beyond so many σ from the part that counts nothing is left: e^−72.
const REACH: f64 = 12.0;
/// The largest half width of the strip in which the integrand is analytic that is used.
const STRIP: f64 = 9.5;
/// The rule on the line is right to e^−this, besides ln of the number of steps.
const DEPTH: f64 = 42.0;
/// The most points.
pub(super) const MAX_POINTS: f64 = 2e6;
/// Half of the distance from 1 to the next number.
const UNIT: f64 = 0.5 * f64::EPSILON;

impl Normal {
    /// The pair in the other order.
    pub fn reversed(self) -> Normal {
        let order = match self.order {
            Order::Added => Order::Removed,
            Order::Removed => Order::Added,
            Order::Replaced => Order::Replaced,
        };
        Normal { order, ..self }
    }

    /// μ of plain Gaussian noise, if the record is always used.
    pub fn plain(&self) -> Option<f64> {
        let twice = if self.order == Order::Replaced {
            2.0
        } else {
            1.0
        };
        (self.rate == 1.0).then_some(twice * self.mu)
    }

    /// ln w(x).
    fn log_mixed(&self, x: f64) -> f64 {
        let loss = self.mu * (x - 0.5 * self.mu);
        if loss > 30.0 {
            loss + log(self.rate) + log1p((1.0 - self.rate) / self.rate * exp(-loss))
        } else {
            log1p(self.rate * expm1(loss))
        }
    }

    /// The loss at a point, and ln of the density of the first distribution over that of N(0, 1).
    pub fn at(&self, x: f64) -> (f64, f64) {
        match self.order {
            Order::Added => {
                let mixed = self.log_mixed(x);
                (mixed, mixed)
            }
            Order::Removed => (-self.log_mixed(x), 0.0),
            Order::Replaced => {
                let mixed = self.log_mixed(x);
                (mixed - self.log_mixed(-x), mixed)
            }
        }
    }

    /// Whether the sum of so many losses, tilted by as much as δ needs, is all but a single one that is far out: no integral
    /// along a line tells δ then.
    ///
    /// # Formula
    /// With V = E_Q\[(e^L − 1)²\] and θ = 2/√(TV), the density of x beyond 6 is tilted to e^(θL(x) − x²/2), and one in T steps
    /// is there where this exceeds 1/T.
    pub fn is_of_rare_losses(&self, steps: f64) -> bool {
        const FIRST: f64 = 6.0;
        if self.rate == 1.0 {
            return false;
        }
        let deviation = self.rate * expm1((self.mu * self.mu).at_most(700.0)).sqrt();
        let theta = 2.0 / (steps.sqrt() * deviation);
        let last = self.mu * (theta + 1.0) + REACH;
        let most = log(steps);
        // Of the other order, the losses that are far out are below 0.
        let order = match self.order {
            Order::Removed => Order::Added,
            order => order,
        };
        let other = Normal { order, ..*self };
        let mut x = FIRST;
        while x < last {
            if theta * other.at(x).0 - 0.5 * x * x + most > 0.0 {
                return true;
            }
            x *= 1.05;
        }
        false
    }

    /// Where the tilted density is.
    fn ends(&self, theta: f64) -> (f64, f64) {
        let up = self.mu * (theta + 1.0);
        let down = self.mu * theta.at_least(0.0);
        match self.order {
            Order::Added => (-REACH, up + REACH),
            Order::Removed => {
                // Farther down the mixture does not change any more.
                let ratio = log((1.0 - self.rate) / (self.rate * (1.0 + theta.abs()))) - 7.0;
                let still = (ratio / self.mu + 0.5 * self.mu).at_most(0.0);
                let up = self.mu * (-theta).at_least(0.0);
                ((-down).at_least(still) - REACH, up + REACH)
            }
            Order::Replaced => (-down - REACH, up + REACH),
        }
    }

    /// The angle of w(x + ia), which grows with x.
    fn angle(&self, x: f64, a: f64) -> f64 {
        let log_odds = self.mu * (x - 0.5 * self.mu) + log(self.rate) - log1p(-self.rate);
        let odds = exp(log_odds.at_most(300.0));
        atan2(odds * sin(self.mu * a), 1.0 + odds * cos(self.mu * a))
    }

    /// The distance of points with which the trapezoidal rule gives E\[e^((θ + it)L)\] for |t| up to a limit.
    ///
    /// # Formula
    /// The integrand is analytic where w has no zero. At x ± ia with μa ≤ π/2, |w| is at most w(x) and at least
    /// cos(μa/2)·w(x), and e^(it·ln w) at most e^(t·angle): so the rule with step h is wrong by at most
    /// 2e^(a²/2 + t·angle − 2πa/h)·cos(μa/2)^−θ of the moment of θ.
    ///
    /// # References
    /// L. N. Trefethen, J. A. C. Weideman, *The exponentially convergent trapezoidal rule*, theorem 5.1,
    /// doi:10.1137/130932132.
    fn step(&self, theta: f64, limit: f64, steps: f64) -> f64 {
        let a = STRIP.at_most(FRAC_PI_2 / self.mu);
        let (low, high) = self.ends(theta);
        let angle = match self.order {
            Order::Added | Order::Removed => self.angle(high, a),
            Order::Replaced => self.angle(high, a) + self.angle(-low, a),
        };
        let lost = -theta.at_least(0.0) * log(cos(0.5 * self.mu * a));
        TAU * a / (DEPTH + log(steps) + 0.5 * a * a + limit * angle + lost)
    }

    /// The number of points for |t| up to a limit.
    pub fn points(&self, theta: f64, limit: f64, steps: f64) -> f64 {
        let (low, high) = self.ends(theta);
        (high - low) / self.step(theta, limit, steps)
    }

    /// The step tilted by θ, for E\[e^((θ + it)L)\] with |t| up to a limit.
    pub fn tilted(&self, theta: f64, limit: f64, steps: f64) -> Tilted {
        let (low, high) = self.ends(theta);
        let step = self.step(theta, limit, steps);
        let count = ((high - low) / step).ceil() as usize;
        let log_unit = log(step) - 0.5 * log(2.0 * PI);
        let points = (0..=count).map(|k| {
            let x = low + step * k as f64;
            let (loss, density) = self.at(x);
            (loss, log_unit - 0.5 * x * x + density + theta * loss)
        });
        Tilted::new(points)
    }
}

/// Weights below this part of the largest are left out.
const NEGLIGIBLE: f64 = 1e-30;

impl Tilted {
    /// Of losses with the logarithms of their tilted masses.
    pub fn new(points: impl Iterator<Item = (f64, f64)>) -> Tilted {
        let (losses, exponents): (Vec<f64>, Vec<f64>) = points.unzip();
        let most = exponents.iter().copied();
        let most = most.fold(f64::NEG_INFINITY, f64::at_least);
        let mut kept = (Vec::new(), Vec::new());
        let (mut sum, mut first) = (0.0, 0.0);
        let (mut rounded, mut size) = (0.0, 0.0);
        for (loss, exponent) in losses.into_iter().zip(exponents) {
            let weight = exp(exponent - most);
            if weight < NEGLIGIBLE {
                continue;
            }
            sum += weight;
            first += weight * loss;
            rounded += weight * (exponent.abs() + most.abs());
            size += weight * loss.abs();
            kept.0.push(weight);
            kept.1.push(loss);
        }
        kept.0.iter_mut().for_each(|weight| *weight /= sum);
        let mean = first / sum;
        let spread = kept.0.iter().zip(&kept.1);
        let variance = spread.map(|(p, l)| p * (l - mean) * (l - mean)).sum();
        Tilted {
            weights: kept.0,
            losses: kept.1,
            log_moment: most + log(sum),
            mean,
            variance,
            exponent: rounded / sum,
            size: size / sum,
        }
    }

    /// By how much, relative to the moment of θ, rounding may change that of θ + it.
    pub fn rounding(&self, t: f64) -> f64 {
        UNIT * (400.0 + 2.0 * self.exponent + 4.0 * t * self.size)
    }

    /// By how much rounding may change K(θ).
    pub fn log_rounding(&self) -> f64 {
        UNIT * (64.0 + 2.0 * self.exponent)
    }
}
