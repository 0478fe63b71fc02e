//! The tests of timing tools, written from their papers and documentation: the sign test, Wilcoxon's signed-rank test
//! and the paired t-test (tlsfuzzer's analysis), and the bootstrapped test of deciles of RTLF.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::binomial_tail;
use crate::paired::DECILES;
use crate::special::normal_survival;

pub(super) fn sign_test(sorted: &[f64]) -> f64 {
    let below = sorted.partition_point(|&d| d < 0.0);
    let above = sorted.len() - sorted.partition_point(|&d| d <= 0.0);
    let all = (below + above) as u64;
    (2.0 * binomial_tail::at_most(below.min(above) as u64, all, 0.5)).min(1.0)
}

pub(super) fn wilcoxon(sorted: &[f64]) -> f64 {
    let mut sizes: Vec<f64> = sorted.to_vec();
    sizes.sort_unstable_by(|x, y| x.abs().total_cmp(&y.abs()));
    let n = sizes.len() as f64;
    let ranks = sizes.iter().zip(1..);
    let sum: f64 = ranks.map(|(d, rank)| d.signum() * f64::from(rank)).sum();
    let deviation = (n * (n + 1.0) * (2.0 * n + 1.0) / 6.0).sqrt();
    (2.0 * normal_survival(sum.abs() / deviation)).min(1.0)
}

pub(super) fn t_test(sorted: &[f64]) -> f64 {
    let n = sorted.len() as f64;
    let mean = sorted.iter().sum::<f64>() / n;
    let squares: f64 = sorted.iter().map(|d| (d - mean).powi(2)).sum();
    let t = mean.abs() / (squares / (n - 1.0) / n).sqrt();
    let law = StudentsT::new(0.0, 1.0, n - 1.0).expect("more than one block");
    (2.0 * law.sf(t)).min(1.0)
}

/// RTLF (Dunsche et al., USENIX Security 2024): a decile differs if the distance of the classes exceeds a threshold
/// that bootstraps of each class by itself exceed with probability α/9, here with 200 resamples.
pub(super) fn rtlf([x, y]: [&[f64]; 2], alpha: f64, rng: &mut ChaCha8Rng) -> bool {
    const RESAMPLES: usize = 200;
    let thresholds = [x, y].map(|values| {
        let sorted = sorted(values);
        let mut distances: Vec<[f64; 9]> = (0..RESAMPLES)
            .map(|_| {
                let (one, other) = (resampled(&sorted, rng), resampled(&sorted, rng));
                std::array::from_fn(|at| (one[at] - other[at]).abs())
            })
            .collect();
        let rank = ((1.0 - alpha / 9.0) * (RESAMPLES - 1) as f64).ceil() as usize;
        std::array::from_fn::<f64, 9, _>(|at| {
            distances.sort_unstable_by(|one, other| one[at].total_cmp(&other[at]));
            distances[rank][at]
        })
    });
    let deciles = |values: &[f64]| DECILES.map(|p| sorted(values)[place(p, values.len())]);
    let (of_x, of_y) = (deciles(x), deciles(y));
    (0..9).any(|at| (of_x[at] - of_y[at]).abs() > thresholds[0][at].max(thresholds[1][at]))
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

fn place(p: f64, n: usize) -> usize {
    (p * (n - 1) as f64).round() as usize
}

/// The deciles of a resample.
fn resampled(sorted: &[f64], rng: &mut ChaCha8Rng) -> [f64; 9] {
    let n = sorted.len();
    let mut times = vec![0usize; n];
    for _ in 0..n {
        times[rng.random_range(0..n)] += 1;
    }
    let (mut at, mut passed) = (0, times[0]);
    DECILES.map(|p| {
        while passed <= place(p, n) {
            at += 1;
            passed += times[at];
        }
        sorted[at]
    })
}
