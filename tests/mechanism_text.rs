//! How mechanisms are written, which secrets they take, and what is said when something is wrong.

use leakgauge::exact::mechanism::{BoundMechanism, Law, MECHANISMS, Mechanism, parse};
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
        "truncated-geometric(nu=0.1, secrets=10, spacing=100, observations=0..999)",
        "normalized-geometric(nu=0.1, secrets=-3..3)",
        "exponential(epsilon=1, sensitivity=2, secrets=10)",
        "staircase(epsilon=1, sensitivity=2, gamma=0.3, secrets=10)",
        "discrete-gaussian(sigma=2)",
        "planar-laplace(scale=2, secrets=0..2)",
        "planar-laplace(epsilon=0.5, sensitivity=100)",
        "planar-geometric(nu=0.5, secrets=3, observations=-1..3)",
        "rappor(epsilon=1, secrets=10)",
        "oue(epsilon=1)",
        "olh(epsilon=1, buckets=5, secrets=10)",
        "subset-selection(epsilon=1, size=2, secrets=10)",
        "hadamard-response(epsilon=1, secrets=10)",
        "deterministic(modulus=2, width=3, secrets=10)",
        "deterministic()",
        "identity(p=0.5, otherwise=none, secrets=10)",
        "mallows(n=4, theta=0.5)",
        "mallows(n=5, theta=0.5, group=2..4, distance=hamming)",
        "mixture(randomized-response(epsilon=1), identity(p=0.5), weight=0.9)",
        "subsampled(gaussian(sigma=1), batch=100, records=10000)",
        "subsampled(laplace(scale=1), batch=1, records=1, relation=add-or-remove)",
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
    // Only the range of numbers matters: they are not listed.
    let bound = huge.bind_declared().unwrap();
    assert_eq!(bound.worst_pair(), Some((0, 1 << 54)));
    let whole = parse("geometric(nu=1, secrets=-9007199254740992..9007199254740992)").unwrap();
    let error = whole.bind_declared().unwrap_err().to_string();
    assert!(error.contains("2^52"), "{error}");
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
        (
            "truncated-geometric(1, observations=0..9)",
            ["1", "10"],
            "0 to 9, which does not include the secret \"10\"",
        ),
        ("exponential(1)", ["1", "x"], "the log has the secret \"x\""),
        (
            "exponential(1, secrets=2)",
            ["1", "2"],
            "\"2\" is not one of its secrets",
        ),
        (
            "staircase(1)",
            ["1", "x"],
            "staircase needs secrets that are numbers",
        ),
        (
            "discrete-gaussian(1)",
            ["1", "1.5"],
            "secrets that are whole numbers",
        ),
        (
            "planar-laplace(scale=1)",
            ["1;1", "3"],
            "its secrets are points; the log has the secret \"3\"",
        ),
        (
            "planar-laplace(scale=1, secrets=2)",
            ["1;1", "2;1"],
            "\"2;1\" is not one of its secrets",
        ),
        (
            "planar-geometric(1)",
            ["1;1", "x;y"],
            "its secrets are points",
        ),
        ("planar-geometric(1)", ["0;0", "90000;1"], "too many"),
        ("rappor(1)", ["a", "a"], "the secret \"a\" appears twice"),
        (
            "subset-selection(1, size=3)",
            ["a", "b"],
            "size must be at most the number of secrets, 2",
        ),
        (
            "deterministic(modulus=2)",
            ["1", "x"],
            "the log has the secret \"x\"",
        ),
        (
            "identity(0.5, otherwise=none)",
            ["a", "none"],
            "otherwise=none is one of the secrets",
        ),
        (
            "mixture(rappor(1), laplace(scale=1))",
            ["0", "1"],
            "too many observations, perhaps infinitely many",
        ),
        (
            "mixture(identity(1), planar-geometric(1))",
            ["0;0", "1;1"],
            "different observation columns",
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
            "scale cannot be combined with epsilon",
        ),
        (
            "laplace(epsilon=1e-300, sensitivity=1e300)",
            "not a valid scale",
        ),
        ("gaussian(sigma=-1)", "sigma must be above 0, got -1"),
        ("geometric(nu=0)", "nu must be at least 1e-12, got 0"),
        ("gaussian(sgima=1)", "did you mean sigma?"),
        (
            "truncated-geometric(nu=0)",
            "nu must be at least 1e-12, got 0",
        ),
        (
            "truncated-geometric(nu=1, secrets=5, spacing=10, observations=0..9)",
            "0 to 40; observations must include them",
        ),
        (
            "normalized-geometric(1, spacing=0.5)",
            "spacing must be between 1 and",
        ),
        (
            "normalized-geometric(1, spacing=1.5)",
            "spacing must be a whole number",
        ),
        (
            "normalized-geometric(1, observations=9..0)",
            "write observations=0..9",
        ),
        ("exponential(-1)", "epsilon must be at least 0, got -1"),
        (
            "exponential(1, sensitivity=0)",
            "sensitivity must be above 0, got 0",
        ),
        ("exponential(1e300, sensitivity=1e-300)", "is too large"),
        ("staircase(0)", "epsilon must be above 0, got 0"),
        (
            "staircase(1, gamma=2)",
            "gamma must be between 0 and 1, got 2",
        ),
        (
            "discrete-gaussian(0)",
            "sigma must be between 0.001 and 100000, got 0",
        ),
        ("planar-laplace(scale=0)", "scale must be above 0, got 0"),
        (
            "planar-laplace(scale=1, secrets=100000)",
            "too many points to list",
        ),
        ("planar-geometric(0)", "nu must be at least 1e-12, got 0"),
        ("rappor(-1)", "epsilon must be at least 0, got -1"),
        ("oue(-1)", "epsilon must be at least 0, got -1"),
        ("olh(-1)", "epsilon must be at least 0, got -1"),
        ("olh(1, buckets=4)", "buckets must be a prime number, got 4"),
        ("olh(1, buckets=1)", "buckets must be between 2 and"),
        ("subset-selection(-1)", "epsilon must be at least 0, got -1"),
        ("subset-selection(1, size=0)", "size must be between 1 and"),
        (
            "hadamard-response(-1)",
            "epsilon must be at least 0, got -1",
        ),
        ("deterministic(modulus=0)", "modulus must be between 1 and"),
        (
            "deterministic(modulus=2.5)",
            "modulus must be a whole number, got 2.5",
        ),
        ("deterministic(2)", "needs a parameter name"),
        ("identity(p=1.5)", "p must be between 0 and 1, got 1.5"),
        (
            "identity(0.5, otherwise=3)",
            "otherwise must be a word, got the number 3",
        ),
        (
            "mixture(rappor(1), oue(1), weight=1.5)",
            "weight must be between 0 and 1, got 1.5",
        ),
        ("mixture(rappor(1))", "second is missing"),
        (
            "mixture(rappor(1), 2)",
            "second must be a mechanism, got the number 2",
        ),
        ("mixture(rappor(1), nothing)", "no such mechanism"),
        (
            "mixture(rappor(-1), oue(1))",
            "epsilon must be at least 0, got -1",
        ),
        (
            "mixture(rappor(1, secrets=3), oue(1, secrets=4))",
            "the first mechanism has 3 secrets, the second 4",
        ),
        ("laplase(scale=1)", "did you mean laplace?"),
        (
            "subsampled(laplace(1), batch=3, records=2)",
            "batch must be at most records",
        ),
        ("subsampled(laplace(1), batch=3)", "records is missing"),
        (
            "subsampled(laplace(1), batch=1.5, records=2)",
            "batch must be a whole number",
        ),
        (
            "subsampled(laplace(1), batch=1, records=2, rate=0.5)",
            "give either rate, or batch and records",
        ),
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
        name in 0..MECHANISMS.len(), rest in "[(]?(epsilon|scale|nu|secrets|=|[-0-9.,:()e ]){0,12}"
    ) {
        let text = format!("{}{rest}", MECHANISMS[name].name);
        let _ = parse(&text).map(|mechanism: Box<dyn Mechanism>| mechanism.to_string());
    }
}
