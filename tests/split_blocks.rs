//! `--split blocks`: earlier rows to learn from, later ones to judge.

use crate::common::{Place, assert_refused, numeric_log, rows_of};

#[test]
fn later_rows_certify_and_limits_are_labeled_approximate() {
    let place = Place::with_log(numeric_log(2000));
    let found = place.json(&["estimate", "log.csv", "--split", "blocks"]);
    let method = &found["method"];
    assert_eq!(method["split"], "blocks");
    assert_eq!(method["rows"]["fit"], 800);
    let rows: Vec<u64> = ["tune", "certify"]
        .map(|part| method["rows"][part].as_u64().expect("a number"))
        .to_vec();
    assert!(
        (370..=380).contains(&rows[0]) && (770..=780).contains(&rows[1]),
        "{rows:?}"
    );
    let tv = &found["worst_pair"]["total_variation"];
    assert_eq!(tv["method"]["lower"], "clopper-pearson-effective-rows");
    assert!(tv["lower"].as_f64().expect("a limit") > 0.3);
    for worth in method["effective_rows"].as_array().expect("per secret") {
        let rows = worth["rows"].as_u64().expect("a number");
        assert!((100..=450).contains(&rows), "{worth}");
    }
    let random = place.json(&["estimate", "log.csv"]);
    assert_eq!(random["method"]["split"], "random");
    assert!(random["method"].get("effective_rows").is_none());
}

#[test]
fn a_violation_says_that_it_is_approximate() {
    let place = Place::with_log(numeric_log(2000));
    let arguments = [
        "audit",
        "log.csv",
        "--claim",
        "advantage(0.1)",
        "--split",
        "blocks",
    ];
    let output = place.run(&arguments);
    assert_eq!(output.status.code(), Some(1));
    let text = crate::common::stdout(&output);
    assert!(text.contains("approximate"), "{text}");
}

#[test]
fn discrete_logs_have_no_limit_from_above() {
    let mut text = "secret,seen\n".to_owned();
    for (at, (secret, _)) in rows_of(2000).iter().enumerate() {
        text.push_str(&format!("{secret},{}\n", ["x", "y", "z"][at * at % 3]));
    }
    let found = Place::with_log(text).json(&["estimate", "log.csv", "--split", "blocks"]);
    let tv = &found["worst_pair"]["total_variation"];
    assert!(tv["upper"].is_null());
    assert!(
        tv["reason"]
            .as_str()
            .expect("a reason")
            .contains("independent")
    );
    assert!(found["overall"]["bayes_risk"]["lower"].is_null());
}

#[test]
fn standard_input_and_a_log_to_learn_on_work() {
    let place = Place::new().file("before.csv", numeric_log(1000));
    let arguments = ["estimate", "-", "--split", "blocks"];
    let found = place.json_on(&arguments, numeric_log(2000));
    assert_eq!(found["method"]["split"], "blocks");
    let arguments = [
        "estimate",
        "-",
        "--split",
        "blocks",
        "--fit-on",
        "before.csv",
    ];
    let found = place.json_on(&arguments, numeric_log(2000));
    assert_eq!(found["method"]["rows"]["certify"], 2000);
}

#[test]
fn secrets_one_after_the_other_are_refused() {
    let mut text = "secret,time\n".to_owned();
    for row in 0..1000 {
        text.push_str(&format!(
            "{},{}.5\n",
            if row < 500 { "a" } else { "b" },
            row * 7 % 13
        ));
    }
    Place::with_log(text).refuses(
        &["estimate", "log.csv", "--split", "blocks"],
        &["early, midway and late", "in random order"],
    );
}

#[test]
fn aggregated_logs_are_refused() {
    let place = Place::with_log("secret,seen,n\na,x,5\nb,y,6\n");
    let output = place.run(&["estimate", "log.csv", "--count", "n", "--split", "blocks"]);
    assert_refused(&output, &["--split blocks", "--count", "--split random"]);
}
