//! What every command does before it writes to standard output.

use std::io::{self, Write};

use leakgauge::base::error::Result;

use crate::cli::{progress, terminal};

/// Writes to standard output, or to the file that replaces it, once the display of progress is gone. A closed pipe
/// (`| head`) is not an error.
pub fn to_stdout(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    progress::end_computing();
    terminal::to_stdout(write)
}
