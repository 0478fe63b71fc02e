//! The sections of an audit: verdicts, the answer in words, figures, worst pairs, method, warnings.

use crate::audit::Findings;
use crate::report::attackers::attackers;
use crate::report::columns;
use crate::report::convergence::would_more_rows_help;
use crate::report::differences;
use crate::report::document::Document;
use crate::report::figures::figures;
use crate::report::input::input;
use crate::report::pairs::pairs;
use crate::report::plan;
use crate::report::requested;
use crate::report::sentences::assumptions::assumption;
use crate::report::sentences::{power, warnings};
use crate::report::short::answer::smallest_leak;
use crate::report::short::doubts;
use crate::report::sketch::sketch;
use crate::report::summary::summary;
use crate::report::trade_off;
use crate::report::verdict::{headline, verdict};
use crate::report::witness;
use leakgauge_attack::scorer::Origin;
use leakgauge_base::error::file_listing;

/// The verdicts, with the doubts that can turn them around, or the summary where nothing was claimed.
pub fn brief(audit: &Findings) -> Document {
    let mut document = Document::default();
    audit
        .claims
        .iter()
        .for_each(|claim| document.paragraph(headline(claim)));
    audit
        .detections
        .iter()
        .for_each(|detection| document.paragraph(power::headline(detection)));
    if audit.claims.is_empty() {
        summary(&mut document, audit);
    }
    let doubts = doubts::grave(audit).into_iter();
    document.list(doubts.map(|doubt| format!("Check: {doubt}")).collect());
    document
}

/// The whole report.
pub fn audit(audit: &Findings) -> Document {
    let mut document = Document::default();
    document.opening(&file_listing(&audit.input.facts.files));
    if !audit.claims.is_empty() {
        document.heading("Verdict");
        audit
            .claims
            .iter()
            .for_each(|claim| verdict(&mut document, claim));
        audit
            .detections
            .iter()
            .for_each(|detection| plan::detection(&mut document, detection));
    }
    document.heading("Summary");
    summary(&mut document, audit);
    if let Some(smallest) = smallest_leak(audit) {
        document.paragraph(smallest);
    }
    if let Some(sketch) = sketch(audit) {
        document.sketch(sketch);
    }
    differences::section(&mut document, audit);
    document.heading("Figures");
    figures(&mut document, audit);
    requested::section(&mut document, audit);
    // Who brings an attack asks for its curve; for others the line on mu says enough.
    if audit.method.origin == Origin::Given {
        trade_off::section(&mut document, audit);
    }
    if audit.pairs.len() > 1 {
        document.heading("Pairs that are easiest to tell apart");
        pairs(&mut document, audit);
    }
    columns::section(&mut document, audit);
    witness::section(&mut document, audit);
    if let Some(convergence) = &audit.convergence {
        document.heading("Would more rows help?");
        would_more_rows_help(&mut document, convergence);
    }
    if !audit.warnings.is_empty() {
        document.heading("Warnings");
        document.list(
            audit
                .warnings
                .iter()
                .map(|w| format!("{}: {}.", w.code(), warnings::message(w)))
                .collect(),
        );
    }
    document.heading("Attackers tried");
    attackers(&mut document, &audit.method);
    document.heading("Input and method");
    document.list(input(audit));
    document.heading("What the limits rest on");
    document.list(audit.assumptions.iter().map(assumption).collect());
    document
}
