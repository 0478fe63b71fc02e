//! What fits the machine-learning crates around [linfa](https://docs.rs/linfa).
//!
//! | of linfa | becomes | by |
//! | --- | --- | --- |
//! | a `Dataset` | a log | [`log_from_dataset`] |
//! | a classifier | an attack | [`LinfaAttack`] |
//! | an index of linfa-nn | the index of a neighbor attack | [`NeighborAttack`] |
//!
//! The other way round, [`ExactNeighbors`] offers this crate's neighbor search to all users of linfa-nn.

mod classifier;
mod dataset;
mod neighbors;

#[cfg(test)]
mod tests;

pub use crate::scorer::neighbors::ExactNeighbors;
pub use classifier::{ClassProbabilities, LinfaAttack};
pub use dataset::log_from_dataset;
pub use neighbors::NeighborAttack;
