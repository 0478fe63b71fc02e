//! Watching a log while it grows: attacks learned on the rows so far judge the rows that come, and what is
//! certified holds however often it is looked at.
//!
//! Rows are judged once, by rules that were fixed before they came. At 250 rows, and whenever their number has
//! doubled, attacks are learned again from rows seen so far (the latest 100,000). Rows judged stay judged.
//!
//! What is certified, each by bets of its own: from 1,000 rows on, *some pair of secrets has a total variation of
//! at least the limit*; from 250 rows on, *some pair of secrets needs an ε of at least the limit*, and for every
//! (ε, δ) that is claimed a p-value. The pairs shown are those that are judged now; the evidence may come from
//! others before them.
//!
//! Of a log in blocks the blocks are judged, each once it is whole ([`BlockMonitor`]).
//!
//! That rows are independent is all it rests on. Their order is looked at all along, and every line says
//! what puts it in doubt.

mod attack;
#[cfg(test)]
mod block_tests;
mod blocks;
mod claims;
mod differences;
mod learn;
mod line;
mod milestones;
mod order;
mod privacy;
mod recorder;
mod sequential;
mod standing;
#[cfg(test)]
mod tests;

use crate::estimate::{Estimate, Method, Methods, Reason};
use leakgauge_attack::pairwise::Rule;
use leakgauge_attack::tuning::{Attacks, Budget};
use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::setting;
use leakgauge_base::time::{ClockStep, TimeUnit};
use leakgauge_exact::claim::Claim;
use leakgauge_log::RowStream;
use leakgauge_log::observations::Cell;
use leakgauge_stats::sequential::pure_epsilon_at_least;

use attack::{Learned, Rows, renumbered};
pub use blocks::BlockMonitor;
use claims::{Followed, Levels, Scale};
use differences::Medians;
use learn::{BetTarget, Lessons, PastRows};
pub use line::{FollowedClaim, FollowedDifference, FollowedGrounds, FollowedReason, Line};
use order::OrderWatch;
use privacy::PrivacyTest;
pub use sequential::{SequentialTest, Side};
use standing::Standing;

/// Rows before attacks are learned for the first time, and bets on ε begin.
const FIRST: u64 = 250;
/// Rows before the advantage is judged.
const FIRST_ADVANTAGE: u64 = 1_000;
/// Rows that an attack is learned from at most.
const MAX_LEARNED: usize = 100_000;
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
}

/// Follows a log.
pub struct Monitor {
    options: FollowOptions,
    claims: Followed,
    /// Settled before the first row is judged.
    levels: Option<Levels>,
    test: SequentialTest,
    attack: Option<(Learned, Rule)>,
    /// Bets on ε at δ = 0, then one against each (ε, δ) with δ > 0.
    bets: Vec<PrivacyTest>,
    bettor: Option<Learned>,
    /// The largest limit of ε so far.
    epsilon: f64,
    standing: Standing,
    /// The latest rows that an attack may be learned from.
    past: Vec<(u32, u32)>,
    /// Rows to be judged by the attacks.
    pending: Vec<(u32, u32)>,
    order: OrderWatch,
    rows: u64,
    learn_at: u64,
    /// Whether rows are measurements of blocks, so that no two pairs of secrets are judged apart from each other.
    is_blocked: bool,
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
            is_blocked: scale.is_some(),
            levels: None,
            test: SequentialTest::default(),
            attack: None,
            bets: vec![PrivacyTest::default(); 1 + claims.approximate().len()],
            bettor: None,
            epsilon: 0.0,
            standing: Standing::new(options.claims.len()),
            claims,
            options,
            past: Vec::new(),
            pending: Vec::new(),
            order: OrderWatch::default(),
            rows: 0,
            learn_at: FIRST,
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
        if self.rows == self.learn_at {
            self.judge(stream)?;
            if self.rows == FIRST_ADVANTAGE {
                stream.check_header(&self.past)?;
            }
            self.learn(stream)?;
            self.learn_at *= 2;
        } else if self.pending.len() >= BATCH {
            self.judge(stream)?;
        }
        Ok(())
    }

    /// What is known now.
    ///
    /// # Errors
    /// An attack that cannot be learned again from the same rows; a claim that says nothing about a secret.
    pub fn line(&mut self, stream: &RowStream) -> Result<Line> {
        self.judge(stream)?;
        self.line_of(stream, None)
    }

    /// What is known of rows that were judged, and of the differences inside blocks.
    fn line_of(&mut self, stream: &dyn Rows, medians: Option<&mut Medians>) -> Result<Line> {
        let (lower, differences) = self.look(stream, medians)?;
        let violated = self.standing.is_violated(self.alpha());
        let warnings = self.order.warnings(stream, violated).to_vec();
        let label = |secret: u32| stream.labels()[secret as usize].clone();
        let attack = self.attack.as_ref();
        let levels = self.levels.as_ref();
        Ok(Line {
            schema_version: 1,
            rows: self.rows,
            blocks: None,
            judged: self.test.rows(),
            pair: attack.map(|(_, rule)| [rule.a, rule.b].map(label)),
            advantage: estimate(self.test.point(), lower, 1.0),
            advantage_confidence: 1.0 - levels.map_or(self.alpha(), |levels| levels.advantage),
            epsilon_pairs: self.bets[0].pairs().map(|pair| pair.map(label)).collect(),
            epsilon_judged: self.bets[0].rows(),
            epsilon: estimate(self.bets[0].point(), self.epsilon, f64::INFINITY),
            epsilon_confidence: 1.0 - levels.map_or(self.alpha(), |levels| levels.pure),
            confidence: self.options.confidence,
            differences,
            claims: self.standing.claims(
                &self.claims.bounds(stream.labels())?,
                self.alpha(),
                &warnings,
                self.is_blocked,
            ),
            warnings,
        })
    }

    fn alpha(&self) -> f64 {
        1.0 - self.options.confidence
    }

    /// Settles how the error probability is shared, once there are two secrets.
    fn settle(&mut self, rows: &dyn Rows) -> Result<()> {
        if self.levels.is_none() && rows.labels().len() > 1 {
            self.levels = Some(self.claims.levels(rows.labels(), self.alpha())?);
        }
        Ok(())
    }

    /// Looks at the limits now. Returns that of the advantage, and the differences inside blocks.
    fn look(
        &mut self,
        rows: &dyn Rows,
        medians: Option<&mut Medians>,
    ) -> Result<(f64, Vec<FollowedDifference>)> {
        let Some(levels) = &self.levels else {
            return Ok((0.0, Vec::new()));
        };
        let alpha = 1.0 - self.options.confidence;
        let lower = self.test.at_least(levels.advantage);
        let epsilon = pure_epsilon_at_least(self.bets[0].segments(), levels.pure);
        self.epsilon = self.epsilon.max(epsilon);
        let bounds = self.claims.bounds(rows.labels())?;
        let approximate = self.claims.approximate();
        let mut differences = Vec::new();
        if let Some(medians) = medians {
            medians.look(levels.time, alpha);
            for (at, (_, allowed)) in bounds.iter().enumerate() {
                if let Some(bound) = allowed.time {
                    let (p_value, grounds) = medians.against(bound, rows.labels());
                    self.standing
                        .look(at, p_value * alpha / levels.time, grounds);
                    self.standing.holds(at, medians.are_within(bound));
                }
            }
            differences = medians.differences(rows.labels());
        }
        for (at, (_, allowed)) in bounds.iter().enumerate() {
            if allowed.time.is_some() {
                continue;
            }
            let advantage = FollowedGrounds::Advantage {
                lower,
                bound: allowed.advantage,
            };
            let p_value = self.test.p_value(allowed.advantage);
            self.standing
                .look(at, p_value * alpha / levels.advantage, advantage);
            let Some((epsilon, delta)) = allowed.privacy else {
                continue;
            };
            if let Some(which) = approximate
                .iter()
                .position(|claim| *claim == (epsilon, delta))
            {
                let p_value = self.bets[1 + which].p_value(epsilon, delta);
                let grounds = FollowedGrounds::Approximate { epsilon, delta };
                self.standing
                    .look(at, p_value * alpha / levels.approximate, grounds);
            } else if levels.reads_pure[at] {
                let p_value = self.bets[0].p_value(epsilon, 0.0);
                let grounds = FollowedGrounds::Epsilon {
                    lower: self.epsilon,
                    bound: epsilon,
                };
                self.standing
                    .look(at, p_value * alpha / levels.pure, grounds);
            }
        }
        Ok((lower, differences))
    }

    /// Judges the rows that came since the last time; they may then be learned from.
    fn judge(&mut self, stream: &RowStream) -> Result<()> {
        let rows = std::mem::take(&mut self.pending);
        if let Some((attack, rule)) = &self.attack {
            judge_advantage(attack, *rule, &rows, stream, &mut self.test)?;
        }
        if let Some(attack) = &self.bettor {
            judge_bets(attack, &rows, stream, &mut self.bets)?;
        }
        self.past.extend_from_slice(&rows);
        if self.past.len() > 2 * MAX_LEARNED {
            self.past.drain(..self.past.len() - MAX_LEARNED);
        }
        Ok(())
    }

    /// Learns from the past and fixes the rules for the rows to come, if the past allows it.
    /// Returns whether it did.
    fn learn(&mut self, stream: &dyn Rows) -> Result<bool> {
        let secrets = stream.labels().len();
        if secrets < 2 {
            return Ok(false);
        }
        self.settle(stream)?;
        let latest = &self.past[self.past.len().saturating_sub(MAX_LEARNED)..];
        let (table, ids) = stream.table(latest.iter().map(|row| row.1).collect());
        let cells = latest.iter().map(|&(secret, symbol)| Cell {
            secret,
            symbol,
            count: 1,
        });
        let counts = renumbered(secrets, cells, &ids);
        let past = PastRows {
            table: &table,
            counts: &counts,
        };
        let learned = learn::learn(&past, &self.options, &self.targets(stream)?);
        let Lessons {
            advantage,
            privacy,
            rules,
        } = match learned {
            // So few rows may be too few to learn from, and more will come.
            Err(_) if self.rows < FIRST_ADVANTAGE => return Ok(false),
            learned => learned?,
        };
        for (bet, rules) in self.bets.iter_mut().zip(&rules) {
            // Outcomes of two pairs in one block depend on each other.
            let judged = if self.is_blocked { 1 } else { rules.len() };
            bet.change_rules(&rules[..judged.min(rules.len())]);
        }
        // What was chosen is kept, and learned from all of the past.
        self.bettor = Some(Learned::new(privacy, &counts, &ids));
        if let Some((scorer, rule)) = advantage.filter(|_| self.rows >= FIRST_ADVANTAGE) {
            self.test.change_rule();
            self.attack = Some((Learned::new(scorer, &counts, &ids), rule));
        } else if self.is_blocked {
            // What attacks see may be another thing from now on.
            self.attack = None;
        }
        Ok(true)
    }

    /// What the bets are against: the largest ε, and each (ε, δ) that is claimed.
    fn targets(&self, stream: &dyn Rows) -> Result<Vec<BetTarget>> {
        let bounds = self.claims.bounds(stream.labels())?;
        let pure = bounds.iter().filter_map(|(_, allowed)| allowed.privacy);
        let pure = pure
            .filter(|(_, delta)| *delta == 0.0)
            .map(|(epsilon, _)| epsilon);
        let approximate = self.claims.approximate().into_iter();
        let approximate =
            approximate.map(|(epsilon, delta)| BetTarget::Approximate(epsilon, delta));
        Ok(std::iter::once(BetTarget::Pure(pure.reduce(f64::min)))
            .chain(approximate)
            .collect())
    }
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

/// Judges the rows of the rule's pair.
fn judge_advantage(
    attack: &Learned,
    rule: Rule,
    rows: &[(u32, u32)],
    stream: &dyn Rows,
    test: &mut SequentialTest,
) -> Result<()> {
    let is_of_pair = |row: &&(u32, u32)| row.0 == rule.a || row.0 == rule.b;
    let (secrets, symbols): (Vec<u32>, Vec<u32>) = rows.iter().filter(is_of_pair).copied().unzip();
    if symbols.is_empty() {
        return Ok(());
    }
    let scored = attack.scores(&symbols, stream)?;
    for (row, secret) in secrets.into_iter().enumerate() {
        let says_a = scored.difference(row, rule.a, rule.b) > rule.threshold;
        if secret == rule.a {
            test.judge(Side::A, !says_a);
        } else {
            test.judge(Side::B, says_a);
        }
    }
    Ok(())
}

/// Judges the rows of all pairs that are bet on.
fn judge_bets(
    attack: &Learned,
    rows: &[(u32, u32)],
    stream: &dyn Rows,
    bets: &mut [PrivacyTest],
) -> Result<()> {
    let mut judged: Vec<u32> = bets.iter().flat_map(PrivacyTest::pairs).flatten().collect();
    judged.sort_unstable();
    let is_judged = |row: &&(u32, u32)| judged.binary_search(&row.0).is_ok();
    let (secrets, symbols): (Vec<u32>, Vec<u32>) = rows.iter().filter(is_judged).copied().unzip();
    if symbols.is_empty() {
        return Ok(());
    }
    let scored = attack.scores(&symbols, stream)?;
    for (row, secret) in secrets.into_iter().enumerate() {
        for bet in bets.iter_mut() {
            bet.judge(secret, |a, b| scored.difference(row, a, b));
        }
    }
    Ok(())
}
