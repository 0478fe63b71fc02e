//! A matrix that keeps the constraints, from one that keeps them but for the tolerance of a solver.

use crate::extreme::Extreme;

use super::Wanted;

/// Columns without an entry above this are never used.
const UNUSED: f64 = 1e-9;
/// How often entries are raised and rows divided by their sums.
const ROUNDS: usize = 20;
/// What rounding of the ratio of two entries and of its logarithm may come to.
const ROUNDING: f64 = 4.0 * f64::EPSILON;
/// The smallest share of the common row that is tried, as a power of 10.
const SMALLEST: i32 = -300;

/// The matrix as near as possible to what the solver found: its rows sum to 1, and no logarithm of a ratio is above its
/// limit as computed.
pub(super) fn private(wanted: &Wanted, mut rows: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let n = rows.len();
    for row in &mut rows {
        row.iter_mut().for_each(|p| *p = p.at_least(0.0));
    }
    for w in 0..wanted.answers.len() {
        if rows.iter().all(|row| row[w] < UNUSED) {
            rows.iter_mut().for_each(|row| row[w] = 0.0);
        }
    }
    normalize(&mut rows);
    let solved = rows.clone();
    for _ in 0..ROUNDS {
        if keeps(wanted, &rows) {
            return rows;
        }
        raise(wanted, &mut rows);
        normalize(&mut rows);
    }
    let rows = match rows.iter().flatten().all(|p| p.is_finite()) {
        true => rows,
        false => solved,
    };
    let mean = |w: usize| rows.iter().map(|row| row[w]).sum::<f64>() / n as f64;
    let common: Vec<f64> = (0..wanted.answers.len()).map(mean).collect();
    let mixed = |share: f64| {
        let mut rows = rows.clone();
        for row in &mut rows {
            let entries = row.iter_mut().zip(&common);
            entries.for_each(|(p, u)| *p = (1.0 - share) * *p + share * u);
        }
        normalize(&mut rows);
        rows
    };
    // A larger share keeps more; the smallest that suffices, to two digits.
    let share = |step: i32| 10f64.powf(f64::from(step) / 100.0).at_most(1.0);
    let (mut short, mut enough) = (100 * SMALLEST - 1, 0);
    while enough - short > 1 {
        let middle = short + (enough - short) / 2;
        match keeps(wanted, &mixed(share(middle))) {
            true => enough = middle,
            false => short = middle,
        }
    }
    let found = mixed(share(enough));
    match keeps(wanted, &found) {
        true => found,
        // All rows are one: nothing is left to tell.
        false => vec![normalized(&common); n],
    }
}

fn normalized(row: &[f64]) -> Vec<f64> {
    let sum: f64 = row.iter().sum();
    row.iter().map(|p| p / sum).collect()
}

fn normalize(rows: &mut [Vec<f64>]) {
    rows.iter_mut().for_each(|row| *row = normalized(row));
}

/// Every entry becomes the least that those of its column allow.
fn raise(wanted: &Wanted, rows: &mut [Vec<f64>]) {
    let n = rows.len();
    let factor = |t: usize, s: usize| match wanted.loss_limit(t, s) {
        // Secrets without a distance have one row, to the last digit.
        0.0 => 1.0,
        limit => (-limit).exp() * (1.0 + ROUNDING),
    };
    let factors: Vec<f64> = (0..n * n).map(|at| factor(at / n, at % n)).collect();
    for w in 0..wanted.answers.len() {
        let column: Vec<f64> = rows.iter().map(|row| row[w]).collect();
        for (s, row) in rows.iter_mut().enumerate() {
            let others = (0..n).filter(|t| *t != s);
            let least = others.map(|t| column[t] * factors[t * n + s]);
            row[w] = least.fold(column[s], f64::at_least);
        }
    }
}

/// ln(p/q); 0 where both are 0, infinite where only q is.
fn log_ratio(p: f64, q: f64) -> f64 {
    match p > 0.0 {
        true => (p / q).ln(),
        false => 0.0,
    }
}

/// Whether all ratios are within their limits, whatever rounding did.
fn keeps(wanted: &Wanted, rows: &[Vec<f64>]) -> bool {
    let n = rows.len();
    let pairs = (0..n).flat_map(|s| (0..n).map(move |t| (s, t)));
    pairs.filter(|(s, t)| s != t).all(|(s, t)| {
        let most = wanted.loss_limit(s, t);
        let limit = match most > 0.0 {
            true => most - ROUNDING * (1.0 + most),
            false => 0.0,
        };
        let mut entries = rows[s].iter().zip(&rows[t]);
        entries.all(|(p, q)| log_ratio(*p, *q) <= limit)
    })
}

/// The largest ln C\[s,o\]/C\[t,o\] divided by d(s, t), over secrets with a distance.
pub(super) fn reached(wanted: &Wanted, rows: &[Vec<f64>]) -> f64 {
    let n = rows.len();
    let pairs = (0..n).flat_map(|s| (0..n).map(move |t| (s, t)));
    let of = |(s, t): (usize, usize)| {
        let entries = rows[s].iter().zip(&rows[t]);
        let largest = entries
            .map(|(p, q)| log_ratio(*p, *q))
            .fold(0.0, f64::at_least);
        largest / wanted.distance(s, t)
    };
    let apart = pairs.filter(|&(s, t)| wanted.distance(s, t) > 0.0);
    apart.map(of).fold(0.0, f64::at_least)
}
