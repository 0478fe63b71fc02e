//! `--html` and `--plots`.

use std::path::{Path, PathBuf};

use clap::Args;
use leakgauge::base::error::Result;
use leakgauge::base::files::check_outputs;
use leakgauge::report::{COMPARISON_PLOTS, MOST_PAIRS, Outputs, PICTURES, TableFile};

use crate::cli::options::LogArguments;
use crate::cli::terminal;

/// Files that are written in addition to standard output.
#[derive(Args)]
#[command(next_help_heading = "Report")]
pub struct OutputOptions {
    /// Print everything: all figures, the worst pairs, every warning in full, attackers, method, what limits rest on
    ///
    /// Without it a text report has at most 25 lines. JSON, markdown and pages always have everything.
    #[arg(long, conflicts_with = "follow")]
    full: bool,
    /// Write the report as a self-contained HTML page
    ///
    /// Replaces an existing page of leakgauge, but no other file. With --follow it is written anew with every line.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write every picture as SVG into this directory
    ///
    /// The directory is created if necessary: distributions.svg, bayes-security.svg, pairs.svg, trade-off.svg,
    /// convergence.svg, of ten columns and more columns.svg, and of times in blocks differences.svg and times.svg.
    /// Replaces or removes existing pictures of leakgauge, but no other file.
    #[arg(long, value_name = "DIR", conflicts_with = "follow")]
    plots: Option<PathBuf>,
    /// Write each picture as PNG too; needs a build with `--features png`
    #[arg(long, requires = "plots", conflicts_with = "follow")]
    png: bool,
    /// The most pairs in the JSON report and on the page: those with the largest lower limits
    #[arg(long, default_value_t = MOST_PAIRS, value_name = "N", conflicts_with = "follow")]
    pairs: usize,
    /// Write all pairs as CSV, those with the largest lower limits first
    ///
    /// Replaces an existing file of pairs of leakgauge, but no other file.
    #[arg(long, value_name = "FILE", conflicts_with = "follow")]
    pairs_file: Option<PathBuf>,
    /// Write all columns of numbers as CSV: how they depend on the secret, with p-values for all of them together
    ///
    /// Replaces an existing file of columns of leakgauge, but no other file.
    #[arg(long, value_name = "FILE", conflicts_with = "follow")]
    columns_file: Option<PathBuf>,
    /// Allow --html, --plots, --pairs-file and --columns-file to replace any file
    #[arg(long)]
    force: bool,
}

impl OutputOptions {
    /// The page.
    pub fn page(&self) -> Option<&Path> {
        self.html.as_deref()
    }

    /// Whether a text report has everything.
    pub fn full(&self) -> bool {
        self.full
    }

    /// The most pairs in a report.
    pub fn pairs(&self) -> usize {
        self.pairs
    }

    /// Whether any file is asked for.
    pub fn any(&self) -> bool {
        let tables = [&self.pairs_file, &self.columns_file];
        self.html.is_some() || self.plots.is_some() || tables.into_iter().any(Option::is_some)
    }

    /// Checks the output paths before the log is read.
    pub fn check(&self, inputs: &[&Path]) -> Result<Outputs> {
        check_page(self.html.as_deref(), inputs)?;
        let names = PICTURES.iter().map(|(name, _)| *name).collect();
        let (html, plots) = (self.html.clone(), self.plots.clone());
        let mut outputs = Outputs::check(html, plots, names, self.force, inputs)?;
        let tables = [
            (TableFile::Pairs, "pairs_file", &self.pairs_file),
            (TableFile::Columns, "columns_file", &self.columns_file),
        ];
        for (table, name, file) in tables {
            if let Some(file) = file {
                check_outputs(&[(name, file)], inputs, true)?;
                outputs = outputs.with_table(table, file.clone())?;
            }
        }
        if self.png {
            outputs.with_png()
        } else {
            Ok(outputs)
        }
    }
}

/// Files that `compare` writes in addition to standard output.
#[derive(Args)]
#[command(next_help_heading = "Report")]
pub struct ComparisonOutputs {
    /// Print everything: all figures, pairs, warnings in full, what limits rest on
    ///
    /// Without it a text report has at most 25 lines. JSON, markdown and pages always have everything.
    #[arg(long)]
    full: bool,
    /// Write the comparison as a self-contained HTML page. Replaces an existing page of leakgauge, but no other file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write pictures (SVG, `compare-….svg`) into this directory, which is created if necessary. Replaces existing
    /// pictures of leakgauge, but no other file
    #[arg(long, value_name = "DIR")]
    plots: Option<PathBuf>,
    /// Write each picture as PNG too; needs a build with `--features png`
    #[arg(long, requires = "plots")]
    png: bool,
    /// The most pairs of each two logs in the JSON report: those whose estimates changed most
    #[arg(long, default_value_t = MOST_PAIRS, value_name = "N")]
    pairs: usize,
    /// Allow --html and --plots to replace any file
    #[arg(long)]
    force: bool,
}

impl ComparisonOutputs {
    /// Whether a text report has everything.
    pub fn full(&self) -> bool {
        self.full
    }

    /// The most pairs in a report.
    pub fn pairs(&self) -> usize {
        self.pairs
    }

    /// The page.
    pub fn page(&self) -> Option<&Path> {
        self.html.as_deref()
    }

    /// Checks the output paths before a log is read.
    pub fn check(&self, logs: &LogArguments) -> Result<Outputs> {
        check_page(self.html.as_deref(), &inputs(logs))?;
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

/// Refuses a page where the report goes too. Whether a file may be replaced is checked elsewhere.
fn check_page(html: Option<&Path>, inputs: &[&Path]) -> Result<()> {
    match (terminal::output_file(), html) {
        (Some(output), Some(html)) => {
            check_outputs(&[("output", &output), ("html", html)], inputs, true)
        }
        _ => Ok(()),
    }
}

/// The files that are read.
pub fn inputs(log: &LogArguments) -> Vec<&Path> {
    let files = log.logs.iter().chain(&log.fit_on);
    let files = files.chain(&log.secret_map).chain(&log.secret_from);
    files.filter(|file| *file != "-").map(Path::new).collect()
}
