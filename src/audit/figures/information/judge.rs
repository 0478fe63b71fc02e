//! The posterior that judges, and what the certification rows gain by it.

use crate::audit::prepare::Prepared;
use leakgauge_attack::measure::plug_in;
use leakgauge_attack::pairwise::Posterior;
use leakgauge_attack::tuning::Tuned;
use leakgauge_base::quantity::OverallFigure;
use leakgauge_exact::claim::BoundClaim;
use leakgauge_log::observations::ObservationKind;
use leakgauge_stats::information::Gains;

/// What the rows say of it.
#[derive(Debug)]
pub struct InformationEvidence {
    /// The gains of the certification rows; `None` where rows may depend on each other.
    pub gains: Option<Vec<Gains>>,
    /// The plug-in information of all rows in nats, and (π_s, n_s) of all secrets of positive prior; discrete logs only.
    pub plug_in: Option<(f64, Vec<(f64, u64)>)>,
}

/// Whether a claim reads it.
fn is_claimed(claims: &[BoundClaim]) -> bool {
    let information = Some(OverallFigure::MutualInformation);
    claims
        .iter()
        .any(|claim| claim.overall_figure() == information)
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
