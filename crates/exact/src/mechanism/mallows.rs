//! The Mallows shuffle of a few values, with all permutations listed.

use std::fmt;

use libm::exp;
use rand::Rng;

use super::table::{Detail, Table};
use super::{BoundMechanism, Build, Entry, Law, Mechanism, Probabilities};
use crate::mallows::{Hamming, Kendall, kendall_of_group};
use crate::permutation::{Distance, hamming, inversions};
use crate::profile::Pair;
use leakgauge_base::error::{Error, Result, shorten};
use leakgauge_base::grammar::{Arguments, Bounds, Parameter, Value, format_number};

/// The largest number of shuffled values; all their orders are listed.
const MAX_ITEMS: u64 = 6;

pub(super) const ENTRY: Entry = Entry {
    name: "mallows",
    about: "shuffles n values by a Mallows model; the secret is their order, written 2-1-3",
    parameters: &[
        Parameter::positional("n", "the number of values, from 1 to 6"),
        Parameter::named(
            "theta",
            "the dispersion, at least 0: each step of distance divides the probability by e^theta",
        ),
        Parameter::named(
            "alpha",
            "instead of theta: theta = alpha divided by the sensitivity of the group",
        ),
        Parameter::named(
            "group",
            "the positions whose order is secret, from 1: 1..3, or positions(1, 3, 5); default: all",
        ),
        Parameter::named("distance", "kendall (the default) or hamming"),
    ],
    build: Build::Alone(build),
};

/// The Mallows shuffle of a sequence of n different values, whose secret is their order.
///
/// # Formula
/// Input s, an order of 1 … n; output z with z_i = s(σ(i)) and P(σ) ∝ e^(−θ d(σ, id)).
/// ε = θΔ over all orders of the group; Δ is that of [`kendall_of_group`] for Kendall's τ, C(g, 2) if the positions
/// of the group are contiguous, and g for Hamming distance (g ≥ 2).
///
/// # References
/// C. Meehan et al., *Privacy Implications of Shuffling*, ICLR 2022, Theorem 4.3.
#[derive(Debug, Clone, PartialEq)]
pub struct Mallows {
    /// The number of values.
    pub n: u32,
    /// The dispersion θ.
    pub theta: f64,
    /// The positions of the group, from 0, ascending.
    pub group: Vec<u32>,
    /// The distance d.
    pub distance: Distance,
}

fn build(arguments: &Arguments<'_>) -> Result<Box<dyn Mechanism>> {
    let n = arguments
        .whole_if_given("n", 1, MAX_ITEMS)?
        .ok_or_else(|| {
            arguments
                .error("n is missing")
                .with_hint("write mallows(n=4, theta=0.5)")
        })? as u32;
    let group = match arguments.value("group") {
        None => Some((0..n).collect()),
        Some(value) => positions(value, n),
    };
    let group: Vec<u32> = group.ok_or_else(|| {
        arguments.error(format!(
            "group must be positions within 1..{n}: a range, or positions(1, {n})"
        ))
    })?;
    let distance = match arguments.value("distance") {
        None => Distance::Kendall,
        Some(Value::Word(word)) if word == "kendall" => Distance::Kendall,
        Some(Value::Word(word)) if word == "hamming" => Distance::Hamming,
        Some(_) => return Err(arguments.error("distance must be kendall or hamming")),
    };
    let theta = arguments.number_if_given("theta", Bounds::AtLeast(0.0))?;
    let alpha = arguments.number_if_given("alpha", Bounds::AtLeast(0.0))?;
    let g = group.len() as f64;
    let sensitivity = match distance {
        Distance::Kendall => kendall_of_group(&group) as f64,
        Distance::Hamming => g,
    };
    let theta = match (theta, alpha) {
        (Some(theta), None) => theta,
        (None, Some(_)) if g < 2.0 => {
            return Err(arguments.error(
                "a group of one value has only one order, so alpha does not determine theta",
            ));
        }
        (None, Some(alpha)) => alpha / sensitivity,
        _ => return Err(arguments.error("needs either theta or alpha")),
    };
    Ok(Box::new(Mallows {
        n,
        theta,
        group,
        distance,
    }))
}

/// Positions from 0, ascending, of a range, a number, or `positions(1, 3)`; `None` if some is not within 1..n or
/// repeated.
fn positions(value: &Value, n: u32) -> Option<Vec<u32>> {
    let one = |value: &Value| match value {
        Value::Number(x) if x.fract() == 0.0 && (1.0..=f64::from(n)).contains(x) => {
            Some(*x as u32 - 1)
        }
        _ => None,
    };
    let mut found: Vec<u32> = match value {
        Value::Range { from, to } => {
            let within = 1 <= *from && from <= to && *to <= i64::from(n);
            within.then(|| (*from as u32 - 1..*to as u32).collect())?
        }
        Value::Call(call) if call.name == "positions" => {
            let unnamed = call.arguments.iter().map(|a| match a.name {
                None => one(&a.value),
                Some(_) => None,
            });
            unnamed.collect::<Option<_>>()?
        }
        other => vec![one(other)?],
    };
    let given = found.len();
    found.sort_unstable();
    found.dedup();
    (given > 0 && found.len() == given).then_some(found)
}

impl fmt::Display for Mallows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "mallows(n={}, theta={}",
            self.n,
            format_number(self.theta)
        )?;
        let (first, last) = (self.group[0] + 1, self.group[self.group.len() - 1] + 1);
        if (last - first + 1) as usize != self.group.len() {
            let all: Vec<String> = self.group.iter().map(|at| (at + 1).to_string()).collect();
            write!(f, ", group=positions({})", all.join(", "))?;
        } else if self.group.len() != self.n as usize {
            write!(f, ", group={first}..{last}")?;
        }
        if self.distance == Distance::Hamming {
            f.write_str(", distance=hamming")?;
        }
        f.write_str(")")
    }
}

/// All orders of some items, in lexicographic order.
fn orders(items: &[u32]) -> Vec<Vec<u32>> {
    if items.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (at, first) in items.iter().enumerate() {
        let rest: Vec<u32> = items
            .iter()
            .enumerate()
            .filter(|(i, _)| *i != at)
            .map(|(_, x)| *x)
            .collect();
        all.extend(
            orders(&rest)
                .into_iter()
                .map(|rest| [vec![*first], rest].concat()),
        );
    }
    all
}

fn label(order: &[u32]) -> String {
    let items: Vec<String> = order.iter().map(|item| (item + 1).to_string()).collect();
    items.join("-")
}

impl Mallows {
    fn read(&self, text: &str) -> Result<Vec<u32>> {
        let items: Option<Vec<u32>> = text
            .split('-')
            .map(|item| item.trim().parse::<u32>().ok()?.checked_sub(1))
            .collect();
        let wrong = || {
            Error::parameter(
                self.to_string(),
                format!(
                    "its secrets are orders of 1 to {}, written 2-1-3; the log has the secret {:?}",
                    self.n,
                    shorten(text)
                ),
            )
        };
        let items = items.ok_or_else(wrong)?;
        let mut sorted = items.clone();
        sorted.sort_unstable();
        if sorted.iter().copied().eq(0..self.n) {
            Ok(items)
        } else {
            Err(wrong())
        }
    }

    /// The logarithm of the weight of a permutation.
    fn log_weight(&self, sigma: &[u32]) -> f64 {
        let steps = match self.distance {
            Distance::Kendall => inversions(sigma),
            Distance::Hamming => {
                let identity: Vec<u32> = (0..self.n).collect();
                hamming(sigma, &identity)
            }
        };
        -self.theta * steps as f64
    }
}

impl Mechanism for Mallows {
    fn declared_secrets(&self) -> Option<Vec<String>> {
        let whole = |of_group: Vec<u32>| -> Vec<u32> {
            let mut order: Vec<u32> = (0..self.n).collect();
            for (at, item) in self.group.iter().zip(of_group) {
                order[*at as usize] = item;
            }
            order
        };
        Some(
            orders(&self.group)
                .into_iter()
                .map(|order| label(&whole(order)))
                .collect(),
        )
    }

    fn bind(&self, labels: &[String]) -> Result<Box<dyn BoundMechanism>> {
        let inputs: Vec<Vec<u32>> = labels
            .iter()
            .map(|label| self.read(label))
            .collect::<Result<_>>()?;
        let items: Vec<u32> = (0..self.n).collect();
        let outputs = orders(&items);
        let total: f64 = outputs
            .iter()
            .map(|sigma| exp(self.log_weight(sigma)))
            .sum();
        let row = |input: &Vec<u32>| -> Vec<f64> {
            let mut place = vec![0; input.len()];
            for (at, item) in (0u32..).zip(input) {
                place[*item as usize] = at;
            }
            let sigma = |output: &Vec<u32>| {
                output
                    .iter()
                    .map(|z| place[*z as usize])
                    .collect::<Vec<u32>>()
            };
            outputs
                .iter()
                .map(|output| self.log_weight(&sigma(output)))
                .collect()
        };
        let logarithms: Vec<Vec<f64>> = inputs.iter().map(row).collect();
        let probabilities = |row: &Vec<f64>| row.iter().map(|x| exp(*x) / total).collect();
        let table = Table {
            probabilities: Probabilities {
                rows: logarithms.iter().map(probabilities).collect(),
                observations: outputs.iter().map(|output| label(output)).collect(),
            },
            detail: Detail::Logarithms(logarithms),
        };
        Ok(Box::new(Bound {
            mechanism: self.clone(),
            inputs,
            table,
        }))
    }
}

#[derive(Debug)]
struct Bound {
    mechanism: Mallows,
    inputs: Vec<Vec<u32>>,
    table: Table,
}

impl BoundMechanism for Bound {
    fn secret_count(&self) -> usize {
        self.inputs.len()
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
        self.table.epsilon()
    }

    fn sample(&self, secret: usize, mut rng: &mut dyn Rng) -> Vec<String> {
        let (n, theta) = (self.mechanism.n, self.mechanism.theta);
        let sigma = match self.mechanism.distance {
            Distance::Kendall => Kendall { n, theta }.sample(&mut rng),
            Distance::Hamming => Hamming { n, theta }.sample(&mut rng),
        };
        let input = &self.inputs[secret];
        let output: Vec<u32> = sigma.iter().map(|at| input[*at as usize]).collect();
        vec![label(&output)]
    }

    fn capacity(&self) -> Option<f64> {
        (!self.inputs.is_empty()).then(|| self.table.probabilities.capacity())
    }

    fn probabilities(&self) -> Option<Probabilities> {
        Some(self.table.probabilities.clone())
    }

    fn pair(&self, a: usize, b: usize) -> Option<Pair> {
        Some(Pair::Cells(self.table.cells(a, b)))
    }

    fn pairs(&self) -> Option<Vec<Pair>> {
        self.table.pairs()
    }

    fn deviations(&self) -> Option<Vec<Vec<f64>>> {
        self.table.deviations()
    }
}

#[cfg(test)]
mod tests {
    use crate::mechanism::parse;

    #[test]
    fn epsilon_is_theta_times_the_sensitivity() {
        for (text, expected) in [
            ("mallows(n=4, theta=0.5)", 3.0),
            ("mallows(n=5, alpha=2)", 2.0),
            ("mallows(n=4, alpha=0, group=positions(1, 4))", 0.0),
            ("mallows(n=5, alpha=2, group=2..4)", 2.0),
            ("mallows(n=5, theta=0.3, group=1..3)", 0.9),
            // Pairs of members, and twice the crossings of what lies between them.
            ("mallows(n=5, theta=0.3, group=positions(1, 3, 5))", 2.1),
            ("mallows(n=5, alpha=2, group=positions(5, 1, 2))", 2.0),
            ("mallows(n=6, theta=0.1, group=positions(1, 6))", 0.9),
            ("mallows(n=4, theta=1, group=2)", 0.0),
            (
                "mallows(n=4, alpha=1, group=positions(1, 4), distance=hamming)",
                1.0,
            ),
            ("mallows(n=4, alpha=1, distance=hamming)", 1.0),
            ("mallows(n=1, theta=1)", 0.0),
        ] {
            let mechanism = parse(text).unwrap();
            let bound = mechanism.bind_declared().unwrap();
            assert!(
                (bound.epsilon() - expected).abs() < 1e-12,
                "{text}: {}",
                bound.epsilon()
            );
            let again = parse(&mechanism.to_string()).unwrap();
            assert_eq!(again.to_string(), mechanism.to_string());
        }
    }

    #[test]
    fn orders_that_are_none_are_refused() {
        let mechanism = parse("mallows(n=3, theta=1)").unwrap();
        for label in ["1-2", "1-1-2", "2-3-4", "a", "", "0-1-2"] {
            assert!(mechanism.bind(&[label.to_owned()]).is_err(), "{label}");
        }
        for text in [
            "mallows(n=3)",
            "mallows(n=7, theta=1)",
            "mallows(n=3, theta=1, alpha=1)",
            "mallows(n=3, alpha=1, group=2..2)",
            "mallows(n=3, theta=1, group=0..2)",
            "mallows(n=3, theta=1, group=4)",
            "mallows(n=3, theta=1, group=positions(1, 1))",
            "mallows(n=3, theta=1, group=positions())",
            "mallows(n=3, theta=1, group=places(1, 2))",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
