//! The figures of the worst pair and of the whole log.

use crate::audit::{Findings, Pair, PrivacyLimit};
use crate::estimate::{Estimate, Reason};
use crate::report::document::Document;
use crate::report::numbers::{Limits, Texts, confidence_percent, nearest};
use crate::report::sentences::reasons::reason;
use leakgauge_base::error::shorten;
use leakgauge_base::quantity::PrivacyParameter;
use leakgauge_base::rounding::allowance;

/// A figure with what it is about.
pub struct Figure<'a> {
    /// Its name.
    pub name: String,
    /// What it means, in a line.
    pub meaning: &'static str,
    /// The pair or the prior.
    pub of: Of<'a>,
    /// Where it stands in the JSON report.
    pub pointer: String,
    /// The estimate.
    pub point: Option<f64>,
    /// At least.
    pub lower: Option<f64>,
    /// At most.
    pub upper: Option<f64>,
    /// Why a limit is missing.
    pub reason: Option<String>,
}

impl Figure<'_> {
    /// Its numbers, with as many digits as its limits warrant.
    pub fn texts(&self) -> Texts {
        let limits = Limits {
            lower: self.lower,
            point: self.point,
            upper: self.upper,
        };
        limits.texts(None)
    }
}

/// What a figure is about.
pub enum Of<'a> {
    /// Two secrets.
    Pair(&'a Pair),
    /// Anything else.
    Words(String),
}

impl Of<'_> {
    fn text(&self) -> String {
        match self {
            Of::Pair(secrets) => secrets.labels().map(shorten).join(" | "),
            Of::Words(text) => text.clone(),
        }
    }
}

/// A table of all figures.
pub fn figures(document: &mut Document, audit: &Findings) {
    let rows = list(audit).into_iter().map(|figure| {
        let texts = figure.texts();
        vec![
            figure.name,
            figure.of.text(),
            texts.point,
            texts.lower,
            texts.upper,
        ]
    });
    document.table(
        vec!["figure", "of", "estimate", "at least", "at most"],
        2,
        rows.collect(),
    );
    document.paragraph(note(audit));
}

/// How the limits hold.
pub fn note(audit: &Findings) -> String {
    format!(
        "Each limit by itself holds with {} confidence; n/a: no such limit is possible, or nothing was measured. An estimate \
         that noise put outside of its limits is shown at the nearest limit (JSON has it as `raw`). Guessing blind errs with \
         probability {}.",
        confidence_percent(audit.confidence),
        nearest(audit.overall.guessing_error)
    )
}

/// All figures, those of the worst pair first.
pub fn list(audit: &Findings) -> Vec<Figure<'_>> {
    let mut figures = of_worst_pair(audit);
    figures.extend(of_log(audit));
    figures
}

fn figure<'a>(
    name: &str,
    meaning: &'static str,
    of: Of<'a>,
    pointer: &str,
    estimate: &'a Estimate,
) -> Figure<'a> {
    Figure {
        name: name.to_owned(),
        meaning,
        of,
        pointer: pointer.to_owned(),
        point: estimate.point,
        lower: estimate.lower,
        upper: estimate.upper,
        reason: estimate.reason.as_ref().map(reason),
    }
}

fn of_worst_pair(audit: &Findings) -> Vec<Figure<'_>> {
    let worst = &audit.worst_pair;
    let pair = || Of::Pair(&worst.secrets);
    let mut figures = vec![
        figure(
            "total variation",
            "The largest advantage of any attacker who tells these two apart. 0: they look alike; 1: never confused.",
            pair(),
            "/worst_pair/total_variation",
            &worst.total_variation,
        ),
        figure(
            "Bayes security",
            "1 − total variation: the share of a blind guess's error that is left. 1: nothing leaks.",
            pair(),
            "/worst_pair/bayes_security",
            &worst.bayes_security,
        ),
        figure(
            "advantage of the attack found",
            "True minus false positive rate of one attack on the certification rows. A better attack may exist.",
            pair(),
            "/worst_pair/attack_advantage",
            &worst.attack_advantage,
        ),
    ];
    figures.extend(audit.privacy.iter().enumerate().map(privacy));
    if let Some(trade_off) = &worst.trade_off {
        figures.push(figure(
            "mu (Gaussian privacy)",
            "Gaussian differential privacy with a smaller mu is refuted.",
            pair(),
            "/worst_pair/trade_off/mu",
            &trade_off.mu,
        ));
    }
    figures
}

fn privacy((at, limit): (usize, &PrivacyLimit)) -> Figure<'_> {
    Figure {
        name: privacy_name(limit),
        meaning: match limit.quantity {
            PrivacyParameter::Mu => "Gaussian differential privacy with a smaller mu is refuted.",
            PrivacyParameter::Rho => {
                "Zero-concentrated differential privacy with a smaller rho is refuted."
            }
            PrivacyParameter::Renyi { .. } => {
                "Renyi differential privacy with a smaller epsilon at this order is refuted."
            }
            PrivacyParameter::Epsilon { .. } => {
                "Differential privacy with a smaller epsilon is refuted."
            }
        },
        of: match limit.is_of_some_pair {
            true => Of::Words("some pair".to_owned()),
            false => Of::Pair(&limit.secrets),
        },
        pointer: format!("/privacy/{at}"),
        point: limit.point,
        lower: limit.lower,
        upper: None,
        reason: Some(reason(&Reason::Unbounded(limit.quantity))),
    }
}

fn privacy_name(limit: &PrivacyLimit) -> String {
    match limit.quantity {
        PrivacyParameter::Epsilon { delta } => format!("epsilon (delta {})", allowance(delta)),
        PrivacyParameter::Mu => "mu (at the threshold for the claim)".to_owned(),
        PrivacyParameter::Rho => "rho (concentrated privacy)".to_owned(),
        PrivacyParameter::Renyi { order } => {
            format!("Renyi divergence (order {})", allowance(order))
        }
    }
}

fn of_log(audit: &Findings) -> Vec<Figure<'_>> {
    let overall = &audit.overall;
    let of = |words: &str| Of::Words(words.to_owned());
    let prior = || Of::Words(format!("prior {}", overall.prior));
    vec![
        figure(
            "Bayes security, worst of all pairs",
            "No prior makes the risk leakage smaller. The limits are about the least of all pairs. The estimate is that of the worst \
             pair above; estimates of other pairs may be smaller.",
            of("all secrets"),
            "/overall/bayes_security",
            &overall.bayes_security,
        ),
        figure(
            "Bayes risk",
            "How often the best guess of the secret from one row is wrong.",
            prior(),
            "/overall/bayes_risk",
            &overall.bayes_risk,
        ),
        figure(
            "risk leakage R*/G",
            "Bayes risk over the error of guessing blind. 1: nothing leaks.",
            prior(),
            "/overall/risk_leakage",
            &overall.risk_leakage,
        ),
        figure(
            "multiplicative leakage",
            "How many times likelier a right guess is after one row. 1: nothing leaks.",
            prior(),
            "/overall/multiplicative_leakage",
            &overall.multiplicative_leakage,
        ),
        figure(
            "additive leakage",
            "How much the probability of a right guess grows with one row. 0: nothing leaks.",
            prior(),
            "/overall/additive_leakage",
            &overall.additive_leakage,
        ),
        figure(
            "min-entropy leakage, bits",
            "The multiplicative leakage as a binary logarithm. 0: nothing leaks.",
            prior(),
            "/overall/min_entropy_leakage_bits",
            &overall.min_entropy_leakage_bits,
        ),
        figure(
            "multiplicative capacity",
            "The largest multiplicative leakage that any prior can have.",
            of("any prior"),
            "/overall/capacity",
            &overall.capacity,
        ),
    ]
}
