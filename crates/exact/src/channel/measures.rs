//! Exact leakage measures of a channel at a prior, and of pairs of its rows.

use crate::channel::{Channel, Prior};
use crate::extreme::Extreme;
use crate::leakage;
use leakgauge_base::error::{Error, Result};
use leakgauge_base::parallel;

/// Σ min(p, q) of two distributions: their Bayes security, 1 − TV without cancellation.
pub fn overlap(p: &[f64], q: &[f64]) -> f64 {
    p.iter()
        .zip(q)
        .map(|(&p, &q)| if p < q { p } else { q })
        .sum()
}

/// Total variation of two distributions, ½ Σ |p − q|.
pub fn total_variation(p: &[f64], q: &[f64]) -> f64 {
    p.iter().zip(q).map(|(p, q)| (p - q).abs()).sum::<f64>() / 2.0
}

impl Channel {
    /// Bayes security of two secrets under a uniform prior over them.
    ///
    /// # Formula
    /// Σ_o min(C\[a,o\], C\[b,o\]) = 1 − tv(a, b), accurate even if it is tiny.
    ///
    /// # References
    /// Bayes Security, Theorem 2.
    pub fn pair_bayes_security(&self, a: usize, b: usize) -> f64 {
        overlap(self.row(a), self.row(b))
    }

    /// Total variation between the rows of two secrets, ½ Σ_o |C\[a,o\] − C\[b,o\]|.
    pub fn total_variation(&self, a: usize, b: usize) -> f64 {
        if self.deviations.is_none() {
            return total_variation(self.row(a), self.row(b));
        }
        let observations = 0..self.observations.len();
        observations
            .map(|o| self.difference(a, b, o).abs())
            .sum::<f64>()
            / 2.0
    }

    /// Total variation between all pairs of rows, row by row.
    ///
    /// # Errors
    /// There are more pairs than [`crate::channel::MAX_ENTRIES`].
    pub fn total_variation_matrix(&self) -> Result<Vec<Vec<f64>>> {
        let n = self.secrets.len();
        super::composition::check_size(n, n)?;
        Ok(parallel::map(n, |a| {
            (0..n)
                // The same order of summation for (a, b) and (b, a): the matrix is symmetric.
                .map(|b| self.total_variation(a.min(b), a.max(b)))
                .collect()
        }))
    }

    /// Bayes risk R*(π, C): the error of the best guess after the observation.
    ///
    /// # Formula
    /// Σ_o (Σ_s π_s C\[s,o\] − max_s π_s C\[s,o\]), each bracket summed without its largest term.
    ///
    /// # Errors
    /// A prior over another number of secrets.
    pub fn bayes_risk(&self, prior: &Prior) -> Result<f64> {
        self.sum_over_columns(prior, |_, column| {
            let best = largest(column);
            let rest = column.iter().enumerate();
            rest.filter(|(s, _)| *s != best).map(|(_, x)| x).sum()
        })
    }

    /// Bayes vulnerability V(π, C) = Σ_o max_s π_s C\[s,o\] = 1 − R*.
    ///
    /// # Errors
    /// A prior over another number of secrets.
    pub fn vulnerability(&self, prior: &Prior) -> Result<f64> {
        self.sum_over_columns(prior, |_, column| column[largest(column)])
    }

    /// Additive leakage L⁺ = V(π, C) − max π, summed over the gain of each observation, without cancellation.
    ///
    /// # Errors
    /// A prior over another number of secrets.
    pub fn additive_leakage(&self, prior: &Prior) -> Result<f64> {
        let (mode, weights) = (prior.mode(), prior.weights());
        self.sum_over_columns(prior, |o, column| {
            if self.deviations.is_none() {
                return column[largest(column)] - column[mode];
            }
            let gain = |s: usize| {
                (weights[s] - weights[mode]) * self.row(mode)[o]
                    + weights[s] * self.difference(s, mode, o)
            };
            (0..column.len()).map(gain).fold(0.0, f64::at_least)
        })
    }

    /// ln L×, with all digits where there is little leakage.
    ///
    /// # Formula
    /// ln(1 + L⁺ / max π).
    ///
    /// # Errors
    /// A prior over another number of secrets.
    pub fn min_entropy_leakage(&self, prior: &Prior) -> Result<f64> {
        let blind = leakage::prior_vulnerability(prior.weights());
        Ok((self.additive_leakage(prior)? / blind).ln_1p())
    }

    /// ln ML×, with all digits where there is little leakage.
    ///
    /// # Formula
    /// ln(1 + Σ_o max_s (C\[s,o\] − C\[1,o\])) below 0.01, as the first row sums to 1.
    pub fn min_entropy_capacity(&self) -> f64 {
        let above = |o| {
            let differences = (0..self.secrets.len()).map(|s| self.difference(s, 0, o));
            differences.fold(0.0, f64::at_least)
        };
        let sum: f64 = (0..self.observations.len()).map(above).sum();
        if sum < 0.01 {
            sum.ln_1p()
        } else {
            self.multiplicative_capacity().ln()
        }
    }

    /// Multiplicative leakage L× = V(π, C) / max π.
    ///
    /// # Errors
    /// A prior over another number of secrets.
    pub fn multiplicative_leakage(&self, prior: &Prior) -> Result<f64> {
        let blind = leakage::prior_vulnerability(prior.weights());
        Ok(leakage::multiplicative(self.vulnerability(prior)?, blind))
    }

    /// Multiplicative risk leakage β(π, C) = R*/G, `None` if G = 0, where the prior leaves nothing to guess.
    ///
    /// # Errors
    /// A prior over another number of secrets.
    pub fn risk_leakage(&self, prior: &Prior) -> Result<Option<f64>> {
        Ok(leakage::risk_leakage(
            self.bayes_risk(prior)?,
            prior.guessing_error(),
        ))
    }

    /// Multiplicative capacity ML× = Σ_o max_s C\[s,o\]: the largest L× over all priors, and the
    /// largest g-leakage over all gains and priors. Its logarithm is the min-entropy capacity.
    ///
    /// # References
    /// Alvim et al. 2012, doi:10.1109/CSF.2012.26 (the "miracle" theorem).
    pub fn multiplicative_capacity(&self) -> f64 {
        let mut most = vec![0.0f64; self.observations.len()];
        for row in self.rows() {
            for (most, p) in most.iter_mut().zip(row) {
                *most = most.at_least(*p);
            }
        }
        most.iter().sum()
    }

    /// The distribution of the observation when the secret is drawn from a prior.
    ///
    /// # Formula
    /// (πC)_o = Σ_s π_s C\[s,o\].
    ///
    /// # Errors
    /// A prior over another number of secrets.
    pub fn push_forward(&self, prior: &Prior) -> Result<Vec<f64>> {
        prior.check_over(self.secrets.len())?;
        let mut law = vec![0.0; self.observations.len()];
        for (row, weight) in self.rows().zip(prior.weights()) {
            for (sum, p) in law.iter_mut().zip(row) {
                *sum += weight * p;
            }
        }
        Ok(law)
    }

    /// For each observation the most likely secret; among ties, the first.
    ///
    /// # Errors
    /// A prior over another number of secrets.
    pub fn best_guesses(&self, prior: &Prior) -> Result<Vec<usize>> {
        self.map_columns(prior, |_, column| largest(column))
    }

    /// Sums a function of the column π_s C\[s,o\] over all observations, in their order.
    pub fn sum_over_columns(
        &self,
        prior: &Prior,
        f: impl Fn(usize, &[f64]) -> f64 + Sync,
    ) -> Result<f64> {
        Ok(self.map_columns(prior, f)?.iter().sum())
    }

    fn map_columns<T: Send>(
        &self,
        prior: &Prior,
        f: impl Fn(usize, &[f64]) -> T + Sync,
    ) -> Result<Vec<T>> {
        prior.check_over(self.secrets.len())?;
        let width = self.observations.len();
        // Columns are gathered in strips, so that every cache line of a row is read once.
        const STRIP: usize = 16;
        let strips: Vec<Vec<T>> = parallel::map(width.div_ceil(STRIP), |strip| {
            let from = strip * STRIP;
            let to = width.min(from + STRIP);
            let n = self.secrets.len();
            let mut columns = vec![0.0; n * (to - from)];
            for (s, (row, weight)) in self.rows().zip(prior.weights()).enumerate() {
                for (o, p) in row[from..to].iter().enumerate() {
                    columns[o * n + s] = weight * p;
                }
            }
            let columns = columns.chunks_exact(n).enumerate();
            columns.map(|(o, column)| f(from + o, column)).collect()
        });
        Ok(strips.into_iter().flatten().collect())
    }
}

/// The position of the largest entry; among ties, the first.
fn largest(column: &[f64]) -> usize {
    let mut best = 0;
    for (s, x) in column.iter().enumerate() {
        if *x > column[best] {
            best = s;
        }
    }
    best
}

/// Checks that a pair is two different secrets of the channel.
pub fn check_pair(channel: &Channel, a: usize, b: usize) -> Result<()> {
    let n = channel.secrets().len();
    if a != b && a < n && b < n {
        return Ok(());
    }
    Err(Error::parameter(
        format!("pair {}, {}", a + 1, b + 1),
        format!("must be two different secrets of {n}"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Every decision rule, tried in turn.
    fn risk_by_enumeration(channel: &Channel, prior: &Prior) -> f64 {
        let (n, m) = (channel.secrets().len(), channel.observations().len());
        let rules = n.pow(m as u32);
        let error = |rule: usize| {
            let mut digits = rule;
            let mut right = 0.0;
            for o in 0..m {
                right += prior.weights()[digits % n] * channel.row(digits % n)[o];
                digits /= n;
            }
            1.0 - right
        };
        (0..rules).map(error).fold(f64::INFINITY, f64::at_most)
    }

    fn small_channel() -> impl Strategy<Value = (Channel, Prior)> {
        (2usize..5, 1usize..6).prop_flat_map(|(n, m)| {
            let row = proptest::collection::vec(0.0..1.0f64, m)
                .prop_filter("some mass", |row| row.iter().sum::<f64>() > 0.01);
            let weights = proptest::collection::vec(0.01..1.0f64, n);
            (proptest::collection::vec(row, n), weights).prop_map(|(rows, weights)| {
                let normal = |row: &Vec<f64>| -> Vec<f64> {
                    let sum: f64 = row.iter().sum();
                    row.iter().map(|x| x / sum).collect()
                };
                let rows: Vec<Vec<f64>> = rows.iter().map(normal).collect();
                let prior = Prior::new(normal(&weights)).unwrap();
                (Channel::from_rows(&rows).unwrap(), prior)
            })
        })
    }

    proptest! {
        #[test]
        fn the_bayes_risk_is_the_least_error_of_all_decision_rules((channel, prior) in small_channel()) {
            let risk = channel.bayes_risk(&prior).unwrap();
            prop_assert!((risk - risk_by_enumeration(&channel, &prior)).abs() < 1e-14);
            let v = channel.vulnerability(&prior).unwrap();
            prop_assert!((1.0 - v - risk).abs() < 1e-14);
            let added = channel.additive_leakage(&prior).unwrap();
            let blind = 1.0 - prior.guessing_error();
            prop_assert!((v - blind - added).abs() < 1e-14);
        }

        #[test]
        fn no_prior_leaks_more_than_the_capacity((channel, prior) in small_channel()) {
            let leak = channel.multiplicative_leakage(&prior).unwrap();
            prop_assert!(leak <= channel.multiplicative_capacity() * (1.0 + 1e-14));
            prop_assert!(leak >= 1.0 - 1e-14);
        }
    }
}
