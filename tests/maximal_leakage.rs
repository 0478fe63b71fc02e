//! Claims of maximal leakage: limits, verdicts, what they imply, and how often they are wrong.

use leakgauge::audit::{AuditOptions, Findings, Verdict, audit};
use leakgauge::claim::Claim;
use leakgauge::log::{Log, LogBuilder};
use leakgauge_testing::rng;
use rand_distr::{Binomial, Distribution};
use rayon::prelude::*;
use serde_json::Value;

use crate::common::Place;

const LABELS: [&str; 4] = ["w", "x", "y", "z"];

/// So many rows of each of these many secrets; an answer is its secret with this probability, else any other.
fn answers(secrets: usize, rows: u64, right: f64, number: u64) -> Log {
    let mut rng = rng(number);
    let (mut of, mut seen, mut counts) = (Vec::new(), Vec::new(), Vec::new());
    for secret in 0..secrets {
        let mut left = rows;
        let own = Binomial::new(rows, right)
            .expect("a share")
            .sample(&mut rng);
        let mut cells = vec![0; secrets];
        cells[secret] = own;
        left -= own;
        let others: Vec<usize> = (0..secrets).filter(|&other| other != secret).collect();
        for (at, &other) in others.iter().enumerate() {
            let share = 1.0 / (others.len() - at) as f64;
            cells[other] = Binomial::new(left, share)
                .expect("a share")
                .sample(&mut rng);
            left -= cells[other];
        }
        for (answer, &count) in cells.iter().enumerate().filter(|(_, count)| **count > 0) {
            of.push(LABELS[secret]);
            seen.push(LABELS[answer]);
            counts.push(count);
        }
    }
    LogBuilder::new()
        .secrets(&of)
        .labels("answer", &seen)
        .counts(&counts)
        .build()
        .expect("a good log")
}

fn found(log: &Log, claims: &[String]) -> Findings {
    let options = AuditOptions {
        claims: claims
            .iter()
            .map(|claim| Claim::parse(claim).expect(claim))
            .collect(),
        quick: true,
        ..AuditOptions::default()
    };
    audit(log, &options).expect("an audit")
}

#[test]
fn verdicts_follow_the_limits() {
    let log = answers(4, 5000, 0.6, 1);
    let truth = (4.0 * 0.6f64).log2();
    for (claim, verdict) in [
        (truth - 0.07, Verdict::Violated),
        (truth, Verdict::Inconclusive),
        (truth + 0.07, Verdict::Holds),
    ] {
        let found = found(&log, &[format!("maximal-leakage({claim})")]);
        let report = &found.claims[0];
        assert_eq!(report.verdict, verdict, "{claim}: {:?}", report.estimate);
        assert!(report.deciding_pair().is_none());
        assert!((report.estimate.point.expect("an estimate") - truth).abs() < 0.05);
        // One figure has one set of limits, wherever it is printed.
        let capacity = found.overall.capacity.increasing(f64::log2);
        assert_eq!(report.estimate.lower, capacity.lower);
        assert_eq!(report.estimate.upper, capacity.upper);
        assert_eq!(report.estimate.point, capacity.point);
    }
}

/// Of two secrets b bits are a total variation of 2^b − 1, and both claims have one answer.
#[test]
fn of_two_secrets_it_is_their_total_variation() {
    for (number, advantage) in [(1, 0.1f64), (2, 0.19), (3, 0.2), (4, 0.21), (5, 0.4)] {
        let log = answers(2, 4000, 0.6, number);
        let bits = (1.0 + advantage).log2();
        let claims = [
            format!("advantage({advantage})"),
            format!("maximal-leakage({bits})"),
        ];
        let found = found(&log, &claims);
        let [by_variation, by_leakage] = [0, 1].map(|at| found.claims[at].verdict);
        assert_eq!(by_variation, by_leakage, "{advantage}");
        let lower = |at: usize| found.claims[at].estimate.lower.expect("a lower limit");
        assert!(((1.0 + lower(0)).log2() - lower(1)).abs() < 1e-9);
    }
}

/// At the truth, which a claim may just state, limits are wrong in 5 % of logs at most: of 200 logs in no more than
/// 10 + 3·√9.5 = 19.
#[test]
fn limits_are_wrong_as_rarely_as_they_promise() {
    for (secrets, rows, right) in [(4, 150, 0.25), (4, 150, 0.5), (3, 100, 0.9), (2, 200, 0.6)] {
        let truth = (secrets as f64 * right).max(1.0).log2();
        let wrong: Vec<[bool; 2]> = (0..200u64)
            .into_par_iter()
            .map(|number| {
                let log = answers(secrets, rows, right, 500 + number);
                let found = found(&log, &["maximal-leakage(0.5)".to_owned()]);
                let estimate = &found.claims[0].estimate;
                [
                    estimate.lower.expect("a lower limit") > truth + 1e-12,
                    estimate.upper.expect("an upper limit") < truth - 1e-12,
                ]
            })
            .collect();
        for side in 0..2 {
            let count = wrong.iter().filter(|wrong| wrong[side]).count();
            println!("{secrets} secrets, {right}: side {side} wrong in {count} of 200");
            assert!(count <= 19, "{secrets}, {right}: side {side}: {count}");
        }
    }
}

/// 4 secrets, 1 bit: guesses of equally likely secrets are right half of the time at most, and any two are told apart.
#[test]
fn explain_says_what_it_leaves() {
    let report = Place::new().json(&["explain", "maximal-leakage(0.5)"]);
    let figures = report["figures"].as_array().expect("figures");
    let claim = |key: &str| -> Vec<f64> {
        let of = figures.iter().filter(|figure| figure["figure"] == key);
        of.filter_map(|figure| figure["claim"].as_f64()).collect()
    };
    assert!(
        (claim("advantage")[0] - (2f64.sqrt() - 1.0)).abs() < 1e-12,
        "{report}"
    );
    let named = claim("naming");
    assert!((named[0] - 2f64.sqrt() / 10.0).abs() < 1e-12, "{named:?}");
    assert_eq!(report["covers"], Value::from("all-attacks"));
    Place::new().refuses(&["explain", "maximal-leakage(-1)"], &["at-most"]);
}
