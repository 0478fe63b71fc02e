//! Which events are judged.

use crate::audit::plan::Plan;
use crate::audit::prepare::Prepared;
use leakgauge_attack::pairwise::{DirectedRule, choose_events};
use leakgauge_attack::tuning::Tuned;

/// The event that is judged for one κ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReconstructionPlan {
    pub kappa: f64,
    pub event: DirectedRule,
    /// Position among the rules that are judged.
    pub position: usize,
}

/// Chooses the events on the tuning rows.
pub fn plan(prepared: &Prepared, tuned: &Tuned, plan: &mut Plan) -> Vec<ReconstructionPlan> {
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
    let first = plan.add_rules(tuned, events.iter().map(|event| event.rule));
    let events = kappas.iter().zip(events).enumerate();
    events
        .map(|(at, (&kappa, event))| ReconstructionPlan {
            kappa,
            event,
            position: first + at,
        })
        .collect()
}
