//! `leakgauge optimal` as a user runs it.

use std::path::PathBuf;
use std::process::Output;

use crate::common::check_schema;
use assert_cmd::Command;
use serde_json::Value;

const LOSS: &str =
    "answer,a,b,c,d\nw1,0,1,2,4\nw2,1,0,1,3\nw3,3,1,0,0.5\nw4,5,4,1,0\nnone,1,1,1,1\n";

fn run(command: &str, arguments: &[&str]) -> Output {
    let mut program = Command::cargo_bin("leakgauge").unwrap();
    let output = program.arg(command).args(arguments).output().unwrap();
    check_schema(&[&[command], arguments].concat(), &output);
    output
}

fn json(command: &str, arguments: &[&str]) -> Value {
    let output = run(command, &[arguments, &["--format", "json"]].concat());
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{message}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn refusal(arguments: &[&str]) -> String {
    let output = run("optimal", arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// The loss is scipy's (linprog over all pairs of secrets), and `channel` says of the matrix that is written what was
/// promised.
#[test]
fn the_matrix_that_is_written_keeps_what_was_asked_and_loses_what_another_solver_says() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| -> PathBuf { folder.path().join(name) };
    std::fs::write(path("loss.csv"), LOSS).unwrap();
    let (loss, matrix) = (path("loss.csv"), path("matrix.csv"));
    let (loss, matrix) = (loss.to_str().unwrap(), matrix.to_str().unwrap());
    let prior = "0.4,0.3,0.2,0.1";
    let asked = ["--loss", loss, "--epsilon", "0.7", "--prior", prior];
    let found = json("optimal", &[&asked[..], &["--matrix", matrix]].concat());
    let number = |value: &Value| value.as_f64().unwrap();
    let expected = 0.823_201_141_936_681_6;
    assert!((number(&found["loss"]) - expected).abs() < 1e-7);
    assert!(number(&found["loss_at_least"]) <= expected + 1e-12);
    let channel = json("channel", &[matrix, "--prior", prior]);
    assert!(number(&channel["epsilon"]) <= 0.7);
    assert_eq!(channel["secrets"], found["secrets"]);
    // The attacker who guesses the answers' losses anew finds nothing better.
    let again = json("channel", &[matrix, "--prior", prior, "--loss", loss]);
    let risk = number(&again["loss"]["risk"]);
    assert!((risk - number(&found["loss"])).abs() < 1e-7, "{risk}");
    let text = String::from_utf8(run("optimal", &asked).stdout).unwrap();
    assert!(text.contains("0.7-LDP"), "{text}");
    let twice = refusal(&[&asked[..], &["--matrix", matrix]].concat());
    assert!(twice.contains("already exists"), "{twice}");
}

#[test]
fn distances_of_secrets_loosen_what_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let loss = folder.path().join("loss.csv");
    let rows: String = (0..7)
        .map(|w| {
            let losses: Vec<String> = (0..7).map(|s: i32| (w - s).abs().to_string()).collect();
            format!("w{w},{}\n", losses.join(","))
        })
        .collect();
    std::fs::write(&loss, format!("answer,0,1,2,3,4,5,6\n{rows}")).unwrap();
    let loss = loss.to_str().unwrap();
    let found = json(
        "optimal",
        &[
            "--loss",
            loss,
            "--epsilon",
            "0.5",
            "--distance",
            "difference",
        ],
    );
    // linprog of scipy 1.17.1.
    assert!((found["loss"].as_f64().unwrap() - 1.160_676_280_785_567).abs() < 1e-7);
    assert!(found["reached_epsilon"].as_f64().unwrap() <= 0.5);
    let numbered = folder.path().join("numbered.csv");
    std::fs::write(&numbered, "answer,a,b\n1,0,1\n2,1,0\n").unwrap();
    let numbered = numbered.to_str().unwrap();
    let refused = refusal(&["--loss", numbered, "--epsilon", "1"]);
    assert!(refused.contains("--no-labels"), "{refused}");
    let found = json(
        "optimal",
        &["--loss", numbered, "--epsilon", "1", "--labels"],
    );
    assert_eq!(found["secrets"], serde_json::json!(["a", "b"]));
    let refused = refusal(&["--loss", loss, "--epsilon", "0"]);
    assert!(refused.contains("--epsilon 0"), "{refused}");
    let refused = refusal(&["--loss", loss, "--epsilon", "1", "--distance", "none.csv"]);
    assert!(refused.contains("none.csv"), "{refused}");
}

/// Losses of very different sizes: the solution of the program lost 9,258 where an answer for all secrets loses two thirds.
#[test]
fn no_mechanism_loses_more_than_one_answer_for_all_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let loss = folder.path().join("loss.csv");
    std::fs::write(
        &loss,
        "answer,a,b,c\nx,1e15,0,1\ny,0,1e-300,2\nz,1e-5,1e15,0\n",
    )
    .unwrap();
    let asked = ["--loss", loss.to_str().unwrap(), "--epsilon", "25"];
    let found = json("optimal", &asked);
    assert!(
        found["loss"].as_f64() <= found["constant_loss"].as_f64(),
        "{found}"
    );
    let text = String::from_utf8(run("optimal", &asked).stdout).unwrap();
    assert!(text.contains("best mechanism that was found"), "{text}");
}

/// The solver of linear programs panicked.
#[test]
fn gains_that_are_too_far_apart_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("m.csv"), "0.5,0.5\n0.1,0.9\n0.3,0.7\n").unwrap();
    for large in ["1e100", "1e308"] {
        let gain = format!("guess,x,y,z\n1,{large},-{large},0\n2,0,{large},0\n");
        std::fs::write(path("g.csv"), gain).unwrap();
        let arguments = [&path("m.csv"), "--gain", &path("g.csv"), "--capacity"];
        let output = run("channel", &arguments);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
    }
}
