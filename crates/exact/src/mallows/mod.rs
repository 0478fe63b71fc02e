//! The Mallows model centered at the identity: P(σ) = e^(−θ d(σ, id))/ψ(θ).
//!
//! # References
//! C. L. Mallows, *Non-null ranking models. I*, 1957, doi:10.1093/biomet/44.1-2.114. J.-P. Doignon,
//! A. Pekeč, M. Regenwetter, *The repeated insertion model for rankings*, 2004, doi:10.1007/BF02295838.

mod hamming;
mod kendall;
mod slots;

pub use hamming::Hamming;
pub use hamming::fixed_weights;
pub use kendall::Kendall;

/// The Kendall sensitivity of a group whose members have these positions, ascending: the largest change of the
/// distance from the reference order by reordering the group.
///
/// # Formula
/// C(g, 2) + 2 Σ min(a, b) over the non-members between members, where a and b are the numbers of members before and
/// after it: a member that crosses a non-member reverses that pair, and in the reversed group all
/// min(a, b) pairs that can cross it do.
///
/// # Conditions
/// Equal to the paper's bound ω(ω + 1)/2 if the group is contiguous or has one gap exactly in its middle; smaller
/// otherwise.
pub fn kendall_of_group(places: &[u32]) -> u64 {
    let g = places.len() as u64;
    let holes = places
        .windows(2)
        .zip(1u64..)
        .map(|(pair, before)| u64::from(pair[1] - pair[0] - 1) * before.min(g - before));
    g * g.saturating_sub(1) / 2 + 2 * holes.sum::<u64>()
}
