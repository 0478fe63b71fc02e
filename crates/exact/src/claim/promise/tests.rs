//! Tests of promises.

use proptest::prelude::*;

use super::*;
use crate::claim::{Claim, ClaimKind};

fn promise(text: &str) -> Promise {
    match Claim::parse(text).expect(text).kind {
        ClaimKind::Promise(promise) => promise,
        ClaimKind::Mechanism(_) => panic!("{text} is a mechanism"),
    }
}

/// The channel that attains the bound: outputs (only a, mostly a, mostly b, only b).
fn attained(epsilon: f64, delta: f64) -> f64 {
    let large = (1.0 - delta) * epsilon.exp() / (1.0 + epsilon.exp());
    let small = (1.0 - delta) / (1.0 + epsilon.exp());
    let (a, b) = ([delta, large, small, 0.0], [0.0, small, large, delta]);
    a.iter().zip(&b).map(|(p, q)| (p - q).abs()).sum::<f64>() / 2.0
}

#[test]
fn every_promise_reads_back_from_its_text() {
    for text in [
        "ldp(epsilon=1)",
        "dp(epsilon=1, delta=1e-5)",
        "gdp(mu=1)",
        "zcdp(rho=0.5)",
        "dsigma(alpha=1)",
        "dsigma(alpha=0.5, group=2..4)",
        "ldp(epsilon=1, unit=0.5)",
        "dp(epsilon=1, delta=1e-5, unit=2)",
        "gdp(mu=1, unit=1)",
        "zcdp(rho=0.5, unit=100)",
        "rdp(alpha=2, epsilon=0.5)",
        "dp-curve(dp(epsilon=0.5, delta=0.001), dp(epsilon=1, delta=0))",
        "f-dp(point(fpr=0.1, fnr=0.6), point(fpr=0.6, fnr=0.1))",
        "dp-sgd(sigma=1, rate=0.5, steps=2)",
        "random-allocation(sigma=2, steps=3)",
        "matrix-gaussian(sigma=2, strategy=tree, steps=8)",
        "matrix-gaussian(sigma=2, strategy=banded-sqrt, steps=9, bands=3, participations=2, separation=4)",
        "random-allocation(sigma=2, steps=3, epochs=4)",
        "bayes-security(0.9)",
        "advantage(0.1)",
        "attack-advantage(0.1)",
        "time-difference(1.5ns)",
        "time-difference(3)",
        "time-difference(5ms, slower=miss)",
        "time-difference(5ms, slower=\"cache miss\")",
    ] {
        assert_eq!(promise(text).to_string(), text);
    }
    assert_eq!(promise("ldp(1)"), promise("ldp(epsilon=1)"));
    assert_eq!(promise("gdp(1)"), promise("gdp(mu=1)"));
    assert_eq!(promise("zcdp(.5)"), promise("zcdp(rho=0.5)"));
    assert_eq!(promise("dp(1)"), promise("dp(epsilon=1, delta=0)"));
    assert_eq!(promise("advantage(at-most=0.1)"), promise("advantage(.1)"));
}

#[test]
fn impossible_values_are_refused_by_name() {
    for (text, problem) in [
        ("ldp(-1)", "epsilon must be at least 0, got -1"),
        (
            "random-allocation(sigma=0.01, steps=3)",
            "sigma must be between 0.1 and 1000, got 0.01",
        ),
        (
            "random-allocation(sigma=1, steps=2.5)",
            "steps must be a whole number",
        ),
        (
            "random-allocation(sigma=1, steps=2, epochs=0)",
            "epochs must be between 1",
        ),
        ("dp-sgd(sigma=1, rate=0, steps=2)", "rate must be above 0"),
        ("ldp", "epsilon is missing"),
        (
            "dp(epsilon=1, delta=2)",
            "delta must be between 0 and 1, got 2",
        ),
        (
            "bayes-security(1.1)",
            "at-least must be between 0 and 1, got 1.1",
        ),
        (
            "advantage(-0.1)",
            "at-most must be between 0 and 1, got -0.1",
        ),
        (
            "attack-advantage(2)",
            "at-most must be between 0 and 1, got 2",
        ),
        ("gdp(-1)", "mu must be at least 0, got -1"),
        ("zcdp(unit=1)", "rho is missing"),
        ("gdp(mu=1, unit=0)", "unit must be above 0, got 0"),
        (
            "dp(1, 2)",
            "only the first value may stand without its name",
        ),
        (
            "time-difference(wan)",
            "attackers are shared-hardware, lan and internet",
        ),
        (
            "time-difference(1h)",
            "h is no unit of time; units are s, ms, us, ns",
        ),
        ("time-difference(0ns)", "at-most must be above 0"),
        (
            "time-difference(1ns, slower=1ms)",
            "slower must be a secret",
        ),
        ("time-difference(1ns, slower=\"a)", "a closing quote"),
        ("ldp(1ns)", "epsilon must be a number, got the measure 1ns"),
        ("rdp(alpha=1, epsilon=1)", "alpha must be above 1, got 1"),
        ("rdp(alpha=2)", "epsilon is missing"),
        ("dp-curve(gdp(1))", "dp-curve takes one or more dp(…)"),
        ("dp-curve", "dp-curve takes one or more dp(…)"),
        (
            "dp-curve(dp(epsilon=1, delta=2))",
            "delta must be between 0 and 1",
        ),
        ("f-dp(point(0.1))", "fnr is missing"),
        ("f-dp(point(0.1, 0.95))", "guessing blind"),
        ("ldp(inf)", "epsilon must be a number, got the word inf"),
    ] {
        let error = Claim::parse(text).expect_err(text).to_string();
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn large_epsilon_neither_overflows_nor_cancels() {
    for epsilon in [700.0, 710.0, 1e6, f64::MAX] {
        let promise = Promise::Dp {
            epsilon,
            delta: 0.5,
            unit: None,
        };
        assert_eq!(promise.largest_total_variation(), 1.0);
        assert!((0.0..1e-300).contains(&promise.least_bayes_security()));
    }
    let security = Promise::LocalDp {
        epsilon: 700.0,
        unit: None,
    }
    .least_bayes_security();
    assert!((security / (2.0 * (-700f64).exp()) - 1.0).abs() < 1e-14);
}

#[test]
fn only_bounds_on_total_variation_say_they_are() {
    for (text, expected) in [
        ("ldp(0.1)", false),
        ("dp(0.1)", false),
        ("dp(epsilon=0, delta=0.1)", true),
        ("dp(epsilon=0, delta=0.1, unit=1)", false),
        ("gdp(0.1)", false),
        ("zcdp(0.1)", false),
        ("rdp(alpha=2, epsilon=0.1)", false),
        ("dp-curve(dp(epsilon=0, delta=0.1))", false),
        ("bayes-security(0.9)", true),
        ("advantage(0.1)", true),
        ("attack-advantage(0.1)", false),
    ] {
        assert_eq!(promise(text).is_a_bound_on_total_variation(), expected);
    }
}

proptest! {
    #[test]
    fn the_bound_is_that_of_the_channel_that_attains_it(
        epsilon in 0.0..20.0f64, delta in 0.0..=1.0f64
    ) {
        let promise = Promise::Dp { epsilon, delta, unit: None };
        let bound = promise.largest_total_variation();
        prop_assert!((bound - attained(epsilon, delta)).abs() < 1e-13);
        prop_assert!((bound + promise.least_bayes_security() - 1.0).abs() < 1e-14);
    }
}

#[test]
fn thresholds_of_attackers_are_times() {
    for (name, time) in [
        ("shared-hardware", "0.6ns"),
        ("lan", "100ns"),
        ("internet", "50us"),
    ] {
        let promised = |text: &str| promise(&format!("time-difference({text})")).to_string();
        assert_eq!(promised(name), promised(time));
    }
}
