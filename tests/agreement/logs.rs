//! Simulated logs of many shapes: kinds of observations, numbers of secrets, rows and priors, each combination by
//! its number.

use leakgauge::audit::PriorChoice;
use leakgauge::log::{Log, ReadOptions, read_from};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Exp1, StandardNormal};

/// A log, and what to ask of it.
pub struct Drawn {
    pub name: String,
    pub log: Log,
    pub prior: PriorChoice,
    pub claims: Vec<String>,
}

/// Draws the observation of a secret out of so many, as fields of CSV.
type Observe = fn(usize, usize, &mut ChaCha8Rng) -> String;

/// Kinds of observations, with their columns.
const KINDS: [(&str, &str, Observe); 14] = [
    (
        "labels that do not depend on the secret",
        "x",
        |_, _, rng| format!("c{}", rng.random_range(0..6)),
    ),
    (
        "numbers that do not depend on the secret",
        "x",
        |_, _, rng| format!("{:.6}", normal(rng)),
    ),
    ("randomized response", "x", |secret, secrets, rng| {
        let kept = 1f64.exp() / (1f64.exp() + secrets as f64 - 1.0);
        if rng.random_bool(kept) {
            return secret.to_string();
        }
        ((secret + rng.random_range(1..secrets)) % secrets).to_string()
    }),
    ("Laplace noise", "x", |secret, _, rng| {
        let noise: f64 = Exp1.sample(rng);
        format!(
            "{:.6}",
            secret as f64 + if rng.random() { noise } else { -noise }
        )
    }),
    ("rounded numbers", "x", |secret, _, rng| {
        format!("{:.1}", 0.5 * secret as f64 + normal(rng))
    }),
    ("a tiny leak", "x", |secret, _, rng| {
        format!("{:.6}", 0.03 * secret as f64 + normal(rng))
    }),
    ("a log of 500 integers", "x", |secret, _, rng| {
        format!("c{}", rng.random_range(0..500usize) + 60 * secret)
    }),
    ("an atom and a continuous part", "x", |secret, _, rng| {
        if rng.random_bool(0.3 + 0.4 / (1.0 + secret as f64)) {
            "0".to_owned()
        } else {
            format!("{:.6}", 1.0 + normal(rng).abs())
        }
    }),
    ("three columns of numbers", "x,y,z", |secret, _, rng| {
        let noise = [(); 3].map(|()| normal(rng));
        format!(
            "{:.4},{:.4},{:.4}",
            noise[0],
            noise[1] + 0.7 * (secret % 2) as f64,
            noise[2] + 0.3 * secret as f64
        )
    }),
    ("a label and a number", "x,y", |secret, _, rng| {
        let label = rng.random_range(0..2u8);
        format!(
            "c{label},{:.4}",
            f64::from(label) * secret as f64 + normal(rng)
        )
    }),
    ("no noise", "x", |secret, _, rng| {
        format!("{:.4}", secret as f64 + 0.1 * normal(rng).abs().min(5.0))
    }),
    ("nothing but one value", "x", |_, _, _| "7".to_owned()),
    ("one secret that stands out", "x", |secret, _, rng| {
        format!("{:.4}", if secret == 0 { 2.5 } else { 0.0 } + normal(rng))
    }),
    ("spread instead of place", "x", |secret, _, rng| {
        format!("{:.4}", (1.0 + secret as f64) * normal(rng))
    }),
];

/// Numbers of secrets and rows, and the relative frequency of each secret in terms of the one before.
const SIZES: [(usize, usize, f64); 8] = [
    (2, 400, 1.0),
    (3, 900, 1.0),
    (5, 2000, 1.0),
    (2, 2500, 0.1),
    (4, 600, 0.5),
    (10, 3000, 0.7),
    (2, 60, 1.0),
    (13, 4000, 0.6),
];

/// Claims beside those that every log is asked.
const OTHER_CLAIMS: [&str; 9] = [
    "gdp(0.5)",
    "zcdp(0.1)",
    "rdp(alpha=2, epsilon=0.2)",
    "rdp(alpha=16, epsilon=1)",
    "f-dp(point(fpr=0.1, fnr=0.6), point(0.3, 0.35))",
    "dp-curve(dp(1), dp(epsilon=0.5, delta=1e-2), dp(epsilon=0.2, delta=0.1))",
    "dp(epsilon=0.5, delta=0.2)",
    "ldp(epsilon=1, unit=1)",
    "dp-sgd(sigma=1, rate=0.1, steps=10)",
];

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    StandardNormal.sample(rng)
}

/// The log of a number; all kinds come with all sizes.
pub fn draw(number: u64) -> Drawn {
    let mut rng = ChaCha8Rng::seed_from_u64(number);
    rng.set_stream(14);
    let (kind, columns, observe) = KINDS[number as usize % KINDS.len()];
    let (secrets, rows, ratio) = SIZES[(number as usize / 2 + number as usize / 14) % SIZES.len()];
    let weights: Vec<f64> = (0..secrets)
        .map(|secret| ratio.powi(secret as i32))
        .collect();
    let total: f64 = weights.iter().sum();
    let mut csv = format!("secret,{columns}\n");
    for row in 0..rows {
        // A few rows of every secret, so that the log can be judged.
        let secret = if row < 8 * secrets {
            row % secrets
        } else {
            pick(&weights, total, &mut rng)
        };
        csv.push_str(&format!(
            "{secret},{}\n",
            observe(secret, secrets, &mut rng)
        ));
    }
    let log =
        read_from(kind, std::io::Cursor::new(csv), &ReadOptions::default()).expect("a good log");
    let prior = match number % 3 {
        1 => PriorChoice::Empirical,
        _ => PriorChoice::Uniform,
    };
    let mut claims = vec![
        "advantage(0.1)",
        "bayes-security(0.9)",
        "attack-advantage(0.1)",
        "ldp(1)",
    ];
    claims.truncate(1 + number as usize % 4);
    // Each kind of claim meets each kind of log, for seven and fourteen have the factor that 3 and 5 lack.
    claims.push(OTHER_CLAIMS[number as usize / 3 % OTHER_CLAIMS.len()]);
    if number.is_multiple_of(5) {
        claims.push("zcdp(0.05)");
    }
    let mut claims: Vec<String> = claims.into_iter().map(str::to_owned).collect();
    match kind {
        "randomized response" => {
            claims.push(format!("randomized-response(epsilon=1, secrets={secrets})"))
        }
        "Laplace noise" => claims.push("laplace(scale=1)".to_owned()),
        _ => claims.push("dp(epsilon=1, delta=0.05)".to_owned()),
    }
    Drawn {
        name: format!("{kind}, {secrets} secrets, {rows} rows"),
        log,
        prior,
        claims,
    }
}

fn pick(weights: &[f64], total: f64, rng: &mut ChaCha8Rng) -> usize {
    let mut left = rng.random::<f64>() * total;
    let found = weights.iter().position(|weight| {
        left -= weight;
        left < 0.0
    });
    found.unwrap_or(weights.len() - 1)
}
