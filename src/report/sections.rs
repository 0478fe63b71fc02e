//! The sections of an audit: verdicts, the answer in words, figures, worst pairs, method, warnings.

use crate::audit::{Audit, ClaimReport, Convergence, PairFigures, PrivacyLimit, Verdict};
use crate::error::shorten;
use crate::estimate::{Estimate, Method};
use crate::observations::{ColumnType, ObservationKind, bins};
use crate::outward::{allowance, at_least, at_most, nearest, percent_at_least};
use crate::report::attackers::attackers;
use crate::report::document::Document;
use crate::report::trade_off;

/// Pairs listed in the table of worst pairs.
const LISTED_PAIRS: usize = 10;
/// Observation columns listed.
const LISTED_COLUMNS: usize = 8;
/// Secrets listed with their rows.
const LISTED_SECRETS: usize = 8;

/// The whole report.
pub fn audit(audit: &Audit) -> Document {
    let mut document = Document::default();
    document.paragraph(format!(
        "{} {}: {}",
        audit.tool.name,
        audit.tool.version,
        audit.input.files.join(", ")
    ));
    if !audit.claims.is_empty() {
        document.heading("Verdict");
        audit
            .claims
            .iter()
            .for_each(|claim| verdict(&mut document, claim));
    }
    document.heading("Summary");
    summary(&mut document, audit);
    document.heading("Figures");
    figures(&mut document, audit);
    // Who brings an attack asks for its curve; for others the line on mu says enough.
    if audit.method.scorer == "given" {
        trade_off::section(&mut document, audit);
    }
    if audit.pairs.len() > 1 {
        document.heading("Pairs that are easiest to tell apart");
        pairs(&mut document, audit);
    }
    if let Some(convergence) = &audit.convergence {
        document.heading("Would more rows help?");
        would_more_rows_help(&mut document, convergence);
    }
    if !audit.warnings.is_empty() {
        document.heading("Warnings");
        document.list(
            audit
                .warnings
                .iter()
                .map(|w| format!("{}: {w}.", w.code()))
                .collect(),
        );
    }
    document.heading("Attackers tried");
    attackers(&mut document, &audit.method);
    document.heading("Input and method");
    document.list(input(audit));
    document.heading("What the limits rest on");
    document.list(audit.assumptions.clone());
    document
}

fn verdict(document: &mut Document, claim: &ClaimReport) {
    let word = claim.verdict.to_string().to_uppercase();
    document.paragraph(format!("{word}: {}", claim.claim));
    let mut items = vec![claim.reason.clone()];
    items.push(format!(
        "Pair {} and {}{}: {} {} in the claim, {} estimated, {}.",
        shorten(&claim.pair[0]),
        shorten(&claim.pair[1]),
        match (&claim.fit, claim.verdict) {
            (Some(_), Verdict::Holds) => ", the nearest to exceeding the margin",
            (Some(_), _) => ", the likeliest to exceed its own analytic value",
            (None, _) => "",
        },
        match claim.quantity {
            "bayes_security" => "Bayes security",
            "attack_advantage" => "advantage of the attack",
            other => other,
        },
        nearest(claim.analytic),
        value(claim.estimate.point),
        range(&claim.estimate)
    ));
    match (claim.verdict, claim.rows_needed) {
        (Verdict::Inconclusive, Some(rows)) => {
            items.push(format!(
                "If the estimate were the truth, about {rows} rows in all would decide."
            ));
        }
        (Verdict::Inconclusive, None) => {
            items.push("No number of rows like these can be named that would decide.".to_owned())
        }
        _ => {}
    }
    if let Some(fit) = &claim.fit {
        items.push(match fit.p_value {
            Some(p) if p < 0.001 => format!(
                "Fit of the log to the claimed mechanism as a whole: p < 0.001 ({}). Whatever it leaks, the log does not \
                 look like it came from this mechanism. The verdict is about leakage alone.",
                fit.test
            ),
            Some(p) => format!(
                "Fit of the log to the claimed mechanism as a whole: p = {p:.3} ({}). It does not change the verdict.",
                fit.test
            ),
            None => format!("Fit of the log to the claimed mechanism as a whole: {}.", fit.test),
        });
    }
    document.list(items);
}

fn summary(document: &mut Document, audit: &Audit) {
    let worst = &audit.worst_pair;
    let [a, b] = worst.secrets.each_ref().map(|label| shorten(label));
    let tv = &worst.total_variation;
    let percent = 100.0 * audit.confidence;
    let observer = observer(audit);
    let mut sentences = vec![match tv.lower {
        Some(lower) if lower > 0.0 => format!(
            "The log tells its secrets apart. Take {a} and {b}, the pair picked on the rows to choose with: asked which of \
             the two it was, an observer of one row{observer} is right at least {} % of the time, where guessing gives \
             50 % (advantage at least {}, {percent} % confidence).",
            percent_at_least(0.5 * (1.0 + lower)),
            at_least(lower)
        ),
        Some(_) => format!(
            "No leak could be certified at {percent} % confidence. The pair picked on the rows to choose with, {a} and \
             {b}, has an estimated advantage of {}, which chance could explain.",
            value(tv.point)
        ),
        None => format!(
            "Nothing can be certified about the pair picked on the rows to choose with, {a} and {b}: {}.",
            tv.reason.as_deref().unwrap_or("too few rows")
        ),
    }];
    let security = &audit.overall.bayes_security;
    sentences.push(match (security.lower, &tv.reason) {
        (Some(lower), _) if lower <= 1e-4 => {
            "From above these rows certify nothing: too many different observations for so few rows, or a leak."
                .to_owned()
        }
        (Some(lower), _) => format!(
            "No observer{observer} can tell any pair of secrets apart with an advantage of more than {} (the same \
             confidence).",
            at_most(1.0 - lower)
        ),
        (None, Some(reason)) => format!("How much more a better attack could do is not known: {reason}."),
        (None, None) => "How much more a better attack could do is not known.".to_owned(),
    });
    if audit
        .warnings
        .iter()
        .any(crate::audit::Warning::is_about_order)
    {
        let doubt = if tv.lower.is_some_and(|lower| lower > 0.0) {
            "they may be the cause of what looks like a leak"
        } else {
            "the limits count on independent rows"
        };
        sentences.push(format!(
            "Mind the warnings about the order of rows below: {doubt}."
        ));
    }
    document.paragraph(sentences.join(" "));
}

/// Whom the limits are about, where the log was reduced to what an observer can resolve.
fn observer(audit: &Audit) -> String {
    bins(&audit.input.observation.columns).map_or(String::new(), |bins| format!(" who sees {bins}"))
}

fn figures(document: &mut Document, audit: &Audit) {
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

fn would_more_rows_help(document: &mut Document, convergence: &Convergence) {
    let rows = convergence.points.iter().map(|point| {
        vec![
            point.rows.to_string(),
            nearest(point.bayes_risk),
            nearest(point.total_variation),
        ]
    });
    document.table(
        vec![
            "rows learned from",
            "Bayes risk",
            "advantage at the worst pair",
        ],
        0,
        rows.collect(),
    );
    let mut text = convergence.conclusion.clone();
    if let Some(bracket) = &convergence.cover_hart {
        let [least, most] = bracket.bayes_risk;
        text.push_str(&format!(
            " Were {} rows infinitely many, the error of the nearest neighbour would put the Bayes risk between {least:.3} \
             and {most:.3} (Cover and Hart; asymptotic, no limit of this log).",
            bracket.rows
        ));
    }
    document.paragraph(text);
}

fn pairs(document: &mut Document, audit: &Audit) {
    let mut order: Vec<&PairFigures> = audit.pairs.iter().collect();
    let key = |pair: &PairFigures| {
        let tv = &pair.total_variation;
        (tv.lower.unwrap_or(-1.0), tv.point.unwrap_or(-2.0))
    };
    order.sort_by(|x, y| {
        let ((x_lower, x_point), (y_lower, y_point)) = (key(x), key(y));
        y_lower
            .total_cmp(&x_lower)
            .then(y_point.total_cmp(&x_point))
    });
    let rows = order
        .iter()
        .take(LISTED_PAIRS)
        .map(|pair| {
            let tv = &pair.total_variation;
            let mut row: Vec<String> = pair.secrets.iter().map(|label| shorten(label)).collect();
            row.extend([
                value(tv.point),
                lower(tv.lower),
                upper(tv.upper),
                value(pair.bayes_security.point),
            ]);
            row
        })
        .collect();
    document.table(
        vec![
            "secret",
            "secret",
            "total variation",
            "at least",
            "at most",
            "Bayes security",
        ],
        2,
        rows,
    );
    document.paragraph(format!(
        "{} of {} pairs, by their lower limits. The limits of all pairs hold together (correction: {}).",
        LISTED_PAIRS.min(audit.pairs.len()),
        audit.pairs.len(),
        audit.multiplicity.correction
    ));
}

fn input(audit: &Audit) -> Vec<String> {
    let input = &audit.input;
    let header = match (input.header, input.header_detected) {
        (true, true) => "row 1 was taken as a header",
        (true, false) => "row 1 is a header, as said",
        (false, true) => "row 1 was taken as data, not as a header",
        (false, false) => "no header, as said",
    };
    let mut secrets: Vec<String> = input
        .secrets
        .iter()
        .take(LISTED_SECRETS)
        .map(|secret| format!("{} ({} rows)", shorten(&secret.label), secret.rows))
        .collect();
    if input.secrets.len() > LISTED_SECRETS {
        secrets.push(format!("… {} in all", input.secrets.len()));
    }
    let mut items = vec![
        format!(
            "{} rows{} read, {} used; {header}; fields are separated by {}.",
            input.rows,
            if input.aggregated {
                ", aggregated,"
            } else {
                ""
            },
            input.rows_used,
            match input.delimiter {
                '\t' => "tabs".to_owned(),
                delimiter => format!("`{delimiter}`"),
            }
        ),
        format!(
            "Secret: column {}: {}.",
            shorten(&input.secret_column),
            secrets.join(", ")
        ),
        observation(audit),
    ];
    if let Some(file) = &input.fit_on {
        items.push(format!("Learned and tuned on {file}."));
    }
    let rows = &audit.method.rows;
    items.push(format!(
        "{} rows to learn from, {} to choose with, {} to certify on; seed {}.",
        rows.fit, rows.tune, rows.certify, audit.seed
    ));
    if let Some(worth) = &audit.method.effective_rows {
        let least = worth.iter().map(|secret| secret.rows).min().unwrap_or(0);
        items.push(format!(
            "Split by time: earlier rows to learn from, later ones to certify on, with gaps between. The certify rows of a \
             secret are worth {least} independent ones at least, by the autocorrelation of the attack's errors."
        ));
    }
    items.push(attack(audit));
    items.extend(points(audit));
    items.push(limits(audit));
    items
}

fn observation(audit: &Audit) -> String {
    let observation = &audit.input.observation;
    let mut columns: Vec<String> = observation
        .columns
        .iter()
        .take(LISTED_COLUMNS)
        .map(|column| {
            let kind = match column.kind {
                ColumnType::Numeric => "numbers",
                ColumnType::Categorical => "labels",
            };
            let name = shorten(&column.name);
            match column.resolution {
                Some(width) => format!("{name} ({kind}, in bins of {width})"),
                None => format!("{name} ({kind})"),
            }
        })
        .collect();
    if observation.columns.len() > LISTED_COLUMNS {
        columns.push(format!("… {} in all", observation.columns.len()));
    }
    let kind = match observation.kind {
        ObservationKind::Discrete => "discrete",
        ObservationKind::Numeric => "numeric",
        ObservationKind::Mixed => "mixed",
    };
    format!(
        "Observation: {kind}, {} distinct: {}.",
        observation.distinct,
        columns.join(", ")
    )
}

fn attack(audit: &Audit) -> String {
    let method = &audit.method;
    let index = method
        .index
        .map_or(String::new(), |index| format!(", neighbours by {index}"));
    format!(
        "Attack: {} ({}{index}), the best of {} on the rows to choose with. Their advantages above are approximate lower \
         limits, of the pair where it is largest and on average; their costs are nominal, of a budget of {} s.",
        method.scorer,
        method.in_words,
        method
            .tried
            .iter()
            .filter(|tried| tried.quality.is_some())
            .count(),
        method.budget
    )
}

/// Which point of the total variation is reported, and why.
fn points(audit: &Audit) -> Option<String> {
    let points = audit.worst_pair.total_variation_points.as_ref()?;
    let method = audit.worst_pair.total_variation.method.point?;
    let minimax = points.minimax;
    Some(match method {
        Method::MinimaxTotalVariation => format!(
            "Estimate of total variation: minimax, because {} distinct observations are more than {:.0} rows of a secret: \
             attacks cannot learn them (the attack: {}), and counts take chance for difference (plug-in: {}).",
            points.distinct,
            points.effective_rows,
            value(points.cross_fitted_attack.or(points.held_out_attack)),
            nearest(points.plug_in)
        ),
        _ => format!(
            "Estimate of total variation: {}. For comparison: plug-in {} (biased upward), minimax {}.",
            method_name(method),
            nearest(points.plug_in),
            value(minimax)
        ),
    })
}

fn limits(audit: &Audit) -> String {
    let worst = &audit.worst_pair.total_variation;
    let risk = &audit.overall.bayes_risk;
    let mut used: Vec<Method> = [
        worst.method.lower,
        worst.method.upper,
        risk.method.lower,
        risk.method.upper,
    ]
    .into_iter()
    .flatten()
    .collect();
    let mut seen = Vec::new();
    used.retain(|method| {
        let new = !seen.contains(method);
        seen.push(*method);
        new
    });
    let names: Vec<&str> = used.into_iter().map(method_name).collect();
    format!(
        "Limits: {}.",
        if names.is_empty() {
            "none".to_owned()
        } else {
            names.join("; ")
        }
    )
}

fn method_name(method: Method) -> &'static str {
    match method {
        Method::HeldOutAttack => "the attack on rows it never saw",
        Method::CrossFittedAttack => {
            "attacks of the chosen kind on all rows, each learned without the rows it is tried on; some of these rows chose the kind"
        }
        Method::MinimaxTotalVariation => "minimax estimate for alphabets larger than the sample",
        Method::ClopperPearson => "Clopper-Pearson on each error rate of the attack",
        Method::KolmogorovDistance => "Kolmogorov distance of the rows that certify",
        Method::KolmogorovDkw => "Kolmogorov distance with the DKW-Massart bound",
        Method::PluginMcdiarmid => "plug-in estimate with McDiarmid's inequality",
        Method::MatchedClopperPearson => "Clopper-Pearson on a prior-matched subsample",
        Method::WeightedChernoff => "Chernoff bound on prior-weighted errors",
        Method::CombinedLimits => "limits of both logs, each at half the level",
        Method::BettingMixture => "bets with a mixture of stakes",
        Method::OrderStatisticClopperPearson => {
            "order statistics of one secret with Clopper-Pearson on the other"
        }
        Method::DkwBand => "DKW-Massart band at all thresholds",
        Method::BandAndTails => {
            "DKW-Massart band at all thresholds with Clopper-Pearson in the tails"
        }
        Method::AreaUnderCurve => "the Gaussian shift of the same area under the curve",
        Method::ClopperPearsonEffectiveRows => {
            "Clopper-Pearson on each error rate with effective rows (approximate)"
        }
    }
}

fn range(estimate: &Estimate) -> String {
    match (estimate.lower, estimate.upper) {
        (Some(lower), Some(upper)) => format!("between {} and {}", at_least(lower), at_most(upper)),
        (Some(lower), None) => format!("at least {}", at_least(lower)),
        (None, Some(upper)) => format!("at most {}", at_most(upper)),
        (None, None) => "no limits".to_owned(),
    }
}

pub(super) fn value(value: Option<f64>) -> String {
    value.map_or("none".to_owned(), nearest)
}

pub(super) fn lower(limit: Option<f64>) -> String {
    limit.map_or("none".to_owned(), at_least)
}

pub(super) fn upper(limit: Option<f64>) -> String {
    limit.map_or("none".to_owned(), at_most)
}
