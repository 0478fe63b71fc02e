//! `leakgauge reproduce`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use leakgauge::base::error::{Error, Result};
use leakgauge::report;
use leakgauge::reproduce::{
    ENTRIES, Entry, Population, ReproduceOptions, entry, options, read_population,
};

use crate::cli::options::{FormatName, use_threads};
use crate::cli::progress::{Progress, Stage};
use crate::cli::to_stdout;

/// `reproduce`.
#[derive(Args)]
pub struct ReproduceArguments {
    /// Names of figures, or `all`
    #[arg(value_name = "NAME", required_unless_present = "list")]
    names: Vec<String>,
    /// List the names of all figures
    #[arg(long)]
    list: bool,
    /// The directory for data (CSV) and pictures (SVG)
    #[arg(long, default_value = ".", value_name = "DIR")]
    out: PathBuf,
    /// Replace existing files
    #[arg(long)]
    force: bool,
    /// Input data. For bayes-security-figure-7: a file with a header and one row per person, whose columns
    /// together are the person's cell; for dsigma-figure-8: the Adult file; for dsigma-figure-4-twitch: the
    /// directory of edges.csv and target.csv
    #[arg(long, value_name = "FILE")]
    data: Option<String>,
    /// With --data: the number of cells, including empty ones [default: the cells in the file]
    #[arg(long, value_name = "N", requires = "data")]
    cells: Option<usize>,
    /// The seed of every random choice
    #[arg(long, default_value_t = 0, value_name = "N")]
    seed: u64,
    /// The format on standard output
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    format: FormatName,
}

/// Runs `reproduce`.
pub fn reproduce(arguments: &ReproduceArguments) -> Result<ExitCode> {
    let format = arguments.format.layout();
    if arguments.list {
        to_stdout(|out| report::write_figures(ENTRIES, format, out))?;
        return Ok(ExitCode::SUCCESS);
    }
    use_threads(None)?;
    let entries = entries(&arguments.names)?;
    if let (Some(file), false) = (
        &arguments.data,
        entries
            .iter()
            .filter(|entry| entry.takes_data || entry.takes_source)
            .count()
            == 1,
    ) {
        return Err(Error::parameter(
            format!("--data {file}"),
            "needs exactly one figure, one that takes data",
        )
        .with_hint("bayes-security-figure-7, dsigma-figure-8 or dsigma-figure-4-twitch"));
    }
    let files = entries.iter().flat_map(|entry| entry.files.iter().copied());
    report::check_figure_files(files, &arguments.out, arguments.force)?;
    let population = if entries.iter().any(|entry| entry.takes_data) {
        population(arguments)?
    } else {
        None
    };
    let progress = Progress::of_stage(Stage::Recomputing);
    let mut made = Vec::new();
    for entry in entries {
        let chosen = ReproduceOptions {
            seed: arguments.seed,
            population: population.clone().filter(|_| entry.takes_data),
            source: arguments.data.clone().filter(|_| entry.takes_source),
            ..options()
        };
        let figure = entry.reproduce(&chosen)?;
        let files = report::write_with_data(&figure.pictures, &arguments.out, arguments.force)?;
        made.push((
            figure,
            files
                .iter()
                .map(|file| file.display().to_string())
                .collect(),
        ));
    }
    progress.finish();
    to_stdout(|out| report::write_reproductions(&made, arguments.seed, format, out))?;
    Ok(ExitCode::SUCCESS)
}

fn population(arguments: &ReproduceArguments) -> Result<Option<Population>> {
    let Some(file) = &arguments.data else {
        return Ok(None);
    };
    let people = read_population(file)?;
    match arguments.cells {
        None => Ok(Some(people)),
        Some(cells) => people.over(cells).map(Some),
    }
}

/// The named figures, without duplicates.
fn entries(names: &[String]) -> Result<Vec<&'static Entry>> {
    let mut found: Vec<&'static Entry> = Vec::new();
    for name in names {
        let named = match name.as_str() {
            "all" => ENTRIES.iter().collect(),
            _ => vec![entry(name)?],
        };
        for entry in named {
            if found.iter().all(|before| before.name != entry.name) {
                found.push(entry);
            }
        }
    }
    Ok(found)
}
