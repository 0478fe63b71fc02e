//! `leakgauge shuffle reidentify` as a user runs it.

use std::process::Output;

use crate::common::check_schema;
use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

struct Files(TempDir);

impl Files {
    fn new() -> Self {
        Files(TempDir::new().unwrap())
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::cargo_bin("leakgauge").unwrap();
    let command = command.args(["shuffle", "reidentify"]);
    let output = command.args(arguments).output().unwrap();
    check_schema(&[&["shuffle", "reidentify"], arguments].concat(), &output);
    output
}

fn json(arguments: &[&str]) -> Value {
    let output = run(&[arguments, &["--format", "json"]].concat());
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && message.is_empty(), "{message}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn refusal(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    assert!(output.stdout.is_empty());
    String::from_utf8(output.stderr).unwrap()
}

fn near(value: &Value, expected: f64) {
    let found = value.as_f64().unwrap();
    assert!(
        (found - expected).abs() < 1e-12,
        "{found} is not {expected}"
    );
}

#[test]
fn distributions_give_exact_figures_and_the_n_that_is_needed() {
    let files = Files::new();
    let p = files.write("p.csv", "label,probability\na,0.5\nb,0.3\nc,0.2\n");
    let q = files.write("q.csv", "label,count\na,1\nb,1\nc,1\n");
    let both = ["--target", &p, "--decoys", &q];
    let found = json(
        &[
            &both[..],
            &["--n", "1,2,3", "--guesses", "1,2", "--success", "0.2"],
        ]
        .concat(),
    );
    assert_eq!(found["kind"], "exact");
    let rows = found["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 6);
    near(&rows[2]["success"], 0.6);
    near(&rows[2]["additive_advantage"], 0.1);
    near(&rows[2]["multiplicative_advantage"], 1.2);
    near(&rows[4]["success"], 59.0 / 135.0);
    near(&found["max_ratio"], 1.5);
    near(&found["certain_mass"], 0.0);
    near(&found["total_variation"], 1.0 / 6.0);
    let n = found["needed"][0]["n"].as_u64().unwrap();
    assert!((6..=8).contains(&n), "{n}");
}

#[test]
fn disjoint_labels_are_found_and_families_stand_for_files() {
    let files = Files::new();
    let (p, q) = (files.write("p.csv", "a,1\n"), files.write("q.csv", "b,1\n"));
    let found = json(&["--target", &p, "--decoys", &q, "--n", "1000000000000"]);
    near(&found["rows"][0]["success"], 1.0);
    assert!(found["certain_mass"] == 1.0 && found["rows"][0]["n"] == 1_000_000_000_000_u64);
    let zipf = [
        "--target",
        "zipf(exponent=0.7, size=1000)",
        "--decoys",
        "uniform",
    ];
    let found = json(&[&zipf[..], &["--success", "0.2"]].concat());
    assert_eq!(found["needed"][0]["n"], 50);
}

#[test]
fn samples_give_limits_around_the_truth_and_the_same_bytes_on_any_threads() {
    let files = Files::new();
    let column = |numbers: [usize; 3]| {
        let mut text = "label\n".to_owned();
        for (label, count) in ["a", "b", "c"].iter().zip(numbers) {
            text.push_str(&format!("{label}\n").repeat(count));
        }
        text
    };
    let p = files.write("p.csv", &column([1000, 600, 400]));
    let q = files.write("q.csv", &column([400, 600, 1000]));
    let both = ["--target", &p, "--decoys", &q, "--n", "2,5,100,100000"];
    let found = json(&both);
    assert_eq!(found["kind"], "estimate");
    assert_eq!(found["method"]["messages"], "labels");
    // P = (0.5, 0.3, 0.2) against Q = (0.2, 0.3, 0.5).
    let truth = json(&[
        "--target",
        &files.write("p2.csv", "a,5\nb,3\nc,2\n"),
        "--decoys",
        &files.write("q2.csv", "a,2\nb,3\nc,5\n"),
        "--n",
        "2,5,100,100000",
    ]);
    let rows = found["rows"].as_array().unwrap();
    for (row, truth) in rows.iter().zip(truth["rows"].as_array().unwrap()) {
        let success = &row["success"];
        let truth = truth["success"].as_f64().unwrap();
        assert!(success["lower"].as_f64().unwrap() <= truth, "{row}");
        assert!(success["upper"].as_f64().unwrap() >= truth, "{row}");
    }
    assert!(rows[0]["success"]["lower"].as_f64().unwrap() > 0.55);
    assert!(rows[3]["success"]["point"].is_null());
    let bytes = |threads: &str| {
        run(&[&both[..], &["--format", "json", "--threads", threads]].concat()).stdout
    };
    assert_eq!(bytes("1"), bytes("2"));
    let p = files.write("counts.csv", "label,count\na,1000\nb,600\nc,400\n");
    let q = files.write("counts2.csv", "label,count\na,400\nb,600\nc,1000\n");
    let counted = json(&[
        "--target",
        &p,
        "--decoys",
        &q,
        "--n",
        "2,5,100,100000",
        "--samples",
    ]);
    assert_eq!(counted["rows"], found["rows"]);
}

#[test]
fn randomizers_are_bounded_by_input() {
    let found = json(&[
        "--randomizer",
        "randomized-response(epsilon=1, secrets=10)",
        "--n",
        "1,1000",
    ]);
    let row = &found["rows"][1];
    let e = 1f64.exp();
    near(&row["limit"], e / 1000.0);
    assert!(row["clone"].as_f64() <= row["limit"].as_f64());
    assert!(row["blanket"].as_f64().unwrap() <= row["clone"].as_f64().unwrap() * (1.0 + 1e-12));
    near(&found["max_ratio"], e);
    let laplace = [
        "--randomizer",
        "laplace(epsilon=1)",
        "--inputs",
        "0,1",
        "--n",
        "10",
    ];
    let found = json(&[&laplace[..], &["--input", "0.5"]].concat());
    near(&found["max_ratio"], 0.5f64.exp());
    near(&found["blanket_mass"], (-0.5f64).exp());
    assert!(refusal(&[&laplace[..], &["--input", "1.5"]].concat()).contains("between"));
    assert!(refusal(&[&laplace[..], &["--success", "0.2"]].concat()).contains("--against"));
}

/// Continuous laws by quadrature: Laplace noise about 1 among noise about 0.
#[test]
fn an_input_among_messages_of_another_is_known_exactly() {
    let arguments = [
        "--randomizer",
        "laplace(epsilon=1)",
        "--inputs",
        "0,1",
        "--input",
        "1",
        "--against",
        "0",
        "--n",
        "1,2,1e12",
        "--success",
        "0.01",
    ];
    let found = json(&arguments);
    assert_eq!(found["kind"], "exact");
    near(&found["rows"][0]["success"], 1.0);
    near(&found["total_variation"], 1.0 - (-0.5f64).exp());
    // Theorem 5.
    let two = found["rows"][1]["success"].as_f64().unwrap();
    let variation = 1.0 - (-0.5f64).exp();
    assert!(two >= 0.5 + 0.5 * variation && two < 0.5 + variation);
    near(&found["rows"][2]["multiplicative_advantage"], 1f64.exp());
    let needed = found["needed"][0]["n"].as_u64().unwrap();
    assert!((200..=272).contains(&needed), "{needed}");
    assert!(
        refusal(&[&arguments[..4], &["--against", "0", "--n", "2"]].concat())
            .contains("one --input")
    );
}

#[test]
fn plots_are_written_with_their_data() {
    let files = Files::new();
    let p = files.write("p.csv", "password,count\n123456,50\nqwerty,30\nzzz,5\n");
    let directory = files.0.path().to_str().unwrap();
    let arguments = [
        "--target",
        &p,
        "--decoys",
        "uniform",
        "--n",
        "20",
        "--accounts",
        "500",
    ];
    json(&[&arguments[..], &["--plots", directory]].concat());
    for file in ["reidentification", "flatness", "success-number"] {
        for end in ["csv", "svg"] {
            assert!(
                files.0.path().join(format!("{file}.{end}")).is_file(),
                "{file}.{end}"
            );
        }
    }
    assert!(
        refusal(&[&arguments[..], &["--plots", "/no/such"]].concat()).contains("no such directory")
    );
}

#[test]
fn what_cannot_be_is_refused_with_its_place() {
    let files = Files::new();
    let good = files.write("good.csv", "a,0.5\nb,0.5\n");
    let against = |text: &str, more: &[&str]| {
        let bad = files.write("bad.csv", text);
        refusal(&[&["--target", &bad, "--decoys", &good][..], more].concat())
    };
    assert!(against("", &["--n", "2"]).contains("is empty"));
    assert!(against("a,0.5\nb,0.4\n", &["--n", "2"]).contains("sum to 0.9"));
    assert!(against("a,1e40\n", &["--n", "2"]).contains("2^53"));
    for n in ["0", "1.5", "1e17", "5..2", "two"] {
        assert!(against("a,1\n", &["--n", n]).contains("--n"), "{n}");
    }
    assert!(against("a,1\n", &["--n", "2", "--guesses", "0"]).contains("--guesses"));
    assert!(against("a,1\n", &["--success", "0"]).contains("between 0 and 1"));
    assert!(against("a,1\n", &[]).contains("--n"));
    assert!(refusal(&["--randomizer", "planar-laplace(scale=1)", "--n", "2"]).contains("secrets"));
    assert!(refusal(&["--n", "2"]).contains("--target"));
}
