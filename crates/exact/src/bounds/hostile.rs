//! All figures of pairs of secrets over hostile parameters, against values that share no formula with the program.

use serde_json::Value;

use super::profile::{largest, reconstruction};
use crate::mechanism::{BoundMechanism, parse};
use crate::profile::Pair;

/// The relative error of every figure.
const TOLERANCE: f64 = 1e-9;
/// Smaller values need not be right.
const LEAST: f64 = 1e-300;

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::INFINITY)
}

/// Compares a figure; a wrong one is added to the list.
fn compare(found: Option<f64>, expected: f64, what: impl Fn() -> String, wrong: &mut Vec<String>) {
    let near = |found: f64| {
        found == expected
            || (found - expected).abs() <= TOLERANCE * expected.abs()
            || (expected < LEAST && (0.0..=LEAST).contains(&found))
    };
    if !found.is_some_and(near) {
        wrong.push(format!("{}: {found:?}, not {expected:e}", what()));
    }
}

fn check(case: &Value, bound: &dyn BoundMechanism, wrong: &mut Vec<String>) {
    let text = case["mechanism"].as_str().unwrap();
    let one = |name: &str, found: f64, wrong: &mut Vec<String>| {
        let what = || format!("{text}, {name}");
        compare(Some(found), number(&case[name]), what, wrong);
    };
    one("variation", bound.total_variation(0, 1), wrong);
    one("security", bound.bayes_security(0, 1), wrong);
    one("epsilon", bound.epsilon(), wrong);
    type Figure<'a> = &'a dyn Fn(f64) -> Option<f64>;
    let figures: [(&str, Figure<'_>); 3] = [
        ("delta", &|at| bound.delta(at)),
        ("renyi", &|at| {
            largest(bound, |pair| pair.renyi_divergence(at))
        }),
        ("reconstruction", &|at| reconstruction(bound, at)),
    ];
    for (name, figure) in figures {
        for row in case[name].as_array().unwrap() {
            let (at, expected) = (number(&row[0]), number(&row[1]));
            compare(
                figure(at),
                expected,
                || format!("{text}, {name} at {at:e}"),
                wrong,
            );
        }
    }
    if case["mu"].is_number() {
        let found = largest(bound, Pair::gaussian_mu);
        compare(found, number(&case["mu"]), || format!("{text}, mu"), wrong);
    }
    if case["rho"].is_number() {
        let found = largest(bound, Pair::concentrated_rho);
        compare(
            found,
            number(&case["rho"]),
            || format!("{text}, rho"),
            wrong,
        );
    }
    if case["capacity"].is_number() {
        let (found, expected) = (bound.capacity(), number(&case["capacity"]));
        compare(found, expected, || format!("{text}, capacity"), wrong);
    }
}

#[test]
fn every_figure_of_every_mechanism_has_nine_digits() {
    let table = include_str!("../../../../tests/golden/exact_hostile.json");
    let table: Value = serde_json::from_str(table).unwrap();
    let cases = table["cases"].as_array().unwrap();
    assert!(cases.len() > 150);
    let mut wrong = Vec::new();
    for case in cases {
        let text = case["mechanism"].as_str().unwrap();
        let labels: Vec<String> = case["labels"]
            .as_array()
            .unwrap()
            .iter()
            .map(|label| label.as_str().unwrap().to_owned())
            .collect();
        let bound = parse(text).expect(text).bind(&labels).expect(text);
        check(case, &*bound, &mut wrong);
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Parameters at which parts of a formula overflow or vanish. What is told apart for certain must say so.
#[test]
fn extreme_parameters_are_on_the_safe_side() {
    for text in [
        "staircase(epsilon=1500, secrets=2)",
        "staircase(epsilon=2000, secrets=3)",
        "staircase(epsilon=1e300, secrets=3)",
        "staircase(epsilon=1500, gamma=1e-320, secrets=2)",
        "planar-laplace(scale=1e-309, secrets=0..1)",
        "laplace(scale=1e-309, secrets=2)",
        "gaussian(sigma=1e-309, secrets=2)",
        "geometric(nu=1e300, secrets=3)",
    ] {
        let bound = parse(text).unwrap().bind_declared().unwrap();
        let (a, b) = bound.worst_pair().unwrap();
        assert!(bound.bayes_security(a, b) < 1e-300, "{text}");
        assert_eq!(bound.total_variation(a, b), 1.0, "{text}");
        assert!(
            (bound.capacity().unwrap() - bound.secret_count() as f64).abs() < 1e-12,
            "{text}"
        );
    }
    // The mass beyond half a period, e^(−ε/2)/2(1 + e^(−ε/2)) on both sides, and the next one.
    let bound = parse("staircase(epsilon=1400, secrets=2)").unwrap();
    let security = bound.bind_declared().unwrap().bayes_security(0, 1);
    let expected = 0.5 * f64::exp(-700.0);
    assert!((security / expected - 1.0).abs() < 1e-12, "{security:e}");
}

/// Noise too small for a sum of privacy losses is one clear error.
#[test]
fn losses_that_overflow_are_refused() {
    for text in [
        "dp-sgd(sigma=1e-309, rate=0.1, steps=10)",
        "dp-sgd(sigma=1e-200, rate=0.1, steps=10)",
    ] {
        let found = super::bounds(text, &super::BoundsOptions::default());
        let message = found.unwrap_err().to_string();
        assert!(message.contains("noise is too small"), "{message}");
    }
    let options = super::BoundsOptions {
        repeat: Some(3),
        ..super::BoundsOptions::default()
    };
    for text in [
        "subsampled(gaussian(sigma=1e-320), rate=0.1)",
        "subsampled(laplace(scale=1e-320), rate=0.1, relation=replace)",
        "planar-laplace(scale=1e-309, secrets=0..1)",
    ] {
        let message = super::bounds(text, &options).unwrap_err().to_string();
        assert!(message.contains("noise is too small"), "{text}: {message}");
    }
}

/// n·(e^ε + (n − 1)·δ(ε))/(e^ε + n − 1) at the best ε; here that of the promise.
#[test]
fn promises_bound_the_capacity_by_their_whole_curve() {
    let of = |text: &str, secrets: u64| {
        let options = super::BoundsOptions {
            secrets: Some(secrets),
            ..super::BoundsOptions::default()
        };
        let bounds = super::bounds(text, &options).unwrap();
        bounds.rows[0].figure("capacity").unwrap()
    };
    let expected = 1000.0 * (f64::exp(1.0) + 999.0 * 1e-5) / (f64::exp(1.0) + 999.0);
    let found = of("dp(epsilon=1, delta=1e-5)", 1000);
    assert!(
        (found / expected - 1.0).abs() < 1e-6 && found >= expected * (1.0 - 1e-12),
        "{found}"
    );
    // No promise allows less than a mechanism that keeps it: noise on 0..n − 1 in steps of one unit of sensitivity.
    for (text, mechanism) in [
        ("gdp(0.01)", "gaussian(sigma=100, secrets=2)"),
        ("zcdp(0.005)", "gaussian(sigma=10, secrets=2)"),
    ] {
        let least = parse(mechanism).unwrap().bind_declared().unwrap();
        let found = of(text, 2);
        assert!(
            found >= least.capacity().unwrap() * (1.0 - 1e-12),
            "{text}: {found}"
        );
    }
    let (few, many) = (of("gdp(0.1)", 10), of("gdp(0.1)", 1_000_000));
    assert!(few < many && many < 10.0, "{few} {many}");
}
