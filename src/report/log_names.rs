//! What the logs of a comparison are called.

use std::path::Path;

use crate::compare::Comparison;

/// The name of each log: the shortest end of its first file's path that no other log has; `log N` where there is none,
/// and for standard input.
pub fn log_names(found: &Comparison) -> Vec<String> {
    let files = found.logs.iter();
    names(files.map(|log| log.files.first().map_or("-", String::as_str)))
}

fn names<'f>(files: impl Iterator<Item = &'f str>) -> Vec<String> {
    let files: Vec<&str> = files.collect();
    let of = |(at, file): (usize, &&str)| {
        let longest = Path::new(file).components().count();
        let mut ends = (1..=longest).map(|parts| end(file, parts));
        let is_alone = |name: &String| {
            let parts = Path::new(name).components().count();
            let same = files.iter().filter(|other| end(other, parts) == *name);
            same.count() == 1
        };
        ends.find(is_alone)
            .filter(|name| name != "-")
            .unwrap_or_else(|| format!("log {}", at + 1))
    };
    files.iter().enumerate().map(of).collect()
}

/// The last parts of a path.
fn end(file: &str, parts: usize) -> String {
    let path = Path::new(file);
    let skipped = path.components().count().saturating_sub(parts);
    let kept: std::path::PathBuf = path.components().skip(skipped).collect();
    kept.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_as_short_as_they_can_be_and_unique() {
        let of = |files: &[&str]| names(files.iter().copied());
        assert_eq!(of(&["logs/a.csv", "logs/b.csv"]), ["a.csv", "b.csv"]);
        assert_eq!(
            of(&["1/before/a.csv", "1/after/a.csv", "c.csv"]),
            ["before/a.csv", "after/a.csv", "c.csv"]
        );
        assert_eq!(of(&["a.csv", "x/a.csv"]), ["log 1", "x/a.csv"]);
        assert_eq!(of(&["-", "a.csv"]), ["log 1", "a.csv"]);
    }
}
