//! The number of columns in which observations differ.

use std::collections::BTreeMap;

use crate::observations::{Counts, Observations};
use crate::scorer::neighbors::LN_NEAR;

/// Points a tile.
const TILE: usize = 32;

/// The code of a value that no fit row has.
const UNSEEN: u32 = u32::MAX;

/// The fit rows of each secret, every column of them as codes.
pub(super) struct Hamming {
    numbers: Vec<Vec<f64>>,
    labels: Vec<BTreeMap<String, u32>>,
    secrets: Vec<Tiles>,
}

/// Distinct points, tile by tile, each tile column by column, and their numbers of rows.
#[derive(Default)]
struct Tiles {
    codes: Vec<u32>,
    counts: Vec<u32>,
}

impl Hamming {
    /// Arranges the fit rows.
    pub fn fit(observations: &Observations, fit: &Counts) -> Self {
        let symbols = fit.symbols();
        let mut index = Hamming {
            numbers: number_codes(observations, &symbols),
            labels: label_codes(observations, &symbols),
            secrets: Vec::new(),
        };
        index.secrets.resize_with(fit.secrets(), Tiles::default);
        let mut codes = Vec::new();
        for cells in fit.by_symbol() {
            index.encode(observations, cells[0].symbol, &mut codes);
            for cell in cells {
                index.secrets[cell.secret as usize].push(&codes, cell.count as u32);
            }
        }
        index
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.numbers.len() + self.labels.len()
    }

    fn encode(&self, observations: &Observations, symbol: u32, codes: &mut Vec<u32>) {
        codes.clear();
        if !self.numbers.is_empty() {
            let columns = self.numbers.iter().zip(observations.numbers(symbol));
            codes.extend(columns.map(|(values, value)| {
                let at = values.binary_search_by(|probe| probe.total_cmp(&(value + 0.0)));
                at.map_or(UNSEEN, |at| at as u32)
            }));
        }
        if let Some(labels) = observations
            .categories
            .get(observations.category(symbol) as usize)
        {
            let columns = self.labels.iter().zip(labels);
            codes.extend(columns.map(|(known, label)| known.get(label).copied().unwrap_or(UNSEEN)));
        }
    }

    /// The codes of observations, one after the other.
    pub fn queries(&self, observations: &Observations, symbols: &[u32]) -> Vec<u32> {
        let (mut queries, mut codes) = (Vec::new(), Vec::new());
        for &symbol in symbols {
            self.encode(observations, symbol, &mut codes);
            queries.extend_from_slice(&codes);
        }
        queries
    }

    /// For each query, given as codes, the number of rows of a secret at every distance.
    pub fn search(&self, secret: usize, queries: &[u32], found: &mut dyn FnMut(usize, &[u64])) {
        let columns = self.columns();
        let tiles = &self.secrets[secret];
        let mut histogram = vec![0; columns + 1];
        for (query, codes) in queries.chunks_exact(columns).enumerate() {
            histogram.fill(0);
            for (tile, counts) in tiles
                .codes
                .chunks_exact(TILE * columns)
                .zip(tiles.counts.chunks(TILE))
            {
                for (distance, &count) in differing(tile, codes).iter().zip(counts) {
                    histogram[*distance as usize] += u64::from(count);
                }
            }
            found(query, &histogram);
        }
    }
}

/// In how many columns each point of a tile differs from a query.
fn differing(tile: &[u32], codes: &[u32]) -> [u32; TILE] {
    let mut sums = [0u32; TILE];
    for (column, &code) in tile.chunks_exact(TILE).zip(codes) {
        for (sum, &value) in sums.iter_mut().zip(column) {
            *sum += u32::from(value != code);
        }
    }
    sums
}

impl Tiles {
    fn push(&mut self, codes: &[u32], count: u32) {
        let within = self.counts.len() % TILE;
        if within == 0 {
            self.codes
                .resize(self.codes.len() + TILE * codes.len(), UNSEEN);
        }
        let start = self.codes.len() - TILE * codes.len();
        for (column, &code) in codes.iter().enumerate() {
            self.codes[start + column * TILE + within] = code;
        }
        self.counts.push(count);
    }
}

/// The different values of each numeric column, ascending; −0 is 0.
fn number_codes(observations: &Observations, symbols: &[u32]) -> Vec<Vec<f64>> {
    let column = |column: usize| {
        let mut values: Vec<f64> = symbols
            .iter()
            .map(|&symbol| observations.numbers(symbol)[column] + 0.0)
            .collect();
        values.sort_unstable_by(f64::total_cmp);
        values.dedup();
        values
    };
    (0..observations.dimensions()).map(column).collect()
}

fn label_codes(observations: &Observations, symbols: &[u32]) -> Vec<BTreeMap<String, u32>> {
    let columns = observations.categories.first().map_or(0, Vec::len);
    let mut known: Vec<BTreeMap<String, u32>> = vec![BTreeMap::new(); columns];
    let mut seen = vec![false; observations.category_count()];
    for &symbol in symbols {
        let category = observations.category(symbol) as usize;
        if columns == 0 || std::mem::replace(&mut seen[category], true) {
            continue;
        }
        for (known, label) in known.iter_mut().zip(&observations.categories[category]) {
            let next = known.len() as u32;
            if !known.contains_key(label) {
                known.insert(label.clone(), next);
            }
        }
    }
    known
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
