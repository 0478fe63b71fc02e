//! Claims, a line each: the verdict, the claim, what the log shows and what is claimed, and the pair that decides.

use leakgauge_base::naming::option;
use leakgauge_base::quantity::{PrivacyParameter, Quantity};
use leakgauge_plot::clean;

use crate::audit::{ClaimReport, Detection, Findings, Grounds, Verdict};
use crate::report::numbers::{Limits, MISSING, Texts, percent, plain};
use crate::report::sentences::{brief_reasons, power};
use crate::report::short::lines::{Entry, Section, cut_apart, letters};
use crate::report::verdict::has_numbers;
use crate::report::words::quantity;

/// Lines that the section may keep.
const LINES: usize = 9;
/// Claims that are explained, in their order. More have a line each, those that are violated first.
const EXPLAINED: usize = 3;
/// What stands between columns.
const GAP: &str = "  ";
/// The column of the figure. Those behind it are numbers, but for the last.
const FIGURE: usize = 2;
/// Letters of a label.
const LABEL: usize = 14;

/// The verdicts; nothing where nothing is claimed.
pub fn section(audit: &Findings, width: usize) -> Section<'_> {
    let mut claims: Vec<&ClaimReport> = audit.claims.iter().collect();
    if claims.len() > EXPLAINED {
        // What may be left out comes last.
        claims.sort_by_key(|claim| severity(claim.verdict));
    }
    let is_explained = claims.len() <= EXPLAINED;
    let lines = lines(&claims, width);
    let entries = claims.iter().zip(lines).map(|(claim, entry)| {
        let reasons = match is_explained {
            true => brief_reasons::of(claim),
            false => Vec::new(),
        };
        let below = reasons.into_iter().map(|reason| format!("  {reason}"));
        below.fold(entry, |entry, reason| entry.and_text(reason, 2))
    });
    let entries = entries.collect();
    let more = move |hidden: usize| left_out(&claims[claims.len() - hidden..]);
    Section::new(entries, LINES, Box::new(more))
}

/// What a log of several shows of its claim, and why the verdict is as it is. The verdict itself stands in their table, and
/// so does a claim that all have.
pub fn of_log(claim: &ClaimReport, log: &str, is_named: bool) -> Entry {
    let cells = cells(claim);
    let named = match is_named {
        true => format!("{} ", cells[1]),
        false => String::new(),
    };
    let mut texts = vec![format!("{log}: {named}{}.", figures(&cells))];
    texts.extend(brief_reasons::of_one_of_many(claim));
    Entry::text(texts.join(" "), 2)
}

/// What a log shows of a claim, and why the verdict is as it is.
pub fn told(claim: &ClaimReport) -> (String, Vec<String>) {
    (figures(&cells(claim)), brief_reasons::of(claim))
}

/// Whether a log of this size could have shown leaks; nothing where that was not asked for.
pub fn detections(audit: &Findings) -> Section<'_> {
    let detection = |found: &Detection| {
        let simulated = format!(
            "{}: {} of {} simulated logs of this size show such a leak {}; {} are wanted.",
            power::headline(found),
            found.found,
            found.logs,
            power::planted(found.planted),
            percent(found.power)
        );
        let text = match found.is_too_weak() {
            true => simulated,
            false => simulated + " One that is harder to learn can need more rows.",
        };
        Entry::text(text, 2)
    };
    let entries = audit.detections.iter().map(detection).collect();
    let more = |hidden| format!("and {hidden} more: {}", option("full"));
    Section::new(entries, 2, Box::new(more))
}

fn severity(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Violated => 0,
        Verdict::Inconclusive => 1,
        Verdict::Holds => 2,
    }
}

/// How many claims are not shown, by their verdicts.
fn left_out(claims: &[&ClaimReport]) -> String {
    let count = |verdict| {
        claims
            .iter()
            .filter(|claim| claim.verdict == verdict)
            .count()
    };
    let all = [Verdict::Violated, Verdict::Inconclusive, Verdict::Holds];
    let counts = all.map(|verdict| (count(verdict), verdict)).into_iter();
    let counts = counts.filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts
        .map(|(count, verdict)| match (verdict, count) {
            (Verdict::Holds, 2..) => format!("{count} hold"),
            _ => format!("{count} {verdict}"),
        })
        .collect();
    format!(
        "and {} more claims ({}): {}",
        claims.len(),
        counts.join(", "),
        option("full")
    )
}

/// A line a claim: few in words, many in a table where it is narrow enough.
fn lines(claims: &[&ClaimReport], width: usize) -> Vec<Entry> {
    let cells: Vec<Cells> = claims.iter().map(|claim| cells(claim)).collect();
    let names = [
        "", "", "", "at least", "estimate", "at most", "claim", "secrets",
    ];
    let header: Cells = names.map(str::to_owned);
    let rows: Vec<&Cells> = std::iter::once(&header).chain(&cells).collect();
    // The name of a promise says which figure decides, that of a mechanism does not.
    let can_drop = !claims.iter().any(|claim| is_mechanism(claim));
    let tables = [true, false]
        .into_iter()
        .filter(|has_figure| *has_figure || can_drop);
    let mut tables = tables.map(|has_figure| aligned(&rows, has_figure));
    let narrow = tables.find(|table| table.iter().all(|row| letters(row) <= width));
    let Some(table) = narrow.filter(|_| claims.len() > EXPLAINED) else {
        return cells.iter().map(|cells| in_words(cells, width)).collect();
    };
    let mut rows = table.into_iter().map(Entry::row);
    let header = rows.next();
    let mut entries: Vec<Entry> = rows.collect();
    if let (Some(first), Some(header)) = (entries.first_mut(), header) {
        first.put_above(header);
    }
    entries
}

fn is_mechanism(claim: &ClaimReport) -> bool {
    matches!(
        claim.reason.grounds,
        Grounds::Mechanism { .. } | Grounds::MechanismEpsilon
    )
}

/// What stands for a pair that is not named: all pairs were looked at together, or all secrets are meant.
fn no_pair(claim: &ClaimReport) -> &'static str {
    match claim.is_about_all_secrets() {
        true => "all secrets",
        false => "some pair",
    }
}

/// The verdict, the claim, the figure, at least, the estimate, at most, the claim's bound, and the pair.
type Cells = [String; 8];

fn cells(claim: &ClaimReport) -> Cells {
    let texts = numbers(claim);
    [
        claim.verdict.to_string().to_uppercase(),
        clean(&claim.claim.to_string()),
        named(claim),
        texts.lower,
        texts.point,
        texts.upper,
        bound(claim, texts.bound),
        claim
            .deciding_pair()
            .map_or(no_pair(claim).to_owned(), |pair| {
                clean(&cut_apart(pair.labels(), LABEL).join(" | "))
            }),
    ]
}

/// The figure; an ε with its δ, where that is not 0.
fn named(claim: &ClaimReport) -> String {
    let name = quantity(claim);
    match claim.quantity {
        Quantity::Privacy(PrivacyParameter::Epsilon { delta }) if delta > 0.0 => {
            format!("{name} (delta {})", plain(delta, 4))
        }
        _ => name.to_owned(),
    }
}

fn numbers(claim: &ClaimReport) -> Texts {
    let limits = match has_numbers(claim) {
        true => Limits::from(&claim.estimate),
        false => Limits::default(),
    };
    match claim.quantity {
        Quantity::TimeDifference => {
            limits.texts_of_times(claim.analytic, claim.reason.grounds.unit())
        }
        _ => limits.texts(Some(claim.analytic)),
    }
}

/// What is claimed of the figure. A mechanism has a value of its own, from which it may differ by the margin.
fn bound(claim: &ClaimReport, number: String) -> String {
    match (is_mechanism(claim), claim.quantity.protects()) {
        (true, _) => number,
        (false, true) => format!("≥ {number}"),
        (false, false) => format!("≤ {number}"),
    }
}

/// Rows with their columns below each other: numbers to the right.
fn aligned(rows: &[&Cells], has_figure: bool) -> Vec<String> {
    let widths: [usize; 8] = std::array::from_fn(|at| {
        let cells = rows.iter().map(|row| letters(&row[at]));
        cells.max().unwrap_or(0)
    });
    let line = |row: &&Cells| {
        let cells = row.iter().zip(widths).enumerate();
        let cells = cells.filter(|(at, _)| has_figure || *at != FIGURE);
        let cells = cells.map(|(at, (cell, width))| {
            let blanks = " ".repeat(width - letters(cell));
            match at <= FIGURE || at + 1 == row.len() {
                true => format!("{cell}{blanks}"),
                false => format!("{blanks}{cell}"),
            }
        });
        let line = cells.collect::<Vec<_>>().join(GAP);
        line.trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// The same in words, on two lines if one is too short.
fn in_words(cells: &Cells, width: usize) -> Entry {
    let [verdict, claim, ..] = cells;
    let first = format!("{verdict}{GAP}{claim}");
    let rest = figures(cells);
    let whole = format!("{first}{GAP}{rest}");
    match letters(&whole) <= width {
        true => Entry::row(whole),
        false => Entry::text(first, 4).and_text(format!("{GAP}{rest}"), 4),
    }
}

/// The figure, its numbers and its pair.
fn figures([_, _, figure, lower, point, upper, bound, pair]: &Cells) -> String {
    let numbers = [("at least", lower), ("estimate", point), ("at most", upper)];
    let numbers = numbers.into_iter().filter(|(_, text)| *text != MISSING);
    let mut parts: Vec<String> = numbers
        .map(|(name, text)| format!("{name} {text}"))
        .collect();
    if parts.is_empty() {
        parts.push(MISSING.to_owned());
    }
    parts.push(format!("claim {bound}"));
    format!("{figure} {} ({pair})", parts.join(", "))
}
