//! Guessing by a random forest.

use std::collections::BTreeSet;
use std::sync::Arc;

use hashbrown::HashMap;
use leakgauge_base::parallel;
use rafor::CompactTree;
use rafor::prelude::*;
use rafor::rf::Classifier;

use crate::scorer::ranking::Ranking;
use crate::scorer::{Parameter, Parameters, Scorer, parameters};
use leakgauge_log::observations::{Counts, Observations};

/// How a forest is grown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Growth {
    /// The number of trees, a multiple of ten.
    pub trees: usize,
    /// Rows that a leaf has at least.
    pub leaf: usize,
}

/// Scores an observation by the share of the trees' leaves that each secret has there; numbers enter
/// by their ranks, labels by the place of each in the alphabet, new ones behind all that were learned.
///
/// # Formula
/// score_s(x) = ln(p_s(x) + 1/(2T)) − ln(n_s/n): p_s is the mean over T trees of the share of rows of s
/// in the leaf of x. The last term takes out how often each secret was logged.
///
/// # References
/// Breiman 2001, Random Forests, doi:10.1023/A:1010933404324.
pub struct Forest {
    growth: Growth,
    features: Features,
    /// Grown apart from each other, always in the same order: sums do not depend on threads.
    groves: Vec<Classifier<CompactTree>>,
    /// The secrets that have fit rows, and −ln of their share of them.
    classes: Vec<(usize, f64)>,
    secrets: usize,
}

impl Forest {
    /// Trees that are grown and asked one after the other.
    const GROVE: usize = 10;
    /// Columns that the library can number.
    const MAX_FEATURES: usize = 65_535;
    /// The score of a secret without fit rows.
    const UNKNOWN: f64 = -1e9;

    /// Grows the trees.
    ///
    /// # Errors
    /// No column varies, too many columns, fewer than two secrets with rows.
    pub fn fit(observations: &Observations, fit: &Counts, growth: Growth) -> Result<Self, String> {
        let features = Features::fit(observations, fit);
        if !(1..=Self::MAX_FEATURES).contains(&features.len()) {
            return Err(format!(
                "{} columns vary, 1 to {} are possible",
                features.len(),
                Self::MAX_FEATURES
            ));
        }
        let total = fit.total() as f64;
        let classes: Vec<(usize, f64)> = (0..fit.secrets())
            .filter(|&secret| fit.rows()[secret] > 0)
            .map(|secret| (secret, -(fit.rows()[secret] as f64 / total).ln()))
            .collect();
        if classes.len() < 2 {
            return Err("fewer than two secrets have rows to learn from".to_owned());
        }
        let (mut points, mut targets, mut point) = (Vec::new(), Vec::new(), Vec::new());
        for cell in fit.cells() {
            point.clear();
            features.append(observations, cell.symbol, &mut point);
            for _ in 0..cell.count {
                points.extend_from_slice(&point);
                targets.push(i64::from(cell.secret));
            }
        }
        let groves = parallel::map(growth.trees / Self::GROVE, |grove| {
            let mut trainer = Classifier::<CompactTree>::trainer();
            trainer
                .with_trees(Self::GROVE)
                .with_threads(1)
                .with_seed(grove as u64)
                .with_min_samples_leaf(growth.leaf);
            trainer.train(&points, &targets)
        });
        Ok(Forest {
            growth,
            features,
            groves,
            classes,
            secrets: fit.secrets(),
        })
    }
}

impl Scorer for Forest {
    fn name(&self) -> &str {
        "forest"
    }

    fn parameters(&self) -> Parameters {
        parameters([
            ("trees", Parameter::Count(self.growth.trees as u64)),
            ("leaf", Parameter::Count(self.growth.leaf as u64)),
        ])
    }

    fn description(&self) -> String {
        format!(
            "{} trees, at least {} rows per leaf",
            self.growth.trees, self.growth.leaf
        )
    }

    fn is_portable(&self) -> bool {
        true
    }

    fn score(&self, observations: &Observations, ids: &[u32], scores: &mut [f64]) {
        const BLOCK: usize = 256;
        let floor = 0.5 / self.growth.trees as f64;
        let groves = self.groves.len() as f64;
        let (mut points, mut shares) = (Vec::new(), Vec::new());
        let blocks = ids
            .chunks(BLOCK)
            .zip(scores.chunks_mut(BLOCK * self.secrets));
        for (ids, scores) in blocks {
            points.clear();
            for &symbol in ids {
                self.features.append(observations, symbol, &mut points);
            }
            shares.clear();
            shares.resize(ids.len() * self.classes.len(), 0.0f64);
            for grove in &self.groves {
                for (sum, share) in shares.iter_mut().zip(grove.proba(&points, 1)) {
                    *sum += f64::from(share);
                }
            }
            let rows = scores
                .chunks_mut(self.secrets)
                .zip(shares.chunks(self.classes.len()));
            for (row, shares) in rows {
                row.fill(Self::UNKNOWN);
                for (&(secret, offset), share) in self.classes.iter().zip(shares) {
                    row[secret] = (share / groves + floor).ln() + offset;
                }
            }
        }
    }

    fn refit(&self, observations: &Observations, fit: &Counts) -> Result<Arc<dyn Scorer>, String> {
        Ok(Arc::new(Forest::fit(observations, fit, self.growth)?))
    }
}

/// Columns as trees see them: 32-bit numbers of which only the order counts.
struct Features {
    /// Numeric columns that vary, by their place among the values of the fit rows.
    numeric: Vec<(usize, Ranking)>,
    /// For each categorical column, the places of the labels that fit rows have; any other comes last.
    labels: Vec<HashMap<String, f32>>,
}

impl Features {
    fn fit(observations: &Observations, fit: &Counts) -> Self {
        let numeric = (0..observations.dimensions())
            .map(|column| (column, Ranking::fit(observations, fit, column)))
            .filter(|(_, ranking)| !ranking.is_constant())
            .collect();
        Features {
            numeric,
            labels: places(observations, fit),
        }
    }

    fn len(&self) -> usize {
        self.numeric.len() + self.labels.len()
    }

    fn append(&self, observations: &Observations, symbol: u32, out: &mut Vec<f32>) {
        if !self.numeric.is_empty() {
            let numbers = observations.numbers(symbol);
            let places = self.numeric.iter();
            out.extend(places.map(|(column, ranking)| ranking.place(numbers[*column]) as f32));
        }
        if !self.labels.is_empty() {
            let labels = &observations.categories()[observations.category(symbol) as usize];
            let places = self.labels.iter().zip(labels);
            out.extend(places.map(|(known, label)| {
                let place = known.get(label).copied();
                place.unwrap_or(known.len() as f32)
            }));
        }
    }
}

/// The place of every label of the fit rows among those of its column, columns in their order.
fn places(observations: &Observations, fit: &Counts) -> Vec<HashMap<String, f32>> {
    let categories = observations.categories();
    let columns = categories.first().map_or(0, Vec::len);
    let learned: BTreeSet<u32> = fit
        .cells()
        .iter()
        .map(|cell| observations.category(cell.symbol))
        .collect();
    let of_column = |column: usize| {
        let labels = learned.iter();
        let labels: BTreeSet<&String> = labels
            .map(|&category| &categories[category as usize][column])
            .collect();
        let numbered = labels.into_iter().zip(0u32..);
        numbered
            .map(|(label, place)| (label.clone(), place as f32))
            .collect()
    };
    (0..columns).map(of_column).collect()
}
