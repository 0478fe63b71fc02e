//! What a claim means for an attacker, beside what a log shows.

use leakgauge_base::error::Result;
use leakgauge_base::quantity::PrivacyParameter;
use leakgauge_exact::bounds::{
    Allowed, Covered, Explanation, FALSE_POSITIVE_RATES, Implied, explain as of_claim,
};
use leakgauge_exact::claim::{Claim, ClaimKind};
use leakgauge_log::Log;

use crate::audit::{AuditOptions, Findings, PriorChoice, audit_owned};
use crate::estimate::{Estimate, Methods, Reason};

/// What a claim means, and what a log shows.
#[derive(Debug)]
#[non_exhaustive]
pub struct Explained {
    /// The claim.
    pub claim: Claim,
    /// What it leaves to an attacker.
    pub explanation: Explanation,
    /// Its figures, each beside that of the log.
    pub rows: Vec<Row>,
    /// The audit of the log, if there is one.
    pub findings: Option<Findings>,
}

/// A figure of the claim and of the log.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Row {
    /// Which figure.
    pub figure: Figure,
    /// Its value without an observation.
    pub without: f64,
    /// What the claim leaves possible, or why no number follows.
    pub claim: Implied,
    /// On which side of the truth that number is.
    pub side: Side,
    /// What the log shows, if there is one.
    pub log: Option<Estimate>,
}

/// A figure of an attacker who sees one observation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Figure {
    /// True positive rate − false positive rate.
    Advantage,
    /// 1 − advantage.
    BayesSecurity,
    /// The probability of a right guess between two secrets.
    Guess {
        /// The prior probability of the less likely one.
        prior: f64,
    },
    /// How often a secret is detected.
    TruePositives {
        /// How often another one is taken for it.
        false_positive_rate: f64,
    },
    /// How often a secret that is detected is there.
    Posterior {
        /// Its prior probability.
        prior: f64,
        /// How often another one is taken for it.
        false_positive_rate: f64,
    },
    /// The probability of a right guess among secrets that are equally likely.
    Naming {
        /// How many there are.
        secrets: u64,
    },
    /// A parameter of differential privacy.
    Privacy(PrivacyParameter),
}

/// On which side of the truth the number of a claim is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// It is the value.
    Exact,
    /// The value is at most this.
    AtMost,
    /// The value is at least this.
    AtLeast,
}

/// Explains a claim; with a log, beside what its audit by these options shows. The claim is the only one that is judged.
///
/// # Errors
/// Those of [`leakgauge_exact::bounds::explain`] and of [`audit`](crate::audit::audit).
pub fn explain(claim: &Claim, log: Option<(Log, AuditOptions)>) -> Result<Explained> {
    let Some((log, mut options)) = log else {
        let explanation = of_claim(claim, None)?;
        return Ok(Explained {
            claim: claim.clone(),
            rows: rows(&explanation),
            explanation,
            findings: None,
        });
    };
    options.claims = vec![claim.clone()];
    // A mechanism is what it is on all secrets, also on those that are not looked at.
    let mut labels = log.secrets.clone();
    if matches!(claim.kind, ClaimKind::Mechanism(_)) {
        labels.extend(log.left_out.iter().cloned());
    }
    options.requested.reconstruction = FALSE_POSITIVE_RATES.into();
    let found = audit_owned(log, &options)?;
    let mut explanation = of_claim(claim, Some(&labels))?;
    if explanation.covered == Covered::Average && options.prior != PriorChoice::Uniform {
        explanation = Explanation::of_another_prior(&labels);
    }
    let mut rows = rows(&explanation);
    for row in &mut rows {
        row.log = of_log(row.figure, explanation.covered, &found);
    }
    Ok(Explained {
        claim: claim.clone(),
        explanation,
        rows,
        findings: Some(found),
    })
}

/// All figures of an explanation.
fn rows(found: &Explanation) -> Vec<Row> {
    let allowed = |figure: Figure, allowed: Allowed| Row {
        figure,
        without: allowed.without,
        claim: allowed.most,
        side: match allowed.is_exact {
            true => Side::Exact,
            false => Side::AtMost,
        },
        log: None,
    };
    let is_exact = found.advantage.is_exact;
    let parameter = |parameter: PrivacyParameter, claim: Implied| Row {
        figure: Figure::Privacy(parameter),
        without: 0.0,
        claim,
        side: match is_exact {
            true => Side::Exact,
            false => Side::AtMost,
        },
        log: None,
    };
    let mut rows = vec![allowed(Figure::Advantage, found.advantage)];
    rows.extend(found.guesses.iter().map(|guess| {
        let prior = guess.prior;
        allowed(Figure::Guess { prior }, guess.success)
    }));
    rows.extend(found.detections.iter().map(|found| {
        let false_positive_rate = found.false_positive_rate;
        let figure = Figure::TruePositives {
            false_positive_rate,
        };
        allowed(figure, found.true_positive_rate)
    }));
    rows.extend(found.detections.first().map(|found| {
        let figure = Figure::Posterior {
            prior: found.prior,
            false_positive_rate: found.false_positive_rate,
        };
        allowed(figure, found.posterior)
    }));
    rows.extend(found.namings.iter().map(|naming| {
        let secrets = naming.secrets;
        allowed(Figure::Naming { secrets }, naming.success)
    }));
    rows.push(Row {
        figure: Figure::BayesSecurity,
        without: 1.0,
        claim: found.bayes_security,
        side: match is_exact {
            true => Side::Exact,
            false => Side::AtLeast,
        },
        log: None,
    });
    let (delta, at_delta) = found.epsilon_at_delta;
    rows.push(parameter(
        PrivacyParameter::Epsilon { delta: 0.0 },
        found.epsilon,
    ));
    rows.push(parameter(PrivacyParameter::Epsilon { delta }, at_delta));
    rows.push(parameter(PrivacyParameter::Mu, found.mu));
    rows.push(parameter(PrivacyParameter::Rho, found.rho));
    rows
}

/// What the audit of a log says of a figure; of a claim about the best attack found, of that one.
fn of_log(figure: Figure, covered: Covered, found: &Findings) -> Option<Estimate> {
    let security = &found.overall.bayes_security;
    let advantage = || match covered {
        // As the verdict has it: over all pairs.
        Covered::FoundAttacks => match found.claims.first() {
            Some(judged) => judged.estimate.clone(),
            None => found.worst_pair.attack_advantage.clone(),
        },
        Covered::AllAttacks | Covered::Times | Covered::Average => {
            security.decreasing(|security| 1.0 - security)
        }
    };
    let reconstruction = |rate: f64| {
        let mut of = found.reconstruction.iter();
        of.find(|found| found.without == rate)
            .map(|found| found.success.clone())
    };
    match figure {
        Figure::Advantage => Some(advantage()),
        Figure::BayesSecurity => Some(security.clone()),
        Figure::Guess { prior: 0.5 } => Some(advantage().increasing(|found| 0.5 + 0.5 * found)),
        // The audit looks at one prior.
        Figure::Guess { .. } => None,
        Figure::TruePositives {
            false_positive_rate,
        } => reconstruction(false_positive_rate),
        Figure::Posterior {
            prior,
            false_positive_rate: rate,
        } => {
            let hits = reconstruction(rate)?;
            Some(hits.increasing(|hit| prior * hit / (prior * hit + (1.0 - prior) * rate)))
        }
        Figure::Naming { secrets } => {
            let n = found.input.secrets.len();
            let capacity = &found.overall.capacity;
            (n as u64 == secrets).then(|| capacity.increasing(|capacity| capacity / n as f64))
        }
        Figure::Privacy(parameter) => of_privacy(parameter, found),
    }
}

/// What is certified of a parameter of privacy: what claims are judged by, else what the trade-off of the worst pair
/// shows.
fn of_privacy(parameter: PrivacyParameter, found: &Findings) -> Option<Estimate> {
    let judged = found.privacy.iter().find(|one| one.quantity == parameter);
    let of_curve = found.worst_pair.trade_off.as_ref();
    let of_curve = of_curve.and_then(|curve| match parameter {
        PrivacyParameter::Mu => curve.mu.lower,
        PrivacyParameter::Epsilon { delta } => {
            let mut of = curve.epsilon.iter().filter(|one| one.delta == delta);
            of.next()?.lower
        }
        PrivacyParameter::Rho | PrivacyParameter::Renyi { .. } => None,
    });
    let lower = match judged {
        // What is read from the curve holds for all pairs together; what a claim is judged by, for the claim.
        Some(judged) => judged.lower,
        None => of_curve,
    };
    Some(Estimate {
        point: None,
        raw: None,
        lower: Some(lower?),
        upper: None,
        method: Methods::default(),
        reason: Some(Reason::Unbounded(parameter)),
    })
}
