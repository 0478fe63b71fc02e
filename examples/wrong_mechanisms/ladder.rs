//! How many rows it takes `audit` to see through a mechanism.

use leakgauge::attack::tuning::ScorerChoice;
use leakgauge::audit::{AuditOptions, Findings, Verdict, audit};
use leakgauge::base::error::Result;
use leakgauge::claim::Claim;
use leakgauge::log::{ReadOptions, read_from};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::cases::Case;

/// Multiples of the rows that the best event needs.
pub const RUNGS: [f64; 8] = [0.7, 1.0, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0];

/// The generator of a log: the same rows for the same case and seed.
pub fn generator(case: &Case, seed: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let hash = |hash: u64, byte: u8| hash.wrapping_mul(31).wrapping_add(u64::from(byte));
    rng.set_stream(case.name.bytes().fold(7, hash));
    rng
}

/// How logs are audited.
#[derive(Debug, Clone, Copy)]
pub struct Trial {
    /// The ε that is claimed.
    pub epsilon: f64,
    pub scorer: ScorerChoice,
    /// Without what judges each row by an attack that has not seen it.
    pub quick: bool,
}

/// The audit of a fresh log against the claim.
///
/// # Errors
/// Only if a case is no proper log or claim.
pub fn audit_of(case: &Case, trial: Trial, rows: u64, seed: u64) -> Result<Findings> {
    let epsilon = trial.epsilon;
    let log = case.log(epsilon, rows, &mut generator(case, seed));
    let read = ReadOptions {
        numeric: if case.numeric {
            case.columns()
        } else {
            Vec::new()
        },
        ..ReadOptions::default()
    };
    let options = AuditOptions {
        quick: trial.quick,
        seed,
        attacks: trial.scorer.into(),
        claims: vec![Claim::parse(&case.claim(epsilon))?],
        ..AuditOptions::default()
    };
    audit(
        &read_from(case.name, std::io::Cursor::new(log), &read)?,
        &options,
    )
}

/// Whether the audit of a fresh log refutes the claim.
///
/// # Errors
/// As [`audit_of`].
pub fn is_violated(case: &Case, trial: Trial, rows: u64, seed: u64) -> Result<bool> {
    let found = audit_of(case, trial, rows, seed)?;
    Ok(found.claims[0].verdict == Verdict::Violated)
}

/// Whether the claim is refuted in at least 90 % of so many logs; stops as soon as that is settled.
///
/// # Errors
/// As [`audit_of`].
pub fn is_caught(case: &Case, trial: Trial, rows: u64, seeds: u64) -> Result<bool> {
    let mut may_miss = seeds / 10;
    for seed in 0..seeds {
        if !is_violated(case, trial, rows, seed)? {
            if may_miss == 0 {
                return Ok(false);
            }
            may_miss -= 1;
        }
    }
    Ok(true)
}

/// The first of [`RUNGS`] at which the claim is caught, for the rows that the best event needs.
///
/// # Errors
/// As [`audit_of`].
pub fn rows_needed(case: &Case, trial: Trial, ideal: u64, seeds: u64) -> Result<Option<f64>> {
    for times in RUNGS {
        if is_caught(case, trial, (times * ideal as f64) as u64, seeds)? {
            return Ok(Some(times));
        }
    }
    Ok(None)
}
