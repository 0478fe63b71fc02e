//! How soon wrong mechanisms are refuted whose figures are published (González et al. 2025, Kutta et al. 2026): rows of a
//! log that is followed, and samples of a mechanism that is asked, in pairs of one of either data set.
//!
//! Data sets are {0} and {0, 1}; n is their size, s their sum.

use std::fmt::Write;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::tests::watched_at;
use super::*;
use leakgauge_attack::tuning::ScorerChoice;
use leakgauge_query::{Auditor, QueryOptions, samples::Column};
use rayon::prelude::*;

/// An output for the data set of this size.
type Mechanism = fn(f64, f64, &mut ChaCha8Rng) -> f64;

/// Wrong mechanisms at ε, with the claims that they break, and the pairs that a log has at most.
struct Case {
    name: &'static str,
    claims: [(f64, &'static str); 2],
    pairs: usize,
    mechanism: Mechanism,
}

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    StandardNormal.sample(rng)
}

fn laplace(rng: &mut ChaCha8Rng) -> f64 {
    let size = -(1.0 - rng.random::<f64>()).ln();
    if rng.random() { size } else { -size }
}

/// Of {0} it is 0, of {0, 1} it is ½.
fn mean(n: f64) -> f64 {
    (n - 1.0) / n
}

const CASES: [Case; 6] = [
    Case {
        name: "NonDPGaussian1",
        claims: [(0.01, "dp(0.01, delta=1e-5)"), (0.1, "dp(0.1, delta=1e-5)")],
        pairs: 5_000,
        mechanism: |n, epsilon, rng| mean(n) + 2.0 / (n * epsilon) * normal(rng),
    },
    Case {
        name: "NonDPGaussian2",
        claims: [(0.01, "dp(0.01, delta=1e-5)"), (0.1, "dp(0.1, delta=1e-5)")],
        pairs: 5_000,
        mechanism: |n, epsilon, rng| {
            let size = (n + 2.0 / epsilon * normal(rng)).max(1e-12);
            mean(n) + 2.0 / (size * epsilon) * normal(rng)
        },
    },
    Case {
        name: "NonDPLaplace1",
        claims: [(0.01, "dp(0.01)"), (0.1, "dp(0.1)")],
        pairs: 5_000,
        mechanism: |n, epsilon, rng| mean(n) + 2.0 / (n * epsilon) * laplace(rng),
    },
    Case {
        name: "NonDPLaplace2",
        claims: [(0.01, "dp(0.01)"), (0.1, "dp(0.1)")],
        pairs: 5_000,
        mechanism: |n, epsilon, rng| {
            let size = (n + 2.0 / epsilon * laplace(rng)).max(1e-12);
            mean(n) + 2.0 / (size * epsilon) * laplace(rng)
        },
    },
    Case {
        name: "N(0,1), N(1,1)",
        claims: [(0.5, "gdp(0.5)"), (0.8, "gdp(0.8)")],
        pairs: 10_000,
        mechanism: |n, _, rng| n - 1.0 + normal(rng),
    },
    Case {
        name: "Laplace 0, 1",
        claims: [(0.5, "dp(0.5)"), (0.8, "dp(0.8)")],
        pairs: 10_000,
        mechanism: |n, _, rng| n - 1.0 + laplace(rng),
    },
];

/// Pairs until a claim about a log is refuted, looked at every tenth row, then after every fiftieth of the rows.
fn followed(pairs: usize, claim: &str, mut output: impl FnMut(f64) -> f64) -> Option<u64> {
    let mut csv = "secret,value\n".to_owned();
    for _ in 0..pairs {
        for n in [1.0, 2.0] {
            writeln!(csv, "{n},{}", output(n)).unwrap();
        }
    }
    let mut next = 10;
    let line = watched_at(csv, &[claim], ScorerChoice::Auto, |rows| {
        let is_due = rows >= next;
        if is_due {
            next = rows + (rows / 50).max(10);
        }
        is_due
    });
    line.is_violated().then_some(line.rows / 2)
}

/// Pairs until a claim about a mechanism that is asked is refuted.
fn asked(pairs: usize, claim: &str, mut output: impl FnMut(f64) -> f64) -> Option<u64> {
    let options = QueryOptions {
        claims: vec![Claim::parse(claim).expect("a claim")],
        max_samples: 2 * pairs as u64,
        ..QueryOptions::default()
    };
    let labels = ["1", "2"].map(str::to_owned);
    let mut audit = Auditor::new(&labels, options).expect("good options");
    while let Some(draws) = audit.wanted() {
        let draws = draws.to_vec();
        let of = |&(input, count): &(usize, usize)| (0..count).map(move |_| input);
        let inputs = draws.iter().flat_map(of);
        let outputs: Vec<f64> = inputs.map(|input| output(1.0 + input as f64)).collect();
        audit
            .push(vec![Column::Numbers(outputs)])
            .expect("as asked");
    }
    let found = audit.standing(false);
    let is_violated = found.claims[0].verdict == leakgauge_query::Verdict::Violated;
    is_violated.then_some(found.samples / 2)
}

/// The mean of those that were refuted, and how many were.
fn summary(found: &[Option<u64>]) -> String {
    let refuted: Vec<u64> = found.iter().copied().flatten().collect();
    let mean = refuted.iter().sum::<u64>() as f64 / refuted.len().max(1) as f64;
    format!("{mean:6.0} ({} of {})", refuted.len(), found.len())
}

/// Mean pairs until wrong mechanisms are refuted, of `LEAKGAUGE_SEEDS` logs each (8 if it is not set):
///
/// ```text
/// cargo test -p leakgauge --lib follow::anchor_tests -- --ignored --nocapture
/// ```
///
/// `LEAKGAUGE_SCORES` names two files of scores, one a line, of one run with and one without a canary: they are followed
/// against `gdp(mu)` at 0.5, 0.9, 1.1 and 1.2, in their order and in seven others.
/// Runs so many pairs of outputs against a claim: after how many it is refuted.
type Run = fn(usize, &str, &mut dyn FnMut(f64) -> f64) -> Option<u64>;

#[test]
#[ignore = "long"]
fn pairs_until_refuted() {
    let seeds =
        std::env::var("LEAKGAUGE_SEEDS").map_or(8, |seeds| seeds.parse().expect("a number"));
    println!("mean pairs until refuted: followed, asked");
    for case in &CASES {
        for (epsilon, claim) in case.claims {
            let runs = |run: Run| {
                let run = |seed: u64| {
                    let mut rng = ChaCha8Rng::seed_from_u64(1_000 + seed);
                    let mut output = |n: f64| (case.mechanism)(n, epsilon, &mut rng);
                    run(case.pairs, claim, &mut output)
                };
                (0..seeds).into_par_iter().map(run).collect::<Vec<_>>()
            };
            let of_log = runs(|pairs, claim, output| followed(pairs, claim, output));
            let of_samples = runs(|pairs, claim, output| asked(pairs, claim, output));
            println!(
                "{:15} {claim:22} {} {}",
                case.name,
                summary(&of_log),
                summary(&of_samples)
            );
        }
    }
    let Ok(files) = std::env::var("LEAKGAUGE_SCORES") else {
        return;
    };
    let scores: Vec<Vec<f64>> = files.split(',').map(scores_in).collect();
    for claim in ["gdp(0.5)", "gdp(0.9)", "gdp(1.1)", "gdp(1.2)"] {
        let found: Vec<Option<u64>> = (0..8u64)
            .into_par_iter()
            .map(|shift| {
                let pairs = scores[0].len().min(scores[1].len());
                let mut next = [0usize, shift as usize * pairs / 8];
                next[0] = next[1];
                followed(pairs, claim, |n| {
                    let of = n as usize - 1;
                    next[of] += 1;
                    scores[of][(next[of] - 1) % pairs]
                })
            })
            .collect();
        println!("scores          {claim:22} {}", summary(&found));
    }
}

fn scores_in(file: &str) -> Vec<f64> {
    let text = std::fs::read_to_string(file).expect("a file of scores");
    text.lines()
        .filter_map(|line| line.trim().parse().ok())
        .collect()
}

/// Six logs each of which are refuted within so many pairs, four of them.
#[test]
fn wrong_mechanisms_are_refuted_after_few_rows() {
    for (case, most) in [(0, 150), (2, 200), (3, 1_200), (4, 200)] {
        let Case {
            claims, mechanism, ..
        } = &CASES[case];
        let (epsilon, claim) = claims[0];
        let run = |seed: u64| {
            let mut rng = ChaCha8Rng::seed_from_u64(2_000 + seed);
            followed(most, claim, |n| mechanism(n, epsilon, &mut rng))
        };
        let refuted = (0..6).into_par_iter().filter_map(run).count();
        assert!(refuted >= 4, "{}: {refuted}", CASES[case].name);
    }
}
