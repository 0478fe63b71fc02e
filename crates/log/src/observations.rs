//! The distinct observations of a log, and how often each secret produced each of them.
//!
//! Rows that are equal are exchangeable, so a log is kept as counts: one [`Observations`] table of
//! distinct observations and one [`Counts`] table per part of the log. A continuous log has nearly as
//! many distinct observations as rows; a discrete one has few, however long it is.

use serde::Serialize;

use leakgauge_base::error::shorten;
use leakgauge_stats::random::Digest;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ColumnType {
    /// Numbers: order and distance mean something.
    Numeric,
    /// Labels that are equal or not.
    Categorical,
    /// Numbers, and in some rows a word in place of one: `timeout`, a blank.
    Mixed,
}

/// What the label of a mixed column is where it holds a number.
pub const NUMBER: &str = "(number)";

/// Where an attack finds a column in an observation. A mixed column has two places: its number, which is 0 where it
/// holds a word, and its word, which is [`NUMBER`] where it holds a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The position among [`Observations::numbers`].
    Number(usize),
    /// The position among the labels of a category.
    Label(usize),
}

/// What kind of thing an observer sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ObservationKind {
    /// Labels, or integers that recur: limits from above exist.
    Discrete,
    /// Numbers.
    Numeric,
    /// Labels and numbers.
    Mixed,
}

/// An observation column.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Column {
    /// Its name in the file, or its number.
    pub name: String,
    /// Numbers or categories.
    #[serde(rename = "type")]
    pub kind: ColumnType,
    /// The width of the bins it was reduced to, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolution: Option<f64>,
}

/// Which columns an observer sees in bins, in words; `None` if all are seen exactly.
pub fn bins(columns: &[Column]) -> Option<String> {
    let bins: Vec<String> = columns
        .iter()
        .filter_map(|column| {
            let width = column.resolution?;
            Some(format!("{} in bins of {width}", shorten(&column.name)))
        })
        .collect();
    (!bins.is_empty()).then(|| bins.join(" and "))
}

/// The distinct observations of a log, in a canonical order that does not depend on the order of rows.
#[derive(Debug, Clone)]
pub struct Observations {
    pub(crate) kind: ObservationKind,
    pub(crate) columns: Vec<Column>,
    /// Row-major, `len × dimensions`; 0 where a mixed column holds a word.
    pub(crate) numbers: Vec<f64>,
    /// One per observation; empty if all columns are numeric.
    pub(crate) category: Vec<u32>,
    /// The label tuple of each category, in the order of the categorical and mixed columns.
    pub(crate) categories: Vec<Vec<String>>,
    pub(crate) len: usize,
}

impl Observations {
    /// Observations of numbers, row-major: `numbers` holds `rows × columns` of them.
    ///
    /// # Panics
    /// Numbers that are not a whole number of rows.
    pub fn of_numbers(columns: usize, numbers: Vec<f64>) -> Self {
        assert_eq!(
            numbers.len() % columns,
            0,
            "whole rows of {columns} numbers"
        );
        let column = |at: usize| Column {
            name: format!("x{at}"),
            kind: ColumnType::Numeric,
            resolution: None,
        };
        Observations {
            kind: ObservationKind::Numeric,
            columns: (0..columns).map(column).collect(),
            len: numbers.len() / columns,
            numbers,
            category: Vec::new(),
            categories: Vec::new(),
        }
    }

    /// The same columns with other numbers, row-major, each distinct row of them once, as what an observer sees.
    #[must_use]
    pub fn with_numbers(&self, numbers: Vec<f64>) -> Self {
        Observations {
            kind: ObservationKind::Numeric,
            columns: self.columns.clone(),
            len: numbers.len() / self.columns.len().max(1),
            numbers,
            category: Vec::new(),
            categories: Vec::new(),
        }
    }

    /// Discrete, numeric or mixed.
    pub fn kind(&self) -> ObservationKind {
        self.kind
    }

    /// The observation columns.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The number of distinct observations.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The parts of an observation, each with the position of its column: in the order of columns, of a mixed column
    /// the number first.
    pub fn parts(&self) -> impl Iterator<Item = (usize, Part)> + '_ {
        let (mut numbers, mut labels) = (0, 0);
        self.columns
            .iter()
            .enumerate()
            .flat_map(move |(at, column)| {
                let number = (column.kind != ColumnType::Categorical).then(|| {
                    numbers += 1;
                    (at, Part::Number(numbers - 1))
                });
                let label = (column.kind != ColumnType::Numeric).then(|| {
                    labels += 1;
                    (at, Part::Label(labels - 1))
                });
                number.into_iter().chain(label)
            })
    }

    /// The label of an observation at a position among the labels of its category.
    pub fn label_at(&self, symbol: u32, at: usize) -> &str {
        &self.categories[self.category(symbol) as usize][at]
    }

    /// For each position among numbers, that of the word beside it among labels; `None` where the column is numeric.
    pub fn words_beside_numbers(&self) -> Vec<Option<usize>> {
        let (mut words, mut last) = (Vec::new(), None);
        for (column, part) in self.parts() {
            match part {
                Part::Number(_) => {
                    words.push(None);
                    last = Some(column);
                }
                Part::Label(at) if last == Some(column) => {
                    *words.last_mut().expect("its number comes first") = Some(at);
                }
                Part::Label(_) => {}
            }
        }
        words
    }

    /// The number of an observation at a position among numbers; `None` where it holds a word instead. `word` is where
    /// that stands among labels, as [`words_beside_numbers`](Self::words_beside_numbers) has it.
    pub fn number_at(&self, symbol: u32, at: usize, word: Option<usize>) -> Option<f64> {
        let is_number = word.is_none_or(|word| self.label_at(symbol, word) == NUMBER);
        is_number.then(|| self.numbers(symbol)[at])
    }

    /// The number of an observation in a column; `None` if it holds a label or a word.
    pub fn number_in(&self, symbol: u32, column: usize) -> Option<f64> {
        let mut number = None;
        for (_, part) in self.parts().filter(|&(of, _)| of == column) {
            match part {
                Part::Number(at) => number = Some(self.numbers(symbol)[at]),
                Part::Label(at) if self.label_at(symbol, at) == NUMBER => {}
                Part::Label(_) => return None,
            }
        }
        number
    }

    /// The number of columns that hold numbers, all or some of them.
    pub fn dimensions(&self) -> usize {
        // Asked for every observation: not to be counted over the columns each time.
        self.numbers.len().checked_div(self.len).unwrap_or(0)
    }

    /// The numeric part of an observation; 0 where a mixed column holds a word.
    pub fn numbers(&self, symbol: u32) -> &[f64] {
        let d = self.dimensions();
        &self.numbers[symbol as usize * d..(symbol as usize + 1) * d]
    }

    /// All numeric parts, row-major.
    pub fn all_numbers(&self) -> &[f64] {
        &self.numbers
    }

    /// The categorical part of an observation; 0 if there is none.
    pub fn category(&self, symbol: u32) -> u32 {
        self.category.get(symbol as usize).copied().unwrap_or(0)
    }

    /// The number of distinct categorical parts, at least 1.
    pub fn category_count(&self) -> usize {
        self.categories.len().max(1)
    }

    /// The label tuple of each categorical part, in the order of the categorical and mixed columns; empty if there
    /// are none.
    pub fn categories(&self) -> &[Vec<String>] {
        &self.categories
    }

    /// The name of a column that holds numbers, counted among these.
    pub fn numeric_name(&self, column: usize) -> String {
        let mut parts = self.parts();
        let found = parts.find(|&(_, part)| part == Part::Number(column));
        found.map_or_else(String::new, |(at, _)| self.columns[at].name.clone())
    }

    /// An observation as a reader would write it, columns separated by commas.
    pub fn label(&self, symbol: u32) -> String {
        let mut numbers = if self.dimensions() > 0 {
            self.numbers(symbol)
        } else {
            &[]
        }
        .iter();
        let mut labels = self
            .categories
            .get(self.category(symbol) as usize)
            .map_or(&[][..], Vec::as_slice)
            .iter();
        let parts: Vec<String> = self
            .columns
            .iter()
            .map(|column| {
                let is_number = column.kind != ColumnType::Categorical;
                let number = is_number.then(|| numbers.next()).flatten();
                let is_label = column.kind != ColumnType::Numeric;
                let label = is_label.then(|| labels.next()).flatten();
                match (number, label) {
                    (Some(number), None) => number.to_string(),
                    (Some(number), Some(word)) if word == NUMBER => number.to_string(),
                    (_, label) => label.cloned().unwrap_or_default(),
                }
            })
            .collect();
        parts.join(",")
    }
}

/// How often a secret produced an observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// The secret's number.
    pub secret: u32,
    /// The observation's number.
    pub symbol: u32,
    /// The number of rows.
    pub count: u64,
}

/// Rows of a log as counts: cells sorted by observation, then secret, none of them empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counts {
    cells: Vec<Cell>,
    rows: Vec<u64>,
}

impl Counts {
    /// Counts over `secrets` secrets from cells in any order; equal cells are added up.
    pub fn new(secrets: usize, mut cells: Vec<Cell>) -> Self {
        if !cells.is_sorted_by_key(|cell| (cell.symbol, cell.secret)) {
            cells.sort_unstable_by_key(|cell| (cell.symbol, cell.secret));
        }
        cells.dedup_by(|next, kept| {
            let same = (next.symbol, next.secret) == (kept.symbol, kept.secret);
            if same {
                kept.count += next.count;
            }
            same
        });
        cells.retain(|cell| cell.count > 0);
        let mut rows = vec![0; secrets];
        for cell in &cells {
            rows[cell.secret as usize] += cell.count;
        }
        Counts { cells, rows }
    }

    /// All cells, by observation, then secret.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// The number of rows of each secret.
    pub fn rows(&self) -> &[u64] {
        &self.rows
    }

    /// A digest of all cells: the same for a log and for its counts.
    pub fn digest(&self) -> Digest {
        let place = |cell: &Cell| u64::from(cell.symbol) << 32 | u64::from(cell.secret);
        let cells = self.cells.iter();
        Digest::EMPTY.with_all(cells.flat_map(|cell| [place(cell), cell.count]))
    }

    /// The number of rows of all secrets.
    pub fn total(&self) -> u64 {
        self.rows.iter().sum()
    }

    /// The number of secrets, with rows or without.
    pub fn secrets(&self) -> usize {
        self.rows.len()
    }

    /// The cells of one observation at a time.
    pub fn by_symbol(&self) -> impl Iterator<Item = &[Cell]> {
        self.cells.chunk_by(|a, b| a.symbol == b.symbol)
    }

    /// The distinct observations that occur, in order.
    pub fn symbols(&self) -> Vec<u32> {
        self.by_symbol().map(|cells| cells[0].symbol).collect()
    }

    /// These rows and those of another part of the same log.
    #[must_use]
    pub fn plus(&self, other: &Counts) -> Counts {
        let place = |cell: &Cell| (cell.symbol, cell.secret);
        let mut cells = Vec::with_capacity(self.cells.len().max(other.cells.len()));
        let mut rest = &other.cells[..];
        // Both are sorted: nothing is to be sorted again.
        for cell in &self.cells {
            let before = rest.iter().take_while(|next| place(next) < place(cell));
            let (before, later) = rest.split_at(before.count());
            cells.extend_from_slice(before);
            let equal = later.first().filter(|next| place(next) == place(cell));
            let count = cell.count + equal.map_or(0, |equal| equal.count);
            cells.push(Cell { count, ..*cell });
            rest = &later[usize::from(equal.is_some())..];
        }
        cells.extend_from_slice(rest);
        let rows = self.rows.iter().zip(&other.rows);
        Counts {
            cells,
            rows: rows.map(|(these, those)| these + those).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_cells_are_added_and_sorted() {
        let cell = |secret, symbol, count| Cell {
            secret,
            symbol,
            count,
        };
        let counts = Counts::new(
            3,
            vec![
                cell(1, 5, 2),
                cell(0, 5, 1),
                cell(1, 2, 4),
                cell(1, 5, 3),
                cell(0, 9, 0),
            ],
        );
        assert_eq!(
            counts.cells(),
            &[cell(1, 2, 4), cell(0, 5, 1), cell(1, 5, 5)]
        );
        assert_eq!(counts.rows(), &[1, 9, 0]);
        assert_eq!(counts.symbols(), vec![2, 5]);
    }

    #[test]
    fn parts_add_up_to_what_their_cells_give_together() {
        let cells = |factor: u32, sizes: u32| -> Vec<Cell> {
            let cell = |at: u32| Cell {
                secret: at * factor % 7,
                symbol: at * factor % 23,
                count: u64::from(at % 3),
            };
            (0..sizes).map(cell).collect()
        };
        for (sizes, others) in [(0, 0), (0, 9), (9, 0), (40, 90), (161, 161)] {
            let (these, those) = (cells(5, sizes), cells(11, others));
            let together = Counts::new(7, [these.clone(), those.clone()].concat());
            let sum = Counts::new(7, these).plus(&Counts::new(7, those));
            assert_eq!(sum, together);
        }
    }
}
