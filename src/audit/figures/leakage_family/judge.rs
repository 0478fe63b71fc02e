//! What the certification rows say.

use crate::audit::figures::overall::risk::{RiskMethod, choose_method, matched_upper, strata};
use crate::audit::prepare::Prepared;
use crate::estimate::Method;
use leakgauge_attack::measure::leaking_event::{EventRows, LeakingEvent};
use leakgauge_attack::pairwise::{GuessErrors, Ranks, judge_ranks};
use leakgauge_attack::tuning::Tuned;
use leakgauge_log::observations::ObservationKind;
use leakgauge_stats::random::{Randomness, Stream};
use leakgauge_stats::weighted_risk::{Stratum, chernoff_upper};

/// What the rows say that the leakage family reads.
#[derive(Debug)]
pub struct FamilyEvidence {
    /// The guesses of the attack on the certification rows, at the prior.
    pub(crate) ranks: Ranks,
    /// The same at the uniform prior over the secrets that the prior allows, where it excludes some.
    pub(crate) of_support: Option<(Vec<f64>, Ranks)>,
    /// The best guesses of all rows on themselves; discrete logs only.
    pub(crate) plug_in: Option<Ranks>,
    /// The event for pointwise leakage and its certification rows; discrete logs only.
    pub(crate) event: Option<(LeakingEvent, EventRows)>,
    /// Whether rows are independent.
    pub(crate) independent: bool,
    /// Numbers for subsamples of rows.
    pub(crate) random: Randomness,
}

/// Looks at the certification rows; `None` where nothing of the family was asked for.
pub fn judge(prepared: &Prepared, tuned: &Tuned) -> Option<FamilyEvidence> {
    if !prepared.options.requested.wants_family() {
        return None;
    }
    let (log, split) = (prepared.log, &prepared.split);
    let (observations, certify) = (&log.observations, &split.certify);
    let prior = &prepared.priors[0];
    let ranks = |at: usize, prior: &[f64]| {
        let naming = &tuned.naming[at];
        let (scorer, prior) = match naming.scorer() {
            // The weight of the scores was chosen for this prior.
            Some(scorer) if prior == prepared.priors[at] => (scorer, naming.weighted_prior()),
            Some(scorer) => (scorer, prior.to_vec()),
            None => (&tuned.scorer, prior.to_vec()),
        };
        judge_ranks(&**scorer, observations, certify, &prior)
    };
    let of_support = prior.contains(&0.0).then(|| {
        let size = prior.iter().filter(|p| **p > 0.0).count() as f64;
        let support = prior
            .iter()
            .map(|p| if *p > 0.0 { 1.0 / size } else { 0.0 });
        let support: Vec<f64> = support.collect();
        let found = ranks(1, &support);
        (support, found)
    });
    let discrete = observations.kind() == ObservationKind::Discrete;
    let event = || {
        let event = LeakingEvent::find(&split.fit, &split.tune, prior, prepared.alpha)?;
        let rows = event.rows(certify, prior);
        Some((event, rows))
    };
    Some(FamilyEvidence {
        ranks: ranks(0, prior),
        of_support,
        plug_in: discrete.then(|| Ranks::plug_in(&log.counts, prior)),
        event: discrete.then(event).flatten(),
        independent: prepared.independence.is_of_rows(),
        random: prepared.random,
    })
}

impl FamilyEvidence {
    /// Lower limit of the probability that one of k guesses is right, at level 1 − alpha, and its method. How errors
    /// are limited is settled by numbers of rows: as if guesses were blind.
    pub(crate) fn success_at_least(
        &self,
        ranks: &Ranks,
        prior: &[f64],
        tries: u64,
        blind: f64,
        alpha: f64,
    ) -> (f64, Method) {
        let tally = GuessErrors {
            rows: ranks.rows(),
            errors: ranks.missed(tries),
        };
        let expected = GuessErrors {
            errors: tally
                .rows
                .iter()
                .map(|&rows| ((1.0 - blind) * rows as f64) as u64)
                .collect(),
            rows: tally.rows.clone(),
        };
        match choose_method(&expected, &tally.rows, prior, alpha) {
            RiskMethod::Matched => {
                let risk = matched_upper(
                    &tally,
                    prior,
                    alpha,
                    &mut self.random.rng(Stream::MatchedPrior),
                );
                (1.0 - risk, Method::MatchedClopperPearson)
            }
            RiskMethod::Chernoff | RiskMethod::EffectiveRows | RiskMethod::Units => {
                let strata = strata(prior, &tally.rows, &tally.errors);
                (
                    1.0 - chernoff_upper(&strata, alpha),
                    Method::WeightedChernoff,
                )
            }
        }
    }
}

/// The prior-weighted share of rows; `None` if a secret of positive prior has none.
pub(crate) fn weighted_share(strata: &[Stratum]) -> Option<f64> {
    let positive = || strata.iter().filter(|stratum| stratum.weight > 0.0);
    if positive().any(|stratum| stratum.rows == 0) {
        return None;
    }
    let shares = positive().map(|s| s.weight * s.errors as f64 / s.rows as f64);
    Some(shares.sum())
}
