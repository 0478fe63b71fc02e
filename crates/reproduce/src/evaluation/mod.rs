//! The evaluation of Section 5 of the paper: how a shuffle affects an attacker and an analyst who learns from the data.

mod attack;
mod crescents;
mod learning;

pub use attack::{Voters, recovered, vulnerable};
pub use crescents::{Crescents, crescents};
pub use learning::{Boosting, Classifier, error_of_uniform, total_variation_error};

use rand::RngExt;

use leakgauge_permute::Randomness;

/// Values after randomized response over `classes` values.
pub fn randomized_response(
    truth: &[u8],
    classes: u8,
    epsilon: f64,
    randomness: &mut Randomness,
) -> Vec<u8> {
    let others = f64::from(classes - 1);
    let keep = 1.0 / (1.0 + others * libm::exp(-epsilon));
    truth
        .iter()
        .map(|&x| {
            if randomness.random::<f64>() < keep {
                x
            } else {
                let other = randomness.random_range(0..classes - 1);
                other + u8::from(other >= x)
            }
        })
        .collect()
}

/// A uniform shuffle of n rows.
pub fn uniform_shuffle(n: usize, randomness: &mut Randomness) -> Vec<u32> {
    leakgauge_exact::mallows::Hamming {
        n: n as u32,
        theta: 0.0,
    }
    .sample(randomness)
}
