//! Whether units differ in how often they have a secret.
//!
//! Limits that count units are about a random row of a random unit. Where some units have a secret often and others rarely,
//! a random row of the log is mostly from the former, and its unit tells the secret.
//!
//! # Formula
//! Of a secret s, p is its share of all rows of units that have several secrets. Of those among them with n_u min(p, 1 − p)
//! of at least 7, x_u rows have s: X² = Σ (x_u − n_u p)²/(n_u p (1 − p)) is about χ² with m − 1 degrees of freedom for m
//! units where every row has s with probability p. The variance of the shares between units is about
//! τ² = (X² − (m − 1)) p (1 − p)/Σ (n_u − 1). How far a law is moved by that depends on τ/min(p, 1 − p).
//!
//! A unit with one secret alone says nothing about mixes: its law is that of its secret. Of a unit with few rows only those
//! are looked at that have the secret and another one, which alone makes their shares differ; so small ones are left out.

use leakgauge_stats::special::chi_squared_survival;

use leakgauge_log::{UnitCell, UnitRows};

/// Shares that differ so much by chance in fewer logs are no chance.
const LEAST_P: f64 = 1e-6;
/// Rows of the rarer side that a unit is expected to have, at least.
const EXPECTED: f64 = 7.0;
/// Shares that differ by less than this part of the share hardly move a law.
const SPREAD: f64 = 0.15;

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
        if of_unit.len() < 2 {
            continue;
        }
        for (secret, parts) in parts.iter_mut().enumerate() {
            let of_secret = of_unit.iter().find(|one| one.0 as usize == secret);
            let of_secret = of_secret.map_or(0.0, |one| one.1 as f64);
            parts.push(Part { of_secret, all });
        }
    }
    let spreads = parts.iter().zip(0..).filter_map(|(parts, secret)| {
        let spread = spread(parts, LEAST_P / secrets as f64)?;
        Some((spread, secret))
    });
    let (spread, secret) =
        spreads.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
    (spread >= SPREAD).then(|| {
        let parts = parts[secret as usize].iter();
        let mut shares: Vec<f64> = parts.map(|part| part.share()).collect();
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

/// The standard deviation of shares between units as a part of the share, where they differ by more than chance.
fn spread(parts: &[Part], least_p: f64) -> Option<f64> {
    let share = {
        let all: f64 = parts.iter().map(|part| part.all).sum();
        parts.iter().map(|part| part.of_secret).sum::<f64>() / all
    };
    let rarer = share.min(1.0 - share);
    let looked_at: Vec<&Part> = parts
        .iter()
        .filter(|part| part.all * rarer >= EXPECTED)
        .collect();
    let sum = |value: &dyn Fn(&Part) -> f64| looked_at.iter().map(|part| value(part)).sum::<f64>();
    let of_row = share * (1.0 - share);
    let free = looked_at.len() as f64 - 1.0;
    if free < 1.0 || of_row <= 0.0 {
        return None;
    }
    let statistic = sum(&|part| (part.of_secret - part.all * share).powi(2) / part.all) / of_row;
    let is_chance = chi_squared_survival(statistic, free) > least_p || statistic <= free;
    let more = sum(&|part| part.all - 1.0);
    (!is_chance).then(|| ((statistic - free) * of_row / more).sqrt() / rarer)
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

    /// Units of few rows that have a secret at all have a large share of it; a rare secret is told by its own scale.
    #[test]
    fn sizes_that_differ_are_no_difference_and_rare_secrets_count_as_much() {
        for seed in 0..100 {
            let small = units(400, 3, &[0.05], seed);
            let large = units(8, 500, &[0.05], seed + 1_000);
            let large = large.cells().iter().map(|cell| UnitCell {
                unit: cell.unit + 400,
                ..*cell
            });
            let all = small.cells().iter().copied().chain(large).collect();
            assert_eq!(uneven(&UnitRows::new(all), 2), None, "{seed}");
        }
        let rare = units(300, 400, &[0.002, 0.05], 1);
        assert!(uneven(&rare, 2).is_some());
    }
}
