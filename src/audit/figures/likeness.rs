//! An order of the secrets for a picture of all pairs.

use crate::audit::basis::Evidence;
use crate::audit::figures::stages::{Figure, Settled};
use crate::audit::plan::Plan;
use crate::audit::prepare::Prepared;
use leakgauge_attack::pairwise::{clustering_order, pair_index};
use leakgauge_attack::tuning::Tuned;

/// Secrets that are hard to tell apart stand side by side.
pub(crate) struct Likeness;

impl Figure for Likeness {
    type Plan = ();
    type Judged = ();
    type Found = Option<Vec<u32>>;

    fn plan(_: &Prepared, _: &Tuned, _: &mut Plan) {}

    fn judge(_: &Prepared, _: &Tuned, (): &()) {}

    fn figure((): &(), (): &(), settled: &Settled) -> Self::Found {
        by_likeness(settled.evidence)
    }
}

fn by_likeness(evidence: &Evidence) -> Option<Vec<u32>> {
    /// More are not told apart in a picture.
    const MAX_SECRETS: usize = 200;
    let secrets = evidence.labels.len();
    let advantage = |a: u32, b: u32| {
        let pair = pair_index(secrets, a.min(b), a.max(b));
        let cross_fit = evidence.cross_fit.and_then(|c| c.advantage(pair));
        cross_fit
            .or(evidence.advantages[pair].point())
            .unwrap_or(0.0)
    };
    (secrets <= MAX_SECRETS).then(|| clustering_order(secrets, advantage))
}
