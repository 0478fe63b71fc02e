//! The report of a comparison that fits on a screen: a table of the logs, the first against the last, and why each verdict
//! is as it is.

use leakgauge_base::naming::{option, setting};
use leakgauge_plot::clean;

use crate::audit::Verdict;
use crate::compare::{Caution, Comparison, Differences, LogEntry};
use crate::report::log_names::log_names;
use crate::report::numbers::{Limits, MISSING, Texts, confidence_percent, plain};
use crate::report::sentences::comparison::{caution, no_limit, sampled};
use crate::report::sentences::doubts::{doubt, weight};
use crate::report::short::claims;
use crate::report::short::lines::{Entry, Section, cut_apart, end_of, letters};

/// Lines that sections may keep.
const TABLE: usize = 12;
const REASONS: usize = 5;
const CHECKS: usize = 3;
/// Letters of the name of a log at most, and at least where there is little room.
const NAME: usize = 34;
const LEAST_NAME: usize = 12;
/// Letters of a label.
const LABEL: usize = 14;
/// What stands between columns.
const GAP: &str = "  ";
/// What stands in a cell that has nothing to say.
const NONE: &str = "–";

/// The sections of the report.
pub fn sections(found: &Comparison, width: usize) -> Vec<Section<'_>> {
    let names: Vec<String> = log_names(found).iter().map(|name| clean(name)).collect();
    vec![
        table(found, width),
        change(found),
        verdicts(found, &names),
        checks(found, &names),
        closing(found),
    ]
}

/// What the table of the logs is about, its header, and a row a log.
pub fn rows(found: &Comparison) -> (String, Vec<&'static str>, Vec<Vec<String>>) {
    let is_claimed = found.logs.iter().any(|log| log.verdict.is_some());
    let names = log_names(found).into_iter().map(|name| clean(&name));
    let rows = names.zip(&found.logs).enumerate().map(|(at, (name, log))| {
        // The first log is compared with none.
        let change = at.checked_sub(1).map(|before| &found.differences[before]);
        [vec![name], row(log, change, is_claimed)].concat()
    });
    let header = [vec!["log"], header(is_claimed)].concat();
    (opening(found), header, rows.collect())
}

/// The first log against the last, and what the last one leaks.
pub fn sentences(found: &Comparison) -> Vec<String> {
    let names: Vec<String> = log_names(found).iter().map(|name| clean(name)).collect();
    let whole = found.first_to_last.as_ref().or(found.differences.last());
    let sentences = whole.map(|whole| {
        let [first, last] = whole.logs.map(|number| end_of(&names[number - 1], NAME));
        let now = what_is_left(&found.logs[whole.logs[1] - 1], &last);
        [changed(whole, &first, &last), now]
    });
    sentences.into_iter().flatten().collect()
}

/// A row a log.
fn table(found: &Comparison, width: usize) -> Section<'_> {
    let is_claimed = found.logs.iter().any(|log| log.verdict.is_some());
    let (about, header, rows) = rows(found);
    let header = header.into_iter().map(str::to_owned).collect();
    let mut rows: Vec<Vec<String>> = [header].into_iter().chain(rows).collect();
    let rest: usize = column_widths(&rows)[1..]
        .iter()
        .map(|width| GAP.len() + width)
        .sum();
    let room = width.saturating_sub(1 + rest).clamp(LEAST_NAME, NAME);
    for row in &mut rows[1..] {
        row[0] = end_of(&row[0], room);
    }
    let mut lines = aligned(&rows, is_claimed).into_iter();
    let above = Entry::text(about, 2).and_row(lines.next().unwrap_or_default());
    let mut entries: Vec<Entry> = lines.map(Entry::row).collect();
    if let Some(first) = entries.first_mut() {
        first.put_above(above);
    }
    let more = |hidden| format!("and {hidden} more logs: {}", option("full"));
    Section::new(entries, TABLE, Box::new(more))
}

/// What the table is about.
fn opening(found: &Comparison) -> String {
    let mut blind: Vec<String> = found
        .logs
        .iter()
        .map(|log| plain(100.0 * (1.0 - log.overall.guessing_error), 3))
        .collect();
    blind.dedup();
    let change = match (found.logs.len(), found.against) {
        (2, _) => "",
        (_, "first") => " Changes are from the first log.",
        _ => " Changes are from the log above.",
    };
    let prior = match found.logs[0].overall.prior.as_str() {
        "uniform" => String::new(),
        prior => format!(", prior {prior}"),
    };
    let claim = common_claim(found).map_or(String::new(), |claim| format!(" Claim: {claim}."));
    format!(
        "{} logs: how often the best attack found names the secret of one row, in % (blind: {}{prior}).{change}{claim}",
        found.logs.len(),
        blind.join(", ")
    )
}

fn header(is_claimed: bool) -> Vec<&'static str> {
    let mut names = vec![
        "rows", "at least", "estimate", "at most", "change", "at least", "at most",
    ];
    if is_claimed {
        names.push("verdict");
    }
    names
}

fn row(log: &LogEntry, change: Option<&Differences>, is_claimed: bool) -> Vec<String> {
    let share = Limits::from(&log.overall.attack_vulnerability);
    let share = share.map(|share| 100.0 * share).texts(None);
    let mut row = vec![
        log.rows_used.to_string(),
        share.lower,
        share.point,
        share.upper,
    ];
    row.extend(match change {
        None => [NONE; 3].map(str::to_owned),
        Some(change) => {
            let texts = points(Limits::from(&change.attack_vulnerability.difference));
            [texts.point, texts.lower, texts.upper].map(signed)
        }
    });
    if is_claimed {
        let verdict = log
            .verdict
            .map(|verdict| verdict.to_string().to_uppercase());
        row.push(verdict.unwrap_or_else(|| NONE.to_owned()));
    }
    row
}

/// A change of a share in percentage points.
fn points(change: Limits) -> Texts {
    change.map(|change| 100.0 * change).texts(Some(0.0))
}

fn signed(number: String) -> String {
    match number.parse::<f64>() {
        Ok(value) if value > 0.0 => format!("+{number}"),
        _ => number,
    }
}

fn column_widths(rows: &[Vec<String>]) -> Vec<usize> {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |at: usize| rows.iter().map(|row| letters(&row[at])).max().unwrap_or(0);
    (0..columns).map(width).collect()
}

/// Rows with their columns below each other: numbers to the right.
fn aligned(rows: &[Vec<String>], is_claimed: bool) -> Vec<String> {
    let widths = column_widths(rows);
    let last = widths.len() - 1;
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate();
        let cells = cells.map(|(at, (cell, width))| {
            let blanks = " ".repeat(width - letters(cell));
            match at == 0 || is_claimed && at == last {
                true => format!("{cell}{blanks}"),
                false => format!("{blanks}{cell}"),
            }
        });
        let line = format!(" {}", cells.collect::<Vec<_>>().join(GAP));
        line.trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// The first log against the last.
fn change(found: &Comparison) -> Section<'_> {
    let mut sentences = sentences(found).into_iter();
    let first = sentences.next().map(|first| Entry::text(first, 2));
    let entry = first.map(|first| sentences.fold(first, |entry, text| entry.and_text(text, 2)));
    let entries = entry.into_iter().collect();
    Section::new(entries, 4, Box::new(|_| String::new()))
}

fn changed(whole: &Differences, first: &str, last: &str) -> String {
    let attack = &whole.attack_vulnerability.difference;
    let best = &whole.bayes_vulnerability.difference;
    let (Some(lower), Some(upper)) = (attack.lower, attack.upper) else {
        return format!("From {first} to {last}: {}", no_limit(attack));
    };
    let is_known = best.lower.is_some();
    let best_possible = match (best.lower, best.upper) {
        (Some(_), Some(_)) => {
            let texts = points(Limits::from(best));
            let (lower, upper) = (signed(texts.lower), signed(texts.upper));
            format!(" For the best possible attack the change is {lower} to {upper} points.")
        }
        _ => format!(" {}", no_limit(best)),
    };
    let by = |smallest: f64, largest: f64| {
        let limits = Limits {
            lower: Some(smallest),
            point: None,
            upper: Some(largest),
        };
        let texts = points(limits);
        format!("by {} to {} percentage points", texts.lower, texts.upper)
    };
    let what = match (lower, upper) {
        (_, upper) if upper < 0.0 => format!("is right less often, {}.", by(-upper, -lower)),
        (lower, _) if lower > 0.0 => format!("is right more often, {}.", by(lower, upper)),
        _ => {
            let texts = points(Limits::from(attack));
            let (lower, upper) = (signed(texts.lower), signed(texts.upper));
            format!("shows no change: {lower} to {upper} percentage points.")
        }
    };
    let other = match upper < 0.0 && !is_known {
        true => " Another attack may not be stopped by what stopped this one.",
        false => "",
    };
    format!("From {first} to {last} the best attack found {what}{best_possible}{other}")
}

/// What the last log leaks: less is not nothing.
fn what_is_left(log: &LogEntry, name: &str) -> String {
    let worst = &log.worst_pair;
    let [a, b] = cut_apart(worst.secrets.labels(), LABEL).map(|label| clean(&label));
    let right = Limits::from(&worst.total_variation).map(|advantage| 50.0 * (1.0 + advantage));
    let texts = right.texts(Some(50.0));
    match worst.total_variation.lower {
        Some(lower) if lower > 0.0 => format!(
            "{name} leaks: one row tells {a} from {b} at least {} % of the time (blind: 50 %).",
            texts.lower
        ),
        Some(_) if texts.upper != MISSING => format!(
            "{name}: no leak is shown; no attack tells {a} from {b} more than {} % of the time (blind: 50 %).",
            texts.upper
        ),
        _ => format!("{name}: no leak is shown, and no upper limit is known."),
    }
}

/// The claim that all logs have.
fn common_claim(found: &Comparison) -> Option<String> {
    let claims = found.logs.iter();
    let mut claims = claims.map(|log| log.claim.as_ref().map(|claim| claim.claim.to_string()));
    let first = claims.next()??;
    claims
        .all(|other| other.as_deref() == Some(&first))
        .then(|| clean(&first))
}

/// Why each verdict is as it is, violated ones first.
fn verdicts<'a>(found: &'a Comparison, names: &[String]) -> Section<'a> {
    let judged = found.logs.iter().zip(names);
    let mut judged: Vec<_> = judged
        .filter_map(|(log, name)| Some((log.claim.as_ref()?, name)))
        .collect();
    judged.sort_by_key(|(claim, _)| match claim.verdict {
        Verdict::Violated => 0,
        Verdict::Inconclusive => 1,
        Verdict::Holds => 2,
    });
    let common = common_claim(found);
    let entries = judged
        .iter()
        .map(|(claim, name)| claims::of_log(claim, &end_of(name, NAME), common.is_none()));
    let more = |hidden| format!("and {hidden} more verdicts: {}", option("full"));
    Section::new(entries.collect(), REASONS, Box::new(more))
}

/// What is doubtful, once for all logs that it is about.
fn checks<'a>(found: &'a Comparison, names: &[String]) -> Section<'a> {
    let cautions = found.cautions.iter();
    let cautions = cautions.map(|one: &Caution| (1, caution(one), Vec::new()));
    let mut all: Vec<(u8, String, Vec<String>)> = cautions.collect();
    for (log, name) in found.logs.iter().zip(names) {
        let sampled = log.sampled.as_ref().map(|found| (3, sampled(found)));
        let warnings = log.warnings.iter();
        let warnings = warnings.map(|warning| (weight(warning), doubt(warning)));
        for (weight, text) in warnings.chain(sampled) {
            match all.iter_mut().find(|(_, known, _)| *known == text) {
                Some((.., logs)) => logs.push(end_of(name, NAME)),
                None => all.push((weight, text, vec![end_of(name, NAME)])),
            }
        }
    }
    all.sort_by_key(|(weight, ..)| *weight);
    let entries = all.into_iter().map(|(_, text, logs)| match &logs[..] {
        [] => Entry::text(format!("Check: {text}"), 2),
        logs if logs.len() == found.logs.len() => Entry::text(format!("Check all logs: {text}"), 2),
        [first, second, third, ..] => Entry::text(
            format!(
                "Check {first}, {second}, {third}{}: {text}",
                match logs.len() {
                    3 => String::new(),
                    logs => format!(" and {} more", logs - 3),
                }
            ),
            2,
        ),
        logs => Entry::text(format!("Check {}: {text}", logs.join(", ")), 2),
    });
    let more = |hidden| match hidden {
        1 => format!("and 1 more doubt: {}", option("full")),
        _ => format!("and {hidden} more doubts: {}", option("full")),
    };
    Section::new(entries.collect(), CHECKS, Box::new(more))
}

/// Where everything is, and what limits promise.
fn closing(found: &Comparison) -> Section<'_> {
    let confidence = confidence_percent(found.confidence);
    let limits = match found.log_confidence == found.confidence {
        true => format!("Each limit holds with {confidence} confidence."),
        false => format!(
            "All verdicts together hold with {confidence} confidence, and so does each change; limits of a log with {}.",
            confidence_percent(found.log_confidence)
        ),
    };
    let text = format!(
        "Everything: {}; as a page: {}. {limits}",
        option("full"),
        setting("html", "report.html")
    );
    Section::new(vec![Entry::text(text, 2)], 2, Box::new(|_| String::new()))
}
