//! The shuffle model: users' messages are permuted uniformly at random before the adversary sees them.

#[cfg(test)]
mod hostile;
pub mod information;
mod numbers;
pub mod privacy;
pub mod reidentification;
pub mod vulnerability;

pub use numbers::parse_numbers;
