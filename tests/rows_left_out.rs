//! Secrets that are joined, and rows that are left out: counted, and said where it matters.

use serde_json::{Value, json};

use crate::common::{Place, rows_of, stderr, stdout};

/// A log of numbered secrets; some rows are replaced.
fn log_with(replace: impl Fn(usize) -> Option<&'static str>) -> String {
    let mut text = "secret,time\n".to_owned();
    for (at, (secret, time)) in rows_of(600).into_iter().enumerate() {
        match replace(at) {
            Some(row) => text.push_str(row),
            None => text.push_str(&format!("{secret},{time:.3}")),
        }
        text.push('\n');
    }
    text
}

fn numbered(secrets: usize) -> String {
    let mut text = "secret,time\n".to_owned();
    for (at, (_, time)) in rows_of(600).into_iter().enumerate() {
        text.push_str(&format!("{},{time:.3}\n", at * 7 % secrets));
    }
    text
}

fn labels(report: &Value) -> Vec<&str> {
    let secrets = report["input"]["secrets"].as_array().expect("secrets");
    secrets
        .iter()
        .map(|secret| secret["label"].as_str().expect("a label"))
        .collect()
}

#[test]
fn secrets_are_joined_by_ranges_and_the_report_says_so() {
    let place = Place::with_log(numbered(8));
    let arguments = [
        "estimate",
        "log.csv",
        "--quick",
        "--merge",
        "0..3=few,4..6=4+",
    ];
    let report = place.json(&arguments);
    assert_eq!(labels(&report), ["4+", "7", "few"]);
    let merged = &report["input"]["merged_secrets"];
    assert_eq!(merged[0]["from"].as_array().map(Vec::len), Some(4));
    assert_eq!(report["input"]["rows_used"], 600);
    let text = stdout(&place.run(&[&arguments[..], &["--full"]].concat()));
    // Lines are wrapped.
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in ["few is 0, 1, 2, 3", "4+ is 4, 5, 6", "As they are: 7"] {
        assert!(text.contains(words), "{words:?} is not in {text}");
    }
}

#[test]
fn a_file_says_what_secrets_become() {
    let place = Place::with_log(numbered(4))
        .file("map.csv", "from,to\n0,even\n2,even\n1,odd\n3,odd\n9,odd\n")
        .file("twice.csv", "0,even\n0,odd\n")
        .file("wide.csv", "0,even,x\n")
        .file("foreign.csv", "8,even\n9,odd\n");
    let with = |file| ["check", "log.csv", "--secret-map", file];
    let report = place.json(&with("map.csv"));
    assert_eq!(labels(&report), ["even", "odd"]);
    place.refuses(&with("twice.csv"), &["twice.csv, row 2", "twice"]);
    place.refuses(&with("wide.csv"), &["wide.csv, row 1", "3 fields"]);
    place.refuses(
        &with("foreign.csv"),
        &["--secret-map", "no secret of the log is in it"],
    );
    place.refuses(&with("nowhere.csv"), &["no such file"]);
}

#[test]
fn rules_that_cannot_be_meant_are_refused() {
    let place = Place::with_log(numbered(4));
    for (rules, words) in [
        ("0..3", "no `=`"),
        (
            "0..1=few,1..=many",
            "two rules say what becomes of secret 1",
        ),
        ("0..1=few,7..=many", "no secret of the log is in it"),
        ("..=all", "there is only one secret"),
        ("3..1=few", "is empty"),
    ] {
        place.refuses(&["check", "log.csv", "--merge", rules], &[words]);
    }
    let both = [
        "check",
        "log.csv",
        "--merge",
        "0..1=few",
        "--secret-map",
        "x",
    ];
    assert_eq!(place.run(&both).status.code(), Some(2));
}

#[test]
fn bad_rows_are_left_out_up_to_a_number_and_the_verdict_says_so() {
    let bad = log_with(|at| match at {
        10 => Some("a,1.5,7"),
        20 => Some("c"),
        30 => Some(",0.5"),
        _ => None,
    });
    let place = Place::with_log(bad);
    let claim = ["audit", "log.csv", "--quick", "--claim", "advantage(0.1)"];
    place.refuses(&claim, &["row 12", "3 fields"]);
    let few = [&claim[..], &["--skip-bad", "2"]].concat();
    place.refuses(
        &few,
        &["row 32", "2 rows before it were left out", "--skip-bad 2"],
    );
    let enough = [&claim[..], &["--skip-bad", "3", "--format", "json"]].concat();
    let output = place.run(&enough);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["input"]["skipped_rows"], 3);
    assert_eq!(report["input"]["rows"], 597);
    // A secret that only rows left out have is none.
    assert_eq!(labels(&report), ["a", "b"]);
    let reason = report["claims"][0]["reason"].as_str().expect("a reason");
    assert!(
        reason.contains("3 rows were left out that could not be read"),
        "{reason}"
    );
}

#[test]
fn bad_lines_of_json_are_left_out_too() {
    let mut text = String::new();
    for (at, (secret, time)) in rows_of(300).into_iter().enumerate() {
        text.push_str(&match at {
            0 => "{\"secret\": \"a\", \"time\": }".to_owned(),
            40 => "nonsense".to_owned(),
            _ => json!({"secret": secret, "time": time}).to_string(),
        });
        text.push('\n');
    }
    let place = Place::new().file("log.jsonl", text);
    place.refuses(&["check", "log.jsonl"], &["log.jsonl, row 1"]);
    place.refuses(
        &["check", "log.jsonl", "--skip-bad", "1"],
        &["log.jsonl, row 41"],
    );
    let report = place.json(&["check", "log.jsonl", "--skip-bad", "2"]);
    assert_eq!(report["input"]["skipped_rows"], 2);
    assert_eq!(report["input"]["rows"], 298);
}

#[test]
fn rows_that_lack_a_value_are_dropped_or_labeled() {
    let gaps = log_with(|at| match at % 50 {
        10 => Some("a,"),
        20 if at < 100 => Some(",0.5"),
        _ => None,
    });
    let place = Place::with_log(gaps);
    let claim = ["audit", "log.csv", "--quick", "--claim", "advantage(0.1)"];
    place.refuses(&claim, &["the secret is blank", "--missing drop"]);
    let run = |how| {
        let output = place.run(&[&claim[..], &["--missing", how, "--format", "json"]].concat());
        serde_json::from_slice::<Value>(&output.stdout).expect("JSON")
    };
    let dropped = run("drop");
    assert_eq!(dropped["input"]["missing_rows"], 14);
    assert_eq!(dropped["input"]["rows"], 600);
    assert_eq!(dropped["input"]["rows_used"], 586);
    assert_eq!(dropped["input"]["observation"]["kind"], "numeric");
    let reason = dropped["claims"][0]["reason"].as_str().expect("a reason");
    assert!(reason.contains("because a value is missing"), "{reason}");
    let labeled = run("label");
    assert_eq!(labels(&labeled), ["(missing)", "a", "b"]);
    assert_eq!(labeled["input"]["rows_used"], 600);
}

#[test]
fn a_log_that_grows_leaves_no_rows_out() {
    let place = Place::with_log(numbered(4));
    let follow = ["audit", "-", "--follow", "--claim", "advantage(0.1)"];
    for (option, value) in [("--skip-bad", "3"), ("--missing", "drop")] {
        place.refuses(
            &[&follow[..], &[option, value]].concat(),
            &[option, "--follow leaves out no rows"],
        );
    }
}

/// Two metrics in one column of values, of which one leaks, and a status.
fn pooled() -> String {
    let mut text = "metric_name,scenario,metric_value,status\n".to_owned();
    for (at, (secret, time)) in rows_of(3000).into_iter().enumerate() {
        let of_metric = match at % 3 {
            0 => format!("http_req_duration,{secret},{:.3}", 200.0 + 100.0 * time),
            _ => format!("http_req_sending,{secret},{:.3}", 0.01 * time),
        };
        text.push_str(&format!(
            "{of_metric},{}\n",
            if at % 50 == 0 { 500 } else { 200 }
        ));
    }
    text
}

#[test]
fn rows_are_chosen_by_the_values_of_a_column_and_the_report_says_so() {
    let place = Place::with_log(pooled());
    let arguments = [
        "estimate", "log.csv", "--quick", "--secret", "scenario", "--unit", "ms",
    ];
    let chosen = [
        "--keep",
        "metric_name=http_req_duration",
        "--drop",
        "status=500",
    ];
    let report = place.json(&[&arguments[..], &chosen].concat());
    let least = report["differences"][0]["median"]["lower"].as_f64();
    assert!(least > Some(10.0), "{}", report["differences"]);
    assert_eq!(report["input"]["rows_used"], 980);
    assert_eq!(report["input"]["left_out_columns"][0]["why"], "filter");
    let text = stdout(&place.run(&[&arguments[..], &chosen].concat()));
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let note = "Only rows with metric_name http_req_duration and status not 500 were read.";
    assert!(text.contains(note), "{text}");
}

/// A difference in one metric drowns in the others: nothing holds of all together, and the report says what to look at.
#[test]
fn several_metrics_in_one_column_are_named_and_hold_nothing() {
    let place = Place::with_log(pooled());
    let audit = [
        "audit",
        "log.csv",
        "--secret",
        "scenario",
        "--observe",
        "metric_value",
        "--unit",
        "ms",
        "--claim",
        "time-difference(10ms)",
    ];
    let run = |more: &[&str]| place.run(&[&audit[..], more].concat());
    let output = run(&[]);
    assert_eq!(output.status.code(), Some(3), "{}", stdout(&output));
    let text = stdout(&output);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("metric_name tells several kinds of measurements apart"),
        "{text}"
    );
    let advice = "--keep metric_name=http_req_duration";
    assert!(text.contains(advice), "{text}");
    // The advice, taken.
    let advice: Vec<&str> = advice.split(' ').collect();
    assert_eq!(run(&advice).status.code(), Some(1));
    // Whoever chooses among them by name has decided.
    let both = "metric_name=http_req_duration,http_req_sending";
    assert_eq!(run(&["--keep", both]).status.code(), Some(0));
}

#[test]
fn what_is_no_table_is_refused_as_without_conditions() {
    let place = Place::with_log([0xff, 0x00, 0x80, b'\n', 0xfe, 0x01]);
    let without = stderr(&place.run(&["check", "log.csv"]));
    assert_eq!(
        without,
        stderr(&place.run(&["check", "log.csv", "--keep", "x=1"]))
    );
}

#[test]
fn conditions_that_cannot_be_met_say_what_there_is() {
    let place = Place::with_log(pooled());
    for (condition, words) in [
        (
            "metric_name=iterations",
            "holds http_req_duration, http_req_sending",
        ),
        ("metric=iterations", "no column metric"),
        ("metric_name", "--keep COLUMN=VALUE"),
    ] {
        let output = place.run(&[
            "check", "log.csv", "--secret", "scenario", "--keep", condition,
        ]);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
}

/// NaN of one secret: left out where that is asked for, and then nothing is said to hold of the rest.
#[test]
fn values_that_one_secret_lacks_are_no_proof_that_there_is_no_leak() {
    let log = |lacks: fn(u32) -> bool| {
        let mut text = "secret,seen\n".to_owned();
        for row in 0..4_000u32 {
            let value = match lacks(row) {
                true => "NaN".to_owned(),
                false => (row / 2 * 7 % 4).to_string(),
            };
            text += &format!("{},{value}\n", ["a", "b"][row as usize % 2]);
        }
        Place::with_log(text)
    };
    let verdict = |place: &Place| {
        let arguments = ["audit", "log.csv", "--missing", "drop", "--quick"];
        let claim = ["--claim", "advantage(0.3)", "--format", "json"];
        let output = place.run(&[&arguments[..], &claim].concat());
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a report");
        let named = report["warnings"].to_string().contains("missing-by-secret");
        (
            report["claims"][0]["verdict"]
                .as_str()
                .expect("a verdict")
                .to_owned(),
            named,
        )
    };
    let of_one = log(|row| row % 2 == 1 && row % 6 == 1);
    assert_eq!(verdict(&of_one), ("inconclusive".to_owned(), true));
    let of_both = log(|row| row % 6 < 2);
    assert_eq!(verdict(&of_both), ("holds".to_owned(), false));
    of_one.refuses(
        &[
            "audit",
            "log.csv",
            "--claim",
            "advantage(0.3)",
            "--numeric",
            "seen",
        ],
        &["row 3", "NaN", "--missing drop"],
    );
}

/// Words in the place of times, such as those of errors, may be dropped; nothing is said to hold where they are of one secret.
#[test]
fn words_that_one_secret_has_are_no_proof_that_there_is_no_leak() {
    let log = |named: &str, is_lost: fn(u32) -> bool| {
        let mut text = format!("{named},time_us\n");
        for row in 0..4_000u32 {
            let time = match is_lost(row) {
                true => "ERROR".to_owned(),
                false => format!("{}.5", 100 + row * 7_919 % 997 % 90),
            };
            text += &format!("{},{time}\n", ["a", "b"][row as usize % 2]);
        }
        Place::with_log(text)
    };
    let verdict = |place: &Place| {
        let drop = ["audit", "log.csv", "--drop", "time_us=ERROR", "--quick"];
        let claim = ["--claim", "time-difference(40us)", "--format", "json"];
        let output = place.run(&[&drop[..], &claim].concat());
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a report");
        let is_named = report["warnings"].to_string().contains("missing-by-secret");
        (
            report["claims"][0]["verdict"]
                .as_str()
                .expect("a verdict")
                .to_owned(),
            is_named,
        )
    };
    // Whether the column is named secret or was chosen because it has few labels.
    for named in ["secret", "class"] {
        let of_one = log(named, |row| row % 6 == 1);
        assert_eq!(
            verdict(&of_one),
            ("inconclusive".to_owned(), true),
            "{named}"
        );
        let of_both = log(named, |row| row % 6 < 2);
        // Nothing is said to hold of a secret that nobody named.
        let holds = if named == "secret" {
            "holds"
        } else {
            "inconclusive"
        };
        assert_eq!(verdict(&of_both), (holds.to_owned(), false), "{named}");
    }
}
