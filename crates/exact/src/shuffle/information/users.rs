//! Users with different message distributions: exact values for few users, and bounds from their blanket.

use super::basic::{Basic, check, check_size};
use super::input::Blanket;
use crate::channel::{Channel, Prior};
use crate::extreme::Extreme;
use crate::histogram::{HistogramLaw, OUTSIDE};
use leakgauge_base::error::{Error, Result};

/// A target among independent users with different message distributions.
///
/// This also covers inputs that the adversary knows: a user with known input x has distribution R_x.
#[derive(Debug, Clone)]
pub struct Users {
    target: Vec<f64>,
    others: Vec<(Vec<f64>, u64)>,
}

/// An upper bound on I(Y₁; Z) from the blanket of the other users, and the users it leaves out.
#[derive(Debug, Clone, PartialEq)]
pub struct BlanketBound {
    /// The upper bound on I(Y₁; Z), in nats.
    pub information: f64,
    /// The blanket: one entry per message, then 1 − γ for "not from the blanket".
    pub blanket: Vec<f64>,
    /// The positions of the groups of other users that the bound leaves out.
    pub excluded: Vec<usize>,
    /// The number of messages that the bound uses, including the target's.
    pub messages: u64,
}

impl Users {
    /// From the target's distribution and groups of other users (distribution, number of users).
    ///
    /// # Errors
    /// A distribution is invalid, the lengths differ, or there are too many users.
    pub fn new(target: &[f64], others: &[(Vec<f64>, u64)]) -> Result<Users> {
        check("target distribution", target)?;
        for (at, (law, _)) in others.iter().enumerate() {
            let what = format!("distribution {} of other users", at + 1);
            check(&what, law)?;
            if law.len() != target.len() {
                let problem = format!(
                    "has {} messages, the target has {}",
                    law.len(),
                    target.len()
                );
                return Err(Error::parameter(what, problem));
            }
        }
        let users = Users {
            target: target.to_vec(),
            others: others.to_vec(),
        };
        match others
            .iter()
            .try_fold(1u64, |sum, (_, count)| sum.checked_add(*count))
        {
            Some(n) => check_size(n)?,
            None => {
                return Err(Error::parameter(
                    "other users",
                    "there are too many of them",
                ));
            }
        }
        Ok(users)
    }

    /// The number of messages, including the target's.
    pub fn messages(&self) -> u64 {
        1 + self.others.iter().map(|(_, count)| count).sum::<u64>()
    }

    fn known(&self) -> Result<HistogramLaw> {
        known_law(&self.others, self.target.len(), OUTSIDE)
    }

    /// The exact mutual information I(K; Z) about the position of the target's message.
    ///
    /// # Formula
    /// Σ_h Σ_y R(y)·M(h − y)·ln(n·R(y)·M(h − y)/(h_y·P(h))), M the distribution of the other users' histogram, P(h) =
    /// Σ_y R(y)·M(h − y). Given inputs x it is I(K; Z | X = x), at most 2ε (Theorem 11).
    ///
    /// # Errors
    /// There are too many histograms.
    pub fn position(&self) -> Result<f64> {
        let n = self.messages() as f64;
        let mut told = 0.0;
        self.known()?.for_each_extended(|counts, before| {
            let joint = |y: usize| self.target[y] * before[y];
            let whole: f64 = (0..counts.len()).map(joint).sum();
            if whole == 0.0 {
                return;
            }
            // P(h)·D(posterior over positions ‖ uniform distribution), without cancellation.
            for (y, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
                let prior = *count as f64 / n;
                told += whole * prior * super::basic::excess_of(joint(y) / (whole * prior));
            }
        });
        // Rounding must not lift what is 0 above its bound.
        Ok(told.at_most(self.position_bound()))
    }

    /// The exact mutual information I(Y₁; Z) about the target's message.
    ///
    /// # Errors
    /// There are too many histograms.
    pub fn message(&self) -> Result<f64> {
        let symbols = self.target.len();
        let identity: Vec<Vec<f64>> = (0..symbols)
            .map(|x| (0..symbols).map(|y| f64::from(u8::from(x == y))).collect())
            .collect();
        information_of(&self.known()?, &self.target, |x| &identity[x])
    }

    /// The bound of Theorem 10 on I(Y₁; Z), over all other users or all but outliers.
    ///
    /// Groups of users are left out greedily, as long as that lowers the bound. Every choice gives a valid bound,
    /// because the messages of omitted users can be added without knowledge of the target.
    ///
    /// # Errors
    /// As [`Users::new`].
    pub fn blanket_bound(&self, exclude_outliers: bool) -> Result<BlanketBound> {
        let mut kept: Vec<usize> = (0..self.others.len())
            .filter(|&i| self.others[i].1 > 0)
            .collect();
        let mut best = self.bound_by(&kept)?;
        while exclude_outliers && !kept.is_empty() {
            let without = (0..kept.len()).map(|leave| {
                let mut fewer = kept.clone();
                fewer.remove(leave);
                self.bound_by(&fewer).map(|bound| (bound, fewer))
            });
            let candidates = without.collect::<Result<Vec<_>>>()?;
            let least = candidates
                .into_iter()
                .min_by(|a, b| a.0.information.total_cmp(&b.0.information));
            match least {
                Some((bound, fewer)) if bound.information < best.information => {
                    (best, kept) = (bound, fewer)
                }
                _ => break,
            }
        }
        Ok(best)
    }

    fn bound_by(&self, kept: &[usize]) -> Result<BlanketBound> {
        let rows = kept.iter().map(|&i| self.others[i].0.as_slice());
        let blanket = Blanket::of_rows(rows).generalized();
        let messages = 1 + kept.iter().map(|&i| self.others[i].1).sum::<u64>();
        let excluded = (0..self.others.len())
            .filter(|i| !kept.contains(i))
            .collect();
        let target: Vec<f64> = self.target.iter().copied().chain([0.0]).collect();
        let information = if kept.is_empty() {
            Basic::new(&self.target, &self.target)?.message(1)?
        } else {
            Basic::new(&target, &blanket)?.message(messages)?
        };
        Ok(BlanketBound {
            information,
            blanket,
            excluded,
            messages,
        })
    }

    /// An upper bound on I(K; Z) (Theorem 12): 2ε, where e^ε is the largest ratio of two users' probabilities of a
    /// message. Infinite if some user never sends a message that another can send.
    pub fn position_bound(&self) -> f64 {
        let present = self
            .others
            .iter()
            .filter(|(_, count)| *count > 0)
            .map(|(law, _)| law);
        let laws: Vec<&Vec<f64>> = present.chain([&self.target]).collect();
        let spread = |y: usize| {
            let most = laws.iter().map(|law| law[y]).fold(0.0, f64::at_least);
            let least = laws
                .iter()
                .map(|law| law[y])
                .fold(f64::INFINITY, f64::at_most);
            if most == 0.0 {
                0.0
            } else {
                (most / least).ln()
            }
        };
        2.0 * (0..self.target.len()).map(spread).fold(0.0, f64::at_least)
    }
}

/// The exact I(X₁; Z | X₋₁ = x₋₁) for an adversary who knows how many other users have each input.
///
/// # Errors
/// The prior or the counts do not fit the randomizer, or there are too many histograms.
pub fn informed(randomizer: &Channel, prior: &Prior, known: &[u64]) -> Result<f64> {
    let inputs = randomizer.secrets().len();
    if prior.weights().len() != inputs || known.len() != inputs {
        let problem = format!(
            "the randomizer has {inputs} inputs, the prior {}, the known counts {}",
            prior.weights().len(),
            known.len()
        );
        return Err(Error::parameter("informed adversary", problem));
    }
    let law = informed_law(randomizer, known, OUTSIDE)?;
    information_of(&law, prior.weights(), |x| randomizer.row(x))
}

/// The distribution of the histogram of the messages of users with known inputs; each side of each count may have some
/// probability outside of what is listed.
pub fn informed_law(randomizer: &Channel, known: &[u64], outside: f64) -> Result<HistogramLaw> {
    let groups: Vec<(Vec<f64>, u64)> = randomizer
        .rows()
        .zip(known)
        .map(|(row, count)| (row.to_vec(), *count))
        .collect();
    known_law(&groups, randomizer.observations().len(), outside)
}

fn known_law(groups: &[(Vec<f64>, u64)], symbols: usize, outside: f64) -> Result<HistogramLaw> {
    let groups: Vec<(&[f64], u64)> = groups
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(row, count)| (row.as_slice(), *count))
        .collect();
    HistogramLaw::within(&groups, symbols, outside)
}

/// The mutual information between an input and the histogram that includes its message.
fn information_of<'r>(
    law: &HistogramLaw,
    prior: &[f64],
    row: impl Fn(usize) -> &'r [f64],
) -> Result<f64> {
    let mut told = 0.0;
    let mut given = vec![0.0; prior.len()];
    law.for_each_extended(|_, before| {
        for (x, slot) in given.iter_mut().enumerate() {
            *slot = if prior[x] == 0.0 {
                0.0
            } else {
                row(x).iter().zip(before).map(|(r, m)| r * m).sum()
            };
        }
        let whole: f64 = given.iter().zip(prior).map(|(l, p)| l * p).sum();
        if whole > 0.0 {
            let terms = given.iter().zip(prior).filter(|(_, p)| **p > 0.0);
            told += terms
                .map(|(l, p)| p * whole * super::basic::excess_of(l / whole))
                .sum::<f64>();
        }
    });
    Ok(told)
}
