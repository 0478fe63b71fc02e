//! Input that would fill the memory, confuse the terminal or go on for ever.

use std::io::{Read, Write};
use std::process::Stdio;

use crate::common::{Place, assert_refused, numeric_log, stderr, stdout};

/// Feeds the same block again and again; the program must stop reading before the end.
fn feed(head: &[u8], block: &[u8], times: usize) -> std::process::Output {
    feed_to(&["estimate", "-"], head, block, times)
}

fn feed_to(arguments: &[&str], head: &[u8], block: &[u8], times: usize) -> std::process::Output {
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin!("leakgauge"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(head).expect("the head is read");
    let is_closed = (0..times).any(|_| input.write_all(block).is_err());
    assert!(is_closed, "the program read all of it");
    drop(input);
    child.wait_with_output().expect("the program ends")
}

#[test]
fn a_line_without_end_is_refused_before_it_fills_the_memory() {
    for block in [vec![b'x'; 1 << 20], vec![b','; 1 << 20]] {
        let output = feed(b"", &block, 200);
        assert_refused(&output, &["standard input", "row is longer than 16 MiB"]);
    }
}

#[test]
fn a_line_without_end_is_refused_while_a_log_is_followed() {
    let block = vec![b'x'; 1 << 20];
    for head in ["", &numeric_log(20), &numeric_log(3000)] {
        let output = feed_to(&["estimate", "-", "--follow"], head.as_bytes(), &block, 200);
        assert_refused(&output, &["standard input", "row is longer than 16 MiB"]);
    }
}

#[test]
fn a_quote_that_stays_open_is_refused_before_it_fills_the_memory() {
    let block = b"a,1\n".repeat(1 << 18);
    let output = feed(b"secret,x\na,1\nb,\"", &block, 100);
    assert_refused(&output, &["standard input", "a quote may be left open"]);
}

/// An object may be a table by its columns, which is known at its end only.
#[test]
fn json_without_end_is_refused_before_it_fills_the_memory() {
    let word = "a".repeat(1 << 10);
    let words = format!("\"{word}\",").repeat(1 << 10);
    let output = feed(b"{\"secret\":[", words.as_bytes(), 400);
    assert_refused(&output, &["standard input", "256 MiB"]);
    let output = feed(b"{\"secret\":\"", &vec![b'x'; 1 << 20], 200);
    assert_refused(&output, &["standard input, row 1", "is longer than 16 MiB"]);
}

/// One long field must not make every later row of the probe as large: 10,000 rows of 4 MiB would
/// not fit.
#[test]
fn a_long_field_does_not_make_later_rows_large() {
    let long = "x".repeat(4 << 20);
    let rows = "a,u\nb,v\n".repeat(6_000);
    let place = Place::with_log(format!("secret,x\na,{long}\n{rows}"));
    let report = place.json(&["estimate", "log.csv"]);
    assert_eq!(report["input"]["rows"], 12_001);
}

#[test]
fn too_many_columns_are_refused() {
    let place = Place::with_log(format!(
        "{}\n{}\n",
        ",".repeat(200_000),
        ",".repeat(200_000)
    ));
    place.refuses(&["estimate", "log.csv"], &["200001 columns", "--delimiter"]);
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let place = Place::with_log(numeric_log(300));
    for arguments in [
        &[
            "simulate",
            "laplace(scale=2, secrets=0..9)",
            "--rows",
            "200000",
        ][..],
        &["estimate", "log.csv"],
        &["estimate", "log.csv", "--format", "json"],
    ] {
        let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin!("leakgauge"))
            .args(arguments)
            .current_dir(place.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut output = child.stdout.take().expect("a pipe");
        if arguments[0] == "simulate" {
            output.read_exact(&mut [0; 10]).expect("a first line");
        }
        drop(output);
        let done = child.wait_with_output().expect("the program ends");
        assert_eq!(
            (stderr(&done).as_str(), done.status.code()),
            ("", Some(0)),
            "{arguments:?}"
        );
    }
}

#[test]
fn terminal_escapes_in_a_log_do_not_reach_the_terminal() {
    let rows = "\"a\u{1b}[31m\",1.5,\u{7}x\n\"b\u{9b}2J\nc\",2.5,y\n".repeat(50);
    let place = Place::with_log(format!("secret,\"ti\u{1b}[0mme\",\"\n\"\n{rows}"));
    let acts = |text: &str| text.contains(|letter: char| letter.is_control() && letter != '\n');
    for format in ["text", "markdown"] {
        let claim = [
            "audit", "log.csv", "--format", format, "--claim", "ldp(0.1)",
        ];
        let report = stdout(&place.run(&claim));
        assert!(!acts(&report), "{report:?}");
        assert!(report.contains("u{1b}"), "{report}");
    }
    for arguments in [
        &["--secret", "tim"][..],
        &["--numeric", "3"],
        &["--secret", "2", "--numeric", "secret"],
        &["--secrets", "\u{1b}[31m"],
    ] {
        let all = [&["estimate", "log.csv"], arguments].concat();
        let output = place.run(&all);
        assert_refused(&output, &[]);
        assert!(!acts(&stderr(&output)), "{:?}", stderr(&output));
    }
    place.refuses(&["audit", "log.csv", "--claim", "laplace(1)"], &["laplace"]);
}

#[test]
fn long_labels_and_names_do_not_flood_a_message() {
    let (a, b) = ("a".repeat(100_000), "b".repeat(100_000));
    let place = Place::with_log(format!("secret,{a},{b}\n{a},1.5,x\n{b},2.5,y\n"));
    for arguments in [
        &["estimate", "log.csv", "--secret", "secert"][..],
        &["estimate", "log.csv", "--secrets", &b[..70_000]],
        &["estimate", "log.csv", "--numeric", "nothing"],
        &["estimate", "log.csv", "--numeric", "3"],
        &["audit", "log.csv", "--claim", "laplace(scale=1)"],
        &["audit", "log.csv", "--claim", &a],
        &["estimate", "log.csv", "--unit", &a],
        &["estimate", "log.csv", "--clock-step", &a],
        &["estimate", "log.csv", "--budget", &a],
        &["estimate", "log.csv", "--delimiter", &a],
        &["estimate", "log.csv", "--keep", &format!("{a}=1")],
        &["estimate", "log.csv", "--seed", &"9".repeat(300)],
        &["estimate", &a[..5_000]],
        &["estimate", "log.csv", "--html", &a[..5_000]],
        &["confusion", &a],
        &[&a],
        &[
            "bounds",
            &format!("laplace(scale=1, secrets=0..{})", "9".repeat(3_000)),
        ],
        &["probe", "--timeout", &a, "--classes", "a,b", "--", "cat"],
    ] {
        let output = place.run(arguments);
        assert_refused(&output, &[]);
        assert!(output.stderr.len() < 1_500, "{}", stderr(&output));
    }
}

#[test]
fn long_names_of_groups_do_not_flood_a_report() {
    let (a, b) = ("a".repeat(5_000), "b".repeat(5_000));
    let rows: String = (0..20)
        .map(|row| format!("{a},{row}\n{b},{row}\n"))
        .collect();
    let place = Place::with_log(format!("city,place\n{rows}"));
    let output = place.run(&[
        "permute", "log.csv", "--move", "place", "--groups", "equal", "--by", "city", "--alpha",
        "1",
    ]);
    assert!(output.status.success(), "{}", stderr(&output));
    let report = stdout(&output);
    assert!(report.lines().all(|line| line.len() < 300), "{report}");
}

/// What a spreadsheet would compute is text in a file that one may open.
#[test]
fn labels_like_formulas_are_quoted_in_the_file_of_pairs() {
    let labels = ["=cmd|'/C calc'!A0", "+1+2", "-3", "@x"];
    let row = |at: usize| format!("{},{}\n", labels[at % 4], (at * 37 % 101) + 9 * (at % 4));
    let rows: String = (0..400).map(row).collect();
    let place = Place::with_log(format!("secret,x\n{rows}"));
    let run = place.run(&[
        "estimate",
        "log.csv",
        "--quick",
        "--pairs-file",
        "pairs.csv",
    ]);
    assert!(run.status.success(), "{}", stderr(&run));
    let text = std::fs::read_to_string(place.path().join("pairs.csv")).unwrap();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let mut seen = std::collections::BTreeSet::new();
    for row in reader.records() {
        let row = row.unwrap();
        seen.extend([row[0].to_owned(), row[1].to_owned()]);
    }
    let expected = ["'+1+2", "'=cmd|'/C calc'!A0", "'@x", "-3"];
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), expected);
}

/// Two secrets, and whole numbers that hardly recur.
fn plain_log() -> String {
    let row = |at: usize| format!("{},{}\n", at % 2, at * 7919 % 100_003 + 900 * (at % 2));
    format!("secret,x\n{}", (0..300).map(row).collect::<String>())
}

#[test]
fn numbers_at_the_edge_of_what_there_is_have_an_answer() {
    let tiny = plain_log().replace('\n', "e-298\n").replace("xe-298", "x");
    let place = Place::with_log(plain_log()).file("tiny.csv", tiny);
    place.refuses(
        &[
            "bounds",
            "staircase(epsilon=1e-320, secrets=3)",
            "--profile",
        ],
        &["staircase", "1/epsilon is too large"],
    );
    for arguments in [
        &["estimate", "log.csv", "--prior", "0=1e-320,1=1"][..],
        &["estimate", "log.csv", "--reconstruction", "1e-320"],
        &[
            "estimate",
            "log.csv",
            "--categorical",
            "x",
            "--prior",
            "0=1e-320,1=1",
        ],
        &[
            "audit",
            "tiny.csv",
            "--resolution",
            "x=1e-300",
            "--claim",
            "laplace(scale=1.7e308)",
            "--ci",
            "--fail-on",
            "none",
        ],
        &[
            "bounds",
            "planar-laplace(scale=1.7e308, secrets=3)",
            "--profile",
        ],
        &["explain", "zcdp(rho=1, unit=1.7e308)", "log.csv"],
    ] {
        let quick: &[&str] = if arguments[0] == "bounds" || arguments[0] == "explain" {
            &[]
        } else {
            &["--quick", "--full"]
        };
        let run = place.run(&[arguments, quick].concat());
        let text = stdout(&run);
        assert!(
            run.status.code().is_some_and(|code| code < 2),
            "{arguments:?}: {}",
            stderr(&run)
        );
        assert!(
            !text.contains("NaN") && !text.contains(" inf "),
            "{arguments:?}: {text}"
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_small_file_that_never_ends_is_refused() {
    let place = Place::with_log(plain_log());
    let claim = ["audit", "log.csv", "--claim"];
    for more in [
        &["ldp(1)", "--neighbors-file", "/dev/zero"][..],
        &["f-dp(/dev/zero)"],
    ] {
        place.refuses(&[&claim[..], more].concat(), &["/dev/zero", "more than"]);
    }
}

#[test]
fn credentials_are_in_no_message_about_options() {
    let place = Place::with_log(plain_log());
    let url = "https://user:pw@h/x?sig=abc";
    for arguments in [
        &["estimate", "log.csv", "--format", url][..],
        &["estimate", "log.csv", "--seed", url],
        &["plan", "--claim", "ldp(1)", "--detect", "epsilon=2", url],
        &["shuffle", url],
        &["check", "https:/user:pw@h/x?sig=abc"],
    ] {
        let run = place.run(arguments);
        let message = stderr(&run);
        assert_eq!(run.status.code(), Some(2), "{message}");
        assert!(
            !message.contains("pw@") && !message.contains("sig=abc"),
            "{message}"
        );
    }
}

/// At low confidence a lower limit that is too large and an upper one that is too small meet in one report.
#[test]
fn a_lower_limit_is_never_above_an_upper_one() {
    for (confidence, counts) in [
        ("0.5", [82, 18, 27, 73]),
        ("0.6", [96, 4, 2, 98]),
        ("0.7", [34, 16, 14, 36]),
        ("0.8", [41, 9, 11, 39]),
    ] {
        let cells = ["a,0\n", "a,1\n", "b,0\n", "b,1\n"].iter().zip(counts);
        let rows: String = cells.map(|(cell, rows)| cell.repeat(rows)).collect();
        let place = Place::with_log(format!("secret,x\n{rows}"));
        let options = [
            "--categorical",
            "x",
            "--confidence",
            confidence,
            "--tries",
            "2",
        ];
        let report = place.json(&[&["estimate", "log.csv"][..], &options].concat());
        ordered(&report, confidence);
    }
}

fn ordered(part: &serde_json::Value, confidence: &str) {
    if let (Some(lower), Some(upper)) = (part["lower"].as_f64(), part["upper"].as_f64()) {
        assert!(lower <= upper, "{confidence}: {part}");
    }
    let parts = part
        .as_object()
        .into_iter()
        .flat_map(|parts| parts.values());
    let parts = parts.chain(part.as_array().into_iter().flatten());
    parts.for_each(|part| ordered(part, confidence));
}

#[test]
fn what_would_take_for_ever_or_is_no_text_is_refused() {
    let place = Place::new().file("a.npz", b"PK\x03\x04\x14\0\0\0");
    place.refuses(&["channel", "a.npz"], &["a.npz", "zip or spreadsheet"]);
    place.refuses(
        &["explain", "deterministic(modulus=7, secrets=30000)"],
        &["deterministic", "too many secrets", "declare fewer"],
    );
    // A closed form needs no table.
    place.json(&["explain", "randomized-response(epsilon=1, secrets=100000)"]);
}
