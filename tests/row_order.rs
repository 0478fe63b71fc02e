//! The order of rows: when dependence matters, and what a report says to do about it.

use crate::common::{Place, stdout};
use leakgauge::audit::{AuditOptions, audit};
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
