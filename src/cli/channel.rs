//! `leakgauge channel`.

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use leakgauge::channel::MatrixLayout;
use leakgauge::channel::{
    self, Analysis, AnalysisOptions, Channel, CompositionKind, Payoff, Prior, SearchMethod,
};
use leakgauge::error::{Error, Result};
use leakgauge::input::matrix::{self as read, MatrixOptions};
use leakgauge::log::{self, ReadMeter};
use leakgauge::{mechanism, report};

use crate::cli::options::{self, FormatName};
use crate::cli::to_stdout;

/// `channel`.
#[derive(Args)]
pub struct ChannelArguments {
    /// Matrix of probabilities, one row a secret, one column an observation: CSV or TSV, plain or
    /// packed (gzip, zstd), `-` for standard input; or a mechanism, `randomized-response(epsilon=1, secrets=4)`;
    /// several need --compose
    #[arg(required = true, value_name = "MATRIX")]
    matrices: Vec<String>,
    /// How several matrices are composed: all observed at once, or each fed by the one before
    #[arg(long, value_enum, value_name = "KIND")]
    compose: Option<ComposeName>,
    /// The observer sees so many independent observations
    #[arg(long, default_value_t = 1, value_name = "N")]
    repeat: u64,
    /// `uniform`, `p1,p2,…` in the order of the rows, or `label=p,…`
    #[arg(long, default_value = "uniform", value_name = "PRIOR")]
    prior: String,
    /// What guesses gain: one row a guess, one column a secret
    #[arg(long, value_name = "FILE", conflicts_with = "loss")]
    gain: Option<String>,
    /// What guesses lose: one row a guess, one column a secret
    #[arg(long, value_name = "FILE")]
    loss: Option<String>,
    /// Give the δ of (ε, δ)-LDP at these ε
    #[arg(
        long,
        value_name = "E,…",
        value_delimiter = ',',
        allow_negative_numbers = true
    )]
    epsilon: Vec<f64>,
    /// Two secrets to look at more closely, with their trade-off curve
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pair: Vec<String>,
    /// Divide every row by its sum
    #[arg(long)]
    normalize: bool,
    #[command(flatten)]
    layout: LayoutArguments,
    /// How to look for the worst pair
    #[arg(long, value_enum, default_value = "auto", value_name = "METHOD")]
    method: MethodName,
    /// Number of threads; the report does not depend on it [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// What goes to standard output
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    format: FormatName,
}

/// Where the names in a matrix are.
#[derive(Args)]
struct LayoutArguments {
    /// Row 1 names the columns [default: found]
    #[arg(long, conflicts_with = "no_header")]
    header: bool,
    /// Row 1 is data
    #[arg(long)]
    no_header: bool,
    /// Column 1 names the rows [default: found]
    #[arg(long, conflicts_with = "no_labels")]
    labels: bool,
    /// Column 1 is data
    #[arg(long)]
    no_labels: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum ComposeName {
    /// One observation of each
    Parallel,
    /// Each takes what the one before gives
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
    /// By the numbers of secrets and observations
    Auto,
    /// Every pair
    Direct,
    /// Isometry into 2^m dimensions: many secrets, few observations
    Embedding,
    /// Pairs that cannot be the worst are discarded unseen
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
    let (channels, layouts) = read_all(&arguments.matrices, &matrix_options)?;
    let analysis = analyze(arguments, &channels, layouts)?;
    to_stdout(|out| report::write_channel(&analysis, arguments.format.into(), out))?;
    Ok(ExitCode::SUCCESS)
}

fn layout(arguments: &LayoutArguments) -> MatrixOptions {
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
        let channel = Channel::of_mechanism(&*mechanism::parse(file)?)?;
        Ok((channel, MatrixLayout::of_mechanism(file)))
    };
    files.iter().map(read).collect()
}

/// `name(…)` is a mechanism, unless a file is called that.
fn is_mechanism(text: &str) -> bool {
    text.trim_end().ends_with(')') && text.contains('(') && !std::path::Path::new(text).exists()
}

fn analyze(
    arguments: &ChannelArguments,
    channels: &[Channel],
    layouts: Vec<MatrixLayout>,
) -> Result<Analysis> {
    let method = arguments.method.into();
    let composed = match (channels, arguments.compose, arguments.repeat) {
        ([_], _, 1) => None,
        ([_, _, ..], None, _) => {
            return Err(Error::parameter(
                "several matrices",
                "it is not said how they are composed",
            )
            .with_hint("add --compose parallel or --compose cascade"));
        }
        (_, kind, repeat) => {
            let kind = kind.unwrap_or(ComposeName::Parallel).into();
            Some(channel::compose(channels, kind, repeat, method)?)
        }
    };
    let whole = composed.as_ref().map_or(&channels[0], |(whole, _)| whole);
    let options = AnalysisOptions {
        prior: Some(Prior::parse(&arguments.prior, whole)?),
        method,
        epsilons: arguments.epsilon.clone(),
        pair: pair(whole, &arguments.pair)?,
        gain: payoff(whole, arguments.gain.as_deref(), &arguments.layout)?,
        loss: payoff(whole, arguments.loss.as_deref(), &arguments.layout)?,
    };
    let mut analysis = channel::analyze(whole, &options)?;
    analysis.input = layouts;
    match composed {
        Some((_, composition)) => analysis.of_composition(composition),
        None => Ok(analysis),
    }
}

fn pair(channel: &Channel, labels: &[String]) -> Result<Option<(usize, usize)>> {
    match labels {
        [] => Ok(None),
        [a, b] => Ok(Some((channel.secret_number(a)?, channel.secret_number(b)?))),
        _ => Err(
            Error::parameter(format!("--pair {}", labels.join(",")), "is not two secrets")
                .with_hint("for instance --pair a,b"),
        ),
    }
}

fn payoff(
    channel: &Channel,
    file: Option<&str>,
    arguments: &LayoutArguments,
) -> Result<Option<Payoff>> {
    file.map(|file| {
        let input = log::open(file, &ReadMeter::default())?;
        read::payoff(file, input, channel, &layout(arguments))
    })
    .transpose()
}
