//! Rows before the certification rows testify too, before they are learned from.
//!
//! The fitting and tuning rows are dealt to blocks. Each block but the first is judged by an attack that was
//! learned and tuned on the blocks before it, as the certification rows are judged by the attack that was
//! learned and tuned on all of them. See [`leakgauge_stats::all_rows`] for what follows.

use rand_chacha::ChaCha8Rng;

use crate::audit::learn::attack::{for_trying, learn};
use crate::audit::learn::blocks::begins;
use crate::audit::prepare::Prepared;
use leakgauge_attack::split::{Split, parts};
use leakgauge_attack::tuning::Tuned;
use leakgauge_base::error::Result;
use leakgauge_log::observations::Counts;
use leakgauge_stats::random::Stream;

/// A block of rows and the attack that judges it.
pub(crate) struct Block {
    /// The rows that are judged.
    pub rows: Counts,
    /// The attack, from earlier rows alone.
    pub tuned: Tuned,
    /// The earlier rows.
    pub learned: Learned,
}

/// The rows behind an attack.
pub(crate) struct Learned {
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
pub(crate) fn earlier(prepared: &Prepared) -> Result<Vec<Block>> {
    let Some(begins) = begins(prepared) else {
        return Ok(Vec::new());
    };
    let (log, split) = (prepared.log, &prepared.split);
    let mut rng = prepared.random.rng(Stream::Earlier);
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
    Ok((learn(prepared, &split, None, budget)?, Learned::of(&split)))
}
