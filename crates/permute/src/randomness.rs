//! The random generator of a shuffle.

use std::convert::Infallible;

use rand::rngs::SysRng;
use rand::{SeedableRng, TryRng};
use rand_chacha::ChaCha20Rng;

use leakgauge_base::error::{Error, Result};

/// A cryptographic generator (ChaCha20), so that nobody can infer its state from the output of a shuffle.
#[derive(Debug, Clone)]
pub struct Randomness(ChaCha20Rng);

impl Randomness {
    /// Seeded by the operating system. Use this for a release.
    ///
    /// # Errors
    /// The operating system provides no randomness.
    pub fn fresh() -> Result<Self> {
        ChaCha20Rng::try_from_rng(&mut SysRng)
            .map(Randomness)
            .map_err(|error| {
                Error::file(
                    "the operating system's random numbers",
                    format!("cannot be read: {error}"),
                )
            })
    }

    /// Seeded by a number, so that results can be repeated. Anyone who knows the seed knows the permutation.
    pub fn seeded(seed: u64) -> Self {
        Randomness(ChaCha20Rng::seed_from_u64(seed))
    }

    /// An independent stream of the same seed.
    #[must_use]
    pub fn stream(&self, number: u64) -> Self {
        let mut other = self.0.clone();
        other.set_stream(number);
        Randomness(other)
    }
}

impl TryRng for Randomness {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> std::result::Result<u32, Infallible> {
        self.0.try_next_u32()
    }

    fn try_next_u64(&mut self) -> std::result::Result<u64, Infallible> {
        self.0.try_next_u64()
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> std::result::Result<(), Infallible> {
        self.0.try_fill_bytes(bytes)
    }
}
