//! A secret that hides in how a number is written: the verdict says that it was not looked at, and as labels it is
//! found.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

use crate::common::{Place, stderr};

/// 1,000 rows whose cell depends on the secret by its spelling only.
fn log(cell: impl Fn(usize, usize) -> String) -> String {
    log_of(3, cell)
}

/// The same with so many different numbers.
fn log_of(numbers: usize, cell: impl Fn(usize, usize) -> String) -> String {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let line = |_| {
        let secret = rng.random_range(0..2usize);
        format!("{secret},{}\n", cell(secret, rng.random_range(0..numbers)))
    };
    (0..1_000)
        .map(line)
        .fold("secret,x\n".to_owned(), |all, line| all + &line)
}

fn json_log(cell: impl Fn(usize, usize) -> String) -> String {
    let text = log(cell);
    let lines = text.lines().skip(1).filter_map(|line| line.split_once(','));
    lines
        .map(|(secret, cell)| format!("{{\"secret\":\"{secret}\",\"x\":{cell}}}\n"))
        .collect()
}

fn audited(place: &Place, file: &str, arguments: &[&str], exit: i32) -> Value {
    let mut all = vec![
        "audit",
        file,
        "--claim",
        "advantage(0.2)",
        "--format",
        "json",
        "--quick",
    ];
    all.extend(arguments);
    let output = place.run(&all);
    assert_eq!(output.status.code(), Some(exit), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// As numbers the log holds, and says for whom; as labels it is violated.
fn hides(place: &Place, file: &str, texts: &[&str]) {
    let report = audited(place, file, &[], 0);
    let claim = &report["claims"][0];
    assert_eq!(claim["verdict"], "holds");
    let reason = claim["reason"].as_str().unwrap();
    assert!(reason.contains("not how it was written"), "{reason}");
    let warnings = report["warnings"].as_array().unwrap();
    let warning = warnings
        .iter()
        .find(|warning| warning["code"] == "merged-spellings");
    let message = warning.expect("a warning")["message"].as_str().unwrap();
    assert!(
        message.contains("in at least ") && message.contains("--categorical x"),
        "{message}"
    );
    for text in texts {
        assert!(
            reason.contains(text) && message.contains(text),
            "{text}: {message}"
        );
    }
    let report = audited(place, file, &["--categorical", "x"], 1);
    let lower = report["claims"][0]["estimate"]["lower"].as_f64().unwrap();
    assert!(lower > 0.9, "{lower}");
    assert_eq!(report["input"]["observation"]["distinct"], 6);
}

#[test]
fn a_number_written_in_two_ways_is_found_as_a_label() {
    type Write = fn(usize) -> String;
    let ways: [(Write, &str); 4] = [
        (|n| format!("{n}.0"), "`1.0`"),
        (|n| format!("0{n}"), "`01`"),
        (|n| format!("+{n}"), "`+1`"),
        (|n| format!("{n}e0"), "`1e0`"),
    ];
    for (odd, text) in ways {
        let cell = |secret: usize, n: usize| match secret {
            0 => (n + 1).to_string(),
            _ => odd(n + 1),
        };
        // The first cell of a way of writing is its example.
        let place = Place::with_log(format!("secret,x\n1,{}\n", odd(1)) + &log(cell)[9..]);
        hides(&place, "log.csv", &[text]);
    }
}

#[test]
fn a_number_in_quotes_is_found_as_a_label() {
    let cell = |secret: usize, n: usize| match secret {
        0 => n.to_string(),
        _ => format!("\"{n}\""),
    };
    let place = Place::new().file("log.jsonl", json_log(cell));
    hides(&place, "log.jsonl", &["`\""]);
}

#[test]
fn labels_are_told_apart_as_they_stand() {
    // Nothing is merged: null and the text that stands for it, true and its text.
    for (one, other) in [("null", "\"(null)\""), ("true", "\"true\"")] {
        let cell = |secret: usize, n: usize| match (n, secret) {
            (0, _) => "\"y\"".to_owned(),
            (_, 0) => one.to_owned(),
            _ => other.to_owned(),
        };
        let place = Place::new().file("log.jsonl", json_log(cell));
        let report = audited(&place, "log.jsonl", &[], 1);
        assert_eq!(report["input"]["observation"]["distinct"], 3, "{one}");
    }
}

/// The text of a secret's n-th number.
type Cell = dyn Fn(usize, usize) -> String;

#[test]
fn digits_that_a_number_has_not_are_named() {
    // More than 20 different numbers: fewer are labels, and keep all their digits.
    let date = |secret: usize, n: usize| format!("2026-01-01T00:00:{n:02}.00000000{}Z", secret + 1);
    let integer = |secret: usize, n: usize| format!("{}", 9_007_199_254_740_992 + 8 * n + secret);
    // The lowest digits of a date are lost; those of an integer are observed beside it.
    let cells: [(&Cell, &str); 2] = [(&date, "inconclusive"), (&integer, "violated")];
    for (cell, verdict) in cells {
        let place = Place::with_log(log_of(30, cell));
        let output = place.run(&[
            "audit",
            "log.csv",
            "--claim",
            "attack-advantage(0.2)",
            "--format",
            "json",
            "--quick",
            "--secret",
            "secret",
        ]);
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let reason = report["claims"][0]["reason"].as_str().unwrap();
        let is_lost = reason.contains("has more digits than a number holds");
        assert_eq!(is_lost, verdict == "inconclusive", "{reason}");
        assert_eq!(report["claims"][0]["verdict"], verdict);
        audited(&place, "log.csv", &["--categorical", "x"], 1);
        let place = Place::with_log(log(cell));
        let report = audited(&place, "log.csv", &[], 1);
        let reason = report["claims"][0]["reason"].as_str().unwrap();
        assert!(!reason.contains("digit"), "{reason}");
    }
    // Few integers are numbers where the user says so.
    let place = Place::with_log(log(integer));
    let more = ["--numeric", "x", "--claim", "attack-advantage(0.2)"];
    let report = audited(&place, "log.csv", &more, 3);
    let reason = report["claims"][1]["reason"].as_str().unwrap();
    assert!(reason.contains("not every digit of it"), "{reason}");
}

#[test]
fn what_one_writer_wrote_needs_no_doubt() {
    let fixed = |secret: usize, n: usize| format!("{n}.{secret}0");
    let python = |secret: usize, n: usize| format!("{n}.{}", [0, 25][secret]);
    let cells: [&dyn Fn(usize, usize) -> String; 2] = [&fixed, &python];
    for cell in cells {
        let place = Place::with_log(log(cell));
        let report = place.json(&["estimate", "log.csv", "--quick"]);
        let warnings = report["warnings"].as_array().unwrap();
        assert!(
            !warnings
                .iter()
                .any(|warning| warning["code"] == "merged-spellings")
        );
    }
}
