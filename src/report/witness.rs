//! The section of what proves the limits of privacy.

use crate::audit::Findings;
use crate::report::document::Document;
use crate::report::sentences::witness::proof;

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
        "Counts are of rows on which neither attack nor event was chosen: certification rows, or earlier ones that were \
         judged before anything was learned from them. Limits of epsilon count the guesses at all of these."
            .to_owned(),
    );
}
