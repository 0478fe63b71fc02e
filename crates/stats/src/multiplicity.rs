//! Several tests at once.

/// The level of each of `m` tests or limits that together keep `alpha`; `alpha` itself for m = 0.
///
/// # Formula
/// α/m.
///
/// # Conditions
/// None on the dependence; `m` counts everything that could have been reported.
pub fn bonferroni(alpha: f64, m: u64) -> f64 {
    alpha / m.max(1) as f64
}

/// Holm's adjusted p-values, in the order given: rejecting those at most α keeps the probability of
/// any false rejection at most α.
///
/// # Formula
/// With p₍₁₎ ≤ … ≤ p₍ₘ₎, the i-th is max_{j ≤ i} min(1, (m − j + 1) p₍ⱼ₎).
///
/// # Conditions
/// Valid p-values, of any dependence.
///
/// # References
/// Holm (1979), <https://www.jstor.org/stable/4615733>.
///
/// # Panics
/// If a p-value is NaN.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    assert!(p_values.iter().all(|p| !p.is_nan()), "a p-value is NaN");
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&i, &j| p_values[i].total_cmp(&p_values[j]));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut largest = 0.0_f64;
    for (rank, &i) in order.iter().enumerate() {
        largest = largest.max(((order.len() - rank) as f64 * p_values[i]).min(1.0));
        adjusted[i] = largest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    // The example worked by hand: 4·0.005, 3·0.01, 2·0.03, then the maximum so far.
    #[test]
    fn holm_by_hand() {
        let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);
        let expected = [0.03, 0.06, 0.06, 0.02];
        assert!(
            adjusted
                .iter()
                .zip(expected)
                .all(|(a, e)| (a - e).abs() < 1e-15)
        );
        assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }

    #[test]
    fn bonferroni_divides() {
        assert_eq!(bonferroni(0.05, 5), 0.01);
        assert_eq!(bonferroni(0.05, 0), 0.05);
    }

    proptest::proptest! {
        #[test]
        fn holm_is_between_the_value_and_bonferroni(p in proptest::collection::vec(0.0..1.0, 1..20)) {
            let smallest = p.iter().copied().fold(f64::INFINITY, f64::min);
            for (a, p_value) in holm(&p).into_iter().zip(&p) {
                assert!((*p_value..=1.0).contains(&a));
                assert!(a >= (p.len() as f64 * smallest).min(1.0));
            }
            // Rejections by Bonferroni are rejections by Holm.
            for (a, p_value) in holm(&p).into_iter().zip(&p) {
                if p_value * p.len() as f64 <= 0.05 { assert!(a <= 0.05); }
            }
        }
    }
}
