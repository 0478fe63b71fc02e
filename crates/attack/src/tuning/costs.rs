//! What attackers cost, nominal against measured, for whoever changes the constants:
//! `cargo test --release --lib tuning::costs -- --ignored --nocapture --test-threads 1`.

use std::time::Instant;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::contest::Contest;
use super::family::Family;
use super::model_selection::Chosen;
use super::task::Task;
use super::*;
use crate::scorer::score_table;
use leakgauge_log::observations::{Cell, Counts};

/// Rows of normal distributions, secrets half a standard deviation apart; rounded to integers if asked.
fn log(rows: usize, columns: usize, secrets: usize, rounded: bool) -> (Observations, Split) {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut number = |secret: usize| {
        let normal: f64 = StandardNormal.sample(&mut rng);
        let value = normal + 0.5 * secret as f64;
        if rounded {
            (10.0 * value).round()
        } else {
            value
        }
    };
    let numbers = (0..rows * columns).map(|at| number(at / columns % secrets));
    let observations = Observations::of_numbers(columns, numbers.collect());
    let cells = (0..rows as u32).map(|symbol| Cell {
        secret: symbol % secrets as u32,
        symbol,
        count: 1,
    });
    let counts = Counts::new(secrets, cells.collect());
    let split = Split::stratified(&counts, &mut rng);
    (observations, split)
}

/// Seconds of all threads so far, where the system tells.
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<f64> = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .map(|field| field.parse().unwrap_or(0.0))
        .collect();
    fields
        .get(11..13)
        .map_or(0.0, |ticks| ticks.iter().sum::<f64>() / 100.0)
}

/// Fits, enters and judges as an audit would.
fn measure(task: Task, family: &dyn Family) {
    const MOST: f64 = 4.0;
    let granted = [(family.kind(), MOST)];
    let task = Task {
        restrict_to: Some(&granted),
        ..task
    };
    let (start, before) = (Instant::now(), processor_seconds());
    let mut contest = Contest::new(task);
    contest.run(family);
    let entered = processor_seconds();
    let Ok(Chosen { best, tried, .. }) = contest.into_selection().finish() else {
        println!("{:?} was left out", family.kind());
        return;
    };
    let certify = &task.split.certify;
    score_table(
        &*best.scorer,
        task.observations,
        certify.symbols(),
        task.secrets(),
    );
    let (wall, after) = (start.elapsed().as_secs_f64(), processor_seconds());
    let nominal: f64 = tried.iter().map(|tried| tried.cost).sum();
    let kind = family.kind();
    println!(
        "{:>11} {:40} rows {:6} nominal {nominal:7.3} processor/2 {:7.3} of which judging {:7.3} wall {wall:7.3} {} {}",
        kind.name,
        format!("{:?}", kind.space),
        tried[0].rows,
        0.5 * (after - before),
        0.5 * (after - entered),
        tried.len(),
        best.scorer.index().unwrap_or(""),
    );
}

#[test]
#[ignore = "prints nominal against measured costs, in a minute or two"]
fn nominal_costs_beside_measured_ones() {
    for (rows, columns, secrets, rounded) in [
        (2_000, 24, 100, true),
        (10_000, 2, 5, false),
        (10_000, 20, 2, false),
        (100_000, 2, 2, false),
        (100_000, 20, 10, false),
    ] {
        println!("{rows} rows, {columns} columns, {secrets} secrets");
        let (observations, split) = log(rows, columns, secrets, rounded);
        let task = Task {
            observations: &observations,
            split: &split,
            attacks: &Attacks::default(),
            budget: Budget::default(),
            goals: Goals::advantage(0.05),
            restrict_to: None,
            recurring: recurring(&observations, &split.fit).len(),
            scored: observations_to_score(&split),
        };
        for family in families::all(&[]) {
            if family.applies(&task) && family.kind().name != "combination" {
                measure(task, &*family);
            }
        }
    }
}
