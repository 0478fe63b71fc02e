//! Shannon mutual information of secret and observation at the prior.
//!
//! From below by what the certification rows gain, on the average, by a posterior that was settled before they were looked at;
//! from above, where the log is discrete, by the plug-in information of all rows. See [`leakgauge_stats::information`].

use crate::audit::basis::Evidence;
use crate::audit::certified_limit::CertifiedLimit;
use crate::audit::figures::overall::risk::is_uniform;
use crate::audit::prepare::Prepared;
use crate::estimate::{Estimate, Method, Methods, Reason};
use leakgauge_attack::measure::plug_in;
use leakgauge_attack::pairwise::Posterior;
use leakgauge_attack::tuning::Tuned;
use leakgauge_exact::claim::{BoundClaim, Terms};
use leakgauge_log::observations::ObservationKind;
use leakgauge_stats::information::{Gains, information_at_least, information_at_most, mean_gain};
use leakgauge_stats::renyi::success_divergence;

/// What the rows say of it.
#[derive(Debug)]
pub struct InformationEvidence {
    /// The gains of the certification rows; `None` where rows may depend on each other.
    gains: Option<Vec<Gains>>,
    /// The plug-in information of all rows in nats, and (π_s, n_s) of all secrets of positive prior; discrete logs only.
    plug_in: Option<(f64, Vec<(f64, u64)>)>,
}

/// Whether a claim reads it.
pub(crate) fn is_claimed(claims: &[BoundClaim]) -> bool {
    let reads = |claim: &BoundClaim| matches!(claim.terms(), Terms::MutualInformation { .. });
    claims.iter().any(reads)
}

/// Settles the posterior, where the information is wanted.
pub(crate) fn plan(prepared: &Prepared, tuned: &Tuned) -> Option<Posterior> {
    let is_requested = prepared.options.requested.orders.contains(&1.0);
    let (split, prior) = (&prepared.split, &prepared.priors[0]);
    (is_requested || is_claimed(&prepared.claims)).then(|| {
        let rows = split.certify.rows();
        Posterior::choose(&tuned.scores, &split.tune, prior, rows, prepared.alpha)
    })
}

/// Looks at the certification rows, and at the frequencies of all.
pub(crate) fn judge(
    prepared: &Prepared,
    tuned: &Tuned,
    posterior: &Posterior,
) -> InformationEvidence {
    let (log, prior) = (prepared.log, &prepared.priors[0]);
    let independent = prepared.independence.is_of_rows();
    let gains = independent.then(|| {
        let certify = &prepared.split.certify;
        posterior.gains(&*tuned.scorer, &log.observations, certify)
    });
    let discrete = independent && log.observations.kind() == ObservationKind::Discrete;
    let found = discrete.then(|| plug_in::information(&log.counts, prior));
    let rows = prior.iter().copied().zip(log.counts.rows().iter().copied());
    let rows: Vec<(f64, u64)> = rows.filter(|(prior, _)| *prior > 0.0).collect();
    InformationEvidence {
        gains,
        plug_in: found.flatten().map(|found| (found, rows)),
    }
}

/// The mutual information in nats; `None` where it was not wanted.
pub(crate) fn estimate(evidence: &Evidence, prior: &[f64]) -> Option<Estimate> {
    let found = evidence.information?;
    let alpha = evidence.alpha();
    let level = evidence.plan.share(CertifiedLimit::Information);
    let own = found.gains.as_ref();
    let own = own.and_then(|gains| information_at_least(gains, level));
    let own = own.map(|limit| (limit, Method::HeldOutGains));
    let implied = by_pair(evidence, prior);
    let lower = [own, implied]
        .into_iter()
        .flatten()
        .reduce(|best, next| if next.0 > best.0 { next } else { best });
    let upper = found
        .plug_in
        .as_ref()
        .and_then(|(plug_in, rows)| information_at_most(*plug_in, rows, alpha));
    let point = match (&found.plug_in, &found.gains) {
        (Some((plug_in, _)), _) => Some((*plug_in, Method::PlugIn)),
        (None, Some(gains)) => mean_gain(gains).map(|mean| (mean, Method::HeldOutAttack)),
        (None, None) => None,
    };
    let mut information = Estimate {
        point: point.map(|point| point.0),
        raw: None,
        lower: lower.map(|lower| lower.0),
        upper,
        method: Methods {
            point: point.map(|point| point.1),
            lower: lower.map(|lower| lower.1),
            upper: upper.map(|_| Method::PlugInMoments),
        },
        reason: match (&found.gains, lower, upper) {
            (None, ..) if evidence.independence.is_of_units() => Some(Reason::GroupedRows),
            (None, ..) => Some(Reason::DependentRows),
            (_, None, _) => Some(Reason::PriorWithoutRows),
            (_, _, None) => Some(evidence.no_upper()),
            _ => None,
        },
    };
    let entropy = prior.iter().filter(|p| **p > 0.0);
    information.constrain(0.0, entropy.map(|p| -p * p.ln()).sum());
    Some(information)
}

/// What the total variation of some pair implies at the uniform prior over k secrets: that it is one of the two tells nothing
/// beyond which, I ≥ (2/k)·(ln 2 − h((1 + TV)/2)).
fn by_pair(evidence: &Evidence, prior: &[f64]) -> Option<(f64, Method)> {
    let largest = evidence.largest_total_variation();
    let (variation, method) = largest.lower.zip(largest.method.lower)?;
    let share = 2.0 / prior.len() as f64;
    is_uniform(prior).then(|| {
        let of_pair = success_divergence(0.5 + 0.5 * variation, 0.5, 1.0);
        (share * of_pair, method)
    })
}
