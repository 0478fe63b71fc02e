//! Rows without the mass that all of them share.

use crate::channel::Channel;
use crate::extreme::Extreme;
use leakgauge_base::parallel;

/// The number of entries compared between two checks of the limit.
pub const BLOCK: usize = 64;
/// The number of independent sums of the kernel, which fill a few vector registers.
const LANES: usize = 8;

/// The order in which columns are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// As given.
    Given,
    /// Every block takes columns from the whole width, so that a pair that overlaps anywhere shows overlap in the
    /// first block.
    Strided,
}

/// The rows minus the minimum of every column, without the columns that are equal for all secrets.
///
/// Σ min(p, q) = Σ min_s C + Σ min(p', q'), so pairs are ordered by the overlap of the reduced rows;
/// that overlap is accurate even if all rows are nearly equal.
pub struct Reduced {
    pub values: Vec<f64>,
    pub rows: usize,
    pub width: usize,
    /// The largest sum of a reduced row: an upper bound on the distance of two rows.
    pub mass: f64,
    /// The smallest sum of a reduced row; equal to `mass` up to the tolerance for sums.
    pub least_mass: f64,
    /// The largest entry of each column.
    pub ranges: Vec<f64>,
}

impl Reduced {
    /// Reduces some rows of a channel.
    pub fn new(channel: &Channel, rows: &[usize], order: Order) -> Self {
        let (least, most) = column_ranges(channel, rows);
        let varying: Vec<usize> = (0..least.len()).filter(|&o| most[o] > least[o]).collect();
        let columns = match order {
            Order::Given => varying,
            Order::Strided => strided(&varying),
        };
        let width = columns.len();
        let mut values = vec![0.0; rows.len() * width];
        if width > 0 {
            parallel::for_each_row(&mut values, width, &|at, reduced| {
                let row = channel.row(rows[at]);
                for (value, &o) in reduced.iter_mut().zip(&columns) {
                    *value = row[o] - least[o];
                }
            });
        }
        let sums: Vec<f64> = values
            .chunks(width.max(1))
            .map(|row| row.iter().sum())
            .collect();
        Reduced {
            mass: sums.iter().copied().fold(0.0, f64::at_least),
            least_mass: sums.iter().copied().fold(f64::INFINITY, f64::at_most),
            rows: rows.len(),
            width,
            ranges: columns.iter().map(|&o| most[o] - least[o]).collect(),
            values,
        }
    }

    /// A reduced row.
    pub fn row(&self, number: usize) -> &[f64] {
        &self.values[number * self.width..(number + 1) * self.width]
    }

    /// The overlap of two rows, or the partial sum that exceeded the limit, and the number of entries read.
    pub fn overlap(&self, a: usize, b: usize, limit: f64) -> (f64, usize) {
        overlap_until(self.row(a), self.row(b), limit)
    }
}

/// The sum of minima, block by block; stops once it exceeds the limit.
fn overlap_until(p: &[f64], q: &[f64], limit: f64) -> (f64, usize) {
    let mut sum = 0.0;
    let mut seen = 0;
    for (p, q) in p.chunks(BLOCK).zip(q.chunks(BLOCK)) {
        sum += block(p, q);
        seen += p.len();
        if sum > limit {
            break;
        }
    }
    (sum, seen)
}

#[inline]
fn block(p: &[f64], q: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let (p_lanes, q_lanes) = (p.chunks_exact(LANES), q.chunks_exact(LANES));
    let tail: f64 = p_lanes
        .remainder()
        .iter()
        .zip(q_lanes.remainder())
        .map(|(&p, &q)| if p < q { p } else { q })
        .sum();
    for (p, q) in p_lanes.zip(q_lanes) {
        for lane in 0..LANES {
            sums[lane] += if p[lane] < q[lane] { p[lane] } else { q[lane] };
        }
    }
    let [a, b, c, d, e, f, g, h] = sums;
    ((a + e) + (b + f)) + ((c + g) + (d + h)) + tail
}

fn strided(columns: &[usize]) -> Vec<usize> {
    let blocks = columns.len().div_ceil(BLOCK).max(1);
    (0..blocks)
        .flat_map(|from| columns.iter().skip(from).step_by(blocks).copied())
        .collect()
}

/// The smallest and the largest entry of every column.
fn column_ranges(channel: &Channel, rows: &[usize]) -> (Vec<f64>, Vec<f64>) {
    let mut least = channel.row(rows[0]).to_vec();
    let mut most = least.clone();
    for &row in &rows[1..] {
        for ((least, most), &p) in least.iter_mut().zip(&mut most).zip(channel.row(row)) {
            *least = if p < *least { p } else { *least };
            *most = if p > *most { p } else { *most };
        }
    }
    (least, most)
}
