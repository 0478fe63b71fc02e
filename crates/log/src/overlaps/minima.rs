//! Places that rows themselves choose: the same rows choose the same places wherever they stand.

/// Rows of a window. What a place hashes to depends on this many rows, as many as an integer of 32 bits has bits.
pub(super) const WINDOW: usize = 32;

/// A chosen place: a row, and what the rows up to it hash to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PlaceHash {
    /// The row, counted from 0 in the whole log.
    pub row: u64,
    /// The value that made it a minimum.
    pub value: u32,
    /// What the last [`WINDOW`] rows hash to.
    pub key: u64,
    /// Sums over all rows up to this one, of their hashes and of their values: rows between two places are equal if what
    /// these grow by is.
    pub sums: [u64; 2],
}

/// Chooses in every window of [`WINDOW`] rows the place of the least value (Schleimer, Wilkerson, Aiken, *Winnowing*,
/// doi:10.1145/872757.872770, with its rule for equal values: the last of them, and only if the one before has left the
/// window). About one in 16 rows is chosen.
///
/// The value of a row is v = 2v′ + h mod 2³², v′ that of the row before and h its own hash: it depends on 32 rows.
#[derive(Debug)]
pub(super) struct Minima {
    rows: u64,
    value: u32,
    sums: [u64; 2],
    /// The hashes and values of the last rows, those that are added behind them.
    hashes: Vec<u64>,
    values: Vec<u32>,
    /// The row that was chosen last, and its value.
    least: (u64, u32),
}

impl Default for Minima {
    fn default() -> Self {
        Minima {
            rows: 0,
            value: 0,
            sums: [0; 2],
            hashes: Vec::new(),
            values: Vec::new(),
            // The row before the first one: the first window is whole once that has left it.
            least: (u64::MAX, 0),
        }
    }
}

impl Minima {
    /// Adds rows by their hashes, in their order, and hands over each place that they choose, in its order.
    pub(super) fn add(&mut self, hashes: &[u64], mut chosen: impl FnMut(PlaceHash)) {
        // Behind the last rows, as many as a window and a hash of its first row need.
        let behind = self.hashes.len();
        self.hashes.extend_from_slice(hashes);
        self.fill_values(hashes);
        let first = self.rows - behind as u64;
        // In registers: nearly every row only adds to the sums and is compared.
        let [mut hash_sum, mut value_sum] = self.sums;
        let (mut least_row, mut least) = self.least;
        for at in behind..self.hashes.len() {
            let (row, value) = (first + at as u64, self.values[at]);
            hash_sum = hash_sum.wrapping_add(self.hashes[at]);
            value_sum = value_sum.wrapping_add(u64::from(value));
            let is_less = value < least;
            let is_gone = row.wrapping_sub(least_row) >= WINDOW as u64;
            if is_less | is_gone {
                self.sums = [hash_sum, value_sum];
                let (place, sums) = match is_less {
                    true => (at, self.sums),
                    false => self.last_minimum(at),
                };
                least_row = first + place as u64;
                least = self.values[place];
                chosen(self.place(place, least_row, sums));
            }
        }
        self.sums = [hash_sum, value_sum];
        self.least = (least_row, least);
        self.rows += hashes.len() as u64;
        let kept = self.hashes.len().saturating_sub(2 * WINDOW);
        self.hashes.drain(..kept);
        self.values.drain(..kept);
    }

    fn fill_values(&mut self, hashes: &[u64]) {
        let mut value = self.value;
        self.values.extend(hashes.iter().map(|&hash| {
            value = (value << 1).wrapping_add(hash as u32);
            value
        }));
        self.value = value;
    }

    /// The last of the least values in the window that ends here, and the sums up to it.
    fn last_minimum(&self, end: usize) -> (usize, [u64; 2]) {
        let window = end.saturating_sub(WINDOW - 1)..=end;
        let mut place = end;
        for at in window.rev() {
            if self.values[at] < self.values[place] {
                place = at;
            }
        }
        let mut sums = self.sums;
        for at in place + 1..=end {
            sums[0] = sums[0].wrapping_sub(self.hashes[at]);
            sums[1] = sums[1].wrapping_sub(u64::from(self.values[at]));
        }
        (place, sums)
    }

    fn place(&self, at: usize, row: u64, sums: [u64; 2]) -> PlaceHash {
        let window = &self.hashes[at.saturating_sub(WINDOW - 1)..=at];
        let sum = window
            .iter()
            .fold(0u64, |sum, &hash| sum.wrapping_add(hash));
        let value = self.values[at];
        PlaceHash {
            row,
            value,
            key: mix(sum ^ u64::from(value).rotate_left(32)),
            sums,
        }
    }
}

/// A hash whose low bits depend on all bits.
pub(super) fn mix(x: u64) -> u64 {
    let x = (x ^ x >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x ^ x >> 29
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_testing::rng;
    use rand::RngExt;

    fn chosen(hashes: &[u64], parts: usize) -> Vec<PlaceHash> {
        let (mut minima, mut found) = (Minima::default(), Vec::new());
        for part in hashes.chunks(parts) {
            minima.add(part, |place| found.push(place));
        }
        found
    }

    #[test]
    fn every_window_has_a_place_and_rows_choose_the_same_ones_anywhere() {
        let mut rng = rng(1);
        let hashes: Vec<u64> = (0..20_000).map(|_| rng.random()).collect();
        let all = chosen(&hashes, 1000);
        assert!((1_000..1_400).contains(&all.len()), "{}", all.len());
        let mut before = 0;
        for place in &all {
            assert!(place.row > before && place.row - before <= WINDOW as u64);
            before = place.row;
        }
        for parts in [1, 7, 32, 33, 5_000, 20_000] {
            assert_eq!(chosen(&hashes, parts), all, "{parts}");
        }
        // The same rows behind others.
        let moved = chosen(&hashes[3_333..9_000], 100);
        let inside = |row: u64| (3_333 + 63..9_000 - 32).contains(&row);
        let rows = |places: &[PlaceHash], from: u64| -> Vec<(u64, u64)> {
            let rows = places.iter().map(|place| (place.row + from, place.key));
            rows.filter(|place| inside(place.0)).collect()
        };
        assert_eq!(rows(&moved, 3_333), rows(&all, 0));
    }

    #[test]
    fn sums_are_those_of_all_rows_up_to_the_place() {
        let mut rng = rng(2);
        let hashes: Vec<u64> = (0..500).map(|_| rng.random()).collect();
        for place in chosen(&hashes, 50) {
            let sum = |from: usize| {
                hashes[from..=place.row as usize]
                    .iter()
                    .fold(0u64, |sum, h| sum.wrapping_add(*h))
            };
            assert_eq!(place.sums[0], sum(0));
            let window = sum((place.row as usize + 1).saturating_sub(WINDOW));
            assert_eq!(
                place.key,
                mix(window ^ u64::from(place.value).rotate_left(32))
            );
        }
    }

    #[test]
    fn equal_rows_choose_few_places() {
        let found = chosen(&[7; 3_200], 100);
        // The first 32 values grow with the rows they depend on.
        assert!(found.len() <= 132, "{}", found.len());
    }
}
