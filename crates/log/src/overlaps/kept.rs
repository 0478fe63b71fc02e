//! Chosen places that are kept: fewer, the longer the log is.

use std::collections::VecDeque;

use hashbrown::HashMap;

use super::minima::{PlaceHash, Quiet, WINDOW};

/// The most places that are kept.
const MOST: usize = 1 << 15;

/// Of places in their order, those of the least value in a window of any length, by the rule of
/// [`Minima`](super::minima::Minima).
#[derive(Debug)]
struct Fewer {
    window: u64,
    /// Places that may still be the least of a window, their values increasing.
    waiting: VecDeque<PlaceHash>,
}

impl Fewer {
    fn new(window: u64) -> Self {
        Fewer {
            window,
            waiting: VecDeque::new(),
        }
    }

    fn add(&mut self, place: PlaceHash, mut chosen: impl FnMut(PlaceHash)) {
        while let Some(first) = self.waiting.front()
            && place.row - first.row >= self.window
        {
            self.waiting.pop_front();
            // Of equal values the last one stands for all.
            while let [one, next, ..] = self.waiting.make_contiguous()
                && one.value == next.value
                && place.row > next.row
            {
                self.waiting.pop_front();
            }
            if let Some(least) = self.waiting.front() {
                chosen(*least);
            }
        }
        while self
            .waiting
            .back()
            .is_some_and(|last| last.value > place.value)
        {
            self.waiting.pop_back();
        }
        if self.waiting.is_empty() {
            chosen(place);
        }
        self.waiting.push_back(place);
    }
}

/// The places of the log so far.
#[derive(Debug)]
pub(super) struct Kept {
    fewer: Fewer,
    places: Vec<PlaceHash>,
    /// The first place of each key.
    first: HashMap<u64, u32>,
    scratch: Vec<PlaceHash>,
}

impl Default for Kept {
    fn default() -> Self {
        Kept {
            fewer: Fewer::new(WINDOW as u64),
            places: Vec::new(),
            first: HashMap::new(),
            scratch: Vec::new(),
        }
    }
}

impl Kept {
    /// Rows in which at least one place is kept.
    pub(super) fn window(&self) -> u64 {
        self.fewer.window
    }

    /// Places that no longer window can have for its least, as far as is known: the least one stays before that row,
    /// and none above its value takes its place.
    pub(super) fn quiet(&self) -> Option<Quiet> {
        let least = self.fewer.waiting.front()?;
        Some(Quiet {
            until: least.row + self.fewer.window,
            above: least.value,
        })
    }

    /// Adds a place; hands over those that are kept, in their order, each before it is among the earlier ones.
    pub(super) fn add(&mut self, place: PlaceHash, mut look: impl FnMut(&Kept, PlaceHash)) {
        let mut chosen = std::mem::take(&mut self.scratch);
        self.fewer.add(place, |place| chosen.push(place));
        for place in chosen.drain(..) {
            look(self, place);
            self.keep(place);
        }
        self.scratch = chosen;
        if self.places.len() > MOST {
            self.thin_out();
        }
    }

    fn keep(&mut self, place: PlaceHash) {
        let number = self.places.len() as u32;
        self.places.push(place);
        self.first.entry(place.key).or_insert(number);
    }

    /// Windows of twice the length: their places are among those of the shorter ones.
    fn thin_out(&mut self) {
        self.fewer = Fewer::new(2 * self.fewer.window);
        self.first.clear();
        for place in std::mem::take(&mut self.places) {
            let mut chosen = std::mem::take(&mut self.scratch);
            self.fewer.add(place, |place| chosen.push(place));
            chosen.drain(..).for_each(|place| self.keep(place));
            self.scratch = chosen;
        }
    }

    /// The first place with this key.
    pub(super) fn first(&self, key: u64) -> Option<&PlaceHash> {
        self.first.get(&key).map(|&at| &self.places[at as usize])
    }

    /// The place at this row.
    pub(super) fn at(&self, row: u64) -> Option<&PlaceHash> {
        let at = self.places.binary_search_by_key(&row, |place| place.row);
        at.ok().map(|at| &self.places[at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_testing::rng;
    use rand::RngExt;

    fn places(count: u64) -> Vec<PlaceHash> {
        let mut rng = rng(4);
        let place = |row| PlaceHash {
            row,
            value: rng.random(),
            key: row,
            sums: [0; 2],
        };
        (0..count).map(place).collect()
    }

    /// Against every window, one by one.
    #[test]
    fn fewer_places_are_the_least_of_longer_windows() {
        let all = places(3_000);
        for window in [5, 64, 500] {
            let (mut fewer, mut found) = (Fewer::new(window as u64), Vec::new());
            for place in &all {
                fewer.add(*place, |place| found.push(place.row));
            }
            for (at, least) in all.windows(window).enumerate() {
                let least = least
                    .iter()
                    .min_by_key(|place| place.value)
                    .expect("places");
                assert!(found.contains(&least.row), "{window}, {at}");
            }
            // Beyond these only minima of the first window while it was not whole.
            let most = 3_000 * 2 / window + 4 * window.ilog2() as usize + 60;
            assert!(found.len() <= most, "{window}: {}", found.len());
        }
    }

    #[test]
    fn memory_is_bounded_and_every_window_keeps_a_place() {
        let mut kept = Kept::default();
        let mut rng = rng(5);
        let mut row = 0;
        while row < 3_000_000 {
            row += rng.random_range(1..=16);
            let place = PlaceHash {
                row,
                value: rng.random(),
                key: row,
                sums: [0; 2],
            };
            kept.add(place, |_, _| {});
            assert!(kept.places.len() <= MOST);
        }
        assert!(kept.window() > WINDOW as u64 && kept.window() <= row / 4_000);
        for pair in kept.places.windows(2) {
            assert!(pair[0].row < pair[1].row && pair[1].row - pair[0].row <= kept.window());
        }
        let some = kept.places[777];
        assert_eq!(kept.at(some.row), Some(&some));
        assert_eq!(kept.first(some.key), Some(&some));
    }
}
