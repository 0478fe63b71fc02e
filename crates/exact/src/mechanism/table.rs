//! A probability table whose likelihood ratios have digits that the rounded probabilities have lost.

use super::{Law, MAX_PAIR_CELLS, Probabilities};
use crate::extreme::Extreme;
use crate::profile::{Cell, Cells, Pair};

/// The probabilities, with what tells their likelihood ratios.
#[derive(Debug)]
pub(super) struct Table {
    pub probabilities: Probabilities,
    pub detail: Detail,
}

/// What tells the likelihood ratio of an observation between two secrets.
#[derive(Debug)]
pub(super) enum Detail {
    /// Each probability less that of a row that all secrets share.
    Deviations(Vec<Vec<f64>>),
    /// The logarithm of each probability, plus a number that all share.
    Logarithms(Vec<Vec<f64>>),
}

impl Table {
    pub fn cells(&self, a: usize, b: usize) -> Vec<Cell> {
        if a == b {
            return vec![Cell::new(1.0, 1.0)];
        }
        let rows = &self.probabilities.rows;
        let masses = rows[a].iter().zip(&rows[b]);
        let (Detail::Deviations(detail) | Detail::Logarithms(detail)) = &self.detail;
        let gaps = detail[a].iter().zip(&detail[b]).map(|(x, y)| x - y);
        let cell = |((p, q), gap): ((&f64, &f64), f64)| match self.detail {
            Detail::Deviations(_) => Cell::of(*p, *q, gap),
            Detail::Logarithms(_) => Cell::with_loss(*p, *q, gap),
        };
        masses.zip(gaps).map(cell).collect()
    }

    pub fn total_variation(&self, a: usize, b: usize) -> f64 {
        // In one order, so that both orders agree to the last digit.
        match a == b {
            true => 0.0,
            false => Cells(&self.cells(a.min(b), a.max(b))).delta(0.0),
        }
    }

    pub fn bayes_security(&self, a: usize, b: usize) -> f64 {
        Cells(&self.cells(a, b)).bayes_security()
    }

    pub fn law(&self, secret: usize) -> Law {
        self.probabilities.law(secret)
    }

    /// The largest privacy loss, from the pairs if they are few enough.
    pub fn epsilon(&self) -> f64 {
        let Some(pairs) = self.listed() else {
            return self.probabilities.epsilon();
        };
        let losses = pairs.iter().flatten().map(|cell| cell.loss);
        losses
            .filter(|loss| !loss.is_nan())
            .fold(0.0, f64::at_least)
    }

    /// All ordered pairs; `None` if they are too many.
    pub fn pairs(&self) -> Option<Vec<Pair>> {
        Some(self.listed()?.into_iter().map(Pair::Cells).collect())
    }

    fn listed(&self) -> Option<Vec<Vec<Cell>>> {
        let n = self.probabilities.rows.len();
        let cells = n.checked_mul(n)?;
        if cells.checked_mul(self.probabilities.observations.len())? > MAX_PAIR_CELLS {
            return None;
        }
        let ordered = (0..n).flat_map(|a| (0..n).map(move |b| (a, b)));
        let different = ordered.filter(|(a, b)| a != b);
        Some(different.map(|(a, b)| self.cells(a, b)).collect())
    }

    /// Differences from a shared row, for the channel of the mechanism.
    pub fn deviations(&self) -> Option<Vec<Vec<f64>>> {
        match &self.detail {
            Detail::Deviations(rows) => Some(rows.clone()),
            Detail::Logarithms(logs) => {
                let rows = &self.probabilities.rows;
                let first = || rows[0].iter().zip(&logs[0]);
                let row = |(row, own): (&Vec<f64>, &Vec<f64>)| {
                    let each = row.iter().zip(own).zip(first());
                    each.map(|((p, x), (q, y))| Cell::with_loss(*p, *q, x - y).difference)
                        .collect()
                };
                (!rows.is_empty()).then(|| rows.iter().zip(logs).map(row).collect())
            }
        }
    }
}
