//! Figures of known mechanisms and channels, and logs drawn from mechanisms: no data needed.

use leakgauge::attack::pairwise::Confusion;
use leakgauge::base::error::{Error, Result};
use leakgauge::base::naming::{option, setting};
use leakgauge::base::quantity::PrivacyParameter;
use leakgauge::exact::bounds::{self, BoundsOptions};
use leakgauge::exact::channel::{
    self, AnalysisOptions, Channel, CompositionKind, MatrixForm, MatrixLayout, Payoff, Prior,
    SearchMethod,
};
use leakgauge::exact::mechanism::{self, Observed};
use leakgauge::exact::shuffle::information::Reports;
use leakgauge::exact::shuffle::privacy;
use leakgauge::exact::simulate::Simulation;
use leakgauge::input::matrix::{self, MatrixOptions};
use leakgauge::log::{self, ReadMeter};
use leakgauge::report;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{name_options, raised};
use crate::options::one_of;
use crate::work;
use crate::written::Written;

/// The figures of a mechanism or of a promise.
#[pyfunction]
pub fn mechanism_bounds(py: Python<'_>, mechanism: String, asked: Asked) -> PyResult<Written> {
    let options = BoundsOptions {
        at_epsilon: asked.at_epsilon,
        at_delta: asked.at_delta,
        reconstruction: asked.reconstruction,
        at_order: asked.at_order,
        profile: asked.profile,
        repeat: asked.repeat,
        secrets: asked.secrets,
        group: asked.group,
        values: asked.values,
        records: asked.records,
        largest_prior: asked.largest_prior,
    };
    work::run(py, None, move || {
        let table = match (&asked.solve, &asked.keeps) {
            (Some(parameter), keeps) => {
                bounds::solve(&mechanism, parameter, keeps.as_deref(), &options)?
            }
            (None, Some(keeps)) => {
                let problem = format!("is kept by the parameter that {} names", option("solve"));
                return Err(Error::parameter(setting("keeps", keeps), problem));
            }
            (None, None) => bounds::bounds(&mechanism, &options)?,
        };
        Written::of(|format, out| report::write_bounds(&table, format, out))
    })
}

/// Keyword arguments of `bounds`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Asked {
    at_epsilon: Option<f64>,
    at_delta: Option<f64>,
    reconstruction: Option<f64>,
    at_order: Option<f64>,
    profile: bool,
    repeat: Option<u64>,
    secrets: Option<u64>,
    group: Option<u64>,
    values: Option<u64>,
    records: Option<u64>,
    largest_prior: Option<f64>,
    solve: Option<String>,
    keeps: Option<String>,
}

/// A matrix in memory: labels of rows, labels of columns, values row by row.
type Matrix = (Vec<String>, Vec<String>, Vec<f64>);

/// A channel: a mechanism or a file by its text, or a matrix in memory.
#[derive(FromPyObject, Clone)]
pub enum ChannelInput {
    /// `name(…)`, or a path.
    Text(String),
    /// Values.
    Matrix(Matrix),
}

impl ChannelInput {
    /// Whether it is the text of a mechanism.
    pub fn is_mechanism(&self) -> bool {
        matches!(self, ChannelInput::Text(text) if is_mechanism(text))
    }

    /// What a randomizer reports: that of any mechanism, also without a matrix.
    pub fn reports(self) -> Result<Reports> {
        match self {
            ChannelInput::Text(text) if is_mechanism(&text) => {
                Reports::of(&*mechanism::parse(&text)?)
            }
            other => Ok(Reports::Listed(other.read(false)?.0)),
        }
    }

    /// The same for differential privacy.
    pub fn private_reports(self) -> Result<privacy::Reports> {
        match self {
            ChannelInput::Text(text) if is_mechanism(&text) => {
                privacy::Reports::of(&*mechanism::parse(&text)?)
            }
            other => Ok(privacy::Reports::Listed(other.read(false)?.0)),
        }
    }

    /// The channel, and how it was given; of noise on whole numbers, with those far out as one observation.
    pub fn merged(self, normalize: bool) -> Result<(Channel, MatrixLayout)> {
        match self {
            ChannelInput::Text(text) if is_mechanism(&text) => {
                let (channel, merged) = Channel::merged(&*mechanism::parse(&text)?)?;
                Ok((channel, MatrixLayout::of_mechanism(&text, merged)))
            }
            other => other.read(normalize),
        }
    }

    /// The channel, and how it was given.
    pub fn read(self, normalize: bool) -> Result<(Channel, MatrixLayout)> {
        match self {
            ChannelInput::Text(text) if is_mechanism(&text) => {
                let channel = Channel::of_mechanism(&*mechanism::parse(&text)?)?;
                Ok((channel, MatrixLayout::of_mechanism(&text, 0.0)))
            }
            ChannelInput::Text(file) => {
                let options = MatrixOptions {
                    normalize,
                    ..MatrixOptions::default()
                };
                matrix::channel(&file, log::open(&file, &ReadMeter::default())?, &options)
            }
            ChannelInput::Matrix((secrets, observations, mut values)) => {
                let width = observations.len().max(1);
                let mut layout = MatrixLayout {
                    file: "memory".to_owned(),
                    header: true,
                    labels: true,
                    normalized_rows: 0,
                    written_out: false,
                    merged_probability: 0.0,
                    form: MatrixForm::Whole,
                };
                for row in values.chunks_mut(width).filter(|_| normalize) {
                    let sum: f64 = row.iter().sum();
                    if sum > 0.0 && (sum - 1.0).abs() > channel::SUM_TOLERANCE {
                        row.iter_mut().for_each(|value| *value /= sum);
                        layout.normalized_rows += 1;
                    }
                }
                Ok((Channel::new(secrets, observations, values)?, layout))
            }
        }
    }
}

/// `name(…)` is a mechanism, unless a file has that name.
fn is_mechanism(text: &str) -> bool {
    text.trim_end().ends_with(')') && text.contains('(') && !std::path::Path::new(text).exists()
}

/// Keyword arguments of `channel`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct ChannelKeywords {
    compose: Option<String>,
    repeat: u64,
    prior: String,
    gain: Option<(Vec<String>, Vec<f64>)>,
    loss: Option<(Vec<String>, Vec<f64>)>,
    epsilon: Vec<f64>,
    at_order: Vec<f64>,
    tries: Vec<u64>,
    reconstruction: Vec<f64>,
    profile: bool,
    refines: Option<(ChannelInput, String)>,
    pair: Option<(String, String)>,
    normalize: bool,
    method: String,
    threads: Option<usize>,
}

/// The figures of a channel, or of several that are composed.
#[pyfunction]
pub fn analyze_channel(
    py: Python<'_>,
    matrices: Vec<ChannelInput>,
    keywords: ChannelKeywords,
) -> PyResult<Written> {
    work::run(py, keywords.threads, move || {
        let read = matrices
            .into_iter()
            .map(|input| input.merged(keywords.normalize));
        let (channels, layouts): (Vec<_>, Vec<_>) =
            read.collect::<Result<Vec<_>>>()?.into_iter().unzip();
        let other = keywords.refines.as_ref();
        let other = other.map(|(input, name)| {
            let (other, _) = input.clone().merged(keywords.normalize)?;
            Ok::<_, Error>((other, name))
        });
        let analysis = analyze(&keywords, &channels, layouts, other.transpose()?)?;
        Written::of(|format, out| report::write_channel(&analysis, format, out))
    })
}

fn analyze(
    keywords: &ChannelKeywords,
    channels: &[Channel],
    layouts: Vec<MatrixLayout>,
    other: Option<(Channel, &String)>,
) -> Result<channel::Analysis> {
    let method = match keywords.method.as_str() {
        "auto" => SearchMethod::Auto,
        "direct" => SearchMethod::Direct,
        "embedding" => SearchMethod::Embedding,
        "pruned" => SearchMethod::Pruned,
        other => {
            return Err(one_of(
                "method",
                other,
                ["auto", "direct", "embedding", "pruned"],
            ));
        }
    };
    let kind = match keywords.compose.as_deref() {
        None => None,
        Some("parallel") => Some(CompositionKind::Parallel),
        Some("cascade") => Some(CompositionKind::Cascade),
        Some(other) => return Err(one_of("compose", other, ["parallel", "cascade"])),
    };
    let composed = match (channels, kind, keywords.repeat) {
        ([], ..) => return Err(Error::parameter("channel", "there is no matrix")),
        ([_], _, 1) => None,
        ([_, _, ..], None, _) => {
            return Err(
                Error::option("compose", "several matrices need a kind of composition")
                    .with_hint("pass compose=\"parallel\" or compose=\"cascade\""),
            );
        }
        (_, kind, repeat) => {
            let kind = kind.unwrap_or(CompositionKind::Parallel);
            Some(channel::compose(channels, kind, repeat, method)?)
        }
    };
    let whole = composed.as_ref().map_or(&channels[0], |(whole, _)| whole);
    let payoff = |given: &Option<(Vec<String>, Vec<f64>)>| {
        let given = given.clone();
        given
            .map(|(guesses, values)| Payoff::new(guesses, whole.secrets().len(), values))
            .transpose()
    };
    let pair = keywords.pair.as_ref();
    let pair = pair.map(|(a, b)| Ok((whole.secret_number(a)?, whole.secret_number(b)?)));
    let options = AnalysisOptions {
        prior: Some(Prior::parse(&keywords.prior, whole)?),
        method,
        epsilons: keywords.epsilon.clone(),
        orders: keywords.at_order.clone(),
        tries: keywords.tries.clone(),
        reconstruction: keywords.reconstruction.clone(),
        profile: keywords.profile,
        pair: pair.transpose()?,
        gain: payoff(&keywords.gain)?,
        loss: payoff(&keywords.loss)?,
        ..AnalysisOptions::default()
    };
    let mut analysis = channel::analyze(whole, &options)?;
    analysis.input = layouts;
    if let Some((other, name)) = other {
        analysis.refinement = Some(whole.refinement(&other, name)?);
    }
    match composed {
        Some((_, composition)) => analysis.of_composition(composition),
        None => Ok(analysis),
    }
}

/// The values of one column that was drawn.
enum Drawn {
    Numbers(Vec<f64>),
    Labels(Vec<String>),
}

impl Drawn {
    fn push(column: Option<Drawn>, value: Observed) -> Drawn {
        match (column, value) {
            (None, Observed::Number(value)) => Drawn::Numbers(vec![value]),
            (None, Observed::Label(label)) => Drawn::Labels(vec![label]),
            (Some(Drawn::Numbers(mut values)), Observed::Number(value)) => {
                values.push(value);
                Drawn::Numbers(values)
            }
            // A column of both is one of texts.
            (Some(Drawn::Numbers(values)), Observed::Label(label)) => {
                let texts = values
                    .into_iter()
                    .map(|value| Observed::Number(value).to_string());
                Drawn::Labels(texts.chain([label]).collect())
            }
            (Some(Drawn::Labels(mut labels)), value) => {
                labels.push(value.to_string());
                Drawn::Labels(labels)
            }
        }
    }
}

/// Rows of a mechanism: the labels of the secrets, the number of each row's secret, and every column with its
/// name.
#[pyfunction]
pub fn simulate<'py>(
    py: Python<'py>,
    mechanism: String,
    rows: u64,
    seed: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let (labels, secrets, columns) = work::run(py, None, move || {
        if rows == 0 {
            return Err(Error::setting("rows", 0, "must be at least 1"));
        }
        let mechanism = mechanism::parse(&mechanism)?;
        let mut simulation = Simulation::new(&*mechanism, seed)?;
        let labels = simulation.secrets().into_owned();
        let numbers = labels
            .iter()
            .zip(0i64..)
            .map(|(label, at)| (label.clone(), at));
        let numbers: std::collections::HashMap<String, i64> = numbers.collect();
        let names = simulation.columns();
        let mut columns: Vec<Option<Drawn>> = names.iter().map(|_| None).collect();
        let mut secrets = Vec::new();
        for _ in 0..rows {
            let (secret, values) = simulation.next_values();
            secrets.push(numbers[secret]);
            for (column, value) in columns.iter_mut().zip(values) {
                *column = Some(Drawn::push(column.take(), value));
            }
        }
        Ok((
            labels,
            secrets,
            names.iter().zip(columns).collect::<Vec<_>>(),
        ))
    })?;
    let found = PyDict::new(py);
    found.set_item("labels", labels)?;
    found.set_item("secret", PyArray1::from_vec(py, secrets))?;
    let drawn = PyDict::new(py);
    for (name, column) in columns {
        match column {
            Some(Drawn::Numbers(values)) => drawn.set_item(name, PyArray1::from_vec(py, values))?,
            Some(Drawn::Labels(labels)) => drawn.set_item(name, labels)?,
            None => {}
        }
    }
    found.set_item("columns", drawn)?;
    Ok(found)
}

/// What a table of answers proves: `(point, lower, upper)` of TPR, FPR and advantage, then lower limits of the
/// total variation, of ε at every δ, of μ and of ρ.
#[pyfunction]
pub fn confusion(counts: [u64; 4], alpha: f64, deltas: Vec<f64>) -> PyResult<ConfusionFigures> {
    name_options();
    if !(alpha > 0.0 && alpha <= 0.5) {
        return Err(raised(Error::setting(
            "alpha",
            alpha,
            "must be above 0 and at most 0.5",
        )));
    }
    if let Some(delta) = deltas.iter().find(|delta| !(0.0..1.0).contains(*delta)) {
        return Err(raised(Error::setting(
            "delta",
            delta,
            "must be at least 0 and below 1",
        )));
    }
    let [tp, missed, fp, tn] = counts;
    let table = Confusion::new(tp, missed, fp, tn).map_err(raised)?;
    let least = table.at_least(alpha);
    let epsilon = |&delta: &f64| least.privacy(PrivacyParameter::Epsilon { delta });
    let limits = [
        table.true_positive_rate(alpha),
        table.false_positive_rate(alpha),
        table.advantage(alpha),
    ];
    Ok((
        limits.map(|limits| (limits.point, limits.lower, limits.upper)),
        least.total_variation(),
        deltas.iter().map(epsilon).collect(),
        least.privacy(PrivacyParameter::Mu),
        least.privacy(PrivacyParameter::Rho),
    ))
}

type ConfusionFigures = ([(f64, f64, f64); 3], f64, Vec<f64>, f64, f64);
