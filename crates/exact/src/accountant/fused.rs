//! Many atoms merged so that their losses are on a grid.

use libm::exp;

use super::grid::{Measure, ROUNDING};
use super::loss::Atom;
use crate::extreme::Extreme;

/// Beyond, e^loss would overflow.
const LARGEST: f64 = 600.0;

impl Measure {
    /// Adds atoms to a measure that every δ is at least that of, and tells by how much a loss may be raised by rounding.
    ///
    /// # Formula
    /// From the smallest loss on, all atoms up to the next multiple of the step are merged with as much of those above it
    /// that the loss of all is that multiple. Observations that are merged, or taken apart at random and then merged, raise no δ.
    /// Nothing is rounded down but what is left at the end.
    pub fn add_fused(&mut self, atoms: &[Atom]) -> f64 {
        let mut rest: Vec<Atom> = Vec::new();
        for atom in atoms.iter().filter(|atom| atom.p > 0.0) {
            if atom.loss() == f64::INFINITY {
                self.infinite += atom.p;
            } else {
                rest.push(*atom);
            }
        }
        rest.sort_by(|a, b| a.loss().total_cmp(&b.loss()));
        let mut rest = rest.into_iter().peekable();
        // What is left of an atom of which a part was taken.
        let mut left: Option<Atom> = None;
        while let Some(first) = left.take().or_else(|| rest.next()) {
            let place = self.grid.place(first.loss());
            let multiple = place.ceil() as i64;
            let center = self.grid.loss(multiple);
            if center.abs() > LARGEST {
                self.add(place.floor() as i64, first.p);
                continue;
            }
            let scale = exp(center);
            let mut mass = first.p;
            let mut missing = (scale * first.q - first.p).at_least(0.0);
            while let Some(next) = rest.next_if(|next| next.loss() <= center) {
                mass += next.p;
                missing += (scale * next.q - next.p).at_least(0.0);
            }
            while missing > 0.0 {
                let Some(next) = rest.next() else {
                    break;
                };
                let gain = next.p - scale * next.q;
                let part = missing / gain;
                if gain > 0.0 && part < 1.0 {
                    mass += part * next.p;
                    left = Some(next.part(1.0 - part));
                    missing = 0.0;
                } else {
                    mass += next.p;
                    missing -= gain.at_least(0.0);
                }
            }
            // Nothing was left above to raise what is merged.
            let lowered = i64::from(missing > ROUNDING * self.grid.step * mass);
            let multiple = match lowered {
                0 => multiple,
                _ => place.floor() as i64,
            };
            self.add(multiple, mass);
        }
        ROUNDING * self.grid.step
    }
}
