//! The success of a reconstruction: sup P(E) with Q(E) ≤ κ over all ordered pairs of secrets.
//!
//! From below by one event that the tuning rows chose and the certification rows judge; from above, where the log is
//! discrete, by limits of hockey-stick divergences of all pairs. See [`leakgauge_stats::reconstruction`].

use crate::audit::evidence::Evidence;
use crate::audit::pair::Pair;
use crate::audit::prepare::Prepared;
use crate::estimate::{Estimate, Method, Methods, Reason};
use leakgauge_attack::pairwise::{DirectedRule, choose_events};
use leakgauge_attack::tuning::Tuned;

/// The success of a reconstruction at one κ.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Reconstruction {
    /// κ, the success without the observation.
    pub without: f64,
    /// The secret that the event finds, of law P, then the other, of law Q: the pair that the tuning rows chose.
    pub secrets: Pair,
    /// sup P(E) with Q(E) ≤ κ: the lower limit is from this pair, the upper limit holds for all ordered pairs.
    pub success: Estimate,
}

/// The event that is judged for one κ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ReconstructionPlan {
    kappa: f64,
    pub event: DirectedRule,
    /// Position among the rules that are judged.
    position: usize,
}

/// Chooses the events on the tuning rows; `first` is the position of the first of their rules.
pub(super) fn plan(prepared: &Prepared, tuned: &Tuned, first: usize) -> Vec<ReconstructionPlan> {
    let kappas = &prepared.options.requested.reconstruction;
    if kappas.is_empty() {
        return Vec::new();
    }
    let split = &prepared.split;
    let events = choose_events(
        &tuned.scores,
        &split.tune,
        split.certify.rows(),
        prepared.alpha,
        kappas,
    );
    let events = kappas.iter().zip(events).enumerate();
    events
        .map(|(at, (&kappa, event))| ReconstructionPlan {
            kappa,
            event,
            position: first + at,
        })
        .collect()
}

/// The figures, each at the level of the report by itself.
pub(super) fn figures(evidence: &Evidence) -> Vec<Reconstruction> {
    let plans = evidence.plan.reconstructions.iter();
    plans.map(|plan| figure(evidence, plan)).collect()
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
