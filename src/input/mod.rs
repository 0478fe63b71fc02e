//! What commands read beside logs: matrices, distributions, samples, claims and pairs of neighbors in
//! delimited text.

pub mod claims;
pub mod distribution;
pub mod matrix;
pub mod neighbors;
pub mod property;
mod rows;
