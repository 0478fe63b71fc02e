//! Recomputed figures as a document.

use super::document::Document;
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

/// The same as JSON.
pub(super) fn json(figures: &[(Reproduction, Vec<String>)], seed: u64) -> serde_json::Value {
    let figure = |(figure, files): &(Reproduction, Vec<String>)| {
        serde_json::json!({
            "name": figure.name,
            "about": figure.about,
            "files": files,
            "comparisons": figure.comparisons,
            "notes": figure.notes,
        })
    };
    serde_json::json!({
        "schema_version": 1,
        "tool": {"name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION")},
        "seed": seed,
        "figures": figures.iter().map(figure).collect::<Vec<_>>(),
    })
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
