//! An audit with an attack of one's own: `cargo run --example own_attack`.
//!
//! The attack guesses the secret whose mean is nearest; rows that it has not seen judge it. With
//! `Attacks::default().and(…)` it would compete with the built-in attacks.

use std::io::Cursor;
use std::sync::Arc;

use leakgauge::attack::tuning::Attacks;
use leakgauge::attack::{Attack, AttackError, FittedAttack};
use leakgauge::audit::{AuditOptions, audit};
use leakgauge::log::observations::{Counts, Observations};
use leakgauge::log::{ReadOptions, read_from};

struct NearestMean;

impl Attack for NearestMean {
    fn name(&self) -> &str {
        "nearest mean"
    }

    fn fit(&self, log: &Observations, fit: &Counts) -> Result<Box<dyn FittedAttack>, AttackError> {
        let mut means = vec![0.0; fit.secrets()];
        for cell in fit.cells() {
            let secret = cell.secret as usize;
            let share = cell.count as f64 / fit.rows()[secret] as f64;
            means[secret] += share * log.numbers(cell.symbol)[0];
        }
        let score = move |log: &Observations, ids: &[u32], scores: &mut [f64]| {
            for (&id, row) in ids.iter().zip(scores.chunks_mut(means.len())) {
                for (score, mean) in row.iter_mut().zip(&means) {
                    *score = -(log.numbers(id)[0] - mean).powi(2);
                }
            }
        };
        Ok(Box::new(score))
    }
}

fn main() -> leakgauge::base::error::Result<()> {
    // Times that depend on a secret bit: noise, and half a unit more if the bit is set.
    let noise = |row: u64, step: u64| (row * step % 1009) as f64 / 1009.0;
    let mut csv = "secret,time\n".to_owned();
    for row in 0..4000 {
        let time = noise(row, 17) + noise(row, 101) + 0.5 * (row % 2) as f64;
        csv += &format!("{},{time:.4}\n", row % 2);
    }
    let log = read_from("memory", Cursor::new(csv), &ReadOptions::default())?;
    let options = AuditOptions {
        attacks: Attacks::only(Arc::new(NearestMean)),
        ..AuditOptions::default()
    };
    let found = audit(&log, &options)?;
    let certified = found.worst_pair.attack_advantage.lower.unwrap_or(0.0);
    println!("{}: advantage at least {certified:.3}", found.method.scorer);
    Ok(())
}
