//! The shuffle model: users' messages are permuted at random before anyone sees them.

pub mod information;
mod numbers;
pub mod reidentification;
pub mod vulnerability;

pub use numbers::parse_numbers;
