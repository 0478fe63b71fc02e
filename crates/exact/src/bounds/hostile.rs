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
