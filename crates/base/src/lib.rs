//! What every room of leakgauge uses and knows nothing of logs or leakage: [errors](error) with their
//! place, the [grammar] of mechanisms and claims, [rounding] of printed limits, [suggestions](suggest)
//! for words that are nearly right, [naming] of options, the
//! [quantities](quantity) that limits are about, [files] that are written whole or not at all.

pub mod error;
pub mod files;
pub mod grammar;
pub mod naming;
pub mod quantity;
pub mod rounding;
pub mod suggest;
mod tool;

pub use tool::Tool;
