//! Whether units of few rows differ in how often they have a secret, where only those are seen that have it and another one.
//!
//! # Formula
//! Where every row has the secret with probability p, the rows x_u of n_u that have it are binomial, given 1 ≤ x_u ≤ n_u − 1:
//! with mean μ(n_u, p), variance σ² and fourth central moment μ₄. p is where Σ x_u = Σ μ(n_u, p), and Σ ((x_u − μ)² − σ²) is
//! about normal with mean 0 and variance Σ (μ₄ − σ⁴). A pair (n_u, x_u) with n_u = 2 says nothing.
//!
//! # Conditions
//! How many rows a unit has does not hang on its secrets: units that end once both were seen are taken for uneven.

use std::collections::BTreeMap;

use leakgauge_stats::bisection::bisect;
use leakgauge_stats::special::normal_survival;

/// Units of more rows are looked at by what is expected of them alone.
const MOST_ROWS: u32 = 1_000;
/// The sum is about normal where Σ σ² is so large: fewer units, or units that hardly vary, are not judged.
const LEAST_VARIANCE: f64 = 30.0;
/// What sums may differ by from rounding, as a part of them.
const ROUNDING: f64 = 1e-6;
/// Halvings that settle p.
const HALVINGS: u32 = 50;

/// A unit that has the secret and another one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unit {
    pub rows: u32,
    /// Rows with the secret, at least 1 and less than all.
    pub x: u32,
}

/// Units of one size.
#[derive(Debug, Clone)]
struct Size {
    rows: u32,
    /// By rows with the secret, from 0 on.
    units: Vec<u64>,
}

/// What is expected of a unit.
struct Moments {
    mean: f64,
    variance: f64,
    fourth: f64,
}

/// Whether units of so many rows say something here.
pub(super) fn is_looked_at(rows: u32) -> bool {
    (3..=MOST_ROWS).contains(&rows)
}

/// The standard deviation of the shares between units as a part of p or 1 − p, whichever is less; where they differ by more
/// than chance.
pub(super) fn spread(units: &[Unit], least_p: f64) -> Option<f64> {
    let sizes = sizes(units);
    // No number between 1 and n − 1 varies more than if half of them were at either end.
    let most = sizes.iter().map(|size| {
        let half = 0.5 * (f64::from(size.rows) - 2.0);
        size.total(|_| half * half)
    });
    if most.sum::<f64>() < LEAST_VARIANCE {
        return None;
    }
    let p = common_share(&sizes);
    let (mut excess, mut of_rows, mut variance, mut pairs) = (0.0, 0.0, 0.0, 0.0);
    for size in &sizes {
        let expected = moments(size.rows, p);
        let rows = f64::from(size.rows);
        for (x, &units) in size.units.iter().enumerate() {
            let off = x as f64 - expected.mean;
            let units = units as f64;
            excess += units * (off * off - expected.variance);
            of_rows += units * expected.variance;
            variance += units * (expected.fourth - expected.variance * expected.variance);
            pairs += units * rows * (rows - 1.0);
        }
    }
    // Where all have three rows, p alone explains the numbers, and both sums are 0 but for rounding.
    let is_judged = of_rows >= LEAST_VARIANCE && excess > ROUNDING * of_rows;
    (is_judged && normal_survival(excess / variance.sqrt()) <= least_p)
        .then(|| (excess / pairs).sqrt() / p.min(1.0 - p))
}

fn sizes(units: &[Unit]) -> Vec<Size> {
    let mut sizes: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for unit in units.iter().filter(|unit| is_looked_at(unit.rows)) {
        let of_size = sizes.entry(unit.rows);
        of_size.or_insert_with(|| vec![0; unit.rows as usize])[unit.x as usize] += 1;
    }
    let sizes = sizes.into_iter();
    sizes.map(|(rows, units)| Size { rows, units }).collect()
}

/// p such that as many rows have the secret as are expected to. The mean rises with p.
fn common_share(sizes: &[Size]) -> f64 {
    let found: f64 = sizes.iter().map(|size| size.total(|x| x)).sum();
    let is_below = |p: f64| {
        let expected = sizes.iter();
        let expected = expected.map(|size| size.total(|_| 1.0) * moments(size.rows, p).mean);
        expected.sum::<f64>() < found
    };
    let (low, high) = bisect((0.0, 1.0), HALVINGS, is_below);
    0.5 * (low + high)
}

impl Size {
    fn total(&self, of: impl Fn(f64) -> f64) -> f64 {
        let units = self.units.iter().enumerate();
        units.map(|(x, &units)| units as f64 * of(x as f64)).sum()
    }
}

/// Of a binomial number of `rows`, given that it is neither none nor all.
fn moments(rows: u32, p: f64) -> Moments {
    let odds = p / (1.0 - p);
    // From one on, each from the one before; scaled, so that nothing overflows.
    let mut weights = vec![0.0, 1.0];
    for x in 1..rows - 1 {
        let last = weights[x as usize];
        weights.push(last * odds * f64::from(rows - x) / f64::from(x + 1));
        if weights[x as usize + 1] > 1e200 {
            weights.iter_mut().for_each(|weight| *weight *= 1e-200);
        }
    }
    let total: f64 = weights.iter().sum();
    let expect = |of: &dyn Fn(f64) -> f64| -> f64 {
        let all = weights.iter().enumerate();
        all.map(|(x, weight)| weight * of(x as f64)).sum::<f64>() / total
    };
    let mean = expect(&|x| x);
    Moments {
        mean,
        variance: expect(&|x| (x - mean).powi(2)),
        fourth: expect(&|x| (x - mean).powi(4)),
    }
}
