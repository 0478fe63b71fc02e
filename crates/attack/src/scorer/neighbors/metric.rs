//! How far apart two observations are.

use serde::Serialize;

use crate::scorer::neighbors::LN_NEAR;

/// Runs an expression with the type of a numeric metric.
macro_rules! with_norm {
    ($metric:expr, $norm:ident => $run:expr) => {
        match $metric {
            $crate::scorer::neighbors::Metric::Manhattan => {
                type $norm = $crate::scorer::neighbors::metric::Absolutes;
                $run
            }
            $crate::scorer::neighbors::Metric::Chebyshev => {
                type $norm = $crate::scorer::neighbors::metric::Largest;
                $run
            }
            _ => {
                type $norm = $crate::scorer::neighbors::metric::Squares;
                $run
            }
        }
    };
}

/// A distance between observations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Metric {
    /// Root of the sum of squared differences of the numeric columns.
    #[default]
    Euclidean,
    /// Sum of absolute differences of the numeric columns.
    Manhattan,
    /// Largest absolute difference of the numeric columns.
    Chebyshev,
    /// Number of columns that differ, numeric or categorical.
    Hamming,
}

impl Metric {
    /// All of them.
    pub const ALL: [Metric; 4] = [
        Metric::Euclidean,
        Metric::Manhattan,
        Metric::Chebyshev,
        Metric::Hamming,
    ];

    /// Its name, for the report.
    pub fn name(self) -> &'static str {
        match self {
            Metric::Euclidean => "Euclidean",
            Metric::Manhattan => "Manhattan",
            Metric::Chebyshev => "Chebyshev",
            Metric::Hamming => "Hamming",
        }
    }

    /// The logarithm of a mean of ascending distances given as the metric's keys: squares if it is
    /// Euclidean. Ties in the k-th distance, which rounded data has everywhere, are broken by the
    /// nearer ones.
    pub(super) fn ln_mean(self, ascending: &[f64]) -> f64 {
        let mean = ascending.iter().sum::<f64>() / ascending.len() as f64;
        let power = if self == Metric::Euclidean { 0.5 } else { 1.0 };
        (power * mean.ln()).max(LN_NEAR)
    }

    /// The key between two points, summed as everywhere.
    pub(super) fn key(self, x: &[f64], y: &[f64]) -> f64 {
        let pairs = x.iter().zip(y);
        with_norm!(self, N => pairs.fold(0.0, |sum, (a, b)| N::add(sum, a - b)))
    }

    /// The distance that a key stands for.
    pub(super) fn distance(self, key: f64) -> f64 {
        if self == Metric::Euclidean {
            key.sqrt()
        } else {
            key
        }
    }
}

/// A metric on numbers whose keys are summed column by column. Every kernel sums in the order of the
/// columns and without fused operations: equal inputs give equal bits.
pub(super) trait Norm: Copy + Send + Sync {
    /// The key with one more column. Never decreases in `|difference|` or `key`, rounding included.
    fn add(key: f64, difference: f64) -> f64;

    /// The key with another, no smaller difference in one of the columns that it has.
    fn instead(key: f64, of: f64, difference: f64) -> f64;
}

/// Squared Euclidean distance.
#[derive(Clone, Copy)]
pub(super) struct Squares;

/// Manhattan distance.
#[derive(Clone, Copy)]
pub(super) struct Absolutes;

/// Chebyshev distance.
#[derive(Clone, Copy)]
pub(super) struct Largest;

impl Norm for Squares {
    #[inline(always)]
    fn add(key: f64, difference: f64) -> f64 {
        key + difference * difference
    }

    #[inline(always)]
    fn instead(key: f64, of: f64, difference: f64) -> f64 {
        key - of * of + difference * difference
    }
}

impl Norm for Absolutes {
    #[inline(always)]
    fn add(key: f64, difference: f64) -> f64 {
        key + difference.abs()
    }

    #[inline(always)]
    fn instead(key: f64, of: f64, difference: f64) -> f64 {
        key - of.abs() + difference.abs()
    }
}

impl Norm for Largest {
    #[inline(always)]
    fn add(key: f64, difference: f64) -> f64 {
        let difference = difference.abs();
        if difference > key { difference } else { key }
    }

    #[inline(always)]
    fn instead(key: f64, _: f64, difference: f64) -> f64 {
        Self::add(key, difference)
    }
}

pub(super) use with_norm;
