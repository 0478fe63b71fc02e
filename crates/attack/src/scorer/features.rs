//! What a regression sees of an observation: numbers, and whether a cell holds a certain value.
//!
//! A column may hold numbers that are none: −1 where there was no answer, 0 where an answer was suppressed. Such a
//! value recurs among numbers that do not. It becomes a feature of its own, 0 or 1, and so does every label that is
//! not rare.

use hashbrown::HashMap;

use crate::scorer::scaling::Scaling;
use leakgauge_log::observations::{Counts, Observations, Part};

/// The features of a log's columns.
pub struct Features {
    scaling: Scaling,
    /// For each scaled column.
    numbers: Vec<Number>,
    /// For each position of labels, the place of each label's feature.
    labels: Vec<HashMap<String, usize>>,
    /// Their number.
    len: usize,
}

/// A scaled column.
struct Number {
    column: usize,
    /// The position of the words beside the numbers, if there are any.
    word: Option<usize>,
    /// Where the column lies; 0 where all columns lie near 0.
    center: f64,
    /// The bits of each value that recurs, with the place of its feature.
    recurring: Vec<(u64, usize)>,
}

/// An optimizer's line search need not end where columns lie this many spreads from 0.
const FAR: f64 = 1e4;
/// What lies farther from its column's center than this is taken to lie there.
const FARTHEST: f64 = 1e3;
/// Values of a column, or labels, that are features of their own.
const MOST: usize = 16;
/// Rows that such a value has at least, and their share.
const LEAST: (u64, f64) = (20, 0.005);

impl Features {
    /// Learned on the fit rows.
    pub fn fit(observations: &Observations, fit: &Counts) -> Self {
        let recurring: Vec<Vec<u64>> = (0..observations.dimensions())
            .map(|column| recurring(observations, fit, column))
            .collect();
        let is_number = |column: usize, value: f64| !recurring[column].contains(&bits(value));
        let scaling = Scaling::fit_to(observations, fit, is_number);
        let words = observations.words_beside_numbers();
        let mut len = scaling.dimensions();
        let mut place = || {
            len += 1;
            len - 1
        };
        let numbers = scaling.columns().map(|column| Number {
            column,
            word: words[column],
            center: 0.0,
            recurring: recurring[column]
                .iter()
                .map(|&bits| (bits, place()))
                .collect(),
        });
        let numbers = numbers.collect();
        let mut labels = Vec::new();
        for (_, part) in observations.parts() {
            if let Part::Label(at) = part {
                let frequent = self::labels(observations, fit, at).into_iter();
                labels.push(frequent.map(|label| (label, place())).collect());
            }
        }
        let mut features = Features {
            scaling,
            numbers,
            labels,
            len,
        };
        features.center(observations, fit);
        features
    }

    /// The number of features.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Sets centers to the medians of the scaled columns, if any number lies far from 0.
    fn center(&mut self, observations: &Observations, fit: &Counts) {
        let (mut columns, mut scaled) = (vec![Vec::new(); self.numbers.len()], Vec::new());
        for cell in fit.cells() {
            self.scaling
                .apply(observations.numbers(cell.symbol), &mut scaled);
            for ((number, column), &value) in self.numbers.iter().zip(&mut columns).zip(&scaled) {
                if number.is_one(observations, cell.symbol) {
                    column.push(value);
                }
            }
        }
        let is_far = |value: &f64| value.is_nan() || value.abs() > FAR;
        if columns.iter().flatten().any(is_far) {
            for (number, column) in self.numbers.iter_mut().zip(&mut columns) {
                column.sort_unstable_by(f64::total_cmp);
                number.center = column.get(column.len() / 2).copied().unwrap_or(0.0);
            }
        }
    }

    /// Replaces `values` by the features of an observation.
    pub fn apply(&self, observations: &Observations, symbol: u32, values: &mut Vec<f64>) {
        let numbers = observations.numbers(symbol);
        self.scaling.apply(numbers, values);
        values.resize(self.len, 0.0);
        for (at, number) in self.numbers.iter().enumerate() {
            let value = bits(numbers[number.column]);
            let mut recurring = number.recurring.iter();
            if let Some(&(_, place)) = recurring.find(|(bits, _)| *bits == value) {
                values[place] = 1.0;
            }
            values[at] = if number.is_one(observations, symbol) {
                number.placed(values[at])
            } else {
                0.0
            };
        }
        for (at, labels) in self.labels.iter().enumerate() {
            if let Some(&place) = labels.get(observations.label_at(symbol, at)) {
                values[place] = 1.0;
            }
        }
    }
}

impl Number {
    /// Whether an observation has a number here, and not a word or a value that recurs.
    fn is_one(&self, observations: &Observations, symbol: u32) -> bool {
        let number = observations.number_at(symbol, self.column, self.word);
        number.is_some_and(|number| {
            let value = bits(number);
            self.recurring.iter().all(|(bits, _)| *bits != value)
        })
    }

    /// A scaled number relative to the center.
    fn placed(&self, scaled: f64) -> f64 {
        let from_center = scaled - self.center;
        if from_center.is_nan() {
            0.0
        } else if self.center == 0.0 {
            from_center
        } else {
            from_center.clamp(-FARTHEST, FARTHEST)
        }
    }
}

/// −0 is 0.
fn bits(value: f64) -> u64 {
    (value + 0.0).to_bits()
}

/// What has many rows, the most first.
fn frequent<T: Ord>(rows: HashMap<T, u64>, total: u64) -> Vec<T> {
    let (least, share) = LEAST;
    let least = least.max((share * total as f64) as u64);
    let rows = rows.into_iter().filter(|(_, rows)| *rows >= least);
    let mut rows: Vec<(u64, T)> = rows.map(|(value, rows)| (rows, value)).collect();
    rows.sort_unstable_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    rows.truncate(MOST);
    rows.into_iter().map(|(_, value)| value).collect()
}

/// The bits of the values of a numeric column that recur; none where those that do not are not many.
fn recurring(observations: &Observations, fit: &Counts, column: usize) -> Vec<u64> {
    let mut rows: HashMap<u64, u64> = HashMap::new();
    for cell in fit.cells() {
        let value = bits(observations.numbers(cell.symbol)[column]);
        *rows.entry(value).or_default() += cell.count;
    }
    let values = rows.len();
    let frequent = frequent(rows.clone(), fit.total());
    let rare = fit.total() - frequent.iter().map(|value| rows[value]).sum::<u64>();
    // Of numbers that were not rounded hardly two are equal.
    let different = (values - frequent.len()) as u64;
    if 2 * different > rare && different > frequent.len() as u64 {
        frequent
    } else {
        Vec::new()
    }
}

/// The labels at a position that are not rare; of all labels there are, one can be told by the others.
fn labels(observations: &Observations, fit: &Counts, at: usize) -> Vec<String> {
    let mut rows: HashMap<&str, u64> = HashMap::new();
    for cell in fit.cells() {
        *rows
            .entry(observations.label_at(cell.symbol, at))
            .or_default() += cell.count;
    }
    let all = rows.len();
    let mut frequent = frequent(rows, fit.total());
    if frequent.len() == all {
        frequent.remove(0);
    }
    frequent.into_iter().map(ToOwned::to_owned).collect()
}
