//! Classifiers of linfa as attacks.

use std::error::Error;
use std::marker::PhantomData;
use std::sync::Arc;

use linfa::Dataset;
use linfa::traits::{Fit, PredictInplace};
use ndarray::{Array1, Array2};

use crate::attack::{Attack, AttackError, FittedAttack};
use crate::scorer::{Parameter, Parameters};
use leakgauge_log::observations::{Counts, Observations};

/// Probabilities of classes: one row per sample, one column per class, and the classes of the columns.
pub type ClassProbabilities = (Array2<f64>, Vec<usize>);

/// Any classifier of linfa as an attack: it is fitted on the numeric columns, with secrets as classes 0, 1, …
///
/// # Formula
/// From probabilities p_s(x): score_s(x) = ln p_s(x) − ln n_s, where n_s is the number of training rows of secret s.
/// The last term takes out how often each secret was logged. From labels: 1 for the predicted secret, else 0.
///
/// # Conditions
/// The classifier is deterministic: one that draws random numbers has a fixed seed.
///
/// ```
/// use leakgauge_attack::linfa::LinfaAttack;
/// use linfa_bayes::GaussianNb;
/// use linfa_logistic::MultiLogisticRegression;
///
/// // Labels: any classifier that predicts.
/// let labels = LinfaAttack::new("my bayes", GaussianNb::<f64, usize>::params());
/// // Probabilities, which say more.
/// let probabilities = LinfaAttack::with_probabilities(
///     "my regression",
///     MultiLogisticRegression::<f64>::default(),
///     |model, points| (model.predict_probabilities(points), model.classes().to_vec()),
/// );
/// # let _ = (labels.max_rows(10_000), probabilities);
/// ```
pub struct LinfaAttack<P, M, E> {
    name: String,
    params: P,
    output: Output<M>,
    max_rows: u64,
    error: PhantomData<fn() -> E>,
}

type Probabilities<M> = Arc<dyn Fn(&M, &Array2<f64>) -> ClassProbabilities + Send + Sync>;
type Labels<M> = Arc<dyn Fn(&M, &Array2<f64>) -> Array1<usize> + Send + Sync>;

enum Output<M> {
    Probabilities(Probabilities<M>),
    Labels(Labels<M>),
}

impl<M> Clone for Output<M> {
    fn clone(&self) -> Self {
        match self {
            Output::Probabilities(predict) => Output::Probabilities(predict.clone()),
            Output::Labels(predict) => Output::Labels(predict.clone()),
        }
    }
}

impl<P, M, E> LinfaAttack<P, M, E>
where
    P: Fit<Array2<f64>, Array1<usize>, E, Object = M>,
    E: Error + From<linfa::Error>,
{
    /// An attack by the labels that a classifier predicts.
    pub fn new(name: impl Into<String>, params: P) -> Self
    where
        M: PredictInplace<Array2<f64>, Array1<usize>>,
    {
        let predict = |model: &M, points: &Array2<f64>| {
            let mut labels = model.default_target(points);
            model.predict_inplace(points, &mut labels);
            labels
        };
        Self::from_output(name.into(), params, Output::Labels(Arc::new(predict)))
    }

    /// An attack by the probabilities that a classifier gives: `predict` asks the fitted model.
    pub fn with_probabilities(
        name: impl Into<String>,
        params: P,
        predict: impl Fn(&M, &Array2<f64>) -> ClassProbabilities + Send + Sync + 'static,
    ) -> Self {
        Self::from_output(
            name.into(),
            params,
            Output::Probabilities(Arc::new(predict)),
        )
    }

    fn from_output(name: String, params: P, output: Output<M>) -> Self {
        LinfaAttack {
            name,
            params,
            output,
            max_rows: u64::MAX,
            error: PhantomData,
        }
    }

    /// The same, learned from no more than so many rows: for classifiers that are slow with many.
    #[must_use]
    pub fn max_rows(self, rows: u64) -> Self {
        LinfaAttack {
            max_rows: rows,
            ..self
        }
    }
}

impl<P, M, E> Attack for LinfaAttack<P, M, E>
where
    P: Fit<Array2<f64>, Array1<usize>, E, Object = M> + Send + Sync,
    E: Error + From<linfa::Error>,
    M: Send + Sync + 'static,
{
    fn name(&self) -> &str {
        &self.name
    }

    fn parameters(&self) -> Parameters {
        let output = match self.output {
            Output::Probabilities(_) => "probabilities",
            Output::Labels(_) => "labels",
        };
        Parameters::from([("output".to_owned(), Parameter::Word(output.into()))])
    }

    fn max_rows(&self) -> u64 {
        self.max_rows
    }

    fn fit(
        &self,
        observations: &Observations,
        fit: &Counts,
    ) -> Result<Box<dyn FittedAttack>, AttackError> {
        if observations.dimensions() == 0 {
            return Err("there is no numeric column to learn from".into());
        }
        if fit.rows().iter().filter(|&&rows| rows > 0).count() < 2 {
            return Err("fewer than two secrets have rows to learn from".into());
        }
        let cells = || fit.cells().iter();
        // Equal rows are repeated: classifiers know no counts.
        let ids = cells().flat_map(|cell| std::iter::repeat_n(cell.symbol, cell.count as usize));
        let secrets =
            cells().flat_map(|cell| std::iter::repeat_n(cell.secret as usize, cell.count as usize));
        let training = Dataset::new(points(observations, ids), secrets.collect::<Array1<_>>());
        let model = self
            .params
            .fit(&training)
            .map_err(|error| error.to_string())?;
        let rows: Vec<f64> = fit.rows().iter().map(|&rows| rows as f64).collect();
        let output = self.output.clone();
        Ok(Box::new(
            move |observations: &Observations, ids: &[u32], scores: &mut [f64]| {
                let points = points(observations, ids.iter().copied());
                match &output {
                    Output::Probabilities(predict) => {
                        likelihoods(predict(&model, &points), &rows, scores);
                    }
                    Output::Labels(predict) => votes(&predict(&model, &points), &rows, scores),
                }
            },
        ))
    }
}

/// ln p − ln n; a secret that the model does not know is as unlikely as can be.
fn likelihoods((probabilities, classes): ClassProbabilities, rows: &[f64], scores: &mut [f64]) {
    scores.fill(f64::MIN_POSITIVE.ln());
    for (row, scores) in probabilities
        .rows()
        .into_iter()
        .zip(scores.chunks_mut(rows.len()))
    {
        for (&p, &secret) in row.iter().zip(&classes) {
            if let (Some(score), Some(rows)) = (scores.get_mut(secret), rows.get(secret)) {
                *score = p.max(f64::MIN_POSITIVE).ln() - rows.max(1.0).ln();
            }
        }
    }
}

fn votes(labels: &Array1<usize>, rows: &[f64], scores: &mut [f64]) {
    scores.fill(0.0);
    for (&label, scores) in labels.iter().zip(scores.chunks_mut(rows.len())) {
        if let Some(score) = scores.get_mut(label) {
            *score = 1.0;
        }
    }
}

/// The numeric columns of observations, one row each.
fn points(observations: &Observations, ids: impl Iterator<Item = u32>) -> Array2<f64> {
    let numbers: Vec<f64> = ids
        .flat_map(|id| observations.numbers(id).iter().copied())
        .collect();
    let columns = observations.dimensions();
    Array2::from_shape_vec((numbers.len() / columns, columns), numbers)
        .expect("whole rows of numbers")
}
