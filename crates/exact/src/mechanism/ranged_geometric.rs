//! Geometric mechanisms on a range: what they are given, how they are written and bound. They differ in what happens
//! at the ends.

use std::fmt;

use super::geometric::GeometricNoise;
use super::normalized_geometric::Normalized;
use super::ranged::{self, Range, Ranged};
use super::truncated_geometric::Clamped;
use super::{BoundMechanism, Build, Entry, Mechanism, Secrets, secrets};
use leakgauge_base::error::Result;
use leakgauge_base::grammar::{Arguments, Parameter, format_number};

const fn parameters(nu: &'static str) -> [Parameter; 4] {
    [
        Parameter::positional("nu", nu),
        secrets::PARAMETER,
        ranged::SPACING,
        ranged::OBSERVATIONS,
    ]
}

pub(super) const NORMALIZED: Entry = Entry {
    name: "normalized-geometric",
    about: "outputs a number of a range with geometric weights around the secret",
    parameters: &parameters("the rate ν: o has weight exp(-ν·|o − s|); at least 1e-12"),
    build: Build::Alone(|arguments| build(Ends::Normalized, arguments)),
};

pub(super) const TRUNCATED: Entry = Entry {
    name: "truncated-geometric",
    about: "adds two-sided geometric noise and clamps the sum to a range",
    parameters: &parameters("the rate ν of the noise; at least 1e-12"),
    build: Build::Alone(|arguments| build(Ends::Truncated, arguments)),
};

/// A geometric mechanism whose output is a whole number of a range: q^|o − c| with q = e^−ν around the center c of
/// the secret, and [`Ends`] for what would be outside.
///
/// # Conditions
/// ν ≥ 1e-12; centers are whole numbers in the range.
#[derive(Debug, Clone, PartialEq)]
pub struct RangedGeometric {
    /// The rate ν.
    pub nu: f64,
    /// Secrets and observations.
    pub range: Range,
    /// What becomes of the mass outside of the range.
    pub ends: Ends,
}

/// What a geometric mechanism does with the mass outside of its range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// The weights e^(−ν|o − c|) of each secret are normalized by their sum over the range.
    ///
    /// # Formula
    /// With q = e^−ν and Z(c) = Σ_o q^|o − c|: P(o | s) = q^|o − c|/Z(c). For centers a < b, a is more
    /// likely up to t = ⌊(a + b)/2 + ln(Z(b)/Z(a))/2ν⌋ and b beyond it, so Bayes security is
    /// P(o ≤ t | b) + P(o > t | a), two geometric series. ε = ν(b − a) + |ln(Z(b)/Z(a))|.
    ///
    /// # Conditions
    /// Total variation has absolute error about 1e-16, Bayes security relative error about 1e-16.
    ///
    /// # References
    /// G. Cherubin, K. Chatzikokolakis, C. Palamidessi, *F-BLEAU: fast black-box leakage estimation*,
    /// doi:10.1109/SP.2019.00073 (geometric channels). Papers define the ends of the range in different ways.
    Normalized,
    /// Two-sided geometric noise is added to the center, and the sum is clamped to the range.
    ///
    /// # Formula
    /// With q = e^−ν: P(o | s) = (1 − q)/(1 + q)·q^|o − c| inside of the range, q^(c − low)/(1 + q) at its low
    /// end and q^(high − c)/(1 + q) at its high end. All figures are those of
    /// [`Geometric`](super::Geometric): the best test between two centers in the range is the side of
    /// their midpoint, which clamping preserves.
    ///
    /// # References
    /// A. Ghosh, T. Roughgarden, M. Sundararajan, *Universally utility-maximizing privacy mechanisms*,
    /// section 2.3, doi:10.1137/09076828X.
    Truncated,
}

fn build(ends: Ends, arguments: &Arguments<'_>) -> Result<Box<dyn Mechanism>> {
    Ok(Box::new(RangedGeometric {
        nu: ranged::nu(arguments)?,
        range: Range::from_arguments(arguments)?,
        ends,
    }))
}

impl fmt::Display for RangedGeometric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entry = match self.ends {
            Ends::Normalized => NORMALIZED,
            Ends::Truncated => TRUNCATED,
        };
        let (nu, range) = (format_number(self.nu), self.range.suffix());
        write!(f, "{}(nu={nu}{range})", entry.name)
    }
}

impl Mechanism for RangedGeometric {
    fn declared_secrets(&self) -> Option<Vec<String>> {
        self.range.secrets.map(Secrets::labels)
    }

    fn declared_count(&self) -> Option<u64> {
        self.range.secrets.map(Secrets::count)
    }

    fn bind(&self, labels: &[String]) -> Result<Box<dyn BoundMechanism>> {
        let (centers, low, high) = self.range.bind(&self.to_string(), labels)?;
        let nu = self.nu;
        Ok(match self.ends {
            Ends::Normalized => {
                let family = Normalized { nu, low, high };
                Box::new(Ranged { family, centers })
            }
            Ends::Truncated => {
                let noise = GeometricNoise { nu };
                let family = Clamped { noise, low, high };
                Box::new(Ranged { family, centers })
            }
        })
    }
}
