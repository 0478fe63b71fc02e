//! The figures of the worst pair and of the whole log.

use crate::audit::{Audit, PrivacyLimit};
use crate::error::shorten;
use crate::estimate::Estimate;
use crate::outward::{allowance, nearest};
use crate::report::document::Document;
use crate::report::words::{lower, upper, value};

pub fn figures(document: &mut Document, audit: &Audit) {
    let worst = &audit.worst_pair;
    let overall = &audit.overall;
    let two = |secrets: &[String; 2]| secrets.each_ref().map(|label| shorten(label)).join(" | ");
    let pair = two(&worst.secrets);
    let row = |name: &str, of: &str, estimate: &Estimate| {
        vec![
            name.to_owned(),
            of.to_owned(),
            value(estimate.point),
            lower(estimate.lower),
            upper(estimate.upper),
        ]
    };
    let prior = format!("prior {}", overall.prior);
    let mut rows = vec![
        row("total variation", &pair, &worst.total_variation),
        row("Bayes security", &pair, &worst.bayes_security),
        row(
            "advantage of the attack found",
            &pair,
            &worst.attack_advantage,
        ),
    ];
    rows.extend(audit.privacy.iter().map(|limit| {
        vec![
            privacy_name(limit),
            two(&limit.secrets),
            value(limit.point),
            lower(limit.lower),
            upper(None),
        ]
    }));
    if let Some(trade_off) = &worst.trade_off {
        rows.push(row("mu (Gaussian privacy)", &pair, &trade_off.mu));
    }
    rows.extend([
        row(
            "Bayes security, worst of all pairs",
            "all secrets",
            &overall.bayes_security,
        ),
        row("Bayes risk", &prior, &overall.bayes_risk),
        row("risk leakage R*/G", &prior, &overall.risk_leakage),
        row(
            "multiplicative leakage",
            &prior,
            &overall.multiplicative_leakage,
        ),
        row("additive leakage", &prior, &overall.additive_leakage),
        row(
            "min-entropy leakage, bits",
            &prior,
            &overall.min_entropy_leakage_bits,
        ),
        row("multiplicative capacity", "any prior", &overall.capacity),
    ]);
    document.table(
        vec!["figure", "of", "estimate", "at least", "at most"],
        2,
        rows,
    );
    document.paragraph(format!(
        "Each figure's limits hold with {} % confidence; none means that no such limit can be had, or that nothing was \
         measured. Estimates are not clipped: one beyond its limits means that no leak was seen. Guessing blind errs with \
         probability {}.",
        100.0 * audit.confidence,
        nearest(overall.guessing_error)
    ));
}

fn privacy_name(limit: &PrivacyLimit) -> String {
    match (limit.delta, limit.quantity) {
        (Some(delta), quantity) => format!("{quantity} (delta {})", allowance(delta)),
        (None, "mu") => "mu (at the threshold for the claim)".to_owned(),
        (None, "rho") => "rho (concentrated privacy)".to_owned(),
        (None, quantity) => quantity.to_owned(),
    }
}
