//! Differences inside blocks: coverage of the limits, false alarms of the test, and its power beside tests that
//! timing tools use, written from their papers and documentation: the sign test, Wilcoxon's signed-rank test and the
//! paired t-test (tlsfuzzer's analysis) and the bootstrapped test of deciles of RTLF.

use leakgauge::stats::binomial_tail;
use leakgauge::stats::paired::{self, Located, exchangeable};
use leakgauge::stats::special::{normal_quantile, normal_survival};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    normal_quantile(rng.random::<f64>().clamp(1e-16, 1.0 - 1e-16))
}

/// What the noise of times is like. Its scale is 1.
#[derive(Debug, Clone, Copy)]
enum Noise {
    White,
    /// White noise on a slow wave that both classes share.
    SharedDrift,
    /// White noise on a random walk that both classes share.
    RandomWalk,
    /// One of two modes, 6 apart, for each measurement.
    Bimodal,
    /// Student's law with 2 degrees of freedom, which has no variance.
    HeavyTails,
}

const NOISES: [Noise; 5] = [
    Noise::White,
    Noise::SharedDrift,
    Noise::RandomWalk,
    Noise::Bimodal,
    Noise::HeavyTails,
];

/// Times of two classes in blocks; the second takes longer by `shift`.
fn blocks(noise: Noise, blocks: usize, shift: f64, seed: u64) -> [Vec<f64>; 2] {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut level = 0.0;
    let own = |rng: &mut ChaCha8Rng| match noise {
        Noise::White | Noise::SharedDrift | Noise::RandomWalk => normal(rng),
        Noise::Bimodal => normal(rng) + if rng.random::<bool>() { 6.0 } else { 0.0 },
        Noise::HeavyTails => {
            let scale = (-rng.random::<f64>().max(1e-300).ln()).sqrt();
            normal(rng) / scale
        }
    };
    let (mut x, mut y) = (Vec::with_capacity(blocks), Vec::with_capacity(blocks));
    for at in 0..blocks {
        level = match noise {
            Noise::SharedDrift => 20.0 * (at as f64 / blocks as f64 * 9.0).sin(),
            Noise::RandomWalk => level + 0.3 * normal(&mut rng),
            _ => 0.0,
        };
        x.push(level + own(&mut rng));
        y.push(level + own(&mut rng) + shift);
    }
    [x, y]
}

fn sorted_differences([x, y]: &[Vec<f64>; 2]) -> Vec<f64> {
    let mut sorted: Vec<f64> = x.iter().zip(y).map(|(x, y)| y - x).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

fn sign_test(sorted: &[f64]) -> f64 {
    let below = sorted.partition_point(|&d| d < 0.0);
    let above = sorted.len() - sorted.partition_point(|&d| d <= 0.0);
    let all = (below + above) as u64;
    (2.0 * binomial_tail::at_most(below.min(above) as u64, all, 0.5)).min(1.0)
}

fn wilcoxon(sorted: &[f64]) -> f64 {
    let mut sizes: Vec<f64> = sorted.to_vec();
    sizes.sort_unstable_by(|x, y| x.abs().total_cmp(&y.abs()));
    let n = sizes.len() as f64;
    let ranks = sizes.iter().zip(1..);
    let sum: f64 = ranks.map(|(d, rank)| d.signum() * f64::from(rank)).sum();
    let deviation = (n * (n + 1.0) * (2.0 * n + 1.0) / 6.0).sqrt();
    (2.0 * normal_survival(sum.abs() / deviation)).min(1.0)
}

fn t_test(sorted: &[f64]) -> f64 {
    let n = sorted.len() as f64;
    let mean = sorted.iter().sum::<f64>() / n;
    let squares: f64 = sorted.iter().map(|d| (d - mean).powi(2)).sum();
    (2.0 * normal_survival(mean.abs() / (squares / (n - 1.0) / n).sqrt())).min(1.0)
}

/// RTLF (Dunsche et al. 2024): a decile differs if the distance of the classes exceeds a threshold that bootstraps of
/// each class by itself exceed with probability α/9, here with 200 resamples.
fn rtlf([x, y]: &[Vec<f64>; 2], alpha: f64, rng: &mut ChaCha8Rng) -> bool {
    const RESAMPLES: usize = 200;
    let deciles = |values: &[f64]| {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        paired::DECILES.map(|p| sorted[(p * (sorted.len() - 1) as f64).round() as usize])
    };
    let mut resampled = |values: &[f64]| {
        let n = values.len();
        let drawn: Vec<f64> = (0..n).map(|_| values[rng.random_range(0..n)]).collect();
        deciles(&drawn)
    };
    let thresholds = [x, y].map(|values| {
        let mut distances: Vec<[f64; 9]> = (0..RESAMPLES)
            .map(|_| {
                let (one, other) = (resampled(values), resampled(values));
                std::array::from_fn(|at| (one[at] - other[at]).abs())
            })
            .collect();
        let rank = ((1.0 - alpha / 9.0) * (RESAMPLES - 1) as f64).ceil() as usize;
        std::array::from_fn::<f64, 9, _>(|at| {
            distances.sort_unstable_by(|one, other| one[at].total_cmp(&other[at]));
            distances[rank][at]
        })
    });
    let (of_x, of_y) = (deciles(x), deciles(y));
    (0..9).any(|at| (of_x[at] - of_y[at]).abs() > thresholds[0][at].max(thresholds[1][at]))
}

/// The rates at which the limits of the figures hold, and their mean widths.
fn coverage(noise: Noise, n: usize, logs: u64) -> Vec<(&'static str, f64, f64)> {
    const SHIFT: f64 = 0.5;
    let covers = |found: Located| {
        let holds = found.lower <= SHIFT && SHIFT <= found.upper;
        [f64::from(u8::from(holds)), found.upper - found.lower]
    };
    let of_log = |log: u64| -> Vec<[f64; 2]> {
        let [x, y] = blocks(noise, n, SHIFT, 7_000 + log);
        let sorted = sorted_differences(&[x.clone(), y.clone()]);
        let deciles = paired::decile_shifts(&x, &y, 0.025).expect("enough blocks");
        vec![
            covers(paired::median(&sorted, 0.025)),
            covers(paired::hodges_lehmann(&sorted, 0.025)),
            covers(paired::trimmed_mean(&sorted, 0.025)),
            covers(paired::mean(&sorted, 0.025)),
            covers(deciles[1]),
            covers(deciles[4]),
        ]
    };
    let found: Vec<Vec<[f64; 2]>> = (0..logs).into_par_iter().map(of_log).collect();
    let names = [
        "median",
        "hodges-lehmann",
        "trimmed mean",
        "mean",
        "decile 2",
        "decile 5",
    ];
    let mean =
        |at: usize, of: usize| found.iter().map(|log| log[at][of]).sum::<f64>() / logs as f64;
    let each = names.iter().enumerate();
    each.map(|(at, &name)| (name, mean(at, 0), mean(at, 1)))
        .collect()
}

/// Coverage at least nominal less three standard deviations of the simulation.
fn assert_coverage(n: usize, logs: u64) {
    let least = 0.95 - 3.0 * (0.95 * 0.05 / logs as f64).sqrt();
    for noise in NOISES {
        for (figure, rate, width) in coverage(noise, n, logs) {
            println!("{noise:?}, {n} blocks, {figure}: {rate:.3}, width {width:.4}");
            // Deciles of a random walk or a wave are of times that depend on each other, which blocks may not.
            let is_independent = !matches!(noise, Noise::SharedDrift | Noise::RandomWalk);
            if is_independent || !figure.starts_with("decile") {
                assert!(rate >= least, "{noise:?}, {figure}: {rate} < {least}");
            }
        }
    }
}

#[test]
fn limits_of_differences_cover() {
    assert_coverage(150, 200);
}

#[test]
#[ignore = "long"]
fn limits_of_differences_cover_at_many_sizes() {
    for n in [30, 100, 1_000, 10_000] {
        assert_coverage(n, 2_000);
    }
}

/// The share of logs that each test flags: ours, sign, Wilcoxon, t, RTLF.
fn flagged(noise: Noise, n: usize, shift: f64, logs: u64, alpha: f64) -> [f64; 5] {
    let of_log = |log: u64| {
        let both = blocks(noise, n, shift, 90_000 + log);
        let sorted = sorted_differences(&both);
        let mut rng = ChaCha8Rng::seed_from_u64(log);
        let p = [
            exchangeable(&both[0], &both[1]).p_value,
            sign_test(&sorted),
            wilcoxon(&sorted),
            t_test(&sorted),
        ];
        let [ours, sign, ranks, t] = p.map(|p| p <= alpha);
        // Its bootstrap cannot speak of so small a level.
        let rtlf = alpha > 0.01 && rtlf(&both, alpha, &mut rng);
        [ours, sign, ranks, t, rtlf].map(|flags| f64::from(u8::from(flags)))
    };
    let found: Vec<[f64; 5]> = (0..logs).into_par_iter().map(of_log).collect();
    std::array::from_fn(|test| found.iter().map(|log| log[test]).sum::<f64>() / logs as f64)
}

fn assert_power(n: usize, shifts: &[f64], logs: u64, alpha: f64) {
    for noise in NOISES {
        for &shift in shifts {
            let [ours, sign, ranks, t, rtlf] = flagged(noise, n, shift, logs, alpha);
            println!(
                "{noise:?}, {n} blocks, shift {shift}, level {alpha}: ours {ours:.3}, sign {sign:.3}, Wilcoxon \
                 {ranks:.3}, t {t:.3}, RTLF {rtlf:.3}"
            );
            let spread = 3.0 * (0.25 / logs as f64).sqrt();
            let best = sign.max(ranks).max(t).max(rtlf);
            assert!(ours >= best - spread, "{noise:?}, {shift}: {ours} < {best}");
        }
    }
}

#[test]
fn a_test_that_chooses_its_score_finds_what_the_best_of_others_finds() {
    assert_power(200, &[0.3], 100, 0.05);
}

#[test]
#[ignore = "long"]
fn power_over_shifts_and_levels() {
    for alpha in [0.05, 1e-5] {
        assert_power(1_000, &[0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0], 400, alpha);
    }
}

#[test]
fn logs_without_a_leak_are_flagged_at_the_level() {
    const LOGS: u64 = 2_000;
    for noise in NOISES {
        let of_log = |log: u64| {
            let [x, y] = blocks(noise, 60, 0.0, 500_000 + log);
            exchangeable(&x, &y).p_value
        };
        let found: Vec<f64> = (0..LOGS).into_par_iter().map(of_log).collect();
        for alpha in [0.2, 0.05, 0.01] {
            let rate = found.iter().filter(|&&p| p <= alpha).count() as f64 / LOGS as f64;
            let most = alpha + 3.0 * (alpha * (1.0 - alpha) / LOGS as f64).sqrt();
            assert!(rate <= most, "{noise:?} at {alpha}: {rate}");
        }
    }
}
