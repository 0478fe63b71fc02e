//! A mechanism on a batch of a fixed size, which is drawn without replacement.

use std::fmt;

use rand::Rng;

use crate::profile::Pair;

use super::used::Used;
use super::{BoundMechanism, Law, Mechanism, Observed};
use leakgauge_base::error::{Error, Result};

/// Applies a mechanism to a batch of m of n records, drawn without replacement.
///
/// # Formula
/// A record is in the batch with probability q = m/n; else another one is in its place. With P and Q those of two records, told
/// apart best, and R that of the other record, secrets have (1 − q)·R + q·P and (1 − q)·R + q·Q.
///
/// If one record *replaces* another, no R, and no R that differs from step to step, has a larger δ(ε) at ε ≥ 0 than R = Q, where
/// it is that of (1 − q)·Q + q·P against Q: q·δ₀(ln(1 + (e^ε − 1)/q)) with δ₀ that of the mechanism. Compositions of it with itself are
/// attained by databases in which all other records are alike. Which R is worst depends on the sign of ε, so that
/// compositions may have more; they have at most those of the pair that is alike in both orders and has this δ(ε).
///
/// If a record is *added or removed*, n counts it, and the pair is (1 − q)·Q + q·P against Q in both orders: exact also of
/// compositions, where the pair of the mechanism is alike in both orders. Compositions of others are not known.
///
/// # Conditions
/// 1 ≤ m ≤ n. The mechanism declares its secrets, or takes the numbers −1 and 1, or the points (−1, 0) and (1, 0): records
/// count so, as with `relation=replace` of Poisson sampling, and noise is that of their sum.
///
/// # References
/// B. Balle, G. Barthe, M. Gaboardi, *Privacy amplification by subsampling*, theorems 2 (advanced joint convexity) and 9,
/// arXiv:1807.01647. Y. Zhu, J. Dong, Y.-X. Wang, *Optimal accounting of differential privacy via characteristic function*,
/// theorem 11, arXiv:2106.08567. C. Lebeda, M. Regehr, G. Kamath, T. Steinke, *Avoiding pitfalls for privacy accounting of
/// subsampled mechanisms under composition*, arXiv:2405.20769 (which pairs compose).
#[derive(Debug)]
pub struct FixedSize {
    /// The mechanism.
    pub mechanism: Box<dyn Mechanism>,
    /// The records in a batch, m.
    pub batch: u64,
    /// All records, n.
    pub records: u64,
    /// Whether a record is replaced, not added or removed.
    pub replaces: bool,
}

/// The two records, of numbers and of points.
const RECORDS: [[&str; 2]; 2] = [["-1", "1"], ["-1;0", "1;0"]];

impl FixedSize {
    fn labels(&self) -> [&'static str; 2] {
        if self.replaces {
            RECORDS[0]
        } else {
            ["0", "1"]
        }
    }
}

impl fmt::Display for FixedSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FixedSize {
            mechanism,
            batch,
            records,
            ..
        } = self;
        write!(
            f,
            "subsampled({mechanism}, batch={batch}, records={records}"
        )?;
        f.write_str(match self.replaces {
            true => ")",
            false => ", relation=add-or-remove)",
        })
    }
}

impl Mechanism for FixedSize {
    fn declared_secrets(&self) -> Option<Vec<String>> {
        Some(self.labels().map(str::to_owned).to_vec())
    }

    fn bind(&self, labels: &[String]) -> Result<Box<dyn BoundMechanism>> {
        let [one, other] = self.labels();
        let is_other = |label: &String| match label.trim() {
            label if label == one => Ok(false),
            label if label == other => Ok(true),
            _ => {
                let problem = match self.replaces {
                    true => "its secrets are -1 and 1, a record and the other",
                    false => "its secrets are 0, without the record, and 1, with it",
                };
                Err(Error::parameter(
                    self.to_string(),
                    format!("{problem}; the log has {label:?}"),
                ))
            }
        };
        let uses = labels.iter().map(is_other).collect::<Result<Vec<bool>>>()?;
        let base = match self.mechanism.declared_count() {
            Some(_) => self.mechanism.bind_declared()?,
            None => {
                let of = |records: [&str; 2]| self.mechanism.bind(&records.map(str::to_owned));
                of(RECORDS[0]).or_else(|error| of(RECORDS[1]).map_err(|_| error))?
            }
        };
        let pair = base.worst_pair().ok_or_else(|| {
            Error::parameter(self.to_string(), "its mechanism has only one secret")
        })?;
        let rate = self.batch as f64 / self.records as f64;
        let is_symmetric = is_symmetric(&*base, pair);
        let used = Used::new(base, pair, rate, uses);
        // Either record may be the one that is added: a pair that is not alike in both orders has two that compose.
        Ok(match self.replaces || !is_symmetric {
            true => Box::new(Bound { used, is_symmetric }),
            false => Box::new(used),
        })
    }
}

/// Whether the pair that is told apart best is alike in both orders, and worst in every respect.
fn is_symmetric(base: &dyn BoundMechanism, (a, b): (usize, usize)) -> bool {
    if base.secret_count() > 2 && base.pairs().is_none_or(|pairs| pairs.len() != 1) {
        return false;
    }
    match base.pair(a, b) {
        Some(
            Pair::Gaussian { .. }
            | Pair::Laplace { .. }
            | Pair::DiscreteGaussian { .. }
            | Pair::PlanarLaplace(_),
        ) => true,
        Some(Pair::Cells(cells)) => {
            let sorted = |mut masses: Vec<(f64, f64)>| {
                masses.sort_by(|x, y| x.0.total_cmp(&y.0).then(x.1.total_cmp(&y.1)));
                masses
            };
            let one = sorted(cells.iter().map(|cell| (cell.p, cell.q)).collect());
            let other = sorted(cells.iter().map(|cell| (cell.q, cell.p)).collect());
            let near = |x: f64, y: f64| (x - y).abs() <= 1e-12 * (x + y);
            let mut both = one.iter().zip(&other);
            both.all(|(x, y)| near(x.0, y.0) && near(x.1, y.1))
        }
        _ => false,
    }
}

/// A record that another one replaces, or one of a mechanism whose pair is not alike in both orders.
#[derive(Debug)]
struct Bound {
    /// The databases in which all other records are −1.
    used: Used,
    /// Whether the pair of the mechanism is alike in both orders.
    is_symmetric: bool,
}

impl BoundMechanism for Bound {
    fn secret_count(&self) -> usize {
        self.used.secret_count()
    }

    fn total_variation(&self, a: usize, b: usize) -> f64 {
        self.used.total_variation(a, b)
    }

    fn bayes_security(&self, a: usize, b: usize) -> f64 {
        self.used.bayes_security(a, b)
    }

    fn law(&self, secret: usize) -> Law {
        self.used.law(secret)
    }

    fn fixed_size(&self) -> Option<(&dyn BoundMechanism, (usize, usize), f64)> {
        self.used.subsampled().filter(|_| self.is_symmetric)
    }

    fn epsilon(&self) -> f64 {
        self.used.epsilon()
    }

    fn columns(&self) -> &'static [&'static str] {
        self.used.columns()
    }

    fn draw(&self, secret: usize, rng: &mut dyn Rng) -> Vec<Observed> {
        self.used.draw(secret, rng)
    }

    fn sample(&self, secret: usize, rng: &mut dyn Rng) -> Vec<String> {
        self.used.sample(secret, rng)
    }

    fn pair(&self, a: usize, b: usize) -> Option<Pair> {
        match self.used.pair(a, b)? {
            Pair::Subsampled { base, rate, .. } => {
                self.is_symmetric.then_some(Pair::FixedSize { base, rate })
            }
            alike => Some(alike),
        }
    }

    /// One that is alike in both orders.
    fn pairs(&self) -> Option<Vec<Pair>> {
        let (a, b) = self.worst_pair()?;
        Some(vec![self.pair(a, b)?])
    }

    fn capacity(&self) -> Option<f64> {
        self.used.capacity()
    }

    fn delta(&self, epsilon: f64) -> Option<f64> {
        self.used.delta(epsilon)
    }
}
