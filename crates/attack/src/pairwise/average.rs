//! One rule for all pairs of secrets at once, limited on the average over pairs.
//!
//! Where secrets are many and rows of each few, no two secrets alone prove much. But one rule may be tried on every row
//! with its own secret against each other one, and errors averaged over all pairs have all rows of the log behind them.
//!
//! # Formula
//! For secrets v ≠ w, the rule says v where score_v − score_w > c. Over all k (k − 1) ordered pairs
//! p = mean P(says v | v), q = mean P(says v | w). If every pair satisfies a trade-off bound (for instance
//! p_vw ≤ e^ε q_vw + δ), so do their means, because that region is convex: some pair is at least as far apart as (p, q)
//! say.
//!
//! A row of v adds to p the share of other secrets against which it is taken for v, and to q the share of those for
//! which it is taken against v: numbers in \[0, 1\], independent from row to row. Their means over the rows of a secret,
//! averaged over secrets, are limited by bets ([`leakgauge_stats::betting`]), every row a unit.
//!
//! # Conditions
//! Independent rows; the rule and what is expected of it are settled on other rows.
//!
//! # References
//! Boyd and Vandenberghe 2004, 2.3.2, for means of points of a convex set; Waudby-Smith and Ramdas 2024,
//! doi:10.1093/jrsssb/qkad009, for bets on means of bounded numbers.

use crate::pairwise::ErrorRates;
use crate::pairwise::judge::{block_size, blocks};
use crate::scorer::{Scorer, score_table};
use crate::scores::ScoreTable;
use leakgauge_base::quantity::PrivacyParameter;
use leakgauge_log::observations::{Counts, Observations};
use leakgauge_stats::betting::{Spread, UnitErrors, UnitRates};

/// Fewer secrets have few pairs, each with many rows.
pub const FEWEST_SECRETS: usize = 3;
/// More rows certify each pair well enough.
pub const MOST_ROWS: u64 = 2_000_000;
/// Thresholds that are compared: quantiles of the differences of the rows' own secrets.
const QUANTILES: [f64; 20] = [
    0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.925, 0.95, 0.975,
    0.99, 0.995, 0.999,
];
/// Secrets and rows that are compared at most, to choose.
const MOST_COMPARED: usize = 4_000_000;
/// Differences that quantiles are taken of, at most.
const MOST_DIFFERENCES: usize = 200_000;

/// What a threshold is chosen for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Aim {
    /// The total variation.
    TotalVariation,
    /// A parameter of privacy.
    Privacy(PrivacyParameter),
}

impl Aim {
    /// What error rates, or upper limits of them, say of it.
    pub fn at_least(self, rates: ErrorRates) -> f64 {
        match self {
            Aim::TotalVariation => rates.advantage(),
            Aim::Privacy(parameter) => rates.at_least(parameter),
        }
    }
}

/// How a rule for all pairs did on rows.
#[derive(Debug, Clone, PartialEq)]
pub struct AverageErrors {
    secrets: usize,
    /// By secret and by against how many others, and for how many of them against it, its rows were taken.
    rows: Vec<Row>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Row {
    secret: usize,
    /// Other secrets against which it was taken for its own.
    right: u32,
    /// Other secrets for which it was taken.
    wrong: u32,
    count: u64,
}

/// What is expected of a secret's rows: of the shares that p, and of those that q are the means of.
pub type Expected = [Vec<Spread>; 2];

impl AverageErrors {
    /// No rows of so many secrets yet.
    pub fn new(secrets: usize) -> Self {
        AverageErrors {
            secrets,
            rows: Vec::new(),
        }
    }

    /// Applies a rule to rows that nothing was learned or chosen on, in blocks.
    pub fn judge(
        scorer: &dyn Scorer,
        observations: &Observations,
        rows: &Counts,
        threshold: f64,
    ) -> Self {
        let secrets = rows.secrets();
        let mut errors = AverageErrors::new(secrets);
        for cells in blocks(rows.cells(), block_size(secrets)) {
            let part = Counts::new(secrets, cells.to_vec());
            let scores = score_table(scorer, observations, part.symbols(), secrets);
            errors.add(&scores, &part, threshold);
        }
        errors
    }

    /// Adds rows by the scores of their observations, which are those of the table.
    pub fn add(&mut self, scores: &ScoreTable, rows: &Counts, threshold: f64) {
        for (at, cells) in rows.by_symbol().enumerate() {
            let scores = scores.row(at);
            for cell in cells {
                let own = scores[cell.secret as usize];
                let beyond = |of: &dyn Fn(f64) -> f64| {
                    // The difference from itself is 0, if it is a number, which a threshold below 0 would count.
                    let itself = u32::from(of(own) > threshold);
                    scores
                        .iter()
                        .filter(|other| of(**other) > threshold)
                        .count() as u32
                        - itself
                };
                self.rows.push(Row {
                    secret: cell.secret as usize,
                    right: beyond(&|other| own - other),
                    wrong: beyond(&|other| other - own),
                    count: cell.count,
                });
            }
        }
    }

    /// What rows to come are expected to do, by these.
    pub fn expected(&self) -> Expected {
        [true, false].map(|right| {
            let units = self.units(right);
            let mut by_secret = vec![Vec::new(); self.secrets];
            for unit in units {
                by_secret[unit.secret].push(unit);
            }
            let of_secret = |(secret, units): (usize, &Vec<UnitErrors>)| Spread::of(units, secret);
            by_secret.iter().enumerate().map(of_secret).collect()
        })
    }

    /// The mean rates; `None` if a secret has no rows.
    pub fn rates(&self) -> Option<ErrorRates> {
        let mut rows = vec![0u64; self.secrets];
        let mut sums = vec![[0.0; 2]; self.secrets];
        for row in &self.rows {
            rows[row.secret] += row.count;
            sums[row.secret][0] += row.count as f64 * f64::from(row.right);
            sums[row.secret][1] += row.count as f64 * f64::from(row.wrong);
        }
        let others = (self.secrets - 1) as f64;
        let mean = |at: usize| {
            let of_secret = sums.iter().zip(&rows);
            let shares = of_secret.map(|(sums, &rows)| sums[at] / (others * rows as f64));
            shares.sum::<f64>() / self.secrets as f64
        };
        (!rows.contains(&0)).then(|| ErrorRates {
            missed: 1.0 - mean(0),
            false_alarm: mean(1),
        })
    }

    /// Bets on the means; `None` if a secret has no rows.
    pub fn bets(&self, expected: &Expected) -> Option<AverageLimits> {
        let weights = vec![1.0 / self.secrets as f64; self.secrets];
        let [right, wrong] = [true, false].map(|right| self.units(right));
        Some(AverageLimits {
            right: UnitRates::new(&right, &weights, &expected[0])?.grouped(),
            wrong: UnitRates::new(&wrong, &weights, &expected[1])?.grouped(),
            rates: self.rates()?,
        })
    }

    /// Every row as a unit.
    fn units(&self, right: bool) -> Vec<UnitErrors> {
        let others = self.secrets as u64 - 1;
        let mut units = Vec::with_capacity(self.rows.iter().map(|row| row.count as usize).sum());
        for row in &self.rows {
            let errors = u64::from(if right { row.right } else { row.wrong });
            for _ in 0..row.count {
                units.push(UnitErrors {
                    unit: units.len(),
                    secret: row.secret,
                    rows: others,
                    errors,
                });
            }
        }
        units
    }
}

/// Limits of the mean error rates of all pairs.
#[derive(Debug, Clone, PartialEq)]
pub struct AverageLimits {
    right: UnitRates,
    wrong: UnitRates,
    rates: ErrorRates,
}

impl AverageLimits {
    /// The mean rates as observed.
    pub fn rates(&self) -> ErrorRates {
        self.rates
    }

    /// Upper limits of both mean rates, which hold together at level 1 − `alpha`.
    pub fn errors_at_most(&self, alpha: f64) -> ErrorRates {
        ErrorRates {
            missed: 1.0 - self.right.at_least(0.5 * alpha),
            false_alarm: self.wrong.at_most(0.5 * alpha),
        }
    }
}

/// A rule for all pairs, and what past rows promise of it.
#[derive(Debug, Clone, PartialEq)]
pub struct AverageRule {
    /// Where the difference of two secrets' scores is cut.
    pub threshold: f64,
    /// What the rows that chose it expect.
    pub expected: Expected,
    /// The limit that so many rows promise that judge.
    pub promised: f64,
}

/// The rule that promises most of what is aimed at, on rows whose scores are at hand, if so many rows judge; `None` if a
/// secret has no rows, or no difference is finite.
///
/// # Formula
/// Thresholds are compared by p − r_p and q + r_q with r = √(2 L s²/n) + L/(3 n), s² the variance of the shares of rows, n
/// the number of rows that will judge, and L = ln(2 m/α) for m thresholds: about what bets come to, and somewhat less for the
/// choice among thresholds.
pub fn choose(
    scores: &ScoreTable,
    tune: &Counts,
    judging: u64,
    alpha: f64,
    aim: Aim,
) -> Option<AverageRule> {
    let thresholds = thresholds(scores, tune);
    let level = (2.0 * thresholds.len() as f64 / alpha).ln();
    let rows = judging as f64;
    let moments = moments(scores, tune, &thresholds);
    let promises = moments.iter().map(|[right, wrong]| {
        let radius =
            |one: &Moments| (2.0 * level * one.variance() / rows).sqrt() + level / (3.0 * rows);
        aim.at_least(ErrorRates {
            missed: 1.0 - (right.mean() - radius(right)).max(0.0),
            false_alarm: (wrong.mean() + radius(wrong)).min(1.0),
        })
    });
    let best = thresholds.iter().zip(promises);
    let (&threshold, promised) =
        best.reduce(|best, next| if next.1 > best.1 { next } else { best })?;
    let mut errors = AverageErrors::new(tune.secrets());
    errors.add(scores, tune, threshold);
    errors.rates()?;
    Some(AverageRule {
        threshold,
        expected: errors.expected(),
        promised,
    })
}

/// Sums of shares and of their squares.
#[derive(Debug, Clone, Copy, Default)]
struct Moments {
    rows: f64,
    sum: f64,
    squares: f64,
}

impl Moments {
    fn add(&mut self, share: f64, rows: f64) {
        self.rows += rows;
        self.sum += rows * share;
        self.squares += rows * share * share;
    }

    fn mean(&self) -> f64 {
        self.sum / self.rows
    }

    fn variance(&self) -> f64 {
        (self.squares / self.rows - self.mean().powi(2)).max(0.0)
    }
}

/// For each threshold, ascending, the shares of other secrets against which rows are taken for their own, and for which
/// they are taken; of evenly thinned observations.
fn moments(scores: &ScoreTable, tune: &Counts, thresholds: &[f64]) -> Vec<[Moments; 2]> {
    let others = (tune.secrets() - 1) as f64;
    let step = (tune.cells().len() * tune.secrets())
        .div_ceil(MOST_COMPARED)
        .max(1);
    let mut moments = vec![[Moments::default(); 2]; thresholds.len()];
    for (at, cells) in tune.by_symbol().enumerate().step_by(step) {
        let scores = scores.row(at);
        for cell in cells {
            // How many differences exceed so many thresholds.
            let mut exceed = vec![[0u32; 2]; thresholds.len() + 1];
            let own = cell.secret as usize;
            for (_, score) in scores.iter().enumerate().filter(|other| other.0 != own) {
                for (side, difference) in [scores[own] - score, score - scores[own]]
                    .into_iter()
                    .enumerate()
                {
                    exceed[thresholds.partition_point(|&cut| cut < difference)][side] += 1;
                }
            }
            let mut beyond = [0u32; 2];
            for (moments, exceed) in moments.iter_mut().zip(&exceed[1..]).rev() {
                for side in 0..2 {
                    beyond[side] += exceed[side];
                    moments[side].add(f64::from(beyond[side]) / others, cell.count as f64);
                }
            }
        }
    }
    moments
}

/// Quantiles of how far the score of a row's own secret is above others, each once.
fn thresholds(scores: &ScoreTable, tune: &Counts) -> Vec<f64> {
    let step = (tune.cells().len() * tune.secrets()).div_ceil(MOST_DIFFERENCES);
    let mut differences = Vec::new();
    for (row, cells) in tune.by_symbol().enumerate().step_by(step.max(1)) {
        let scores = scores.row(row);
        for cell in cells {
            let own = cell.secret as usize;
            let others = scores.iter().enumerate().filter(|other| other.0 != own);
            let of_cell = others.map(|(_, score)| scores[own] - score);
            differences.extend(of_cell.filter(|difference| difference.is_finite()));
        }
    }
    differences.sort_by(f64::total_cmp);
    let Some(last) = differences.len().checked_sub(1) else {
        return Vec::new();
    };
    let mut found: Vec<f64> = QUANTILES
        .iter()
        .map(|q| differences[(q * last as f64) as usize])
        // Equal differences are on the far side of the threshold.
        .map(f64::next_down)
        .collect();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_log::observations::Cell;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    const SECRETS: usize = 12;

    /// Reports of generalized randomized response: the own label with probability e^ε/(e^ε + k − 1).
    fn reports(epsilon: f64, each: u64, seed: u64) -> Counts {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let others = SECRETS as f64 - 1.0;
        let own = epsilon.exp() / (epsilon.exp() + others);
        let mut cells = Vec::new();
        for secret in 0..SECRETS as u32 {
            for _ in 0..each {
                let symbol = match rng.random::<f64>() < own {
                    true => secret,
                    false => (secret + rng.random_range(1..SECRETS as u32)) % SECRETS as u32,
                };
                cells.push(Cell {
                    secret,
                    symbol,
                    count: 1,
                });
            }
        }
        Counts::new(SECRETS, cells)
    }

    /// Scores of observations that are the secrets themselves.
    fn table() -> ScoreTable {
        let values =
            (0..SECRETS).flat_map(|x| (0..SECRETS).map(move |v| f64::from(u8::from(x == v))));
        ScoreTable::new((0..SECRETS as u32).collect(), SECRETS, values.collect())
    }

    #[test]
    fn mean_rates_are_those_of_counting_every_pair() {
        let rows = reports(1.0, 20, 3);
        let mut errors = AverageErrors::new(SECRETS);
        errors.add(&table(), &rows, 0.5);
        let rate = |of: u32, says: u32, against: u32| {
            let said = |cell: &&Cell| cell.secret == of && cell.symbol == says && against != says;
            rows.cells()
                .iter()
                .filter(said)
                .map(|cell| cell.count)
                .sum::<u64>() as f64
                / 20.0
        };
        let (mut right, mut wrong, mut pairs) = (0.0, 0.0, 0.0);
        for v in 0..SECRETS as u32 {
            for w in (0..SECRETS as u32).filter(|w| *w != v) {
                right += rate(v, v, w);
                wrong += rate(w, v, w);
                pairs += 1.0;
            }
        }
        let rates = errors.rates().expect("rows");
        assert!((1.0 - rates.missed - right / pairs).abs() < 1e-12);
        assert!((rates.false_alarm - wrong / pairs).abs() < 1e-12);
    }

    /// Few rows of each secret: what no pair shows, all show together. The limit is seldom above the truth.
    #[test]
    fn epsilon_of_many_secrets_is_limited_closely_and_from_below() {
        let (truth, alpha) = (1.5, 0.05);
        let (mut above, mut sum) = (0, 0.0);
        const LOGS: u64 = 200;
        for seed in 0..LOGS {
            let (tune, certify) = (
                reports(truth, 30, 2 * seed),
                reports(truth, 60, 2 * seed + 1),
            );
            let aim = Aim::Privacy(PrivacyParameter::Epsilon { delta: 0.0 });
            let rule = choose(&table(), &tune, certify.total(), alpha, aim).expect("a rule");
            let mut errors = AverageErrors::new(SECRETS);
            errors.add(&table(), &certify, rule.threshold);
            let limits = errors.bets(&rule.expected).expect("rows of all");
            let epsilon = limits.errors_at_most(alpha).epsilon_at_least(0.0);
            above += u32::from(epsilon > truth);
            sum += epsilon;
        }
        let mean = sum / LOGS as f64;
        assert!(above <= 18, "above the truth in {above} of {LOGS} logs");
        assert!(mean > 1.2, "{mean}");
    }

    #[test]
    fn a_secret_without_rows_has_no_mean() {
        let rows = Counts::new(
            3,
            vec![Cell {
                secret: 0,
                symbol: 0,
                count: 5,
            }],
        );
        let scores = ScoreTable::new(vec![0], 3, vec![1.0, 0.0, 0.0]);
        let mut errors = AverageErrors::new(3);
        errors.add(&scores, &rows, 0.0);
        assert_eq!(errors.rates(), None);
        assert!(errors.bets(&errors.expected()).is_none());
    }
}
