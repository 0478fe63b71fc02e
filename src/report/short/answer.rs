//! Which secrets an attacker can tell apart, how well, and how much more there may be.

use leakgauge_attack::scorer::Origin;
use leakgauge_base::naming::{option, setting};
use leakgauge_base::quantity::Quantity;
use leakgauge_log::observations::ColumnType;

use crate::audit::{Findings, OperatingPoint, Pair, is_member};
use crate::estimate::{Estimate, Method, Reason};
use crate::report::columns;
use crate::report::numbers::{Limits, Texts, percent, plain_above};
use crate::report::pairs::by_lower_limit;
use crate::report::requested;
use crate::report::sentences::reasons::reason;
use crate::report::short::lines::{Entry, Section, cut, cut_apart};
use crate::report::short::times;
use crate::report::summary::{differs, epsilon};
use crate::report::words::p_value_of;

/// Lines that the section may keep.
const LINES: usize = 4;
/// Pairs that are named, figures on request that are shown.
const PAIRS: usize = 3;
const REQUESTED: usize = 6;
/// Letters of a label.
const LABEL: usize = 24;

/// The section.
pub fn section(audit: &Findings) -> Section<'_> {
    let mut sentences = sentences(audit);
    if audit.claims.is_empty() {
        let word = match leaks(audit) {
            true if audit.rows_depend() => "LEAK, IF ROWS ARE INDEPENDENT",
            true => "LEAK",
            false => "NO LEAK SHOWN",
        };
        if let Some(first) = sentences.first_mut() {
            *first = format!("{word}  {first}");
        }
    }
    let entries = sentences.iter().map(|text| Entry::text(text, 2)).collect();
    let more = |hidden| format!("and {hidden} more: {}", option("full"));
    Section::new(entries, LINES, Box::new(more))
}

/// What can be told, the most important first.
pub fn sentences(audit: &Findings) -> Vec<String> {
    let mut sentences: Vec<String> = Vec::new();
    let differences = audit.differences.iter();
    let alpha = 1.0 - audit.confidence;
    sentences.extend(differences.flat_map(|found| times::answers(found, alpha)));
    match is_shown(audit) {
        true => sentences.extend(told(audit)),
        false => sentences.push(not_told(audit)),
    }
    sentences.extend(smallest_leak(audit));
    sentences.extend(columns::line(audit));
    sentences.extend(privacy(audit));
    sentences.extend(operating_point(audit));
    sentences.extend(requested(audit));
    sentences.extend(at_most(audit));
    sentences
}

/// Whether a leak is shown, in whatever way.
pub fn leaks(audit: &Findings) -> bool {
    is_shown(audit) || differs(audit) || epsilon(audit).is_some() || any_leak(audit).is_some()
}

/// Whether two secrets are shown to be told apart.
fn is_shown(audit: &Findings) -> bool {
    audit.worst_pair.total_variation.lower > Some(0.0)
}

/// Whom an attacker can tell from whom.
fn told(audit: &Findings) -> Vec<String> {
    let worst = &audit.worst_pair;
    let two = Limits::from(&worst.total_variation).map(right);
    if audit.input.secrets.len() == 2 {
        let [a, b] = labels(&worst.secrets);
        return vec![format!(
            "{} tells {a} from {b} {}.",
            attacker(audit),
            often(two, 0.5)
        )];
    }
    let risk = &audit.overall.bayes_risk;
    let blind = 1.0 - audit.overall.guessing_error;
    let named = Limits::from(&risk.decreasing(|risk| 1.0 - risk));
    let mut sentences = Vec::new();
    if named.lower.is_some_and(|lower| lower > blind) {
        sentences.push(format!(
            "{} names {} {}.",
            attacker(audit),
            secret(audit),
            often(named, blind)
        ));
    }
    let pairs = by_lower_limit(audit, PAIRS).into_iter();
    let shown = pairs.filter(|pair| pair.total_variation.lower > Some(0.0));
    let pairs: Vec<String> = shown
        .enumerate()
        .map(|(at, pair)| {
            let texts = in_percent(Limits::from(&pair.total_variation).map(right), 0.5);
            let pair = labels(&pair.secrets).join(" | ");
            match at {
                0 => format!("{pair} at least {} % right", texts.lower),
                _ => format!("{pair} {} %", texts.lower),
            }
        })
        .collect();
    match &pairs[..] {
        // Limits of all pairs together show nothing; that of the pair that was chosen does.
        [] => {
            let [a, b] = labels(&worst.secrets);
            sentences.push(format!(
                "Easiest to tell apart: {a} from {b}, {}.",
                often(two, 0.5)
            ));
        }
        pairs => sentences.push(format!(
            "Easiest to tell apart: {} (blind: 50 %).",
            pairs.join(", ")
        )),
    }
    sentences
}

/// That no leak is shown to one who sees a row, and why that may be.
fn not_told(audit: &Findings) -> String {
    let worst = &audit.worst_pair;
    let [a, b] = labels(&worst.secrets);
    let tv = &worst.total_variation;
    let Some(_) = tv.lower else {
        let why = tv
            .reason
            .as_ref()
            .map_or("There are too few rows.".to_owned(), reason);
        return format!("Nothing can be certified about {a} and {b}. {why}");
    };
    let texts = in_percent(Limits::from(tv).map(right), 0.5);
    let limits = match tv.upper {
        Some(_) => format!(
            "estimate {} % right, at most {} %",
            texts.point, texts.upper
        ),
        None => format!("estimate {} % right", texts.point),
    };
    if let Some(shown) = any_leak(audit) {
        return format!(
            "What is observed depends on the secret ({shown}). How much one row tells is not shown: {a} from {b} {limits} \
             (blind: 50 %).",
        );
    }
    let test = audit.no_leak.as_ref();
    let test = test.map_or(String::new(), |found| {
        format!(" Test of no leak at all: {}.", p_value_of(found.p_value))
    });
    if let Some(lower) = of_some_pair(audit) {
        let right = in_percent(Limits::from(&lower).map(right), 0.5);
        return format!(
            "{} tells some two secrets apart at least {} % of the time (blind: 50 %); all were looked at together, and of \
             no two alone it is shown.",
            attacker(audit),
            right.lower
        );
    }
    format!(
        "{} is not shown to tell {a} from {b}: {limits} (blind: 50 %).{test}",
        attacker(audit)
    )
}

/// How small a leak may be that a log of this size shows.
pub fn smallest_leak(audit: &Findings) -> Option<String> {
    let found = audit.smallest_leak.filter(|_| !leaks(audit))?;
    let least = plain_above(right(found.advantage) * 100.0, 3);
    Some(match found.beyond > 0.0 {
        true => format!(
            "Of logs of this size, nine in ten show that the claim is wrong where two secrets are told apart {least} % of the \
             time (advantage {}).",
            plain_above(found.advantage, 2)
        ),
        false => format!(
            "Of logs of this size, nine in ten show a leak where two secrets are told apart {least} % of the time."
        ),
    })
}

/// The total variation of some pair, where more is certified of that than of the worst pair.
fn of_some_pair(audit: &Findings) -> Option<Estimate> {
    let security = &audit.overall.bayes_security;
    let is_of_some = security.method.upper.is_some_and(Method::is_of_some_pair);
    let found = is_of_some.then(|| security.decreasing(|security| 1.0 - security))?;
    found
        .lower
        .filter(|lower| *lower > 0.0)
        .is_some()
        .then_some(found)
}

/// What shows that there is a leak, where no limit does.
fn any_leak(audit: &Findings) -> Option<String> {
    let of_columns = || {
        let columns = audit.leaking_columns.as_ref()?;
        let p_value = columns.leaking().first()?.1.p_value;
        Some(format!("columns, all together: {}", p_value_of(p_value)))
    };
    let p_value = is_refuted(audit);
    let of_rows = p_value.map(|p| format!("test of no leak at all: {}", p_value_of(p)));
    of_rows.or_else(of_columns)
}

/// The p-value of the test of no leak at all, where that shows one. Without a part of the level it must be clear by itself.
fn is_refuted(audit: &Findings) -> Option<f64> {
    const CLEAR: f64 = 1e-3;
    let test = audit.no_leak.as_ref()?;
    Some(test.p_value).filter(|&p_value| p_value < CLEAR)
}

/// Who sees what.
fn attacker(audit: &Findings) -> String {
    let facts = &audit.input.facts;
    let of = match (&facts.blocks, &audit.input.units) {
        (Some(_), _) => "one time and the others of its block".to_owned(),
        (None, Some(units)) => format!("one row of a random {}", cut(&units.column, LABEL)),
        (None, None) if audit.differences.is_some() => "one time".to_owned(),
        (None, None) => "one row".to_owned(),
    };
    format!("Seeing {of}, an attacker")
}

/// The secret in the words of the log.
fn secret(audit: &Findings) -> String {
    let facts = &audit.input.facts;
    let name = &facts.secret_column;
    let has_name = facts.header && !facts.wide && name != "secret";
    match has_name {
        true => format!("its {}", cut(name, LABEL)),
        false => "its secret".to_owned(),
    }
}

/// How often two equally likely secrets are told apart, by the advantage.
fn right(advantage: f64) -> f64 {
    0.5 * (1.0 + advantage)
}

fn in_percent(limits: Limits, blind: f64) -> Texts {
    limits.map(|share| 100.0 * share).texts(Some(100.0 * blind))
}

/// How often an answer is right.
fn often(limits: Limits, blind: f64) -> String {
    let texts = in_percent(limits, blind);
    let mut also = Vec::new();
    also.extend(limits.point.map(|_| format!("estimate {} %", texts.point)));
    also.extend(limits.upper.map(|_| format!("at most {} %", texts.upper)));
    also.push(format!("blind: {} %", texts.bound));
    format!(
        "at least {} % of the time ({})",
        texts.lower,
        also.join(", ")
    )
}

fn labels(pair: &Pair) -> [String; 2] {
    cut_apart(pair.labels(), LABEL)
}

/// What differential privacy needs, where no claim says it and times are not the matter.
fn privacy(audit: &Findings) -> Option<String> {
    let is_said = audit.differences.is_some()
        || audit
            .claims
            .iter()
            .any(|claim| matches!(claim.quantity, Quantity::Privacy(_)));
    if is_said {
        return None;
    }
    let limit = epsilon(audit)?;
    let texts = Limits::from(limit).texts(Some(0.0));
    Some(format!(
        "As differential privacy: epsilon at least {}{} ({}).",
        texts.lower,
        limit
            .point
            .map_or(String::new(), |_| format!(", estimate {}", texts.point)),
        match limit.is_of_some_pair {
            true => "some pair; which one is not shown".to_owned(),
            false => labels(&limit.secrets).join(" | "),
        }
    ))
}

/// The true positives of given scores at the smallest false positive rate that shows some.
fn operating_point(audit: &Findings) -> Option<String> {
    if audit.method.origin != Origin::Given {
        return None;
    }
    let points = &audit.worst_pair.trade_off.as_ref()?.operating_points;
    // Whom an attack is after, if the labels tell it.
    let is_of_member = |point: &&OperatingPoint| is_member(point.secrets.labels()[0]);
    let of_first = points.iter().find(is_of_member).or(points.first())?;
    let same = points
        .iter()
        .filter(|point| point.secrets == of_first.secrets);
    let telling =
        same.filter(|point| point.true_positive_rate.lower > Some(point.false_positive_rate));
    let point = telling.min_by(|x, y| x.false_positive_rate.total_cmp(&y.false_positive_rate))?;
    let [found, other] = labels(&point.secrets);
    let limits = Limits::from(&point.true_positive_rate).map(|share| 100.0 * share);
    let texts = limits.texts(Some(100.0 * point.false_positive_rate));
    Some(format!(
        "Finding {found} among {other}: TPR {} % ({}) at {} FPR.",
        texts.point,
        match limits.upper {
            Some(_) => format!("{} to {} %", texts.lower, texts.upper),
            None => format!("at least {} %", texts.lower),
        },
        percent(point.false_positive_rate)
    ))
}

/// Figures that were asked for.
fn requested(audit: &Findings) -> Vec<String> {
    let figures = requested::figures(audit);
    let shown = figures.iter().take(REQUESTED).map(|(name, of, found)| {
        let texts = Limits::from(found).texts(None);
        let numbers = [
            found.lower.map(|_| format!("at least {}", texts.lower)),
            found.point.map(|_| format!("estimate {}", texts.point)),
            found.upper.map(|_| format!("at most {}", texts.upper)),
        ];
        let numbers: Vec<String> = numbers.into_iter().flatten().collect();
        format!("{name}: {} ({of}).", numbers.join(", "))
    });
    let mut sentences: Vec<String> = shown.collect();
    if figures.len() > REQUESTED {
        sentences.push(format!(
            "{} more figures on request: {}.",
            figures.len() - REQUESTED,
            option("full")
        ));
    }
    sentences
}

/// How much more an attacker could do, or why that is not known.
fn at_most(audit: &Findings) -> Option<String> {
    let security = &audit.overall.bayes_security;
    let two_secrets = audit.input.secrets.len() == 2;
    match (security.lower, audit.worst_pair.total_variation.reason) {
        (Some(lower), _) if lower <= 1e-4 => Some(
            "No useful upper limit: too many different observations for so few rows, or a leak."
                .to_owned(),
        ),
        // The pair has said it.
        (Some(_), _) if two_secrets => None,
        (Some(lower), _) => {
            let limits = Limits {
                upper: Some(right(1.0 - lower)),
                ..Limits::default()
            };
            let texts = in_percent(limits, 0.5);
            Some(format!(
                "No attacker tells any two apart more than {} % of the time.",
                texts.upper
            ))
        }
        (None, _) if is_explained(audit) => None,
        (None, Some(Reason::RawNumbers)) => Some(format!(
            "Upper limit: none for raw numbers. To get one: {}{}.",
            setting("resolution", format!("{}=WIDTH", numeric(audit))),
            match audit.claims.is_empty() {
                true => ", or a claim attack-advantage(0.1)",
                false => "",
            }
        )),
        (None, Some(why)) => Some(reason(&why)),
        (None, None) => None,
    }
}

/// Whether the reasons of a claim say why there is no upper limit.
fn is_explained(audit: &Findings) -> bool {
    let has_no_upper = |found: &Estimate| found.reason.is_some();
    audit
        .claims
        .iter()
        .any(|claim| has_no_upper(&claim.estimate) || claim.quantity == Quantity::TimeDifference)
}

/// The first column of numbers without a resolution.
fn numeric(audit: &Findings) -> String {
    let mut columns = audit.input.columns.iter();
    let without = columns
        .find(|column| column.kind != ColumnType::Categorical && column.resolution.is_none());
    without.map_or("COLUMN".to_owned(), |column| cut(&column.name, LABEL))
}
