//! Following a log in blocks: measurements that were taken close together, one of each secret.
//!
//! A block is one unit of evidence, once it is whole. Of a pair of secrets it gives one outcome to the bets, which holds
//! however the measurements of a block depend on each other
//! ([`Meeting::Block`]), and one difference, whose median is followed. Nothing is assumed but that blocks are independent
//! given the past.
//!
//! Attacks see measurements relative to their block, if that separated secrets better in earlier blocks.

use std::collections::HashMap;

use super::attack::Rows;
use super::bets::{Bets, MAX_LEARNED};
use super::claims::Scale;
use super::differences::{MAX_SECRETS, Medians};
use super::{BATCH, CHOOSE_AGAIN, ENOUGH, FollowOptions, Line, Monitor};
use crate::audit::{Reference, best_reference, relative_to};
use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::{option, setting};
use leakgauge_log::Block;
use leakgauge_log::observations::Observations;
use leakgauge_sequential::attackers;
use leakgauge_sequential::product_bets::Meeting;
use leakgauge_sequential::shares::{self, Shape};

/// Blocks before it is chosen for the first time what measurements are relative to.
const FIRST: u64 = 8;

/// Follows a log in blocks.
pub struct BlockMonitor {
    rows: Monitor,
    seen: Seen,
    /// What the attacks see measurements relative to.
    reference: Reference,
    /// The latest blocks that an attack may be learned from.
    past: Vec<Block>,
    blocks: u64,
    choose_at: u64,
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

impl attackers::Seen for Seen {
    fn number(&self, _: usize, row: u32) -> f64 {
        self.numbers[row as usize]
    }

    fn key(&self, row: u32) -> u64 {
        u64::from(row)
    }

    fn lowest_bit(&self, _: usize, row: u32) -> u64 {
        u64::from(self.numbers[row as usize].to_bits().trailing_zeros())
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
            blocks: 0,
            choose_at: FIRST,
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
        let rows = self.seen.rows(&block, self.reference);
        self.past.push(block);
        if let Some(bets) = &mut self.rows.bets {
            bets.push_block(&rows, &self.seen, &self.rows.claims);
            if bets.pending() >= BATCH {
                bets.settle(&self.seen, &self.seen, &self.rows.claims)?;
            }
        }
        if self.blocks == self.choose_at {
            self.choose()?;
            let next = (CHOOSE_AGAIN * self.blocks as f64) as u64;
            self.choose_at = next.max(self.blocks + 2);
        }
        if self.rows.rows >= self.rows.learn_at {
            while self.rows.learn_at <= self.rows.rows {
                self.rows.learn_at *= 2;
            }
            self.learn()?;
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

    /// Whether a log that has ended has all secrets that claims name.
    ///
    /// # Errors
    /// A claim about a secret that never came.
    pub fn check_end(&self) -> Result<()> {
        self.rows.claims.check_named(&self.seen.labels)
    }

    /// What is known now.
    ///
    /// # Errors
    /// An attack that cannot be learned again from the same blocks.
    pub fn line(&mut self) -> Result<Line> {
        if let Some(bets) = &mut self.rows.bets {
            bets.settle(&self.seen, &self.seen, &self.rows.claims)?;
        }
        let line = self.rows.line_of(&self.seen, self.medians.as_mut())?;
        Ok(Line {
            blocks: Some(self.blocks),
            ..line
        })
    }

    /// Chooses the pair to judge, and until an attack was learned what measurements are relative to.
    fn choose(&mut self) -> Result<()> {
        if !self.rows.bets.as_ref().is_some_and(Bets::has_learned) {
            self.choose_reference()?;
        }
        match &mut self.rows.bets {
            Some(bets) => bets.choose(&self.seen, &self.seen, &self.rows.claims),
            None => Ok(()),
        }
    }

    /// Chooses what measurements are relative to, by the blocks so far.
    fn choose_reference(&mut self) -> Result<()> {
        let most = MAX_LEARNED / self.seen.labels.len().max(1);
        if self.past.len() > 2 * most {
            self.past.drain(..self.past.len() - most);
        }
        let secrets = self.seen.labels.len();
        let reference = best_reference(|| self.past.iter().cloned(), secrets);
        if reference == self.reference && self.rows.bets.is_some() {
            return Ok(());
        }
        self.reference = reference;
        let mut past = vec![Vec::new(); secrets];
        for block in &self.past {
            for (secret, row) in self.seen.rows(block, reference) {
                past[secret as usize].push(row);
            }
        }
        if let Some(bets) = &mut self.rows.bets {
            bets.settle(&self.seen, &self.seen, &self.rows.claims)?;
        }
        let bets = self.rows.bets.get_or_insert_with(|| {
            let attackers = shares::of(Shape {
                numbers: &[(0, false)],
                is_alone: true,
                recurs: past.iter().any(|rows| recurs(rows)),
                is_learned_alone: true,
            });
            let (options, levels) = (&self.rows.options, &self.rows.levels);
            Bets::new(attackers, Meeting::Block, options, levels)
        });
        bets.renumber(past);
        Ok(())
    }

    /// Learns attacks again, if the past allows it.
    fn learn(&mut self) -> Result<()> {
        self.choose_reference()?;
        let rows = self.rows.rows;
        let Some(bets) = &mut self.rows.bets else {
            return Ok(());
        };
        let claims = &self.rows.claims;
        bets.choose(&self.seen, &self.seen, claims)?;
        match bets.learn(&self.rows.options, &self.seen, &self.seen, claims) {
            // So few rows may be too few to learn from, and more will come.
            Err(_) if rows < ENOUGH => Ok(()),
            learned => learned,
        }
    }
}

/// Whether numbers repeat.
fn recurs(rows: &[u32]) -> bool {
    let mut sorted = rows.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).any(|two| two[0] == two[1])
}
