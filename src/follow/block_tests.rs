//! Logs in blocks, followed: how soon differences are found, and how often they are found where there are none.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

use super::*;
use crate::audit::Verdict;
use leakgauge_attack::tuning::ScorerChoice;
use leakgauge_testing::at_most;

/// Blocks of three classes: a random walk that they share, noise with heavy tails, and a last class that takes longer
/// by the median.
fn blocks(count: usize, longer: f64, seed: u64) -> impl Iterator<Item = Vec<(u32, f64)>> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut level = 10_000.0;
    (0..count).map(move |_| {
        let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
        level += 20.0 * normal();
        let noise = [(); 3].map(|()| 100.0 * normal());
        let mut block: Vec<(u32, f64)> = (0..3).map(|class| (class, level)).collect();
        for (row, noise) in block.iter_mut().zip(noise) {
            let extra = if row.0 == 2 { longer } else { 0.0 };
            // Some measurements are interrupted.
            let late = if rng.random::<f64>() < 0.05 {
                3_000.0 * rng.random::<f64>()
            } else {
                0.0
            };
            row.1 += noise + extra + late;
        }
        block
    })
}

fn monitor(claims: &[&str]) -> BlockMonitor {
    let claims = claims
        .iter()
        .map(|claim| Claim::parse(claim).expect("a claim"));
    BlockMonitor::new(FollowOptions {
        confidence: 0.95,
        seed: 0,
        attacks: ScorerChoice::Threshold.into(),
        budget: Budget::default(),
        claims: claims.collect(),
        unit: Some(TimeUnit::Nanoseconds),
        clock_frequency: None,
        clock_step: None,
    })
    .expect("options that can be followed")
}

/// The first line, every so many blocks, at which all is decided, or the last.
fn watched(blocks: impl Iterator<Item = Vec<(u32, f64)>>, claims: &[&str], every: u64) -> Line {
    let labels = ["a", "b", "c"].map(str::to_owned);
    let mut monitor = monitor(claims);
    for block in blocks {
        monitor.push(block, &labels).expect("an attack");
        if monitor.blocks().is_multiple_of(every) {
            let line = monitor.line().expect("a line");
            if line.is_violated() || line.all_hold() {
                return line;
            }
        }
    }
    monitor.line().expect("a line")
}

#[test]
fn a_difference_that_a_drift_hides_is_found_inside_blocks() {
    let line = watched(blocks(3_000, 50.0, 1), &["time-difference(10ns)"], 100);
    assert!(line.is_violated() && line.blocks < Some(1_500), "{line:?}");
    let first = &line.differences[0];
    assert_eq!(first.secrets[1], "c");
    assert_eq!(first.unit, Some("ns"));
    assert!(
        first.lower > Some(10.0) && first.upper > Some(50.0),
        "{first:?}"
    );
    let line = watched(blocks(3_000, 50.0, 1), &["advantage(0.05)"], 100);
    assert!(line.is_violated() && line.blocks < Some(2_000), "{line:?}");
}

#[test]
fn a_small_difference_is_shown_to_hold_and_no_line_takes_it_back() {
    let line = watched(blocks(3_000, 5.0, 2), &["time-difference(0.05us)"], 100);
    assert_eq!(line.claims[0].verdict, Verdict::Holds, "{line:?}");
    assert!((line.claims[0].analytic - 50.0).abs() < 1e-9);
}

#[test]
fn claims_need_blocks_of_their_kind() {
    let refused = |claim: &str, unit| {
        let options = FollowOptions {
            confidence: 0.95,
            seed: 0,
            attacks: ScorerChoice::Threshold.into(),
            budget: Budget::default(),
            claims: vec![Claim::parse(claim).expect("a claim")],
            unit,
            clock_frequency: None,
            clock_step: None,
        };
        BlockMonitor::new(options)
            .err()
            .map(|error| error.to_string())
    };
    assert!(refused("time-difference(1ns)", None).is_some_and(|text| text.contains("unit")));
    assert!(refused("time-difference(1)", None).is_none());
    let mechanism = refused("laplace(scale=1)", None).expect("an error");
    assert!(mechanism.contains("observer of a block"), "{mechanism}");
}

/// How many of so many logs refute a claim that is true of them, and how many of as many others show that a claim holds
/// that is false of them.
fn wrong(logs: u64, count: usize, every: u64) -> [usize; 2] {
    let true_claims = [
        "time-difference(30ns)",
        "advantage(0.13)",
        "ldp(epsilon=0.5)",
    ];
    let refuted = |seed: &u64| {
        let line = watched(blocks(count, 30.0, 1_000 + seed), &true_claims, every);
        line.is_violated()
    };
    // c takes 30 ns longer.
    let held = |seed: &u64| {
        let line = watched(
            blocks(count, 30.0, 5_000 + seed),
            &["time-difference(29.9ns)"],
            every,
        );
        line.all_hold()
    };
    [
        (0..logs).into_par_iter().filter(refuted).count(),
        (0..logs).into_par_iter().filter(held).count(),
    ]
}

#[test]
fn blocks_seldom_decide_wrongly() {
    let logs = 15;
    let wrong = wrong(logs, 500, 50);
    let most = at_most(logs as usize, 0.05);
    assert!(
        wrong.iter().all(|&wrong| wrong <= most),
        "{wrong:?} of {logs}"
    );
}

/// ```text
/// cargo test --release -p leakgauge --lib follow::block_tests -- --ignored --nocapture
/// ```
#[test]
#[ignore = "long"]
fn blocks_seldom_decide_wrongly_over_long_logs() {
    let logs = 200;
    let wrong = wrong(logs, 4_000, 100);
    println!("{wrong:?} of {logs} logs decide wrongly");
    let most = at_most(logs as usize, 0.05);
    assert!(wrong.iter().all(|&wrong| wrong <= most));
}
