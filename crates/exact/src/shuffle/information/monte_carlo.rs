//! Monte Carlo estimates with standard errors, as an independent check of the exact values.

use leakgauge_base::parallel;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::basic::{Basic, check_size, excess_of};
use crate::sampling::{BATCH, Moments, multinomial};
use crate::shuffle::numbers::check_samples;
use leakgauge_base::error::{Error, Result};

/// When to stop sampling.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StoppingRule {
    /// The largest number of samples.
    pub max_samples: u64,
    /// Stop earlier once both standard errors are at most this, in nats; checked after every batch of samples.
    pub standard_error: Option<f64>,
}

impl StoppingRule {
    fn check(&self) -> Result<()> {
        check_samples(self.max_samples)?;
        if self
            .standard_error
            .is_some_and(|error| error.is_nan() || error <= 0.0)
        {
            return Err(Error::parameter(
                "standard error to reach",
                "must be above 0",
            ));
        }
        Ok(())
    }
}

/// The mean of independent samples.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MonteCarlo {
    /// The mean.
    pub mean: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// The number of samples.
    pub samples: u64,
}

impl Basic {
    /// I(K; Z) and I(Y₁; Z) by simulation.
    ///
    /// # Method
    /// Histograms are drawn with all n messages from Q and weighted by S/n, their likelihood ratio to the true
    /// distribution: I(K; Z) = E\[D − h(S/n − 1)\] and I(Y₁; Z) = E\[(S/n)·D(posterior of Y₁ given Z ‖ P)\], with
    /// smaller variance than under the true distribution. The information from messages that no decoy sends is added
    /// exactly. The same seed gives the same numbers with any number of threads.
    ///
    /// # Errors
    /// n is 0, there are fewer than two samples or more than 10⁹, or the target standard error is not above 0.
    pub fn simulate(&self, n: u64, rule: StoppingRule, seed: u64) -> Result<[MonteCarlo; 2]> {
        check_size(n)?;
        rule.check()?;
        let (hidden, position_known, message_known) = self.known_parts(n);
        let mut moments = [Moments::default(); 2];
        let batches = rule.max_samples.div_ceil(BATCH);
        let divergence = self.coefficients().divergence;
        // A fixed number of batches at a time, so that the result does not depend on the number of threads.
        for block in 0..batches.div_ceil(BLOCK) {
            let first = block * BLOCK;
            let count = batches.min(first + BLOCK) - first;
            let some: Vec<[Moments; 2]> = parallel::map(count as usize, |at| {
                let batch = first + at as u64;
                let samples = BATCH.min(rule.max_samples - batch * BATCH);
                self.batch(n, divergence, seed, batch, samples)
            });
            let mut enough = false;
            for both in some {
                moments
                    .iter_mut()
                    .zip(&both)
                    .for_each(|(all, some)| all.merge(some));
                let reached = |m: &Moments| {
                    rule.standard_error
                        .is_some_and(|target| hidden * m.standard_error() <= target)
                };
                enough = moments.iter().all(reached);
                if enough {
                    break;
                }
            }
            if enough {
                break;
            }
        }
        let estimate = |moments: &Moments, known: f64| MonteCarlo {
            mean: if hidden == 0.0 {
                known
            } else {
                known + hidden * moments.mean
            },
            standard_error: hidden * moments.standard_error(),
            samples: moments.count,
        };
        Ok([
            estimate(&moments[0], position_known),
            estimate(&moments[1], message_known),
        ])
    }

    fn batch(&self, n: u64, divergence: f64, seed: u64, batch: u64, samples: u64) -> [Moments; 2] {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(batch);
        let decoys: Vec<f64> = self.shared().iter().map(|(_, q)| *q).collect();
        let (mut counts, size) = (vec![0; decoys.len()], n as f64);
        let mut moments = [Moments::default(); 2];
        for _ in 0..samples {
            multinomial(n, &decoys, &mut rng, &mut counts);
            // S/n, the weight of this histogram; the share of each message in it is the posterior of Y₁.
            let (mut weight, mut message) = (0.0, 0.0);
            for (&count, (p, q)) in counts.iter().zip(self.shared()) {
                weight += count as f64 * p / q / size;
            }
            for (&count, (p, q)) in counts
                .iter()
                .zip(self.shared())
                .filter(|(_, (p, _))| *p > 0.0)
            {
                let against = count as f64 / (q * size);
                message += if weight == 0.0 {
                    0.0
                } else {
                    p * weight * excess_of(against / weight)
                };
            }
            moments[0].add(divergence - excess_of(weight));
            moments[1].add(message);
        }
        moments
    }
}

/// The number of batches between two checks of the stopping rule.
const BLOCK: u64 = 8;
