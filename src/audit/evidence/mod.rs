//! What limits of ε rest on: one file a test of a pair of secrets.
//!
//! To add a test: a file here with a [`PairTest`](pair_test::PairTest) that plans and judges and a
//! [`Shown`](pair_test::Shown) that names what was guessed on, its `mod`, and its place in one of the two lists of
//! `guesses.rs`. Level and order are settled there.

pub(crate) mod average;
mod columns;
pub(crate) mod ends;
mod event;
mod groups;
pub(crate) mod guesses;
mod masked;
pub(crate) mod pair_test;
mod secret_blind;
mod tails;
