//! The section on differences between secrets inside blocks.

use crate::audit::Findings;
use crate::report::document::Document;
use crate::report::sentences::differences;

/// Pairs that are listed.
const LISTED: usize = 10;

/// The answer in the unit of the measurements, where they were taken in blocks.
pub fn section(document: &mut Document, audit: &Findings) {
    if audit.differences.is_some() {
        document.heading("Differences inside blocks");
        body(document, audit);
    }
}

/// The same without its heading.
pub fn body(document: &mut Document, audit: &Findings) {
    let Some(found) = &audit.differences else {
        return;
    };
    differences::answer(found)
        .into_iter()
        .for_each(|text| document.paragraph(text));
    let rows = found.pairs.iter().take(LISTED);
    document.table(
        vec![
            "pair",
            "median",
            "Hodges-Lehmann",
            "mean",
            "paired advantage",
            "no difference",
        ],
        1,
        rows.map(|pair| differences::row(pair, found.unit))
            .collect(),
    );
    document.paragraph(format!(
        "How much longer the second secret takes than the first, with limits that hold for all pairs together with {} % \
         confidence. Paired advantage: at least so well an attacker who sees two times of a block can tell which is \
         which.",
        100.0 * audit.confidence
    ));
    document.paragraph(differences::blocks(found));
}
