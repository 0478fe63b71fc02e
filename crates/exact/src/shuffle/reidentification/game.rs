//! The guessing game: n shuffled messages, k guesses.

use crate::extreme::Extreme;
use libm::{exp, expm1, log1p};
use serde::Serialize;

use super::quadrature::RULE;
use leakgauge_base::error::{Error, Result};
use leakgauge_stats::binomial_tail::at_most;

/// The largest number of messages, 2^53: every count up to it is exact as an `f64`.
pub const MAX_MESSAGES: u64 = 1 << 53;

/// The guessing game among n shuffled messages.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Game {
    messages: u64,
    guesses: u64,
    /// The probability γ that a message other than the target's is a decoy.
    keep: f64,
}

/// The success and the advantages of the optimal adversary.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Success {
    /// The number n of messages, including the target's.
    pub n: u64,
    /// The number k of guesses.
    pub guesses: u64,
    /// β_n^k, the probability that one of the guesses is the target's message.
    pub success: f64,
    /// Adv⁺ = β_n^k − k/n (k ≤ n): the gain over random guesses.
    pub additive_advantage: f64,
    /// Adv× = β_n^k/(k/n): the factor over random guesses.
    pub multiplicative_advantage: f64,
}

impl Success {
    pub(super) fn from_additive(game: &Game, additive: f64) -> Self {
        let blind = game.blind_success();
        let success = (blind + additive).at_most(1.0);
        Success {
            n: game.messages,
            guesses: game.guesses,
            success,
            additive_advantage: additive.at_most(1.0 - blind),
            multiplicative_advantage: success / blind,
        }
    }
}

impl Game {
    /// A game with n messages and k guesses. More guesses than messages are equivalent to k = n.
    ///
    /// # Errors
    /// n is 0 or exceeds [`MAX_MESSAGES`], or k is 0.
    pub fn new(messages: u64, guesses: u64) -> Result<Self> {
        if messages == 0 || messages > MAX_MESSAGES {
            return Err(Error::setting(
                "n",
                messages,
                "the number of messages, including the target's, must be between 1 and 2^53",
            ));
        }
        if guesses == 0 {
            return Err(Error::setting("guesses", 0, "must be at least 1"));
        }
        Ok(Game {
            messages,
            guesses,
            keep: 1.0,
        })
    }

    /// The same game, except that each of the n − 1 other messages is a decoy only with probability γ = `keep`;
    /// otherwise the adversary knows that it is not the target's (Game 3).
    ///
    /// # Errors
    /// γ is not a probability.
    pub fn thinned(self, keep: f64) -> Result<Self> {
        if !(0.0..=1.0).contains(&keep) {
            return Err(Error::parameter(
                format!("probability {keep}"),
                "must be between 0 and 1",
            ));
        }
        Ok(Game { keep, ..self })
    }

    /// The number n of messages.
    pub fn messages(&self) -> u64 {
        self.messages
    }

    /// The number k of guesses.
    pub fn guesses(&self) -> u64 {
        self.guesses
    }

    /// The probability of success of k random guesses, k/n.
    pub fn blind_success(&self) -> f64 {
        (self.guesses as f64 / self.messages as f64).at_most(1.0)
    }

    /// The success if P = Q, ∫₀¹ `ahead`. Without thinning it is k/n; with thinning it is
    /// E min(k, 1 + Bin(n − 1, γ))/(1 + Bin(n − 1, γ)).
    pub fn success_if_equal(&self) -> f64 {
        if self.keep == 1.0 {
            self.blind_success()
        } else {
            self.mean_ahead(0.0, 1.0)
        }
    }

    /// Whether there is a guess for every message.
    pub(super) fn is_won(&self) -> bool {
        self.guesses >= self.messages
    }

    /// The probability that fewer than k decoys rank ahead of the target, if each does with probability h:
    /// Pr[Bin(n − 1, γh) ≤ k − 1].
    pub(super) fn ahead(&self, h: f64) -> f64 {
        let others = (self.messages - 1) as f64;
        let p = (self.keep * h).at_most(1.0);
        if self.is_won() || p <= 0.0 {
            1.0
        } else if self.guesses == 1 {
            exp(others * log1p(-p))
        } else {
            at_most(self.guesses - 1, self.messages - 1, p)
        }
    }

    /// The mean of [`ahead`](Game::ahead) over \[from, from + width\].
    pub(super) fn mean_ahead(&self, from: f64, width: f64) -> f64 {
        if self.is_won() {
            1.0
        } else if width <= 0.0 || self.keep == 0.0 {
            self.ahead(from)
        } else if self.guesses == 1 {
            self.mean_first(from, width)
        } else {
            self.mean_by_steps(from, width)
        }
    }

    /// [(1 − γa)ⁿ − (1 − γb)ⁿ]/(γn(b − a)).
    fn mean_first(&self, from: f64, width: f64) -> f64 {
        let n = self.messages as f64;
        let left = (1.0 - self.keep * from).at_least(0.0);
        if left == 0.0 {
            return 0.0;
        }
        let part = (self.keep * width / left).at_most(1.0);
        let first = exp(n * log1p(-(self.keep * from).at_most(1.0)));
        let size = n * self.keep * width;
        if size == 0.0 {
            return self.ahead(from);
        }
        first * (-expm1(n * log1p(-part)) / size)
    }

    /// By a rule of few nodes where [`ahead`](Game::ahead) is nearly linear, by steps where it is nearly a polynomial,
    /// else by its antiderivative.
    fn mean_by_steps(&self, from: f64, width: f64) -> f64 {
        let left = (1.0 - self.keep * (from + width)).at_least(0.0);
        // Derivative j is at most (2(n − 1)/(1 − p))^j.
        let bend = 2.0 * self.messages as f64 * self.keep * width / left;
        let middle = from + 0.5 * width;
        if bend < 1e-7 {
            return self.ahead(middle);
        }
        if bend < 1e-3 {
            // Gauss and Legendre with two nodes.
            let aside = width / 12f64.sqrt();
            return 0.5 * (self.ahead(middle - aside) + self.ahead(middle + aside));
        }
        if width > 8.0 * self.step(from) {
            return self.mean_in_closed_form(from, width);
        }
        let mut sum = 0.0;
        self.steps(from, width, |at, step| {
            let inside: f64 = (RULE.nodes.iter().zip(&RULE.weights))
                .map(|(&u, &weight)| weight * self.ahead(at + u * step))
                .sum();
            sum += inside * (step / width);
        });
        sum
    }

    /// (H(γb) − H(γa))/(γ(b − a)), where H(x) = E min(k, Bin(n, x))/n has the derivative Pr\[Bin(n − 1, x) ≤ k − 1\].
    ///
    /// # Formula
    /// With F = Pr\[Bin(n − 1, x) ≤ k − 1\] it is nH(x) = nxF + k·Pr\[Bin(n, x) > k\]. Where x is above k/n,
    /// k − nH(x) = k·Pr\[Bin(n, x) ≤ k\] − nxF is used instead, which is small there.
    fn mean_in_closed_form(&self, from: f64, width: f64) -> f64 {
        let (n, k) = (self.messages as f64, self.guesses as f64);
        let place = |h: f64| (self.keep * h).at_most(1.0);
        let (low, high) = (place(from), place(from + width));
        let weighted = |x: f64| n * x * at_most(self.guesses - 1, self.messages - 1, x);
        let within = |x: f64| at_most(self.guesses, self.messages, x);
        let from_above = |x: f64| k * within(x) - weighted(x);
        let told = if low * n > k {
            from_above(low) - from_above(high)
        } else {
            let all = |x: f64| weighted(x) + k * (1.0 - within(x));
            all(high) - all(low)
        };
        (told / (n * self.keep * width)).clamp(0.0, 1.0)
    }

    /// Calls `f(start, length)` for steps over \[from, from + width\] on each of which
    /// [`ahead`](Game::ahead) is a polynomial in double precision, up to where it is negligible.
    pub(super) fn steps(&self, from: f64, width: f64, mut f: impl FnMut(f64, f64)) {
        let end = from + width;
        let mut at = from;
        while at < end {
            let step = self.step(at);
            // The last step ends exactly at the end of the segment.
            if at + 1.25 * step >= end || at + step <= at {
                f(at, end - at);
                return;
            }
            f(at, step);
            at += step;
            if self.has_vanished(at) {
                return;
            }
        }
    }

    /// A width over which [`ahead`](Game::ahead) changes little enough for the quadrature rule.
    fn step(&self, h: f64) -> f64 {
        let n = self.messages as f64;
        let p = (self.keep * h).at_most(1.0);
        let spread = (p * (1.0 - p) / n).sqrt();
        let share = self.guesses as f64 / n;
        // Up to half of the way to k/n it is 1 to double precision, by Chernoff's bound.
        let half = 0.5 * (share - p);
        let flat = half > 0.0 && n * divergence(share, p + half) > 45.0;
        (4.0 / n)
            .at_least(1.5 * spread)
            .at_least(if flat { half } else { 0.0 })
            / self.keep
    }

    /// Whether [`ahead`](Game::ahead) is a polynomial of the interpolation's degree there.
    pub(super) fn is_smooth(&self, from: f64, width: f64) -> bool {
        self.keep == 0.0 || {
            let left = (1.0 - self.keep * (from + width)).at_least(0.0);
            // A derivative of the binomial tail is at most 2n times the one before it, of a power n.
            let most = if self.guesses == 1 { 2.0 } else { 1.0 };
            self.messages as f64 * self.keep * width <= most * left
        }
    }

    /// Whether the part beyond h is negligible: it contributes less than 1e-19 of the success of random guesses.
    pub(super) fn has_vanished(&self, h: f64) -> bool {
        self.ahead(h) < 1e-19 * self.blind_success()
    }
}

/// The Kullback–Leibler divergence of Bernoulli distributions.
fn divergence(p: f64, q: f64) -> f64 {
    let part = |p: f64, q: f64| if p > 0.0 { p * (p / q).ln() } else { 0.0 };
    part(p, q) + part(1.0 - p, 1.0 - q)
}
