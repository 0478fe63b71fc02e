//! The columns whose values recur.

use std::hash::Hash;

use hashbrown::HashSet;
use leakgauge_base::parallel;

use leakgauge_log::observations::{ColumnType, Counts, Observations};

/// A column by its type and its place among the columns of that type.
pub type Place = (ColumnType, usize);

/// The places of all columns, in their order.
pub fn places(observations: &Observations) -> Vec<Place> {
    let (mut numbers, mut labels) = (0, 0);
    let place = |kind| {
        let next = match kind {
            ColumnType::Numeric => &mut numbers,
            ColumnType::Categorical => &mut labels,
        };
        *next += 1;
        (kind, *next - 1)
    };
    let kinds = observations.columns().iter().map(|column| column.kind);
    kinds.map(place).collect()
}

/// The columns whose values recur among some rows: not constant, and with at most half as many values
/// as there are distinct observations.
pub fn recurring(observations: &Observations, rows: &Counts) -> Vec<Place> {
    let ids = rows.symbols();
    let most = ids.len() / 2;
    let mut places = places(observations);
    let recurs = parallel::map(places.len(), |place| match places[place] {
        (ColumnType::Numeric, at) => {
            let numbers = ids.iter().map(|&symbol| observations.numbers(symbol));
            // −0 is 0.
            recur(numbers.map(|numbers| (numbers[at] + 0.0).to_bits()), most)
        }
        (ColumnType::Categorical, at) => {
            let label = |&symbol: &u32| {
                let category = observations.category(symbol) as usize;
                observations.categories()[category][at].as_str()
            };
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
