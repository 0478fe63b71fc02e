//! People, each in one of finitely many cells.

use std::collections::BTreeMap;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Binomial, Distribution, StandardNormal};

use leakgauge_base::error::{Error, Place, Result};
use leakgauge_log::{ReadMeter, delimiter, open};

/// How many people are in each cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Population {
    /// What it is, for the report.
    pub name: String,
    /// People a cell; cells may be empty.
    pub cells: Vec<u64>,
}

/// The most cells.
pub const MAX_CELLS: usize = 100_000;

impl Population {
    /// All people.
    pub fn people(&self) -> u64 {
        self.cells.iter().sum()
    }

    /// The same with empty cells added.
    ///
    /// # Errors
    /// Fewer cells than it has, or more than [`MAX_CELLS`].
    pub fn over(mut self, cells: usize) -> Result<Population> {
        let problem = if cells < self.cells.len() {
            format!(
                "{} has {} different rows already",
                self.name,
                self.cells.len()
            )
        } else if cells > MAX_CELLS {
            format!("the most is {MAX_CELLS}")
        } else {
            self.cells.resize(cells, 0);
            return Ok(self);
        };
        Err(Error::parameter(format!("--cells {cells}"), problem))
    }

    /// As many people as the census of the paper, in 8 × 5 × 5 × 2 cells of uneven size.
    pub(super) fn generated(seed: u64) -> Population {
        const AGES: [f64; 8] = [0.22, 0.15, 0.17, 0.15, 0.10, 0.09, 0.07, 0.05];
        const INCOMES: [f64; 5] = [0.48, 0.24, 0.15, 0.09, 0.04];
        const MARRIAGES: [f64; 5] = [0.41, 0.41, 0.07, 0.07, 0.04];
        const SEXES: [f64; 2] = [0.51, 0.49];
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut weights = Vec::with_capacity(CELLS);
        for age in AGES {
            for income in INCOMES {
                for marriage in MARRIAGES {
                    for sex in SEXES {
                        // What depends on each other in a real population depends at random in this one.
                        let z: f64 = StandardNormal.sample(&mut rng);
                        weights.push(age * income * marriage * sex * libm::exp(z));
                    }
                }
            }
        }
        Population {
            name: "a generated population".to_owned(),
            cells: multinomial(PEOPLE, &weights, &mut rng),
        }
    }
}

/// Cells of the paper's reduced census: age, income, marital status, sex.
pub(super) const CELLS: usize = 400;
/// People of the 1990 census sample.
pub(super) const PEOPLE: u64 = 2_458_285;

/// So many draws from weighted cells, one cell after another.
pub(super) fn multinomial(draws: u64, weights: &[f64], rng: &mut ChaCha8Rng) -> Vec<u64> {
    let (mut left, mut mass): (u64, f64) = (draws, weights.iter().sum());
    let mut cells = Vec::with_capacity(weights.len());
    for (at, &weight) in weights.iter().enumerate() {
        let last = at + 1 == weights.len();
        let share = if last {
            1.0
        } else {
            (weight / mass).clamp(0.0, 1.0)
        };
        let drawn = binomial(left, share, rng);
        cells.push(drawn);
        (left, mass) = (left - drawn, (mass - weight).max(f64::MIN_POSITIVE));
    }
    cells
}

/// Binomial draws; a share out of range cannot come here.
pub(super) fn binomial(trials: u64, share: f64, rng: &mut ChaCha8Rng) -> u64 {
    match Binomial::new(trials, share) {
        Ok(binomial) => binomial.sample(rng).min(trials),
        Err(_) => 0,
    }
}

/// Reads people from delimited text with a header: each row is a person, whose cell is the row as a whole.
///
/// # Errors
/// A file that cannot be read, rows of uneven length, no rows, more than [`MAX_CELLS`] different rows.
pub fn read(name: &str) -> Result<Population> {
    let mut text = Vec::new();
    std::io::Read::read_to_end(&mut open(name, &ReadMeter::default())?, &mut text)
        .map_err(|error| Error::file(name, error.to_string()))?;
    let first_line = text.split(|byte| *byte == b'\n').next().unwrap_or(&[]);
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter(name, first_line, None))
        .trim(csv::Trim::All)
        .from_reader(&text[..]);
    let mut cells: BTreeMap<Vec<Vec<u8>>, u64> = BTreeMap::new();
    for (at, record) in reader.byte_records().enumerate() {
        let place = || Place::file(name).row(at as u64 + 2);
        let record = record.map_err(|error| Error::data(place(), error.to_string()))?;
        *cells
            .entry(record.iter().map(<[u8]>::to_vec).collect())
            .or_insert(0) += 1;
        if cells.len() > MAX_CELLS {
            let problem = format!("more than {MAX_CELLS} different rows");
            return Err(Error::data(place(), problem)
                .with_hint("keep a few columns of categories: age in classes, not in years"));
        }
    }
    if cells.len() < 2 {
        return Err(
            Error::file(name, "needs people in two different cells at least")
                .with_hint("row 1 is the header, each further row a person"),
        );
    }
    Ok(Population {
        name: name.to_owned(),
        cells: cells.into_values().collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generated_population_is_whole_and_uneven() {
        let population = Population::generated(0);
        assert_eq!(
            (population.cells.len(), population.people()),
            (CELLS, PEOPLE)
        );
        let most = population.cells.iter().max().unwrap();
        let least = population.cells.iter().min().unwrap();
        assert!(*most > 100_000 && *least < 1_000, "{most} {least}");
    }

    #[test]
    fn cells_of_a_multinomial_have_their_shares() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let cells = multinomial(100_000, &[1.0, 0.0, 2.0, 7.0], &mut rng);
        assert_eq!((cells.iter().sum::<u64>(), cells[1]), (100_000, 0));
        // Binomial(100,000, 0.2): 20,000 ± 126, six deviations.
        assert!(cells[2].abs_diff(20_000) < 760, "{cells:?}");
    }
}
