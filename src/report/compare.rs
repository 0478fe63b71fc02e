//! A comparison as a document.

use crate::audit::{Verdict, Warning};
use crate::compare::{Comparison, Difference, Differences, LogEntry};
use crate::estimate::Estimate;
use crate::report::document::Document;
use crate::report::log_names::log_names;
use crate::report::numbers::{Limits, confidence_percent, nearest, plain};
use crate::report::sentences::claims::would_settle;
use crate::report::sentences::{claims, warnings};
use crate::report::short::comparison::{rows, sentences};
use crate::report::summary::other_pair;
use crate::report::verdict::headline;
use crate::report::words::value;
use leakgauge_base::error::{listing, shorten};

/// Pairs listed for each two logs.
const LISTED_PAIRS: usize = 10;

/// Headings that pictures belong to.
pub(super) mod headings {
    pub const DIFFERENCES: &str = "Differences";
    pub const WORST_PAIRS: &str = "The pair that is easiest to tell apart in each log";
    pub const OVERALL: &str = "All secrets together";
}

/// The logs with their names.
fn named(found: &Comparison) -> Vec<(String, &LogEntry)> {
    let names = log_names(found).into_iter();
    names.map(|name| shorten(&name)).zip(&found.logs).collect()
}

/// A line for each log.
fn logs(found: &Comparison) -> Vec<String> {
    named(found).iter().map(log).collect()
}

/// The verdicts alone, or the differences where nothing was claimed.
pub(super) fn brief(found: &Comparison) -> Document {
    let mut document = Document::default();
    let logs = named(found).into_iter();
    let claims = logs.filter_map(|(name, log)| Some((name, log.claim.as_ref()?)));
    let verdicts: Vec<String> = claims
        .map(|(name, claim)| format!("{name}: {}", headline(claim)))
        .collect();
    if verdicts.is_empty() {
        sentences(found)
            .into_iter()
            .for_each(|sentence| document.paragraph(sentence));
    }
    verdicts
        .into_iter()
        .for_each(|line| document.paragraph(line));
    document
}

/// The whole report.
pub(super) fn document(found: &Comparison) -> Document {
    let mut document = Document::default();
    let tool = &found.tool;
    let count = found.logs.len();
    document.paragraph(format!("{} {}: {count} logs", tool.name, tool.version));
    let (about, header, rows) = rows(found);
    document.paragraph(about);
    document.table(header, 1, rows);
    sentences(found)
        .into_iter()
        .for_each(|sentence| document.paragraph(sentence));
    if found
        .logs
        .iter()
        .any(|log| log.warnings.iter().any(Warning::is_about_order))
    {
        document.paragraph(
            "Read the warnings about the order of rows below: a change over time can look like a leak, and limits assume \
             independent rows.",
        );
    }
    if found.logs.iter().any(|log| log.claim.is_some()) {
        document.heading("Verdicts");
        document.list(named(found).iter().filter_map(verdict).collect());
        let [all, each] = [found.confidence, found.log_confidence].map(confidence_percent);
        document.paragraph(format!(
            "Together these verdicts hold with {all} confidence. Each log is judged at {each}, and so are its limits below; \
             limits of differences are at {all} each."
        ));
    }
    document.heading(headings::DIFFERENCES);
    differences(&mut document, found);
    document.heading(headings::WORST_PAIRS);
    worst_pairs(&mut document, found);
    document.heading(headings::OVERALL);
    overall(&mut document, found);
    for differences in &found.differences {
        pairs(&mut document, found, differences);
    }
    warning_list(&mut document, found);
    document.heading("Logs");
    document.list(logs(found));
    document.heading("How to read this");
    document.list(found.notes.clone());
    document
}

fn log((name, log): &(String, &LogEntry)) -> String {
    let files = log.files.join(", ");
    // A path that ends with the name says both.
    let about = if files.ends_with(name.as_str()) && log.files.len() == 1 {
        files
    } else {
        format!("{name} ({files})")
    };
    format!(
        "{about}: {} rows used{}, {} secrets, attack {}{}.",
        log.rows_used,
        log.sampled
            .as_ref()
            .map_or(String::new(), |sampled| format!(
                " (a random sample of {})",
                sampled.from.rows_in_all()
            )),
        log.secrets,
        log.scorer,
        log.mechanism
            .as_ref()
            .map_or(String::new(), |mechanism| format!("; {mechanism}"))
    )
}

fn verdict((name, log): &(String, &LogEntry)) -> Option<String> {
    let claim = log.claim.as_ref()?;
    let word = claim.verdict.to_string().to_uppercase();
    let more = match (claim.verdict, claim.rows_needed) {
        (Verdict::Inconclusive, Some(_)) => {
            would_settle(claim).map_or(String::new(), |sentence| format!(" {sentence}"))
        }
        _ => String::new(),
    };
    let fit = claim.fit.as_ref().and_then(|fit| fit.p_value);
    let fit = fit.map_or(String::new(), |p| match p {
        p if p < 0.001 => " Fit: p < 0.001.".to_owned(),
        p => format!(" Fit: p = {p:.3}."),
    });
    let other = other_pair(claim, &log.worst_pair.secrets);
    let other = other.map_or(String::new(), |other| format!(" {other}"));
    Some(format!(
        "{name}: {word}: {}. {}{other}{more}{fit}",
        claim.claim,
        claims::reason(claim)
    ))
}

/// The names of the two logs of a difference.
fn names(all: &Comparison, found: &Differences) -> [String; 2] {
    let names = log_names(all);
    found.logs.map(|number| {
        names
            .get(number - 1)
            .map_or(String::new(), |name| shorten(name))
    })
}

fn differences(document: &mut Document, found: &Comparison) {
    let mut rows = Vec::new();
    for differences in &found.differences {
        let [earlier, later] = names(found, differences);
        for (name, figure) in [
            (
                "success of the attack found",
                &differences.attack_vulnerability,
            ),
            (
                "success of the best possible attack",
                &differences.bayes_vulnerability,
            ),
            (
                "advantage of the attack found",
                &differences.attack_advantage,
            ),
            ("largest total variation", &differences.total_variation),
        ] {
            rows.push(difference(format!("{later} - {earlier}"), name, figure));
        }
    }
    let analytic = found.differences.iter().any(|differences| {
        let figures = [
            &differences.attack_vulnerability,
            &differences.bayes_vulnerability,
            &differences.attack_advantage,
            &differences.total_variation,
        ];
        figures.iter().any(|figure| figure.analytic.is_some())
    });
    let mut header = vec![
        "logs",
        "figure",
        "difference",
        "at least",
        "at most",
        "s.e.",
        "analytic",
        "z",
    ];
    if !analytic {
        header.remove(6);
        rows.iter_mut().for_each(|row| {
            row.remove(6);
        });
    }
    let mut labels = 2;
    // Of two logs, a sentence says once what the column would repeat.
    if let [only] = &found.differences[..] {
        let [earlier, later] = names(found, only);
        document.paragraph(format!("{later} minus {earlier}:"));
        header.remove(0);
        rows.iter_mut().for_each(|row| {
            row.remove(0);
        });
        labels = 1;
    }
    document.table(header, labels, rows);
    for differences in &found.differences {
        for (side, only) in [
            (0, &differences.only_in_earlier),
            (1, &differences.only_in_later),
        ] {
            if !only.is_empty() {
                document.paragraph(format!(
                    "Secrets only in {}, not in {}: {}.",
                    names(found, differences)[side],
                    names(found, differences)[1 - side],
                    listing(only.iter().map(String::as_str))
                ));
            }
        }
    }
}

fn difference(logs: String, name: &str, figure: &Difference) -> Vec<String> {
    let [change, least, most] = Limits::from(&figure.difference).cells();
    vec![
        logs,
        name.to_owned(),
        change,
        least,
        most,
        error(figure.standard_error),
        value(figure.analytic),
        z(figure.z),
    ]
}

/// A standard error.
fn error(error: Option<f64>) -> String {
    error.map_or("n/a".to_owned(), |error| plain(error, 2))
}

fn z(z: Option<f64>) -> String {
    z.map_or("n/a".to_owned(), |z| format!("{z:.1}"))
}

fn worst_pairs(document: &mut Document, found: &Comparison) {
    let analytic = found.logs.iter().any(|log| log.analytic.is_some());
    let mut header = vec![
        "log",
        "pair",
        "total variation",
        "s.e.",
        "at least",
        "at most",
    ];
    if analytic {
        header.extend(["analytic", "residual", "in s.e.", "analytic worst"]);
    }
    let rows = named(found).into_iter().map(|(name, log)| {
        let worst = &log.worst_pair;
        let [point, least, most] = Limits::from(&worst.total_variation).cells();
        let pair = worst.secrets.labels().map(shorten).join(" | ");
        let mut row = vec![name, pair, point, error(worst.standard_error), least, most];
        if analytic {
            let exact = log.analytic.as_ref();
            row.extend([
                value(exact.map(|exact| exact.total_variation)),
                value(log.residual.map(|residual| residual.total_variation)),
                z(log.residual.and_then(|residual| residual.standard_errors)),
                value(exact.map(|exact| exact.worst_pair.total_variation)),
            ]);
        }
        row
    });
    document.table(header, 2, rows.collect());
    document.paragraph("Bayes security is 1 minus total variation.");
}

fn overall(document: &mut Document, found: &Comparison) {
    let row = |log: String, name: &str, estimate: &Estimate, deviation: Option<f64>| {
        let [point, least, most] = Limits::from(estimate).cells();
        vec![log, name.to_owned(), point, error(deviation), least, most]
    };
    let mut rows = Vec::new();
    for (log_name, log) in named(found) {
        let overall = &log.overall;
        rows.push(row(
            log_name.clone(),
            "Bayes risk",
            &overall.bayes_risk,
            overall.standard_error,
        ));
        rows.push(row(
            log_name.clone(),
            "success of the attack found",
            &overall.attack_vulnerability,
            overall.attack_standard_error,
        ));
    }
    document.table(
        vec!["log", "figure", "estimate", "s.e.", "at least", "at most"],
        2,
        rows,
    );
    let blind: Vec<String> = found
        .logs
        .iter()
        .map(|log| nearest(log.overall.guessing_error))
        .collect();
    document.paragraph(format!(
        "Prior: {}. Error of guessing without the observation: {}.",
        found.logs[0].overall.prior,
        if blind.iter().all(|error| *error == blind[0]) {
            blind[0].clone()
        } else {
            blind.join(", ")
        }
    ));
}

fn pairs(document: &mut Document, all: &Comparison, found: &Differences) {
    let [earlier, later] = names(all, found);
    if found.pairs.len() < 2 {
        return;
    }
    document.heading(format!("Pairs that changed most from {earlier} to {later}"));
    let mut order: Vec<_> = found
        .pairs
        .iter()
        .filter_map(|pair| Some((pair.difference?.abs(), pair)))
        .collect();
    order.sort_by(|x, y| y.0.total_cmp(&x.0));
    let rows = order.iter().take(LISTED_PAIRS).map(|(_, pair)| {
        let mut row: Vec<String> = pair.secrets.labels().map(shorten).into();
        row.extend([
            value(pair.earlier),
            value(pair.later),
            value(pair.difference),
            error(pair.standard_error),
            z(pair.z),
        ]);
        row
    });
    document.table(
        vec![
            "secret",
            "secret",
            "earlier",
            "later",
            "difference",
            "s.e.",
            "z",
        ],
        2,
        rows.collect(),
    );
    let summary = &found.pair_summary;
    document.paragraph(format!(
        "These are estimates of total variation, not limits. By their estimates, of {} pairs {} are harder to tell apart in \
         {later} and {} are easier; the median change is {}.",
        summary.compared,
        summary.fell,
        summary.rose,
        value(summary.median)
    ));
}

fn warning_list(document: &mut Document, found: &Comparison) {
    let all = named(found).into_iter().flat_map(|(name, log)| {
        let warnings = log.warnings.iter();
        warnings.map(move |warning| {
            let message = warnings::message(warning);
            format!("{name}: {}: {message}.", warning.code())
        })
    });
    let all: Vec<String> = all.collect();
    if !all.is_empty() {
        document.heading("Warnings");
        document.list(all);
    }
}
