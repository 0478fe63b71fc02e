//! Attacks on a log: [`scorer`]s that give every observation one score a secret, [`tuning`] that chooses
//! among them on rows set apart for it, and what they get wrong between any [pair of secrets](pairwise) on
//! rows that they never saw.

pub mod measure;
pub mod pairs;
pub mod pairwise;
pub mod scorer;
pub mod scores;
pub mod split;
pub mod tuning;
