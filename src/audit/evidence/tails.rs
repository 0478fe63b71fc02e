//! Single observations and tails of a column of numbers, each guessed on by itself beside the guesses at extreme scores.
//!
//! Of five outcomes of a weak leak the first rows do not tell which one gives the secret away, and waiting for rows that do
//! leaves few to judge. Testing all of them costs little instead: ten tests at a tenth of the level each have limits
//! 2.6 standard errors from the estimate, where one test has 1.6, and nearly all rows judge. Rows before say which events
//! get more of the level than others.

use rand_chacha::ChaCha8Rng;

use crate::audit::learn::earlier::{Block, Learned};
use crate::audit::prepare::Prepared;
use leakgauge_attack::pairwise::Event;
use leakgauge_attack::tuning::ScorerChoice;
use leakgauge_log::observations::{Counts, ObservationKind};
use leakgauge_stats::all_rows::tosses;
use leakgauge_stats::guess_tests::{PastEvent, shares};
use leakgauge_stats::guesses::{Guesses, Side};
use leakgauge_stats::random::Stream;

/// What all events together get of the level.
pub(crate) const SHARE: f64 = 0.4;
/// With fewer distinct observations scores have one order only, and guesses at their ends are all that there is.
const FEWEST: usize = 3;
/// With more, each observation has so little of the level that guesses on several at once are better.
const MOST: usize = 64;
/// Each tail of a column has so many times the rows of the next one.
const RARER: f64 = 2.0;
/// The smallest tail has so many past rows, at least.
const LEAST: f64 = 10.0;

/// An event that one of two secrets is guessed on.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub event: Observed,
    /// The secret that is guessed, then the other.
    pub secrets: [u32; 2],
    /// Rows of both that judge.
    pub rows: [u64; 2],
    /// Those of them in the event.
    pub inside: [u64; 2],
}

/// What is seen in a row of the event.
#[derive(Debug, Clone)]
pub(crate) enum Observed {
    /// One observation.
    Symbol(u32),
    /// A number of the only column that is at least this.
    AtLeast(f64),
    /// One that is at most this.
    AtMost(f64),
    /// An event of one column or two.
    Columns(Event),
}

/// Tests with their shares of the level, and their events.
#[derive(Default)]
pub(crate) struct EventTests {
    pub tests: Vec<(f64, Guesses)>,
    pub events: Vec<Candidate>,
}

/// Guesses on events by all rows behind those that the first judged block's attack learned from; `None` where there are no
/// such events. Whether there are follows from numbers of secrets, rows, columns and distinct observations, and from the
/// attacks asked for.
pub(crate) fn tests(prepared: &Prepared, earlier: &[Block]) -> Option<EventTests> {
    if prepared.log.secrets.len() != 2 {
        return None;
    }
    let all_before = Learned::of(&prepared.split);
    let past = &earlier
        .first()
        .map_or(&all_before, |first| &first.learned)
        .all;
    // Those of another log that attacks learn from do not judge.
    let blocks = earlier.iter().map(|block| &block.rows);
    let judged = blocks.fold(prepared.split.certify.clone(), |all, rows| all.plus(rows));
    let counted = Counted::new(past, &judged);
    let mut found = Vec::new();
    if is_tried(prepared, ScorerChoice::Frequentist) && !earlier.is_empty() {
        found.extend(single(&counted));
    }
    if is_tried(prepared, ScorerChoice::Threshold) {
        found.extend(tails(prepared, &counted));
    }
    if found.is_empty() {
        return None;
    }
    let (past, judged) = (counted.past_rows, counted.judged_rows);
    let both = found.iter().flat_map(|seen| [(seen, 0), (seen, 1)]);
    let both: Vec<(&Seen, usize)> = both.collect();
    let past_events = both.iter().map(|&(seen, guessed)| PastEvent {
        right: [seen.past[guessed], past[guessed]],
        wrong: [seen.past[1 - guessed], past[1 - guessed]],
    });
    let least = |rows: [u64; 2]| rows[0].min(rows[1]).max(1) as f64;
    let shares = shares(
        &past_events.collect::<Vec<_>>(),
        least(judged) / least(past),
    );
    let events: Vec<Candidate> = both
        .iter()
        .map(|&(seen, guessed)| Candidate {
            event: seen.event.clone(),
            secrets: [guessed as u32, 1 - guessed as u32],
            rows: [judged[guessed], judged[1 - guessed]],
            inside: [seen.judged[guessed], seen.judged[1 - guessed]],
        })
        .collect();
    let mut rng = prepared.random.rng(Stream::Events);
    let guesses = events.iter().map(|event| event.guesses(&mut rng));
    Some(EventTests {
        tests: shares
            .into_iter()
            .map(|share| SHARE * share)
            .zip(guesses)
            .collect(),
        events,
    })
}

fn is_tried(prepared: &Prepared, attack: ScorerChoice) -> bool {
    let attacks = &prepared.options.attacks;
    attacks.are_auto() || attacks.built_in() == Some(attack)
}

impl Candidate {
    fn guesses(&self, rng: &mut ChaCha8Rng) -> Guesses {
        let [rows, others] = self.rows;
        let guessed = Side {
            rows,
            right: self.inside[0],
            wrong: 0,
        };
        let other = Side {
            rows: others,
            right: 0,
            wrong: self.inside[1],
        };
        Guesses::of_one_rule(&[([guessed, other], tosses(rows, others))], rng)
    }
}

/// How often each distinct observation occurred with either secret, in the past and in the rows that judge.
struct Counted {
    /// By symbol, in order.
    cells: Vec<(u32, [u64; 2], [u64; 2])>,
    past_rows: [u64; 2],
    judged_rows: [u64; 2],
}

/// An event and its rows of either secret.
#[derive(Clone)]
struct Seen {
    event: Observed,
    past: [u64; 2],
    judged: [u64; 2],
}

impl Counted {
    fn new(past: &Counts, judged: &Counts) -> Self {
        let symbols = past.plus(judged).symbols();
        let mut cells: Vec<_> = symbols.iter().map(|&s| (s, [0; 2], [0; 2])).collect();
        let place = |symbol: u32| symbols.partition_point(|&other| other < symbol);
        for cell in past.cells() {
            cells[place(cell.symbol)].1[cell.secret as usize] += cell.count;
        }
        for cell in judged.cells() {
            cells[place(cell.symbol)].2[cell.secret as usize] += cell.count;
        }
        let (past, judged) = (past.rows(), judged.rows());
        Counted {
            cells,
            past_rows: [past[0], past[1]],
            judged_rows: [judged[0], judged[1]],
        }
    }
}

/// Every observation, if they are few.
fn single(counted: &Counted) -> Vec<Seen> {
    if !(FEWEST..=MOST).contains(&counted.cells.len()) {
        return Vec::new();
    }
    let cells = counted.cells.iter();
    cells
        .map(|&(symbol, past, judged)| Seen {
            event: Observed::Symbol(symbol),
            past,
            judged,
        })
        .collect()
}

/// Tails of the only column, if it is one of numbers: from half of the past rows at either end down to a few of them.
fn tails(prepared: &Prepared, counted: &Counted) -> Vec<Seen> {
    let observations = &prepared.log.observations;
    let is_one = observations.columns().len() == 1 && observations.dimensions() == 1;
    if !is_one || observations.kind() != ObservationKind::Numeric {
        return Vec::new();
    }
    let number = |symbol: u32| observations.numbers(symbol)[0];
    let mut steps: Vec<(f64, [u64; 2], [u64; 2])> = counted
        .cells
        .iter()
        .map(|&(symbol, past, judged)| (number(symbol), past, judged))
        .collect();
    steps.sort_by(|x, y| x.0.total_cmp(&y.0));
    let low = ladder(&steps, Observed::AtMost);
    steps.reverse();
    low.into_iter()
        .chain(ladder(&steps, Observed::AtLeast))
        .collect()
}

/// Tails from the first step on.
fn ladder(steps: &[(f64, [u64; 2], [u64; 2])], event: impl Fn(f64) -> Observed) -> Vec<Seen> {
    let all: u64 = steps.iter().map(|step| step.1[0] + step.1[1]).sum();
    let smaller = |wanted: &f64| Some(wanted / RARER).filter(|&wanted| wanted >= LEAST);
    let mut wanted: Vec<f64> = std::iter::successors(Some(0.5 * all as f64), smaller).collect();
    let (mut past, mut judged) = ([0; 2], [0; 2]);
    let mut found = Vec::new();
    for &(value, more_past, more_judged) in steps {
        for side in 0..2 {
            past[side] += more_past[side];
            judged[side] += more_judged[side];
        }
        let rows = (past[0] + past[1]) as f64;
        // A value with many rows may be the end of several tails.
        let reached = wanted.iter().any(|&wanted| rows >= wanted);
        if reached && rows < all as f64 {
            wanted.retain(|&wanted| rows < wanted);
            found.push(Seen {
                event: event(value),
                past,
                judged,
            });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1,000 past rows on ten values, 100 each. Tails of 500, 250, 125 and fewer rows are wanted, and each ends with the value
    /// that reaches it. What judges is counted in the same tails.
    #[test]
    fn tails_end_where_values_end() {
        let steps: Vec<(f64, [u64; 2], [u64; 2])> = (0..10)
            .map(|at| (f64::from(at), [40, 60], [1, 10]))
            .collect();
        let found = ladder(&steps, Observed::AtMost);
        let seen: Vec<_> = found
            .iter()
            .map(|seen| {
                let Observed::AtMost(value) = &seen.event else {
                    panic!("a tail from below");
                };
                (*value, seen.past, seen.judged)
            })
            .collect();
        let expected = [
            (0.0, [40, 60], [1, 10]),
            (1.0, [80, 120], [2, 20]),
            (2.0, [120, 180], [3, 30]),
            (4.0, [200, 300], [5, 50]),
        ];
        assert_eq!(seen, expected);
    }

    /// One value with all rows has no tail that leaves any out.
    #[test]
    fn a_single_value_has_no_tail() {
        assert!(ladder(&[(1.0, [50, 50], [9, 9])], Observed::AtLeast).is_empty());
    }
}
