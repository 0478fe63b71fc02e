//! The section of what proves the limits of privacy.

use crate::audit::{Findings, Witness};
use crate::report::document::Document;
use crate::report::sentences::witness::{of_groups, proof};

/// The events behind every limit of privacy above 0; nothing where there is none.
pub fn section(document: &mut Document, audit: &Findings) {
    if audit.privacy.iter().any(|limit| proof(limit).is_some()) {
        document.heading("What proves the limits of privacy");
        body(document, audit);
    }
}

/// The same without its heading.
pub fn body(document: &mut Document, audit: &Findings) {
    let proofs: Vec<String> = audit.privacy.iter().filter_map(proof).collect();
    if proofs.is_empty() {
        return;
    }
    document.list(proofs);
    document.paragraph(
        "Attacks and events never saw the secrets of the rows that judge them. Limits of epsilon count all such rows: the \
         certification rows, earlier rows that were guessed before anything was learned from them, and nearly all rows for \
         events that were chosen without looking at secrets."
            .to_owned(),
    );
    let has = |is_such: fn(&Witness) -> bool| {
        let mut limits = audit.privacy.iter();
        limits.any(|limit| limit.witness.as_ref().is_some_and(is_such))
    };
    if has(of_groups) {
        document.paragraph(
            "Groups of similar rows were formed without looking at secrets. The groups with most rows of one secret are counted, \
             and the limit allows for that choice."
                .to_owned(),
        );
    }
    if has(Witness::is_of_masked_rows) {
        document.paragraph(
            "Held-out rows were guessed before their secrets were looked at, by a regression that learned from other rows. Surer \
             guesses count more."
                .to_owned(),
        );
    }
}
