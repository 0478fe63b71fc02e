//! The order of rows: when dependence matters, and what a report says to do about it.

use crate::common::{Place, stdout};
use leakgauge::audit::{AuditOptions, Verdict, audit};
use leakgauge::claim::Claim;
use leakgauge::log::LogBuilder;
use leakgauge::stats::special::normal_quantile;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Leak-free rows with autoregressive noise: the secret and the value of each.
fn rows(
    count: usize,
    seed: u64,
    secret: impl Fn(usize, &mut ChaCha8Rng) -> usize,
) -> Vec<(usize, f64)> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut state = 0.0;
    (0..count)
        .map(|row| {
            let uniform: f64 = rng.random();
            let fresh = normal_quantile(uniform.clamp(1e-16, 1.0 - 1e-16));
            state = 0.99 * state + 0.141 * fresh;
            (secret(row, &mut rng), state)
        })
        .collect()
}

/// Why dependence is not said where secrets are in random order: limits hold. P(Bin(200, 0.05) > 20) = 0.0004.
#[test]
fn shared_noise_is_no_leak_where_secrets_are_in_random_order() {
    let found = (0..200u64).into_par_iter().filter(|&seed| {
        let rows = rows(1000, seed, |_, rng| rng.random_range(0..2));
        let secrets: Vec<&str> = rows.iter().map(|row| ["a", "b"][row.0]).collect();
        let values: Vec<f64> = rows.iter().map(|row| row.1).collect();
        let log = LogBuilder::new().secrets(&secrets).numbers("time", &values);
        let options = AuditOptions {
            seed,
            quick: true,
            budget: "300ms".parse().expect("a budget"),
            ..AuditOptions::default()
        };
        let found = audit(&log.build().expect("a log"), &options).expect("an audit");
        found
            .worst_pair
            .total_variation
            .lower
            .is_some_and(|lower| lower > 0.0)
    });
    let found = found.count();
    assert!(found <= 20, "{found} of 200");
}

#[test]
fn warnings_name_the_remedy_and_the_page_the_next_command() {
    let mut text = "secret,time\n".to_owned();
    for (secret, value) in rows(2000, 1, |row, _| row / 2 % 2) {
        text += &format!("{},{value:.4}\n", ["a", "b"][secret]);
    }
    let place = Place::with_log(text);
    let output = place.run(&["estimate", "log.csv", "--full", "--html", "page.html"]);
    let text = stdout(&output);
    assert!(text.contains("autocorrelation"), "{text}");
    assert!(
        text.contains("--group COLUMN") && text.contains("--split blocks"),
        "{text}"
    );
    let page = std::fs::read_to_string(place.path().join("page.html")).expect("a page");
    let next = "Run <code class=\"command\">leakgauge estimate log.csv --full --html page.html --split blocks</code>";
    assert!(page.contains(next), "{page}");
}

/// Verdicts on a log without a leak whose secrets come in this order.
fn verdicts(seed: u64, own: bool, secret: impl Fn(usize, &mut ChaCha8Rng) -> usize) -> Verdict {
    let mut drawn = rows(2000, seed, secret);
    if own {
        // Each secret has noise of its own.
        let noise = rows(2000, seed + 1000, |_, _| 0);
        let mut of_b = noise.iter().map(|row| row.1);
        let of_b = |row: &mut (usize, f64)| row.1 = of_b.next().expect("as many rows");
        drawn.iter_mut().filter(|row| row.0 == 1).for_each(of_b);
    }
    let secrets: Vec<&str> = drawn.iter().map(|row| ["a", "b"][row.0]).collect();
    let values: Vec<f64> = drawn.iter().map(|row| row.1).collect();
    let log = LogBuilder::new()
        .secrets(&secrets)
        .numbers("value", &values);
    let options = AuditOptions {
        quick: true,
        claims: vec![Claim::parse("advantage(0)").expect("a claim")],
        ..AuditOptions::default()
    };
    let found = audit(&log.build().expect("a log"), &options).expect("an audit");
    found.claims[0].verdict
}

/// What changes while a log is taken tells secrets apart that were recorded one after the other, and noise of each secret's
/// own does so in any order. Limits of independent rows called 18 of 20 such logs violated.
#[test]
fn logs_of_dependent_rows_are_hardly_ever_violated() {
    let one_after_the_other = |row: usize, _: &mut ChaCha8Rng| row / 1000;
    let at_random = |_: usize, rng: &mut ChaCha8Rng| rng.random_range(0..2);
    let seeds = || (0..20u64).into_par_iter();
    let is_wrong = |verdict: Verdict| verdict == Verdict::Violated;
    let apart = seeds().filter(|&seed| is_wrong(verdicts(seed, false, one_after_the_other)));
    assert_eq!(apart.count(), 0);
    // P(Bin(20, 0.05) > 4) = 0.003.
    let own = seeds().filter(|&seed| is_wrong(verdicts(seed, true, at_random)));
    let own = own.count();
    assert!(own <= 4, "{own} of 20");
}

/// Drift that all share, and that one secret shows less of: in random order that voids nothing, and a leak far larger than it is
/// violated.
#[test]
fn secrets_may_respond_to_drift_in_their_own_ways() {
    let mut drawn = rows(2000, 7, |_, rng| rng.random_range(0..2));
    let noise = rows(2000, 8, |row, _| row % 2);
    for (row, other) in drawn.iter_mut().zip(noise) {
        row.1 = match row.0 {
            0 => row.1 + 0.1 * other.1,
            _ => 0.3 * row.1 + 8.0,
        };
    }
    let secrets: Vec<&str> = drawn.iter().map(|row| ["a", "b"][row.0]).collect();
    let values: Vec<f64> = drawn.iter().map(|row| row.1).collect();
    let log = LogBuilder::new()
        .secrets(&secrets)
        .numbers("value", &values);
    let options = AuditOptions {
        quick: true,
        claims: vec![Claim::parse("advantage(0.1)").expect("a claim")],
        ..AuditOptions::default()
    };
    let found = audit(&log.build().expect("a log"), &options).expect("an audit");
    assert_eq!(found.claims[0].verdict, Verdict::Violated);
}

#[test]
fn a_verdict_that_dependence_takes_away_fails_a_gate_and_says_what_to_do() {
    let mut text = "secret,value\n".to_owned();
    for (secret, value) in rows(3000, 5, |row, _| row / 1500) {
        text += &format!(
            "{},{:.4}\n",
            ["a", "b"][secret],
            value + 3.0 * secret as f64
        );
    }
    let place = Place::with_log(text);
    let output = place.run(&["audit", "log.csv", "--claim", "advantage(0.1)", "--ci"]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(3), "{text}");
    let said = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("Not judged: rows of each secret stand together, and value drifts")
            && said.contains("Take the secrets in random order.")
            && said.contains("Limits (99.999 %) presume independent rows."),
        "{text}"
    );
    let estimate = place.run(&["estimate", "log.csv"]);
    let text = stdout(&estimate);
    assert!(text.contains("LEAK, IF ROWS ARE INDEPENDENT  "), "{text}");
}
