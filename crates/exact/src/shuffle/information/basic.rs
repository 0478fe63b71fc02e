//! One target among independent decoys: mutual information between the shuffled messages and the target's position
//! or message.

use super::ratio::{MIN_SHARED, RatioLaw, excess};
use super::spread::Spread;
use crate::channel::RowProblem;
use crate::extreme::Extreme;
use leakgauge_base::error::{Error, Result};

/// Below this share of its two parts their difference has lost digits.
const CANCELED: f64 = 1e-3;
/// The largest number of messages for which the sum without differences is computed; it takes their square.
const FEW_MESSAGES: usize = 4096;

/// The target's message has distribution P, each of the other n − 1 messages has distribution Q. All are independent
/// and are then shuffled.
///
/// ```
/// use leakgauge_exact::shuffle::information::Basic;
///
/// // Decoys with the target's own distribution hide the position, and nearly all of the message.
/// let basic = Basic::new(&[0.5, 0.3, 0.2], &[0.5, 0.3, 0.2])?;
/// assert_eq!(basic.position(100)?, 0.0);
/// let message = basic.message(100)?;
/// assert!((message / basic.message_asymptotic(100)? - 1.0).abs() < 0.02);
/// # Ok::<(), leakgauge_base::error::Error>(())
/// ```
///
/// # References
/// Su, Cheng, Wang, *Mutual Information Bounds in the Shuffle Model*, section III.
#[derive(Debug, Clone)]
pub struct Basic {
    /// For each message that decoys send: (p given that the target sends one of them, q), not both zero.
    shared: Vec<(f64, f64)>,
    /// P of the messages that decoys never send.
    revealing: Vec<f64>,
    ratio: RatioLaw,
}

/// The constants of the asymptotic expansions in Theorems 4, 5, 7 and 8. P′ is the target's distribution given that
/// its message is one that decoys send.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coefficients {
    /// β, the probability that the target sends a message that no decoy sends.
    pub revealed: f64,
    /// D(P′‖Q).
    pub divergence: f64,
    /// χ²(P′‖Q).
    pub chi_squared: f64,
    /// Σ p′(1 − p′)/q.
    pub message: f64,
    /// κ₃/6 − χ⁴/4, the coefficient of 1/n² in the information about the position; κ₃ = E_Q\[(P′/Q − 1)³\].
    pub second_order: f64,
}

impl Basic {
    /// From two distributions over the same messages, in the same order.
    ///
    /// # Errors
    /// An argument is not a probability distribution, or the lengths differ.
    pub fn new(target: &[f64], decoys: &[f64]) -> Result<Basic> {
        check("target distribution", target)?;
        check("decoy distribution", decoys)?;
        if target.len() != decoys.len() {
            let problem = format!(
                "has {} messages, the target has {}",
                decoys.len(),
                target.len()
            );
            return Err(Error::parameter("decoy distribution", problem));
        }
        let (whole_p, whole_q): (f64, f64) = (target.iter().sum(), decoys.iter().sum());
        let pairs = || {
            target
                .iter()
                .zip(decoys)
                .map(|(p, q)| (p / whole_p, q / whole_q))
                .map(|(p, q)| (p, if q < MIN_SHARED { 0.0 } else { q }))
        };
        let revealing: Vec<f64> = pairs()
            .filter(|&(p, q)| q == 0.0 && p > 0.0)
            .map(|(p, _)| p)
            .collect();
        let kept: f64 = pairs().filter(|&(_, q)| q > 0.0).map(|(p, _)| p).sum();
        let scale = if revealing.is_empty() || kept == 0.0 {
            1.0
        } else {
            kept
        };
        let shared: Vec<(f64, f64)> = pairs()
            .filter(|&(_, q)| q > 0.0)
            .map(|(p, q)| (p / scale, q))
            .collect();
        let ratio = RatioLaw::new(shared.iter().copied());
        Ok(Basic {
            shared,
            revealing,
            ratio,
        })
    }

    /// β, the probability that the target sends a message that decoys never send.
    fn revealed(&self) -> f64 {
        // The sum of no terms is −0.
        (self.revealing.iter().sum::<f64>() + 0.0).at_most(1.0)
    }

    /// 1 − β; 0 if no message is shared.
    fn hidden(&self) -> f64 {
        let shared: f64 = self.shared.iter().map(|(p, _)| p).sum();
        if shared == 0.0 {
            0.0
        } else {
            1.0 - self.revealed()
        }
    }

    /// The exact mutual information I(K; Z) between the position of the target's message and the shuffled messages.
    ///
    /// # Formula
    /// β·ln n + (1 − β)·(D(P′‖Q) − E_{Qⁿ}\[h(S/n − 1)\]), S = Σ P′(zᵢ)/Q(zᵢ), h(d) = (1 + d)·ln(1 + d) − d.
    ///
    /// # Errors
    /// n is 0.
    pub fn position(&self, n: u64) -> Result<f64> {
        check_size(n)?;
        let hidden = self.hidden();
        let told = self.revealed() * (n as f64).ln();
        if hidden == 0.0 || n == 1 {
            return Ok(told);
        }
        Ok(told + hidden * (self.ratio.divergence() - self.ratio.mixing_gap(n)).at_least(0.0))
    }

    /// The exact mutual information I(Y₁; Z) between the target's message and the shuffled messages.
    ///
    /// # Formula
    /// With β = 0 it is Σ p·E\[h(X/nq − 1)\] − E_{Qⁿ}\[h(S/n − 1)\], X binomial(n, q), equations (2) and
    /// (16) rewritten; else Σ_{q=0} p·ln(1/p) + (1 − β)·ln(1/(1 − β)) + (1 − β)·(the value for P′).
    ///
    /// # Errors
    /// n is 0.
    pub fn message(&self, n: u64) -> Result<f64> {
        check_size(n)?;
        let hidden = self.hidden();
        if hidden == 0.0 {
            return Ok(self.revealed_entropy());
        }
        let mut messages: Vec<(f64, f64)> = self.shared.iter().map(|&(p, q)| (q, p)).collect();
        messages.retain(|(_, p)| *p > 0.0);
        messages.sort_by(|a, b| a.0.total_cmp(&b.0));
        messages.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        let each = |&(q, p): &(f64, f64)| p * RatioLaw::of_one_message(q).mixing_gap(n);
        let of_messages: f64 = if messages.len() < 64 {
            messages.iter().map(each).sum()
        } else {
            let terms = leakgauge_base::parallel::map(messages.len(), |at| each(&messages[at]));
            terms.iter().sum()
        };
        let mut shared = (of_messages - self.ratio.mixing_gap(n)).at_least(0.0);
        if shared < CANCELED * of_messages && self.shared.len() <= FEW_MESSAGES {
            shared = self.spread().gap(n);
        }
        Ok(self.revealed_entropy() + hidden * shared)
    }

    /// Every message as an input that sends it: its information is that of the message, without differences of sums.
    fn spread(&self) -> Spread {
        let sure = |at: usize| -> Vec<f64> {
            (0..self.shared.len())
                .map(|y| f64::from(u8::from(y == at)))
                .collect()
        };
        let possible = self
            .shared
            .iter()
            .enumerate()
            .filter(|(_, (p, _))| *p > 0.0);
        let inputs: Vec<(f64, Vec<f64>)> = possible.map(|(at, (p, _))| (*p, sure(at))).collect();
        let decoys: Vec<f64> = self.shared.iter().map(|(_, q)| *q).collect();
        Spread::new(&inputs, &decoys)
    }

    /// The part of the information from messages that decoys never send.
    fn revealed_entropy(&self) -> f64 {
        let each: f64 = self.revealing.iter().map(|p| -p * p.ln()).sum();
        let hidden = self.hidden();
        let rest = if hidden > 0.0 {
            hidden * (-self.revealed()).ln_1p()
        } else {
            0.0
        };
        (each - rest).at_least(0.0) + 0.0
    }

    /// The constants of the expansions.
    pub fn coefficients(&self) -> Coefficients {
        let chi_squared = self.ratio.moment(2);
        let message = self.shared.iter().map(|(p, q)| p * (1.0 - p) / q).sum();
        Coefficients {
            revealed: self.revealed(),
            divergence: self.ratio.divergence(),
            chi_squared,
            message,
            second_order: self.ratio.moment(3) / 6.0 - chi_squared * chi_squared / 4.0,
        }
    }

    /// The expansion of I(K; Z) to the order of 1/n (Theorems 2, 4 and 7). It is not a bound.
    ///
    /// # Formula
    /// β·ln n + (1 − β)·(D(P′‖Q) − χ²(P′‖Q)/2n). The remainder is O(n⁻²).
    ///
    /// # Errors
    /// n is 0.
    pub fn position_asymptotic(&self, n: u64) -> Result<f64> {
        check_size(n)?;
        let (c, hidden) = (self.coefficients(), self.hidden());
        let told = c.revealed * (n as f64).ln();
        Ok(if hidden == 0.0 {
            told
        } else {
            told + hidden * (c.divergence - c.chi_squared / (2.0 * n as f64))
        })
    }

    /// The expansion of I(Y₁; Z) to the order of 1/n (Theorems 3, 5 and 8). It is not a bound.
    ///
    /// # Formula
    /// Σ_{q=0} p·ln(1/p) + (1 − β)·ln(1/(1 − β)) + (1 − β)·Σ p′(1 − p′)/q /2n.
    ///
    /// # Errors
    /// n is 0.
    pub fn message_asymptotic(&self, n: u64) -> Result<f64> {
        check_size(n)?;
        let hidden = self.hidden();
        let shared = if hidden == 0.0 {
            0.0
        } else {
            hidden * self.coefficients().message / (2.0 * n as f64)
        };
        Ok(self.revealed_entropy() + shared)
    }

    /// The pairs (p′, q) of messages that decoys send.
    pub(super) fn shared(&self) -> &[(f64, f64)] {
        &self.shared
    }

    /// The parts that do not depend on the decoys' messages: for the position with n messages, and for the message.
    pub(super) fn known_parts(&self, n: u64) -> (f64, f64, f64) {
        let hidden = self.hidden();
        (
            hidden,
            self.revealed() * (n as f64).ln(),
            self.revealed_entropy(),
        )
    }
}

/// I(K;Z) and D at hand: E of h(x − 1) for callers that have x.
pub(super) fn excess_of(x: f64) -> f64 {
    excess(x - 1.0)
}

/// Checks that an argument is a probability distribution.
pub(super) fn check(what: &str, law: &[f64]) -> Result<()> {
    let problem = if law.is_empty() {
        Some("is empty".to_owned())
    } else {
        RowProblem::find(law).map(|p| p.to_string())
    };
    match problem {
        None => Ok(()),
        Some(problem) => Err(Error::parameter(what, problem)),
    }
}

/// Checks that a number of messages is from 1 to [`MAX_MESSAGES`].
pub fn check_size(n: u64) -> Result<()> {
    if n == 0 {
        return Err(Error::setting("n", 0, "there is nothing to shuffle")
            .with_hint("n includes the target's message, so it is at least 1"));
    }
    if n > MAX_MESSAGES {
        return Err(Error::setting(
            "n",
            n,
            format!("too many messages: at most {MAX_MESSAGES} are possible"),
        ));
    }
    Ok(())
}

/// The largest number of messages, 2^53: every count up to it is exact as an `f64`.
pub const MAX_MESSAGES: u64 = 1 << 53;
