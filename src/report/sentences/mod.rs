//! Every sentence about findings, in one place: the same in all formats.

pub mod advice;
pub mod assumptions;
pub mod brief_reasons;
pub mod claims;
pub mod comparison;
mod copies;
mod dependence;
pub mod differences;
pub mod doubts;
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
pub mod witness;
