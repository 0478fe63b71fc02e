//! Noise, drawn by code that shares nothing with the library's mechanisms.

use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal};

/// A draw from the Laplace distribution around 0; no noise at scale 0.
pub fn laplace(scale: f64, rng: &mut impl Rng) -> f64 {
    let magnitude = -scale * (1.0 - rng.random::<f64>()).ln();
    if rng.random() { magnitude } else { -magnitude }
}

/// Density of the Laplace distribution.
pub fn laplace_density(x: f64, scale: f64) -> f64 {
    (-x.abs() / scale).exp() / (2.0 * scale)
}

/// Distribution function of the Laplace distribution; of the constant 0 at scale 0.
pub fn laplace_cdf(x: f64, scale: f64) -> f64 {
    if scale == 0.0 {
        f64::from(u8::from(x >= 0.0))
    } else if x < 0.0 {
        0.5 * (x / scale).exp()
    } else {
        1.0 - 0.5 * (-x / scale).exp()
    }
}

/// A draw from the normal distribution around 0.
pub fn gaussian(sigma: f64, rng: &mut impl Rng) -> f64 {
    let standard: f64 = StandardNormal.sample(rng);
    sigma * standard
}
