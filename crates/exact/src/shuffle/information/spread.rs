//! How much the likelihood ratios of several inputs differ from that of their mean: mutual information as one integral
//! whose integrand has no terms that cancel.

use super::ratio::{DEPTH, FAR, STEP, exp_minus_line};
use crate::extreme::Extreme;

/// Messages for which the ratios p̄/q and δ/q are equal, p̄ the mean of the inputs, δ = r − p̄ the deviation of one.
#[derive(Debug, Clone, Copy)]
struct Atom {
    /// p̄/q.
    mean_ratio: f64,
    /// δ/q.
    deviation_ratio: f64,
    decoy: f64,
    mean: f64,
    deviation: f64,
    /// r, and r/q: the sum of the two others has lost it where the mean is far larger.
    own: f64,
    own_ratio: f64,
}

/// The most differences of two inputs at a message that are summed one by one.
const MAX_COMPARED: usize = 4_000_000;

/// Inputs with their probabilities, each given by its deviations from the mean.
pub(super) struct Spread {
    mean: Vec<Atom>,
    inputs: Vec<(f64, Vec<Atom>)>,
}

impl Spread {
    /// From inputs (P(x), R_x) and the decoys' distribution, all over messages that decoys send. The mean is
    /// P̄ = Σ_x P(x)·R_x.
    pub(super) fn new(inputs: &[(f64, Vec<f64>)], decoys: &[f64]) -> Self {
        let mean = mean(inputs, decoys.len());
        let few = inputs.len() * inputs.len() * decoys.len() <= MAX_COMPARED;
        // Σ_x′ P(x′)·(r − r′) keeps its digits where an input has nearly all of the mean.
        let deviation = |r: f64, m: f64, y: usize| {
            if few {
                inputs.iter().map(|(p, row)| p * (r - row[y])).sum()
            } else {
                r - m
            }
        };
        let atoms = |row: &[f64]| {
            let cells = row.iter().zip(&mean).zip(decoys).enumerate();
            merged(
                cells
                    .filter(|(_, (_, q))| **q > 0.0)
                    .map(|(y, ((r, m), q))| (deviation(*r, *m, y), r, m, q))
                    .map(|(deviation, r, m, q)| Atom {
                        mean_ratio: m / q,
                        deviation_ratio: deviation / q,
                        decoy: *q,
                        mean: *m,
                        deviation,
                        own: *r,
                        own_ratio: r / q,
                    })
                    .collect(),
            )
        };
        Spread {
            mean: atoms(&mean),
            inputs: inputs.iter().map(|(p, row)| (*p, atoms(row))).collect(),
        }
    }

    fn atoms(&self) -> impl Iterator<Item = &Atom> {
        self.inputs.iter().flat_map(|(_, atoms)| atoms)
    }

    /// Σ_x P(x)·G(R_x) − G(P̄), where G(R) = E_{Qⁿ}\[(T/n)·ln(T/n)\] and T = Σ R(zᵢ)/Q(zᵢ).
    ///
    /// # Formula
    /// ∫₀^∞ φ̄(u)·(1 − Σ_x P(x)·e^(D_x(u))) du/u with φ(u) = E_R\[e^−vw\]·E_Q\[e^−vw\]^(n−1), v = u/n, w = R/Q, and
    /// D_x = ln φ_x − ln φ̄. The part of D_x that is linear in δ has mean 0 over the inputs and is left out of the sum.
    /// What remains is of the order of δ², as the result is. The rule is that of [`RatioLaw::mixing_gap`].
    ///
    /// [`RatioLaw::mixing_gap`]: super::ratio::RatioLaw::mixing_gap
    pub(super) fn gap(&self, n: u64) -> f64 {
        if self.atoms().all(|atom| atom.deviation == 0.0) {
            return 0.0;
        }
        let size = n as f64;
        let square = |atom: &Atom| atom.decoy * (atom.own_ratio - 1.0).powi(2);
        let widest = self
            .inputs
            .iter()
            .map(|(_, atoms)| atoms.iter().map(square).sum::<f64>());
        let first = -DEPTH - widest.fold(0.0, f64::at_least).ln_1p();
        // Also of the mean: an input of small probability can be the only one with a message.
        let means = self.mean.iter().map(|atom| atom.mean_ratio);
        let positive = self.atoms().map(|atom| atom.own_ratio).chain(means);
        let positive = positive.filter(|ratio| *ratio > 0.0);
        let last = (45.0 * size).ln() - positive.fold(1.0, f64::at_most).ln();
        let nodes = ((last - first) / STEP).ceil() as usize;
        let value = |k: usize| self.integrand((first + k as f64 * STEP).exp(), size);
        // Collected in order before summation, so that the result does not depend on the number of threads.
        let values: Vec<f64> = if self.atoms().count() < 64 {
            (0..=nodes).map(value).collect()
        } else {
            leakgauge_base::parallel::map(nodes + 1, value)
        };
        (STEP * values.iter().sum::<f64>()).at_least(0.0)
    }

    fn integrand(&self, u: f64, n: f64) -> f64 {
        let near = if u <= FAR { self.near(u, n) } else { None };
        let small = |atom: &Atom| (atom.deviation_ratio * u / n).abs() <= 1.0;
        let is_small = self.atoms().all(small);
        match near {
            Some(near) if is_small => return near,
            None if is_small => return self.far(u, n),
            _ => {}
        }
        // φ̄ and Σ P(x)·φ_x: both are positive, and their difference is between them. Large parts that cancel can have
        // lost it where large deviations meet large exponents.
        let input = |(p, atoms): &(f64, Vec<Atom>)| p * product(atoms, u, n);
        let (mean, all) = (
            product(&self.mean, u, n),
            self.inputs.iter().map(input).sum::<f64>(),
        );
        match near {
            Some(near) if near <= mean && near >= -all => near,
            _ => mean - all,
        }
    }

    /// Both expectations are those of e^x, x = −v(w − 1), minus 1, as in [`RatioLaw`](super::ratio::RatioLaw).
    /// `None` where that of the target underflows.
    fn near(&self, u: f64, n: f64) -> Option<f64> {
        let v = u / n;
        let (mut decoy, mut target, mut whole) = (0.0, 0.0, 0.0);
        for atom in &self.mean {
            let x = -v * atom.above_one();
            decoy += atom.decoy * exp_minus_line(x);
            whole += atom.mean * x.exp();
            target += if x.abs() > 0.5 {
                atom.mean * x.exp_m1() - atom.decoy * x
            } else {
                atom.mean * exp_minus_line(x) + (atom.mean - atom.decoy) * x
            };
        }
        if whole < 1e-280 {
            return None;
        }
        // Near 0 the expectation less 1 is the accurate one, far below 1 the expectation.
        let tiny = whole < 0.5;
        let logarithm = (n - 1.0) * decoy.ln_1p() - u;
        let logarithm = logarithm + if tiny { whole.ln() } else { target.ln_1p() };
        let change = self.inputs.iter().map(|(p, atoms)| {
            let mut sums = Changes::default();
            for atom in atoms {
                let above = atom.above_one();
                let (x, step) = (-v * above, -v * atom.deviation_ratio);
                let own = -v * atom.own_above_one();
                let (grown, bent) = (x.exp_m1(), bend(x, step, own));
                // Multiples of Σ δ = 0 are left out of both linear parts.
                sums.decoy_linear -= v * atom.deviation * grown;
                sums.decoy_bent += atom.decoy * bent;
                sums.target_linear += if tiny {
                    x.exp() * (atom.mean * step + atom.deviation)
                } else if x.abs() > 0.5 {
                    // The same without a difference of terms as large as the ratio.
                    atom.deviation * (x.exp() * (1.0 - v * atom.mean_ratio) - 1.0 + v)
                } else {
                    atom.deviation * (grown - v * (atom.mean_ratio * grown + above))
                };
                sums.target_bent += atom.mean * bent + atom.deviation * rise(x, step, own);
            }
            p * sums.over(1.0 + decoy, whole).expected(n, logarithm)
        });
        Some(-change.sum::<f64>())
    }

    /// The same with e^−v(w − least ratio), which does not overflow; deviations are small here.
    fn far(&self, u: f64, n: f64) -> f64 {
        let v = u / n;
        let least = self
            .mean
            .iter()
            .map(|atom| atom.mean_ratio)
            .fold(f64::INFINITY, f64::at_most);
        let exponent = |atom: &Atom| -v * (atom.mean_ratio - least);
        let decoy: f64 = self
            .mean
            .iter()
            .map(|a| a.decoy * exponent(a).exp_m1())
            .sum();
        let target: f64 = self.mean.iter().map(|a| a.mean * exponent(a).exp()).sum();
        if target == 0.0 || decoy <= -1.0 {
            return 0.0;
        }
        let logarithm = (n - 1.0) * decoy.ln_1p() + target.ln() - u * least;
        let change = self.inputs.iter().map(|(p, atoms)| {
            let mut sums = Changes::default();
            for atom in atoms {
                let (x, step) = (exponent(atom), -v * atom.deviation_ratio);
                let own = x + step;
                let (scale, bent) = (x.exp(), bend(x, step, own));
                sums.decoy_linear += atom.decoy * scale * step;
                sums.decoy_bent += atom.decoy * bent;
                sums.target_linear += scale * (atom.mean * step + atom.deviation);
                sums.target_bent += atom.mean * bent + atom.deviation * rise(x, step, own);
            }
            p * sums.over(1.0 + decoy, target).expected(n, logarithm)
        });
        -change.sum::<f64>()
    }
}

impl Atom {
    /// r/q − 1, without cancellation.
    fn own_above_one(&self) -> f64 {
        (self.own - self.decoy) / self.decoy
    }

    /// p̄/q − 1, without cancellation.
    fn above_one(&self) -> f64 {
        (self.mean - self.decoy) / self.decoy
    }
}

/// By how much an input changes E_Q\[e^x\] and E_R\[e^x\], relative to those of the mean: the parts that are linear in
/// the deviation and the rest.
#[derive(Default)]
struct Changes {
    decoy_linear: f64,
    decoy_bent: f64,
    target_linear: f64,
    target_bent: f64,
}

impl Changes {
    fn over(self, decoy: f64, target: f64) -> Self {
        Changes {
            decoy_linear: self.decoy_linear / decoy,
            decoy_bent: self.decoy_bent / decoy,
            target_linear: self.target_linear / target,
            target_bent: self.target_bent / target,
        }
    }

    /// e^logarithm·(e^D − 1), without the part of D that is linear in the deviation.
    fn expected(&self, n: f64, logarithm: f64) -> f64 {
        // Without decoys their logarithm, which can be infinite, counts not at all.
        let decoys = if n > 1.0 {
            (n - 1.0) * bent_logarithm(self.decoy_linear, self.decoy_bent)
        } else {
            0.0
        };
        let bent = decoys + bent_logarithm(self.target_linear, self.target_bent);
        let linear = (n - 1.0) * self.decoy_linear + self.target_linear;
        let (whole, scale) = (linear + bent, logarithm.exp());
        if whole.abs() <= 0.5 {
            return scale * (bent + exp_minus_line(whole));
        }
        // φ_x and φ̄ can both lie outside of what a factor e^D of the other could hold.
        let own = (logarithm + whole).exp();
        if scale == 0.0 {
            own
        } else {
            own - scale * (1.0 + linear)
        }
    }
}

/// e^x·(e^step − 1 − step), own = x + step.
fn bend(x: f64, step: f64, own: f64) -> f64 {
    if step.abs() > 0.5 {
        own.exp() - x.exp() * (1.0 + step)
    } else {
        x.exp() * exp_minus_line(step)
    }
}

/// e^x·(e^step − 1), own = x + step.
fn rise(x: f64, step: f64, own: f64) -> f64 {
    if step.abs() > 0.5 {
        own.exp() - x.exp()
    } else {
        x.exp() * step.exp_m1()
    }
}

/// ln(1 + linear + bent) − linear, without cancellation near 0.
fn bent_logarithm(linear: f64, bent: f64) -> f64 {
    let d = (linear + bent).at_least(-1.0);
    if d.abs() > 0.2 {
        return d.ln_1p() - linear;
    }
    let (mut power, mut sum) = (-d * d, 0.0);
    for k in 2..40 {
        let term = power / f64::from(k);
        sum += term;
        if term.abs() <= 1e-18 * f64::abs(sum) {
            break;
        }
        power *= -d;
    }
    bent + sum
}

/// E_R\[e^−vw\]·E_Q\[e^−vw\]^(n−1) for one input.
fn product(atoms: &[Atom], u: f64, n: f64) -> f64 {
    let (mut decoy, mut target) = (0.0, 0.0);
    for atom in atoms {
        let fall = (-u / n * atom.own_ratio).exp_m1();
        decoy += atom.decoy * fall;
        target += atom.own * (1.0 + fall);
    }
    let others = if n > 1.0 {
        (n - 1.0) * decoy.at_least(-1.0).ln_1p()
    } else {
        0.0
    };
    target * others.exp()
}

/// The mean Σ_x P(x)·R_x of rows.
pub(super) fn mean(inputs: &[(f64, Vec<f64>)], width: usize) -> Vec<f64> {
    let mut average = vec![0.0; width];
    for (p, row) in inputs {
        average
            .iter_mut()
            .zip(row)
            .for_each(|(sum, r)| *sum += p * r);
    }
    average
}

/// Atoms with equal ratios as one.
fn merged(mut atoms: Vec<Atom>) -> Vec<Atom> {
    let key = |atom: &Atom| (atom.mean_ratio, atom.deviation_ratio, atom.own_ratio);
    atoms.sort_by(|a, b| {
        let (x, y) = (key(a), key(b));
        x.0.total_cmp(&y.0)
            .then(x.1.total_cmp(&y.1))
            .then(x.2.total_cmp(&y.2))
    });
    atoms.dedup_by(|next, kept| {
        let same = key(next) == key(kept);
        if same {
            kept.decoy += next.decoy;
            kept.mean += next.mean;
            kept.deviation += next.deviation;
            kept.own += next.own;
        }
        same
    });
    atoms
}
