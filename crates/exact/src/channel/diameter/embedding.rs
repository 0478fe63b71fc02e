//! The isometry of L1 into L∞: one component for every choice of signs.

use crate::extreme::Extreme;
use leakgauge_base::parallel;
use rayon::prelude::*;

use crate::channel::diameter::Found;
use crate::channel::diameter::pairs;
use crate::channel::diameter::reduced::Reduced;

/// log₂ of the number of components in a chunk; within a chunk they are visited by changing one sign at a time.
const LOW_SIGNS: usize = 6;
/// Tolerance for rounding, as a share of the mass of a row.
const SLACK: f64 = 1e-11;

/// Searches all pairs of reduced rows.
///
/// φ(x)_b = Σ_o ±x_o with the signs of b, the first always plus. The diameter in L∞ is the largest
/// difference between the largest and the least value of a component. Few rows attain it up to
/// rounding; their distances are then compared exactly.
pub fn search(reduced: &Reduced) -> Found {
    let columns = Columns::new(reduced);
    let spans: Vec<Span> = columns.map(|_, span, _| span);
    let diameter = spans.iter().map(Span::width).fold(0.0, f64::at_least);
    let near = diameter - SLACK * reduced.mass;
    let chunks = spans.chunks(columns.low());
    let interesting: Vec<bool> = chunks
        .map(|chunk| chunk.iter().any(|span| span.width() >= near))
        .collect();
    let reaching = columns.extreme_rows(&interesting, near);
    let rows: Vec<usize> = (0..reduced.rows).filter(|&row| reaching[row]).collect();
    let (best, work) = pairs::among(reduced, &rows);
    Found {
        pair: best.first().unwrap_or((0, 1)),
        work,
    }
}

/// The smallest and the largest value of a component.
#[derive(Debug, Clone, Copy)]
struct Span {
    least: f64,
    most: f64,
}

impl Span {
    fn of(values: &[f64]) -> Span {
        const LANES: usize = 8;
        let mut least = [f64::INFINITY; LANES];
        let mut most = [f64::NEG_INFINITY; LANES];
        for values in values.chunks(LANES) {
            for (lane, &x) in values.iter().enumerate() {
                least[lane] = if x < least[lane] { x } else { least[lane] };
                most[lane] = if x > most[lane] { x } else { most[lane] };
            }
        }
        Span {
            least: least.into_iter().fold(f64::INFINITY, f64::at_most),
            most: most.into_iter().fold(f64::NEG_INFINITY, f64::at_least),
        }
    }

    fn width(&self) -> f64 {
        self.most - self.least
    }
}

/// The reduced rows column by column.
struct Columns {
    values: Vec<f64>,
    rows: usize,
    width: usize,
}

impl Columns {
    fn new(reduced: &Reduced) -> Self {
        let (rows, width) = (reduced.rows, reduced.width);
        let mut values = vec![0.0; rows * width];
        for row in 0..rows {
            for (o, p) in reduced.row(row).iter().enumerate() {
                values[o * rows + row] = *p;
            }
        }
        Columns {
            values,
            rows,
            width,
        }
    }

    /// Components of one chunk.
    fn low(&self) -> usize {
        1 << LOW_SIGNS.min(self.width - 1)
    }

    fn chunks(&self) -> usize {
        (1usize << (self.width - 1)) / self.low()
    }

    /// Visits every component of a chunk with the values of all rows.
    fn visit(&self, chunk: usize, mut see: impl FnMut(&[f64])) {
        let low = self.low();
        // The value of bit k is the sign of column k + 1; chunks start at code 0 of their low bits.
        let mut signs = chunk * low;
        let mut values = vec![0.0; self.rows];
        for o in 0..self.width {
            let sign = if o > 0 && signs >> (o - 1) & 1 == 1 {
                -1.0
            } else {
                1.0
            };
            self.add(o, sign, &mut values);
        }
        see(&values);
        for code in 1..low {
            // Gray code: one sign changes from each component to the next.
            let bit = code.trailing_zeros() as usize;
            signs ^= 1 << bit;
            let sign = if signs >> bit & 1 == 1 { -2.0 } else { 2.0 };
            self.add(bit + 1, sign, &mut values);
            see(&values);
        }
    }

    fn add(&self, column: usize, factor: f64, values: &mut [f64]) {
        let column = &self.values[column * self.rows..(column + 1) * self.rows];
        for (value, p) in values.iter_mut().zip(column) {
            *value += factor * p;
        }
    }

    fn map<T: Send>(&self, f: impl Fn(usize, Span, &[f64]) -> T + Sync) -> Vec<T> {
        let chunks: Vec<Vec<T>> = parallel::map(self.chunks(), |chunk| {
            let mut found = Vec::with_capacity(self.low());
            self.visit(chunk, |values| {
                found.push(f(chunk, Span::of(values), values));
            });
            found
        });
        chunks.into_iter().flatten().collect()
    }

    /// The rows that are extreme in a component at least this wide.
    fn extreme_rows(&self, chunks: &[bool], near: f64) -> Vec<bool> {
        let none = || vec![false; self.rows];
        (0..self.chunks())
            .into_par_iter()
            .filter(|&chunk| chunks[chunk])
            .fold(none, |mut extreme, chunk| {
                self.visit(chunk, |values| {
                    let span = Span::of(values);
                    if span.width() < near {
                        return;
                    }
                    for (extreme, x) in extreme.iter_mut().zip(values) {
                        *extreme |= x - span.least >= near || span.most - x >= near;
                    }
                });
                extreme
            })
            .reduce(none, |mut a, b| {
                a.iter_mut().zip(b).for_each(|(a, b)| *a |= b);
                a
            })
    }
}
