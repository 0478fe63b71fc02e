//! What limits of ε rest on: one file a test of a pair of secrets. Beside them, tests of no leak at all: of the whole
//! observation, and of each column.
//!
//! To add a test of a pair: a file here with a [`PairTest`](pair_test::PairTest) that plans and judges and a
//! [`Shown`](pair_test::Shown) that names what was guessed on, its `mod`, and its place in one of the two lists of
//! `guesses.rs`. Level and order are settled there.

pub(crate) mod average;
pub(crate) mod column_limits;
mod columns;
pub(crate) mod ends;
mod event;
mod groups;
pub(crate) mod guesses;
pub(crate) mod leaking_columns;
mod masked;
pub(crate) mod no_leak;
pub(crate) mod pair_test;
mod secret_blind;
mod tails;
