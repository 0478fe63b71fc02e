//! `leakgauge channel`.

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use leakgauge::base::error::{Error, Result};
use leakgauge::base::grammar::Call;
use leakgauge::exact::channel::{
    self, Analysis, AnalysisOptions, Channel, Composition, CompositionKind, Correlated,
    Correlation, Enclosed, MatrixForm, MatrixLayout, Payoff, Prior, SearchMethod,
};
use leakgauge::exact::shuffle::vulnerability::{DATASETS, Datasets};
use leakgauge::input::{
    self,
    matrix::{self as read, MatrixOptions},
};
use leakgauge::log::{self, ReadMeter};
use leakgauge::{exact::mechanism, report};

use crate::cli::options::{self, FormatName};
use crate::cli::to_stdout;

/// `channel`.
#[derive(Args)]
pub struct ChannelArguments {
    /// A matrix of probabilities, one row per secret, one column per observation: CSV or TSV, plain or
    /// compressed (gzip, zstd), `-` for standard input; or a mechanism, `randomized-response(epsilon=1, secrets=4)`;
    /// or `datasets(NS, values=2, people=3, keep=0.75)`, noise and shuffling of whole datasets; several need --compose
    #[arg(required = true, value_name = "MATRIX")]
    matrices: Vec<String>,
    /// How several matrices are composed: all observed at once, or each applied to the output of the previous one
    #[arg(long, value_enum, value_name = "KIND")]
    compose: Option<ComposeName>,
    /// Report whether the channel refines this one, a matrix or a mechanism: leaks at most as much under every prior
    /// and gain
    #[arg(long, value_name = "MATRIX")]
    refines: Option<String>,
    /// The number of independent observations that the adversary sees
    #[arg(long, default_value_t = 1, value_name = "N")]
    repeat: u64,
    /// The prior: `uniform`, `p1,p2,…` in the order of the rows, or `label=p,…`
    /// [default: uniform]
    #[arg(long, value_name = "PRIOR")]
    prior: Option<String>,
    /// A gain function as a matrix: one row per guess, one column per secret
    #[arg(long, value_name = "FILE", conflicts_with = "loss")]
    gain: Option<String>,
    /// A loss function as a matrix: one row per guess, one column per secret
    #[arg(long, value_name = "FILE")]
    loss: Option<String>,
    #[command(flatten)]
    questions: QuestionArguments,
    /// Report δ of (ε, δ)-LDP for these values of ε
    #[arg(
        long,
        value_name = "E,…",
        value_delimiter = ',',
        allow_negative_numbers = true
    )]
    epsilon: Vec<f64>,
    /// Report Sibson's information, maximal α-leakage and Rényi divergences of these orders; `inf` is an order
    #[arg(
        long,
        value_name = "A,…",
        value_delimiter = ',',
        allow_negative_numbers = true
    )]
    at_order: Vec<f64>,
    /// Report whether one of so many guesses is right
    #[arg(long, value_name = "K,…", value_delimiter = ',')]
    tries: Vec<u64>,
    /// Report the largest success of a reconstruction whose success without the secret is K: sup P(E) with Q(E) at most
    /// K
    #[arg(long, value_name = "K,…", value_delimiter = ',')]
    reconstruction: Vec<f64>,
    /// Report the smallest rho of zero-concentrated and mu of Gaussian differential privacy
    #[arg(long)]
    profile: bool,
    /// Also report this pair of secrets with its trade-off curve
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pair: Vec<String>,
    /// Normalize every row by its sum
    #[arg(long)]
    normalize: bool,
    #[command(flatten)]
    layout: LayoutArguments,
    /// The algorithm that finds the worst pair
    #[arg(long, value_enum, default_value = "auto", value_name = "METHOD")]
    method: MethodName,
    /// The number of threads; it does not change the report [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// The format on standard output
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    format: FormatName,
}

/// What else the channel tells.
#[derive(Args)]
struct QuestionArguments {
    /// Report the largest additive leakage over all priors, under the gain or of guessing the secret
    #[arg(long, conflicts_with = "loss")]
    capacity: bool,
    /// Report how well a property of the secret can be guessed: groups of secrets with the same value, `a,b|c`, or a
    /// file with a secret and its value in each row
    #[arg(long, value_name = "GROUPS")]
    property: Option<String>,
    /// Report the leakage about another variable, one row per value and one column per secret: joint probabilities,
    /// or P(value given secret); --gain and --loss are of guesses of that variable
    #[arg(long, value_name = "FILE")]
    correlation: Option<String>,
    /// Report what is known of the secret after the observation, and how often
    #[arg(long)]
    hyper: bool,
}

/// Where a matrix has names.
#[derive(Args)]
pub(super) struct LayoutArguments {
    /// Row 1 has the names of the columns [default: detected]
    #[arg(long, conflicts_with = "no_header")]
    header: bool,
    /// Row 1 is data
    #[arg(long)]
    no_header: bool,
    /// Column 1 has the names of the rows [default: detected]
    #[arg(long, conflicts_with = "no_labels")]
    labels: bool,
    /// Column 1 is data
    #[arg(long)]
    no_labels: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum ComposeName {
    /// One observation of each channel
    Parallel,
    /// Each channel takes the observation of the previous one as its secret
    Cascade,
}

impl From<ComposeName> for CompositionKind {
    fn from(name: ComposeName) -> Self {
        match name {
            ComposeName::Parallel => CompositionKind::Parallel,
            ComposeName::Cascade => CompositionKind::Cascade,
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum MethodName {
    /// The fastest for the numbers of secrets and observations
    Auto,
    /// Compare every pair
    Direct,
    /// Isometry into 2^m dimensions: for many secrets and few observations
    Embedding,
    /// Discard pairs that cannot be the worst before comparing them
    Pruned,
}

impl From<MethodName> for SearchMethod {
    fn from(name: MethodName) -> Self {
        match name {
            MethodName::Auto => SearchMethod::Auto,
            MethodName::Direct => SearchMethod::Direct,
            MethodName::Embedding => SearchMethod::Embedding,
            MethodName::Pruned => SearchMethod::Pruned,
        }
    }
}

/// Runs `channel`.
pub fn channel(arguments: &ChannelArguments) -> Result<ExitCode> {
    options::use_threads(arguments.threads)?;
    let matrix_options = MatrixOptions {
        normalize: arguments.normalize,
        ..layout(&arguments.layout)
    };
    let (channels, layouts) = match read_all(&arguments.matrices, &matrix_options) {
        Ok(read) => read,
        // Where there is no matrix, others may enclose the figures.
        Err(error) => {
            let analysis = enclosed(arguments)?.ok_or(error)?;
            to_stdout(|out| report::write_channel(&analysis, arguments.format.layout(), out))?;
            return Ok(ExitCode::SUCCESS);
        }
    };
    let mut analysis = analyze(arguments, &channels, layouts)?;
    if let Some(other) = &arguments.refines {
        let (others, _) = read_all(std::slice::from_ref(other), &matrix_options)?;
        let whole = composed(arguments, &channels)?;
        let whole = whole.as_ref().map_or(&channels[0], |(whole, _)| whole);
        analysis.refinement = Some(whole.refinement(&others[0], other)?);
    }
    to_stdout(|out| report::write_channel(&analysis, arguments.format.layout(), out))?;
    Ok(ExitCode::SUCCESS)
}

/// How a matrix is read.
pub(super) fn layout(arguments: &LayoutArguments) -> MatrixOptions {
    let choice = |yes: bool, no: bool| yes.then_some(true).or(no.then_some(false));
    MatrixOptions {
        header: choice(arguments.header, arguments.no_header),
        labels: choice(arguments.labels, arguments.no_labels),
        ..MatrixOptions::default()
    }
}

fn read_all(
    files: &[String],
    matrix_options: &MatrixOptions,
) -> Result<(Vec<Channel>, Vec<MatrixLayout>)> {
    if files.iter().filter(|file| *file == log::STDIN).count() > 1 {
        return Err(Error::parameter(
            "-",
            "standard input can be read only once",
        ));
    }
    let meter = ReadMeter::default();
    let read = |file: &String| {
        if !is_mechanism(file) {
            return read::channel(file, log::open(file, &meter)?, matrix_options);
        }
        let call = Call::parse(file)?;
        let (channel, merged) = if call.name == DATASETS {
            (Datasets::named(&call)?, 0.0)
        } else {
            Channel::merged(&*mechanism::from_call(&call)?)?
        };
        Ok((channel, MatrixLayout::of_mechanism(file, merged)))
    };
    files.iter().map(read).collect()
}

/// The analysis of one mechanism without a matrix of its own, whose figures can be enclosed.
fn enclosed(arguments: &ChannelArguments) -> Result<Option<Analysis>> {
    let [text] = &arguments.matrices[..] else {
        return Ok(None);
    };
    if !is_mechanism(text) || arguments.refines.is_some() || arguments.repeat != 1 {
        return Ok(None);
    }
    let call = Call::parse(text)?;
    if call.name == DATASETS {
        return Ok(None);
    }
    let Some(found) = Enclosed::of(&*mechanism::from_call(&call)?)? else {
        return Ok(None);
    };
    let mut analysis = found.analyze(&options_of(arguments, found.secrets())?)?;
    let form = if found.is_counted() {
        MatrixForm::Counted
    } else {
        MatrixForm::Between
    };
    analysis.input = vec![MatrixLayout {
        form,
        ..MatrixLayout::of_mechanism(text, 0.0)
    }];
    Ok(Some(analysis))
}

/// `name(…)` is a mechanism, unless a file has that name.
fn is_mechanism(text: &str) -> bool {
    text.trim_end().ends_with(')') && text.contains('(') && !std::path::Path::new(text).exists()
}

/// The composition, if there is one.
fn composed(
    arguments: &ChannelArguments,
    channels: &[Channel],
) -> Result<Option<(Channel, Composition)>> {
    let method = arguments.method.into();
    Ok(match (channels, arguments.compose, arguments.repeat) {
        ([_], _, 1) => None,
        ([_, _, ..], None, _) => {
            return Err(Error::parameter(
                "several matrices",
                "several matrices need a kind of composition",
            )
            .with_hint("add --compose parallel or --compose cascade"));
        }
        (_, kind, repeat) => {
            let kind = kind.unwrap_or(ComposeName::Parallel).into();
            Some(channel::compose(channels, kind, repeat, method)?)
        }
    })
}

fn analyze(
    arguments: &ChannelArguments,
    channels: &[Channel],
    layouts: Vec<MatrixLayout>,
) -> Result<Analysis> {
    let composed = composed(arguments, channels)?;
    let whole = composed.as_ref().map_or(&channels[0], |(whole, _)| whole);
    let options = options_of(arguments, whole)?;
    let mut analysis = channel::analyze(whole, &options)?;
    analysis.input = layouts;
    match composed {
        Some((_, composition)) => analysis.of_composition(composition),
        None => Ok(analysis),
    }
}

fn options_of(arguments: &ChannelArguments, whole: &Channel) -> Result<AnalysisOptions> {
    let questions = &arguments.questions;
    let given = arguments.prior.as_deref();
    let given = given.map(|text| Prior::parse(text, whole)).transpose()?;
    let (correlated, prior) = match &questions.correlation {
        None => (None, given),
        Some(file) => {
            let (with, prior) = correlation(whole, file, given.as_ref(), &arguments.layout)?;
            let about = Correlated {
                gain: payoff(with.values(), arguments.gain.as_deref(), &arguments.layout)?,
                loss: payoff(with.values(), arguments.loss.as_deref(), &arguments.layout)?,
                with,
            };
            (Some(about), Some(prior))
        }
    };
    let prior = prior.unwrap_or_else(|| Prior::uniform(whole.secrets().len()));
    let of_secret = |file: Option<&str>| match correlated {
        None => payoff(whole.secrets(), file, &arguments.layout),
        Some(_) => Ok(None),
    };
    Ok(AnalysisOptions {
        method: arguments.method.into(),
        epsilons: arguments.epsilon.clone(),
        orders: arguments.at_order.clone(),
        tries: arguments.tries.clone(),
        reconstruction: arguments.reconstruction.clone(),
        profile: arguments.profile,
        pair: pair(whole, &arguments.pair)?,
        gain: of_secret(arguments.gain.as_deref())?,
        loss: of_secret(arguments.loss.as_deref())?,
        capacity: questions.capacity,
        hyper: questions.hyper,
        property: property(whole, questions.property.as_deref(), &prior)?,
        correlated,
        prior: Some(prior),
    })
}

fn property(channel: &Channel, text: Option<&str>, prior: &Prior) -> Result<Option<Correlated>> {
    let about = |text: &str| {
        let values = input::property::property(text, channel)?;
        Ok(Correlated {
            with: Correlation::of_property(&values, prior)?,
            gain: None,
            loss: None,
        })
    };
    text.map(about).transpose()
}

fn correlation(
    channel: &Channel,
    file: &str,
    prior: Option<&Prior>,
    arguments: &LayoutArguments,
) -> Result<(Correlation, Prior)> {
    let input = log::open(file, &ReadMeter::default())?;
    let table = read::payoff(file, input, &layout(arguments))?;
    Correlation::of_table(&table, channel.secrets(), prior)
}

fn pair(channel: &Channel, labels: &[String]) -> Result<Option<(usize, usize)>> {
    match labels {
        [] => Ok(None),
        [a, b] => Ok(Some((channel.secret_number(a)?, channel.secret_number(b)?))),
        _ => Err(Error::parameter(
            format!("--pair {}", labels.join(",")),
            "must be two secrets",
        )
        .with_hint("for example --pair a,b")),
    }
}

fn payoff(
    guessed: &[String],
    file: Option<&str>,
    arguments: &LayoutArguments,
) -> Result<Option<Payoff>> {
    file.map(|file| {
        let input = log::open(file, &ReadMeter::default())?;
        read::payoff(file, input, &layout(arguments))?.bind(guessed)
    })
    .transpose()
}
