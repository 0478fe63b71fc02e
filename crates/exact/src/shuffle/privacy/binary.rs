//! δ of shuffled reports of two messages and two inputs: exact, as the largest over what the other users may hold.

use libm::exp;

use crate::extreme::Extreme;
use leakgauge_base::parallel;

/// The most probabilities of sums that are computed for one δ.
const MAX_WORK: f64 = 3e8;
/// How far probabilities of sums go, in standard deviations.
const REACH: f64 = 14.0;
/// So many ratios next to the ends serve only to start the others.
const WARM: u64 = 30;
/// Terms below this part of the sum end it.
const NEGLIGIBLE: f64 = 1e-18;
/// By how much of δ rounding may change it.
pub(super) const ROUNDING: f64 = 1e-9;

/// The probabilities of message 1 under both inputs, 0 < `low` < `high` < 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Binary {
    low: f64,
    high: f64,
}

/// The largest δ over numbers of other users with the second input.
pub(super) struct Largest {
    pub delta: f64,
    /// Whether all numbers were looked at: else it is a lower limit.
    pub is_exact: bool,
}

impl Binary {
    /// From the rows of two inputs with two messages; `None` where a message excludes an input.
    pub(super) fn new(rows: &[Vec<f64>]) -> Option<Binary> {
        let [first, second] = rows else { return None };
        let (&[_, p], &[_, q]) = (&first[..], &second[..]) else {
            return None;
        };
        let (low, high) = if p < q { (p, q) } else { (q, p) };
        (low > 0.0 && low < high && high < 1.0).then_some(Binary { low, high })
    }

    /// The same reports with the messages exchanged.
    fn mirrored(self) -> Binary {
        Binary {
            low: 1.0 - self.high,
            high: 1.0 - self.low,
        }
    }

    /// The largest δ(ε) between the two inputs of a user, over how many of the n − 1 others have which.
    ///
    /// # Formula
    /// Only the number of messages 1 is seen: 1{own} + S with S = Bin(k, `high`) + Bin(n − 1 − k, `low`). A mixture of inputs of
    /// others is no worse than the worst of them, because δ is convex in both laws: the largest k decides.
    pub(super) fn largest(self, n: u64, epsilon: f64) -> Largest {
        let others = n - 1;
        let ways = if self == self.mirrored() {
            vec![self]
        } else {
            vec![self, self.mirrored()]
        };
        let mean = others as f64;
        let variance = (self.high * (1.0 - self.high)).at_least(self.low * (1.0 - self.low));
        let width = 2.0 * REACH * (mean * variance).sqrt() + 100.0;
        let each = (MAX_WORK / width / ways.len() as f64) as u64;
        let is_exact = each > others;
        // Where all are too many, those with nearly all users alike: δ is about the largest there.
        let counts: Vec<u64> = if is_exact {
            (0..=others).collect()
        } else {
            (0..each / 2).chain(others - each / 2..=others).collect()
        };
        let largest = |way: Binary| {
            let deltas = parallel::map(counts.len(), |at| way.delta(others, counts[at], epsilon));
            deltas.into_iter().fold(0.0, f64::at_least)
        };
        let delta = ways.into_iter().map(largest).fold(0.0, f64::at_least);
        Largest { delta, is_exact }
    }

    /// δ(ε) of input 1 from input 0 if `count` of the others have input 1.
    ///
    /// # Formula
    /// P(j) − e^ε Q(j) = c₁·S(j − 1) − c₂·S(j), positive from some j on, because sums of independent bits are log-concave.
    fn delta(self, others: u64, count: u64, epsilon: f64) -> f64 {
        let factor = exp(epsilon);
        let first = self.high - factor * self.low;
        let second = factor * (1.0 - self.low) - (1.0 - self.high);
        if first <= 0.0 {
            return 0.0;
        }
        let mut reach = REACH;
        loop {
            let sums = Sums::new(self, others, count, reach);
            let (delta, ends) = sums.tail(first, second);
            if ends || sums.is_whole {
                return delta;
            }
            reach *= 2.0;
        }
    }
}

/// The probabilities of S = Bin(k, a) + Bin(m, b) around its mean, as ratios of neighbors.
///
/// # Formula
/// From (az + ā)(bz + b̄)·f′ = (ka(bz + b̄) + mb(az + ā))·f of the generating function f = (az + ā)^k (bz + b̄)^m:
/// āb̄(j + 1)·S(j + 1) = (kab̄ + mbā − (ab̄ + āb)j)·S(j) + ab(N − j + 1)·S(j − 1), N = k + m. Up to the j where the first factor
/// changes its sign all terms upward are positive, beyond it all terms downward: neither loses digits, and what is wrong at the
/// ends fades away.
struct Sums {
    /// S(j)/S(j − 1), from j = `first` on.
    ratios: Vec<f64>,
    #[cfg(test)]
    first: u64,
    /// Whether the last entry is that of N.
    is_whole: bool,
}

impl Sums {
    fn new(bits: Binary, others: u64, count: u64, reach: f64) -> Sums {
        let (a, b) = (bits.high, bits.low);
        let (na, nb) = (1.0 - a, 1.0 - b);
        let (k, m, whole) = (count as f64, (others - count) as f64, others as f64);
        let mean = k * a + m * b;
        let width = reach * (k * a * na + m * b * nb).sqrt() + 40.0 + WARM as f64;
        let first = (mean - width).floor().at_least(0.0) as u64 + 1;
        let last = ((mean + width).ceil() as u64 + WARM).min(others);
        let fixed = k * a * nb + m * b * na;
        let cross = a * nb + na * b;
        let meet = (fixed / cross).floor().at_least(0.0) as u64;
        let mut ratios = vec![0.0; (last + 1).saturating_sub(first) as usize];
        let up_to = meet.min(last);
        let mut inverse = 0.0;
        for j in first..=up_to {
            // S(j) from S(j − 1) and S(j − 2).
            let before = (j - 1) as f64;
            let same = fixed - cross * before;
            let below = a * b * (whole - before + 1.0) * inverse;
            let ratio = (same + below) / (na * nb * j as f64);
            ratios[(j - first) as usize] = ratio;
            inverse = 1.0 / ratio;
        }
        let mut above = 0.0;
        for j in (first.max(up_to + 1)..=last).rev() {
            // S(j − 1) from S(j) and S(j + 1).
            let at = j as f64;
            let same = cross * at - fixed;
            let inverse = (same + na * nb * (at + 1.0) * above) / (a * b * (whole - at + 1.0));
            above = 1.0 / inverse;
            ratios[(j - first) as usize] = above;
        }
        // Ratios next to the ends are wrong unless these are the true ones.
        let is_whole = last == others;
        if !is_whole {
            ratios.truncate(ratios.len() - WARM as usize);
        }
        let warm = if first == 1 {
            0
        } else {
            WARM.min(ratios.len() as u64 / 2)
        };
        Sums {
            #[cfg(test)]
            first: first + warm,
            ratios: ratios.split_off(warm as usize),
            is_whole,
        }
    }

    /// Σ (c₁·S(j − 1) − c₂·S(j))⁺, and whether its last terms are negligible.
    fn tail(&self, first: f64, second: f64) -> (f64, bool) {
        let values = self.relative();
        let threshold = self
            .ratios
            .partition_point(|&ratio| second * ratio >= first);
        let mut terms = self.ratios.iter().zip(&values).skip(threshold);
        let term = |(ratio, before): (&f64, &f64)| before * (first - second * ratio);
        let mut sum: f64 = terms.clone().map(term).sum();
        let total: f64 = values.iter().sum();
        if self.is_whole {
            sum += first * values[values.len() - 1];
        }
        let last = terms.next_back().map(term);
        (
            sum / total,
            last.is_some_and(|last| last <= NEGLIGIBLE * sum),
        )
    }

    /// The probabilities of sums from the one before the first ratio on, relative to the largest.
    fn relative(&self) -> Vec<f64> {
        // Ratios fall: sums of independent bits are log-concave.
        let mode = self.ratios.partition_point(|&ratio| ratio > 1.0);
        let mut values = vec![1.0; self.ratios.len() + 1];
        for at in (0..mode).rev() {
            values[at] = values[at + 1] / self.ratios[at];
        }
        for at in mode..self.ratios.len() {
            values[at + 1] = values[at] * self.ratios[at];
        }
        values
    }

    #[cfg(test)]
    fn probabilities(&self) -> Vec<f64> {
        let all = self.relative();
        let total: f64 = all.iter().sum();
        all.iter().map(|p| p / total).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bin(m, p).
    fn binomial(m: u64, p: f64) -> Vec<f64> {
        let mut law = vec![1.0];
        for _ in 0..m {
            let mut next = vec![0.0; law.len() + 1];
            for (j, mass) in law.iter().enumerate() {
                next[j] += (1.0 - p) * mass;
                next[j + 1] += p * mass;
            }
            law = next;
        }
        law
    }

    fn convolved(bits: Binary, others: u64, count: u64) -> Vec<f64> {
        let (one, two) = (
            binomial(count, bits.high),
            binomial(others - count, bits.low),
        );
        let mut sums = vec![0.0; others as usize + 1];
        for (i, p) in one.iter().enumerate() {
            for (j, q) in two.iter().enumerate() {
                sums[i + j] += p * q;
            }
        }
        sums
    }

    #[test]
    fn sums_are_those_of_convolved_binomial_laws() {
        for (low, high) in [(0.27, 0.73), (0.0067, 0.9933), (0.4975, 0.5025), (0.1, 0.6)] {
            let bits = Binary { low, high };
            for (others, count) in [(1, 0), (7, 3), (60, 60), (60, 0), (300, 120), (300, 299)] {
                let expected = convolved(bits, others, count);
                let sums = Sums::new(bits, others, count, 60.0);
                let found = sums.probabilities();
                for (at, p) in found.iter().enumerate() {
                    let wanted = expected[at + sums.first as usize - 1];
                    assert!(
                        wanted < 1e-280 || (p / wanted - 1.0).abs() < 1e-11,
                        "{low} {others} {count} {at}: {p:e} {wanted:e}"
                    );
                }
            }
        }
    }

    /// Against convolutions, for every number of other users with the second input.
    #[test]
    fn delta_is_the_largest_over_all_numbers_of_others() {
        for (low, high) in [(0.27, 0.73), (0.05, 0.95), (0.1, 0.6)] {
            let bits = Binary { low, high };
            for (n, epsilon) in [(2u64, 0.1f64), (40, 0.3), (40, 0.0), (150, 0.8)] {
                let mut expected = 0.0f64;
                for way in [bits, bits.mirrored()] {
                    for count in 0..n {
                        let sums = convolved(way, n - 1, count);
                        let at = |j: i64| sums.get(j as usize).copied().unwrap_or(0.0);
                        let of = |own: f64, j: i64| own * at(j - 1) + (1.0 - own) * at(j);
                        let delta: f64 = (0..=n as i64)
                            .map(|j| {
                                (of(way.high, j) - epsilon.exp() * of(way.low, j)).at_least(0.0)
                            })
                            .sum();
                        expected = expected.at_least(delta);
                    }
                }
                let found = bits.largest(n, epsilon);
                assert!(found.is_exact);
                assert!(
                    (found.delta / expected - 1.0).abs() < 1e-10,
                    "{low} {n} {epsilon}: {:e} {expected:e}",
                    found.delta
                );
            }
        }
    }
}
