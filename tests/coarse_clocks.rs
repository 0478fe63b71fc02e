//! What a clock, a unit and a few rows let a log of times prove.

use std::fmt::Write as _;

use leakgauge_testing::rng;
use rand::RngExt;

use crate::common::{Place, stdout};

const BLOCKS: [&str; 4] = ["--wide", "--blocks", "--unit", "s"];

/// 500 blocks of times in seconds, b takes 1 us longer in noise of 0.1 us; one row is a date.
fn with_a_date() -> String {
    let mut rng = rng(3);
    let mut text = "a,b\n".to_owned();
    for at in 0..500 {
        let mut time = |longer: f64| 1e-3 + longer + 1e-7 * rng.random::<f64>();
        let [a, b] = [time(0.0), time(1e-6)];
        match at {
            77 => writeln!(text, "1764270000,1764270000"),
            _ => writeln!(text, "{a:.9},{b:.9}"),
        }
        .expect("memory");
    }
    text
}

#[test]
fn one_row_decides_nothing() {
    let place = Place::with_log(with_a_date());
    let audit = |claim: &str| {
        let claim = ["--claim", claim, "--quick"];
        let output = place.run(&[&["audit", "log.csv"][..], &BLOCKS, &claim].concat());
        (output.status.code(), stdout(&output))
    };
    let (code, said) = audit("time-difference(10ns)");
    assert_eq!(code, Some(1), "{said}");
    let (code, said) = audit("time-difference(2us)");
    assert_eq!(code, Some(0), "{said}");
}

/// A text on one line.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Logins in whole milliseconds: those of known users take 0.3 ms longer.
fn logins() -> String {
    let mut rng = rng(5);
    let mut text = "class,ms\n".to_owned();
    for _ in 0..6_000 {
        let is_known: bool = rng.random();
        let time = 12.4 + 0.9 * rng.random::<f64>() + if is_known { 0.3 } else { 0.0 };
        let name = if is_known { "known" } else { "unknown" };
        writeln!(text, "{name},{}", time.floor()).expect("memory");
    }
    text
}

#[test]
fn limits_are_no_finer_than_the_step_of_the_clock() {
    let place = Place::with_log(logins());
    for claim in ["time-difference(0.1ms)", "time-difference(0.5ms)"] {
        let output = place.run(&["audit", "log.csv", "--full", "--quick", "--claim", claim]);
        let said = words(&stdout(&output));
        assert_eq!(output.status.code(), Some(3), "{claim}: {said}");
        assert!(
            said.contains("with its step, the smallest claim that can hold is 2 ms"),
            "{said}"
        );
    }
    let report = |more: &[&str]| {
        let all = [
            &["estimate", "log.csv", "--quick", "--unit", "ms"][..],
            more,
        ]
        .concat();
        place.json(&all)["differences"][0].clone()
    };
    let found = report(&[]);
    assert_eq!(found["clock_step"], 1.0);
    let given = report(&["--clock-step", "500us"]);
    assert_eq!(given["clock_step"], 0.5);
    let width = |of: &serde_json::Value| {
        of["median"]["upper"].as_f64().unwrap() - of["median"]["lower"].as_f64().unwrap()
    };
    assert_eq!(width(&found) - width(&given), 2.0);
}

#[test]
fn a_step_of_the_clock_is_a_time() {
    let place = Place::with_log(logins());
    let refuses = |step: &str, words: &[&str]| {
        let step = format!("--clock-step={step}");
        place.refuses(&["estimate", "log.csv", &step], words);
    };
    refuses("-1", &["--clock-step -1", "no step of a clock"]);
    refuses("fast", &["no step of a clock"]);
    refuses("3cycles", &["--clock-frequency"]);
}

#[test]
fn a_unit_that_contradicts_the_log_is_refused() {
    let mut rng = rng(7);
    let mut text = "class,time_us\n".to_owned();
    for _ in 0..200 {
        let class: bool = rng.random();
        let time = 20.0 + 10.0 * rng.random::<f64>();
        writeln!(text, "{},{time:.6}", u8::from(class)).expect("memory");
    }
    let place = Place::with_log(text);
    place.refuses(
        &[
            "audit",
            "log.csv",
            "--unit",
            "ns",
            "--claim",
            "time-difference(5ns)",
        ],
        &["--unit ns", "time_us", "says us"],
    );
}

#[test]
fn times_that_would_last_for_days_are_counts_of_a_clock() {
    let mut text = "a,b\n".to_owned();
    (0..200).for_each(|at| {
        writeln!(text, "{}.57e6,{}.58e6", 2 + at % 3, 2 + at % 3).expect("memory");
    });
    let place = Place::new().file("timing.csv", text);
    let audit = ["audit", "timing.csv", "--claim", "time-difference(10ns)"];
    place.refuses(&audit, &["counts of a clock", "--unit cycles"]);
    let cycles = ["--unit", "cycles", "--clock-frequency", "3e9", "--quick"];
    let output = place.run(&[&audit[..], &cycles].concat());
    assert_ne!(output.status.code(), Some(2), "{}", stdout(&output));
}

#[test]
fn few_whole_numbers_are_times_where_a_claim_or_a_unit_says_so() {
    let mut text = "class,cycles\n".to_owned();
    (0..2_000).for_each(|at| {
        let time = 1284 + 4 * (at * 7 % 100 / 97);
        writeln!(text, "{},{time}", at * 31 % 2).expect("memory");
    });
    let place = Place::with_log(text);
    let claim = ["--claim", "time-difference(10cycles)", "--quick"];
    let secret = ["audit", "log.csv", "--secret", "class"];
    for unit in [&["--unit", "cycles"][..], &[]] {
        let output = place.run(&[&secret[..], unit, &claim].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    }
}

#[test]
fn too_few_times_are_told_how_many_are_needed() {
    let mut text = "username,ms\n".to_owned();
    for (known, unknown) in [
        (201.5, 40.1),
        (199.0, 41.7),
        (205.2, 38.9),
        (198.4, 42.3),
        (203.3, 39.5),
    ] {
        writeln!(text, "known,{known}\nunknown,{unknown}").expect("memory");
    }
    let place = Place::with_log(text);
    let claim = ["--claim", "time-difference(10ms)", "--quick", "--full"];
    let output = place.run(&[&["audit", "log.csv", "--secret", "username"][..], &claim].concat());
    let said = stdout(&output).replace('\n', " ");
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(
        said.contains("too few measurements for limits: at least"),
        "{said}"
    );
    assert!(
        !said.contains("unknown ms") && !said.contains("half as wide"),
        "{said}"
    );
    // Two of the 252 ways to deal them lie as far apart.
    assert!(said.contains("p = 0.0080"), "{said}");
}
