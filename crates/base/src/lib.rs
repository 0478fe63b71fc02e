//! What every crate of leakgauge uses; nothing here depends on logs or on leakage.
//!
//! | module | what it has |
//! | --- | --- |
//! | [`error`] | errors that say what is wrong, where, and what to do |
//! | [`grammar`] | the grammar of mechanisms and claims, `name(parameter=value, …)` |
//! | [`naming`] | how messages write the name of an option |
//! | [`quantity`] | the quantities that limits are about |
//! | [`progress`] | counters of work that takes long |
//! | [`rounding`] | directed rounding of confidence limits for display |
//! | [`suggest`] | the known name that is closest to a misspelled one |
//! | [`files`] | files that are written completely or not at all |

pub mod credentials;
pub mod error;
pub mod files;
pub mod grammar;
pub mod naming;
pub mod parallel;
pub mod progress;
pub mod quantity;
pub mod rounding;
pub mod suggest;
pub mod time;
mod tool;

pub use tool::Tool;
