//! The distribution of the likelihood ratio of P against Q.

use crate::extreme::Extreme;
use leakgauge_base::parallel;
use rayon::prelude::*;

use super::game::{Game, MAX_MESSAGES, Success};
use super::panel::{Atom, Panel};
use super::quadrature::Sum;
use crate::channel::RowProblem;
use leakgauge_base::error::{Error, Result};

/// The number of atoms of one panel.
const TOGETHER: usize = 256;
/// Fewer atoms, or fewer games, are summed one by one.
const MANY_ATOMS: usize = 4096;
const MANY_GAMES: usize = 4;

/// The distribution of the likelihood ratio of P against Q under Q, sorted by decreasing ratio.
///
/// # References
/// Su, Cheng, Wang, section IV-B: G is the distribution function of the ratio under Q, h = 1 − G.
#[derive(Debug, Clone, PartialEq)]
pub struct RatioLaw {
    certain: f64,
    /// The part of it that is outside of the support of Q, and not only too likely under P for a number.
    outside: f64,
    max_ratio: f64,
    total_variation: f64,
    atoms: Vec<Atom>,
    smooth: Vec<Panel>,
}

impl RatioLaw {
    /// From two probability vectors over the same labels.
    ///
    /// # Conditions
    /// Entries finite and not negative, each sum 1 within 1e-9. A label with Q = 0 and P > 0
    /// identifies the target: the mass of such labels is f(∞).
    ///
    /// # Errors
    /// A condition is not met, or the lengths differ.
    pub fn from_probabilities(p: &[f64], q: &[f64]) -> Result<RatioLaw> {
        for (name, row) in [("P", p), ("Q", q)] {
            if let Some(problem) = RowProblem::find(row) {
                return Err(Error::parameter(name, problem.to_string()));
            }
        }
        Self::from_weights(p, q)
    }

    /// From two vectors of weights, each normalized by its sum.
    ///
    /// # Errors
    /// An entry is negative or not finite, a sum is 0 or overflows, or the lengths differ.
    pub fn from_weights(p: &[f64], q: &[f64]) -> Result<RatioLaw> {
        if p.len() != q.len() {
            return Err(Error::parameter(
                "P and Q",
                format!("have {} and {} entries", p.len(), q.len()),
            ));
        }
        let total_p = total("P", p)?;
        let total_q = total("Q", q)?;
        let masses = p.iter().zip(q);
        let mut masses: Vec<(f64, f64)> = masses
            .map(|(&p, &q)| (p / total_p, q / total_q))
            .filter(|&(p, q)| p > 0.0 || q > 0.0)
            .collect();
        masses.par_sort_unstable_by(|a, b| {
            let by_ratio = (b.0 / b.1).total_cmp(&(a.0 / a.1));
            by_ratio.then_with(|| b.1.total_cmp(&a.1))
        });
        Ok(Self::from_sorted(&masses))
    }

    /// From masses (p, q) in decreasing order of p/q; both sums are 1.
    pub(super) fn from_sorted(masses: &[(f64, f64)]) -> RatioLaw {
        let (mut certain, mut above) = (Sum::default(), Sum::default());
        let mut max_ratio = 0.0_f64;
        let mut atoms: Vec<Atom> = Vec::with_capacity(masses.len());
        let mut last = f64::NAN;
        for &(p, q) in masses {
            let ratio = p / q;
            if q > 0.0 {
                max_ratio = max_ratio.at_least(ratio);
            }
            if ratio == f64::INFINITY {
                // A Q that is negligible for any number of messages counts as 0.
                certain.add(p);
                above.add(q);
                continue;
            }
            match atoms.last_mut().filter(|_| ratio == last) {
                Some(atom) => {
                    atom.width += q;
                    atom.excess += p - q;
                }
                None => atoms.push(Atom {
                    above: above.value().at_most(1.0),
                    width: q,
                    excess: p - q,
                }),
            }
            last = ratio;
            above.add(q);
        }
        RatioLaw::assemble(certain.value(), max_ratio, atoms, Vec::new())
    }

    /// Assembles a distribution; total variation is the sum of the positive parts of P − Q.
    pub(super) fn assemble(
        certain: f64,
        max_ratio: f64,
        atoms: Vec<Atom>,
        smooth: Vec<Panel>,
    ) -> RatioLaw {
        let excesses = atoms.iter().map(|atom| atom.excess);
        let all = excesses.chain(smooth.iter().map(Panel::excess));
        let total_variation = certain + Sum::of(all.filter(|&excess| excess > 0.0));
        RatioLaw {
            certain,
            outside: certain,
            max_ratio,
            total_variation: total_variation.at_most(1.0),
            atoms,
            smooth,
        }
    }

    pub(super) fn with_total_variation(self, total_variation: f64) -> RatioLaw {
        RatioLaw {
            total_variation: total_variation.clamp(0.0, 1.0),
            ..self
        }
    }

    pub(super) fn with_outside(self, outside: f64) -> RatioLaw {
        RatioLaw {
            outside: outside.at_most(self.certain),
            ..self
        }
    }

    /// f(∞): the mass of P outside the support of Q.
    pub fn certain_mass(&self) -> f64 {
        self.outside
    }

    /// The mass of P where it is more than e^680 times as likely as Q, which counts as infinite, within the support of
    /// Q.
    pub fn nearly_certain_mass(&self) -> f64 {
        self.certain - self.outside
    }

    /// M: the largest likelihood ratio on the support of Q; may be infinite.
    pub fn max_ratio(&self) -> f64 {
        self.max_ratio
    }

    /// Total variation Δ(P, Q).
    pub fn total_variation(&self) -> f64 {
        self.total_variation
    }

    /// The success of the optimal adversary. Relative error near 1e-15, or 1e-13 with several guesses.
    ///
    /// # Formula
    /// Theorem 4 for k = 1 and its analogue for k guesses, see the [module](super); for a thinned game,
    /// ψ of Theorem 7. The advantage is summed directly, so that it is accurate if β_n is near 1/n.
    pub fn success(&self, game: &Game) -> Success {
        if game.is_won() {
            return Success::from_additive(game, 0.0);
        }
        let mut sum = Sum::default();
        for atoms in self.atoms.chunks(TOGETHER) {
            if game.has_vanished(atoms[0].above) {
                break;
            }
            atoms.iter().for_each(|atom| sum.add(atom.integral(game)));
        }
        self.with_smooth(game, sum)
    }

    /// The success in many games, computed in parallel.
    pub fn grid(&self, games: &[Game]) -> Vec<Success> {
        if games.len() < MANY_GAMES || self.atoms.len() < MANY_ATOMS {
            return parallel::map(games.len(), |at| self.success(&games[at]));
        }
        let panels: Vec<Panel> = parallel::map(self.atoms.len().div_ceil(TOGETHER), |at| {
            let end = ((at + 1) * TOGETHER).min(self.atoms.len());
            Panel::of_atoms(&self.atoms, at * TOGETHER..end)
        });
        let success = |game: &Game| {
            if game.is_won() {
                return self.success(game);
            }
            let mut sum = Sum::default();
            for panel in &panels {
                if game.has_vanished(panel.from) {
                    break;
                }
                panel.integrate(&self.atoms, game, &mut sum);
            }
            self.with_smooth(game, sum)
        };
        parallel::map(games.len(), |at| success(&games[at]))
    }

    fn with_smooth(&self, game: &Game, mut sum: Sum) -> Success {
        sum.add(self.certain);
        for panel in &self.smooth {
            if game.has_vanished(panel.from) {
                break;
            }
            panel.integrate(&self.atoms, game, &mut sum);
        }
        let gap = game.success_if_equal() - game.blind_success();
        Success::from_additive(game, sum.value() + gap)
    }

    /// The asymptotic value of β_n^k for large n, f(∞) + kM/n (Theorem 3); `None` if M is infinite. For k = 1 it is an
    /// upper bound on β_n.
    pub fn asymptotic(&self, game: &Game) -> Option<f64> {
        let term = game.guesses() as f64 * self.max_ratio / game.messages() as f64;
        (self.max_ratio < f64::INFINITY).then_some(self.certain + term)
    }

    /// The smallest n with β_n^k at most `success`; `None` if no n up to 2⁵³ is enough, for
    /// example because f(∞) is larger.
    ///
    /// # Errors
    /// `success` is not strictly between 0 and 1, or `guesses` is 0.
    pub fn messages_for(&self, success: f64, guesses: u64) -> Result<Option<u64>> {
        if !(success > 0.0 && success < 1.0) {
            return Err(Error::setting(
                "success",
                success,
                "must be strictly between 0 and 1",
            ));
        }
        let enough = |n: u64| {
            let game = Game::new(n, guesses)?;
            Ok::<bool, Error>(self.success(&game).success <= success)
        };
        let (mut few, mut many) = (0, 1);
        while !enough(many)? {
            if many == MAX_MESSAGES {
                return Ok(None);
            }
            (few, many) = (many, many * 2);
        }
        while many - few > 1 {
            let middle = few + (many - few) / 2;
            if enough(middle)? {
                many = middle;
            } else {
                few = middle;
            }
        }
        Ok(Some(many))
    }
}

fn total(name: &str, row: &[f64]) -> Result<f64> {
    if let Some(problem) = RowProblem::find_entry(row) {
        return Err(Error::parameter(name, problem.to_string()));
    }
    let sum = Sum::of(row.iter().copied());
    if sum > 0.0 && sum.is_finite() {
        Ok(sum)
    } else {
        Err(Error::parameter(
            name,
            format!("its weights sum to {sum}; the sum must be positive and finite"),
        ))
    }
}
