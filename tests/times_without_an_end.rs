//! `--missing last`: times that nobody waited for count as longer than all others.

use std::fmt::Write;

use crate::common::{Place, stderr, stdout};
use leakgauge_testing::rng;
use rand::RngExt;
use serde_json::Value;

/// Words of a time that nobody waited for.
const WORDS: [&str; 5] = ["timeout", "", "NaN", "inf", "TIMEOUT"];

/// Blocks of two classes in ms, the second of which takes up to 60 ms longer; nobody waits for more than `most` ms.
fn blocks(seed: u64, most: f64) -> Vec<[String; 2]> {
    let mut rng = rng(seed);
    let mut time = |longer: f64| {
        let time = 100.0 + 10.0 * rng.random::<f64>() + longer * rng.random::<f64>();
        match time > most {
            true => WORDS[(time * 100.0) as usize % WORDS.len()].to_owned(),
            false => format!("{time:.3}"),
        }
    };
    (0..400).map(|_| [0.0, 60.0].map(&mut time)).collect()
}

fn wide(blocks: &[[String; 2]]) -> String {
    let mut text = "a,b\n".to_owned();
    for block in blocks {
        writeln!(text, "{}", block.join(",")).expect("memory");
    }
    text
}

fn long(blocks: &[[String; 2]], word: &str) -> String {
    let mut text = "secret,time_ms\n".to_owned();
    for (at, block) in blocks.iter().enumerate() {
        for class in [at % 2, 1 - at % 2] {
            let time = match WORDS.contains(&block[class].as_str()) {
                true => word,
                false => &block[class],
            };
            writeln!(text, "{},{time}", ["a", "b"][class]).expect("memory");
        }
    }
    text
}

const IN_BLOCKS: [&str; 5] = ["--wide", "--blocks", "--unit", "ms", "--quick"];

fn report(log: &str, options: &[&str]) -> Value {
    let place = Place::with_log(log);
    let arguments = [&["audit", "log.csv", "--format", "json"], options].concat();
    let output = place.run(&arguments);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(&output)))
}

fn limits(report: &Value, figure: &str) -> [Option<f64>; 3] {
    ["lower", "point", "upper"].map(|key| report["differences"][0][figure][key].as_f64())
}

#[test]
fn medians_have_limits_and_means_have_none() {
    let all = wide(&blocks(1, 1e9));
    let cut = wide(&blocks(1, 150.0));
    let claim = ["--claim", "time-difference(25ms)", "--missing", "last"];
    let of = |log: &str| report(log, &[&IN_BLOCKS[..], &claim].concat());
    let (all, cut) = (of(&all), of(&cut));
    // Fewer than half of the differences are among those that are not known: the limits are those of the whole log.
    assert_eq!(limits(&all, "median"), limits(&cut, "median"));
    assert_eq!(cut["claims"][0]["verdict"], all["claims"][0]["verdict"]);
    assert_eq!(limits(&cut, "mean"), [None; 3]);
    let reason = cut["differences"][0]["mean"]["reason"].as_str();
    assert!(
        reason.is_some_and(|reason| reason.contains("no end")),
        "{cut}"
    );
    assert!(limits(&all, "mean")[0].is_some() && all["input"]["last_rows"].is_null());
    let rows = cut["input"]["last_rows"].as_u64();
    assert!(
        rows.is_some_and(|rows| (50..150).contains(&rows)),
        "{rows:?}"
    );
}

#[test]
fn most_times_without_an_end_leave_no_upper_limit_and_no_claim_that_holds() {
    let log = wide(&blocks(2, 112.0));
    for (bound, verdict) in [("1ms", "violated"), ("200ms", "inconclusive")] {
        let claim = format!("time-difference({bound})");
        let options = ["--missing", "last", "--claim", &claim];
        let found = report(&log, &[&IN_BLOCKS[..], &options].concat());
        assert_eq!(found["claims"][0]["verdict"], verdict, "{found}");
        let [lower, _, upper] = limits(&found, "median");
        assert!(
            lower.is_some_and(|lower| lower < 12.0) && upper.is_none(),
            "{found}"
        );
        let p_value = found["claims"][0]["p_value"].as_f64().expect("a p-value");
        assert_eq!(p_value < 0.05, verdict == "violated");
    }
}

#[test]
fn rows_one_by_one_read_all_words_alike_and_say_it_in_a_line() {
    let blocks = blocks(3, 150.0);
    let options = [
        "--missing",
        "last",
        "--claim",
        "time-difference(100ms)",
        "--quick",
    ];
    let of_word = |word: &str| {
        let place = Place::with_log(long(&blocks, word));
        let arguments = [&["audit", "log.csv"], &options[..]].concat();
        stdout(&place.run(&arguments))
    };
    let first = of_word(WORDS[0]);
    for word in &WORDS[1..] {
        assert_eq!(of_word(word), first, "{word:?}");
    }
    assert!(first.contains("HOLDS"), "{first}");
    let said = "rows without a time count as longer than all others (b: ";
    assert_eq!(first.matches(said).count(), 1, "{first}");
}

#[test]
fn what_cannot_be_the_longest_is_refused() {
    let refused = |log: &str, options: &[&str], says: &str| {
        let place = Place::with_log(log);
        let arguments = [&["estimate", "log.csv", "--missing", "last"], options].concat();
        let output = place.run(&arguments);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(says), "{}", stderr(&output));
    };
    refused("secret,t,u\na,1,2\nb,timeout,3\n", &[], "log observes t, u");
    refused(
        "secret,t\na,1\nb,ERR\nb,2\n",
        &[],
        "row 3, column t, value \"ERR\"",
    );
    refused("secret,t\na,\nb,\n", &[], "no row has a number");
    refused(
        "a,b\n1,2\n3\n",
        &["--wide", "--blocks"],
        "no observation of this secret",
    );
    let log = "secret,t\na,1\nb,timeout\n";
    refused(
        log,
        &["--resolution", "t=5"],
        "cannot be together with --resolution",
    );
    refused(
        log,
        &["--categorical", "t"],
        "cannot be together with --categorical",
    );
}
