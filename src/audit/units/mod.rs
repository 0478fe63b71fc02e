//! Limits that count units (users, devices, sessions) instead of rows.

pub(crate) mod earlier;
mod few;
mod few_labels;
pub(crate) mod judge;
pub(crate) mod laws;
pub(crate) mod mix;
pub(crate) mod no_leak;
