//! Pairs of distributions with finitely many likelihood ratios.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use libm::{exp, expm1, log, log1p};

use super::search::integral_between;
use crate::extreme::Extreme;
use crate::hockey_stick::scaled_erfc;
use crate::powers::{entropy_excess, power_excess};
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
        (each.sum::<f64>() + 0.0).at_most(1.0)
    }

    /// Σ min(p, q), without cancellation.
    pub(crate) fn bayes_security(&self) -> f64 {
        self.possible()
            .map(|cell| cell.p.at_most(cell.q))
            .sum::<f64>()
            .at_most(1.0)
    }

    pub(crate) fn largest_loss(&self) -> f64 {
        let losses = self.possible().map(|cell| cell.loss);
        losses.fold(0.0, f64::at_least)
    }

    pub(super) fn renyi_divergence(&self, order: f64) -> f64 {
        if self.largest_loss() == f64::INFINITY {
            return f64::INFINITY;
        }
        let mut moment = Moment::default();
        for cell in self.possible() {
            let exponent = (order - 1.0) * cell.loss;
            if exponent > LARGE && cell.p + cell.q > 0.0 {
                moment.add_log(cell.log_q() + order * cell.loss);
            } else if cell.q > 0.0 || cell.loss.is_finite() {
                moment.add(excess(cell, order));
            }
        }
        moment.divergence(order)
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
        (kappa - left.at_least(0.0) + above).clamp(0.0, 1.0)
    }

    pub(super) fn gaussian_mu(&self) -> f64 {
        let cells = self.sorted();
        let mut left: Vec<Side> = Vec::with_capacity(cells.len() + 1);
        left.push(Side::default());
        for cell in cells.iter().rev() {
            left.push(left[left.len() - 1].with(cell));
        }
        left.reverse();
        let (mut taken, mut most) = (Side::default(), 0.0f64);
        for (at, cell) in cells.iter().enumerate() {
            if at > 0 {
                let left = &left[at];
                if taken.only_first() || left.only_second() {
                    return f64::INFINITY;
                }
                most = most.at_least(apart(&taken, left));
            }
            taken = taken.with(cell);
        }
        most
    }
}

/// Above this exponent a power counts by its logarithm.
pub(super) const LARGE: f64 = 300.0;

/// The mean of r^α under Q, less 1: terms without cancellation, and the logarithms of those that are large.
#[derive(Default)]
pub(super) struct Moment {
    sum: f64,
    logs: Vec<f64>,
}

impl Moment {
    /// Adds a term of E\[r^α − 1 − α(r − 1)\].
    pub(super) fn add(&mut self, term: f64) {
        self.sum += term;
    }

    /// Adds a term of E\[r^α\] beside which 1 and α(r − 1) vanish, by its logarithm.
    pub(super) fn add_log(&mut self, log: f64) {
        self.logs.push(log);
    }

    /// The Rényi divergence ln(1 + S)/(α − 1); S itself at order 1.
    pub(super) fn divergence(&self, order: f64) -> f64 {
        let most = self
            .logs
            .iter()
            .copied()
            .fold(f64::NEG_INFINITY, f64::at_least);
        if order == 1.0 {
            return self.sum;
        }
        if most < LARGE {
            let large: f64 = self.logs.iter().map(|&log| exp(log)).sum();
            return log1p(self.sum + large) / (order - 1.0);
        }
        let large: f64 = self.logs.iter().map(|log| exp(log - most)).sum();
        let rest = (self.sum + 1.0) * exp(-most);
        (most + log(large + rest)) / (order - 1.0)
    }
}

/// The masses of P and Q of some cells, with what tells them where they underflow or nearly agree.
#[derive(Debug, Clone, Copy)]
pub(super) struct Side {
    pub(super) p: f64,
    pub(super) q: f64,
    pub(super) difference: f64,
    pub(super) log_p: f64,
    pub(super) log_q: f64,
}

impl Default for Side {
    fn default() -> Self {
        Side {
            p: 0.0,
            q: 0.0,
            difference: 0.0,
            log_p: f64::NEG_INFINITY,
            log_q: f64::NEG_INFINITY,
        }
    }
}

impl Side {
    fn with(self, cell: &Cell) -> Side {
        Side {
            p: self.p + cell.p,
            q: self.q + cell.q,
            difference: self.difference + cell.difference,
            log_p: log_sum(self.log_p, cell.swapped().log_q()),
            log_q: log_sum(self.log_q, cell.log_q()),
        }
    }

    fn only_first(&self) -> bool {
        self.log_q == f64::NEG_INFINITY && self.p > 0.0
    }

    fn only_second(&self) -> bool {
        self.log_p == f64::NEG_INFINITY && self.q > 0.0
    }
}

/// ln(e^x + e^y).
pub(super) fn log_sum(x: f64, y: f64) -> f64 {
    let (most, least) = (x.at_least(y), x.at_most(y));
    if least == f64::NEG_INFINITY {
        return most;
    }
    most + log1p(exp(least - most))
}

/// Φ⁻¹(P) − Φ⁻¹(Q) of an event with P and Q, given the masses of what is in it and what is not.
pub(super) fn apart(taken: &Side, left: &Side) -> f64 {
    let z = quantile((taken.q, taken.log_q), (left.q, left.log_q));
    let least = taken.q.at_most(left.q);
    if taken.difference.abs() > 0.01 * least || least < f64::MIN_POSITIVE {
        return quantile((taken.p, taken.log_p), (left.p, left.log_p)) - z;
    }
    // ∫₀^μ e^(−zt − t²/2) dt is the difference over the density at z, by Newton's method.
    let density = exp(-0.5 * z * z) / (2.0 * PI).sqrt();
    let target = taken.difference / density;
    let slope = |t: f64| exp(-t * (z + 0.5 * t));
    let mut mu = target;
    for _ in 0..6 {
        let gap = integral_between((0.0, mu), 1, slope) - target;
        mu -= gap / slope(mu);
    }
    mu
}

/// Φ⁻¹ of a probability, given with its complement, both with their logarithms.
fn quantile(below: (f64, f64), above: (f64, f64)) -> f64 {
    let tail = |(p, log_p): (f64, f64)| {
        if p > 1e-290 {
            return normal_quantile(p);
        }
        // ln Φ(−x) = −x²/2 + ln(e^(x²/2)·erfc(x/√2)/2), by Newton's method.
        let mut x = (-2.0 * log_p).sqrt();
        for _ in 0..30 {
            let scaled = scaled_erfc(x * FRAC_1_SQRT_2);
            let gap = -0.5 * x * x + log(0.5 * scaled) - log_p;
            let step = gap / ((2.0 / PI).sqrt() / scaled);
            x += step;
            if step.abs() <= 1e-16 * x {
                break;
            }
        }
        -x
    };
    if below.1 <= above.1 {
        tail(below)
    } else {
        -tail(above)
    }
}

/// S of one cell, q·(r^α − 1 − α(r − 1)), and of order 1 q·(r ln r − r + 1).
pub(super) fn excess(cell: &Cell, order: f64) -> f64 {
    let d = cell.difference / cell.q;
    if order == 1.0 && cell.loss.abs() > 1.0 {
        if cell.p > 0.0 {
            cell.p * cell.loss - cell.difference
        } else {
            cell.q
        }
    } else if cell.loss.abs() > 30.0 && cell.p > 0.0 {
        // The same by the loss L, where r^α could overflow or q underflow: p·(e^((α − 1)L) − 1) − (α − 1)(p − q).
        cell.p * expm1((order - 1.0) * cell.loss) - (order - 1.0) * cell.difference
    } else if order == 1.0 {
        cell.q * entropy_excess(d)
    } else {
        cell.q * power_excess(d, cell.p / cell.q, order)
    }
}
