//! Estimates for which every row of the log serves once as a row that the attack never saw.
//!
//! The rows are dealt into parts. Each part is judged by an attack that was chosen, learned, tuned and given its
//! thresholds on the other parts alone. Nothing at all was chosen with the rows that judge it, the kind of attack
//! included: where nothing leaks, the advantage of any rule that other rows chose is 0 on average, and that of the
//! best of several kinds on the rows that made it the best is not. Limits come from elsewhere.

use crate::audit::prepare::Prepared;
use leakgauge_attack::pairwise::{GuessErrors, PairErrors, Rule};
use leakgauge_attack::scorer::{Kind, Origin};
use leakgauge_attack::split::{self, Split};
use leakgauge_attack::tuning::{self, Attackers, Goals, Tuned};
use leakgauge_log::Log;
use leakgauge_log::observations::Counts;
use leakgauge_stats::random::Stream;

/// Parts that the rows are dealt into.
const PARTS: usize = 5;
/// With more rows the certification rows alone give every figure of the whole log to a third decimal.
const MOST_ROWS: u64 = 200_000;
/// What the parts say together.
#[derive(Debug)]
pub(crate) struct CrossFit {
    /// One tally a pair, in the order of [`leakgauge_attack::pairwise::pairs`].
    tallies: Vec<PairErrors>,
    /// One tally a prior.
    pub guesses: Vec<GuessErrors>,
}

impl CrossFit {
    /// TPR − FPR over all rows of a pair.
    pub fn advantage(&self, pair: usize) -> Option<f64> {
        self.tallies[pair].advantage()
    }

    /// The tally of a pair over all rows.
    pub fn tally(&self, pair: usize) -> PairErrors {
        self.tallies[pair]
    }

    /// Whether the log has so few rows that all of them are wanted for its estimates, and no other to learn on.
    pub fn is_worth_while(log: &Log) -> bool {
        log.fit_counts.is_none() && log.counts.total() <= MOST_ROWS
    }

    /// Chooses, learns and judges part by part. `None` where that is not worth while (many rows, a log that is
    /// judged with an attack learned elsewhere) or not possible (rows too few to learn from, no time to compare attacks
    /// part by part).
    pub fn run(prepared: &Prepared, granted: &Granted) -> Option<CrossFit> {
        let log = prepared.log;
        if !Self::is_worth_while(log) {
            return None;
        }
        let mut rng = prepared.random.rng(Stream::CrossFit);
        let parts = split::folds(&log.counts, PARTS, &mut rng);
        let mut all = CrossFit::empty(log, prepared.priors.len());
        for (at, part) in parts.iter().enumerate() {
            let mut others = parts.iter().enumerate().filter(|(other, _)| *other != at);
            let first = others.next()?.1.clone();
            let learn = others.fold(first, |sum, (_, part)| sum.plus(part));
            let split = Split::across(&learn, part.clone(), &mut rng);
            let (attackers, rules) = granted.attack(prepared, &split, &learn)?;
            let judged = attackers.judge(&log.observations, part, &rules);
            all.add(&judged.tallies, &judged.guesses);
        }
        Some(all)
    }

    fn empty(log: &Log, priors: usize) -> CrossFit {
        let secrets = log.secrets.len();
        CrossFit {
            tallies: vec![PairErrors::default(); leakgauge_attack::pairwise::pair_count(secrets)],
            guesses: vec![
                GuessErrors {
                    rows: vec![0; secrets],
                    errors: vec![0; secrets],
                };
                priors
            ],
        }
    }

    fn add(&mut self, tallies: &[PairErrors], guesses: &[GuessErrors]) {
        for (sum, tally) in self.tallies.iter_mut().zip(tallies) {
            sum.a_rows += tally.a_rows;
            sum.a_missed += tally.a_missed;
            sum.b_rows += tally.b_rows;
            sum.b_missed += tally.b_missed;
        }
        for (sum, tally) in self.guesses.iter_mut().zip(guesses) {
            let add = |sum: &mut [u64], part: &[u64]| {
                sum.iter_mut()
                    .zip(part)
                    .for_each(|(sum, part)| *sum += part)
            };
            add(&mut sum.rows, &tally.rows);
            add(&mut sum.errors, &tally.errors);
        }
    }
}

/// Nominal seconds that cross-fitting may take beyond what the attackers took that were compared.
const MORE_SECONDS: f64 = 2.0;
/// A part learns from four fifths of the rows, of which two thirds fit: a third more than the one split
/// has to fit, and as many more to choose with.
const MORE_A_PART: f64 = 1.5;

/// The kinds of attacks that a part may choose from, and how long that may take.
#[derive(Debug)]
pub(crate) struct Granted {
    /// Each kind with the nominal seconds that it takes on all rows of a part.
    kinds: Vec<(Kind, f64)>,
    /// Those of the attack of the log.
    of_log: Vec<Kind>,
    /// The share of these seconds that choosing may take.
    share: f64,
}

impl Granted {
    /// The kinds that took part in the choice for the log, whichever won there. `None` if that attack learned part
    /// by part would take longer than comparing attackers did and two seconds more, and for scores that the log
    /// brings, which nobody here learned.
    pub fn of(tuned: &Tuned) -> Option<Granted> {
        if tuned.scorer.origin() == Origin::Given {
            return None;
        }
        let mut kinds: Vec<(Kind, f64)> = Vec::new();
        for tried in tuned.tried.iter().filter(|tried| tried.quality.is_ok()) {
            match kinds.iter_mut().find(|(kind, _)| *kind == tried.kind) {
                Some((_, cost)) => *cost += tried.cost,
                None => kinds.push((tried.kind.clone(), tried.cost)),
            }
        }
        let spent: f64 = kinds.iter().map(|(_, cost)| cost).sum();
        let of_log = tuned.scorer.kinds();
        let chosen = kinds.iter().filter(|(kind, _)| of_log.contains(kind));
        let chosen: f64 = chosen.map(|(_, cost)| cost).sum();
        let allowed = spent + MORE_SECONDS;
        let parts = PARTS as f64;
        if parts * chosen > allowed {
            return None;
        }
        for (_, cost) in &mut kinds {
            *cost *= MORE_A_PART;
        }
        Some(Granted {
            of_log,
            share: (allowed / (2.0 * parts * MORE_A_PART * spent)).min(1.0),
            kinds,
        })
    }

    /// Whether the kinds of the attack of the log had time to take part. Without them the best of the others would judge:
    /// a threshold on one column, for a hundred secrets in a plane.
    fn were_compared(&self, first: &Tuned) -> bool {
        let in_time = |kind: &Kind| {
            let mut tried = first.tried.iter();
            tried.any(|tried| tried.kind == *kind && tried.quality.is_ok())
        };
        let asked = self.of_log.iter();
        let mut asked = asked.filter(|kind| self.kinds.iter().any(|(known, _)| known == *kind));
        asked.all(in_time)
    }

    /// The attackers and rules for a part, from the rows of the others. Where there is no time to compare all kinds
    /// on all rows, they are compared on fewer, and the best learns from all.
    fn attack(
        &self,
        prepared: &Prepared,
        split: &Split,
        learn: &Counts,
    ) -> Option<(Attackers, Vec<Rule>)> {
        let observations = &prepared.log.observations;
        let attacks = &prepared.options.attacks;
        let goals = Goals {
            priors: &prepared.priors,
            ..Goals::advantage(prepared.alpha)
        };
        let tune = |kinds: &[(Kind, f64)]| {
            tuning::tune_again(observations, split, attacks, kinds, goals).ok()
        };
        let tuned = if self.share < 1.0 {
            let fewer = self.kinds.iter();
            let fewer = fewer.map(|(kind, seconds)| (kind.clone(), self.share * seconds));
            let first = tune(&fewer.collect::<Vec<_>>())?;
            if !self.were_compared(&first) {
                return None;
            }
            let naming = first.naming.iter().filter_map(|naming| naming.scorer());
            let naming = naming.flat_map(|scorer| scorer.kinds());
            let wanted: Vec<Kind> = first.scorer.kinds().into_iter().chain(naming).collect();
            let chosen = self.kinds.iter().filter(|(kind, _)| wanted.contains(kind));
            tune(&chosen.cloned().collect::<Vec<_>>())?
        } else {
            tune(&self.kinds)?
        };
        let rules = tuned.choices.iter().map(|choice| choice.rule).collect();
        let attackers = tuned.attackers().learned_from(observations, learn).ok()?;
        Some((attackers, rules))
    }
}
