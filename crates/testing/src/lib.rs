//! What the tests of several rooms share.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// The portable generator, by seed.
pub fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Relative comparison.
#[track_caller]
pub fn assert_close(actual: f64, expected: f64, relative: f64) {
    let error = ((actual - expected) / expected).abs();
    assert!(
        error <= relative || actual == expected,
        "{actual:e} is not {expected:e}: relative error {error:e}"
    );
}

/// The largest number of events allowed in `runs` when each has probability at most `p`: the mean
/// plus 3.29 binomial standard deviations, exceeded by chance once in 2,000.
pub fn at_most(runs: usize, p: f64) -> usize {
    let mean = runs as f64 * p;
    (mean + 3.29 * (mean * (1.0 - p)).sqrt()).floor() as usize
}

/// The rows of a golden file, whose `source` says what computed them.
pub fn golden<const COLUMNS: usize>(json: &str) -> Vec<[f64; COLUMNS]> {
    let file: serde_json::Value = serde_json::from_str(json).unwrap();
    let row = |row: &serde_json::Value| std::array::from_fn(|i| row[i].as_f64().unwrap());
    file["rows"].as_array().unwrap().iter().map(row).collect()
}
