//! Logs written down in several ways.

use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::Value;

use super::rows_of;

/// What may not depend on how the rows were written down.
pub fn same_figures(one: &Value, other: &Value) {
    for part in ["worst_pair", "pairs", "overall"] {
        let [one, other] = [one, other].map(|report| {
            let mut part = report[part].clone();
            forget_columns(&mut part);
            part
        });
        // Both in full would be pages.
        assert!(one == other, "{part} differs");
    }
    assert_eq!(one["method"]["scorer"], other["method"]["scorer"]);
    assert_eq!(one["input"]["rows"], other["input"]["rows"]);
}

/// Names of columns may differ.
pub fn forget_columns(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.remove("column");
            members.values_mut().for_each(forget_columns);
        }
        Value::Array(items) => items.iter_mut().for_each(forget_columns),
        _ => {}
    }
}

pub fn zstd(text: &[u8]) -> Vec<u8> {
    compress_to_vec(text, CompressionLevel::Fastest)
}

pub fn json_lines(rows: usize) -> String {
    let row = |(secret, time): (&str, f64)| {
        format!(
            "{{\"user\": {{\"id\": \"{secret}\"}}, \"timing\": {{\"total\": {time:.3}, \"parts\": [1, 2]}}}}\n"
        )
    };
    rows_of(rows).into_iter().map(row).collect()
}

pub const FIELDS: [&str; 4] = ["--secret", "user.id", "--observe", "timing.total"];

/// `estimate` of a file with more arguments.
pub fn of<'a>(file: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["estimate", file, "--quick", "--budget", "1s"], more].concat()
}

/// The same rows, with some lines after the header replaced.
pub fn rewritten(text: &str, of_row: impl Fn(&str, f64) -> String) -> String {
    let mut lines = text.lines();
    let header = lines.next().expect("a header").to_owned() + "\n";
    let rows = lines.map(|line| {
        let (secret, time) = line.split_once(',').expect("two fields");
        format!(
            "{secret},{}\n",
            of_row(secret, time.parse().expect("a number"))
        )
    });
    header + &rows.collect::<String>()
}
