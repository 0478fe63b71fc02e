//! Pairs of distributions with finitely many likelihood ratios.

use libm::{exp, expm1, log, log1p};

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
    /// ln p/q, ±∞ where one of them is 0; finite where one of them only underflows.
    pub loss: f64,
}

impl Cell {
    /// A cell from its masses.
    pub fn new(p: f64, q: f64) -> Self {
        Cell::of(p, q, p - q)
    }

    /// A cell whose masses differ by `difference`, which has more digits than theirs.
    pub fn of(p: f64, q: f64, difference: f64) -> Self {
        let above = difference / q;
        let loss = if above.abs() < 0.5 {
            log1p(above)
        } else {
            log(p) - log(q)
        };
        Cell {
            p,
            q,
            difference,
            loss,
        }
    }

    /// A cell whose logarithm of p/q is known with more digits than the masses have.
    pub fn with_loss(p: f64, q: f64, loss: f64) -> Self {
        let difference = if loss >= 0.0 {
            -p * expm1(-loss)
        } else {
            q * expm1(loss)
        };
        Cell {
            p,
            q,
            difference,
            loss,
        }
    }

    /// The cell of the pair in the other order.
    pub fn swapped(self) -> Self {
        Cell {
            p: self.q,
            q: self.p,
            difference: -self.difference,
            loss: -self.loss,
        }
    }

    /// ln q, also where q underflows.
    fn log_q(&self) -> f64 {
        if self.q > f64::MIN_POSITIVE {
            log(self.q)
        } else {
            log(self.p) - self.loss
        }
    }
}

/// All cells of a pair.
pub(crate) struct Cells<'a>(pub(crate) &'a [Cell]);

impl Cells<'_> {
    fn possible(&self) -> impl Iterator<Item = &Cell> {
        self.0.iter().filter(|cell| cell.p > 0.0 || cell.q > 0.0)
    }

    /// δ(ε), Σ p·(1 − e^(ε − L))⁺ over the losses L.
    pub(crate) fn delta(&self, epsilon: f64) -> f64 {
        let beyond = self.possible().filter(|cell| cell.loss > epsilon);
        let each = beyond.map(|cell| -cell.p * expm1(epsilon - cell.loss));
        // The sum of no terms is −0.
        (each.sum::<f64>() + 0.0).min(1.0)
    }

    /// Σ min(p, q), without cancellation.
    pub(crate) fn bayes_security(&self) -> f64 {
        self.possible()
            .map(|cell| cell.p.min(cell.q))
            .sum::<f64>()
            .min(1.0)
    }

    pub(super) fn largest_loss(&self) -> f64 {
        let losses = self.possible().map(|cell| cell.loss);
        losses.fold(0.0, f64::max)
    }

    pub(super) fn renyi_divergence(&self, order: f64) -> f64 {
        let most = self.largest_loss();
        if most == f64::INFINITY {
            return f64::INFINITY;
        }
        if (order - 1.0) * most > 300.0 {
            let common = self
                .possible()
                .filter(|cell| cell.p > 0.0 && cell.loss > f64::NEG_INFINITY);
            let logs: Vec<f64> = common.map(|c| c.log_q() + order * c.loss).collect();
            let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = logs.iter().map(|x| exp(x - largest)).sum();
            return (largest + log(sum)) / (order - 1.0);
        }
        let cells = self
            .possible()
            .filter(|cell| cell.q > 0.0 || cell.loss.is_finite());
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
        cells.sort_by(|x, y| y.loss.total_cmp(&x.loss));
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
