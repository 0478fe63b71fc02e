//! What commands read beside logs: matrices, distributions, samples and pairs of neighbors in
//! delimited text.

pub mod distribution;
pub mod matrix;
pub mod neighbors;
