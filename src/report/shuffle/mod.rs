//! Reports of the shuffle model.

mod reidentify;

pub use reidentify::{flatness, pictures, success_number, write_pictures, write_reidentification};
