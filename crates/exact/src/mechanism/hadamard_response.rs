//! Hadamard response.

use std::fmt;

use libm::{exp, tanh};
use rand::{Rng, RngExt};

use super::alphabet::Alphabet;
use super::symmetric::{Randomizer, Symmetric};
use super::{Build, Entry, Mechanism, Secrets, secrets};
use leakgauge_base::error::Result;
use leakgauge_base::grammar::{Arguments, Bounds, Parameter, format_number};

pub(super) const ENTRY: Entry = Entry {
    name: "hadamard-response",
    about: "outputs a column of a Hadamard matrix, e^ε times as likely if the secret's row has +1 there",
    parameters: &[
        Parameter::positional("epsilon", "the ε of local differential privacy, at least 0"),
        secrets::PARAMETER,
    ],
    build: Build::Alone(build),
};

/// Hadamard response over k labels: the observation is a whole number below K, the smallest power
/// of 2 above k.
///
/// # Formula
/// Label number s, from 0, has row s + 1 of the K × K Hadamard matrix of Sylvester, whose entry at
/// (r, o) is +1 if r and o have an even number of binary ones in common. Observations with +1 have
/// probability 2e^ε/(K(e^ε + 1)), the others 2/(K(e^ε + 1)). Two rows differ in half of the
/// columns: total variation tanh(ε/2)/2, Bayes security 1/2 + 1/(e^ε + 1).
///
/// # Conditions
/// ε ≥ 0 and finite. This is the variant for high privacy, with one block.
///
/// # References
/// J. Acharya, Z. Sun, H. Zhang, *Hadamard response*, AISTATS 2019, arXiv:1802.04705 (section 4).
#[derive(Debug, Clone, PartialEq)]
pub struct HadamardResponse {
    /// The privacy parameter ε.
    pub epsilon: f64,
    /// The declared secrets.
    pub secrets: Option<Secrets>,
}

fn build(arguments: &Arguments<'_>) -> Result<Box<dyn Mechanism>> {
    Ok(Box::new(HadamardResponse {
        epsilon: arguments.number("epsilon", Bounds::AtLeast(0.0))?,
        secrets: Secrets::from_arguments(arguments)?,
    }))
}

impl fmt::Display for HadamardResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (epsilon, secrets) = (format_number(self.epsilon), secrets::suffix(self.secrets));
        write!(f, "hadamard-response(epsilon={epsilon}{secrets})")
    }
}

impl Symmetric for HadamardResponse {
    type Randomizer = Columns;

    fn secrets(&self) -> Option<Secrets> {
        self.secrets
    }

    fn randomizer(&self, alphabet: &Alphabet) -> Result<Columns> {
        Ok(Columns {
            epsilon: self.epsilon,
            order: (alphabet.size() + 1).next_power_of_two(),
        })
    }
}

/// Columns of a Hadamard matrix.
#[derive(Debug)]
pub(super) struct Columns {
    epsilon: f64,
    /// K.
    order: u64,
}

/// Whether a row has +1 in a column.
fn positive(row: u64, column: u64) -> bool {
    (row & column).count_ones().is_multiple_of(2)
}

impl Columns {
    /// The probability of all columns with +1 together, and of all others.
    fn halves(&self) -> (f64, f64) {
        let inverse = exp(-self.epsilon);
        (1.0 / (1.0 + inverse), inverse / (1.0 + inverse))
    }

    /// The share of columns in which every bound row has −1. These columns solve a linear system
    /// over GF(2), parity(row & column) = 1: the share is 2^−rank if it is solvable, else 0.
    fn share_all_negative(&self, alphabet: &Alphabet) -> f64 {
        let mut basis: Vec<(u64, bool)> = Vec::new();
        for secret in 0..alphabet.count() {
            let (mut row, mut parity) = (alphabet.position(secret) + 1, true);
            for &(pivot, odd) in &basis {
                if row ^ pivot < row {
                    row ^= pivot;
                    parity ^= odd;
                }
            }
            match (row, parity) {
                (0, true) => return 0.0,
                (0, false) => {}
                _ => {
                    basis.push((row, parity));
                    basis.sort_unstable_by(|a, b| b.cmp(a));
                }
            }
        }
        0.5f64.powi(basis.len() as i32)
    }
}

impl Randomizer for Columns {
    fn total_variation(&self) -> f64 {
        0.5 * tanh(0.5 * self.epsilon)
    }

    fn bayes_security(&self) -> f64 {
        0.5 + self.halves().1
    }

    fn epsilon(&self) -> f64 {
        self.epsilon
    }

    fn capacity(&self, alphabet: &Alphabet) -> Option<f64> {
        let ((heavy, light), missed) = (self.halves(), self.share_all_negative(alphabet));
        Some(2.0 * ((1.0 - missed) * heavy + missed * light))
    }

    fn observations(&self) -> Option<u64> {
        Some(self.order)
    }

    fn observation(&self, number: u64, _: &Alphabet) -> String {
        number.to_string()
    }

    fn probability(&self, position: u64, number: u64) -> f64 {
        let (heavy, light) = self.halves();
        let half = if positive(position + 1, number) {
            heavy
        } else {
            light
        };
        2.0 * half / self.order as f64
    }

    /// A uniform column, moved to the drawn half by flipping one bit that the row has.
    fn sample(&self, position: u64, _: &Alphabet, rng: &mut dyn Rng) -> String {
        let row = position + 1;
        let wanted = rng.random::<f64>() < self.halves().0;
        let column = rng.random_range(0..self.order);
        let lowest = row & row.wrapping_neg();
        let moved = if positive(row, column) == wanted {
            column
        } else {
            column ^ lowest
        };
        moved.to_string()
    }
}
