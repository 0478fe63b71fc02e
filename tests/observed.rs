//! What is observed of a log, what is left out, and what a log without observations proves.

use std::fmt::Write as _;

use leakgauge_testing::rng;
use rand::RngExt;

use crate::common::{Place, rows_of, stdout};

/// A text on one line.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// 2,000 rows of two secrets in random order, each with this observation.
fn rows(header: &str, mut observed: impl FnMut(usize, bool, f64) -> String) -> String {
    let mut rng = rng(11);
    let mut text = format!("{header}\n");
    for at in 0..2_000 {
        let is_b: bool = rng.random();
        let noise = rng.random();
        let name = if is_b { "b" } else { "a" };
        writeln!(text, "{name},{}", observed(at, is_b, noise)).expect("memory");
    }
    text
}

#[test]
fn no_claim_holds_where_nothing_was_observed() {
    for value in ["nan", "", "ERROR: timeout", "7"] {
        let place = Place::with_log(rows("secret,answer", |_, _, _| value.to_owned()));
        for claim in [
            "advantage(0.1)",
            "attack-advantage(0.1)",
            "bayes-security(0.9)",
        ] {
            let output = place.run(&["audit", "log.csv", "--full", "--quick", "--claim", claim]);
            let said = words(&stdout(&output));
            assert_eq!(output.status.code(), Some(3), "{value:?} {claim}: {said}");
            assert!(said.contains("rows show nothing but"), "{said}");
        }
        let report = place.json(&["estimate", "log.csv", "--quick"]);
        assert_eq!(
            report["warnings"][0]["code"], "nothing-observed",
            "{report}"
        );
    }
}

#[test]
fn no_claim_holds_where_nothing_was_observed_of_a_secret() {
    let log = rows("secret,answer", |_, is_b, noise| match is_b {
        true => "timeout".to_owned(),
        false => ["timeout", "ok"][usize::from(noise > 0.98)].to_owned(),
    });
    let place = Place::with_log(log);
    let command = [
        "audit",
        "log.csv",
        "--full",
        "--quick",
        "--claim",
        "advantage(0.1)",
    ];
    let output = place.run(&command);
    let said = words(&stdout(&output));
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(
        said.contains("the rows of some secret show nothing but timeout"),
        "{said}"
    );
    // The advice of the warning is taken.
    assert!(said.contains("--categorical COLUMN"), "{said}");
    let labels = [&command[..], &["--categorical", "answer"]].concat();
    let output = place.run(&labels);
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
}

/// A correct mechanism, one secret's rows first, with a row number and a time stamp.
fn numbered(header: &str) -> String {
    let mut rng = rng(12);
    let mut text = format!("{header}\n");
    for at in 0..4_000 {
        let name = if at < 2_000 { "D" } else { "D_prime" };
        let noise: f64 = rng.random();
        let seconds = 0.37 * at as f64;
        writeln!(
            text,
            "{at},2026-05-11T10:{:02}:{:06.3}Z,{name},{noise:.6}",
            (seconds / 60.0) as u32,
            seconds % 60.0
        )
        .expect("memory");
    }
    text
}

#[test]
fn row_numbers_and_clocks_are_left_out_and_named() {
    let place = Place::with_log(numbered("Run ID,Timestamp,Dataset,Noisy Count"));
    let audit = |more: &[&str]| {
        let all = [
            &[
                "audit",
                "log.csv",
                "--full",
                "--quick",
                "--claim",
                "dp(epsilon=1)",
            ][..],
            more,
        ]
        .concat();
        let output = place.run(&all);
        (output.status.code(), words(&stdout(&output)))
    };
    let (code, said) = audit(&[]);
    assert_eq!(code, Some(3), "{said}");
    assert!(
        said.contains("Run ID (counts with the rows), Timestamp (says when a row was recorded)"),
        "{said}"
    );
    let (code, said) = audit(&["--observe", "Noisy Count,Run ID,Timestamp"]);
    assert_eq!(code, Some(3), "{said}");
    assert!(!said.contains("counts with the rows)"), "{said}");
    // It drifts, and secrets were recorded one after the other.
    assert!(
        said.contains("Not judged: rows of each secret stand together"),
        "{said}"
    );
    // The advice that names the observation leaves the secret to be found.
    let (code, said) = audit(&["--observe", "Noisy Count"]);
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("Secret: column Dataset"), "{said}");
    let report = place.json(&["estimate", "log.csv", "--quick"]);
    assert_eq!(report["input"]["left_out_columns"][0]["column"], "Run ID");
    assert_eq!(report["input"]["left_out_columns"][1]["why"], "clock");
    let checked = place.json(&["check", "log.csv"]);
    assert_eq!(
        checked["command"],
        "leakgauge estimate log.csv --secret Dataset --observe 'Noisy Count'"
    );
}

#[test]
fn a_column_that_stops_counting_is_asked_about() {
    let log = rows("secret,n,x", |_, _, noise| {
        format!("{:.0},{noise:.6}", 1e4 * noise)
    });
    // More rows than are looked at first.
    let body = log.split_once('\n').expect("a header").1;
    let counted: String = (0..12_000)
        .map(|at| {
            format!(
                "{},{at},{:.6}\n",
                ["a", "b"][at * 7 % 5 % 2],
                (at as f64 * 0.618).fract()
            )
        })
        .collect();
    let place = Place::with_log(format!("secret,n,x\n{counted}{body}"));
    place.refuses(
        &["estimate", "log.csv"],
        &[
            "column n",
            "not with later ones",
            "--observe x,n",
            "--observe x",
        ],
    );
}

#[test]
fn times_beside_a_counter_need_no_option() {
    let log = rows("class,sample_id,cycles", |at, is_b, noise| {
        let time = 1_290.0 + 20.0 * noise + if is_b { 9.0 } else { 0.0 };
        format!("{at},{time:.0}")
    });
    let place = Place::with_log(log);
    let claim = [
        "--unit",
        "cycles",
        "--claim",
        "time-difference(3cycles)",
        "--quick",
    ];
    let output = place.run(&[&["audit", "log.csv", "--secret", "class"][..], &claim].concat());
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    let log = rows("class,status,latency", |_, is_b, noise| {
        format!(
            "{},{:.3}",
            if noise > 0.5 { 401 } else { 403 },
            1e3 * noise + if is_b { 900.0 } else { 0.0 }
        )
    });
    let claim = ["--unit", "ms", "--claim", "time-difference(3ms)"];
    Place::with_log(log).refuses(
        &[&["audit", "log.csv", "--secret", "class"][..], &claim].concat(),
        &[
            "several columns",
            "name the column of the times: --observe latency",
        ],
    );
}

#[test]
fn a_column_that_numbers_blocks_is_advised_where_blocks_are_possible() {
    // Each secret once a trial; then ten rows a trial, in which secrets come again.
    for (rows, is_block) in [(2, true), (10, false)] {
        let mut text = "trial,secret,time_us\n".to_owned();
        for (at, (_, time)) in rows_of(1200).into_iter().enumerate() {
            let trial = at / rows;
            let secret = if (at + trial) % 2 == 0 { "a" } else { "b" };
            text.push_str(&format!("{trial},{secret},{:.4}\n", 100.0 + time));
        }
        let place = Place::with_log(text);
        let told = stdout(&place.run(&["estimate", "log.csv", "--quick"]));
        assert_eq!(told.contains("--block trial"), is_block, "{told}");
        let taken = place.run(&["estimate", "log.csv", "--quick", "--block", "trial"]);
        assert_eq!(taken.status.success(), is_block);
    }
}
