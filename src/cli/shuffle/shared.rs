//! Arguments that the subcommands of `shuffle` share.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use leakgauge::base::error::{Error, Result};
use leakgauge::exact::channel::Channel;
use leakgauge::exact::mechanism;
use leakgauge::exact::shuffle::information::Reports;
use leakgauge::exact::shuffle::parse_numbers;
use leakgauge::exact::shuffle::reidentification::Source;
use leakgauge::input::{distribution, matrix as read};
use leakgauge::log::{self, ReadMeter};
use leakgauge::plot::Figure;
use leakgauge::report::{Layout, shuffle::write_pictures};

use crate::cli::options::{FormatName, use_threads};
use crate::cli::to_stdout;

/// Options of every subcommand: numbers of messages and outputs.
#[derive(Args)]
pub struct Shared {
    /// The numbers of messages, including the target's: `2,10,1000`, `2..50` or, evenly spaced by their
    /// logarithm, `2..1e12:30`
    #[arg(long = "n", value_name = "N,…")]
    pub messages: Option<String>,
    /// The seed of every random choice
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub seed: u64,
    /// The number of threads; it does not change the report [default: all cores]
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Write every graph to this directory as data (CSV) and picture (SVG); replaces existing files
    #[arg(long, value_name = "DIR")]
    pub plots: Option<PathBuf>,
    /// The format on standard output
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    pub format: FormatName,
}

impl Shared {
    /// Sets the number of threads, and checks the directory of the graphs before anything is computed.
    pub fn prepare(&self) -> Result<()> {
        use_threads(self.threads)?;
        match &self.plots {
            Some(directory) if !directory.is_dir() => {
                Err(Error::file(directory, "no such directory")
                    .with_hint("create it, or choose another with --plots"))
            }
            _ => Ok(()),
        }
    }

    /// The numbers of messages; empty if they are not given.
    pub fn sizes(&self) -> Result<Vec<u64>> {
        let text = self.messages.as_deref();
        text.map_or_else(|| Ok(Vec::new()), |text| parse_numbers("n", text))
    }

    /// Writes the graphs, if requested, and the report.
    pub fn finish(
        &self,
        pictures: impl FnOnce() -> Result<Vec<Figure>>,
        report: impl FnOnce(Layout, &mut dyn Write) -> io::Result<()>,
    ) -> Result<ExitCode> {
        if let Some(directory) = &self.plots {
            write_pictures(pictures()?, directory)?;
        }
        to_stdout(|out| report(self.format.layout(), out))?;
        Ok(ExitCode::SUCCESS)
    }
}

/// How files of distributions are read.
#[derive(Args)]
pub struct Files {
    /// Row 1 of the files is data
    #[arg(long, conflicts_with = "header")]
    no_header: bool,
    /// Row 1 of the files names the columns
    #[arg(long)]
    header: bool,
}

impl Files {
    /// A distribution: a file, or a named family.
    pub fn source(&self, text: &str) -> Result<Source> {
        if let Some(named) = Source::named(text)? {
            return Ok(named);
        }
        let header = match (self.header, self.no_header) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        };
        distribution::read(text, log::open(text, &ReadMeter::default())?, header)
    }

    /// A table of log-likelihood ratios and their probabilities.
    pub fn log_ratios(&self, name: &str) -> Result<Vec<(f64, f64)>> {
        self.source(name)?.log_ratios(name)
    }

    /// Observed messages and how often each occurred: one per row, or a label and its count.
    pub fn messages(&self, name: &str) -> Result<Vec<(String, u64)>> {
        self.source(name)?.messages(name)
    }

    /// Two distributions.
    pub fn sources(&self, target: &str, decoys: &str) -> Result<[Source; 2]> {
        if target == decoys && target == log::STDIN {
            return Err(Error::parameter(
                "-",
                "standard input can be read only once",
            ));
        }
        Ok([self.source(target)?, self.source(decoys)?])
    }
}

/// What a randomizer reports: that of any mechanism that sums or integrals can be taken of, or a matrix in a file.
pub fn reports(text: &str) -> Result<Reports> {
    if text.contains('(') {
        return Reports::of(&*mechanism::parse(text)?);
    }
    randomizer(text).map(Reports::Listed)
}

/// A channel: a mechanism with finitely many observations, or a matrix in a file.
pub fn randomizer(text: &str) -> Result<Channel> {
    if text.contains('(') {
        return Channel::of_mechanism(&*mechanism::parse(text)?);
    }
    let input = log::open(text, &ReadMeter::default())?;
    Ok(read::channel(text, input, &read::MatrixOptions::default())?.0)
}
