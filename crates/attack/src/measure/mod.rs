//! Leakage measures of counted rows: points and exact formulas, no limits.

pub mod by_secret;
pub mod last_bits;
pub mod leaking_event;
pub mod minimax_tv;
pub mod plug_in;
pub mod tables;
