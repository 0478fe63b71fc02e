//! The pages of `permute` and of a log that is followed.

use super::document::{Content, Opening};
use crate::audit::Verdict;
use crate::follow::Line;
use crate::report::document::Document;
use crate::report::follow::{LEGEND, LEGEND_OF_BLOCKS, estimated};
use crate::report::permute;
use crate::report::sentences::follow::{difference, reason};
use crate::report::sentences::warnings;
use crate::report::words::{lower, value};
use leakgauge_plot::{self as plot, Axis, Caption, Chart, Layer, Mark};

/// Lines in the table, the last ones.
const LISTED: usize = 200;
/// Lines in the picture at most, evenly.
const DRAWN: usize = 400;

/// What is said about a shuffled log.
pub fn permuted(report: &leakgauge_permute::Report, command: &str) -> Content {
    let mut document = Document::default();
    permute::body(&mut document, report);
    let caption = "The mean share of values that stay in each of the largest groups, from simulated shuffles; the mark at \
                   its left is eta, the share that a group keeps at least.";
    let opening = Opening {
        class: "unknown",
        word: "Permuted",
        sentence: permute::headline(report),
        about: report.files.join(", "),
        picture: permute::picture(report).map(|svg| (svg, caption.to_owned())),
        after: match report.seed {
            Some(seed) => format!(", seed {seed}."),
            None => ", with randomness of the operating system.".to_owned(),
        },
    };
    Content::new(opening, document, command)
}

/// What is known of a log that is followed, given its lines so far.
pub fn followed(lines: &[Line], log: &str, command: &str) -> Content {
    let mut document = Document::default();
    if let Some(last) = lines.last() {
        known(&mut document, last);
    }
    document.heading("Line by line");
    table(&mut document, lines);
    let caption = "The largest advantage that is shown, and the estimate of the attacks that judged last, as rows came. \
                   Limits hold on all lines together.";
    let (class, word, sentence) = headline(lines.last());
    let opening = Opening {
        class,
        word,
        sentence,
        about: format!("{log}, followed"),
        picture: picture(lines).map(|svg| (svg, caption.to_owned())),
        after: ". The page is written anew with every line.".to_owned(),
    };
    Content::new(opening, document, command)
}

fn headline(last: Option<&Line>) -> (&'static str, &'static str, String) {
    let Some(last) = last else {
        return ("unknown", "Nothing yet", "no rows were judged".to_owned());
    };
    let after = match last.blocks {
        None => format!("after {} rows", last.rows),
        Some(blocks) => format!("after {blocks} blocks"),
    };
    let named = |verdict| {
        let claims = last.claims.iter().filter(|claim| claim.verdict == verdict);
        let claims: Vec<String> = claims.map(|claim| claim.claim.to_string()).collect();
        claims.join(", ")
    };
    if last.is_violated() {
        let claims = named(Verdict::Violated);
        return ("violated", "Violated", format!("{claims}, {after}"));
    }
    if last.all_hold() {
        return (
            "holds",
            "Holds",
            format!("{}, {after}", named(Verdict::Holds)),
        );
    }
    if !last.claims.is_empty() {
        let claims = named(Verdict::Inconclusive);
        return ("inconclusive", "Inconclusive", format!("{claims}, {after}"));
    }
    let is_shown = last.advantage.lower > Some(0.0) || last.epsilon.lower > Some(0.0);
    match is_shown {
        true => ("leaks", "Leak found", after),
        false => ("unknown", "No leak shown", after),
    }
}

/// What the last line says.
fn known(document: &mut Document, last: &Line) {
    for claim in &last.claims {
        let reason = reason(&claim.reason);
        document.paragraph(match last.claims.len() {
            1 => reason,
            _ => {
                let verdict = claim.verdict.to_string().to_uppercase();
                format!("{verdict}: {}. {reason}", claim.claim)
            }
        });
    }
    let times = last.differences.iter();
    document.list(times.map(|found| difference(found) + ".").collect());
    document.paragraph(format!(
        "Advantage at least {}, estimate {} ({}); epsilon at least {}.",
        lower(last.advantage.lower),
        value(last.advantage.point),
        estimated(last),
        lower(last.epsilon.lower)
    ));
    let warnings = last.warnings.iter();
    let warnings = warnings.map(|one| format!("{}: {}.", one.code(), warnings::message(one)));
    document.list(warnings.collect());
}

fn table(document: &mut Document, lines: &[Line]) {
    let row = |line: &Line| {
        vec![
            line.rows.to_string(),
            line.judged.max(line.epsilon_judged).to_string(),
            lower(line.advantage.lower),
            value(line.advantage.point),
            lower(line.epsilon.lower),
        ]
    };
    let header = vec![
        "rows",
        "judged",
        "advantage at least",
        "estimate",
        "epsilon at least",
    ];
    let last = lines.iter().rev().take(LISTED).map(row).collect();
    document.table(header, 0, last);
    if lines.len() > LISTED {
        document.paragraph(format!("The last {LISTED} lines of {}.", lines.len()));
    }
    let legend = match lines.last().and_then(|line| line.blocks) {
        None => LEGEND,
        Some(_) => LEGEND_OF_BLOCKS,
    };
    document.list(legend.split("; ").map(str::to_owned).collect());
}

fn picture(lines: &[Line]) -> Option<String> {
    let every = lines.len().div_ceil(DRAWN).max(1);
    // The last line is always there.
    let shown = lines.iter().rev().step_by(every).rev();
    let shown: Vec<&Line> = shown.collect();
    let curve = |of: fn(&Line) -> Option<f64>| -> Vec<(f64, f64)> {
        let points = shown
            .iter()
            .filter_map(|line| Some((line.rows as f64, of(line)?)));
        points.collect()
    };
    let lower = curve(|line| line.advantage.lower);
    if lower.len() < 2 {
        return None;
    }
    let estimate = curve(|line| line.advantage.point);
    let both = lower.iter().chain(&estimate);
    let largest = both.map(|point| point.1).fold(0.0, f64::max);
    let top = (1.1 * largest).clamp(0.1, 1.0);
    Some(plot::chart(&Chart {
        caption: Caption::new(
            "The advantage as rows came",
            "The lower limit of the largest advantage and its estimate, against the rows so far.",
        ),
        x: Axis::linear("rows"),
        y: Axis::linear("advantage").from_to(0.0, top),
        layers: vec![
            Layer::new("estimate", 1, Mark::Line(estimate)),
            Layer::new("at least", 0, Mark::Line(lower)),
        ],
        aspect: 0.6,
    }))
}
