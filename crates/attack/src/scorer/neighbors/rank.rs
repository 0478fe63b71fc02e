//! How many neighbors.

use std::fmt;

/// How the number of neighbors grows with the number of fit rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rank {
    /// The same k for every secret.
    Fixed(usize),
    /// k = c·√n, at least 1.
    RootTimes(f64),
    /// k = c·ln n, at least 1.
    LogTimes(f64),
}

impl fmt::Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rank::Fixed(k) => write!(f, "{k}"),
            Rank::RootTimes(c) => write!(f, "{c} √n"),
            Rank::LogTimes(c) => write!(f, "{c} ln n"),
        }
    }
}

impl Rank {
    /// The k for a secret (within a category) of so many fit rows.
    pub fn neighbors(self, rows: usize) -> usize {
        let k = match self {
            Rank::Fixed(k) => k,
            Rank::RootTimes(c) => (c * (rows as f64).sqrt()).round() as usize,
            Rank::LogTimes(c) => (c * (rows.max(1) as f64).ln()).round() as usize,
        };
        k.clamp(1, rows.max(1))
    }
}
