//! Two secrets by their privacy loss, between two matrices.

use std::collections::BinaryHeap;

use libm::exp;

use super::loss::{Loss, Smooth};
use crate::mechanism::BoundMechanism;
use leakgauge_base::error::Result;

/// Columns of two matrices: the masses of P and Q.
///
/// # Formula
/// Below, an observation is the cell of its privacy loss, and leaks at most as much. Above, the masses of a cell with losses
/// between l and m are written as masses with the losses l and m, from which an observation of the cell can be drawn: a
/// vector of densities with the ratio e^L is a sum of two with the ratios e^l and e^m. Beyond the last cells the secret is
/// told. Cells are halved where the mass times the square of their length is largest.
///
/// # References
/// V. Doroshenko, B. Ghazi, P. Kamath, R. Kumar, P. Manurangsi, *Connect the dots: tighter discrete approximations of privacy
/// loss distributions*, doi:10.56553/popets-2022-0122.
pub(crate) struct Divided {
    pub(crate) below: Vec<(f64, f64)>,
    pub(crate) above: Vec<(f64, f64)>,
}

impl Divided {
    /// Of a mechanism that uses a record with a probability, with so many cells: P is that with the record, or with the
    /// record 1, Q that without, or with the record −1.
    ///
    /// # Errors
    /// The privacy loss is not known.
    pub(crate) fn of(mechanism: &dyn BoundMechanism, name: &str, cells: usize) -> Result<Divided> {
        let loss = Loss::of(mechanism, name, (1, 0))?;
        let atoms: Vec<(f64, f64)> = loss.atoms.iter().map(|atom| (atom.p, atom.q)).collect();
        let mut found = Divided {
            below: atoms.clone(),
            above: atoms,
        };
        if let Some(smooth) = &loss.smooth {
            found.add(smooth, loss.support(), cells);
        }
        let possible = |column: &(f64, f64)| column.0 > 0.0 || column.1 > 0.0;
        found.below.retain(possible);
        found.above.retain(possible);
        Ok(found)
    }

    fn add(&mut self, smooth: &Smooth, (low, high): (f64, f64), cells: usize) {
        let piece = |from: f64, to: f64| Piece {
            ends: (from, to),
            masses: smooth.between(from, to),
        };
        let mut pieces = BinaryHeap::from([piece(low, 0.0), piece(0.0, high)]);
        while pieces.len() < cells {
            let Some(longest) = pieces.pop() else { break };
            let (from, to) = longest.ends;
            let middle = 0.5 * (from + to);
            if longest.weight() == 0.0 || middle <= from || middle >= to {
                pieces.push(longest);
                break;
            }
            pieces.push(piece(from, middle));
            pieces.push(piece(middle, to));
        }
        for piece in pieces {
            self.below.push(piece.masses);
            self.above.extend(piece.at_its_ends());
        }
        for (from, to) in [(f64::NEG_INFINITY, low), (high, f64::INFINITY)] {
            let (p, q) = smooth.between(from, to);
            self.below.push((p, q));
            self.above.extend([(p, 0.0), (0.0, q)]);
        }
    }
}

/// Beyond this loss, whose exponential may be no number, the secret is told.
const LARGEST: f64 = 600.0;

/// A cell and its masses.
struct Piece {
    ends: (f64, f64),
    masses: (f64, f64),
}

impl Piece {
    fn weight(&self) -> f64 {
        let length = self.ends.1 - self.ends.0;
        (self.masses.0 + self.masses.1) * length * length
    }

    /// Masses with the losses of both ends that have the same sums.
    fn at_its_ends(&self) -> [(f64, f64); 2] {
        let ((from, to), (p, q)) = (self.ends, self.masses);
        if from > LARGEST || to < -LARGEST {
            return [(p, 0.0), (0.0, q)];
        }
        if from >= 0.0 {
            // Of P, by q = α·e^−from + β·e^−to.
            let (near, far) = (exp(-from), exp(-to));
            let beyond = ((p * near - q) / (near - far)).clamp(0.0, p);
            [(p - beyond, (p - beyond) * near), (beyond, beyond * far)]
        } else {
            // Of Q, by p = α·e^from + β·e^to.
            let (far, near) = (exp(from), exp(to));
            let beyond = ((p - q * far) / (near - far)).clamp(0.0, q);
            [((q - beyond) * far, q - beyond), (beyond * near, beyond)]
        }
    }
}

impl PartialEq for Piece {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Piece {}

impl PartialOrd for Piece {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Piece {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.weight().total_cmp(&other.weight())
    }
}
