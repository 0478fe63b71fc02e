//! The class-wise k-th neighbor.

use std::sync::Arc;

use crate::scorer::neighbors::{Neighbors, Rank};
use crate::scorer::{Kind, Parameter, Parameters, Scorer, parameters};
use leakgauge_log::observations::{Counts, Observations};

/// Class-wise k-th-neighbor scorer.
#[derive(Clone)]
pub struct KNearest {
    name: String,
    neighbors: Arc<Neighbors>,
    rank: Rank,
    dimension: f64,
}

impl KNearest {
    /// A scorer with a rank and an intrinsic dimension chosen elsewhere.
    pub fn new(
        name: impl Into<String>,
        neighbors: Arc<Neighbors>,
        rank: Rank,
        dimension: f64,
    ) -> Self {
        KNearest {
            name: name.into(),
            neighbors,
            rank,
            dimension,
        }
    }

    /// Turns ln distances into scores, in place.
    pub fn to_scores(&self, observations: &Observations, ids: &[u32], values: &mut [f64]) {
        let secrets = self.neighbors.fit.secrets();
        let categories = observations.category_count() as u32;
        let shares: Vec<f64> = (0..categories)
            .flat_map(|category| (0..secrets).map(move |secret| (category, secret)))
            .map(|(category, secret)| self.ln_share(category, secret))
            .collect();
        for (row, &symbol) in values.chunks_mut(secrets).zip(ids) {
            let category = observations.category(symbol) as usize;
            for (value, share) in row.iter_mut().zip(&shares[category * secrets..]) {
                *value = share - self.dimension * *value;
            }
        }
    }

    /// ln(k_s/n_s) for an observation's category: what a score adds to −d·ln r.
    fn ln_share(&self, category: u32, secret: usize) -> f64 {
        let here = self.neighbors.rows_compared(category, secret);
        let k = if here == 0 {
            0.5
        } else {
            self.rank.neighbors(here) as f64
        };
        (k / (self.neighbors.fit.rows()[secret] as f64).max(1.0)).ln()
    }
}

impl Scorer for KNearest {
    fn name(&self) -> &str {
        &self.name
    }

    fn parameters(&self) -> Parameters {
        let rows = self.neighbors.fit.rows().iter().copied().max().unwrap_or(0);
        parameters([
            (
                "k",
                Parameter::Count(self.rank.neighbors(rows as usize) as u64),
            ),
            ("dimension", Parameter::Real(self.dimension)),
        ])
        .into_iter()
        .chain(self.neighbors.words())
        .collect()
    }

    fn description(&self) -> String {
        let rows = self.neighbors.fit.rows().iter().copied().max().unwrap_or(0);
        let which = match self.rank.neighbors(rows as usize) {
            1 => "the nearest neighbor of each secret".to_owned(),
            k => format!("neighbor {k} of each secret"),
        };
        format!("{which}{}", self.neighbors.description())
    }

    fn kinds(&self) -> Vec<Kind> {
        vec![self.neighbors.kind()]
    }

    fn index(&self) -> Option<&'static str> {
        Some(self.neighbors.index_name())
    }

    fn score(&self, observations: &Observations, ids: &[u32], scores: &mut [f64]) {
        self.neighbors
            .ln_distances(observations, ids, &[self.rank], &mut [scores]);
        self.to_scores(observations, ids, scores);
    }

    fn refit(&self, observations: &Observations, fit: &Counts) -> Result<Arc<dyn Scorer>, String> {
        Ok(Arc::new(KNearest {
            neighbors: Arc::new(self.neighbors.refit(observations, fit)?),
            ..self.clone()
        }))
    }
}
