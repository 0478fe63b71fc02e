//! Geometric weights on a range, normalized there.

use std::fmt;

use libm::{exp, expm1, log, log1p};
use rand::{Rng, RngExt};

use super::ranged::{self, Monotone, Range, Ranged};
use super::{BoundMechanism, Entry, Mechanism, Secrets, secrets};
use leakgauge_base::error::Result;
use leakgauge_base::grammar::{Arguments, Parameter, format_number};

pub(super) const ENTRY: Entry = Entry {
    name: "normalized-geometric",
    about: "outputs a number of a range with geometric weights around the secret",
    parameters: &[
        Parameter::positional(
            "nu",
            "the rate ν: o has weight exp(-ν·|o − s|); at least 1e-12",
        ),
        secrets::PARAMETER,
        ranged::SPACING,
        ranged::OBSERVATIONS,
    ],
    build,
};

/// Outputs a whole number of a range with weight e^(−ν|o − c|), where c is the center of the secret. The weights of
/// each secret are normalized by their sum.
///
/// # Formula
/// With q = e^−ν and Z(c) = Σ_o q^|o − c|: P(o | s) = q^|o − c|/Z(c). For centers a < b, a is more
/// likely up to t = ⌊(a + b)/2 + ln(Z(b)/Z(a))/2ν⌋ and b beyond it, so Bayes security is
/// P(o ≤ t | b) + P(o > t | a), two geometric series. ε = ν(b − a) + |ln(Z(b)/Z(a))|.
///
/// # Conditions
/// ν ≥ 1e-12; centers are whole numbers in the range. Total variation has absolute error about
/// 1e-16, Bayes security relative error about 1e-16.
///
/// # References
/// G. Cherubin, K. Chatzikokolakis, C. Palamidessi, *F-BLEAU: fast black-box leakage estimation*,
/// doi:10.1109/SP.2019.00073 (geometric channels). Papers define the ends of the range in different ways.
#[derive(Debug, Clone, PartialEq)]
pub struct NormalizedGeometric {
    /// The rate ν.
    pub nu: f64,
    /// Secrets and observations.
    pub range: Range,
}

fn build(arguments: &Arguments<'_>) -> Result<Box<dyn Mechanism>> {
    Ok(Box::new(NormalizedGeometric {
        nu: ranged::nu(arguments)?,
        range: Range::from_arguments(arguments)?,
    }))
}

impl fmt::Display for NormalizedGeometric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (nu, range) = (format_number(self.nu), self.range.suffix());
        write!(f, "normalized-geometric(nu={nu}{range})")
    }
}

impl Mechanism for NormalizedGeometric {
    fn declared_secrets(&self) -> Option<Vec<String>> {
        self.range.secrets.map(Secrets::labels)
    }

    fn declared_count(&self) -> Option<u64> {
        self.range.secrets.map(Secrets::count)
    }

    fn bind(&self, labels: &[String]) -> Result<Box<dyn BoundMechanism>> {
        let (centers, low, high) = self.range.bind(&self.to_string(), labels)?;
        let family = Normalized {
            nu: self.nu,
            low,
            high,
        };
        Ok(Box::new(Ranged { family, centers }))
    }
}

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

    /// ln(Z(b)/Z(a)).
    fn log_ratio(&self, a: f64, b: f64) -> f64 {
        log(self.total(b) / self.total(a))
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

impl Monotone for Normalized {
    fn total_variation(&self, a: f64, b: f64) -> f64 {
        let split = self.split(a, b);
        (self.distribution(a, split) - self.lower_tail(b, split)).max(0.0)
    }

    fn bayes_security(&self, a: f64, b: f64) -> f64 {
        let split = self.split(a, b);
        (self.lower_tail(b, split) + self.upper_tail(a, split)).min(1.0)
    }

    /// The ratio is extreme, and constant, on either side of both centers.
    fn epsilon(&self, a: f64, b: f64) -> f64 {
        self.nu * (b - a) + self.log_ratio(a, b).abs()
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
        let steps = steps.floor().min(count - 1.0);
        if left {
            center - 1.0 - steps
        } else {
            center + steps
        }
    }
}
