//! What certify rows are worth that are not independent: by the autocorrelation of the errors that
//! rules and guesses make on them, in the order in which they were recorded.

use leakgauge_base::parallel;

use crate::pairwise::Rule;
use crate::pairwise::judge::guess;
use crate::scorer::{Scorer, score_table};
use crate::scores::ScoreTable;
use leakgauge_log::observations::Observations;
use leakgauge_stats::effective_rows::effective_rows as worth_of;

/// With fewer errors, or fewer rows that are none, their autocorrelation cannot be told and that of the
/// scores they come from counts too.
const RARE: usize = 20;
/// Secrets are logged in runs if their runs are this many times longer than in random order.
const LONGER: f64 = 2.0;

/// Numbers of independent rows that certify rows are worth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectiveRows {
    /// For each rule, of its secret a and of its secret b.
    pub rules: Vec<[u64; 2]>,
    /// For each prior, of every secret.
    pub guesses: Vec<Vec<u64>>,
    /// The secrets of each rule.
    pairs: Vec<[u32; 2]>,
}

impl EffectiveRows {
    /// The least over all rules, for every secret.
    pub fn least(&self, secrets: usize) -> Vec<u64> {
        let mut least = vec![u64::MAX; secrets];
        for (pair, worth) in self.pairs.iter().zip(&self.rules) {
            for (&secret, &worth) in pair.iter().zip(worth) {
                let least = &mut least[secret as usize];
                *least = worth.min(*least);
            }
        }
        least
    }
}

/// What rows are worth, given in the order in which they were recorded, for each rule and for the
/// guesses at each prior.
///
/// # Formula
/// Of each secret's rows: [`worth_of`] the indicator of an error. Where errors or their absence are
/// rare, the indicator says little, and the worth of the margin of the decision (between −1 and 1)
/// counts if it is less. Where secrets stand in runs, longer than twice what random order makes, a run
/// counts as one row at most: whatever changed from run to run is in all its rows.
///
/// # Conditions
/// As of [`worth_of`]: approximate.
pub fn effective_rows(
    scorer: &dyn Scorer,
    observations: &Observations,
    rows: &[(u32, u32)],
    rules: &[Rule],
    priors: &[Vec<f64>],
) -> EffectiveRows {
    let secrets = priors.first().map_or(0, Vec::len);
    let mut found = EffectiveRows {
        rules: vec![[0; 2]; rules.len()],
        guesses: vec![vec![0; secrets]; priors.len()],
        pairs: rules.iter().map(|rule| [rule.a, rule.b]).collect(),
    };
    let most = most_worth(rows, secrets);
    for secret in 0..secrets as u32 {
        let series = Series::new(scorer, observations, rows, secret, secrets);
        let most = most[secret as usize];
        parallel::for_each_row(&mut found.rules, 1, &|at, worth| {
            let rule = &rules[at];
            let sign = if rule.a == secret { 1.0 } else { -1.0 };
            if rule.a == secret || rule.b == secret {
                // The margin is positive where the rule is right; a rule says b at its threshold.
                let margin = |scores: &[f64]| {
                    sign * (scores[rule.a as usize] - scores[rule.b as usize] - rule.threshold)
                };
                let at_threshold_is_error = rule.a == secret;
                worth[0][usize::from(rule.b == secret)] =
                    series.worth(margin, at_threshold_is_error).min(most);
            }
        });
        for (worth, prior) in found.guesses.iter_mut().zip(priors) {
            let ln_prior: Vec<f64> = prior.iter().map(|p| p.ln()).collect();
            let margin = |scores: &[f64]| guess_margin(scores, &ln_prior, secret as usize);
            worth[secret as usize] = series.worth(margin, true).min(most);
        }
    }
    found
}

/// How much better a secret does than the best other; −1 or 1 only counts by its sign where a prior
/// is 0.
fn guess_margin(scores: &[f64], ln_prior: &[f64], secret: usize) -> f64 {
    let right = guess(scores, ln_prior) == secret;
    let others = (0..scores.len()).filter(|&other| other != secret);
    let best = others
        .map(|other| scores[other] + ln_prior[other])
        .fold(f64::NEG_INFINITY, f64::max);
    let margin = scores[secret] + ln_prior[secret] - best;
    // Ties go to the first secret: the sign is that of the guess.
    let size = if margin.is_finite() {
        margin.abs()
    } else {
        0.0
    };
    if right {
        size.max(f64::MIN_POSITIVE)
    } else {
        -size
    }
}

/// At most this many rows of each secret count: its runs, if secrets stand in runs, else all.
fn most_worth(rows: &[(u32, u32)], secrets: usize) -> Vec<u64> {
    let mut of_secret = vec![0u64; secrets];
    let mut runs = vec![0u64; secrets];
    for run in rows.chunk_by(|one, next| one.0 == next.0) {
        of_secret[run[0].0 as usize] += run.len() as u64;
        runs[run[0].0 as usize] += 1;
    }
    let all = rows.len() as f64;
    of_secret
        .into_iter()
        .zip(runs)
        .map(|(rows, runs)| {
            // In random order a run of a secret of share π has 1/(1 − π) rows on average.
            let by_chance = all / (all - rows as f64);
            let longer = rows as f64 > LONGER * by_chance * runs as f64;
            if longer { runs } else { rows }
        })
        .collect()
}

/// The scores of one secret's rows, in order.
struct Series {
    scores: ScoreTable,
    /// The row of the table of each row of the log.
    at: Vec<usize>,
}

impl Series {
    fn new(
        scorer: &dyn Scorer,
        observations: &Observations,
        rows: &[(u32, u32)],
        secret: u32,
        secrets: usize,
    ) -> Self {
        let of_secret: Vec<u32> = rows
            .iter()
            .filter(|row| row.0 == secret)
            .map(|row| row.1)
            .collect();
        let mut ids = of_secret.clone();
        ids.sort_unstable();
        ids.dedup();
        let at = of_secret
            .iter()
            .map(|symbol| ids.binary_search(symbol).expect("one of these"))
            .collect();
        Series {
            scores: score_table(scorer, observations, ids, secrets),
            at,
        }
    }

    /// What the rows are worth for a decision that is right where its margin is positive.
    fn worth(&self, margin: impl Fn(&[f64]) -> f64, zero_is_error: bool) -> u64 {
        let margins: Vec<f64> = self
            .at
            .iter()
            .map(|&row| margin(self.scores.row(row)))
            .collect();
        let is_error = |margin: f64| margin < 0.0 || (zero_is_error && margin == 0.0);
        let errors: Vec<f64> = margins
            .iter()
            .map(|&margin| f64::from(u8::from(is_error(margin))))
            .collect();
        let wrong = errors.iter().filter(|&&error| error > 0.0).count();
        let mut worth = worth_of(&errors);
        if wrong.min(errors.len() - wrong) < RARE && errors.len() > 1 {
            worth = worth.min(worth_of(&squashed(margins)));
        }
        worth.floor() as u64
    }
}

/// Margins between −1 and 1, so that no single one decides.
fn squashed(mut margins: Vec<f64>) -> Vec<f64> {
    let mean = margins.iter().map(|margin| margin.abs()).sum::<f64>() / margins.len() as f64;
    if mean > 0.0 && mean.is_finite() {
        margins
            .iter_mut()
            .for_each(|margin| *margin = (*margin / mean).tanh());
    }
    margins
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_count_as_one_row_and_random_order_as_it_is() {
        let blocked: Vec<(u32, u32)> = (0..1000).map(|row| (row / 100 % 2, 0)).collect();
        assert_eq!(most_worth(&blocked, 2), [5, 5]);
        let turns: Vec<(u32, u32)> = (0..1000).map(|row| (row % 2, 0)).collect();
        assert_eq!(most_worth(&turns, 2), [500, 500]);
    }

    #[test]
    fn margins_that_overflow_are_left_alone() {
        assert_eq!(squashed(vec![0.0, 0.0]), [0.0, 0.0]);
        assert!(squashed(vec![1.0, -1.0])[0] > 0.7);
    }
}
