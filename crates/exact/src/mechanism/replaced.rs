//! A mechanism that uses a record, or the one in its place, only with a certain probability.

use crate::extreme::Extreme;
use std::fmt;
use std::sync::OnceLock;

use rand::{Rng, RngExt};

use crate::profile::{Cell, Cells, Pair};

use super::law::mixed;
use super::observed::texts;
use super::{BoundMechanism, Law, Mechanism, Observed};
use leakgauge_base::error::{Error, Result};
use leakgauge_base::grammar::format_number;

/// Adds noise to a sum in which a record counts −1, or another one in its place 1, with probability q, and else 0.
///
/// # Formula
/// Secret ±1 has the observation (1 − q)·R₀ + q·R_±1, R_x being the noise around x. Total variation is q times that of
/// R₋₁ and R₁. The likelihood ratio rises, so that δ(ε) = P(t) − e^ε·Q(t) with the masses beyond the point t whose
/// ratio is e^ε. With μ = 1/σ and c = e^(μ²/2)·(1 − q)/q, Gaussian noise has t = σ²·(ε/2 + asinh(c·sinh(ε/2))).
///
/// Geometric noise, staircases and the mechanisms on a range have finitely many likelihood ratios; discrete Gaussian noise is
/// summed over the whole numbers. Staircases and ranges are compared in both orders.
///
/// No other two records of absolute value (or Euclidean norm, for Gaussian noise) at most 1 are told apart better, for
/// noise whose likelihood ratio rises, as that of all but staircases does: of
/// all events that have a probability under R₀, the half-line beyond a point has the largest probability under every
/// R_x with x > 0 and the smallest under every x < 0 (Neyman and Pearson), and both are extreme at ±1. The same holds
/// for compositions, because δ(ε) is the largest at every ε. With a staircase, figures are those of the records −1 and 1.
///
/// # Conditions
/// 0 < q ≤ 1; noise on a number, or a mechanism on a range of whole numbers, without declared secrets. Steps of a staircase are
/// at least 1e-4 of the record's distance and the period wide, so that rounding does not change their masses.
///
/// # References
/// Y. Zhu, J. Dong, Y.-X. Wang, *Optimal accounting of differential privacy via characteristic function*,
/// arXiv:2106.08567 (dominating pairs). C. Lebeda, M. Regehr, G. Kamath, T. Steinke, *Avoiding pitfalls for privacy
/// accounting of subsampled mechanisms under composition*, arXiv:2405.20769.
#[derive(Debug)]
pub struct Replaced {
    /// The noise.
    pub mechanism: Box<dyn Mechanism>,
    /// The probability q.
    pub rate: f64,
}

impl fmt::Display for Replaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "subsampled({}, rate={}, relation=replace)",
            self.mechanism,
            format_number(self.rate)
        )
    }
}

/// Numbers of the inner mechanism: those of the two records, and of none.
const RECORDS: [&str; 3] = ["-1", "1", "0"];
const NONE: usize = 2;

impl Replaced {
    fn pair(&self) -> Result<(Box<dyn BoundMechanism>, Pair)> {
        let problem = |text: &str| Err(Error::parameter(self.to_string(), text));
        if self.mechanism.declared_count().is_some() {
            return problem(
                "the record counts -1 or 1, so that the noise inside must not declare secrets",
            );
        }
        let base = self.mechanism.bind(&RECORDS.map(str::to_owned)).ok();
        let found = base.and_then(|base| {
            let pair = base.replacing((1, 0), NONE, self.rate)?;
            Some((base, pair))
        });
        match found {
            Some(found) => Ok(found),
            None => problem(
                "relation=replace needs noise on a number, where a record that is not used counts 0: labels have no such \
                 value, of noise on points no order of the likelihood ratios of two records is known, and steps of a staircase \
                 must not be narrower than 1e-4 of it",
            ),
        }
    }
}

impl Mechanism for Replaced {
    fn declared_secrets(&self) -> Option<Vec<String>> {
        Some(
            RECORDS[..NONE]
                .iter()
                .map(|&record| record.to_owned())
                .collect(),
        )
    }

    fn bind(&self, labels: &[String]) -> Result<Box<dyn BoundMechanism>> {
        let record = |label: &String| {
            let place = RECORDS[..NONE]
                .iter()
                .position(|record| *record == label.trim());
            place.ok_or_else(|| {
                let problem = format!(
                    "its secrets are -1 and 1, a record and the other; the log has {label:?}"
                );
                Error::parameter(self.to_string(), problem)
            })
        };
        let records = labels.iter().map(record).collect::<Result<Vec<usize>>>()?;
        let (base, pair) = self.pair()?;
        Ok(Box::new(Bound {
            base,
            pair,
            cells: OnceLock::new(),
            rate: self.rate,
            records,
        }))
    }
}

#[derive(Debug)]
struct Bound {
    base: Box<dyn BoundMechanism>,
    /// Record 1 against −1.
    pair: Pair,
    /// The likelihood ratios of the pair, once they are needed.
    cells: OnceLock<Vec<Cell>>,
    rate: f64,
    /// The place of each secret's record in `RECORDS`.
    records: Vec<usize>,
}

impl Bound {
    fn differ(&self) -> bool {
        self.records.windows(2).any(|pair| pair[0] != pair[1])
    }

    /// The pair in the other order. Noise is symmetric, so that its pair is its own mirror image.
    fn reversed(&self) -> Pair {
        match &self.pair {
            Pair::Cells(cells) => Pair::Cells(cells.iter().map(|cell| cell.swapped()).collect()),
            other => other.clone(),
        }
    }
}

impl BoundMechanism for Bound {
    fn secret_count(&self) -> usize {
        self.records.len()
    }

    fn total_variation(&self, a: usize, b: usize) -> f64 {
        self.rate * self.base.total_variation(self.records[a], self.records[b])
    }

    fn bayes_security(&self, a: usize, b: usize) -> f64 {
        (1.0 - self.rate) + self.rate * self.base.bayes_security(self.records[a], self.records[b])
    }

    fn law(&self, secret: usize) -> Law {
        let with = self.base.law(self.records[secret]);
        mixed(self.base.law(NONE), with, self.rate)
    }

    fn replaced(&self) -> Option<Pair> {
        Some(self.pair.clone())
    }

    fn epsilon(&self) -> f64 {
        if !self.differ() {
            return 0.0;
        }
        let both = [self.pair.largest_loss(), self.reversed().largest_loss()];
        let known = |loss: Option<f64>| loss.unwrap_or(f64::INFINITY);
        known(both[0]).at_least(known(both[1]))
    }

    fn columns(&self) -> &'static [&'static str] {
        self.base.columns()
    }

    fn draw(&self, secret: usize, rng: &mut dyn Rng) -> Vec<Observed> {
        let used = rng.random::<f64>() < self.rate;
        let record = if used { self.records[secret] } else { NONE };
        self.base.draw(record, rng)
    }

    fn sample(&self, secret: usize, rng: &mut dyn Rng) -> Vec<String> {
        texts(self.draw(secret, rng))
    }

    fn pair(&self, a: usize, b: usize) -> Option<Pair> {
        Some(match (self.records[a], self.records[b]) {
            (1, 0) => self.pair.clone(),
            (0, 1) => self.reversed(),
            _ => Pair::Cells(vec![Cell::new(1.0, 1.0)]),
        })
    }

    /// Both orders, which of noise are mirror images.
    fn pairs(&self) -> Option<Vec<Pair>> {
        let (a, b) = self.worst_pair()?;
        let mut pairs = vec![self.pair(a, b)?];
        if matches!(pairs[0], Pair::Cells(_)) {
            pairs.push(self.pair(b, a)?);
        }
        Some(pairs)
    }

    fn capacity(&self) -> Option<f64> {
        let (a, b) = self.worst_pair()?;
        Some(1.0 + self.total_variation(a, b))
    }

    fn delta(&self, epsilon: f64) -> Option<f64> {
        if !self.differ() {
            return Some(0.0);
        }
        if let Pair::Replaced(pair) = &self.pair {
            return Some(pair.delta(epsilon));
        }
        let cells = match self.cells.get() {
            Some(cells) => cells,
            None => {
                let listed = self.pair.cells()?;
                self.cells.get_or_init(|| listed)
            }
        };
        let one = Cells(cells).delta(epsilon);
        if !matches!(self.pair, Pair::Cells(_)) {
            return Some(one);
        }
        let swapped: Vec<Cell> = cells.iter().map(|cell| cell.swapped()).collect();
        Some(one.at_least(Cells(&swapped).delta(epsilon)))
    }
}

#[cfg(test)]
mod tests;
