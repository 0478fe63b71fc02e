//! Numbers of rows: equal ones for rows whose fields are equal, in the order of first appearance. Fields are numbered
//! column by column, then the numbers of columns together, so that no row is written out as bytes.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::values::{Coded, Slice, Values};
use leakgauge_log::{Numbering, UNKNOWN};

/// Integers from `-SMALL` on, and pairs of numbers, that are looked up without hashing.
const SMALL: u64 = 256;
/// How many integers these are.
const INTEGERS: usize = 1 << 14;
/// Numbers of a column up to this are in the table of pairs.
const SIDE: u32 = 1 << 10;
/// Columns that have tables; those behind them are looked up, so that thousands of columns do not take gigabytes.
const WITH_TABLES: usize = 64;
/// Rows that are told apart at most: as many as the reader remembers.
const MAX_NUMBERS: u32 = 1 << 16;
/// Rows after which it is clear whether they come again. The reader gives up no later.
const TRIAL: u64 = 1 << 15;
/// The number of a key that has not come.
const UNMET: u32 = UNKNOWN - 1;
/// Rows of keys that are told apart by a table of all that the dictionaries allow.
pub(super) const DENSE: usize = 1 << 16;

/// Numbers the rows of a file.
#[derive(Default)]
pub(super) struct RowNumbers {
    columns: Vec<ColumnNumbers>,
    /// Behind each column but the first: what the columns so far are together.
    pairs: Vec<Pairs>,
    dense: Dense,
    rows: u64,
    is_full: bool,
}

impl RowNumbers {
    /// The numbers of `count` rows, by their values in each column that is wanted; none once too many different rows
    /// have come.
    pub(super) fn number(&mut self, columns: &[Option<Values>], count: usize) -> Vec<u32> {
        if self.is_full {
            return Vec::new();
        }
        let wanted = || columns.iter().flatten();
        self.columns.resize_with(wanted().count(), Default::default);
        self.pairs.resize_with(wanted().count(), Default::default);
        for column in self.columns.iter_mut().take(WITH_TABLES) {
            column.has_table = true;
        }
        for pairs in self.pairs.iter_mut().take(WITH_TABLES) {
            pairs.has_table = true;
        }
        let together = match self.dense(columns) {
            Some(together) => together,
            None => self.by_column(columns, count),
        };
        self.rows += count as u64;
        let distinct = match self.pairs.last() {
            Some(pairs) if self.pairs.len() > 1 => pairs.next,
            _ => self.columns.first().map_or(0, |column| column.next),
        };
        let is_in_vain = self.rows >= TRIAL && 4 * u64::from(distinct) > 3 * self.rows;
        self.is_full = is_in_vain || !are_known(&together);
        together
    }

    fn by_column(&mut self, columns: &[Option<Values>], count: usize) -> Vec<u32> {
        let mut together: Vec<u32> = Vec::new();
        let mut next = Vec::new();
        for (at, values) in columns.iter().flatten().enumerate() {
            self.columns[at].number(values, count, &mut next);
            match at {
                0 => std::mem::swap(&mut together, &mut next),
                _ => self.pairs[at].number(&mut together, &next),
            }
        }
        together
    }

    /// The same for rows of keys into small dictionaries: one table has the numbers of all rows that these allow.
    fn dense(&mut self, columns: &[Option<Values>]) -> Option<Vec<u32>> {
        let coded = columns.iter().flatten().map(|values| match values.slice() {
            Slice::Coded(coded) => Some(coded),
            _ => None,
        });
        let coded = coded.collect::<Option<Vec<&Coded>>>()?;
        if coded.is_empty() {
            return None;
        }
        let mut dense = std::mem::take(&mut self.dense);
        dense.begin(&coded)?;
        places(&coded, &mut dense.places);
        let numbers = dense.numbers.as_mut_slice();
        let of_place = |&place: &u16| numbers[usize::from(place)];
        let mut together: Vec<u32> = dense.places.iter().map(of_place).collect();
        if !are_known(&together) {
            for (row, &place) in dense.places.iter().enumerate() {
                let number = &mut numbers[usize::from(place)];
                if *number == UNMET {
                    *number = self.row(&coded, row);
                }
                together[row] = *number;
            }
        }
        self.dense = dense;
        Some(together)
    }

    /// The number of a row of keys.
    #[cold]
    fn row(&mut self, coded: &[&Coded], row: usize) -> u32 {
        let mut together = UNKNOWN;
        for (at, coded) in coded.iter().enumerate() {
            let number = self.columns[at].value(coded.dictionary(), coded.keys()[row].into());
            together = match at {
                0 => number,
                _ => self.pairs[at].pair([together, number]),
            };
        }
        together
    }
}

/// Where rows of keys stand in a table of all rows that their dictionaries allow, at most [`DENSE`].
pub(super) fn places(coded: &[&Coded], places: &mut Vec<u16>) {
    places.clear();
    let Some((first, others)) = coded.split_first() else {
        return;
    };
    places.extend_from_slice(first.keys());
    for next in others {
        // All places are below `DENSE`, so they fit; so does the number of values, but for one of `DENSE` itself, which
        // leaves 0 for all places before it.
        let values = next.dictionary().len() as u16;
        for (place, &key) in places.iter_mut().zip(next.keys()) {
            *place = place.wrapping_mul(values).wrapping_add(key);
        }
    }
}

/// Whether none of these is [`UNKNOWN`] or [`UNMET`], which have bits that no number has.
fn are_known(numbers: &[u32]) -> bool {
    const { assert!(MAX_NUMBERS.is_power_of_two() && UNMET & UNKNOWN >= MAX_NUMBERS) };
    numbers.iter().fold(0, |bits, &number| bits | number) < MAX_NUMBERS
}

/// Numbers of rows by their keys, as long as the dictionaries stay the same.
#[derive(Default)]
struct Dense {
    dictionaries: Vec<Arc<Values>>,
    /// [`UNMET`] for rows that have not come.
    numbers: Vec<u32>,
    /// Where the rows at hand stand in the table.
    places: Vec<u16>,
}

impl Dense {
    /// Makes the table of these dictionaries; `None` if it were too large.
    fn begin(&mut self, coded: &[&Coded]) -> Option<()> {
        let are_same = self.dictionaries.len() == coded.len()
            && (self.dictionaries.iter().zip(coded))
                .all(|(last, coded)| Arc::ptr_eq(last, coded.dictionary()));
        if are_same {
            return Some(());
        }
        let mut sizes = coded.iter().map(|coded| coded.dictionary().len());
        let all = sizes.try_fold(1usize, |all, size| all.checked_mul(size))?;
        if all > DENSE {
            return None;
        }
        self.dictionaries = coded
            .iter()
            .map(|coded| coded.dictionary().clone())
            .collect();
        self.numbers.clear();
        self.numbers.resize(all, UNMET);
        Some(())
    }
}

/// Numbers the values of a column.
#[derive(Default)]
struct ColumnNumbers {
    /// Numbers of small integers, counted from 1; 0 for those that have not come.
    small: Vec<u32>,
    has_table: bool,
    others: HashMap<u64, u32>,
    texts: Numbering,
    /// The number of each text, and of null.
    of_text: Vec<u32>,
    null: Option<u32>,
    next: u32,
    /// The dictionary that came last, and the number of each of its values; [`UNMET`] for those that have not come.
    dictionary: Option<Arc<Values>>,
    of_key: Vec<u32>,
}

impl ColumnNumbers {
    fn number(&mut self, values: &Values, count: usize, out: &mut Vec<u32>) {
        out.clear();
        match values.slice() {
            Slice::Coded(coded) => return self.coded(coded, out),
            Slice::Integers(integers) => {
                if self.has_table {
                    self.small.resize(INTEGERS, 0);
                }
                out.extend(integers.iter().map(|&value| {
                    let place = (value as u64).wrapping_add(SMALL);
                    match self.small.get(place as usize) {
                        Some(&known) if known > 0 => known - 1,
                        _ => self.integer(value as u64),
                    }
                }));
            }
            Slice::Unsigned(integers) => out.extend(integers.iter().map(|&value| self.bits(value))),
            Slice::Floats(floats) => {
                out.extend(floats.iter().map(|value| self.bits(value.to_bits())));
            }
            Slice::Texts(texts) => {
                out.extend((0..count).map(|row| self.text(texts.get(row).as_bytes())));
            }
        }
        for row in (0..count).filter(|&row| values.is_null(row)) {
            out[row] = self.null();
        }
    }

    /// The numbers of rows that are keys: each value of their dictionary is looked at once.
    fn coded(&mut self, coded: &Coded, out: &mut Vec<u32>) {
        let dictionary = coded.dictionary();
        let is_last = |last: &Arc<Values>| Arc::ptr_eq(last, dictionary);
        if !self.dictionary.as_ref().is_some_and(is_last) {
            self.dictionary = Some(dictionary.clone());
            self.of_key.clear();
            self.of_key.resize(dictionary.len(), UNMET);
        }
        out.extend(coded.keys().iter().map(|&key| {
            let key = usize::from(key);
            match self.of_key[key] {
                UNMET => {
                    let number = self.value(dictionary, key);
                    self.of_key[key] = number;
                    number
                }
                known => known,
            }
        }));
    }

    /// The number of a value of a dictionary.
    #[cold]
    fn value(&mut self, dictionary: &Values, key: usize) -> u32 {
        match dictionary.slice() {
            _ if dictionary.is_null(key) => self.null(),
            Slice::Integers(integers) => self.bits(integers[key] as u64),
            Slice::Unsigned(integers) => self.bits(integers[key]),
            Slice::Floats(floats) => self.bits(floats[key].to_bits()),
            Slice::Texts(texts) => self.text(texts.get(key).as_bytes()),
            // Dictionaries have no dictionaries of their own.
            Slice::Coded(_) => UNKNOWN,
        }
    }

    fn fresh(next: &mut u32) -> u32 {
        let number = *next;
        if number >= MAX_NUMBERS {
            return UNKNOWN;
        }
        *next += 1;
        number
    }

    #[cold]
    fn integer(&mut self, value: u64) -> u32 {
        let number = self.bits(value);
        if let Some(known) = self.small.get_mut(value.wrapping_add(SMALL) as usize) {
            *known = number.wrapping_add(1);
        }
        number
    }

    fn bits(&mut self, bits: u64) -> u32 {
        let next = &mut self.next;
        if let Some(&number) = self.others.get(&bits) {
            return number;
        }
        let number = Self::fresh(next);
        if number != UNKNOWN {
            self.others.insert(bits, number);
        }
        number
    }

    fn text(&mut self, text: &[u8]) -> u32 {
        let at = self.texts.number(text) as usize;
        if at == self.of_text.len() {
            self.of_text.push(Self::fresh(&mut self.next));
        }
        self.of_text.get(at).copied().unwrap_or(UNKNOWN)
    }

    fn null(&mut self) -> u32 {
        let next = &mut self.next;
        *self.null.get_or_insert_with(|| Self::fresh(next))
    }
}

/// Numbers pairs of numbers.
#[derive(Default)]
struct Pairs {
    /// Numbers of pairs of small numbers, counted from 1; 0 for those that have not come.
    small: Vec<u32>,
    has_table: bool,
    others: HashMap<[u32; 2], u32>,
    next: u32,
}

impl Pairs {
    /// Replaces the first of each pair by the number of the pair.
    fn number(&mut self, first: &mut [u32], second: &[u32]) {
        if self.has_table {
            self.small.resize((SIDE * SIDE) as usize, 0);
        }
        for (first, &second) in first.iter_mut().zip(second) {
            let place = match (*first).max(second) < SIDE {
                true => (*first * SIDE + second) as usize,
                false => usize::MAX,
            };
            *first = match self.small.get(place) {
                Some(&known) if known > 0 => known - 1,
                _ => self.pair([*first, second]),
            };
        }
    }

    #[cold]
    fn pair(&mut self, pair: [u32; 2]) -> u32 {
        if pair.contains(&UNKNOWN) {
            return UNKNOWN;
        }
        let next = &mut self.next;
        let known = self.others.get(&pair).copied();
        let number = known.unwrap_or_else(|| ColumnNumbers::fresh(next));
        if number == UNKNOWN {
            return UNKNOWN;
        }
        if known.is_none() {
            self.others.insert(pair, number);
        }
        if pair[0] < SIDE
            && pair[1] < SIDE
            && let Some(known) = self.small.get_mut((pair[0] * SIDE + pair[1]) as usize)
        {
            *known = number + 1;
        }
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::values;
    use arrow::array::{Array, Float64Array, Int64Array, StringArray, UInt32Array};

    fn numbers_of(numbers: &mut RowNumbers, columns: &[&dyn Array]) -> Vec<u32> {
        let of_array = |array: &&dyn Array| Some(values(*array, None).unwrap());
        let values: Vec<_> = columns.iter().map(of_array).collect();
        numbers.number(&values, columns[0].len())
    }

    #[test]
    fn rows_have_equal_numbers_only_if_their_fields_are_equal() {
        let texts = StringArray::from(vec![Some(""), None, Some("a"), Some("(null)")]);
        let integers = Int64Array::from(vec![Some(0), None, Some(-7), Some(1 << 40)]);
        let floats = Float64Array::from(vec![Some(0.0), None, Some(-0.0), Some(1.5)]);
        let all = |at: usize, array: &dyn Array| {
            let digits = (0..64u32).map(|row| row >> (2 * at) & 3);
            let picked = UInt32Array::from_iter_values(digits);
            arrow::compute::take(array, &picked, None).unwrap()
        };
        let [texts, integers, floats] = [all(0, &texts), all(1, &integers), all(2, &floats)];
        let columns: [&dyn Array; 3] = [&texts, &integers, &floats];
        let mut numbers = RowNumbers::default();
        let expected: Vec<u32> = (0..64).collect();
        assert_eq!(numbers_of(&mut numbers, &columns), expected);
        assert_eq!(numbers_of(&mut numbers, &columns), expected);
    }

    /// Rows as keys, by the values of the dictionary, of which the last is null.
    fn coded(dictionary: &Int64Array, keys: &[u16]) -> Option<Values> {
        let values = Arc::new(values(dictionary, None).unwrap());
        let coded = Coded::new(values, Arc::new(keys.to_vec()), 0..keys.len());
        Some(Values::coded(coded))
    }

    /// In row groups with dictionaries of their own, some too large for a table.
    #[test]
    fn rows_of_keys_have_the_numbers_of_their_values() {
        let of = |from: i64, length: i64| {
            let values = (from..from + length).map(Some).chain([None]);
            Int64Array::from_iter(values)
        };
        let largest = i64::from(MAX_NUMBERS) - 1;
        for group in [
            [of(0, 9), of(0, 12)],
            [of(-5, 200), of(3, 0)],
            [of(7, 300), of(0, 299)],
            [of(0, 0), of(0, largest)],
            [of(0, largest), of(0, 0)],
        ] {
            let (mut numbers, mut expected) = (RowNumbers::default(), RowNumbers::default());
            for part in 0..3 {
                let keys = |column: usize| -> Vec<u16> {
                    let values = group[column].len() as u64;
                    let row = |row: u64| row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (20 + column);
                    // Few different rows, the last values among them.
                    let key = |at: u64| values - 1 - row(at % 50) % values;
                    (0..9_000).map(|at| key(at + 40 * part) as u16).collect()
                };
                let keys = [keys(0), keys(1)];
                let rows = |column: usize| {
                    let keys =
                        UInt32Array::from_iter_values(keys[column].iter().map(|&k| k.into()));
                    arrow::compute::take(&group[column], &keys, None).unwrap()
                };
                let found = [0, 1].map(|column| coded(&group[column], &keys[column]));
                assert_eq!(
                    numbers.number(&found, 9_000),
                    numbers_of(&mut expected, &[&rows(0), &rows(1)])
                );
            }
        }
    }

    #[test]
    fn there_are_no_numbers_once_too_many_rows_are_different() {
        let values = |from: i64| Int64Array::from_iter_values(from..from + 30_000);
        let constant = Int64Array::from(vec![1; 30_000]);
        let mut numbers = RowNumbers::default();
        let mut of = |from: i64| numbers_of(&mut numbers, &[&values(from), &constant]);
        for _ in 0..2 {
            assert!(of(0).iter().copied().eq(0..30_000));
        }
        assert!(of(30_000).iter().copied().eq(30_000..60_000));
        let last = of(60_000);
        assert!(last[..5_536].iter().copied().eq(60_000..65_536));
        assert!(last[5_536..].iter().all(|&number| number == UNKNOWN));
        assert!(of(0).is_empty());
    }

    #[test]
    fn there_are_no_numbers_where_rows_do_not_come_again() {
        let values = |from: i64| Int64Array::from_iter_values(from..from + 20_000);
        let mut numbers = RowNumbers::default();
        let mut of = |from: i64| numbers_of(&mut numbers, &[&values(from)]).len();
        assert_eq!([of(0), of(20_000), of(40_000)], [20_000, 20_000, 0]);
    }
}
