//! `leakgauge reproduce`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use leakgauge::audit::{AuditOptions, audit};
use leakgauge::error::{Error, Result};
use leakgauge::log::Log;
use leakgauge::report;
use leakgauge::reproduce::{
    Audited, ENTRIES, Entry, Population, ReproduceOptions, entry, read_population,
};

use crate::cli::options::FormatName;
use crate::cli::to_stdout;

/// `reproduce`.
#[derive(Args)]
pub struct ReproduceArguments {
    /// Figures by name, or `all`
    #[arg(value_name = "NAME", required_unless_present = "list")]
    names: Vec<String>,
    /// Name the figures there are
    #[arg(long)]
    list: bool,
    /// The directory that data (CSV) and pictures (SVG) are written to
    #[arg(long, default_value = ".", value_name = "DIR")]
    out: PathBuf,
    /// Replace files that are there
    #[arg(long)]
    force: bool,
    /// Of bayes-security-figure-7: people to protect, a header and then one a row, all columns together
    /// their cell; of dsigma-figure-8 the Adult file, of dsigma-figure-4-twitch the directory of edges.csv and
    /// target.csv
    #[arg(long, value_name = "FILE")]
    data: Option<String>,
    /// With --data: the number of cells there are, empty ones included [default: those of the file]
    #[arg(long, value_name = "N", requires = "data")]
    cells: Option<usize>,
    /// Seed of every random choice
    #[arg(long, default_value_t = 0, value_name = "N")]
    seed: u64,
    /// What goes to standard output
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    format: FormatName,
}

/// Runs `reproduce`.
pub fn reproduce(arguments: &ReproduceArguments) -> Result<ExitCode> {
    let format = arguments.format.into();
    if arguments.list {
        to_stdout(|out| report::write_figures(ENTRIES, format, out))?;
        return Ok(ExitCode::SUCCESS);
    }
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
            "is for one figure that takes data",
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
    let mut made = Vec::new();
    for entry in entries {
        let options = ReproduceOptions {
            seed: arguments.seed,
            population: population.clone().filter(|_| entry.takes_data),
            audit: Some(black_box),
            source: arguments.data.clone().filter(|_| entry.takes_source),
            ..ReproduceOptions::default()
        };
        let figure = entry.reproduce(&options)?;
        let files = report::write_with_data(&figure.pictures, &arguments.out, arguments.force)?;
        made.push((
            figure,
            files
                .iter()
                .map(|file| file.display().to_string())
                .collect(),
        ));
    }
    to_stdout(|out| report::write_reproductions(&made, arguments.seed, format, out))?;
    Ok(ExitCode::SUCCESS)
}

/// An audit as a figure about audits needs it.
fn black_box(log: &Log, seed: u64) -> Result<Audited> {
    let options = AuditOptions {
        seed,
        ..AuditOptions::default()
    };
    let found = audit(log, &options)?.worst_pair.bayes_security;
    Ok(Audited {
        estimate: found.point,
        lower: found.lower,
        upper: found.upper,
    })
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

/// The figures named, each once.
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
