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
//! A unit with one secret alone says nothing about mixes: its law is that of its secret. Of units with few rows only those are
//! seen that have the secret and another one, which alone makes their shares differ: they are looked at by themselves, and x_u
//! is binomial on 1 … n_u − 1 there ([`few`]).

use crate::audit::units::few;
use leakgauge_log::{UnitCell, UnitRows};
use leakgauge_stats::special::chi_squared_survival;

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
    /// Its share of the rows of a unit that was looked at: the tenth of these with the least has at most this.
    pub from: f64,
    /// The tenth with the most has at least this.
    pub to: f64,
}

/// Which units show it.
enum Sizes {
    /// Those where many rows of a secret with this share are expected.
    Large {
        share: f64,
    },
    Few,
}

/// The units with several secrets.
struct Units {
    /// Rows of each.
    rows: Vec<f64>,
    /// For each secret, the units that have it, with its rows there.
    of_secret: Vec<Vec<(usize, f64)>>,
}

/// The secret whose shares differ most between units that have others too, if they differ by more than chance.
pub(crate) fn uneven(rows: &UnitRows, secrets: usize) -> Option<Mix> {
    let units = Units::new(rows, secrets);
    let least_p = LEAST_P / (2 * secrets) as f64;
    let spreads = (0..secrets as u32).flat_map(|secret| {
        let large = units.spread(secret, least_p);
        let large = large.map(|(share, spread)| (spread, secret, Sizes::Large { share }));
        let small = few::spread(&units.few(secret), least_p);
        let small = small.map(|spread| (spread, secret, Sizes::Few));
        large.into_iter().chain(small)
    });
    let most = spreads.reduce(|best, next| if next.0 > best.0 { next } else { best });
    let (_, secret, sizes) = most.filter(|most| most.0 >= SPREAD)?;
    let mut shares = match sizes {
        Sizes::Large { share } => units.shares(secret, share),
        Sizes::Few => {
            let few = units.few(secret);
            few.iter()
                .map(|unit| unit.x as f64 / unit.rows as f64)
                .collect()
        }
    };
    shares.sort_by(f64::total_cmp);
    let tenth = shares.len() / 10;
    Some(Mix {
        secret,
        from: shares[tenth],
        to: shares[shares.len() - 1 - tenth],
    })
}

impl Units {
    fn new(rows: &UnitRows, secrets: usize) -> Self {
        let mut units = Units {
            rows: Vec::new(),
            of_secret: vec![Vec::new(); secrets],
        };
        let all = rows.units().map(rows_of_secrets);
        for of_unit in all.filter(|of_unit| of_unit.len() > 1) {
            for &(secret, rows) in &of_unit {
                units.of_secret[secret as usize].push((units.rows.len(), rows as f64));
            }
            units
                .rows
                .push(of_unit.iter().map(|one| one.1).sum::<u64>() as f64);
        }
        units
    }

    /// Rows from which on a unit is looked at, for a secret with this share.
    fn least_rows(share: f64) -> f64 {
        EXPECTED / share.min(1.0 - share)
    }

    /// The share of a secret in all rows, and the standard deviation of its shares between units as a part of it, where
    /// they differ by more than chance.
    fn spread(&self, secret: u32, least_p: f64) -> Option<(f64, f64)> {
        let of_secret = &self.of_secret[secret as usize];
        let share = of_secret.iter().map(|one| one.1).sum::<f64>() / self.rows.iter().sum::<f64>();
        let of_row = share * (1.0 - share);
        if of_row.is_nan() || of_row <= 0.0 {
            return None;
        }
        let least = Self::least_rows(share);
        let looked_at = || self.rows.iter().filter(|rows| **rows >= least);
        let free = looked_at().count() as f64 - 1.0;
        if free < 1.0 {
            return None;
        }
        // As if no unit had the secret, and what those that have it add to that.
        let without: f64 = looked_at().map(|rows| rows * share * share).sum();
        let added = of_secret
            .iter()
            .map(|&(at, of_secret)| (self.rows[at], of_secret));
        let added = added.filter(|one| one.0 >= least);
        let added: f64 = added.map(|(rows, x)| x * (x / rows - 2.0 * share)).sum();
        let statistic = (without + added) / of_row;
        if statistic <= free || chi_squared_survival(statistic, free) > least_p {
            return None;
        }
        let more: f64 = looked_at().map(|rows| rows - 1.0).sum();
        let spread = ((statistic - free) * of_row / more).sqrt();
        Some((share, spread / share.min(1.0 - share)))
    }

    /// The shares of a secret in the units that are looked at.
    fn shares(&self, secret: u32, share: f64) -> Vec<f64> {
        let least = Self::least_rows(share);
        let mut shares = vec![0.0; self.rows.len()];
        for &(at, of_secret) in &self.of_secret[secret as usize] {
            shares[at] = of_secret / self.rows[at];
        }
        let both = shares.into_iter().zip(&self.rows);
        both.filter(|one| *one.1 >= least)
            .map(|one| one.0)
            .collect()
    }

    /// The units of few rows that have a secret and another one.
    fn few(&self, secret: u32) -> Vec<few::Unit> {
        let with = self.of_secret[secret as usize].iter();
        let units = with.map(|&(at, x)| few::Unit {
            rows: self.rows[at] as u32,
            x: x as u32,
        });
        units.filter(|unit| few::is_looked_at(unit.rows)).collect()
    }
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

    /// Three of one and one of the other, or the reverse: a random row tells its unit, and so the secret, at 0.5.
    #[test]
    fn small_units_that_differ_are_seen() {
        let cells = (0..400u32).flat_map(|unit| {
            (0..4u32).map(move |row| UnitCell {
                unit,
                symbol: row % 3,
                secret: if row == 0 { 1 - unit % 2 } else { unit % 2 },
                count: 1,
            })
        });
        let found = uneven(&UnitRows::new(cells.collect()), 2).expect("uneven");
        assert_eq!([found.from, found.to], [0.25, 0.75], "{found:?}");
    }

    /// Too many rows to be few, and too few of one secret to be many.
    #[test]
    fn units_of_any_size_are_looked_at() {
        let cells = (0..400u32).flat_map(|unit| {
            let rare = if unit % 2 == 0 { 2 } else { 10 };
            let cell = move |row: u32| UnitCell {
                unit,
                symbol: unit % 2,
                secret: u32::from(row >= rare),
                count: 1,
            };
            (0..80u32).map(cell)
        });
        assert!(uneven(&UnitRows::new(cells.collect()), 2).is_some());
    }

    /// Pairs of rows have no share of their own.
    #[test]
    fn the_shares_that_are_named_are_of_units_that_are_looked_at() {
        let cells = (0..3_400u32).flat_map(|unit| {
            let rows = if unit < 3_000 { 2 } else { 4 };
            let cell = move |row: u32| UnitCell {
                unit,
                symbol: row % 3,
                secret: if row == 0 { 1 - unit % 2 } else { unit % 2 },
                count: 1,
            };
            (0..rows).map(cell)
        });
        let found = uneven(&UnitRows::new(cells.collect()), 2).expect("uneven");
        assert_eq!([found.from, found.to], [0.25, 0.75], "{found:?}");
    }

    /// Two rows of each secret in every unit, or one of each of four.
    #[test]
    fn small_units_by_design_are_even() {
        for secrets in [2, 4u32] {
            let cells = (0..400u32).flat_map(|unit| {
                (0..4u32).map(move |row| UnitCell {
                    unit,
                    symbol: row % 3,
                    secret: row % secrets,
                    count: 1,
                })
            });
            assert_eq!(
                uneven(&UnitRows::new(cells.collect()), secrets as usize),
                None
            );
        }
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
