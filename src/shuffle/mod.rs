//! The shuffle model: what is left of users' messages after they have been put in a random order.

pub mod reidentification;
