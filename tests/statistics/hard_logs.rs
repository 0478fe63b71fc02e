//! Logs as people have them: ties, atoms, rare and many secrets, copies, clusters, words among numbers, rounded
//! numbers; and whether p-values are as rare as they say.
//!
//! ```text
//! cargo test --release --test all statistics::hard_logs -- --ignored --nocapture
//! ```

use std::fmt::Write;

use leakgauge::attack::tuning::ScorerChoice;
use leakgauge::audit::{AuditOptions, Findings, audit};
use leakgauge::log::{Log, LogBuilder, ReadOptions, read_from};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

use super::cases::{self, Case};
use super::coverage::{FIGURES, audit_with, check, coverage_of, log_of, violates};
use super::quick::Rates;

const LOGS: u64 = 1000;
const ALPHA: f64 = 0.05;

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    StandardNormal.sample(rng)
}

/// Limits and claims of a case of a hard shape.
fn of_case(case: Case, rows: usize) -> Rates {
    Rates {
        case: case.name.to_owned(),
        names: FIGURES
            .into_iter()
            .chain(["true claims violated"])
            .map(str::to_owned)
            .collect(),
        nominal: ALPHA,
        wrong: Box::new(move |seed| {
            let log = log_of(&case, seed, rows);
            let judge = |claims: &[String]| audit_with(&log, claims, ScorerChoice::Auto);
            let covered = coverage_of(&case, &judge(&[]));
            let violated = violates(&judge(&case.claims));
            covered
                .into_iter()
                .map(|covered| !covered)
                .chain([violated])
                .collect()
        }),
    }
}

/// Leak-free numbers, a part of them repeated; the rows of a copy have the name of the row that they repeat.
fn copies(named: bool, part: f64) -> impl Fn(u64) -> bool {
    move |seed| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut rows: Vec<(usize, f64, usize)> = (0..1000)
            .map(|name| (rng.random_range(0..2), normal(&mut rng), name))
            .collect();
        for at in 0..rows.len() {
            if rng.random::<f64>() < part {
                rows.push(rows[at]);
            }
        }
        let lines = rows
            .iter()
            .map(|row| format!("{},{},r{}\n", row.0, row.1, row.2));
        let csv = lines.fold("secret,time,id\n".to_owned(), |all, line| all + &line);
        let options = ReadOptions {
            observe: Some(vec!["time".to_owned()]),
            row_id: named.then(|| "id".to_owned()),
            ..ReadOptions::default()
        };
        let log = read_from("log", std::io::Cursor::new(csv), &options).expect("a log");
        violated(&log, "advantage(0.01)")
    }
}

/// Leak-free devices with offsets of their own.
fn clusters(devices: usize, rows: usize, both: bool) -> impl Fn(u64) -> bool {
    move |seed| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (mut secrets, mut numbers, mut units) = (Vec::new(), Vec::new(), Vec::new());
        for device in 0..devices {
            let offset = normal(&mut rng);
            for _ in 0..rows {
                let secret = if both {
                    rng.random_range(0..2)
                } else {
                    device % 2
                };
                secrets.push(["a", "b"][secret]);
                numbers.push(offset + normal(&mut rng));
                units.push(device.to_string());
            }
        }
        let log = LogBuilder::new()
            .secrets(&secrets)
            .numbers("time", &numbers);
        let log = log.groups("device", &units).build().expect("a log");
        violated(&log, "advantage(0)")
    }
}

/// Leak-free numbers with words among them.
fn words(seed: u64) -> bool {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut csv = "secret,time\n".to_owned();
    for _ in 0..2000 {
        let secret = rng.random_range(0..2);
        let is_out = rng.random::<f64>() < 0.02;
        let cell = if is_out {
            "timeout".to_owned()
        } else {
            normal(&mut rng).to_string()
        };
        writeln!(csv, "{secret},{cell}").expect("a string takes everything");
    }
    violated(&read(csv), "advantage(0)")
}

fn read(csv: String) -> Log {
    read_from("log", std::io::Cursor::new(csv), &ReadOptions::default()).expect("a log")
}

fn judged(log: &Log, claim: &str) -> Findings {
    let claims = vec![claim.to_owned()];
    audit_with(log, &claims, ScorerChoice::Auto)
}

fn violated(log: &Log, claim: &str) -> bool {
    violates(&judged(log, claim))
}

/// Randomized response at ε = 1, held to just that: p-values of a true claim at its border.
fn border_p_value(claim: &'static str) -> impl Fn(u64) -> f64 {
    move |seed| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let keep = 1.0 / (1.0 + (-1f64).exp());
        let rows = (0..2000).map(|_| {
            let secret = rng.random_range(0..2u8);
            let told = if rng.random::<f64>() < keep {
                secret
            } else {
                1 - secret
            };
            format!("c{secret},c{told}\n")
        });
        let csv = rows.fold("secret,answer\n".to_owned(), |all, row| all + &row);
        let found = judged(&read(csv), claim);
        found.claims[0].p_value.expect("judged")
    }
}

/// The p-value of no leak at all where there is none: numbers, or few labels, of some secrets.
fn no_leak_p_value(secrets: usize, labels: bool) -> impl Fn(u64) -> f64 {
    move |seed| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut csv = "secret,seen\n".to_owned();
        for _ in 0..600 {
            let secret = rng.random_range(0..secrets);
            let seen = normal(&mut rng);
            if labels {
                writeln!(csv, "{secret},c{}", (2.0 * seen).round())
            } else {
                writeln!(csv, "{secret},{seen}")
            }
            .expect("a string takes everything");
        }
        let options = AuditOptions {
            budget: "100ms".parse().expect("a budget"),
            ..AuditOptions::default()
        };
        let found = audit(&read(csv), &options).expect("an audit");
        found.no_leak.expect("rows are independent").p_value
    }
}

/// How numbers are written.
#[derive(Clone, Copy)]
enum Written {
    Steps,
    Truncated,
    Digits,
}

/// The p-value of the fit of a correct Laplace mechanism whose numbers are rounded.
fn fit_p_value(written: Written) -> impl Fn(u64) -> f64 {
    move |seed| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut csv = "secret,answer\n".to_owned();
        for _ in 0..3000 {
            let secret = rng.random_range(0..2u8);
            let noise = -(1.0 - rng.random::<f64>()).ln();
            let x = f64::from(secret) + if rng.random() { noise } else { -noise };
            let cell = match written {
                Written::Steps => format!("{:.2}", (x / 0.05).round() * 0.05),
                Written::Truncated => format!("{:.1}", (x * 10.0).trunc() / 10.0),
                Written::Digits => {
                    let shown: f64 = format!("{x:.2e}").parse().expect("a number");
                    shown.to_string()
                }
            };
            writeln!(csv, "{secret},{cell}").expect("a string takes everything");
        }
        let found = judged(&read(csv), "laplace(epsilon=1)");
        let fit = found.claims[0].fit.as_ref().expect("a law");
        fit.p_value.expect("rows enough")
    }
}

fn rare(case: &str, level: f64, p_value: impl Fn(u64) -> f64 + Send + Sync + 'static) -> Rates {
    Rates::one(format!("{case}: p ≤ {level}"), level, move |seed| {
        p_value(seed) <= level
    })
}

/// Everything of this file.
fn all() -> Vec<Rates> {
    let mut all: Vec<Rates> = cases::of_hard_shape()
        .into_iter()
        .map(|case| of_case(case, 5_000))
        .collect();
    all.extend([
        Rates::one("read twice", ALPHA, copies(false, 1.0)),
        Rates::one("a tenth repeated", ALPHA, copies(false, 0.1)),
        Rates::one("repeated, with names", ALPHA, copies(true, 0.5)),
        Rates::one("40 devices of 50 rows", ALPHA, clusters(40, 50, false)),
        Rates::one("60 devices of both secrets", ALPHA, clusters(60, 20, true)),
        Rates::one("words among numbers", ALPHA, words),
        rare("ldp(1) at its border", 0.05, border_p_value("ldp(1)")),
        rare("ldp(1) at its border", 0.01, border_p_value("ldp(1)")),
        rare(
            "advantage at its border",
            0.05,
            border_p_value("advantage(0.46211715726000976)"),
        ),
        rare("no leak, numbers", 0.05, no_leak_p_value(2, false)),
        rare("no leak, labels", 0.05, no_leak_p_value(2, true)),
        rare("no leak, 5 secrets", 0.05, no_leak_p_value(5, false)),
        rare("fit, steps of 0.05", 0.05, fit_p_value(Written::Steps)),
        rare("fit, truncated", 0.05, fit_p_value(Written::Truncated)),
        rare("fit, three digits", 0.05, fit_p_value(Written::Digits)),
    ]);
    all
}

#[test]
#[ignore = "long; see the head of this file"]
fn limits_and_p_values_keep_their_level() {
    keep_their_level(all());
}

/// Half an hour.
#[test]
#[ignore = "long; see the head of this file"]
fn limits_of_many_secrets_keep_their_level() {
    keep_their_level(vec![of_case(cases::many_secrets(), 5_000)]);
}

fn keep_their_level(all: Vec<Rates>) {
    let mut fine = true;
    for rates in all {
        let wrong: Vec<Vec<bool>> = (0..LOGS)
            .into_par_iter()
            .map(|seed| (rates.wrong)(seed))
            .collect();
        for (at, name) in rates.names.iter().enumerate() {
            let errors = wrong.iter().filter(|wrong| wrong[at]).count();
            fine &= check(&rates.case, name, errors, LOGS, rates.nominal);
        }
    }
    assert!(fine, "see the lines marked FAILED");
}

/// The same for [`super::quick`], without rates that take more logs.
pub fn quick() -> Vec<Rates> {
    let quick = |rates: &Rates| rates.nominal == ALPHA;
    all().into_iter().filter(quick).collect()
}
