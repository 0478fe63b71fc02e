//! Points for which every row of the log serves once as a row that the attack never saw.
//!
//! The rows are dealt into parts. Each part is judged by an attack of the kind chosen for the log,
//! learned, tuned and given its thresholds and its worst pair on the other parts alone. So nothing but
//! the kind of attack was chosen with the rows that judge it, and that cannot matter for a limit: limits
//! come from the certification rows of the one split.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use leakgauge_attack::pairwise::{GuessErrors, PairChoice, PairErrors, judge};
use leakgauge_attack::scorer::{Kind, Origin};
use leakgauge_attack::split::{self, Split};
use leakgauge_attack::tuning::{self, Attacks, Tuned};
use leakgauge_log::Log;

/// Parts that the rows are dealt into.
const PARTS: usize = 5;
/// With more rows the certification rows alone give every figure of the whole log to a third decimal.
const MOST_ROWS: u64 = 200_000;
/// A stream of random numbers that no other use of the seed reaches.
const STREAM: u64 = 1 << 48;

/// What the parts say together.
#[derive(Debug)]
pub(super) struct CrossFit {
    /// One tally a pair, in the order of [`leakgauge_attack::pairwise::pairs`].
    tallies: Vec<PairErrors>,
    /// Advantage at the worst pair that each part's attack chose, weighted by rows.
    worst: Option<f64>,
    /// Its variance, by that of each part's error rates.
    worst_variance: f64,
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

    /// The variance of [`worst_advantage`](Self::worst_advantage) if the attacks had not been learned from
    /// each other's rows.
    pub fn worst_variance(&self) -> f64 {
        self.worst_variance
    }

    /// The same for the worst pair: the mean over parts of what the part says of the pair that the
    /// other parts chose. The pair chosen may differ from part to part; where it does, none of them
    /// stands out.
    pub fn worst_advantage(&self) -> Option<f64> {
        self.worst
    }

    /// Learns and judges part by part. `None` where that is not worth while (many rows, a log that is
    /// judged with an attack learned elsewhere) or not possible (rows too few to learn from).
    pub fn run(
        log: &Log,
        attacks: &Attacks,
        kinds: &[(Kind, f64)],
        alpha: f64,
        seed: u64,
        priors: &[Vec<f64>],
    ) -> Option<CrossFit> {
        if log.fit_counts.is_some() || log.counts.total() > MOST_ROWS {
            return None;
        }
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(STREAM);
        let parts = split::folds(&log.counts, PARTS, &mut rng);
        let mut all = CrossFit::empty(log, priors.len());
        let (mut worst, mut variance, mut weight) = (0.0, 0.0, 0.0);
        for (at, part) in parts.iter().enumerate() {
            let mut others = parts.iter().enumerate().filter(|(other, _)| *other != at);
            let first = others.next()?.1.clone();
            let learn = others.fold(first, |sum, (_, part)| sum.plus(part));
            let split = Split::across(&learn, part.clone(), &mut rng);
            let observations = &log.observations;
            let tuned = tuning::tune_again(observations, &split, attacks, kinds, alpha).ok()?;
            let scorer = tuned.scorer.refit(&log.observations, &learn).ok()?;
            let rules: Vec<_> = tuned.choices.iter().map(|choice| choice.rule).collect();
            let judged = judge(&*scorer, &log.observations, part, &rules, priors);
            let tally = judged.tallies[most_advantage(&tuned.choices)];
            if let Some(advantage) = tally.advantage() {
                let rows = part.total() as f64;
                worst += rows * advantage;
                variance += rows * rows * tally.variance(None);
                weight += rows;
            }
            all.add(&judged.tallies, &judged.guesses);
        }
        all.worst = (weight > 0.0).then(|| worst / weight);
        all.worst_variance = variance / (weight * weight);
        Some(all)
    }

    fn empty(log: &Log, priors: usize) -> CrossFit {
        let secrets = log.secrets.len();
        CrossFit {
            tallies: vec![PairErrors::default(); leakgauge_attack::pairwise::pair_count(secrets)],
            worst: None,
            worst_variance: 0.0,
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

/// The pair with the largest lower limit on the tuning rows, the first of equals.
fn most_advantage(choices: &[PairChoice]) -> usize {
    let best = choices.iter().enumerate().reduce(|best, next| {
        if next.1.lower > best.1.lower {
            next
        } else {
            best
        }
    });
    best.map_or(0, |(pair, _)| pair)
}

/// Nominal seconds that cross-fitting may take beyond what the attackers took that were compared.
const MORE_SECONDS: f64 = 2.0;
/// A part learns from four fifths of the rows, of which two thirds fit: a third more than the one split
/// has to fit, and as many more to choose with.
const MORE_A_PART: f64 = 1.5;

/// The kinds of attacks that the chosen one is made of, each with the nominal seconds that it may take a
/// part. `None` if all parts together would take longer than comparing attackers did and two seconds
/// more, and for scores that the log brings, which nobody here learned.
pub(super) fn kinds(tuned: &Tuned) -> Option<Vec<(Kind, f64)>> {
    if tuned.scorer.origin() == Origin::Given {
        return None;
    }
    let wanted = tuned.scorer.kinds();
    let fitted = || tuned.tried.iter().filter(|tried| tried.quality.is_ok());
    let cost = |kind: &Kind| -> f64 {
        let tried = fitted().filter(|tried| tried.kind == *kind);
        tried.map(|tried| tried.cost).sum()
    };
    let spent: f64 = fitted().map(|tried| tried.cost).sum();
    let kinds: Vec<(Kind, f64)> = wanted
        .iter()
        .map(|kind| (kind.clone(), cost(kind)))
        .collect();
    let again = PARTS as f64 * kinds.iter().map(|(_, cost)| cost).sum::<f64>();
    let granted = kinds
        .into_iter()
        .map(|(kind, cost)| (kind, MORE_A_PART * cost));
    (again <= spent + MORE_SECONDS).then(|| granted.collect())
}
