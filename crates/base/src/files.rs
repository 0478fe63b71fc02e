//! Output files that are written completely or not at all.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use tempfile::NamedTempFile;

use crate::error::{Error, Result};
use crate::naming;

/// An output file under a temporary name in the directory of its final path. [`AtomicFile::finish`] renames it
/// to the final path; dropping it instead deletes the temporary file.
#[derive(Debug)]
pub struct AtomicFile {
    temporary: NamedTempFile,
    listed: Listed,
    path: PathBuf,
}

/// The temporary files that have not got their final names.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The place of a temporary file in that list, which it leaves when this is dropped.
#[derive(Debug)]
struct Listed(PathBuf);

impl Listed {
    /// Makes a temporary file and lists it: a signal finds either none, or one that is listed.
    fn make(
        make: impl FnOnce() -> io::Result<NamedTempFile>,
    ) -> io::Result<(Listed, NamedTempFile)> {
        let mut known = unfinished();
        let temporary = make()?;
        let path = temporary.path().to_owned();
        known.push(path.clone());
        Ok((Listed(path), temporary))
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        unfinished().retain(|known| *known != self.0);
    }
}

/// Deletes all temporary files.
pub fn discard_unfinished() {
    remove_all(&mut unfinished());
}

/// The same for a program that is ended now by a signal, where nothing is dropped: no file is begun any more, and what
/// [`whole`] does is done. Who is busy with either for longer than `patience` is not waited for.
pub fn discard_unfinished_for_good(patience: Duration) {
    let begun = Instant::now();
    let (mut files, mut whole) = (None, None);
    while (files.is_none() || whole.is_none()) && begun.elapsed() < patience {
        files = files.or_else(|| of_lock(&UNFINISHED));
        whole = whole.or_else(|| of_lock(&WHOLE));
        std::thread::sleep(Duration::from_millis(1));
    }
    if let Some(files) = &mut files {
        remove_all(files);
    }
    // The locks stay closed.
    std::mem::forget((files, whole));
}

/// The lock, if nobody has it.
fn of_lock<T>(lock: &'static Mutex<T>) -> Option<MutexGuard<'static, T>> {
    match lock.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// Held while something is written that must not be cut in two.
static WHOLE: Mutex<()> = Mutex::new(());

/// Does what a signal is not to cut in two: a few writes to a file.
pub fn whole<T>(write: impl FnOnce() -> T) -> T {
    let _held = WHOLE.lock().unwrap_or_else(PoisonError::into_inner);
    write()
}

fn remove_all(files: &mut Vec<PathBuf>) {
    for temporary in files.drain(..) {
        // Nothing more can be done if it cannot be removed either.
        let _ = fs::remove_file(temporary);
    }
}

/// The same for a program that ends where it may be about to change the list of these files: then they stay.
pub fn discard_unfinished_if_free() {
    if let Ok(mut known) = UNFINISHED.try_lock() {
        remove_all(&mut known);
    }
}

/// Whether somebody means a place on another machine.
pub fn is_url(path: &Path) -> bool {
    path.to_string_lossy().contains("://")
}

/// Checks output files before anything is computed. Each is an option (the name of its field, which messages
/// name) and a path.
///
/// # Errors
/// A path without a file name, with a compressed format's extension, in a missing directory, equal to an input
/// or to another output, or that exists: as something other than a regular file, or as a file while `replace` is
/// false.
pub fn check_outputs(outputs: &[(&str, &Path)], inputs: &[&Path], replace: bool) -> Result<()> {
    for (at, (option, path)) in outputs.iter().enumerate() {
        let refuse = |problem: &str| Error::setting(*option, path.display(), problem);
        let option = naming::option(option);
        if path.file_name().is_none() || *path == Path::new("-") {
            return Err(refuse("is not the name of a file"));
        }
        if is_url(path) {
            return Err(refuse(
                "is a URL, and files are written to this machine only",
            ));
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
        if inputs.iter().any(|input| is_same_file(path, input)) {
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

/// Writes a file that is not there yet.
///
/// # Errors
/// [`Error::File`]: there is something at the path, or it cannot be written.
pub fn create_file(path: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    let failed = |error| Error::io(path.display().to_string(), error);
    let new = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path);
    let mut file = new.map_err(failed)?;
    file.write_all(content.as_ref()).map_err(|error| {
        // Half a file is no log. Nothing more can be done if it cannot be removed either.
        let _ = fs::remove_file(path);
        failed(error)
    })
}

/// Whether two paths are of one file, through links of either kind.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    let file = |path: &Path| path.canonicalize().ok();
    one == other || file(one).is_some_and(|one| file(other) == Some(one)) || is_linked(one, other)
}

/// The position of the first of several paths that is of the same file as one before it, through links of either kind. Each is
/// looked up once: a log may have ten thousand files.
pub fn first_twice<'p>(paths: impl IntoIterator<Item = &'p Path>) -> Option<usize> {
    let (mut places, mut inodes) = (HashSet::new(), HashSet::new());
    let mut paths = paths.into_iter();
    paths.position(|path| {
        let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let is_new = inode(path).is_none_or(|inode| inodes.insert(inode));
        !(places.insert(place) && is_new)
    })
}

/// Whether two paths are hard links of one file.
fn is_linked(one: &Path, other: &Path) -> bool {
    inode(one).is_some_and(|one| inode(other) == Some(one))
}

/// What all hard links of a file share: its device and its number there.
#[cfg(unix)]
fn inode(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let facts = path.metadata().ok()?;
    facts.is_file().then(|| (facts.dev(), facts.ino()))
}

#[cfg(not(unix))]
fn inode(_: &Path) -> Option<(u64, u64)> {
    None
}

/// Whether two paths are the same file, also one that is not there yet.
pub fn same_place(one: &Path, other: &Path) -> bool {
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
        let failed = |error| not_written(path, error);
        let place = behind_links(path).map_err(failed)?;
        let directory = place
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        let name = place.file_name().unwrap_or_default().to_string_lossy();
        // What is added to a name must not make it longer than names may be.
        let name: String = name.chars().take(NAME_KEPT).collect();
        let (listed, temporary) = Listed::make(|| {
            builder(&place, private, &format!(".{name}."))
                .tempfile_in(directory.unwrap_or(Path::new(".")))
        })
        .map_err(failed)?;
        // From here on dropping it deletes the file.
        let pending = AtomicFile {
            listed,
            temporary,
            path: place,
        };
        fill(pending.temporary.as_file(), write).map_err(failed)?;
        Ok(pending)
    }

    /// Renames the temporary file to its final path.
    ///
    /// # Errors
    /// [`Error::File`]: the rename failed, for example because a directory has that name now.
    pub fn finish(self) -> Result<()> {
        let moved = self.temporary.persist(&self.path);
        drop(self.listed);
        moved.map_err(|failed| not_written(&self.path, failed.error))?;
        Ok(())
    }
}

/// So many characters of a name are kept in that of its temporary file; names have at most 255 bytes.
const NAME_KEPT: usize = 40;
/// More links in a row are a circle.
const MOST_LINKS: usize = 40;

/// The file that a path is of: where it is a symbolic link, the file that the link leads to is written, not the link.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut place = path.to_owned();
    for _ in 0..MOST_LINKS {
        if !place.is_symlink() {
            return Ok(place);
        }
        let target = fs::read_link(&place)?;
        // An absolute target replaces the whole path.
        place = place.parent().unwrap_or(Path::new("")).join(target);
    }
    Err(io::Error::other("too many symbolic links"))
}

/// A temporary file with the permissions of the file that it replaces; a new file has those that files usually get.
fn builder<'p>(path: &Path, private: bool, prefix: &'p str) -> tempfile::Builder<'p, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).suffix(".part");
    #[cfg(unix)]
    if !private {
        use std::os::unix::fs::PermissionsExt;
        let usual = || fs::Permissions::from_mode(0o666);
        builder.permissions(
            path.metadata()
                .map_or_else(|_| usual(), |there| there.permissions()),
        );
    }
    builder
}

fn not_written(path: &Path, error: std::io::Error) -> Error {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    match parent {
        Some(parent) if !parent.is_dir() => Error::file(parent, "no such directory")
            .with_hint("create it, or name a file elsewhere"),
        _ => {
            let problem = format!("cannot be written: {}", without_path(&error));
            Error::file(path, problem).with_source(error)
        }
    }
}

/// What the operating system says, without the temporary file's path, which nobody named.
fn without_path(error: &std::io::Error) -> String {
    let text = error.to_string();
    let own = error.raw_os_error().is_none();
    let known = text.split_once(" at path \"").filter(|_| own);
    known.map_or_else(|| text.clone(), |(problem, _)| problem.to_owned())
}

fn fill(
    file: &File,
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 18, file);
    write(&mut out)?;
    let file = out.into_inner().map_err(|error| error.into_error())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_file_is_seen_twice_through_links_of_either_kind() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        for name in ["a", "b"] {
            fs::write(path(name), name).unwrap();
        }
        fs::hard_link(path("a"), path("hard")).unwrap();
        std::os::unix::fs::symlink(path("b"), path("soft")).unwrap();
        let twice = |names: &[&str]| {
            let paths: Vec<PathBuf> = names.iter().map(|name| path(name)).collect();
            first_twice(paths.iter().map(PathBuf::as_path))
        };
        assert_eq!(twice(&["a", "b", "not there", "nor this"]), None);
        assert_eq!(twice(&["a", "b", "hard"]), Some(2));
        assert_eq!(twice(&["soft", "a", "b"]), Some(2));
        assert_eq!(twice(&["a", "a", "b"]), Some(1));
        assert_eq!(twice(&["gone", "gone"]), Some(1));
    }
}
