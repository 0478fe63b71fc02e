//! Logs in blocks: one measurement of each secret, taken close together, so that drift meets all secrets alike.
//!
//! An observer sees a measurement and the others of its block. [`relative()`] makes of a log what it sees;
//! [`Measurements`] are the numbers themselves, for whoever compares them inside their block.

mod measurements;
mod relative;

pub use measurements::{InBoth, Measurements};
pub use relative::{Reference, best, best_reference, relative, relative_to, sampled, with_rows};
