//! Leakage measures of counted rows: plug-in estimates and exact formulas, no limits.

pub mod leakage;
pub mod plug_in;
pub mod renyi;
