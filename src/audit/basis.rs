//! Everything that findings are assembled from, once the certification rows have been looked at.

use std::borrow::Cow;
use std::sync::Arc;

use crate::audit::certified_limit::CertifiedLimit;
use crate::audit::evidence::guesses::PairGuesses;
use crate::audit::evidence::pair_test::Names;
use crate::audit::figures::differences::Differences;
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
use leakgauge_attack::pairwise::{
    Advantage, AdvantageMethod, EffectiveRows, Judgement, ScoredRows, judge_and_keep,
};
use leakgauge_attack::tuning::Tuned;
use leakgauge_base::parallel;
use leakgauge_log::SampledFrom;
use leakgauge_log::observations::{Counts, Observations};
use leakgauge_stats::band;
use leakgauge_stats::random::Randomness;
use leakgauge_stats::variational::Bins;

/// What the stages before found, in one place.
pub(super) struct Evidence<'a> {
    pub options: &'a AuditOptions,
    /// The seed's random numbers for this log.
    pub random: Randomness,
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
    kolmogorov: Option<(f64, [u64; 2])>,
    /// The pair with the largest limit of the total variation; the one that promised most where none has any.
    pub worst: usize,
    /// What the certification rows are worth, in a split by time.
    pub effective: Option<&'a EffectiveRows>,
    /// Limits from above; discrete logs only, and not in a split by time, whose rows are not taken to be
    /// independent.
    pub upper: Option<&'a Arc<UpperLimits>>,
    /// Estimates from all rows, where they can be had.
    pub cross_fit: Option<&'a CrossFit>,
    /// Differences of times, inside blocks where there are blocks.
    pub differences: Option<&'a Differences>,
    /// What units say, where limits count units.
    pub units: Option<&'a UnitEvidence>,
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
            random: prepared.random,
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
            effective: judged.effective.as_ref(),
            upper: judged.upper.as_ref(),
            cross_fit: judged.cross_fit.as_ref(),
            differences: judged.differences.as_ref(),
            units: judged.units.as_ref(),
        };
        evidence.worst = evidence.worst_pair();
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

    /// The lower limit of a pair's total variation in a table, and how it was obtained; `None` if the pair was
    /// not judged.
    pub fn lower(&self, table: CertifiedLimit, pair: usize) -> Option<(f64, Method)> {
        self.lower_at(pair, self.plan.pair_share(table, pair))
    }

    fn lower_at(&self, pair: usize, level: f64) -> Option<(f64, Method)> {
        if !self.judgement.tallies[pair].is_judged() || level <= 0.0 {
            return None;
        }
        let kolmogorov = self.plan.kolmogorov.filter(|planned| planned.pair == pair);
        let share = kolmogorov.map_or(0.0, |planned| planned.share);
        let attack = (share < 1.0).then(|| {
            let limit = self.advantages[pair].at_least(level * (1.0 - share));
            (limit.max(0.0), self.attack_method(pair))
        });
        let distance = self
            .kolmogorov
            .filter(|_| share > 0.0)
            .map(|(distance, [a, b])| {
                let limit = band::total_variation_at_least(distance, a, b, level * share);
                (limit, Method::KolmogorovDkw)
            });
        match (attack, distance) {
            (Some(attack), Some(distance)) if distance.0 > attack.0 => Some(distance),
            (attack, distance) => attack.or(distance),
        }
    }

    /// The p-value of a total variation of at most `allowed` at a pair, at its parts of α in a table.
    pub fn p_value(&self, table: CertifiedLimit, pair: usize, allowed: f64) -> f64 {
        let part = self.plan.pair_share(table, pair) / self.alpha();
        if part <= 0.0 || !self.judgement.tallies[pair].is_judged() {
            return 1.0;
        }
        let kolmogorov = self.plan.kolmogorov.filter(|planned| planned.pair == pair);
        let share = kolmogorov.map_or(0.0, |planned| planned.share);
        let mut p = 1.0f64;
        if share < 1.0 {
            p = self.advantages[pair].p_value(allowed) / (1.0 - share);
        }
        if let Some((distance, [a, b])) = self.kolmogorov.filter(|_| share > 0.0) {
            p = p.min(band::p_value(distance, allowed, a, b) / share);
        }
        (p / part).min(1.0)
    }

    /// The smallest of the pairs' p-values, each at its part of α; `None` if no pair was judged. Of many pairs,
    /// those with the largest limits are looked at: others could only make it smaller.
    pub fn smallest_p_value(
        &self,
        table: CertifiedLimit,
        allowed: impl Fn(usize) -> f64,
    ) -> Option<f64> {
        const MOST: usize = 20;
        let mut pairs: Vec<(f64, usize)> = (0..self.pair_count())
            .filter_map(|pair| Some((self.lower(table, pair)?.0 - allowed(pair), pair)))
            .collect();
        pairs.sort_by(|x, y| y.0.total_cmp(&x.0));
        let pairs = pairs.into_iter().take(MOST);
        pairs
            .map(|(_, pair)| self.p_value(table, pair, allowed(pair)))
            .reduce(f64::min)
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

    fn worst_pair(&self) -> usize {
        let limit = |pair: usize| {
            let limit = self.lower(CertifiedLimit::Table(0), pair);
            limit.map_or(-1.0, |limit| limit.0)
        };
        let limits = parallel::map_in_place(self.pair_count(), &limit);
        let planned = (self.plan.worst, limits[self.plan.worst]);
        let best =
            limits.into_iter().enumerate().fold(
                planned,
                |best, next| if next.1 > best.1 { next } else { best },
            );
        best.0
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
