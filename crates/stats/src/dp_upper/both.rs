//! L(x, y) of [`dp_upper`](super), on cells of φ.

use std::sync::OnceLock;

use super::events;
use crate::binomial::{clopper_pearson_lower, clopper_pearson_upper};
use crate::special::normal_cdf;

/// Cells of φ at first.
pub(super) const COARSE: usize = 4;
/// Cells of φ at last.
const FINE: usize = 64;
/// Fine cells in a coarse one.
const BLOCK: usize = FINE / COARSE;

/// The levels of the limits of P and of Q on the cells of φ. They follow from the radius alone.
#[derive(Debug, Clone)]
pub(super) struct Levels {
    coarse: [[f64; 2]; COARSE],
    fine: [[f64; 2]; FINE],
}

impl Levels {
    pub(super) fn new(radius: f64) -> Self {
        Levels {
            coarse: on_cells(radius),
            fine: on_cells(radius),
        }
    }
}

/// On each of equal cells of φ, the levels of P and of Q.
fn on_cells<const CELLS: usize>(radius: f64) -> [[f64; 2]; CELLS] {
    let level = |z: f64| normal_cdf(-radius * z);
    let angle = |cell: usize| std::f64::consts::FRAC_PI_2 * cell as f64 / CELLS as f64;
    std::array::from_fn(|cell| [level(angle(cell).cos()), level(angle(cell + 1).sin())])
}

/// The side of an event: its rows of a, whose probability P is limited from above, or of b, limited from below.
#[derive(Clone, Copy)]
enum Side {
    A = 0,
    B = 1,
}

/// The limits of the probability of an event with so many of a secret's rows.
#[derive(Debug)]
pub(super) struct Rates {
    rows: u64,
    /// For each side and number of rows inside, what was computed already; nothing if limits are not kept.
    kept: [Vec<OnceLock<Box<Kept>>>; 2],
}

#[derive(Debug, Default)]
struct Kept {
    coarse: OnceLock<[f64; COARSE]>,
    fine: [OnceLock<[f64; BLOCK]>; COARSE],
}

impl Rates {
    /// Limits that are needed once.
    pub(super) fn once(rows: u64) -> Self {
        Rates {
            rows,
            kept: [Vec::new(), Vec::new()],
        }
    }

    /// Limits that are kept for those who ask again.
    pub(super) fn kept(rows: u64) -> Self {
        let all = || (0..=rows).map(|_| OnceLock::new()).collect();
        Rates {
            rows,
            kept: [all(), all()],
        }
    }

    fn coarse(&self, side: Side, inside: u64, levels: &Levels) -> [f64; COARSE] {
        let compute = || levels.coarse.map(|level| self.limit(side, inside, level));
        match self.kept[side as usize].get(inside as usize) {
            Some(kept) => *kept.get_or_init(Box::default).coarse.get_or_init(compute),
            None => compute(),
        }
    }

    /// On the fine cells in a coarse one.
    fn fine(&self, side: Side, inside: u64, cell: usize, levels: &Levels) -> [f64; BLOCK] {
        let compute =
            || std::array::from_fn(|at| self.limit(side, inside, levels.fine[cell * BLOCK + at]));
        match self.kept[side as usize].get(inside as usize) {
            Some(kept) => *kept.get_or_init(Box::default).fine[cell].get_or_init(compute),
            None => compute(),
        }
    }

    fn limit(&self, side: Side, inside: u64, level: [f64; 2]) -> f64 {
        match side {
            Side::A => clopper_pearson_upper(inside, self.rows, level[0]),
            Side::B => clopper_pearson_lower(inside, self.rows, level[1]),
        }
    }
}

/// The limits of two secrets.
pub(super) struct Both<'a> {
    pub a: &'a Rates,
    pub b: &'a Rates,
    pub levels: &'a Levels,
    pub weight: f64,
}

impl Both<'_> {
    /// The limits of P and of Q on each coarse cell.
    pub(super) fn coarse(&self, x: u64, y: u64) -> [(f64, f64); COARSE] {
        let p = self.a.coarse(Side::A, x, self.levels);
        let q = self.b.coarse(Side::B, y, self.levels);
        std::array::from_fn(|cell| (p[cell], q[cell]))
    }

    /// L(x, y), bounded on the fine cells.
    pub(super) fn at(&self, x: u64, y: u64) -> f64 {
        let blocks = (0..COARSE).map(|cell| self.block(x, y, cell));
        blocks.fold(f64::NEG_INFINITY, f64::max)
    }

    fn block(&self, x: u64, y: u64, cell: usize) -> f64 {
        let p = self.a.fine(Side::A, x, cell, self.levels);
        let q = self.b.fine(Side::B, y, cell, self.levels);
        let differences = p.iter().zip(q).map(|(p, q)| p - self.weight * q);
        differences.fold(f64::NEG_INFINITY, f64::max)
    }

    /// The largest L over all events of these rows, a probability; 1 if either secret has none.
    pub(super) fn over(&self, cells: &[(u64, u64)]) -> f64 {
        if self.a.rows == 0 || self.b.rows == 0 {
            return 1.0;
        }
        let exchange = self.weight * self.a.rows as f64 / self.b.rows as f64;
        self.largest(&events(cells, exchange)).clamp(0.0, 1.0)
    }

    /// The largest L over events, each bounded on the fine cells. Most are told to be smaller by the coarse ones, and
    /// so are most fine cells.
    pub(super) fn largest(&self, events: &[(u64, u64)]) -> f64 {
        // What limits of the same event may differ by through rounding.
        let rounding = 1e-9 * (1.0 + self.weight);
        let mut rough: Vec<(f64, [f64; COARSE], (u64, u64))> = events
            .iter()
            .map(|&(x, y)| {
                let cells = self.coarse(x, y).map(|(p, q)| p - self.weight * q);
                let bound = cells.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                (bound, cells, (x, y))
            })
            .collect();
        rough.sort_by(|one, other| other.0.total_cmp(&one.0));
        let mut largest = f64::NEG_INFINITY;
        for (bound, cells, (x, y)) in rough {
            if bound <= largest {
                break;
            }
            let fine = (0..COARSE)
                .filter(|&cell| cells[cell] + rounding > largest)
                .map(|cell| self.block(x, y, cell))
                .fold(f64::NEG_INFINITY, f64::max);
            largest = largest.max(fine.min(bound));
        }
        largest
    }
}
