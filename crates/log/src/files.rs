//! The files of a log: names as given, patterns as the files that they match.

use std::path::Path;

use crate::STDIN;
use crate::objects::is_url;
use crate::open::is_document;
use leakgauge_base::error::{Error, Result, file_listing};

/// Replaces every pattern (`logs/*.csv`) by the files that match it, and every directory by all files below it, sorted
/// by name. A name of a file stays what it is, whatever characters it holds, and so does a URL.
///
/// # Errors
/// A pattern that no file matches or that is none; a directory that holds no file or cannot be looked into.
pub fn expand(names: &[String]) -> Result<Vec<String>> {
    let mut files = Vec::with_capacity(names.len());
    for name in names {
        if is_pattern(name) {
            files.extend(matches(name)?);
        } else if name != STDIN && !is_url(name) && Path::new(name).is_dir() {
            files.extend(below(name)?);
        } else {
            files.push(name.clone());
        }
    }
    Ok(files)
}

/// Whether a name stands for the files that match it.
pub fn is_pattern(name: &str) -> bool {
    name != STDIN && !is_url(name) && name.contains(['*', '?', '[']) && !Path::new(name).exists()
}

fn matches(pattern: &str) -> Result<Vec<String>> {
    let paths = glob::glob(pattern).map_err(|error| {
        Error::file(
            pattern,
            format!("is no pattern of file names: {}", error.msg),
        )
        .with_hint("`*` is any text, `?` any character, `[ab]` one of these, `**` any directories")
    })?;
    let mut files = Vec::new();
    for path in paths {
        let path = path.map_err(|error| Error::file(error.path(), error.error().to_string()))?;
        if path.is_dir() {
            continue;
        }
        let Some(name) = path.to_str() else {
            return Err(
                Error::file(&path, "has a name that is not UTF-8").with_hint("rename the file")
            );
        };
        files.push(name.to_owned());
    }
    if files.is_empty() {
        return Err(Error::file(pattern, "no file matches")
            .with_hint("`*` does not match the `/` between directories; `**/` does"));
    }
    files.sort_unstable();
    Ok(files)
}

/// All files below a directory but empty ones, those that begin with `.` or `_`, which writers leave beside the data
/// (`_SUCCESS`), and those for readers, such as `README.md`.
fn below(directory: &str) -> Result<Vec<String>> {
    let (mut files, documents) = all_below(directory)?;
    if files.is_empty() {
        return Err(match documents.first() {
            Some(document) => {
                let problem = format!("is a directory without logs; {document} is for readers");
                Error::file(directory, problem).with_hint("name the log itself")
            }
            None => Error::file(directory, "is a directory without files")
                .with_hint("empty files and those whose names begin with `.` or `_` are not read"),
        });
    }
    files.sort_unstable();
    Ok(files)
}

/// What stands below directories and is for readers, in a sentence.
pub(crate) fn documents_beside(directories: &[String]) -> Option<String> {
    let of = |directory: &String| {
        all_below(directory)
            .map(|found| found.1)
            .unwrap_or_default()
    };
    let mut documents: Vec<String> = directories.iter().flat_map(of).collect();
    documents.sort_unstable();
    let is_one = documents.len() == 1;
    (!documents.is_empty()).then(|| {
        format!(
            "{} {} for readers and {} not read.",
            file_listing(&documents),
            if is_one { "is" } else { "are" },
            if is_one { "was" } else { "were" }
        )
    })
}

/// The files below a directory that are read, and those for readers.
fn all_below(directory: &str) -> Result<(Vec<String>, Vec<String>)> {
    let (mut files, mut documents) = (Vec::new(), Vec::new());
    let mut directories = vec![directory.trim_end_matches('/').to_owned()];
    if directories[0].is_empty() {
        directories[0].push('/');
    }
    while let Some(directory) = directories.pop() {
        let failed = |error: std::io::Error| Error::file(&directory, error.to_string());
        for entry in std::fs::read_dir(&directory).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name();
            let Some(name) = name.to_str() else {
                return Err(Error::file(entry.path(), "has a name that is not UTF-8")
                    .with_hint("rename the file"));
            };
            if name.starts_with(['.', '_']) {
                continue;
            }
            let path = format!("{}/{name}", directory.trim_end_matches('/'));
            // A link to a directory can lead back to where it stands.
            if entry.file_type().map_err(failed)?.is_dir() {
                directories.push(path);
            } else if std::fs::metadata(&path).is_ok_and(|file| file.is_file() && file.len() > 0) {
                match is_document(&path) {
                    true => documents.push(path),
                    false => files.push(path),
                }
            }
        }
    }
    Ok((files, documents))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_and_patterns_become_sorted_files() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
        for name in ["b.csv", "a.csv", "a[1].csv", "c.txt"] {
            std::fs::write(path(name), "x").unwrap();
        }
        std::fs::create_dir(path("d.csv")).unwrap();
        let found = expand(&[path("c.txt"), path("*.csv")]).unwrap();
        let expected = ["c.txt", "a.csv", "a[1].csv", "b.csv"].map(path);
        assert_eq!(found, expected);
        assert_eq!(expand(&[path("a[1].csv")]).unwrap(), [path("a[1].csv")]);
        assert_eq!(expand(&["-".into(), "x".into()]).unwrap(), ["-", "x"]);
        let none = expand(&[path("*.tsv")]).unwrap_err().to_string();
        assert!(none.contains("no file matches"), "{none}");
        assert!(expand(&[path("a***")]).is_err());
    }

    #[test]
    fn a_directory_stands_for_all_files_below_it() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
        std::fs::create_dir_all(path("logs/k=2/deep")).unwrap();
        std::fs::create_dir_all(path("logs/_old")).unwrap();
        std::fs::create_dir_all(path("empty/none")).unwrap();
        for name in [
            "README.md",
            "k=2/deep/c.csv",
            "k=2/b.csv",
            "a.csv",
            ".hidden",
            "_SUCCESS",
            "_old/x.csv",
        ] {
            std::fs::write(path(&format!("logs/{name}")), "x").unwrap();
        }
        let expected = ["logs/a.csv", "logs/k=2/b.csv", "logs/k=2/deep/c.csv"].map(path);
        assert_eq!(expand(&[path("logs")]).unwrap(), expected);
        assert_eq!(expand(&[path("logs/")]).unwrap(), expected);
        let beside = documents_beside(&[path("logs")]).unwrap();
        assert!(
            beside.ends_with("README.md is for readers and was not read."),
            "{beside}"
        );
        let none = expand(&[path("empty")]).unwrap_err().to_string();
        assert!(none.contains("without files"), "{none}");
    }
}
