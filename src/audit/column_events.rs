//! Events of single columns and of two, each guessed on by itself in all rows of a small log.
//!
//! An attack that has to be learned leaves half of a small log to judge, or less. What a column shows by itself needs no
//! learning: each label and each tail of its numbers is an event, whatever secrets its rows have. Guesses of either secret on
//! thirty such events, which share three tenths of the level, have limits 3.5 standard errors from the estimate, where one test
//! has 1.6, and judge two or three times as many rows.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::audit::events::{Candidate, EventTests, Observed};
use crate::audit::prepare::Prepared;
use leakgauge_attack::pairwise::column_events::{ColumnEvent, are_few, column_events};
use leakgauge_stats::guesses::Guesses;
use leakgauge_stats::secret_blind::TakenRows;

/// A stream of random numbers that no other use of the seed reaches.
const STREAM: u64 = (1 << 52) + (1 << 47);
/// What all events together get of the level.
const SHARE: f64 = 0.3;
/// With fewer rows of a secret one test is all that there is level for.
const FEWEST_ROWS: u64 = 50;

/// Guesses on events that are chosen without looking at secrets; `None` where none are tried. Whether there are follows from
/// numbers of secrets, rows and columns, and from the attacks asked for.
pub(super) fn tests(prepared: &Prepared) -> Option<EventTests> {
    let (observations, counts) = (&prepared.log.observations, &prepared.log.counts);
    let is_tried = prepared.options.attacks.are_auto() && prepared.log.secrets.len() == 2;
    let rows = counts.rows().iter();
    if !is_tried || !are_few(observations) || rows.min() < Some(&FEWEST_ROWS) {
        return None;
    }
    let kinds: Vec<(u32, [u64; 2])> = counts
        .by_symbol()
        .map(|cells| {
            let mut of = [0; 2];
            for cell in cells {
                of[cell.secret as usize] += cell.count;
            }
            (cells[0].symbol, of)
        })
        .collect();
    let mut rng = ChaCha8Rng::seed_from_u64(prepared.options.seed);
    rng.set_stream(STREAM);
    let mut tests = EventTests {
        left: 1.0 - SHARE,
        tests: Vec::new(),
        events: Vec::new(),
    };
    let Some(taken) = TakenRows::take(&kinds, &mut rng) else {
        return Some(tests);
    };
    let found = column_events(observations, &taken);
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
    for (event, share) in single.chain(double) {
        for secret in 0..2 {
            let (candidate, guesses) = guessed(&taken, &event, secret);
            tests.tests.push((0.5 * SHARE * share, guesses));
            tests.events.push(candidate);
        }
    }
    Some(tests)
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
