//! Cells that are no plain numbers or labels: bits, lists of numbers, large integers, units, dates; arrays without names,
//! comments, headers.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

use crate::common::Place;

/// Reports of optimized unary encoding of four of 64 values at ε = 3.
fn unary(rows: usize, cell: impl Fn(&[bool]) -> String) -> String {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let rare = 1.0 / (3f64.exp() + 1.0);
    let mut text = "value,report\n".to_owned();
    for _ in 0..rows {
        let value = rng.random_range(0..4);
        let bit = |at| rng.random_bool(if at == value { 0.5 } else { rare });
        let bits: Vec<bool> = (0..64).map(bit).collect();
        text += &format!("{value},{}\n", cell(&bits));
    }
    text
}

fn digits(bits: &[bool]) -> String {
    bits.iter()
        .map(|&bit| if bit { '1' } else { '0' })
        .collect()
}

fn nibbles(bits: &[bool]) -> String {
    let value = |four: &[bool]| four.iter().fold(0, |sum, &bit| 2 * sum + u32::from(bit));
    let digit = |four| char::from_digit(value(four), 16);
    bits.chunks(4).filter_map(digit).collect()
}

fn list(bits: &[bool]) -> String {
    let bits: Vec<&str> = bits
        .iter()
        .map(|&bit| if bit { "1" } else { "0" })
        .collect();
    format!("\"[{}]\"", bits.join(", "))
}

fn names(report: &Value) -> Vec<&str> {
    let columns = report["input"]["observation"]["columns"].as_array();
    let columns = columns.expect("a list").iter();
    columns
        .filter_map(|column| column["name"].as_str())
        .collect()
}

/// How a cell writes bits.
type OfBits = fn(&[bool]) -> String;
/// How a cell writes a number.
type OfNumber = fn(u32) -> String;

fn notes(report: &Value) -> String {
    report["input"]["notes"].to_string()
}

#[test]
#[ignore = "long"]
fn bits_of_digits_are_judged_one_by_one() {
    bits_are_judged(&[(digits, "report[64]", "strings of 64 bits")]);
}

#[test]
#[ignore = "long"]
fn bits_of_hexadecimal_digits_and_of_lists_are_judged_one_by_one() {
    bits_are_judged(&[
        (nibbles, "report.bit[64]", "16 hexadecimal digits"),
        (list, "report[64]", "lists of numbers"),
    ]);
}

/// What is said of each way to write 64 bits, with the name of the last one.
fn bits_are_judged(cases: &[(OfBits, &str, &str)]) {
    for &(cell, last, said) in cases {
        let place = Place::with_log(unary(6_000, cell));
        let claim = [
            "audit",
            "log.csv",
            "--secret",
            "value",
            "--claim",
            "ldp(epsilon=1)",
        ];
        let run = place.run(&claim);
        assert_eq!(run.status.code(), Some(1), "{last}: not violated");
        let report = place.json(&["check", "log.csv", "--secret", "value"]);
        assert!(report.to_string().contains(last), "{report}");
        let estimate = ["estimate", "log.csv", "--quick", "--secret", "value"];
        let report = place.json(&estimate);
        assert_eq!((names(&report).len(), names(&report)[63]), (64, last));
        assert!(notes(&report).contains(said), "{}", notes(&report));
        let labels = place.json(&[&estimate[..], &["--categorical", "report"]].concat());
        assert_eq!(names(&labels), ["report"]);
    }
}

#[test]
fn later_rows_may_hold_anything() {
    let others = [
        "",
        "timeout",
        "0101",
        "#",
        "null",
        "2e5",
        "0x1F",
        "\"[1, \"\"a\"\"]\"",
    ];
    let mut text = unary(10_050, digits);
    others
        .iter()
        .for_each(|cell| text += &format!("1,{cell}\n"));
    let report = Place::with_log(text).json(&["check", "log.csv", "--secret", "value"]);
    assert_eq!(report["input"]["rows"], 10_058);
}

/// Lengths of tokens: in one class long ones are commoner. Lists have many lengths, the same for both.
#[test]
fn lists_of_numbers_tell_what_their_statistics_tell() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let mut rows = Vec::new();
    for at in 0..400 {
        let topic = ["code", "poetry"][at % 2];
        let length = rng.random_range(60..120);
        let token = |_| rng.random_range(1..if topic == "code" { 7 } else { 9 });
        let lengths: Vec<u32> = (0..length).map(token).collect();
        rows.push(format!(
            "{{\"topic\": \"{topic}\", \"lengths\": {lengths:?}}}"
        ));
    }
    let place = Place::new().file("log.json", format!("[{}]", rows.join(",\n")));
    let report = place.json(&["estimate", "log.json", "--secret", "topic"]);
    let lower = report["pairs"][0]["advantage"]["lower"].as_f64();
    assert!(lower > Some(0.5), "{lower:?}");
    assert_eq!(
        names(&report)[..3],
        ["lengths.length", "lengths.sum", "lengths.mean"]
    );
    let notes = notes(&report);
    assert!(
        notes.contains("not all that the lists say") && notes.contains("--list"),
        "{notes}"
    );
    let asked = [
        "estimate",
        "log.json",
        "--secret",
        "topic",
        "--quick",
        "--list",
        "lengths=sum",
    ];
    assert_eq!(names(&place.json(&asked)), ["lengths.sum"]);
}

#[test]
fn the_lowest_bit_of_large_integers_is_seen() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut text = "secret,ciphertext\n".to_owned();
    for _ in 0..1_200 {
        let secret = rng.random_range(0..2i64);
        let leak = if rng.random_bool(0.995) {
            secret
        } else {
            1 - secret
        };
        let high = rng.random::<i64>() >> 1;
        text += &format!("{secret},{}\n", high & !1 | leak);
    }
    let place = Place::with_log(text);
    let run = place.run(&["audit", "log.csv", "--claim", "advantage(0.1)"]);
    assert_eq!(run.status.code(), Some(1));
    let report = place.json(&["estimate", "log.csv", "--quick"]);
    assert_eq!(
        names(&report)[..3],
        ["ciphertext", "ciphertext.low", "ciphertext.bit[0]"]
    );
    assert!(!report["warnings"].to_string().contains("merged-spellings"));
}

/// A one-dimensional array of NumPy.
fn array(values: impl IntoIterator<Item = f64>) -> Vec<u8> {
    let items: Vec<u8> = values.into_iter().flat_map(f64::to_le_bytes).collect();
    let header = format!(
        "{{'descr': '<f8', 'fortran_order': False, 'shape': ({},), }}\n",
        items.len() / 8
    );
    let length = (header.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\0", &length[..], header.as_bytes(), &items].concat()
}

#[test]
fn arrays_have_no_header_and_may_be_one_a_secret() {
    let values = |from: f64| (0..30).map(move |at| from + f64::from(at * 7 % 30) / 8.0);
    let place = Place::new();
    for folder in ["logs/secret=in", "logs/secret=out"] {
        std::fs::create_dir_all(place.path().join(folder)).expect("a folder");
    }
    let place = place
        .file("logs/secret=in/a.npy", array(values(0.5)))
        .file("logs/secret=out/a.npy", array(values(9.5)))
        .file("members.npy", array(values(0.5)))
        .file("nonmembers.npy", array(values(9.5).take(20)));
    let of_folders = place.json(&["estimate", "logs", "--quick"]);
    assert_eq!(of_folders["input"]["rows"], 60);
    let of_files = place.json(&["estimate", "members.npy", "nonmembers.npy", "--quick"]);
    assert_eq!(of_files["input"]["rows"], 50);
    assert!(
        notes(&of_files).contains("Each file is a secret"),
        "{}",
        notes(&of_files)
    );
    let secrets = of_files["input"]["secrets"].to_string();
    assert!(secrets.contains("nonmembers"), "{secrets}");
    place.refuses(
        &["estimate", "members.npy"],
        &["no column is named `secret`"],
    );
}

/// 300 rows of two secrets, of which the second is larger.
fn log_of(cell: impl Fn(u32) -> String) -> String {
    let line = |at: u32| {
        format!(
            "{},{}\n",
            at % 2,
            cell(1_000 + at * 7919 % 500 + at % 2 * 300)
        )
    };
    (0..300)
        .map(line)
        .fold("secret,x\n".to_owned(), |all, line| all + &line)
}

#[test]
fn numbers_with_a_unit_and_dates_are_numbers() {
    let cases: [(OfNumber, &str); 6] = [
        (|x| format!("{}.{}%", x / 10, x % 10), "`%`"),
        (|x| format!("{x} km"), "`km`"),
        (|x| format!("{x}ms"), "durations"),
        (|x| format!("{x}e-3 s"), "durations"),
        (
            |x| format!("{:02}.03.2026 10:{:02}", x / 100, x % 60),
            "dates",
        ),
        (
            |x| format!("2026/03/{:02} 10:{:02}", x / 100, x % 60),
            "dates",
        ),
    ];
    for (cell, said) in cases {
        let report = Place::with_log(log_of(cell)).json(&["estimate", "log.csv", "--quick"]);
        let column = &report["input"]["observation"]["columns"][0];
        assert_eq!(column["type"], "numeric", "{said}");
        assert!(notes(&report).contains(said), "{}", notes(&report));
    }
    let refused: [(OfNumber, &str); 2] = [
        (
            |x| format!("{x} {}", ["KB", "km"][x as usize % 2]),
            "several units",
        ),
        (
            |x| format!("{:02}/{:02}/{}", x % 12 + 1, x % 9 + 1, x),
            "day and month",
        ),
    ];
    for (cell, problem) in refused {
        let place = Place::with_log(log_of(cell));
        place.refuses(
            &["estimate", "log.csv"],
            &["column x", problem, "--categorical x"],
        );
    }
}

#[test]
fn check_and_audit_see_the_same_header() {
    let rows = "known,195ms\nother,32ms\nknown,199ms\nother,43ms\nknown,207ms\nother,41ms\nknown,197ms\nother,35ms\n\
                known,204ms\nother,50ms\n";
    let place = Place::with_log(format!("username,response_time\n{rows}"));
    for arguments in [
        &["check", "log.csv"][..],
        &["check", "log.csv", "--secret", "username"],
    ] {
        let report = place.json(arguments).to_string();
        assert!(
            report.contains("response_time") && !report.contains("no header"),
            "{report}"
        );
    }
    let report = place.json(&["estimate", "log.csv", "--quick", "--secret", "username"]);
    assert_eq!(
        (&report["input"]["header"], &report["input"]["rows"]),
        (&true.into(), &10.into())
    );
}

#[test]
fn comments_before_the_header_are_no_rows() {
    let log = log_of(|x| x.to_string());
    let plain = Place::with_log(&log).json(&["estimate", "log.csv", "--quick"]);
    let comment = format!("# written by x, in y\n#\n{log}");
    let hash = format!("# written by x\n# {log}");
    for text in [comment, hash] {
        let report = Place::with_log(text).json(&["estimate", "log.csv", "--quick"]);
        assert_eq!(report["pairs"], plain["pairs"]);
        assert_eq!(report["input"]["rows"], 300);
    }
}

#[test]
fn columns_of_one_name_are_numbered() {
    let rows = (0..60).fold(String::new(), |all, at| {
        all + &format!(
            "{},{}.5,{}.25\n",
            ["a", "b"][at % 2],
            at * 11 % 60,
            at * 7 % 60
        )
    });
    let place = Place::with_log(format!("secret,x,x\n{rows}"));
    let report = place.json(&["estimate", "log.csv", "--quick"]);
    assert_eq!(names(&report), ["x (1)", "x (2)"]);
    assert!(notes(&report).contains("same name"), "{}", notes(&report));
    let one = place.json(&["estimate", "log.csv", "--quick", "--observe", "x (2)"]);
    assert_eq!(names(&one), ["x (2)"]);
    place.refuses(
        &["estimate", "log.csv", "--observe", "x"],
        &["several columns are named `x`"],
    );
}
