//! Tests of observations against a law that was fixed before looking at them.

use std::ops::Range;

use super::special::{chi_squared_survival, kolmogorov_survival};

/// What a χ² test found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChiSquaredTest {
    /// Pearson's Σ (O − E)²/E; infinite if an outcome of probability 0 was observed.
    pub statistic: f64,
    /// Number of merged cells minus 1.
    pub degrees_of_freedom: u64,
    /// P(χ² ≥ statistic) under the law.
    pub p_value: f64,
}

/// What a Kolmogorov test found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KolmogorovTest {
    /// sup |F_n − F|.
    pub statistic: f64,
    /// Number of observations.
    pub observations: u64,
    /// P(D_n ≥ statistic) under the law.
    pub p_value: f64,
}

/// The usual least expected count of a cell.
pub const MIN_EXPECTED: f64 = 5.0;

/// Groups of adjacent cells, each expecting at least `least_expected` of `n` observations (unless
/// all cells together expect fewer: then one group). They cover all cells, in order.
///
/// The groups depend on the law and `n` alone, never on what was observed, which keeps the χ²
/// test's level.
pub fn merge_cells(probabilities: &[f64], n: u64, least_expected: f64) -> Vec<Range<usize>> {
    let mut groups: Vec<Range<usize>> = Vec::new();
    let (mut start, mut expected) = (0, 0.0);
    for (i, probability) in probabilities.iter().enumerate() {
        expected += n as f64 * probability;
        if expected >= least_expected {
            groups.push(start..i + 1);
            (start, expected) = (i + 1, 0.0);
        }
    }
    match groups.last_mut() {
        Some(last) => last.end = probabilities.len(),
        None if probabilities.is_empty() => {}
        None => groups.push(0..probabilities.len()),
    }
    groups
}

/// Pearson's χ² test of counts against the law's probabilities.
///
/// Cells are merged by [`merge_cells`] with [`MIN_EXPECTED`]. With one merged cell left nothing is
/// tested: 0 degrees of freedom, p-value 1. An observation in a cell of probability 0 refutes the
/// law: p-value 0.
///
/// # Formula
/// Σ (O − E)²/E over the merged cells, against χ² with their number less 1.
///
/// # Conditions
/// Independent observations; cells and law fixed beforehand, no parameter fitted. The χ² law is an
/// approximation: with cells that expect only about 5, a p-value of 0.01 arises by chance up to
/// 1.2 % of the time, one of 0.001 up to 0.15 %, and p-values far below that are too small.
///
/// # References
/// Pearson (1900), 10.1080/14786440009463897; Cochran (1954), 10.2307/3001616.
///
/// # Panics
/// If the slices differ in length, a probability is negative or NaN, or they do not sum to 1 within
/// 1e-6: what the law can do outside the list must be a cell of its own.
pub fn chi_squared_test(observed: &[u64], expected_probabilities: &[f64]) -> ChiSquaredTest {
    assert_eq!(observed.len(), expected_probabilities.len(), "cells");
    assert!(expected_probabilities.iter().all(|&p| p >= 0.0));
    let total: f64 = expected_probabilities.iter().sum();
    assert!((total - 1.0).abs() <= 1e-6, "probabilities sum to {total}");
    let n: u64 = observed.iter().sum();
    let groups = merge_cells(expected_probabilities, n, MIN_EXPECTED);
    let degrees_of_freedom = groups.len() as u64 - 1;
    let mut cells = observed.iter().zip(expected_probabilities);
    if cells.any(|(&count, &p)| count > 0 && p == 0.0) {
        return ChiSquaredTest {
            statistic: f64::INFINITY,
            degrees_of_freedom,
            p_value: 0.0,
        };
    }
    let term = |group: Range<usize>| {
        let count = observed[group.clone()].iter().sum::<u64>() as f64;
        let expected = n as f64 * expected_probabilities[group].iter().sum::<f64>() / total;
        (count - expected).powi(2) / expected
    };
    let (statistic, p_value) = if degrees_of_freedom == 0 {
        (0.0, 1.0)
    } else {
        let statistic = groups.into_iter().map(term).sum();
        (
            statistic,
            chi_squared_survival(statistic, degrees_of_freedom as f64),
        )
    };
    ChiSquaredTest {
        statistic,
        degrees_of_freedom,
        p_value,
    }
}

/// The two-sided Kolmogorov test of values, ascending and distinct, each with its count.
///
/// Without observations nothing is tested: statistic 0, p-value 1; neither is it where the distribution function is not a
/// number at some value.
///
/// # Formula
/// sup |F_n − F|, both sides of every jump of F_n, against [`kolmogorov_survival`].
///
/// # Conditions
/// Independent observations of a continuous law, fixed beforehand. Rounding in the record makes
/// ties, and once there are many rows the test rejects for it; rounded values need cells and
/// [`chi_squared_test`].
///
/// # References
/// Kolmogorov (1933), *Giornale dell'Istituto Italiano degli Attuari* 4.
///
/// # Panics
/// If the values are not ascending.
pub fn kolmogorov_test(values: &[(f64, u64)], cdf: impl Fn(f64) -> f64) -> KolmogorovTest {
    assert!(
        values.windows(2).all(|pair| pair[0].0 < pair[1].0),
        "values must ascend"
    );
    let observations: u64 = values.iter().map(|&(_, count)| count).sum();
    let (mut statistic, mut below) = (0.0_f64, 0_u64);
    for &(value, count) in values {
        let probability = cdf(value);
        if probability.is_nan() {
            return KolmogorovTest {
                statistic: 0.0,
                observations,
                p_value: 1.0,
            };
        }
        let before = below as f64 / observations as f64;
        below += count;
        let after = below as f64 / observations as f64;
        if count > 0 {
            statistic = statistic.max(probability - before).max(after - probability);
        }
    }
    KolmogorovTest {
        statistic,
        observations,
        p_value: match observations {
            0 => 1.0,
            n => kolmogorov_survival(statistic, n),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_testing::{assert_close, at_most, rng};
    use rand::RngExt;

    #[test]
    fn a_law_that_is_not_known_at_a_value_is_not_tested() {
        let law = |x: f64| if x > 1e299 { f64::NAN } else { 0.5 };
        let found = kolmogorov_test(&[(0.0, 3), (1e300, 5)], law);
        assert_eq!((found.statistic, found.p_value), (0.0, 1.0));
    }

    #[test]
    fn cells_merge_by_the_law_alone() {
        let law = [0.5, 0.01, 0.02, 0.02, 0.44, 0.01];
        assert_eq!(merge_cells(&law, 100, 5.0), vec![0..1, 1..4, 4..6]);
        assert_eq!(merge_cells(&law, 4, 5.0), std::slice::from_ref(&(0..6)));
        assert!(merge_cells(&[], 4, 5.0).is_empty());
    }

    // Reference: scipy 1.17 stats.chisquare([18, 55, 27], [25, 50, 25]).
    #[test]
    fn chi_squared_agrees_with_scipy() {
        let test = chi_squared_test(&[18, 55, 27], &[0.25, 0.5, 0.25]);
        assert_close(test.statistic, 2.62, 1e-13);
        assert_close(test.p_value, 0.26982005638468687, 1e-12);
        assert_eq!(test.degrees_of_freedom, 2);
    }

    #[test]
    fn the_impossible_refutes() {
        assert_eq!(
            chi_squared_test(&[50, 50, 1], &[0.5, 0.5, 0.0]).p_value,
            0.0
        );
        assert_eq!(chi_squared_test(&[1, 1, 1], &[0.5, 0.5, 0.0]).p_value, 0.0);
        let untested = chi_squared_test(&[1, 1, 0], &[0.5, 0.5, 0.0]);
        assert_eq!((untested.degrees_of_freedom, untested.p_value), (0, 1.0));
        assert_eq!(chi_squared_test(&[0, 0], &[0.5, 0.5]).p_value, 1.0);
    }

    // Reference: scipy 1.17 stats.kstest([.1, .2, .2, .55, .9], 'uniform', method='exact').
    #[test]
    fn kolmogorov_agrees_with_scipy() {
        let test = kolmogorov_test(&[(0.1, 1), (0.2, 2), (0.55, 1), (0.9, 1)], |x| x);
        assert_close(test.statistic, 0.39999999999999997, 1e-13);
        assert_close(test.p_value, 0.3088000000000004, 1e-12);
        assert_eq!(test.observations, 5);
        assert_eq!(kolmogorov_test(&[], |x| x).p_value, 1.0);
    }

    /// 4,000 true laws each: rejections at 0.01 at most 1 % plus 3.29 standard deviations (the χ²
    /// law being approximate, at a true rate of up to 1.3 %).
    #[test]
    fn false_alarms_are_rare() {
        let mut rng = rng(5);
        let law: Vec<f64> = (0..12).map(|i| 0.5_f64.powi(i + 1)).collect();
        let mut tail = law.clone();
        tail.push(0.5_f64.powi(12));
        let (mut chi_squared, mut kolmogorov) = (0, 0);
        for _ in 0..4000 {
            let mut counts = [0; 13];
            for _ in 0..150 {
                let cell = rng.random::<u64>().trailing_zeros().min(12);
                counts[cell as usize] += 1;
            }
            chi_squared += usize::from(chi_squared_test(&counts, &tail).p_value <= 0.01);
            let mut values: Vec<f64> = (0..60).map(|_| rng.random()).collect();
            values.sort_by(f64::total_cmp);
            let values: Vec<(f64, u64)> = values.into_iter().map(|x| (x, 1)).collect();
            kolmogorov += usize::from(kolmogorov_test(&values, |x| x).p_value <= 0.01);
        }
        assert!(chi_squared <= at_most(4000, 0.013), "{chi_squared}");
        assert!(kolmogorov <= at_most(4000, 0.01), "{kolmogorov}");
        assert!(
            kolmogorov >= 20 && chi_squared >= 20,
            "{kolmogorov} {chi_squared}"
        );
    }

    #[test]
    fn wrong_laws_are_found() {
        let values: Vec<(f64, u64)> = (0..200)
            .map(|i| ((f64::from(i) + 0.5) / 200.0, 1))
            .collect();
        assert!(kolmogorov_test(&values, |x| x).p_value > 0.999);
        assert!(kolmogorov_test(&values, |x| x * x).p_value < 1e-9);
        assert!(chi_squared_test(&[700, 300], &[0.5, 0.5]).p_value < 1e-30);
    }
}
