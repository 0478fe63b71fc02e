//! Events of single columns and of two, each guessed on by itself in all rows of a small log.
//!
//! An attack that has to be learned leaves half of a small log to judge, or less. What a column shows by itself needs no
//! learning: each label and each tail of its numbers is an event, whatever secrets its rows have. Guesses of either secret on
//! thirty such events, which share three tenths of the level, have limits 3.5 standard errors from the estimate, where one test
//! has 1.6, and judge two or three times as many rows.

use crate::audit::evidence::tails::{Candidate, EventTests, Observed};
use leakgauge_attack::pairwise::column_events::{ColumnEvent, ColumnEvents};
use leakgauge_stats::guesses::Guesses;
use leakgauge_stats::secret_blind::TakenRows;

/// Guesses on events that are chosen without looking at secrets: those of one column and those of two get half of a share of the
/// level each.
pub(crate) fn tests(found: ColumnEvents, taken: &TakenRows, share: f64) -> EventTests {
    let (single, double) = (found.single.len() as f64, found.double.len() as f64);
    let of_single = if found.double.is_empty() { 1.0 } else { 0.5 };
    let single = found
        .single
        .into_iter()
        .zip(std::iter::repeat(of_single / single));
    let double = found
        .double
        .into_iter()
        .zip(std::iter::repeat(0.5 / double));
    let mut tests = EventTests::default();
    for (event, of_event) in single.chain(double) {
        for secret in 0..2 {
            let (candidate, guesses) = guessed(taken, &event, secret);
            tests.tests.push((0.5 * share * of_event, guesses));
            tests.events.push(candidate);
        }
    }
    tests
}

/// The guess on one secret.
fn guessed(taken: &TakenRows, event: &ColumnEvent, secret: usize) -> (Candidate, Guesses) {
    let (rows, inside) = (taken.rows(), taken.inside(&event.rows));
    let candidate = Candidate {
        event: Observed::Columns(event.event.clone()),
        secrets: [secret as u32, 1 - secret as u32],
        rows: [rows[secret], rows[1 - secret]],
        inside: [inside[secret], inside[1 - secret]],
    };
    (candidate, taken.guesses(&event.rows, secret == 1))
}
