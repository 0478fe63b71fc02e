//! The claim `dsigma(alpha=…)`: how often it accuses shufflers that are exactly as private as they say, and at
//! how many rows it catches broken ones.

use leakgauge::audit::{AuditOptions, Verdict, audit};
use leakgauge::claim::Claim;
use leakgauge::exact::mallows::Kendall;
use leakgauge::exact::mechanism::parse;
use leakgauge::log::{Log, ReadOptions, read_from};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::mechanisms::simulated;
use super::quick::Rates;

/// Shufflers whose α is exactly the claim's: any larger lower limit is a false alarm.
const CORRECT: [(&str, &str); 10] = [
    ("mallows(n=3, alpha=0.5)", "dsigma(alpha=0.5)"),
    ("mallows(n=3, alpha=4)", "dsigma(alpha=4)"),
    ("mallows(n=4, alpha=2)", "dsigma(alpha=2)"),
    (
        "mallows(n=4, alpha=0.5, group=1..3)",
        "dsigma(alpha=0.5, group=1..3)",
    ),
    (
        "mallows(n=4, alpha=4, group=2..3)",
        "dsigma(alpha=4, group=2..3)",
    ),
    (
        "mallows(n=3, alpha=0.5, distance=hamming)",
        "dsigma(alpha=0.5)",
    ),
    ("mallows(n=3, alpha=4, distance=hamming)", "dsigma(alpha=4)"),
    ("mallows(n=4, alpha=2, distance=hamming)", "dsigma(alpha=2)"),
    (
        "mallows(n=4, alpha=0.5, group=1..3, distance=hamming)",
        "dsigma(alpha=0.5, group=1..3)",
    ),
    (
        "mallows(n=4, alpha=4, group=2..3, distance=hamming)",
        "dsigma(alpha=4, group=2..3)",
    ),
];

/// A shuffler that claims too much.
#[derive(Clone, Copy)]
enum Broken {
    /// As written.
    Mechanism(&'static str),
    /// Three values with this θ, whose uniform numbers are the smaller of two.
    Biased(f64),
}

/// What is wrong, the shuffler, its claim, and rows at which at least 9 of 10 logs refute the claim.
const BROKEN: [(&str, Broken, &str, usize); 7] = [
    (
        "θ twice too large",
        Broken::Mechanism("mallows(n=3, alpha=2)"),
        "dsigma(alpha=1)",
        10_000,
    ),
    (
        "θ twice too large",
        Broken::Mechanism("mallows(n=3, alpha=0.5)"),
        "dsigma(alpha=0.25)",
        100_000,
    ),
    (
        "θ twice too large, Hamming",
        Broken::Mechanism("mallows(n=3, alpha=2, distance=hamming)"),
        "dsigma(alpha=1)",
        10_000,
    ),
    (
        "θ twice too large, within a group",
        Broken::Mechanism("mallows(n=4, alpha=2, group=1..3)"),
        "dsigma(alpha=1, group=1..3)",
        30_000,
    ),
    (
        "made for two of three places",
        Broken::Mechanism("mallows(n=4, theta=1, group=1..3)"),
        "dsigma(alpha=1, group=1..3)",
        10_000,
    ),
    (
        "made for two of three places, Hamming",
        Broken::Mechanism("mallows(n=4, theta=0.5, group=1..3, distance=hamming)"),
        "dsigma(alpha=1, group=1..3)",
        30_000,
    ),
    (
        "biased generator",
        Broken::Biased(1.0 / 3.0),
        "dsigma(alpha=1)",
        3_000,
    ),
];

/// How many of i − 1 items an item goes before, by inversion, as a program of someone else may do it.
fn inverted(theta: f64, i: u32, uniform: f64) -> u32 {
    let weight = |j: u32| (-theta * f64::from(j)).exp();
    let mut left = uniform * (0..i).map(weight).sum::<f64>();
    (0..i - 1)
        .find(|j| {
            left -= weight(*j);
            left < 0.0
        })
        .unwrap_or(i - 1)
}

fn biased(theta: f64, rows: usize, seed: u64) -> Log {
    let model = Kendall { n: 3, theta };
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let orders = ["1-2-3", "1-3-2", "2-1-3", "2-3-1", "3-1-2", "3-2-1"];
    let mut csv = "secret,output\n".to_owned();
    for _ in 0..rows {
        let order = orders[rng.random_range(0..orders.len())];
        let items: Vec<&str> = order.split('-').collect();
        let sigma = model.insert(|i| inverted(theta, i, rng.random::<f64>().min(rng.random())));
        let output: Vec<&str> = sigma.iter().map(|at| items[*at as usize]).collect();
        csv.push_str(&format!("{order},{}\n", output.join("-")));
    }
    let options = ReadOptions::default();
    read_from("biased", std::io::Cursor::new(csv), &options).expect("a good log")
}

fn made(shuffler: Broken, rows: usize, seed: u64) -> Log {
    match shuffler {
        Broken::Mechanism(text) => simulated(text, rows, seed),
        Broken::Biased(theta) => biased(theta, rows, seed),
    }
}

fn refuted(shuffler: Broken, claim: &str, rows: usize, seed: u64) -> bool {
    let options = AuditOptions {
        quick: true,
        claims: vec![Claim::parse(claim).expect(claim)],
        ..AuditOptions::default()
    };
    let found = audit(&made(shuffler, rows, seed), &options).expect(claim);
    found.claims[0].verdict == Verdict::Violated
}

fn times(shuffler: Broken, claim: &str, rows: usize, logs: std::ops::Range<u64>) -> usize {
    logs.into_par_iter()
        .filter(|seed| refuted(shuffler, claim, rows, *seed))
        .count()
}

/// The largest log-ratio of the biased shuffler: of the identity and the reversed order, by enumeration of the
/// insertions.
fn epsilon_of_biased(theta: f64) -> f64 {
    let of_insertion = |i: u32| {
        let weights: Vec<f64> = (0..i).map(|j| (-theta * f64::from(j)).exp()).collect();
        let total: f64 = weights.iter().sum();
        // P(min(U, U′) > u) = (1 − u)².
        let (first, last) = (weights[0] / total, weights[i as usize - 1] / total);
        ((1.0 - (1.0 - first).powi(2)) / last.powi(2)).ln()
    };
    of_insertion(2) + of_insertion(3)
}

/// The shufflers are as private as they are said to be, and no more; broken ones are beyond their claims.
#[test]
fn alphas_of_these_shufflers_are_as_stated() {
    let alpha = |claim: &str| -> f64 {
        let (_, rest) = claim.split_once('=').expect(claim);
        let end = rest.find([',', ')']).expect(claim);
        rest[..end].parse().expect(claim)
    };
    let epsilon = |text: &str| {
        let bound = parse(text).expect(text).bind_declared().expect(text);
        bound.epsilon()
    };
    for (text, claim) in CORRECT {
        assert!((epsilon(text) - alpha(claim)).abs() < 1e-12, "{text}");
    }
    for (what, shuffler, claim, _) in BROKEN {
        let truth = match shuffler {
            Broken::Mechanism(text) => epsilon(text),
            Broken::Biased(theta) => epsilon_of_biased(theta),
        };
        assert!(truth > 1.49 * alpha(claim), "{what}: {truth}");
    }
}

/// Each case is an alarm for a correct program once in about 700 runs, as at the head of this suite.
#[test]
#[ignore = "minutes; see the head of this suite"]
fn shufflers_that_keep_their_alpha_are_accused_no_more_often_than_they_may_be() {
    const LOGS: u64 = 200;
    const ROWS: usize = 4_000;
    const ALPHA: f64 = 0.05;
    let most = LOGS as f64 * ALPHA + 3.0 * (LOGS as f64 * ALPHA * (1.0 - ALPHA)).sqrt();
    let mut all_fine = true;
    for (text, claim) in CORRECT {
        let alarms = times(Broken::Mechanism(text), claim, ROWS, 0..LOGS);
        let fine = alarms as f64 <= most;
        println!(
            "{text:<56} {alarms:>3} of {LOGS}, at most {most:.0}{}",
            if fine { "" } else { "  FAILED" }
        );
        all_fine &= fine;
    }
    assert!(all_fine);
}

#[test]
#[ignore = "minutes; see the head of this suite"]
fn broken_shufflers_are_caught_at_the_stated_rows() {
    are_caught(usize::MAX, 20);
}

/// Those that so many rows should suffice for.
pub fn are_caught(most_rows: usize, logs: u64) {
    let mut all_fine = true;
    for (what, shuffler, claim, stated) in BROKEN {
        if stated > most_rows {
            continue;
        }
        for rows in [1_000, 3_000, 10_000, 30_000, 100_000] {
            if rows > stated {
                break;
            }
            let caught = times(shuffler, claim, rows, 10_000..10_000 + logs);
            let fine = rows < stated || caught as u64 * 10 >= logs * 9;
            println!(
                "{what:<40} {claim:<30} {rows:>6} rows: {caught:>2} of {logs}{}",
                if fine { "" } else { "  FAILED" }
            );
            all_fine &= fine;
        }
    }
    assert!(all_fine);
}

/// Correct shufflers for [`super::quick`].
pub fn quick() -> Vec<Rates> {
    let rates = |(text, claim): (&'static str, &'static str)| {
        Rates::one(text, 0.05, move |seed| {
            refuted(Broken::Mechanism(text), claim, 2_000, 20_000 + seed)
        })
    };
    CORRECT.into_iter().map(rates).collect()
}
