//! What can be asked of the shuffle model beyond a law of the target and one of the decoys, as users ask it.

use crate::common::check_schema;
use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

fn run(words: &str, files: &TempDir) -> std::process::Output {
    // Words of mechanisms contain no other blanks than these.
    let words: Vec<String> = words
        .split(' ')
        .map(|word| word.replace('_', " "))
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut command = Command::cargo_bin("leakgauge").unwrap();
    let output = command.current_dir(files).args(&words).output().unwrap();
    check_schema(&words, &output);
    output
}

fn json(words: &str, files: &TempDir) -> Value {
    let output = run(&format!("shuffle {words} --format json"), files);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{words}: {said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn refused(words: &str, files: &TempDir, says: &str) {
    let output = run(&format!("shuffle {words}"), files);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{words}: {said}");
    assert!(said.contains(says), "{words}: {said}");
}

fn near(value: &Value, expected: f64, tolerance: f64) {
    let found = value.as_f64().unwrap_or(f64::NAN);
    assert!(
        (found - expected).abs() <= tolerance * expected.abs(),
        "{found:e}, not {expected:e}"
    );
}

fn files() -> TempDir {
    let place = TempDir::new().unwrap();
    for (name, text) in [
        ("p.csv", "label,probability\na,0.5\nb,0.5\n"),
        ("q.csv", "label,probability\na,0.25\nb,0.75\n"),
        ("seen.csv", "message\na\nb\nb\n"),
        (
            "ratios.csv",
            "log_ratio,probability\n0.6931471805599453,0.5\n0,0.25\ninf,0.25\n",
        ),
        ("wrong.csv", "log_ratio,probability\n-3,1\n"),
    ] {
        std::fs::write(place.path().join(name), text).unwrap();
    }
    place
}

#[test]
fn information_of_noise_and_of_large_mechanisms() {
    let files = files();
    // By 30-digit quadrature.
    let found = json(
        "information --randomizer laplace(scale=1,_secrets=0..1) --n 10",
        &files,
    );
    near(&found["rows"][0]["input"]["exact"], 0.00860821710, 1e-9);
    assert_eq!(found["rows"][0]["message_clone"], Value::Null);
    let found = json(
        "information --randomizer rappor(epsilon=1,_secrets=100000) --n 10,1000000",
        &files,
    );
    let exact = |at: usize| found["rows"][at]["input"]["exact"].as_f64().unwrap();
    let asymptotic = found["rows"][1]["input"]["asymptotic"].as_f64().unwrap();
    assert!(exact(1) > 0.0 && exact(1) < exact(0) && (exact(1) / asymptotic - 1.0).abs() < 1e-3);
    let prior = "information --randomizer rappor(epsilon=1,_secrets=100000) --n 10 --prior 0.5,0.5";
    refused(prior, &files, "must be uniform");
    let noise = "vulnerability --randomizer laplace(scale=1,_secrets=0..1) --n 1,5";
    let found = json(noise, &files);
    // One message: the total variation of the two inputs is 1 − e^(−1/2).
    near(
        &found["rows"][0]["noise_and_shuffle"],
        0.5 + 0.5 * (1.0 - (-0.5f64).exp()),
        1e-12,
    );
    let limits = &found["rows"][1]["limits"];
    assert!(limits["lower"].as_f64() > Some(0.5) && limits["upper"].as_f64() < Some(0.69));
    let known = "vulnerability --randomizer laplace(scale=1,_secrets=0..1) --known 3,4";
    refused(known, &files, "too many messages");
    let many = "vulnerability --randomizer randomized-response(epsilon=1,_secrets=2) --n 100000000";
    let found = json(many, &files);
    let limits = &found["rows"][0]["limits"];
    // Two values have a closed form: ½ + tanh(ε/2)·C(2m, m)/4^m/2, by Stirling's formula.
    let exact = 0.5 + 0.5 * 0.5f64.tanh() / (std::f64::consts::PI * 5e7).sqrt();
    let (lower, upper) = (
        limits["lower"].as_f64().unwrap(),
        limits["upper"].as_f64().unwrap(),
    );
    assert!(
        lower < exact && exact < upper && upper - lower < 2e-5,
        "{limits}"
    );
}

#[test]
fn known_inputs_other_laws_and_observed_messages() {
    let files = files();
    let rr = "--randomizer randomized-response(epsilon=1,_secrets=2)";
    let found = json(&format!("information {rr} --known 3,2"), &files);
    let positions = found["positions"].as_array().unwrap();
    assert_eq!((positions.len(), &positions[0]["n"]), (2, &Value::from(6)));
    let most = found["position_bound"].as_f64().unwrap();
    assert!(
        positions
            .iter()
            .all(|one| one["position"].as_f64().unwrap() <= most)
            && most <= 1.0
    );
    let alike = json(&format!("information {rr} --n 9"), &files);
    let others = json(&format!("information {rr} --n 9 --others 1,0"), &files);
    let exact = |found: &Value| found["rows"][0]["input"]["exact"].as_f64().unwrap();
    assert!(
        exact(&alike) != exact(&others)
            && exact(&others) <= others["rows"][0]["input"]["blanket"].as_f64().unwrap()
    );
    let found = json(
        "information --target p.csv --decoys q.csv --observed seen.csv",
        &files,
    );
    // Ratios 2, 2/3 and 2/3.
    near(&found["posteriors"][0]["message"], 0.6, 1e-12);
    near(&found["posteriors"][1]["position"], 0.2, 1e-12);
    refused(
        "information --target p.csv --decoys q.csv --observed p.csv",
        &files,
        "p.csv",
    );

    let found = json(&format!("reidentify {rr} --input 0 --known 1,0"), &files);
    assert_eq!(found["kind"], "given-inputs");
    near(&found["rows"][0]["success"], 0.5, 1e-12);
    refused(
        &format!("reidentify {rr} --input 0 --known 1,0,0"),
        &files,
        "--known",
    );
}

#[test]
#[ignore = "long"]
fn densities_and_tables_of_ratios() {
    let files = files();
    let game = "reidentify --target normal(mean=1,_sigma=1) --decoys normal(mean=0,_sigma=1) --n 2";
    // Half of 1 + TV of the pair in either order, which are √2 apart.
    let variation = 2.0 * 0.760_249_938_906_523 - 1.0;
    near(
        &json(game, &files)["rows"][0]["success"],
        0.5 * (1.0 + variation),
        1e-9,
    );
    let mixture = "reidentify --target 0.5*normal(-2,_1)_+_0.5*laplace(2,_1) --decoys normal(0,_3) --n 10,100 --guesses 1,2";
    let found = json(mixture, &files);
    assert_eq!(found["rows"].as_array().unwrap().len(), 4);
    let half = "reidentify --target normal(0,_1) --decoys q.csv --n 10";
    refused(half, &files, "must both be densities");
    let found = json("reidentify --log-ratios ratios.csv --n 1,4", &files);
    near(&found["certain_mass"], 0.25, 1e-12);
    near(&found["rows"][0]["success"], 1.0, 1e-12);
    refused("reidentify --log-ratios wrong.csv --n 4", &files, "decoys");
    let rr = "reidentify --randomizer randomized-response(epsilon=1,_secrets=2) --n 10";
    refused(&format!("{rr} --input-law x"), &files, "--input-law x");
    let bounds = json(&format!("{rr} --input-law 0.9,0.1"), &files);
    let exact = json(
        &format!("{rr} --input-law 0.9,0.1 --against-law 0.1,0.9"),
        &files,
    );
    let success = exact["rows"][0]["success"].as_f64().unwrap();
    assert!(0.1 < success && success <= bounds["rows"][0]["blanket"].as_f64().unwrap());
}

#[test]
fn strong_adversaries_and_very_many_users() {
    let files = files();
    let many = "vulnerability --values 3 --keep 0.8 --known 300,300,300";
    let informed = &json(many, &files)["informed"];
    let error = informed["error"].as_f64().unwrap();
    assert!(informed["n"] == 901 && (0.0..1e-10).contains(&error));
    let found = informed["vulnerability"].as_f64().unwrap();
    // Between guessing and noise alone, and near the leading term 1/3 + … of the sums of Bernoulli trials.
    assert!(0.34 < found && found < 0.37, "{found}");
    let found = json(
        "vulnerability --values 3,4,5 --keep 0.8 --n 100000000",
        &files,
    );
    for row in found["rows"].as_array().unwrap() {
        let limits = &row["noise_and_shuffle_limits"];
        let value = row["noise_and_shuffle"].as_f64().unwrap();
        let (lower, upper) = (
            limits["lower"].as_f64().unwrap(),
            limits["upper"].as_f64().unwrap(),
        );
        assert!(
            lower < value && value < upper && upper - lower < 3e-8,
            "{row}"
        );
        near(&row["leading_term"], value, 1e-7);
    }
}
