//! Learning: attacks on the training rows, chosen on the tuning rows; the same for blocks of rows before the
//! certification rows, and for parts of the log.

pub(crate) mod attack;
pub(crate) mod blocks;
pub(crate) mod cross_fit;
pub(crate) mod earlier;
pub(crate) mod given;
pub(crate) mod trials;
