//! The counts behind points and limits, kept so that figures of several logs can be put together at
//! levels of their own.

mod count;

use std::sync::Arc;

use crate::audit::figures::pairs::TotalVariationPoints;
use crate::audit::upper::UpperLimits;
use crate::estimate::{Estimate, Method};
use leakgauge_attack::measure::by_secret::BySecret;
use leakgauge_attack::pairwise::{Advantage, GuessErrors, Judgement, PairErrors, pair_index};
use leakgauge_stats::binomial;
use leakgauge_stats::event_upper::{Named, vulnerability_upper};

/// What the rows of a log say in numbers.
#[derive(Debug, Clone)]
pub struct Tallies {
    /// The prior, in the order of the secrets.
    pub prior: Vec<f64>,
    /// The position of the worst pair among all pairs.
    pub worst_pair: usize,
    /// Guesses among all secrets on the certification rows.
    pub guesses: GuessErrors,
    /// The attack at the worst pair on the certification rows.
    pub worst: Advantage,
    /// Errors on the certification rows. Those of the attack at each pair come first.
    judgement: Arc<Judgement>,
    /// The same from all rows, each judged by an attack that did not see it.
    cross: Option<Cross>,
    /// What the certification rows are worth, in a split by time.
    pub effective: Option<EffectiveSampleSize>,
    /// Discrete logs: what limits from above rest on.
    pub plug_in: Option<PlugIn>,
}

/// Cross-fitted attacks.
#[derive(Debug, Clone)]
struct Cross {
    guesses: GuessErrors,
    pairs: Vec<PairErrors>,
}

/// How many independent rows the certification rows are worth.
#[derive(Debug, Clone)]
pub struct EffectiveSampleSize {
    /// For every pair, of its first secret and of its second.
    pub pairs: Vec<[u64; 2]>,
    /// Of every secret, for guesses among all.
    pub guesses: Vec<u64>,
}

/// What limits of a discrete log from above rest on.
#[derive(Debug, Clone)]
pub struct PlugIn {
    /// Rows that the best rule on these rows names rightly, by secret.
    named: Vec<Named>,
    limits: Arc<UpperLimits>,
    counts: BySecret,
    advantages: Arc<Vec<Advantage>>,
    /// The estimates of the worst pair, which may come from its certification rows.
    of_worst: Option<TotalVariationPoints>,
}

impl PlugIn {
    /// Upper limit of the Bayes vulnerability at the prior, at level 1 − alpha; see [`vulnerability_upper`].
    pub fn vulnerability_at_most(&self, alpha: f64) -> f64 {
        vulnerability_upper(&self.named, alpha).min(1.0)
    }

    /// Upper limit of the largest total variation of all pairs, at level 1 − alpha: the truly worst pair
    /// is one fixed pair. `None` if a secret has no rows.
    pub fn total_variation_at_most(&self, alpha: f64) -> Option<f64> {
        self.limits.largest_at(alpha)
    }
}

impl Tallies {
    /// All estimates of the total variation of a pair of a discrete log. Millions of pairs would fill memory, of which
    /// a report shows few: so they are computed where they are asked for.
    pub(crate) fn points(&self, [a, b]: [u32; 2]) -> Option<TotalVariationPoints> {
        let plug_in = self.plug_in.as_ref()?;
        let pair = pair_index(plug_in.counts.secrets(), a, b);
        if pair == self.worst_pair {
            return plug_in.of_worst;
        }
        let sparse = plug_in.counts.sparse([a, b]);
        let cross = self.cross.as_ref();
        Some(TotalVariationPoints {
            plug_in: plug_in.limits.plug_in[pair],
            minimax: sparse.total_variation,
            held_out_attack: plug_in.advantages[pair].point(),
            cross_fitted_attack: cross.and_then(|cross| cross.pairs[pair].advantage()),
            distinct: sparse.distinct,
            effective_rows: sparse.rows,
            seen_once: sparse.seen_once,
        })
    }

    /// Standard error of the estimate of a pair's total variation or advantage; `None` where it is no attack's.
    ///
    /// # Formula
    /// √(FNR(1 − FNR)/n_a + FPR(1 − FPR)/n_b), rates as in [`binomial::variance`]. Of a cross-fitted estimate
    /// rates are those of all rows, as if all had been judged by one attack.
    pub fn pair_error(&self, estimate: &Estimate, pair: usize) -> Option<f64> {
        let variance = match (estimate.method.point?, &self.cross) {
            (Method::HeldOutAttack, _) => self.held_out(pair),
            (Method::CrossFittedAttack, Some(cross)) => cross.pairs[pair].variance(None),
            _ => return None,
        };
        Some(variance.sqrt()).filter(|error| error.is_finite())
    }

    /// [`pair_error`](Self::pair_error) of the worst pair.
    pub fn worst_error(&self, estimate: &Estimate) -> Option<f64> {
        self.pair_error(estimate, self.worst_pair)
    }

    fn held_out(&self, pair: usize) -> f64 {
        let worth = self.effective.as_ref().map(|worth| worth.pairs[pair]);
        self.judgement.tallies[pair].variance(worth)
    }

    /// Standard error of the point of the Bayes risk at the prior: √Σ π²p(1 − p)/n, rates as in
    /// [`binomial::variance`].
    /// Of two equally likely secrets it is half that of their total variation, from which the risk follows.
    pub fn risk_error(&self, estimate: &Estimate) -> Option<f64> {
        if self.prior == [0.5, 0.5] {
            return Some(0.5 * self.worst_error(estimate)?);
        }
        match (estimate.method.point?, &self.cross) {
            (Method::HeldOutAttack, _) => self.attack_error(),
            (Method::CrossFittedAttack, Some(cross)) => self.error(&cross.guesses, None),
            _ => None,
        }
    }

    /// The same of the risk of the attack on the certification rows.
    pub fn attack_error(&self) -> Option<f64> {
        self.error(&self.guesses, self.effective.as_ref())
    }

    fn error(&self, tally: &GuessErrors, worth: Option<&EffectiveSampleSize>) -> Option<f64> {
        let worth = worth.map_or(&tally.rows, |worth| &worth.guesses);
        let secrets = self.prior.iter().enumerate().filter(|(_, p)| **p > 0.0);
        let variance: f64 = secrets
            .map(|(secret, p)| {
                p * p * binomial::variance(tally.errors[secret], tally.rows[secret], worth[secret])
            })
            .sum();
        Some(variance.sqrt()).filter(|error| error.is_finite())
    }
}
