//! Every histogram of independent messages with one distribution, with its probability to nearly all digits.

use leakgauge_stats::saddlepoint::{deviance, stirling_error};
use libm::{exp, log};

/// The distribution Q of the messages.
pub(super) struct Multinomial<'a> {
    law: &'a [f64],
    /// ln √(2πm)·e^(error of Stirling's formula at m), for the number m of messages.
    constant: f64,
    /// The same for each count from 1 on.
    constants: Vec<f64>,
    messages: u64,
}

/// ln √(2πx)·e^(error of Stirling's formula at x), 0 for x = 0.
fn constant(x: u64) -> f64 {
    if x == 0 {
        return 0.0;
    }
    let x = x as f64;
    stirling_error(x) + 0.5 * log(std::f64::consts::TAU * x)
}

impl<'a> Multinomial<'a> {
    pub fn new(law: &'a [f64], messages: u64) -> Self {
        Multinomial {
            law,
            constant: constant(messages),
            constants: (0..=messages + 1).map(constant).collect(),
            messages,
        }
    }

    /// The probability of a histogram less one message `without`.
    ///
    /// # Formula
    /// m!·Π q^c/c! = √(2πm)·e^(δ(m))·Π e^(−c·ln(c/mq) + c − mq)/(√(2πc)·e^(δ(c))), δ the error of Stirling's formula:
    /// no exponent is large unless the probability is tiny (C. Loader, *Fast and accurate computation of binomial
    /// probabilities*, 2000).
    fn mass(&self, counts: &[u64], without: usize) -> f64 {
        let mut exponent = self.constant;
        for (y, (&count, &q)) in counts.iter().zip(self.law).enumerate() {
            let count = count - u64::from(y == without);
            if q == 0.0 && count > 0 {
                return 0.0;
            }
            exponent -= deviance(count as f64, self.messages as f64 * q);
            exponent -= self.constants[count as usize];
        }
        exp(exponent)
    }

    /// Calls `each` for every histogram of one more message, with its counts and, for each observation y, the
    /// probability that the messages have this histogram less one y.
    pub fn for_each_extended(&self, mut each: impl FnMut(&[u64], &[f64])) {
        let kinds = self.law.len();
        let mut before = vec![0.0; kinds];
        let mut counts = vec![0; kinds];
        counts[kinds - 1] = self.messages + 1;
        loop {
            self.fill(&counts, &mut before);
            if before.iter().any(|p| *p > 0.0) {
                each(&counts, &before);
            }
            // The next one: the first count changes fastest, and the last is what is left.
            let last = kinds - 1;
            if kinds > 1 && counts[last] > 0 {
                counts[0] += 1;
                counts[last] -= 1;
                continue;
            }
            let Some(at) = (0..last).find(|at| counts[*at] > 0) else {
                return;
            };
            counts[last] = std::mem::take(&mut counts[at]);
            if at + 1 == last {
                return;
            }
            counts[at + 1] += 1;
            counts[last] -= 1;
        }
    }

    /// The probabilities of a histogram less each of its messages: m + 1 factors in common, unless Q lacks a message.
    fn fill(&self, counts: &[u64], before: &mut [f64]) {
        let mut base = None;
        for y in 0..counts.len() {
            before[y] = if counts[y] == 0 {
                0.0
            } else {
                // M(h − y) is in proportion to h_y/q_y.
                let share = counts[y] as f64 / self.law[y];
                match base {
                    Some((mass, first)) if self.law[y] > 0.0 => mass * (share / first),
                    _ => {
                        let mass = self.mass(counts, y);
                        if mass > f64::MIN_POSITIVE && self.law[y] > 0.0 {
                            base = Some((mass, share));
                        }
                        mass
                    }
                }
            };
        }
    }
}
