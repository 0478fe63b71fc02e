//! The counts of each secret, and those of any two side by side.

use crate::measure::minimax_tv::{SparsePair, effective_rows, total_variation};
use leakgauge_log::observations::Counts;
use leakgauge_stats::event_upper::likelier;
use leakgauge_stats::two_binomials::Share;

/// Where at least one count in so many is not 0, a table of all counts is read faster than lists of those that are
/// not 0 are merged, and it is not much larger.
const DENSE: usize = 4;

/// The counts of each secret, observation by observation.
#[derive(Debug, Clone)]
pub struct BySecret {
    rows: Vec<u64>,
    counts: Stored,
}

#[derive(Debug, Clone)]
enum Stored {
    /// For each secret, its observations in ascending order, with their rows.
    Lists(Vec<Vec<(u32, u64)>>),
    /// One count for each secret and observation, secret by secret.
    Table { width: usize, counts: Vec<u32> },
}

impl BySecret {
    /// Sorts the cells of a log by secret.
    pub fn new(counts: &Counts) -> Self {
        BySecret {
            rows: counts.rows().to_vec(),
            counts: table(counts).unwrap_or_else(|| Stored::Lists(lists(counts))),
        }
    }

    /// The number of secrets.
    pub fn secrets(&self) -> usize {
        self.rows.len()
    }

    /// The rows of every secret.
    pub fn all_rows(&self) -> &[u64] {
        &self.rows
    }

    /// The rows of two secrets.
    pub fn rows(&self, [a, b]: [u32; 2]) -> [u64; 2] {
        [a, b].map(|secret| self.rows[secret as usize])
    }

    /// The rows of two secrets at each observation that either has.
    pub fn cells(&self, [a, b]: [u32; 2]) -> Vec<(u64, u64)> {
        let (a, b) = (a as usize, b as usize);
        match &self.counts {
            Stored::Lists(lists) => Merge::new(&lists[a], &lists[b]).collect(),
            Stored::Table { width, counts } => beside(counts, *width, a, b)
                .filter(|&cell| cell != (0, 0))
                .collect(),
        }
    }

    /// The shares of both in the event of their largest empirical difference, {x/n_a > y/n_b}.
    pub fn likelier(&self, pair: [u32; 2]) -> [Share; 2] {
        let (rows, [a, b]) = (self.rows(pair), pair.map(|secret| secret as usize));
        match &self.counts {
            Stored::Lists(lists) => likelier(rows, Merge::new(&lists[a], &lists[b])),
            Stored::Table { width, counts } => likelier(rows, beside(counts, *width, a, b)),
        }
    }

    /// Whether a pair has more distinct observations than rows of a secret, see [`SparsePair::is_sparse`]: told by
    /// counting alone.
    pub fn is_sparse(&self, pair: [u32; 2]) -> bool {
        let ([a_rows, b_rows], [a, b]) = (self.rows(pair), pair.map(|secret| secret as usize));
        let distinct = match &self.counts {
            Stored::Lists(lists) => Merge::new(&lists[a], &lists[b]).count(),
            Stored::Table { width, counts } => {
                let both = beside(counts, *width, a, b);
                both.map(|(x, y)| usize::from(x | y != 0)).sum()
            }
        };
        distinct as f64 >= effective_rows(a_rows, b_rows)
    }

    /// See [`total_variation`].
    pub fn sparse(&self, pair: [u32; 2]) -> SparsePair {
        let ([a_rows, b_rows], [a, b]) = (self.rows(pair), pair.map(|secret| secret as usize));
        match &self.counts {
            Stored::Lists(lists) => {
                total_variation(a_rows, b_rows, Merge::new(&lists[a], &lists[b]))
            }
            Stored::Table { width, counts } => {
                total_variation(a_rows, b_rows, beside(counts, *width, a, b))
            }
        }
    }
}

fn lists(counts: &Counts) -> Vec<Vec<(u32, u64)>> {
    let mut lists = vec![Vec::new(); counts.secrets()];
    for cell in counts.cells() {
        lists[cell.secret as usize].push((cell.symbol, cell.count));
    }
    lists
}

/// The table, where it pays and where the counts fit.
fn table(counts: &Counts) -> Option<Stored> {
    let cells = counts.cells();
    let width = cells.last()?.symbol as usize + 1;
    let size = width.checked_mul(counts.secrets())?;
    if size / DENSE > cells.len() {
        return None;
    }
    let mut table = vec![0u32; size];
    for cell in cells {
        table[cell.secret as usize * width + cell.symbol as usize] =
            u32::try_from(cell.count).ok()?;
    }
    Some(Stored::Table {
        width,
        counts: table,
    })
}

/// Two lines of a table side by side.
fn beside(table: &[u32], width: usize, a: usize, b: usize) -> impl Iterator<Item = (u64, u64)> {
    let line = |secret: usize| &table[secret * width..(secret + 1) * width];
    let both = line(a).iter().zip(line(b));
    both.map(|(&x, &y)| (u64::from(x), u64::from(y)))
}

/// The counts of two secrets side by side.
struct Merge<'a> {
    a: &'a [(u32, u64)],
    b: &'a [(u32, u64)],
}

impl<'a> Merge<'a> {
    fn new(a: &'a [(u32, u64)], b: &'a [(u32, u64)]) -> Self {
        Merge { a, b }
    }
}

impl Iterator for Merge<'_> {
    type Item = (u64, u64);

    fn next(&mut self) -> Option<(u64, u64)> {
        let symbol = |cells: &[(u32, u64)]| cells.first().map(|&(symbol, _)| u64::from(symbol));
        let (of_a, of_b) = (symbol(self.a), symbol(self.b));
        let next = of_a.unwrap_or(u64::MAX).min(of_b.unwrap_or(u64::MAX));
        if next == u64::MAX {
            return None;
        }
        let take = |cells: &mut &[(u32, u64)], first: Option<u64>| {
            if first != Some(next) {
                return 0;
            }
            let count = cells[0].1;
            *cells = &cells[1..];
            count
        };
        Some((take(&mut self.a, of_a), take(&mut self.b, of_b)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_log::observations::Cell;

    fn cell(secret: u32, symbol: u32, count: u64) -> Cell {
        Cell {
            secret,
            symbol,
            count,
        }
    }

    #[test]
    fn pairs_of_a_log_are_merged_observation_by_observation() {
        let cells = vec![
            cell(0, 0, 30),
            cell(1, 0, 20),
            cell(2, 1, 7),
            cell(0, 2, 10),
            cell(1, 4, 20),
            cell(2, u32::MAX, 33),
        ];
        let log = BySecret::new(&Counts::new(3, cells));
        let all = [[0, 1], [0, 2], [1, 2]].map(|pair| log.sparse(pair));
        assert_eq!(
            all[0],
            total_variation(40, 40, [(30, 20), (10, 0), (0, 20)].into_iter())
        );
        assert_eq!(all[0].total_variation, Some(0.5));
        assert_eq!(all[1], log.sparse([0, 2]));
        assert_eq!((all[2].distinct, all[2].total_variation), (4, Some(1.0)));
        assert!(!all[2].is_sparse() && !log.is_sparse([1, 2]));
        let few = [cell(0, 0, 1), cell(1, 1, 2), cell(1, 2, 1)];
        assert!(BySecret::new(&Counts::new(2, few.to_vec())).is_sparse([0, 1]));
    }

    #[test]
    fn a_table_says_what_lists_say() {
        let cells = (0..4).flat_map(|secret| {
            let counts = (0..60u32).map(move |symbol| (symbol, (symbol * (secret + 3)) % 7));
            counts.map(move |(symbol, count)| cell(secret, symbol, u64::from(count)))
        });
        let counts = Counts::new(4, cells.filter(|cell| cell.count > 0).collect());
        let table = BySecret::new(&counts);
        assert!(matches!(table.counts, Stored::Table { .. }));
        let lists = BySecret {
            rows: counts.rows().to_vec(),
            counts: Stored::Lists(lists(&counts)),
        };
        for pair in [[0, 1], [1, 3], [2, 0]] {
            assert_eq!(table.cells(pair), lists.cells(pair));
            assert_eq!(table.likelier(pair), lists.likelier(pair));
            assert_eq!(table.sparse(pair), lists.sparse(pair));
            for counts in [&table, &lists] {
                assert_eq!(counts.is_sparse(pair), counts.sparse(pair).is_sparse());
            }
        }
    }
}
