//! `leakgauge bounds`: its numbers, its keys, and what it says when something is wrong.

use crate::common::{Place, check_schema};
use assert_cmd::Command;
use leakgauge::exact::bounds::{BoundsOptions, Row, bounds};
use leakgauge::exact::mechanism::parse;
use serde_json::Value;

fn one(text: &str, options: &BoundsOptions) -> Row {
    let table = bounds(text, options).expect(text);
    assert_eq!(table.rows.len(), 1, "{text}");
    table.rows[0].clone()
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

/// 1e-12 relative; 1e-15 absolute where the tabulated value is a difference that vanishes.
fn check(entry: &Value, what: &str, computed: Option<f64>) {
    let (expected, computed) = (number(&entry["values"][what]), computed.unwrap());
    let error = (computed - expected).abs();
    assert!(
        error <= (1e-12 * expected.abs()).max(1e-15),
        "{}, {what}: {computed:e}, not {expected:e}",
        entry["id"]
    );
}

#[test]
fn promises_and_mechanisms_have_the_tabulated_bounds() {
    let table: Value = serde_json::from_str(include_str!("golden/bounds.json")).unwrap();
    let plain = BoundsOptions::default();
    for entry in table["entries"].as_array().unwrap() {
        let params = &entry["params"];
        match entry["kind"].as_str().unwrap() {
            "fig4" => {
                let row = one(&format!("ldp({})", params["eps"]), &plain);
                check(entry, "beta_bound", row.figure("bayes_security"));
                check(entry, "adv_bound", row.figure("advantage_corollary_2"));
                check(entry, "yeom_adv_bound", row.figure("advantage_yeom"));
                check(entry, "yeom_beta_bound", row.figure("bayes_security_yeom"));
            }
            "cor1" => {
                let options = BoundsOptions {
                    values: params["v"].as_u64(),
                    records: params["n"].as_u64(),
                    ..plain
                };
                let row = one(&format!("dp({})", params["eps"]), &options);
                check(entry, "L_mult_bound", row.figure("database_leakage"));
                check(entry, "beta_bound", row.figure("database_risk_leakage"));
            }
            "eq21" => {
                // R* of two equally likely secrets is half of the Bayes security.
                let row = one(&format!("ldp({})", params["eps"]), &plain);
                let wrong = 1.0 - row.figure("guess_probability").unwrap();
                check(entry, "R_star_min", Some(wrong));
            }
            "rr" => {
                let (epsilon, n) = (&params["eps"], &params["n"]);
                let text = format!("randomized-response({epsilon}, secrets={n})");
                let row = one(&text, &plain);
                check(entry, "beta_star", row.figure("bayes_security"));
                check(entry, "adv", row.figure("advantage"));
                check(entry, "ml_capacity", row.figure("capacity"));
                check(entry, "guess_prob", row.figure("guess_probability"));
            }
            "gaussian" => check_gaussian(entry),
            "gaussian_dp" => {
                let (epsilon, delta) = (&params["eps"], &params["delta"]);
                let text = format!("gaussian(epsilon={epsilon}, delta={delta}, secrets=2)");
                let row = one(&text, &plain);
                check(entry, "beta_star", row.figure("bayes_security"));
                check(entry, "guess_prob", row.figure("guess_probability"));
            }
            kind => panic!("unknown kind {kind}"),
        }
    }
}

/// Secrets of the table are any numbers, which only a log can have.
fn check_gaussian(entry: &Value) {
    let secrets = entry["params"]["secrets"].as_array().unwrap();
    let labels: Vec<_> = secrets.iter().map(Value::to_string).collect();
    let text = format!("gaussian({})", entry["params"]["sigma"]);
    let bound = parse(&text).unwrap().bind(&labels).unwrap();
    let (a, b) = bound.worst_pair().unwrap();
    check(entry, "beta_star", Some(bound.bayes_security(a, b)));
}

/// Theorem 6 for one record is the capacity of randomized response over as many secrets.
#[test]
fn capacity_under_a_promise_is_attained() {
    for (epsilon, n) in [(0.1, 2), (1.0, 5), (3.0, 100)] {
        let options = BoundsOptions {
            secrets: Some(n),
            values: Some(n),
            ..BoundsOptions::default()
        };
        let promise = one(&format!("ldp({epsilon})"), &options);
        let text = format!("randomized-response({epsilon}, secrets={n})");
        let response = one(&text, &BoundsOptions::default());
        for name in ["capacity", "database_leakage"] {
            let difference = promise.figure(name).unwrap() - response.figure("capacity").unwrap();
            assert!(difference.abs() < 1e-13 * n as f64, "{text} {name}");
        }
        assert!(promise.figure("bayes_security") <= response.figure("bayes_security"));
    }
    // (ε, δ) over n secrets: 1 + (n − 1)·tv, which the erasure channel attains at ε = 0.
    let options = BoundsOptions {
        secrets: Some(4),
        ..BoundsOptions::default()
    };
    let promise = one("dp(epsilon=0, delta=0.25)", &options);
    let erasure = one(
        "identity(0.25, otherwise=none, secrets=4)",
        &BoundsOptions::default(),
    );
    assert_eq!(promise.figure("capacity"), erasure.figure("capacity"));
    assert_eq!(promise.figure("advantage"), erasure.figure("advantage"));
    assert_eq!(
        one("ldp(2)", &BoundsOptions::default()).figure("capacity"),
        Some(2f64.exp())
    );
}

#[test]
fn group_privacy_is_that_of_the_farther_secrets() {
    // Laplace noise is its promise: neighbors at distance 1, a group at distance k. The promise
    // bounds what the mechanism leaks, step by step.
    for k in [1, 2, 5] {
        let options = BoundsOptions {
            group: Some(k),
            ..BoundsOptions::default()
        };
        let promise = one("ldp(0.4)", &options);
        let text = format!("laplace(epsilon=0.4, secrets={})", k + 1);
        let laplace = one(&text, &BoundsOptions::default());
        assert!(
            (promise.figure("group_epsilon").unwrap() - laplace.figure("epsilon").unwrap()).abs()
                < 1e-15
        );
        assert!(promise.figure("group_advantage") >= laplace.figure("advantage"));
        assert_eq!(promise.figure("group_delta"), Some(0.0));
    }
    let options = BoundsOptions {
        group: Some(3),
        ..BoundsOptions::default()
    };
    let row = one("advantage(0.2)", &options);
    assert!((row.figure("group_advantage").unwrap() - 0.6).abs() < 1e-15);
    assert_eq!(row.figure("group_epsilon"), None);
    let row = one("dp(epsilon=0, delta=0.01)", &options);
    assert!((row.figure("group_delta").unwrap() - 0.03).abs() < 1e-15);
    assert!((row.figure("group_advantage").unwrap() - 0.03).abs() < 1e-15);
}

/// (0, δ)-privacy is advantage δ, both ways (Proposition 2).
#[test]
fn zero_epsilon_is_advantage() {
    for delta in [0.0, 1e-9, 0.3, 1.0] {
        let promise = one(
            &format!("dp(epsilon=0, delta={delta})"),
            &BoundsOptions::default(),
        );
        let advantage = one(&format!("advantage({delta})"), &BoundsOptions::default());
        for name in ["advantage", "bayes_security", "delta_at_epsilon_zero"] {
            assert_eq!(
                promise.figure(name),
                advantage.figure(name),
                "{delta} {name}"
            );
        }
    }
}

#[test]
fn a_given_prior_changes_corollary_1() {
    let with = |largest_prior| BoundsOptions {
        values: Some(2),
        records: Some(2),
        largest_prior,
        ..BoundsOptions::default()
    };
    let uniform = one("dp(0.5)", &with(None))
        .figure("database_risk_leakage")
        .unwrap();
    let given = one("dp(0.5)", &with(Some(0.25)))
        .figure("database_risk_leakage")
        .unwrap();
    assert!((uniform - given).abs() < 1e-14);
    let leakage = one("dp(0.5)", &with(None))
        .figure("database_leakage")
        .unwrap();
    let skewed = one("dp(0.5)", &with(Some(0.5)))
        .figure("database_risk_leakage")
        .unwrap();
    assert!((skewed - (1.0 - 0.5 * leakage) / 0.5).abs() < 1e-14);
    // Where the bound says nothing it is 0.
    assert_eq!(
        one("dp(9)", &with(Some(0.9))).figure("database_risk_leakage"),
        Some(0.0)
    );
}

#[test]
fn nothing_overflows_or_turns_negative_at_large_epsilon() {
    let options = BoundsOptions {
        secrets: Some(1_000_000_000),
        group: Some(1000),
        values: Some(1_000_000_000),
        records: Some(1000),
        ..BoundsOptions::default()
    };
    for text in [
        "ldp(700)",
        "ldp(1e300)",
        "dp(epsilon=700, delta=1e-9)",
        "ldp(0)",
    ] {
        for (name, figure) in one(text, &options).figures {
            let fine = figure
                .is_none_or(|figure| !figure.is_nan() && (figure >= 0.0 || name.ends_with("yeom")));
            assert!(fine, "{text} {name}: {figure:?}");
        }
    }
}

fn leakgauge(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::cargo_bin("leakgauge")
        .unwrap()
        .arg("bounds")
        .args(arguments)
        .output()
        .unwrap();
    check_schema(&[&["bounds"], arguments].concat(), &output);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (
        output.status.code().unwrap(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

#[test]
fn json_has_a_row_a_point_with_the_stable_keys() {
    let (code, out, _) = leakgauge(&[
        "randomized-response(epsilon=0.1..10:50, secrets=10)",
        "--format",
        "json",
    ]);
    assert_eq!(code, 0);
    let json: Value = serde_json::from_str(&out).unwrap();
    let rows = json["rows"].as_array().unwrap();
    assert_eq!((rows.len(), &json["schema_version"]), (50, &Value::from(1)));
    assert_eq!(rows[0]["epsilon"], 0.1);
    assert_eq!(rows[49]["epsilon"], 10.0);
    assert_eq!(rows[7]["secrets"], 10.0);
    assert_eq!(rows[7]["worst_pair"], serde_json::json!(["0", "1"]));
    for key in ["bayes_security", "total_variation", "advantage", "capacity"] {
        assert!(rows.iter().all(|row| row[key].is_f64()), "{key}");
    }
    let (_, out, _) = leakgauge(&["gaussian(sigma=1..2:2, secrets=0..3)", "--format", "json"]);
    let json: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json["rows"][1]["sigma"], 2.0);
    assert_eq!(json["rows"][1]["secrets"], "0..3");
    assert!(json["rows"][1]["epsilon"].is_null());
    // A figure hides the parameter of its name, which is kept apart.
    let (_, out, _) = leakgauge(&["laplace(epsilon=0.5, secrets=4)", "--format", "json"]);
    let json: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (
            &json["rows"][0]["epsilon"],
            &json["rows"][0]["parameters"]["epsilon"]
        ),
        (&Value::from(1.5), &Value::from(0.5))
    );
}

#[test]
fn text_and_markdown_show_the_same_numbers() {
    let (code, text, _) = leakgauge(&["laplace(scale=0.5..4:8, secrets=0..9)"]);
    assert_eq!(code, 0);
    assert!(
        text.contains("scale") && text.contains("0.0001234"),
        "{text}"
    );
    let (_, markdown, _) = leakgauge(&[
        "laplace(scale=0.5..4:8, secrets=0..9)",
        "--format",
        "markdown",
    ]);
    assert_eq!(
        markdown
            .lines()
            .filter(|line| line.starts_with('|'))
            .count(),
        10
    );
}

#[test]
fn grids_of_nested_mechanisms_are_expanded() {
    let (_, out, _) = leakgauge(&[
        "mixture(randomized-response(1, secrets=3), identity(0), weight=0..1:3)",
        "--format",
        "json",
    ]);
    let json: Value = serde_json::from_str(&out).unwrap();
    let advantage = |row: usize| number(&json["rows"][row]["advantage"]);
    assert!(advantage(0).abs() < 1e-16 && (2.0 * advantage(1) - advantage(2)).abs() < 1e-15);
    let (_, out, _) = leakgauge(&[
        "mixture(oue(1..2:4, secrets=3), identity(0))",
        "--format",
        "json",
    ]);
    let json: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json["rows"].as_array().unwrap().len(), 4);
    assert_eq!(json["rows"][3]["first"], "oue(2, secrets=3)");
}

#[test]
fn what_is_wrong_is_said_by_name() {
    for (arguments, says) in [
        (
            vec!["randomized-response(epsilon=-1, secrets=3)"],
            "epsilon must be at least 0, got -1",
        ),
        (
            vec!["randomized-response(epsilon=-1..1:3, secrets=3)"],
            "epsilon must be at least 0, got -1",
        ),
        (
            vec!["laplace(scale=0, secrets=3)"],
            "scale must be above 0, got 0",
        ),
        (vec!["laplace(scale=2, secrets=1)"], "secrets= gives one"),
        (vec!["olh(1, secrets=1)"], "secrets= gives one"),
        (
            vec!["planar-laplace(scale=1, secrets=1)"],
            "secrets= gives one",
        ),
        (vec!["laplace(scale=2)"], "add secrets="),
        (vec!["laplace(scal=2, secrets=3)"], "did you mean scale?"),
        (vec!["laplase(scale=2)"], "did you mean laplace?"),
        (
            vec!["laplace(scale=1..2:0, secrets=3)"],
            "a whole number of grid points",
        ),
        (
            vec!["laplace(scale=1..2:100001, secrets=3)"],
            "at most 100000 points",
        ),
        (
            vec!["laplace(epsilon=1..2:1001, sensitivity=1..2:1001, secrets=3)"],
            "more than 100000 combinations",
        ),
        (
            vec!["laplace(scale=1, secrets=2..9:3)"],
            "secrets must be a count, at least 1, or a range",
        ),
        (vec!["laplace(scale=1, secrets=a)"], "got the word a"),
        (
            vec!["mixture(oue(1), rappor(1), weight=2)"],
            "weight must be between 0 and 1, got 2",
        ),
        (
            vec!["dp(epsilon=1, delta=2)"],
            "delta must be between 0 and 1, got 2",
        ),
        (
            vec!["laplace(scale=1, secrets=3)", "--group", "2"],
            "are for promises",
        ),
        (
            vec!["attack-advantage(0.1)", "--repeat", "2"],
            "says nothing of several runs",
        ),
        (
            vec!["ldp(1)", "--repeat", "2", "--group", "3"],
            "--group: is about one run; leave out --repeat",
        ),
        (
            vec!["laplace(scale=1, secrets=3)", "--at-epsilon=-1"],
            "--at-epsilon -1: must be at least 0",
        ),
        (
            vec!["ldp(1)", "--group", "0"],
            "--group 0: must be at least 1",
        ),
        (
            vec!["ldp(1)", "--values", "1"],
            "--values 1: must be at least 2",
        ),
        (vec!["ldp(1)", "--records", "3"], "needs --values"),
        (
            vec!["ldp(1)", "--values", "2", "--largest-prior", "0.1"],
            "uniform prior, 0.5",
        ),
        (
            vec!["ldp(1)", "--values", "2", "--largest-prior", "1"],
            "and below 1",
        ),
    ] {
        let (code, out, error) = leakgauge(&arguments);
        assert_eq!((code, out.as_str()), (2, ""), "{arguments:?}");
        assert!(error.contains(says), "{arguments:?} gave {error}");
    }
}

#[test]
fn points_are_simulated_in_two_columns() {
    let output = Command::cargo_bin("leakgauge")
        .unwrap()
        .args([
            "simulate",
            "planar-geometric(nu=0.5, secrets=3)",
            "--rows",
            "20",
        ])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().next(), Some("secret,x,y"));
    assert_eq!(text.lines().count(), 21);
    for line in text.lines().skip(1) {
        let fields: Vec<_> = line.split(',').collect();
        assert!(fields.len() == 3 && fields[0].contains(';'), "{line}");
        assert!(
            fields[1..]
                .iter()
                .all(|field| ["0", "1", "2"].contains(field)),
            "{line}"
        );
    }
}

/// Gaussian noise attains what its μ allows, in a group too; ρ allows no less than noise with it has.
#[test]
fn gaussian_and_concentrated_promises_bound_gaussian_noise() {
    let options = BoundsOptions {
        group: Some(3),
        secrets: Some(4),
        ..BoundsOptions::default()
    };
    let [mu, rho] = ["gdp(mu=0.5)", "zcdp(rho=0.125)"].map(|promise| one(promise, &options));
    let noise = |secrets: &str| {
        one(
            &format!("gaussian(sigma=2, secrets={secrets})"),
            &BoundsOptions::default(),
        )
    };
    for (name, noise) in [
        ("advantage", noise("2")),
        ("group_advantage", noise("0..3")),
    ] {
        let exact = noise.figure("advantage").unwrap();
        assert!((mu.figure(name).unwrap() - exact).abs() < 1e-15);
        assert!(rho.figure(name).unwrap() > exact);
    }
    assert_eq!(mu.figure("group_mu"), Some(1.5));
    assert_eq!(rho.figure("group_rho"), Some(1.125));
    assert_eq!(mu.figure("epsilon"), Some(f64::INFINITY));
    assert!(mu.figure("capacity").unwrap() > 1.0);
    let refused = leakgauge::exact::bounds::bounds("gdp(mu=1, unit=2)", &options).unwrap_err();
    assert!(refused.to_string().contains("`group = K`"), "{refused}");
}

/// Beyond the largest number its inverse is none: integrals went on for billions of steps.
#[test]
fn noise_of_the_largest_scale_is_soon_computed() {
    let place = Place::new();
    for secrets in ["0..1", "0..20"] {
        let mechanism = format!("planar-laplace(scale=1.7e308, secrets={secrets})");
        let begun = std::time::Instant::now();
        let answer = place.json(&["bounds", &mechanism, "--at-epsilon", "0.1"]);
        assert!(begun.elapsed().as_secs() < 30, "{:?}", begun.elapsed());
        let row = &answer["rows"][0];
        assert_eq!(row["bayes_security"], 1.0, "{row}");
        assert_eq!(row["capacity"], 1.0, "{row}");
    }
}
