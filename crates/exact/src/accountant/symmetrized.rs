//! The loss of the pair that bounds a pair and its mirror image.

use super::loss::{Atom, Loss, Smooth};
use crate::extreme::Extreme;

impl Loss {
    /// The loss of a pair that is alike in both orders and has, at every ε ≥ 0, the δ of this pair, which is the more
    /// telling order there. What is attained is this pair.
    ///
    /// # Formula
    /// Losses above 0 keep their masses; below 0 they are those of the mirror image; the rest has no loss.
    pub fn symmetrized(self) -> Loss {
        let tells = |atom: &&Atom| atom.loss() > 0.0;
        let told: Vec<Atom> = self.atoms.iter().filter(tells).copied().collect();
        let mut mass: f64 = told.iter().map(|atom| atom.p + atom.q).sum();
        let mut atoms = told.clone();
        atoms.extend(told.iter().map(|atom| atom.reversed()));
        let smooth = self.smooth.map(|smooth| {
            let (p, q) = smooth.between(0.0, f64::INFINITY);
            mass += p + q;
            let shared = std::sync::Arc::new(smooth);
            let copy = shared.clone();
            let between = move |from: f64, to: f64| {
                let (p, q) = between_above_0(&copy, from, to);
                let (mirrored_q, mirrored_p) = between_above_0(&copy, -to, -from);
                (p + mirrored_p, q + mirrored_q)
            };
            let most = shared.ends.1;
            let both = Smooth::new((-most, most), between);
            (shared, both)
        });
        let (attained, both) = smooth.unzip();
        let cut = self.cut.0.at_least(self.cut.1);
        let rest = (1.0 - mass - cut).at_least(0.0);
        atoms.push(Atom::known(rest, rest, 0.0));
        Loss {
            atoms,
            smooth: both,
            normal: None,
            cut: (cut, cut),
            are_dense: false,
            attained: Some(Box::new(Loss {
                atoms: self.atoms,
                smooth: attained.map(Smooth::shared),
                normal: self.normal,
                cut: self.cut,
                attained: None,
                are_dense: false,
            })),
        }
    }
}

/// The masses where the loss is above 0.
fn between_above_0(smooth: &Smooth, from: f64, to: f64) -> (f64, f64) {
    if to <= 0.0 {
        return (0.0, 0.0);
    }
    smooth.between(from.at_least(0.0), to)
}
