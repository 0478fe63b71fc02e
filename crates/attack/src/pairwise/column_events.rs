//! Events of single columns and of two at a time, chosen by what was observed and not by secrets.

use std::collections::{BTreeSet, HashSet};

use super::Event;
use super::ladder::halves;
use leakgauge_log::observations::{Observations, Part};
use leakgauge_stats::secret_blind::{RowSet, TakenRows};

/// Columns with more labels, or more distinct numbers, have no event for each of them.
pub(super) const MOST_VALUES: usize = 32;
/// An event of fewer rows proves little, whatever secrets they have.
const FEWEST_ROWS: u64 = 10;
/// With more columns each event has too little of the level.
const MOST_COLUMNS: usize = 64;
/// With more events of single columns than these, two of them are not taken together.
const MOST_FOR_PAIRS: usize = 128;

/// An event of observations, and the rows that are in it.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnEvent {
    /// In words of columns.
    pub event: Event,
    /// Its rows.
    pub rows: RowSet,
}

/// Events of single columns, and those of two columns together.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnEvents {
    /// A label, a number that recurs, or a tail: from half of the rows down to ten at either end.
    pub single: Vec<ColumnEvent>,
    /// Two of these in different columns.
    pub double: Vec<ColumnEvent>,
}

/// Whether a log has few enough columns.
pub fn are_few(observations: &Observations) -> bool {
    observations.columns().len() <= MOST_COLUMNS
}

/// All events of ten rows or more, and of fewer than all; no two of the same rows.
///
/// # Conditions
/// The types of columns do not depend on secrets; see [`secret_blind`](leakgauge_stats::secret_blind).
pub fn column_events(observations: &Observations, taken: &TakenRows) -> ColumnEvents {
    let of = Columns {
        observations,
        taken,
    };
    let mut single: Vec<(usize, ColumnEvent)> = Vec::new();
    let beside = observations.words_beside_numbers();
    for (column, part) in observations.parts() {
        let found = match part {
            Part::Number(at) => of.numbers(column, at, beside[at]),
            Part::Label(at) => of.labels(column, at),
        };
        single.extend(found.into_iter().map(|event| (column, event)));
    }
    let all = taken.observed().len() as u64;
    let mut known = HashSet::new();
    let mut is_new =
        |rows: &RowSet| (FEWEST_ROWS..all).contains(&rows.len()) && known.insert(rows.clone());
    single.retain(|(_, event)| is_new(&event.rows));
    let mut double = Vec::new();
    if single.len() <= MOST_FOR_PAIRS {
        for (at, (column, first)) in single.iter().enumerate() {
            for (_, second) in single[at + 1..].iter().filter(|other| other.0 != *column) {
                let rows = first.rows.and(&second.rows);
                if is_new(&rows) {
                    let event = Event::Both(Box::new([first.event.clone(), second.event.clone()]));
                    double.push(ColumnEvent { event, rows });
                }
            }
        }
    }
    let single = single.into_iter().map(|(_, event)| event).collect();
    ColumnEvents { single, double }
}

struct Columns<'a> {
    observations: &'a Observations,
    taken: &'a TakenRows,
}

impl Columns<'_> {
    fn event(&self, event: Event, contains: impl Fn(u32) -> bool) -> ColumnEvent {
        let observed = self.taken.observed();
        ColumnEvent {
            event,
            rows: RowSet::new(observed.len(), |row| contains(observed[row])),
        }
    }

    /// An event for each label, if they are few.
    fn labels(&self, column: usize, at: usize) -> Vec<ColumnEvent> {
        let label = |symbol: u32| self.observations.label_at(symbol, at);
        let mut labels = BTreeSet::new();
        for &symbol in self.taken.observed() {
            labels.insert(label(symbol));
            if labels.len() > MOST_VALUES {
                return Vec::new();
            }
        }
        let name = &self.observations.columns()[column].name;
        let of_label = |&wanted: &&str| {
            let event = Event::Labels {
                column: name.clone(),
                labels: vec![wanted.to_owned()],
            };
            self.event(event, |symbol| label(symbol) == wanted)
        };
        labels.iter().map(of_label).collect()
    }

    /// Both tails of the numbers at a position, and each number if they are few. Rows that hold a word are in none.
    fn numbers(&self, column: usize, at: usize, word: Option<usize>) -> Vec<ColumnEvent> {
        let number = |symbol: u32| self.observations.number_at(symbol, at, word);
        let observed = self.taken.observed().iter();
        let mut numbers: Vec<f64> = observed.filter_map(|&symbol| number(symbol)).collect();
        numbers.sort_unstable_by(f64::total_cmp);
        let name = &self.observations.columns()[column].name;
        let interval = |at_least: Option<f64>, at_most: Option<f64>| {
            let event = Event::Interval {
                column: name.clone(),
                at_least,
                at_most,
            };
            self.event(event, |symbol| {
                number(symbol).is_some_and(|number| {
                    at_least.is_none_or(|low| number >= low)
                        && at_most.is_none_or(|high| number <= high)
                })
            })
        };
        let mut found: Vec<ColumnEvent> = halves(numbers.len() as u64)
            .flat_map(|rows| {
                let rows = rows as usize;
                let (low, high) = (numbers[rows - 1], numbers[numbers.len() - rows]);
                [interval(None, Some(low)), interval(Some(high), None)]
            })
            .collect();
        numbers.dedup();
        if numbers.len() <= MOST_VALUES {
            let each = numbers.iter();
            found.extend(each.map(|&number| interval(Some(number), Some(number))));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_testing::rng;

    /// 400 rows of two columns: the first is 0 or 1, the second counts from 0 to 399.
    fn taken() -> (Observations, TakenRows) {
        let numbers = (0..400).flat_map(|row| [f64::from(row % 2), f64::from(row)]);
        let observations = Observations::of_numbers(2, numbers.collect());
        let counts: Vec<(u32, [u64; 2])> = (0..400)
            .map(|row| (row, if row < 200 { [1, 0] } else { [0, 1] }))
            .collect();
        let taken = TakenRows::take(&counts, &mut rng(1)).expect("enough rows");
        (observations, taken)
    }

    #[test]
    fn columns_have_tails_and_values() {
        let (observations, taken) = taken();
        let found = column_events(&observations, &taken);
        let of = |name: &str| {
            let events = found.single.iter().filter(|found| match &found.event {
                Event::Interval { column, .. } => column == name,
                _ => false,
            });
            events.map(|found| found.rows.len()).collect::<Vec<_>>()
        };
        // Two numbers: what is at most 0, and what is at least 1.
        assert_eq!(of("x0").len(), 2);
        assert_eq!(of("x0").iter().sum::<u64>(), taken.observed().len() as u64);
        let half = taken.observed().len() as u64 / 2;
        let tails: Vec<u64> = [half, half / 2, half / 4, half / 8, half / 16]
            .iter()
            .filter(|&&rows| rows >= FEWEST_ROWS)
            .flat_map(|&rows| [rows, rows])
            .collect();
        assert_eq!(of("x1"), tails);
    }

    /// An event of two columns has the rows that both have, and none is a single one again.
    #[test]
    fn two_columns_are_taken_together() {
        let (observations, taken) = taken();
        let found = column_events(&observations, &taken);
        assert!(!found.double.is_empty());
        for double in &found.double {
            let Event::Both(both) = &double.event else {
                panic!("an event of two columns");
            };
            let rows = both.each_ref().map(|wanted| {
                let of = found.single.iter().find(|single| single.event == *wanted);
                &of.expect("a single event").rows
            });
            assert_eq!(double.rows, rows[0].and(rows[1]));
            assert!(found.single.iter().all(|single| single.rows != double.rows));
        }
    }
}
