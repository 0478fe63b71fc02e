//! What the program is compared with: a logistic regression as DP-Sniper uses it, and the best event known.

use leakgauge_stats::binomial::{clopper_pearson_lower, clopper_pearson_upper};

const ALPHA: f64 = 0.05;
/// Rows that the regression learns from at most.
const MOST_ROWS: usize = 100_000;

/// Scores of the rows of both inputs, large for a.
pub type Scores = [Vec<f64>; 2];

/// A limit of ε for the event "score above a threshold", which is chosen on some rows, from others.
///
/// # Formula
/// ln((p − δ)/q) for Clopper–Pearson limits of p from below and of q from above, α/2 each; either direction.
pub fn certified(choose: &Scores, judge: &Scores, delta: f64) -> f64 {
    let sorted = choose.clone().map(|mut scores| {
        scores.sort_unstable_by(f64::total_cmp);
        scores
    });
    let rows = judge.each_ref().map(|scores| scores.len() as u64);
    let mut best = (0.0, 0.0, false);
    let mut cuts: Vec<f64> = sorted.iter().flat_map(|scores| quantiles(scores)).collect();
    cuts.sort_unstable_by(f64::total_cmp);
    cuts.dedup();
    for cut in cuts {
        for below in [false, true] {
            let rate = |scores: &Vec<f64>| share(scores, cut, below);
            let expected = [0, 1].map(|side| (rate(&sorted[side]) * rows[side] as f64) as u64);
            let limit = limit(expected, rows, delta, below);
            if limit > best.0 {
                best = (limit, cut, below);
            }
        }
    }
    let (_, cut, below) = best;
    let inside = |score: &&f64| if below { **score < cut } else { **score > cut };
    let counts = judge
        .each_ref()
        .map(|scores| scores.iter().filter(inside).count() as u64);
    limit(counts, rows, delta, below)
}

/// The share of sorted scores above or below a cut.
fn share(sorted: &[f64], cut: f64, below: bool) -> f64 {
    let inside = if below {
        sorted.partition_point(|&score| score < cut)
    } else {
        sorted.len() - sorted.partition_point(|&score| score <= cut)
    };
    inside as f64 / sorted.len() as f64
}

/// Values at even and at ever rarer shares, each with the places beside it.
fn quantiles(sorted: &[f64]) -> Vec<f64> {
    let last = sorted.len() - 1;
    let even = (1..100).map(|at| at * last / 100);
    let rare = std::iter::successors(Some(last / 100), |&at| (at > 5).then_some(at * 4 / 5));
    let rare = rare.flat_map(|at| [at, last - at]);
    let beside = |value: f64| [value, value.next_down(), value.next_up()];
    even.chain(rare).flat_map(|at| beside(sorted[at])).collect()
}

/// Below the cut input b is likelier.
fn limit(counts: [u64; 2], rows: [u64; 2], delta: f64, below: bool) -> f64 {
    let [top, bottom] = if below { [1, 0] } else { [0, 1] };
    let p = clopper_pearson_lower(counts[top], rows[top], ALPHA / 2.0);
    let q = clopper_pearson_upper(counts[bottom], rows[bottom], ALPHA / 2.0);
    ((p - delta) / q).max(1.0).ln()
}

/// A logistic regression learned on half of the rows, its threshold chosen on the same rows, judged on the
/// other half.
pub fn regression(features: &[Vec<Vec<f64>>; 2], delta: f64) -> f64 {
    let halves = features
        .each_ref()
        .map(|rows| rows.split_at(rows.len() / 2));
    let scaled = Scaled::new(&[halves[0].0, halves[1].0]);
    let weights = newton(&scaled, &[halves[0].0, halves[1].0]);
    let score = |rows: &[Vec<f64>]| -> Vec<f64> {
        rows.iter().map(|row| scaled.dot(row, &weights)).collect()
    };
    certified(
        &[score(halves[0].0), score(halves[1].0)],
        &[score(halves[0].1), score(halves[1].1)],
        delta,
    )
}

/// Means and deviations of the columns.
struct Scaled(Vec<(f64, f64)>);

impl Scaled {
    fn new(rows: &[&[Vec<f64>]; 2]) -> Self {
        let count = rows.iter().map(|rows| rows.len()).sum::<usize>() as f64;
        let moments = (0..rows[0][0].len()).map(|column| {
            let all = || {
                rows.iter()
                    .flat_map(|rows| rows.iter())
                    .map(|row| row[column])
            };
            let mean = all().sum::<f64>() / count;
            let variance = all().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
            (mean, variance.sqrt().max(1e-12))
        });
        Scaled(moments.collect())
    }

    fn point(&self, row: &[f64]) -> Vec<f64> {
        let columns = row.iter().zip(&self.0);
        columns
            .map(|(x, (mean, deviation))| (x - mean) / deviation)
            .chain([1.0])
            .collect()
    }

    fn dot(&self, row: &[f64], weights: &[f64]) -> f64 {
        self.point(row)
            .iter()
            .zip(weights)
            .map(|(x, w)| x * w)
            .sum()
    }
}

/// Newton's method with a small ridge.
fn newton(scaled: &Scaled, rows: &[&[Vec<f64>]; 2]) -> Vec<f64> {
    let size = scaled.0.len() + 1;
    let mut weights = vec![0.0; size];
    for _ in 0..8 {
        let mut gradient: Vec<f64> = weights.iter().map(|w| -w).collect();
        let mut hessian = vec![vec![0.0; size]; size];
        (0..size).for_each(|i| hessian[i][i] = 1.0);
        for (side, rows) in rows.iter().enumerate() {
            let target = if side == 0 { 1.0 } else { 0.0 };
            for row in rows.iter().take(MOST_ROWS / 2) {
                let point = scaled.point(row);
                let sum: f64 = point.iter().zip(&weights).map(|(x, w)| x * w).sum();
                let guess = 1.0 / (1.0 + (-sum).exp());
                for i in 0..size {
                    gradient[i] += (target - guess) * point[i];
                    for j in 0..=i {
                        hessian[i][j] += guess * (1.0 - guess) * point[i] * point[j];
                    }
                }
            }
        }
        let step = solve(hessian, gradient);
        weights.iter_mut().zip(step).for_each(|(w, s)| *w += s);
    }
    weights
}

/// Cholesky's method, for the lower half of a positive definite matrix.
fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let size = right.len();
    for i in 0..size {
        for j in 0..=i {
            let dot: f64 = (0..j).map(|k| matrix[i][k] * matrix[j][k]).sum();
            matrix[i][j] = if i == j {
                (matrix[i][i] - dot).max(1e-12).sqrt()
            } else {
                (matrix[i][j] - dot) / matrix[j][j]
            };
        }
        let dot: f64 = (0..i).map(|k| matrix[i][k] * right[k]).sum();
        right[i] = (right[i] - dot) / matrix[i][i];
    }
    for i in (0..size).rev() {
        let dot: f64 = (i + 1..size).map(|k| matrix[k][i] * right[k]).sum();
        right[i] = (right[i] - dot) / matrix[i][i];
    }
    right
}
