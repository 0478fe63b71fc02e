//! Reports about members and others.

use crate::audit::{ClaimReport, PrivacyLimit};
use crate::estimate::Estimate;
use crate::membership::{AnswerTable, OneRun};
use crate::report::document::Document;
use crate::report::numbers::{Limits, confidence_percent};
use crate::report::sentences::membership::{LESS_THAN_CHANCE, guesses, of_one_run, of_table};
use crate::report::verdict::{headline, verdict};
use leakgauge_base::error::file_listing;
use leakgauge_base::quantity::PrivacyParameter;
use leakgauge_base::rounding::allowance;

/// The report about a table of answers.
pub fn table(found: &AnswerTable) -> Document {
    let mut document = Document::default();
    document.opening("a table of answers");
    verdicts(&mut document, &found.claims);
    document.heading("Figures");
    let [tp, missed, fp, tn] = found.counts;
    document.paragraph(format!(
        "{tp} of {} members and {tn} of {} non-members were recognized. Limits hold with {} confidence.",
        tp + missed,
        fp + tn,
        confidence_percent(found.confidence)
    ));
    let mut rows = vec![
        figure("true positive rate", &found.true_positive_rate),
        figure("false positive rate", &found.false_positive_rate),
        figure("balanced accuracy", &found.balanced_accuracy),
        figure("advantage of the attack", &found.advantage),
        figure("total variation", &found.total_variation),
    ];
    rows.extend(found.privacy.iter().map(privacy));
    document.table(vec!["figure", "at least", "estimate", "at most"], 1, rows);
    if found.advantage.upper < Some(0.0) {
        document.paragraph(LESS_THAN_CHANCE);
    }
    document.heading("What the limits rest on");
    document.list(of_table());
    document
}

/// The report about a single training run.
pub fn one_run(found: &OneRun) -> Document {
    let mut document = Document::default();
    document.opening(&file_listing(&found.files));
    verdicts(&mut document, &found.claims);
    document.heading("Guesses");
    document.paragraph(format!(
        "One training run with {} canaries, {} of them included. Limits hold with {} confidence{}.",
        found.canaries,
        found.included,
        confidence_percent(found.confidence),
        match found.guesses.len() {
            1 => String::new(),
            parts => format!(", for all {parts} ways to guess together"),
        }
    ));
    document.list(found.guesses.iter().map(guesses).collect());
    document.heading("Figures");
    let mut rows: Vec<Vec<String>> = found.privacy.iter().map(privacy).collect();
    rows.extend(found.privacy_if_gaussian.iter().map(|limit| {
        let mut row = privacy(limit);
        row[0] += ", from mu";
        row
    }));
    document.table(vec!["figure", "at least", "estimate", "at most"], 1, rows);
    document.heading("What the limits rest on");
    document.list(of_one_run(found));
    document
}

/// The verdicts alone, or the whole report where nothing was claimed.
pub fn brief(claims: &[ClaimReport], whole: impl FnOnce() -> Document) -> Document {
    if claims.is_empty() {
        return whole();
    }
    let mut document = Document::default();
    claims
        .iter()
        .for_each(|claim| document.paragraph(headline(claim)));
    document
}

fn verdicts(document: &mut Document, claims: &[ClaimReport]) {
    if claims.is_empty() {
        return;
    }
    document.heading("Verdict");
    claims.iter().for_each(|claim| verdict(document, claim));
}

fn figure(name: &str, found: &Estimate) -> Vec<String> {
    let [point, lower, upper] = Limits::from(found).cells();
    vec![name.to_owned(), lower, point, upper]
}

fn privacy(found: &PrivacyLimit) -> Vec<String> {
    let name = match found.quantity {
        PrivacyParameter::Epsilon { delta } => format!("epsilon (delta {})", allowance(delta)),
        PrivacyParameter::Renyi { order } => {
            format!("Renyi divergence (order {})", allowance(order))
        }
        PrivacyParameter::Mu | PrivacyParameter::Rho => found.quantity.to_string(),
    };
    let [point, lower, upper] = Limits::from(found).cells();
    vec![name, lower, point, upper]
}
