//! What the reader should know before believing.

pub(crate) mod find;
pub(crate) mod last_bits;
pub(crate) mod order;
pub(crate) mod warning;
