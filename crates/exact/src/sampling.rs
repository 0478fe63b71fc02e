//! Sampling of histograms, and running means with standard errors.

use crate::extreme::Extreme;
use rand::Rng;
use rand_distr::{Binomial, Distribution};

/// The number of samples drawn from one random stream.
pub const BATCH: u64 = 10_000;

/// Draws a multinomial histogram into `counts`, cell by cell from binomials. The weights sum to 1.
pub fn multinomial(draws: u64, weights: &[f64], rng: &mut (impl Rng + ?Sized), counts: &mut [u64]) {
    let (mut left, mut mass) = (draws, 1.0f64);
    let last = weights.iter().rposition(|w| *w > 0.0).unwrap_or(0);
    for (at, (weight, count)) in weights.iter().zip(counts).enumerate() {
        *count = if at == last || left == 0 {
            if at == last { left } else { 0 }
        } else {
            let share = (weight / mass).clamp(0.0, 1.0);
            Binomial::new(left, share).map_or(0, |binomial| binomial.sample(rng).min(left))
        };
        left -= *count;
        mass = (mass - weight).at_least(f64::MIN_POSITIVE);
    }
}

/// Count, mean and sum of squared deviations, by Welford's algorithm.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Moments {
    /// The number of values.
    pub count: u64,
    /// Their mean.
    pub mean: f64,
    squares: f64,
}

impl Moments {
    /// Adds one value.
    pub fn add(&mut self, x: f64) {
        self.count += 1;
        let off = x - self.mean;
        self.mean += off / self.count as f64;
        self.squares += off * (x - self.mean);
    }

    /// Adds all values of another.
    pub fn merge(&mut self, other: &Moments) {
        let (a, b) = (self.count as f64, other.count as f64);
        if b == 0.0 {
            return;
        }
        let off = other.mean - self.mean;
        self.count += other.count;
        self.mean += off * b / (a + b);
        self.squares += other.squares + off * off * a * b / (a + b);
    }

    /// The standard error of the mean; infinite with fewer than two values.
    pub fn standard_error(&self) -> f64 {
        if self.count < 2 {
            return f64::INFINITY;
        }
        (self.squares / (self.count - 1) as f64 / self.count as f64).sqrt()
    }
}
