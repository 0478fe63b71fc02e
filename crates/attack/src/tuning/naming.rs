//! The attack that names one of all secrets: chosen on the tune rows by its own loss, for an attack that is good
//! at pairs can be worse at this than guessing blind.

use std::sync::Arc;

use crate::pairwise::{GuessErrors, Judgement, Rule, judge, judge_groups, tally_guesses};
use crate::scorer::Scorer;
use crate::scores::ScoreTable;
use leakgauge_log::observations::{Counts, Observations};

/// Weights of the scores against ln prior. Scores are log-likelihoods at best: those of a sure attack exaggerate,
/// those of a cautious one do the opposite, and a prior that is not uniform shows it.
const WEIGHTS: [f64; 5] = [1.0, 0.5, 2.0, 0.25, 4.0];

/// A guess among all secrets at a prior: argmax(weight · score + ln prior), or the likeliest secret whatever is
/// observed.
#[derive(Clone)]
pub struct Naming {
    prior: Vec<f64>,
    /// The attack and the weight of its scores; `None`: blind guessing.
    attack: Option<(Arc<dyn Scorer>, f64)>,
    tune: GuessErrors,
    loss: f64,
}

impl Naming {
    /// Blind guessing, the first candidate.
    pub fn blind(prior: &[f64], tune: &Counts) -> Self {
        let likeliest = prior.iter().copied().fold(0.0, f64::max);
        Naming {
            tune: blind_errors(prior, tune),
            prior: prior.to_vec(),
            attack: None,
            loss: 1.0 - likeliest,
        }
    }

    /// The guess of one attack, whatever it is worth.
    pub fn by(scorer: &Arc<dyn Scorer>, scores: &ScoreTable, prior: &[f64], tune: &Counts) -> Self {
        let errors = tally_guesses(scores, tune, prior);
        Naming {
            prior: prior.to_vec(),
            attack: Some((scorer.clone(), 1.0)),
            loss: loss(prior, &errors),
            tune: errors,
        }
    }

    /// Takes another attack if its prior-weighted error rate on the tune rows is less. A secret without tune rows
    /// counts as never named.
    pub fn consider(&mut self, scorer: &Arc<dyn Scorer>, scores: &ScoreTable, tune: &Counts) {
        let uniform = self.prior.iter().all(|p| *p == self.prior[0]);
        // At the uniform prior every weight guesses alike.
        let weights = if uniform { &WEIGHTS[..1] } else { &WEIGHTS };
        for &weight in weights {
            let errors = tally_guesses(scores, tune, &weighted(&self.prior, weight));
            let loss = loss(&self.prior, &errors);
            if loss < self.loss {
                self.loss = loss;
                self.tune = errors;
                self.attack = Some((scorer.clone(), weight));
            }
        }
    }

    /// Whether it is for this prior.
    pub(super) fn is_at(&self, prior: &[f64]) -> bool {
        self.prior == prior
    }

    /// How the guesses fared on the tune rows.
    pub fn tune(&self) -> &GuessErrors {
        &self.tune
    }

    /// The attack; `None`: blind guessing.
    pub fn scorer(&self) -> Option<&Arc<dyn Scorer>> {
        self.attack.as_ref().map(|(scorer, _)| scorer)
    }

    /// The prior for which argmax(score + ln prior) is this guess: π^(1/weight), not normalized.
    pub fn weighted_prior(&self) -> Vec<f64> {
        match &self.attack {
            Some((_, weight)) => weighted(&self.prior, *weight),
            None => self.prior.clone(),
        }
    }

    /// How the guesses fare on rows that nothing was learned or chosen on.
    pub fn judge(&self, observations: &Observations, rows: &Counts) -> GuessErrors {
        let group = std::slice::from_ref(rows);
        self.judge_groups(observations, group).swap_remove(0)
    }

    fn judge_groups(&self, observations: &Observations, groups: &[Counts]) -> Vec<GuessErrors> {
        let Some((scorer, _)) = &self.attack else {
            let blind = groups.iter().map(|rows| blind_errors(&self.prior, rows));
            return blind.collect();
        };
        let prior = [self.weighted_prior()];
        let found = judge_groups(&**scorer, observations, groups, &[], &prior).into_iter();
        found.flat_map(|judgement| judgement.guesses).collect()
    }

    /// The same guess by an attack that was learned again.
    fn with_scorer(&self, scorer: Arc<dyn Scorer>) -> Self {
        let weight = self.attack.as_ref().map_or(1.0, |(_, weight)| *weight);
        Naming {
            attack: Some((scorer, weight)),
            ..self.clone()
        }
    }
}

/// What judges rows: an attacker for pairs, and for each prior a guess among all secrets, which may be by the same
/// attacker.
#[derive(Clone)]
pub struct Attackers {
    /// For pairs.
    pub scorer: Arc<dyn Scorer>,
    /// For each prior.
    pub naming: Vec<Naming>,
}

impl Attackers {
    /// Whether a guess is by the attacker for pairs, so that its scores serve both.
    fn shares(&self, naming: &Naming) -> bool {
        let scorer = naming.scorer();
        scorer.is_some_and(|scorer| Arc::ptr_eq(scorer, &self.scorer))
    }

    /// The same, learned from other rows.
    ///
    /// # Errors
    /// Why one of them cannot learn from these rows.
    pub fn learned_from(
        &self,
        observations: &Observations,
        learn: &Counts,
    ) -> Result<Self, String> {
        let scorer = self.scorer.refit(observations, learn)?;
        let naming = self.naming.iter().map(|naming| match naming.scorer() {
            None => Ok(naming.clone()),
            Some(_) if self.shares(naming) => Ok(naming.with_scorer(scorer.clone())),
            Some(other) => Ok(naming.with_scorer(other.refit(observations, learn)?)),
        });
        Ok(Attackers {
            naming: naming.collect::<Result<_, String>>()?,
            scorer,
        })
    }

    /// Priors at which argmax(score + ln prior) is the guess chosen, where that is by the attacker for pairs.
    pub fn priors(&self) -> Vec<Vec<f64>> {
        self.naming.iter().map(Naming::weighted_prior).collect()
    }

    /// Puts the guesses that others make in the place of those at [`priors`](Self::priors).
    pub fn judge_others(
        &self,
        observations: &Observations,
        rows: &Counts,
        guesses: &mut [GuessErrors],
    ) {
        for (at, naming) in self.naming.iter().enumerate() {
            if !self.shares(naming) {
                guesses[at] = naming.judge(observations, rows);
            }
        }
    }

    /// How rules and guesses fare on rows that nothing was learned or chosen on.
    pub fn judge(&self, observations: &Observations, rows: &Counts, rules: &[Rule]) -> Judgement {
        let mut found = judge(&*self.scorer, observations, rows, rules, &self.priors());
        self.judge_others(observations, rows, &mut found.guesses);
        found
    }

    /// The same for each of some groups of rows; what occurs in several is scored once.
    pub fn judge_groups(
        &self,
        observations: &Observations,
        groups: &[Counts],
        rules: &[Rule],
    ) -> Vec<Judgement> {
        let priors = self.priors();
        let mut found = judge_groups(&*self.scorer, observations, groups, rules, &priors);
        for (at, naming) in self.naming.iter().enumerate() {
            if self.shares(naming) {
                continue;
            }
            let guesses = naming.judge_groups(observations, groups);
            for (judgement, guesses) in found.iter_mut().zip(guesses) {
                judgement.guesses[at] = guesses;
            }
        }
        found
    }
}

fn weighted(prior: &[f64], weight: f64) -> Vec<f64> {
    prior.iter().map(|p| p.powf(1.0 / weight)).collect()
}

fn loss(prior: &[f64], tally: &GuessErrors) -> f64 {
    let rates = tally.errors.iter().zip(&tally.rows);
    let rates = rates.map(|(&errors, &rows)| match rows {
        0 => 1.0,
        _ => errors as f64 / rows as f64,
    });
    prior.iter().zip(rates).map(|(p, rate)| p * rate).sum()
}

fn blind_errors(prior: &[f64], rows: &Counts) -> GuessErrors {
    let mut named = 0;
    for (secret, p) in prior.iter().enumerate() {
        if *p > prior[named] {
            named = secret;
        }
    }
    let mut errors = rows.rows().to_vec();
    errors[named] = 0;
    GuessErrors {
        rows: rows.rows().to_vec(),
        errors,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scorer::Frequentist;
    use leakgauge_log::observations::Cell;

    fn counts(table: &[[u64; 2]]) -> Counts {
        let cells = table.iter().enumerate().flat_map(|(secret, row)| {
            row.iter().enumerate().map(move |(symbol, &count)| Cell {
                secret: secret as u32,
                symbol: symbol as u32,
                count,
            })
        });
        Counts::new(table.len(), cells.collect())
    }

    fn table(values: [[f64; 2]; 2]) -> ScoreTable {
        ScoreTable::new(vec![0, 1], 2, values.concat())
    }

    #[test]
    fn blind_guessing_stays_where_an_attack_does_worse() {
        let tune = counts(&[[90, 90], [10, 10]]);
        let scorer: Arc<dyn Scorer> = Arc::new(Frequentist::fit(&tune));
        let mut naming = Naming::blind(&[0.9, 0.1], &tune);
        naming.consider(&scorer, &table([[0.0, 20.0], [20.0, 0.0]]), &tune);
        assert!(naming.scorer().is_none());
        assert_eq!(naming.tune().errors, [0, 20]);
    }

    /// Scores that exaggerate fourfold name the rare secret too often, unless they are weighed down.
    #[test]
    fn the_weight_of_the_scores_is_chosen_too() {
        // Likelihood ratios are 4 either way, so that at a prior of 0.7 to 0.3 only the first observation is worth
        // naming the second secret for. The scores say so of both.
        let tune = counts(&[[140, 560], [240, 60]]);
        let scorer: Arc<dyn Scorer> = Arc::new(Frequentist::fit(&tune));
        let mut naming = Naming::blind(&[0.7, 0.3], &tune);
        let exaggerated = table([[0.0, 4.0], [0.0, 1.0]]);
        naming.consider(&scorer, &exaggerated, &tune);
        assert_eq!(naming.tune().errors, [140, 60]);
        let (_, weight) = naming.attack.as_ref().expect("an attack");
        assert!(*weight < 1.0, "{weight}");
    }
}
