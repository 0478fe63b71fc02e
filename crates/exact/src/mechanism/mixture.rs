//! A random choice between two mechanisms.

use std::collections::HashMap;
use std::fmt;

use rand::{Rng, RngExt};

use super::entry::{Build, Reader, component};
use super::noise_mixture::NoiseMixture;
use super::observed::texts;
use super::table::{Detail, Table};
use super::{BoundMechanism, Entry, Law, MAX_ENTRIES, Mechanism, Observed, Probabilities};
use crate::profile::Pair;
use leakgauge_base::error::{Error, Result};
use leakgauge_base::grammar::{Arguments, Bounds, Parameter, format_number};

pub(super) const ENTRY: Entry = Entry {
    name: "mixture",
    about: "applies one of two mechanisms at random and does not reveal which",
    parameters: &[
        Parameter::positional(
            "first",
            "a mechanism with finitely many observations, or Laplace or Gaussian noise",
        ),
        Parameter::positional("second", "a second such mechanism"),
        Parameter::named(
            "weight",
            "the probability of the first, between 0 and 1; default 0.5",
        ),
    ],
    build: Build::Around(build),
};

/// Applies one of two mechanisms at random and does not reveal which.
///
/// # Formula
/// P(o | s) = w·P₁(o | s) + (1 − w)·P₂(o | s); all figures are sums over the observations of both.
/// Probabilities below the smallest `f64` count as 0. Of Laplace and Gaussian noise total variation, Bayes security and
/// capacity are the weighted means, and ε and δ(ε) are upper sides, 1e-8 above the exact values unless the scales of the parts
/// are far apart.
///
/// # Conditions
/// 0 ≤ w ≤ 1; both mechanisms add Laplace or Gaussian noise to the same numbers, or have finitely many observations in the
/// same columns, and for each, secrets times observations are at most [`MAX_ENTRIES`]. If both declare secrets, these are
/// the same.
///
/// # References
/// Chatzikokolakis et al., *Bayes Security*, doi:10.1109/CSF57540.2023.00011: Bayes security is
/// concave in the channel, hence at least the average of the two.
#[derive(Debug)]
pub struct Mixture {
    /// The first mechanism.
    pub first: Box<dyn Mechanism>,
    /// The second mechanism.
    pub second: Box<dyn Mechanism>,
    /// The probability w of the first.
    pub weight: f64,
}

fn build(arguments: &Arguments<'_>, read: Reader) -> Result<Box<dyn Mechanism>> {
    let mixture = Mixture {
        first: component(arguments, "first", read)?,
        second: component(arguments, "second", read)?,
        weight: arguments
            .number_if_given("weight", Bounds::Between(0.0, 1.0))?
            .unwrap_or(0.5),
    };
    match [&mixture.first, &mixture.second].map(|mechanism| mechanism.declared_count()) {
        [Some(one), Some(other)] if one != other => Err(arguments.error(format!(
            "the first mechanism has {one} secrets, the second {other}"
        ))),
        _ => Ok(Box::new(mixture)),
    }
}

impl fmt::Display for Mixture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let weight = format_number(self.weight);
        write!(
            f,
            "mixture({}, {}, weight={weight})",
            self.first, self.second
        )
    }
}

impl Mechanism for Mixture {
    fn declared_secrets(&self) -> Option<Vec<String>> {
        let first = self.first.declared_secrets();
        first.or_else(|| self.second.declared_secrets())
    }

    fn declared_count(&self) -> Option<u64> {
        let first = self.first.declared_count();
        first.or_else(|| self.second.declared_count())
    }

    fn bind(&self, labels: &[String]) -> Result<Box<dyn BoundMechanism>> {
        let first = self.first.bind(labels)?;
        let second = self.second.bind(labels)?;
        if first.columns() != second.columns() {
            return Err(Error::parameter(
                self.to_string(),
                "the two mechanisms have different observation columns",
            ));
        }
        let (first, second) = match NoiseMixture::of(first, second, self.weight) {
            Ok(noise) => return Ok(Box::new(noise)),
            Err([first, second]) => (first, second),
        };
        let tabulate = |bound: &dyn BoundMechanism, mechanism: &dyn Mechanism| {
            bound.probabilities().ok_or_else(|| {
                let problem = format!(
                    "{mechanism} has too many observations, perhaps infinitely many: secrets times \
                     observations can be at most {MAX_ENTRIES}"
                );
                Error::parameter(self.to_string(), problem)
            })
        };
        let tables = (
            tabulate(&*first, &*self.first)?,
            tabulate(&*second, &*self.second)?,
        );
        let detail = |bound: &dyn BoundMechanism| bound.deviations();
        Ok(Box::new(Bound {
            table: mix(
                self.weight,
                (tables.0, detail(&*first)),
                (tables.1, detail(&*second)),
            ),
            first,
            second,
            weight: self.weight,
        }))
    }
}

/// Probabilities, and their deviations from a shared row if these have more digits.
type Component = (Probabilities, Option<Vec<Vec<f64>>>);

/// w·first + (1 − w)·second over the observations of both.
fn mix(weight: f64, first: Component, second: Component) -> Table {
    let mut observations = first.0.observations;
    let mut numbers: HashMap<String, usize> = observations
        .iter()
        .enumerate()
        .map(|(number, label)| (label.clone(), number))
        .collect();
    let places: Vec<usize> = second
        .0
        .observations
        .into_iter()
        .map(|label| {
            *numbers.entry(label).or_insert_with_key(|label| {
                observations.push(label.clone());
                observations.len() - 1
            })
        })
        .collect();
    let mix_row = |(one, other): (&Vec<f64>, &Vec<f64>)| {
        let mut row: Vec<f64> = one.iter().map(|p| weight * p).collect();
        row.resize(observations.len(), 0.0);
        for (&place, p) in places.iter().zip(other) {
            row[place] += (1.0 - weight) * p;
        }
        row
    };
    let mix_rows = |one: &[Vec<f64>], other: &[Vec<f64>]| -> Vec<Vec<f64>> {
        one.iter().zip(other).map(mix_row).collect()
    };
    let deviations = mix_rows(
        first.1.as_ref().unwrap_or(&first.0.rows),
        second.1.as_ref().unwrap_or(&second.0.rows),
    );
    let rows = mix_rows(&first.0.rows, &second.0.rows);
    Table {
        probabilities: Probabilities { observations, rows },
        detail: Detail::Deviations(deviations),
    }
}

#[derive(Debug)]
struct Bound {
    first: Box<dyn BoundMechanism>,
    second: Box<dyn BoundMechanism>,
    weight: f64,
    table: Table,
}

impl BoundMechanism for Bound {
    fn secret_count(&self) -> usize {
        self.table.probabilities.rows.len()
    }

    fn total_variation(&self, a: usize, b: usize) -> f64 {
        self.table.total_variation(a, b)
    }

    fn bayes_security(&self, a: usize, b: usize) -> f64 {
        self.table.bayes_security(a, b)
    }

    fn law(&self, secret: usize) -> Law {
        self.table.law(secret)
    }

    fn epsilon(&self) -> f64 {
        self.table.epsilon()
    }

    fn columns(&self) -> &'static [&'static str] {
        self.first.columns()
    }

    fn draw(&self, secret: usize, rng: &mut dyn Rng) -> Vec<Observed> {
        if rng.random::<f64>() < self.weight {
            self.first.draw(secret, rng)
        } else {
            self.second.draw(secret, rng)
        }
    }

    fn sample(&self, secret: usize, rng: &mut dyn Rng) -> Vec<String> {
        texts(self.draw(secret, rng))
    }

    fn capacity(&self) -> Option<f64> {
        (!self.table.probabilities.rows.is_empty()).then(|| self.table.probabilities.capacity())
    }

    fn probabilities(&self) -> Option<Probabilities> {
        Some(self.table.probabilities.clone())
    }

    fn pair(&self, a: usize, b: usize) -> Option<Pair> {
        Some(Pair::Cells(self.table.cells(a, b)))
    }

    fn pairs(&self) -> Option<Vec<Pair>> {
        self.table.pairs()
    }

    fn deviations(&self) -> Option<Vec<Vec<f64>>> {
        self.table.deviations()
    }
}
