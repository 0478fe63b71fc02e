//! The likelihood ratio of two distributions, and the expectation from which every mutual information of the shuffle
//! model is computed.

use crate::extreme::Extreme;
use leakgauge_base::parallel;

/// The step of the trapezoidal rule in ln u; its relative error is below e^−49.
pub(super) const STEP: f64 = 0.2;
/// Nodes start where the integrand, which is linear there, is e^−42 times its maximum.
pub(super) const DEPTH: f64 = 42.0;
/// For larger u, where e^−u nearly underflows, the two exponentials are subtracted directly.
pub(super) const FAR: f64 = 700.0;

/// A message with a smaller decoy probability counts as one that no decoy sends: with at most 2^53 messages the error
/// is below 1e-270.
pub(super) const MIN_SHARED: f64 = 1e-290;

/// One value w = p/q of the likelihood ratio.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Atom {
    ratio: f64,
    target: f64,
    decoy: f64,
}

impl Atom {
    /// w − 1, without cancellation if p and q are close.
    fn above_one(&self) -> f64 {
        (self.target - self.decoy) / self.decoy
    }

    /// The term p·(e^x − 1) − q·x of one atom. Over all atoms Σ q·x is 0; subtracting it removes the terms of order
    /// x, which would cancel to order x².
    fn target_term(&self, x: f64) -> f64 {
        if x.abs() > 0.5 {
            self.target * x.exp_m1() - self.decoy * x
        } else {
            self.target * exp_minus_line(x) + (self.target - self.decoy) * x
        }
    }
}

/// The distribution of the likelihood ratio w(y) = P(y)/Q(y) where Q(y) > 0, for P ≪ Q, as a list of atoms.
#[derive(Debug, Clone, PartialEq)]
pub struct RatioLaw {
    atoms: Vec<Atom>,
}

impl RatioLaw {
    /// From pairs (p, q) with q > 0 whose sums are both 1 up to rounding. Equal ratios form one atom.
    pub fn new(pairs: impl Iterator<Item = (f64, f64)>) -> Self {
        let mut atoms: Vec<Atom> = pairs
            .map(|(target, decoy)| Atom {
                ratio: target / decoy,
                target,
                decoy,
            })
            .collect();
        atoms.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
        atoms.dedup_by(|next, kept| {
            let same = next.ratio == kept.ratio;
            if same {
                kept.target += next.target;
                kept.decoy += next.decoy;
            }
            same
        });
        RatioLaw { atoms }
    }

    /// For a target that always sends the same message, which a decoy sends with probability q.
    pub fn of_one_message(decoy: f64) -> Self {
        let pairs = [(0.0, 1.0 - decoy), (1.0, decoy)];
        Self::new(pairs.into_iter().filter(|&(_, q)| q > 0.0))
    }

    /// The Kullback–Leibler divergence D(P‖Q) = E_Q\[h(w − 1)\], h(d) = (1 + d)·ln(1 + d) − d: no term is negative.
    pub fn divergence(&self) -> f64 {
        self.atoms
            .iter()
            .map(|atom| atom.decoy * excess(atom.above_one()))
            .sum()
    }

    /// E_Q\[(w − 1)^power\], power ≥ 1.
    pub fn moment(&self, power: i32) -> f64 {
        let rest = |atom: &Atom| atom.above_one().powi(power - 1);
        // q·(w − 1) is p − q: so a huge ratio is not squared unless needed.
        let terms = self
            .atoms
            .iter()
            .map(|atom| (atom.target - atom.decoy) * rest(atom));
        terms.sum()
    }

    /// E\[(S/n)·ln(S/n)\] where S is the sum of w over n independent draws from Q: the information that shuffling
    /// hides.
    ///
    /// # Formula
    /// With ln s = ∫₀^∞ (e^−u − e^−us) du/u and E S = n it is ∫₀^∞ (e^−u − φ(u)) du/u where
    /// φ(u) = E_P\[e^−vw\]·E_Q\[e^−vw\]^(n−1), v = u/n. In ln u the integrand is analytic in a strip of
    /// half width π/2 and falls exponentially on the left, faster on the right, so that the
    /// trapezoidal rule converges geometrically. Relative error below 1e-13 for every n.
    pub fn mixing_gap(&self, n: u64) -> f64 {
        if self.atoms.len() == 1 {
            return 0.0; // one atom: its ratio is 1
        }
        let size = n as f64;
        let first = -DEPTH - self.moment(2).ln_1p();
        let smallest = self.atoms.iter().find(|atom| atom.target > 0.0);
        let smallest = smallest.map_or(1.0, |atom| atom.ratio.at_most(1.0));
        // Beyond, both exponentials are below e^−45 and fall doubly exponentially.
        let last = (45.0 * size).ln() - smallest.ln();
        let nodes = ((last - first) / STEP).ceil() as u64;
        let value = |k: u64| self.integrand((first + k as f64 * STEP).exp(), size);
        if self.atoms.len() < 64 {
            return STEP * (0..=nodes).map(value).sum::<f64>();
        }
        // Collected in order before summation, so that the result does not depend on the number of threads.
        let values: Vec<f64> = parallel::map(nodes as usize + 1, |k| value(k as u64));
        STEP * values.iter().sum::<f64>()
    }

    fn integrand(&self, u: f64, n: f64) -> f64 {
        let v = u / n;
        if u > FAR {
            let (mut target, mut decoy) = (0.0, 0.0);
            for atom in &self.atoms {
                let fall = (-v * atom.ratio).exp_m1();
                target += atom.target * (1.0 + fall);
                decoy += atom.decoy * fall;
            }
            let rest = if n > 1.0 {
                ((n - 1.0) * decoy.at_least(-1.0).ln_1p()).exp()
            } else {
                1.0
            };
            return (-u).exp() - target * rest;
        }
        // φ(u)·e^u = (1 + Σ q (e^x − 1 − x))^(n−1) · (1 + Σ p (e^x − 1)) with x = −v(w − 1),
        // because Σ q x = 0: terms of order u/n do not appear, so they need not cancel.
        let (mut decoy, mut target) = (0.0, 0.0);
        for atom in &self.atoms {
            let x = -v * atom.above_one();
            decoy += atom.decoy * exp_minus_line(x);
            target += atom.target_term(x);
        }
        let rest = if n > 1.0 {
            (n - 1.0) * decoy.ln_1p()
        } else {
            0.0
        };
        let logarithm = rest + target.at_least(-1.0).ln_1p();
        -(-u).exp() * logarithm.exp_m1()
    }
}

/// (1 + d)·ln(1 + d) − d for d ≥ −1.
pub fn excess(d: f64) -> f64 {
    if d <= -1.0 {
        return 1.0;
    }
    if d.abs() > 0.2 {
        return (1.0 + d) * d.ln_1p() - d;
    }
    // d²/2 − d³/6 + d⁴/12 − …, term k: (−d)^k/(k(k − 1))
    let (mut power, mut sum) = (d * d, 0.0);
    for k in 2..40 {
        let term = power / f64::from(k * (k - 1));
        sum += term;
        if term.abs() < 1e-18 * sum {
            break;
        }
        power *= -d;
    }
    sum
}

/// e^x − 1 − x.
pub(super) fn exp_minus_line(x: f64) -> f64 {
    if x.abs() > 0.5 {
        return x.exp_m1() - x;
    }
    let (mut term, mut sum) = (0.5 * x * x, 0.0);
    for k in 3..30 {
        sum += term;
        if term.abs() < 1e-18 * sum {
            break;
        }
        term *= x / f64::from(k);
    }
    sum
}
