//! Verdicts for a pipeline: JUnit XML, and a summary in markdown.

use leakgauge_plot::clean;

use crate::audit::{ClaimReport, Verdict};
use crate::compare::Comparison;
use crate::report::document::Document;
use crate::report::sentences::claims;
use leakgauge_base::error::file_listing;

/// A verdict of a pipeline: a claim on a log.
pub struct GateCase<'a> {
    log: String,
    claim: &'a ClaimReport,
}

impl GateCase<'_> {
    /// The verdict.
    pub fn verdict(&self) -> Verdict {
        self.claim.verdict
    }
}

/// The claims on a log of these files.
pub fn claim_cases<'a>(files: &[String], claims: &'a [ClaimReport]) -> Vec<GateCase<'a>> {
    let log = file_listing(files);
    let claims = claims.iter();
    claims
        .map(|claim| GateCase {
            log: log.clone(),
            claim,
        })
        .collect()
}

/// The claims of a comparison, one for each log that has one.
pub fn comparison_cases(found: &Comparison) -> Vec<GateCase<'_>> {
    let logs = found.logs.iter();
    logs.filter_map(|log| {
        Some(GateCase {
            log: file_listing(&log.files),
            claim: log.claim.as_ref()?,
        })
    })
    .collect()
}

/// A JUnit report: a test case for each claim, which fails if its verdict does, and is skipped if it is inconclusive
/// and that does not fail.
pub fn junit(cases: &[GateCase<'_>], fails: impl Fn(Verdict) -> bool) -> String {
    let failures = cases.iter().filter(|case| fails(case.verdict())).count();
    let is_skipped =
        |case: &GateCase<'_>| case.verdict() == Verdict::Inconclusive && !fails(case.verdict());
    let skipped = cases.iter().filter(|case| is_skipped(case)).count();
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"leakgauge\" tests=\"{}\" \
         failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\">\n",
        cases.len()
    );
    for case in cases {
        let reason = escape(&claims::reason(case.claim));
        let word = case.verdict();
        xml.push_str(&format!(
            "    <testcase classname=\"{}\" name=\"{}\">",
            escape(&case.log),
            escape(&case.claim.claim.to_string())
        ));
        if fails(word) {
            xml.push_str(&format!("<failure type=\"{word}\" message=\"{reason}\"/>"));
        } else if is_skipped(case) {
            xml.push_str(&format!("<skipped message=\"{reason}\"/>"));
        } else {
            xml.push_str(&format!("<system-out>{word}: {reason}</system-out>"));
        }
        xml.push_str("</testcase>\n");
    }
    xml.push_str("  </testsuite>\n</testsuites>\n");
    xml
}

/// The verdicts as a table in markdown.
pub fn job_summary(cases: &[GateCase<'_>]) -> String {
    let mut document = Document::default();
    document.heading("leakgauge");
    let rows = cases.iter().map(|case| {
        vec![
            case.verdict().to_string(),
            case.claim.claim.to_string(),
            case.log.clone(),
            claims::reason(case.claim),
        ]
    });
    document.table(vec!["verdict", "claim", "log", "why"], 4, rows.collect());
    document.to_markdown()
}

/// What may stand in an attribute or a text of XML.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in clean(text).chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // Not a character of XML 1.0.
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ => escaped.push(letter),
        }
    }
    escaped
}
