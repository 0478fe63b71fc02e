//! A prior and a gain under which one channel leaks more than another one: why it does not refine it.

use crate::extreme::Extreme;
use microlp::{ComparisonOp, OptimizationDirection, Problem, Variable};
use serde::Serialize;

use super::merged::merged;
use crate::channel::{Channel, Payoff, Prior, numbered};

/// A prior and a gain in \[0, 1\] under which a channel A leaks more than a channel B.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Witness {
    /// The prior, in the order of the secrets of A.
    pub prior: Vec<f64>,
    /// The gain: one row for each guess, one entry for each secret.
    pub gain: Vec<Vec<f64>>,
    /// V_g(π), the same of both.
    pub prior_vulnerability: f64,
    /// V_g(π, A).
    pub vulnerability: f64,
    /// V_g(π, B), which is smaller.
    pub other_vulnerability: f64,
}

/// The decimals that are tried, so that a witness can be read.
const DECIMALS: [i32; 6] = [1, 2, 3, 4, 5, 6];
/// The part of the difference that rounding to decimals may cost.
const COST: f64 = 0.01;

impl Witness {
    /// The witness whose vulnerabilities differ most of all with gains in \[0, 1\], but for 1 % where that makes numbers with
    /// few decimals, and guessing the secret itself where that does as well; `None` if no difference is left after both vulnerabilities are computed from the matrices.
    ///
    /// # Formula
    /// The dual of the linear program of Le Cam's deficiency: the largest Σ_{s,o} y\[s,o\]·A\[s,o\] − Σ_m max_o Σ_s
    /// y\[s,o\]·B\[s,m\] over 0 ≤ y\[s,o\] ≤ π_s. With g(o, s) = y\[s,o\]/π_s, who sees A may guess o where o was
    /// observed, and who sees B gets at most the second sum. Its value is the deficiency of B with respect to A.
    ///
    /// # Conditions
    /// The secrets of both are in the same order.
    ///
    /// # References
    /// D. Blackwell, *Equivalent comparisons of experiments*, doi:10.1214/aoms/1177729032; A. McIver et al., *Abstract
    /// channels and their robust information-leakage ordering*, doi:10.1007/978-3-642-54792-8_5.
    pub(super) fn of(a: &Channel, b: &Channel) -> Option<Witness> {
        let (prior, gain) = dual(&merged(a), &merged(b), a.secrets().len())?;
        let whole = Self::verified(a, b, prior, gain)?;
        let enough = (1.0 - COST) * whole.difference();
        let n = a.secrets().len();
        let guess = Payoff::identity(n);
        let guess = guess.values().chunks(n).map(<[f64]>::to_vec).collect();
        let plain = Self::verified(a, b, Prior::uniform(n).weights().to_vec(), guess);
        if let Some(plain) = plain.filter(|found| found.difference() >= enough) {
            return Some(plain);
        }
        let rounded = DECIMALS.iter().find_map(|&decimals| {
            let prior = rounded_prior(&whole.prior, decimals);
            let round = |x: &f64| rounded(*x, decimals);
            let gain = whole.gain.iter();
            let gain = gain.map(|row| row.iter().map(round).collect()).collect();
            Self::verified(a, b, prior, gain).filter(|found| found.difference() >= enough)
        });
        Some(rounded.unwrap_or(whole))
    }

    /// By how much the first channel leaks more, in additive g-leakage.
    pub fn difference(&self) -> f64 {
        self.vulnerability - self.other_vulnerability
    }

    /// The vulnerabilities of both channels, if that of A is larger by more than rounding explains.
    fn verified(
        a: &Channel,
        b: &Channel,
        prior: Vec<f64>,
        mut gain: Vec<Vec<f64>>,
    ) -> Option<Witness> {
        // A guess that never gains is as good as none, and the same guess need not stand twice.
        gain.sort_by(|x, y| y.partial_cmp(x).unwrap_or(std::cmp::Ordering::Equal));
        gain.dedup();
        if gain.len() > 1 {
            gain.retain(|row| row.iter().any(|g| *g > 0.0));
        }
        let values = gain.iter().flatten().copied().collect();
        let payoff = Payoff::new(numbered(gain.len()), prior.len(), values).ok()?;
        let prior = Prior::new(prior).ok()?;
        let witness = Witness {
            prior_vulnerability: payoff.prior_vulnerability(&prior).ok()?,
            vulnerability: payoff.vulnerability(a, &prior).ok()?,
            other_vulnerability: payoff.vulnerability(b, &prior).ok()?,
            prior: prior.weights().to_vec(),
            gain,
        };
        // Sums of so many products of numbers up to 1.
        let terms = a.values().len() + b.values().len();
        let rounding = f64::EPSILON * (1.0 + terms as f64);
        (witness.difference() > rounding).then_some(witness)
    }
}

/// π and g, as the linear program finds them.
fn dual(a: &[Vec<f64>], b: &[Vec<f64>], n: usize) -> Option<(Vec<f64>, Vec<Vec<f64>>)> {
    let mut problem = Problem::new(OptimizationDirection::Maximize);
    let prior: Vec<Variable> = (0..n).map(|_| problem.add_var(0.0, (0.0, 1.0))).collect();
    let best: Vec<Variable> = b
        .iter()
        .map(|_| problem.add_var(-1.0, (0.0, 1.0)))
        .collect();
    let joint: Vec<Vec<Variable>> = a
        .iter()
        .map(|column| {
            let each = column.iter();
            each.map(|&p| problem.add_var(p, (0.0, 1.0))).collect()
        })
        .collect();
    let whole: Vec<(Variable, f64)> = prior.iter().map(|&p| (p, 1.0)).collect();
    problem.add_constraint(whole, ComparisonOp::Eq, 1.0);
    for guess in &joint {
        for (&y, &p) in guess.iter().zip(&prior) {
            problem.add_constraint([(y, 1.0), (p, -1.0)], ComparisonOp::Le, 0.0);
        }
        for (column, &most) in b.iter().zip(&best) {
            let seen = guess.iter().zip(column).filter(|(_, p)| **p > 0.0);
            let mut terms: Vec<(Variable, f64)> = seen.map(|(&y, &p)| (y, p)).collect();
            terms.push((most, -1.0));
            problem.add_constraint(terms, ComparisonOp::Le, 0.0);
        }
    }
    let solution = problem.solve().ok()?;
    let value = |x: &Variable| solution[*x].at_least(0.0);
    let weights: Vec<f64> = prior.iter().map(value).collect();
    let sum: f64 = weights.iter().sum();
    let gain = |guess: &Vec<Variable>| {
        let each = guess.iter().zip(&weights);
        let ratio = |(y, &p): (&Variable, &f64)| match p > 0.0 {
            true => (value(y) / p).at_most(1.0),
            false => 0.0,
        };
        each.map(ratio).collect()
    };
    Some((
        weights.iter().map(|p| p / sum).collect(),
        joint.iter().map(gain).collect(),
    ))
}

fn rounded(x: f64, decimals: i32) -> f64 {
    let unit = 10f64.powi(decimals);
    (x * unit).round() / unit
}

/// The prior with so many decimals, what is missing given to the likeliest secret.
fn rounded_prior(prior: &[f64], decimals: i32) -> Vec<f64> {
    let unit = 10f64.powi(decimals);
    let mut parts: Vec<f64> = prior.iter().map(|p| (p * unit).round()).collect();
    let missing = unit - parts.iter().sum::<f64>();
    let largest = (0..parts.len()).fold(0, |best, s| match parts[s] > parts[best] {
        true => s,
        false => best,
    });
    parts[largest] += missing;
    parts.iter().map(|part| part / unit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_testing::rng;
    use rand::RngExt;

    fn random(source: &mut impl RngExt, rows: usize, columns: usize) -> Channel {
        let row = |_| {
            let row: Vec<f64> = (0..columns).map(|_| source.random::<f64>()).collect();
            let sum: f64 = row.iter().sum();
            row.into_iter().map(|x| x / sum).collect::<Vec<f64>>()
        };
        let rows: Vec<Vec<f64>> = (0..rows).map(row).collect();
        Channel::from_rows(&rows).unwrap()
    }

    /// V_g by its definition, written out.
    fn by_hand(channel: &Channel, witness: &Witness) -> f64 {
        let expected = |o: usize, guess: &Vec<f64>| -> f64 {
            let secrets = guess.iter().zip(&witness.prior).enumerate();
            secrets.map(|(s, (g, p))| g * p * channel.row(s)[o]).sum()
        };
        let best = |o: usize| {
            let guesses = witness.gain.iter().map(|guess| expected(o, guess));
            guesses.fold(f64::NEG_INFINITY, f64::at_least)
        };
        (0..channel.observations().len()).map(best).sum()
    }

    /// Strong duality: the difference is the deficiency, less the 1 % that rounding may cost, and never more.
    #[test]
    fn a_failed_refinement_has_a_witness_with_the_difference_of_the_deficiency() {
        let (mut source, mut failed) = (rng(12), 0);
        for (n, left, right) in [(2, 2, 2), (3, 4, 2), (4, 3, 5), (5, 6, 6), (6, 2, 4)] {
            for _ in 0..6 {
                let a = random(&mut source, n, left);
                let b = random(&mut source, n, right);
                let found = a.refinement(&b, "b").unwrap();
                if found.refines {
                    continue;
                }
                failed += 1;
                let witness = found.witness.unwrap();
                let difference = by_hand(&a, &witness) - by_hand(&b, &witness);
                assert!((witness.difference() - difference).abs() < 1e-14);
                assert!(difference <= found.deficiency + 1e-12, "{witness:?}");
                assert!(difference >= 0.99 * found.deficiency - 1e-9, "{witness:?}");
                assert!(
                    witness
                        .gain
                        .iter()
                        .flatten()
                        .all(|g| (0.0..=1.0).contains(g))
                );
            }
        }
        assert!(failed > 20, "{failed}");
    }

    #[test]
    fn what_refines_has_no_witness_and_textbook_channels_have_a_short_one() {
        let clear = Channel::from_rows(&[[1.0, 0.0], [0.0, 1.0]]).unwrap();
        let quarter = Channel::from_rows(&[[0.75, 0.25], [0.25, 0.75]]).unwrap();
        assert!(
            quarter
                .refinement(&clear, "clear")
                .unwrap()
                .witness
                .is_none()
        );
        // Guessing the secret itself under the uniform prior: 1 against ¾.
        let witness = clear
            .refinement(&quarter, "quarter")
            .unwrap()
            .witness
            .unwrap();
        assert_eq!(witness.prior, [0.5, 0.5]);
        assert_eq!(witness.gain, [[1.0, 0.0], [0.0, 1.0]]);
        assert_eq!(
            (witness.vulnerability, witness.other_vulnerability),
            (1.0, 0.75)
        );
    }

    #[test]
    fn secrets_in_another_order_are_matched_by_their_names() {
        let names = |names: [&str; 2]| names.map(str::to_owned).to_vec();
        let channel = |labels, rows: [f64; 4]| {
            Channel::new(names(labels), numbered(2), rows.to_vec()).unwrap()
        };
        let a = channel(["a", "b"], [1.0, 0.0, 0.5, 0.5]);
        let b = channel(["b", "a"], [1.0, 0.0, 0.5, 0.5]);
        let witness = a.refinement(&b, "b").unwrap().witness.unwrap();
        let ordered = channel(["a", "b"], [0.5, 0.5, 1.0, 0.0]);
        assert!(by_hand(&a, &witness) > by_hand(&ordered, &witness));
    }
}
