//! The pair that no two databases exceed that differ in one record, of batches of a fixed size.
//!
//! # Formula
//! With A = (1 − r)·Q + r·P against Q, the pair has the δ of A at every ε ≥ 0, and is its own mirror image: its losses above 0
//! are those of A, its losses below 0 those of the mirror image of A, and the rest of the mass has none.

use libm::{expm1, log, log1p};

use super::{Cell, Cells, Half, Pair, by_curve};
use crate::extreme::Extreme;

/// (1 − r)·Q + r·P against Q.
pub(super) fn mixed(base: &Pair, rate: f64) -> Pair {
    Pair::Subsampled {
        base: Box::new(base.clone()),
        rate,
        reversed: false,
    }
}

/// The cells of the pair from those of A.
pub(super) fn mirrored(cells: Vec<Cell>) -> Vec<Cell> {
    let mut kept: Vec<Cell> = cells.into_iter().filter(|cell| cell.loss > 0.0).collect();
    let mass: f64 = kept.iter().map(|cell| cell.p + cell.q).sum();
    let rest = (1.0 - mass).at_least(0.0);
    let others: Vec<Cell> = kept.iter().map(|cell| cell.swapped()).collect();
    kept.extend(others);
    kept.push(Cell::with_loss(rest, rest, 0.0));
    kept
}

/// Its Rényi divergence: the integral over δ(ε) has the half of A where its loss is above 0, and that of the mirror image.
pub(super) fn renyi_divergence(base: &Pair, rate: f64, order: f64) -> Option<f64> {
    if let Some(cells) = mixed(base, rate).cells() {
        return Some(Cells(&mirrored(cells)).renyi_divergence(order));
    }
    let most = mixed(base, rate).largest_loss()?;
    let halves = [order - 2.0, -order - 1.0].map(|power| Half { power, sign: 1.0 });
    let found = base.by_delta(order, rate, halves);
    found.map(|found| found.at_most(most))
}

/// The largest probability of an event that has κ under the other, where it is a bound on that of any two databases.
pub(super) fn reconstruction(pair: &Pair, base: &Pair, rate: f64, kappa: f64) -> Option<f64> {
    if let Some(cells) = pair.cells() {
        return Some(Cells(&cells).reconstruction(kappa));
    }
    base.delta(0.0)?;
    let delta = |epsilon: f64| {
        let raised = if epsilon > 700.0 {
            epsilon - log(rate)
        } else {
            log1p(expm1(epsilon) / rate)
        };
        rate * base.delta(raised).unwrap_or(1.0)
    };
    Some(by_curve(kappa, 100, delta))
}
