//! Judging where units (users, devices, sessions) are independent and their rows are not: how often a rule
//! erred on each unit, and limits that count units.
//!
//! Error rates are means over units, every unit counting once; see [`leakgauge_stats::betting`] for what
//! that estimates and why the limits hold. There are two ways to limit them: betting on the units' error
//! rates, and one random row of every unit. Which is narrower depends on how much units differ. It is
//! settled on the tuning units and on the numbers of units that judge, before an error of these is seen.

use std::sync::Arc;

use leakgauge_base::parallel;
use rand_chacha::ChaCha8Rng;

use crate::pairwise::judge::guess;
use crate::pairwise::{ErrorRates, Rule};
use crate::scorer::{Scorer, score_table};
use crate::scores::ScoreTable;
use leakgauge_log::UnitRows;
use leakgauge_log::observations::Observations;
use leakgauge_stats::betting::{Spread, UnitErrors, UnitRates, one_row_a_unit};
use leakgauge_stats::hypergeometric;
use leakgauge_stats::long_run::LongRun;
use leakgauge_stats::poisson_binomial::{poisson_binomial_lower, poisson_binomial_upper};
use leakgauge_stats::special::normal_quantile;

/// How error rates of units are limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnitMethod {
    /// Bets on the units' error rates.
    Betting,
    /// One random row of every unit, Clopper–Pearson on their errors.
    OneRow,
    /// Bets on the units' error rates, block by block, each judged by an attack that learned from earlier ones.
    Blocks,
}

/// The units that have rows of each secret, and how many.
type UnitsOfSecrets = Vec<Vec<(u32, u64)>>;

/// How often rules and guesses erred on the rows of each unit.
#[derive(Debug, Clone)]
pub struct UnitJudgement {
    /// One tally a rule.
    pub rules: Vec<UnitTally>,
    /// For each prior, the units' errors at every secret.
    pub guesses: Vec<Vec<UnitErrors>>,
}

/// How often a rule erred on the rows of each unit.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitTally {
    units: Arc<UnitsOfSecrets>,
    secrets: [u32; 2],
    /// Errors of each unit that has the first secret, and the second.
    errors: [Vec<u64>; 2],
}

impl UnitTally {
    /// The units' errors, the rule's secrets numbered 0 and 1.
    pub fn errors(&self) -> Vec<UnitErrors> {
        let of_side = |side: usize| {
            let units = &self.units[self.secrets[side] as usize];
            let errors = units.iter().zip(&self.errors[side]);
            errors.map(move |(&(unit, rows), &errors)| UnitErrors {
                unit: unit as usize,
                secret: side,
                rows,
                errors,
            })
        };
        of_side(0).chain(of_side(1)).collect()
    }

    /// Of a rule that names one secret whatever it sees: it never misses that, and always takes the other for it.
    pub fn of_no_attack(rows: &UnitRows, secrets: usize, [a, b]: [u32; 2]) -> Self {
        let judging = Judging::new(rows, secrets, &[], &[]);
        let errors = [
            vec![0; judging.units[a as usize].len()],
            judging.units[b as usize]
                .iter()
                .map(|(_, rows)| *rows)
                .collect(),
        ];
        UnitTally {
            units: judging.units,
            secrets: [a, b],
            errors,
        }
    }

    /// How much the errors of units vary in the long run, together and of either secret.
    ///
    /// # Conditions
    /// Units are numbered in the order in which they were recorded.
    pub fn long_run(&self) -> LongRun {
        let of_side = |side: usize| -> Vec<(u32, f64)> {
            let units = self.units[self.secrets[side] as usize].iter();
            let errors = units.zip(&self.errors[side]);
            let rate =
                |(&(unit, rows), &errors): (&(u32, u64), &u64)| (unit, errors as f64 / rows as f64);
            errors.map(rate).collect()
        };
        let sides = [of_side(0), of_side(1)];
        let mut both = sides[1].iter().peekable();
        let mut sums = Vec::new();
        for &(unit, rate) in &sides[0] {
            while both.next_if(|other| other.0 < unit).is_some() {}
            sums.extend(
                both.next_if(|other| other.0 == unit)
                    .map(|other| rate + other.1),
            );
        }
        let of = |rates: &[(u32, f64)]| LongRun::of(rates.iter().map(|rate| rate.1));
        LongRun::of(sums).or(of(&sides[0])).or(of(&sides[1]))
    }

    /// How many units have rows of either secret.
    pub fn units(&self) -> [u64; 2] {
        self.secrets
            .map(|secret| self.units[secret as usize].len() as u64)
    }

    /// The mean error rates over units; `None` if a secret has none.
    pub fn rates(&self) -> Option<ErrorRates> {
        let mean = |side: usize| {
            let units = &self.units[self.secrets[side] as usize];
            let rates = units.iter().zip(&self.errors[side]);
            let sum: f64 = rates
                .map(|(&(_, rows), &errors)| errors as f64 / rows as f64)
                .sum();
            (!units.is_empty()).then(|| sum / units.len() as f64)
        };
        Some(ErrorRates {
            missed: mean(0)?,
            false_alarm: mean(1)?,
        })
    }

    /// About the lower limit of the advantage, by the normal law: for choosing among rules and pairs.
    /// `None` if a secret has no units.
    pub fn advantage_about(&self, alpha: f64) -> Option<f64> {
        let (errors, rates) = (self.errors(), self.rates()?);
        let spreads = [0, 1].map(|secret| Spread::of(&errors, secret));
        let variance: f64 = [0, 1]
            .map(|side| spreads[side].deviation.powi(2) / self.units()[side] as f64)
            .iter()
            .sum();
        Some(rates.advantage() + normal_quantile(alpha) * variance.sqrt())
    }
}

/// Applies rules, and for each prior the guess argmax(score + ln prior), to the rows of units that nothing
/// was learned or chosen on.
pub fn judge_units(
    scorer: &dyn Scorer,
    observations: &Observations,
    rows: &UnitRows,
    secrets: usize,
    rules: &[Rule],
    priors: &[Vec<f64>],
) -> UnitJudgement {
    const BLOCK: usize = 1 << 16;
    let mut judging = Judging::new(rows, secrets, rules, priors);
    let entries = std::mem::take(&mut judging.entries);
    let mut rest = &entries[..];
    while !rest.is_empty() {
        let symbols = rest.chunk_by(|one, next| one.symbol == next.symbol);
        let (symbols, lengths): (Vec<u32>, Vec<usize>) = symbols
            .take(BLOCK)
            .map(|entries| (entries[0].symbol, entries.len()))
            .unzip();
        let (block, later) = rest.split_at(lengths.iter().sum());
        let scores = score_table(scorer, observations, symbols, secrets);
        judging.add(&scores, block, rules);
        rest = later;
    }
    judging.finish(rules)
}

/// The same of rows whose scores are at hand: those of all their observations and of no other.
pub fn tally_units(
    scores: &ScoreTable,
    rows: &UnitRows,
    rules: &[Rule],
    priors: &[Vec<f64>],
) -> UnitJudgement {
    let mut judging = Judging::new(rows, scores.secrets(), rules, priors);
    let entries = std::mem::take(&mut judging.entries);
    judging.add(scores, &entries, rules);
    judging.finish(rules)
}

/// A cell, by its place among the units of its secret.
#[derive(Debug, Clone, Copy)]
struct Entry {
    symbol: u32,
    secret: u32,
    at: u32,
    count: u64,
}

/// What has been judged so far.
struct Judging {
    units: Arc<UnitsOfSecrets>,
    /// By observation.
    entries: Vec<Entry>,
    ln_priors: Vec<Vec<f64>>,
    rules: Vec<[Vec<u64>; 2]>,
    /// By prior, secret and place.
    guesses: Vec<Vec<Vec<u64>>>,
}

impl Judging {
    fn new(rows: &UnitRows, secrets: usize, rules: &[Rule], priors: &[Vec<f64>]) -> Self {
        let mut units: UnitsOfSecrets = vec![Vec::new(); secrets];
        let mut entries = Vec::with_capacity(rows.cells().len());
        for (number, unit) in rows.units().enumerate() {
            for cell in unit {
                let known = &mut units[cell.secret as usize];
                match known.last_mut() {
                    Some((last, rows)) if *last == number as u32 => *rows += cell.count,
                    _ => known.push((number as u32, cell.count)),
                }
                entries.push(Entry {
                    symbol: cell.symbol,
                    secret: cell.secret,
                    at: known.len() as u32 - 1,
                    count: cell.count,
                });
            }
        }
        entries.sort_unstable_by_key(|entry| (entry.symbol, entry.secret, entry.at));
        let zeros = |secret: u32| vec![0; units[secret as usize].len()];
        let of_secrets = || (0..secrets as u32).map(zeros).collect();
        Judging {
            rules: rules
                .iter()
                .map(|rule| [rule.a, rule.b].map(zeros))
                .collect(),
            guesses: priors.iter().map(|_| of_secrets()).collect(),
            ln_priors: priors
                .iter()
                .map(|prior| prior.iter().map(|p| p.ln()).collect())
                .collect(),
            units: Arc::new(units),
            entries,
        }
    }

    /// Adds entries whose observations are those of the table.
    fn add(&mut self, scores: &ScoreTable, entries: &[Entry], rules: &[Rule]) {
        let mut by_secret: Vec<Vec<(usize, Entry)>> = vec![Vec::new(); self.units.len()];
        let by_symbol = entries.chunk_by(|one, next| one.symbol == next.symbol);
        for (row, of_symbol) in by_symbol.enumerate() {
            debug_assert_eq!(scores.observations()[row], of_symbol[0].symbol);
            for &entry in of_symbol {
                by_secret[entry.secret as usize].push((row, entry));
            }
        }
        parallel::for_each_row(&mut self.rules, 1, &|at, counts| {
            let ([missed, false_alarms], rule) = (&mut counts[0], &rules[at]);
            let says_a = |row: usize| {
                let scores = scores.row(row);
                scores[rule.a as usize] - scores[rule.b as usize] > rule.threshold
            };
            for &(row, entry) in &by_secret[rule.a as usize] {
                missed[entry.at as usize] += if says_a(row) { 0 } else { entry.count };
            }
            for &(row, entry) in &by_secret[rule.b as usize] {
                false_alarms[entry.at as usize] += if says_a(row) { entry.count } else { 0 };
            }
        });
        for (errors, ln_prior) in self.guesses.iter_mut().zip(&self.ln_priors) {
            for (row, entry) in by_secret.iter().flatten() {
                if guess(scores.row(*row), ln_prior) != entry.secret as usize {
                    errors[entry.secret as usize][entry.at as usize] += entry.count;
                }
            }
        }
    }

    fn finish(self, rules: &[Rule]) -> UnitJudgement {
        let Judging { units, guesses, .. } = self;
        let tallies = self.rules.into_iter().zip(rules);
        let of_prior = |errors: Vec<Vec<u64>>| {
            let of_secret = errors.iter().zip(units.iter()).enumerate();
            of_secret
                .flat_map(|(secret, (errors, units))| {
                    let units = units.iter().zip(errors);
                    units.map(move |(&(unit, rows), &errors)| UnitErrors {
                        unit: unit as usize,
                        secret,
                        rows,
                        errors,
                    })
                })
                .collect()
        };
        UnitJudgement {
            rules: tallies
                .map(|(errors, rule)| UnitTally {
                    units: units.clone(),
                    secrets: [rule.a, rule.b],
                    errors,
                })
                .collect(),
            guesses: guesses.into_iter().map(of_prior).collect(),
        }
    }
}

/// What the tuning units say of a rule: how its limits will be taken, and what helps to make them narrow.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitGuide {
    spreads: [Spread; 2],
    /// The pair's sum of error rates on the tuning units.
    past: Option<UnitRates>,
}

impl UnitGuide {
    /// From units that do not judge.
    pub fn new(tune: &UnitTally) -> Self {
        let errors = tune.errors();
        let spreads = [0, 1].map(|secret| Spread::of(&errors, secret));
        UnitGuide {
            past: UnitRates::new(&errors, &[1.0, 1.0], &spreads),
            spreads,
        }
    }

    /// When nothing is known.
    pub fn unknown() -> Self {
        UnitGuide {
            spreads: [Spread::UNKNOWN; 2],
            past: None,
        }
    }

    /// The sum of both error rates, with the variance to expect.
    fn sum(&self, errors: &[UnitErrors]) -> Option<UnitRates> {
        let rates = UnitRates::new(errors, &[1.0, 1.0], &self.spreads)?;
        Some(match &self.past {
            Some(past) => rates.expecting(past),
            None => rates,
        })
    }

    /// The sum of both error rates of a block, where the units of the first block were judged with another guide: stakes
    /// follow from that, the centers from this.
    pub fn sum_after(&self, first: &UnitGuide, errors: &[UnitErrors]) -> Option<UnitRates> {
        let centers = self.spreads.map(|spread| spread.center);
        let rates = UnitRates::with_later_centers(errors, &[1.0, 1.0], &first.spreads, &centers)?;
        Some(match &first.past {
            Some(past) => rates.expecting(past),
            None => rates,
        })
    }

    /// One error rate.
    fn one(&self, errors: &[UnitErrors], side: usize) -> Option<UnitRates> {
        let weights = [[1.0, 0.0], [0.0, 1.0]][side];
        UnitRates::new(errors, &weights, &self.spreads)
    }
}

/// Errors of one random row of every unit: (errors, rows) of either secret, then of equally many rows of
/// both together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Drawn {
    sides: [(u64, u64); 2],
    pooled: (u64, u64),
}

impl Drawn {
    fn new(errors: &[UnitErrors], rng: &mut ChaCha8Rng) -> Self {
        let drawn = one_row_a_unit(errors, 2, rng);
        let sides = [drawn[0], drawn[1]];
        let rows = sides[0].1.min(sides[1].1);
        let mut part = |(errors, all): (u64, u64)| hypergeometric::sample(all, errors, rows, rng);
        let errors = part(sides[0]) + part(sides[1]);
        Drawn {
            sides,
            pooled: (errors, 2 * rows),
        }
    }
}

/// What judged units say about a rule, with the methods settled beforehand.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitAdvantage {
    rates: Option<ErrorRates>,
    units: [u64; 2],
    sum: Option<UnitRates>,
    one: [Option<UnitRates>; 2],
    drawn: Option<Drawn>,
    /// The mean over blocks of the sum of both error rates, where earlier units were judged too.
    blocks: Option<UnitRates>,
    /// Of the advantage.
    method: UnitMethod,
    /// Whether drawn rows of both secrets are pooled.
    is_pooled: bool,
    /// Of either error rate.
    rate_method: UnitMethod,
    /// How much errors vary in the long run, where that is looked at.
    varies: LongRun,
}

impl UnitAdvantage {
    /// Prepares the limits at about the level that they will be asked for. The methods depend on the guide
    /// and on which units have which secrets, not on errors.
    pub fn new(tally: &UnitTally, guide: &UnitGuide, alpha: f64, rng: &mut ChaCha8Rng) -> Self {
        let errors = tally.errors();
        let drawn = tally
            .rates()
            .map(|_| Drawn::new(&errors, rng))
            .filter(|drawn| drawn.pooled.1 > 0);
        let sum = guide.sum(&errors);
        let one = [0, 1].map(|side| guide.one(&errors, side));
        let expected = drawn.map(|drawn| expected_widths(guide, &drawn, alpha));
        let [pooled, separate, rates] = expected.unwrap_or([f64::INFINITY; 3]);
        let width = |rates: &Option<UnitRates>, alpha: f64| {
            rates
                .as_ref()
                .map_or(f64::INFINITY, |rates| rates.width(alpha))
        };
        let betting: f64 = one.iter().map(|one| width(one, 0.5 * alpha)).sum();
        let method = |betting: f64, drawn: f64| match drawn < betting {
            true => UnitMethod::OneRow,
            false => UnitMethod::Betting,
        };
        UnitAdvantage {
            rates: tally.rates(),
            units: tally.units(),
            method: method(width(&sum, alpha), pooled.min(separate)),
            is_pooled: pooled <= separate,
            rate_method: method(betting, rates),
            sum,
            one,
            drawn,
            blocks: None,
            varies: LongRun::INDEPENDENT,
        }
    }

    /// The same with limits that allow for units that resemble those before them.
    #[must_use]
    pub fn allowing(self, varies: LongRun) -> Self {
        UnitAdvantage { varies, ..self }
    }

    /// The same with a lower limit of the advantage from the sum of both error rates in blocks of units, each judged by
    /// an attack that learned from those before. It is about the best of these attacks.
    #[must_use]
    pub fn with_earlier(self, blocks: UnitRates) -> Self {
        UnitAdvantage {
            blocks: Some(blocks),
            method: UnitMethod::Blocks,
            ..self
        }
    }

    /// The mean error rates over units; `None` if a secret has none.
    pub fn rates(&self) -> Option<ErrorRates> {
        self.rates
    }

    /// How many units have rows of either secret.
    pub fn units(&self) -> [u64; 2] {
        self.units
    }

    /// How the advantage is limited.
    pub fn method(&self) -> UnitMethod {
        self.method
    }

    /// How either error rate is limited.
    pub fn rate_method(&self) -> UnitMethod {
        self.rate_method
    }

    /// Lower limit of TPR − FPR at level 1 − alpha, of this rule or, with [blocks](Self::with_earlier), of the best of
    /// several; −1 if a secret has no units.
    ///
    /// # Conditions
    /// Rule and guide were fixed before the units were seen; units are independent, or limits [allow](Self::allowing)
    /// for it.
    ///
    /// # References
    /// Waudby-Smith and Ramdas 2024, doi:10.1093/jrsssb/qkad009; for rows of unequal error rates Hoeffding
    /// 1956, doi:10.1214/aoms/1177728178.
    pub fn at_least(&self, alpha: f64) -> f64 {
        let Some(alpha) = self.varies.level(alpha) else {
            return -1.0;
        };
        match (self.method, &self.drawn, &self.sum) {
            (UnitMethod::OneRow, Some(drawn), _) if self.is_pooled => {
                let (errors, rows) = drawn.pooled;
                1.0 - 2.0 * poisson_binomial_upper(errors, rows, alpha)
            }
            (UnitMethod::OneRow, Some(drawn), _) => drawn_at_most(drawn, alpha).advantage(),
            (UnitMethod::Betting, _, Some(sum)) => 1.0 - sum.at_most(alpha),
            (UnitMethod::Blocks, ..) => {
                let blocks = self.blocks.as_ref();
                blocks.map_or(-1.0, |blocks| 1.0 - blocks.at_most(alpha))
            }
            _ => -1.0,
        }
    }

    /// Upper limit of TPR − FPR of this rule at level 1 − alpha; 1 if a secret has no units.
    pub fn at_most(&self, alpha: f64) -> f64 {
        let Some(alpha) = self.varies.level(alpha) else {
            return 1.0;
        };
        match (self.method, &self.drawn, &self.sum) {
            (UnitMethod::OneRow, Some(drawn), _) if self.is_pooled => {
                let (errors, rows) = drawn.pooled;
                1.0 - 2.0 * poisson_binomial_lower(errors, rows, alpha)
            }
            (UnitMethod::OneRow, Some(drawn), _) => drawn_at_least(drawn, alpha).advantage(),
            // What earlier attacks did says nothing of the last one.
            (UnitMethod::Betting | UnitMethod::Blocks, _, Some(sum)) => 1.0 - sum.at_least(alpha),
            _ => 1.0,
        }
    }

    /// Upper limits of both error rates that hold together with probability 1 − alpha.
    pub fn errors_at_most(&self, alpha: f64) -> ErrorRates {
        let Some(alpha) = self.varies.level(alpha) else {
            return ErrorRates {
                missed: 1.0,
                false_alarm: 1.0,
            };
        };
        match (self.rate_method, &self.drawn, &self.one) {
            (UnitMethod::OneRow, Some(drawn), _) => drawn_at_most(drawn, alpha),
            (UnitMethod::Betting, _, [Some(missed), Some(false_alarm)]) => ErrorRates {
                missed: missed.at_most(0.5 * alpha),
                false_alarm: false_alarm.at_most(0.5 * alpha),
            },
            _ => ErrorRates {
                missed: 1.0,
                false_alarm: 1.0,
            },
        }
    }
}

fn drawn_at_most(drawn: &Drawn, alpha: f64) -> ErrorRates {
    let [missed, false_alarm] = drawn
        .sides
        .map(|(errors, rows)| poisson_binomial_upper(errors, rows, 0.5 * alpha));
    ErrorRates {
        missed,
        false_alarm,
    }
}

fn drawn_at_least(drawn: &Drawn, alpha: f64) -> ErrorRates {
    let [missed, false_alarm] = drawn
        .sides
        .map(|(errors, rows)| poisson_binomial_lower(errors, rows, 0.5 * alpha));
    ErrorRates {
        missed,
        false_alarm,
    }
}

/// About how far limits from one row a unit would be from the point: of the advantage pooled and by both
/// rates, and of both rates by themselves. From the rates on the tuning units and from numbers of units.
fn expected_widths(guide: &UnitGuide, drawn: &Drawn, alpha: f64) -> [f64; 3] {
    let variance = |rate: f64, rows: u64| rate * (1.0 - rate) / rows as f64;
    let centers = guide.spreads.map(|spread| spread.center);
    let mean = 0.5 * (centers[0] + centers[1]);
    let pooled = -2.0 * normal_quantile(alpha) * variance(mean, drawn.pooled.1).sqrt();
    let separate: f64 = [0, 1]
        .map(|side| {
            let deviation = variance(centers[side], drawn.sides[side].1).sqrt();
            -normal_quantile(0.5 * alpha) * deviation
        })
        .iter()
        .sum();
    [pooled, separate, separate]
}

#[cfg(test)]
mod tests;
