//! The files of a log: names as given, patterns as the files that they match.

use std::path::Path;

use crate::STDIN;
use crate::objects::is_url;
use leakgauge_base::error::{Error, Result};

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

/// All files below a directory but empty ones and those that begin with `.` or `_`: writers leave such beside the data
/// (`_SUCCESS`).
fn below(directory: &str) -> Result<Vec<String>> {
    let mut files = Vec::new();
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
                files.push(path);
            }
        }
    }
    if files.is_empty() {
        return Err(Error::file(directory, "is a directory without files")
            .with_hint("empty files and those whose names begin with `.` or `_` are not read"));
    }
    files.sort_unstable();
    Ok(files)
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
        let none = expand(&[path("empty")]).unwrap_err().to_string();
        assert!(none.contains("without files"), "{none}");
    }
}
