//! Everything that can be computed exactly, without a log: leakage of channels, mechanisms and their bounds, privacy
//! promises and what they imply, the formulas of the shuffle model, permutation models.
//!
//! | module | content |
//! |---|---|
//! | [`leakage`] | leakage measures as functions of a vulnerability or risk |
//! | [`histogram`], [`sampling`] | distributions and samples of histograms of independent messages |
//! | [`permutation`], [`mallows`] | permutations, their distances and the Mallows model |
//! | [`mechanism`] | mechanisms by name: distributions, samples, closed forms |
//! | [`channel`] | channel matrices and their leakage measures |
//! | [`accountant`] | composition through privacy loss distributions |
//! | [`profile`] | Rényi divergences, reconstruction, ρ and μ of a pair of secrets |
//! | [`claim`], [`bounds`] | promises and mechanisms as claims; what they bound |
//! | [`shuffle`] | re-identification, information and vulnerability of shuffled messages |
//! | [`simulate`] | rows drawn from a mechanism |

pub mod accountant;
mod allocation;
pub mod bounds;
pub mod channel;
pub mod claim;
mod extreme;
pub mod histogram;
mod hockey_stick;
pub mod leakage;
pub mod mallows;
pub mod mechanism;
pub mod permutation;
mod powers;
pub mod profile;
pub mod sampling;
pub mod shuffle;
pub mod simulate;
