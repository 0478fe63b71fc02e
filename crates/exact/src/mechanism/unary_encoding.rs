//! Unary encoding: one noisy bit per label.

use std::fmt;

use libm::{exp, expm1, log1p, tanh};
use rand::{Rng, RngExt};

use super::alphabet::Alphabet;

use super::spelling::{Spelling, bits, members};
use super::symmetric::{Randomizer, Symmetric};
use super::{Build, Entry, LikelihoodClass, Mechanism, Secrets, secrets};
use crate::histogram::binomial_law;
use leakgauge_base::error::Result;
use leakgauge_base::grammar::{Arguments, Bounds, Parameter, format_number};

const PARAMETERS: &[Parameter] = &[
    Parameter::positional("epsilon", "the ε of local differential privacy, at least 0"),
    secrets::PARAMETER,
];

/// Classes are as many as the square root of the labels, times some sixty.
const MOST_CLASSED: u64 = 10_000_000_000;

pub(super) const RAPPOR: Entry = Entry {
    name: "rappor",
    about: "outputs one bit per label, each flipped with probability 1/(1 + e^(ε/2))",
    parameters: PARAMETERS,
    build: Build::Alone(|arguments| build(BitNoise::Symmetric, arguments)),
};

pub(super) const OUE: Entry = Entry {
    name: "oue",
    about: "outputs one bit per label: a fair coin for the true one, else 1 with probability 1/(e^ε + 1)",
    parameters: PARAMETERS,
    build: Build::Alone(|arguments| build(BitNoise::Optimized, arguments)),
};

/// How the bits of a unary encoding are randomized.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BitNoise {
    /// `rappor`: every bit is flipped with the same probability.
    Symmetric,
    /// `oue`: the true bit is a fair coin, the other bits are 1 with the smallest probability that ε allows.
    Optimized,
}

/// Unary encoding over k labels: the observation is k bits, written as the letter `b` and one digit
/// per label, `b0100`.
///
/// # Formula
/// The true secret's bit is 1 with probability p, each other bit with probability q,
/// independently. `rappor`: p = e^(ε/2)/(1 + e^(ε/2)), q = 1 − p. `oue`: p = 1/2,
/// q = 1/(e^ε + 1). Only the bits of the two secrets matter: total variation is p − q, which
/// is tanh(ε/4) and tanh(ε/2)/2; Bayes security 2/(1 + e^(ε/2)) and 1/2 + 1/(e^ε + 1). Over n
/// secrets Σ_o max_s P(o | s) = (1 − p)(1 − q)^(n−1) + p(1 − (1 − q)^n)/q.
///
/// # Conditions
/// ε ≥ 0 and finite. This is one report of RAPPOR's permanent response, without its Bloom filter
/// and without instantaneous responses.
///
/// # References
/// Ú. Erlingsson, V. Pihur, A. Korolova, *RAPPOR*, doi:10.1145/2660267.2660348. T. Wang,
/// J. Blocki, N. Li, S. Jha, *Locally differentially private protocols for frequency estimation*,
/// USENIX Security 2017 (section 4.2, symmetric and optimized unary encoding).
#[derive(Debug, Clone, PartialEq)]
pub struct UnaryEncoding {
    /// The privacy parameter ε.
    pub epsilon: f64,
    /// How bits are randomized.
    pub noise: BitNoise,
    /// The declared secrets.
    pub secrets: Option<Secrets>,
}

fn build(noise: BitNoise, arguments: &Arguments<'_>) -> Result<Box<dyn Mechanism>> {
    Ok(Box::new(UnaryEncoding {
        epsilon: arguments.number("epsilon", Bounds::AtLeast(0.0))?,
        noise,
        secrets: Secrets::from_arguments(arguments)?,
    }))
}

impl fmt::Display for UnaryEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.noise {
            BitNoise::Symmetric => "rappor",
            BitNoise::Optimized => "oue",
        };
        let (epsilon, secrets) = (format_number(self.epsilon), secrets::suffix(self.secrets));
        write!(f, "{name}(epsilon={epsilon}{secrets})")
    }
}

impl Symmetric for UnaryEncoding {
    type Randomizer = Bits;

    fn secrets(&self) -> Option<Secrets> {
        self.secrets
    }

    fn randomizer(&self, alphabet: &Alphabet) -> Result<Bits> {
        Ok(Bits {
            epsilon: self.epsilon,
            noise: self.noise,
            size: alphabet.size(),
        })
    }
}

/// k bits.
#[derive(Debug)]
pub(super) struct Bits {
    epsilon: f64,
    noise: BitNoise,
    size: u64,
}

/// e^−x/(1 + e^−x).
fn logistic_tail(x: f64) -> f64 {
    let inverse = exp(-x);
    inverse / (1.0 + inverse)
}

impl Bits {
    /// The probability that the true secret's bit is 1, and that it is 0.
    fn own(&self) -> (f64, f64) {
        match self.noise {
            BitNoise::Symmetric => {
                let flipped = logistic_tail(0.5 * self.epsilon);
                (1.0 - flipped, flipped)
            }
            BitNoise::Optimized => (0.5, 0.5),
        }
    }

    /// The probability q that another secret's bit is 1.
    fn other(&self) -> f64 {
        match self.noise {
            BitNoise::Symmetric => logistic_tail(0.5 * self.epsilon),
            BitNoise::Optimized => logistic_tail(self.epsilon),
        }
    }
}

impl Randomizer for Bits {
    fn total_variation(&self) -> f64 {
        match self.noise {
            BitNoise::Symmetric => tanh(0.25 * self.epsilon),
            BitNoise::Optimized => 0.5 * tanh(0.5 * self.epsilon),
        }
    }

    fn bayes_security(&self) -> f64 {
        match self.noise {
            BitNoise::Symmetric => 2.0 * logistic_tail(0.5 * self.epsilon),
            BitNoise::Optimized => 0.5 + logistic_tail(self.epsilon),
        }
    }

    fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// Bits of labels that are not bound reveal nothing.
    fn capacity(&self, alphabet: &Alphabet) -> Option<f64> {
        let (n, q) = (alphabet.count() as f64, self.other());
        let (one, zero) = self.own();
        let some = if n * q < 1e-280 {
            n
        } else {
            -expm1(n * log1p(-q)) / q
        };
        Some(zero * exp((n - 1.0) * log1p(-q)) + one * some)
    }

    /// By the secret's own bit and the number of other ones. An observation is e^ε times as likely under a secret whose
    /// bit is 1 as under one whose bit is 0.
    fn likelihood_classes(&self) -> Option<Vec<LikelihoodClass>> {
        if self.size > MOST_CLASSED {
            return None;
        }
        let (k, q) = (self.size as f64, self.other());
        let (one, zero) = self.own();
        let fall = exp(-self.epsilon);
        let (start, law) = binomial_law(self.size - 1, q, 1.0 - q);
        let class = |(j, p): (usize, &f64)| {
            let ones = (start + j) as f64;
            let rest = k - 1.0 - ones;
            let (with, without) = (one * p, zero * p);
            let all = if rest == 0.0 { 1.0 } else { fall };
            [
                LikelihoodClass {
                    own: with,
                    mean: with * (ones + 1.0 + rest * fall) / k,
                    least: with * all,
                },
                LikelihoodClass {
                    own: without,
                    mean: without * (ones / fall + rest + 1.0) / k,
                    least: without,
                },
            ]
        };
        (self.size > 0 && fall > 0.0).then(|| law.iter().enumerate().flat_map(class).collect())
    }

    fn observations(&self) -> Option<u64> {
        (self.size < 63).then(|| 1 << self.size)
    }

    fn observation(&self, number: u64, _: &Alphabet) -> String {
        let bit = |i| if number >> i & 1 == 1 { '1' } else { '0' };
        std::iter::once('b')
            .chain((0..self.size).map(bit))
            .collect()
    }

    fn probability(&self, position: u64, number: u64) -> f64 {
        let (one, zero) = self.own();
        let own = if number >> position & 1 == 1 {
            one
        } else {
            zero
        };
        let ones = (number & !(1 << position)).count_ones();
        let zeros = self.size - 1 - u64::from(ones);
        let q = self.other();
        own * q.powi(ones as i32) * (1.0 - q).powi(zeros as i32)
    }

    fn respelled(&self, written: &str, spelling: Spelling, alphabet: &Alphabet) -> Option<String> {
        let bits = match spelling {
            Spelling::Bits => bits(written, self.size)?,
            Spelling::Parts => {
                let members = members(written, alphabet)?;
                (0..self.size).map(|at| members.contains(&at)).collect()
            }
        };
        let digits = bits.into_iter().map(|bit| if bit { '1' } else { '0' });
        Some(std::iter::once('b').chain(digits).collect())
    }

    fn sample(&self, position: u64, _: &Alphabet, rng: &mut dyn Rng) -> String {
        let ((one, _), q) = (self.own(), self.other());
        let mut bits = String::with_capacity(self.size as usize + 1);
        bits.push('b');
        for i in 0..self.size {
            let p = if i == position { one } else { q };
            bits.push(if rng.random::<f64>() < p { '1' } else { '0' });
        }
        bits
    }
}
