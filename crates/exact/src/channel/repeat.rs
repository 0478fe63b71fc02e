//! Many observations of the same secret.

use crate::channel::composition::check_size;
use crate::channel::{Channel, MAX_ENTRIES};
use leakgauge_base::error::{Error, Result};

/// The largest number of repetitions for which products of probabilities are computed directly.
const MAX_DIRECT: u64 = 500;
/// The largest number of columns with descriptive labels; more columns are numbered.
const MAX_LABELED: usize = 100_000;

impl Channel {
    /// n-fold repetition: n independent observations of the same secret.
    ///
    /// Sequences that are permutations of each other have proportional columns in the product C‖…‖C. They are
    /// merged into one column, which changes no leakage and leaves C(n+m−1, m−1) columns instead of mⁿ.
    ///
    /// # Formula
    /// P(n₁, …, n_m | s) = n!/∏ n_o! · ∏ C\[s,o\]^n_o. Bayes security is at least β*(C)ⁿ.
    ///
    /// # Errors
    /// `times` is 0, or the result is too large for memory.
    ///
    /// # References
    /// Bayes Security, Theorem 3 and section IV-A.
    pub fn repeat(&self, times: u64) -> Result<Channel> {
        if times == 0 {
            return Err(Error::parameter("repeat 0", "must be at least 1"));
        }
        if times == 1 {
            return Ok(self.clone());
        }
        let m = self.observations.len();
        let kinds = binomial(times.saturating_add(m as u64 - 1), m as u64 - 1)
            .filter(|&kinds| kinds <= MAX_ENTRIES as u64)
            .ok_or_else(|| {
                Error::setting(
                    "repeat",
                    times,
                    format!("{m} observations give too many combinations for memory"),
                )
                .with_hint("merge observations first, or use fewer repetitions")
            })? as usize;
        // The counts themselves take memory too, m of them a kind.
        check_size(self.secrets.len().max(m + 4), kinds)?;
        let mut counts = Vec::with_capacity(kinds);
        list_counts(times, m, &mut vec![0; m], 0, &mut counts);
        let mut values = Vec::with_capacity(self.secrets.len() * kinds);
        for row in self.rows() {
            values.extend(counts.iter().map(|counts| probability(row, counts, times)));
        }
        let observations = if kinds <= MAX_LABELED {
            counts.iter().map(|counts| self.name(counts)).collect()
        } else {
            super::numbered(kinds)
        };
        Ok(Channel::trusted(self.secrets.clone(), observations, values))
    }

    fn name(&self, counts: &[u64]) -> String {
        let seen = counts.iter().zip(&self.observations);
        let parts: Vec<String> = seen
            .filter(|(count, _)| **count > 0)
            .map(|(count, label)| format!("{count}×{label}"))
            .collect();
        parts.join(" ")
    }
}

/// Lists all ways to distribute the remaining count over the columns from `at` on.
fn list_counts(left: u64, m: usize, counts: &mut Vec<u64>, at: usize, out: &mut Vec<Vec<u64>>) {
    if at + 1 == m {
        counts[at] = left;
        out.push(counts.clone());
        return;
    }
    for here in (0..=left).rev() {
        counts[at] = here;
        list_counts(left - here, m, counts, at + 1, out);
    }
}

/// Multinomial probability.
fn probability(row: &[f64], counts: &[u64], times: u64) -> f64 {
    if times <= MAX_DIRECT {
        return small_probability(row, counts);
    }
    let mut ln = libm::lgamma(times as f64 + 1.0);
    for (&p, &count) in row.iter().zip(counts).filter(|(_, count)| **count > 0) {
        ln += count as f64 * p.ln() - libm::lgamma(count as f64 + 1.0);
    }
    ln.exp()
}

/// The same by products only, which is accurate to the last digits.
fn small_probability(row: &[f64], counts: &[u64]) -> f64 {
    let mut so_far = 0u64;
    let mut coefficient = 1.0;
    let mut power = 1.0;
    for (&p, &count) in row.iter().zip(counts) {
        for k in 1..=count {
            so_far += 1;
            coefficient = coefficient * so_far as f64 / k as f64;
            power *= p;
        }
    }
    if power < f64::MIN_POSITIVE && coefficient > 1.0 {
        // The product underflowed; its multiple by the coefficient may not.
        let ln: f64 = row
            .iter()
            .zip(counts)
            .filter(|(_, count)| **count > 0)
            .map(|(p, &count)| count as f64 * p.ln())
            .sum();
        return (ln + coefficient.ln()).exp();
    }
    coefficient * power
}

/// The binomial coefficient C(n, k), if it fits in a `u64`.
fn binomial(n: u64, k: u64) -> Option<u64> {
    let k = k.min(n - k);
    let mut result: u128 = 1;
    for i in 1..=u128::from(k) {
        result = result * (u128::from(n) - u128::from(k) + i) / i;
        if result > u128::from(u64::MAX) {
            return None;
        }
    }
    u64::try_from(result).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::{Prior, SearchMethod, diameter};

    fn channel() -> Channel {
        Channel::from_rows(&[
            vec![0.2, 0.1, 0.7],
            vec![0.6, 0.0, 0.4],
            vec![0.3, 0.5, 0.2],
        ])
        .unwrap()
    }

    #[test]
    fn repetition_leaks_what_the_full_product_leaks() {
        let one = channel();
        let mut product = one.clone();
        for times in 2..=5 {
            product = product.parallel(&one).unwrap();
            let merged = one.repeat(times).unwrap();
            let count = (times + 1) * (times + 2) / 2;
            assert_eq!(merged.observations().len() as u64, count);
            for prior in [Prior::uniform(3), Prior::new(vec![0.7, 0.2, 0.1]).unwrap()] {
                let pair = [&product, &merged].map(|c| c.bayes_risk(&prior).unwrap());
                assert!((pair[0] - pair[1]).abs() < 1e-15, "{pair:?}");
            }
            let pair = [&product, &merged]
                .map(|c| diameter(c, SearchMethod::Direct).unwrap().bayes_security);
            assert!((pair[0] - pair[1]).abs() <= 1e-13 * pair[0], "{pair:?}");
        }
    }

    #[test]
    fn rows_of_many_repetitions_still_sum_to_one() {
        for times in [400, 2000, 100_000] {
            let coin = Channel::from_rows(&[vec![0.5, 0.5], vec![1e-3, 0.999]]).unwrap();
            for row in coin.repeat(times).unwrap().rows() {
                let sum: f64 = row.iter().sum();
                assert!((sum - 1.0).abs() < 1e-9, "{times}: {sum}");
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert!(channel().repeat(0).is_err());
        assert!(channel().repeat(u64::MAX / 2).is_err());
        assert!(channel().repeat(1_000_000).is_err());
    }
}
