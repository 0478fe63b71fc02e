//! What a mechanism answered: rows of columns, and which input each row is of.

use hashbrown::HashMap;

use leakgauge_attack::scorer::lowest_bit;
use leakgauge_base::error::{Error, Result};
use leakgauge_log::{Log, LogBuilder, Value};
use leakgauge_sequential::attackers::Seen;

/// A value in an output.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// A number. One that is not finite is a word to the attacks: `nan`, `inf`, `-inf`.
    Number(f64),
    /// An integer.
    Integer(i64),
    /// A text, or anything else that is equal or not.
    Word(String),
    /// No value.
    Missing,
}

/// One column of outputs.
#[derive(Debug, Clone, PartialEq)]
pub enum Column {
    /// Numbers.
    Numbers(Vec<f64>),
    /// Integers.
    Integers(Vec<i64>),
    /// Anything.
    Cells(Vec<Cell>),
}

impl Column {
    /// The number of rows.
    pub fn len(&self) -> usize {
        match self {
            Column::Numbers(values) => values.len(),
            Column::Integers(values) => values.len(),
            Column::Cells(cells) => cells.len(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number in a row; NaN where there is none.
    #[inline]
    pub fn number(&self, row: usize) -> f64 {
        match self {
            Column::Numbers(values) => values[row],
            Column::Integers(values) => values[row] as f64,
            Column::Cells(cells) => match cells[row] {
                Cell::Number(value) => value,
                Cell::Integer(value) => value as f64,
                Cell::Word(_) | Cell::Missing => f64::NAN,
            },
        }
    }

    /// Whether the number in a row is the value itself: larger integers share numbers.
    fn is_exact(&self, row: usize) -> bool {
        const LARGEST: u64 = 1 << 53;
        let is_exact = |value: i64| value.unsigned_abs() <= LARGEST;
        match self {
            Column::Numbers(_) => true,
            Column::Integers(values) => is_exact(values[row]),
            Column::Cells(cells) => match cells[row] {
                Cell::Integer(value) => is_exact(value),
                _ => true,
            },
        }
    }

    pub(crate) fn cell(&self, row: usize) -> Cell {
        match self {
            Column::Numbers(values) => Cell::Number(values[row]),
            Column::Integers(values) => Cell::Integer(values[row]),
            Column::Cells(cells) => cells[row].clone(),
        }
    }

    fn cells(&self) -> Vec<Cell> {
        (0..self.len()).map(|row| self.cell(row)).collect()
    }

    /// Adds rows, and becomes more general where their type asks for it.
    fn append(&mut self, more: Column) {
        match (&mut *self, more) {
            (Column::Numbers(values), Column::Numbers(more)) => values.extend(more),
            (Column::Integers(values), Column::Integers(more)) => values.extend(more),
            (Column::Cells(cells), Column::Cells(more)) => cells.extend(more),
            (_, more) => {
                let mut cells = self.cells();
                cells.extend(more.cells());
                *self = Column::Cells(cells);
            }
        }
    }
}

/// All outputs so far.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    columns: Vec<Column>,
    /// One a row: the number of an output that is one number, else the output's own NaN. Equal bits are equal outputs.
    keys: Vec<f64>,
    texts: HashMap<String, u64>,
    /// For each input, its rows in the order in which they were drawn.
    by_input: Vec<Vec<u32>>,
}

impl Samples {
    /// No outputs of so many inputs.
    pub fn new(inputs: usize) -> Self {
        Samples {
            by_input: vec![Vec::new(); inputs],
            ..Samples::default()
        }
    }

    /// Takes the outputs of draws, in their order.
    ///
    /// # Errors
    /// Another number of rows than was asked for, or of columns than before.
    pub fn push(&mut self, draws: &[(usize, usize)], columns: Vec<Column>) -> Result<()> {
        let wanted: usize = draws.iter().map(|draw| draw.1).sum();
        let expected = if self.columns.is_empty() {
            columns.len()
        } else {
            self.columns.len()
        };
        if columns.len() != expected || columns.is_empty() {
            let problem = format!(
                "have {} columns where {expected} are expected",
                columns.len()
            );
            return Err(Error::parameter("outputs", problem));
        }
        if let Some(other) = columns.iter().find(|column| column.len() != wanted) {
            let problem = format!("are {} where {wanted} were asked for", other.len());
            return Err(Error::parameter("outputs", problem));
        }
        let first = self.keys.len();
        if self.columns.is_empty() {
            self.columns = columns;
        } else {
            let pairs = self.columns.iter_mut().zip(columns);
            pairs.for_each(|(column, more)| column.append(more));
        }
        for row in first..first + wanted {
            let key = self.key(row);
            self.keys.push(key);
        }
        let mut row = first as u32;
        for &(input, count) in draws {
            self.by_input[input].extend(row..row + count as u32);
            row += count as u32;
        }
        Ok(())
    }

    fn key(&mut self, row: usize) -> f64 {
        if let [column] = &self.columns[..] {
            let number = column.number(row);
            if !number.is_nan() && column.is_exact(row) {
                return number;
            }
        }
        let cells: Vec<Cell> = self.columns.iter().map(|column| column.cell(row)).collect();
        let text = format!("{cells:?}");
        let next = self.texts.len() as u64 + 1;
        let number = *self.texts.entry(text).or_insert(next);
        f64::from_bits(0x7ff8_0000_0000_0000 | number)
    }

    pub fn len(&self) -> usize {
        self.keys.len()
    }

    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The bits that equal outputs share.
    #[inline]
    pub fn key_bits(&self, row: u32) -> u64 {
        self.keys[row as usize].to_bits()
    }

    #[inline]
    pub fn number(&self, column: usize, row: u32) -> f64 {
        self.columns[column].number(row as usize)
    }

    /// The rows of an input.
    pub fn rows(&self, input: usize) -> &[u32] {
        &self.by_input[input]
    }

    pub fn inputs(&self) -> usize {
        self.by_input.len()
    }

    /// How many distinct outputs there are among these rows, up to `most` + 1.
    pub fn distinct(&self, rows: &[u32], most: usize) -> usize {
        let mut seen = hashbrown::HashSet::new();
        for &row in rows {
            if seen.len() > most {
                break;
            }
            seen.insert(self.key_bits(row));
        }
        seen.len()
    }

    /// A log of some rows, each with its input's number for a secret, in their order.
    ///
    /// # Errors
    /// Those of [`LogBuilder::build`].
    pub fn log(&self, rows: &[(usize, u32)]) -> Result<Log> {
        let secrets: Vec<String> = rows.iter().map(|row| label(row.0)).collect();
        let mut log = LogBuilder::new().secrets(&secrets).keep_order();
        for (at, column) in self.columns.iter().enumerate() {
            let name = format!("output{at}");
            let cells = rows.iter().map(|row| column.cell(row.1 as usize));
            log = with_column(log, &name, &cells.collect::<Vec<_>>());
        }
        log.build()
    }
}

/// The label of an input in a log: labels sort as inputs do.
fn label(input: usize) -> String {
    format!("i{input:06}")
}

fn with_column(log: LogBuilder, name: &str, cells: &[Cell]) -> LogBuilder {
    let are = |is: fn(&Cell) -> bool| cells.iter().all(is);
    if are(|cell| matches!(cell, Cell::Word(_) | Cell::Missing)) {
        let labels: Vec<Option<&str>> = cells
            .iter()
            .map(|cell| match cell {
                Cell::Word(word) => Some(word.as_str()),
                _ => None,
            })
            .collect();
        return log.optional_labels(name, &labels);
    }
    // A word of a column of numbers must not begin like one.
    let words: Vec<String> = cells
        .iter()
        .map(|cell| match cell {
            Cell::Word(word) => format!("word {word}"),
            Cell::Number(value) if !value.is_finite() => format!("not finite {value}"),
            _ => String::new(),
        })
        .collect();
    let values: Vec<Value> = cells
        .iter()
        .zip(&words)
        .map(|(cell, word)| match cell {
            Cell::Integer(value) => Value::Integer(*value),
            Cell::Number(value) if value.is_finite() => Value::Number(*value),
            Cell::Missing => Value::Missing,
            Cell::Word(_) | Cell::Number(_) => Value::Label(word),
        })
        .collect();
    log.mixed(name, &values)
}

impl Seen for Samples {
    #[inline]
    fn number(&self, column: usize, row: u32) -> f64 {
        Samples::number(self, column, row)
    }

    #[inline]
    fn key(&self, row: u32) -> u64 {
        self.key_bits(row)
    }

    #[inline]
    fn lowest_bit(&self, column: usize, row: u32) -> u64 {
        lowest_bit(Samples::number(self, column, row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_keep_their_inputs_and_equal_ones_share_bits() {
        let mut samples = Samples::new(2);
        let numbers = |values: &[f64]| vec![Column::Numbers(values.to_vec())];
        samples
            .push(&[(1, 2), (0, 1)], numbers(&[0.5, 1.0, 0.5]))
            .unwrap();
        let words = vec![
            Cell::Word("stop".into()),
            Cell::Missing,
            Cell::Word("stop".into()),
        ];
        samples.push(&[(0, 3)], vec![Column::Cells(words)]).unwrap();
        assert_eq!(
            (samples.rows(1), samples.rows(0)),
            (&[0, 1][..], &[2, 3, 4, 5][..])
        );
        assert_eq!(samples.key_bits(0), samples.key_bits(2));
        assert_eq!(samples.key_bits(3), samples.key_bits(5));
        assert_ne!(samples.key_bits(3), samples.key_bits(4));
        assert!(samples.number(0, 4).is_nan() && samples.number(0, 1) == 1.0);
        assert_eq!(samples.distinct(&[0, 1, 2, 3, 4, 5], 10), 4);
        let log = samples.log(&[(0, 2), (1, 0), (0, 3), (0, 4)]).unwrap();
        assert_eq!((log.secrets.len(), log.counts.total()), (2, 4));
        let sequence = log.sequence.expect("the order is kept");
        assert_eq!(sequence[0].1, sequence[1].1);
    }

    /// As floating-point numbers these integers are equal.
    #[test]
    fn large_integers_are_told_apart() {
        let mut samples = Samples::new(1);
        let large = vec![1 << 60, (1 << 60) + 1, 1 << 60, 7];
        let column = vec![Column::Integers(large)];
        samples.push(&[(0, 4)], column).unwrap();
        assert_ne!(samples.key_bits(0), samples.key_bits(1));
        assert_eq!(samples.key_bits(0), samples.key_bits(2));
        assert_eq!(samples.key_bits(3), 7f64.to_bits());
    }

    #[test]
    fn outputs_of_another_shape_are_refused() {
        let mut samples = Samples::new(1);
        let column = || Column::Integers(vec![1, 2]);
        assert!(samples.push(&[(0, 3)], vec![column()]).is_err());
        samples.push(&[(0, 2)], vec![column()]).unwrap();
        assert!(samples.push(&[(0, 2)], vec![column(), column()]).is_err());
    }
}
