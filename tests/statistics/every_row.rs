//! Rows that testify before they are learned from: how near the limits come to those of a test that knows the
//! best attack and the best guesses beforehand, and how often they are wrong.
//!
//! ```text
//! cargo test --release --test all statistics::every_row -- --ignored --nocapture
//! ```

use leakgauge::audit::{AuditOptions, Findings, audit};
use leakgauge::stats::binomial::clopper_pearson_upper;
use rayon::prelude::*;

use super::mechanisms::simulated;
use super::quick::Rates;

const ROWS: usize = 6_000;
const ALPHA: f64 = 0.05;

/// A mechanism of two secrets, its total variation, its ε, and the share of rows with the largest likelihood
/// ratio; 0 where ε has no limit.
struct Case {
    mechanism: &'static str,
    total_variation: f64,
    epsilon: f64,
    extreme: f64,
    /// The largest ratios to the ideal distances that are allowed.
    allowed: [f64; 2],
}

const CASES: [Case; 3] = [
    Case {
        mechanism: "randomized-response(epsilon=1, secrets=2)",
        total_variation: 0.462_117_157_260_009_8,
        epsilon: 1.0,
        extreme: 1.0,
        allowed: [1.3, 1.3],
    },
    Case {
        mechanism: "gaussian(sigma=0.5, secrets=2)",
        total_variation: 0.682_689_492_137_085_9,
        epsilon: f64::INFINITY,
        extreme: 0.0,
        allowed: [1.3, f64::INFINITY],
    },
    Case {
        mechanism: "laplace(epsilon=1, secrets=2)",
        total_variation: 0.393_469_340_287_366_6,
        epsilon: 1.0,
        // Both tails: (1 + e^-1)/2 of the rows.
        extreme: 0.683_939_720_585_721_2,
        allowed: [1.3, 1.4],
    },
];

fn found(case: &Case, rows: usize, seed: u64) -> Findings {
    let options = AuditOptions {
        quick: true,
        ..AuditOptions::default()
    };
    audit(&simulated(case.mechanism, rows, seed), &options).expect(case.mechanism)
}

fn limits(found: &Findings) -> [f64; 2] {
    let worst = &found.worst_pair;
    [
        worst.total_variation.lower.expect("judged"),
        worst.epsilon.lower.expect("judged"),
    ]
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// What a one-sided test that knows the best rule has for a limit on a typical log of so many rows.
fn ideal(case: &Case) -> [f64; 2] {
    let rows = ROWS as f64;
    let errors = (rows * (1.0 - case.total_variation) / 2.0).round() as u64;
    let total_variation = 1.0 - 2.0 * clopper_pearson_upper(errors, ROWS as u64, ALPHA);
    if case.extreme == 0.0 {
        return [total_variation, f64::NAN];
    }
    let guessed = (rows * case.extreme).round();
    let right = (guessed / (1.0 + (-case.epsilon).exp())).round() as u64;
    let wrong = clopper_pearson_upper(guessed as u64 - right, guessed as u64, ALPHA);
    [total_variation, ((1.0 - wrong) / wrong).ln()]
}

/// The medians of limits over so many logs, against the ideal.
fn medians_are_near(logs: u64) {
    let mut failed = Vec::new();
    for case in &CASES {
        let all: Vec<[f64; 2]> = (0..logs)
            .into_par_iter()
            .map(|seed| limits(&found(case, ROWS, seed)))
            .collect();
        let ideal = ideal(case);
        let truths = [case.total_variation, case.epsilon];
        for (at, name) in ["total variation", "epsilon"].into_iter().enumerate() {
            let median = median(all.iter().map(|limits| limits[at]).collect());
            let above = all.iter().filter(|limits| limits[at] > truths[at]).count();
            let ratio = (truths[at] - median) / (truths[at] - ideal[at]);
            println!(
                "{} {name}: true {:.4}, ideal {:.4}, median {median:.4}, {ratio:.2} times the ideal distance, \
                 {above} of {logs} above the truth",
                case.mechanism, truths[at], ideal[at]
            );
            if ratio > case.allowed[at] {
                failed.push(format!("{} {name}: {ratio:.2}", case.mechanism));
            }
        }
    }
    assert!(failed.is_empty(), "too far from the ideal: {failed:?}");
}

#[test]
#[ignore = "minutes; see the head of this file"]
fn limits_come_near_those_of_a_test_that_knows_the_attack() {
    medians_are_near(200);
}

/// Limits of small logs that are above the truth.
pub fn quick() -> Vec<Rates> {
    let rates = |case: &'static Case| Rates {
        case: case.mechanism.to_owned(),
        names: ["total variation", "epsilon"].map(str::to_owned).into(),
        nominal: ALPHA,
        wrong: Box::new(move |seed| {
            let limits = limits(&found(case, 1_000, seed));
            vec![limits[0] > case.total_variation, limits[1] > case.epsilon]
        }),
    };
    CASES.iter().map(rates).collect()
}
