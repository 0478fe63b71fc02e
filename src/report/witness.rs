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
        "No attack or event was chosen by the secrets of the rows that are counted. They are certification rows, earlier \
         rows that were judged before anything was learned from them, or, for an event that was chosen without looking at \
         secrets, nearly all rows. Limits of epsilon count the guesses at all of these."
            .to_owned(),
    );
    let has = |is_such: fn(&Witness) -> bool| {
        let mut limits = audit.privacy.iter();
        limits.any(|limit| limit.witness.as_ref().is_some_and(is_such))
    };
    if has(of_groups) {
        document.paragraph(
            "Groups of similar rows were formed without looking at secrets. Those that count were taken for having many rows \
             of one secret, and the limit allows for that."
                .to_owned(),
        );
    }
    if has(Witness::is_of_masked_rows) {
        document.paragraph(
            "Masked rows are rows whose secrets were hidden until they were guessed. A regression learned from the other rows: some \
             chosen at random, then those that it was least sure of. Surer guesses count more."
                .to_owned(),
        );
    }
}
