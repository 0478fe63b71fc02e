//! The counts of a log that was judged.

use std::sync::Arc;

use super::{Cross, EffectiveSampleSize, PlugIn, Tallies};
use crate::audit::basis::Evidence;
use crate::audit::judge::Judged;
use leakgauge_attack::measure::by_secret::BySecret;
use leakgauge_attack::measure::plug_in;

impl Tallies {
    pub(in crate::audit) fn of(evidence: &Evidence, judged: &Judged, prior: &[f64]) -> Tallies {
        let pairs = evidence.pair_count();
        let cross = evidence.cross_fit;
        let effective = evidence.effective;
        let worst = evidence.worst;
        Tallies {
            prior: prior.to_vec(),
            worst_pair: worst,
            guesses: evidence.judgement.guesses[0].clone(),
            worst: evidence.advantages[worst].clone(),
            judgement: Arc::clone(&judged.judgement),
            cross: cross.map(|cross| Cross {
                guesses: cross.guesses[0].clone(),
                pairs: (0..pairs).map(|pair| cross.tally(pair)).collect(),
            }),
            effective: effective.map(|worth| EffectiveSampleSize {
                pairs: worth.rules[..pairs].to_vec(),
                guesses: worth.guesses[0].clone(),
            }),
            plug_in: evidence.upper.map(|limits| PlugIn {
                named: plug_in::named(evidence.counts, prior),
                limits: Arc::clone(limits),
                counts: BySecret::new(evidence.counts),
                advantages: Arc::clone(&judged.advantages),
                of_worst: evidence.points_of_worst(),
            }),
        }
    }
}
