//! Every sentence about findings, in one place: the same in all formats.

pub mod advice;
pub mod assumptions;
pub mod claims;
mod copies;
pub mod differences;
pub mod fit;
pub mod follow;
pub mod learning;
mod left_out;
pub mod membership;
pub mod no_leak;
pub mod power;
pub mod privacy;
pub mod probe;
pub mod query;
pub mod reading;
pub mod reasons;
pub mod warnings;
