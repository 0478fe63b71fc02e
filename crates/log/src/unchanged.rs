//! Files that change while they are read.

use std::fs;
use std::time::SystemTime;

use crate::source::STDIN;
use leakgauge_base::error::{Error, Result};

/// Files as they are before they are read.
#[derive(Debug)]
pub struct Unchanged {
    files: Vec<(String, Facts)>,
}

/// What tells that a file was written to.
#[derive(Debug, PartialEq, Eq)]
struct Facts {
    bytes: u64,
    modified: Option<SystemTime>,
}

impl Facts {
    /// `None` for what is no file on a disk: a pipe changes as it is read.
    fn of(name: &str) -> Option<Facts> {
        let facts = fs::metadata(name).ok().filter(fs::Metadata::is_file)?;
        Some(Facts {
            bytes: facts.len(),
            modified: facts.modified().ok(),
        })
    }
}

impl Unchanged {
    /// Looks at files that are about to be read. What cannot be read is an error when it is.
    pub fn watch<'f>(names: impl IntoIterator<Item = &'f String>) -> Self {
        let names = names.into_iter().filter(|name| *name != STDIN);
        Unchanged {
            files: names
                .filter_map(|name| Some((name.clone(), Facts::of(name)?)))
                .collect(),
        }
    }

    /// Looks again, once all are read.
    ///
    /// # Errors
    /// A file of another size or time: some of its rows may be missing, or cut.
    pub fn check(&self) -> Result<()> {
        for (name, before) in &self.files {
            let problem = match Facts::of(name) {
                Some(now) if now == *before => continue,
                Some(now) if now.bytes < before.bytes => "became shorter while it was read",
                Some(now) if now.bytes > before.bytes => "grew while it was read",
                Some(_) => "was written to while it was read",
                None => "vanished while it was read",
            };
            return Err(Error::file(name, problem)
                .with_hint("read it again once nothing writes to it, or read a copy"));
        }
        Ok(())
    }
}
