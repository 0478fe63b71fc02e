//! Means of skewed times: how often some pair's limits miss, in blocks and one by one.

use leakgauge_testing::{at_most, rng};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::normal;
use crate::long_run::LongRun;
use crate::paired::{Located, Sample, mean};
use crate::unpaired::{self, Ranked};

/// Four classes.
const CLASSES: usize = 4;
/// Two sides of six pairs.
const EACH: f64 = 0.05 / 12.0;

/// The law of times.
#[derive(Debug, Clone, Copy)]
enum Law {
    /// Of this σ.
    Lognormal(f64),
    /// With this exponent.
    Pareto(f64),
}

impl Law {
    fn draw(self, rng: &mut ChaCha8Rng) -> f64 {
        match self {
            Law::Lognormal(sigma) => (sigma * normal(rng)).exp(),
            Law::Pareto(exponent) => (1.0 - rng.random::<f64>()).powf(-1.0 / exponent),
        }
    }

    fn mean(self) -> f64 {
        match self {
            Law::Lognormal(sigma) => (0.5 * sigma * sigma).exp(),
            Law::Pareto(exponent) => exponent / (exponent - 1.0),
        }
    }
}

/// What a log of one law, in blocks or one by one, had: whether some pair's limits miss, and pairs with limits.
fn log(law: Law, scales: [f64; CLASSES], rows: usize, in_blocks: bool, seed: u64) -> (bool, usize) {
    let mut rng = rng(seed);
    let times: Vec<Vec<f64>> = scales
        .iter()
        .map(|scale| (0..rows).map(|_| scale * law.draw(&mut rng)).collect())
        .collect();
    let (mut misses, mut known) = (false, 0);
    for b in 0..CLASSES {
        for a in 0..b {
            let found: Located = if in_blocks {
                mean(&Sample::new(&times[a], &times[b]), EACH)
            } else {
                let ranked = |at: usize| Ranked::new(times[at].iter().map(|&time| (time, 1)));
                // As of rows in their order, which are independent.
                let varies = LongRun::of_independent(2 * rows);
                unpaired::mean(&ranked(a), &ranked(b), EACH, varies)
            };
            let truth = law.mean() * (scales[b] - scales[a]);
            misses |= truth < found.lower || truth > found.upper;
            known += usize::from(found.lower.is_finite());
        }
    }
    (misses, known)
}

fn assert_covered(logs: usize, laws: &[Law], sizes: &[usize]) {
    for &law in laws {
        for &rows in sizes {
            for scales in [
                [1.0; CLASSES],
                [1.0, 1.25, 1.5, 2.0],
                [1.0, 0.001, 0.001, 0.001],
            ] {
                for in_blocks in [true, false] {
                    let found =
                        (0..logs).map(|at| log(law, scales, rows, in_blocks, 91_000 + at as u64));
                    let found: Vec<(bool, usize)> = found.collect();
                    let misses = found.iter().filter(|one| one.0).count();
                    let known: usize = found.iter().map(|one| one.1).sum();
                    let what = format!("{law:?}, {scales:?}, {rows} rows, in blocks {in_blocks}");
                    println!(
                        "{what}: {misses} of {logs} miss, {known} of {} limits",
                        6 * logs
                    );
                    assert!(misses <= at_most(logs, 0.05), "{what}: {misses}");
                }
            }
        }
    }
}

#[test]
fn means_of_skewed_times_are_covered_or_have_no_limits() {
    assert_covered(60, &[Law::Lognormal(1.5), Law::Pareto(1.5)], &[200]);
}

#[test]
#[ignore = "full tier: coverage in many logs"]
fn means_of_skewed_times_are_covered_or_have_no_limits_in_many_logs() {
    let laws = [0.5, 1.0, 1.5, 2.0].map(Law::Lognormal);
    let laws = [&laws[..], &[2.5, 1.5].map(Law::Pareto)].concat();
    assert_covered(400, &laws, &[100, 1_000, 5_000]);
}
