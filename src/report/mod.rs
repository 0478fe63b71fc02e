//! Renders what was found. Nothing here computes: every number stands in the model.

mod attackers;
mod block_pictures;
mod bounds;
mod bounds_names;
mod channel;
mod check;
mod columns;
mod command;
mod compare;
mod compare_plots;
mod convergence;
mod demo;
mod differences;
mod document;
mod explain;
mod figure_files;
mod figures;
mod follow;
mod format;
mod gate;
mod html;
mod input;
#[cfg(feature = "schema")]
mod json_schema;
mod json_text;
mod layout;
mod log_names;
mod membership;
mod numbers;
mod outputs;
mod pairs;
mod permute;
mod pictures;
mod plan;
#[cfg(feature = "reproduce")]
mod reproduce;
mod requested;
mod schema;
mod sections;
pub mod sentences;
mod short;
pub mod shuffle;
mod shuffle_flow;
mod sketch;
mod summary;
mod trade_off;
mod verdict;
mod witness;
mod words;

use std::io::{self, Write};

use serde::Serialize;

use crate::audit::{Findings, Reading};
use crate::compare::Comparison;
use crate::explain::Explained;
use crate::follow::Line;
use crate::membership::{AnswerTable, OneRun};
use crate::power::RowsPlan;
use leakgauge_exact::bounds::Bounds;
use leakgauge_exact::channel::{Analysis, Optimal};
use leakgauge_log::Glance;
#[cfg(feature = "reproduce")]
use leakgauge_reproduce::{Entry, Reproduction};

pub use command::{command_line, quoted};
pub use compare_plots::{COMPARISON_PLOTS, comparison_plots};
pub use demo::demo_text;
pub use figure_files::{Written, check_figure_files, write_with_data};
pub use format::Format;
pub use gate::{
    GateCase, GateOutcome, audit_cases, claim_cases, comparison_cases, fit_cases, job_summary,
    junit,
};
pub use html::{comparison_page, follow_page, page, page_with_pairs, permute_page};
#[cfg(feature = "schema")]
pub use json_schema::{json_schema, json_schema_names, json_schemas};
pub use layout::{Layout, MOST_PAIRS};
pub use outputs::{Outputs, TableFile};
pub use pictures::{PICTURES, pictures};
pub use schema::query::{QueryReport, QuerySetting};

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
        json_text::write_line(line, out)?;
        return out.write_all(b"\n");
    }
    if is_first {
        let legend = match line.blocks {
            None => follow::LEGEND,
            Some(_) => follow::LEGEND_OF_BLOCKS,
        };
        writeln!(out, "{legend}")?;
    }
    writeln!(out, "{}", follow::line(line))
}

/// Writes how a log would be read, given the arguments of the command line behind the name of the command.
///
/// # Errors
/// What the writer reports.
pub fn write_check(
    reading: &Reading,
    arguments: &[String],
    layout: impl Into<Layout>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let layout = layout.into();
    let document = || match layout.brief {
        true => check::brief(reading),
        false => check::document(reading, arguments),
    };
    write(
        &schema::check::Check::of(reading, arguments),
        document,
        layout,
        out,
    )
}

/// Writes what stands in a log whose secret is not known, as text: there is no JSON of it.
///
/// # Errors
/// What the writer reports.
pub fn write_first_look(
    look: &Glance,
    arguments: &[String],
    layout: impl Into<Layout>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let layout = layout.into();
    let document = check::first_look(look, arguments);
    let text = match layout.format {
        Format::Markdown => document.to_markdown(),
        Format::Text | Format::Json => document.to_text(&layout),
    };
    out.write_all(text.as_bytes())
}

/// Writes an audit.
///
/// # Errors
/// What the writer reports.
pub fn write_audit(
    audit: &Findings,
    layout: impl Into<Layout>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let layout = layout.into();
    let document = || match layout.brief {
        true => sections::brief(audit),
        false => sections::audit(audit),
    };
    write(
        &schema::audit::Audit::of(audit, layout.pairs),
        document,
        layout,
        out,
    )
}

/// Writes an audit: as text the most important in at most 25 lines, in other formats as [`write_audit`] does. The
/// arguments of the command line behind the name of the program are for the command to go on with.
///
/// # Errors
/// What the writer reports.
pub fn write_short_audit(
    audit: &Findings,
    arguments: &[String],
    layout: impl Into<Layout>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let layout = layout.into();
    match (layout.format, layout.brief) {
        (Format::Text, false) => out.write_all(short::text(audit, arguments, &layout).as_bytes()),
        _ => write_audit(audit, layout, out),
    }
}

/// The JSON report of an audit, as `leakgauge audit --format json` prints it.
///
/// # Errors
/// None that findings could cause: what the serializer reports.
pub fn json(found: &Findings) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(found)
}

/// Writes how many rows an audit needs.
///
/// # Errors
/// What the writer reports.
pub fn write_plan(
    found: &RowsPlan,
    layout: impl Into<Layout>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let layout = layout.into();
    let document = || match layout.brief {
        true => plan::brief(found),
        false => plan::document(found),
    };
    write(found, document, layout, out)
}

/// Writes what a table of an attack's answers proves.
///
/// # Errors
/// What the writer reports.
pub fn write_answer_table(
    found: &AnswerTable,
    layout: impl Into<Layout>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let layout = layout.into();
    let document = || match layout.brief {
        true => membership::brief(&found.claims, || membership::table(found)),
        false => membership::table(found),
    };
    write(found, document, layout, out)
}

/// Writes what the scores of one training run prove.
///
/// # Errors
/// What the writer reports.
pub fn write_one_run(
    found: &OneRun,
    layout: impl Into<Layout>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let layout = layout.into();
    let document = || match layout.brief {
        true => membership::brief(&found.claims, || membership::one_run(found)),
        false => membership::one_run(found),
    };
    write(found, document, layout, out)
}

/// Writes the figures of a mechanism or promise.
///
/// # Errors
/// What the writer reports.
pub fn write_bounds(
    table: &Bounds,
    layout: impl Into<Layout>,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_summed(table, || bounds::document(table), layout, out)
}

/// Writes what a claim means for an attacker.
///
/// # Errors
/// What the writer reports.
pub fn write_explanation(
    found: &Explained,
    layout: impl Into<Layout>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let layout = layout.into();
    let document = || match layout.brief {
        true => explain::brief(found),
        false => explain::document(found),
    };
    write(
        &schema::explain::Explanation::of(found),
        document,
        layout,
        out,
    )
}

/// Writes the analysis of a channel.
///
/// # Errors
/// What the writer reports.
pub fn write_channel(
    analysis: &Analysis,
    layout: impl Into<Layout>,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_summed(analysis, || channel::analysis(analysis), layout, out)
}

/// Writes a mechanism of least expected loss, which came from a loss matrix and may be written to a file.
///
/// # Errors
/// What the writer reports.
pub fn write_optimal(
    found: &Optimal,
    file: &str,
    written: Option<&str>,
    layout: impl Into<Layout>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let document = || channel::optimal::optimal(found, file, written);
    write_summed(found, document, layout, out)
}

/// Writes a comparison.
///
/// # Errors
/// What the writer reports.
pub fn write_comparison(
    comparison: &Comparison,
    layout: impl Into<Layout>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let layout = layout.into();
    let document = || match layout.brief {
        true => compare::brief(comparison),
        false => compare::document(comparison),
    };
    write(comparison, document, layout, out)
}

/// Writes a comparison: as text the most important in at most 25 lines, in other formats as [`write_comparison`] does.
///
/// # Errors
/// What the writer reports.
pub fn write_short_comparison(
    comparison: &Comparison,
    layout: impl Into<Layout>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let layout = layout.into();
    match (layout.format, layout.brief) {
        (Format::Text, false) => out.write_all(short::comparison(comparison, &layout).as_bytes()),
        _ => write_comparison(comparison, layout, out),
    }
}

/// Writes which figures can be recomputed.
///
/// # Errors
/// What the writer reports.
#[cfg(feature = "reproduce")]
pub fn write_figures(
    entries: &[Entry],
    layout: impl Into<Layout>,
    out: &mut dyn Write,
) -> io::Result<()> {
    write(
        &reproduce::Entries::of(entries),
        || reproduce::list(entries),
        layout,
        out,
    )
}

/// Writes how recomputed figures compare with what is printed, and the files that they are in.
///
/// # Errors
/// What the writer reports.
#[cfg(feature = "reproduce")]
pub fn write_reproductions(
    figures: &[(Reproduction, Vec<String>)],
    seed: u64,
    layout: impl Into<Layout>,
    out: &mut dyn Write,
) -> io::Result<()> {
    write(
        &reproduce::Reproduced::of(figures, seed),
        || reproduce::document(figures),
        layout,
        out,
    )
}

/// Writes what shuffled messages tell.
///
/// # Errors
/// What the writer reports.
pub fn write_shuffle_information(
    survey: &leakgauge_exact::shuffle::information::Survey,
    layout: impl Into<Layout>,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_summed(survey, || shuffle_flow::information(survey), layout, out)
}

/// Writes what shuffled messages of a randomizer tell.
///
/// # Errors
/// What the writer reports.
pub fn write_shuffle_randomizer(
    survey: &leakgauge_exact::shuffle::information::RandomizerSurvey,
    layout: impl Into<Layout>,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_summed(survey, || shuffle_flow::randomizer(survey), layout, out)
}

/// Writes what shuffled messages of different laws tell.
///
/// # Errors
/// What the writer reports.
pub fn write_shuffle_users(
    survey: &leakgauge_exact::shuffle::information::UsersSurvey,
    layout: impl Into<Layout>,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_summed(survey, || shuffle_flow::users(survey), layout, out)
}

/// Writes how private shuffled reports are.
///
/// # Errors
/// What the writer reports.
pub fn write_shuffle_privacy(
    survey: &leakgauge_exact::shuffle::privacy::Survey,
    layout: impl Into<Layout>,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_summed(survey, || shuffle::privacy(survey), layout, out)
}

/// Writes how likely a shuffled value is guessed.
///
/// # Errors
/// What the writer reports.
pub fn write_shuffle_vulnerability(
    survey: &leakgauge_exact::shuffle::vulnerability::Survey,
    layout: impl Into<Layout>,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_summed(survey, || shuffle_flow::vulnerability(survey), layout, out)
}

/// Writes how likely an input of a randomizer before a shuffler is guessed.
///
/// # Errors
/// What the writer reports.
pub fn write_shuffle_mechanism(
    survey: &leakgauge_exact::shuffle::vulnerability::MechanismSurvey,
    layout: impl Into<Layout>,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_summed(survey, || shuffle_flow::mechanism(survey), layout, out)
}

/// Writes what is to be said about a log shuffled within groups.
///
/// # Errors
/// What the writer reports.
pub fn write_permute(
    found: &leakgauge_permute::Report,
    layout: impl Into<Layout>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let layout = layout.into();
    let document = || match layout.brief {
        true => permute::brief(found),
        false => permute::document(found),
    };
    write(found, document, layout, out)
}

/// Writes a report without verdicts: briefly its beginning.
fn write_summed(
    model: &impl Serialize,
    document: impl FnOnce() -> document::Document,
    layout: impl Into<Layout>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let layout = layout.into();
    let document = || match layout.brief {
        true => document().beginning(),
        false => document(),
    };
    write(model, document, layout, out)
}

fn write(
    model: &impl Serialize,
    document: impl FnOnce() -> document::Document,
    layout: impl Into<Layout>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let layout = layout.into();
    match layout.format {
        Format::Json => write_json(model, out),
        Format::Text => out.write_all(document().to_text(&layout).as_bytes()),
        Format::Markdown => out.write_all(document().to_markdown().as_bytes()),
    }
}

/// Writes a model as indented JSON, numbers in their shortest exact form.
///
/// # Errors
/// What the writer reports.
pub fn write_json(model: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    json_text::write_pretty(model, out)?;
    out.write_all(b"\n")
}
