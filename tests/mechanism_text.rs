//! How mechanisms are written, which secrets they take, and what is said when something is wrong.

use leakgauge::mechanism::{BoundMechanism, Law, MECHANISMS, Mechanism, parse};
use proptest::prelude::*;

fn bind(text: &str, labels: &[&str]) -> Box<dyn BoundMechanism> {
    let labels: Vec<_> = labels.iter().map(ToString::to_string).collect();
    parse(text).expect(text).bind(&labels).expect(text)
}

fn bind_error(text: &str, labels: &[&str]) -> String {
    let labels: Vec<_> = labels.iter().map(ToString::to_string).collect();
    let error = parse(text).expect(text).bind(&labels).expect_err(text);
    error.to_string()
}

fn parse_error(text: &str) -> String {
    parse(text).expect_err(text).to_string()
}

fn labels(law: Law) -> Vec<(String, f64)> {
    match law {
        Law::Labels(labels) => labels,
        _ => panic!("not a law on labels"),
    }
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * a.abs().max(b.abs()).max(f64::MIN_POSITIVE)
}

#[test]
fn mechanisms_print_as_they_are_written() {
    for text in [
        "randomized-response(epsilon=1, secrets=10)",
        "randomized-response(epsilon=0.5)",
        "laplace(scale=2, secrets=-3..9)",
        "laplace(epsilon=0.5, sensitivity=3)",
        "gaussian(sigma=1e-5, secrets=5)",
        "geometric(nu=0.1)",
    ] {
        assert_eq!(parse(text).unwrap().to_string(), text);
    }
}

#[test]
fn declared_secrets_are_counts_or_ranges() {
    let ten = parse("laplace(scale=1, secrets=3)").unwrap();
    assert_eq!(ten.declared_secrets().unwrap(), ["0", "1", "2"]);
    let range = parse("gaussian(sigma=1, secrets=-1..1)").unwrap();
    assert_eq!(range.declared_secrets().unwrap(), ["-1", "0", "1"]);
    let huge = parse("laplace(scale=1, secrets=-9007199254740992..9007199254740992)").unwrap();
    assert_eq!(huge.declared_count(), Some((1 << 54) + 1));
    assert!(
        huge.bind_declared()
            .unwrap_err()
            .to_string()
            .contains("too many to list")
    );
    let none = parse("laplace(scale=1)").unwrap();
    assert_eq!(
        (none.declared_secrets(), none.declared_count()),
        (None, None)
    );
    assert!(
        none.bind_declared()
            .unwrap_err()
            .to_string()
            .contains("add secrets=")
    );
}

#[test]
fn a_log_may_hold_some_of_the_declared_secrets() {
    let bound = bind(
        "randomized-response(epsilon=1, secrets=1..10)",
        &["7", "10"],
    );
    let e = 1f64.exp();
    assert!(close(
        bound.total_variation(0, 1),
        (e - 1.0) / (e + 9.0),
        1e-14
    ));
    let law = labels(bound.law(1));
    assert_eq!((law.len(), law[9].0.as_str()), (10, "10"));
    assert!(law[9].1 > law[0].1);
    let bound = bind("randomized-response(epsilon=1, secrets=2)", &["yes", "no"]);
    assert_eq!(labels(bound.law(0))[1].0, "no");
    assert_eq!(
        bind("laplace(scale=2, secrets=0..9)", &["7", "9"]).worst_pair(),
        Some((0, 1))
    );
}

#[test]
fn labels_that_cannot_be_bound_are_named() {
    for (text, secrets, says) in [
        (
            "laplace(scale=2)",
            ["1", "same"],
            "laplace needs secrets that are numbers; the log has the secret \"same\"",
        ),
        (
            "gaussian(2)",
            ["1", "NaN"],
            "the log has the secret \"NaN\"",
        ),
        (
            "gaussian(2)",
            ["1", "inf"],
            "the log has the secret \"inf\"",
        ),
        (
            "geometric(1)",
            ["1", "1.5"],
            "secrets that are whole numbers; the log has the secret \"1.5\"",
        ),
        (
            "geometric(1)",
            ["1", "1e300"],
            "the log has the secret \"1e300\"",
        ),
        (
            "laplace(scale=2, secrets=10)",
            ["1", "10"],
            "0 to 9; the log has the secret \"10\"",
        ),
        (
            "laplace(scale=2, secrets=10)",
            ["1", "1.5"],
            "the log has the secret \"1.5\"",
        ),
        (
            "randomized-response(1, secrets=10)",
            ["1", "a"],
            "the log has the secret \"a\"",
        ),
        (
            "randomized-response(1, secrets=1..2)",
            ["1", "a"],
            "the log has the secret \"a\"",
        ),
        (
            "randomized-response(1)",
            ["a", "a"],
            "the secret \"a\" appears twice",
        ),
    ] {
        let error = bind_error(text, &secrets);
        assert!(error.contains(says), "{text} gave {error}");
    }
}

#[test]
fn impossible_parameters_are_refused() {
    for (text, says) in [
        (
            "randomized-response(-1)",
            "epsilon must be at least 0, got -1",
        ),
        ("randomized-response", "epsilon is missing"),
        (
            "randomized-response(1, secrets=0)",
            "secrets must be a count, at least 1",
        ),
        ("randomized-response(1, secrets=9..0)", "write secrets=0..9"),
        ("randomized-response(1, secrets=a)", "got the word a"),
        ("laplace(scale=0)", "scale must be above 0, got 0"),
        ("laplace(2)", "write laplace(scale=2)"),
        ("laplace", "scale is missing"),
        ("laplace(sensitivity=1)", "scale is missing"),
        (
            "laplace(scale=1, epsilon=1)",
            "scale is given together with epsilon",
        ),
        (
            "laplace(epsilon=1e-300, sensitivity=1e300)",
            "cannot be a scale",
        ),
        ("gaussian(sigma=-1)", "sigma must be above 0, got -1"),
        ("geometric(nu=0)", "nu must be at least 1e-12, got 0"),
        ("gaussian(sgima=1)", "did you mean sigma?"),
        ("laplase(scale=1)", "did you mean laplace?"),
    ] {
        let error = parse_error(text);
        assert!(error.contains(says), "{text} gave {error}");
    }
    let error = parse_error("nothing-like-it");
    assert!(MECHANISMS.iter().all(|entry| error.contains(entry.name)));
}

proptest! {
    #[test]
    fn no_text_makes_a_mechanism_panic(
        name in 0..4usize, rest in "[(]?(epsilon|scale|nu|secrets|=|[-0-9.,:()e ]){0,12}"
    ) {
        let text = format!("{}{rest}", MECHANISMS[name].name);
        let _ = parse(&text).map(|mechanism: Box<dyn Mechanism>| mechanism.to_string());
    }
}
