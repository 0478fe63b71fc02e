//! Mutual information from logs: limits, verdicts, and how often they are wrong.

use std::f64::consts::{LN_2, PI};

use leakgauge::audit::{AuditOptions, Findings, Verdict, audit};
use leakgauge::claim::Claim;
use leakgauge::log::{Log, LogBuilder};
use leakgauge_testing::rng;
use rand_distr::{Binomial, Distribution, Normal};
use rayon::prelude::*;

use crate::common::{Place, stdout};

/// So many rows of each of two secrets, which an observation names with this probability.
fn discrete(rows: u64, right: f64, number: u64) -> Log {
    let mut rng = rng(number);
    let draw = Binomial::new(rows, right).expect("a share");
    let [a, b] = [draw.sample(&mut rng), draw.sample(&mut rng)];
    let counts = [a, rows - a, rows - b, b];
    let full = counts.iter().enumerate().filter(|(_, count)| **count > 0);
    let (mut secrets, mut labels, mut given) = (Vec::new(), Vec::new(), Vec::new());
    for (at, &count) in full {
        secrets.push(["a", "b"][at / 2]);
        labels.push(["x", "y"][at % 2]);
        given.push(count);
    }
    LogBuilder::new()
        .secrets(&secrets)
        .labels("label", &labels)
        .counts(&given)
        .build()
        .expect("a good log")
}

/// So many rows of each of two secrets, normal with deviation 1 around 0 and around this.
fn continuous(rows: usize, shift: f64, number: u64) -> Log {
    let mut rng = rng(number);
    let noise = Normal::new(0.0, 1.0).expect("a deviation");
    let secrets: Vec<&str> = (0..2 * rows).map(|row| ["a", "b"][row % 2]).collect();
    let values: Vec<f64> = (0..2 * rows)
        .map(|row| noise.sample(&mut rng) + shift * (row % 2) as f64)
        .collect();
    LogBuilder::new()
        .secrets(&secrets)
        .numbers("value", &values)
        .build()
        .expect("a good log")
}

/// 1 − h(p) in bits.
fn bits_of_answers(right: f64) -> f64 {
    let part = |p: f64| if p > 0.0 { p * p.log2() } else { 0.0 };
    1.0 + part(right) + part(1.0 - right)
}

/// 1 − E log2(1 + e^(−z)) of the log-likelihood ratio z, normal with mean Δ²/2 and variance Δ², by Simpson's rule.
fn bits_of_shift(shift: f64) -> f64 {
    const STEPS: usize = 4000;
    let (low, high) = (-10.0, 10.0);
    let step = (high - low) / STEPS as f64;
    let value = |x: f64| {
        let z = 0.5 * shift * shift + shift * x;
        (-0.5 * x * x).exp() / (2.0 * PI).sqrt() * (-z).exp().ln_1p() / LN_2
    };
    let sum: f64 = (0..=STEPS)
        .map(|at| {
            let weight = match at {
                0 | STEPS => 1.0,
                at if at % 2 == 1 => 4.0,
                _ => 2.0,
            };
            weight * value(low + step * at as f64)
        })
        .sum();
    1.0 - sum * step / 3.0
}

fn found(log: &Log, claim: &str) -> Findings {
    let options = AuditOptions {
        claims: vec![Claim::parse(claim).expect(claim)],
        quick: true,
        ..AuditOptions::default()
    };
    audit(log, &options).expect("an audit")
}

#[test]
fn the_integral_is_right() {
    // Of shifts 0 and 1, and of a large one; the second to nine digits by mpmath's quadrature.
    assert!(bits_of_shift(0.0).abs() < 1e-12);
    assert!((bits_of_shift(20.0) - 1.0).abs() < 1e-9);
    assert!((bits_of_answers(0.9) - 0.531_004_406).abs() < 1e-9);
}

#[test]
fn verdicts_follow_the_limits() {
    // 0.0817 bits.
    let log = discrete(20_000, 0.666, 1);
    let truth = bits_of_answers(0.666);
    for (claim, verdict) in [
        (0.85 * truth, Verdict::Violated),
        (truth, Verdict::Inconclusive),
        (1.15 * truth, Verdict::Holds),
    ] {
        let found = found(&log, &format!("mutual-information({claim})"));
        let report = &found.claims[0];
        assert_eq!(report.verdict, verdict, "{claim}: {:?}", report.estimate);
        assert!(report.deciding_pair().is_none());
    }
    let log = continuous(5000, 1.0, 1);
    let truth = bits_of_shift(1.0);
    // Four of ten rows judge: the limit is some 16 % below the truth.
    let low = found(&log, &format!("mutual-information({})", 0.75 * truth));
    assert_eq!(
        low.claims[0].verdict,
        Verdict::Violated,
        "{:?}",
        low.claims[0].estimate
    );
    let high = found(&log, "mutual-information(0.9)");
    assert_eq!(high.claims[0].verdict, Verdict::Inconclusive);
    assert_eq!(high.claims[0].estimate.upper, None);
}

/// No row that judges chose anything: with all errors of the level, limits are on the wrong side of the truth in 5 % of
/// logs at most. Of 200 logs no more than 10 + 3·√9.5 = 19 may be.
#[test]
fn limits_are_wrong_as_rarely_as_they_promise() {
    type Design = (&'static str, f64, Box<dyn Fn(u64) -> Log + Sync>);
    let designs: Vec<Design> = vec![
        ("half", 0.0, Box::new(|number| discrete(200, 0.5, number))),
        (
            "some",
            bits_of_answers(0.7),
            Box::new(|number| discrete(200, 0.7, number)),
        ),
        (
            "sure",
            bits_of_answers(0.97),
            Box::new(|number| discrete(150, 0.97, number)),
        ),
        (
            "nothing",
            0.0,
            Box::new(|number| continuous(250, 0.0, number)),
        ),
        (
            "shift",
            bits_of_shift(1.0),
            Box::new(|number| continuous(250, 1.0, number)),
        ),
    ];
    for (name, truth, log) in &designs {
        let wrong: Vec<[bool; 2]> = (0..200u64)
            .into_par_iter()
            .map(|number| {
                let found = found(&log(1000 + number), "mutual-information(0.1)");
                let estimate = &found.claims[0].estimate;
                [
                    estimate.lower.expect("a lower limit") > truth + 1e-12,
                    estimate.upper.is_some_and(|upper| upper < truth - 1e-12),
                ]
            })
            .collect();
        for side in 0..2 {
            let count = wrong.iter().filter(|wrong| wrong[side]).count();
            println!("{name}: side {side} wrong in {count} of 200");
            assert!(
                count <= 19,
                "{name}: side {side} is wrong in {count} of 200"
            );
        }
    }
}

#[test]
fn shannon_information_on_request_has_both_limits() {
    let mut text = "secret,seen\n".to_owned();
    for row in 0..6000 {
        let secret = ["a", "b"][row % 2];
        // Four of five rows name the secret.
        let told = (row / 2) % 5 != 0;
        let seen = ["a", "b"][(row + usize::from(!told)) % 2];
        text.push_str(&format!("{secret},{seen}\n"));
    }
    let place = Place::with_log(text);
    let report = place.json(&["estimate", "log.csv", "--quick", "--at-order", "1"]);
    let information = &report["leakage_family"]["orders"][0]["sibson_information"];
    let limit = |key: &str| information[key].as_f64().expect("a number") / LN_2;
    let truth = bits_of_answers(0.8);
    assert!((limit("point") - truth).abs() < 1e-9);
    assert!(limit("lower") > 0.85 * truth && limit("lower") < truth);
    assert!(limit("upper") < 1.15 * truth && limit("upper") > truth);
    // Of two secrets the total variation, by more rows, implies nearly as much; of four it does not.
    let four = format!(
        "{}/datasets/randomized-response-broken.csv",
        env!("CARGO_MANIFEST_DIR")
    );
    let four = place.json(&["estimate", &four, "--quick", "--at-order", "1"]);
    let of_four = &four["leakage_family"]["orders"][0]["sibson_information"];
    assert_eq!(of_four["method"]["lower"], "held-out-gains");
    assert_eq!(information["method"]["upper"], "plug-in-moments");
    let level = report["level"].as_array().expect("shares");
    assert!(level.iter().any(|share| share["limit"] == "information"));
    let claimed = place.run(&[
        "audit",
        "log.csv",
        "--quick",
        "--claim",
        "mutual-information(0.2)",
    ]);
    assert_eq!(claimed.status.code(), Some(1));
    let text = stdout(&claimed);
    assert!(text.contains("VIOLATED  mutual-information(0.2)"), "{text}");
    assert!(text.contains("all secrets"), "{text}");
    place.refuses(
        &["audit", "log.csv", "--claim", "mutual-information(-1)"],
        &["at-most"],
    );
}
