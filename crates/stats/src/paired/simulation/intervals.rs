//! Coverage and width of limits.

use leakgauge_base::parallel;
use leakgauge_testing::at_most;

use super::{NOISES, Noise, blocks};
use crate::paired::{
    Located, Sample, Times, decile_shifts, hodges_lehmann, mean, median, trimmed_mean,
};

const SHIFT: f64 = 0.5;
const NAMES: [&str; 7] = [
    "median",
    "Hodges-Lehmann",
    "trimmed mean",
    "mean",
    "decile 1",
    "decile 5",
    "decile 9",
];

/// What one figure does over all logs.
struct Intervals {
    name: &'static str,
    missed: usize,
    /// The mean width of those that have limits over the width that a known standard deviation of the estimates would
    /// give.
    width: f64,
    /// Logs that depend too much for limits.
    without: usize,
}

fn intervals(noise: Noise, n: usize, logs: usize) -> Vec<Intervals> {
    let found: Vec<[Located; 7]> = parallel::map(logs, |log| {
        let times = blocks(noise, 2, n, SHIFT, 7_000 + log as u64);
        let sample = Sample::new(&times[0], &times[1]);
        let [a, b] = [0, 1].map(|class: usize| Times::new(&times[class]));
        let deciles = decile_shifts([&a, &b], 0.025, f64::INFINITY).expect("enough blocks");
        [
            median(&sample, 0.025),
            hodges_lehmann(&sample, 0.025),
            trimmed_mean(&sample, 0.025),
            mean(&sample, 0.025),
            deciles[0],
            deciles[4],
            deciles[8],
        ]
    });
    let each = NAMES.iter().enumerate();
    each.map(|(at, &name)| {
        let of_log = || found.iter().map(|log| log[at]);
        let missed = of_log().filter(|one| one.lower > SHIFT || SHIFT > one.upper);
        let logs = logs as f64;
        let square = |one: Located| (one.point - SHIFT).powi(2);
        let deviation = (of_log().map(square).sum::<f64>() / logs).sqrt();
        let widths = of_log().map(|one| one.upper - one.lower);
        let widths: Vec<f64> = widths.filter(|width| width.is_finite()).collect();
        let width = widths.iter().sum::<f64>() / widths.len() as f64;
        Intervals {
            name,
            missed: missed.count(),
            width: width / (2.0 * 1.96 * deviation),
            without: found.len() - widths.len(),
        }
    })
    .collect()
}

fn assert_coverage(n: usize, logs: usize) {
    for noise in NOISES {
        for Intervals {
            name,
            missed,
            width,
            without,
        } in intervals(noise, n, logs)
        {
            let rate = 100.0 - 100.0 * missed as f64 / logs as f64;
            println!(
                "{noise:?}, {n} blocks, {name}: {rate:.1} %, width {width:.3}, {without} without"
            );
            assert!(missed <= at_most(logs, 0.05), "{noise:?}, {name}: {rate}");
        }
    }
}

#[test]
fn limits_of_differences_cover() {
    assert_coverage(400, 200);
}

#[test]
#[ignore = "long"]
fn limits_of_differences_cover_at_many_sizes() {
    for n in [200, 1_000, 5_000] {
        assert_coverage(n, 1_000);
    }
}
