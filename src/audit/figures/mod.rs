//! What is reported of a log: one folder a figure, with its type, what is planned for it, how the certification rows are
//! judged, and what it comes to.

pub(crate) mod convergence;
pub(crate) mod differences;
pub(crate) mod distributions;
pub(crate) mod leakage_family;
pub(crate) mod no_leak;
pub(crate) mod overall;
pub(crate) mod pairs;
pub(crate) mod privacy;
pub(crate) mod reconstruction;
pub(crate) mod trade_off;
