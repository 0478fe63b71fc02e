//! What limits count as independent, and what certified limits imply of each other: of two secrets, and of all pairs.
//!
//! A report certifies several things about two secrets: how often a test between them errs, their total variation, an ε
//! for a δ, a divergence. Each of them needs some others to be at least so large. [`Limits`] holds what was certified
//! and answers for every parameter with the largest value that follows, so that no limit and no verdict is weaker than
//! another limit of the same report implies.
//!
//! Everything here is a pure function of limits. Which level each limit has, and that all of them hold together, is settled
//! by whoever certifies them.

mod allowed;
mod binary;
mod certified;
mod independence;
mod limits;
mod triangle;

pub use allowed::largest_epsilon;
pub use certified::Certified;
pub use independence::Independence;
pub use limits::Limits;
pub use triangle::close_distances;
