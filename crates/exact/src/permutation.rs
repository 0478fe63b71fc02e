//! Permutations of 0 … n − 1 in one-line notation, and distances between them.

use std::fmt;

use serde::Serialize;

/// A distance between permutations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Distance {
    /// Kendall's τ: the number of pairs in different order.
    #[default]
    Kendall,
    /// Hamming distance: the number of positions that differ.
    Hamming,
}

impl fmt::Display for Distance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Distance::Kendall => "Kendall's tau",
            Distance::Hamming => "Hamming",
        })
    }
}

/// `sigma` applied to a sequence: entry i of the result is entry σ(i).
///
/// # Panics
/// If the lengths differ.
pub fn apply<T: Clone>(sigma: &[u32], values: &[T]) -> Vec<T> {
    assert_eq!(sigma.len(), values.len());
    sigma.iter().map(|&i| values[i as usize].clone()).collect()
}

/// The inverse σ⁻¹.
pub fn inverse(sigma: &[u32]) -> Vec<u32> {
    let mut inverse = vec![0; sigma.len()];
    for (k, &i) in sigma.iter().enumerate() {
        inverse[i as usize] = k as u32;
    }
    inverse
}

/// The composition (a∘b)(i) = a(b(i)).
pub fn compose(a: &[u32], b: &[u32]) -> Vec<u32> {
    apply(b, a)
}

/// Kendall's τ distance: the number of pairs of items that the two list in different order, inv(a⁻¹∘b).
///
/// # References
/// Meehan et al., Definition A.2 in words; their equation (5) counts pairs of places instead.
pub fn kendall(a: &[u32], b: &[u32]) -> u64 {
    inversions(&compose(&inverse(a), b))
}

/// The number of inversions, pairs i < j with σ(i) > σ(j), in O(n log n).
pub fn inversions(sigma: &[u32]) -> u64 {
    let mut seen = vec![0u32; sigma.len() + 1];
    let mut count = 0;
    for (before, &value) in sigma.iter().enumerate() {
        // The number of earlier values that are not larger.
        let mut at = value as usize + 1;
        let mut smaller = 0;
        while at > 0 {
            smaller += u64::from(seen[at]);
            at &= at - 1;
        }
        count += before as u64 - smaller;
        let mut at = value as usize + 1;
        while at < seen.len() {
            seen[at] += 1;
            at += at & at.wrapping_neg();
        }
    }
    count
}

/// Hamming distance: the number of positions where the two differ.
pub fn hamming(a: &[u32], b: &[u32]) -> u64 {
    a.iter().zip(b).filter(|(x, y)| x != y).count() as u64
}
