//! Differential privacy of a channel: ε, δ(ε), and the trade-off curve of a pair.

use crate::extreme::Extreme;
use serde::Serialize;

use crate::channel::Channel;
use crate::channel::measures::check_pair;
use crate::hockey_stick::Level;
use leakgauge_base::error::{Error, Result};
use leakgauge_base::parallel;

/// The trade-off curve of two secrets: the error rates of the optimal tests, from "always decide for the first
/// secret" to "always decide for the second".
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TradeOff {
    /// The vertices of the curve; it is linear between them.
    pub points: Vec<TradeOffPoint>,
}

/// A likelihood-ratio test: it decides for the second secret if the ratio is at least a threshold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TradeOffPoint {
    /// The probability that it decides for the second secret under the first.
    pub false_positive: f64,
    /// The probability that it decides for the first secret under the second.
    pub false_negative: f64,
    /// ln of the threshold, a likelihood ratio of second to first secret. The ratio is minus the slope of the curve
    /// on the left of the point. `None` if the ratio is infinite or 0.
    pub log_ratio: Option<f64>,
}

impl TradeOff {
    /// The hockey-stick divergence δ(ε) = max over tests of TPR − e^ε·FPR: the largest P(A | second) −
    /// e^ε·P(A | first) of an event A.
    pub fn delta(&self, epsilon: f64) -> f64 {
        let level = Level::new(epsilon);
        self.points
            .iter()
            .map(|point| level.excess(1.0 - point.false_negative, point.false_positive))
            .fold(0.0, f64::at_least)
    }
}

impl Channel {
    /// The smallest ε of local differential privacy; `None` if it is infinite.
    ///
    /// # Formula
    /// max_o ln(max_s C\[s,o\] / min_s C\[s,o\]), over observations of positive probability.
    pub fn epsilon(&self) -> Option<f64> {
        if self.epsilon.is_some() {
            return self.epsilon.filter(|epsilon| epsilon.is_finite());
        }
        let mut least = self.row(0).to_vec();
        let mut most = least.clone();
        for row in self.rows().skip(1) {
            for ((least, most), &p) in least.iter_mut().zip(&mut most).zip(row) {
                *least = least.at_most(p);
                *most = most.at_least(p);
            }
        }
        worst_ratio(&most, &least, |o| most[o] - least[o])
    }

    /// The smallest ε that covers two secrets in both directions; `None` if it is infinite.
    ///
    /// # Errors
    /// `a` and `b` are not two different secrets of the channel.
    pub fn pair_epsilon(&self, a: usize, b: usize) -> Result<Option<f64>> {
        check_pair(self, a, b)?;
        let (p, q) = (self.row(a), self.row(b));
        let forth = worst_ratio(p, q, |o| self.difference(a, b, o));
        let back = worst_ratio(q, p, |o| self.difference(b, a, o));
        Ok(forth.and_then(|forth| back.map(|back| forth.at_least(back))))
    }

    /// The smallest δ for which the channel is (ε, δ)-LDP, and the ordered pair of secrets that attains it; among
    /// ties, the first.
    ///
    /// # Formula
    /// δ(ε) = max over a ≠ b of Σ_o max(C\[a,o\] − e^ε C\[b,o\], 0). δ(0) = 1 − β*.
    ///
    /// # Errors
    /// ε is negative or NaN.
    ///
    /// # References
    /// Bayes Security, Proposition 2; Balle et al. 2018, arXiv:1807.01647.
    pub fn delta(&self, epsilon: f64) -> Result<(f64, (usize, usize))> {
        if epsilon.is_nan() || epsilon < 0.0 {
            return Err(Error::parameter(
                format!("epsilon {epsilon}"),
                "must not be negative",
            ));
        }
        let level = Level::new(epsilon);
        let n = self.secrets.len();
        let worst_from = |a: usize| {
            let others = (0..n).filter(|&b| b != a);
            let deltas = others.map(|b| {
                let difference = |o| self.difference(a, b, o);
                let delta = hockey_stick(self.row(a), self.row(b), difference, &level);
                (delta, (a, b))
            });
            deltas.reduce(first_larger)
        };
        Ok(parallel::map(n, worst_from)
            .into_iter()
            .flatten()
            .reduce(first_larger)
            .unwrap_or((0.0, (0, 1))))
    }

    /// The trade-off curve of two secrets: the smallest false-negative rate at every false-positive rate.
    ///
    /// # Errors
    /// `a` and `b` are not two different secrets of the channel.
    ///
    /// # References
    /// Neyman and Pearson 1933; Dong, Roth, Su 2022, doi:10.1111/rssb.12454.
    pub fn trade_off(&self, first: usize, second: usize) -> Result<TradeOff> {
        check_pair(self, first, second)?;
        let pairs = self.row(first).iter().zip(self.row(second));
        let mut seen: Vec<(f64, f64)> = pairs
            .map(|(&p, &q)| (p, q))
            .filter(|&(p, q)| p > 0.0 || q > 0.0)
            .collect();
        seen.sort_by(|x, y| ratio(y).total_cmp(&ratio(x)));
        let misses: f64 = seen.iter().map(|(_, q)| q).sum();
        let mut points = vec![TradeOffPoint {
            false_positive: 0.0,
            false_negative: misses.at_most(1.0),
            log_ratio: None,
        }];
        // False negatives are summed from the other end, so that small ones stay accurate.
        let mut false_negatives: Vec<f64> = vec![0.0];
        for (_, q) in seen.iter().skip(1).rev() {
            let below = false_negatives[false_negatives.len() - 1];
            false_negatives.push(below + q);
        }
        false_negatives.reverse();
        let mut false_positive = 0.0;
        for (k, pair) in seen.iter().enumerate() {
            false_positive += pair.0;
            let last_of_equals = seen.get(k + 1).is_none_or(|next| !same_ratio(pair, next));
            if last_of_equals {
                points.push(TradeOffPoint {
                    false_positive: f64::at_most(false_positive, 1.0),
                    false_negative: false_negatives[k].at_most(1.0),
                    log_ratio: Some(ratio(pair).ln()).filter(|ln| ln.is_finite()),
                });
            }
        }
        Ok(TradeOff { points })
    }
}

fn ratio((p, q): &(f64, f64)) -> f64 {
    q / p
}

/// Whether two ratios are equal up to rounding, as 0.3/0.1 and 0.9/0.3 are.
fn same_ratio(x: &(f64, f64), y: &(f64, f64)) -> bool {
    let (left, right) = (x.1 * y.0, y.1 * x.0);
    (left - right).abs() <= 4.0 * f64::EPSILON * left.at_least(right)
}

fn first_larger<T>(best: (f64, T), next: (f64, T)) -> (f64, T) {
    if next.0 > best.0 { next } else { best }
}

/// `difference` gives p − q.
fn hockey_stick(p: &[f64], q: &[f64], difference: impl Fn(usize) -> f64, level: &Level) -> f64 {
    let pairs = p.iter().zip(q).enumerate();
    pairs
        .map(|(o, (&p, &q))| level.excess_of(p, q, difference(o)).at_least(0.0))
        .sum()
}

/// max ln(p/q) where p > 0; `None` where some q is 0 there. `difference` gives p − q.
fn worst_ratio(p: &[f64], q: &[f64], difference: impl Fn(usize) -> f64) -> Option<f64> {
    let mut worst = 0.0f64;
    let pairs = p.iter().zip(q).enumerate();
    for (o, (&p, &q)) in pairs.filter(|(_, (p, _))| **p > 0.0) {
        if q == 0.0 {
            return None;
        }
        // ln(1 + (p − q)/q) where the two are close, ln p − ln q where their ratio would overflow.
        let above = difference(o) / q;
        worst = worst.at_least(if above < 1.0 {
            above.ln_1p()
        } else if above.is_finite() {
            (p / q).ln()
        } else {
            p.ln() - q.ln()
        });
    }
    Some(worst)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::{SearchMethod, diameter};
    use proptest::prelude::*;

    fn channel() -> Channel {
        Channel::from_rows(&[
            vec![0.3, 0.1, 0.6, 0.0],
            vec![0.1, 0.3, 0.2, 0.4],
            vec![0.25, 0.25, 0.25, 0.25],
        ])
        .unwrap()
    }

    #[test]
    fn delta_at_zero_is_one_minus_bayes_security() {
        let (delta, pair) = channel().delta(0.0).unwrap();
        let worst = diameter(&channel(), SearchMethod::Direct).unwrap();
        assert!((delta - (1.0 - worst.bayes_security)).abs() < 1e-15);
        assert_eq!(pair, worst.pair);
    }

    #[test]
    fn zero_probability_means_infinite_epsilon_and_delta_that_stays() {
        assert_eq!(channel().epsilon(), None);
        let (delta, pair) = channel().delta(800.0).unwrap();
        assert_eq!((delta, pair), (0.4, (1, 0)));
        assert!(channel().delta(-1.0).is_err());
        assert!(channel().delta(f64::NAN).is_err());
    }

    proptest! {
        #[test]
        fn the_curve_gives_every_delta_and_the_total_variation(epsilon in 0.0..3.0f64) {
            let channel = channel();
            for (a, b) in [(0, 1), (1, 0), (0, 2), (2, 1)] {
                let curve = channel.trade_off(a, b).unwrap();
                // The second against the first.
                let difference = |o| channel.difference(b, a, o);
                let direct = hockey_stick(channel.row(b), channel.row(a), difference, &Level::new(epsilon));
                prop_assert!((curve.delta(epsilon) - direct).abs() < 1e-14);
                prop_assert!((curve.delta(0.0) - channel.total_variation(a, b)).abs() < 1e-14);
                for pair in curve.points.windows(2) {
                    prop_assert!(pair[0].false_positive <= pair[1].false_positive);
                    prop_assert!(pair[0].false_negative >= pair[1].false_negative);
                }
            }
        }
    }

    #[test]
    fn equal_ratios_make_one_corner() {
        let rows = [vec![0.1, 0.3, 0.6], vec![0.3, 0.9 - 0.2, 0.0]];
        let plain = Channel::from_rows(&rows).unwrap().trade_off(0, 1).unwrap();
        assert_eq!(plain.points.len(), 4);
        let rows = [vec![0.1, 0.3, 0.6, 0.0], vec![0.05, 0.15, 0.7, 0.1]];
        let equal = Channel::from_rows(&rows).unwrap().trade_off(0, 1).unwrap();
        assert_eq!(equal.points.len(), 4);
        assert_eq!(equal.points[1].false_positive, 0.0);
    }
}
