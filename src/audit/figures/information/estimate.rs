//! The limits of the mutual information.

use crate::audit::basis::Evidence;
use crate::audit::certified_limit::CertifiedLimit;
use crate::audit::figures::overall::risk::is_uniform;
use crate::estimate::{Estimate, Method, Methods, Reason};
use leakgauge_stats::information::{information_at_least, information_at_most, mean_gain};
use leakgauge_stats::renyi::success_divergence;

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
