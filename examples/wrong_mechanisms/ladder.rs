//! How many rows it takes `audit` to see through a mechanism.

use leakgauge::attack::tuning::ScorerChoice;
use leakgauge::audit::{AuditOptions, Findings, Verdict, audit};
use leakgauge::base::error::Result;
use leakgauge::claim::Claim;
use leakgauge::log::{ReadOptions, read_from};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::cases::Case;

/// Numbers of rows that are tried.
pub const RUNGS: [u64; 7] = [1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000];

/// The generator of a log: the same rows for the same case and seed.
pub fn generator(case: &Case, seed: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let hash = |hash: u64, byte: u8| hash.wrapping_mul(31).wrapping_add(u64::from(byte));
    rng.set_stream(case.name.bytes().fold(7, hash));
    rng
}

/// The audit of a fresh log against the claim.
///
/// # Errors
/// Only if a case is no proper log or claim.
pub fn audit_of(
    case: &Case,
    epsilon: f64,
    scorer: ScorerChoice,
    rows: u64,
    seed: u64,
) -> Result<Findings> {
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
        quick: true,
        seed,
        attacks: scorer.into(),
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
pub fn is_violated(
    case: &Case,
    epsilon: f64,
    scorer: ScorerChoice,
    rows: u64,
    seed: u64,
) -> Result<bool> {
    let found = audit_of(case, epsilon, scorer, rows, seed)?;
    Ok(found.claims[0].verdict == Verdict::Violated)
}

/// Whether the claim is refuted in at least 90 % of so many logs; stops as soon as that is settled.
///
/// # Errors
/// As [`audit_of`].
pub fn is_caught(
    case: &Case,
    epsilon: f64,
    scorer: ScorerChoice,
    rows: u64,
    seeds: u64,
) -> Result<bool> {
    let mut may_miss = seeds / 10;
    for seed in 0..seeds {
        if !is_violated(case, epsilon, scorer, rows, seed)? {
            if may_miss == 0 {
                return Ok(false);
            }
            may_miss -= 1;
        }
    }
    Ok(true)
}

/// The first of [`RUNGS`] at which the claim is caught.
///
/// # Errors
/// As [`audit_of`].
pub fn rows_needed(
    case: &Case,
    epsilon: f64,
    scorer: ScorerChoice,
    seeds: u64,
) -> Result<Option<u64>> {
    for rows in RUNGS {
        if is_caught(case, epsilon, scorer, rows, seeds)? {
            return Ok(Some(rows));
        }
    }
    Ok(None)
}
