//! Attacks that few rows taught: what holds of them holds of the attack that is their reverse too.

use std::fmt::Write;
use std::io::Cursor;

use leakgauge::attack::tuning::ScorerChoice;
use leakgauge::audit::{AuditOptions, Verdict, audit};
use leakgauge::claim::Claim;
use leakgauge::log::{ReadOptions, ScoreColumns, read_from};
use leakgauge_testing::{at_most, rng};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

/// Logs a design.
const LOGS: u64 = 200;

/// How often `attack-advantage(0.1)` holds of logs of two normal laws so far apart.
fn held(rows: usize, distance: f64, are_scores: bool, seed: u64) -> usize {
    let holds = |log: u64| {
        let mut rng = rng(seed + log);
        let mut text = "secret,loss\n".to_owned();
        for _ in 0..rows {
            let member = rng.random::<bool>();
            let noise: f64 = StandardNormal.sample(&mut rng);
            let (name, shift) = if member {
                ("in", distance)
            } else {
                ("out", 0.0)
            };
            writeln!(text, "{name},{:.4}", shift + noise).expect("memory");
        }
        let reading = ReadOptions {
            scores: are_scores.then(|| ScoreColumns::One("loss".to_owned())),
            ..ReadOptions::default()
        };
        let log = read_from("log", Cursor::new(text), &reading).expect("a log");
        let options = AuditOptions {
            quick: !are_scores,
            attacks: if are_scores {
                ScorerChoice::Given.into()
            } else {
                AuditOptions::default().attacks
            },
            claims: vec![Claim::parse("attack-advantage(0.1)").expect("a claim")],
            ..AuditOptions::default()
        };
        let found = audit(&log, &options).expect("an audit");
        usize::from(found.claims[0].verdict == Verdict::Holds)
    };
    (0..LOGS).into_par_iter().map(holds).sum()
}

/// The best threshold has an advantage of 0.16 or 0.38: an attack that learned to point the wrong way is no evidence of less.
#[test]
fn small_logs_of_a_leak_seldom_hold() {
    for (rows, distance, are_scores) in [(200, 0.4, false), (60, 0.4, true), (60, 1.0, true)] {
        let held = held(rows, distance, are_scores, 1000 * rows as u64);
        let most = at_most(LOGS as usize, 0.05);
        assert!(
            held <= most,
            "{rows} rows, {distance}, {are_scores}: {held} of {LOGS}"
        );
    }
}
