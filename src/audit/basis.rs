//! Everything that findings are assembled from, once the certification rows have been looked at.

use std::borrow::Cow;
use std::sync::Arc;

use crate::audit::certified_limit::Source;
use crate::audit::evidence::column_limits::Distances;
use crate::audit::evidence::guesses::PairGuesses;
use crate::audit::evidence::leaking_columns::LeakingColumns;
use crate::audit::evidence::no_leak::NoLeak;
use crate::audit::evidence::pair_test::Names;
use crate::audit::figures::differences::Differences;
use crate::audit::figures::information::judge::InformationEvidence;
use crate::audit::judge::Judged;
use crate::audit::learn::cross_fit::CrossFit;
use crate::audit::neighbors::NeighborPairs;
use crate::audit::options::AuditOptions;
use crate::audit::pair::{Labels, Pair};
use crate::audit::plan::Plan;
use crate::audit::prepare::Prepared;
use crate::audit::units::judge as units;
use crate::audit::units::judge::UnitEvidence;
use crate::audit::upper::UpperLimits;
use crate::estimate::Method;
use leakgauge_attack::pairwise::average::AverageLimits;
use leakgauge_attack::pairwise::{
    Advantage, AdvantageMethod, EffectiveRows, Judgement, Rule, ScoredRows, Thresholds,
    judge_and_keep,
};
use leakgauge_attack::tuning::Tuned;
use leakgauge_base::parallel;
use leakgauge_judge::{Independence, Limits};
use leakgauge_log::SampledFrom;
use leakgauge_log::observations::{Counts, Observations};
use leakgauge_stats::random::Randomness;
use leakgauge_stats::variational::Bins;

/// What the stages before found, in one place.
pub(super) struct Evidence<'a> {
    pub options: &'a AuditOptions,
    /// The prior asked for.
    pub prior: &'a [f64],
    /// The same, and the uniform prior.
    pub priors: &'a [Vec<f64>; 2],
    /// The seed's random numbers for this log.
    pub random: Randomness,
    /// What limits take for independent draws.
    pub independence: Independence,
    /// The labels that all pairs share.
    pub labels: Labels,
    /// The pairs that claims of privacy are about.
    pub neighbors: &'a NeighborPairs,
    pub observations: &'a Observations,
    /// All rows of the log that is judged.
    pub counts: &'a Counts,
    /// What the rows are a sample of, if they are one.
    pub sampled: Option<&'a SampledFrom>,
    /// The certification rows.
    pub certify: &'a Counts,
    pub tuned: &'a Tuned,
    pub plan: &'a Plan,
    pub judgement: &'a Judgement,
    /// The certification rows of the pair that promised most by their scores, where limits may use their order.
    pub scored: Option<&'a ScoredRows>,
    /// What the rows that judge say about the advantage at every pair.
    pub advantages: &'a [Advantage],
    /// What the certification rows say about the last attack at every pair.
    pub attacks: &'a [Advantage],
    /// For each planned limit of privacy that rests on guesses, these.
    pub guesses: &'a [Option<PairGuesses>],
    /// For each planned limit of privacy that rests on weighed scores, the certification rows in its bins.
    pub bins: &'a [Option<Bins>],
    /// Kolmogorov distance of the pair that the plan names, and the rows of both secrets.
    pub kolmogorov: Option<(f64, [u64; 2])>,
    /// The pair with the largest limit of the total variation; the one that promised most where none has any.
    pub worst: usize,
    /// The same of the pairs that claims of privacy are about.
    pub worst_neighbors: usize,
    /// What is certified of the worst pair and of the pairs of planned limits of privacy.
    pub closures: Vec<(usize, Limits<Source>)>,
    /// The thresholds of the worst pair's scores, where limits may use their order.
    pub thresholds: Option<Thresholds>,
    /// What the certification rows are worth, in a split by time.
    pub effective: Option<&'a EffectiveRows>,
    /// Limits from above; discrete logs only, and not in a split by time, whose rows are not taken to be
    /// independent.
    pub upper: Option<&'a Arc<UpperLimits>>,
    /// Estimates from all rows, where they can be had.
    pub cross_fit: Option<&'a CrossFit>,
    /// Differences of times, inside blocks where there are blocks.
    pub differences: Option<&'a Differences>,
    /// What all pairs say on the average, where that was planned.
    pub average: Option<&'a AverageLimits>,
    /// What rows gain by a posterior, where the mutual information is wanted.
    pub information: Option<&'a InformationEvidence>,
    /// What units say, where limits count units.
    pub units: Option<&'a UnitEvidence>,
    /// Whether the log leaks anything at all, and which columns do.
    pub no_leak: Option<&'a NoLeak>,
    pub leaking_columns: Option<&'a LeakingColumns>,
    /// How far two secrets are apart in single columns.
    pub columns: Option<&'a Distances>,
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
        let mut evidence = Evidence {
            options: prepared.options,
            prior: &prepared.priors[0],
            priors: &prepared.priors,
            random: prepared.random,
            independence: prepared.independence,
            labels: prepared.labels.clone(),
            neighbors: &prepared.neighbors,
            observations: &log.observations,
            counts: &log.counts,
            sampled: log.facts.sampled.as_ref(),
            certify: &prepared.split.certify,
            tuned,
            plan,
            judgement: &judged.judgement,
            scored: judged.scored.as_ref(),
            advantages: &judged.advantages,
            attacks: &judged.attacks,
            guesses: &judged.guesses,
            bins: &judged.bins,
            kolmogorov: judged.kolmogorov,
            worst: plan.worst,
            worst_neighbors: plan.worst,
            closures: Vec::new(),
            thresholds: None,
            effective: judged.effective.as_ref(),
            upper: judged.upper.as_ref(),
            cross_fit: judged.cross_fit.as_ref(),
            differences: judged.differences.as_ref(),
            average: judged.average.as_ref(),
            information: judged.information.as_ref(),
            units: judged.units.as_ref(),
            no_leak: judged.no_leak.as_ref(),
            leaking_columns: judged.leaking_columns.as_ref(),
            columns: judged.columns.as_ref(),
        };
        evidence.close();
        evidence
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

    /// What secrets and observations are called.
    pub fn names(&self) -> Names<'_> {
        Names {
            labels: &self.labels,
            observations: self.observations,
            certify: self.certify,
        }
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
        self.upper.is_some()
    }

    /// The certification rows of the worst pair by their scores, where limits may use their order.
    pub fn worst_scores(&self) -> Option<Cow<'_, ScoredRows>> {
        let scored = self.scored?;
        if self.worst == self.plan.worst {
            return Some(Cow::Borrowed(scored));
        }
        let rule = self.tuned.choices[self.worst].rule;
        let (scorer, keep) = (&*self.tuned.scorer, Some((rule.a, rule.b)));
        let (_, scored) = judge_and_keep(scorer, self.observations, self.certify, &[], &[], keep);
        Some(Cow::Owned(scored))
    }

    /// The pair with the largest limit of the total variation of those that are looked at; the one that promised most of
    /// equals, else the first.
    pub fn worst_pair(&self, is_looked_at: impl Fn(Rule) -> bool + Sync) -> usize {
        let looked_at = |pair: usize| is_looked_at(self.tuned.choices[pair].rule);
        let limit = |pair: usize| match looked_at(pair) {
            true => self.lower(pair).map_or(-1.0, |limit| limit.0),
            false => -2.0,
        };
        let limits = parallel::map_in_place(self.pair_count(), &limit);
        let promised = (self.plan.worst, limits[self.plan.worst]);
        let best = limits.into_iter().enumerate().fold(promised, |best, next| {
            if next.1 > best.1 { next } else { best }
        });
        best.0
    }

    /// The p-value of observations that do not depend on the secret, by the limits' share of the level; `None` where that
    /// was not tested or has no part of it. All tests share the part equally.
    pub fn no_leak_p_value(&self) -> Option<f64> {
        let of_rows = self.no_leak.filter(|found| !found.of_units);
        let of_rows = of_rows.map(|found| found.p_value);
        let of_columns = self.leaking_columns.map(LeakingColumns::p_value);
        // Only with two secrets is it planned in blocks.
        let of_blocks = self.differences.filter(|found| found.blocks.is_some());
        let of_blocks = of_blocks.map(|found| found.p_value);
        let tests = [of_rows, of_columns, of_blocks];
        let number = tests.iter().flatten().count() as f64;
        let part = self.plan.no_leak_part()?;
        let least = tests.into_iter().flatten().reduce(f64::min)?;
        Some((number * least / part).min(1.0))
    }

    /// How the advantage of a pair is limited.
    pub fn attack_method(&self, pair: usize) -> Method {
        if let Some(units) = self.advantages[pair].of_units() {
            return units::method(units.method());
        }
        match self.advantages[pair].method() {
            _ if self.effective.is_some() => Method::ClopperPearsonEffectiveRows,
            AdvantageMethod::Separate => Method::ClopperPearson,
            AdvantageMethod::Pooled => Method::MatchedClopperPearson,
            AdvantageMethod::Prequential => Method::PrequentialBinomial,
        }
    }
}
