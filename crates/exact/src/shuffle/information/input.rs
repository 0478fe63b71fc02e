//! Users who randomize their inputs before shuffling: mutual information between one input and the shuffled messages.

use super::basic::{check, check_size};
use super::ratio::{MIN_SHARED, excess};
use super::spread::{Spread, mean};
use crate::channel::{Channel, Prior};
use crate::extreme::Extreme;
use leakgauge_base::error::{Error, Result};

/// A randomizer, the distribution of the target's input, and the distribution of every other user's message.
///
/// # References
/// Mutual Information Bounds in the Shuffle Model, section IV, Lemma 1.
#[derive(Debug, Clone)]
pub struct Signal {
    /// P(x) and the rows R_x over the messages, without inputs of probability 0.
    inputs: Vec<(f64, Vec<f64>)>,
    decoys: Vec<f64>,
}

impl Signal {
    /// The target's input has distribution `prior` and is sent through `randomizer`. The other n − 1 messages are
    /// independent with distribution `decoys` over the randomizer's observations.
    ///
    /// # Errors
    /// The prior or the decoys do not fit the randomizer.
    pub fn new(randomizer: &Channel, prior: &Prior, decoys: &[f64]) -> Result<Signal> {
        check("decoy distribution", decoys)?;
        check_fit(randomizer, prior, decoys.len())?;
        let weighted = randomizer.rows().zip(prior.weights());
        let inputs = weighted
            .filter(|(_, p)| **p > 0.0)
            .map(|(row, p)| (*p, row.to_vec()))
            .collect();
        let whole: f64 = decoys.iter().sum();
        Ok(Signal {
            inputs,
            decoys: possible(decoys.iter().map(|q| q / whole)),
        })
    }

    /// The other users have independent inputs with distribution `others` and use the same randomizer.
    ///
    /// # Errors
    /// A prior does not fit the randomizer.
    pub fn among(randomizer: &Channel, prior: &Prior, others: &Prior) -> Result<Signal> {
        let decoys = randomizer.push_forward(others)?;
        Signal::new(randomizer, prior, &decoys)
    }

    /// The blanket-mixed instance of Theorem 13: a decoy's message is y with probability min_x R_x(y)
    /// and otherwise reveals nothing. Its information is an upper bound on I(X₁; Z | X₋₁) for any inputs of the other
    /// users, also dependent ones (Corollary 3).
    ///
    /// # Errors
    /// The prior does not fit the randomizer.
    pub fn blanket(randomizer: &Channel, prior: &Prior) -> Result<Signal> {
        let blanket = Blanket::of(randomizer);
        let mut law = blanket.generalized();
        let whole: f64 = law.iter().sum();
        law = possible(law.iter().map(|q| q / whole));
        check_fit(randomizer, prior, law.len() - 1)?;
        let weighted = randomizer
            .rows()
            .zip(prior.weights())
            .filter(|(_, p)| **p > 0.0);
        let widened = |row: &[f64]| row.iter().copied().chain([0.0]).collect();
        Ok(Signal {
            inputs: weighted.map(|(row, p)| (*p, widened(row))).collect(),
            decoys: law,
        })
    }

    /// The exact mutual information I(X₁; Z) between the target's input and the shuffled messages.
    ///
    /// # Formula
    /// Σ_x P(x)·G(R_x) − G(P̄) where G(R) = E_{Qⁿ}\[(T/n)·ln(T/n)\], T = Σ R(zᵢ)/Q(zᵢ), P̄ = Σ_x P(x)·R_x. A
    /// message that no decoy sends is the target's, so it reveals as much as without shuffling.
    ///
    /// # Errors
    /// n is 0.
    pub fn information(&self, n: u64) -> Result<f64> {
        check_size(n)?;
        if self.decoys.iter().all(|q| *q > 0.0) {
            return Ok(Spread::new(&self.inputs, &self.decoys).gap(n));
        }
        let shared = |row: &[f64]| -> f64 {
            let cells = row.iter().zip(&self.decoys);
            cells.filter(|(_, q)| **q > 0.0).map(|(r, _)| r).sum()
        };
        let kept: f64 = self.inputs.iter().map(|(p, row)| p * shared(row)).sum();
        let mut told = self.revealed();
        if kept > 0.0 {
            // Given that the message is shared, the input has distribution P(x)·R_x(shared)/kept.
            let conditional = self.inputs.iter().map(|(p, row)| {
                let whole = shared(row);
                (p * whole / kept, row.iter().map(|r| r / whole).collect())
            });
            let conditional: Vec<(f64, Vec<f64>)> = conditional.filter(|(p, _)| *p > 0.0).collect();
            told += kept * Spread::new(&conditional, &self.decoys).gap(n);
        }
        Ok(told)
    }

    /// I(X₁; T), where T is the message if no decoy sends it, and else a constant.
    ///
    /// # Formula
    /// Σ_x P(x) Σ_t m_t·h(r_t/m_t − 1), h(d) = (1 + d)·ln(1 + d) − d, m the mean of the inputs: no term is negative.
    fn revealed(&self) -> f64 {
        let alone = |row: &[f64]| -> Vec<f64> {
            let cells = row.iter().zip(&self.decoys);
            cells.filter(|(_, q)| **q == 0.0).map(|(r, _)| *r).collect()
        };
        let rows: Vec<(f64, Vec<f64>)> = self
            .inputs
            .iter()
            .map(|(p, row)| (*p, alone(row)))
            .collect();
        let average = mean(&rows, rows[0].1.len());
        let revealed: f64 = average.iter().sum();
        let told = |row: &[f64]| -> f64 {
            let pairs = row.iter().zip(&average).filter(|(_, m)| **m > 0.0);
            let each: f64 = pairs.map(|(r, m)| m * excess((r - m) / m)).sum();
            let hidden = 1.0 - revealed;
            let more = revealed - row.iter().sum::<f64>();
            if hidden > 0.0 {
                each + hidden * excess(more / hidden)
            } else {
                each
            }
        };
        rows.iter().map(|(p, row)| p * told(row)).sum()
    }

    /// The coefficient c of I(X₁; Z) ≈ c/2n (Lemma 1): mean χ²(R_x‖Q) minus χ²(P̄‖Q). Infinite if some input has a
    /// message that no decoy sends. It is not a bound.
    pub fn coefficient(&self) -> f64 {
        let average = mean(&self.inputs, self.decoys.len());
        let spread = |y: usize| -> f64 {
            self.inputs
                .iter()
                .map(|(p, row)| p * (row[y] - average[y]).powi(2))
                .sum()
        };
        let over = |(y, q): (usize, &f64)| match spread(y) {
            0.0 => 0.0,
            spread => spread / q,
        };
        self.decoys.iter().enumerate().map(over).sum()
    }

    /// The mean χ²(R_x‖Q) over the inputs.
    pub fn mean_chi_squared(&self) -> f64 {
        let term = |r: f64, q: f64| if r == q { 0.0 } else { (r - q).powi(2) / q };
        let each = |row: &Vec<f64>| -> f64 {
            row.iter()
                .zip(&self.decoys)
                .map(|(&r, &q)| term(r, q))
                .sum()
        };
        self.inputs.iter().map(|(p, row)| p * each(row)).sum()
    }
}

/// Messages too unlikely to meet are none.
fn possible(law: impl Iterator<Item = f64>) -> Vec<f64> {
    law.map(|q| if q < MIN_SHARED { 0.0 } else { q }).collect()
}

fn check_fit(randomizer: &Channel, prior: &Prior, messages: usize) -> Result<()> {
    let (inputs, observations) = (randomizer.secrets().len(), randomizer.observations().len());
    if prior.weights().len() != inputs {
        let problem = format!(
            "is over {} inputs, the randomizer has {inputs}",
            prior.weights().len()
        );
        return Err(Error::parameter("prior of the target's input", problem));
    }
    if messages != observations {
        let problem = format!("has {messages} messages, the randomizer has {observations}");
        return Err(Error::parameter("decoy distribution", problem));
    }
    Ok(())
}

/// The blanket of a randomizer: the part of the message distribution that all inputs share.
///
/// # References
/// Mutual Information Bounds in the Shuffle Model, Definition 5.
#[derive(Debug, Clone, PartialEq)]
pub struct Blanket {
    /// min_x R_x(y) for each message y: γ times the blanket distribution.
    pub common: Vec<f64>,
    /// γ, the sum of `common`.
    pub gamma: f64,
    /// 1 − γ.
    rest: f64,
}

impl Blanket {
    /// The blanket of a randomizer.
    pub fn of(randomizer: &Channel) -> Blanket {
        let above = randomizer.above_least();
        Blanket {
            rest: above[..randomizer.observations().len()].iter().sum(),
            ..Self::of_rows(randomizer.rows())
        }
    }

    /// The blanket of the message distributions of several users.
    pub(super) fn of_rows<'r>(mut rows: impl Iterator<Item = &'r [f64]>) -> Blanket {
        let first = rows.next().unwrap_or_default();
        let mut common = first.to_vec();
        for row in rows {
            common
                .iter_mut()
                .zip(row)
                .for_each(|(least, r)| *least = least.at_most(*r));
        }
        // 1 − γ as a sum of differences, which stays accurate where γ is nearly 1.
        let rest = first.iter().zip(&common).map(|(r, least)| r - least).sum();
        let gamma = common.iter().sum::<f64>().at_most(1.0);
        Blanket {
            common,
            gamma,
            rest,
        }
    }

    /// An upper bound on I(K; Z | X) for any inputs of the users and any n, at most ε where all messages are possible
    /// under every input; infinite if some message of an input is not in the blanket.
    ///
    /// # Formula
    /// max_x Σ_y R_x(y)·ln(R_x(y)/min_x′ R_x′(y)) = max_x D(R_x‖Q) + ln(1/γ), Q the blanket distribution.
    ///
    /// Proof: tell the adversary which of the other users' messages are from the blanket. With the target's they are N
    /// of the n, N = 1 + Bin(n − 1, γ) for any inputs, and their positions tell E ln(n/N) ≤ ln E\[n/N\] ≤ ln(1/γ) about
    /// the target's. Among them it is one of N messages of which the others have distribution Q: at most D(R_x‖Q) more.
    /// As R_x ≤ e^ε·min R, the sum is at most ε: half of the bound of Theorem 11.
    ///
    /// Where the ratio is at most 2, its logarithm is −ln(1 − (R − min R)/R): no term is negative, so that rounding
    /// does not put the bound below what it bounds.
    pub fn position_bound(&self, randomizer: &Channel) -> f64 {
        let above = randomizer.above_least();
        let told = |(row, above): (&[f64], &[f64])| -> f64 {
            let cells = row.iter().zip(above).zip(&self.common);
            let cells = cells.filter(|((r, _), _)| **r > 0.0);
            cells
                .map(|((r, above), least)| match above / r {
                    share if share <= 0.5 => -r * (-share).ln_1p(),
                    _ => r * (r / least).ln(),
                })
                .sum()
        };
        let width = randomizer.observations().len();
        let rows = randomizer.rows().zip(above.chunks_exact(width));
        rows.map(told).fold(0.0, f64::at_least)
    }

    /// The generalized blanket distribution: `common`, followed by 1 − γ for "not from the blanket".
    pub fn generalized(&self) -> Vec<f64> {
        self.common.iter().copied().chain([self.rest]).collect()
    }
}

/// Bounds that hold for any ε-private randomizer and any inputs of the users.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrivacyBounds {
    /// I(K; Z | X) ≤ 2ε (Theorem 11): a bound for every n.
    pub position: f64,
    /// (e^ε − 1)/2n (Theorem 14): the bound on I(X₁; Z | X₋₁) up to O(n^(−3/2)); infinite if e^ε is.
    pub input: f64,
    /// (m − 1)·e^ε/2n: the clone bound on I(Y₁; Z | X₋₁) (section V), up to O(n^(−3/2)).
    pub message: f64,
}

/// The bounds for any ε-locally private randomizer with m = `messages` messages.
///
/// # Errors
/// ε is negative or NaN, or n is 0.
pub fn privacy_bounds(epsilon: f64, messages: u64, n: u64) -> Result<PrivacyBounds> {
    check_size(n)?;
    if epsilon.is_nan() || epsilon < 0.0 {
        return Err(Error::parameter(
            format!("epsilon {epsilon}"),
            "must be at least 0",
        ));
    }
    let twice = 2.0 * n as f64;
    Ok(PrivacyBounds {
        position: 2.0 * epsilon,
        input: epsilon.exp_m1() / twice,
        message: if messages <= 1 {
            0.0
        } else {
            (messages - 1) as f64 * epsilon.exp() / twice
        },
    })
}
