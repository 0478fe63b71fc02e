//! The section on differences of times between secrets.

use crate::audit::{Differences, Findings};
use crate::report::document::Document;
use crate::report::sentences::differences;

/// Pairs that are listed.
const LISTED: usize = 10;

/// The answer in the unit of the measurements.
pub fn section(document: &mut Document, audit: &Findings) {
    if let Some(found) = &audit.differences {
        document.heading(heading(found));
        body(document, audit);
    }
}

/// What the section is called.
pub fn heading(found: &Differences) -> &'static str {
    match found.blocks {
        Some(_) => "Differences inside blocks",
        None => "Differences of times",
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
    let columns = match found.blocks {
        Some(_) => "pair|median|Hodges-Lehmann|mean|paired advantage|no difference",
        None => "pair|median|Hodges-Lehmann|mean|widest decile|no difference",
    };
    document.table(
        columns.split('|').collect(),
        1,
        rows.map(|pair| differences::row(pair, found.unit))
            .collect(),
    );
    document.paragraph(differences::legend(found, audit.confidence));
    document.paragraph(differences::read(found));
}
