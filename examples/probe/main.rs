//! A program that `leakgauge probe` asks: how long does a comparison with a secret take?
//!
//! ```text
//! rustc -O examples/probe/main.rs -o compare
//! leakgauge probe --classes early,late,same -n 3000 -o log.csv -- ./compare variable
//! leakgauge audit log.csv --claim 'attack-advantage(0.1)'
//! ```
//!
//! A class says where the guess first differs from the secret. `variable` stops at the first difference, `constant`
//! looks at every byte.

use std::hint::black_box;
use std::io::{BufRead, Write, stdin, stdout};
use std::time::Instant;

/// Comparisons of one sample: one alone is shorter than the clock's step.
const TIMES: u32 = 200;

fn variable(secret: &[u8], guess: &[u8]) -> bool {
    for (a, b) in secret.iter().zip(guess) {
        if black_box(*a) != *b {
            return false;
        }
    }
    true
}

fn constant(secret: &[u8], guess: &[u8]) -> bool {
    let mut difference = 0;
    for (a, b) in secret.iter().zip(guess) {
        difference |= black_box(*a) ^ b;
    }
    difference == 0
}

fn main() -> std::io::Result<()> {
    let compare = match std::env::args().nth(1).as_deref() {
        Some("variable") => variable,
        Some("constant") => constant,
        _ => panic!("say `variable` or `constant`"),
    };
    let secret = [7u8; 64];
    let mut out = stdout().lock();
    for class in stdin().lock().lines() {
        // All guesses are made alike, so that only the comparison differs.
        let mut guess = secret;
        let at = match class?.as_str() {
            "early" => 0,
            "late" => 60,
            _ => 64,
        };
        guess
            .iter_mut()
            .skip(at)
            .take(1)
            .for_each(|byte| *byte ^= 1);
        let start = Instant::now();
        for _ in 0..TIMES {
            black_box(compare(black_box(&secret), black_box(&guess)));
        }
        writeln!(out, "{}", start.elapsed().as_nanos())?;
        // An answer that waits in a buffer looks like a program that hangs.
        out.flush()?;
    }
    Ok(())
}
