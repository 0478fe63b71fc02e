//! The shuffle model: the histogram of the randomized values of several users.

use std::collections::{HashMap, HashSet};
use std::fmt;

use rand::{Rng, RngExt};

use super::entry::{Build, Reader, component};
use super::{BoundMechanism, Entry, Law, MAX_ENTRIES, Mechanism, Probabilities, listed_secrets};
use crate::profile::{Cell, Cells, Pair};
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
    build: Build::Around(build),
};

mod multinomial;
mod pairs;

use multinomial::Multinomial;
use pairs::PairTables;

/// The shuffle model with n users. The secret is that of the first user. The observation is the histogram of the
/// users' observations, written `3/0/1` in the order of the mechanism's observations.
///
/// # Formula
/// P(h | s) = Σ_y R_s(y)·M(h − y), M multinomial with n − 1 messages: the other users' secrets are uniform and
/// independent, or all equal to `others`. ε is that of the mechanism, because all messages can be equal.
///
/// # Conditions
/// The mechanism has finitely many observations. Secrets times histograms are at most [`MAX_ENTRIES`], or there is no
/// matrix, but each pair of secrets has its figures: observations that do not separate the two are counted together,
/// and few histograms are left where most observations do not.
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

/// Where histograms are too many to list.
const INSTEAD: &str =
    "`leakgauge shuffle privacy` bounds the δ of its reports from above and from below";

/// The largest number of users.
const MAX_USERS: u64 = 1 << 24;

fn build(arguments: &Arguments<'_>, read: Reader) -> Result<Box<dyn Mechanism>> {
    Ok(Box::new(shuffled(arguments, read)?))
}

fn shuffled(arguments: &Arguments<'_>, read: Reader) -> Result<Shuffled> {
    let users = arguments.whole_if_given("n", 1, MAX_USERS)?;
    Ok(Shuffled {
        mechanism: component(arguments, "mechanism", read)?,
        users: users.ok_or_else(|| {
            let hint = "write shuffled(randomized-response(1, secrets=2), n=100)";
            arguments.error("n is missing").with_hint(hint)
        })?,
        others: arguments.value("others").map(ToString::to_string),
    })
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
    /// What all users do, the bound secrets of the mechanism first.
    fn all_users(&self, labels: &[String]) -> Result<Users> {
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
        let bound = self.mechanism.bind(&all)?;
        let rows = bound.probabilities().map(|written| written.rows);
        let rows = rows.ok_or_else(|| {
            wrong(format!(
                "{} has too many observations, perhaps infinitely many",
                self.mechanism
            ))
            .with_hint(INSTEAD)
        })?;
        let number: HashMap<&String, usize> = all.iter().zip(0..).collect();
        let decoys = match &self.others {
            None => {
                let rows: Vec<&[f64]> = declared
                    .iter()
                    .map(|label| rows[number[label]].as_slice())
                    .collect();
                mean(&rows)
            }
            Some(label) => {
                let at = number.get(label);
                let at = at.ok_or_else(|| wrong(format!("{label} is not one of the secrets")))?;
                rows[*at].clone()
            }
        };
        let less = |row: &Vec<f64>| row.iter().zip(&rows[0]).map(|(p, q)| p - q).collect();
        let deviations = bound.deviations();
        Ok(Users {
            deviations: deviations.unwrap_or_else(|| rows.iter().map(less).collect()),
            rows,
            decoys,
            count: self.users,
        })
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
        let users = self.all_users(labels)?;
        let told = match Batch::new(&users, labels.len()) {
            Some(table) => Told::Table(table),
            None => PairTables::new(&users, labels.len())
                .map(Told::Pairs)
                .ok_or_else(|| wrong(format!("secrets times histograms exceed {MAX_ENTRIES}")))
                .map_err(|error| {
                    error.with_hint(format!(
                        "use fewer users, or a mechanism with fewer observations; {INSTEAD}"
                    ))
                })?,
        };
        Ok(Box::new(Bound {
            secrets: labels.len(),
            users,
            epsilon,
            told,
        }))
    }
}

fn mean(rows: &[&[f64]]) -> Vec<f64> {
    let width = rows.first().map_or(0, |row| row.len());
    let at = |y: usize| rows.iter().map(|row| row[y]).sum::<f64>() / rows.len() as f64;
    (0..width).map(at).collect()
}

/// The users of a batch.
#[derive(Debug)]
struct Users {
    /// The probability of each observation of the mechanism under each secret.
    rows: Vec<Vec<f64>>,
    /// The same less what all secrets share, with more digits.
    deviations: Vec<Vec<f64>>,
    /// The probability of each observation of another user.
    decoys: Vec<f64>,
    count: u64,
}

/// P(h | s) for every histogram h.
#[derive(Debug)]
struct Batch {
    table: Probabilities,
    /// The same less what all secrets share.
    deviations: Vec<Vec<f64>>,
}

impl Batch {
    /// Of the first secrets; `None` if there are too many histograms.
    fn new(users: &Users, secrets: usize) -> Option<Batch> {
        let symbols = users.decoys.len();
        let ways = |all: f64, i: usize| all * (users.count as f64 + i as f64) / i as f64;
        if (1..symbols).fold(1.0, ways) * secrets as f64 > MAX_ENTRIES as f64 {
            return None;
        }
        let law = Multinomial::new(&users.decoys, users.count - 1);
        let mut observations = Vec::new();
        let (mut rows, mut deviations) = (vec![Vec::new(); secrets], vec![Vec::new(); secrets]);
        law.for_each_extended(|counts, before| {
            observations.push(label(counts));
            let sum = |row: &[f64]| row.iter().zip(before).map(|(r, m)| r * m).sum();
            for s in 0..secrets {
                rows[s].push(sum(&users.rows[s]));
                deviations[s].push(sum(&users.deviations[s]));
            }
        });
        Some(Batch {
            table: Probabilities { observations, rows },
            deviations,
        })
    }

    /// Every histogram under the secrets a and b, whose losses are within ±ε.
    fn cells(&self, a: usize, b: usize, epsilon: f64) -> Vec<Cell> {
        let masses = self.table.rows[a].iter().zip(&self.table.rows[b]);
        let deviations = self.deviations[a].iter().zip(&self.deviations[b]);
        let cell = |((p, q), (x, y)): ((&f64, &f64), (&f64, &f64))| {
            let mut cell = Cell::of(*p, *q, x - y);
            cell.loss = cell.loss.clamp(-epsilon, epsilon);
            cell
        };
        masses.zip(deviations).map(cell).collect()
    }
}

fn label(counts: &[u64]) -> String {
    let counts: Vec<String> = counts.iter().map(u64::to_string).collect();
    counts.join("/")
}

/// What is known of the histograms.
#[derive(Debug)]
enum Told {
    /// The probability of each under each secret.
    Table(Batch),
    /// There are too many: a table for each pair of secrets.
    Pairs(PairTables),
}

#[derive(Debug)]
struct Bound {
    secrets: usize,
    users: Users,
    epsilon: f64,
    told: Told,
}

impl Bound {
    fn cells(&self, a: usize, b: usize) -> Vec<Cell> {
        match &self.told {
            _ if a == b => vec![Cell::new(1.0, 1.0)],
            Told::Table(batch) => batch.cells(a, b, self.epsilon),
            Told::Pairs(pairs) => {
                let (batch, reversed) = pairs.of(a, b);
                let (a, b) = if reversed { (1, 0) } else { (0, 1) };
                batch.cells(a, b, self.epsilon)
            }
        }
    }
}

impl BoundMechanism for Bound {
    fn secret_count(&self) -> usize {
        self.secrets
    }

    fn total_variation(&self, a: usize, b: usize) -> f64 {
        // In one order, so that both orders agree to the last digit.
        Cells(&self.cells(a.min(b), a.max(b))).delta(0.0)
    }

    fn bayes_security(&self, a: usize, b: usize) -> f64 {
        Cells(&self.cells(a, b)).bayes_security()
    }

    fn law(&self, secret: usize) -> Law {
        match &self.told {
            Told::Table(batch) => batch.table.law(secret),
            Told::Pairs(_) => Law::Unknown("there are too many histograms to list"),
        }
    }

    fn pair(&self, a: usize, b: usize) -> Option<Pair> {
        Some(Pair::Cells(self.cells(a, b)))
    }

    /// Each ordered pair of secrets, or of each table of a pair both orders.
    fn pairs(&self) -> Option<Vec<Pair>> {
        let both = |batch: &Batch| {
            let ordered = [(0, 1), (1, 0)];
            ordered.map(|(a, b)| Pair::Cells(batch.cells(a, b, self.epsilon)))
        };
        match &self.told {
            Told::Pairs(pairs) => Some(pairs.all().iter().flat_map(both).collect()),
            Told::Table(batch) => {
                let n = self.secrets;
                if n * n * batch.table.observations.len() > super::MAX_PAIR_CELLS {
                    return None;
                }
                let ordered = (0..n).flat_map(|a| (0..n).map(move |b| (a, b)));
                let pairs = ordered
                    .filter(|(a, b)| a != b)
                    .map(|(a, b)| self.pair(a, b));
                pairs.collect()
            }
        }
    }

    fn deviations(&self) -> Option<Vec<Vec<f64>>> {
        match &self.told {
            Told::Table(batch) => Some(batch.deviations.clone()),
            Told::Pairs(_) => None,
        }
    }

    fn epsilon(&self) -> f64 {
        self.epsilon
    }

    fn sample(&self, secret: usize, rng: &mut dyn Rng) -> Vec<String> {
        let mut counts = vec![0; self.users.decoys.len()];
        multinomial(self.users.count - 1, &self.users.decoys, rng, &mut counts);
        let mut left = rng.random::<f64>();
        let row = &self.users.rows[secret];
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
        match &self.told {
            Told::Table(batch) => Some(batch.table.capacity()),
            Told::Pairs(_) => None,
        }
    }

    fn shuffled_response(&self) -> Option<(f64, u64)> {
        let users = &self.users;
        let (keep, uniform) = (users.rows[0][0], 1.0 / self.secrets as f64);
        let other = (1.0 - keep) / (self.secrets as f64 - 1.0);
        let is = |p: f64, wanted: f64| (p - wanted).abs() <= 1e-15;
        let row = |(at, row): (usize, &Vec<f64>)| {
            let mut entries = row.iter().enumerate();
            entries.all(|(y, p)| is(*p, if y == at { keep } else { other }))
        };
        let square = [users.rows.len(), users.decoys.len()] == [self.secrets; 2];
        let alike = square && self.secrets > 1 && users.decoys.iter().all(|p| is(*p, uniform));
        (alike && users.rows.iter().enumerate().all(row)).then_some((keep, users.count))
    }

    fn probabilities(&self) -> Option<Probabilities> {
        match &self.told {
            Told::Table(batch) => Some(batch.table.clone()),
            Told::Pairs(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Mechanism, from_call, parse};
    use crate::channel::{Channel, Prior};
    use crate::extreme::Extreme;
    use crate::shuffle::information::informed;
    use crate::shuffle::vulnerability::{RandomizedResponseShuffle, informed_vulnerability};
    use leakgauge_base::grammar::Arguments;

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

    /// The vulnerability of two secrets, without their noise: values of a sum over the counts of the two labels and of
    /// all others together, in exact rational arithmetic.
    #[test]
    fn labels_that_do_not_separate_a_pair_are_counted_together() {
        let golden = include_str!("../../../../tests/golden/exact_shuffled_pairs.json");
        let golden: serde_json::Value = serde_json::from_str(golden).unwrap();
        for row in golden["cases"].as_array().unwrap() {
            let text = row["mechanism"].as_str().unwrap();
            let bound = parse(text).unwrap().bind_declared().unwrap();
            assert!(bound.probabilities().is_none(), "{text}");
            let near = |found: f64, name: &str| {
                let expected = row[name].as_f64().unwrap();
                let error = (found - expected).abs();
                assert!(
                    error <= 1e-11 * expected,
                    "{text}, {name}: {found:e}, not {expected:e}"
                );
            };
            let (a, b) = bound.worst_pair().unwrap();
            near(bound.bayes_security(a, b), "security");
            near(bound.total_variation(a, b), "variation");
            near(bound.delta(0.25).unwrap(), "delta_at_quarter");
        }
    }

    /// Where both fit, the tables of pairs have the figures of the whole one.
    #[test]
    fn merged_histograms_have_the_figures_of_all() {
        for text in [
            "shuffled(randomized-response(1, secrets=5), n=7)",
            "shuffled(randomized-response(1, secrets=4), n=6, others=2)",
            "shuffled(subset-selection(1, secrets=4, size=2), n=4)",
            "shuffled(truncated-geometric(nu=0.4, secrets=4), n=5)",
        ] {
            let bound = parse(text).unwrap().bind_declared().unwrap();
            let call = leakgauge_base::grammar::Call::parse(text).unwrap();
            let shuffled = super::shuffled(
                &Arguments::new(&call, super::ENTRY.parameters).unwrap(),
                from_call,
            );
            let shuffled = shuffled.unwrap();
            let labels = shuffled.declared_secrets().unwrap();
            let users = shuffled.all_users(&labels).unwrap();
            let pairs = super::PairTables::new(&users, labels.len()).unwrap();
            let close = |x: f64, y: f64, what: &str| {
                assert!((x / y - 1.0).abs() < 1e-12, "{text}, {what}: {x} {y}");
            };
            for (a, b) in (0..4).flat_map(|a| (0..4).map(move |b| (a, b))) {
                if a != b {
                    let table = &pairs.of(a, b).0.table;
                    close(
                        table.bayes_security(0, 1),
                        bound.bayes_security(a, b),
                        "security",
                    );
                }
            }
            let deltas = pairs.all().iter().map(|batch| batch.table.delta(0.3));
            close(
                deltas.fold(0.0, f64::at_least),
                bound.delta(0.3).unwrap(),
                "delta",
            );
        }
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
        assert!(message("shuffled(rappor(1, secrets=9), n=1000)").contains("histograms"));
        assert!(
            message("shuffled(randomized-response(1, secrets=2), n=3, others=x)")
                .contains("x is not one")
        );
    }
}
