//! Subset selection.

use std::collections::BTreeSet;
use std::fmt;

use libm::{exp, expm1, round};
use rand::{Rng, RngExt};

use super::alphabet::Alphabet;
use super::spelling::{Spelling, bits, members as members_of};
use super::symmetric::{Randomizer, Symmetric};
use super::{Build, Entry, LikelihoodClass, Mechanism, Secrets, secrets};
use leakgauge_base::error::{Error, Result};
use leakgauge_base::grammar::{Arguments, Bounds, MAX_WHOLE, Parameter, format_number};

pub(super) const ENTRY: Entry = Entry {
    name: "subset-selection",
    about: "outputs a set of labels; sets with the true label are e^ε times as likely",
    parameters: &[
        Parameter::positional("epsilon", "the ε of local differential privacy, at least 0"),
        Parameter::named(
            "size",
            "the number d of labels in the set, at least 1; default: k/(e^ε + 1) rounded, at least 1",
        ),
        secrets::PARAMETER,
    ],
    build: Build::Alone(build),
};

/// Subset selection over k labels: the observation is a set of d of them, in their order, joined by
/// `|`.
///
/// # Formula
/// A set with the true label has weight e^ε, any other weight 1, so the true label is in it with
/// probability p = d e^ε/(d e^ε + k − d). Between two secrets: total variation
/// d(k − d)(e^ε − 1)/((k − 1)(d e^ε + k − d)), Bayes security
/// (p(d − 1) + (1 − p)(k − 1 + d))/(k − 1). With d = 1 it is randomized response.
///
/// # Conditions
/// ε ≥ 0 and finite; 1 ≤ d ≤ k. With d = k the observation reveals nothing.
///
/// # References
/// M. Ye, A. Barg, *Optimal schemes for discrete distribution estimation under locally
/// differential privacy*, doi:10.1109/TIT.2018.2809790. S. Wang et al., *Mutual information
/// optimally local private discrete distribution estimation*, arXiv:1607.08025.
#[derive(Debug, Clone, PartialEq)]
pub struct SubsetSelection {
    /// The privacy parameter ε.
    pub epsilon: f64,
    /// The number d of labels in the set, if given.
    pub size: Option<u64>,
    /// The declared secrets.
    pub secrets: Option<Secrets>,
}

fn build(arguments: &Arguments<'_>) -> Result<Box<dyn Mechanism>> {
    Ok(Box::new(SubsetSelection {
        epsilon: arguments.number("epsilon", Bounds::AtLeast(0.0))?,
        size: arguments.whole_if_given("size", 1, MAX_WHOLE as u64)?,
        secrets: Secrets::from_arguments(arguments)?,
    }))
}

impl fmt::Display for SubsetSelection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "subset-selection(epsilon={}",
            format_number(self.epsilon)
        )?;
        if let Some(size) = self.size {
            write!(f, ", size={size}")?;
        }
        write!(f, "{})", secrets::suffix(self.secrets))
    }
}

impl Symmetric for SubsetSelection {
    type Randomizer = Subsets;

    fn secrets(&self) -> Option<Secrets> {
        self.secrets
    }

    fn randomizer(&self, alphabet: &Alphabet) -> Result<Subsets> {
        let labels = alphabet.size();
        let best = round(labels as f64 / (1.0 + exp(self.epsilon))) as u64;
        let size = self.size.unwrap_or(best.max(1));
        if size > labels {
            let problem =
                format!("size must be at most the number of secrets, {labels}, got {size}");
            return Err(Error::parameter(self.to_string(), problem));
        }
        Ok(Subsets {
            epsilon: self.epsilon,
            labels,
            size,
        })
    }
}

/// Sets of labels.
#[derive(Debug)]
pub(super) struct Subsets {
    epsilon: f64,
    /// k.
    labels: u64,
    /// d.
    size: u64,
}

impl Subsets {
    /// k, d and k − d.
    fn counts(&self) -> (f64, f64, f64) {
        let (k, d) = (self.labels, self.size);
        (k as f64, d as f64, (k - d) as f64)
    }

    /// d + (k − d)·e^−ε.
    fn total_weight(&self) -> f64 {
        let (_, d, rest) = self.counts();
        d + rest * exp(-self.epsilon)
    }

    /// The probability that the set contains the true label, and that it does not.
    fn told(&self) -> (f64, f64) {
        let ((_, d, rest), total) = (self.counts(), self.total_weight());
        (d / total, rest * exp(-self.epsilon) / total)
    }

    /// The share of sets without any of n labels: Π_i (k − d − i)/(k − i), i < n; the same with n
    /// and d exchanged.
    fn share_without(&self, n: u64) -> f64 {
        let (few, many) = (n.min(self.size), n.max(self.size));
        let left = self.labels - few.min(self.labels);
        if many > left {
            return 0.0;
        }
        (0..few)
            .map(|i| (self.labels - many - i) as f64 / (self.labels - i) as f64)
            .product()
    }
}

/// C(n, k); `None` if it does not fit.
fn binomial(n: u64, k: u64) -> Option<u64> {
    let mut result: u128 = 1;
    for i in 0..k.min(n - k) {
        result = result * u128::from(n - i) / u128::from(i + 1);
        if result > u128::from(u64::MAX) {
            return None;
        }
    }
    u64::try_from(result).ok()
}

/// The members of set number `number` among the sets of `size` of `labels` in lexicographic order.
fn members(mut number: u64, labels: u64, size: u64) -> Vec<u64> {
    let mut members = Vec::with_capacity(size as usize);
    let mut next = 0;
    while (members.len() as u64) < size {
        let wanted = size - members.len() as u64 - 1;
        let behind = binomial(labels - next - 1, wanted).expect("part of a number that fits");
        if number < behind {
            members.push(next);
        } else {
            number -= behind;
        }
        next += 1;
    }
    members
}

fn write(members: impl IntoIterator<Item = u64>, alphabet: &Alphabet) -> String {
    let labels: Vec<_> = members
        .into_iter()
        .map(|position| alphabet.label(position))
        .collect();
    labels.join("|")
}

impl Randomizer for Subsets {
    fn total_variation(&self) -> f64 {
        let (k, d, rest) = self.counts();
        -expm1(-self.epsilon) * (d / self.total_weight()) * (rest / (k - 1.0))
    }

    fn bayes_security(&self) -> f64 {
        let ((k, d, _), (p, not)) = (self.counts(), self.told());
        (p * (d - 1.0) + not * (k - 1.0 + d)) / (k - 1.0)
    }

    fn epsilon(&self) -> f64 {
        if self.size == self.labels {
            0.0
        } else {
            self.epsilon
        }
    }

    /// Every set with a bound secret contributes its larger probability.
    fn capacity(&self, alphabet: &Alphabet) -> Option<f64> {
        let (k, d, _) = self.counts();
        let without = self.share_without(alphabet.count() as u64);
        let weight = (1.0 - without) + without * exp(-self.epsilon);
        Some(k / d * self.told().0 * weight)
    }

    /// Sets with the true label, and sets without it.
    fn likelihood_classes(&self) -> Option<Vec<LikelihoodClass>> {
        let (k, d, rest) = self.counts();
        let (with, without) = self.told();
        let fall = if rest > 0.0 { exp(-self.epsilon) } else { 1.0 };
        let inside = LikelihoodClass {
            own: with,
            mean: d / k,
            least: with * fall,
        };
        let outside = LikelihoodClass {
            own: without,
            mean: rest / k,
            least: without,
        };
        (k > 0.0).then(|| vec![inside, outside])
    }

    fn observations(&self) -> Option<u64> {
        binomial(self.labels, self.size)
    }

    fn observation(&self, number: u64, alphabet: &Alphabet) -> String {
        write(members(number, self.labels, self.size), alphabet)
    }

    fn respelled(&self, written: &str, spelling: Spelling, alphabet: &Alphabet) -> Option<String> {
        let members = match spelling {
            Spelling::Bits => {
                let bits = bits(written, self.labels)?.into_iter();
                (0..)
                    .zip(bits)
                    .filter_map(|(at, bit)| bit.then_some(at))
                    .collect()
            }
            Spelling::Parts => members_of(written, alphabet)?,
        };
        (members.len() as u64 == self.size).then(|| write(members, alphabet))
    }

    fn probability(&self, position: u64, number: u64) -> f64 {
        let sets = self.observations().expect("the caller counted them") as f64;
        let (k, d, rest) = self.counts();
        let (p, not) = self.told();
        if members(number, self.labels, self.size).contains(&position) {
            p * k / d / sets
        } else {
            not * k / rest / sets
        }
    }

    /// Draws whether the true label is in the set, then the other labels by Floyd's algorithm.
    fn sample(&self, position: u64, alphabet: &Alphabet, rng: &mut dyn Rng) -> String {
        let told = rng.random::<f64>() < self.told().0;
        let (others, wanted) = (self.labels - 1, self.size - u64::from(told));
        let mut chosen = BTreeSet::new();
        for last in others - wanted..others {
            let pick = rng.random_range(0..=last);
            if !chosen.insert(pick) {
                chosen.insert(last);
            }
        }
        let skip = |other: u64| other + u64::from(other >= position);
        let mut set: BTreeSet<u64> = chosen.into_iter().map(skip).collect();
        if told {
            set.insert(position);
        }
        write(set, alphabet)
    }
}
