//! Words among numbers, counted for the report.

use std::collections::BTreeMap;

use leakgauge_base::error::shorten;

use crate::observations::{ColumnType, Counts, NUMBER, Observations, Part};
use crate::row::MISSING;

/// Words that are shown.
const SHOWN: usize = 3;
/// Longer words are not named as a condition.
const NAMED: usize = 30;

/// The words that a column of numbers holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Words {
    /// The name of the column.
    pub column: String,
    /// The most frequent words, and the rows used that have them.
    pub most: Vec<(String, u64)>,
    /// How many different words there are.
    pub different: usize,
    /// The rows used that have a word.
    pub rows: u64,
    /// The rows used that have a number.
    pub numbers: u64,
}

impl Words {
    /// Whether nothing but blanks stands among the numbers.
    pub fn are_blank(&self) -> bool {
        self.different == 1 && self.most.iter().all(|(word, _)| word.is_empty())
    }

    /// Whether the column holds an element of lists, and nothing stands among its numbers but that some lists lack it.
    pub fn are_of_short_lists(&self) -> bool {
        let place = self
            .column
            .strip_suffix(']')
            .and_then(|name| name.rsplit_once('['));
        let is_element = place.is_some_and(|(_, place)| place.parse::<u32>().is_ok());
        is_element && self.different == 1 && self.most.iter().all(|(word, _)| word == MISSING)
    }

    /// The condition on rows that have one of the words, as an option takes it; `None` where it cannot name all of them.
    pub fn condition(&self) -> Option<String> {
        let can_be_named = |word: &str| {
            !word.is_empty() && word.len() < NAMED && word.trim() == word && !word.contains(',')
        };
        let words = self.most.iter().map(|(word, _)| word.as_str());
        let words: Vec<&str> = words.filter(|word| can_be_named(word)).collect();
        (words.len() == self.different)
            .then(|| format!("{}={}", shorten(&self.column), words.join(",")))
    }
}

/// The words of every mixed column of a log.
pub(crate) fn find(observations: &Observations, counts: &Counts) -> Vec<Words> {
    let columns = observations.columns();
    let parts = observations.parts();
    let mixed = parts.filter(|&(column, _)| columns[column].kind == ColumnType::Mixed);
    mixed
        .filter_map(|(column, part)| match part {
            Part::Label(at) => Some(of_column(&columns[column].name, at, observations, counts)),
            Part::Number(_) => None,
        })
        .collect()
}

fn of_column(name: &str, at: usize, observations: &Observations, counts: &Counts) -> Words {
    let mut by_word: BTreeMap<&str, u64> = BTreeMap::new();
    for cell in counts.cells() {
        *by_word
            .entry(observations.label_at(cell.symbol, at))
            .or_default() += cell.count;
    }
    let numbers = by_word.remove(NUMBER).unwrap_or(0);
    let mut most: Vec<(String, u64)> = by_word
        .into_iter()
        .map(|(word, rows)| (word.to_owned(), rows))
        .collect();
    most.sort_by_key(|(_, rows)| std::cmp::Reverse(*rows));
    let (different, rows) = (most.len(), most.iter().map(|(_, rows)| rows).sum());
    most.truncate(SHOWN);
    Words {
        column: name.to_owned(),
        most,
        different,
        rows,
        numbers,
    }
}
