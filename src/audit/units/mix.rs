//! Whether units differ in how often they have a secret.
//!
//! Limits that count units are about a random row of a random unit. Where some units have a secret often and others rarely,
//! a random row of the log is mostly from the former, and its unit tells the secret.
//!
//! # Formula
//! Of the units with a secret s and rows of another one, n_u rows of which x_u have s, p the share of s in all:
//! X² = Σ (x_u − n_u p)²/(n_u p (1 − p)). Where every row has s with probability p, X² has mean m − 1 and variance
//! about 2 (m − 1) + (1/(p (1 − p)) − 6) Σ 1/n_u for m units (Haldane 1940, doi:10.1093/biomet/31.3-4.346).
//! The variance of the shares between units is about τ² = (X² − (m − 1)) p (1 − p)/Σ (n_u − 1).
//!
//! A unit with one secret alone says nothing about mixes: its law is that of its secret.

use leakgauge_log::{UnitCell, UnitRows};

/// So many standard deviations are no chance.
const DEVIATIONS: f64 = 6.0;
/// Shares that differ by less hardly move a law.
const SPREAD: f64 = 0.05;

/// A secret that units have in different shares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Mix {
    /// The secret.
    pub secret: u32,
    /// Its share of the rows of a unit: the tenth of the units with the least has at most this.
    pub from: f64,
    /// The tenth with the most has at least this.
    pub to: f64,
}

/// Rows of a secret and of all, in a unit.
#[derive(Debug, Clone, Copy)]
struct Part {
    of_secret: f64,
    all: f64,
}

impl Part {
    fn share(self) -> f64 {
        self.of_secret / self.all
    }
}

/// The secret whose shares differ most between units that have others too, if they differ by more than chance.
pub(crate) fn uneven(rows: &UnitRows, secrets: usize) -> Option<Mix> {
    let mut parts: Vec<Vec<Part>> = vec![Vec::new(); secrets];
    for unit in rows.units() {
        let of_unit = rows_of_secrets(unit);
        let all = of_unit.iter().map(|part| part.1).sum::<u64>() as f64;
        // Of two secrets the second one's shares say the same.
        for &(secret, rows) in of_unit.iter().filter(|_| of_unit.len() > 1) {
            let of_secret = rows as f64;
            parts[secret as usize].push(Part { of_secret, all });
        }
    }
    let spreads = parts.iter().zip(0..).filter_map(|(parts, secret)| {
        let spread = spread(parts)?;
        Some((spread, secret))
    });
    let (spread, secret) =
        spreads.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
    (spread >= SPREAD).then(|| {
        let mut shares: Vec<f64> = parts[secret as usize].iter().map(|p| p.share()).collect();
        shares.sort_by(f64::total_cmp);
        let tenth = shares.len() / 10;
        Mix {
            secret,
            from: shares[tenth],
            to: shares[shares.len() - 1 - tenth],
        }
    })
}

/// Each secret of a unit with its rows.
fn rows_of_secrets(unit: &[UnitCell]) -> Vec<(u32, u64)> {
    let mut rows: Vec<(u32, u64)> = unit.iter().map(|cell| (cell.secret, cell.count)).collect();
    rows.sort_unstable();
    rows.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    rows
}

/// The standard deviation of shares between units, where they differ by more than chance.
fn spread(parts: &[Part]) -> Option<f64> {
    let sum = |value: &dyn Fn(&Part) -> f64| parts.iter().map(value).sum::<f64>();
    let all = sum(&|part| part.all);
    let share = sum(&|part| part.of_secret) / all;
    let of_row = share * (1.0 - share);
    let free = parts.len() as f64 - 1.0;
    if free < 1.0 || of_row <= 0.0 {
        return None;
    }
    let statistic = sum(&|part| (part.of_secret - part.all * share).powi(2) / part.all) / of_row;
    let skew = (1.0 / of_row - 6.0).max(0.0) * sum(&|part| 1.0 / part.all);
    let beyond = statistic - free;
    let more = sum(&|part| part.all - 1.0);
    (beyond > DEVIATIONS * (2.0 * free + skew).sqrt() && more > 0.0)
        .then(|| (beyond * of_row / more).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Units whose rows have secret 0 with these probabilities in turn.
    fn units(units: u32, rows: u64, shares: &[f64], seed: u64) -> UnitRows {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut cells = Vec::new();
        for unit in 0..units {
            let share = shares[unit as usize % shares.len()];
            for _ in 0..rows {
                let secret = u32::from(rng.random::<f64>() >= share);
                let symbol = rng.random_range(0..3);
                cells.push(UnitCell {
                    unit,
                    symbol,
                    secret,
                    count: 1,
                });
            }
        }
        UnitRows::new(cells)
    }

    #[test]
    fn shares_that_differ_are_seen_and_named() {
        let found = uneven(&units(200, 42, &[40.0 / 42.0, 2.0 / 42.0], 1), 2).expect("uneven");
        assert!(found.from < 0.1 && found.to > 0.9, "{found:?}");
    }

    #[test]
    fn chance_is_no_difference_and_neither_is_a_secret_a_unit() {
        for seed in 0..400 {
            for (count, rows, share) in
                [(50, 5, 0.5), (300, 40, 0.3), (400, 2, 0.02), (20, 200, 0.9)]
            {
                assert_eq!(uneven(&units(count, rows, &[share], seed), 2), None);
            }
        }
        assert_eq!(uneven(&units(200, 42, &[0.0, 1.0], 1), 2), None);
    }
}
