//! The probability table of a mechanism: the probability of every observation under every secret.

use crate::extreme::Extreme;
use libm::log;

use super::Law;
use crate::hockey_stick::Level;
use crate::profile::{Cell, Pair};

/// The largest number of entries (secrets times observations) of a probability table.
pub const MAX_ENTRIES: u64 = 10_000_000;

/// The probability of every observation under every secret, one row per secret.
#[derive(Debug, Clone, PartialEq)]
pub struct Probabilities {
    /// The observations as they appear in a log; several columns are joined by commas.
    pub observations: Vec<String>,
    /// One row per secret, one entry per observation; each row sums to 1 up to rounding.
    pub rows: Vec<Vec<f64>>,
}

impl Probabilities {
    /// The distribution of the observations under a secret.
    pub(super) fn law(&self, secret: usize) -> Law {
        let labels = self.observations.iter().cloned();
        Law::Labels(labels.zip(self.rows[secret].iter().copied()).collect())
    }

    /// Tabulates a mechanism, if that takes at most [`MAX_ENTRIES`] entries.
    pub(super) fn tabulate(
        secrets: usize,
        observations: u64,
        label: impl Fn(u64) -> String,
        probability: impl Fn(usize, u64) -> f64,
    ) -> Option<Self> {
        let entries = (secrets as u64).max(1).checked_mul(observations)?;
        (entries <= MAX_ENTRIES).then(|| Probabilities {
            observations: (0..observations).map(label).collect(),
            rows: (0..secrets)
                .map(|secret| (0..observations).map(|o| probability(secret, o)).collect())
                .collect(),
        })
    }

    fn pair(&self, a: usize, b: usize) -> impl Iterator<Item = (f64, f64)> {
        self.rows[a]
            .iter()
            .copied()
            .zip(self.rows[b].iter().copied())
    }

    /// Total variation between two secrets.
    ///
    /// # Formula
    /// ½ Σ_o |P(o | a) − P(o | b)|.
    pub fn total_variation(&self, a: usize, b: usize) -> f64 {
        let sum: f64 = self.pair(a, b).map(|(p, q)| (p - q).abs()).sum();
        (0.5 * sum).at_most(1.0)
    }

    /// Bayes security of two secrets, without cancellation.
    ///
    /// # Formula
    /// Σ_o min(P(o | a), P(o | b)).
    pub fn bayes_security(&self, a: usize, b: usize) -> f64 {
        if a == b {
            return 1.0;
        }
        let sum: f64 = self.pair(a, b).map(|(p, q)| p.at_most(q)).sum();
        sum.at_most(1.0)
    }

    /// The largest and the smallest probability of each observation.
    fn extremes(&self) -> impl Iterator<Item = (f64, f64)> {
        (0..self.observations.len()).map(|o| {
            let column = self.rows.iter().map(|row| row[o]);
            column.fold((0.0, f64::INFINITY), |(most, least), p| {
                (p.at_least(most), p.at_most(least))
            })
        })
    }

    /// The smallest ε of local differential privacy; infinite if some observation is possible
    /// under some secrets only.
    ///
    /// # Formula
    /// max_o ln(max_s P(o | s) / min_s P(o | s)).
    pub fn epsilon(&self) -> f64 {
        self.extremes()
            .filter(|&(most, _)| most > 0.0)
            .map(|(most, least)| log(most) - log(least))
            .fold(0.0, f64::at_least)
    }

    /// The smallest δ for which (ε, δ)-differential privacy holds between all secrets.
    ///
    /// # Formula
    /// The largest Σ_o max(P(o | a) − e^ε P(o | b), 0) over ordered pairs.
    pub fn delta(&self, epsilon: f64) -> f64 {
        let level = Level::new(epsilon);
        let excess = |(p, q): (f64, f64)| level.excess(p, q).at_least(0.0);
        let secrets = || 0..self.rows.len();
        let pairs = secrets().flat_map(|a| secrets().map(move |b| (a, b)));
        pairs
            .map(|(a, b)| self.pair(a, b).map(excess).sum::<f64>())
            .fold(0.0, f64::at_least)
            .at_most(1.0)
    }

    /// All ordered pairs of secrets; `None` if they are more than [`MAX_PAIR_CELLS`](super::MAX_PAIR_CELLS) cells.
    pub(super) fn pairs(&self) -> Option<Vec<Pair>> {
        let n = self.rows.len();
        let cells = n.checked_mul(n)?.checked_mul(self.observations.len())?;
        if cells > super::MAX_PAIR_CELLS {
            return None;
        }
        let ordered = (0..n).flat_map(|a| (0..n).map(move |b| (a, b)));
        Some(
            ordered
                .filter(|(a, b)| a != b)
                .map(|(a, b)| Pair::Cells(self.pair(a, b).map(|(p, q)| Cell::new(p, q)).collect()))
                .collect(),
        )
    }

    /// Multiplicative capacity Σ_o max_s P(o | s).
    pub fn capacity(&self) -> f64 {
        self.extremes().map(|(most, _)| most).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_over_observations_give_the_figures() {
        let table = Probabilities {
            observations: ["x", "y", "z"].map(str::to_owned).to_vec(),
            rows: vec![
                vec![0.5, 0.25, 0.25],
                vec![0.25, 0.25, 0.5],
                vec![0.5, 0.5, 0.0],
            ],
        };
        assert_eq!(table.total_variation(0, 1), 0.25);
        assert_eq!(table.bayes_security(0, 1), 0.75);
        assert_eq!(table.capacity(), 1.5);
        assert_eq!(table.epsilon(), f64::INFINITY);
        let two = Probabilities {
            rows: table.rows[..2].to_vec(),
            ..table
        };
        assert_eq!(two.epsilon(), log(0.5) - log(0.25));
        assert_eq!((two.delta(0.0), two.delta(log(2.0))), (0.25, 0.0));
    }
}
