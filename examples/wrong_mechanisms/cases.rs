//! Mechanisms that claim differential privacy, rightly or wrongly, each on two neighboring inputs.

use std::fmt::Write;

use rand::{Rng, RngExt};

use super::noise::{gaussian, laplace};
use super::sparse_vector::{Answer, SparseVector};

/// What a noisy maximum returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Returns {
    Index,
    Value,
    Both,
}

/// A mechanism on queries of sensitivity 1.
#[derive(Debug, Clone, Copy)]
pub enum Mechanism {
    /// Published algorithm and its cutoff, with the threshold.
    SparseVector {
        algorithm: u8,
        cutoff: usize,
        threshold: f64,
    },
    /// The largest of answers with Laplace noise of scale 2/ε.
    NoisyMax(Returns),
    /// Counts with Laplace noise of scale `sensitivity`/ε. Neighbors replace one record, which moves
    /// two counts by 1: the sensitivity is 2.
    Histogram { sensitivity: f64 },
    /// Laplace noise of scale `share`/ε.
    Laplace { share: f64 },
    /// The truth if a first coin says so, else a second coin that shows 1 with probability `coin`. The
    /// first is made for a fair second one.
    RandomizedResponse { coin: f64 },
    /// Gaussian noise of σ = √(2 ln(1.25/δ))/ε, the classic formula, proved for ε ≤ 1.
    ClassicGaussian { delta: f64 },
}

/// A mechanism, the inputs that expose it if it is wrong, and what it claims.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    pub name: &'static str,
    /// What is wrong with it; nothing if it is correct.
    pub flaw: Option<&'static str>,
    pub mechanism: Mechanism,
    /// Answers on the two neighboring databases.
    pub inputs: [&'static [f64]; 2],
    /// The ε claimed if the user names none.
    pub epsilon: f64,
    /// Whether its columns of zeros and ones are better read as numbers.
    pub numeric: bool,
}

impl Case {
    /// The names of the observation columns.
    pub fn columns(&self) -> Vec<String> {
        let numbered = |name: &str| {
            (1..=self.inputs[0].len())
                .map(move |at| format!("{name}{at}"))
                .collect()
        };
        let named = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        match self.mechanism {
            Mechanism::SparseVector { algorithm: 3, .. } => named(&["below", "value"]),
            Mechanism::SparseVector { .. } => numbered("query"),
            Mechanism::NoisyMax(Returns::Index) => named(&["index"]),
            Mechanism::NoisyMax(Returns::Value) => named(&["value"]),
            Mechanism::NoisyMax(Returns::Both) => named(&["index", "value"]),
            Mechanism::Histogram { .. } => numbered("count"),
            Mechanism::Laplace { .. } | Mechanism::ClassicGaussian { .. } => named(&["value"]),
            Mechanism::RandomizedResponse { .. } => named(&["answer"]),
        }
    }

    /// Whether an attack on numbers has something to work on.
    pub fn has_numbers(&self) -> bool {
        match self.mechanism {
            Mechanism::SparseVector { algorithm, .. } => self.numeric || algorithm == 3,
            Mechanism::NoisyMax(returns) => returns != Returns::Index,
            Mechanism::RandomizedResponse { .. } => false,
            _ => true,
        }
    }

    /// What the mechanism claims, as `audit --claim` takes it.
    pub fn claim(&self, epsilon: f64) -> String {
        match self.mechanism {
            Mechanism::ClassicGaussian { delta } => format!("dp(epsilon={epsilon}, delta={delta})"),
            _ => format!("ldp(epsilon={epsilon})"),
        }
    }

    /// A log of independent rows, each from a fair choice of the two databases `a` and `b`.
    pub fn log(&self, epsilon: f64, rows: u64, rng: &mut impl Rng) -> String {
        let mut log = format!("secret,{}\n", self.columns().join(","));
        for _ in 0..rows {
            let second = rng.random::<bool>();
            log.push_str(if second { "b" } else { "a" });
            self.observe(self.inputs[usize::from(second)], epsilon, rng, &mut log);
            log.push('\n');
        }
        log
    }

    /// Appends the fields of one observation, a comma before each.
    fn observe(&self, input: &[f64], epsilon: f64, rng: &mut impl Rng, log: &mut String) {
        match self.mechanism {
            Mechanism::SparseVector {
                algorithm,
                cutoff,
                threshold,
            } => {
                let mechanism = SparseVector::published(algorithm, cutoff, epsilon);
                write_answers(
                    &mechanism.run(input, threshold, rng),
                    &mechanism,
                    input.len(),
                    log,
                );
            }
            Mechanism::NoisyMax(returns) => {
                let (index, value) = noisy_max(input, 2.0 / epsilon, rng);
                if returns != Returns::Value {
                    field(log, index);
                }
                if returns != Returns::Index {
                    field(log, value);
                }
            }
            Mechanism::Histogram { sensitivity } => input
                .iter()
                .for_each(|count| field(log, count + laplace(sensitivity / epsilon, rng))),
            Mechanism::Laplace { share } => field(log, input[0] + laplace(share / epsilon, rng)),
            Mechanism::RandomizedResponse { coin } => {
                let truthful = rng.random_bool((epsilon / 2.0).tanh());
                let answer = if truthful {
                    input[0]
                } else {
                    f64::from(u8::from(rng.random_bool(coin)))
                };
                field(log, answer);
            }
            Mechanism::ClassicGaussian { delta } => {
                field(log, input[0] + gaussian(classic_sigma(epsilon, delta), rng));
            }
        }
    }
}

/// √(2 ln(1.25/δ))/ε.
pub fn classic_sigma(epsilon: f64, delta: f64) -> f64 {
    (2.0 * (1.25 / delta).ln()).sqrt() / epsilon
}

fn noisy_max(answers: &[f64], scale: f64, rng: &mut impl Rng) -> (usize, f64) {
    let noisy = answers.iter().map(|answer| answer + laplace(scale, rng));
    noisy
        .enumerate()
        .reduce(|best, next| if next.1 > best.1 { next } else { best })
        .expect("there is an answer")
}

/// A revealed value after the number of answers below; else 1 for above, 0 for below and, where a query
/// was not answered, a dash.
fn write_answers(answers: &[Answer], mechanism: &SparseVector, queries: usize, log: &mut String) {
    if mechanism.reveal {
        let below = answers
            .iter()
            .filter(|answer| **answer == Answer::Below)
            .count();
        let value = match answers.last() {
            Some(Answer::Value(value)) => *value,
            _ => 0.0,
        };
        field(log, below);
        field(log, value);
        return;
    }
    for at in 0..queries {
        let text = match answers.get(at) {
            Some(Answer::Below) => "0",
            Some(_) => "1",
            None => "-",
        };
        field(log, text);
    }
}

fn field(log: &mut String, value: impl std::fmt::Display) {
    write!(log, ",{value}").expect("a string takes everything");
}

const STEPS: [&[f64]; 2] = [
    &[0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0],
    &[1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
];
const LAST: [&[f64]; 2] = [
    &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
    &[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0],
];
/// All answers move together: the noisy maximum moves with them, its index does not.
const RAISED: [&[f64]; 2] = [&[0.0; 6], &[1.0; 6]];
const FIRST: [&[f64]; 2] = [&[1.0, 0.0, 0.0], &[0.0, 1.0, 1.0]];
/// One record moves from the first count to the second.
const MOVED: [&[f64]; 2] = [&[1.0, 0.0, 0.0, 0.0], &[0.0, 1.0, 0.0, 0.0]];
const ONE: [&[f64]; 2] = [&[0.0], &[1.0]];

const fn sparse_vector(
    name: &'static str,
    flaw: Option<&'static str>,
    algorithm: u8,
    cutoff: usize,
    inputs: [&'static [f64]; 2],
) -> Case {
    Case {
        name,
        flaw,
        mechanism: Mechanism::SparseVector {
            algorithm,
            cutoff,
            threshold: 0.5,
        },
        inputs,
        epsilon: 1.0,
        numeric: false,
    }
}

const fn case(
    name: &'static str,
    flaw: Option<&'static str>,
    mechanism: Mechanism,
    inputs: [&'static [f64]; 2],
) -> Case {
    Case {
        name,
        flaw,
        mechanism,
        inputs,
        epsilon: 1.0,
        numeric: false,
    }
}

const fn gaussian_case(
    name: &'static str,
    flaw: Option<&'static str>,
    epsilon: f64,
    delta: f64,
) -> Case {
    Case {
        epsilon,
        ..case(name, flaw, Mechanism::ClassicGaussian { delta }, ONE)
    }
}

/// All of them, the wrong ones after their correct counterparts.
pub const CASES: [Case; 23] = [
    sparse_vector("sparse-vector-1", None, 1, 1, LAST),
    sparse_vector("sparse-vector-1-three", None, 1, 3, STEPS),
    sparse_vector("sparse-vector-2-three", None, 2, 3, STEPS),
    sparse_vector(
        "sparse-vector-3",
        Some("returns the noisy answer"),
        3,
        1,
        LAST,
    ),
    sparse_vector(
        "sparse-vector-4",
        Some("noise on answers too small"),
        4,
        1,
        STEPS,
    ),
    sparse_vector(
        "sparse-vector-4-three",
        Some("noise on answers too small, and not growing with the cutoff"),
        4,
        3,
        STEPS,
    ),
    Case {
        numeric: true,
        ..sparse_vector("sparse-vector-5", Some("no noise on answers"), 5, 1, STEPS)
    },
    Case {
        numeric: true,
        ..sparse_vector("sparse-vector-6", Some("never stops"), 6, 1, STEPS)
    },
    case(
        "noisy-max",
        None,
        Mechanism::NoisyMax(Returns::Index),
        FIRST,
    ),
    case(
        "noisy-max-value",
        Some("returns the noisy value"),
        Mechanism::NoisyMax(Returns::Value),
        RAISED,
    ),
    case(
        "noisy-max-both",
        Some("returns the index and the noisy value"),
        Mechanism::NoisyMax(Returns::Both),
        RAISED,
    ),
    case(
        "histogram",
        None,
        Mechanism::Histogram { sensitivity: 2.0 },
        MOVED,
    ),
    case(
        "histogram-sensitivity",
        Some("sensitivity 1 where it is 2"),
        Mechanism::Histogram { sensitivity: 1.0 },
        MOVED,
    ),
    case("laplace", None, Mechanism::Laplace { share: 1.0 }, ONE),
    case(
        "laplace-half",
        Some("half the noise"),
        Mechanism::Laplace { share: 0.5 },
        ONE,
    ),
    case(
        "randomized-response",
        None,
        Mechanism::RandomizedResponse { coin: 0.5 },
        ONE,
    ),
    case(
        "randomized-response-biased",
        Some("the second coin shows 1 in 7 of 10 tosses"),
        Mechanism::RandomizedResponse { coin: 0.7 },
        ONE,
    ),
    gaussian_case("gaussian-1", None, 1.0, 1e-5),
    gaussian_case("gaussian-1-loose", None, 1.0, 0.3),
    gaussian_case("gaussian-4", None, 4.0, 1e-5),
    gaussian_case("gaussian-8", None, 8.0, 1e-5),
    gaussian_case(
        "gaussian-6-loose",
        Some("the formula is far outside its range"),
        6.0,
        0.3,
    ),
    gaussian_case(
        "gaussian-8-loose",
        Some("the formula is far outside its range"),
        8.0,
        0.3,
    ),
];

/// The case of that name.
pub fn named(name: &str) -> Option<&'static Case> {
    CASES.iter().find(|case| case.name == name)
}
