//! The Mallows model with Kendall's τ distance, drawn by repeated insertion.

use crate::extreme::Extreme;
use libm::{exp, expm1, log, log1p};
use rand::{Rng, RngExt};
use rand_distr::{Distribution, Exp1};

use super::slots::Slots;

/// The Mallows model of n items with Kendall's τ distance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kendall {
    /// The number of items.
    pub n: u32,
    /// The dispersion θ, at least 0; 0 is uniform, infinite the identity.
    pub theta: f64,
}

impl Kendall {
    /// Draws a permutation, in O(n log n) time and O(n) memory.
    ///
    /// # Formula
    /// Item i of 1 … n is inserted before v of the i − 1 earlier ones with probability
    /// e^(−θv)/(1 + … + e^(−θ(i−1))); the v sum to the distance. In reverse, the position of the last
    /// item is known, so each item takes one of the free positions.
    pub fn sample(&self, rng: &mut impl Rng) -> Vec<u32> {
        self.insert(|i| self.insertion(i, rng))
    }

    /// The permutation in which the i-th item of 1 … n is inserted before `before(i)` < i earlier ones.
    /// Calls `before` for the last item first.
    pub fn insert(&self, mut before: impl FnMut(u32) -> u32) -> Vec<u32> {
        let mut slots = Slots::new(self.n as usize);
        let mut permutation = vec![0; self.n as usize];
        for i in (1..=self.n).rev() {
            let place = slots.take(i - 1 - before(i));
            permutation[place] = i - 1;
        }
        permutation
    }

    fn insertion(&self, i: u32, rng: &mut impl Rng) -> u32 {
        if i == 1 || self.theta == f64::INFINITY {
            return 0;
        }
        let span = self.theta * f64::from(i);
        if span < 1e-15 {
            // Exactly uniform.
            return rng.random_range(0..i);
        }
        self.insertion_at(i, Exp1.sample(rng))
    }

    /// The number of earlier items that the i-th item precedes, given a standard exponential number E; for θ > 0.
    ///
    /// # Formula
    /// ⌊E/θ⌋ mod i: ⌊E/θ⌋ is geometric with ratio e^(−θ), and the numbers v, v + i, v + 2i, … together have
    /// probability proportional to e^(−θv). The tail of E has full floating-point precision, so that rare positions
    /// have the right probability.
    pub fn insertion_at(&self, i: u32, exponential: f64) -> u32 {
        // With θi at least 1e-15 and i below 2³² the quotient stays below 2⁶⁴.
        ((exponential / self.theta) as u64 % u64::from(i)) as u32
    }

    /// ln ψ(θ), ψ = Π (1 − e^(−iθ))/(1 − e^(−θ)).
    pub fn log_psi(&self) -> f64 {
        let theta = self.theta;
        let items = 2..=self.n;
        if theta == 0.0 {
            return items.map(|i| log(f64::from(i))).sum();
        }
        items
            .map(|i| {
                let span = theta * f64::from(i);
                if theta > 0.5 {
                    log1p(-exp(-span)) - log1p(-exp(-theta))
                } else {
                    log(expm1(-span) / expm1(-theta))
                }
            })
            .sum()
    }

    /// The mean of the distance.
    ///
    /// # Formula
    /// Σ_i 1/(e^θ − 1) − i/(e^(iθ) − 1).
    pub fn mean(&self) -> f64 {
        self.sum(mean_rest, |x| 1.0 / expm1(x), 1)
    }

    /// The variance of the distance.
    ///
    /// # Formula
    /// Σ_i e^θ/(e^θ − 1)² − i² e^(iθ)/(e^(iθ) − 1)².
    pub fn variance(&self) -> f64 {
        self.sum(variance_rest, |x| 1.0 / (expm1(x) * -expm1(-x)), 2)
    }

    /// Σ_i f(θ) − i^power f(iθ), where f(x) = rest(x) + 1/x^power: the poles cancel and are left out
    /// if they are large.
    fn sum(&self, rest: fn(f64) -> f64, whole: fn(f64) -> f64, power: i32) -> f64 {
        let theta = self.theta;
        let f = if theta > SERIES { whole } else { rest };
        let first = f(theta);
        (2..=self.n)
            .map(|i| {
                let i = f64::from(i);
                (first - i.powi(power) * f(i * theta)).at_least(0.0)
            })
            .sum()
    }
}

/// Below this the series converge to the last bit.
const SERIES: f64 = 0.7;

/// B_2k/(2k)! for k = 1, 2, ….
const BERNOULLI: [f64; 9] = [
    1.0 / 12.0,
    -1.0 / 720.0,
    1.0 / 30_240.0,
    -1.0 / 1_209_600.0,
    1.0 / 47_900_160.0,
    -691.0 / 1_307_674_368_000.0,
    1.0 / 74_724_249_600.0,
    -3617.0 / 10_670_622_842_880_000.0,
    43_867.0 / 5_109_094_217_170_944_000.0,
];

/// 1/(e^x − 1) − 1/x.
fn mean_rest(x: f64) -> f64 {
    if x > SERIES {
        return 1.0 / expm1(x) - 1.0 / x;
    }
    let square = x * x;
    let series = BERNOULLI.iter().rev().fold(0.0, |sum, b| sum * square + b);
    x * series - 0.5
}

/// e^x/(e^x − 1)² − 1/x².
fn variance_rest(x: f64) -> f64 {
    if x > SERIES {
        return 1.0 / (expm1(x) * -expm1(-x)) - 1.0 / (x * x);
    }
    // Minus the derivative of the other.
    let square = x * x;
    let terms = BERNOULLI
        .iter()
        .zip([1.0, 3.0, 5.0, 7.0, 9.0, 11.0, 13.0, 15.0, 17.0]);
    -terms.rev().fold(0.0, |sum, (b, k)| sum * square + k * b)
}
