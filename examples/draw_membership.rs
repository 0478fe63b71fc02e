//! Draws `datasets/membership-losses.csv`: the losses of a model on records that it was trained on, and on
//! others.
//!
//! ```text
//! cargo run --release --example draw_membership > datasets/membership-losses.csv
//! ```
//!
//! The secret is whether the record was in the training data: `in` or `out`. The logarithm of its loss is
//! N(0, 1) for `out`. For `in` it is N(−5, 1) with probability 0.05 (the model has memorized the record),
//! else N(−0.3, 1). Losses are written with eight significant digits.
//!
//! # What it leaks
//! The ratio of the densities falls with the loss l, so that the best tests are thresholds on it. With
//! t = ln l, false positives are Φ(t), true positives 0.95 Φ(t + 0.3) + 0.05 Φ(t + 5). The ratio is 1
//! at t ≈ −0.320975, where the difference, the total variation, is ≈ 0.142936: the best guess is right for
//! 57 % of records. At 0.1 % of false positives a threshold still finds ≈ 5.11 % of the members, fifty times
//! as many.

use std::error::Error;
use std::io::{BufWriter, Write, stdout};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

const ROWS: usize = 20_000;
const SEED: u64 = 9;
const MEMORIZED: f64 = 0.05;

/// Writes the log.
pub fn draw(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    writeln!(out, "record,secret,loss")?;
    for record in 1..=ROWS {
        let member = rng.random_bool(0.5);
        let mean = match (member, rng.random_bool(MEMORIZED)) {
            (false, _) => 0.0,
            (true, true) => -5.0,
            (true, false) => -0.3,
        };
        let normal: f64 = StandardNormal.sample(&mut rng);
        let secret = if member { "in" } else { "out" };
        writeln!(out, "{record},{secret},{:.7e}", libm::exp(mean + normal))?;
    }
    Ok(())
}

// Unused where a test includes this file.
#[allow(dead_code)]
fn main() -> Result<(), Box<dyn Error>> {
    let mut out = BufWriter::new(stdout().lock());
    draw(&mut out)?;
    out.flush()?;
    Ok(())
}
