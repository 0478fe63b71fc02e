//! What the reader should know before believing.

pub(crate) mod dependence;
pub(crate) mod find;
pub(crate) mod last_bits;
mod observed;
pub(crate) mod order;
pub(crate) mod warning;
