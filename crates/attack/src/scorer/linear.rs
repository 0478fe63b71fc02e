//! Guessing by a linear score: multinomial logistic regression.

use std::sync::Arc;

use linfa::traits::Fit;
use linfa::{Dataset, dataset::Labels};
use linfa_logistic::MultiLogisticRegression;
use ndarray::{Array1, Array2};

use crate::scorer::scaling::Scaling;
use crate::scorer::{Parameter, Parameters, Scorer, parameters};
use leakgauge_log::observations::{Counts, Observations};

/// Scores an observation by a linear function of its scaled numeric columns; its labels are not looked
/// at.
///
/// # Formula
/// score_s(x) = w_s·x + b_s − ln n_s, where w and b maximize the penalized likelihood of the n_s fit
/// rows of each secret. The last term takes out how often each secret was logged.
pub struct Linear {
    scaling: Scaling,
    /// Where columns lie; empty where all lie near 0.
    centers: Vec<f64>,
    /// Columns × secrets.
    weights: Array2<f64>,
    /// Intercept − ln n_s.
    offsets: Vec<f64>,
}

impl Linear {
    const PENALTY: f64 = 1.0;
    const ITERATIONS: u64 = 100;
    /// The score of a secret without fit rows.
    const UNKNOWN: f64 = -1e9;

    /// Fits the regression.
    ///
    /// # Errors
    /// What the optimizer says if it fails; fewer than two secrets with rows.
    pub fn fit(observations: &Observations, fit: &Counts) -> Result<Self, String> {
        let scaling = Scaling::fit(observations, fit);
        let centers = centers(observations, fit, &scaling);
        let (points, targets) = training(observations, fit, &scaling, &centers);
        let data = Dataset::new(points, targets);
        if data.labels().len() < 2 {
            return Err("fewer than two secrets have rows to learn from".to_owned());
        }
        let model = MultiLogisticRegression::default()
            .alpha(Self::PENALTY)
            .max_iterations(Self::ITERATIONS)
            .fit(&data)
            .map_err(|error| error.to_string())?;
        let secrets = fit.secrets();
        let mut weights = Array2::zeros((scaling.dimensions(), secrets));
        let mut offsets = vec![Self::UNKNOWN; secrets];
        for (class, &secret) in model.classes().iter().enumerate() {
            weights
                .column_mut(secret)
                .assign(&model.params().column(class));
            offsets[secret] = model.intercept()[class] - (fit.rows()[secret] as f64).ln();
        }
        let finite = weights
            .iter()
            .chain(&offsets)
            .all(|value| value.is_finite());
        finite
            .then_some(Linear {
                scaling,
                centers,
                weights,
                offsets,
            })
            .ok_or_else(|| "the optimizer diverged".to_owned())
    }
}

/// The optimizer's line search need not end where columns lie this many spreads from 0.
const FAR: f64 = 1e4;
/// What lies farther from its column's center than this is taken to lie there.
const FARTHEST: f64 = 1e3;

/// The medians of the scaled columns, if any row lies far from 0; nothing else.
fn centers(observations: &Observations, fit: &Counts, scaling: &Scaling) -> Vec<f64> {
    let (mut columns, mut scaled) = (vec![Vec::new(); scaling.dimensions()], Vec::new());
    for cell in fit.cells() {
        scaling.apply(observations.numbers(cell.symbol), &mut scaled);
        for (column, &value) in columns.iter_mut().zip(&scaled) {
            column.push(value);
        }
    }
    let is_far = |value: &f64| value.is_nan() || value.abs() > FAR;
    if !columns.iter().flatten().any(is_far) {
        return Vec::new();
    }
    let median = |column: &mut Vec<f64>| {
        column.sort_unstable_by(f64::total_cmp);
        column[column.len() / 2]
    };
    columns.iter_mut().map(median).collect()
}

/// A row relative to the centers.
fn place(scaling: &Scaling, centers: &[f64], numbers: &[f64], scaled: &mut Vec<f64>) {
    scaling.apply(numbers, scaled);
    for (value, center) in scaled.iter_mut().zip(centers) {
        let from_center = *value - center;
        *value = if from_center.is_nan() {
            0.0
        } else {
            from_center.clamp(-FARTHEST, FARTHEST)
        };
    }
}

/// The fit rows, equal ones repeated, with their secrets.
fn training(
    observations: &Observations,
    fit: &Counts,
    scaling: &Scaling,
    centers: &[f64],
) -> (Array2<f64>, Array1<usize>) {
    let (mut points, mut targets, mut scaled) = (Vec::new(), Vec::new(), Vec::new());
    for cell in fit.cells() {
        place(
            scaling,
            centers,
            observations.numbers(cell.symbol),
            &mut scaled,
        );
        for _ in 0..cell.count {
            points.extend_from_slice(&scaled);
            targets.push(cell.secret as usize);
        }
    }
    let shape = (targets.len(), scaling.dimensions());
    let points = Array2::from_shape_vec(shape, points).expect("one scaled point a target");
    (points, Array1::from_vec(targets))
}

impl Scorer for Linear {
    fn name(&self) -> &str {
        "linear"
    }

    fn memorizes(&self) -> bool {
        false
    }

    fn parameters(&self) -> Parameters {
        parameters([("penalty", Parameter::Real(Self::PENALTY))])
    }

    fn description(&self) -> String {
        "logistic regression".to_owned()
    }

    fn score(&self, observations: &Observations, ids: &[u32], scores: &mut [f64]) {
        let mut scaled = Vec::new();
        for (&symbol, row) in ids.iter().zip(scores.chunks_mut(self.offsets.len())) {
            place(
                &self.scaling,
                &self.centers,
                observations.numbers(symbol),
                &mut scaled,
            );
            row.copy_from_slice(&self.offsets);
            for (&value, weights) in scaled.iter().zip(self.weights.rows()) {
                for (score, weight) in row.iter_mut().zip(weights) {
                    *score += value * weight;
                }
            }
        }
    }

    fn refit(&self, observations: &Observations, fit: &Counts) -> Result<Arc<dyn Scorer>, String> {
        Ok(Arc::new(Linear::fit(observations, fit)?))
    }
}
