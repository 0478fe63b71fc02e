//! Pairs of secrets of shuffled mechanisms whose histograms are too many to list.

use super::{Batch, Users};

/// Decoy probabilities of merged observations differ by less than this, relatively: they are sums of the same numbers.
const SAME: f64 = 1e-13;
/// The most pairs of secrets times observations that are compared.
const MAX_COMPARED: usize = 20_000_000;
/// The most pairs of secrets with different histograms, and the most entries of all their tables.
const MAX_DIFFERENT: usize = 64;
const MAX_CELLS: f64 = 2e7;

/// Observations y with equal R_a(y), R_b(y) and Q(y): these, and the deviations of the first two from what all secrets
/// share.
#[derive(Debug, Clone, Copy)]
struct Merged {
    each: [f64; 5],
    count: usize,
}

impl Merged {
    fn of(&self, at: usize) -> f64 {
        self.each[at] * self.count as f64
    }

    fn is_like(&self, other: &[f64; 5]) -> bool {
        self.each[..2] == other[..2] && (self.each[2] - other[2]).abs() <= SAME * other[2]
    }
}

/// For each pair of secrets the table of its own: the histograms of observations that are merged where they do not
/// separate the two secrets.
///
/// # Formula
/// P(h | s) = P_Q(h)·Σ_y h_y·R_s(y)/(n·Q(y)), Q the distribution of another user's observation. The likelihood ratio of
/// two secrets depends on a histogram only through the counts of observations with different (R_a/Q, R_b/Q): those with
/// equal ones are counted together, and no figure of the pair changes.
#[derive(Debug)]
pub(super) struct PairTables {
    secrets: usize,
    /// The number of the table of each pair (a < b).
    numbers: Vec<u8>,
    tables: Vec<Batch>,
}

impl PairTables {
    /// `None` if there are too many pairs, too many of them differ, or histograms are too many even so.
    pub(super) fn new(all: &Users, secrets: usize) -> Option<PairTables> {
        let (decoys, users) = (&all.decoys, all.count);
        let pairs = secrets.checked_mul(secrets)?.checked_mul(decoys.len())?;
        if secrets < 2 || pairs > MAX_COMPARED {
            return None;
        }
        let mut different: Vec<Vec<Merged>> = Vec::new();
        let mut numbers = Vec::with_capacity(secrets * (secrets - 1) / 2);
        for a in 0..secrets {
            for b in a + 1..secrets {
                let merged = merge(all, a, b);
                let known = different.iter().position(|seen| alike(seen, &merged));
                let number = known.unwrap_or(different.len());
                if known.is_none() {
                    different.push(merged);
                }
                if different.len() > MAX_DIFFERENT {
                    return None;
                }
                numbers.push(number as u8);
            }
        }
        let cells = different.iter().map(|merged| {
            let kinds = merged.len();
            2.0 * (1..kinds).fold(1.0, |all, i| all * (users as f64 + i as f64) / i as f64)
        });
        if cells.sum::<f64>() > MAX_CELLS {
            return None;
        }
        let tables = different.iter().map(|merged| {
            let column = |at: usize| -> Vec<f64> { merged.iter().map(|m| m.of(at)).collect() };
            let merged = Users {
                rows: vec![column(0), column(1)],
                deviations: vec![column(3), column(4)],
                decoys: column(2),
                count: users,
            };
            Batch::new(&merged, 2)
        });
        Some(PairTables {
            secrets,
            numbers,
            tables: tables.collect::<Option<Vec<_>>>()?,
        })
    }

    /// The table of two different secrets, and whether its first row is that of the second.
    pub(super) fn of(&self, a: usize, b: usize) -> (&Batch, bool) {
        let (low, high) = (a.min(b), a.max(b));
        // Pairs with a smaller first secret come before.
        let before = low * (2 * self.secrets - low - 1) / 2;
        let number = self.numbers[before + high - low - 1];
        (&self.tables[usize::from(number)], a > b)
    }

    pub(super) fn all(&self) -> &[Batch] {
        &self.tables
    }
}

fn merge(all: &Users, a: usize, b: usize) -> Vec<Merged> {
    let (rows, deviations) = (&all.rows, &all.deviations);
    let cell = |y: usize| {
        let own = [rows[a][y], rows[b][y], all.decoys[y]];
        [own[0], own[1], own[2], deviations[a][y], deviations[b][y]]
    };
    let mut cells: Vec<[f64; 5]> = (0..all.decoys.len()).map(cell).collect();
    cells.sort_by(|x, y| {
        let by = |at: usize| x[at].total_cmp(&y[at]);
        by(0).then(by(1)).then(by(2))
    });
    let mut merged: Vec<Merged> = Vec::new();
    for each in cells {
        match merged.last_mut().filter(|last| last.is_like(&each)) {
            Some(last) => last.count += 1,
            None => merged.push(Merged { each, count: 1 }),
        }
    }
    merged
}

fn alike(one: &[Merged], other: &[Merged]) -> bool {
    one.len() == other.len()
        && one
            .iter()
            .zip(other)
            .all(|(x, y)| x.count == y.count && x.is_like(&y.each))
}
