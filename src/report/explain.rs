//! What a claim means for an attacker.

use leakgauge_base::error::{file_listing, shorten};
use leakgauge_base::quantity::PrivacyParameter;
use leakgauge_exact::bounds::{Covered, Kind, NotImplied};

use crate::audit::Findings;
use crate::explain::{Explained, Figure, Row, Side};
use crate::report::document::Document;
use crate::report::numbers::{
    MISSING, confidence_percent, percent, plain, plain_above, plain_below, plain_exact,
};
use crate::report::sentences::claims::reason as reason_of_claim;
use crate::report::short::doubts;
use crate::report::verdict::headline;

/// The whole text.
pub fn document(found: &Explained) -> Document {
    let mut document = Document::default();
    let claim = shorten(&found.claim.text);
    document.heading(format!("What it means for an attacker: {claim}"));
    table(&mut document, found);
    let mut items = found.findings.as_ref().map_or(Vec::new(), of_log);
    items.extend(notes(found));
    document.list(items);
    document
}

/// The figures alone; with a log its verdict.
pub fn brief(found: &Explained) -> Document {
    let mut document = Document::default();
    match &found.findings {
        Some(audit) => {
            let claims = audit.claims.iter();
            claims.for_each(|claim| document.paragraph(headline(claim)));
            document.list(told_doubts(audit));
        }
        None => table(&mut document, found),
    }
    document
}

fn table(document: &mut Document, found: &Explained) {
    let is_exact = found.explanation.kind == Kind::Mechanism;
    let with_log = found.findings.is_some();
    let says = |row: &&Row| row.claim != Err(NotImplied::NotCovered) || row.log.is_some();
    let rows: Vec<&Row> = found.rows.iter().filter(says).collect();
    if rows.is_empty() {
        return;
    }
    let mut header = vec![
        "figure",
        "without",
        if is_exact { "exactly" } else { "allowed" },
    ];
    if with_log {
        header.extend(["log: at least", "log: at most"]);
    }
    let line = |row: &&Row| {
        let mut cells = vec![name(row.figure), written(row, row.without, Side::Exact)];
        cells.push(claimed(row, is_exact));
        if with_log {
            let log = row.log.as_ref();
            let side = |limit: Option<f64>, side: Side| {
                limit.map_or(MISSING.to_owned(), |limit| written(row, limit, side))
            };
            cells.push(side(log.and_then(|log| log.lower), Side::AtLeast));
            cells.push(side(log.and_then(|log| log.upper), Side::AtMost));
        }
        cells
    };
    document.table(header, 1, rows.iter().map(line).collect());
}

/// What a figure is called.
fn name(figure: Figure) -> String {
    let one_in = |prior: f64| format!("1/{}", plain(1.0 / prior, 4));
    match figure {
        Figure::Advantage => "advantage: true less false positives".to_owned(),
        Figure::BayesSecurity => "Bayes security".to_owned(),
        Figure::Guess { prior: 0.5 } => "right guess between two secrets, 1/2 each".to_owned(),
        Figure::Guess { prior } => {
            format!("right guess between two, one has prior {}", one_in(prior))
        }
        Figure::TruePositives {
            false_positive_rate,
        } => format!(
            "true positives at {} false ones",
            percent(false_positive_rate)
        ),
        Figure::Posterior {
            prior,
            false_positive_rate,
        } => format!(
            "a positive is right, at {} and prior {}",
            percent(false_positive_rate),
            one_in(prior)
        ),
        Figure::Naming { secrets } => format!("right guess among {secrets} equally likely"),
        Figure::Privacy(PrivacyParameter::Epsilon { delta }) => {
            format!("epsilon, with delta {}", plain(delta, 4))
        }
        Figure::Privacy(PrivacyParameter::Mu) => "mu of GDP".to_owned(),
        Figure::Privacy(PrivacyParameter::Rho) => "rho of zCDP".to_owned(),
        Figure::Privacy(PrivacyParameter::Renyi { order }) => {
            format!("Rényi divergence of order {}", plain(order, 4))
        }
    }
}

/// What the claim leaves, as a cell.
fn claimed(row: &Row, is_exact: bool) -> String {
    let number = match row.claim {
        Ok(number) => written(row, number, row.side),
        Err(NotImplied::Unknown) => return "unknown".to_owned(),
        Err(NotImplied::NotCovered) => return MISSING.to_owned(),
        Err(_) => return "infinite".to_owned(),
    };
    match row.side {
        Side::Exact => number,
        Side::AtMost if is_exact => format!("at most {number}"),
        Side::AtMost => format!("≤ {number}"),
        Side::AtLeast => format!("≥ {number}"),
    }
}

/// A number with four digits, or as many more as show a tenth of its distance from the value without an observation.
fn written(row: &Row, value: f64, side: Side) -> String {
    let is_share = matches!(
        row.figure,
        Figure::Guess { .. }
            | Figure::TruePositives { .. }
            | Figure::Posterior { .. }
            | Figure::Naming { .. }
    );
    let (scale, unit) = match is_share {
        true => (100.0, " %"),
        false => (1.0, ""),
    };
    let text = |digits: i32| match side {
        Side::Exact => plain_exact(scale * value, digits),
        Side::AtLeast => plain_below(scale * value, digits),
        Side::AtMost => plain_above(scale * value, digits),
    };
    let near = 0.1 * (value - row.without).abs();
    let shows = |text: &String| {
        let shown = text.parse::<f64>().ok();
        shown.is_some_and(|shown| (shown / scale - value).abs() <= near.max(1e-12 * value.abs()))
    };
    let found = (4..=7).map(text).find(shows).unwrap_or_else(|| text(7));
    found + unit
}

/// What the figures are about, and why some are missing.
pub fn notes(found: &Explained) -> Vec<String> {
    let explanation = &found.explanation;
    let mut notes = vec![match (explanation.covered, explanation.kind) {
        (Covered::Times, _) => "It bounds a difference of median times. How well an attacker tells secrets apart \
                                depends on the noise of the times and on how often they are measured: no \
                                probability follows from the claim."
            .to_owned(),
        (Covered::Average, _) => "It bounds what an observation tells on average over all secrets, equally likely ones unless \
                                  a prior is given. Two of many secrets may be told apart much better: of them nothing \
                                  follows from the claim."
            .to_owned(),
        (Covered::FoundAttacks, _) => "It bounds the best attack that an audit found. Other attacks may do better: \
                                       nothing else follows from the claim."
            .to_owned(),
        (Covered::AllAttacks, Kind::Promise) => {
            "Allowed: an attacker who sees one observation of a mechanism that keeps the claim has no more. Without: the \
             same attacker without it."
                .to_owned()
        }
        (Covered::AllAttacks, Kind::Mechanism) => {
            let pair = explanation.worst_pair.as_ref();
            let pair = pair.map_or(String::new(), |[a, b]| {
                format!(" ({} | {})", shorten(a), shorten(b))
            });
            format!(
                "The best attacker who sees one observation, at the pair of secrets that is told apart best{pair}; rates \
                 and parameters at whichever pair has most. Without: the same attacker without it."
            )
        }
    }];
    if let Some((steps, unit)) = explanation.steps {
        notes.push(format!(
            "It is about secrets at a distance of at most {}: {}.",
            plain(steps * unit, 6),
            match steps == 1.0 {
                true => "neighbors".to_owned(),
                false => format!("{} steps of {}", plain(steps, 6), plain(unit, 6)),
            }
        ));
    }
    notes.extend(reasons(&found.rows));
    notes
}

/// Why figures are missing, each reason once.
fn reasons(rows: &[Row]) -> Vec<String> {
    let mut reasons: Vec<(NotImplied, Vec<String>)> = Vec::new();
    for row in rows {
        let Err(why) = row.claim else { continue };
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, names)) => names.push(name(row.figure)),
            None => reasons.push((why, vec![name(row.figure)])),
        }
    }
    let told = reasons
        .into_iter()
        .filter(|(why, _)| *why != NotImplied::NotCovered);
    told.map(|(why, names)| format!("{}: {}.", names.join("; "), reason(why)))
        .collect()
}

/// Why no number follows.
pub fn reason(why: NotImplied) -> &'static str {
    match why {
        NotImplied::Revealed => {
            "no number follows, for the claim permits to reveal the secret outright with a probability (its delta)"
        }
        NotImplied::Variation => {
            "no number follows, for the claim permits observations that only one of two secrets has"
        }
        NotImplied::Tails => {
            "no number is enough, for rare observations may tell as much as one likes"
        }
        NotImplied::Orders => {
            "no number follows, for the claim bounds the Rényi divergence of one order, and not that of larger ones"
        }
        NotImplied::Mechanism => {
            "no number is enough, for some observations tell as much as one likes"
        }
        NotImplied::Unknown => "no way to compute it is known to this program",
        NotImplied::NotCovered => "the claim is not about all attacks",
    }
}

/// The verdict of the log with its reason, its first doubts, and where to read more.
fn of_log(audit: &Findings) -> Vec<String> {
    let verdicts = audit.claims.iter().map(headline);
    let mut items = vec![format!(
        "{}, says {}: {} rows, each limit with {} confidence. `leakgauge audit` says more.",
        verdicts.collect::<Vec<_>>().join("; "),
        file_listing(&audit.input.facts.files),
        audit.input.facts.rows_used,
        confidence_percent(audit.confidence)
    )];
    items.extend(audit.claims.iter().map(reason_of_claim));
    items.extend(told_doubts(audit));
    items
}

/// The doubts that weigh most: they are as much of a verdict as its word.
fn told_doubts(audit: &Findings) -> Vec<String> {
    const MOST: usize = 2;
    let all = doubts::all(audit);
    let more = all.len().saturating_sub(MOST);
    let mut told: Vec<String> = all
        .into_iter()
        .take(MOST)
        .map(|doubt| format!("Check: {doubt}"))
        .collect();
    if more > 0 {
        told.push(format!("{more} more in `leakgauge audit`."));
    }
    told
}
