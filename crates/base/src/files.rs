//! Output files that are written completely or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::naming;

/// An output file under a temporary name in the directory of its final path. [`AtomicFile::finish`] renames it
/// to the final path; dropping it instead deletes the temporary file.
#[derive(Debug)]
pub struct AtomicFile {
    temporary: PathBuf,
    path: PathBuf,
    moved: bool,
}

/// Checks output files before anything is computed. Each is an option (the name of its field, which messages
/// name) and a path.
///
/// # Errors
/// A path without a file name, with a compressed format's extension, in a missing directory, equal to an input
/// or to another output, or that exists: as something other than a regular file, or as a file while `replace` is
/// false.
pub fn check_outputs(outputs: &[(&str, &Path)], inputs: &[&Path], replace: bool) -> Result<()> {
    let inputs: Vec<PathBuf> = inputs
        .iter()
        .filter_map(|file| file.canonicalize().ok())
        .collect();
    for (at, (option, path)) in outputs.iter().enumerate() {
        let refuse = |problem: &str| Error::setting(*option, path.display(), problem);
        let option = naming::option(option);
        if path.file_name().is_none() || *path == Path::new("-") {
            return Err(refuse("is not the name of a file"));
        }
        if path
            .extension()
            .is_some_and(|end| end == "gz" || end == "zst")
        {
            return Err(refuse("the output is not compressed")
                .with_hint("remove the extension, and compress the file afterwards"));
        }
        let parent = path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        if let Some(parent) = parent.filter(|parent| !parent.is_dir()) {
            return Err(Error::file(parent, "no such directory")
                .with_hint(format!("create it, or choose another with {option}")));
        }
        if path.canonicalize().is_ok_and(|file| inputs.contains(&file)) {
            return Err(Error::file(path, "is an input").with_hint(format!(
                "choose another file with {option}: inputs are never overwritten"
            )));
        }
        if outputs[..at]
            .iter()
            .any(|(_, before)| same_place(before, path))
        {
            return Err(refuse("is also the file of another output"));
        }
        let there = path.symlink_metadata();
        if there.as_ref().is_ok_and(|there| !there.is_file()) {
            return Err(Error::file(path, "exists and is not a regular file")
                .with_hint(format!("choose another file with {option}")));
        }
        if !replace && there.is_ok() {
            return Err(Error::file(path, "already exists").with_hint(format!(
                "use {} to replace it, or choose another file with {option}",
                naming::option("force")
            )));
        }
    }
    Ok(())
}

/// Writes a file completely or not at all.
///
/// # Errors
/// [`Error::File`]: the file or its directory cannot be written.
pub fn replace_file(path: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    AtomicFile::write(path, |out| out.write_all(content.as_ref()))?.finish()
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

impl AtomicFile {
    /// Writes the content to the temporary file.
    ///
    /// # Errors
    /// [`Error::File`]: the directory cannot be written, or the content could not be.
    pub fn write(
        path: &Path,
        write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
    ) -> Result<AtomicFile> {
        AtomicFile::create(path, false, write)
    }

    /// The same with permissions 0600 on Unix: only the owner can read the file.
    ///
    /// # Errors
    /// As [`AtomicFile::write`].
    pub fn write_private(
        path: &Path,
        write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
    ) -> Result<AtomicFile> {
        AtomicFile::create(path, true, write)
    }

    fn create(
        path: &Path,
        private: bool,
        write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
    ) -> Result<AtomicFile> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let temporary = path.with_file_name(format!(".{name}.{}.part", std::process::id()));
        let failed = |error| not_written(path, error);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if private {
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        let file = options.open(&temporary).map_err(failed)?;
        let pending = AtomicFile {
            temporary,
            path: path.to_owned(),
            moved: false,
        };
        fill(file, write).map_err(failed)?;
        Ok(pending)
    }

    /// Renames the temporary file to its final path.
    ///
    /// # Errors
    /// [`Error::File`]: the rename failed, for example because a directory has that name now.
    pub fn finish(mut self) -> Result<()> {
        fs::rename(&self.temporary, &self.path).map_err(|error| not_written(&self.path, error))?;
        self.moved = true;
        Ok(())
    }
}

fn not_written(path: &Path, error: std::io::Error) -> Error {
    Error::file(path, format!("cannot be written: {error}")).with_source(error)
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

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if !self.moved {
            // Nothing more can be done if it cannot be removed either.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}
