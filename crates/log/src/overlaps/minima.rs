//! Places that rows themselves choose: the same rows choose the same places wherever they stand.

use super::wide::{self, BLOCK};

/// Rows of a window. What a place hashes to depends on this many rows, as many as an integer of 32 bits has bits.
pub(super) const WINDOW: usize = 32;

/// Rows that have their choice at once, at most.
const MOST: usize = 2048;

/// A chosen place: a row, and what the rows up to it hash to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PlaceHash {
    /// The row, counted from 0 in the whole log.
    pub row: u64,
    /// The value that made it a minimum.
    pub value: u32,
    /// What the last [`WINDOW`] rows hash to.
    pub key: u64,
    /// Sums over all rows up to this one, of their hashes and of their values: rows between two places are equal if
    /// what these grow by is.
    pub sums: [u64; 2],
}

/// Chooses in every window of [`WINDOW`] rows the place of the least value (Schleimer, Wilkerson, Aiken, *Winnowing*,
/// doi:10.1145/872757.872770, with its rule for equal values: the last of them, and only if the one before has left the
/// window). About one in 16 rows is chosen.
///
/// The value of a row is v = 2v′ + h mod 2³², v′ that of the row before and h its own hash: it depends on 32 rows.
#[derive(Debug)]
pub(super) struct Minima {
    /// Rows that have had their choice.
    rows: u64,
    /// Sums over these rows.
    sums: [u64; 2],
    /// The hashes and values of the last of them, as many as a window and a hash of its first row need, and of the rows
    /// that wait for their choice.
    hashes: Vec<u64>,
    values: Vec<u32>,
    /// Where the first row that waits is among them.
    next: usize,
    /// The row that was chosen last, and its value.
    least: (u64, u32),
}

impl Default for Minima {
    fn default() -> Self {
        Minima {
            rows: 0,
            sums: [0; 2],
            hashes: Vec::new(),
            values: Vec::new(),
            next: 0,
            // The row before the first one: the first window is whole once that has left it.
            least: (u64::MAX, 0),
        }
    }
}

/// Rows and values without consequence: a place is passed over in which all that is chosen is before a row and above a
/// value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quiet {
    /// The row.
    pub until: u64,
    /// The value.
    pub above: u32,
}

impl Minima {
    /// Adds rows by their hashes, which `add` appends in their order: they wait for their choice. Gives these hashes.
    pub(super) fn add(&mut self, add: impl FnOnce(&mut Vec<u64>)) -> &[u64] {
        let past = self.next.saturating_sub(2 * WINDOW);
        if past >= MOST {
            self.hashes.drain(..past);
            self.values.drain(..past);
            self.next -= past;
        }
        add(&mut self.hashes);
        let before = self.values.len();
        self.values.resize(self.hashes.len(), 0);
        fill_values(&self.hashes, &mut self.values, before);
        &self.hashes[before..]
    }

    /// How many rows wait.
    pub(super) fn waiting(&self) -> usize {
        self.hashes.len() - self.next
    }

    /// Hands over each place that the next rows choose, in its order.
    pub(super) fn choose(&mut self, count: usize, mut chosen: impl FnMut(PlaceHash)) {
        let end = self.next + count;
        while self.next < end {
            self.choose_one(end - self.next, &mut chosen);
        }
    }

    /// The same up to the first place.
    fn choose_one(&mut self, most: usize, mut chosen: impl FnMut(PlaceHash)) {
        let (begin, first) = (self.next, self.rows - self.next as u64);
        // In registers: nearly every row only adds to the sums and is compared.
        let [mut hash_sum, mut value_sum] = self.sums;
        let (mut least_row, mut least) = self.least;
        let mut count = most;
        for at in begin..begin + most {
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
                count = at + 1 - begin;
                break;
            }
        }
        self.sums = [hash_sum, value_sum];
        self.least = (least_row, least);
        self.rows += count as u64;
        self.next += count;
    }

    /// Of some of the next rows, hands over each place that they choose and that may be of consequence, in its order.
    ///
    /// Where [`Quiet`] holds, these are the places that no later one of the same rows undercuts: whoever looks for the
    /// least of longer windows drops the others before they could be it.
    pub(super) fn choose_some(&mut self, quiet: Option<Quiet>, chosen: impl FnMut(PlaceHash)) {
        let few = WINDOW.min(self.waiting());
        let Some(quiet) = quiet.filter(|_| self.rows >= WINDOW as u64) else {
            return self.choose_one(few, chosen);
        };
        let left = usize::try_from(quiet.until.saturating_sub(self.rows)).unwrap_or(MOST);
        let count = left.min(MOST).min(self.waiting());
        if count < WINDOW {
            return self.choose_one(few, chosen);
        }
        // Behind the place that was chosen last, as far as values are above.
        let begin = (self.least.0 + 1 + self.next as u64 - self.rows) as usize;
        let mut behind = &self.values[begin..self.next + count];
        let mut least = [0; MAX_BLOCKS];
        let blocks = wide::least_values(behind, quiet.above, &mut least);
        if let Some(last) = blocks.checked_sub(1).filter(|&at| least[at] <= quiet.above) {
            let begin = last * BLOCK;
            let above = behind[begin..].iter();
            let above = above.take_while(|&&value| value > quiet.above);
            behind = &behind[..begin + above.count()];
        }
        let count = (begin + behind.len()).saturating_sub(self.next);
        if count < WINDOW {
            return self.choose_one(few, chosen);
        }
        match lasting(behind, &least) {
            Some(places) => self.choose_lasting(begin, &places, count, chosen),
            // Values that recur do so again.
            None => self.choose(count, chosen),
        }
    }

    /// Hands over places of the next rows, which stand behind `begin`, the first one last.
    fn choose_lasting(
        &mut self,
        begin: usize,
        places: &[usize],
        count: usize,
        mut chosen: impl FnMut(PlaceHash),
    ) {
        let first = self.rows - self.next as u64;
        let mut summed = self.next;
        for at in places.iter().rev().map(|place| begin + place) {
            self.sum_to(&mut summed, at + 1);
            let row = first + at as u64;
            self.least = (row, self.values[at]);
            chosen(self.place(at, row, self.sums));
        }
        self.rows += count as u64;
        self.next += count;
        self.sum_to(&mut summed, self.next);
    }

    /// Makes the sums over the rows before `from` those over the rows before `to`.
    fn sum_to(&mut self, from: &mut usize, to: usize) {
        let sums = |rows: std::ops::Range<usize>| {
            wide::sums(&self.hashes[rows.clone()], &self.values[rows])
        };
        let (more, less) = (sums(*from..to.max(*from)), sums(to..(*from).max(to)));
        self.sums = [0, 1].map(|at| {
            let sum = self.sums[at].wrapping_add(more[at]);
            sum.wrapping_sub(less[at])
        });
        *from = to;
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

/// Gives rows their values, from `before` on.
///
/// Of many rows four parts at a time, since each value waits for the one before it: what stands 32 rows before a part
/// has left its values.
fn fill_values(hashes: &[u64], values: &mut [u32], before: usize) {
    let next = |value: u32, hash: u64| (value << 1).wrapping_add(hash as u32);
    let one_by_one = |mut value: u32, hashes: &[u64], values: &mut [u32]| {
        for (to, &hash) in values.iter_mut().zip(hashes) {
            value = next(value, hash);
            *to = value;
        }
    };
    if hashes.len() - before < MOST {
        let last = before.checked_sub(1).map_or(0, |last| values[last]);
        return one_by_one(last, &hashes[before..], &mut values[before..]);
    }
    let begin = |at: usize| {
        let behind = hashes[at.saturating_sub(WINDOW)..at].iter();
        behind.fold(0, |value, &hash| next(value, hash))
    };
    let length = (hashes.len() - before) / 4;
    let mut part = [0, 1, 2, 3].map(|part| begin(before + part * length));
    let (first, rest) = values[before..].split_at_mut(length);
    let (second, rest) = rest.split_at_mut(length);
    let (third, rest) = rest.split_at_mut(length);
    let (fourth, rest) = rest.split_at_mut(length);
    let of = |part: usize| &hashes[before + part * length..][..length];
    let parts = [of(0), of(1), of(2), of(3)];
    for at in 0..length {
        part = [0, 1, 2, 3].map(|one| next(part[one], parts[one][at]));
        [first[at], second[at], third[at], fourth[at]] = part;
    }
    one_by_one(part[3], &hashes[before + 4 * length..], rest);
}

/// How many of these there are: of the rows that have their choice at once, and a window before them.
const MAX_BLOCKS: usize = (MOST + WINDOW).div_ceil(BLOCK);

/// Of the places that [`Minima`] chooses among these rows, which begin behind a place, those of a lesser value than all
/// rows behind them, the last one first. `None` where that depends on the rule for equal values. `least` are the least
/// values of [`BLOCK`] rows each, or less.
///
/// The last place is the least of the last window. A row before it that undercuts all rows behind it is the least of
/// the window that begins with it, so a place; and each other place comes before one of these that undercuts it.
fn lasting(values: &[u32], least: &[u32; MAX_BLOCKS]) -> Option<Vec<usize>> {
    let window = values.len() - WINDOW..values.len();
    let mut lowest = minimum(&values[window.clone()]);
    let mut those = window.filter(|&at| values[at] == lowest);
    let last = those.next()?;
    if those.next().is_some() {
        return None;
    }
    let mut places = vec![last];
    for block in (0..=last / BLOCK).rev() {
        if least[block] > lowest {
            continue;
        }
        let rows = block * BLOCK..last.min((block + 1) * BLOCK);
        for at in rows.rev() {
            if values[at] == lowest {
                return None;
            }
            if values[at] < lowest {
                lowest = values[at];
                places.push(at);
            }
        }
    }
    Some(places)
}

fn minimum(values: &[u32]) -> u32 {
    values
        .iter()
        .fold(u32::MAX, |least, &value| least.min(value))
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
            minima.add(|all| all.extend_from_slice(part));
            minima.choose(part.len(), |place| found.push(place));
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

    /// What longer windows keep waiting of the places that come.
    fn wait(places: &mut Vec<PlaceHash>, place: PlaceHash) {
        while places.last().is_some_and(|last| last.value > place.value) {
            places.pop();
        }
        places.push(place);
    }

    /// Some places, with the others left out, leave the same ones waiting and the same state for the rows behind.
    #[test]
    fn places_of_no_consequence_are_left_out() {
        let mut rng = rng(3);
        // Of few hashes, of which only two bits count, so that many values are equal.
        for kinds in [1, 2, 3, 40, u64::MAX] {
            let shift = if kinds < 9 { 30 } else { 0 };
            let mut hash = || mix(rng.random_range(0..kinds) + 1) << shift;
            let hashes: Vec<u64> = (0..60_000).map(|_| hash()).collect();
            let (mut each, mut some) = (Minima::default(), Minima::default());
            let (mut expected, mut found, mut given) = (Vec::new(), Vec::new(), 0);
            for rows in hashes.chunks(2_500) {
                each.add(|all| all.extend_from_slice(rows));
                some.add(|all| all.extend_from_slice(rows));
                while some.waiting() > 0 {
                    let begun = some.rows;
                    let quiet = Quiet {
                        until: begun + rng.random_range(0..5_000),
                        above: u32::MAX >> rng.random_range(1..16),
                    };
                    some.choose_some(rng.random_bool(0.9).then_some(quiet), |place| {
                        given += 1;
                        wait(&mut found, place);
                    });
                    let count = (some.rows - begun) as usize;
                    each.choose(count, |place| wait(&mut expected, place));
                    assert!(count > 0 && found == expected, "{kinds}: {begun} + {count}");
                    assert_eq!((some.least, some.sums), (each.least, each.sums));
                }
            }
            // Of values that differ, about one in 16 rows is chosen, and most of these are left out.
            assert!(kinds < 9 || given < 60_000 / 32, "{kinds}: {given}");
        }
    }

    #[test]
    fn values_are_those_of_rows_one_by_one() {
        let mut rng = rng(4);
        let hashes: Vec<u64> = (0..3 * MOST + 5).map(|_| rng.random()).collect();
        let next = |value: &mut u32, hash: &u64| {
            *value = value.wrapping_mul(2).wrapping_add(*hash as u32);
            Some(*value)
        };
        let expected: Vec<u32> = hashes.iter().scan(0, next).collect();
        for before in [0, 1, 31, 32, 100, 2 * MOST + 5, 2 * MOST + 6, 3 * MOST + 4] {
            let mut values = expected[..before].to_vec();
            values.resize(hashes.len(), 0);
            fill_values(&hashes, &mut values, before);
            assert!(values == expected, "{before}");
        }
    }

    #[test]
    fn equal_rows_choose_few_places() {
        let found = chosen(&[7; 3_200], 100);
        // The first 32 values grow with the rows they depend on.
        assert!(found.len() <= 132, "{}", found.len());
    }
}
