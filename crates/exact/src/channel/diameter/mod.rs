//! The worst pair of secrets: the diameter of the rows in L1.
//!
//! Bayes security is 1 − max tv over all pairs of rows (Theorem 2), so it is a diameter problem. Three
//! algorithms find the same pair:
//!
//! * **direct**: every pair, O(n²m), stopping within a pair as soon as it cannot be the worst;
//! * **embedding**: an isometry into L∞ of dimension 2^(m−1), where a diameter takes one pass over
//!   the rows, O(n·2^m): for many secrets and few observations;
//! * **pruned**: pairs are discarded by the triangle inequality through a center and a few pivots,
//!   then by a sketch of one byte per entry with a known error; the remaining pairs are computed exactly.
//!
//! All return the same pair with any number of threads: among pairs that are equal up to rounding, the first in
//! the order of rows.
//!
//! # References
//! Bayes Security, section VII (direct, embedding, triangle inequality), Proposition 5.

use crate::extreme::Extreme;
use std::collections::HashMap;

use serde::Serialize;

use crate::channel::Channel;
use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::setting;

mod embedding;
mod frontier;
mod pairs;
mod pruned;
mod reduced;
mod sketch;
#[cfg(test)]
mod tests;

use frontier::Frontier;
use reduced::Reduced;

/// The algorithm that finds the worst pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SearchMethod {
    /// The fastest algorithm for the numbers of secrets and observations.
    #[default]
    Auto,
    /// Compares every pair.
    Direct,
    /// The isometry into L∞.
    Embedding,
    /// Discards pairs that cannot be the worst before comparing them.
    Pruned,
}

/// Counts of the work of a search. They do not depend on the number of threads.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Search {
    /// The method that was used.
    pub method: SearchMethod,
    /// The number of rows that differ from every earlier row. Only these are searched (`direct`: all rows).
    pub distinct_rows: u64,
    /// The number of pairs of secrets.
    pub pairs: u64,
    /// The number of pairs compared by their sketches.
    pub pairs_sketched: u64,
    /// The number of pairs whose distance was computed at least in part.
    pub pairs_evaluated: u64,
    /// The number of pairs whose distance was computed completely.
    pub pairs_evaluated_in_full: u64,
    /// The share of all entries of all pairs that was read.
    pub share_of_entries: f64,
}

/// The worst pair of a channel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Diameter {
    /// The two secrets, the earlier row first.
    pub pair: (usize, usize),
    /// Bayes security β* of the channel, which is that of the pair.
    pub bayes_security: f64,
    /// Total variation between their rows.
    pub total_variation: f64,
    /// Counts of the work done.
    pub search: Search,
}

/// The largest number of observations for the embedding, which then has 2^23 components.
const MAX_EMBEDDED: usize = 24;

/// Finds the two secrets that are easiest to tell apart.
///
/// # Formula
/// β*(C) = min over a ≠ b of Σ_o min(C\[a,o\], C\[b,o\]) = 1 − max tv(a, b).
///
/// # Errors
/// The embedding is requested for more than 24 observations that depend on the secret.
///
/// # References
/// Bayes Security, Theorems 1 and 2, section VII.
pub fn diameter(channel: &Channel, method: SearchMethod) -> Result<Diameter> {
    if method == SearchMethod::Direct {
        let all: Vec<usize> = (0..channel.secrets().len()).collect();
        return Ok(direct(channel, &all));
    }
    let distinct = distinct_rows(channel);
    if distinct.len() < 2 {
        let found = Found::identical_rows();
        return Ok(finish(channel, method, &distinct, found));
    }
    let width = varying_columns(channel, &distinct);
    let method = match method {
        SearchMethod::Auto => choose(distinct.len(), width),
        asked => asked,
    };
    if method == SearchMethod::Embedding && width > MAX_EMBEDDED {
        return Err(Error::setting(
            "method",
            "embedding",
            format!("takes at most {MAX_EMBEDDED} observations that depend on the secret"),
        )
        .with_hint(format!("use {}", setting("method", "pruned"))));
    }
    let found = match method {
        SearchMethod::Embedding => {
            embedding::search(&Reduced::new(channel, &distinct, reduced::Order::Given))
        }
        SearchMethod::Pruned => pruned::search(channel, &distinct),
        _ => return Ok(direct(channel, &distinct)),
    };
    Ok(finish(channel, method, &distinct, found))
}

fn direct(channel: &Channel, rows: &[usize]) -> Diameter {
    let found = pairs::all(&Reduced::new(channel, rows, reduced::Order::Given));
    finish(channel, SearchMethod::Direct, rows, found)
}

/// The fastest algorithm for this many distinct rows and varying columns.
///
/// A component of the embedding costs about a twentieth of a pair; each row has 2^(m−1) components and takes part
/// in n/2 pairs. Preparing to prune costs as much as comparing each row with about thirty other rows.
fn choose(rows: usize, width: usize) -> SearchMethod {
    const FEW_ROWS: usize = 600;
    if width <= 20 && 1usize << width < 4 * rows {
        SearchMethod::Embedding
    } else if rows <= FEW_ROWS {
        SearchMethod::Direct
    } else {
        SearchMethod::Pruned
    }
}

/// The result of a search among the rows it was given.
struct Found {
    /// The first of the worst pairs, as positions among those rows.
    pair: (usize, usize),
    work: Work,
}

impl Found {
    fn identical_rows() -> Self {
        Found {
            pair: (0, 1),
            work: Work::default(),
        }
    }
}

/// Counts of what was done.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Work {
    sketched: u64,
    begun: u64,
    full: u64,
    entries: u64,
}

impl Work {
    fn add(&mut self, other: Work) {
        self.sketched += other.sketched;
        self.begun += other.begun;
        self.full += other.full;
        self.entries += other.entries;
    }
}

fn finish(channel: &Channel, method: SearchMethod, rows: &[usize], found: Found) -> Diameter {
    let n = channel.secrets().len() as u64;
    let pairs = n * (n - 1) / 2;
    let pair = if rows.len() < 2 {
        found.pair
    } else {
        (rows[found.pair.0], rows[found.pair.1])
    };
    let entries = pairs as f64 * channel.observations().len() as f64;
    Diameter {
        pair,
        bayes_security: channel.pair_bayes_security(pair.0, pair.1).at_most(1.0),
        total_variation: channel.total_variation(pair.0, pair.1).at_most(1.0),
        search: Search {
            method,
            distinct_rows: rows.len() as u64,
            pairs,
            pairs_sketched: found.work.sketched,
            pairs_evaluated: found.work.begun,
            pairs_evaluated_in_full: found.work.full,
            share_of_entries: found.work.entries as f64 / entries,
        },
    }
}

/// The first of each set of equal rows. The first worst pair is among them: replacing a row by an
/// earlier equal one changes no distance.
fn distinct_rows(channel: &Channel) -> Vec<usize> {
    let mut seen: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut distinct = Vec::new();
    for (number, row) in channel.rows().enumerate() {
        let same = seen.entry(fingerprint(row)).or_default();
        if same.iter().all(|&other| channel.row(other) != row) {
            same.push(number);
            distinct.push(number);
        }
    }
    distinct
}

fn fingerprint(row: &[f64]) -> u64 {
    const LANES: usize = 4;
    // Adding 0 makes one zero of both.
    let mix = |hash: u64, p: f64| {
        let mixed = (hash ^ (p + 0.0).to_bits()).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed.rotate_left(29)
    };
    let (lanes, rest) = row.as_chunks::<LANES>();
    let mut hashes = [1, 2, 3, 4];
    for lane in lanes {
        for (hash, &p) in hashes.iter_mut().zip(lane) {
            *hash = mix(*hash, p);
        }
    }
    let folded = hashes.into_iter().fold(5u64, |all, hash| {
        (all ^ hash)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(29)
    });
    rest.iter().fold(folded, |hash, &p| mix(hash, p))
}

/// The number of columns that are not the same for all secrets, counted only up to the limit of the embedding.
fn varying_columns(channel: &Channel, rows: &[usize]) -> usize {
    let first = channel.row(rows[0]);
    let mut varies = vec![false; first.len()];
    let mut count = 0;
    for &row in &rows[1..] {
        for ((varies, p), q) in varies.iter_mut().zip(channel.row(row)).zip(first) {
            if !*varies && p != q {
                *varies = true;
                count += 1;
            }
        }
        if count > MAX_EMBEDDED {
            break;
        }
    }
    count
}
