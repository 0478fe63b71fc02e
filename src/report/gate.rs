//! Verdicts for a pipeline: JUnit XML, and a summary in markdown.

use std::fmt;

use leakgauge_plot::clean;

use crate::audit::{ClaimReport, Detection, Findings, Fit, Verdict};
use crate::compare::Comparison;
use crate::report::document::Document;
use crate::report::sentences::{claims, fit, power};
use leakgauge_base::error::file_listing;

/// A case of a pipeline: a claim on a log, or a leak that the log must be able to show.
pub struct GateCase<'a> {
    log: String,
    subject: Subject<'a>,
}

/// What a case is about.
enum Subject<'a> {
    Claim(&'a ClaimReport),
    Detection(&'a Detection),
    /// How well a log fits the mechanism of a claim, at this level.
    Fit(&'a ClaimReport, &'a Fit, f64),
}

/// How a case came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateOutcome {
    /// The verdict on a claim.
    Judged(Verdict),
    /// The log could not be judged by the claim.
    NotJudged,
    /// A log of this size can show the leak.
    StrongEnough,
    /// It cannot.
    TooWeak,
    /// The log fits the mechanism of a claim.
    Fits,
    /// It does not.
    Misfit,
    /// Whether it does was not tested.
    FitUntested,
}

/// As reports write it.
impl fmt::Display for GateOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GateOutcome::Judged(verdict) => verdict.fmt(f),
            GateOutcome::NotJudged => f.write_str("not judged"),
            GateOutcome::StrongEnough => f.write_str("strong enough"),
            GateOutcome::TooWeak => f.write_str("too weak"),
            GateOutcome::Fits => f.write_str("fits"),
            GateOutcome::Misfit => f.write_str("misfit"),
            GateOutcome::FitUntested => f.write_str("fit not tested"),
        }
    }
}

impl GateCase<'_> {
    /// How it came out.
    pub fn outcome(&self) -> GateOutcome {
        match self.subject {
            Subject::Claim(claim) if !claim.is_judged() => GateOutcome::NotJudged,
            Subject::Claim(claim) => GateOutcome::Judged(claim.verdict),
            Subject::Detection(detection) if detection.is_too_weak() => GateOutcome::TooWeak,
            Subject::Detection(_) => GateOutcome::StrongEnough,
            Subject::Fit(_, fit, alpha) => match fit.p_value {
                None => GateOutcome::FitUntested,
                Some(p_value) if p_value < alpha => GateOutcome::Misfit,
                Some(_) => GateOutcome::Fits,
            },
        }
    }

    /// How it came out and why, in a line.
    pub fn line(&self) -> String {
        let word = self.outcome().to_string().to_uppercase();
        format!("{word}: {}. {}", self.name(), self.reason())
    }

    fn name(&self) -> String {
        match self.subject {
            Subject::Claim(claim) => claim.claim.to_string(),
            Subject::Detection(detection) => format!("must detect {}", detection.leak),
            Subject::Fit(claim, ..) => format!("fit of {}", claim.claim),
        }
    }

    fn reason(&self) -> String {
        match self.subject {
            Subject::Claim(claim) => claims::reason(claim),
            Subject::Detection(detection) => power::reason(detection),
            Subject::Fit(_, fit, _) => fit::fit(fit),
        }
    }
}

/// The claims of an audit, then the leaks that it must be able to show.
pub fn audit_cases(audit: &Findings) -> Vec<GateCase<'_>> {
    let files = &audit.input.facts.files;
    let detections = audit.detections.iter().map(|detection| GateCase {
        log: file_listing(files),
        subject: Subject::Detection(detection),
    });
    let claims = claim_cases(files, &audit.claims);
    claims.into_iter().chain(detections).collect()
}

/// How well the log fits the mechanisms of the claims, at this level.
pub fn fit_cases(audit: &Findings, alpha: f64) -> Vec<GateCase<'_>> {
    let claims = audit.claims.iter();
    let fits = claims.filter_map(|claim| Some((claim, claim.fit.as_ref()?)));
    fits.map(|(claim, fit)| GateCase {
        log: file_listing(&audit.input.facts.files),
        subject: Subject::Fit(claim, fit, alpha),
    })
    .collect()
}

/// Claims that were judged on a log of these files.
pub fn claim_cases<'a>(files: &[String], claims: &'a [ClaimReport]) -> Vec<GateCase<'a>> {
    let log = file_listing(files);
    let case = |claim| GateCase {
        log: log.clone(),
        subject: Subject::Claim(claim),
    };
    claims.iter().map(case).collect()
}

/// The claims of a comparison, one for each log that has one.
pub fn comparison_cases(found: &Comparison) -> Vec<GateCase<'_>> {
    let logs = found.logs.iter();
    logs.filter_map(|log| {
        Some(GateCase {
            log: file_listing(&log.files),
            subject: Subject::Claim(log.claim.as_ref()?),
        })
    })
    .collect()
}

/// A JUnit report: a test case for each claim, which fails if its verdict does, and is skipped if it is inconclusive
/// and that does not fail.
pub fn junit(cases: &[GateCase<'_>], fails: impl Fn(GateOutcome) -> bool) -> String {
    let failures = cases.iter().filter(|case| fails(case.outcome())).count();
    let inconclusive = GateOutcome::Judged(Verdict::Inconclusive);
    let is_skipped = |case: &GateCase<'_>| case.outcome() == inconclusive && !fails(case.outcome());
    let skipped = cases.iter().filter(|case| is_skipped(case)).count();
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"leakgauge\" tests=\"{}\" \
         failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\">\n",
        cases.len()
    );
    for case in cases {
        let reason = escape(&case.reason());
        let word = case.outcome();
        xml.push_str(&format!(
            "    <testcase classname=\"{}\" name=\"{}\">",
            escape(&case.log),
            escape(&case.name())
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
            case.outcome().to_string(),
            case.name(),
            case.log.clone(),
            case.reason(),
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
