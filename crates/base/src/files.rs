//! Files that appear whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// A file that is written beside its place, and moved there once everything is written; dropped before,
/// it leaves nothing.
#[derive(Debug)]
pub struct Pending {
    temporary: PathBuf,
    path: PathBuf,
    moved: bool,
}

/// Checks that files can be written: none is another or an input, none is there unless it may be replaced,
/// and each has a directory.
///
/// # Errors
/// One that cannot.
pub fn check_outputs(outputs: &[(&str, &Path)], inputs: &[&Path], replace: bool) -> Result<()> {
    let inputs: Vec<PathBuf> = inputs
        .iter()
        .filter_map(|file| file.canonicalize().ok())
        .collect();
    for (at, (option, path)) in outputs.iter().enumerate() {
        let named = || format!("{option} {}", path.display());
        if path.file_name().is_none() || *path == Path::new("-") {
            return Err(Error::parameter(named(), "is not the name of a file"));
        }
        if path
            .extension()
            .is_some_and(|end| end == "gz" || end == "zst")
        {
            return Err(Error::parameter(named(), "is written as plain text")
                .with_hint("leave the end of the name out, and pack the file afterwards"));
        }
        let parent = path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        if let Some(parent) = parent.filter(|parent| !parent.is_dir()) {
            return Err(Error::file(parent, "there is no such directory")
                .with_hint(format!("make it first, or name another with {option}")));
        }
        if path.canonicalize().is_ok_and(|file| inputs.contains(&file)) {
            return Err(Error::file(path, "is an input").with_hint(format!(
                "name another file with {option}: an input is never overwritten"
            )));
        }
        if outputs[..at]
            .iter()
            .any(|(_, before)| same_place(before, path))
        {
            return Err(Error::parameter(named(), "is named for two outputs"));
        }
        let there = path.symlink_metadata();
        if there.as_ref().is_ok_and(|there| !there.is_file()) {
            return Err(Error::file(path, "is there and is no ordinary file")
                .with_hint(format!("name another file with {option}")));
        }
        if !replace && there.is_ok() {
            return Err(Error::file(path, "is already there").with_hint(format!(
                "use --force to replace it, or another file with {option}"
            )));
        }
    }
    Ok(())
}

/// Writes a file whole or not at all.
///
/// # Errors
/// A place that cannot be written to.
pub fn replace_file(path: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    Pending::write(path, |out| out.write_all(content.as_ref()))?.finish()
}

fn same_place(one: &Path, other: &Path) -> bool {
    let directory = |path: &Path| {
        let parent = path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        parent.unwrap_or(Path::new(".")).canonicalize().ok()
    };
    one == other || (one.file_name() == other.file_name() && directory(one) == directory(other))
}

impl Pending {
    /// Writes a file beside its place.
    ///
    /// # Errors
    /// A place that cannot be written to.
    pub fn write(
        path: &Path,
        write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
    ) -> Result<Pending> {
        Pending::create(path, false, write)
    }

    /// The same for a file that only its owner may read, where the system knows owners.
    ///
    /// # Errors
    /// A place that cannot be written to.
    pub fn write_private(
        path: &Path,
        write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
    ) -> Result<Pending> {
        Pending::create(path, true, write)
    }

    fn create(
        path: &Path,
        private: bool,
        write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
    ) -> Result<Pending> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let temporary = path.with_file_name(format!(".{name}.{}.part", std::process::id()));
        let failed =
            |error: std::io::Error| Error::file(path, format!("cannot be written: {error}"));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if private {
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        let file = options.open(&temporary).map_err(failed)?;
        let pending = Pending {
            temporary,
            path: path.to_owned(),
            moved: false,
        };
        fill(file, write).map_err(failed)?;
        Ok(pending)
    }

    /// Moves it to its place.
    ///
    /// # Errors
    /// A place that was taken since, by a directory say.
    pub fn finish(mut self) -> Result<()> {
        fs::rename(&self.temporary, &self.path)
            .map_err(|error| Error::file(&self.path, format!("cannot be written: {error}")))?;
        self.moved = true;
        Ok(())
    }
}

fn fill(
    file: File,
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 18, file);
    write(&mut out)?;
    let file = out.into_inner().map_err(|error| error.into_error())?;
    file.sync_all()
}

impl Drop for Pending {
    fn drop(&mut self) {
        if !self.moved {
            // Nothing can be done about what cannot be removed either.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}
