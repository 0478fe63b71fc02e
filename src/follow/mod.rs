//! Watching a log while it grows: an attack learned on the rows so far judges the rows that come, and
//! what is certified holds however often it is looked at.
//!
//! Rows are judged once, by a rule that was fixed before they came. At 1,000 rows, and whenever their
//! number has doubled, the attack is learned again from rows seen so far (the latest 100,000), with a
//! pair and a threshold chosen on a third of them. Rows judged stay judged.
//!
//! What is certified: *some pair of secrets has a total variation of at least the limit*. The pair shown
//! is the one that is judged now; the evidence may come from others before it.
//!
//! That rows are independent is all it rests on. Their order is looked at all along, and every line says
//! what puts it in doubt.

mod claims;
mod order;
mod sequential;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use crate::audit::{Verdict, Warning};
use crate::estimate::{Estimate, Method, Methods, Reason};
use leakgauge_attack::pairwise::Rule;
use leakgauge_attack::scorer::{Scorer, score_table};
use leakgauge_attack::split::Split;
use leakgauge_attack::tuning::{Attacks, Budget, Goals, tune};
use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::{option, setting};
use leakgauge_exact::claim::Claim;
use leakgauge_log::RowStream;
use leakgauge_log::observations::{Cell, Counts, Observations};

use claims::Followed;
use order::OrderWatch;
pub use sequential::{SequentialTest, Side};

/// Rows before the attack is learned for the first time.
const FIRST: u64 = 1_000;
/// Rows that an attack is learned from at most.
const MAX_LEARNED: usize = 100_000;
/// Rows judged at once at most.
const BATCH: usize = 20_000;

/// How to follow.
#[derive(Debug)]
pub struct FollowOptions {
    /// Level of all limits together.
    pub confidence: f64,
    /// Seed of every random choice.
    pub seed: u64,
    /// The attacker.
    pub attacks: Attacks,
    /// Nominal seconds for choosing an attack, each time.
    pub budget: Budget,
    /// Promises that bound the advantage.
    pub claims: Vec<Claim>,
}

/// What is known at some row.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Line {
    /// Version of this layout.
    pub schema_version: u32,
    /// Rows so far.
    pub rows: u64,
    /// Rows that were judged, in pairs of one row of either secret.
    pub judged: u64,
    /// The pair of secrets that is judged now.
    pub pair: Option<[String; 2]>,
    /// The point is of the attacks that judged last; the limit is of the largest advantage of all pairs.
    pub advantage: Estimate,
    /// Level of all lines together.
    pub confidence: f64,
    /// What became of the claims.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<FollowedClaim>,
    /// What the order of the rows gives reason to doubt, at the latest when there were a tenth fewer rows; at
    /// this row if a claim is violated.
    pub warnings: Vec<Warning>,
}

impl Line {
    /// Whether some claim is violated.
    pub fn is_violated(&self) -> bool {
        self.claims
            .iter()
            .any(|claim| claim.verdict == Verdict::Violated)
    }
}

/// A claim at some row.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FollowedClaim {
    /// The claim; in JSON as it was written.
    pub claim: Claim,
    /// The largest advantage that it leaves possible.
    pub analytic: f64,
    /// Violated or inconclusive.
    pub verdict: Verdict,
    /// Why, and what it rests on.
    pub reason: FollowedReason,
}

/// Why a claim is judged as it is at some row.
#[derive(Debug, Clone, PartialEq)]
pub struct FollowedReason {
    /// The lower limit of the advantage.
    pub lower: f64,
    /// The largest advantage that the claim leaves possible.
    pub bound: f64,
    /// What puts a violation in doubt.
    pub doubt: Option<Warning>,
}

impl FollowedClaim {
    fn judge(claim: &Claim, bound: f64, lower: f64, warnings: &[Warning]) -> Self {
        let violated = lower > bound;
        let doubt = warnings.iter().find(|warning| warning.is_about_order());
        let reason = FollowedReason {
            lower,
            bound,
            doubt: doubt.filter(|_| violated).cloned(),
        };
        FollowedClaim {
            claim: claim.clone(),
            analytic: bound,
            verdict: if violated {
                Verdict::Violated
            } else {
                Verdict::Inconclusive
            },
            reason,
        }
    }
}

/// An attack that judges rows to come.
struct Attack {
    scorer: Arc<dyn Scorer>,
    rule: Rule,
    /// The rows it is learned from, observations by their numbers in the stream.
    fit: Vec<Cell>,
    secrets: usize,
}

/// Follows a log.
pub struct Monitor {
    options: FollowOptions,
    claims: Followed,
    test: SequentialTest,
    attack: Option<Attack>,
    /// The latest rows that an attack may be learned from.
    past: Vec<(u32, u32)>,
    /// Rows to be judged by the attack.
    pending: Vec<(u32, u32)>,
    order: OrderWatch,
    rows: u64,
    learn_at: u64,
}

impl Monitor {
    /// A monitor of a log of which nothing has been seen.
    ///
    /// # Errors
    /// A level out of range; a claim that no limit of the advantage can refute.
    pub fn new(options: FollowOptions) -> Result<Self> {
        let confidence = options.confidence;
        if !(0.5..1.0).contains(&confidence) {
            return Err(Error::parameter(
                setting("confidence", confidence),
                "the level of confidence must be at least 0.5 and below 1",
            ));
        }
        Ok(Monitor {
            claims: Followed::new(&options.claims)?,
            test: SequentialTest::new(1.0 - confidence),
            options,
            attack: None,
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
    /// A secret that some claim says nothing about; those of [`tune`].
    pub fn push(&mut self, row: (u32, u32), stream: &RowStream) -> Result<()> {
        self.claims.meet(stream.labels())?;
        self.pending.push(row);
        self.order.push(row);
        self.rows += 1;
        if self.rows == self.learn_at {
            self.judge(stream)?;
            if self.rows == FIRST {
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
    /// An attack that cannot be learned again from the same rows.
    pub fn line(&mut self, stream: &RowStream) -> Result<Line> {
        self.judge(stream)?;
        let lower = self.test.at_least();
        let violated = self.claims.bounds().any(|(_, bound)| lower > bound);
        let warnings = self.order.warnings(stream, violated).to_vec();
        let label = |secret: u32| stream.labels()[secret as usize].clone();
        let attack = self.attack.as_ref();
        let point = self.test.point();
        let mut advantage = Estimate {
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
        advantage.constrain(-1.0, 1.0);
        Ok(Line {
            schema_version: 1,
            rows: self.rows,
            judged: self.test.rows(),
            pair: attack.map(|attack| [attack.rule.a, attack.rule.b].map(label)),
            advantage,
            confidence: self.options.confidence,
            claims: self
                .claims
                .bounds()
                .map(|(claim, bound)| FollowedClaim::judge(claim, bound, lower, &warnings))
                .collect(),
            warnings,
        })
    }

    /// Judges the rows that came since the last time; they may then be learned from.
    fn judge(&mut self, stream: &RowStream) -> Result<()> {
        let rows = std::mem::take(&mut self.pending);
        if let Some(attack) = &self.attack {
            attack.judge(&rows, stream, &mut self.test)?;
        }
        self.past.extend_from_slice(&rows);
        if self.past.len() > 2 * MAX_LEARNED {
            self.past.drain(..self.past.len() - MAX_LEARNED);
        }
        Ok(())
    }

    /// Learns from the past and fixes the rule for the rows to come, if the past allows it.
    fn learn(&mut self, stream: &RowStream) -> Result<()> {
        let latest = &self.past[self.past.len().saturating_sub(MAX_LEARNED)..];
        let secrets = stream.labels().len();
        let (table, ids) = stream.table(latest.iter().map(|row| row.1).collect());
        let cells = latest.iter().map(|&(secret, symbol)| Cell {
            secret,
            symbol,
            count: 1,
        });
        let counts = renumbered(secrets, cells, &ids);
        let mut rng = ChaCha8Rng::seed_from_u64(self.options.seed);
        rng.set_stream(self.rows);
        let split = Split::across(&counts, Counts::new(secrets, Vec::new()), &mut rng);
        let alpha = 1.0 - self.options.confidence;
        if secrets < 2 {
            return Ok(());
        }
        let tuned = tune(
            &table,
            &split,
            &self.options.attacks,
            self.options.budget,
            Goals::advantage(alpha),
        )?;
        let judged = tuned
            .choices
            .iter()
            .filter(|choice| choice.tune.is_judged());
        let best = judged.reduce(|best, next| if next.lower > best.lower { next } else { best });
        if let Some(best) = best {
            self.test.change_rule();
            self.attack = Some(Attack {
                rule: best.rule,
                // What was chosen is kept, and learned from all of the past.
                fit: original(&counts, &ids),
                scorer: tuned.scorer,
                secrets,
            });
        }
        Ok(())
    }
}

impl Attack {
    fn judge(
        &self,
        rows: &[(u32, u32)],
        stream: &RowStream,
        test: &mut SequentialTest,
    ) -> Result<()> {
        let of_pair: Vec<(u32, u32)> = rows
            .iter()
            .filter(|row| row.0 == self.rule.a || row.0 == self.rule.b)
            .copied()
            .collect();
        if of_pair.is_empty() {
            return Ok(());
        }
        let new = of_pair.iter().map(|row| row.1);
        let (table, ids) =
            stream.table(new.chain(self.fit.iter().map(|cell| cell.symbol)).collect());
        let says_a = self.says_a(&table, &ids, &of_pair)?;
        for (&(secret, _), says_a) in of_pair.iter().zip(says_a) {
            if secret == self.rule.a {
                test.judge(Side::A, !says_a);
            } else {
                test.judge(Side::B, says_a);
            }
        }
        Ok(())
    }

    /// What the rule says of rows. The attack is learned again from the same rows, whose observations
    /// have other numbers in a table that has the new ones too.
    fn says_a(&self, table: &Observations, ids: &[u32], rows: &[(u32, u32)]) -> Result<Vec<bool>> {
        let fit = renumbered(self.secrets, self.fit.iter().copied(), ids);
        let scorer = self.scorer.refit(table, &fit).map_err(|reason| {
            Error::parameter(
                option("scorer"),
                format!("could not be fitted again: {reason}"),
            )
        })?;
        let rank = ranks(ids);
        let at: Vec<u32> = rows.iter().map(|row| rank[row.1 as usize]).collect();
        let mut symbols = at.clone();
        symbols.sort_unstable();
        symbols.dedup();
        let scores = score_table(&*scorer, table, symbols, self.secrets);
        let says_a = at.into_iter().map(|symbol| {
            let row = scores
                .observations()
                .binary_search(&symbol)
                .expect("one of these");
            let scores = scores.row(row);
            scores[self.rule.a as usize] - scores[self.rule.b as usize] > self.rule.threshold
        });
        Ok(says_a.collect())
    }
}

/// Positions of observations in a table, by their numbers in the stream.
fn ranks(ids: &[u32]) -> Vec<u32> {
    let most = ids.iter().max().map_or(0, |&id| id as usize + 1);
    let mut ranks = vec![0; most];
    for (rank, &id) in ids.iter().enumerate() {
        ranks[id as usize] = rank as u32;
    }
    ranks
}

/// Counts over a table.
fn renumbered(secrets: usize, cells: impl Iterator<Item = Cell>, ids: &[u32]) -> Counts {
    let rank = ranks(ids);
    let cells = cells.map(|cell| Cell {
        symbol: rank[cell.symbol as usize],
        ..cell
    });
    Counts::new(secrets, cells.collect())
}

/// Cells with the numbers of the stream.
fn original(counts: &Counts, ids: &[u32]) -> Vec<Cell> {
    let cells = counts.cells().iter();
    cells
        .map(|cell| Cell {
            symbol: ids[cell.symbol as usize],
            ..*cell
        })
        .collect()
}
