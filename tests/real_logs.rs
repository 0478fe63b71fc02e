//! Published logs of others, which are not kept here. Put them into a directory and name it:
//! `LEAKGAUGE_REAL_LOGS=DIR cargo test -p leakgauge --test all -- real_logs --ignored`
//!
//! `rtlf/` has the example of RTLF, `minerva/` the logs of Minerva (time, leading zero bits), `epassport/` those of the
//! study of e-passports (`relation,seconds`).

use std::path::PathBuf;

use serde_json::Value;

use crate::common::Place;

/// The logs of one directory, and how each is read and measured with these options.
fn reports(directory: &str, options: &[&str]) -> Vec<Value> {
    let all = std::env::var("LEAKGAUGE_REAL_LOGS")
        .expect("LEAKGAUGE_REAL_LOGS names the directory of the logs");
    let entries = std::fs::read_dir(PathBuf::from(all).join(directory)).expect("a directory");
    let place = Place::new();
    let reports = entries.map(|entry| {
        let path = entry.expect("a file").path();
        let log = path.to_str().expect("UTF-8");
        place.json(&[&["estimate", log, "--quick"], options].concat())
    });
    let reports: Vec<Value> = reports.collect();
    assert!(!reports.is_empty());
    reports
}

#[test]
#[ignore = "needs published logs"]
fn the_example_of_rtlf_takes_longer_in_one_class() {
    for report in reports("rtlf", &[]) {
        assert_eq!(report["input"]["recognized"], "rtlf");
        let median = &report["differences"][0]["median"];
        assert!(median["lower"].as_f64() > Some(0.0), "{median}");
    }
}

#[test]
#[ignore = "needs published logs"]
fn nonces_of_minerva_are_told_apart_by_their_zero_bits() {
    for report in reports("minerva", &["--secret", "2"]) {
        assert_eq!(report["input"]["secret_column"], "2");
        let advantage = report["worst_pair"]["advantage"]["lower"].as_f64();
        assert!(advantage > Some(0.3), "{advantage:?}");
    }
}

#[test]
#[ignore = "needs published logs"]
fn times_of_e_passports_are_in_seconds_and_in_doubt_for_their_order() {
    for report in reports("epassport", &[]) {
        assert_eq!(report["differences"][0]["unit"], "s");
        let warnings = report["warnings"].as_array().expect("warnings");
        let is_order = |warning: &Value| warning["code"] == "labels-not-interleaved";
        assert!(warnings.iter().any(is_order));
    }
}
