//! Observations that count as larger than all others: those that nobody waited for.

use std::collections::BTreeMap;

use leakgauge_base::error::{Error, Place, Result, shorten};
use leakgauge_base::naming::{option, setting};

use crate::observations::{Counts, Observations};
use crate::options::Missing;

/// Observations that count as larger than all others.
#[derive(Debug, Clone, PartialEq)]
pub struct CountedLast {
    /// The number that stands for them: larger than all others, and otherwise without a meaning.
    pub number: f64,
    /// The largest of the others. Each of them is at least as large.
    pub largest: f64,
    /// The rows used that have one.
    pub rows: u64,
    /// Of these, the rows of each secret that has some, by its label.
    pub of: BTreeMap<String, u64>,
}

impl CountedLast {
    /// Counts the observations of infinity, and puts a finite number in their place: one beyond the others as far as
    /// these reach, so that whoever learns from numbers finds them apart.
    ///
    /// # Errors
    /// A log of nothing else.
    pub(crate) fn settle(
        observations: &mut Observations,
        counts: &Counts,
        secrets: &[String],
        place: Place,
    ) -> Result<Option<Self>> {
        let mut of = BTreeMap::new();
        for cell in counts.cells() {
            if observations.numbers(cell.symbol)[0] == f64::INFINITY && cell.count > 0 {
                *of.entry(secrets[cell.secret as usize].clone()).or_insert(0) += cell.count;
            }
        }
        let (mut least, mut largest) = (f64::INFINITY, f64::NEG_INFINITY);
        for &number in observations.numbers.iter().filter(|x| x.is_finite()) {
            least = least.min(number);
            largest = largest.max(number);
        }
        if largest < least {
            let error = Error::data(
                place,
                "no row has a number, and all would count as longer than the others",
            );
            return Err(error.with_hint(format!("is {} the right column?", option("observe"))));
        }
        let number = beyond(least, largest);
        put(observations, number);
        Ok((!of.is_empty()).then(|| CountedLast {
            number,
            largest,
            rows: of.values().sum(),
            of,
        }))
    }

    /// The same number in another table of observations of the log.
    pub(crate) fn put(&self, observations: &mut Observations) {
        put(observations, self.number);
    }

    /// What was done, for the report.
    pub(crate) fn note(&self) -> String {
        const SHOWN: usize = 6;
        let of = self.of.iter().take(SHOWN);
        let mut of: Vec<String> = of
            .map(|(secret, rows)| format!("{}: {rows}", shorten(secret)))
            .collect();
        if self.of.len() > SHOWN {
            of.push(format!("and {} more", self.of.len() - SHOWN));
        }
        let rows = match self.rows {
            1 => "1 row without a time counts".to_owned(),
            rows => format!("{rows} rows without a time count"),
        };
        format!("{rows} as longer than all others ({}).", of.join(", "))
    }
}

/// Refuses several columns, of which none can be said to be larger than all others.
///
/// # Errors
/// Several columns, or parts of lists.
pub(crate) fn check(columns: &[&str], are_parts: bool, place: Place) -> Result<()> {
    if columns.len() == 1 && !are_parts {
        return Ok(());
    }
    let names: Vec<String> = columns.iter().map(|name| shorten(name)).collect();
    let problem = format!(
        "{} counts what is missing as larger than all others, in one column of numbers, and the log observes {}",
        setting("missing", Missing::Last.name()),
        names.join(", ")
    );
    Err(Error::data(place, problem).with_hint(format!(
        "name the column of the measurement with {}",
        option("observe")
    )))
}

fn put(observations: &mut Observations, number: f64) {
    let infinite = observations.numbers.iter_mut().filter(|x| x.is_infinite());
    infinite.for_each(|x| *x = number);
}

/// A finite number that is larger than the largest of a range.
fn beyond(least: f64, largest: f64) -> f64 {
    let range = (largest - least).max(0.5 * largest.abs()).max(1.0);
    let number = largest + range;
    if number.is_finite() { number } else { f64::MAX }
}
