//! Which rows learn, choose and judge.

use rand_chacha::ChaCha8Rng;

use crate::audit::SplitChoice;
use leakgauge_attack::split::Split;
use leakgauge_base::error::{Error, Result};
use leakgauge_log::Log;

/// Rows in the order of the log, each a secret and an observation.
pub(super) type Sequence<'a> = &'a [(u32, u32)];

/// The split, and for a split by time the certify rows in their order.
pub(super) fn by_choice<'a>(
    log: &'a Log,
    choice: SplitChoice,
    given: bool,
    rng: &mut ChaCha8Rng,
) -> Result<(Split, Option<Sequence<'a>>)> {
    let ordered = match choice {
        SplitChoice::Random => None,
        SplitChoice::Blocks => Some(log.sequence.as_deref().ok_or_else(|| {
            Error::parameter("--split blocks", "the log was read without its order")
                .with_hint("read it with ReadOptions::keep_order")
        })?),
    };
    let split = match (&log.fit_counts, ordered, given) {
        (Some(learn), _, false) => Split::across(learn, log.counts.clone(), rng),
        (Some(tune), _, true) => Split::across_without_fit(tune, log.counts.clone()),
        (None, None, false) => Split::stratified(&log.counts, rng),
        (None, None, true) => Split::without_fit(&log.counts, rng),
        (None, Some(rows), _) => {
            let (split, certify) = Split::blocks(rows, log.secrets.len());
            if split.in_every_part() < 2 {
                return Err(recorded_apart(log));
            }
            return Ok((
                if given { split.all_to_tune() } else { split },
                Some(certify),
            ));
        }
    };
    Ok((split, ordered))
}

fn recorded_apart(log: &Log) -> Error {
    Error::data(
        leakgauge_base::error::Place::file(leakgauge_base::error::file_listing(&log.facts.files)),
        "--split blocks needs two secrets that occur early, midway and late in the log",
    )
    .with_hint(
        "secrets that were recorded one after the other cannot be told from whatever else changed meanwhile, by no \
         split: record them in random order",
    )
}

pub(super) fn refuse_uncertifiable(log: &Log, split: &Split) -> Result<()> {
    let usable = split
        .certify
        .rows()
        .iter()
        .filter(|&&rows| rows > 0)
        .count();
    if usable >= 2 {
        return Ok(());
    }
    Err(Error::data(
        leakgauge_base::error::Place::file(leakgauge_base::error::file_listing(&log.facts.files)),
        "too few rows: no two secrets have rows left to certify on",
    )
    .with_hint("two rows of a secret are the least that can say anything, hundreds are useful"))
}
