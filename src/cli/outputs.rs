//! `--html` and `--plots`.

use std::path::{Path, PathBuf};

use clap::Args;
use leakgauge::error::Result;
use leakgauge::report::Outputs;

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
    /// Let --html and --plots replace any file
    #[arg(long, conflicts_with = "follow")]
    force: bool,
}

impl OutputOptions {
    /// Checks the places before the log is read.
    pub fn check(&self, log: &LogArguments) -> Result<Outputs> {
        let files = log
            .logs
            .iter()
            .chain(&log.fit_on)
            .filter(|file| *file != "-");
        let inputs: Vec<&Path> = files.map(Path::new).collect();
        Outputs::check(self.html.clone(), self.plots.clone(), self.force, &inputs)
    }
}
