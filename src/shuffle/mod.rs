//! The shuffle model: users' messages are permuted at random before anyone sees them.

mod histogram;
pub mod information;
mod numbers;
pub mod reidentification;
mod sampling;
pub mod vulnerability;

pub(crate) use histogram::HistogramLaw;
pub use numbers::parse_numbers;
pub(crate) use sampling::multinomial;
