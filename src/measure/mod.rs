//! Leakage measures of counted rows: points and exact formulas, no limits.

pub mod leakage;
pub mod minimax_tv;
pub mod plug_in;
pub mod renyi;
