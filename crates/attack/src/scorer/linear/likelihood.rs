//! The penalized likelihood of a multinomial logistic regression, and where it is largest.

use leakgauge_base::parallel;
use linfa_linalg::cholesky::CholeskyInplace;
use linfa_linalg::triangular::{SolveTriangularInplace, UPLO};
use ndarray::{Array1, Array2, ArrayView2, s};

use super::optimizer;

/// Rows with their classes and how often each occurs.
pub struct Rows {
    /// Features of a row, the last of which is 1.
    pub points: Array2<f64>,
    pub classes: Vec<u32>,
    pub counts: Vec<f64>,
    /// The number of classes.
    pub all: usize,
}

/// Rows of a block: blocks are added up in their order, whatever thread had them.
const BLOCK: usize = 2048;
/// Rows that tell how features vary together.
const MOST_FOR_SCALE: usize = 20_000;
/// Features beyond which only their own sizes are made alike: a factor would take longer than all the rest.
const MOST_FULL: usize = 200;

/// The weights, features × classes, with the largest penalized likelihood.
///
/// # Formula
/// max Σ_i n_i ln p(class i | x_i) − ½ λ Σ w², p(c | x) = exp(w_c·x) / Σ_c′ exp(w_c′·x). The last weight of a class,
/// its intercept, has no penalty.
///
/// With all weights 0 and K classes, the second derivative in the weights of one class is H = (K − 1)/K² Σ n_i x_i
/// x_iᵀ + λI. In the coordinates Lᵀw, H = LLᵀ, it is the identity, and few steps are needed. Of more than 200 features,
/// or if rounding leaves H no factor, its diagonal is taken.
///
/// # Errors
/// The optimizer diverged.
pub fn maximize(rows: &Rows, penalty: f64, most_steps: usize) -> Result<Array2<f64>, String> {
    let factor = Factor::of(rows, penalty);
    let shape = (rows.points.ncols(), rows.all);
    let weights_of = |at: &[f64]| -> Array2<f64> {
        let mut weights = as_matrix(at, shape).to_owned();
        factor.divide_transposed(&mut weights);
        weights
    };
    let loss = |at: &[f64]| {
        let weights = weights_of(at);
        let (value, mut gradient) = penalized(rows, &weights, penalty);
        factor.divide(&mut gradient);
        (value, gradient.into_raw_vec_and_offset().0)
    };
    let start = vec![0.0; shape.0 * shape.1];
    let best = optimizer::minimize(start, &loss, most_steps);
    let weights = weights_of(&best);
    let finite = weights.iter().all(|weight| weight.is_finite());
    finite
        .then_some(weights)
        .ok_or_else(|| "the optimizer diverged".to_owned())
}

fn as_matrix(values: &[f64], shape: (usize, usize)) -> ArrayView2<'_, f64> {
    ArrayView2::from_shape(shape, values).expect("as many values as weights")
}

/// The Cholesky factor L of H, or of its diagonal alone.
enum Factor {
    Full(Array2<f64>),
    Diagonal(Array1<f64>),
}

impl Factor {
    fn of(rows: &Rows, penalty: f64) -> Factor {
        let step = rows.points.nrows().div_ceil(MOST_FOR_SCALE).max(1);
        let mut weighted = rows.points.slice(s![..;step, ..]).to_owned();
        let counts = rows.counts.iter().step_by(step);
        for (mut point, count) in weighted.rows_mut().into_iter().zip(counts) {
            point *= count.sqrt();
        }
        let classes = rows.all as f64;
        let flat = (classes - 1.0) / (classes * classes) * step as f64;
        if weighted.ncols() <= MOST_FULL {
            let mut second = weighted.t().dot(&weighted) * flat;
            let diagonal = second.diag_mut();
            diagonal.into_iter().for_each(|value| *value += penalty);
            // Columns that are nearly sums of others may have none, by rounding.
            if let Ok(factor) = second.cholesky_into() {
                return Factor::Full(factor);
            }
        }
        let columns = weighted.columns().into_iter();
        let second = columns.map(|column| (flat * column.dot(&column) + penalty).sqrt());
        Factor::Diagonal(second.collect())
    }

    /// L⁻¹ of it.
    fn divide(&self, values: &mut Array2<f64>) {
        match self {
            Factor::Full(factor) => solve(factor.view(), values, UPLO::Lower),
            Factor::Diagonal(roots) => divide_rows(values, roots),
        }
    }

    /// L⁻ᵀ of it.
    fn divide_transposed(&self, values: &mut Array2<f64>) {
        match self {
            Factor::Full(factor) => solve(factor.t(), values, UPLO::Upper),
            Factor::Diagonal(roots) => divide_rows(values, roots),
        }
    }
}

fn solve(factor: ArrayView2<'_, f64>, values: &mut Array2<f64>, triangle: UPLO) {
    let solved = factor.solve_triangular_inplace(values, triangle);
    solved.expect("a factor has no zero on its diagonal");
}

fn divide_rows(values: &mut Array2<f64>, by: &Array1<f64>) {
    for (mut row, by) in values.rows_mut().into_iter().zip(by) {
        row /= *by;
    }
}

/// The negative of what is maximized, and its gradient.
fn penalized(rows: &Rows, weights: &Array2<f64>, penalty: f64) -> (f64, Array2<f64>) {
    let parts = rows.points.nrows().div_ceil(BLOCK);
    let parts = parallel::map(parts, |part| of_block(rows, weights, part * BLOCK));
    let (mut value, mut gradient) = (0.0, Array2::zeros(weights.raw_dim()));
    for (loss, slope) in parts {
        value += loss;
        gradient += &slope;
    }
    let inner = s![..weights.nrows() - 1, ..];
    let penalized = weights.slice(inner);
    value += 0.5 * penalty * penalized.iter().map(|weight| weight * weight).sum::<f64>();
    gradient.slice_mut(inner).scaled_add(penalty, &penalized);
    (value, gradient)
}

/// Negative logarithms of likelihoods of the rows from `from` on, and their gradient.
fn of_block(rows: &Rows, weights: &Array2<f64>, from: usize) -> (f64, Array2<f64>) {
    let to = rows.points.nrows().min(from + BLOCK);
    let points = rows.points.slice(s![from..to, ..]);
    // Scores at first, then what each is wrong by.
    let mut scores = points.dot(weights);
    let mut loss = 0.0;
    for (at, mut scores) in (from..to).zip(scores.rows_mut()) {
        let (class, count) = (rows.classes[at] as usize, rows.counts[at]);
        let largest = scores.fold(f64::NEG_INFINITY, |a, &b| a.max(b));
        let own = scores[class] - largest;
        scores.mapv_inplace(|score| (score - largest).exp());
        let sum = scores.sum();
        loss += count * (sum.ln() - own);
        scores *= count / sum;
        scores[class] -= count;
    }
    (loss, points.t().dot(&scores))
}
