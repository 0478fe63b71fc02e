//! Runs the program on logs written to a temporary directory.
#![allow(dead_code)]

#[cfg(feature = "parquet")]
pub mod columns;
#[cfg(feature = "schema")]
pub mod schema;
pub mod shapes;
pub mod verdicts;

use std::io::Write;
use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use flate2::{Compression, write::GzEncoder};
use tempfile::TempDir;

/// The names of the columns that a report observes.
pub fn observed(report: &serde_json::Value) -> Vec<&str> {
    let columns = report["input"]["observation"]["columns"].as_array();
    let columns = columns.expect("a list").iter();
    columns
        .filter_map(|column| column["name"].as_str())
        .collect()
}

/// A directory with the files of one test; the program runs inside it.
pub struct Place {
    directory: TempDir,
}

impl Place {
    pub fn new() -> Self {
        Place {
            directory: tempfile::tempdir().expect("a temporary directory"),
        }
    }

    /// A place with one file, `log.csv`.
    pub fn with_log(text: impl AsRef<[u8]>) -> Self {
        Place::new().file("log.csv", text)
    }

    pub fn file(self, name: &str, text: impl AsRef<[u8]>) -> Self {
        std::fs::write(self.path().join(name), text).expect("a file is written");
        self
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    pub fn command(&self) -> Command {
        let mut command = assert_cmd::cargo::cargo_bin_cmd!("leakgauge");
        command.current_dir(self.path());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.run_on(arguments, "")
    }

    pub fn run_on(&self, arguments: &[&str], input: impl Into<Vec<u8>>) -> Output {
        let mut command = self.command();
        command.args(arguments).write_stdin(input);
        let output = command.output().expect("the program runs");
        check_schema(arguments, &output);
        output
    }

    /// Runs what cannot be done: exit 2, one message with these words, nothing on standard output.
    pub fn refuses(&self, arguments: &[&str], words: &[&str]) {
        assert_refused(&self.run(arguments), words);
    }

    /// The JSON report of a log that must be accepted.
    pub fn json(&self, arguments: &[&str]) -> serde_json::Value {
        self.json_on(arguments, "")
    }

    pub fn json_on(&self, arguments: &[&str], input: impl Into<Vec<u8>>) -> serde_json::Value {
        let mut all = arguments.to_vec();
        all.extend(["--format", "json"]);
        let output = self.run_on(&all, input);
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            stderr(&output)
        );
        serde_json::from_slice(&output.stdout).expect("JSON on standard output")
    }
}

/// Holds a JSON report against the schema of its command.
pub fn check_schema(arguments: &[impl AsRef<str>], output: &Output) {
    #[cfg(feature = "schema")]
    schema::check(arguments, output);
    #[cfg(not(feature = "schema"))]
    let _ = (arguments, output);
}

/// Holds JSON that did not come from standard output against the schema of this name.
pub fn check_schema_of(name: &str, report: &serde_json::Value) {
    #[cfg(feature = "schema")]
    schema::check_report(name, report);
    #[cfg(not(feature = "schema"))]
    let _ = (name, report);
}

pub fn assert_refused(output: &Output, words: &[&str]) {
    let message = stderr(output);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(output.stdout.is_empty(), "something on standard output");
    assert!(!message.contains("panicked"), "{message}");
    assert_eq!(message.matches("error: ").count(), 1, "{message}");
    for word in words {
        assert!(message.contains(word), "{word:?} is not in: {message}");
    }
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("messages are UTF-8")
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("reports are UTF-8")
}

pub fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).expect("memory can be written");
    encoder.finish().expect("memory can be written")
}

/// A log of two interleaved secrets with one numeric column; `b` answers half a unit later.
pub fn numeric_log(rows: usize) -> String {
    let mut text = "secret,time\n".to_owned();
    for (secret, time) in rows_of(rows) {
        text.push_str(&format!("{secret},{time:.3}\n"));
    }
    text
}

/// Secrets and times without any pattern that a test of order could see.
pub fn rows_of(rows: usize) -> Vec<(&'static str, f64)> {
    use rand::{RngExt, SeedableRng};
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(11);
    (0..rows)
        .map(|_| {
            let late = rng.random_range(0..2u8) == 1;
            let time = rng.random::<f64>() + if late { 0.5 } else { 0.0 };
            (if late { "b" } else { "a" }, time)
        })
        .collect()
}
