//! The fourth stage: the certification rows are looked at, by the plan and by nothing else.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::audit::cross_fit::{self, CrossFit};
use crate::audit::plan::Plan;
use crate::audit::prepare::Prepared;
use crate::audit::units::{self, UnitEvidence};
use leakgauge_attack::measure::plug_in;
use leakgauge_attack::pairwise::{
    self, Advantage, EffectiveRows, Judgement, ScoredRows, effective_rows, judge_and_keep,
};
use leakgauge_attack::tuning::Tuned;
use leakgauge_log::Log;
use leakgauge_log::observations::ObservationKind;

/// What the rows say.
pub(super) struct Judged {
    pub judgement: Judgement,
    /// The certification rows of the worst pair by their scores, where limits may use their order.
    pub scored: Option<ScoredRows>,
    pub advantages: Vec<Advantage>,
    pub effective: Option<EffectiveRows>,
    pub plug_in: Option<Vec<f64>>,
    pub cross_fit: Option<CrossFit>,
    pub units: Option<UnitEvidence>,
}

/// Judges the rules of the plan.
pub(super) fn judge(prepared: &Prepared, tuned: &Tuned, plan: &Plan) -> Judged {
    let (log, priors) = (prepared.log, &prepared.priors);
    let serial = prepared.is_serial();
    let (judgement, scored) = judgement(prepared, tuned, plan);
    let effective = prepared.ordered.map(|rows| {
        let rules = plan.rules(tuned);
        effective_rows(&*tuned.scorer, &log.observations, rows, &rules, priors)
    });
    let units = prepared.units.as_ref();
    let units = units.map(|parts| units::judge(prepared, parts, tuned, plan));
    let dependent = serial || units.is_some();
    let seed = prepared.options.seed;
    Judged {
        advantages: match &units {
            Some(units) => of_units(units, &judgement, plan.methods.len()),
            None => advantages(plan, &judgement, effective.as_ref(), seed),
        },
        judgement,
        // The order statistics of dependent rows have no such limits.
        scored: (!dependent).then_some(scored),
        effective,
        plug_in: if dependent { None } else { plug_in(log) },
        // Parts dealt at random would put neighbors in time, or rows of a unit, on both sides.
        cross_fit: cross_fit::kinds(tuned)
            .filter(|_| !dependent && !prepared.options.quick)
            .and_then(|kinds| {
                let attacks = &prepared.options.attacks;
                CrossFit::run(log, attacks, &kinds, prepared.alpha, seed, priors)
            }),
        units,
    }
}

fn judgement(prepared: &Prepared, tuned: &Tuned, plan: &Plan) -> (Judgement, ScoredRows) {
    let (observations, certify) = (&prepared.log.observations, &prepared.split.certify);
    let worst = tuned.choices[plan.worst].rule;
    let rules = plan.rules(tuned);
    let (mut judgement, scored) = judge_and_keep(
        &*tuned.scorer,
        observations,
        certify,
        &rules,
        &prepared.priors,
        Some((worst.a, worst.b)),
    );
    if let Some(attack) = &tuned.for_privacy {
        // Its thresholds were chosen for what it had learned by then.
        let pairs = tuned.choices.len();
        let judged = pairwise::judge(&**attack, observations, certify, &rules[pairs..], &[]);
        judgement.tallies.truncate(pairs);
        judgement.tallies.extend(judged.tallies);
    }
    (judgement, scored)
}

/// Plug-in total variation of every pair of a discrete log.
fn plug_in(log: &Log) -> Option<Vec<f64>> {
    (log.observations.kind() == ObservationKind::Discrete)
        .then(|| plug_in::total_variation(&log.counts))
}

/// The advantages of all pairs, by their units.
fn of_units(units: &UnitEvidence, judgement: &Judgement, pairs: usize) -> Vec<Advantage> {
    let rules = judgement.tallies.iter().zip(&units.rules).take(pairs);
    rules
        .map(|(&tally, units)| Advantage::units(tally, units.clone()))
        .collect()
}

/// Every pair has random numbers of its own, whatever the other pairs need.
fn advantages(
    plan: &Plan,
    judgement: &Judgement,
    effective: Option<&EffectiveRows>,
    seed: u64,
) -> Vec<Advantage> {
    let pairs = plan.methods.iter().zip(&judgement.tallies);
    pairs
        .enumerate()
        .map(|(pair, (&method, &tally))| {
            if let Some(effective) = effective {
                return Advantage::separate(tally, Some(effective.rules[pair]));
            }
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(1 + pair as u64);
            Advantage::new(tally, method, &mut rng)
        })
        .collect()
}
