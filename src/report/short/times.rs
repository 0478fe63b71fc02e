//! Who takes longer than whom, and by how much.

use crate::audit::{Difference, Differences};
use crate::report::numbers::{Limits, time_scale};
use crate::report::sentences::differences::sense;
use crate::report::short::lines::cut;
use crate::report::words::p_value_of;

/// Secrets that take longer than others, a sentence each.
const SLOW: usize = 3;
/// Differences in a sentence.
const LISTED: usize = 3;
/// Letters of a label.
const LABEL: usize = 24;

/// Sentences: the differences that are shown, then how large the others may be. A test of no difference is told where it
/// refutes that at level `alpha`.
pub fn answers(found: &Differences, alpha: f64) -> Vec<String> {
    let is_shown = |pair: &&Difference| pair.median.lower > 0.0;
    let (shown, others): (Vec<&Difference>, Vec<&Difference>) =
        found.pairs.iter().partition(is_shown);
    let mut slow: Vec<(u32, Vec<&Difference>)> = Vec::new();
    for pair in &shown {
        let [_, later] = pair.secrets.secrets();
        match slow.iter_mut().find(|(secret, _)| *secret == later) {
            Some((_, pairs)) => pairs.push(pair),
            None => slow.push((later, vec![pair])),
        }
    }
    let told = slow.iter().take(SLOW);
    let mut sentences: Vec<String> = told.map(|(_, pairs)| longer(found, pairs)).collect();
    let told: usize = slow
        .iter()
        .take(SLOW)
        .map(|(_, pairs)| pairs.len().min(LISTED))
        .sum();
    if told < shown.len() {
        sentences.push(match shown.len() - told {
            1 => "One more pair differs.".to_owned(),
            more => format!("{more} more pairs differ."),
        });
    }
    sentences.extend(rest(found, &others, shown.is_empty().then_some(alpha)));
    sentences
}

/// A secret and those that it takes longer than.
fn longer(found: &Differences, pairs: &[&Difference]) -> String {
    let [_, slow] = pairs[0].secrets.labels();
    let of = |(at, pair): (usize, &&Difference)| {
        let limits = Limits::from(&pair.median);
        let (estimate, range) = written(found, limits);
        let [quick, _] = pair.secrets.labels();
        let quick = cut(quick, LABEL);
        match at {
            0 => format!("{estimate} longer than {quick} ({range})"),
            _ => format!("{estimate} longer than {quick} ({range})").replacen(" longer", "", 1),
        }
    };
    let listed: Vec<String> = pairs.iter().take(LISTED).enumerate().map(of).collect();
    format!("{} takes {}.", cut(slow, LABEL), listed.join(", "))
}

/// The estimate and its limits in a unit that fits them.
fn written(found: &Differences, limits: Limits) -> (String, String) {
    let size = [limits.lower, limits.point, limits.upper]
        .into_iter()
        .flatten();
    let size = size.map(f64::abs).fold(0.0, f64::max);
    let (factor, unit) = time_scale(size, found.unit);
    let texts = limits.map(|value| factor * value).texts(None);
    let range = match limits.upper {
        Some(_) => format!("{} to {}{unit}", texts.lower, texts.upper),
        None => format!("at least {}{unit}", texts.lower),
    };
    (texts.point + unit, range)
}

/// The pairs whose medians are not shown to differ; the level at which a test is told where these are all.
fn rest(found: &Differences, others: &[&Difference], of_all: Option<f64>) -> Option<String> {
    let first = others.first()?;
    let are_all = of_all.is_some();
    let what = match found.blocks {
        Some(_) => "medians over blocks",
        None => "medians",
    };
    let upper = most(found, others);
    let who = match (are_all, others) {
        (true, [pair]) => {
            let [a, b] = pair.secrets.labels().map(|label| cut(label, LABEL));
            format!("The {what} of {a} and {b} are not shown to differ")
        }
        (true, _) => format!("The {what} of no two secrets are shown to differ"),
        (false, [_]) => "The other pair: no difference is shown".to_owned(),
        (false, others) => format!("The other {} pairs: no difference is shown", others.len()),
    };
    let limit = match upper {
        Some(upper) => format!(", at most {upper}."),
        None if others
            .iter()
            .all(|pair| pair.rows().iter().all(|&rows| rows >= found.least)) =>
        {
            match found.pairs.len() {
                1 => "; too few times for limits, which allow for times that resemble those before them."
                    .to_owned(),
                _ => "; too few times for limits of all pairs together.".to_owned(),
            }
        }
        None => format!(
            "; limits need at least {} {} of each.",
            found.least,
            match found.blocks {
                Some(_) => "blocks",
                None => "rows",
            }
        ),
    };
    let all_the_same = match of_all.is_some_and(|alpha| first.p_value < alpha) {
        true => format!(
            " But {} ({}).",
            sense(first.sense),
            p_value_of(first.p_value)
        ),
        false => String::new(),
    };
    Some(format!("{who}{limit}{all_the_same}"))
}

/// The largest size that the difference of a pair may have; `None` if some pair has no limits.
fn most(found: &Differences, pairs: &[&Difference]) -> Option<String> {
    let sizes = pairs
        .iter()
        .map(|pair| pair.median.lower.abs().max(pair.median.upper.abs()));
    let mut size = sizes.fold(0.0, f64::max);
    if pairs.len() == found.pairs.len() {
        // A claim of all pairs is judged by limits of one side.
        size = size.min(found.largest());
    }
    if !size.is_finite() {
        return None;
    }
    let (factor, unit) = time_scale(size, found.unit);
    let limits = Limits {
        upper: Some(factor * size),
        ..Limits::default()
    };
    let width = Limits {
        lower: Some(0.0),
        ..limits
    };
    Some(width.texts(None).upper + unit)
}
