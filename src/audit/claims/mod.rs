//! Claims: what is judged, how, and why it is judged so.

pub(crate) mod goodness;
pub(crate) mod judge;
mod mechanism;
mod privacy;
mod privacy_curve;
pub(crate) mod reason;
pub(crate) mod report;
pub(crate) mod rows_needed;
pub(crate) mod smallest;
mod time;
pub(crate) mod time_check;
mod unlearned;
pub(crate) mod written;
