//! Rows before the certification rows testify too, before they are learned from.
//!
//! The fitting and tuning rows are dealt to blocks. Each block but the first is judged by an attack that was
//! learned and tuned on the blocks before it, as the certification rows are judged by the attack that was
//! learned and tuned on all of them. See [`leakgauge_stats::all_rows`] for what follows.
//!
//! An attack that has seen a tenth of the rows is nearly as good as one that has seen most of them only where
//! learning is quick: with scores that the log brings, with one column of numbers, with few distinct
//! observations. Elsewhere more rows would judge worse attacks, but for one block where rows are many. Whether blocks are
//! judged, and from when on, follows from numbers of secrets, rows, columns and distinct observations alone.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::audit::attack::{for_trying, learn};
use crate::audit::prepare::Prepared;
use leakgauge_attack::pairwise::pair_count;
use leakgauge_attack::split::{Split, parts};
use leakgauge_attack::tuning::Tuned;
use leakgauge_base::error::Result;
use leakgauge_log::observations::{Counts, ObservationKind};

/// A stream of random numbers that no other use of the seed reaches.
const STREAM: u64 = 1 << 49;
/// Where the blocks of a log of two secrets begin, as shares of its rows; the certification rows are the last
/// block.
const TWO_SECRETS: [f64; 4] = [0.05, 0.1, 0.2, 0.4];
/// With more, the shares of α among the pairs are settled before the first judged block.
const MORE_SECRETS: [f64; 2] = [0.2, 0.4];
/// Where learning is slow, two secrets with this many rows each have one block before the certification rows: an attack
/// from two fifths of the rows is nearly as good as one from three fifths there, and half as many rows more judge.
const SLOW: [f64; 1] = [0.4];
const SLOW_ROWS: u64 = 10_000;
/// The rarest secret has so many rows in the first block, at least.
const FIRST_ROWS: [f64; 2] = [20.0, 200.0];
/// With more rows of numbers than this the certification rows alone leave little to prove.
const MOST_NUMBERS: u64 = 1_000_000;
/// With more rows times pairs than this, coins would be tossed for seconds.
const MOST_TOSSES: u64 = 200_000_000;
/// Distinct observations are few if there are so many rows for each.
const ROWS_EACH: u64 = 100;

/// A block of rows and the attack that judges it.
pub(super) struct Block {
    /// The rows that are judged.
    pub rows: Counts,
    /// The attack, from earlier rows alone.
    pub tuned: Tuned,
    /// The earlier rows.
    pub learned: Learned,
}

/// The rows behind an attack.
pub(super) struct Learned {
    /// All of them.
    pub all: Counts,
    /// Those that it was tuned on.
    pub tune: Counts,
}

impl Learned {
    /// The fitting and tuning rows of a split.
    pub fn of(split: &Split) -> Learned {
        Learned {
            all: split.fit.plus(&split.tune),
            tune: split.tune.clone(),
        }
    }
}

/// Learns the attacks of the blocks before the certification rows; none where these alone judge.
pub(super) fn earlier(prepared: &Prepared) -> Result<Vec<Block>> {
    let Some(begins) = begins(prepared) else {
        return Ok(Vec::new());
    };
    let (log, split) = (prepared.log, &prepared.split);
    let mut rng = ChaCha8Rng::seed_from_u64(prepared.options.seed);
    rng.set_stream(STREAM);
    let past = split.fit.plus(&split.tune);
    let shares: Vec<f64> = begins
        .iter()
        .scan(0.0, |from, &begin| {
            Some(begin - std::mem::replace(from, begin))
        })
        .collect();
    let rows = log.counts.rows();
    let mut dealt = parts(&past, &shares, |secret| rows[secret], &mut rng).into_iter();
    let mut past = dealt.next().expect("a first part");
    let mut blocks: Vec<Block> = Vec::new();
    for (rows, begin) in dealt.zip(begins) {
        match attack_from(prepared, &past, *begin, &mut rng) {
            Ok((tuned, learned)) => blocks.push(Block {
                rows: rows.clone(),
                tuned,
                learned,
            }),
            // Too few rows to learn from: judging begins later, or the attack before goes on.
            Err(_) => {
                if let Some(last) = blocks.last_mut() {
                    last.rows = last.rows.plus(&rows);
                }
            }
        }
        past = past.plus(&rows);
    }
    Ok(blocks)
}

fn attack_from(
    prepared: &Prepared,
    past: &Counts,
    share: f64,
    rng: &mut ChaCha8Rng,
) -> Result<(Tuned, Learned)> {
    let certify = Counts::new(past.secrets(), Vec::new());
    let split = if prepared.options.attacks.are_given() {
        Split::across_without_fit(past, certify)
    } else {
        Split::across(past, certify, rng)
    };
    let budget = for_trying(prepared).part(share);
    Ok((learn(prepared, &split, budget)?, Learned::of(&split)))
}

/// Where blocks begin, as shares of the rows.
fn begins(prepared: &Prepared) -> Option<&'static [f64]> {
    let log = prepared.log;
    if prepared.is_serial() || prepared.units.is_some() || log.fit_counts.is_some() {
        return None;
    }
    let rarest = log.counts.rows().iter().copied().min()?;
    if !learns_quickly(prepared) {
        let is_enough = log.secrets.len() == 2 && rarest >= SLOW_ROWS;
        return (is_enough && log.counts.total() <= MOST_NUMBERS).then_some(&SLOW);
    }
    let rarest = rarest as f64;
    let given = prepared.options.attacks.are_given();
    let mut begins: &'static [f64] = match pair_count(log.secrets.len()) {
        1 => &TWO_SECRETS,
        _ => &MORE_SECRETS,
    };
    let needed = FIRST_ROWS[usize::from(log.secrets.len() > 2)];
    while begins.first().is_some_and(|first| rarest * first < needed) {
        begins = &begins[1..];
    }
    // Scores that the log brings leave a quarter of the rows for tuning.
    let last = if given { 0.25 } else { 0.6 };
    let before = begins.partition_point(|&begin| begin < last);
    Some(&begins[..before]).filter(|begins| !begins.is_empty())
}

fn learns_quickly(prepared: &Prepared) -> bool {
    let (log, observations) = (prepared.log, &prepared.log.observations);
    if prepared.options.attacks.are_given() {
        return true;
    }
    match observations.kind() {
        ObservationKind::Discrete => {
            let (rows, pairs) = (log.counts.total(), pair_count(log.secrets.len()) as u64);
            observations.len() as u64 * ROWS_EACH <= rows
                && rows.saturating_mul(pairs) <= MOST_TOSSES
        }
        _ => {
            observations.columns().len() == 1
                && observations.dimensions() == 1
                && log.counts.total() <= MOST_NUMBERS
        }
    }
}
