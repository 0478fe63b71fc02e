//! Times the comparison of a guess with a stored key, and prints a log of what a caller could see.
//!
//! ```text
//! cargo run --release --example measure_comparison -- early-exit 10000 > measured-comparison.csv
//! cargo run --release --example measure_comparison -- constant-time 10000 > measured-constant-time.csv
//! ```
//!
//! The secret of a row is how many leading bytes of the guess are right: 0, 8, 16 or 24 of 32. The
//! observation is the time of [`REPETITIONS`] comparisons of that one guess, in nanoseconds: a
//! single one is shorter than the clock can tell. `early-exit` stops at the first wrong byte, as
//! a plain loop does; `constant-time` looks at every byte.
//!
//! Each row draws its secret, its key and its guess anew, so that neither a slow change of the
//! machine nor a particular key lines up with a secret. Neighboring measurements are still alike
//! (clock frequency, other work on the machine), whatever the secret: `leakgauge` warns of it. A
//! random pause before each row lessens that; it does not remove it. No row is thrown away but
//! the first [`WARM_UP`].

use std::error::Error;
use std::hint::black_box;
use std::io::{BufWriter, Write, stdout};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Bytes of a key.
const KEY: usize = 32;
/// Leading bytes that a guess gets right.
const SECRETS: [usize; 4] = [0, 8, 16, 24];
/// Comparisons that are timed together.
const REPETITIONS: usize = 16;
/// Rows measured and thrown away before the first that is printed.
const WARM_UP: usize = 200;
/// The longest wait between two rows, in microseconds.
const LONGEST_WAIT: u64 = 2_000;
/// Of the order of secrets, the keys and the waits; the times are nobody's choice.
const SEED: u64 = 1;

type Comparison = fn(&[u8], &[u8]) -> bool;

/// Stops at the first difference. It takes slices: where the length is known to be 32, the compiler
/// may replace the loop by one comparison of 32 bytes, and the leak is gone.
#[inline(never)]
fn early_exit(key: &[u8], guess: &[u8]) -> bool {
    for (a, b) in key.iter().zip(guess) {
        if a != b {
            return false;
        }
    }
    true
}

/// Looks at every byte, whatever it finds.
#[inline(never)]
fn constant_time(key: &[u8], guess: &[u8]) -> bool {
    let different = key.iter().zip(guess).fold(0, |bits, (a, b)| bits | (a ^ b));
    black_box(different) == 0
}

/// A key, and a guess whose first wrong byte is number `right`, counted from 0.
fn draw_guess(right: usize, rng: &mut impl Rng) -> ([u8; KEY], [u8; KEY]) {
    let (mut key, mut guess) = ([0; KEY], [0; KEY]);
    rng.fill_bytes(&mut key);
    rng.fill_bytes(&mut guess);
    guess[..right].copy_from_slice(&key[..right]);
    guess[right] = !key[right];
    (key, guess)
}

/// The time of a batch of comparisons, in nanoseconds.
fn measure(compare: Comparison, key: &[u8], guess: &[u8]) -> u128 {
    let start = Instant::now();
    for _ in 0..REPETITIONS {
        black_box(compare(black_box(key), black_box(guess)));
    }
    start.elapsed().as_nanos()
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, rows] = arguments.as_slice() else {
        return Err("usage: measure_comparison early-exit|constant-time ROWS".into());
    };
    let compare = match name.as_str() {
        "early-exit" => early_exit,
        "constant-time" => constant_time as Comparison,
        _ => return Err(format!("no comparison is called {name}").into()),
    };
    let rows: usize = rows.parse()?;
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let mut out = BufWriter::new(stdout().lock());
    writeln!(out, "secret,nanoseconds")?;
    for row in 0..WARM_UP + rows {
        let secret = SECRETS[rng.random_range(0..SECRETS.len())];
        let (key, guess) = draw_guess(secret, &mut rng);
        sleep(Duration::from_micros(rng.random_range(0..LONGEST_WAIT)));
        let time = measure(compare, &key, &guess);
        if row >= WARM_UP {
            writeln!(out, "{secret},{time}")?;
        }
    }
    out.flush()?;
    Ok(())
}
