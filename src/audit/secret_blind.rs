//! Tests that are chosen by what was observed and not by secrets, so that all rows of a log judge.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::audit::column_events;
use crate::audit::events::EventTests;
use crate::audit::prepare::Prepared;
use crate::audit::similar_rows::{self, GroupTests};
use leakgauge_attack::pairwise::column_events::are_few;
use leakgauge_stats::secret_blind::TakenRows;

/// A stream of random numbers that no other use of the seed reaches.
const STREAM: u64 = (1 << 52) + (1 << 47);
/// With fewer rows of a secret one test is all that there is level for.
const FEWEST_ROWS: u64 = 50;
/// What events of columns get of the level, alone and beside groups.
const EVENTS: f64 = 0.3;
const EVENTS_BESIDE_GROUPS: f64 = 0.3;
/// What groups get of the level beside events of columns, and alone.
const GROUPS: f64 = 0.3;
const GROUPS_ALONE: f64 = 0.3;

/// Both kinds of tests, and what is left of the level beside them.
pub(super) struct BlindTests {
    pub left: f64,
    pub events: EventTests,
    pub groups: GroupTests,
}

/// Events of columns where a secret has few rows, and groups of similar rows where there are several columns and a claim, if there is one, is
/// of δ = 0. `None` where none are tried. Whether there are follows from numbers of secrets, rows and columns, from the
/// attacks asked for and from the claims.
pub(super) fn tests(prepared: &Prepared, are_events_learned: bool) -> Option<BlindTests> {
    let (observations, counts) = (&prepared.log.observations, &prepared.log.counts);
    let least = counts.rows().iter().copied().min().unwrap_or(0);
    let is_tried = prepared.options.attacks.are_auto() && prepared.log.secrets.len() == 2;
    if !is_tried || !are_few(observations) || least < FEWEST_ROWS {
        return None;
    }
    let references = similar_rows::references(prepared);
    let (of_events, of_groups) = match (are_events_learned, references.is_empty()) {
        (false, true) => (EVENTS, 0.0),
        (false, false) => (EVENTS_BESIDE_GROUPS, GROUPS),
        (true, false) => (0.0, GROUPS_ALONE),
        (true, true) => return None,
    };
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
    let mut tests = BlindTests {
        left: 1.0 - of_events - of_groups,
        events: EventTests::default(),
        groups: GroupTests::default(),
    };
    if let Some(taken) = TakenRows::take(&kinds, &mut rng) {
        if of_events > 0.0 {
            tests.events = column_events::tests(observations, &taken, of_events);
        }
        tests.groups = similar_rows::tests(observations, &taken, &references, of_groups);
    }
    Some(tests)
}
