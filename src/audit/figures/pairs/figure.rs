//! The pairwise figures: total variation, Bayes security, advantage, ε.

use crate::audit::basis::Evidence;
use crate::audit::certified_limit::CertifiedLimit;
use crate::audit::figures::pairs::{PairFigures, WorstPair};
use crate::audit::figures::privacy::witness;
use crate::audit::figures::privacy::{EpsilonLimit, PrivacyLimit};
use crate::audit::figures::{distributions, trade_off};
use crate::audit::learn::blocks::are_few;
use crate::audit::units::judge as units;
use crate::estimate::{Estimate, Method, Methods, Reason};
use leakgauge_attack::pairwise::{AdvantageMethod, PairErrors};
use leakgauge_log::observations::ObservationKind;

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
    fn largest_upper(&self) -> Option<f64> {
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

    /// Total variation of a pair: its lower limit from all that is certified, its upper limit as given. Either is wrong
    /// with probability α, so at low confidence they can cross: the upper one then gives way, which leaves both true
    /// as often as they say.
    pub(crate) fn total_variation(&self, pair: usize, upper: Option<f64>) -> Estimate {
        let tally = self.tally(pair);
        let judged = tally.is_judged();
        let lower = self.lower(pair);
        let upper = upper.map(|upper| lower.map_or(upper, |lower| upper.max(lower.0)));
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

    /// Total variation of a pair among all pairs.
    pub(crate) fn listed_total_variation(&self, pair: usize) -> Estimate {
        self.total_variation(pair, self.joint_upper(pair))
    }

    /// Total variation of the worst pair: its lower limit is the largest of all pairs, its upper limit bounds
    /// all of them.
    pub(crate) fn worst_total_variation(&self) -> Estimate {
        self.total_variation(self.worst, self.largest_upper())
    }

    /// The largest total variation of all pairs: of the worst one, or of some pair.
    pub(crate) fn largest_total_variation(&self) -> Estimate {
        let mut estimate = self.worst_total_variation();
        if let Some((point, lower, method)) = self.some_total_variation()
            && estimate.lower.is_none_or(|known| lower > known)
        {
            estimate.lower = Some(lower);
            estimate.upper = estimate.upper.map(|upper| upper.max(lower));
            estimate.method.lower = Some(method);
            estimate.point = estimate.point.map(|known| known.max(point));
        }
        estimate
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

    /// Whether attacks are limited from above by the total variation, which no attack exceeds and whose limit reads all rows:
    /// where any two secrets have many rows for each distinct observation. How many there are decides, and not what they
    /// are, as where blocks [begin](crate::audit::learn::blocks).
    pub(crate) fn attack_reads_all_rows(&self) -> bool {
        let rarest = self.counts.rows().iter().copied().min().unwrap_or(0);
        self.independence.is_of_rows()
            && self.observations.kind() == ObservationKind::Discrete
            && are_few(self.observations.len(), 2 * rarest)
    }

    /// The advantage of the last attack at a pair. Each limit holds with probability 1 − α, over all pairs
    /// together in the parts of α that the table has. The lower limit is never above what the table says of the
    /// total variation. The upper limit is either the attack's own or that of the total variation, as
    /// [`attack_reads_all_rows`](Evidence::attack_reads_all_rows) says: the smaller of both would be wrong where either is,
    /// which is more than α.
    pub(crate) fn attack_advantage(&self, pair: usize) -> Estimate {
        let tally = self.tally(pair);
        let table = CertifiedLimit::Table(0);
        let level = self.plan.pair_share(table, pair);
        let judged = tally.is_judged() && level > 0.0;
        let attack = &self.attacks[pair];
        let method = judged.then_some(match (attack.of_units(), attack.method()) {
            (Some(units), _) => units::method(units.method()),
            _ if self.effective.is_some() => Method::ClopperPearsonEffectiveRows,
            (_, AdvantageMethod::Pooled) => Method::MatchedClopperPearson,
            (_, AdvantageMethod::Separate | AdvantageMethod::Prequential) => Method::ClopperPearson,
        });
        let most = self.lower(pair).map_or(1.0, |limit| limit.0);
        let upper_level = self.alpha() * self.plan.tables[0][pair];
        let mut estimate = Estimate {
            point: attack.point(),
            raw: None,
            lower: judged.then(|| attack.at_least(level).clamp(-1.0, most)),
            upper: judged.then(|| attack.size_at_most(upper_level)),
            method: Methods {
                point: judged.then_some(Method::HeldOutAttack),
                lower: method,
                upper: method,
            },
            reason: (!judged).then_some(Reason::PairWithoutRows),
        };
        let of_all = self
            .upper
            .filter(|_| judged && self.attack_reads_all_rows());
        if let Some((limits, upper)) = of_all.and_then(|limits| Some((limits, limits.joint(pair)?)))
        {
            estimate.upper = Some(upper);
            estimate.method.upper = Some(limits.method(pair));
        }
        // No attack exceeds the total variation.
        estimate.constrain(-1.0, self.largest_total_variation().upper.unwrap_or(1.0));
        estimate
    }
}

/// The limits of privacy: ε at δ = 0, then those that claims read, with what proves them.
pub(crate) fn privacy(evidence: &Evidence) -> Vec<PrivacyLimit> {
    let plans = 0..evidence.plan.privacy.len();
    plans
        .map(|at| {
            let read = evidence.privacy(at);
            let witness = witness::find::of_limit(evidence, &read);
            PrivacyLimit {
                witness,
                ..read.limit
            }
        })
        .collect()
}

/// The worst pair: its limits hold on their own. Its estimate of the total variation is settled with those of
/// all pairs, in [`agreement`](super::agreement).
pub(crate) fn worst_pair(evidence: &Evidence) -> WorstPair {
    let worst = evidence.worst;
    let total_variation = evidence.worst_total_variation();
    let epsilon = evidence.privacy(0).limit;
    WorstPair {
        secrets: evidence.pair(worst),
        bayes_security: total_variation.decreasing(|tv| 1.0 - tv),
        advantage: total_variation.clone(),
        attack_advantage: evidence.attack_advantage(worst),
        epsilon: EpsilonLimit {
            secrets: epsilon.secrets,
            is_of_some_pair: epsilon.is_of_some_pair,
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
pub(crate) fn all_pairs(evidence: &Evidence) -> Vec<PairFigures> {
    use leakgauge_base::parallel;
    parallel::map_in_place(evidence.pair_count(), &|pair| PairFigures {
        secrets: evidence.pair(pair),
        total_variation: evidence.listed_total_variation(pair),
        total_variation_points: None,
        paired_advantage: evidence
            .differences
            .and_then(|found| found.paired_advantage(evidence.pair(pair).secrets()))
            .map(Box::new),
        no_leak_p_value: evidence
            .no_leak
            .and_then(|found| Some(found.pairs.as_ref()?[pair])),
    })
}
