//! The shuffle model: users' messages are permuted at random before anyone sees them.

mod histogram;
pub mod information;
mod sampling;
pub mod vulnerability;

pub(crate) use histogram::HistogramLaw;
pub(crate) use sampling::multinomial;
