//! People, each in one of finitely many cells.

use std::collections::BTreeMap;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Binomial, Distribution, StandardNormal};

use leakgauge_base::error::{Error, Place, Result};
use leakgauge_log::{ReadMeter, delimiter, open, whole_text};

/// The number of people in each cell of a population.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Population {
    /// Its name in the report.
    pub name: String,
    /// The number of people per cell; cells can be empty.
    pub cells: Vec<u64>,
}

/// The largest number of cells.
pub const MAX_CELLS: usize = 100_000;

impl Population {
    /// The number of people.
    pub fn people(&self) -> u64 {
        self.cells.iter().sum()
    }

    /// The same population with empty cells added, up to `cells` cells.
    ///
    /// # Errors
    /// `cells` is less than the number of cells, or more than [`MAX_CELLS`].
    pub fn over(mut self, cells: usize) -> Result<Population> {
        let problem = if cells < self.cells.len() {
            format!(
                "must be at least the number of distinct rows: {} has {}",
                self.name,
                self.cells.len()
            )
        } else if cells > MAX_CELLS {
            format!("must be at most {MAX_CELLS}")
        } else {
            self.cells.resize(cells, 0);
            return Ok(self);
        };
        Err(Error::setting("cells", cells, problem))
    }

    /// A generated population with as many people as the census of the paper, in 8 × 5 × 5 × 2 cells of uneven size.
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
                        // Attributes of a real population are correlated; here the correlation is random.
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

/// The number of cells of the reduced census in the paper: age, income, marital status, sex.
pub(super) const CELLS: usize = 400;
/// The number of people of the 1990 census sample.
pub(super) const PEOPLE: u64 = 2_458_285;

/// A multinomial histogram, drawn cell by cell from binomials.
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

/// Reads people from delimited text with a header. Each row is a person; the whole row is the person's cell.
///
/// # Errors
/// The file cannot be read, rows differ in length, there are no rows or more than [`MAX_CELLS`] distinct rows.
pub fn read(name: &str) -> Result<Population> {
    let text = whole_text(name, open(name, &ReadMeter::default())?)?;
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
            let problem = format!("there are more than {MAX_CELLS} distinct rows");
            return Err(Error::data(place(), problem).with_hint(
                "keep only a few categorical columns, such as age groups instead of years",
            ));
        }
    }
    if cells.len() < 2 {
        return Err(Error::file(name, "needs people in at least two cells")
            .with_hint("row 1 is the header, every other row is a person"));
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
