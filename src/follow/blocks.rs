//! Following a log in blocks: measurements that were taken close together, one of each secret.
//!
//! A block is one unit of evidence, once it is whole. Of a pair of secrets it gives one outcome to the bets on the
//! advantage, 1 − (a was missed) − (b was missed), whose mean is the advantage of the rule however the measurements of
//! a block depend on each other; one outcome to the bets on ε; and one difference, whose median is followed. Nothing is
//! assumed but that blocks are independent given the past.
//!
//! Attacks see measurements relative to their block, if that separated secrets better in earlier blocks.

use std::collections::HashMap;

use super::attack::Rows;
use super::claims::Scale;
use super::differences::{MAX_SECRETS, Medians};
use super::{BATCH, FollowOptions, Line, MAX_LEARNED, Monitor};
use super::{judge_advantage, judge_bets};
use crate::audit::{Reference, best_reference, relative_to};
use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::{option, setting};
use leakgauge_log::Block;
use leakgauge_log::observations::Observations;

/// Follows a log in blocks.
pub struct BlockMonitor {
    rows: Monitor,
    seen: Seen,
    /// What the attacks see measurements relative to.
    reference: Reference,
    /// The latest blocks that an attack may be learned from.
    past: Vec<Block>,
    /// Blocks to be judged by the attacks.
    pending: Vec<Block>,
    pending_rows: usize,
    blocks: u64,
    medians: Option<Medians>,
}

/// Numbers that attacks see, numbered as they first came up.
#[derive(Default)]
struct Seen {
    labels: Vec<String>,
    numbers: Vec<f64>,
    ids: HashMap<u64, u32>,
}

impl Seen {
    fn id(&mut self, number: f64) -> u32 {
        // 0 and −0 are one number.
        let number = number + 0.0;
        let next = self.numbers.len() as u32;
        let id = *self.ids.entry(number.to_bits()).or_insert(next);
        if id == next {
            self.numbers.push(number);
        }
        id
    }

    /// The rows of a block, relative to it.
    fn rows(&mut self, block: &Block, reference: Reference) -> Vec<(u32, u32)> {
        let values: Vec<f64> = block.iter().map(|row| row.1).collect();
        let relative = relative_to(&values, reference);
        let rows = block.iter().zip(relative);
        rows.map(|(row, value)| (row.0, self.id(value))).collect()
    }
}

impl Rows for Seen {
    fn labels(&self) -> &[String] {
        &self.labels
    }

    fn table(&self, mut ids: Vec<u32>) -> (Observations, Vec<u32>) {
        let number = |id: &u32| self.numbers[*id as usize];
        ids.sort_unstable_by(|x, y| number(x).total_cmp(&number(y)));
        ids.dedup();
        let numbers = ids.iter().map(number).collect();
        (Observations::of_numbers(1, numbers), ids)
    }
}

impl BlockMonitor {
    /// A monitor of a log of which nothing has been seen.
    ///
    /// # Errors
    /// A level out of range; a claim that cannot be followed, that is about single observations, or about times in a
    /// unit that the log's cannot be compared with.
    pub fn new(options: FollowOptions) -> Result<Self> {
        let scale = Scale {
            unit: options.unit,
            clock_frequency: options.clock_frequency,
            clock_step: options.clock_step,
        };
        Ok(BlockMonitor {
            rows: Monitor::with(options, Some(scale))?,
            seen: Seen::default(),
            reference: Reference::MedianOfOthers,
            past: Vec::new(),
            pending: Vec::new(),
            pending_rows: 0,
            blocks: 0,
            medians: Some(Medians::new(scale.unit, scale.step()?)),
        })
    }

    /// The number of rows so far, those of blocks that are whole.
    pub fn rows(&self) -> u64 {
        self.rows.rows
    }

    /// The number of blocks so far that have two secrets.
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Takes the next block, each secret by its number among the labels so far.
    ///
    /// # Errors
    /// A secret that some claim says nothing about, or too many for a claim about times; attacks that cannot be
    /// learned.
    pub fn push(&mut self, block: Block, labels: &[String]) -> Result<()> {
        self.rows.rows += block.len() as u64;
        if block.len() < 2 {
            return Ok(());
        }
        self.meet(labels)?;
        if let Some(medians) = &mut self.medians {
            medians.push(&block, labels.len());
        }
        self.blocks += 1;
        self.pending_rows += block.len();
        self.pending.push(block);
        if self.rows.rows >= self.rows.learn_at {
            self.judge()?;
            self.learn()?;
            while self.rows.learn_at <= self.rows.rows {
                self.rows.learn_at *= 2;
            }
        } else if self.pending_rows >= BATCH {
            self.judge()?;
        }
        Ok(())
    }

    /// Takes labels that are new.
    fn meet(&mut self, labels: &[String]) -> Result<()> {
        if labels.len() == self.seen.labels.len() {
            return Ok(());
        }
        self.seen.labels = labels.to_vec();
        self.rows.claims.meet(labels)?;
        if labels.len() <= MAX_SECRETS {
            return Ok(());
        }
        self.medians = None;
        match self.rows.claims.first_about_time() {
            None => Ok(()),
            Some(claim) => Err(Error::parameter(
                setting("claim", claim),
                format!("is followed for at most {MAX_SECRETS} secrets, and the log has more"),
            )
            .with_hint(format!(
                "name the secrets that matter with {}, or audit the log without {}",
                option("secrets"),
                option("follow")
            ))),
        }
    }

    /// What is known now.
    ///
    /// # Errors
    /// An attack that cannot be learned again from the same blocks.
    pub fn line(&mut self) -> Result<Line> {
        self.judge()?;
        self.rows.settle(&self.seen)?;
        let line = self.rows.line_of(&self.seen, self.medians.as_mut())?;
        Ok(Line {
            blocks: Some(self.blocks),
            ..line
        })
    }

    /// Judges the blocks that came since the last time; they may then be learned from.
    fn judge(&mut self) -> Result<()> {
        let blocks = std::mem::take(&mut self.pending);
        self.pending_rows = 0;
        let reference = self.reference;
        if self.rows.attack.is_some() || self.rows.bettor.is_some() {
            let seen = &mut self.seen;
            let rows: Vec<_> = blocks
                .iter()
                .map(|block| seen.rows(block, reference))
                .collect();
            if let Some((attack, rule)) = &self.rows.attack {
                let of_pair = rows_of(&rows, [rule.a, rule.b]);
                judge_advantage(attack, *rule, &of_pair, &self.seen, &mut self.rows.test)?;
            }
            if let Some(attack) = &self.rows.bettor {
                for bet in &mut self.rows.bets {
                    let pair = bet.pairs().next();
                    if let Some(pair) = pair {
                        let of_pair = rows_of(&rows, pair);
                        judge_bets(attack, &of_pair, &self.seen, std::slice::from_mut(bet))?;
                    }
                }
            }
        }
        self.past.extend(blocks);
        let most = MAX_LEARNED / self.seen.labels.len().max(1);
        if self.past.len() > 2 * most {
            self.past.drain(..self.past.len() - most);
        }
        Ok(())
    }

    /// Learns from the past and fixes the rules for the blocks to come, if the past allows it.
    fn learn(&mut self) -> Result<()> {
        let secrets = self.seen.labels.len();
        let blocks = || self.past.iter().cloned();
        let reference = best_reference(blocks, secrets);
        let seen = &mut self.seen;
        let rows = self
            .past
            .iter()
            .flat_map(|block| seen.rows(block, reference));
        self.rows.past = rows.collect();
        let learned = self.rows.learn(&self.seen)?;
        self.rows.past = Vec::new();
        if learned {
            self.reference = reference;
        }
        Ok(())
    }
}

/// The rows of two secrets, of the blocks that have both.
fn rows_of(blocks: &[Vec<(u32, u32)>], [a, b]: [u32; 2]) -> Vec<(u32, u32)> {
    let of = |block: &[(u32, u32)], secret: u32| block.iter().find(|row| row.0 == secret).copied();
    let both = blocks
        .iter()
        .filter_map(|block| Some([of(block, a)?, of(block, b)?]));
    both.flatten().collect()
}
