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

macro_rules! entry {
    ($name:literal, $about:literal, [$($file:literal),+], $takes_data:literal, $build:path) => {
        Entry {
            name: $name,
            about: $about,
            files: &[$($file),+],
            takes_data: $takes_data,
            takes_source: false,
            build: $build,
        }
    };
    ($name:literal, $about:literal, [$($file:literal),+], from source, $build:path) => {
        Entry {
            takes_source: true,
            ..entry!($name, $about, [$($file),+], false, $build)
        }
    };
}

/// All figures that can be recomputed.
pub const ENTRIES: &[Entry] = &[
    entry!(
        "bayes-security-figure-1",
        "five secrets under a planar Laplace mechanism, and the two told apart best",
        ["bayes-security-figure-1"],
        false,
        planar::figure_1
    ),
    entry!(
        "bayes-security-figure-4",
        "what differential privacy guarantees: Corollary 2 and the bound of Yeom et al.",
        ["bayes-security-figure-4"],
        false,
        curves::figure_4
    ),
    entry!(
        "bayes-security-figure-5",
        "how tight the bounds by Bayes security and capacity are for sparse priors",
        [
            "bayes-security-figure-5-random",
            "bayes-security-figure-5-geometric",
            "bayes-security-figure-5-geometric-near"
        ],
        false,
        sparsity::figure_5
    ),
    entry!(
        "bayes-security-figure-6a",
        "Bayes security of randomized response against epsilon",
        ["bayes-security-figure-6a"],
        false,
        curves::figure_6a
    ),
    entry!(
        "bayes-security-figure-6b",
        "Bayes security of the Laplace mechanism against epsilon",
        ["bayes-security-figure-6b"],
        false,
        curves::figure_6b
    ),
    entry!(
        "bayes-security-figure-6c",
        "Bayes security of the Gaussian mechanism against epsilon and delta",
        ["bayes-security-figure-6c"],
        false,
        curves::figure_6c
    ),
    entry!(
        "bayes-security-figure-7",
        "utility and Bayes security of randomized response on a population",
        ["bayes-security-figure-7"],
        true,
        response::figure_7
    ),
    entry!(
        "bayes-security-figure-8",
        "Bayes security of randomized response and what bounds it from below",
        [
            "bayes-security-figure-8-left",
            "bayes-security-figure-8-right"
        ],
        false,
        curves::figure_8
    ),
    entry!(
        "bayes-security-proposition-1",
        "a channel's worst pair need not be that of two uses of it",
        [
            "bayes-security-proposition-1-once",
            "bayes-security-proposition-1-twice",
            "bayes-security-proposition-1-strict-once",
            "bayes-security-proposition-1-strict-twice"
        ],
        false,
        composition::proposition_1
    ),
    entry!(
        "bayes-security-numbers",
        "every number printed in the text, beside the recomputed one",
        ["bayes-security-numbers"],
        false,
        numbers::numbers
    ),
    entry!(
        "reidentification-figure-2",
        "success against guesses for a linear density among uniform ones",
        ["reidentification-figure-2"],
        false,
        reidentification::figure_2
    ),
    entry!(
        "reidentification-figure-3",
        "success against n for Zipf passwords among uniform honeywords",
        ["reidentification-figure-3"],
        false,
        reidentification::figure_3
    ),
    entry!(
        "reidentification-figure-4",
        "success against guesses for Zipf passwords among uniform honeywords",
        ["reidentification-figure-4"],
        false,
        reidentification::figure_4
    ),
    entry!(
        "reidentification-figure-5",
        "clone and blanket of a Laplace mechanism, and printed numbers of shuffle DP",
        ["reidentification-figure-5"],
        false,
        reidentification::figure_5
    ),
    entry!(
        "shuffle-information-figure-2",
        "what shuffled messages tell of the target's, decoys of the same law",
        [
            "shuffle-information-figure-2a",
            "shuffle-information-figure-2b"
        ],
        false,
        shuffle_information::figure_2
    ),
    entry!(
        "shuffle-information-figure-3",
        "what they tell of its place and of itself, uniform and best decoys",
        [
            "shuffle-information-figure-3a",
            "shuffle-information-figure-3b"
        ],
        false,
        shuffle_information::figure_3
    ),
    entry!(
        "shuffle-information-figure-4",
        "what they tell of an input of 4-ary randomized response, and bounds",
        ["shuffle-information-figure-4"],
        false,
        shuffle_information::figure_4
    ),
    entry!(
        "shuffle-flow-tables",
        "channels of noise and shuffling for three people with two values (Tables I to V)",
        [
            "shuffle-flow-table-1a",
            "shuffle-flow-table-1b",
            "shuffle-flow-table-1c",
            "shuffle-flow-table-2",
            "shuffle-flow-table-3",
            "shuffle-flow-table-4",
            "shuffle-flow-table-5"
        ],
        false,
        shuffle_tables::tables
    ),
    entry!(
        "shuffle-flow-figure-2",
        "guessing one of two values after noise and shuffling",
        ["shuffle-flow-figure-2"],
        false,
        shuffle_flow::figure_2
    ),
    entry!(
        "shuffle-flow-figure-3",
        "guessing the last of 201 values",
        ["shuffle-flow-figure-3"],
        false,
        shuffle_flow::figure_3
    ),
    entry!(
        "shuffle-flow-figure-4",
        "guessing one of five values after noise and shuffling",
        ["shuffle-flow-figure-4"],
        false,
        shuffle_flow::figure_4
    ),
    entry!(
        "shuffle-flow-figure-5",
        "guessing one of k values after shuffling alone",
        ["shuffle-flow-figure-5"],
        false,
        shuffle_flow::figure_5
    ),
    entry!(
        "shuffle-flow-figure-6",
        "shuffling alone beside its asymptotic value",
        ["shuffle-flow-figure-6"],
        false,
        shuffle_flow::figure_6
    ),
    entry!(
        "shuffle-flow-figure-7",
        "noise and shuffling beside their asymptotic value",
        ["shuffle-flow-figure-7"],
        false,
        shuffle_flow::figure_7
    ),
    entry!(
        "dsigma-figure-1",
        "crescents shuffled within small and large groups, and an attack on each",
        [
            "dsigma-figure-1a-original",
            "dsigma-figure-1b-in-order",
            "dsigma-figure-1f-attack-in-order",
            "dsigma-figure-1c-small-groups",
            "dsigma-figure-1g-attack-small-groups",
            "dsigma-figure-1d-large-groups",
            "dsigma-figure-1h-attack-large-groups",
            "dsigma-figure-1e-uniform",
            "dsigma-figure-1i-attack-uniform"
        ],
        false,
        shuffling::figure_1
    ),
    entry!(
        "dsigma-figure-4-syn",
        "values recovered and local distributions learned from shuffled crescents",
        [
            "dsigma-figure-4-syn-attack",
            "dsigma-figure-4-syn-learnability"
        ],
        false,
        shuffling::figure_4_syn
    ),
    entry!(
        "dsigma-figure-4-twitch",
        "values recovered and local distributions learned from a shuffled network; --data: the Twitch directory",
        [
            "dsigma-figure-4-twitch-attack",
            "dsigma-figure-4-twitch-learnability"
        ],
        from source,
        shuffling::figure_4_twitch
    ),
    entry!(
        "dsigma-figure-5",
        "accuracy of 8-, 4- and 2-way classification learned from shuffled crescents",
        ["dsigma-figure-5"],
        false,
        shuffling::figure_5
    ),
    entry!(
        "dsigma-figure-7",
        "the share of a set that a Mallows shuffle keeps in it",
        ["dsigma-figure-7a", "dsigma-figure-7b", "dsigma-figure-7c"],
        false,
        shuffling::figure_7
    ),
    entry!(
        "dsigma-figure-8",
        "incomes recovered and shares learned from a shuffled census; --data: the Adult file",
        [
            "dsigma-figure-8a",
            "dsigma-figure-8a-larger",
            "dsigma-figure-8b",
            "dsigma-figure-8c",
            "dsigma-figure-8-trade"
        ],
        from source,
        shuffling::figure_8
    ),
    entry!(
        "dsigma-figure-9",
        "widths of reference orders where the best is known",
        [
            "dsigma-figure-9-w4",
            "dsigma-figure-9-w10",
            "dsigma-figure-9-w20",
            "dsigma-figure-9-w50"
        ],
        false,
        shuffling::figure_9
    ),
    entry!(
        "dsigma-figure-10",
        "widths of reference orders of random points",
        [
            "dsigma-figure-10-r0",
            "dsigma-figure-10-r0.01",
            "dsigma-figure-10-r0.05",
            "dsigma-figure-10-r0.2"
        ],
        false,
        shuffling::figure_10
    ),
];

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
