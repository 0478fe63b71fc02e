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
