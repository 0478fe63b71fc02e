//! Guessing by a linear score: multinomial logistic regression.

use std::sync::Arc;

use linfa::traits::Fit;
use linfa::{Dataset, dataset::Labels};
use linfa_logistic::MultiLogisticRegression;
use ndarray::{Array1, Array2};

use crate::scorer::features::Features;
use crate::scorer::{Parameter, Parameters, Scorer, parameters};
use leakgauge_log::observations::{Counts, Observations};

/// Scores an observation by a linear function of its scaled numeric columns, of values that recur among them, and
/// of labels.
///
/// # Formula
/// score_s(x) = w_s·x + b_s − ln n_s, where w and b maximize the penalized likelihood of the n_s fit
/// rows of each secret. The last term takes out how often each secret was logged.
pub struct Linear {
    features: Features,
    /// Features × secrets.
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
        let features = Features::fit(observations, fit);
        let (points, targets) = training(observations, fit, &features);
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
        let mut weights = Array2::zeros((features.len(), secrets));
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
                features,
                weights,
                offsets,
            })
            .ok_or_else(|| "the optimizer diverged".to_owned())
    }
}

/// The fit rows, equal ones repeated, with their secrets.
fn training(
    observations: &Observations,
    fit: &Counts,
    features: &Features,
) -> (Array2<f64>, Array1<usize>) {
    let (mut points, mut targets, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for cell in fit.cells() {
        features.apply(observations, cell.symbol, &mut values);
        for _ in 0..cell.count {
            points.extend_from_slice(&values);
            targets.push(cell.secret as usize);
        }
    }
    let shape = (targets.len(), features.len());
    let points = Array2::from_shape_vec(shape, points).expect("one point a target");
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
        let mut values = Vec::new();
        for (&symbol, row) in ids.iter().zip(scores.chunks_mut(self.offsets.len())) {
            self.features.apply(observations, symbol, &mut values);
            row.copy_from_slice(&self.offsets);
            for (&value, weights) in values.iter().zip(self.weights.rows()) {
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
