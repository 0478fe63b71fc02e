//! The space in which neighbors are looked for.

use linfa_linalg::eigh::EighInto;
use ndarray::Array2;
use serde::Serialize;

use crate::scorer::scaling::Scaling;
use leakgauge_log::observations::{Counts, Observations};

/// How numeric columns are prepared, learned on the fit rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum TransformKind {
    /// Every column brought to the same spread.
    #[default]
    Scaled,
    /// Scaled, then uncorrelated and of unit variance.
    Whitened,
    /// Scaled, then the principal components that hold 99 % of the variance.
    Principal,
}

impl TransformKind {
    /// Its name, for the report.
    pub fn name(self) -> &'static str {
        match self {
            TransformKind::Scaled => "scaled",
            TransformKind::Whitened => "whitened",
            TransformKind::Principal => "principal components",
        }
    }
}

/// A transform that was learned.
pub struct Transform {
    scaling: Scaling,
    rotation: Option<Rotation>,
}

/// Directions, row-major, applied to what exceeds the mean.
struct Rotation {
    mean: Vec<f64>,
    directions: Vec<f64>,
}

/// Rows that covariances are learned from, at most.
const MAX_ROWS: usize = 20_000;
/// Directions of less than this share of the largest standard deviation are rounding errors.
const MIN_DEVIATION: f64 = 1e-6;
/// The share of the variance that principal components keep.
const VARIANCE_KEPT: f64 = 0.99;
/// Squares of what is larger would overflow when summed.
const FARTHEST: f64 = 1e140;

impl Transform {
    /// Learns a transform.
    ///
    /// # Errors
    /// Why the directions cannot be found.
    pub fn fit(
        kind: TransformKind,
        observations: &Observations,
        fit: &Counts,
    ) -> Result<Self, String> {
        let scaling = Scaling::fit(observations, fit);
        let rotation = match kind {
            TransformKind::Scaled => None,
            _ => Some(Rotation::fit(kind, observations, fit, &scaling)?),
        };
        Ok(Transform { scaling, rotation })
    }

    /// The number of columns that it makes.
    pub fn dimensions(&self) -> usize {
        match &self.rotation {
            None => self.scaling.dimensions(),
            Some(rotation) => rotation.directions.len() / rotation.mean.len(),
        }
    }

    /// Replaces `out` by the transformed columns.
    pub fn apply(&self, numbers: &[f64], out: &mut Vec<f64>) {
        self.scaling.apply(numbers, out);
        if let Some(rotation) = &self.rotation {
            *out = rotation.apply(out);
        }
    }
}

impl Rotation {
    fn fit(
        kind: TransformKind,
        observations: &Observations,
        fit: &Counts,
        scaling: &Scaling,
    ) -> Result<Self, String> {
        let columns = scaling.dimensions();
        let points = thinned(observations, fit, scaling);
        if points.len() < 2 * columns || columns < 2 {
            return Err("fewer than two rows or columns that vary".to_owned());
        }
        let (mean, covariance) = moments(&points, columns);
        if covariance.iter().any(|value| !value.is_finite()) {
            return Err("the columns have no finite covariance".to_owned());
        }
        let (variances, vectors) = covariance.eigh_into().map_err(|error| error.to_string())?;
        let mut axes: Vec<(f64, Vec<f64>)> = variances
            .iter()
            .zip(vectors.columns())
            .map(|(variance, axis)| (variance.max(0.0).sqrt(), axis.to_vec()))
            .collect();
        axes.sort_by(|a, b| b.0.total_cmp(&a.0));
        let largest = axes.first().map_or(0.0, |axis| axis.0);
        axes.retain(|axis| axis.0 > MIN_DEVIATION * largest);
        if kind == TransformKind::Principal {
            keep_principal(&mut axes);
        } else {
            for (deviation, axis) in &mut axes {
                axis.iter_mut().for_each(|value| *value /= *deviation);
            }
        }
        let directions: Vec<f64> = axes.into_iter().flat_map(|axis| axis.1).collect();
        let finite = directions
            .iter()
            .chain(&mean)
            .all(|value| value.is_finite());
        if directions.is_empty() || !finite {
            return Err("the columns have no finite covariance".to_owned());
        }
        Ok(Rotation { mean, directions })
    }

    fn apply(&self, scaled: &[f64]) -> Vec<f64> {
        let along = |direction: &[f64]| -> f64 {
            let terms = direction.iter().zip(scaled).zip(&self.mean);
            let sum: f64 = terms.map(|((w, x), mean)| w * (x - mean)).sum();
            sum.clamp(-FARTHEST, FARTHEST)
        };
        self.directions
            .chunks_exact(self.mean.len())
            .map(along)
            .collect()
    }
}

/// Keeps the leading axes.
fn keep_principal(axes: &mut Vec<(f64, Vec<f64>)>) {
    let total: f64 = axes.iter().map(|axis| axis.0 * axis.0).sum();
    let mut held = 0.0;
    axes.retain(|axis| {
        let needed = held < VARIANCE_KEPT * total;
        held += axis.0 * axis.0;
        needed
    });
}

/// Scaled fit rows, row-major, evenly thinned if there are many.
fn thinned(observations: &Observations, fit: &Counts, scaling: &Scaling) -> Vec<f64> {
    let every = (fit.total() as usize).div_ceil(MAX_ROWS).max(1);
    let (mut points, mut seen, mut scaled) = (Vec::new(), 0usize, Vec::new());
    for cell in fit.cells() {
        let before = seen.div_ceil(every);
        seen += cell.count as usize;
        let taken = seen.div_ceil(every) - before;
        if taken > 0 {
            scaling.apply(observations.numbers(cell.symbol), &mut scaled);
            points.extend(scaled.repeat(taken));
        }
    }
    points
}

/// The mean and the covariance of row-major points.
fn moments(points: &[f64], columns: usize) -> (Vec<f64>, Array2<f64>) {
    let rows = (points.len() / columns) as f64;
    let mut mean = vec![0.0; columns];
    for point in points.chunks_exact(columns) {
        mean.iter_mut().zip(point).for_each(|(sum, x)| *sum += x);
    }
    mean.iter_mut().for_each(|sum| *sum /= rows);
    let mut sums = vec![0.0; columns * columns];
    for point in points.chunks_exact(columns) {
        for (i, row) in sums.chunks_exact_mut(columns).enumerate() {
            let here = point[i] - mean[i];
            for (j, sum) in row.iter_mut().enumerate() {
                *sum += here * (point[j] - mean[j]);
            }
        }
    }
    let covariance =
        Array2::from_shape_fn((columns, columns), |(i, j)| sums[i * columns + j] / rows);
    (mean, covariance)
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_log::{ReadOptions, read_from};
    use rand::{RngExt, SeedableRng};
    use std::fmt::Write;

    /// Three columns of two independent uniform numbers a, b: a + b, 100·(a − b), a.
    fn points(kind: TransformKind) -> Vec<Vec<f64>> {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
        let mut csv = "secret,x,y,z\n".to_owned();
        for row in 0..2000 {
            let (a, b) = (rng.random::<f64>(), rng.random::<f64>());
            writeln!(csv, "{},{},{},{a}", row % 2, a + b, 100.0 * (a - b)).unwrap();
        }
        let log = read_from("test", std::io::Cursor::new(csv), &ReadOptions::default()).unwrap();
        let transform = Transform::fit(kind, &log.observations, &log.counts).unwrap();
        let mut out = Vec::new();
        let ids = log.counts.symbols();
        ids.iter()
            .map(|&symbol| {
                transform.apply(log.observations.numbers(symbol), &mut out);
                out.clone()
            })
            .collect()
    }

    #[test]
    fn whitened_columns_are_uncorrelated_and_of_unit_variance_and_dependent_ones_are_gone() {
        let points = points(TransformKind::Whitened);
        assert_eq!(points[0].len(), 2);
        let flat: Vec<f64> = points.concat();
        let (mean, covariance) = moments(&flat, 2);
        for i in 0..2 {
            assert!(mean[i].abs() < 1e-9);
            for j in 0..2 {
                assert!((covariance[[i, j]] - f64::from(u8::from(i == j))).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn principal_components_keep_distances() {
        let (scaled, principal) = (
            points(TransformKind::Scaled),
            points(TransformKind::Principal),
        );
        assert_eq!(principal[0].len(), 2);
        let distance = |points: &[Vec<f64>], i: usize, j: usize| -> f64 {
            let squares = points[i]
                .iter()
                .zip(&points[j])
                .map(|(a, b)| (a - b).powi(2));
            squares.sum::<f64>().sqrt()
        };
        for (i, j) in [(0, 1), (5, 900), (77, 1999)] {
            assert!((distance(&scaled, i, j) - distance(&principal, i, j)).abs() < 1e-9);
        }
    }
}
