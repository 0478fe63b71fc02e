//! What the rows of a log prove: mechanisms refuted by their ε, p-values, limits from above.

use std::fmt::Write;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

use crate::common::Place;

fn log_of(rows: usize, seed: u64, draw: impl Fn(&mut ChaCha8Rng) -> (usize, usize)) -> String {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut text = "secret,seen\n".to_owned();
    for _ in 0..rows {
        let (secret, seen) = draw(&mut rng);
        writeln!(text, "{secret},s{seen}").unwrap();
    }
    text
}

fn audited(text: String, claim: &str) -> (i32, Value) {
    let place = Place::with_log(text);
    let arguments = ["audit", "log.csv", "--claim", claim, "--format", "json"];
    let output = place.run(&arguments);
    let report = serde_json::from_slice(&output.stdout).expect("JSON");
    (output.status.code().expect("an exit code"), report)
}

/// No total variation of this channel exceeds that of randomized response at ε = 1, but the second and third answers
/// give their secrets away.
#[test]
fn a_mechanism_with_a_finite_epsilon_is_refuted_by_a_larger_one() {
    let channel = [[0.9, 0.1, 0.0], [0.9, 0.0, 0.1], [0.9, 0.05, 0.05]];
    let text = log_of(60_000, 4, |rng| {
        let secret = rng.random_range(0..3usize);
        let mut left: f64 = rng.random();
        let seen = channel[secret].iter().position(|p| {
            left -= p;
            left < 0.0
        });
        (secret, seen.unwrap_or(0))
    });
    let (code, report) = audited(text, "randomized-response(epsilon=1, secrets=3)");
    let claim = &report["claims"][0];
    assert_eq!((code, claim["verdict"].as_str()), (1, Some("violated")));
    assert!(claim["p_value"].as_f64().unwrap() < 1e-6, "{claim}");
}

/// A k-ary response whose true ε is 1.32 is not said to hold for 1.
#[test]
fn a_response_that_wraps_around_does_not_hold() {
    let text = log_of(60_000, 5, |rng| {
        let secret = rng.random_range(0..10usize);
        // A uniform nibble modulo 10: answers 0 to 5 come twice as often as 6 to 9.
        let keeps = rng.random::<f64>() < 0.147;
        let seen = if keeps {
            secret
        } else {
            rng.random_range(0..16usize) % 10
        };
        (secret, seen)
    });
    let (code, report) = audited(text, "randomized-response(epsilon=1, secrets=10)");
    assert_ne!(code, 0, "{}", report["claims"][0]);
}

/// 500 integers without a leak, 20,000 rows: the total variation is at most 0.09.
#[test]
fn sparse_alphabets_are_limited_from_above() {
    let text = log_of(20_000, 6, |rng| {
        (rng.random_range(0..2usize), rng.random_range(0..500usize))
    });
    let (code, report) = audited(text, "advantage(0.09)");
    let claim = &report["claims"][0];
    assert_eq!(code, 0, "{claim}");
    assert_eq!(claim["estimate"]["method"]["upper"], "sparse-closeness");
    assert!(report["no_leak"]["p_value"].as_f64().unwrap() > 1e-3);
}

/// The p-value is at most α just where the claim is violated.
#[test]
fn p_values_agree_with_verdicts() {
    for (epsilon, seed) in [(0.9, 1), (0.95, 2), (1.0, 3), (1.1, 4), (1.3, 5)] {
        let flip = 1.0 / (1.0 + f64::exp(epsilon));
        let text = log_of(6_000, seed, |rng| {
            let secret = rng.random_range(0..2usize);
            (secret, secret ^ usize::from(rng.random::<f64>() < flip))
        });
        for claim in ["ldp(1)", "randomized-response(epsilon=1)", "advantage(0.4)"] {
            let (_, report) = audited(text.clone(), claim);
            let claim = &report["claims"][0];
            let violated = claim["verdict"] == "violated";
            let p = claim["p_value"].as_f64().unwrap();
            assert_eq!(violated, p < 0.05, "{claim}");
        }
    }
}
