//! Writing figures into a directory.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::{Entry, Reproduction};
use crate::error::{Error, Result};
use crate::plot::on_white;

/// Files that were written, in order.
pub type Written = Vec<PathBuf>;

const ENDS: [&str; 2] = ["csv", "svg"];

/// Checks, before anything is computed, that a directory is there and that nothing would be overwritten.
///
/// # Errors
/// No directory, or a file that is there and not to be replaced.
pub fn check(entries: &[&Entry], directory: &Path, replace: bool) -> Result<()> {
    if !directory.is_dir() {
        let problem = if directory.exists() {
            "is not a directory"
        } else {
            "there is no such directory"
        };
        return Err(
            Error::file(directory, problem).with_hint("make it first, or name another with --out")
        );
    }
    if replace {
        return Ok(());
    }
    for entry in entries {
        for path in entry.files.iter().flat_map(|file| paths(directory, file)) {
            refuse_existing(&path)?;
        }
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
    Err(Error::file(path, "is already there")
        .with_hint("use --force to replace it, or --out for another directory"))
}

/// Writes the data and the pictures of a figure. Each file is written beside its place and then moved
/// there, so that no half-written file has its name.
///
/// # Errors
/// A directory that cannot be written to; a file that is there and not to be replaced.
pub fn write(figure: &Reproduction, directory: &Path, replace: bool) -> Result<Written> {
    let mut written = Vec::new();
    for picture in &figure.pictures {
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

/// Writes a file beside its place and then moves it there.
///
/// # Errors
/// A place that cannot be written to.
pub fn replace_file(path: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = path.with_file_name(format!(".{name}.{}.part", std::process::id()));
    let done = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&temporary)
        .and_then(|mut file| {
            file.write_all(content.as_ref())
                .and_then(|()| file.sync_all())
        })
        .and_then(|()| fs::rename(&temporary, path));
    done.map_err(|error| {
        // What is left of it is of no use; that it cannot be removed either says nothing more.
        let _ = fs::remove_file(&temporary);
        Error::file(path, format!("cannot be written: {error}"))
    })
}
