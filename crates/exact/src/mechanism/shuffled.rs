//! The shuffle model: the histogram of the randomized values of several users.

use std::collections::{HashMap, HashSet};
use std::fmt;

use rand::{Rng, RngExt};

use super::{
    BoundMechanism, Entry, Law, MAX_ENTRIES, Mechanism, Probabilities, listed_secrets, mixture,
};
use crate::histogram::HistogramLaw;
use crate::sampling::multinomial;
use leakgauge_base::error::{Error, Result};
use leakgauge_base::grammar::{Arguments, Parameter, format_number};

pub(super) const ENTRY: Entry = Entry {
    name: "shuffled",
    about: "outputs the histogram of n users' observations of a mechanism; the secret is that of user 1",
    parameters: &[
        Parameter::positional("mechanism", "a mechanism with finitely many observations"),
        Parameter::named("n", "the number of users, including user 1"),
        Parameter::named(
            "others",
            "the secret of all other users; default: each has a uniformly random one",
        ),
    ],
    build,
};

/// The shuffle model with n users. The secret is that of the first user. The observation is the histogram of the
/// users' observations, written `3/0/1` in the order of the mechanism's observations.
///
/// # Formula
/// P(h | s) = Σ_y R_s(y)·M(h − y), M multinomial with n − 1 messages: the other users' secrets are uniform and
/// independent, or all equal to `others`. ε is that of the mechanism, because all messages can be equal.
///
/// # Conditions
/// The mechanism has finitely many observations; secrets times histograms are at most [`MAX_ENTRIES`].
/// Histograms with probability below e^−60 times the largest may be left out of the sums.
///
/// # References
/// Jurado, Gonze, Alvim, Palamidessi, *Analyzing the Shuffle Model through the Lens of Quantitative
/// Information Flow*, arXiv:2305.13075.
#[derive(Debug)]
pub struct Shuffled {
    /// The mechanism that each user applies.
    pub mechanism: Box<dyn Mechanism>,
    /// The number of users.
    pub users: u64,
    /// The secret of all other users; `None` if theirs are uniform and independent.
    pub others: Option<String>,
}

/// The largest number of users.
const MAX_USERS: u64 = 1 << 24;

fn build(arguments: &Arguments<'_>) -> Result<Box<dyn Mechanism>> {
    let users = arguments.whole_if_given("n", 1, MAX_USERS)?;
    Ok(Box::new(Shuffled {
        mechanism: mixture::component(arguments, "mechanism")?,
        users: users.ok_or_else(|| {
            let hint = "write shuffled(randomized-response(1, secrets=2), n=100)";
            arguments.error("n is missing").with_hint(hint)
        })?,
        others: arguments.value("others").map(ToString::to_string),
    }))
}

impl fmt::Display for Shuffled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let users = format_number(self.users as f64);
        write!(f, "shuffled({}, n={users}", self.mechanism)?;
        match &self.others {
            None => f.write_str(")"),
            Some(others) => write!(f, ", others={others})"),
        }
    }
}

impl Shuffled {
    /// The table of the mechanism, with the bound secrets first, and the distribution of another user's observation.
    fn written(&self, labels: &[String]) -> Result<(Probabilities, Vec<f64>)> {
        let wrong = |problem: String| Error::parameter(self.to_string(), problem);
        // The other users may have secrets that are not bound: all declared ones.
        let mut all = labels.to_vec();
        let declared = match self.mechanism.declared_count() {
            Some(_) => listed_secrets(&*self.mechanism)?,
            None => labels.to_vec(),
        };
        let known: HashSet<&String> = labels.iter().collect();
        all.extend(
            declared
                .iter()
                .filter(|label| !known.contains(label))
                .cloned(),
        );
        let written = self.mechanism.bind(&all)?.probabilities();
        let written = written.ok_or_else(|| {
            wrong(format!(
                "{} has too many observations, perhaps infinitely many",
                self.mechanism
            ))
        })?;
        let number: HashMap<&String, usize> = all.iter().zip(0..).collect();
        let decoys = match &self.others {
            None => {
                let rows: Vec<&[f64]> = declared
                    .iter()
                    .map(|label| written.rows[number[label]].as_slice())
                    .collect();
                mean(&rows)
            }
            Some(label) => {
                let at = number.get(label);
                let at = at.ok_or_else(|| wrong(format!("{label} is not one of the secrets")))?;
                written.rows[*at].clone()
            }
        };
        Ok((written, decoys))
    }
}

impl Mechanism for Shuffled {
    fn declared_secrets(&self) -> Option<Vec<String>> {
        self.mechanism.declared_secrets()
    }

    fn declared_count(&self) -> Option<u64> {
        self.mechanism.declared_count()
    }

    fn bind(&self, labels: &[String]) -> Result<Box<dyn BoundMechanism>> {
        let wrong = |problem: String| Error::parameter(self.to_string(), problem);
        if labels.is_empty() {
            return Err(wrong("needs at least one secret".to_owned()));
        }
        let epsilon = self.mechanism.bind(labels)?.epsilon();
        let (mut written, decoys) = self.written(labels)?;
        written.rows.truncate(labels.len());
        let table = histograms(&written, &decoys, self.users)
            .ok_or_else(|| wrong(format!("secrets times histograms exceed {MAX_ENTRIES}")))
            .map_err(|error| {
                error.with_hint("use fewer users, or a mechanism with fewer observations")
            })?;
        Ok(Box::new(Bound {
            rows: written.rows,
            decoys,
            users: self.users,
            epsilon,
            table,
        }))
    }
}

fn mean(rows: &[&[f64]]) -> Vec<f64> {
    let width = rows.first().map_or(0, |row| row.len());
    let at = |y: usize| rows.iter().map(|row| row[y]).sum::<f64>() / rows.len() as f64;
    (0..width).map(at).collect()
}

/// P(h | s) for every histogram; `None` if there are too many.
fn histograms(written: &Probabilities, decoys: &[f64], users: u64) -> Option<Probabilities> {
    let symbols = decoys.len();
    let count = (1..symbols).fold(1.0, |all, i| all * (users as f64 + i as f64) / i as f64);
    if count * written.rows.len() as f64 > MAX_ENTRIES as f64 {
        return None;
    }
    let law = HistogramLaw::new(&[(decoys, users - 1)], symbols).ok()?;
    let mut table = Probabilities {
        observations: Vec::new(),
        rows: vec![Vec::new(); written.rows.len()],
    };
    law.for_each_extended(|counts, before| {
        table.observations.push(label(counts));
        for (row, out) in written.rows.iter().zip(&mut table.rows) {
            out.push(row.iter().zip(before).map(|(r, m)| r * m).sum());
        }
    });
    Some(table)
}

fn label(counts: &[u64]) -> String {
    let counts: Vec<String> = counts.iter().map(u64::to_string).collect();
    counts.join("/")
}

#[derive(Debug)]
struct Bound {
    rows: Vec<Vec<f64>>,
    decoys: Vec<f64>,
    users: u64,
    epsilon: f64,
    table: Probabilities,
}

impl BoundMechanism for Bound {
    fn secret_count(&self) -> usize {
        self.rows.len()
    }

    fn total_variation(&self, a: usize, b: usize) -> f64 {
        self.table.total_variation(a, b)
    }

    fn bayes_security(&self, a: usize, b: usize) -> f64 {
        self.table.bayes_security(a, b)
    }

    fn law(&self, secret: usize) -> Law {
        self.table.law(secret)
    }

    fn epsilon(&self) -> f64 {
        self.epsilon
    }

    fn sample(&self, secret: usize, rng: &mut dyn Rng) -> Vec<String> {
        let mut counts = vec![0; self.decoys.len()];
        multinomial(self.users - 1, &self.decoys, rng, &mut counts);
        let mut left = rng.random::<f64>();
        let row = &self.rows[secret];
        let own = row.iter().position(|p| {
            left -= p;
            left < 0.0
        });
        // Rounding can leave a little mass at the end: it is the last possible observation's.
        let own = own
            .or_else(|| row.iter().rposition(|p| *p > 0.0))
            .unwrap_or(0);
        counts[own] += 1;
        vec![label(&counts)]
    }

    fn capacity(&self) -> Option<f64> {
        Some(self.table.capacity())
    }

    fn probabilities(&self) -> Option<Probabilities> {
        Some(self.table.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use crate::channel::{Channel, Prior};
    use crate::shuffle::information::informed;
    use crate::shuffle::vulnerability::{RandomizedResponseShuffle, informed_vulnerability};

    /// Two rooms that compute alone: the histograms of this mechanism and the closed forms.
    #[test]
    fn the_channel_of_a_batch_has_the_vulnerability_of_the_closed_form() {
        for (epsilon, k, n) in [
            (1.0f64, 2u64, 1u64),
            (1.0, 2, 25),
            (2.0, 3, 12),
            (0.5, 4, 7),
        ] {
            let text = format!("shuffled(randomized-response({epsilon}, secrets={k}), n={n})");
            let channel = Channel::of_mechanism(&*parse(&text).unwrap()).unwrap();
            let keep = epsilon.exp() / (epsilon.exp() + k as f64 - 1.0);
            let users = RandomizedResponseShuffle::new(k, keep).unwrap();
            let found = channel.vulnerability(&Prior::uniform(k as usize)).unwrap();
            let exact = users.noise_and_shuffle(n).unwrap();
            assert!(
                (found / exact - 1.0).abs() < 1e-12,
                "{text}: {found} {exact}"
            );
            assert!(
                (channel.epsilon().unwrap() - epsilon).abs() < 1e-9,
                "{text}"
            );
        }
    }

    #[test]
    fn others_whose_secret_is_known_are_those_of_the_strong_adversary() {
        let text = "shuffled(randomized-response(1, secrets=3), n=8, others=2)";
        let mechanism = parse(text).unwrap();
        assert_eq!(
            parse(&mechanism.to_string()).unwrap().to_string(),
            mechanism.to_string()
        );
        let channel = Channel::of_mechanism(&*mechanism).unwrap();
        let one =
            Channel::of_mechanism(&*parse("randomized-response(1, secrets=3)").unwrap()).unwrap();
        let uniform = Prior::uniform(3);
        let strong = informed_vulnerability(&one, &uniform, &[0, 0, 7]).unwrap();
        assert!((channel.vulnerability(&uniform).unwrap() - strong).abs() < 1e-14);
        let told = informed(&one, &uniform, &[0, 0, 7]).unwrap();
        assert!((channel.mutual_information(&uniform).unwrap() - told).abs() < 1e-14);
    }

    /// The others keep all their secrets where only some are asked about.
    #[test]
    fn some_secrets_of_a_batch_are_told_apart_as_among_all() {
        let mechanism = parse("shuffled(randomized-response(1, secrets=4), n=6)").unwrap();
        let all = mechanism.bind_declared().unwrap();
        let some = mechanism.bind(&["3".to_owned(), "1".to_owned()]).unwrap();
        let (found, expected) = (some.total_variation(0, 1), all.total_variation(1, 3));
        assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
        assert_eq!(some.secret_count(), 2);
    }

    #[test]
    fn what_cannot_be_shuffled_is_refused() {
        let message = |text: &str| {
            parse(text)
                .and_then(|m| m.bind_declared())
                .unwrap_err()
                .to_string()
        };
        assert!(message("shuffled(randomized-response(1, secrets=2))").contains("n is missing"));
        assert!(message("shuffled(randomized-response(1, secrets=2), n=0)").contains("n"));
        assert!(message("shuffled(laplace(scale=1, secrets=2), n=3)").contains("infinitely many"));
        assert!(
            message("shuffled(randomized-response(1, secrets=9), n=1000)").contains("histograms")
        );
        assert!(
            message("shuffled(randomized-response(1, secrets=2), n=3, others=x)")
                .contains("x is not one")
        );
    }
}
