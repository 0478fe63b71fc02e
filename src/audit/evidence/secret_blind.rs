//! Tests that are chosen by what was observed and not by secrets, so that all rows of a log judge.

use crate::audit::evidence::columns as column_events;
use crate::audit::evidence::groups as similar_rows;
use crate::audit::evidence::groups::GroupTests;
use crate::audit::evidence::masked;
use crate::audit::evidence::masked::MaskedTests;
use crate::audit::evidence::tails::EventTests;
use crate::audit::prepare::Prepared;
use leakgauge_attack::pairwise::column_events::{self as pairwise, are_few};
use leakgauge_stats::random::Stream;
use leakgauge_stats::secret_blind::TakenRows;

/// With fewer rows of a secret one test is all that there is level for.
const FEWEST_ROWS: u64 = 50;
/// What events of columns get of the level.
const EVENTS: f64 = 0.3;
/// What all kinds get of it where groups and guesses on masked rows are tried, too.
const OF_THREE: Shares = Shares {
    events: 0.15,
    groups: 0.25,
    masked: 0.4,
};
/// The same where events are found by learning.
const OF_TWO: Shares = Shares {
    events: 0.0,
    groups: 0.2,
    masked: 0.3,
};

/// Parts of the level.
#[derive(Clone, Copy)]
struct Shares {
    events: f64,
    groups: f64,
    masked: f64,
}

/// All kinds of tests, and what is left of the level beside them.
pub(crate) struct BlindTests {
    pub left: f64,
    pub events: EventTests,
    pub groups: GroupTests,
    pub masked: MaskedTests,
}

/// Events of columns where a secret has few rows; groups of similar rows, and guesses on masked ones, where there are several columns and a
/// claim, if there is one, is of δ = 0. `None` where none are tried. Whether there are follows from numbers of secrets, rows and columns, from the
/// attacks asked for and from the claims.
pub(crate) fn tests(prepared: &Prepared, are_events_learned: bool) -> Option<BlindTests> {
    let (observations, counts) = (&prepared.log.observations, &prepared.log.counts);
    let least = counts.rows().iter().copied().min().unwrap_or(0);
    let is_tried = prepared.options.attacks.are_auto() && prepared.log.secrets.len() == 2;
    if !is_tried || !are_few(observations) || least < FEWEST_ROWS {
        return None;
    }
    let references = similar_rows::references(prepared);
    let shares = match (are_events_learned, references.is_empty()) {
        (false, true) => Shares {
            events: EVENTS,
            groups: 0.0,
            masked: 0.0,
        },
        (false, false) => OF_THREE,
        (true, false) => OF_TWO,
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
    let mut rng = prepared.random.rng(Stream::SecretBlind);
    let mut tests = BlindTests {
        left: 1.0 - shares.events - shares.groups - shares.masked,
        events: EventTests::default(),
        groups: GroupTests::default(),
        masked: MaskedTests::default(),
    };
    if let Some(taken) = TakenRows::take(&kinds, &mut rng) {
        let events = pairwise::column_events(observations, &taken);
        if !references.is_empty() {
            tests.groups = similar_rows::tests(observations, &taken, &references, shares.groups);
            tests.masked = masked::tests(
                observations,
                &taken,
                &events.single,
                &references,
                shares.masked,
                &mut rng,
            );
        }
        if shares.events > 0.0 {
            tests.events = column_events::tests(events, &taken, shares.events);
        }
    }
    Some(tests)
}
