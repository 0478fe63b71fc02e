//! `leakgauge shuffle information` and `shuffle vulnerability` as users run them.

use std::path::PathBuf;

use crate::common::check_schema;
use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

fn run(arguments: &[&str]) -> std::process::Output {
    let mut command = Command::cargo_bin("leakgauge").unwrap();
    let output = command.args(arguments).output().unwrap();
    check_schema(arguments, &output);
    output
}

fn json(arguments: &[&str]) -> Value {
    let output = run(&[arguments, &["--format", "json"]].concat());
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What is said of a command line that is wrong.
fn refused(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    assert!(output.stdout.is_empty());
    String::from_utf8(output.stderr).unwrap()
}

fn file(directory: &TempDir, name: &str, text: &str) -> String {
    let path: PathBuf = directory.path().join(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[test]
fn information_has_the_stable_keys() {
    let directory = TempDir::new().unwrap();
    let target = file(
        &directory,
        "p.csv",
        "label,probability\na,0.5\nb,0.3\nc,0.2\n",
    );
    let decoys = file(&directory, "q.csv", "a,0.25\nb,0.25\nc,0.25\nd,0.25\n");
    let given = [
        "shuffle",
        "information",
        "--target",
        &target,
        "--decoys",
        &decoys,
        "--n",
        "1,20,1000000000000",
    ];
    let report = json(&given);
    assert_eq!(report["schema_version"], 1);
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[0]["position"]["exact"], 0.0);
    let entropy = report["entropy"].as_f64().unwrap();
    assert!((rows[0]["message"]["exact"].as_f64().unwrap() / entropy - 1.0).abs() < 1e-12);
    let last = &rows[2]["message"];
    let ratio = last["exact"].as_f64().unwrap() / last["asymptotic"].as_f64().unwrap();
    assert!((ratio - 1.0).abs() < 1e-10, "{last}");
    assert!(rows[1]["position"]["monte_carlo"].is_null());
    // The same bytes for any number of threads.
    let simulated = |threads: &str| {
        let more = [
            "--samples",
            "30000",
            "--threads",
            threads,
            "--format",
            "json",
        ];
        run(&[&given[..], &more].concat()).stdout
    };
    let once = simulated("1");
    assert!(!once.is_empty() && once == simulated("2"));
    let report: Value = serde_json::from_slice(&once).unwrap();
    let found = &report["rows"][1]["message"];
    let (mean, error) = (
        &found["monte_carlo"]["mean"],
        &found["monte_carlo"]["standard_error"],
    );
    let off = mean.as_f64().unwrap() - found["exact"].as_f64().unwrap();
    assert!(off.abs() < 5.0 * error.as_f64().unwrap());
}

#[test]
fn simulation_stops_at_the_standard_error_asked_for() {
    let directory = TempDir::new().unwrap();
    let target = file(&directory, "p.csv", "a,0.5\nb,0.3\nc,0.2\n");
    let report = json(&[
        "shuffle",
        "information",
        "--target",
        &target,
        "--best-decoys",
        "--n",
        "50",
        "--samples",
        "1000000",
        "--standard-error",
        "0.001",
    ]);
    let found = &report["rows"][0]["message"]["monte_carlo"];
    assert!(found["samples"].as_u64().unwrap() < 1_000_000);
    assert!(found["standard_error"].as_f64().unwrap() <= 0.001);
    let best = report["best_decoys"].as_array().unwrap();
    let root = |p: f64| (p * (1.0 - p)).sqrt();
    let expected = root(0.5) / (root(0.5) + root(0.3) + root(0.2));
    assert!((best[0]["probability"].as_f64().unwrap() - expected).abs() < 1e-15);
    assert_eq!(
        report["coefficient"].as_f64().map(|c| (c * 1e9).round()),
        report["best_coefficient"]
            .as_f64()
            .map(|c| (c * 1e9).round())
    );
}

#[test]
fn a_message_that_no_decoy_sends_is_no_error() {
    let directory = TempDir::new().unwrap();
    let target = file(&directory, "p.csv", "a,0.5\nb,0.5\n");
    let decoys = file(&directory, "q.csv", "c,1\n");
    let report = json(&[
        "shuffle",
        "information",
        "--target",
        &target,
        "--decoys",
        &decoys,
        "--n",
        "7",
    ]);
    assert_eq!(report["revealed"], 1.0);
    let row = &report["rows"][0];
    assert!((row["position"]["exact"].as_f64().unwrap() - 7f64.ln()).abs() < 1e-14);
    assert!((row["message"]["exact"].as_f64().unwrap() - 2f64.ln()).abs() < 1e-14);
    assert!(report["coefficient"].is_null());
    // Nothing is told of a certain message, not even minus nothing.
    let certain = file(&directory, "one.csv", "a,1\n");
    let arguments = ["shuffle", "information", "--target", &certain, "--decoys"];
    let text = run(&[&arguments[..], &[&decoys, "--n", "1,5"]].concat()).stdout;
    assert!(!String::from_utf8(text).unwrap().contains("-0"));
}

#[test]
fn randomizers_and_unequal_users_have_bounds() {
    let report = json(&[
        "shuffle",
        "information",
        "--randomizer",
        "randomized-response(epsilon=1, secrets=4)",
        "--n",
        "20",
        "--known",
        "3,3,3,3",
    ]);
    let row = &report["rows"][0];
    assert_eq!(row["position_bound"], 2.0);
    let value = |key: &str| row["input"][key].as_f64().unwrap();
    assert!((value("exact") - 0.006748026215918194).abs() < 1e-14);
    assert!(value("exact") < value("blanket") && value("blanket") < value("unified"));
    assert!(report["informed"].as_f64().unwrap() > 0.0);

    let directory = TempDir::new().unwrap();
    let target = file(&directory, "1.csv", "a,0.4\nb,0.6\n");
    let alike = file(&directory, "2.csv", "a,0.3\nb,0.7\n");
    let outlier = file(&directory, "4.csv", "a,1\n");
    let users = format!("{alike}=5,{outlier}");
    let report = json(&[
        "shuffle",
        "information",
        "--target",
        &target,
        "--users",
        &users,
    ]);
    assert_eq!(
        (&report["n"], &report["outliers"][0]),
        (&Value::from(7), &Value::from(outlier))
    );
    let value = |key: &str| report[key].as_f64().unwrap();
    assert!(value("message") <= value("message_bound_without_outliers"));
    assert!(value("message_bound_without_outliers") < value("message_bound"));
}

#[test]
fn vulnerability_has_the_stable_keys() {
    let report = json(&[
        "shuffle",
        "vulnerability",
        "--values",
        "2",
        "--keep",
        "0.9",
        "--n",
        "1,200",
    ]);
    let rows = report["rows"].as_array().unwrap();
    let keys = ["n", "noise", "shuffle", "noise_and_shuffle", "asymptotic"];
    assert!(keys.iter().all(|key| rows[1][key].is_number()), "{report}");
    assert!((rows[1]["noise_and_shuffle"].as_f64().unwrap() - 0.5225393916037026).abs() < 1e-14);
    let strong = json(&[
        "shuffle",
        "vulnerability",
        "--values",
        "2",
        "--keep",
        "0.8",
        "--known",
        "100,100",
    ]);
    let found = strong["informed"]["vulnerability"].as_f64().unwrap();
    assert!((found - 0.5211607381798499).abs() < 1e-13);
    // Too many for the exact value: null, never 0.
    let report = json(&[
        "shuffle",
        "vulnerability",
        "--values",
        "3",
        "--keep",
        "1",
        "--n",
        "9007199254740992",
    ]);
    assert!(
        report["rows"][0]["shuffle"].is_null() && report["rows"][0]["leading_term"].is_number()
    );
    let report = json(&[
        "shuffle",
        "vulnerability",
        "--values",
        "30",
        "--keep",
        "0.5",
        "--n",
        "50",
        "--samples",
        "20000",
    ]);
    assert!(report["rows"][0]["noise_and_shuffle"].is_null());
    assert!(report["rows"][0]["monte_carlo"]["standard_error"].is_number());
}

#[test]
fn every_format_and_picture_is_written() {
    let directory = TempDir::new().unwrap();
    let target = file(&directory, "p.csv", "a,0.5\nb,0.5\n");
    let plots = directory.path().display().to_string();
    for format in ["text", "markdown"] {
        for arguments in [
            vec![
                "information",
                "--target",
                &target,
                "--decoys",
                &target,
                "--n",
                "2,4",
                "--samples",
                "100",
            ],
            vec![
                "information",
                "--randomizer",
                "randomized-response(epsilon=1, secrets=2)",
                "--n",
                "2,4",
            ],
            vec![
                "vulnerability",
                "--values",
                "2,3",
                "--keep",
                "1,0.8",
                "--n",
                "2,4",
            ],
            vec![
                "vulnerability",
                "--values",
                "2",
                "--keep",
                "0.8",
                "--n",
                "2,4",
                "--prior",
                "0.7,0.3",
            ],
        ] {
            let all = [
                &["shuffle"][..],
                &arguments,
                &["--format", format, "--plots", &plots],
            ]
            .concat();
            let output = run(&all);
            assert!(
                output.status.success() && !output.stdout.is_empty(),
                "{}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
    }
    for name in [
        "shuffle-information-position",
        "shuffle-information-message",
        "shuffle-information-input",
        "shuffle-vulnerability",
    ] {
        let svg = std::fs::read_to_string(directory.path().join(format!("{name}.svg"))).unwrap();
        roxmltree::Document::parse(&svg).expect(name);
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let directory = TempDir::new().unwrap();
    let target = file(&directory, "p.csv", "a,0.5\nb,0.5\n");
    let short = file(&directory, "short.csv", "a,0.5\nb,0.4\n");
    let empty = file(&directory, "empty.csv", "");
    let information = |more: &[&str]| refused(&[&["shuffle", "information"], more].concat());
    assert!(
        information(&["--target", &short, "--decoys", &target, "--n", "3"]).contains("sum to 0.9")
    );
    assert!(
        information(&["--target", &target, "--decoys", &empty, "--n", "3"]).contains("is empty")
    );
    assert!(information(&["--target", &target, "--decoys", &target, "--n", "0"]).contains("--n 0"));
    assert!(information(&["--target", &target, "--decoys", &target]).contains("--n"));
    assert!(information(&["--target", &target, "--n", "3"]).contains("decoys are missing"));
    let sample = file(&directory, "sample.csv", "a\na\nb\n");
    assert!(information(&["--target", &sample, "--best-decoys", "--n", "3"]).contains("a sample"));
    assert!(
        information(&[
            "--target",
            &target,
            "--decoys",
            &target,
            "--n",
            "18446744073709551615"
        ])
        .contains("2^53")
    );
    assert!(
        information(&[
            "--target",
            &target,
            "--users",
            &format!("{target}=18446744073709551615")
        ])
        .contains("too many")
    );
    assert!(
        information(&[
            "--randomizer",
            "olh(epsilon=1, secrets=1000000)",
            "--n",
            "3"
        ])
        .contains("no finite matrix")
    );
    assert!(
        information(&[
            "--target",
            &target,
            "--decoys",
            &target,
            "--n",
            "3",
            "--samples",
            "1"
        ])
        .contains("at least 2")
    );
    assert!(
        information(&[
            "--target", &target, "--decoys", &target, "--n", "3", "--plots", "/no/such"
        ])
        .contains("no such directory")
    );
    let vulnerability = |more: &[&str]| refused(&[&["shuffle", "vulnerability"], more].concat());
    assert!(vulnerability(&["--values", "1", "--keep", "1", "--n", "3"]).contains("--values 1"));
    assert!(vulnerability(&["--values", "4", "--keep", "2", "--n", "3"]).contains("--keep 2"));
    assert!(vulnerability(&["--values", "4", "--keep", "0.2", "--n", "3"]).contains("1/4"));
    assert!(vulnerability(&["--values", "4", "--keep", "NaN", "--n", "3"]).contains("1/4"));
    assert!(vulnerability(&["--values", "4", "--keep", "1", "--n", "0"]).contains("--n 0"));
    assert!(vulnerability(&["--values", "4", "--keep", "1"]).contains("--n"));
    assert!(
        vulnerability(&["--values", "2", "--keep", "1", "--known", "1,2,3"])
            .contains("known counts")
    );
    assert!(
        vulnerability(&[
            "--values",
            "2",
            "--keep",
            "1",
            "--known",
            "18446744073709551615,5"
        ])
        .contains("too many")
    );
}

/// A honeyword designer's way: counts of passwords, the best decoys in a file, and how they do.
#[test]
fn decoys_are_made_from_counts_and_judged() {
    let directory = TempDir::new().unwrap();
    let counts = file(
        &directory,
        "p.csv",
        "password,count\nqwerty,60\nzzz,10\nabc,30\n",
    );
    let best = directory.path().join("best.csv").display().to_string();
    let arguments = ["shuffle", "information", "--target", &counts, "--n", "20"];
    let chosen = json(&[&arguments[..], &["--best-decoys-to", &best]].concat());
    let same = json(&[&arguments[..], &["--decoys", &best]].concat());
    assert_eq!(chosen["rows"], same["rows"]);
    let uniform = json(&[&arguments[..], &["--decoys", "uniform"]].concat());
    let of = |report: &Value| report["rows"][0]["message"]["asymptotic"].as_f64().unwrap();
    assert!(of(&chosen) < of(&uniform));
    let found = json(&[
        "shuffle",
        "reidentify",
        "--target",
        &counts,
        "--decoys",
        &best,
        "--n",
        "20",
    ]);
    assert!(found["rows"][0]["success"].as_f64().unwrap() > 0.05);
    // Grids are written the same way everywhere.
    let grid = json(&[
        "shuffle",
        "vulnerability",
        "--values",
        "3",
        "--keep",
        "0.5",
        "--n",
        "1..1e6:7",
    ]);
    assert_eq!(grid["rows"].as_array().unwrap().len(), 7);
    assert_eq!(grid["rows"][6]["n"], 1_000_000);
}

/// A log of shuffled batches: what an audit finds agrees with the exact value.
#[test]
fn a_shuffler_can_be_audited_as_a_black_box() {
    let directory = TempDir::new().unwrap();
    let mechanism = "shuffled(randomized-response(epsilon=2, secrets=2), n=9)";
    let log = run(&["simulate", mechanism, "--rows", "20000"]);
    assert!(log.status.success());
    let log = file(
        &directory,
        "log.csv",
        &String::from_utf8(log.stdout).unwrap(),
    );
    let report = json(&["estimate", &log]);
    let keep = 2f64.exp() / (1.0 + 2f64.exp());
    // 1/2 + C(8, 4)/2^9·(2p − 1)
    let exact = 0.5 + 70.0 / 512.0 * (2.0 * keep - 1.0);
    let risk = &report["overall"]["bayes_risk"];
    let at = |key: &str| risk[key].as_f64().unwrap();
    assert!((at("point") - (1.0 - exact)).abs() < 0.02, "{risk}");
    assert!(
        at("upper") > 1.0 - exact
            && risk["lower"]
                .as_f64()
                .is_none_or(|lower| lower < 1.0 - exact),
        "{risk}"
    );
}
