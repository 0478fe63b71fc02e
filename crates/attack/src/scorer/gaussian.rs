//! Guessing by normal densities: naive Bayes, linear and quadratic discriminant analysis.

use std::sync::Arc;

use linfa::Dataset;
use linfa::traits::Fit;
use linfa_bayes::{GaussianNb, NaiveBayes};
use linfa_linalg::LinalgError;
use linfa_linalg::cholesky::CholeskyInplace;
use linfa_linalg::triangular::{SolveTriangular, UPLO};
use ndarray::{Array1, Array2, ArrayView2, Axis, s};

use crate::scorer::ranking::NormalScores;
use crate::scorer::scaling::Scaling;
use crate::scorer::{Parameter, Parameters, Scorer, parameters};
use leakgauge_base::parallel;
use leakgauge_log::observations::{Counts, Observations};

/// What is assumed of how columns vary together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Covariance {
    /// Columns are independent given the secret (naive Bayes).
    Independent,
    /// All secrets share one covariance (linear discriminant analysis).
    Shared,
    /// Every secret has its own (quadratic discriminant analysis), drawn towards the shared one as if
    /// by this many rows a column.
    PerSecret(f64),
}

/// What columns are turned into first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Columns {
    /// Brought to a spread of 1.
    Scaled,
    /// Replaced by normal scores of their ranks, against heavy tails.
    Ranked,
    /// At most so many, those in which the secrets differ most, brought to a spread of 1.
    Telling(usize),
}

/// Scores an observation by the logarithm of a normal density fitted to each secret's rows; labels are
/// not looked at.
///
/// # Formula
/// score_s(x) = −½ (x − μ_s)ᵀ Σ_s⁻¹ (x − μ_s) − ½ ln det Σ_s. With n_s rows of empirical covariance S_s
/// and the pooled covariance P: Σ_s = P if shared, else (n_s S_s + k d P)/(n_s + k d), d the number of
/// columns and k the strength of shrinkage; P itself is drawn by 1 % towards its diagonal.
///
/// # References
/// Friedman 1989, Regularized Discriminant Analysis, doi:10.1080/01621459.1989.10478752.
pub struct Gaussian {
    covariance: Covariance,
    columns: Columns,
    transform: Transform,
    model: Model,
    secrets: usize,
    /// Columns that vary, whether or not they were kept.
    looked_at: usize,
}

enum Transform {
    Scaled(Scaling),
    Ranked(NormalScores),
}

enum Model {
    Naive {
        model: GaussianNb<f64, usize>,
        /// ln of the share of each secret's rows.
        ln_shares: Vec<f64>,
    },
    Shared {
        whitening: Array2<f64>,
        /// One row a secret, whitened; `None` without rows.
        means: Vec<Option<Array1<f64>>>,
    },
    PerSecret(Vec<Option<Normal>>),
}

struct Normal {
    whitening: Array2<f64>,
    mean: Array1<f64>,
    ln_scale: f64,
}

/// Sums over the rows of one secret.
struct Moments {
    rows: f64,
    mean: Array1<f64>,
    /// n_s S_s.
    scatter: Array2<f64>,
}

impl Gaussian {
    /// The score of a secret without fit rows.
    const UNKNOWN: f64 = -1e300;
    /// Drawn towards the diagonal.
    const DIAGONAL: f64 = 0.01;
    /// The same of the columns that were chosen, which are few: samples of one trace resemble those beside them closely.
    const DIAGONAL_OF_CHOSEN: f64 = 1e-4;
    /// Added to the diagonal, of columns whose spread is 1.
    const RIDGE: f64 = 1e-6;
    /// Added to variances of naive Bayes, relative to the largest.
    const SMOOTHING: f64 = 1e-3;

    /// Fits the densities.
    ///
    /// # Errors
    /// No column varies; numbers so far apart that the covariance has no Cholesky factor.
    pub fn fit(
        observations: &Observations,
        fit: &Counts,
        covariance: Covariance,
        columns: Columns,
    ) -> Result<Self, String> {
        let mut transform = match columns {
            Columns::Scaled | Columns::Telling(_) => {
                Transform::Scaled(Scaling::fit(observations, fit))
            }
            Columns::Ranked => Transform::Ranked(NormalScores::fit(observations, fit)),
        };
        let looked_at = transform.dimensions();
        if let (Columns::Telling(most), Transform::Scaled(scaling)) = (columns, &mut transform) {
            let differences = differences(observations, fit, scaling);
            scaling.keep_largest(&differences, most);
        }
        if transform.dimensions() == 0 {
            return Err("no numeric column varies".to_owned());
        }
        let model = match covariance {
            Covariance::Independent => naive(observations, fit, &transform)?,
            Covariance::Shared => {
                let moments = moments(observations, fit, &transform);
                let diagonal = match columns {
                    Columns::Telling(_) => Gaussian::DIAGONAL_OF_CHOSEN,
                    Columns::Scaled | Columns::Ranked => Gaussian::DIAGONAL,
                };
                let (whitening, _) = whitening(&pooled(&moments, diagonal))?;
                let whitened =
                    |moments: &Moments| (moments.rows > 0.0).then(|| whitening.dot(&moments.mean));
                let means = moments.iter().map(whitened).collect();
                Model::Shared { whitening, means }
            }
            Covariance::PerSecret(strength) => {
                let moments = moments(observations, fit, &transform);
                let pooled = pooled(&moments, Gaussian::DIAGONAL);
                let normals = moments.iter().map(|own| own.normal(&pooled, strength));
                Model::PerSecret(normals.collect::<Result<_, _>>()?)
            }
        };
        Ok(Gaussian {
            covariance,
            columns,
            transform,
            model,
            secrets: fit.secrets(),
            looked_at,
        })
    }
}

/// How much the secrets differ in each column: the variance of their means over that of their rows, every row weighing
/// the same.
fn differences(observations: &Observations, fit: &Counts, scaling: &Scaling) -> Vec<f64> {
    let d = scaling.dimensions();
    let rows: Vec<f64> = fit.rows().iter().map(|&rows| rows as f64).collect();
    let (mut sums, mut squares) = (vec![0.0; d * rows.len()], vec![0.0; d]);
    let mut scaled = Vec::new();
    // Squares about the first row: columns may lie far from 0.
    let mut center: Vec<f64> = Vec::new();
    for cell in fit.cells() {
        scaling.apply(observations.numbers(cell.symbol), &mut scaled);
        if center.is_empty() {
            center.clone_from(&scaled);
        }
        let count = cell.count as f64;
        let of_secret = &mut sums[cell.secret as usize * d..][..d];
        for (at, value) in scaled.iter().enumerate() {
            let from = value - center[at];
            of_secret[at] += count * from;
            squares[at] += count * from * from;
        }
    }
    let total: f64 = rows.iter().sum();
    (0..d)
        .map(|at| {
            let of_secrets = rows.iter().enumerate().filter(|(_, rows)| **rows > 0.0);
            let sums = of_secrets.map(|(secret, rows)| (sums[secret * d + at], rows));
            let (mut all, mut between) = (0.0, 0.0);
            for (sum, rows) in sums {
                all += sum;
                between += sum * sum / rows;
            }
            between -= all * all / total;
            let within = squares[at] - all * all / total - between;
            between / within.max(f64::MIN_POSITIVE)
        })
        .collect()
}

impl Transform {
    fn dimensions(&self) -> usize {
        match self {
            Transform::Scaled(scaling) => scaling.dimensions(),
            Transform::Ranked(scores) => scores.dimensions(),
        }
    }

    /// One row an observation.
    fn points(&self, observations: &Observations, ids: &[u32]) -> Array2<f64> {
        match self {
            Transform::Scaled(scaling) => {
                let d = self.dimensions();
                let (mut points, mut scaled) = (Vec::with_capacity(ids.len() * d), Vec::new());
                for &symbol in ids {
                    scaling.apply(observations.numbers(symbol), &mut scaled);
                    points.extend_from_slice(&scaled);
                }
                Array2::from_shape_vec((ids.len(), d), points).expect("d numbers a point")
            }
            Transform::Ranked(scores) => scores.of(observations, ids),
        }
    }
}

fn naive(
    observations: &Observations,
    fit: &Counts,
    transform: &Transform,
) -> Result<Model, String> {
    let cells = || fit.cells().iter();
    let repeated = |cell: &leakgauge_log::observations::Cell| {
        std::iter::repeat_n((cell.symbol, cell.secret as usize), cell.count as usize)
    };
    let ids: Vec<u32> = cells()
        .flat_map(repeated)
        .map(|(symbol, _)| symbol)
        .collect();
    let points = transform.points(observations, &ids);
    let targets: Array1<usize> = cells()
        .flat_map(repeated)
        .map(|(_, secret)| secret)
        .collect();
    let model = GaussianNb::params()
        .var_smoothing(Gaussian::SMOOTHING)
        .fit(&Dataset::new(points, targets))
        .map_err(|error| error.to_string())?;
    let rows = fit.total() as f64;
    let ln_share = |&own: &u64| (own.max(1) as f64 / rows).ln();
    Ok(Model::Naive {
        model,
        ln_shares: fit.rows().iter().map(ln_share).collect(),
    })
}

/// Blocks of so many points are handled at once.
const BLOCK: usize = 256;

fn moments(observations: &Observations, fit: &Counts, transform: &Transform) -> Vec<Moments> {
    let d = transform.dimensions();
    let mut by_secret: Vec<Vec<(u32, f64)>> = vec![Vec::new(); fit.secrets()];
    for cell in fit.cells() {
        by_secret[cell.secret as usize].push((cell.symbol, cell.count as f64));
    }
    let symbols = |block: &[(u32, f64)]| -> Vec<u32> { block.iter().map(|cell| cell.0).collect() };
    parallel::map(by_secret.len(), |secret| {
        let (cells, rows) = (&by_secret[secret], fit.rows()[secret]);
        // Sums about the mean of the first block, which is near that of all, so that each point is looked up once.
        let mut center: Option<Array1<f64>> = None;
        let (mut sum, mut scatter) = (Array1::zeros(d), Array2::zeros((d, d)));
        for block in cells.chunks(BLOCK) {
            let mut points = transform.points(observations, &symbols(block));
            let center = center.get_or_insert_with(|| points.mean_axis(Axis(0)).expect("a point"));
            points -= &*center;
            for (mut point, &(_, count)) in points.rows_mut().into_iter().zip(block) {
                sum.scaled_add(count, &point);
                point *= f64::sqrt(count);
            }
            scatter += &points.t().dot(&points);
        }
        let rows = rows as f64;
        let mut mean = center.unwrap_or_else(|| Array1::zeros(d));
        if rows > 0.0 {
            let off = &sum / rows;
            for (mut line, &here) in scatter.rows_mut().into_iter().zip(&off) {
                line.scaled_add(-rows * here, &off);
            }
            mean += &off;
        }
        Moments {
            rows,
            mean,
            scatter,
        }
    })
}

/// The covariance within secrets, drawn towards its diagonal.
fn pooled(moments: &[Moments], drawn: f64) -> Array2<f64> {
    let rows: f64 = moments.iter().map(|own| own.rows).sum();
    let secrets = moments.iter().filter(|own| own.rows > 0.0).count() as f64;
    let d = moments[0].mean.len();
    let mut pooled = Array2::zeros((d, d));
    for own in moments {
        pooled += &own.scatter;
    }
    pooled /= (rows - secrets).max(1.0);
    let diagonal = pooled.diag().to_owned();
    pooled *= 1.0 - drawn;
    pooled.diag_mut().assign(&(diagonal + Gaussian::RIDGE));
    pooled
}

/// The inverse of a triangle, by halves, whose products are fast: ((A, 0), (C, B))⁻¹ = ((A⁻¹, 0), (−B⁻¹ C A⁻¹, B⁻¹)).
fn inverse_of_lower(triangle: ArrayView2<f64>) -> Result<Array2<f64>, LinalgError> {
    /// Smaller triangles are solved for directly.
    const SMALL: usize = 48;
    let d = triangle.nrows();
    if d <= SMALL {
        return triangle.solve_triangular(&Array2::eye(d), UPLO::Lower);
    }
    let half = d / 2;
    let upper = inverse_of_lower(triangle.slice(s![..half, ..half]))?;
    let lower = inverse_of_lower(triangle.slice(s![half.., half..]))?;
    let mut inverse = Array2::zeros((d, d));
    let beside = lower.dot(&triangle.slice(s![half.., ..half])).dot(&upper);
    inverse.slice_mut(s![half.., ..half]).assign(&-beside);
    inverse.slice_mut(s![..half, ..half]).assign(&upper);
    inverse.slice_mut(s![half.., half..]).assign(&lower);
    Ok(inverse)
}

/// W with W Σ Wᵀ = I, and −½ ln det Σ.
fn whitening(covariance: &Array2<f64>) -> Result<(Array2<f64>, f64), String> {
    let factor = covariance
        .to_owned()
        .cholesky_into()
        .map_err(|_| "the columns depend on each other too closely".to_owned())?;
    let ln_scale = -factor.diag().mapv(f64::ln).sum();
    let whitening = inverse_of_lower(factor.view()).map_err(|error| error.to_string())?;
    let finite = ln_scale.is_finite() && whitening.iter().all(|value| value.is_finite());
    finite
        .then_some((whitening, ln_scale))
        .ok_or_else(|| "the numbers are too far apart for a covariance".to_owned())
}

impl Moments {
    /// The density of a secret, or `None` without rows.
    fn normal(&self, pooled: &Array2<f64>, strength: f64) -> Result<Option<Normal>, String> {
        if self.rows == 0.0 {
            return Ok(None);
        }
        let prior = strength * self.mean.len() as f64;
        let mut covariance = (&self.scatter + &(pooled * prior)) / (self.rows + prior);
        covariance
            .diag_mut()
            .mapv_inplace(|value| value + Gaussian::RIDGE);
        let (whitening, ln_scale) = whitening(&covariance)?;
        Ok(Some(Normal {
            mean: whitening.dot(&self.mean),
            whitening,
            ln_scale,
        }))
    }
}

/// −½ |z − m|².
fn ln_density(whitened: ndarray::ArrayView1<f64>, mean: &Array1<f64>) -> f64 {
    let squares = whitened.iter().zip(mean).map(|(z, m)| (z - m) * (z - m));
    -0.5 * squares.sum::<f64>()
}

impl Model {
    /// Writes the scores of points.
    fn score(&self, points: &Array2<f64>, secrets: usize, scores: &mut [f64]) {
        scores.fill(Gaussian::UNKNOWN);
        match self {
            Model::Naive { model, ln_shares } => {
                for (&&secret, joint) in &model.joint_log_likelihood(points.view()) {
                    for (row, joint) in scores.chunks_mut(secrets).zip(joint) {
                        row[secret] = joint - ln_shares[secret];
                    }
                }
            }
            Model::Shared { whitening, means } => {
                let whitened = points.dot(&whitening.t());
                for (row, z) in scores.chunks_mut(secrets).zip(whitened.axis_iter(Axis(0))) {
                    for (score, mean) in row.iter_mut().zip(means) {
                        if let Some(mean) = mean {
                            *score = ln_density(z, mean);
                        }
                    }
                }
            }
            Model::PerSecret(normals) => {
                for (secret, normal) in normals.iter().enumerate() {
                    let Some(normal) = normal else { continue };
                    let whitened = points.dot(&normal.whitening.t());
                    for (row, z) in scores.chunks_mut(secrets).zip(whitened.axis_iter(Axis(0))) {
                        row[secret] = ln_density(z, &normal.mean) + normal.ln_scale;
                    }
                }
            }
        }
    }
}

impl Scorer for Gaussian {
    fn name(&self) -> &str {
        match self.columns {
            Columns::Scaled | Columns::Ranked => "gaussian",
            Columns::Telling(_) => "template",
        }
    }

    fn memorizes(&self) -> bool {
        false
    }

    /// A mean of each column and what its own covariance has; a shared covariance turns the direction in which means
    /// differ, and so counts no more than they do.
    fn freedom(&self) -> f64 {
        let columns = self.transform.dimensions() as f64;
        if matches!(self.columns, Columns::Telling(_)) {
            // Which columns differ most was learned from all of them.
            return self.looked_at as f64;
        }
        match self.covariance {
            Covariance::Independent => 2.0 * columns,
            Covariance::Shared => columns,
            Covariance::PerSecret(_) => 0.5 * columns * (columns + 3.0),
        }
    }

    fn parameters(&self) -> Parameters {
        let columns = match self.columns {
            Columns::Scaled => "scaled",
            Columns::Ranked => "normal-scores",
            Columns::Telling(_) => "telling",
        };
        let mut all = parameters([("columns", Parameter::Word(columns.into()))]);
        if let Columns::Telling(_) = self.columns {
            let kept = self.transform.dimensions() as u64;
            all.insert("kept".to_owned(), Parameter::Count(kept));
        }
        let covariance = match self.covariance {
            Covariance::Independent => "independent-columns",
            Covariance::Shared => "shared",
            Covariance::PerSecret(strength) => {
                all.insert("shrinkage".to_owned(), Parameter::Real(strength));
                "per-secret"
            }
        };
        all.insert("covariance".to_owned(), Parameter::Word(covariance.into()));
        all
    }

    fn description(&self) -> String {
        let covariance = match self.covariance {
            Covariance::Independent => "columns independent (naive Bayes)".to_owned(),
            Covariance::Shared => "one covariance for all secrets (LDA)".to_owned(),
            Covariance::PerSecret(strength) => {
                format!("a covariance per secret (QDA), shrinkage {strength}")
            }
        };
        match self.columns {
            Columns::Scaled => covariance,
            Columns::Ranked => format!("{covariance}, on ranks"),
            Columns::Telling(_) => format!(
                "the {} columns that differ most, {covariance}",
                self.transform.dimensions()
            ),
        }
    }

    fn is_portable(&self) -> bool {
        true
    }

    fn score(&self, observations: &Observations, ids: &[u32], scores: &mut [f64]) {
        let blocks = ids
            .chunks(BLOCK)
            .zip(scores.chunks_mut(BLOCK * self.secrets));
        for (ids, scores) in blocks {
            let points = self.transform.points(observations, ids);
            self.model.score(&points, self.secrets, scores);
            for score in scores {
                // Far outliers overflow when squared.
                *score = if score.is_nan() {
                    Self::UNKNOWN
                } else {
                    score.clamp(Self::UNKNOWN, 1e300)
                };
            }
        }
    }

    fn refit(&self, observations: &Observations, fit: &Counts) -> Result<Arc<dyn Scorer>, String> {
        Ok(Arc::new(Gaussian::fit(
            observations,
            fit,
            self.covariance,
            self.columns,
        )?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_triangle_times_its_inverse_is_one() {
        for d in [1, 48, 49, 131] {
            let triangle = Array2::from_shape_fn((d, d), |(row, column)| match row.cmp(&column) {
                std::cmp::Ordering::Less => 0.0,
                std::cmp::Ordering::Equal => 1.0 + row as f64 / d as f64,
                std::cmp::Ordering::Greater => ((row * 7 + column * 3) % 11) as f64 / 100.0,
            });
            let inverse = inverse_of_lower(triangle.view()).expect("an inverse");
            let off = triangle.dot(&inverse) - Array2::<f64>::eye(d);
            assert!(off.iter().all(|off| off.abs() < 1e-10), "{d}");
        }
    }
}
