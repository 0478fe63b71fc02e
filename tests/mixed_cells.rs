//! Cells that hold words and numbers together: they are taken apart, and nothing that they say is lost.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

use crate::common::Place;

/// Transcripts of two secrets: some answers `below`, then a number that is larger by two with the second secret.
fn transcripts(rows: usize, cell: impl Fn(usize, f64) -> String) -> String {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut text = "secret;x\n".to_owned();
    for _ in 0..rows {
        let second = rng.random_bool(0.5);
        let before = rng.random_range(0..4usize);
        let number = rng.random::<f64>() * 4.0 + if second { 2.0 } else { 0.0 };
        let label = if second { "b" } else { "a" };
        text.push_str(&format!("{label};{}\n", cell(before, number)));
    }
    text
}

fn slashes(before: usize, number: f64) -> String {
    format!("{}{number:.3}/stop", "below/".repeat(before))
}

fn list(before: usize, number: f64) -> String {
    format!("[{}{number:.3}, null]", "\"below\", ".repeat(before))
}

fn estimate(text: String, more: &[&str]) -> Value {
    let mut all = vec!["estimate", "log.csv", "--quick", "--delimiter", ";"];
    all.extend(more);
    Place::with_log(text).json(&all)
}

fn columns(report: &Value) -> Vec<(&str, &str)> {
    let columns = report["input"]["observation"]["columns"].as_array();
    let columns = columns.expect("a list").iter();
    columns
        .filter_map(|column| Some((column["name"].as_str()?, column["type"].as_str()?)))
        .collect()
}

fn advantage_at_least(report: &Value) -> f64 {
    report["pairs"][0]["advantage"]["lower"]
        .as_f64()
        .expect("a limit")
}

#[test]
fn transcripts_tell_as_much_as_their_columns() {
    // A half of the rows is surely told apart: the advantage is 0.5.
    let separate = transcripts(4_000, |before, number| format!("{before};{number:.3}"));
    let separate = separate.replacen("secret;x", "secret;before;x", 1);
    let wanted = advantage_at_least(&estimate(separate, &[]));
    assert!(wanted > 0.4, "{wanted}");
    for (cell, words) in [
        (
            slashes as fn(usize, f64) -> String,
            "taken apart at each `/`",
        ),
        (list, "taken apart as JSON lists"),
    ] {
        let text = transcripts(4_000, cell);
        let report = estimate(text.clone(), &[]);
        assert_eq!(
            columns(&report),
            [("x.form", "categorical"), ("x.number", "numeric")]
        );
        let notes = report["input"]["notes"].to_string();
        assert!(
            notes.contains(words) && notes.contains("--categorical x"),
            "{notes}"
        );
        let found = advantage_at_least(&report);
        assert!(found > wanted - 0.03, "{found} of {wanted}");
        let labels = estimate(text, &["--categorical", "x"]);
        assert_eq!(columns(&labels), [("x", "categorical")]);
        assert!(advantage_at_least(&labels) < 0.1);
    }
}

#[test]
fn later_rows_may_hold_anything() {
    let tail = "a;timeout\nb;1.5/2.5/3.5/below\na;\nb;#/1,5\na;0x1F/12:30\n";
    let text = transcripts(10_100, slashes) + tail;
    let report = estimate(text, &[]);
    assert_eq!(report["input"]["rows"], 10_105);
    assert_eq!(columns(&report).len(), 2);
}

#[test]
fn cells_are_taken_apart_where_that_is_asked_for() {
    let integers = transcripts(400, |before, number| format!("{before}|{number:.0}|x"));
    assert_eq!(columns(&estimate(integers.clone(), &[])).len(), 1);
    let report = estimate(integers, &["--list", "x=parts"]);
    let names: Vec<&str> = columns(&report)
        .into_iter()
        .map(|column| column.0)
        .collect();
    assert_eq!(names, ["x.form", "x.number[1]", "x.number[2]"]);
    let words = transcripts(40, |before, _| "a".repeat(before + 1));
    let of = [
        "estimate",
        "log.csv",
        "--delimiter",
        ";",
        "--list",
        "x=parts",
    ];
    Place::with_log(words).refuses(&of, &["--list x=parts", "none of its first cells"]);
    let mut both = of.to_vec();
    both.extend(["--numeric", "x"]);
    Place::with_log(transcripts(40, slashes)).refuses(&both, &["--list x=parts", "numeric"]);
}
