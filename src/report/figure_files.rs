//! Writing figures into a directory.

use std::path::{Path, PathBuf};

use leakgauge_base::error::{Error, Result};
use leakgauge_base::files::replace_file;
use leakgauge_base::naming::option;
use leakgauge_plot::{Figure, on_white};

/// Files that were written, in order.
pub type Written = Vec<PathBuf>;

const ENDS: [&str; 2] = ["csv", "svg"];

/// Checks, before anything is computed, that a directory is there and that nothing would be overwritten.
///
/// # Errors
/// No directory, or a file that is there and not to be replaced.
pub fn check_figure_files<'f>(
    files: impl IntoIterator<Item = &'f str>,
    directory: &Path,
    replace: bool,
) -> Result<()> {
    if !directory.is_dir() {
        let problem = if directory.exists() {
            "is not a directory"
        } else {
            "there is no such directory"
        };
        return Err(Error::file(directory, problem).with_hint(format!(
            "make it first, or name another with {}",
            option("out")
        )));
    }
    if replace {
        return Ok(());
    }
    for path in files.into_iter().flat_map(|file| paths(directory, file)) {
        refuse_existing(&path)?;
    }
    Ok(())
}

fn paths(directory: &Path, file: &str) -> [PathBuf; 2] {
    ENDS.map(|end| directory.join(format!("{file}.{end}")))
}

fn refuse_existing(path: &Path) -> Result<()> {
    // A link to nowhere is something too.
    if path.symlink_metadata().is_err() {
        return Ok(());
    }
    Err(Error::file(path, "is already there").with_hint(format!(
        "use {} to replace it, or {} for another directory",
        option("force"),
        option("out")
    )))
}

/// Writes the data and the pictures of figures. Each file is written beside its place and then moved
/// there, so that no half-written file has its name.
///
/// # Errors
/// A directory that cannot be written to; a file that is there and not to be replaced.
pub fn write_with_data(figures: &[Figure], directory: &Path, replace: bool) -> Result<Written> {
    let mut written = Vec::new();
    for picture in figures {
        let contents = [picture.table.to_csv()?, on_white(&picture.svg)];
        for (path, text) in paths(directory, picture.file).into_iter().zip(contents) {
            if !replace {
                refuse_existing(&path)?;
            }
            replace_file(&path, &text)?;
            written.push(path);
        }
    }
    Ok(written)
}
