//! Guessing by counts: the frequency of an observation under each secret.

mod columns;
mod smoothing;

use std::sync::Arc;

use crate::scorer::{Parameter, Parameters, Scorer, parameters};
use columns::{ColumnCounts, recurring};
use leakgauge_log::observations::{Cell, Counts, Observations};
use smoothing::Smoothing;

/// Scores an observation by the logarithm of its smoothed frequency among a secret's fit rows.
///
/// # Formula
/// score_s(o) = ln((max(c_s(o) − d, 0) + (λ + d·D_s)·b_s(o)) / (n_s + λ)), where c counts fit rows, n_s
/// are the rows and D_s the distinct observations of the secret. Each observation seen gives up the
/// discount d, and λ rows are borrowed; both are spread like the base b_s. A secret that often shows
/// something new so expects more of it, as in Good and Turing's estimate of what was not seen yet.
///
/// The base is the frequency of o among the rows of all secrets or, where a log has several columns
/// whose values recur, the product of the secret's smoothed frequencies of each column's value: what was
/// never seen together may have been seen column by column.
///
/// λ and d are those that best predict the secret of a fit row from all other fit rows
/// (log-loss, every secret weighing the same).
///
/// # References
/// Pitman, Yor 1997, doi:10.1214/aop/1024404422; Good 1953, doi:10.1093/biomet/40.3-4.237.
pub struct Frequentist {
    fit: Table,
    smoothing: Smoothing,
    /// Counts of the recurring columns, if the base is theirs.
    base: Option<ColumnCounts>,
    /// Per secret: ln((λ + d·D_s) / (n_s + λ)).
    unseen: Vec<f64>,
    /// Per secret: ln(n_s + λ).
    normalizer: Vec<f64>,
}

impl Frequentist {
    /// Counts the fit rows and chooses how to smooth them, the frequencies among all secrets being the
    /// base.
    pub fn fit(fit: &Counts) -> Self {
        let table = Table::new(fit.clone());
        let smoothing = Smoothing::choose(&table, None);
        Self::new(table, smoothing, None)
    }

    /// The same, each secret's recurring columns one by one being the base; `None` if the fit rows do not
    /// have several. Which columns recur is kept by [`refit`](Scorer::refit).
    pub fn fit_by_column(observations: &Observations, fit: &Counts) -> Option<Self> {
        let places = recurring(observations, fit)?;
        let table = Table::new(fit.clone());
        let counts = ColumnCounts::new(&places, observations, fit);
        let smoothing = Smoothing::choose(&table, Some((observations, &counts)));
        Some(Self::new(table, smoothing, Some(counts)))
    }

    fn new(fit: Table, smoothing: Smoothing, base: Option<ColumnCounts>) -> Self {
        let normalizer: Vec<f64> = fit
            .counts
            .rows()
            .iter()
            .map(|&rows| (rows as f64 + smoothing.borrowed).ln())
            .collect();
        Frequentist {
            unseen: normalizer
                .iter()
                .zip(&fit.distinct)
                .map(|(normalizer, &distinct)| smoothing.spread(distinct).ln() - normalizer)
                .collect(),
            normalizer,
            base,
            fit,
            smoothing,
        }
    }

    /// ln b_s of an observation for every secret.
    fn ln_base(
        &self,
        observations: &Observations,
        symbol: u32,
        cells: &[Cell],
        ln_base: &mut [f64],
    ) {
        match &self.base {
            Some(base) => base.ln_frequencies(observations, symbol, ln_base),
            None => ln_base.fill(self.fit.pooled(cells, 0).ln()),
        }
    }
}

impl Scorer for Frequentist {
    fn name(&self) -> &str {
        "frequentist"
    }

    fn parameters(&self) -> Parameters {
        let mut all = parameters([
            ("borrowed_rows", Parameter::Real(self.smoothing.borrowed)),
            ("discount", Parameter::Real(self.smoothing.discount)),
        ]);
        if let Some(columns) = &self.base {
            let count = Parameter::Count(columns.count() as u64);
            all.insert("columns_on_their_own".to_owned(), count);
        }
        all
    }

    fn description(&self) -> String {
        let Smoothing { borrowed, discount } = self.smoothing;
        let base = match &self.base {
            Some(columns) => format!(", prior from {} columns one by one", columns.count()),
            None => String::new(),
        };
        format!("smoothed counts (discount {discount:.2}, prior weight {borrowed:.1}{base})")
    }

    fn score(&self, observations: &Observations, ids: &[u32], scores: &mut [f64]) {
        let all = self.fit.counts.cells();
        let first = ids.first().copied().unwrap_or(0);
        let mut next = all.partition_point(|cell| cell.symbol < first);
        for (&symbol, row) in ids.iter().zip(scores.chunks_mut(self.unseen.len())) {
            while next < all.len() && all[next].symbol < symbol {
                next += 1;
            }
            let from = next;
            while next < all.len() && all[next].symbol == symbol {
                next += 1;
            }
            let cells = &all[from..next];
            self.ln_base(observations, symbol, cells, row);
            for (score, unseen) in row.iter_mut().zip(&self.unseen) {
                *score += unseen;
            }
            for cell in cells {
                let secret = cell.secret as usize;
                let kept = cell.count as f64 - self.smoothing.discount;
                let seen = kept.ln() - self.normalizer[secret];
                row[secret] = ln_sum(seen, row[secret]);
            }
        }
    }

    fn refit(&self, observations: &Observations, fit: &Counts) -> Result<Arc<dyn Scorer>, String> {
        let base = self.base.as_ref();
        let base = base.map(|columns| columns.refit(observations, fit));
        Ok(Arc::new(Self::new(
            Table::new(fit.clone()),
            self.smoothing,
            base,
        )))
    }
}

/// ln(e^x + e^y).
fn ln_sum(x: f64, y: f64) -> f64 {
    let (large, small) = if x > y { (x, y) } else { (y, x) };
    large + (small - large).exp().ln_1p()
}

/// Fit rows with what smoothing needs to know of them.
pub(super) struct Table {
    pub counts: Counts,
    /// Distinct observations of each secret.
    pub distinct: Vec<u64>,
    /// Distinct observations of all secrets, and one for those not seen.
    pub alphabet: f64,
    total: f64,
}

impl Table {
    /// What an observation counts among all secrets before it is seen.
    const PSEUDO: f64 = 0.5;

    pub fn new(counts: Counts) -> Self {
        let mut distinct = vec![0; counts.secrets()];
        for cell in counts.cells() {
            distinct[cell.secret as usize] += 1;
        }
        Table {
            distinct,
            alphabet: 1.0 + counts.by_symbol().count() as f64,
            total: counts.rows().iter().map(|&rows| rows as f64).sum(),
            counts,
        }
    }

    /// The frequency of an observation among the rows of all secrets but so many that are held out.
    pub fn pooled(&self, cells: &[Cell], held_out: u64) -> f64 {
        let seen: f64 = cells.iter().map(|cell| cell.count as f64).sum();
        let held_out = held_out as f64;
        (seen - held_out + Self::PSEUDO) / (self.total - held_out + Self::PSEUDO * self.alphabet)
    }
}

#[cfg(test)]
mod tests;
