//! Geometric weights on a range, normalized there.

use crate::extreme::Extreme;
use libm::{exp, expm1, log1p};
use rand::{Rng, RngExt};

use super::ranged::Monotone;

/// The weights e^(−ν|o − c|) on the whole numbers from low to high; ν may be 0.
#[derive(Debug, Clone)]
pub(super) struct Normalized {
    pub(super) nu: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Normalized {
    /// Σ e^(−νi) over i from 0 to n − 1.
    fn series(&self, n: f64) -> f64 {
        if self.nu == 0.0 {
            n
        } else {
            expm1(-self.nu * n) / expm1(-self.nu)
        }
    }

    fn power(&self, n: f64) -> f64 {
        exp(-self.nu * n)
    }

    /// The weights below a center, and those from it on.
    fn sides(&self, center: f64) -> (f64, f64) {
        let below = self.power(1.0) * self.series(center - self.low);
        (below, self.series(self.high - center + 1.0))
    }

    /// Z.
    fn total(&self, center: f64) -> f64 {
        let (below, above) = self.sides(center);
        below + above
    }

    /// ln(Z(b)/Z(a)) for a < b, through the difference of both: what they share cancels.
    ///
    /// # Formula
    /// Z(b) − Z(a) = (1 − q^(b−a))·(q^(a−l+1) − q^(h−b+1))/(1 − q) on the range from l to h.
    fn log_ratio(&self, a: f64, b: f64) -> f64 {
        if self.nu == 0.0 {
            return 0.0;
        }
        let (left, right) = (a - self.low, self.high - b);
        let apart = if left <= right {
            -self.power(left + 1.0) * expm1(-self.nu * (right - left))
        } else {
            self.power(right + 1.0) * expm1(-self.nu * (left - right))
        };
        log1p(self.series(b - a) * apart / self.total(a))
    }

    /// The last number at which a is more likely than b.
    fn split(&self, a: f64, b: f64) -> f64 {
        if self.nu == 0.0 {
            return a;
        }
        let split = 0.5 * (a + b) + self.log_ratio(a, b) / (2.0 * self.nu);
        split.floor().clamp(a, b - 1.0)
    }

    /// The probability of at most x, for x below the center.
    fn lower_tail(&self, center: f64, x: f64) -> f64 {
        self.power(center - x) * self.series(x - self.low + 1.0) / self.total(center)
    }

    /// The probability of more than x, for x not below the center.
    fn upper_tail(&self, center: f64, x: f64) -> f64 {
        self.power(x + 1.0 - center) * self.series(self.high - x) / self.total(center)
    }
}

/// The most whole numbers between two centers that are summed one by one; farther apart nothing cancels.
const MAX_BETWEEN: f64 = 1e6;

impl Monotone for Normalized {
    fn total_variation(&self, a: f64, b: f64) -> f64 {
        let split = self.split(a, b);
        if split - a > MAX_BETWEEN {
            return (self.distribution(a, split) - self.lower_tail(b, split)).at_least(0.0);
        }
        let excess = |mass: f64, o: f64| -mass * expm1(-self.loss(a, b, o));
        let between = (1..=(split - a) as u64).map(|k| {
            let o = a + k as f64;
            excess(self.probability(a, o), o)
        });
        let below = excess(self.distribution(a, a), a);
        (below + between.sum::<f64>()).clamp(0.0, 1.0)
    }

    fn bayes_security(&self, a: f64, b: f64) -> f64 {
        let split = self.split(a, b);
        (self.lower_tail(b, split) + self.upper_tail(a, split)).at_most(1.0)
    }

    /// The ratio is extreme, and constant, on either side of both centers.
    fn epsilon(&self, a: f64, b: f64) -> f64 {
        self.nu * (b - a) + self.log_ratio(a, b).abs()
    }

    fn loss(&self, a: f64, b: f64, observation: f64) -> f64 {
        let ratio = if a < b {
            self.log_ratio(a, b)
        } else {
            -self.log_ratio(b, a)
        };
        let nearer = (observation - b).abs() - (observation - a).abs();
        self.nu * nearer + ratio
    }

    fn ends(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    fn probability(&self, center: f64, observation: f64) -> f64 {
        self.power((observation - center).abs()) / self.total(center)
    }

    fn distribution(&self, center: f64, x: f64) -> f64 {
        if x < center {
            return self.lower_tail(center, x);
        }
        let (below, _) = self.sides(center);
        (below + self.series(x - center + 1.0)) / self.total(center)
    }

    /// Draws a side, then a truncated geometric number by inverting its distribution function.
    fn sample(&self, center: f64, rng: &mut dyn Rng) -> f64 {
        let (below, above) = self.sides(center);
        let left = rng.random::<f64>() * (below + above) < below;
        let count = if left {
            center - self.low
        } else {
            self.high - center + 1.0
        };
        let u: f64 = rng.random();
        let steps = if self.nu == 0.0 {
            u * count
        } else {
            log1p(u * expm1(-self.nu * count)) / -self.nu
        };
        let steps = steps.floor().at_most(count - 1.0);
        if left {
            center - 1.0 - steps
        } else {
            center + steps
        }
    }
}
