//! Pairs of distributions with finitely many likelihood ratios.

use libm::{exp, log, log1p};

use super::excess;
use leakgauge_stats::special::normal_quantile;

/// The masses of P and Q at observations with one likelihood ratio.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    /// The mass of P.
    pub p: f64,
    /// The mass of Q.
    pub q: f64,
    /// p − q, where it is known with more digits.
    pub difference: f64,
}

impl Cell {
    /// A cell from its masses.
    pub fn new(p: f64, q: f64) -> Self {
        Cell {
            p,
            q,
            difference: p - q,
        }
    }

    /// The cell of the pair in the other order.
    pub fn swapped(self) -> Self {
        Cell {
            p: self.q,
            q: self.p,
            difference: -self.difference,
        }
    }

    /// ln p/q, ±∞ where one of them is 0.
    fn loss(&self) -> f64 {
        let above = self.difference / self.q;
        if above.abs() < 0.5 {
            log1p(above)
        } else {
            log(self.p) - log(self.q)
        }
    }
}

/// All cells of a pair.
pub(super) struct Cells<'a>(pub(super) &'a [Cell]);

impl Cells<'_> {
    fn possible(&self) -> impl Iterator<Item = &Cell> {
        self.0.iter().filter(|cell| cell.p > 0.0 || cell.q > 0.0)
    }

    pub(super) fn largest_loss(&self) -> f64 {
        let losses = self.possible().map(Cell::loss);
        losses.fold(0.0, f64::max)
    }

    pub(super) fn renyi_divergence(&self, order: f64) -> f64 {
        let most = self.largest_loss();
        if most == f64::INFINITY {
            return f64::INFINITY;
        }
        if order > 1.0 && order * most > 300.0 {
            let common = self.possible().filter(|cell| cell.p > 0.0 && cell.q > 0.0);
            let logs: Vec<f64> = common.map(|c| log(c.q) + order * c.loss()).collect();
            let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = logs.iter().map(|x| exp(x - largest)).sum();
            return (largest + log(sum)) / (order - 1.0);
        }
        let cells = self.possible().filter(|cell| cell.q > 0.0);
        let sum: f64 = cells.map(|cell| excess(cell, order)).sum();
        if order == 1.0 {
            sum
        } else {
            log1p(sum) / (order - 1.0)
        }
    }

    /// Cells by falling likelihood ratio.
    fn sorted(&self) -> Vec<Cell> {
        let mut cells: Vec<Cell> = self.possible().copied().collect();
        cells.sort_by(|x, y| y.loss().total_cmp(&x.loss()));
        cells
    }

    pub(super) fn reconstruction(&self, kappa: f64) -> f64 {
        let (mut above, mut left) = (0.0, kappa);
        for cell in self.sorted() {
            let share = if cell.q > left { left / cell.q } else { 1.0 };
            above += share * cell.difference;
            left -= share * cell.q;
            if share < 1.0 {
                break;
            }
        }
        (kappa - left.max(0.0) + above).clamp(0.0, 1.0)
    }

    pub(super) fn gaussian_mu(&self) -> f64 {
        let cells = self.sorted();
        let tails = |f: fn(&Cell) -> f64| -> Vec<f64> {
            let mut sum = 0.0;
            let mut tails: Vec<f64> = cells
                .iter()
                .rev()
                .map(|cell| {
                    sum += f(cell);
                    sum
                })
                .collect();
            tails.reverse();
            tails
        };
        let (p_left, q_left) = (tails(|cell| cell.p), tails(|cell| cell.q));
        let quantile = |below: f64, above: f64| {
            if below <= above {
                normal_quantile(below)
            } else {
                -normal_quantile(above)
            }
        };
        let (mut p, mut q, mut most) = (0.0, 0.0, 0.0f64);
        for (at, cell) in cells.iter().enumerate() {
            if at > 0 {
                if (q == 0.0 && p > 0.0) || (p_left[at] == 0.0 && q_left[at] > 0.0) {
                    return f64::INFINITY;
                }
                most = most.max(quantile(p, p_left[at]) - quantile(q, q_left[at]));
            }
            p += cell.p;
            q += cell.q;
        }
        most
    }
}
