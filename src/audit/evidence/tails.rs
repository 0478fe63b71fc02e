//! Single observations and tails of a column of numbers, each guessed on by itself beside the guesses at extreme
//! scores.
//!
//! Of five outcomes of a weak leak the first rows do not tell which one gives the secret away, and waiting for rows
//! that do leaves few to judge. Testing all of them costs little instead: ten tests at a tenth of the level each have
//! limits 2.6 standard errors from the estimate, where one test has 1.6, and nearly all rows judge. Rows before say
//! which events get more of the level than others.

use crate::audit::evidence::event::{Candidate, Observed};
use crate::audit::evidence::pair_test::{PairTest, Planned, Tested, TestedPair};
use crate::audit::learn::earlier::Learned;
use crate::audit::prepare::Prepared;
use leakgauge_attack::pairwise::ladder::{ends, halves};
use leakgauge_attack::tuning::ScorerChoice;
use leakgauge_log::observations::{Counts, ObservationKind};
use leakgauge_stats::guess_tests::{PastEvent, shares};
use leakgauge_stats::random::Stream;

/// What all events together get of the level.
const SHARE: f64 = 0.4;
/// With fewer distinct observations scores have one order only, and guesses at their ends are all that there is.
const FEWEST: usize = 3;
/// With more, each observation has so little of the level that guesses on several at once are better.
const MOST: usize = 64;

/// Guesses on events by all rows behind those that the first judged block's attack learned from. Whether there are such
/// events follows from numbers of secrets, rows, columns and distinct observations, and from the attacks asked for.
pub(crate) struct Tails;

impl PairTest for Tails {
    fn plan<'a>(&self, pair: &'a TestedPair<'a>) -> Option<Planned<'a>> {
        let TestedPair {
            prepared, earlier, ..
        } = *pair;
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
        let judge = move |share| judge(prepared, &counted, &found, share);
        Some(Planned::new(SHARE, judge))
    }
}

fn is_tried(prepared: &Prepared, attack: ScorerChoice) -> bool {
    let attacks = &prepared.options.attacks;
    attacks.are_auto() || attacks.built_in() == Some(attack)
}

/// Guesses of either secret on each event. Rows before say which ones get more of the share than others.
fn judge(prepared: &Prepared, counted: &Counted, found: &[Seen], share: f64) -> Vec<Tested> {
    let (past, judged) = (counted.past_rows, counted.judged_rows);
    let both: Vec<(&Seen, usize)> = found
        .iter()
        .flat_map(|seen| [(seen, 0), (seen, 1)])
        .collect();
    let past_events = both.iter().map(|&(seen, guessed)| PastEvent {
        right: [seen.past[guessed], past[guessed]],
        wrong: [seen.past[1 - guessed], past[1 - guessed]],
    });
    let least = |rows: [u64; 2]| rows[0].min(rows[1]).max(1) as f64;
    let shares = shares(
        &past_events.collect::<Vec<_>>(),
        least(judged) / least(past),
    );
    let mut rng = prepared.random.rng(Stream::Events);
    let events = both.into_iter().zip(shares);
    let tests = events.map(|((seen, guessed), of_event)| {
        let event = Candidate {
            event: seen.event.clone(),
            secrets: [guessed as u32, 1 - guessed as u32],
            rows: [judged[guessed], judged[1 - guessed]],
            inside: [seen.judged[guessed], seen.judged[1 - guessed]],
        };
        Tested::new(share * of_event, event.guesses(&mut rng), event)
    });
    tests.collect()
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
    let rows = steps.iter().map(|step| step.1[0] + step.1[1]);
    let all: u64 = rows.clone().sum();
    let mut wanted: Vec<f64> = halves(all).collect();
    wanted.reverse();
    let (mut past, mut judged, mut from) = ([0; 2], [0; 2], 0);
    let tails = ends(rows, |_| false, &wanted).into_iter().map(|end| {
        for (_, more_past, more_judged) in &steps[from..=end] {
            for side in 0..2 {
                past[side] += more_past[side];
                judged[side] += more_judged[side];
            }
        }
        from = end + 1;
        Seen {
            event: event(steps[end].0),
            past,
            judged,
        }
    });
    // What has all rows leaves none out.
    tails
        .filter(|tail| tail.past[0] + tail.past[1] < all)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1,000 past rows on ten values, 100 each. Tails of 500, 250, 125 and fewer rows are wanted, and each ends with
    /// the value that reaches it. What judges is counted in the same tails.
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
