//! `leakgauge explain`: what it says of claims, beside the figures of a log, and of nonsense.

use crate::common::{Place, stderr, stdout};
use serde_json::Value;

/// The figures of this name.
fn figures<'j>(report: &'j Value, name: &str) -> Vec<&'j Value> {
    let all = report["figures"].as_array().expect("figures").iter();
    all.filter(|figure| figure["figure"] == name).collect()
}

fn text(arguments: &[&str]) -> String {
    let output = Place::new().run(arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    stdout(&output)
}

fn dataset(name: &str) -> String {
    format!("{}/datasets/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn every_claim_has_an_explanation_that_fits_on_a_screen() {
    for claim in [
        "ldp(epsilon=1)",
        "dp(epsilon=1, delta=1e-5)",
        "dp(epsilon=1, delta=1e-5, unit=1)",
        "gdp(1)",
        "zcdp(0.5)",
        "rdp(alpha=2, epsilon=0.5)",
        "dsigma(alpha=1)",
        "dp-curve(dp(1), dp(epsilon=0.5, delta=1e-3))",
        "f-dp(point(fpr=0.1, fnr=0.6), point(0.3, 0.3))",
        "dp-sgd(sigma=1, rate=0.01, steps=100)",
        "bayes-security(0.9)",
        "advantage(0.1)",
        "attack-advantage(0.1)",
        "time-difference(10ns)",
        "laplace(scale=2, secrets=0..3)",
        "randomized-response(epsilon=1, secrets=10)",
        "shuffled(randomized-response(epsilon=1, secrets=2), n=100)",
    ] {
        let text = text(&["explain", claim]);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.len() <= 25, "{} lines:\n{text}", lines.len());
        assert!(
            lines.iter().all(|line| line.chars().count() <= 100),
            "{text}"
        );
        assert!(lines[0].contains("attacker"), "{text}");
    }
}

#[test]
fn the_json_has_the_figures_and_why_some_are_missing() {
    let report = Place::new().json(&["explain", "dp(epsilon=1, delta=1e-5)"]);
    assert_eq!(report["kind"], "promise");
    let advantage = figures(&report, "advantage")[0];
    // (e − 1 + 2·1e-5)/(e + 1).
    let expected = (1f64.exp() - 1.0 + 2e-5) / (1f64.exp() + 1.0);
    assert!((advantage["claim"].as_f64().expect("a number") - expected).abs() < 1e-12);
    assert_eq!(advantage["side"], "at-most");
    let epsilons = figures(&report, "epsilon");
    assert_eq!(epsilons[0]["claim"], Value::Null);
    assert!(
        epsilons[0]["reason"]
            .as_str()
            .expect("a reason")
            .contains("delta")
    );
    assert_eq!(epsilons[1]["claim"], 1.0);
    assert_eq!(report["log"], Value::Null);
    // 1000·(e + 999·1e-5)/(e + 999), and by hand for ten.
    let named: Vec<f64> = figures(&report, "naming")
        .iter()
        .map(|one| one["claim"].as_f64().expect("a number"))
        .collect();
    for (found, n) in named.iter().zip([10.0, 1000.0]) {
        let expected = (1f64.exp() + (n - 1.0) * 1e-5) / (1f64.exp() + n - 1.0);
        assert!((found / expected - 1.0).abs() < 1e-6, "{found} {expected}");
    }
    let report = Place::new().json(&["explain", "time-difference(10ns)"]);
    assert_eq!(report["covers"], "times");
    let all = report["figures"].as_array().expect("figures").iter();
    assert!(all.clone().count() > 5);
    assert!(all.into_iter().all(|figure| figure["claim"].is_null()));
}

/// What is certified of a log stands beside what the claim allows, and is what the audit finds.
#[test]
fn a_log_stands_beside_the_claim() {
    let log = dataset("randomized-response-broken.csv");
    let how = ["--quick", "--budget", "1s"];
    let claim = "ldp(epsilon=1)";
    let report = Place::new().json(&[&["explain", claim, &log], &how[..]].concat());
    assert_eq!(report["log"]["verdict"][0]["verdict"], "violated");
    let audit = [
        &["audit", &log, "--claim", claim, "--format", "json"],
        &how[..],
    ]
    .concat();
    let audit: Value = serde_json::from_slice(&Place::new().run(&audit).stdout).expect("JSON");
    let limit = |value: &Value| value.as_f64().expect("a number");
    let advantage = &figures(&report, "advantage")[0]["log"];
    let security = &audit["overall"]["bayes_security"];
    assert!((limit(&advantage["lower"]) - (1.0 - limit(&security["upper"]))).abs() < 1e-12);
    assert!((limit(&advantage["upper"]) - (1.0 - limit(&security["lower"]))).abs() < 1e-12);
    assert_eq!(
        figures(&report, "epsilon")[0]["log"]["lower"],
        audit["privacy"][0]["lower"]
    );
    // Of four secrets.
    let naming = figures(&report, "naming");
    assert_eq!(naming.len(), 1);
    assert_eq!(naming[0]["secrets"], 4);
    let capacity = limit(&audit["overall"]["capacity"]["lower"]);
    assert!((limit(&naming[0]["log"]["lower"]) - capacity / 4.0).abs() < 1e-12);
    let text = text(&[&["explain", claim, &log], &how[..]].concat());
    assert!(text.contains("VIOLATED: ldp(epsilon=1)"), "{text}");
    assert!(text.lines().count() <= 25, "{text}");
    // The secrets of a mechanism that declares none are those of the log.
    let report = Place::new().json(
        &[
            &["explain", "laplace(scale=2)", &dataset("laplace.csv")],
            &how[..],
        ]
        .concat(),
    );
    assert_eq!(report["worst_pair"], serde_json::json!(["0", "9"]));
}

/// Information is an average over a prior: of equally likely secrets a bound at another prior says nothing. Two secrets that
/// tell themselves have 0.08 bits where one of them is rare.
#[test]
fn information_at_another_prior_says_nothing_of_equally_likely_secrets() {
    let rows: String = (0..3000)
        .map(|row| if row % 100 == 0 { "b,1\n" } else { "a,0\n" })
        .collect();
    let place = Place::with_log("secret,x\n".to_owned() + &rows);
    let with = |prior: &str| {
        let arguments = [
            "explain",
            "mutual-information(0.09)",
            "log.csv",
            "--quick",
            "--prior",
            prior,
        ];
        figures(&place.json(&arguments), "advantage")[0]["claim"].clone()
    };
    assert_eq!(with("empirical"), Value::Null);
    assert!(
        with("uniform")
            .as_f64()
            .is_some_and(|advantage| advantage < 0.36)
    );
}

/// Of the best attack found the same limits as in the verdict, which are over all pairs.
#[test]
fn the_best_attack_found_is_that_of_the_verdict() {
    let log = dataset("laplace.csv");
    let claim = "attack-advantage(0.4)";
    let how = ["--quick", "--budget", "1s"];
    let report = Place::new().json(&[&["explain", claim, &log], &how[..]].concat());
    let audit = [
        &["audit", &log, "--claim", claim, "--format", "json"],
        &how[..],
    ]
    .concat();
    let audit: Value = serde_json::from_slice(&Place::new().run(&audit).stdout).expect("JSON");
    let (ours, judged) = (
        &figures(&report, "advantage")[0]["log"],
        &audit["claims"][0]["estimate"],
    );
    assert_eq!(ours["lower"], judged["lower"]);
    assert_eq!(ours["upper"], judged["upper"]);
}

#[test]
fn nonsense_is_refused() {
    let place = Place::new();
    place.refuses(&["explain", "dp(epsilon=-1)"], &["epsilon"]);
    place.refuses(&["explain", "privacy(1)"], &["no claim has this name"]);
    place.refuses(&["explain", "laplace(scale=2)"], &["secrets="]);
    place.refuses(
        &["explain", "laplace(scale=2, secrets=1)"],
        &["two secrets"],
    );
    place.refuses(&["explain", "ldp(1)", "none.csv"], &["none.csv"]);
    let output = place.run(&["explain"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("CLAIM"), "{}", stderr(&output));
}
