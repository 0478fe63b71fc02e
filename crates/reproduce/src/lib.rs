//! Figures of papers, recomputed: data, picture, and a comparison of printed and recomputed numbers.
//!
//! ```
//! use leakgauge_reproduce::{ReproduceOptions, entry};
//!
//! let figure = entry("bayes-security-figure-4")?.reproduce(&ReproduceOptions::default())?;
//! assert!(figure.pictures[0].svg.starts_with("<svg"));
//! # Ok::<(), leakgauge_base::error::Error>(())
//! ```
//!
//! # References
//! K. Chatzikokolakis, G. Cherubin, C. Palamidessi, C. Troncoso, *Bayes Security: A Not So Average
//! Metric*, CSF 2023, doi:10.1109/CSF57540.2023.00011.

mod catalogue;
mod comparison;
mod composition;
mod curves;
pub mod evaluation;
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

use serde::Serialize;

use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::option;
use leakgauge_base::suggest::nearest;
use leakgauge_plot::Figure;

pub use catalogue::ENTRIES;
pub use comparison::Comparison;
pub use population::{MAX_CELLS, Population, read as read_population};

/// The Bayes security of the two secrets of a log, as an audit reports it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Audited {
    /// The estimate.
    pub estimate: Option<f64>,
    /// The lower limit.
    pub lower: Option<f64>,
    /// The upper limit.
    pub upper: Option<f64>,
}

/// Audits a log with a seed. The caller provides it, because the audit is in a crate above this one.
pub type BlackBox = fn(&leakgauge_log::Log, u64) -> Result<Audited>;

/// The options of a figure.
#[derive(Debug, Clone)]
pub struct ReproduceOptions {
    /// The seed of every random choice.
    pub seed: u64,
    /// The population, for figures about people; without it, one is generated.
    pub population: Option<Population>,
    /// The file or directory of the data set, for figures about one; without it, data are generated.
    pub source: Option<String>,
    /// The number of priors drawn for each level of sparsity.
    pub priors: usize,
    /// The number of rows of each simulated log.
    pub rows: u64,
    /// The black-box audit; figures that need it fail without it.
    pub audit: Option<BlackBox>,
}

impl Default for ReproduceOptions {
    fn default() -> Self {
        ReproduceOptions {
            seed: 0,
            population: None,
            source: None,
            priors: 1000,
            rows: 40_000,
            audit: None,
        }
    }
}

/// A figure that can be recomputed.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Entry {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it shows, in one line.
    pub about: &'static str,
    /// The names of its files, without the extensions `.csv` and `.svg`.
    pub files: &'static [&'static str],
    /// Whether it is about people and accepts a file of them.
    pub takes_data: bool,
    /// Whether it is about a data set and accepts its file or directory.
    pub takes_source: bool,
    #[serde(skip)]
    build: fn(&ReproduceOptions) -> Result<FigureOutput>,
}

impl Entry {
    /// Computes the figure.
    ///
    /// # Errors
    /// The figure does not accept the given data or population.
    pub fn reproduce(&self, options: &ReproduceOptions) -> Result<Reproduction> {
        if options.population.is_some() && !self.takes_data {
            return Err(Error::parameter(
                option("data"),
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
    /// The comparison of printed and recomputed numbers.
    pub comparisons: Vec<Comparison>,
    /// Choices that the paper leaves open, and remarks on the results.
    pub notes: Vec<String>,
    /// The pictures and their data.
    pub pictures: Vec<Figure>,
}

/// The output of the function that recomputes a figure.
#[derive(Debug, Default)]
struct FigureOutput {
    comparisons: Vec<Comparison>,
    notes: Vec<String>,
    pictures: Vec<Figure>,
}

/// The figure with a name.
///
/// # Errors
/// No figure has this name.
pub fn entry(name: &str) -> Result<&'static Entry> {
    ENTRIES
        .iter()
        .find(|entry| entry.name == name)
        .ok_or_else(|| {
            let error = Error::parameter(name, "is not the name of a figure");
            match nearest(name, ENTRIES.iter().map(|entry| entry.name)) {
                Some(near) => error.with_hint(format!("did you mean {near}?")),
                None => error.with_hint(format!("{} shows the names", option("list"))),
            }
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The plug-in estimate replaces an audit, which is not available in this crate.
    fn plug_in(log: &leakgauge_log::Log, _: u64) -> Result<Audited> {
        let variation = leakgauge_attack::measure::plug_in::total_variation(&log.counts)[0];
        Ok(Audited {
            estimate: Some(1.0 - variation),
            lower: None,
            upper: None,
        })
    }

    /// Few draws: what does not depend on their number is checked.
    fn quick() -> ReproduceOptions {
        ReproduceOptions {
            priors: 20,
            rows: 2_000,
            audit: Some(plug_in),
            ..ReproduceOptions::default()
        }
    }

    #[test]
    #[ignore = "long"]
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
        let error = entry("x").unwrap_err().to_string();
        assert!(error.contains("shows the names"), "{error}");
    }
}
