//! leakgauge
pub mod error;
pub mod mechanism;
pub mod stats;
