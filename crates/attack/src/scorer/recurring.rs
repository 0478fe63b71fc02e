//! The columns whose values recur.

use std::hash::Hash;

use hashbrown::HashSet;
use leakgauge_base::parallel;

use leakgauge_log::observations::{Counts, Observations, Part};

/// The places of all columns, in their order; a mixed one has two.
pub fn places(observations: &Observations) -> Vec<Part> {
    observations.parts().map(|(_, part)| part).collect()
}

/// The columns whose values recur among some rows: not constant, and with at most half as many values
/// as there are distinct observations.
pub fn recurring(observations: &Observations, rows: &Counts) -> Vec<Part> {
    let ids = rows.symbols();
    let most = ids.len() / 2;
    let mut places = places(observations);
    let recurs = parallel::map(places.len(), |place| match places[place] {
        Part::Number(at) => {
            let numbers = ids.iter().map(|&symbol| observations.numbers(symbol));
            // −0 is 0.
            recur(numbers.map(|numbers| (numbers[at] + 0.0).to_bits()), most)
        }
        Part::Label(at) => {
            let label = |&symbol: &u32| observations.label_at(symbol, at);
            recur(ids.iter().map(label), most)
        }
    });
    let mut recurs = recurs.into_iter();
    places.retain(|_| recurs.next() == Some(true));
    places
}

fn recur<T: Hash + Eq>(values: impl Iterator<Item = T>, most: usize) -> bool {
    let mut known = HashSet::new();
    for value in values {
        known.insert(value);
        if known.len() > most {
            return false;
        }
    }
    known.len() > 1
}
