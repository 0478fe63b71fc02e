//! What limits of ε rest on: one file a test of a pair of secrets.

mod columns;
pub(crate) mod groups;
pub(crate) mod guesses;
pub(crate) mod masked;
mod secret_blind;
pub(crate) mod tails;
