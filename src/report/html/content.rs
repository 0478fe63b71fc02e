//! What the template shows: texts, rounded as in the other formats.

use serde::Serialize;

use super::answers::{Answer, CLAIMS, Headline, answers, what_was_read};
use super::name::Name;
use crate::audit::{ClaimReport, Detection, Findings, PairFigures, Shape};
use crate::report::attackers::attackers;
use crate::report::block_pictures;
use crate::report::columns;
use crate::report::convergence::would_more_rows_help;
use crate::report::differences;
use crate::report::document::{Block, Document};
use crate::report::figures::{self, Figure, Of};
use crate::report::input::input;
use crate::report::numbers::{Limits, nearest};
use crate::report::pairs::{by_lower_limit, how_to_have_all, left_out, together};
use crate::report::pictures::{few_false_positives, pictures};
use crate::report::sentences::assumptions::assumption;
use crate::report::sentences::reasons::reason;
use crate::report::sentences::warnings::message;
use crate::report::sentences::{no_leak, power};
use crate::report::trade_off;
use crate::report::verdict::{grounds, grounds_below};
use crate::report::witness;
use leakgauge_base::Tool;
use leakgauge_plot::clean;

/// All of the page.
#[derive(Serialize)]
pub struct Content {
    style: String,
    script: String,
    tool: String,
    files: Vec<(String, Option<String>)>,
    headline: Headline,
    answers: Vec<Answer>,
    read: Vec<String>,
    claims: Vec<Verdict>,
    detections: Vec<Detected>,
    warnings: Vec<(&'static str, String)>,
    worst: [Name; 2],
    distributions: Option<Drawn>,
    pairs: Option<Pairs>,
    trade_off: Option<String>,
    few_false_positives: Option<String>,
    trade_off_names: Option<[Name; 2]>,
    trade_off_text: Vec<Block>,
    witness: Vec<Block>,
    convergence: Option<String>,
    columns: Vec<Block>,
    columns_heading: &'static str,
    columns_picture: Option<String>,
    differences: Vec<Block>,
    differences_heading: Option<&'static str>,
    differences_picture: Option<String>,
    differences_beyond: Option<String>,
    times_picture: Option<String>,
    convergence_text: Vec<Block>,
    figures: Vec<Row>,
    figures_note: String,
    /// The test of no leak at all.
    test: Option<String>,
    /// What the page lacks, and why.
    absent: Vec<String>,
    reasons: Vec<String>,
    attackers: Vec<Block>,
    input: Vec<String>,
    assumptions: Vec<String>,
    command: String,
    version: &'static str,
    seed: u64,
}

/// A claim.
#[derive(Serialize)]
struct Verdict {
    class: String,
    claim: Name,
    grounds: Vec<String>,
}

/// Whether the log could have shown a leak.
#[derive(Serialize)]
struct Detected {
    class: &'static str,
    word: &'static str,
    leak: String,
    reason: String,
}

/// A picture of a column.
#[derive(Serialize)]
struct Drawn {
    svg: String,
    column: Name,
    columns: usize,
    beyond: Option<String>,
}

/// A figure as a row.
#[derive(Serialize)]
struct Row {
    name: String,
    meaning: &'static str,
    pair: Option<[Name; 2]>,
    of: String,
    pointer: String,
    point: String,
    lower: String,
    upper: String,
    /// Number of the reason why a limit is missing.
    reason: Option<usize>,
}

/// All pairs.
#[derive(Serialize)]
struct Pairs {
    heatmap: Option<String>,
    /// Whether it needs the width of the page.
    is_wide: bool,
    dots: Option<String>,
    count: usize,
    /// What writes the pairs that are left out, if there are any.
    more: Option<String>,
    together: String,
    rows: Vec<PairRow>,
    reasons: Vec<String>,
}

/// A pair: total variation, its limits, Bayes security.
#[derive(Serialize)]
struct PairRow {
    secrets: [Name; 2],
    numbers: [String; 4],
}

impl Content {
    pub fn new(audit: &Findings, command: &str, most_pairs: usize) -> Content {
        let mut drawn = pictures(audit);
        let mut picture = |name: &str| {
            let at = drawn.iter().position(|picture| picture.name == name)?;
            Some(drawn.swap_remove(at).svg)
        };
        let tool = Tool::default();
        let worst = &audit.worst_pair;
        let (figures, reasons) = rows(figures::list(audit));
        let (headline, answers) = answers(audit, &clean(command));
        Content {
            style: compact(include_str!("style.css")),
            script: compact(include_str!("page.js")),
            tool: format!("{} {}", tool.name, tool.version),
            files: audit
                .input
                .facts
                .files
                .iter()
                .map(|file| file_name(file))
                .collect(),
            headline,
            answers,
            read: what_was_read(audit),
            claims: audit.claims.iter().enumerate().map(verdict).collect(),
            detections: audit.detections.iter().map(detected).collect(),
            warnings: audit
                .warnings
                .iter()
                .map(|warning| (warning.code(), clean(&message(warning))))
                .collect(),
            worst: worst.secrets.labels().map(Name::new),
            distributions: picture("distributions").and_then(|svg| distributions(audit, svg)),
            pairs: (audit.pairs.len() > 1).then(|| {
                pairs(
                    audit,
                    [picture("bayes-security"), picture("pairs")],
                    most_pairs,
                )
            }),
            trade_off: picture("trade-off"),
            few_false_positives: few_false_positives(audit),
            trade_off_names: worst
                .trade_off
                .as_ref()
                .map(|found| found.curve.secrets.labels().map(Name::new)),
            trade_off_text: blocks(|document| trade_off::body(document, audit)),
            witness: blocks(|document| witness::body(document, audit)),
            convergence: picture("convergence"),
            columns: blocks(|document| columns::body(document, audit)),
            columns_heading: columns::HEADING,
            columns_picture: picture("columns"),
            differences_picture: picture("differences"),
            differences_beyond: block_pictures::beyond(audit),
            times_picture: picture("times"),
            differences: blocks(|document| differences::body(document, audit)),
            differences_heading: audit.differences.as_ref().map(differences::heading),
            convergence_text: blocks(|document| {
                if let Some(found) = &audit.convergence {
                    would_more_rows_help(document, found);
                }
            }),
            figures,
            figures_note: figures::note(audit),
            test: test(audit),
            absent: absent(audit),
            reasons,
            attackers: blocks(|document| attackers(document, &audit.method)),
            input: cleaned(&input(audit)),
            assumptions: audit
                .assumptions
                .iter()
                .map(|one| clean(&assumption(one)))
                .collect(),
            command: clean(command),
            version: tool.version,
            seed: audit.seed,
        }
    }
}

/// A style or a script without comments and indentation: a page is passed on.
pub fn compact(text: &str) -> String {
    let lines = text.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The end of a path, which tells files apart, and all of it if that is more.
fn file_name(path: &str) -> (String, Option<String>) {
    let name = std::path::Path::new(path).file_name();
    let name = name.map_or(path.into(), |name| name.to_string_lossy());
    let shown = clean(&leakgauge_base::error::shorten(&name));
    let all = clean(path);
    let more = (shown != all).then_some(all);
    (shown, more)
}

/// The test of no leak at all.
fn test(audit: &Findings) -> Option<String> {
    let proven = audit.worst_pair.total_variation.lower > Some(0.0);
    let found = audit.no_leak.as_ref()?;
    Some(no_leak::sentence(found, proven, 1.0 - audit.confidence))
}

/// What other pages have and this one has not, a line each.
fn absent(audit: &Findings) -> Vec<String> {
    let worst = &audit.worst_pair;
    let mut texts = Vec::new();
    if worst.trade_off.is_none() {
        texts.push(trade_off::missing(audit));
    }
    if worst.distributions.is_none() {
        let [a, b] = worst.secrets.labels();
        texts.push(format!(
            "No picture of what is observed under {a} and {b}: a secret of the two has no rows."
        ));
    }
    if audit.pairs.len() > 1 && audit.secrets_by_likeness.is_none() {
        texts.push("No picture of all pairs: there is one of up to 200 secrets.".to_owned());
    }
    cleaned(&texts)
}

fn cleaned(texts: &[String]) -> Vec<String> {
    texts.iter().map(|text| clean(text)).collect()
}

fn blocks(write: impl FnOnce(&mut Document)) -> Vec<Block> {
    let mut document = Document::default();
    write(&mut document);
    document.into_blocks()
}

fn verdict((at, claim): (usize, &ClaimReport)) -> Verdict {
    let grounds = match at < CLAIMS {
        true => grounds_below(claim),
        false => grounds(claim),
    };
    Verdict {
        class: claim.verdict.to_string(),
        claim: Name::new(&claim.claim.text),
        grounds: cleaned(&grounds),
    }
}

fn detected(detection: &Detection) -> Detected {
    let (class, word) = match detection.is_too_weak() {
        true => ("violated", "too weak"),
        false => ("holds", "strong enough"),
    };
    Detected {
        class,
        word,
        leak: clean(&detection.leak.to_string()),
        reason: clean(&power::reason(detection)),
    }
}

fn distributions(audit: &Findings, svg: String) -> Option<Drawn> {
    let found = audit.worst_pair.distributions.as_ref()?;
    Some(Drawn {
        svg,
        column: Name::new(&found.column),
        columns: found.columns,
        beyond: match found.shape {
            Shape::Numbers { beyond, .. } if beyond > 0.0 => Some(nearest(beyond)),
            _ => None,
        },
    })
}

/// The number of a reason, from 1; new ones are added.
fn number(reasons: &mut Vec<String>, reason: &str) -> usize {
    let reason = clean(reason);
    let at = reasons
        .iter()
        .position(|known| *known == reason)
        .unwrap_or_else(|| {
            reasons.push(reason);
            reasons.len() - 1
        });
    at + 1
}

fn rows(figures: Vec<Figure<'_>>) -> (Vec<Row>, Vec<String>) {
    let mut reasons = Vec::new();
    let rows = figures.into_iter().map(|figure| {
        let is_missing = figure.lower.is_none() || figure.upper.is_none();
        let texts = figure.texts();
        let reason = figure.reason.filter(|_| is_missing);
        let (pair, of) = match figure.of {
            Of::Pair(secrets) => (Some(secrets.labels().map(Name::new)), String::new()),
            Of::Words(words) => (None, clean(&words)),
        };
        Row {
            name: figure.name,
            meaning: figure.meaning,
            pair,
            of,
            pointer: figure.pointer,
            point: texts.point,
            lower: texts.lower,
            upper: texts.upper,
            reason: reason.map(|reason| number(&mut reasons, &reason)),
        }
    });
    let rows = rows.collect();
    (rows, reasons)
}

/// Secrets whose picture of all pairs has room beside another.
const BESIDE: usize = 40;

fn pairs(audit: &Findings, [heatmap, dots]: [Option<String>; 2], most_pairs: usize) -> Pairs {
    /// Reasons beyond these differ in a name only.
    const MOST_REASONS: usize = 3;
    let order = by_lower_limit(audit, most_pairs);
    let left_out = left_out(audit, most_pairs);
    let mut reasons = Vec::new();
    for pair in &order {
        let total_variation = &pair.total_variation;
        let is_missing = total_variation.lower.is_none() || total_variation.upper.is_none();
        if let Some(why) = total_variation
            .reason
            .as_ref()
            .filter(|_| is_missing && reasons.len() < MOST_REASONS)
        {
            number(&mut reasons, &reason(why));
        }
    }
    Pairs {
        heatmap,
        is_wide: audit.input.secrets.len() > BESIDE,
        dots,
        count: audit.pairs.len(),
        more: (left_out > 0).then(|| {
            format!(
                "{left_out} pairs with smaller lower limits are left out. {}",
                how_to_have_all()
            )
        }),
        together: together(audit),
        rows: order.into_iter().map(pair_row).collect(),
        reasons,
    }
}

fn pair_row(pair: &PairFigures) -> PairRow {
    let [point, lower, upper] = Limits::from(&pair.total_variation).cells();
    let security = Limits::from(&pair.bayes_security()).texts(None).point;
    PairRow {
        secrets: pair.secrets.labels().map(Name::new),
        numbers: [point, lower, upper, security],
    }
}
