//! Gaussian noise in several steps, one of which uses the record.

use std::fmt;
use std::sync::{Arc, OnceLock};

use libm::{exp, log};
use rand::{Rng, RngExt};
use rand_distr::StandardNormal;

use super::observed::texts;
use super::{BoundMechanism, Law, Mechanism, Observed};
use crate::allocation;
use crate::profile::{Cell, Cells, Pair};
use leakgauge_base::error::{Error, Result};
use leakgauge_base::grammar::format_number;

/// An epoch of t steps with Gaussian noise in each. A record is used in exactly one of them, chosen at random (random
/// allocation, balls in bins).
///
/// # Formula
/// P = (1/t)·Σᵢ N(eᵢ, σ²·1) against Q = N(0, σ²·1) on t numbers, in both orders. The likelihood ratio is a mean of t
/// independent numbers e^(z/σ − 1/2σ²), whose law is computed from above and from below by doubling. ρ is 1/2σ² and μ is 1/σ: P is at
/// least 1/t of one step's, and mixing raises neither.
///
/// # Conditions
/// σ between 0.1 and 1000, t between 1 and 10⁹. The observation is drawn as the privacy loss, which tells as much as all steps.
///
/// # References
/// V. Feldman, M. Shenfeld, *Privacy amplification by random allocation*, arXiv:2502.08202; L. Chua et al., *Balls-and-bins
/// sampling for DP-SGD*, arXiv:2412.16802.
#[derive(Debug, Clone)]
pub struct RandomAllocation {
    sigma: f64,
    steps: u64,
    /// The pair from above and from below, once it is needed.
    sides: Arc<OnceLock<[Vec<Cell>; 2]>>,
}

impl RandomAllocation {
    /// The smallest and the largest σ.
    pub const SIGMAS: (f64, f64) = (0.1, 1000.0);

    /// An epoch of so many steps with noise of this σ.
    ///
    /// # Errors
    /// σ or the number of steps is out of range.
    pub fn new(sigma: f64, steps: u64) -> Result<RandomAllocation> {
        const MAX_STEPS: u64 = 1_000_000_000;
        let (least, most) = Self::SIGMAS;
        if !(least..=most).contains(&sigma) {
            let problem = format!("sigma must be between {least} and {most}");
            return Err(Error::parameter("random-allocation", problem)
                .with_hint("with less noise one step all but tells the record"));
        }
        if !(1..=MAX_STEPS).contains(&steps) {
            let problem = format!("steps must be between 1 and {MAX_STEPS}");
            return Err(Error::parameter("random-allocation", problem));
        }
        Ok(RandomAllocation {
            sigma,
            steps,
            sides: Arc::default(),
        })
    }
}

/// The same noise in as many steps.
impl PartialEq for RandomAllocation {
    fn eq(&self, other: &RandomAllocation) -> bool {
        (self.sigma, self.steps) == (other.sigma, other.steps)
    }
}

impl fmt::Display for RandomAllocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sigma = format_number(self.sigma);
        write!(f, "random-allocation(sigma={sigma}, steps={})", self.steps)
    }
}

impl Mechanism for RandomAllocation {
    fn declared_secrets(&self) -> Option<Vec<String>> {
        Some(vec!["0".to_owned(), "1".to_owned()])
    }

    fn bind(&self, labels: &[String]) -> Result<Box<dyn BoundMechanism>> {
        let uses = labels.iter().map(|label| match label.trim() {
            "0" => Ok(false),
            "1" => Ok(true),
            _ => Err(Error::parameter(
                self.to_string(),
                format!(
                    "its secrets are 0, without the record, and 1, with it; the log has {label:?}"
                ),
            )),
        });
        Ok(Box::new(Bound {
            mechanism: self.clone(),
            uses: uses.collect::<Result<_>>()?,
        }))
    }
}

#[derive(Debug)]
struct Bound {
    mechanism: RandomAllocation,
    /// Whether each secret is the one with the record.
    uses: Vec<bool>,
}

impl Bound {
    fn mu(&self) -> f64 {
        1.0 / self.mechanism.sigma
    }
}

impl BoundMechanism for Bound {
    fn secret_count(&self) -> usize {
        self.uses.len()
    }

    /// Never too small.
    fn total_variation(&self, a: usize, b: usize) -> f64 {
        if self.uses[a] == self.uses[b] {
            return 0.0;
        }
        self.enclosing()
            .map_or(1.0, |[above, _]| Cells(above).delta(0.0))
    }

    fn bayes_security(&self, a: usize, b: usize) -> f64 {
        1.0 - self.total_variation(a, b)
    }

    fn law(&self, _secret: usize) -> Law {
        Law::Unknown("the law of a mean of many likelihood ratios is only enclosed")
    }

    fn enclosing(&self) -> Option<&[Vec<Cell>; 2]> {
        let RandomAllocation { steps, sides, .. } = &self.mechanism;
        Some(sides.get_or_init(|| allocation::sides(self.mu(), *steps)))
    }

    fn epsilon(&self) -> f64 {
        f64::INFINITY
    }

    fn columns(&self) -> &'static [&'static str] {
        &["privacy_loss"]
    }

    fn draw(&self, secret: usize, rng: &mut dyn Rng) -> Vec<Observed> {
        let (mu, steps) = (self.mu(), self.mechanism.steps);
        let used = self.uses[secret].then(|| rng.random_range(0..steps));
        let step = |at: u64| {
            let z: f64 = rng.sample(StandardNormal);
            let shift = if used == Some(at) {
                0.5 * mu
            } else {
                -0.5 * mu
            };
            exp(mu * (z + shift))
        };
        let sum: f64 = (0..steps).map(step).sum();
        vec![Observed::Number(log(sum / steps as f64))]
    }

    fn sample(&self, secret: usize, rng: &mut dyn Rng) -> Vec<String> {
        texts(self.draw(secret, rng))
    }

    fn worst_pair(&self) -> Option<(usize, usize)> {
        let of = |used: bool| self.uses.iter().position(|uses| *uses == used);
        let (a, b) = of(false).zip(of(true))?;
        Some(if a < b { (a, b) } else { (b, a) })
    }

    fn pair(&self, a: usize, b: usize) -> Option<Pair> {
        let mu = self.mu();
        (self.uses[a] != self.uses[b]).then_some(Pair::Allocated { mu })
    }

    fn pairs(&self) -> Option<Vec<Pair>> {
        let (a, b) = self.worst_pair()?;
        Some(vec![self.pair(a, b)?])
    }

    fn delta(&self, _epsilon: f64) -> Option<f64> {
        None
    }
}
