//! Logs with known truth, drawn by code that shares nothing with the library's mechanisms.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// One observation: a label (0 where there is none) and a number.
pub type Observation = (u32, f64);

/// What a log of the case looks like.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Label,
    Number,
    Both,
}

/// A way to draw logs, with everything that is true of it.
pub struct Case {
    pub name: &'static str,
    pub labels: Vec<String>,
    /// Relative frequencies of the secrets.
    pub weights: Vec<f64>,
    pub shape: Shape,
    pub draw: fn(usize, &mut ChaCha8Rng) -> Observation,
    /// Density or probability of an observation under a secret, up to a common factor.
    pub density: fn(usize, Observation) -> f64,
    pub total_variation: fn(usize, usize) -> f64,
    /// Claims that are true.
    pub claims: Vec<String>,
}

/// The generator of a replicate.
pub fn generator(case: &Case, replicate: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(replicate);
    rng.set_stream(case.name.bytes().fold(7, |hash: u64, byte| {
        hash.wrapping_mul(31).wrapping_add(u64::from(byte))
    }));
    rng
}

impl Case {
    /// Independent rows: the secret's number and its observation.
    pub fn rows(&self, rows: usize, rng: &mut ChaCha8Rng) -> Vec<(usize, Observation)> {
        let total: f64 = self.weights.iter().sum();
        (0..rows)
            .map(|_| {
                let mut left = rng.random::<f64>() * total;
                let secret = self.weights.iter().position(|weight| {
                    left -= weight;
                    left < 0.0
                });
                let secret = secret.unwrap_or(self.weights.len() - 1);
                (secret, (self.draw)(secret, rng))
            })
            .collect()
    }

    /// A row of CSV.
    pub fn write(&self, label: &str, (category, number): Observation, csv: &mut String) {
        use std::fmt::Write;
        let written = match self.shape {
            Shape::Label => writeln!(csv, "{label},c{category}"),
            Shape::Number => writeln!(csv, "{label},{number}"),
            Shape::Both => writeln!(csv, "{label},c{category},{number}"),
        };
        written.expect("a string takes everything");
    }

    pub fn header(&self) -> &'static str {
        match self.shape {
            Shape::Both => "secret,label,number\n",
            _ => "secret,observation\n",
        }
    }

    pub fn worst(&self) -> f64 {
        let n = self.labels.len();
        let pairs = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b)));
        pairs
            .map(|(a, b)| (self.total_variation)(a, b))
            .fold(0.0, f64::max)
    }
}

fn labels(labels: &[&str]) -> Vec<String> {
    labels.iter().map(|&label| label.to_owned()).collect()
}

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    StandardNormal.sample(rng)
}

fn exponential(rng: &mut impl Rng) -> f64 {
    -(1.0 - rng.random::<f64>()).ln()
}

fn bell(x: f64) -> f64 {
    (-0.5 * x * x).exp()
}

/// 2Φ(d/2) − 1.
fn normal_distance(d: f64) -> f64 {
    1.0 - libm::erfc(d / (2.0 * 2f64.sqrt()))
}

const NU: f64 = 0.5;

fn geometric(rng: &mut ChaCha8Rng) -> f64 {
    (exponential(rng) / NU).floor()
}

/// All cases of the coverage and accuracy tables.
pub fn all() -> Vec<Case> {
    let mut cases = vec![
        leak_free(),
        randomized_response(),
        laplace(),
        gaussian(),
        two_sided_geometric(),
    ];
    cases.extend([identical(), imbalanced(), mixed()]);
    cases
}

/// Logs of shapes at which limits go wrong that are right elsewhere.
pub fn of_hard_shape() -> Vec<Case> {
    vec![ties(), atom(), rare_secrets()]
}

fn leak_free() -> Case {
    Case {
        name: "leak-free",
        labels: labels(&["0", "1"]),
        weights: vec![1.0; 2],
        shape: Shape::Number,
        draw: |_, rng| (0, normal(rng)),
        density: |_, _| 1.0,
        total_variation: |_, _| 0.0,
        claims: labels(&[
            "ldp(0)",
            "advantage(0)",
            "bayes-security(1)",
            "attack-advantage(0)",
        ]),
    }
}

fn randomized_response() -> Case {
    let truth = |a: usize, b: usize| if a == b { 0.0 } else { 0.5f64.tanh() };
    let tv = truth(0, 1);
    Case {
        name: "randomized response",
        labels: labels(&["c0", "c1"]),
        weights: vec![1.0; 2],
        shape: Shape::Label,
        draw: |secret, rng| {
            let keep = rng.random::<f64>() < 1.0 / (1.0 + (-1f64).exp());
            (
                if keep {
                    secret as u32
                } else {
                    1 - secret as u32
                },
                0.0,
            )
        },
        density: |secret, (label, _)| {
            if secret as u32 == label {
                1f64.exp()
            } else {
                1.0
            }
        },
        total_variation: truth,
        claims: vec![
            "randomized-response(epsilon=1)".to_owned(),
            "ldp(1)".to_owned(),
            format!("advantage({tv})"),
            format!("bayes-security({})", 1.0 - tv),
            format!("attack-advantage({tv})"),
            format!("dp(epsilon=0, delta={tv})"),
        ],
    }
}

fn laplace() -> Case {
    Case {
        name: "laplace",
        labels: labels(&["0", "1"]),
        weights: vec![1.0; 2],
        shape: Shape::Number,
        draw: |secret, rng| {
            let noise = exponential(rng);
            (0, secret as f64 + if rng.random() { noise } else { -noise })
        },
        density: |secret, (_, x)| (-(x - secret as f64).abs()).exp(),
        total_variation: |a, b| 1.0 - (-0.5 * a.abs_diff(b) as f64).exp(),
        claims: labels(&[
            "laplace(scale=1)",
            "ldp(1)",
            "advantage(0.3934693402873666)",
            "dp(epsilon=0.5, delta=0.25)",
        ]),
    }
}

fn gaussian() -> Case {
    Case {
        name: "gaussian",
        labels: labels(&["0", "2"]),
        weights: vec![1.0; 2],
        shape: Shape::Number,
        draw: |secret, rng| (0, 2.0 * secret as f64 + normal(rng)),
        density: |secret, (_, x)| bell(x - 2.0 * secret as f64),
        total_variation: |a, b| normal_distance(2.0 * a.abs_diff(b) as f64),
        claims: labels(&[
            "gaussian(sigma=1)",
            "advantage(0.6826894921370859)",
            "dp(epsilon=0, delta=0.6826894921370859)",
        ]),
    }
}

fn two_sided_geometric() -> Case {
    Case {
        name: "geometric",
        labels: labels(&["0", "3"]),
        weights: vec![1.0; 2],
        shape: Shape::Number,
        draw: |secret, rng| (0, 3.0 * secret as f64 + geometric(rng) - geometric(rng)),
        density: |secret, (_, x)| (-NU * (x - 3.0 * secret as f64).abs()).exp(),
        // By summation over the integers: P(o) = (1−q)/(1+q) q^|o|.
        total_variation: |a, b| {
            let q = (-NU).exp();
            let weight = |x: i32| (1.0 - q) / (1.0 + q) * q.powi(x.abs());
            let distance = 3 * a.abs_diff(b) as i32;
            0.5 * (-200..200)
                .map(|x| (weight(x) - weight(x - distance)).abs())
                .sum::<f64>()
        },
        claims: labels(&["geometric(nu=0.5)", "ldp(1.5)", "bayes-security(0.45)"]),
    }
}

fn identical() -> Case {
    Case {
        name: "20 identical secrets",
        labels: (0..20).map(|secret| secret.to_string()).collect(),
        weights: vec![1.0; 20],
        shape: Shape::Number,
        draw: |_, rng| (0, normal(rng)),
        density: |_, _| 1.0,
        total_variation: |_, _| 0.0,
        claims: labels(&["ldp(0)", "advantage(0)", "attack-advantage(0)"]),
    }
}

fn imbalanced() -> Case {
    Case {
        name: "imbalanced 50:1",
        weights: vec![50.0, 1.0],
        ..gaussian()
    }
}

/// A fair label that has no part in the leak, but says where to look for it: under label 1 the number
/// moves by one standard deviation.
fn mixed() -> Case {
    Case {
        name: "mixed",
        labels: labels(&["0", "1"]),
        weights: vec![1.0; 2],
        shape: Shape::Both,
        draw: |secret, rng| {
            let label = u32::from(rng.random::<bool>());
            (label, f64::from(label) * secret as f64 + normal(rng))
        },
        density: |secret, (label, x)| bell(x - f64::from(label) * secret as f64),
        total_variation: |a, b| 0.5 * normal_distance(a.abs_diff(b) as f64),
        claims: labels(&[
            "advantage(0.1914624612740131)",
            "attack-advantage(0.1914624612740131)",
        ]),
    }
}

/// Φ(z).
fn normal_below(z: f64) -> f64 {
    0.5 * libm::erfc(-z / 2f64.sqrt())
}

/// The probability that a normal number around a secret is rounded to x.
fn half_cell(secret: usize, x: f64) -> f64 {
    let edge = |end: f64| normal_below(x + end - secret as f64);
    edge(0.25) - edge(-0.25)
}

fn half_cells_distance() -> f64 {
    let cells = (-40..=40).map(|k| f64::from(k) / 2.0);
    0.5 * cells
        .map(|x| (half_cell(0, x) - half_cell(1, x)).abs())
        .sum::<f64>()
}

/// Normal numbers rounded to halves, a standard deviation apart.
fn ties() -> Case {
    Case {
        name: "ties",
        draw: |secret, rng| (0, (2.0 * (secret as f64 + normal(rng))).round() / 2.0),
        density: |secret, (_, x)| half_cell(secret, x),
        total_variation: |a, b| if a == b { 0.0 } else { half_cells_distance() },
        claims: vec![format!("advantage({})", half_cells_distance() + 1e-9)],
        ..leak_free()
    }
}

/// Zero, or an exponential number: the secret moves a tenth of the rows from one to the other.
fn atom() -> Case {
    fn zero(secret: usize) -> f64 {
        0.5 - 0.1 * secret as f64
    }
    Case {
        name: "an atom",
        draw: |secret, rng| {
            let is_zero = rng.random::<f64>() < zero(secret);
            (0, if is_zero { 0.0 } else { exponential(rng) })
        },
        density: |secret, (_, x)| {
            if x == 0.0 {
                zero(secret)
            } else {
                1.0 - zero(secret)
            }
        },
        total_variation: |a, b| 0.1 * a.abs_diff(b) as f64,
        claims: labels(&["advantage(0.1000000001)", "attack-advantage(0.1000000001)"]),
        ..leak_free()
    }
}

/// Two secrets with nearly all rows, four with about two in 10,000 each.
fn rare_secrets() -> Case {
    Case {
        name: "secrets of two rows",
        labels: labels(&["0", "1", "2", "3", "4", "5"]),
        weights: vec![2500.0, 2500.0, 1.0, 1.0, 1.0, 1.0],
        ..leak_free()
    }
}

/// As many secrets as a log of 5,000 rows has with ten rows each.
pub fn many_secrets() -> Case {
    Case {
        name: "500 secrets",
        labels: (0..500).map(|secret| secret.to_string()).collect(),
        weights: vec![1.0; 500],
        ..leak_free()
    }
}
