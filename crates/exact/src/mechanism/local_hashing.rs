//! Optimized local hashing.

use crate::extreme::Extreme;
use std::collections::HashSet;
use std::fmt;

use libm::{exp, expm1, round};
use rand::{Rng, RngExt};

use super::alphabet::Alphabet;
use super::spelling::{Spelling, parts};
use super::symmetric::{Randomizer, Symmetric};
use super::{Build, Entry, Mechanism, Secrets, secrets};
use leakgauge_base::error::Result;
use leakgauge_base::grammar::{Arguments, Bounds, Parameter, format_number};

pub(super) const ENTRY: Entry = Entry {
    name: "olh",
    about: "outputs a random hash function and the secret's hash after randomized response",
    parameters: &[
        Parameter::positional("epsilon", "the ε of local differential privacy, at least 0"),
        Parameter::named(
            "buckets",
            "the number g of hash values, a prime; default: the smallest prime from e^ε + 1 on, but \
             at most the smallest prime from the number of secrets on",
        ),
        secrets::PARAMETER,
    ],
    build: Build::Alone(build),
};

/// The largest number of hash values; a product of two of them fits in a `u64`.
const MAX_BUCKETS: u64 = 1 << 31;
/// The largest number of hashes computed for a capacity.
const MAX_HASHES: u64 = 10_000_000;

/// Local hashing over k labels: a hash function h is drawn and made public, and h(s) goes through
/// randomized response over its g values. The observation is the number of h and the randomized
/// value, written `17:2`.
///
/// # Formula
/// g is prime, and m is the number of base-g digits of k − 1. Hash function number c,
/// below g^m, maps label number s to Σ_i c_i s_i mod g, where c_i and s_i are the digits of c and
/// s. Two different labels collide under exactly g^(m−1) of the g^m functions. Hence between any
/// two secrets total variation is (1 − 1/g)(e^ε − 1)/(e^ε + g − 1).
///
/// # Conditions
/// ε ≥ 0 and finite; g prime, below 2^31. Deployments use other families of hash functions. With a
/// universal family the average over the functions is the same, but a single pair of secrets can differ.
///
/// # References
/// T. Wang, J. Blocki, N. Li, S. Jha, *Locally differentially private protocols for frequency
/// estimation*, USENIX Security 2017 (section 4.4). J. L. Carter, M. N. Wegman, *Universal classes
/// of hash functions*, doi:10.1016/0022-0000(79)90044-8.
#[derive(Debug, Clone, PartialEq)]
pub struct LocalHashing {
    /// The privacy parameter ε.
    pub epsilon: f64,
    /// The number of hash values, if given.
    pub buckets: Option<u64>,
    /// The declared secrets.
    pub secrets: Option<Secrets>,
}

fn build(arguments: &Arguments<'_>) -> Result<Box<dyn Mechanism>> {
    let buckets = arguments.whole_if_given("buckets", 2, MAX_BUCKETS)?;
    if let Some(buckets) = buckets.filter(|&buckets| !is_prime(buckets)) {
        let problem = format!("buckets must be a prime number, got {buckets}");
        let hint = format!("the next prime is {}", next_prime(buckets));
        return Err(arguments.error(problem).with_hint(hint));
    }
    Ok(Box::new(LocalHashing {
        epsilon: arguments.number("epsilon", Bounds::AtLeast(0.0))?,
        buckets,
        secrets: Secrets::from_arguments(arguments)?,
    }))
}

fn is_prime(n: u64) -> bool {
    n >= 2
        && (2..)
            .take_while(|d| d * d <= n)
            .all(|d| !n.is_multiple_of(d))
}

fn next_prime(least: u64) -> u64 {
    (least.max(2)..)
        .find(|&n| is_prime(n))
        .expect("there is a prime after every number")
}

impl fmt::Display for LocalHashing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "olh(epsilon={}", format_number(self.epsilon))?;
        if let Some(buckets) = self.buckets {
            write!(f, ", buckets={buckets}")?;
        }
        write!(f, "{})", secrets::suffix(self.secrets))
    }
}

impl Symmetric for LocalHashing {
    type Randomizer = Hashing;

    fn secrets(&self) -> Option<Secrets> {
        self.secrets
    }

    fn randomizer(&self, alphabet: &Alphabet) -> Result<Hashing> {
        let most = alphabet.size().clamp(2, MAX_BUCKETS - 1000);
        let best = round(exp(self.epsilon.at_most(30.0))) as u64 + 1;
        let buckets = self.buckets.unwrap_or_else(|| next_prime(best.min(most)));
        let (mut digits, mut reach) = (1, u128::from(buckets));
        while reach < u128::from(alphabet.size()) {
            digits += 1;
            reach *= u128::from(buckets);
        }
        Ok(Hashing {
            epsilon: self.epsilon,
            buckets,
            digits,
        })
    }
}

/// Randomized response over hash values.
#[derive(Debug)]
pub(super) struct Hashing {
    epsilon: f64,
    /// g.
    buckets: u64,
    /// m.
    digits: u32,
}

impl Hashing {
    fn hash(&self, mut function: u64, mut position: u64) -> u64 {
        let mut sum = 0;
        for _ in 0..self.digits {
            sum = (sum + (function % self.buckets) * (position % self.buckets)) % self.buckets;
            function /= self.buckets;
            position /= self.buckets;
        }
        sum
    }

    /// (e^ε + g − 1)·e^−ε.
    fn total_weight(&self) -> f64 {
        1.0 + (self.buckets as f64 - 1.0) * exp(-self.epsilon)
    }

    /// The probabilities of the true hash value and of each other one.
    fn heavy_and_light(&self) -> (f64, f64) {
        let total = self.total_weight();
        (1.0 / total, exp(-self.epsilon) / total)
    }

    /// g^m, if it fits.
    fn functions(&self) -> Option<u64> {
        self.buckets.checked_pow(self.digits)
    }

    /// The number of (function, value) pairs that no bound secret hashes to.
    fn missed(&self, alphabet: &Alphabet) -> Option<u64> {
        if alphabet.is_whole() && self.buckets.checked_pow(self.digits) == Some(alphabet.size()) {
            // Function 0 maps all labels to 0; every other function takes every value.
            return Some(self.buckets - 1);
        }
        let functions = self.functions()?;
        let hashes = functions.checked_mul(alphabet.count() as u64)?;
        (hashes <= MAX_HASHES).then(|| {
            let positions: Vec<u64> = (0..alphabet.count())
                .map(|secret| alphabet.position(secret))
                .collect();
            let missed = |function| {
                let taken: HashSet<u64> = positions
                    .iter()
                    .map(|&position| self.hash(function, position))
                    .collect();
                self.buckets - taken.len() as u64
            };
            (0..functions).map(missed).sum()
        })
    }
}

impl Randomizer for Hashing {
    fn total_variation(&self) -> f64 {
        let apart = 1.0 - 1.0 / self.buckets as f64;
        -apart * expm1(-self.epsilon) / self.total_weight()
    }

    /// 1/g + (1 − 1/g)·g/(e^ε + g − 1).
    fn bayes_security(&self) -> f64 {
        let g = self.buckets as f64;
        1.0 / g + (g - 1.0) * self.heavy_and_light().1
    }

    fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// A value that some secret hashes to counts with the heavy probability.
    fn capacity(&self, alphabet: &Alphabet) -> Option<f64> {
        let (heavy, light) = self.heavy_and_light();
        let functions = (self.buckets as f64).powi(self.digits as i32);
        let missed = self.missed(alphabet)? as f64 / functions;
        Some((self.buckets as f64 - missed) * heavy + missed * light)
    }

    fn observations(&self) -> Option<u64> {
        self.functions()?.checked_mul(self.buckets)
    }

    fn observation(&self, number: u64, _: &Alphabet) -> String {
        format!("{}:{}", number / self.buckets, number % self.buckets)
    }

    fn respelled(&self, written: &str, spelling: Spelling, _: &Alphabet) -> Option<String> {
        match (spelling, &parts(written)[..]) {
            (Spelling::Parts, [function, value]) => Some(format!("{function}:{value}")),
            _ => None,
        }
    }

    fn probability(&self, position: u64, number: u64) -> f64 {
        let (heavy, light) = self.heavy_and_light();
        let own = self.hash(number / self.buckets, position) == number % self.buckets;
        let functions = (self.buckets as f64).powi(self.digits as i32);
        (if own { heavy } else { light }) / functions
    }

    /// Draws the digits of the function one by one, because its number may not fit in a `u64`.
    fn sample(&self, position: u64, _: &Alphabet, rng: &mut dyn Rng) -> String {
        let (mut function, mut place, mut sum, mut left) = (0u128, 1u128, 0, position);
        for _ in 0..self.digits {
            let digit = rng.random_range(0..self.buckets);
            sum = (sum + digit * (left % self.buckets)) % self.buckets;
            function += u128::from(digit) * place;
            place *= u128::from(self.buckets);
            left /= self.buckets;
        }
        let keep = rng.random::<f64>() < -expm1(-self.epsilon) / self.total_weight();
        let value = if keep {
            sum
        } else {
            rng.random_range(0..self.buckets)
        };
        format!("{function}:{value}")
    }
}
