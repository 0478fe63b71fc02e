//! `--html` and `--plots`.

use std::path::{Path, PathBuf};

use clap::Args;
use leakgauge::error::Result;
use leakgauge::report::{COMPARISON_PLOTS, Outputs, PICTURES};

use crate::cli::options::LogArguments;

/// What is written beside standard output.
#[derive(Args)]
pub struct OutputOptions {
    /// Write the report as a page that needs nothing else. A page of leakgauge is replaced, any other
    /// file is not
    #[arg(long, value_name = "FILE", conflicts_with = "follow")]
    html: Option<PathBuf>,
    /// Write every picture as SVG into this directory, which is made if need be: distributions.svg,
    /// bayes-security.svg, pairs.svg, trade-off.svg, convergence.svg. Pictures of leakgauge are
    /// replaced, or removed where the log has none such; any other file is not
    #[arg(long, value_name = "DIR", conflicts_with = "follow")]
    plots: Option<PathBuf>,
    /// Write each picture as PNG too; needs a build with `--features png`
    #[arg(long, requires = "plots", conflicts_with = "follow")]
    png: bool,
    /// Let --html and --plots replace any file
    #[arg(long, conflicts_with = "follow")]
    force: bool,
}

impl OutputOptions {
    /// Checks the places before the log is read.
    pub fn check(&self, log: &LogArguments) -> Result<Outputs> {
        let names = PICTURES.iter().map(|(name, _)| *name).collect();
        let (html, plots) = (self.html.clone(), self.plots.clone());
        let outputs = Outputs::check(html, plots, names, self.force, &inputs(log))?;
        if self.png {
            outputs.with_png()
        } else {
            Ok(outputs)
        }
    }
}

/// What `compare` writes beside standard output.
#[derive(Args)]
pub struct ComparisonOutputs {
    /// Write the comparison as a page that needs nothing else. A page of leakgauge is replaced, any other
    /// file is not
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write pictures (SVG, `compare-….svg`) into this directory, which is made if need be. Pictures of
    /// leakgauge are replaced, any other file is not
    #[arg(long, value_name = "DIR")]
    plots: Option<PathBuf>,
    /// Write each picture as PNG too; needs a build with `--features png`
    #[arg(long, requires = "plots")]
    png: bool,
    /// Let --html and --plots replace any file
    #[arg(long)]
    force: bool,
}

impl ComparisonOutputs {
    /// Checks the places before a log is read.
    pub fn check(&self, logs: &LogArguments) -> Result<Outputs> {
        let names = COMPARISON_PLOTS.to_vec();
        let (html, plots) = (self.html.clone(), self.plots.clone());
        let outputs = Outputs::check(html, plots, names, self.force, &inputs(logs))?;
        if self.png {
            outputs.with_png()
        } else {
            Ok(outputs)
        }
    }
}

fn inputs(log: &LogArguments) -> Vec<&Path> {
    let files = log.logs.iter().chain(&log.fit_on);
    files.filter(|file| *file != "-").map(Path::new).collect()
}
