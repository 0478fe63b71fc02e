//! Do limits cover where a log is too long and a sample of its rows is used?

use leakgauge::log::{Log, ReadOptions, read_from};
use leakgauge::tuning::ScorerChoice;
use rayon::prelude::*;

use super::cases::{self, Case, Shape};
use super::coverage::{FIGURES, audit_with, check, coverage_of, violates};

const REPLICATES: u64 = 300;
const ROWS: usize = 20_000;
const MOST: u64 = 4_000;

fn log_of(case: &Case, replicate: u64) -> Log {
    let mut rng = cases::generator(case, replicate);
    let mut csv = case.header().to_owned();
    for (secret, observation) in case.rows(ROWS, &mut rng) {
        case.write(&case.labels[secret], observation, &mut csv);
    }
    let options = ReadOptions {
        max_rows: Some(MOST),
        seed: replicate,
        ..ReadOptions::default()
    };
    read_from(case.name, std::io::Cursor::new(csv), &options).expect("a good log")
}

#[test]
#[ignore = "statistical: a minute"]
fn limits_of_sampled_logs_cover_and_true_claims_stay() {
    let mut fine = true;
    // Labels, and integers as few as labels, are counted.
    let sampled =
        |case: &Case| case.shape == Shape::Number && log_of(case, 0).facts.sampled.is_some();
    for case in cases::all().into_iter().filter(sampled) {
        let outcomes: Vec<_> = (0..REPLICATES)
            .into_par_iter()
            .map(|replicate| {
                let log = log_of(&case, replicate);
                let judge = |claims| audit_with(&log, claims, ScorerChoice::Gaussian, replicate);
                (
                    coverage_of(&case, &judge(&[])),
                    violates(&judge(&case.claims)),
                )
            })
            .collect();
        let count =
            |wrong: &dyn Fn(usize) -> bool| (0..outcomes.len()).filter(|&at| wrong(at)).count();
        for (figure, name) in FIGURES.into_iter().enumerate() {
            let missed = count(&|at| !outcomes[at].0[figure]);
            fine &= check(case.name, name, missed, REPLICATES, 0.05);
        }
        let violated = count(&|at| outcomes[at].1);
        fine &= check(
            case.name,
            "true claims violated",
            violated,
            REPLICATES,
            0.05,
        );
    }
    assert!(fine, "see the lines above");
}
