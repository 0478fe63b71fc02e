//! The shuffle model: users' messages are permuted at random before anyone sees them.

mod histogram;
pub mod information;
pub mod reidentification;
mod sampling;
pub mod vulnerability;

pub(crate) use histogram::HistogramLaw;
pub(crate) use sampling::multinomial;
