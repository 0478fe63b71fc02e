//! The program without a subcommand: a log alone, or nothing at all.

use std::ffi::OsString;
use std::fs::DirEntry;
use std::io::{self, Read, Write};
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
    let log = log
        .as_ref()
        .map(|(name, names_secret)| (name.as_str(), *names_secret));
    io::stderr().write_all(text(log).as_bytes())
}

/// Six lines, with the name of a log if there is one, and whether a column of it is named `secret`.
fn text(log: Option<(&str, bool)>) -> String {
    let (name, names_secret) = log.unwrap_or(("LOG.csv", true));
    let secret: &[&str] = match names_secret {
        true => &[],
        false => &["--secret", "COLUMN"],
    };
    let demo = "leakgauge demo timing".to_owned();
    let with = |words: &[&str]| command_line([words, secret].concat());
    let audit = |what: &[&str]| with(&[&["audit", name], what].concat());
    let lines = [
        (with(&["check", name]), "shows how this log is read"),
        (with(&[name]), "measures how well secrets are told apart"),
        (
            audit(&["--claim", "advantage(0.1)"]),
            "says whether a claim holds",
        ),
        (demo, "writes a log to try (also: dp, traffic)"),
        ("leakgauge help".to_owned(), "lists all commands"),
    ];
    let width = lines.iter().map(|(command, _)| command.chars().count());
    let width = width.max().unwrap_or(0).min(54);
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

/// The likeliest log of a directory, and whether a column of it is named `secret`: those first, then by its ending, then the
/// newest, then by name.
fn log_at_hand(directory: &Path) -> Option<(String, bool)> {
    let entries = std::fs::read_dir(directory).ok()?.take(MOST_ENTRIES);
    let logs = entries.flatten().filter_map(|entry| likeliness(&entry));
    logs.min()
        .map(|(lacks_secret, _, _, name)| (name, !lacks_secret))
}

/// Whether the first bytes of a text lack the word `secret`. What is packed or binary is given the benefit of the doubt.
fn lacks_secret(path: &Path, plain: &str) -> bool {
    const HEAD: u64 = 4096;
    let is_text = [".csv", ".tsv", ".json", ".jsonl", ".ndjson"]
        .iter()
        .any(|end| plain.ends_with(end));
    let mut head = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
    let text = String::from_utf8_lossy(&head).to_lowercase();
    is_text && read.is_ok() && !text.contains("secret")
}

/// The rank of an entry among logs, the likeliest lowest; none of what is no log.
fn likeliness(entry: &DirEntry) -> Option<(bool, usize, std::cmp::Reverse<SystemTime>, String)> {
    let name = entry.file_name().into_string().ok()?;
    let plain = PACKED.iter().find_map(|end| name.strip_suffix(end));
    let plain = plain.unwrap_or(&name).to_lowercase();
    let has = |ends: &&[&str]| ends.iter().any(|end| plain.ends_with(end));
    let rank = ENDINGS.iter().position(has)?;
    let is_unreadable = COLUMNAR.is_none() && has(&&COLUMNAR_ENDINGS[..]);
    let facts = std::fs::metadata(entry.path()).ok()?;
    let is_log = facts.is_file() && facts.len() > 0 && !name.starts_with(['.', '-']);
    let changed = facts.modified().unwrap_or(SystemTime::UNIX_EPOCH);
    let is_packed = name.len() != plain.len();
    let lacks = is_log && !is_packed && lacks_secret(&entry.path(), &plain);
    (is_log && !is_unreadable).then_some((lacks, rank, std::cmp::Reverse(changed), name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_in_six_lines() {
        for log in [
            None,
            Some(("a log.csv", true)),
            Some(("times.parquet", true)),
            Some(("b.csv", false)),
        ] {
            let text = text(log);
            assert_eq!(text.lines().count(), 6, "{text}");
            let is_short = |line: &str| line.chars().count() <= 100;
            assert!(text.lines().all(is_short), "{text}");
        }
        assert!(text(Some(("a log.csv", true))).contains("leakgauge check 'a log.csv'"));
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
        let found = || log_at_hand(directory.path()).map(|log| log.0);
        assert_eq!(found(), None);
        let write = |name: &str, text: &str| {
            std::fs::write(directory.path().join(name), text).expect("a file");
        };
        write("empty.csv", "");
        write("notes.txt", "no log");
        assert_eq!(found(), None);
        write("package.json", "{}");
        assert_eq!(found().as_deref(), Some("package.json"));
        write("b.csv.gz", "x");
        assert_eq!(found().as_deref(), Some("b.csv.gz"));
    }
}
