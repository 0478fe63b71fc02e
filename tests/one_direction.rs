//! Claims of one direction: `time-difference(5ms, slower=miss)`.

use std::fmt::Write;

use crate::common::{Place, stderr, stdout};
use leakgauge_testing::rng;
use rand::RngExt;
use serde_json::Value;

/// Three classes in ms: `miss` takes 3 ms longer than `hit`, and `cache warm` 10 ms.
fn wide() -> String {
    let mut rng = rng(5);
    let mut text = "hit,miss,cache warm\n".to_owned();
    for _ in 0..400 {
        let times = [10.0, 13.0, 20.0].map(|time| time + 2.0 * rng.random::<f64>());
        writeln!(text, "{:.4},{:.4},{:.4}", times[0], times[1], times[2]).expect("memory");
    }
    text
}

/// The same one by one.
fn long() -> String {
    let wide = wide();
    let mut text = "secret,time_ms\n".to_owned();
    for line in wide.lines().skip(1) {
        let names = ["hit", "miss", "cache warm"];
        let times = line.split(',').zip(names);
        times.for_each(|(time, name)| writeln!(text, "{name},{time}").expect("memory"));
    }
    text
}

const WIDE: [&str; 4] = ["--wide", "--blocks", "--unit", "ms"];

fn claim(place: &Place, options: &[&str], claim: &str) -> Value {
    let claim = format!("time-difference({claim})");
    let first = [
        "audit", "log.csv", "--quick", "--format", "json", "--claim", &claim,
    ];
    let output = place.run(&[&first[..], options].concat());
    let report: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(&output)));
    report["claims"][0].clone()
}

#[test]
fn only_the_pairs_and_the_direction_that_are_claimed_count() {
    for (log, options) in [(wide(), &WIDE[..]), (long(), &[])] {
        let place = Place::with_log(&log);
        for (text, verdict) in [
            ("5ms, slower=hit", "holds"),
            ("2ms, slower=miss", "violated"),
            ("5ms, slower=miss", "holds"),
            ("5ms, slower=\"cache warm\"", "violated"),
            ("12ms, slower=\"cache warm\"", "holds"),
            ("3ms, slower=miss", "inconclusive"),
            ("5ms", "violated"),
        ] {
            let found = claim(&place, options, text);
            assert_eq!(found["verdict"], verdict, "{text}: {found}");
        }
        let found = claim(&place, options, "5ms, slower=miss");
        assert_eq!(found["pair"], serde_json::json!(["hit", "miss"]));
        let number = |key: &str| found["estimate"][key].as_f64().expect("a number");
        assert!(number("lower") > 2.5 && number("upper") < 3.5, "{found}");
    }
}

#[test]
fn limits_are_of_one_side() {
    let place = Place::with_log(wide());
    let secrets = [&WIDE[..], &["--secrets", "hit,miss"]].concat();
    let two = claim(&place, &secrets, "1ms");
    let one = claim(&place, &secrets, "1ms, slower=miss");
    let lower = |claim: &Value| claim["estimate"]["lower"].as_f64().expect("a limit");
    assert!(lower(&one) > lower(&two), "{one} {two}");
    assert!(one["p_value"].as_f64() < two["p_value"].as_f64());
}

#[test]
fn a_secret_that_is_not_compared_is_an_error_that_names_those_that_are() {
    let place = Place::with_log(wide());
    for options in [&[][..], &["--secrets", "hit,cache warm"], &["--follow"]] {
        let claim = ["--claim", "time-difference(1ms, slower=mizz)"];
        let arguments = [&["audit", "-"], &WIDE[..], &claim, options].concat();
        let output = place.run_on(&arguments, wide().as_bytes());
        assert_eq!(output.status.code(), Some(2));
        let error = stderr(&output);
        assert!(
            error.contains("is called \"mizz\"") && error.contains("they are"),
            "{error}"
        );
    }
}

#[test]
fn it_is_followed_in_its_direction() {
    let place = Place::new();
    for (which, code, says) in [("hit", 0, "HOLDS"), ("miss", 1, "VIOLATED")] {
        let claim = format!("time-difference(2ms, slower={which})");
        let arguments = [&["audit", "-", "--follow", "--claim", &claim], &WIDE[..]].concat();
        let output = place.run_on(&arguments, wide().as_bytes());
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        assert!(stdout(&output).contains(says), "{}", stdout(&output));
    }
}
