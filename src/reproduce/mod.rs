//! Figures of papers, recomputed with this library: data, picture, and where a printed number and the
//! recomputed one differ.
//!
//! ```
//! use leakgauge::reproduce::{ReproduceOptions, entry};
//!
//! let figure = entry("bayes-security-figure-4")?.reproduce(&ReproduceOptions::default())?;
//! assert!(figure.pictures[0].svg.starts_with("<svg"));
//! # Ok::<(), leakgauge::error::Error>(())
//! ```
//!
//! # References
//! K. Chatzikokolakis, G. Cherubin, C. Palamidessi, C. Troncoso, *Bayes Security: A Not So Average
//! Metric*, CSF 2023, doi:10.1109/CSF57540.2023.00011.

mod catalogue;
mod comparison;
mod composition;
mod curves;
mod files;
mod numbers;
mod planar;
mod population;
mod reidentification;
mod response;
mod shuffle_flow;
mod shuffle_information;
mod shuffle_tables;
mod shuffling;
mod sparsity;
mod table;

use serde::Serialize;

use crate::error::{Error, Result};
use crate::suggest::nearest;

pub use catalogue::ENTRIES;
pub use comparison::Comparison;
pub use files::{Written, check, replace_file, write};
pub use population::{MOST_CELLS, Population, read as read_population};
pub use table::{Cell, Table};

/// What can be chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct ReproduceOptions {
    /// Seed of every random choice.
    pub seed: u64,
    /// The people of the figure that needs some; generated if not given.
    pub population: Option<Population>,
    /// The file or directory of the data that a figure is about; generated if not given.
    pub source: Option<String>,
    /// Priors drawn for each level of sparsity.
    pub priors: usize,
    /// Rows of each simulated log.
    pub rows: u64,
}

impl Default for ReproduceOptions {
    fn default() -> Self {
        ReproduceOptions {
            seed: 0,
            population: None,
            source: None,
            priors: 1000,
            rows: 40_000,
        }
    }
}

/// A figure that can be recomputed.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Entry {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it shows, in one line.
    pub about: &'static str,
    /// Its files without the ends `.csv` and `.svg`.
    pub files: &'static [&'static str],
    /// Whether it is about people, and takes a file of some.
    pub takes_data: bool,
    /// Whether it is about a data set, and takes its file or directory.
    pub takes_source: bool,
    #[serde(skip)]
    build: fn(&ReproduceOptions) -> Result<Made>,
}

impl Entry {
    /// Computes the figure.
    ///
    /// # Errors
    /// A population that the figure cannot take.
    pub fn reproduce(&self, options: &ReproduceOptions) -> Result<Reproduction> {
        if options.population.is_some() && !self.takes_data {
            return Err(Error::parameter(
                "--data",
                format!("{} is not about people", self.name),
            ));
        }
        let made = (self.build)(options)?;
        Ok(Reproduction {
            name: self.name,
            about: self.about,
            comparisons: made.comparisons,
            notes: made.notes,
            pictures: made.pictures,
        })
    }
}

/// A recomputed figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reproduction {
    /// Its name.
    pub name: &'static str,
    /// What it shows.
    pub about: &'static str,
    /// Printed numbers and recomputed ones.
    pub comparisons: Vec<Comparison>,
    /// What was chosen where the paper leaves it open, and what was found.
    pub notes: Vec<String>,
    /// Data and pictures.
    pub pictures: Vec<Picture>,
}

/// Data and their picture.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Picture {
    /// The name of its files without their ends.
    pub file: &'static str,
    /// The data.
    #[serde(skip)]
    pub table: Table,
    /// The picture.
    #[serde(skip)]
    pub svg: String,
}

/// What a figure is made of.
#[derive(Debug, Default)]
struct Made {
    comparisons: Vec<Comparison>,
    notes: Vec<String>,
    pictures: Vec<Picture>,
}

/// The figure of a name.
///
/// # Errors
/// There is none.
pub fn entry(name: &str) -> Result<&'static Entry> {
    ENTRIES
        .iter()
        .find(|entry| entry.name == name)
        .ok_or_else(|| {
            let error = Error::parameter(name, "is no figure that can be recomputed");
            match nearest(name, ENTRIES.iter().map(|entry| entry.name)) {
                Some(near) => error.with_hint(format!("did you mean {near}?")),
                None => error.with_hint("`leakgauge reproduce --list` names them"),
            }
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Few draws: what does not depend on their number is checked.
    fn quick() -> ReproduceOptions {
        ReproduceOptions {
            priors: 20,
            rows: 2_000,
            ..ReproduceOptions::default()
        }
    }

    #[test]
    fn every_figure_has_the_files_it_says_and_the_same_bytes_again() {
        for entry in ENTRIES {
            let made = entry.reproduce(&quick()).expect(entry.name);
            let files: Vec<&str> = made.pictures.iter().map(|picture| picture.file).collect();
            assert_eq!(files, entry.files, "{}", entry.name);
            for picture in &made.pictures {
                roxmltree::Document::parse(&picture.svg).expect(picture.file);
                assert!(
                    picture.svg.len() < 400_000,
                    "{}: {}",
                    picture.file,
                    picture.svg.len()
                );
                let csv = picture.table.to_csv().expect(picture.file);
                let mut reader = csv::Reader::from_reader(csv.as_bytes());
                assert!(
                    reader.records().count() > 1 && !csv.contains("NaN"),
                    "{}",
                    picture.file
                );
            }
            assert_eq!(entry.reproduce(&quick()).expect(entry.name), made);
        }
    }

    #[test]
    fn names_are_suggested() {
        let error = entry("bayes-security-figure4").unwrap_err().to_string();
        assert!(
            error.contains("did you mean bayes-security-figure-4?"),
            "{error}"
        );
        assert!(entry("x").unwrap_err().to_string().contains("--list"));
    }
}
