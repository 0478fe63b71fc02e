//! Published wrong mechanisms: are they caught, in the rows that are stated here, and are their
//! correct counterparts left alone?

// Not everything that the example needs is needed here.
#[allow(dead_code)]
#[path = "../../examples/wrong_mechanisms/cases.rs"]
mod cases;
#[allow(dead_code)]
#[path = "../../examples/wrong_mechanisms/ladder.rs"]
mod ladder;
#[allow(dead_code)]
#[path = "../../examples/wrong_mechanisms/noise.rs"]
mod noise;
#[allow(dead_code)]
#[path = "../../examples/wrong_mechanisms/sparse_vector.rs"]
mod sparse_vector;
#[allow(dead_code)]
#[path = "../../examples/wrong_mechanisms/truth.rs"]
mod truth;

use std::collections::HashMap;

use leakgauge::attack::tuning::ScorerChoice;

use super::quick::Rates;
use cases::{CASES, Case, Mechanism, named};

const SEEDS: u64 = 10;

/// Rows at which at least 9 of 10 logs refute the claim.
const STATED: [(&str, ScorerChoice, u64); 12] = [
    ("sparse-vector-3", ScorerChoice::Auto, 30_000),
    ("sparse-vector-4", ScorerChoice::Auto, 30_000),
    ("sparse-vector-4-three", ScorerChoice::Auto, 3_000),
    ("sparse-vector-5", ScorerChoice::Auto, 1_000),
    ("sparse-vector-6", ScorerChoice::Auto, 3_000),
    ("noisy-max-value", ScorerChoice::Auto, 10_000),
    ("noisy-max-both", ScorerChoice::Auto, 3_000),
    ("histogram-sensitivity", ScorerChoice::Auto, 1_000),
    ("laplace-half", ScorerChoice::Auto, 3_000),
    ("randomized-response-biased", ScorerChoice::Auto, 3_000),
    ("gaussian-6-loose", ScorerChoice::Linear, 300_000),
    ("gaussian-8-loose", ScorerChoice::Linear, 1_000_000),
];

/// The ε that a case claims to have, by its truth: no correct one is beyond it, every wrong one is.
#[test]
fn wrong_is_beyond_the_claim_and_correct_is_within() {
    for case in &CASES {
        let truth = truth::epsilon(case, case.epsilon);
        let wrong = truth > case.epsilon * (1.0 + 1e-9);
        assert_eq!(wrong, case.flaw.is_some(), "{}: {truth}", case.name);
    }
}

/// Two independent ways to the same probabilities: enumeration with quadrature, and draws. Counts are
/// within five standard deviations; of some 5,000 comparisons one fails by chance in 300 suites.
#[test]
fn enumerated_sequences_occur_as_often_as_they_should() {
    const ROWS: u64 = 20_000;
    for case in &CASES {
        let (Mechanism::SparseVector { algorithm, .. }, 1.0) = (case.mechanism, case.epsilon)
        else {
            continue;
        };
        if algorithm == 3 {
            continue;
        }
        let counts = counts(case, ROWS);
        let sequences = truth::sequences(case, 1.0);
        let total = |side: &dyn Fn(&(f64, f64)) -> f64| -> f64 {
            sequences.iter().map(|(_, outcome)| side(outcome)).sum()
        };
        assert!((total(&|outcome| outcome.0) - 1.0).abs() < 1e-3);
        assert!((total(&|outcome| outcome.1) - 1.0).abs() < 1e-3);
        for (sequence, (a, b)) in sequences {
            for (secret, p) in [("a", a), ("b", b)] {
                let key = format!("{secret}{sequence}");
                let count = counts.get(&key).copied().unwrap_or(0) as f64;
                let expected = 0.5 * p * ROWS as f64;
                let most = 5.0 * expected.sqrt() + 5.0;
                assert!(
                    (count - expected).abs() <= most,
                    "{}: {key} occurred {count} times, expected {expected}",
                    case.name
                );
            }
        }
    }
}

/// How often each secret with its answers occurs, dashes left out.
fn counts(case: &Case, rows: u64) -> HashMap<String, u64> {
    let log = case.log(1.0, rows, &mut ladder::generator(case, 7));
    let mut counts = HashMap::new();
    for row in log.lines().skip(1) {
        *counts.entry(row.replace([',', '-'], "")).or_insert(0) += 1;
    }
    counts
}

fn trial(case: &Case, scorer: ScorerChoice) -> ladder::Trial {
    ladder::Trial {
        epsilon: case.epsilon,
        scorer,
        quick: true,
    }
}

/// In the stated rows, or in 10/3 of them: the next rung of the ladder.
#[test]
#[ignore = "minutes; see the head of this suite"]
fn wrong_mechanisms_are_caught_in_the_stated_rows() {
    let wrong = CASES.iter().filter(|case| case.flaw.is_some()).count();
    assert_eq!(STATED.len(), wrong, "a row count for each wrong mechanism");
    are_caught(u64::MAX);
}

/// Those that so many rows should suffice for.
pub fn are_caught(most_rows: u64) {
    for (name, scorer, rows) in STATED.into_iter().filter(|case| case.2 <= most_rows) {
        let case = named(name).expect("a case of that name");
        let caught =
            |rows| ladder::is_caught(case, trial(case, scorer), rows, SEEDS).expect("a good log");
        let exact = caught(rows);
        println!("{name:<28} caught in {rows} rows: {exact}");
        assert!(exact || caught(10 * rows / 3), "{name} is not caught");
    }
}

/// False alarms at 95 %: at most 40 · 0.05 plus three standard deviations.
#[test]
#[ignore = "minutes; see the head of this suite"]
fn correct_counterparts_are_not_flagged() {
    const LOGS: u64 = 40;
    for case in CASES.iter().filter(|case| case.flaw.is_none()) {
        for rows in [3_000, 30_000] {
            let flagged = (0..LOGS)
                .filter(|&seed| {
                    ladder::is_violated(case, trial(case, ScorerChoice::Auto), rows, 1000 + seed)
                        .expect("a good log")
                })
                .count();
            println!(
                "{:<28} flagged in {flagged} of {LOGS} logs of {rows}",
                case.name
            );
            assert!(flagged <= 6, "{} is flagged too often", case.name);
        }
    }
}

/// Correct counterparts for [`super::quick`].
pub fn quick() -> Vec<Rates> {
    let correct = CASES.iter().filter(|case| case.flaw.is_none());
    let rates = |case: &'static Case| {
        Rates::one(case.name, 0.05, move |seed| {
            ladder::is_violated(case, trial(case, ScorerChoice::Auto), 3_000, 10_000 + seed)
                .expect("a good log")
        })
    };
    correct.map(rates).collect()
}
