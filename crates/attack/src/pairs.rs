//! Numbering all pairs of secrets.

/// The number of pairs of `secrets` secrets.
pub fn pair_count(secrets: usize) -> usize {
    secrets * secrets.saturating_sub(1) / 2
}

/// All pairs (a, b) with a < b, in lexicographic order.
pub fn pairs(secrets: usize) -> impl Iterator<Item = (u32, u32)> {
    let secrets = secrets as u32;
    (0..secrets).flat_map(move |a| (a + 1..secrets).map(move |b| (a, b)))
}

/// The position of the pair (a, b), a < b, in [`pairs`].
pub fn pair_index(secrets: usize, a: u32, b: u32) -> usize {
    let (a, b) = (a as usize, b as usize);
    debug_assert!(a < b && b < secrets);
    a * (2 * secrets - a - 1) / 2 + b - a - 1
}
