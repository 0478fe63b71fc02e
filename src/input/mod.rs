//! What commands read beside logs: matrices, distributions and samples in delimited text.

pub mod distribution;
pub mod matrix;
