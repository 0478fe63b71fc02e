//! The sections of what was asked for: capacities, a property, a correlated variable, the hyper-distribution.

use super::figures::{DIGITS, between, prior_figures, single};
use super::number::{likeliest, number};
use crate::report::document::Document;
use crate::report::numbers::{plain_above, plain_below};
use leakgauge_exact::channel::{AdditiveCapacity, Analysis, CorrelatedFigures, Inner};

/// The number of distributions that are listed.
const LISTED_INNERS: usize = 20;
/// The number of observations that are named.
const NAMED: usize = 5;
/// The difference of two sides that nobody sees in six digits.
const SAME: f64 = 1e-9;

/// All of these sections.
pub(super) fn all(document: &mut Document, analysis: &Analysis) {
    let least = analysis.at_least.as_ref();
    if let Some(found) = &analysis.additive_capacity {
        let other = least.and_then(|least| least.additive_capacity.as_ref());
        capacity(document, analysis, found, other.unwrap_or(found));
    }
    for (heading, found, other) in [
        (
            "The property",
            &analysis.property,
            least.map(|least| &least.property),
        ),
        (
            "The correlated variable",
            &analysis.correlated,
            least.map(|least| &least.correlated),
        ),
    ] {
        if let Some(found) = found {
            document.heading(heading);
            correlated(document, analysis, found, other.and_then(Option::as_ref));
        }
    }
    if let Some(inners) = &analysis.hyper {
        document.heading("After the observation");
        hyper(document, &analysis.secrets, inners);
    }
}

fn capacity(
    document: &mut Document,
    analysis: &Analysis,
    found: &AdditiveCapacity,
    least: &AdditiveCapacity,
) {
    document.heading("Additive capacity");
    let gain = match analysis.gain {
        Some(_) => "under the given gain",
        None => "of guessing the secret",
    };
    let row = |what: &str, over: &str, low: f64, high: f64| {
        // Where both sides are one number but for rounding, it is shown as all exact figures are.
        let sides = match high - low <= SAME {
            true => [number(high), number(high)],
            false => [plain_below(low, DIGITS), plain_above(high, DIGITS)],
        };
        let mut row = vec![what.to_owned(), over.to_owned()];
        row.extend(sides);
        row
    };
    let rows = vec![
        row(gain, "largest over all priors", found.lower, found.upper),
        row(
            "any gain of which a guess spans 1",
            "at this prior",
            least.any_spanning_gain.min(found.any_spanning_gain),
            found.any_spanning_gain,
        ),
        row(
            "any gain of at most 1, V_g not below 0",
            "at every prior",
            least.any_bounded_gain.min(found.any_bounded_gain),
            found.any_bounded_gain,
        ),
    ];
    document.table(vec!["additive leakage", "", "at least", "at most"], 2, rows);
    document.paragraph(format!(
        "A prior with the first figure's lower limit: {}.",
        likeliest(&analysis.secrets, &found.prior)
    ));
}

fn correlated(
    document: &mut Document,
    analysis: &Analysis,
    found: &CorrelatedFigures,
    least: Option<&CorrelatedFigures>,
) {
    document.paragraph(format!(
        "It has {} values, without observation {}.",
        found.values.len(),
        likeliest(&found.values, &found.prior)
    ));
    let figures = prior_figures(&found.at_prior).into_iter();
    match least {
        None => {
            let rows = figures.map(single).collect();
            document.table(vec!["figure", "", "value"], 2, rows);
        }
        Some(least) => {
            let pairs = figures.zip(prior_figures(&least.at_prior));
            let rows = pairs.map(|(one, other)| between(one, other)).collect();
            document.table(vec!["figure", "", "at least", "at most"], 2, rows);
        }
    }
    let mut items = vec![format!(
        "Whatever it depends on, its multiplicative leakage is at most the capacity of the channel, {}, and its mutual \
         information at most that of the secret, {} bits.",
        number(analysis.capacity),
        number(analysis.at_prior.mutual_information_bits)
    )];
    if let Some(gain) = &found.gain {
        items.push(format!(
            "Under the given gain: {} without observation, {} with it.",
            number(gain.prior_vulnerability),
            number(gain.vulnerability)
        ));
    }
    if let Some(loss) = &found.loss {
        items.push(format!(
            "Under the given loss: {} without observation, {} with it.",
            number(loss.prior_risk),
            number(loss.risk)
        ));
    }
    document.list(items);
}

fn hyper(document: &mut Document, secrets: &[String], inners: &[Inner]) {
    document.paragraph(format!(
        "{} different distributions of the secret; observations with the same one count together.",
        inners.len()
    ));
    let row = |inner: &Inner| {
        let mut names = inner.observations[..inner.observations.len().min(NAMED)].join(", ");
        if inner.observations.len() > NAMED {
            names += &format!(", … ({})", inner.observations.len());
        }
        let known = likeliest(secrets, &inner.posterior);
        vec![number(inner.probability), names, known]
    };
    let rows = inners.iter().take(LISTED_INNERS).map(row).collect();
    document.table(vec!["probability", "after", "the secret is"], 0, rows);
    if inners.len() > LISTED_INNERS {
        document.paragraph(format!(
            "The first {LISTED_INNERS} of {}; JSON has all.",
            inners.len()
        ));
    }
}
