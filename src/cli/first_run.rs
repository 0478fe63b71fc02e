//! The program without a subcommand: a log alone, or nothing at all.

use std::ffi::OsString;
use std::fs::DirEntry;
use std::io::{self, Write};
use std::path::Path;
use std::time::SystemTime;

use clap::CommandFactory;
use leakgauge::log::COLUMNAR;
use leakgauge::report::command_line;

use crate::cli::Arguments;

/// Entries of a directory that are looked at.
const MOST_ENTRIES: usize = 10_000;
/// What packed files end with.
const PACKED: [&str; 2] = [".gz", ".zst"];
/// What names of logs end with, the likeliest first.
const ENDINGS: [&[&str]; 2] = [
    &[
        ".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".arrow", ".feather", ".npy", ".npz",
    ],
    &[".json"],
];
/// Formats that only some builds read.
const COLUMNAR_ENDINGS: [&str; 3] = [".parquet", ".arrow", ".feather"];

/// The arguments, with `estimate` before a log that comes first: what is there, or is written like a file or a URL, and
/// is not the name of a subcommand.
pub fn with_subcommand(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let is_log = arguments.get(1).is_some_and(|first| {
        let text = first.to_string_lossy();
        let is_command = || {
            let command = Arguments::command();
            text == "help"
                || command
                    .get_subcommands()
                    .any(|known| known.get_name() == text)
        };
        let is_written_so = text.contains(['.', '/', '\\', '*']);
        !text.starts_with('-') && (is_written_so || Path::new(first).exists()) && !is_command()
    });
    if is_log {
        arguments.insert(1, "estimate".into());
    }
    arguments
}

/// Says what to try, on standard error: a script that forgot its arguments must not take it for an answer.
///
/// # Errors
/// Standard error cannot be written to.
pub fn what_to_try() -> io::Result<()> {
    let log = log_at_hand(Path::new("."));
    io::stderr().write_all(text(log.as_deref()).as_bytes())
}

/// Six lines, with the name of a log if there is one.
fn text(log: Option<&str>) -> String {
    let name = log.unwrap_or("LOG.csv");
    let demo = "leakgauge demo timing".to_owned();
    let audit = |what: &[&str]| command_line([&["audit", name], what].concat());
    let lines = [
        (command_line(["check", name]), "shows how this log is read"),
        (
            command_line([name]),
            "measures how well secrets are told apart",
        ),
        (
            audit(&["--claim", "advantage(0.1)"]),
            "says whether a claim holds",
        ),
        (demo, "writes a log to try (also: dp, traffic)"),
        ("leakgauge help".to_owned(), "lists all commands"),
    ];
    let width = lines.iter().map(|(command, _)| command.chars().count());
    let width = width.max().unwrap_or(0).min(58);
    let opening = match log {
        Some(_) => {
            "leakgauge measures what a log of secrets and observations gives away. To try here:"
        }
        None => "leakgauge measures what a log of secrets and observations gives away. To try:",
    };
    let mut text = format!("{opening}\n");
    for (command, about) in lines {
        text.push_str(&format!("  {command:width$}  {about}\n"));
    }
    text
}

/// The likeliest log of a directory: by its ending, then the newest, then by name.
fn log_at_hand(directory: &Path) -> Option<String> {
    let entries = std::fs::read_dir(directory).ok()?.take(MOST_ENTRIES);
    let logs = entries.flatten().filter_map(|entry| likeliness(&entry));
    logs.min().map(|(_, _, name)| name)
}

/// The rank of an entry among logs, the likeliest lowest; none of what is no log.
fn likeliness(entry: &DirEntry) -> Option<(usize, std::cmp::Reverse<SystemTime>, String)> {
    let name = entry.file_name().into_string().ok()?;
    let plain = PACKED.iter().find_map(|end| name.strip_suffix(end));
    let plain = plain.unwrap_or(&name).to_lowercase();
    let has = |ends: &&[&str]| ends.iter().any(|end| plain.ends_with(end));
    let rank = ENDINGS.iter().position(has)?;
    let is_unreadable = COLUMNAR.is_none() && has(&&COLUMNAR_ENDINGS[..]);
    let facts = std::fs::metadata(entry.path()).ok()?;
    let is_log = facts.is_file() && facts.len() > 0 && !name.starts_with(['.', '-']);
    let changed = facts.modified().unwrap_or(SystemTime::UNIX_EPOCH);
    (is_log && !is_unreadable).then_some((rank, std::cmp::Reverse(changed), name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_in_six_lines() {
        for log in [None, Some("a log.csv"), Some("times.parquet")] {
            let text = text(log);
            assert_eq!(text.lines().count(), 6, "{text}");
            let is_short = |line: &str| line.chars().count() <= 100;
            assert!(text.lines().all(is_short), "{text}");
        }
        assert!(text(Some("a log.csv")).contains("leakgauge check 'a log.csv'"));
    }

    #[test]
    fn a_log_alone_is_estimated() {
        let given = |words: &[&str]| {
            let all = ["leakgauge"].iter().chain(words);
            with_subcommand(all.map(OsString::from).collect())
        };
        assert_eq!(given(&["Cargo.toml", "--full"])[1], "estimate");
        assert_eq!(given(&["src"])[1], "estimate");
        assert_eq!(given(&["no-such-file.csv"])[1], "estimate");
        for words in [
            &["audit", "Cargo.toml"][..],
            &["help"],
            &["estimat"],
            &["-q"],
            &[],
        ] {
            assert_eq!(given(words).len(), words.len() + 1, "{words:?}");
        }
    }

    #[test]
    fn the_newest_log_that_is_likely_is_at_hand() {
        let directory = tempfile::tempdir().expect("a directory");
        assert_eq!(log_at_hand(directory.path()), None);
        let write = |name: &str, text: &str| {
            std::fs::write(directory.path().join(name), text).expect("a file");
        };
        write("empty.csv", "");
        write("notes.txt", "no log");
        assert_eq!(log_at_hand(directory.path()), None);
        write("package.json", "{}");
        assert_eq!(
            log_at_hand(directory.path()).as_deref(),
            Some("package.json")
        );
        write("b.csv.gz", "x");
        assert_eq!(log_at_hand(directory.path()).as_deref(), Some("b.csv.gz"));
    }
}
