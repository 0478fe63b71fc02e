//! The counts behind points and limits, kept so that figures of several logs can be put together at
//! levels of their own.

use crate::audit::evidence::Evidence;
use crate::estimate::{Estimate, Method};
use leakgauge_attack::measure::plug_in;
use leakgauge_attack::pairwise::{Advantage, GuessErrors, PairErrors};
use leakgauge_stats::binomial;
use leakgauge_stats::concentration::{
    mcdiarmid_total_variation_radius, mcdiarmid_vulnerability_radius,
};

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
    /// The attack at every pair on the certification rows.
    pub pairs: Vec<PairErrors>,
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
    worst_variance: f64,
}

/// How many independent rows the certification rows are worth.
#[derive(Debug, Clone)]
pub struct EffectiveSampleSize {
    /// For every pair, of its first secret and of its second.
    pub pairs: Vec<[u64; 2]>,
    /// Of every secret, for guesses among all.
    pub guesses: Vec<u64>,
}

/// Plug-in estimates of a discrete log over all its rows.
#[derive(Debug, Clone)]
pub struct PlugIn {
    vulnerability: f64,
    /// Prior and rows of every secret.
    secrets: Vec<(f64, u64)>,
    /// Total variation and rows of both secrets of every pair.
    pairs: Vec<(f64, [u64; 2])>,
}

impl PlugIn {
    /// Upper limit of the Bayes vulnerability at the prior, at level 1 − alpha; see
    /// [`mcdiarmid_vulnerability_radius`].
    pub fn vulnerability_at_most(&self, alpha: f64) -> f64 {
        let weights = self.secrets.iter().copied().filter(|(p, _)| *p > 0.0);
        (self.vulnerability + mcdiarmid_vulnerability_radius(weights, alpha)).min(1.0)
    }

    /// Upper limit of the largest total variation of all pairs, at level 1 − alpha: the truly worst pair
    /// is one fixed pair. `None` if a secret has no rows.
    pub fn total_variation_at_most(&self, alpha: f64) -> Option<f64> {
        let upper = |&(tv, [a, b]): &(f64, [u64; 2])| {
            (a > 0 && b > 0).then(|| (tv + mcdiarmid_total_variation_radius(a, b, alpha)).min(1.0))
        };
        self.pairs
            .iter()
            .map(upper)
            .try_fold(0.0f64, |largest, upper| Some(largest.max(upper?)))
    }
}

impl Tallies {
    pub(super) fn of(evidence: &Evidence, prior: &[f64]) -> Tallies {
        let pairs = evidence.pair_count();
        let cross = evidence.cross_fit;
        let effective = evidence.effective;
        let worst = evidence.plan.worst;
        Tallies {
            prior: prior.to_vec(),
            worst_pair: worst,
            guesses: evidence.judgement.guesses[0].clone(),
            worst: evidence.advantages[worst].clone(),
            pairs: evidence.judgement.tallies[..pairs].to_vec(),
            cross: cross.map(|cross| Cross {
                guesses: cross.guesses[0].clone(),
                pairs: (0..pairs).map(|pair| cross.tally(pair)).collect(),
                worst_variance: cross.worst_variance(),
            }),
            effective: effective.map(|worth| EffectiveSampleSize {
                pairs: worth.rules[..pairs].to_vec(),
                guesses: worth.guesses[0].clone(),
            }),
            plug_in: evidence.plug_in.map(|tv| {
                let rows = evidence.counts.rows();
                let choices = evidence.tuned.choices.iter();
                let of_pair = choices.map(|choice| [choice.rule.a, choice.rule.b]);
                PlugIn {
                    vulnerability: plug_in::vulnerability(evidence.counts, prior),
                    secrets: prior.iter().copied().zip(rows.iter().copied()).collect(),
                    pairs: tv
                        .iter()
                        .copied()
                        .zip(of_pair.map(|pair| pair.map(|secret| rows[secret as usize])))
                        .collect(),
                }
            }),
        }
    }

    /// Standard error of the point of the worst pair's total variation or advantage; `None` where the
    /// point is no attack's.
    ///
    /// # Formula
    /// √(FNR(1 − FNR)/n_a + FPR(1 − FPR)/n_b), rates as in [`binomial::variance`]. Of a cross-fitted point
    /// parts count by their rows, as if their attacks had been learned on rows of others.
    pub fn worst_error(&self, estimate: &Estimate) -> Option<f64> {
        let variance = match (estimate.method.point?, &self.cross) {
            (Method::HeldOutAttack, _) => self.held_out(self.worst_pair),
            (Method::CrossFittedAttack, Some(cross)) => cross.worst_variance,
            _ => return None,
        };
        Some(variance.sqrt()).filter(|error| error.is_finite())
    }

    /// The same of a pair that nothing in the log chose.
    pub fn pair_error(&self, estimate: &Estimate, pair: usize) -> Option<f64> {
        let variance = match (estimate.method.point?, &self.cross) {
            (Method::HeldOutAttack, _) => self.held_out(pair),
            (Method::CrossFittedAttack, Some(cross)) => cross.pairs[pair].variance(None),
            _ => return None,
        };
        Some(variance.sqrt()).filter(|error| error.is_finite())
    }

    fn held_out(&self, pair: usize) -> f64 {
        let worth = self.effective.as_ref().map(|worth| worth.pairs[pair]);
        self.pairs[pair].variance(worth)
    }

    /// Standard error of the point of the Bayes risk at the prior: √Σ π²p(1 − p)/n, rates as in
    /// [`binomial::variance`].
    pub fn risk_error(&self, estimate: &Estimate) -> Option<f64> {
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
