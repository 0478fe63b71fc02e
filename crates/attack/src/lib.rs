//! Attacks on a log: [`scorer`]s that give every observation one score per secret, [`tuning`] that chooses
//! among them on the tuning rows, and their errors between any [pair of secrets](pairwise) on certification rows
//! that they never saw. [`Attack`] is the trait for attacks from outside.

mod attack;
pub mod blocks;
pub mod cross_fit;
pub mod linfa;
pub mod measure;
pub mod pairs;
pub mod pairwise;
pub mod past;
pub mod scorer;
pub mod scores;
pub mod split;
pub mod tuning;

pub use attack::{Attack, AttackError, FittedAttack};
pub use tuning::{Attacks, ScorerChoice};
