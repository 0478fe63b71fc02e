//! Watching a log while it grows: attacks learned on the rows so far judge the rows that come, and what is
//! certified holds however often it is looked at.
//!
//! Rows are judged once, by rules that were fixed before they came, and rows that were judged teach
//! ([`leakgauge_sequential::watch`]). Thresholds, bins and values are learned from the eighth row on, and again whenever
//! there are a tenth more rows. The attacks of an audit are learned at 250 rows, and whenever their number has doubled
//! (from the latest 100,000), and bet beside them.
//!
//! What is certified, each by bets of its own: *some pair of secrets has a total variation of at least the limit*;
//! *some pair of secrets needs an ε of at least the limit*; and for every claim a p-value. The pairs shown are those that
//! are judged now; the evidence may come from others before them.
//!
//! Of a log in blocks the blocks are judged, each once it is whole ([`BlockMonitor`]).
//!
//! That rows are independent is all it rests on. Their order is looked at all along, and every line says
//! what puts it in doubt.

#[cfg(test)]
mod anchor_tests;
mod attack;
mod bets;
#[cfg(test)]
mod block_tests;
mod blocks;
mod claims;
mod differences;
mod learn;
mod levels;
mod line;
mod milestones;
mod order;
mod recorder;
mod seen;
mod standing;
#[cfg(test)]
mod tests;

use crate::audit::refuse_other_unit;
use crate::estimate::{Estimate, Method, Methods, Reason};
use leakgauge_attack::tuning::{Attacks, Budget};
use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::setting;
use leakgauge_base::quantity::PrivacyParameter;
use leakgauge_base::time::{ClockStep, TimeUnit};
use leakgauge_exact::claim::Claim;
use leakgauge_judge::Certified;
use leakgauge_log::RowStream;
use leakgauge_sequential::limits::Quantity;
use leakgauge_sequential::product_bets::Meeting;

use attack::Rows;
use bets::Bets;
pub use blocks::BlockMonitor;
use claims::{Followed, Scale};
use differences::Medians;
use levels::Levels;
pub use line::{FollowedClaim, FollowedDifference, FollowedGrounds, FollowedReason, Line};
use order::OrderWatch;
use seen::Numbers;
use standing::Standing;

/// Rows before anything is judged.
const FIRST: u64 = 8;
/// Pairs are chosen again once there are so many times as many rows.
const CHOOSE_AGAIN: f64 = 1.3;
/// Rows before the attacks of an audit are learned for the first time.
const FIRST_LEARNED: u64 = 250;
/// Rows that are enough to learn from.
const ENOUGH: u64 = 1_000;
/// Rows judged at once at most.
const BATCH: usize = 20_000;

/// How to follow.
#[derive(Debug)]
pub struct FollowOptions {
    /// Level of the verdicts on all claims together at all times; without claims of each limit.
    pub confidence: f64,
    /// Seed of every random choice.
    pub seed: u64,
    /// The attacker.
    pub attacks: Attacks,
    /// Nominal seconds for choosing an attack, each time.
    pub budget: Budget,
    /// Mechanisms, and promises that bound the advantage of all pairs by one number; of logs in blocks such promises
    /// and those about differences of times.
    pub claims: Vec<Claim>,
    /// The unit of times that are measured in blocks.
    pub unit: Option<TimeUnit>,
    /// The frequency of the clock in hertz, for times in cycles.
    pub clock_frequency: Option<f64>,
    /// The step in which the clock records times; found in the blocks if it is not given.
    pub clock_step: Option<ClockStep>,
}

impl FollowOptions {
    /// Checks what can be wrong before a log is seen.
    ///
    /// # Errors
    /// A level out of range; a claim that cannot be followed, whatever the log.
    pub fn check(&self) -> Result<()> {
        let confidence = self.confidence;
        if !(0.5..1.0).contains(&confidence) {
            return Err(Error::parameter(
                setting("confidence", confidence),
                "the level of confidence must be at least 0.5 and below 1",
            ));
        }
        claims::check(&self.claims)
    }

    /// The same with the unit of the log, where none is given.
    ///
    /// # Errors
    /// A unit that contradicts the name of the column.
    pub fn in_unit_of(self, stream: &RowStream) -> Result<Self> {
        if let (Some(unit), Some(column)) = (self.unit, stream.column()) {
            refuse_other_unit(unit, &column)?;
        }
        let unit = self.unit.or_else(|| stream.unit());
        Ok(FollowOptions { unit, ..self })
    }
}

/// Follows a log.
pub struct Monitor {
    options: FollowOptions,
    claims: Followed,
    levels: Levels,
    /// Once there are rows enough to see what they are like.
    bets: Option<Bets>,
    seen: Numbers,
    standing: Standing,
    /// Rows that came and were not taken.
    pending: Vec<(u32, u32)>,
    /// The first rows of all.
    first: Vec<(u32, u32)>,
    order: OrderWatch,
    rows: u64,
    choose_at: u64,
    learn_at: u64,
}

/// The number of a secret by its label; one that no secret has if it did not come up yet.
fn number_of(label: &str, labels: &[String]) -> u32 {
    let found = labels.iter().position(|other| other == label);
    found.map_or(u32::MAX, |at| at as u32)
}

impl Monitor {
    /// A monitor of a log of which nothing has been seen.
    ///
    /// # Errors
    /// A level out of range; a claim that no limit of the advantage or of ε can refute.
    pub fn new(options: FollowOptions) -> Result<Self> {
        Monitor::with(options, None)
    }

    /// A monitor of rows, or of measurements in blocks with their scale.
    fn with(options: FollowOptions, scale: Option<Scale>) -> Result<Self> {
        options.check()?;
        let claims = Followed::new(&options.claims, scale)?;
        Ok(Monitor {
            levels: Levels::new(claims.allowed(), 1.0 - options.confidence),
            bets: None,
            seen: Numbers::default(),
            standing: Standing::new(options.claims.len()),
            claims,
            options,
            pending: Vec::new(),
            first: Vec::new(),
            order: OrderWatch::default(),
            rows: 0,
            choose_at: FIRST,
            learn_at: FIRST_LEARNED,
        })
    }

    /// The number of rows so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Takes the next row of a stream.
    ///
    /// # Errors
    /// A secret that some claim says nothing about; attacks that cannot be learned.
    pub fn push(&mut self, row: (u32, u32), stream: &RowStream) -> Result<()> {
        self.claims.meet(stream.labels())?;
        self.pending.push(row);
        self.order.push(row);
        self.rows += 1;
        if self.rows <= ENOUGH {
            self.first.push(row);
        }
        if self.rows == ENOUGH {
            stream.check_header(&self.first)?;
            self.first = Vec::new();
        }
        if self.rows == self.choose_at || self.pending.len() >= BATCH {
            self.take(stream);
        }
        if self.rows == self.choose_at {
            if let Some(bets) = &mut self.bets {
                bets.choose(stream, &self.seen, &self.claims)?;
            }
            let next = (CHOOSE_AGAIN * self.rows as f64) as u64;
            self.choose_at = next.max(self.rows + 2);
        }
        if self.rows == self.learn_at {
            self.learn_at *= 2;
            self.take(stream);
            self.learn(stream)?;
        }
        Ok(())
    }

    /// Takes the rows that came.
    fn take(&mut self, stream: &RowStream) {
        if self.bets.is_none() && self.rows < FIRST {
            return;
        }
        let rows = std::mem::take(&mut self.pending);
        self.seen.meet(rows.iter().map(|row| row.1), stream);
        let bets = self.bets.get_or_insert_with(|| {
            let attackers = self.seen.attackers(recurs(&rows));
            Bets::new(attackers, Meeting::Independent, &self.options, &self.levels)
        });
        for row in rows {
            bets.push(row, &self.seen, &self.claims);
        }
    }

    /// Learns attacks again, if the past allows it.
    fn learn(&mut self, stream: &RowStream) -> Result<()> {
        let Some(bets) = self.bets.as_mut().filter(|_| stream.labels().len() > 1) else {
            return Ok(());
        };
        let learned = bets.learn(&self.options, stream, &self.seen, &self.claims);
        match learned {
            // So few rows may be too few to learn from, and more will come.
            Err(_) if self.rows < ENOUGH => Ok(()),
            learned => learned,
        }
    }

    /// What is known now.
    ///
    /// # Errors
    /// An attack that cannot be learned again from the same rows; a claim that says nothing about a secret.
    pub fn line(&mut self, stream: &RowStream) -> Result<Line> {
        self.take(stream);
        if let Some(bets) = &mut self.bets {
            bets.settle(stream, &self.seen, &self.claims)?;
        }
        self.line_of(stream, None)
    }

    /// What is known of rows that were judged, and of the differences inside blocks.
    fn line_of(&mut self, stream: &dyn Rows, medians: Option<&mut Medians>) -> Result<Line> {
        let is_blocked = medians.is_some() || self.claims.are_of_blocks();
        let found = self.look(stream, medians)?;
        let violated = self.standing.is_violated(self.alpha());
        let warnings = self.order.warnings(stream, violated).to_vec();
        let label = |secret: u32| stream.labels()[secret as usize].clone();
        let pairs = self.bets.as_ref().map(|bets| bets.pairs().collect());
        let pairs: Vec<(u32, u32)> = pairs.unwrap_or_default();
        let pairs: Vec<[String; 2]> = pairs.iter().map(|&(a, b)| [a, b].map(label)).collect();
        let judged = self.bets.as_ref().map_or(0, Bets::judged);
        let [advantage, epsilon] = self.levels.of_limits();
        let [(variation, variation_point), (least, epsilon_point)] = found.limits;
        Ok(Line {
            schema_version: 1,
            rows: self.rows,
            blocks: None,
            judged,
            pair: pairs.first().cloned(),
            advantage: estimate(variation_point, variation, 1.0),
            advantage_confidence: 1.0 - advantage,
            epsilon_pairs: pairs,
            epsilon_judged: judged,
            epsilon: estimate(epsilon_point, least, f64::INFINITY),
            epsilon_confidence: 1.0 - epsilon,
            confidence: self.options.confidence,
            differences: found.differences,
            claims: self.standing.claims(
                &self.claims.bounds(stream.labels())?,
                self.alpha(),
                &warnings,
                is_blocked,
            ),
            warnings,
        })
    }

    fn alpha(&self) -> f64 {
        1.0 - self.options.confidence
    }

    /// Looks at limits and claims now.
    fn look(&mut self, rows: &dyn Rows, medians: Option<&mut Medians>) -> Result<Found> {
        let bounds = self.claims.bounds(rows.labels())?;
        let mut differences = Vec::new();
        if let Some(medians) = medians {
            let families = self.claims.families();
            medians.look(self.levels.each / families, self.alpha());
            for (at, (_, allowed)) in bounds.iter().enumerate() {
                if let Some(bound) = allowed.time {
                    // Numbered as they came up; one that did not come up yet has no pairs.
                    let named = self.claims.slower(at);
                    let slower = named.map(|name| number_of(name, rows.labels()));
                    let (p_value, grounds) = medians.against(bound, slower, rows.labels());
                    let p_value = (families * p_value).min(1.0);
                    self.standing.look(at, self.levels.shared(p_value), grounds);
                    self.standing.holds(at, medians.are_within(bound, slower));
                }
            }
            differences = medians.differences(rows.labels());
        }
        let Some(bets) = &mut self.bets else {
            return Ok(Found {
                differences,
                limits: [(0.0, None); 2],
            });
        };
        let alpha = 1.0 - self.options.confidence;
        let p_value = |claim: usize| self.levels.p_value(claim, |at| bets.p_value(at));
        let of_bets = |at: &usize| bounds[*at].1.time.is_none();
        let p_values: Vec<(usize, f64)> = (0..bounds.len())
            .filter(of_bets)
            .map(|at| (at, p_value(at)))
            .collect();
        let is_refuted = |at: usize| p_values.iter().any(|&(of, p)| of == at && p <= alpha);
        let refuted = self.levels.refuted(is_refuted);
        let mut limits = [Quantity::TotalVariation, Quantity::Epsilon].map(|of| bets.limit(of));
        for (limit, refuted) in limits.iter_mut().zip(refuted) {
            limit.0 = limit.0.max(refuted.unwrap_or(0.0));
        }
        agree(&mut limits, self.levels.open(|at| !is_refuted(at)));
        for (at, p_value) in p_values {
            let grounds = bounds[at]
                .1
                .grounds(limits.map(|limit| limit.0), p_value <= alpha);
            self.standing.look(at, p_value, grounds);
        }
        Ok(Found {
            differences,
            limits,
        })
    }
}

/// Limits of the advantage and of ε, each with an estimate, that imply no more of each other than they say, and no more than
/// the claims that stand allow.
fn agree(limits: &mut [(f64, Option<f64>); 2], [advantage, epsilon]: [f64; 2]) {
    let pure = PrivacyParameter::Epsilon { delta: 0.0 };
    let implied = |advantage: f64| Certified::TotalVariation(advantage).at_least(pure);
    let [of_advantage, of_epsilon] = limits;
    let most = advantage.min(libm::tanh(0.5 * epsilon));
    of_advantage.0 = of_advantage.0.min(most);
    of_epsilon.0 = of_epsilon.0.max(implied(of_advantage.0)).min(epsilon);
    let point = of_advantage
        .1
        .map(implied)
        .filter(|point| point.is_finite());
    of_epsilon.1 = of_epsilon
        .1
        .map(|known| point.map_or(known, |point| known.max(point)));
}

/// What was found at some row.
struct Found {
    differences: Vec<FollowedDifference>,
    /// Of the advantage and of ε: the lower limit and an estimate.
    limits: [(f64, Option<f64>); 2],
}

/// Whether observations repeat.
fn recurs(rows: &[(u32, u32)]) -> bool {
    let mut symbols: Vec<u32> = rows.iter().map(|row| row.1).collect();
    symbols.sort_unstable();
    symbols.windows(2).any(|two| two[0] == two[1])
}

/// A lower limit that bets certified, with its point.
fn estimate(point: Option<f64>, lower: f64, most: f64) -> Estimate {
    let mut estimate = Estimate {
        point,
        raw: None,
        lower: Some(lower),
        upper: None,
        method: Methods {
            point: point.map(|_| Method::HeldOutAttack),
            lower: Some(Method::BettingMixture),
            upper: None,
        },
        reason: Some(Reason::Followed),
    };
    estimate.constrain(if most.is_finite() { -most } else { 0.0 }, most);
    estimate
}
