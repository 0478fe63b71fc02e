//! The pairwise figures: total variation, Bayes security, advantage, ε.

use crate::audit::cross_fit::CrossFit;
use crate::audit::evidence::Evidence;
use crate::audit::findings::{EpsilonLimit, PairFigures, PrivacyLimit, WorstPair};
use crate::audit::plan::{PrivacyPlan, WorstMethod, kolmogorov_lower};
use crate::audit::{distributions, trade_off, units};
use crate::estimate::{Estimate, Method, Methods, Reason};
use leakgauge_attack::measure::plug_in;
use leakgauge_attack::pairwise::{AdvantageMethod, PairErrors, clustering_order, pair_index};
use leakgauge_log::observations::Counts;
use leakgauge_stats::concentration::mcdiarmid_total_variation_radius;
use leakgauge_stats::multiplicity::bonferroni;

impl Evidence<'_> {
    /// α of the whole log.
    pub(super) fn alpha(&self) -> f64 {
        1.0 - self.options.confidence
    }

    /// One side's part of a level where two sides are printed together.
    pub(super) fn one_side(&self, level: f64) -> f64 {
        if self.is_discrete() {
            level / 2.0
        } else {
            level
        }
    }

    /// The tally of a pair's rule.
    pub(super) fn tally(&self, pair: usize) -> &PairErrors {
        &self.judgement.tallies[pair]
    }

    /// Upper limit of a pair's total variation from all rows, at a level of its own: for a pair that
    /// was fixed before the log was taken, or for statements over all pairs.
    pub(super) fn plug_in_upper(&self, pair: usize, alpha: f64) -> Option<f64> {
        if let Some(laws) = self.unit_laws() {
            return laws.total_variation_at_most(alpha)[pair];
        }
        let plug_in = self.plug_in?[pair];
        Some((plug_in + self.plug_in_radius(pair, alpha)?).min(1.0))
    }

    /// How far that limit is above the plug-in estimate.
    pub(super) fn plug_in_radius(&self, pair: usize, alpha: f64) -> Option<f64> {
        let rule = self.tuned.choices[pair].rule;
        let rows = self.counts.rows();
        let (a, b) = (rows[rule.a as usize], rows[rule.b as usize]);
        (a > 0 && b > 0).then(|| mcdiarmid_total_variation_radius(a, b, alpha))
    }

    /// Upper limit of the total variation of all pairs at once: each at the same level, for the truly
    /// worst pair is one fixed pair (Berger 1982, doi:10.1080/00401706.1982.10487790).
    pub(super) fn largest_upper(&self) -> Option<f64> {
        let level = self.one_side(self.alpha());
        let limits = match self.unit_laws() {
            Some(laws) => laws.total_variation_at_most(level),
            None => (0..self.pair_count())
                .map(|pair| self.plug_in_upper(pair, level))
                .collect(),
        };
        limits
            .into_iter()
            .try_fold(0.0f64, |largest, upper| Some(largest.max(upper?)))
    }

    /// Why there is no limit on what a better attack could do.
    pub(super) fn no_upper(&self) -> Reason {
        if self.effective.is_some() {
            Reason::DependentRows
        } else if self.units.is_some() && !self.options.attacks.are_given() {
            Reason::RawNumbers
        } else if self.options.attacks.are_given() {
            Reason::GivenScores
        } else {
            Reason::RawNumbers
        }
    }

    /// Total variation of a pair, its attack judged at `lower_level`, its upper limit at `upper_level`.
    pub(super) fn total_variation(
        &self,
        pair: usize,
        lower_level: f64,
        upper_level: f64,
    ) -> Estimate {
        let tally = self.tally(pair);
        let judged = tally.is_judged();
        let lower = judged.then(|| self.advantages[pair].at_least(lower_level).max(0.0));
        let upper = self.plug_in_upper(pair, upper_level);
        Estimate {
            point: self.advantages[pair].point(),
            lower,
            upper,
            method: Methods {
                point: judged.then_some(Method::HeldOutAttack),
                lower: judged.then(|| self.attack_method(pair)),
                upper: upper.map(|_| self.upper_method()),
            },
            reason: match (judged, upper) {
                (false, _) => Some(Reason::PairWithoutRows),
                (true, None) => Some(self.no_upper()),
                (true, Some(_)) => None,
            },
        }
    }

    /// Takes the point of a pair from all rows, where that can be had.
    fn take_cross_fit(&self, estimate: &mut Estimate, advantage: Option<f64>) {
        if let Some(advantage) = advantage.filter(|_| estimate.point.is_some()) {
            estimate.set_point(advantage, Method::CrossFittedAttack, 0.0);
        }
    }

    /// Total variation of a pair that nothing in the log chose, its limits at a level for all pairs.
    fn listed_total_variation(&self, pair: usize, level: f64) -> Estimate {
        let mut estimate = self.total_variation(pair, level, level);
        let cross_fit = self.cross_fit;
        self.take_cross_fit(&mut estimate, cross_fit.and_then(|c| c.advantage(pair)));
        estimate
    }

    /// Total variation of the worst pair; its limits hold on their own.
    pub(super) fn worst_total_variation(&self) -> Estimate {
        let worst = self.plan.worst;
        let share = self.plan.share(self.plan.worst_read(self.tuned));
        let lower_level = self.one_side(share);
        let mut estimate = self.chosen_total_variation(worst, lower_level);
        // What bounds all pairs bounds this one, at a better level than a limit for a chosen pair.
        if let Some(largest) = self.largest_upper().filter(|_| !self.fresh) {
            estimate.upper = Some(largest);
        }
        if self.plan.worst_method == WorstMethod::Kolmogorov && self.tally(worst).is_judged() {
            let rule = self.tuned.choices[worst].rule;
            let lower =
                kolmogorov_lower(self.observations, self.certify, rule.a, rule.b, lower_level);
            let distance =
                plug_in::kolmogorov_distance(self.observations, self.certify, rule.a, rule.b);
            estimate.point = Some(distance);
            estimate.lower = Some(lower.max(0.0));
            estimate.method.point = Some(Method::KolmogorovDistance);
            estimate.method.lower = Some(Method::KolmogorovDkw);
        }
        let cross_fit = self.cross_fit;
        self.take_cross_fit(&mut estimate, cross_fit.and_then(CrossFit::worst_advantage));
        estimate
    }

    /// The level of the upper limit of a pair that was chosen on the tuning rows, and whether it comes
    /// from the certification rows alone.
    ///
    /// The pair was chosen by looking at the fit and tuning rows. Either the limit uses certification rows
    /// only, or all rows at a level that holds for every pair. Which has the smaller radius is settled
    /// for all pairs at once, by the rows of the rarest secret.
    fn chosen_upper_level(&self) -> (f64, bool) {
        let level = self.one_side(self.alpha());
        let pairs = self.pair_count();
        if self.fresh || pairs == 1 {
            return (level, false);
        }
        if self.units.is_some() {
            return (bonferroni(level, pairs as u64), false);
        }
        let radius = |counts: &Counts, level: f64| {
            let least = counts.rows().iter().copied().min().unwrap_or(0);
            mcdiarmid_total_variation_radius(least, least, level)
        };
        let corrected = bonferroni(level, pairs as u64);
        if radius(self.certify, level) < radius(self.counts, corrected) {
            (level, true)
        } else {
            (corrected, false)
        }
    }

    /// Total variation of a pair that was chosen on the tuning rows; its limits hold on their own.
    pub(super) fn chosen_total_variation(&self, pair: usize, lower_level: f64) -> Estimate {
        let (upper_level, certify_only) = self.chosen_upper_level();
        let mut estimate = self.total_variation(pair, lower_level, upper_level);
        if certify_only && let Some(upper) = &mut estimate.upper {
            *upper = self.certify_upper(pair, upper_level);
        }
        estimate
    }

    fn certify_upper(&self, pair: usize, level: f64) -> f64 {
        let rule = self.tuned.choices[pair].rule;
        let rows = self.certify.rows();
        let plug_in = plug_in::total_variation(self.certify)[pair];
        let radius =
            mcdiarmid_total_variation_radius(rows[rule.a as usize], rows[rule.b as usize], level);
        (plug_in + radius).min(1.0)
    }

    /// How error rates are limited one by one.
    pub(super) fn errors_method(&self, position: usize) -> Method {
        if let Some(units) = self.units {
            return units::method(units.rules[position].rate_method());
        }
        match self.effective {
            Some(_) => Method::ClopperPearsonEffectiveRows,
            None => Method::ClopperPearson,
        }
    }

    /// How figures are limited from above.
    pub(super) fn upper_method(&self) -> Method {
        match self.units {
            Some(_) => Method::UnitMcdiarmid,
            None => Method::PluginMcdiarmid,
        }
    }

    fn attack_method(&self, pair: usize) -> Method {
        if let Some(units) = self.advantages[pair].of_units() {
            return units::method(units.method());
        }
        match self.advantages[pair].method() {
            _ if self.effective.is_some() => Method::ClopperPearsonEffectiveRows,
            AdvantageMethod::Separate => Method::ClopperPearson,
            AdvantageMethod::Pooled => Method::MatchedClopperPearson,
        }
    }

    /// The advantage of a pair's attack, both limits together at the levels given.
    pub(super) fn attack_advantage(
        &self,
        pair: usize,
        lower_level: f64,
        upper_level: f64,
    ) -> Estimate {
        let tally = self.tally(pair);
        let judged = tally.is_judged();
        let method = judged.then(|| self.attack_method(pair));
        Estimate {
            point: self.advantages[pair].point(),
            lower: judged.then(|| self.advantages[pair].at_least(lower_level).max(-1.0)),
            upper: judged.then(|| self.advantages[pair].at_most(upper_level).min(1.0)),
            method: Methods {
                point: judged.then_some(Method::HeldOutAttack),
                lower: method,
                upper: method,
            },
            reason: (!judged).then_some(Reason::PairWithoutRows),
        }
    }

    /// The certified lower limit of ε, μ or ρ.
    pub(super) fn privacy(&self, plan: &PrivacyPlan) -> PrivacyLimit {
        let tally = &self.judgement.tallies[plan.position];
        let share = self.plan.share(plan.read);
        let judged = tally.is_judged();
        let bare = self.errors(plan.position).rates();
        PrivacyLimit {
            quantity: plan.quantity,
            secrets: self.secrets([plan.rule.a, plan.rule.b]),
            point: bare
                .map(|rates| rates.at_least(plan.quantity))
                .filter(|point| point.is_finite()),
            lower: judged.then(|| {
                let errors = self.errors(plan.position);
                errors.errors_at_most(share).at_least(plan.quantity)
            }),
        }
    }
}

/// The limits of privacy: ε at δ = 0, then those that claims read.
pub(super) fn privacy(evidence: &Evidence) -> Vec<PrivacyLimit> {
    let plans = evidence.plan.privacy.iter();
    plans.map(|plan| evidence.privacy(plan)).collect()
}

/// The worst pair: its limits hold on their own.
pub(super) fn worst_pair(evidence: &Evidence) -> WorstPair {
    let worst = evidence.plan.worst;
    let mut total_variation = evidence.worst_total_variation();
    let total_variation_points = evidence.worst_points(&mut total_variation);
    let attack = evidence.plan.advantage_read(evidence.tuned, worst);
    let epsilon = evidence.privacy(&evidence.plan.privacy[0]);
    WorstPair {
        secrets: evidence.pair(worst),
        bayes_security: total_variation.decreasing(|tv| 1.0 - tv),
        advantage: total_variation.clone(),
        attack_advantage: evidence.attack_advantage(
            worst,
            evidence.plan.share(attack) / 2.0,
            evidence.alpha() / 2.0,
        ),
        epsilon: EpsilonLimit {
            secrets: epsilon.secrets,
            point: epsilon.point,
            lower: epsilon.lower,
            delta: 0.0,
        },
        trade_off: trade_off::of_worst_pair(evidence),
        trade_off_reason: trade_off::missing(evidence),
        distributions: distributions::of_worst_pair(evidence),
        total_variation,
        total_variation_points,
    }
}

/// All pairs: their limits hold together (Bonferroni).
pub(super) fn all_pairs(evidence: &Evidence) -> Vec<PairFigures> {
    use rayon::prelude::*;
    let level = bonferroni(
        evidence.one_side(evidence.alpha()),
        evidence.pair_count() as u64,
    );
    let sparse = evidence.listed_sparse();
    (0..evidence.pair_count())
        .into_par_iter()
        .map(|pair| {
            let mut total_variation = evidence.listed_total_variation(pair, level);
            let sparse = sparse.as_ref().map(|sparse| &sparse[pair]);
            let points = evidence.listed_points(pair, sparse, &mut total_variation);
            PairFigures {
                secrets: evidence.pair(pair),
                bayes_security: total_variation.decreasing(|tv| 1.0 - tv),
                advantage: total_variation.clone(),
                total_variation,
                total_variation_points: points,
            }
        })
        .collect()
}

/// An order of the secrets for a picture of all pairs.
pub(super) fn by_likeness(evidence: &Evidence) -> Option<Vec<u32>> {
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
