//! The accountant over a grid of mechanisms: how near its two sides are, how long they take, and how much memory.
//!
//! ```sh
//! cargo run --release -p leakgauge-exact --example accountant_table            # the whole table
//! cargo run --release -p leakgauge-exact --example accountant_table laplace    # rows with this word
//! ```
//!
//! A cell misses where ε(δ) has sides further apart than 1e-3 of it, where δ at least at 1e-15 has sides further apart
//! than 1 %, where it takes more than 2 s, or more than 200 MB. Columns: ε(1e-6) and its width; the smallest δ of
//! those at ε(1e-6), ε(1e-10) and ε(1e-14) with the largest width; seconds; megabytes.

use std::time::Instant;

use leakgauge_exact::accountant::{Accountant, Sides};
use leakgauge_exact::mechanism;

/// The widest that sides may be.
const EPSILON_WIDTH: f64 = 1e-3;
const DELTA_WIDTH: f64 = 1e-2;
const LEAST_DELTA: f64 = 1e-15;
const MOST_SECONDS: f64 = 2.0;
const MOST_MEGABYTES: f64 = 200.0;

struct Cell {
    text: String,
    steps: u64,
}

fn cells() -> Vec<Cell> {
    let mut noises = Vec::new();
    for parameter in ["0.1", "1", "10", "100"] {
        noises.push(format!("laplace(scale={parameter})"));
    }
    for parameter in ["0.3", "1", "10", "100"] {
        noises.push(format!("gaussian(sigma={parameter})"));
        noises.push(format!("discrete-gaussian(sigma={parameter})"));
    }
    let mut texts = Vec::new();
    for noise in &noises {
        let declared = noise.replace(')', ", secrets=2)");
        texts.push(declared);
        for rate in ["1e-6", "1e-4", "1e-2", "0.5"] {
            texts.push(format!("subsampled({noise}, rate={rate})"));
            texts.push(format!(
                "subsampled({noise}, rate={rate}, relation=replace)"
            ));
        }
    }
    for weight in ["1e-4", "0.1", "0.5"] {
        for pair in [
            "gaussian(sigma=1, secrets=2), gaussian(sigma=4, secrets=2)",
            "laplace(scale=1, secrets=2), gaussian(sigma=2, secrets=2)",
            "laplace(scale=1, secrets=2), laplace(scale=10, secrets=2)",
        ] {
            texts.push(format!("mixture({pair}, weight={weight})"));
        }
    }
    let steps = [1, 100, 10_000, 1_000_000, 10_000_000];
    let each = |text: &String| {
        steps.map(|steps| Cell {
            text: text.clone(),
            steps,
        })
    };
    texts.iter().flat_map(each).collect()
}

/// Megabytes that the process had at most since the last call; infinite where the system does not tell.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    let number = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
    // Where it cannot be reset, the peak is that of all cells so far.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    number.map_or(f64::INFINITY, |kilobytes: f64| kilobytes / 1024.0)
}

/// How far the sides are from each other, as a part of the larger one.
fn width(sides: Sides) -> f64 {
    match sides.most > 0.0 {
        true => (sides.most - sides.least) / sides.most,
        false => 0.0,
    }
}

fn look_at(cell: &Cell) -> bool {
    let start = Instant::now();
    peak();
    let accountant = mechanism::parse(&cell.text)
        .and_then(|mechanism| Accountant::of_mechanism(&*mechanism, cell.steps));
    let accountant = match accountant {
        Ok(accountant) => accountant,
        Err(error) => {
            println!("{:<70} {:>9} refused: {error}", cell.text, cell.steps);
            return false;
        }
    };
    let epsilon = accountant.epsilon(1e-6);
    let of_epsilon = width(epsilon);
    let first = start.elapsed().as_secs_f64();
    let mut of_delta = 0.0;
    let mut smallest = f64::INFINITY;
    for wanted in [1e-6, 1e-10, 1e-14] {
        let at = accountant.epsilon(wanted).most;
        if !(at > 0.0 && at.is_finite()) {
            continue;
        }
        let delta = accountant.delta(at);
        if delta.most >= LEAST_DELTA {
            smallest = delta.most;
            of_delta = if width(delta) < of_delta {
                of_delta
            } else {
                width(delta)
            };
        }
    }
    let (seconds, megabytes) = (start.elapsed().as_secs_f64(), peak());
    let mut misses = Vec::new();
    let mut miss = |name: &'static str, missed: bool| {
        if missed {
            misses.push(name);
        }
    };
    miss("epsilon", of_epsilon > EPSILON_WIDTH || of_epsilon.is_nan());
    miss("delta", of_delta > DELTA_WIDTH || of_delta.is_nan());
    miss("time", first > MOST_SECONDS);
    miss("memory", megabytes > MOST_MEGABYTES);
    println!(
        "{:<70} {:>9} {:>12.6} {:>8.1e} {:>8.1e} {:>8.1e} {:>6.2} {:>6.2} {:>5.0} {}",
        cell.text,
        cell.steps,
        epsilon.most,
        of_epsilon,
        smallest,
        of_delta,
        first,
        seconds,
        megabytes,
        misses.join(" ")
    );
    misses.is_empty()
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let wanted = |cell: &&Cell| {
        words
            .iter()
            .all(|word| format!("{} {}", cell.text, cell.steps).contains(word.as_str()))
    };
    let cells = cells();
    let (mut count, mut fine) = (0, 0);
    for cell in cells.iter().filter(wanted) {
        count += 1;
        fine += usize::from(look_at(cell));
    }
    println!("{fine} of {count} cells keep all bars");
}
