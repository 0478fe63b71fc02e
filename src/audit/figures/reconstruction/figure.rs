//! How the events that were chosen came out.

use crate::audit::basis::Evidence;
use crate::audit::figures::reconstruction::Reconstruction;
use crate::audit::figures::reconstruction::plan::{self, ReconstructionPlan};
use crate::audit::figures::stages::{Figure, Settled};
use crate::audit::plan::Plan;
use crate::audit::prepare::Prepared;
use crate::estimate::{Estimate, Method, Methods, Reason};
use leakgauge_attack::tuning::Tuned;

/// The figures of all κ that were asked for, each at the level of the report by itself.
pub(crate) struct Reconstructions;

impl Figure for Reconstructions {
    type Plan = Vec<ReconstructionPlan>;
    type Judged = ();
    type Found = Vec<Reconstruction>;

    fn plan(prepared: &Prepared, tuned: &Tuned, plan: &mut Plan) -> Self::Plan {
        plan::plan(prepared, tuned, plan)
    }

    fn judge(_: &Prepared, _: &Tuned, _: &Self::Plan) {}

    fn figure(planned: &Self::Plan, (): &(), settled: &Settled) -> Self::Found {
        let plans = planned.iter();
        plans.map(|plan| figure(settled.evidence, plan)).collect()
    }
}

fn figure(evidence: &Evidence, plan: &ReconstructionPlan) -> Reconstruction {
    let ReconstructionPlan {
        kappa,
        event,
        position,
    } = *plan;
    let errors = evidence.errors(position);
    let judged = evidence.judgement.tallies[position].is_judged();
    let point = errors.rates().map(|rates| event.success(&rates, kappa));
    let limits = evidence.upper;
    let upper = limits.and_then(|limits| limits.reconstruction(evidence.labels.len(), kappa));
    let upper_method = match evidence.units {
        Some(_) => Method::UnitMcdiarmid,
        None => Method::FixedEvent,
    };
    let mut success = Estimate {
        point,
        raw: None,
        lower: judged.then(|| event.success(&errors.errors_at_most(evidence.alpha()), kappa)),
        upper,
        method: Methods {
            point: point.map(|_| Method::HeldOutAttack),
            lower: judged.then(|| evidence.errors_method(position)),
            upper: upper.map(|_| upper_method),
        },
        reason: match (judged, upper) {
            (false, _) => Some(Reason::PairWithoutRows),
            (true, None) => Some(evidence.no_upper()),
            (true, Some(_)) => None,
        },
    };
    success.constrain(kappa, 1.0);
    Reconstruction {
        without: kappa,
        secrets: evidence.secrets(event.secrets()),
        success,
    }
}
