//! The pairwise figures: total variation, Bayes security, advantage, ε.

use crate::audit::basis::Evidence;
use crate::audit::certified_limit::CertifiedLimit;
use crate::audit::figures::no_leak::NoLeak;
use crate::audit::figures::pairs::{PairFigures, WorstPair};
use crate::audit::figures::privacy::plan::Weights;
use crate::audit::figures::privacy::witness;
use crate::audit::figures::privacy::{EpsilonLimit, PrivacyLimit};
use crate::audit::figures::{distributions, trade_off};
use crate::audit::units::judge as units;
use crate::estimate::{Estimate, Method, Methods, Reason};
use leakgauge_attack::pairwise::{AdvantageMethod, PairErrors};
use leakgauge_base::quantity::PrivacyParameter;
use leakgauge_stats::level;
use leakgauge_stats::variational::Bins;

impl Evidence<'_> {
    /// α of the whole log.
    pub(crate) fn alpha(&self) -> f64 {
        1.0 - self.options.confidence
    }

    /// The tally of a pair's rule.
    pub(crate) fn tally(&self, pair: usize) -> &PairErrors {
        &self.judgement.tallies[pair]
    }

    /// Upper limit of the total variation of all pairs at once.
    pub(crate) fn largest_upper(&self) -> Option<f64> {
        self.upper?.largest()
    }

    /// Why there is no limit on what a better attack could do.
    pub(crate) fn no_upper(&self) -> Reason {
        if self.effective.is_some() {
            Reason::DependentRows
        } else if self.options.attacks.are_given() {
            Reason::GivenScores
        } else if self.differences.is_some_and(|found| found.blocks.is_some()) {
            Reason::RelativeNumbers
        } else {
            Reason::RawNumbers
        }
    }

    /// Total variation of a pair: its lower limit from a table, its upper limit as given.
    pub(crate) fn total_variation(
        &self,
        table: CertifiedLimit,
        pair: usize,
        upper: Option<f64>,
    ) -> Estimate {
        let tally = self.tally(pair);
        let judged = tally.is_judged();
        let lower = self.lower(table, pair);
        Estimate {
            point: self.advantages[pair].point(),
            raw: None,
            lower: lower.map(|limit| limit.0),
            upper,
            method: Methods {
                point: judged.then_some(Method::HeldOutAttack),
                lower: lower.map(|limit| limit.1),
                upper: upper.and_then(|_| Some(self.upper?.method(pair))),
            },
            reason: match (judged, upper) {
                (false, _) => Some(Reason::PairWithoutRows),
                (true, None) => Some(self.no_upper()),
                (true, Some(_)) => None,
            },
        }
    }

    /// The upper limit of a pair, all pairs together.
    fn joint_upper(&self, pair: usize) -> Option<f64> {
        self.upper?.joint(pair)
    }

    /// Total variation of a pair of the table of all pairs.
    fn listed_total_variation(&self, pair: usize) -> Estimate {
        let table = CertifiedLimit::Table(0);
        self.total_variation(table, pair, self.joint_upper(pair))
    }

    /// Total variation of the worst pair: its lower limit is the largest of the table, its upper limit bounds
    /// all pairs.
    pub(crate) fn worst_total_variation(&self) -> Estimate {
        let table = CertifiedLimit::Table(0);
        self.total_variation(table, self.worst, self.largest_upper())
    }

    /// Total variation of a pair that a claim's table picked.
    pub(crate) fn picked_total_variation(&self, table: CertifiedLimit, pair: usize) -> Estimate {
        self.total_variation(table, pair, self.joint_upper(pair))
    }

    /// How error rates are limited one by one.
    pub(crate) fn errors_method(&self, position: usize) -> Method {
        if let Some(units) = self.units {
            return units::method(units.rules[position].rate_method());
        }
        match self.effective {
            Some(_) => Method::ClopperPearsonEffectiveRows,
            None => Method::ClopperPearson,
        }
    }

    /// The advantage of the last attack at a pair. Each limit holds with probability 1 − α, over all pairs
    /// together in the parts of α that the table has. The lower limit is never above what the table says of the
    /// total variation. The upper limit stays the attack's own: the smaller of it and the limit of the total
    /// variation would be wrong where either is, which is more than α.
    pub(crate) fn attack_advantage(&self, pair: usize) -> Estimate {
        let tally = self.tally(pair);
        let table = CertifiedLimit::Table(0);
        let level = self.plan.pair_share(table, pair);
        let judged = tally.is_judged() && level > 0.0;
        let attack = &self.attacks[pair];
        let method = judged.then_some(match attack.method() {
            _ if self.units.is_some() => self.attack_method(pair),
            _ if self.effective.is_some() => Method::ClopperPearsonEffectiveRows,
            AdvantageMethod::Pooled => Method::MatchedClopperPearson,
            AdvantageMethod::Separate | AdvantageMethod::Prequential => Method::ClopperPearson,
        });
        let most = self.lower(table, pair).map_or(1.0, |limit| limit.0);
        let upper_level = self.alpha() * self.plan.tables[0][pair];
        let mut estimate = Estimate {
            point: attack.point(),
            raw: None,
            lower: judged.then(|| attack.at_least(level).clamp(-1.0, most)),
            upper: judged.then(|| attack.at_most(upper_level).min(1.0)),
            method: Methods {
                point: judged.then_some(Method::HeldOutAttack),
                lower: method,
                upper: method,
            },
            reason: (!judged).then_some(Reason::PairWithoutRows),
        };
        // No attack exceeds the total variation.
        estimate.constrain(-1.0, self.largest_upper().unwrap_or(1.0));
        estimate
    }

    /// The certified lower limit of ε, μ or ρ, planned at a position.
    pub(crate) fn privacy(&self, at: usize) -> PrivacyLimit {
        self.privacy_of(at, self.plan.privacy[at].quantity)
    }

    /// The limit of another parameter from the same evidence. Limits of ε at the δ of all claims hold together.
    pub(crate) fn privacy_of(&self, at: usize, quantity: PrivacyParameter) -> PrivacyLimit {
        let plan = &self.plan.privacy[at];
        let share = self.plan.share(plan.read);
        let secrets = self.secrets([plan.rule.a, plan.rule.b]);
        if let (Some(guesses), PrivacyParameter::Epsilon { delta }) = (&self.guesses[at], quantity)
        {
            return PrivacyLimit {
                quantity,
                secrets,
                point: guesses.tests.epsilon(delta),
                lower: Some(guesses.tests.epsilon_at_least(delta, share)),
                witness: None,
            };
        }
        if let Some((weights, bins)) = self.weighed(at, quantity) {
            return PrivacyLimit {
                quantity,
                secrets,
                point: weights.plan.point(bins),
                lower: Some(weights.plan.limit(bins, share)),
                witness: None,
            };
        }
        let judged = self.judgement.tallies[plan.position].is_judged();
        let bare = self.errors(plan.position).rates();
        PrivacyLimit {
            quantity,
            secrets,
            point: bare
                .map(|rates| rates.at_least(quantity))
                .filter(|point| point.is_finite()),
            lower: judged.then(|| {
                let errors = self.errors(plan.position);
                errors.errors_at_most(share).at_least(quantity)
            }),
            witness: None,
        }
    }

    /// The weighed scores behind a limit, if it rests on some: they were planned for one parameter alone.
    pub(crate) fn weighed(
        &self,
        at: usize,
        quantity: PrivacyParameter,
    ) -> Option<(&Weights, &Bins)> {
        let plan = &self.plan.privacy[at];
        let weights = plan
            .weights
            .as_ref()
            .filter(|_| plan.quantity == quantity)?;
        Some((weights, self.bins[at].as_ref()?))
    }

    /// The p-value of a parameter of a planned limit being at most `allowed`, at the limit's part of α.
    pub(crate) fn privacy_p_value(
        &self,
        at: usize,
        quantity: PrivacyParameter,
        allowed: f64,
    ) -> f64 {
        let plan = &self.plan.privacy[at];
        let weighed = self.weighed(at, quantity);
        let p = match (&self.guesses[at], quantity, weighed) {
            (Some(guesses), PrivacyParameter::Epsilon { delta }, _) => {
                guesses.tests.p_value(allowed, delta)
            }
            (_, _, Some((weights, bins))) => {
                level::smallest(|alpha| weights.plan.limit(bins, alpha) > allowed).unwrap_or(1.0)
            }
            _ if self.judgement.tallies[plan.position].is_judged() => {
                let errors = self.errors(plan.position);
                level::smallest(|alpha| errors.errors_at_most(alpha).at_least(quantity) > allowed)
                    .unwrap_or(1.0)
            }
            _ => 1.0,
        };
        (p / self.plan.part(plan.read)).min(1.0)
    }

    /// How a planned limit of privacy is obtained.
    pub(crate) fn privacy_method(&self, at: usize, quantity: PrivacyParameter) -> Method {
        match (&self.guesses[at], quantity) {
            (Some(guesses), PrivacyParameter::Epsilon { delta }) => {
                let share = self.plan.share(self.plan.privacy[at].read);
                guesses.strongest(delta, share).method()
            }
            _ if self.plan.privacy[at].weights.is_some() => Method::WeighedScores,
            _ => self.errors_method(self.plan.privacy[at].position),
        }
    }
}

/// The limits of privacy: ε at δ = 0, then those that claims read, with what proves them.
pub(crate) fn privacy(evidence: &Evidence) -> Vec<PrivacyLimit> {
    let plans = 0..evidence.plan.privacy.len();
    plans
        .map(|at| {
            let mut limit = evidence.privacy(at);
            limit.witness = witness::find::of_limit(evidence, at, &limit);
            limit
        })
        .collect()
}

/// The worst pair: its limits hold on their own. Its estimate of the total variation is settled with those of
/// all pairs, in [`agreement`](super::agreement).
pub(crate) fn worst_pair(evidence: &Evidence) -> WorstPair {
    let worst = evidence.worst;
    let total_variation = evidence.worst_total_variation();
    let epsilon = evidence.privacy(0);
    WorstPair {
        secrets: evidence.pair(worst),
        bayes_security: total_variation.decreasing(|tv| 1.0 - tv),
        advantage: total_variation.clone(),
        attack_advantage: evidence.attack_advantage(worst),
        epsilon: EpsilonLimit {
            secrets: epsilon.secrets,
            point: epsilon.point,
            lower: epsilon.lower,
            delta: 0.0,
        },
        trade_off: trade_off::figure::of_worst_pair(evidence),
        trade_off_reason: trade_off::figure::missing(evidence),
        distributions: distributions::figure::of_worst_pair(evidence),
        total_variation,
        total_variation_points: evidence.points_of_worst(),
    }
}

/// All pairs: their limits hold together (Bonferroni). Estimates: as of the worst pair.
pub(crate) fn all_pairs(evidence: &Evidence, no_leak: Option<&NoLeak>) -> Vec<PairFigures> {
    use leakgauge_base::parallel;
    parallel::map_in_place(evidence.pair_count(), &|pair| PairFigures {
        secrets: evidence.pair(pair),
        total_variation: evidence.listed_total_variation(pair),
        total_variation_points: None,
        paired_advantage: evidence
            .differences
            .and_then(|found| found.paired_advantage(evidence.pair(pair).secrets()))
            .map(Box::new),
        no_leak_p_value: no_leak.and_then(|found| Some(found.pairs.as_ref()?[pair])),
    })
}
