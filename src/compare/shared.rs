//! Logs that are compared must be independent: whether one holds rows of another.

use std::hash::{DefaultHasher, Hash, Hasher};

use hashbrown::HashMap;

use super::Measured;
use crate::audit::{Warning, in_common};
use leakgauge_base::error::{Error, Result, file_listing};
use leakgauge_log::Log;

/// How many rows a log has of each secret with each observation, both as hashes: two logs number them differently.
pub(super) type Cells = HashMap<(u64, u64), u64>;

/// The rows of a log by secret and observation.
pub(super) fn cells(log: &Log) -> Cells {
    let secrets: Vec<u64> = log.secrets.iter().map(hash).collect();
    let symbols = 0..log.observations.len() as u32;
    let symbols: Vec<u64> = symbols
        .map(|symbol| hash(&log.observations.label(symbol)))
        .collect();
    let mut cells = Cells::new();
    for cell in log.counts.cells() {
        let key = (secrets[cell.secret as usize], symbols[cell.symbol as usize]);
        *cells.entry(key).or_default() += cell.count;
    }
    cells
}

fn hash(text: &String) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Warns of logs that seem to share rows.
///
/// # Errors
/// Two logs with the same rows.
pub(super) fn doubt(logs: &mut [Measured]) -> Result<()> {
    let name = |log: &Measured| file_listing(&log.audit.input.facts.files);
    for at in 1..logs.len() {
        let (before, rest) = logs.split_at_mut(at);
        let log = &mut rest[0];
        for other in before.iter() {
            let found = in_common(&other.cells, &log.cells);
            let with = name(other);
            if found.is_same() {
                return Err(Error::file(name(log), format!("holds the same rows as {with}")).with_hint(
                    "a log is not independent of itself; to check several claims on one log, use audit",
                ));
            }
            if found.is_suspect() {
                log.audit
                    .warnings
                    .push(Warning::SharedRowsSuspected { with });
            }
        }
    }
    Ok(())
}
