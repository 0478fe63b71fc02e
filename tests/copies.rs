//! Copies of rows: logs that were read twice, rows that were exported twice, `--row-id`.

use crate::common::{Place, assert_refused, stdout};
use leakgauge::audit::{AuditOptions, Findings, Qualification, Verdict, audit};
use leakgauge::claim::Claim;
use leakgauge::log::LogBuilder;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Logs a case.
const LOGS: u64 = 200;

type Rows = Vec<(&'static str, f64)>;

/// 1,000 rows of two secrets, leak-free.
fn clean(rng: &mut ChaCha8Rng) -> Rows {
    let row = |_| (["a", "b"][rng.random_range(0..2)], rng.random::<f64>());
    (0..1000).map(row).collect()
}

fn found(rows: &Rows, seed: u64) -> Findings {
    let secrets: Vec<&str> = rows.iter().map(|row| row.0).collect();
    let times: Vec<f64> = rows.iter().map(|row| row.1).collect();
    let log = LogBuilder::new().secrets(&secrets).numbers("time", &times);
    let options = AuditOptions {
        claims: vec![Claim::parse("advantage(0.05)").expect("a claim")],
        seed,
        quick: true,
        budget: "300ms".parse().expect("a budget"),
        ..AuditOptions::default()
    };
    audit(&log.build().expect("a log"), &options).expect("an audit")
}

/// How many of the logs are called violated, and how many verdicts speak of copies.
fn judged(copy: fn(&mut Rows, &mut ChaCha8Rng)) -> [usize; 2] {
    let outcomes: Vec<[bool; 2]> = (0..LOGS)
        .into_par_iter()
        .map(|seed| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let mut rows = clean(&mut rng);
            copy(&mut rows, &mut rng);
            let found = found(&rows, seed);
            let claim = &found.claims[0];
            let is_about_copies = |of: &Qualification| matches!(of, Qualification::Copies(_));
            [
                claim.verdict == Verdict::Violated,
                claim.reason.qualifications.iter().any(is_about_copies),
            ]
        })
        .collect();
    [0, 1].map(|at| outcomes.iter().filter(|outcome| outcome[at]).count())
}

/// P(Bin(200, 0.05) > 20) = 0.0004.
#[test]
#[ignore = "long"]
fn leak_free_logs_with_copies_are_not_violated() {
    type Change = fn(&mut Rows, &mut ChaCha8Rng);
    let cases: [(&str, Change); 3] = [
        ("read twice", |rows, _| rows.extend_from_within(..)),
        ("read twice and shuffled", |rows, rng| {
            rows.extend_from_within(..);
            rows.shuffle(rng);
        }),
        ("10 % repeated", |rows, rng| {
            rows.extend_from_within(..100);
            rows.shuffle(rng);
        }),
    ];
    for (name, copy) in cases {
        let [violated, said] = judged(copy);
        assert!(violated <= 20, "{name}: {violated} of {LOGS} violated");
        assert_eq!(said, LOGS as usize, "{name}");
    }
    let [violated, said] = judged(|_, _| {});
    assert!(violated <= 20 && said <= 1, "clean: {violated}, {said}");
}

/// Rows with a number, a secret and a label of few values.
fn labels(rows: std::ops::Range<usize>) -> Vec<String> {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let row = |row: usize| {
        let (secret, seen) = (rng.random_range(0..2), rng.random_range(0..6));
        format!(
            "{row},{},{}",
            ["a", "b"][secret],
            ["u", "v", "w", "x", "y", "z"][seen]
        )
    };
    let all: Vec<String> = (0..rows.end).map(row).collect();
    all[rows].to_vec()
}

fn csv(rows: &[String]) -> String {
    format!("id,secret,seen\n{}\n", rows.join("\n"))
}

#[test]
fn rows_with_a_number_that_was_seen_before_are_left_out() {
    let (first, second) = (labels(0..800), labels(600..1400));
    let place = Place::with_log(csv(&labels(0..1400)))
        .file("first.csv", csv(&first))
        .file("second.csv", csv(&second));
    let estimate = |files: &[&str]| place.json(&[&["estimate", "--row-id", "id"], files].concat());
    let (both, all) = (
        estimate(&["first.csv", "second.csv"]),
        estimate(&["log.csv"]),
    );
    assert_eq!(both["input"]["rows"], 1600);
    assert_eq!(both["input"]["rows_used"], 1400);
    assert_eq!(both["worst_pair"], all["worst_pair"]);
    let warning = &both["warnings"][0];
    assert_eq!(warning["code"], "repeated-ids");
    assert!(
        warning["message"]
            .as_str()
            .expect("a text")
            .contains("200 rows"),
        "{warning}"
    );
    assert!(
        all["warnings"].as_array().expect("a list").is_empty(),
        "{all}"
    );
}

#[test]
fn rows_with_the_same_number_that_differ_are_refused() {
    let run = |log: &str| Place::with_log(log).run(&["estimate", "log.csv", "--row-id", "id"]);
    let log = "id,secret,x\n1,a,5\n2,b,6\n1,b,5\n";
    let words = [
        "log.csv",
        "row 4",
        "id",
        "row 2",
        "another secret or observation",
    ];
    assert_refused(&run(log), &words);
    assert_refused(&run("id,secret,x\n1,a,5\n,b,6\n"), &["row 3", "--row-id"]);
    let wide =
        Place::with_log("a,b\n1,2\n").run(&["estimate", "log.csv", "--wide", "--row-id", "a"]);
    assert_refused(&wide, &["--row-id a", "--wide"]);
}

#[test]
fn without_numbers_of_rows_the_report_says_that_copies_are_not_seen() {
    let text = stdout(&Place::with_log(csv(&labels(0..300))).run(&[
        "estimate",
        "log.csv",
        "--observe",
        "seen",
        "--full",
    ]));
    assert!(text.contains("No row is a copy"), "{text}");
    assert!(text.contains("--row-id"), "{text}");
}

/// Two exports with 200 rows in common, of labels: only their order shows it.
#[test]
fn exports_that_overlap_are_named_with_their_places() {
    let (first, second) = (labels(0..800), labels(600..1400));
    let place = Place::new()
        .file("first.csv", csv(&first))
        .file("second.csv", csv(&second));
    let arguments = ["first.csv", "second.csv", "--observe", "seen"];
    let claim = ["audit", "--full", "--claim", "advantage(0.2)"];
    let output = place.run(&[&claim[..], &arguments].concat());
    let text = stdout(&output);
    assert!(text.contains("repeated-runs"), "{text}");
    assert!(text.contains("are in the log twice"), "{text}");
    let found = place.json(&[&["estimate"], &arguments[..]].concat());
    let message = found["warnings"][0]["message"].as_str().expect("a text");
    // The first rows in common are 602 and 2: a run is known from the first place that its rows choose.
    for word in [
        "from row 603 of first.csv",
        "second.csv from row 3",
        "--row-id COLUMN",
    ] {
        assert!(message.contains(word), "{word}: {message}");
    }
    let place = Place::with_log(csv(&labels(0..1400)));
    let found = place.json(&["estimate", "log.csv", "--observe", "seen"]);
    assert!(found["warnings"].as_array().expect("a list").is_empty());
}

/// Forty measurements with three decimals, each written so many times, in random order.
fn repeated(times: impl Fn(usize) -> usize) -> Place {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut rows: Vec<String> = Vec::new();
    for at in 0..40 {
        let row = format!("{},{:.3}", ["a", "b"][at % 2], 10.0 * rng.random::<f64>());
        rows.extend(std::iter::repeat_n(row, times(at)));
    }
    rows.shuffle(&mut rng);
    Place::with_log(format!("secret,time\n{}\n", rows.join("\n")))
}

/// Each of 40 rows told 20 rows of certification which secret it has: a leak of 0.93 without a doubt.
#[test]
fn measurements_that_recur_are_copies_or_the_strongest_leak() {
    let text = stdout(&repeated(|_| 20).run(&["estimate", "log.csv"]));
    assert!(text.contains("NO LEAK SHOWN"), "{text}");
    let text = stdout(&repeated(|at| 15 + at % 11).run(&["estimate", "log.csv"]));
    assert!(text.contains("equal others of their secret only"), "{text}");
}
