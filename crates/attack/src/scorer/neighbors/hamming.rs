//! The number of columns in which observations differ.

use std::collections::BTreeMap;

use crate::scorer::neighbors::LN_NEAR;
use crate::scorer::neighbors::codes::{Codes, UNSEEN};
use crate::scorer::recurring::{self, recurring};
use leakgauge_log::observations::{Counts, Observations, Part};

/// The fit rows of each secret, every column of them as codes.
pub(super) struct Hamming {
    columns: Vec<Column>,
    codes: Codes,
}

/// A column and the codes of its values among the fit rows.
struct Column {
    place: Part,
    values: Values,
}

enum Values {
    /// The position of the number, and its values ascending, −0 as 0; the code is the place.
    Numbers(usize, Vec<f64>),
    /// The code of every categorical part.
    Labels(Vec<u32>),
}

/// The columns to compare: those that recur among the fit rows, all if they are fewer than two.
pub(super) fn columns(observations: &Observations, fit: &Counts) -> Vec<Part> {
    let found = recurring(observations, fit);
    if found.len() < 2 {
        return recurring::places(observations);
    }
    found
}

impl Hamming {
    /// Arranges the fit rows.
    pub fn fit(observations: &Observations, fit: &Counts, places: Vec<Part>) -> Self {
        let ids = fit.symbols();
        let columns: Vec<Column> = places
            .into_iter()
            .map(|place| Column::fit(observations, &ids, place))
            .collect();
        let mut points = vec![(Vec::new(), Vec::new()); fit.secrets()];
        let mut codes = Vec::new();
        for cells in fit.by_symbol() {
            encode(&columns, observations, cells[0].symbol, &mut codes);
            for cell in cells {
                let (points, counts) = &mut points[cell.secret as usize];
                points.extend_from_slice(&codes);
                counts.push(cell.count);
            }
        }
        let values = columns.iter().map(Column::size).max().unwrap_or(0);
        Hamming {
            codes: Codes::new(&points, columns.len(), values),
            columns,
        }
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns.len()
    }

    /// Which columns they are.
    pub fn places(&self) -> Vec<Part> {
        self.columns.iter().map(|column| column.place).collect()
    }

    /// The codes of observations, one after the other.
    pub fn queries(&self, observations: &Observations, ids: &[u32]) -> Vec<u32> {
        let (mut queries, mut codes) = (Vec::new(), Vec::new());
        for &symbol in ids {
            encode(&self.columns, observations, symbol, &mut codes);
            queries.extend_from_slice(&codes);
        }
        queries
    }

    /// For each query, given as codes, the number of rows of a secret at every distance.
    pub fn search(&self, secret: usize, queries: &[u32], found: &mut dyn FnMut(usize, &[u64])) {
        self.codes.search(secret, queries, found);
    }
}

fn encode(columns: &[Column], observations: &Observations, symbol: u32, codes: &mut Vec<u32>) {
    codes.clear();
    codes.extend(
        columns
            .iter()
            .map(|column| column.code(observations, symbol)),
    );
}

impl Column {
    fn fit(observations: &Observations, ids: &[u32], place: Part) -> Self {
        let values = match place {
            Part::Number(at) => {
                let numbers = ids.iter().map(|&symbol| observations.numbers(symbol));
                let mut values: Vec<f64> = numbers.map(|numbers| numbers[at] + 0.0).collect();
                values.sort_unstable_by(f64::total_cmp);
                values.dedup();
                Values::Numbers(at, values)
            }
            Part::Label(at) => Values::Labels(label_codes(observations, ids, at)),
        };
        Column { place, values }
    }

    fn code(&self, observations: &Observations, symbol: u32) -> u32 {
        match &self.values {
            Values::Numbers(at, values) => {
                let value = observations.numbers(symbol)[*at] + 0.0;
                let at = values.binary_search_by(|probe| probe.total_cmp(&value));
                at.map_or(UNSEEN, |at| at as u32)
            }
            Values::Labels(codes) => codes[observations.category(symbol) as usize],
        }
    }

    /// The number of its values.
    fn size(&self) -> usize {
        match &self.values {
            Values::Numbers(_, values) => values.len(),
            Values::Labels(codes) => {
                let seen = codes.iter().filter(|&&code| code != UNSEEN);
                seen.max().map_or(0, |&code| code as usize + 1)
            }
        }
    }
}

/// The code of every categorical part in one categorical column.
fn label_codes(observations: &Observations, ids: &[u32], column: usize) -> Vec<u32> {
    let mut known: BTreeMap<&str, u32> = BTreeMap::new();
    for &symbol in ids {
        let category = observations.category(symbol) as usize;
        let next = known.len() as u32;
        known
            .entry(&observations.categories()[category][column])
            .or_insert(next);
    }
    let labels = observations.categories().iter();
    let code = |labels: &Vec<String>| known.get(labels[column].as_str()).copied();
    labels
        .map(|labels| code(labels).unwrap_or(UNSEEN))
        .collect()
}

/// ln of the mean distance to the k nearest, the m rows at distance ρ spread evenly over ρ − ½ to
/// ρ + ½ (0 to ½ for ρ = 0): where many rows are equally far, their number decides.
pub(super) fn ln_spread_mean(histogram: &[u64], k: usize) -> f64 {
    let (mut left, mut sum) = (k as f64, 0.0);
    for (distance, &rows) in histogram.iter().enumerate().filter(|(_, rows)| **rows > 0) {
        let rows = rows as f64;
        let taken = left.min(rows);
        // The mean place of the first `taken` of `rows` in their cell.
        let place = 0.5 * taken / rows;
        let mean = if distance == 0 {
            0.5 * place
        } else {
            distance as f64 - 0.5 + place
        };
        sum += taken * mean;
        left -= taken;
        if left <= 0.0 {
            break;
        }
    }
    (sum / k as f64).ln().max(LN_NEAR)
}

/// The k smallest distances, ascending.
pub(super) fn ascending(histogram: &[u64], k: usize, distances: &mut Vec<f64>) {
    distances.clear();
    for (distance, &rows) in histogram.iter().enumerate() {
        let room = (k - distances.len()) as u64;
        distances.resize(distances.len() + room.min(rows) as usize, distance as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The definition: place every row in its cell, sort, average the first k.
        #[test]
        fn the_spread_mean_is_that_of_rows_placed_one_by_one(
            histogram in prop::collection::vec(0u64..6, 1..8),
            k in 1usize..12,
        ) {
            let rows: u64 = histogram.iter().sum();
            prop_assume!(rows > 0);
            let k = k.min(rows as usize);
            let mut places = Vec::new();
            for (distance, &rows) in histogram.iter().enumerate() {
                for row in 0..rows {
                    let place = (row as f64 + 0.5) / rows as f64;
                    places.push(if distance == 0 { 0.5 * place } else { distance as f64 - 0.5 + place });
                }
            }
            let expected = places[..k].iter().sum::<f64>() / k as f64;
            prop_assert!((ln_spread_mean(&histogram, k) - expected.ln()).abs() < 1e-12);
        }
    }

    #[test]
    fn more_rows_at_the_same_distance_are_nearer() {
        assert!(ln_spread_mean(&[0, 5, 0], 1) < ln_spread_mean(&[0, 2, 9], 1));
        assert!(ln_spread_mean(&[5, 0, 0], 1) < ln_spread_mean(&[2, 9, 9], 1));
        assert!(ln_spread_mean(&[1, 0, 0], 1) < ln_spread_mean(&[0, 99, 9], 1));
    }
}
