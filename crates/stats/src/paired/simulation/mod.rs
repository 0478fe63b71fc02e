//! Simulated timings: coverage and width of limits, false alarms of the test, and its power beside the tests that
//! timing tools use.

mod intervals;
mod others;
mod power;
mod skewed;

use leakgauge_testing::rng;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    StandardNormal.sample(rng)
}

/// What the noise of times is like. Its scale is 1.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Noise {
    White,
    /// White noise on a slow wave that all classes share.
    SharedDrift,
    /// White noise on a random walk that all classes share.
    RandomWalk,
    /// One of two modes, 6 apart, for each measurement.
    Bimodal,
    /// Student's law with 2 degrees of freedom, which has no variance.
    HeavyTails,
    /// An autoregressive series of weight 0.7 for each class: differences of consecutive blocks resemble each other.
    Autocorrelated,
}

const NOISES: [Noise; 6] = [
    Noise::White,
    Noise::SharedDrift,
    Noise::RandomWalk,
    Noise::Bimodal,
    Noise::HeavyTails,
    Noise::Autocorrelated,
];

/// Times of classes in blocks, class by class; the last takes longer by `shift`.
fn blocks(noise: Noise, classes: usize, blocks: usize, shift: f64, seed: u64) -> Vec<Vec<f64>> {
    const KEPT: f64 = 0.7;
    let rng = &mut rng(seed);
    let mut level = 0.0;
    let mut last: Vec<f64> = (0..classes).map(|_| normal(rng)).collect();
    let mut of_class = vec![Vec::with_capacity(blocks); classes];
    for at in 0..blocks {
        level = match noise {
            Noise::SharedDrift => 20.0 * (at as f64 / blocks as f64 * 9.0).sin(),
            Noise::RandomWalk => level + 0.3 * normal(rng),
            _ => 0.0,
        };
        for (class, times) in of_class.iter_mut().enumerate() {
            let own = match noise {
                Noise::White | Noise::SharedDrift | Noise::RandomWalk => normal(rng),
                Noise::Bimodal => normal(rng) + if rng.random::<bool>() { 6.0 } else { 0.0 },
                Noise::HeavyTails => normal(rng) / (-rng.random::<f64>().max(1e-300).ln()).sqrt(),
                Noise::Autocorrelated => {
                    last[class] = KEPT * last[class] + (1.0 - KEPT * KEPT).sqrt() * normal(rng);
                    last[class]
                }
            };
            let longer = if class + 1 == classes { shift } else { 0.0 };
            times.push(level + own + longer);
        }
    }
    of_class
}
