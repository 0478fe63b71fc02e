//! Guessing by counts: the frequency of an observation under each secret.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::observations::{Counts, Observations};
use crate::scorer::{Parameter, Scorer};

/// Scores an observation by the logarithm of its smoothed frequency among a secret's fit rows.
///
/// # Formula
/// score_s(o) = ln((c_s(o) + ½) / (n_s + m/2)), where c counts fit rows and m is one more than the
/// number of distinct observations in them (the Krichevsky–Trofimov rule). An observation that no secret
/// produced in the fit rows scores highest for the secret with the fewest fit rows, whose unseen part
/// is the largest; with equal rows it is a tie.
///
/// # References
/// Krichevsky and Trofimov 1981, doi:10.1109/TIT.1981.1056331.
pub struct Frequentist {
    fit: Counts,
    unseen: Vec<f64>,
    normalizer: Vec<f64>,
}

impl Frequentist {
    const PSEUDO: f64 = 0.5;

    /// Counts the fit rows.
    pub fn fit(fit: &Counts) -> Self {
        let alphabet = 1.0 + fit.by_symbol().count() as f64;
        let normalizer: Vec<f64> = fit
            .rows()
            .iter()
            .map(|&rows| (rows as f64 + Self::PSEUDO * alphabet).ln())
            .collect();
        Frequentist {
            fit: fit.clone(),
            unseen: normalizer
                .iter()
                .map(|normalizer| Self::PSEUDO.ln() - normalizer)
                .collect(),
            normalizer,
        }
    }
}

impl Scorer for Frequentist {
    fn name(&self) -> &'static str {
        "frequentist"
    }

    fn parameters(&self) -> BTreeMap<&'static str, Parameter> {
        BTreeMap::from([("pseudo_count", Parameter::Real(Self::PSEUDO))])
    }

    fn in_words(&self) -> String {
        format!("each count increased by {}", Self::PSEUDO)
    }

    fn score(&self, _: &Observations, symbols: &[u32], scores: &mut [f64]) {
        let cells = self.fit.cells();
        let first = symbols.first().copied().unwrap_or(0);
        let mut next = cells.partition_point(|cell| cell.symbol < first);
        for (&symbol, row) in symbols.iter().zip(scores.chunks_mut(self.unseen.len())) {
            row.copy_from_slice(&self.unseen);
            while next < cells.len() && cells[next].symbol < symbol {
                next += 1;
            }
            while next < cells.len() && cells[next].symbol == symbol {
                let secret = cells[next].secret as usize;
                row[secret] =
                    (cells[next].count as f64 + Self::PSEUDO).ln() - self.normalizer[secret];
                next += 1;
            }
        }
    }

    fn refit(&self, _: &Observations, fit: &Counts) -> Result<Arc<dyn Scorer>, String> {
        Ok(Arc::new(Frequentist::fit(fit)))
    }
}
