//! Draws `datasets/mixed.csv`: a cache that tells by its answer, and by its time, what was asked.
//!
//! ```text
//! cargo run --release --example draw_mixed > datasets/mixed.csv
//! ```
//!
//! The secret is how popular the item asked for is: `rare` or `popular`. The answer comes from the
//! cache (`hit`) with probability 0.3 for `rare` and 0.6 for `popular`. It takes 2 + N(0, 0.5²)
//! milliseconds from the cache, whichever the item, and without it 8 + N(0, 1) for `rare` and
//! 7 + N(0, 1) for `popular`. Times are written with three decimals.
//!
//! # What it leaks
//! The total variation is the sum over answers of ½∫|p f − q g|, where p and q are the
//! probabilities of the answer and f and g the densities of its time under `rare` and `popular`:
//!
//! - `hit`: f = g, so ½|0.3 − 0.6| = 0.15;
//! - `miss`: 0.7 φ(t − 8) against 0.4 φ(t − 7). The ratio grows with t and is 1 at
//!   c = 7.5 + ln(0.4/0.7) ≈ 6.9404, which splits the integral into
//!   ½(2(0.4 Φ(c − 7) − 0.7 Φ(c − 8)) + 0.7 − 0.4) ≈ 0.239231.
//!
//! Together 0.389231: Bayes security 0.610769. The label alone leaks 0.3, so neither column tells
//! all. Rounding the times to 0.001 changes the total variation by less than 1e-6.

use std::error::Error;
use std::io::{BufWriter, Write, stdout};

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Normal};

const ROWS: usize = 20_000;
const SEED: u64 = 6;

/// What one secret does to the answer.
struct Item {
    name: &'static str,
    hit: f64,
    /// Mean milliseconds without the cache; their standard deviation is 1.
    miss_time: f64,
}

const ITEMS: [Item; 2] = [
    Item {
        name: "rare",
        hit: 0.3,
        miss_time: 8.0,
    },
    Item {
        name: "popular",
        hit: 0.6,
        miss_time: 7.0,
    },
];

/// The answer and the milliseconds it took.
fn ask(item: &Item, rng: &mut impl Rng) -> Result<(&'static str, f64), Box<dyn Error>> {
    let (answer, time) = if rng.random_bool(item.hit) {
        ("hit", Normal::new(2.0, 0.5)?)
    } else {
        ("miss", Normal::new(item.miss_time, 1.0)?)
    };
    Ok((answer, time.sample(rng)))
}

/// Writes the log.
pub fn draw(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    writeln!(out, "secret,answer,milliseconds")?;
    for _ in 0..ROWS {
        let item = &ITEMS[rng.random_range(0..ITEMS.len() as u64) as usize];
        let (answer, time) = ask(item, &mut rng)?;
        writeln!(out, "{},{answer},{time:.3}", item.name)?;
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
