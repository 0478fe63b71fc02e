//! The figures that are reported on request: reconstructions and the leakage family.

use crate::audit::{Findings, GLeakage, LeakageFamily};
use crate::estimate::Estimate;
use crate::report::document::Document;
use crate::report::numbers::{Limits, confidence_percent, nearest};
use crate::report::sentences::reasons::reason;
use leakgauge_base::error::shorten;
use leakgauge_base::rounding::allowance;

/// A table of these figures, if any was asked for.
pub fn section(document: &mut Document, audit: &Findings) {
    let rows = rows(audit);
    if rows.is_empty() {
        return;
    }
    document.heading("Figures on request");
    let mut reasons: Vec<String> = Vec::new();
    for why in rows.iter().filter_map(|row| row.figure.reason.as_ref()) {
        let why = reason(why);
        if !reasons.contains(&why) {
            reasons.push(why);
        }
    }
    document.table(
        vec!["figure", "of", "estimate", "at least", "at most"],
        2,
        rows.into_iter().map(Row::cells).collect(),
    );
    document.paragraph(note(audit, &reasons));
}

/// The same figures with their names and what they are of.
pub fn figures(audit: &Findings) -> Vec<(String, String, Estimate)> {
    let rows = rows(audit).into_iter();
    rows.map(|row| (row.name, row.of, row.figure)).collect()
}

fn rows(audit: &Findings) -> Vec<Row> {
    let mut rows: Vec<Row> = audit.reconstruction.iter().map(reconstruction).collect();
    rows.extend(audit.leakage_family.iter().flat_map(family));
    rows.extend(audit.g_leakage.iter().map(payoff));
    rows
}

struct Row {
    name: String,
    of: String,
    figure: Estimate,
}

impl Row {
    fn cells(self) -> Vec<String> {
        let [point, lower, upper] = Limits::from(&self.figure).cells();
        vec![self.name, self.of, point, lower, upper]
    }
}

/// What so many guesses are asked for.
pub(super) fn right_in(tries: u64) -> String {
    if tries == 1 {
        "the first guess is right".to_owned()
    } else {
        format!("one of {tries} guesses is right")
    }
}

fn reconstruction(found: &crate::audit::Reconstruction) -> Row {
    Row {
        name: "success of a reconstruction".to_owned(),
        of: format!(
            "{}; {} without observation",
            found.secrets.labels().map(shorten).join(" | "),
            allowance(found.without)
        ),
        figure: found.success.clone(),
    }
}

fn payoff(found: &GLeakage) -> Row {
    let name = match found.is_loss {
        true => "expected loss of the attacker",
        false => "expected gain of the attacker",
    };
    Row {
        name: name.to_owned(),
        of: format!("{} without observation", nearest(found.without)),
        figure: found.with.clone(),
    }
}

fn family(found: &LeakageFamily) -> Vec<Row> {
    let row = |name: String, of: &str, figure: &Estimate| Row {
        name,
        of: of.to_owned(),
        figure: figure.clone(),
    };
    let bits = |name: String, figure: &Estimate| {
        let figure = figure.increasing(|nats| nats / std::f64::consts::LN_2);
        row(name, "bits", &figure)
    };
    let named = |name: &str| name.to_owned();
    let mut rows = vec![
        bits(named("maximal leakage"), &found.maximal_leakage),
        bits(
            named("largest pointwise maximal leakage"),
            &found.largest_pointwise_leakage,
        ),
        row(
            named("expected guesses"),
            &format!("{} without observation", nearest(found.prior_guesswork)),
            &found.guesswork,
        ),
    ];
    rows.extend(found.tries.iter().map(|at| {
        row(
            right_in(at.tries),
            &format!("{} without observation", nearest(at.prior_vulnerability)),
            &at.vulnerability,
        )
    }));
    for at in &found.orders {
        let order = if at.order.is_finite() {
            allowance(at.order)
        } else {
            "infinity".to_owned()
        };
        let name = match at.order == 1.0 {
            true => "mutual information".to_owned(),
            false => format!("Sibson information of order {order}"),
        };
        rows.push(bits(name, &at.sibson_information));
        let maximal = at.maximal_alpha_leakage.iter();
        rows.extend(
            maximal.map(|figure| bits(format!("maximal alpha-leakage of order {order}"), figure)),
        );
    }
    rows
}

/// How the limits hold, which event pointwise leakage rests on, and why limits are missing.
fn note(audit: &Findings, reasons: &[String]) -> String {
    let mut text = format!(
        "Each limit by itself holds with {} confidence.",
        confidence_percent(audit.confidence)
    );
    if !audit.reconstruction.is_empty() {
        text.push_str(
            " Reconstruction: the largest success of all ordered pairs of secrets; the estimate and the lower limit are of \
             one event at the pair named, chosen on tuning rows.",
        );
    }
    let event = audit
        .leakage_family
        .as_ref()
        .and_then(|found| found.telling_event.as_ref());
    if let Some(event) = event {
        let observations: Vec<String> = event.observations.iter().map(|o| shorten(o)).collect();
        let more = match event.left_out {
            0 => String::new(),
            count => format!(" and {count} more"),
        };
        text.push_str(&format!(
            " Pointwise leakage: the observations {}{more}, which speak for secret {}, chosen on other rows.",
            observations.join("; "),
            shorten(&event.secret)
        ));
    }
    let family = audit.leakage_family.as_ref();
    if family.is_some_and(|found| !found.orders.is_empty()) {
        text.push_str(
            " Estimates of measures with an order are those of the empirical frequencies, which overstate leakage where rows \
             are few.",
        );
    }
    for why in reasons {
        text.push_str(" n/a: ");
        text.push_str(why);
    }
    text
}
