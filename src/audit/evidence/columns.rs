//! Events of single columns and of two, each guessed on by itself in all rows of a small log.
//!
//! An attack that has to be learned leaves half of a small log to judge, or less. What a column shows by itself needs
//! no learning: each label and each tail of its numbers is an event, whatever secrets its rows have. Guesses of either
//! secret on thirty such events, which share three tenths of the level, have limits 3.5 standard errors from the
//! estimate, where one test has 1.6, and judge two or three times as many rows.

use crate::audit::evidence::event::{Candidate, Observed};
use crate::audit::evidence::pair_test::{PairTest, Planned, Tested, TestedPair};
use leakgauge_attack::pairwise::column_events::{ColumnEvent, ColumnEvents};
use leakgauge_stats::secret_blind::TakenRows;

/// What these events get of the level, and what they get beside groups and guesses on masked rows.
const ALONE: f64 = 0.3;
const BESIDE_OTHERS: f64 = 0.15;

/// Events of single columns and of two, where a secret has few rows.
pub(crate) struct Columns;

impl PairTest for Columns {
    fn plan<'a>(&self, pair: &'a TestedPair<'a>) -> Option<Planned<'a>> {
        let blind = pair.blind.as_ref().filter(|_| !pair.has_many_rows)?;
        let share = match blind.references.is_empty() {
            true => ALONE,
            false => BESIDE_OTHERS,
        };
        Some(Planned::new(share, move |share| match &blind.rows {
            Some(rows) => tests(&rows.events, &rows.taken, share),
            None => Vec::new(),
        }))
    }
}

/// Guesses of either secret on each event: those of one column and those of two get half of a share of the level each.
fn tests(found: &ColumnEvents, taken: &TakenRows, share: f64) -> Vec<Tested> {
    let (single, double) = (found.single.len() as f64, found.double.len() as f64);
    let of_single = if found.double.is_empty() { 1.0 } else { 0.5 };
    let single = found
        .single
        .iter()
        .zip(std::iter::repeat(of_single / single));
    let double = found.double.iter().zip(std::iter::repeat(0.5 / double));
    let both = single.chain(double).flat_map(|one| [(one, 0), (one, 1)]);
    both.map(|((event, of_event), secret)| guessed(taken, event, secret, 0.5 * share * of_event))
        .collect()
}

/// The guess on one secret.
fn guessed(taken: &TakenRows, event: &ColumnEvent, secret: usize, share: f64) -> Tested {
    let (rows, inside) = (taken.rows(), taken.inside(&event.rows));
    let candidate = Candidate {
        event: Observed::Columns(event.event.clone()),
        secrets: [secret as u32, 1 - secret as u32],
        rows: [rows[secret], rows[1 - secret]],
        inside: [inside[secret], inside[1 - secret]],
    };
    Tested::new(share, taken.guesses(&event.rows, secret == 1), candidate)
}
