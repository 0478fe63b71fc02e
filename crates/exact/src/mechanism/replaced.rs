//! A mechanism that uses a record, or the one in its place, only with a certain probability.

use crate::extreme::Extreme;
use std::fmt;

use libm::{exp, log};
use rand::{Rng, RngExt};

use crate::profile::{Cell, Noise, Pair, ReplacedPair};

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
/// No other two records of absolute value (or Euclidean norm, for Gaussian noise) at most 1 are told apart better: of
/// all events that have a probability under R₀, the half-line beyond a point has the largest probability under every
/// R_x with x > 0 and the smallest under every x < 0 (Neyman and Pearson), and both are extreme at ±1. The same holds
/// for compositions, because δ(ε) is the largest at every ε.
///
/// # Conditions
/// 0 < q ≤ 1; Gaussian or Laplace noise without declared secrets.
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
    fn noise(&self) -> Result<(Box<dyn BoundMechanism>, Noise)> {
        let problem = |text: &str| Err(Error::parameter(self.to_string(), text));
        if self.mechanism.declared_count().is_some() {
            return problem(
                "the record counts -1 or 1, so that the noise inside must not declare secrets",
            );
        }
        let base = self.mechanism.bind(&RECORDS.map(str::to_owned))?;
        match base.pair(1, NONE) {
            Some(Pair::Gaussian { mu }) => Ok((base, Noise::Gaussian(mu))),
            Some(Pair::Laplace { distance }) => Ok((base, Noise::Laplace(distance))),
            _ => problem("relation=replace is known for gaussian and laplace noise"),
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
        let (base, noise) = self.noise()?;
        Ok(Box::new(Bound {
            base,
            noise,
            rate: self.rate,
            records,
        }))
    }
}

#[derive(Debug)]
struct Bound {
    base: Box<dyn BoundMechanism>,
    noise: Noise,
    rate: f64,
    /// The place of each secret's record in `RECORDS`.
    records: Vec<usize>,
}

impl Bound {
    fn differ(&self) -> bool {
        self.records.windows(2).any(|pair| pair[0] != pair[1])
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

    fn replaced(&self) -> Option<(Pair, f64)> {
        let pair = match self.noise {
            Noise::Gaussian(mu) => Pair::Gaussian { mu },
            Noise::Laplace(distance) => Pair::Laplace { distance },
        };
        Some((pair, self.rate))
    }

    fn epsilon(&self) -> f64 {
        if self.differ() {
            self.noise.most(self.rate)
        } else {
            0.0
        }
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
        if self.records[a] == self.records[b] {
            return Some(Pair::Cells(vec![Cell::new(1.0, 1.0)]));
        }
        Some(Pair::Replaced(ReplacedPair::new(self.noise, self.rate)))
    }

    /// One order: the other is its mirror image.
    fn pairs(&self) -> Option<Vec<Pair>> {
        let (a, b) = self.worst_pair()?;
        Some(vec![self.pair(a, b)?])
    }

    fn capacity(&self) -> Option<f64> {
        let (a, b) = self.worst_pair()?;
        Some(1.0 + self.total_variation(a, b))
    }

    fn delta(&self, epsilon: f64) -> Option<f64> {
        if !self.differ() || epsilon >= self.noise.most(self.rate) {
            return Some(0.0);
        }
        let from = self.noise.place(epsilon, self.rate);
        let (p, q) = self.noise.masses(from, f64::INFINITY, self.rate);
        // e^ε·Q is at most P, also where e^ε overflows.
        let scaled = if epsilon < 700.0 {
            exp(epsilon) * q
        } else {
            exp(epsilon + log(q))
        };
        Some((p - scaled).at_least(0.0))
    }
}

#[cfg(test)]
mod tests {
    use crate::extreme::Extreme;
    use crate::mechanism::parse;

    /// ∫ max(p − e^ε·q, 0) by Simpson's rule, from the densities alone. Its error is of the order of the step's square,
    /// 1e-7, because of the kink where the excess begins.
    fn integral(density: &dyn Fn(f64) -> f64, distance: f64, rate: f64, epsilon: f64) -> f64 {
        let excess = |y: f64| {
            let none = (1.0 - rate) * density(y);
            let p = none + rate * density(y - distance);
            let q = none + rate * density(y + distance);
            (p - epsilon.exp() * q).at_least(0.0)
        };
        let cuts = [-60.0, -distance, 0.0, distance, distance + 60.0];
        let part = |ends: &[f64]| {
            let n = 200_000;
            let step = (ends[1] - ends[0]) / f64::from(n);
            let weight = |i: i32| match i {
                0 => 1.0,
                i if i == n => 1.0,
                i if i % 2 == 1 => 4.0,
                _ => 2.0,
            };
            let sum: f64 = (0..=n)
                .map(|i| weight(i) * excess(ends[0] + f64::from(i) * step))
                .sum();
            sum * step / 3.0
        };
        cuts.windows(2).map(part).sum()
    }

    #[test]
    fn delta_is_the_integral_of_the_excess() {
        let normal = |x: f64| (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
        let laplace = |x: f64| 0.5 * (-x.abs()).exp();
        for (scale, rate) in [(0.5, 0.1), (2.0, 0.01), (1.0, 0.7), (10.0, 1.0)] {
            for epsilon in [0.0, 0.01, 0.3, 1.0, 2.5] {
                let of = |noise: &str| {
                    let text =
                        format!("subsampled({noise}={scale}), rate={rate}, relation=replace)");
                    let bound = parse(&text).unwrap().bind_declared().unwrap();
                    bound.delta(epsilon).unwrap()
                };
                for (noise, density) in [
                    ("gaussian(sigma", &normal as &dyn Fn(f64) -> f64),
                    ("laplace(scale", &laplace),
                ] {
                    let (exact, sum) = (of(noise), integral(density, 1.0 / scale, rate, epsilon));
                    assert!(
                        (exact - sum).abs() < 1e-7 * sum + 1e-10,
                        "{noise}={scale}, {rate}, {epsilon}: {exact:e} {sum:e}"
                    );
                }
            }
        }
    }

    /// No two records between −1 and 1 are told apart better than these.
    #[test]
    fn other_records_are_told_apart_less() {
        let normal = |x: f64| (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
        let (rate, epsilon) = (0.3, 0.4);
        let text = format!("subsampled(gaussian(sigma=1), rate={rate}, relation=replace)");
        let most = parse(&text)
            .unwrap()
            .bind_declared()
            .unwrap()
            .delta(epsilon)
            .unwrap();
        for (one, other) in [(1.0, 0.0), (0.0, 1.0), (1.0, 0.9), (0.5, 1.0), (1.0, -0.9)] {
            let excess = |y: f64| {
                let none = (1.0 - rate) * normal(y);
                let (p, q) = (
                    none + rate * normal(y - one),
                    none + rate * normal(y - other),
                );
                (p - f64::exp(epsilon) * q).at_least(0.0)
            };
            let delta: f64 = (-10_000..10_000)
                .map(|i| 1e-3 * excess(1e-3 * f64::from(i)))
                .sum();
            assert!(delta < most, "{one} {other}: {delta} {most}");
        }
    }

    #[test]
    fn extreme_parameters_have_figures() {
        for (text, epsilon, expected) in [
            // All mass of one record lies far beyond the other: δ is the rate.
            (
                "subsampled(gaussian(sigma=1e-3), rate=0.25, relation=replace)",
                1.0,
                0.25,
            ),
            (
                "subsampled(laplace(scale=1e-4), rate=0.25, relation=replace)",
                1.0,
                0.25,
            ),
            (
                "subsampled(laplace(scale=1), rate=0.5, relation=replace)",
                3.0,
                0.0,
            ),
        ] {
            let delta = parse(text)
                .unwrap()
                .bind_declared()
                .unwrap()
                .delta(epsilon)
                .unwrap();
            assert!((delta - expected).abs() < 1e-12, "{text}: {delta}");
        }
        for text in [
            "subsampled(randomized-response(epsilon=1, secrets=2), rate=0.5, relation=replace)",
            "subsampled(gaussian(sigma=1, secrets=2), rate=0.5, relation=replace)",
        ] {
            assert!(parse(text).unwrap().bind_declared().is_err(), "{text}");
        }
        assert!(parse("subsampled(gaussian(1), rate=0.5, relation=other)").is_err());
    }
}
