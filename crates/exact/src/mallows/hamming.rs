//! The Mallows model with Hamming distance: a random set of items is fixed, the other items are shuffled.

use libm::{exp, expm1, lgamma, log};
use rand::{Rng, RngExt};

/// The Mallows model of n items with Hamming distance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hamming {
    /// The number of items.
    pub n: u32,
    /// The dispersion θ, at least 0; 0 is uniform, infinite the identity.
    pub theta: f64,
}

impl Hamming {
    /// Draws a permutation, in O(n).
    ///
    /// # Formula
    /// e^(−θ d) = e^(−nθ) Π over fixed items (1 + (e^θ − 1)). Expanding the product gives: fix a
    /// uniformly drawn set of K items, where P(K = k) ∝ (e^θ − 1)^k/k! for k ≤ n, and shuffle the other n − K items
    /// uniformly, which can leave some of them in place too.
    pub fn sample(&self, rng: &mut impl Rng) -> Vec<u32> {
        self.sample_keeping(self.kept(rng), rng)
    }

    /// The same for a given number of fixed items.
    fn sample_keeping(&self, kept: u32, rng: &mut impl Rng) -> Vec<u32> {
        let mut permutation: Vec<u32> = (0..self.n).collect();
        let moving = self.n - kept;
        // The first `moving` of a shuffled list are the set that moves.
        let mut items = permutation.clone();
        for at in 0..moving {
            let other = rng.random_range(at..self.n);
            items.swap(at as usize, other as usize);
        }
        let moving = &mut items[..moving as usize];
        let mut places = moving.to_vec();
        places.sort_unstable();
        // The items are in uniformly random order already.
        for (place, item) in places.into_iter().zip(moving) {
            permutation[place as usize] = *item;
        }
        permutation
    }

    /// Draws the number K of fixed items.
    fn kept(&self, rng: &mut impl Rng) -> u32 {
        let weights = fixed_weights(self.n, self.theta);
        let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
        let mut left = rng.random::<f64>() * total;
        for (kept, weight) in &weights {
            left -= weight;
            if left < 0.0 {
                return *kept;
            }
        }
        // Reached only by rounding: the most likely number.
        weights.first().map_or(0, |(kept, _)| *kept)
    }

    /// ln ψ(θ), ψ = Σ_h C(n, h) D_h e^(−θh) = e^(−nθ) n! Σ_k (e^θ − 1)^k/k!.
    pub fn log_psi(&self) -> f64 {
        let n = f64::from(self.n);
        if self.theta == f64::INFINITY {
            return 0.0;
        }
        let weights = fixed_weights(self.n, self.theta);
        let likeliest = weights[0].0;
        let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
        log(total) + log_term(self.n, self.theta, likeliest) - n * self.theta
    }

    /// The mean of the distance.
    ///
    /// # Formula
    /// E(n − K − 1), 0 for K = n: on average one of the n − K shuffled items stays in place.
    pub fn mean(&self) -> f64 {
        let weights = fixed_weights(self.n, self.theta);
        let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
        let moved = |kept: u32| f64::from((self.n - kept).saturating_sub(1));
        weights
            .iter()
            .map(|(kept, weight)| weight / total * moved(*kept))
            .sum()
    }
}

/// ln(n!/k! (e^θ − 1)^k).
fn log_term(n: u32, theta: f64, k: u32) -> f64 {
    let odds = log_odds(theta);
    let power = if k == 0 { 0.0 } else { f64::from(k) * odds };
    power + lgamma(f64::from(n) + 1.0) - lgamma(f64::from(k) + 1.0)
}

/// ln(e^θ − 1).
fn log_odds(theta: f64) -> f64 {
    if theta > 1.0 {
        theta + libm::log1p(-exp(-theta))
    } else {
        log(expm1(theta))
    }
}

/// The weights (e^θ − 1)^k/k!, k ≤ n, as pairs (k, weight relative to the largest), the largest first. Weights that
/// are negligible in double precision are left out.
pub fn fixed_weights(n: u32, theta: f64) -> Vec<(u32, f64)> {
    const NOTHING: f64 = 1e-40;
    if theta == f64::INFINITY {
        return vec![(n, 1.0)];
    }
    let odds = exp(log_odds(theta));
    // The weights grow while k is at most the odds.
    let mode = if odds >= f64::from(n) { n } else { odds as u32 };
    let mut weights = vec![(mode, 1.0)];
    let mut weight = 1.0;
    for k in (1..=mode).rev() {
        weight *= f64::from(k) / odds;
        if weight < NOTHING {
            break;
        }
        weights.push((k - 1, weight));
    }
    weight = 1.0;
    for k in mode..n {
        weight *= odds / f64::from(k + 1);
        if weight < NOTHING {
            break;
        }
        weights.push((k + 1, weight));
    }
    weights
}
