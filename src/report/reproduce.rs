//! Recomputed figures as a document.

use serde::Serialize;

use super::document::Document;
use leakgauge_base::Tool;
use leakgauge_reproduce::{Comparison, Entry, Reproduction};

/// For each figure: the comparison with the printed values, notes, and the files written.
pub(super) fn document(figures: &[(Reproduction, Vec<String>)]) -> Document {
    let mut document = Document::default();
    for (figure, files) in figures {
        document.heading(format!("{}: {}", figure.name, figure.about));
        if !figure.comparisons.is_empty() {
            let rows = figure.comparisons.iter().map(row).collect();
            document.table(vec!["quantity", "printed", "recomputed", ""], 4, rows);
            differences(&mut document, &figure.comparisons);
        }
        document.list(figure.notes.clone());
        document.paragraph(format!("Written: {}", files.join(", ")));
    }
    document
}

fn row(found: &Comparison) -> Vec<String> {
    let verdict = if found.agrees { "agrees" } else { "DIFFERS" };
    // Long statements go below the table.
    let short = |text: &str| {
        if found.value.is_some() {
            text.to_owned()
        } else {
            "see below".to_owned()
        }
    };
    vec![
        found.quantity.clone(),
        short(&found.printed),
        short(&found.recomputed),
        verdict.to_owned(),
    ]
}

fn differences(document: &mut Document, all: &[Comparison]) {
    let said = all
        .iter()
        .filter(|found| found.value.is_none() || !found.agrees);
    let items = said.map(|found| {
        let verdict = if found.agrees { "agrees" } else { "differs" };
        let mut text = format!(
            "{}, {}: printed {}, recomputed {}: {verdict}",
            found.place, found.quantity, found.printed, found.recomputed
        );
        if !found.comment.is_empty() && !found.agrees {
            text.push_str(&format!(" ({})", found.comment));
        }
        text + "."
    });
    document.list(items.collect());
}

/// The keys of recomputed figures.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reproduced<'a> {
    /// Version of this layout.
    schema_version: u32,
    /// Program and version.
    tool: Tool,
    /// Seed of every random choice.
    seed: u64,
    /// The figures in the order given.
    figures: Vec<ReproducedFigure<'a>>,
}

/// A recomputed figure and its files.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ReproducedFigure<'a> {
    /// Its name.
    name: &'a str,
    /// What it shows.
    about: &'a str,
    /// The files written.
    files: &'a [String],
    /// The comparison of printed and recomputed numbers.
    comparisons: &'a [Comparison],
    /// Choices that the paper leaves open, and remarks on the results.
    notes: &'a [String],
}

impl<'a> Reproduced<'a> {
    pub(super) fn of(figures: &'a [(Reproduction, Vec<String>)], seed: u64) -> Self {
        let figure = |(figure, files): &'a (Reproduction, Vec<String>)| ReproducedFigure {
            name: figure.name,
            about: figure.about,
            files,
            comparisons: &figure.comparisons,
            notes: &figure.notes,
        };
        Reproduced {
            schema_version: 1,
            tool: Tool::default(),
            seed,
            figures: figures.iter().map(figure).collect(),
        }
    }
}

/// The keys of the list of all figures.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Entries<'a> {
    /// Version of this layout.
    schema_version: u32,
    /// All figures that can be recomputed.
    figures: &'a [Entry],
}

impl<'a> Entries<'a> {
    pub(super) fn of(figures: &'a [Entry]) -> Self {
        Entries {
            schema_version: 1,
            figures,
        }
    }
}

/// The list of all figures.
pub(super) fn list(entries: &[Entry]) -> Document {
    let mut document = Document::default();
    let rows = entries
        .iter()
        .map(|entry| vec![entry.name.to_owned(), entry.about.to_owned()]);
    document.table(vec!["name", "figure"], 2, rows.collect());
    document
}
