//! Limits for the mean of Bernoulli rows whose parameters may differ.
//!
//! The number of errors S in N independent rows with error probabilities of mean p̄ is
//! Poisson-binomial. Hoeffding (1956, Theorem 4) shows P(S ≤ c) ≤ P(Bin(N, p̄) ≤ c) for every whole
//! c ≤ Np̄ − 1, so that the Clopper–Pearson limit stays valid as long as the counts c at which it
//! falls below p̄ satisfy this.
//!
//! They do, save one. Let α ≤ 1/4, and let c ≤ N − 2 be the largest count with upper limit below p̄,
//! that is P(Bin(N, p̄) ≤ c) < α. If c > Np̄ − 1 then c ≥ ⌊Np̄⌋, hence 1 − p̄ > 1/N, and then
//! P(Bin(N, p̄) ≤ Np̄) > 1/4 (Greenberg and Mohri 2014, for the failures): a contradiction. So
//! P(S ≤ c) < α.
//!
//! The exception is c = N − 1: P(S ≤ N − 1) = 1 − Π p_i can be as large as N(1 − p̄), when one row
//! has all the doubt, which exceeds the binomial 1 − p̄^N. There the upper limit is 1 − α/N in place
//! of (1 − α)^{1/N}. The lower limit mirrors all this: α/N at one error.

use super::binomial::{check, clopper_pearson_lower, clopper_pearson_upper};

/// Up to this level the argument of the module holds; a larger one is lowered to it.
const LARGEST_ALPHA: f64 = 0.25;

/// The upper limit at level 1 − `alpha` for the mean error probability of `rows` rows.
///
/// # Formula
/// The Clopper–Pearson limit; 1 − α/rows at rows − 1 errors.
///
/// # Conditions
/// Independent rows, each with a probability of its own. An `alpha` above 1/4 counts as 1/4. Valid
/// at every number of rows.
///
/// # References
/// Hoeffding (1956), Theorem 4, 10.1214/aoms/1177728178; Greenberg and Mohri (2014), Theorem 1,
/// 10.1016/j.spl.2013.12.009.
///
/// # Panics
/// As [`clopper_pearson_upper`].
pub fn poisson_binomial_upper(errors: u64, rows: u64, alpha: f64) -> f64 {
    check(errors, rows, alpha);
    if rows == 0 || errors == rows {
        return clopper_pearson_upper(errors, rows, alpha);
    }
    let alpha = alpha.min(LARGEST_ALPHA);
    if errors == rows - 1 {
        return (1.0 - alpha / rows as f64).next_up();
    }
    clopper_pearson_upper(errors, rows, alpha)
}

/// The lower limit at level 1 − `alpha` for the mean error probability of `rows` rows.
///
/// # Formula
/// The Clopper–Pearson limit; α/rows at one error.
///
/// # Conditions
/// As [`poisson_binomial_upper`], with its references.
///
/// # Panics
/// As [`clopper_pearson_lower`].
pub fn poisson_binomial_lower(errors: u64, rows: u64, alpha: f64) -> f64 {
    check(errors, rows, alpha);
    if errors == 0 {
        return clopper_pearson_lower(errors, rows, alpha);
    }
    let alpha = alpha.min(LARGEST_ALPHA);
    if errors == 1 {
        return (alpha / rows as f64).next_down();
    }
    clopper_pearson_lower(errors, rows, alpha)
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_testing::{at_most, rng};
    use rand::RngExt;

    /// The probabilities of 0, 1, …, N errors, by convolution.
    fn law(p: &[f64]) -> Vec<f64> {
        let mut law = vec![1.0];
        for &p in p {
            law.push(0.0);
            for i in (0..law.len()).rev() {
                law[i] = law[i] * (1.0 - p) + if i > 0 { law[i - 1] * p } else { 0.0 };
            }
        }
        law
    }

    /// The exact probabilities that the upper and the lower limit miss the mean.
    fn misses(p: &[f64], alpha: f64) -> (f64, f64) {
        let n = p.len() as u64;
        let mean = p.iter().sum::<f64>() / n as f64;
        let law = law(p);
        let weigh = |missed: &dyn Fn(u64) -> bool| -> f64 {
            (0..=n)
                .filter(|&k| missed(k))
                .map(|k| law[k as usize])
                .sum()
        };
        (
            weigh(&|k| poisson_binomial_upper(k, n, alpha) < mean),
            weigh(&|k| poisson_binomial_lower(k, n, alpha) > mean),
        )
    }

    /// Exact coverage over random and extreme unequal probabilities, every size up to 12.
    #[test]
    fn covers_exactly() {
        let mut rng = rng(3);
        for alpha in [0.25, 0.1, 0.05, 0.001] {
            for n in 1..=12_usize {
                for case in 0..300 {
                    let power = [0.1, 1.0, 10.0][case % 3];
                    let p: Vec<f64> = (0..n)
                        .map(|_| match rng.random_range(0..4) {
                            0 => 1.0,
                            1 => 0.0,
                            _ => rng.random::<f64>().powf(power),
                        })
                        .collect();
                    let (above, below) = misses(&p, alpha);
                    assert!(above <= alpha + 1e-12, "{alpha} {p:?}: {above}");
                    assert!(below <= alpha + 1e-12, "{alpha} {p:?}: {below}");
                }
            }
        }
    }

    /// The one case in which Clopper and Pearson's limit itself is not valid.
    #[test]
    fn one_doubtful_row() {
        let (n, alpha) = (10, 0.05);
        let doubt = 0.050_5;
        let mut p = [1.0; 10];
        p[0] -= doubt;
        let mean = 1.0 - doubt / 10.0;
        // Nine errors or fewer have probability 0.0505, and Clopper and Pearson's limit is missed.
        assert!(clopper_pearson_upper(n - 1, n, alpha) < mean);
        assert_eq!(misses(&p, alpha).0, 0.0);
        p[0] = 1.0 - 0.0499;
        assert!(misses(&p, alpha).0 <= alpha);
        assert!(poisson_binomial_upper(n - 1, n, alpha) > clopper_pearson_upper(n - 1, n, alpha));
        assert!(poisson_binomial_lower(1, n, alpha) < clopper_pearson_lower(1, n, alpha));
    }

    #[test]
    fn elsewhere_it_is_clopper_pearson() {
        for errors in (0..=20).filter(|k| *k != 19) {
            let expected = clopper_pearson_upper(errors, 20, 0.05);
            assert_eq!(poisson_binomial_upper(errors, 20, 0.05), expected);
        }
        assert_eq!(poisson_binomial_upper(0, 0, 0.05), 1.0);
        assert_eq!(poisson_binomial_lower(0, 0, 0.05), 0.0);
        assert!(poisson_binomial_upper(3, 20, 0.9) >= clopper_pearson_upper(3, 20, 0.25));
    }

    /// Level 0.05, 4,000 replicates of 200 rows from eight unequal secrets.
    #[test]
    fn covers_in_simulation() {
        let p = [0.0, 0.02, 0.1, 0.3, 0.5, 0.9, 0.97, 1.0];
        let mean = p.iter().sum::<f64>() / 8.0;
        let mut rng = rng(4);
        let (mut above, mut below) = (0, 0);
        for _ in 0..4000 {
            let errors = (0..200).filter(|i| rng.random_bool(p[i % 8])).count() as u64;
            above += usize::from(poisson_binomial_upper(errors, 200, 0.05) < mean);
            below += usize::from(poisson_binomial_lower(errors, 200, 0.05) > mean);
        }
        let limit = at_most(4000, 0.05);
        assert!(above <= limit && below <= limit, "{above}, {below}");
    }
}
