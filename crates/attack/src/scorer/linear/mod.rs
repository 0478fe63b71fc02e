//! Guessing by a linear score: multinomial logistic regression.

use std::sync::Arc;

use ndarray::{Array2, Axis};

use crate::scorer::features::Features;
use crate::scorer::{Parameter, Parameters, Scorer, parameters};
use leakgauge_log::observations::{Counts, Observations};
use likelihood::Rows;

pub(crate) mod likelihood;
mod optimizer;
#[cfg(test)]
mod tests;

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
    const STEPS: usize = 100;
    /// The score of a secret without fit rows.
    const UNKNOWN: f64 = -1e9;

    /// Fits the regression.
    ///
    /// # Errors
    /// Fewer than two secrets with rows; the optimizer diverged.
    pub fn fit(observations: &Observations, fit: &Counts) -> Result<Self, String> {
        let features = Features::fit(observations, fit);
        let present: Vec<usize> = (0..fit.secrets())
            .filter(|&secret| fit.rows()[secret] > 0)
            .collect();
        if present.len() < 2 {
            return Err("fewer than two secrets have rows to learn from".to_owned());
        }
        let rows = rows(observations, fit, &features, &present);
        let found = likelihood::maximize(&rows, Self::PENALTY, Self::STEPS)?;
        let mut weights = Array2::zeros((features.len(), fit.secrets()));
        let mut offsets = vec![Self::UNKNOWN; fit.secrets()];
        for (class, &secret) in present.iter().enumerate() {
            let own = found.column(class);
            let (own, intercept) = own.split_at(Axis(0), features.len());
            weights.column_mut(secret).assign(&own);
            offsets[secret] = intercept[0] - (fit.rows()[secret] as f64).ln();
        }
        Ok(Linear {
            features,
            weights,
            offsets,
        })
    }
}

/// The fit rows, those of one secret and one observation as one.
fn rows(observations: &Observations, fit: &Counts, features: &Features, present: &[usize]) -> Rows {
    let width = features.len() + 1;
    let cells = fit.cells();
    let mut class = vec![0; fit.secrets()];
    for (at, &secret) in present.iter().enumerate() {
        class[secret] = at as u32;
    }
    let mut points = Array2::ones((cells.len(), width));
    let mut values = Vec::new();
    for (cell, mut point) in cells.iter().zip(points.rows_mut()) {
        features.apply(observations, cell.symbol, &mut values);
        for (to, value) in point.iter_mut().zip(&values) {
            *to = *value;
        }
    }
    Rows {
        points,
        classes: cells
            .iter()
            .map(|cell| class[cell.secret as usize])
            .collect(),
        counts: cells.iter().map(|cell| cell.count as f64).collect(),
        all: present.len(),
    }
}

impl Scorer for Linear {
    fn name(&self) -> &str {
        "linear"
    }

    fn memorizes(&self) -> bool {
        false
    }

    fn freedom(&self) -> f64 {
        self.features.len() as f64
    }

    fn parameters(&self) -> Parameters {
        parameters([("penalty", Parameter::Real(Self::PENALTY))])
    }

    fn description(&self) -> String {
        "logistic regression".to_owned()
    }

    fn is_portable(&self) -> bool {
        true
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
