//! Everything that findings are assembled from, once the certification rows have been looked at.

use crate::audit::cross_fit::CrossFit;
use crate::audit::judge::Judged;
use crate::audit::options::AuditOptions;
use crate::audit::pair::{Labels, Pair};
use crate::audit::plan::Plan;
use crate::audit::prepare::Prepared;
use crate::audit::units::UnitEvidence;
use leakgauge_attack::pairwise::{Advantage, EffectiveRows, Judgement, ScoredRows};
use leakgauge_attack::tuning::Tuned;
use leakgauge_log::SampledFrom;
use leakgauge_log::observations::{Counts, Observations};

/// What the stages before found, in one place.
pub(super) struct Evidence<'a> {
    pub options: &'a AuditOptions,
    /// The labels that all pairs share.
    pub labels: Labels,
    pub observations: &'a Observations,
    /// All rows of the log that is judged.
    pub counts: &'a Counts,
    /// What the rows are a sample of, if they are one.
    pub sampled: Option<&'a SampledFrom>,
    /// The certification rows.
    pub certify: &'a Counts,
    /// Whether pairs were chosen on another log, so that all rows of this one are fresh.
    pub fresh: bool,
    pub tuned: &'a Tuned,
    pub plan: &'a Plan,
    pub judgement: &'a Judgement,
    /// The certification rows of the worst pair by their scores, where limits may use their order.
    pub scored: Option<&'a ScoredRows>,
    /// What the certification rows say about the advantage at every pair.
    pub advantages: &'a [Advantage],
    /// What the certification rows are worth, in a split by time.
    pub effective: Option<&'a EffectiveRows>,
    /// What units say, where limits count units.
    pub units: Option<&'a UnitEvidence>,
    /// Plug-in total variation of every pair over all rows; discrete logs only, and not in a split by
    /// time, whose rows are not taken to be independent.
    pub plug_in: Option<&'a [f64]>,
    /// Estimates from all rows, where they can be had.
    pub cross_fit: Option<&'a CrossFit>,
}

impl<'a> Evidence<'a> {
    /// Borrows from all stages.
    pub fn new(
        prepared: &'a Prepared<'a>,
        tuned: &'a Tuned,
        plan: &'a Plan,
        judged: &'a Judged,
    ) -> Self {
        let log = prepared.log;
        Evidence {
            options: prepared.options,
            labels: prepared.labels.clone(),
            observations: &log.observations,
            counts: &log.counts,
            sampled: log.facts.sampled.as_ref(),
            certify: &prepared.split.certify,
            fresh: log.fit_counts.is_some(),
            tuned,
            plan,
            judgement: &judged.judgement,
            scored: judged.scored.as_ref(),
            advantages: &judged.advantages,
            effective: judged.effective.as_ref(),
            units: judged.units.as_ref(),
            plug_in: judged.plug_in.as_deref(),
            cross_fit: judged.cross_fit.as_ref(),
        }
    }
}

impl Evidence<'_> {
    /// The two secrets of a pair that is judged.
    pub fn pair(&self, pair: usize) -> Pair {
        let rule = self.tuned.choices[pair].rule;
        self.secrets([rule.a, rule.b])
    }

    /// Any two secrets, by their indices.
    pub fn secrets(&self, secrets: [u32; 2]) -> Pair {
        Pair::new(self.labels.clone(), secrets)
    }

    /// The number of pairs.
    pub fn pair_count(&self) -> usize {
        self.tuned.choices.len()
    }

    /// The errors of a rule that is judged, by its position, each rate limited separately.
    pub fn errors(&self, position: usize) -> Advantage {
        if let Some(units) = self.units {
            let tally = self.judgement.tallies[position];
            return Advantage::units(tally, units.rules[position].clone());
        }
        let effective = self.effective.map(|rows| rows.rules[position]);
        Advantage::separate(self.judgement.tallies[position], effective)
    }

    /// Whether there are upper limits from the rows as they are.
    pub fn is_discrete(&self) -> bool {
        self.plug_in.is_some() || self.unit_laws().is_some()
    }
}
