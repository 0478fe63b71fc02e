//! What an attack on membership proves where nothing is learned or chosen on its answers: a table of right and wrong
//! answers, or guesses about the canaries of a single training run.
//!
//! Such evidence needs no split of rows. All of it judges.

mod claims;
mod one_run;
mod table;

pub use one_run::{Direction, OneRun, OneRunOptions, RunGuesses, one_run};
pub use table::{AnswerTable, TableOptions, table};
