//! `bounds --repeat`, `dp-sgd` and `shuffle privacy`: what repetition and shuffling leave, from above and from below.

use crate::common::check_schema;
use assert_cmd::Command;
use leakgauge::exact::bounds::{BoundsOptions, Row, bounds};
use serde_json::Value;

fn one(text: &str, options: &BoundsOptions) -> Row {
    let table = bounds(text, options).expect(text);
    assert_eq!(table.rows.len(), 1, "{text}");
    table.rows[0].clone()
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn output(arguments: &[&str]) -> std::process::Output {
    Command::cargo_bin("leakgauge")
        .unwrap()
        .args(arguments)
        .output()
        .unwrap()
}

fn program(arguments: &[&str]) -> (i32, String) {
    let output = output(arguments);
    let text =
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    (output.status.code().unwrap(), text)
}

fn report(arguments: &[&str]) -> Value {
    let output = output(arguments);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    check_schema(arguments, &output);
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A step of DP-SGD, repeated, is the claim and the mechanism of that name; sides enclose what another accountant says.
#[test]
#[ignore = "long"]
fn dp_sgd_is_its_step_repeated() {
    let step = "subsampled(gaussian(sigma=0.8), rate=0.01)";
    let options = [
        "--at-epsilon",
        "1",
        "--at-delta",
        "1e-5",
        "--format",
        "json",
    ];
    let repeated = report(&[&["bounds", step, "--repeat", "100"], &options[..]].concat());
    let named = report(
        &[
            &["bounds", "dp-sgd(sigma=0.8, rate=0.01, steps=100)"],
            &options[..],
        ]
        .concat(),
    );
    let row = &repeated["rows"][0];
    for key in [
        "bayes_security",
        "total_variation",
        "delta_at_epsilon",
        "epsilon_at_delta",
    ] {
        assert_eq!(row[key], named["rows"][0][key], "{key}");
    }
    // dp-accounting 0.6.0.
    let delta = number(&row["delta_at_epsilon"]);
    assert!(
        (delta / 1.2596565838700628e-4 - 1.0).abs() < 2e-3,
        "{delta:e}"
    );
    assert!(number(&row["delta_at_epsilon_at_least"]) <= delta);
    assert!(number(&row["bayes_security"]) <= number(&row["bayes_security_at_most"]));
    let closed = number(&row["bayes_security_closed_form"]);
    assert!(
        (closed - libm::erfc(0.1 / 0.8 / 8f64.sqrt())).abs() < 1e-15,
        "{closed}"
    );
}

#[test]
fn a_log_that_leaks_more_than_dp_sgd_allows_violates_the_claim() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.csv");
    let (code, rows) = program(&[
        "simulate",
        "randomized-response(epsilon=2, secrets=2)",
        "--rows",
        "4000",
    ]);
    assert_eq!(code, 0);
    std::fs::write(&log, rows).unwrap();
    let log = log.to_str().unwrap();
    let claim = "dp-sgd(sigma=2, rate=0.01, steps=10)";
    let (code, text) = program(&["audit", log, "--claim", claim]);
    assert_eq!(code, 1, "{text}");
    let (code, text) = program(&["audit", log, "--claim", "dp-sgd(sigma=1, rate=1, steps=40)"]);
    assert_eq!(code, 0, "{text}");
}

/// By transforms of the numbers on an even grid, and of the losses (numpy 2.4), to the digits that grids of half the fineness repeat.
#[test]
fn a_record_in_one_step_of_each_epoch_has_certified_figures() {
    for (text, variation, delta) in [
        (
            "random-allocation(sigma=1, steps=100, epochs=3)",
            0.089_236_99,
            6.053_75e-6,
        ),
        (
            "random-allocation(sigma=4, steps=50, epochs=40)",
            0.090_393_12,
            4.140_77e-7,
        ),
    ] {
        let options = BoundsOptions {
            at_epsilon: Some(1.0),
            profile: true,
            ..BoundsOptions::default()
        };
        let row = one(text, &options);
        for (most, least, exact) in [
            ("total_variation", "total_variation_at_least", variation),
            ("delta_at_epsilon", "delta_at_epsilon_at_least", delta),
        ] {
            let [least, most] = [least, most].map(|key| row.figure(key).unwrap());
            assert!(
                least <= exact * (1.0 + 1e-5) && exact <= most * (1.0 + 1e-5),
                "{text}: {least:e} {exact:e} {most:e}"
            );
            assert!(most / least < 1.01, "{text}: {least:e} {most:e}");
        }
    }
    // One step uses the record for certain, and an epoch repeated is several.
    let row = one(
        "random-allocation(sigma=2, steps=1)",
        &BoundsOptions::default(),
    );
    let exact = libm::erf(0.25 / std::f64::consts::SQRT_2);
    let (least, most) = (
        row.figure("total_variation_at_least").unwrap(),
        row.figure("total_variation").unwrap(),
    );
    assert!(
        least <= exact && exact <= most && most / least < 1.001,
        "{least} {exact} {most}"
    );
    let repeated = BoundsOptions {
        repeat: Some(2),
        ..BoundsOptions::default()
    };
    let [one_way, other] = [
        one("random-allocation(sigma=2, steps=5)", &repeated),
        one(
            "compose(random-allocation(sigma=2, steps=5)*2)",
            &BoundsOptions::default(),
        ),
    ];
    let [one_way, other] = [one_way, other].map(|row| row.figure("total_variation").unwrap());
    assert!((one_way / other - 1.0).abs() < 1e-3, "{one_way} {other}");
}

/// What `bounds` writes is a claim.
#[test]
fn a_curve_is_written_and_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("curve.csv");
    let name = file.to_str().unwrap();
    let step = "subsampled(gaussian(sigma=2), rate=0.1)";
    let (code, text) = program(&["bounds", step, "--repeat", "10", "--curve", name]);
    assert_eq!(code, 0, "{text}");
    let rows = std::fs::read_to_string(&file).unwrap();
    assert!(
        rows.starts_with("epsilon,delta,delta_at_least\n0e0,"),
        "{rows}"
    );
    let options = BoundsOptions {
        at_epsilon: Some(0.0),
        repeat: Some(10),
        ..BoundsOptions::default()
    };
    let exact = one(step, &options).figure("delta_at_epsilon").unwrap();
    let claims = leakgauge::input::claims::parse(&[format!("dp-curve({name})")]).unwrap();
    let leakgauge::claim::ClaimKind::Promise(promise) = &claims[0].kind else {
        panic!("a curve is a promise");
    };
    let points = promise.curve().unwrap().points();
    assert_eq!(points[0], (0.0, exact));
    assert_eq!(points.len(), rows.lines().count() - 1);
    for (content, problem) in [
        ("0.1,2\n", "row 1"),
        ("epsilon,delta\n", "no epsilon"),
        ("x,y\n-1,0\n", "row 2"),
    ] {
        std::fs::write(&file, content).unwrap();
        let error = leakgauge::input::claims::parse(&[format!("dp-curve({name})")]).unwrap_err();
        assert!(error.to_string().contains(problem), "{error}");
    }
    let (code, text) = program(&["bounds", "gdp(1..2:2)", "--curve", name]);
    assert!(code == 2 && text.contains("grid"), "{text}");
}

#[test]
fn what_cannot_be_repeated_is_refused() {
    for (arguments, problem) in [
        (
            ["bounds", "gaussian(sigma=1, secrets=2)", "--repeat", "0"],
            "repeat",
        ),
        (
            ["bounds", "gaussian(sigma=1, secrets=2)", "--at-delta", "2"],
            "below 1",
        ),
    ] {
        let (code, text) = program(&arguments);
        assert_eq!(code, 2, "{text}");
        assert!(text.contains(problem), "{text}");
    }
    for text in [
        "subsampled(gaussian(1), rate=0)",
        "subsampled(rate=0.1)",
        "dp-sgd(sigma=1, rate=0.1, steps=1.5)",
    ] {
        assert!(bounds(text, &BoundsOptions::default()).is_err(), "{text}");
    }
}

/// Only the range of secrets matters: none is listed, and a list of them would not fit into memory.
#[test]
fn a_billion_secrets_are_not_listed() {
    let row = one(
        "laplace(epsilon=1, secrets=0..1000000000)",
        &BoundsOptions::default(),
    );
    // 1 + 10^9·(1 − e^(−1/2)), by mpmath.
    let capacity = row.figure("capacity").unwrap();
    assert!(
        (capacity / 393_469_341.287_366_57 - 1.0).abs() < 1e-12,
        "{capacity}"
    );
    assert_eq!(row.figure("epsilon"), Some(1e9));
    let (_, text) = program(&["bounds", "laplace(epsilon=1, secrets=1e7)"]);
    assert!(text.contains("below 1e-307"), "{text}");
    let (_, text) = program(&["bounds", "ldp(1000)"]);
    assert!(text.contains("above 1e308"), "{text}");
}

/// Binary randomized response, 1000 users: by sums over both counts in Python (scipy).
#[test]
fn shuffled_reports_have_a_delta_from_above_and_from_below() {
    let arguments = [
        "shuffle",
        "privacy",
        "--randomizer",
        "randomized-response(epsilon=2, secrets=2)",
        "--n",
        "1000",
    ];
    let table = report(&[&arguments[..], &["--at-epsilon", "0.1", "--format", "json"]].concat());
    let row = &table["rows"][0];
    for (key, expected) in [
        ("least", 0.0036695010437699195),
        ("exact", 0.0036695010437699195),
        ("best", 0.0036695010437699195),
        ("variation_ratio", 0.008441658141337417),
        ("stronger_clone", 0.008441658141337417),
        ("clone", 0.017667720157100046),
    ] {
        assert!(
            (number(&row[key]) / expected - 1.0).abs() < 1e-6,
            "{key}: {row}"
        );
    }
    let (code, text) = program(&[&arguments[..], &["--at-epsilon", "0.1"]].concat());
    assert!(
        code == 0 && text.contains("0.0036695") && text.contains("0.00844166"),
        "{text}"
    );
    let (code, _) = program(&[&arguments[..], &["--at-epsilon=-1"]].concat());
    assert_eq!(code, 2);
}

/// Either record may be the one that is added: databases of records that are all "1", with "0" added, have δ(1) = 0.41347 after
/// eight steps (exact sums over all losses), where 0.3807 was printed as an upper side.
#[test]
fn batches_of_a_mechanism_that_is_not_alike_in_both_orders_are_not_composed() {
    let base = "normalized-geometric(nu=2, secrets=0..1, observations=0..5)";
    let text = format!("subsampled({base}, batch=3, records=10, relation=add-or-remove)");
    let (code, said) = program(&["bounds", &text, "--repeat", "8", "--at-epsilon", "1"]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("not known"), "{said}");
    // One step takes both orders.
    let (code, said) = program(&["bounds", &text, "--at-epsilon", "0.3"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("0.1913"), "{said}");
    let rare = "subsampled(gaussian(sigma=1), batch=1, records=1e8)";
    let (code, said) = program(&["bounds", rare, "--repeat", "100"]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("rate="), "{said}");
    let (code, said) = program(&["bounds", "gdp(1)", "--group", "3", "--curve", "curve.csv"]);
    assert_eq!(code, 2, "{said}");
}
