//! The two-sided geometric mechanism, clamped to a range.

use libm::{exp, expm1};
use rand::Rng;

use super::geometric::GeometricNoise;
use super::location::Noise;
use super::ranged::Monotone;

/// A center plus two-sided geometric noise, clamped to the whole numbers from low to high.
#[derive(Debug, Clone)]
pub(super) struct Clamped {
    pub(super) noise: GeometricNoise,
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Monotone for Clamped {
    fn total_variation(&self, a: f64, b: f64) -> f64 {
        self.noise.total_variation(b - a)
    }

    fn bayes_security(&self, a: f64, b: f64) -> f64 {
        self.noise.bayes_security(b - a)
    }

    fn epsilon(&self, a: f64, b: f64) -> f64 {
        self.noise.epsilon(b - a)
    }

    fn loss(&self, a: f64, b: f64, observation: f64) -> f64 {
        if self.low == self.high {
            return 0.0;
        }
        self.noise.nu * ((observation - b).abs() - (observation - a).abs())
    }

    fn ends(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    fn probability(&self, center: f64, observation: f64) -> f64 {
        let (nu, distance) = (self.noise.nu, (observation - center).abs());
        let inside = match () {
            () if self.low == self.high => return 1.0,
            () if observation == self.low || observation == self.high => 1.0,
            () => -expm1(-nu),
        };
        inside * exp(-nu * distance) / (1.0 + exp(-nu))
    }

    fn distribution(&self, center: f64, x: f64) -> f64 {
        self.noise.distribution(x - center)
    }

    fn sample(&self, center: f64, rng: &mut dyn Rng) -> f64 {
        (center + self.noise.sample(rng)).clamp(self.low, self.high)
    }
}
