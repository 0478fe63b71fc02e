//! How far apart two observations are.

use serde::Serialize;

/// Runs an expression with the type of a numeric metric.
macro_rules! with_norm {
    ($metric:expr, $norm:ident => $run:expr) => {
        match $metric {
            $crate::Metric::Manhattan => {
                type $norm = $crate::metric::Absolutes;
                $run
            }
            $crate::Metric::Chebyshev => {
                type $norm = $crate::metric::Largest;
                $run
            }
            _ => {
                type $norm = $crate::metric::Squares;
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

    /// The key between two points: the square of their Euclidean distance, else their distance. All searches sum it in
    /// the order of the columns, so that equal inputs give equal bits.
    pub fn key(self, x: &[f64], y: &[f64]) -> f64 {
        let pairs = x.iter().zip(y);
        with_norm!(self, N => pairs.fold(0.0, |sum, (a, b)| N::add(sum, a - b)))
    }

    /// The distance that a key stands for.
    pub fn distance(self, key: f64) -> f64 {
        if self == Metric::Euclidean {
            key.sqrt()
        } else {
            key
        }
    }
}

/// A metric on numbers whose keys are summed column by column. Every kernel sums in the order of the
/// columns and without fused operations: equal inputs give equal bits.
pub(crate) trait Norm: Copy + Send + Sync {
    /// The key with one more column. Never decreases in `|difference|` or `key`, rounding included.
    fn add(key: f64, difference: f64) -> f64;

    /// The key with another, no smaller difference in one of the columns that it has.
    fn instead(key: f64, of: f64, difference: f64) -> f64;
}

/// Squared Euclidean distance.
#[derive(Clone, Copy)]
pub(crate) struct Squares;

/// Manhattan distance.
#[derive(Clone, Copy)]
pub(crate) struct Absolutes;

/// Chebyshev distance.
#[derive(Clone, Copy)]
pub(crate) struct Largest;

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

pub(crate) use with_norm;
