//! Do limits cover where a log is too long and a sample of its rows is used?

use leakgauge::attack::tuning::ScorerChoice;
use leakgauge::log::{Log, ReadOptions, read_from};
use rayon::prelude::*;

use super::cases::{self, Case, Shape};
use super::coverage::{FIGURES, audit_with, check, coverage_of, violates};
use super::quick::Rates;

const REPLICATES: u64 = 300;
const ROWS: usize = 20_000;
const MOST: u64 = 4_000;

fn log_of(case: &Case, replicate: u64, rows: usize, most: u64) -> Log {
    let mut rng = cases::generator(case, replicate);
    let mut csv = case.header().to_owned();
    for (secret, observation) in case.rows(rows, &mut rng) {
        case.write(&case.labels[secret], observation, &mut csv);
    }
    let options = ReadOptions {
        max_rows: Some(most),
        ..ReadOptions::default()
    };
    read_from(case.name, std::io::Cursor::new(csv), &options).expect("a good log")
}

/// Labels, and integers as few as labels, are counted.
fn sampled_cases() -> impl Iterator<Item = Case> {
    cases::all().into_iter().filter(|case| {
        case.shape == Shape::Number && log_of(case, 0, ROWS, MOST).facts.sampled.is_some()
    })
}

/// Which figures cover, and whether a true claim is refuted.
fn outcome(case: &Case, replicate: u64, rows: usize, most: u64) -> ([bool; FIGURES.len()], bool) {
    let log = log_of(case, replicate, rows, most);
    let judge = |claims| audit_with(&log, claims, ScorerChoice::Gaussian);
    (
        coverage_of(case, &judge(&[])),
        violates(&judge(&case.claims)),
    )
}

#[test]
#[ignore = "statistical: a minute"]
fn limits_of_sampled_logs_cover_and_true_claims_stay() {
    let mut fine = true;
    for case in sampled_cases() {
        let outcomes: Vec<_> = (0..REPLICATES)
            .into_par_iter()
            .map(|replicate| outcome(&case, replicate, ROWS, MOST))
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

/// The same for [`super::quick`].
pub fn quick() -> Vec<Rates> {
    let rates = |case: Case| Rates {
        case: case.name.to_owned(),
        names: FIGURES
            .into_iter()
            .chain(["true claims violated"])
            .map(str::to_owned)
            .collect(),
        nominal: 0.05,
        wrong: Box::new(move |seed| {
            let (covered, violated) = outcome(&case, seed, 6_000, 2_000);
            covered
                .iter()
                .map(|covered| !covered)
                .chain([violated])
                .collect()
        }),
    };
    sampled_cases().map(rates).collect()
}
