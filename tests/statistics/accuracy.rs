//! How near are the points? Against the neighbor vote with k = ln n and the rule that knows the true
//! densities, all on the same rows.

use leakgauge::attack::split::Split;
use leakgauge::audit::{AuditOptions, audit};
use leakgauge::log::observations::Counts;
use leakgauge::log::{Log, ReadOptions, read_from};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::cases::{self, Case, Observation};

const ROWS: usize = 10_000;

/// Rows of a part: the secret's number in the case, and its observation.
fn rows_of(case: &Case, log: &Log, counts: &Counts) -> Vec<(usize, Observation)> {
    let number: Vec<usize> = log
        .secrets
        .iter()
        .map(|label| {
            case.labels
                .iter()
                .position(|known| known == label)
                .expect("a known label")
        })
        .collect();
    let mut rows = Vec::new();
    for cell in counts.cells() {
        let text = log.observations.label(cell.symbol);
        let mut observation = (0, 0.0);
        for field in text.split(',') {
            match field.strip_prefix('c') {
                Some(label) => observation.0 = label.parse().expect("a label"),
                None => observation.1 = field.parse().expect("a number"),
            }
        }
        rows.extend(std::iter::repeat_n(
            (number[cell.secret as usize], observation),
            cell.count as usize,
        ));
    }
    rows
}

/// The usual rule of published tools: the majority among the k = ln n nearest of all training rows of
/// the pair, Euclidean distance, ties of distance in random order.
fn vote_says_first(
    training: &[(bool, Observation)],
    k: usize,
    at: Observation,
    nearest: &mut Vec<(f64, bool)>,
) -> bool {
    nearest.clear();
    for &(first, (label, number)) in training {
        let apart = f64::from(label) - f64::from(at.0);
        let square = apart * apart + (number - at.1).powi(2);
        if nearest.len() < k || square < nearest[k - 1].0 {
            let place = nearest.partition_point(|&(known, _)| known <= square);
            nearest.insert(place, (square, first));
            nearest.truncate(k);
        }
    }
    2 * nearest.iter().filter(|(_, first)| *first).count() > k
}

/// FNR + FPR of a rule on the certify rows of a pair: an estimate of β.
fn beta(
    rows: &[(usize, Observation)],
    a: usize,
    b: usize,
    says_a: &mut dyn FnMut(Observation) -> bool,
) -> f64 {
    let mut counts = [[0u64; 2]; 2];
    for &(secret, observation) in rows {
        if secret == a || secret == b {
            counts[usize::from(secret == b)][usize::from(says_a(observation))] += 1;
        }
    }
    let rate = |wrong: u64, right: u64| wrong as f64 / (wrong + right) as f64;
    rate(counts[0][0], counts[0][1]) + rate(counts[1][1], counts[1][0])
}

/// Errors of the three estimates on a pair: ours, vote, oracle.
fn errors(case: &Case, replicate: u64) -> Vec<[f64; 3]> {
    let mut rng = cases::generator(case, 1_000_000 + replicate);
    let mut csv = case.header().to_owned();
    for (secret, observation) in case.rows(ROWS, &mut rng) {
        case.write(&case.labels[secret], observation, &mut csv);
    }
    let log = read_from(
        case.name,
        std::io::Cursor::new(csv),
        &ReadOptions::default(),
    )
    .expect("a good log");
    let options = AuditOptions {
        ..AuditOptions::default()
    };
    let found = audit(&log, &options).expect("a good log");
    let split = Split::stratified(&log.counts, &mut ChaCha8Rng::seed_from_u64(0));
    let mut learn = rows_of(case, &log, &split.fit.plus(&split.tune));
    learn.shuffle(&mut rng);
    let certify = rows_of(case, &log, &split.certify);
    let position = |label: &str| {
        case.labels
            .iter()
            .position(|known| known == label)
            .expect("a known label")
    };
    // Of many pairs, a few are enough: the vote is slow.
    found
        .pairs
        .iter()
        .step_by(found.pairs.len().div_ceil(5))
        .map(|pair| {
            let [a, b] = pair.secrets.labels().map(position);
            let truth = 1.0 - (case.total_variation)(a, b);
            let training: Vec<(bool, Observation)> = learn
                .iter()
                .filter(|row| row.0 == a || row.0 == b)
                .map(|row| (row.0 == a, row.1))
                .collect();
            let k = (training.len() as f64).ln().round() as usize;
            let mut nearest = Vec::new();
            let vote = beta(&certify, a, b, &mut |at| {
                vote_says_first(&training, k, at, &mut nearest)
            });
            let oracle = beta(&certify, a, b, &mut |at| {
                (case.density)(a, at) > (case.density)(b, at)
            });
            let ours = pair.bayes_security().point.expect("rows to certify on");
            [ours - truth, vote - truth, oracle - truth]
        })
        .collect()
}

#[test]
#[ignore = "minutes; see the head of this suite"]
fn points_are_twice_as_near_as_the_neighbor_vote_or_as_good_as_the_true_densities() {
    points_are_near(100);
}

/// Of so many logs of each case.
pub fn points_are_near(logs: u64) {
    let root_mean_square = |errors: &[[f64; 3]], at: usize| {
        (errors.iter().map(|error| error[at].powi(2)).sum::<f64>() / errors.len() as f64).sqrt()
    };
    println!(
        "{:<22} {:>9} {:>9} {:>9}   RMSE of pairwise Bayes security",
        "", "leakgauge", "vote", "densities"
    );
    let mut pooled = Vec::new();
    for case in cases::all() {
        let found: Vec<[f64; 3]> = (0..logs)
            .into_par_iter()
            .flat_map_iter(|replicate| errors(&case, replicate))
            .collect();
        let [ours, vote, oracle] = [0, 1, 2].map(|at| root_mean_square(&found, at));
        println!("{:<22} {ours:>9.4} {vote:>9.4} {oracle:>9.4}", case.name);
        if case.name == "leak-free" {
            let mean = found.iter().map(|error| error[0]).sum::<f64>() / found.len() as f64;
            let standard_error = ours / (found.len() as f64).sqrt();
            println!(
                "{:<22} mean of the point 1 {mean:+.4} (standard error {standard_error:.4})",
                ""
            );
            assert!(
                mean.abs() < 4.0 * standard_error,
                "a leak-free log is centered on 1"
            );
        }
        // Every case counts alike, however many of its pairs were looked at.
        let share = found.len().div_ceil(logs as usize);
        pooled.extend(found.into_iter().step_by(share));
    }
    let [ours, vote, oracle] = [0, 1, 2].map(|at| root_mean_square(&pooled, at));
    println!("{:<22} {ours:>9.4} {vote:>9.4} {oracle:>9.4}", "pooled");
    assert!(
        ours <= (0.5 * vote).max(1.1 * oracle),
        "{ours} against {vote} and {oracle}"
    );
}
