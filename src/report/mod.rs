//! Renders what was found. Nothing here computes: every number stands in the model.

mod attackers;
mod bounds;
mod channel;
mod command;
mod compare;
mod compare_plots;
mod convergence;
mod document;
mod figure_files;
mod figures;
mod follow;
mod html;
mod input;
mod outputs;
mod pairs;
mod permute;
mod pictures;
#[cfg(feature = "reproduce")]
mod reproduce;
mod schema;
mod sections;
pub mod sentences;
pub mod shuffle;
mod shuffle_flow;
mod summary;
mod trade_off;
mod verdict;
mod words;

use std::io::{self, Write};

use serde::Serialize;

use crate::audit::Findings;
use crate::compare::Comparison;
use crate::follow::Line;
use leakgauge_exact::bounds::Bounds;
use leakgauge_exact::channel::Analysis;
#[cfg(feature = "reproduce")]
use leakgauge_reproduce::{Entry, Reproduction};

pub use command::command_line;
pub use compare_plots::{COMPARISON_PLOTS, comparison_plots};
pub use figure_files::{Written, check_figure_files, write_with_data};
pub use html::{comparison_page, page};
pub use outputs::Outputs;
pub use pictures::{PICTURES, pictures};

/// How a report is written to standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// For reading in a terminal.
    #[default]
    Text,
    /// For scripts; the keys are stable.
    Json,
    /// For tickets and documents.
    Markdown,
}

/// Writes what is known of a log at some row, on one line; before the first line of text, what it says.
///
/// # Errors
/// What the writer reports.
pub fn write_follow(
    line: &Line,
    is_first: bool,
    format: Format,
    out: &mut dyn Write,
) -> io::Result<()> {
    if format == Format::Json {
        serde_json::to_writer(&mut *out, line).map_err(io::Error::from)?;
        return out.write_all(b"\n");
    }
    if is_first {
        writeln!(out, "{}", follow::LEGEND)?;
    }
    writeln!(out, "{}", follow::line(line))
}

/// Writes an audit.
///
/// # Errors
/// What the writer reports.
pub fn write_audit(audit: &Findings, format: Format, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Json => write_json(audit, out),
        Format::Text => out.write_all(sections::audit(audit).to_text().as_bytes()),
        Format::Markdown => out.write_all(sections::audit(audit).to_markdown().as_bytes()),
    }
}

/// The JSON report of an audit, as `leakgauge audit --format json` prints it.
///
/// # Errors
/// None that findings could cause: what the serializer reports.
pub fn json(found: &Findings) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(found)
}

/// Writes the figures of a mechanism or promise.
///
/// # Errors
/// What the writer reports.
pub fn write_bounds(table: &Bounds, format: Format, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Json => write_json(table, out),
        Format::Text => out.write_all(bounds::document(table).to_text().as_bytes()),
        Format::Markdown => out.write_all(bounds::document(table).to_markdown().as_bytes()),
    }
}

/// Writes the analysis of a channel.
///
/// # Errors
/// What the writer reports.
pub fn write_channel(analysis: &Analysis, format: Format, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Json => write_json(analysis, out),
        Format::Text => out.write_all(channel::analysis(analysis).to_text().as_bytes()),
        Format::Markdown => out.write_all(channel::analysis(analysis).to_markdown().as_bytes()),
    }
}

/// Writes a comparison.
///
/// # Errors
/// What the writer reports.
pub fn write_comparison(
    comparison: &Comparison,
    format: Format,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        Format::Json => write_json(comparison, out),
        Format::Text => out.write_all(compare::document(comparison).to_text().as_bytes()),
        Format::Markdown => out.write_all(compare::document(comparison).to_markdown().as_bytes()),
    }
}

#[cfg(feature = "reproduce")]
/// Writes which figures can be recomputed.
///
/// # Errors
/// What the writer reports.
pub fn write_figures(entries: &[Entry], format: Format, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Json => write_json(
            &serde_json::json!({"schema_version": 1, "figures": entries}),
            out,
        ),
        Format::Text => out.write_all(reproduce::list(entries).to_text().as_bytes()),
        Format::Markdown => out.write_all(reproduce::list(entries).to_markdown().as_bytes()),
    }
}

#[cfg(feature = "reproduce")]
/// Writes how recomputed figures compare with what is printed, and the files that they are in.
///
/// # Errors
/// What the writer reports.
pub fn write_reproductions(
    figures: &[(Reproduction, Vec<String>)],
    seed: u64,
    format: Format,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        Format::Json => write_json(&reproduce::json(figures, seed), out),
        Format::Text => out.write_all(reproduce::document(figures).to_text().as_bytes()),
        Format::Markdown => out.write_all(reproduce::document(figures).to_markdown().as_bytes()),
    }
}

/// Writes what shuffled messages tell.
///
/// # Errors
/// What the writer reports.
pub fn write_shuffle_information(
    survey: &leakgauge_exact::shuffle::information::Survey,
    format: Format,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_either(survey, || shuffle_flow::information(survey), format, out)
}

/// Writes what shuffled messages of a randomizer tell.
///
/// # Errors
/// What the writer reports.
pub fn write_shuffle_randomizer(
    survey: &leakgauge_exact::shuffle::information::RandomizerSurvey,
    format: Format,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_either(survey, || shuffle_flow::randomizer(survey), format, out)
}

/// Writes what shuffled messages of different laws tell.
///
/// # Errors
/// What the writer reports.
pub fn write_shuffle_users(
    survey: &leakgauge_exact::shuffle::information::UsersSurvey,
    format: Format,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_either(survey, || shuffle_flow::users(survey), format, out)
}

/// Writes how likely a shuffled value is guessed.
///
/// # Errors
/// What the writer reports.
pub fn write_shuffle_vulnerability(
    survey: &leakgauge_exact::shuffle::vulnerability::Survey,
    format: Format,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_either(survey, || shuffle_flow::vulnerability(survey), format, out)
}

/// Writes how likely an input of a randomizer before a shuffler is guessed.
///
/// # Errors
/// What the writer reports.
pub fn write_shuffle_mechanism(
    survey: &leakgauge_exact::shuffle::vulnerability::MechanismSurvey,
    format: Format,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_either(survey, || shuffle_flow::mechanism(survey), format, out)
}

/// Writes what is to be said about a log shuffled within groups.
///
/// # Errors
/// What the writer reports.
pub fn write_permute(
    found: &leakgauge_permute::Report,
    format: Format,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_either(found, || permute::document(found), format, out)
}

fn write_either(
    model: &impl Serialize,
    document: impl FnOnce() -> document::Document,
    format: Format,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        Format::Json => write_json(model, out),
        Format::Text => out.write_all(document().to_text().as_bytes()),
        Format::Markdown => out.write_all(document().to_markdown().as_bytes()),
    }
}

/// Writes a model as indented JSON, numbers in their shortest exact form.
///
/// # Errors
/// What the writer reports.
pub fn write_json(model: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, model).map_err(io::Error::from)?;
    out.write_all(b"\n")
}
