//! What an observation must look like for a score to be extreme, in the terms of the log's columns where that is
//! possible.

use std::collections::BTreeSet;

use crate::scorer::{Scorer, score_table};
use leakgauge_log::observations::{ColumnType, Counts, ObservationKind, Observations, Part};

/// More observations, or labels, are not listed.
const LISTED: usize = 6;
/// With more distinct observations times columns the scores are not computed again, and the event stays one of scores.
const MOST_CELLS: usize = 200_000;

/// An event of the difference of two secrets' scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ScoreEvent {
    /// At least this.
    AtLeast(f64),
    /// More than this.
    Above(f64),
    /// At most this.
    AtMost(f64),
}

impl ScoreEvent {
    /// Whether a difference of scores is in the event.
    pub fn contains(self, difference: f64) -> bool {
        match self {
            ScoreEvent::AtLeast(bound) => difference >= bound,
            ScoreEvent::Above(bound) => difference > bound,
            ScoreEvent::AtMost(bound) => difference <= bound,
        }
    }
}

/// An event as a reader would put it. Where it is one of observations, it is the same as that of scores on all
/// observations that were looked at, and nothing is said of others.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// One of these observations, columns separated by commas.
    Outcomes(Vec<String>),
    /// A column of labels has one of these.
    Labels {
        /// The column.
        column: String,
        /// The labels.
        labels: Vec<String>,
    },
    /// A column of numbers is in an interval; one end at least is given.
    Interval {
        /// The column.
        column: String,
        /// The smallest number that was seen inside, if smaller ones are outside.
        at_least: Option<f64>,
        /// The largest number that was seen inside, if larger ones are outside.
        at_most: Option<f64>,
    },
    /// Two events of different columns together.
    Both(Box<[Event; 2]>),
    /// The first secret's score less the second's.
    Score(ScoreEvent),
    /// One of some groups of similar rows, which were formed without looking at secrets and taken because they have
    /// many rows of one.
    Groups {
        /// Those that were taken.
        groups: u64,
        /// All that were formed.
        of: u64,
    },
    /// A row whose secret stayed masked is guessed by what the secrets of others told.
    Guessed {
        /// The columns that tell most, in this order.
        columns: Vec<String>,
    },
}

impl Event {
    /// Puts an event of scores into words of columns, if it can be.
    pub fn describe(
        scorer: &dyn Scorer,
        observations: &Observations,
        rows: &Counts,
        [a, b]: [u32; 2],
        event: ScoreEvent,
    ) -> Event {
        let cells = rows.cells().iter();
        let of_pair = cells.filter(|cell| cell.secret == a || cell.secret == b);
        let mut symbols: Vec<u32> = of_pair.map(|cell| cell.symbol).collect();
        symbols.dedup();
        if symbols.len().saturating_mul(observations.columns().len()) > MOST_CELLS {
            return Event::Score(event);
        }
        let scores = score_table(scorer, observations, symbols.clone(), rows.secrets());
        let sides: Vec<(u32, bool)> = symbols
            .iter()
            .enumerate()
            .map(|(row, &symbol)| {
                let scores = scores.row(row);
                let difference = scores[a as usize] - scores[b as usize];
                (symbol, event.contains(difference))
            })
            .collect();
        let split = Split {
            observations,
            sides: &sides,
        };
        split.named().unwrap_or(Event::Score(event))
    }
}

/// Distinct observations, and whether each is in the event.
struct Split<'a> {
    observations: &'a Observations,
    sides: &'a [(u32, bool)],
}

impl Split<'_> {
    fn named(&self) -> Option<Event> {
        let inside = self.sides.iter().filter(|side| side.1).count();
        if inside == 0 || inside == self.sides.len() {
            return None;
        }
        let listed = || {
            let inside = self.sides.iter().filter(|side| side.1);
            Event::Outcomes(inside.map(|side| self.observations.label(side.0)).collect())
        };
        let columns = self.observations.columns();
        let is_single = columns.len() == 1;
        if inside <= LISTED && is_single && self.observations.kind() == ObservationKind::Discrete {
            return Some(listed());
        }
        let mut parts = self.observations.parts();
        parts
            .find_map(|(column, part)| {
                let name = &columns[column].name;
                match (columns[column].kind, part) {
                    (ColumnType::Numeric, Part::Number(at)) => self.interval(name, at),
                    (ColumnType::Categorical, Part::Label(at)) => self.labels(name, at),
                    _ => None,
                }
            })
            .or_else(|| (inside <= LISTED).then(listed))
    }

    fn interval(&self, column: &str, at: usize) -> Option<Event> {
        let number = |symbol: u32| self.observations.numbers(symbol)[at];
        let ends = |is_inside: bool| {
            let numbers = self.sides.iter().filter(move |side| side.1 == is_inside);
            numbers.map(|side| number(side.0))
        };
        let (low, high) = ends(true).fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
            (low.min(x), high.max(x))
        });
        let is_apart = ends(false).all(|x| x < low || x > high);
        is_apart.then(|| Event::Interval {
            column: column.to_owned(),
            at_least: ends(false).any(|x| x < low).then_some(low),
            at_most: ends(false).any(|x| x > high).then_some(high),
        })
    }

    fn labels(&self, column: &str, at: usize) -> Option<Event> {
        let labels = |is_inside: bool| {
            let sides = self.sides.iter().filter(move |side| side.1 == is_inside);
            sides.map(|side| self.observations.label_at(side.0, at))
        };
        let inside: BTreeSet<&str> = labels(true).collect();
        let is_apart = inside.len() <= LISTED && labels(false).all(|label| !inside.contains(label));
        is_apart.then(|| Event::Labels {
            column: column.to_owned(),
            labels: inside.into_iter().map(str::to_owned).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_log::observations::Cell;

    /// Scores the first secret by a function of the numbers.
    struct By(fn(&[f64]) -> f64);

    impl Scorer for By {
        fn name(&self) -> &str {
            "by"
        }

        fn parameters(&self) -> crate::scorer::Parameters {
            crate::scorer::Parameters::new()
        }

        fn score(&self, observations: &Observations, ids: &[u32], scores: &mut [f64]) {
            for (&id, row) in ids.iter().zip(scores.chunks_mut(2)) {
                row.copy_from_slice(&[(self.0)(observations.numbers(id)), 0.0]);
            }
        }

        fn refit(
            &self,
            _: &Observations,
            _: &Counts,
        ) -> Result<std::sync::Arc<dyn Scorer>, String> {
            Err("not learned".to_owned())
        }
    }

    fn described(scorer: fn(&[f64]) -> f64, event: ScoreEvent) -> Event {
        // Ten points on a line and a second column that says nothing.
        let numbers = (0..10).flat_map(|x| [f64::from(x), f64::from(x * 7 % 3)]);
        let observations = Observations::of_numbers(2, numbers.collect());
        let cells = (0..10).map(|symbol| Cell {
            secret: symbol % 2,
            symbol,
            count: 1,
        });
        let rows = Counts::new(2, cells.collect());
        Event::describe(&By(scorer), &observations, &rows, [0, 1], event)
    }

    #[test]
    fn an_event_of_scores_is_put_in_terms_of_a_column_where_it_can_be() {
        let interval = |at_least, at_most| Event::Interval {
            column: "x0".to_owned(),
            at_least,
            at_most,
        };
        let rising = described(|x| 2.0 * x[0], ScoreEvent::AtLeast(13.0));
        assert_eq!(rising, interval(Some(7.0), None));
        let falling = described(|x| -x[0], ScoreEvent::Above(-3.0));
        assert_eq!(falling, interval(None, Some(2.0)));
        let middle = described(|x| -(x[0] - 4.0).abs(), ScoreEvent::AtLeast(-1.5));
        assert_eq!(middle, interval(Some(3.0), Some(5.0)));
        // Three rows of ten that no column sets apart are listed; half of the rows are not.
        let ends = described(|x| (x[0] - 4.0).abs(), ScoreEvent::AtLeast(4.0));
        let listed = ["0,0", "8,2", "9,0"].map(str::to_owned).to_vec();
        assert_eq!(ends, Event::Outcomes(listed));
        let scattered = described(|x| (x[0] * 0.75).fract(), ScoreEvent::AtMost(0.6));
        assert_eq!(scattered, Event::Score(ScoreEvent::AtMost(0.6)));
        // All rows are no event.
        let all = described(|x| x[0], ScoreEvent::AtLeast(0.0));
        assert_eq!(all, Event::Score(ScoreEvent::AtLeast(0.0)));
    }
}
