//! Every kind of attacker on cases with a known answer, and on logs that no one can learn from.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::*;
use crate::scorer::score_table;
use leakgauge_log::observations::{Cell, Counts};

/// Rows of numbers with their secrets, a third of each secret's to fit, tune and certify.
fn log(secrets: usize, columns: usize, rows: &[(usize, Vec<f64>)]) -> (Observations, Split) {
    let numbers = rows.iter().flat_map(|(_, numbers)| numbers.clone());
    let observations = Observations::of_numbers(columns, numbers.collect());
    let part = |part: usize| {
        let cells = rows.iter().enumerate().filter(|(row, _)| row % 3 == part);
        let cells = cells.map(|(row, (secret, _))| Cell {
            secret: *secret as u32,
            symbol: row as u32,
            count: 1,
        });
        Counts::new(secrets, cells.collect())
    };
    let [fit, tune, certify] = [part(0), part(1), part(2)];
    (observations, Split { fit, tune, certify })
}

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    StandardNormal.sample(rng)
}

/// The share of certify rows guessed right.
fn accuracy(observations: &Observations, split: &Split, scorer: &dyn Scorer) -> f64 {
    let certify = &split.certify;
    let table = score_table(scorer, observations, certify.symbols(), certify.secrets());
    let right = certify.cells().iter().enumerate().filter(|(row, cell)| {
        let scores = table.row(*row);
        let own = scores[cell.secret as usize];
        scores
            .iter()
            .enumerate()
            .all(|(at, &score)| at == cell.secret as usize || score < own)
    });
    right.count() as f64 / certify.total() as f64
}

fn tuned(observations: &Observations, split: &Split, choice: ScorerChoice) -> Result<Tuned> {
    tune(
        observations,
        split,
        &choice.into(),
        Budget::default(),
        Goals::advantage(0.05),
    )
}

/// Each choice, on a log, ends up with this accuracy, give or take three standard deviations and what is
/// lost by learning.
fn assert_accuracy(
    (observations, split): &(Observations, Split),
    choice: ScorerChoice,
    truth: f64,
    lost: f64,
) {
    let tuned = tuned(observations, split, choice).unwrap();
    let accuracy = accuracy(observations, split, &*tuned.scorer);
    let deviation = 3.0 * (truth * (1.0 - truth) / split.certify.total() as f64).sqrt();
    assert!(
        accuracy < truth + deviation && accuracy > truth - deviation - lost,
        "{choice:?} {}: {accuracy}, not {truth}",
        tuned.scorer.description()
    );
    let again = tuned.scorer.refit(observations, &split.fit).unwrap();
    assert_eq!(
        accuracy,
        self::accuracy(observations, split, &*again),
        "learned anew"
    );
}

/// Two normal distributions at distance 2 in five columns: the error is Φ(−1).
#[test]
fn shifted_normals_are_told_apart_as_well_as_can_be() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let rows: Vec<(usize, Vec<f64>)> = (0..4_500)
        .map(|row| {
            let secret = row / 3 % 2;
            let shift = if secret == 0 { -1.0 } else { 1.0 } / 5f64.sqrt();
            (secret, (0..5).map(|_| shift + normal(&mut rng)).collect())
        })
        .collect();
    let log = log(2, 5, &rows);
    let truth = 1.0 - 0.158_655_253_931_457_05;
    assert_accuracy(&log, ScorerChoice::Gaussian, truth, 0.0);
    assert_accuracy(&log, ScorerChoice::Linear, truth, 0.0);
    assert_accuracy(&log, ScorerChoice::Auto, truth, 0.01);
}

/// Two normal distributions with the same mean, standard deviations 1 and 3, in two columns. The better
/// guess is the wide one outside radius r² = 2 ln 9 / (1 − 1/9), where both densities are equal: it is
/// right with probability ½ (1 − e^(−r²/2)) + ½ e^(−r²/18).
#[test]
fn normals_that_differ_in_spread_alone_are_told_apart() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let rows: Vec<(usize, Vec<f64>)> = (0..9_000)
        .map(|row| {
            let secret = row / 3 % 2;
            let spread = [1.0, 3.0][secret];
            (secret, (0..2).map(|_| spread * normal(&mut rng)).collect())
        })
        .collect();
    let square = 2.0 * 9f64.ln() / (1.0 - 1.0 / 9.0);
    let truth = 0.5 * (1.0 - (-square / 2.0).exp()) + 0.5 * (-square / 18.0).exp();
    assert_accuracy(&log(2, 2, &rows), ScorerChoice::Gaussian, truth, 0.005);
}

/// Exclusive or: no column tells anything alone, a forest tells everything.
#[test]
fn a_forest_learns_exclusive_or() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let rows: Vec<(usize, Vec<f64>)> = (0..3_000)
        .map(|_| {
            let (x, y): (f64, f64) = (rng.random(), rng.random());
            (usize::from((x > 0.5) != (y > 0.5)), vec![x, y])
        })
        .collect();
    let log = log(2, 2, &rows);
    assert_accuracy(&log, ScorerChoice::Forest, 0.99, 0.02);
    let threshold = tuned(&log.0, &log.1, ScorerChoice::Threshold).unwrap();
    assert!(accuracy(&log.0, &log.1, &*threshold.scorer) < 0.6);
}

/// Exponential times of rates 1 and 1/3 in the second of two columns: the better cut is at x = 1.5 ln 3,
/// below it the fast one: right with probability ½ (1 − 3^(−3/2)) + ½ 3^(−1/2).
#[test]
fn a_threshold_finds_the_column_and_the_cut() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let rows: Vec<(usize, Vec<f64>)> = (0..9_000)
        .map(|row| {
            let secret = row / 3 % 2;
            let time = -(1.0 - rng.random::<f64>()).ln() * [1.0, 3.0][secret];
            (secret, vec![rng.random(), time])
        })
        .collect();
    let truth = 0.5 * (1.0 - 3f64.powf(-1.5)) + 0.5 * 3f64.powf(-0.5);
    let log = log(2, 2, &rows);
    assert_accuracy(&log, ScorerChoice::Threshold, truth, 0.01);
    let tuned = tuned(&log.0, &log.1, ScorerChoice::Threshold).unwrap();
    assert_eq!(tuned.scorer.description(), "column x1 alone");
}

/// Three secrets at 0, 10 and 20 in one column of two.
#[test]
fn a_threshold_tells_several_secrets_apart() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let rows: Vec<(usize, Vec<f64>)> = (0..3_000)
        .map(|row| {
            let secret = row / 3 % 3;
            (
                secret,
                vec![10.0 * secret as f64 + normal(&mut rng), normal(&mut rng)],
            )
        })
        .collect();
    assert_accuracy(&log(3, 2, &rows), ScorerChoice::Threshold, 0.97, 0.02);
}

/// Of two equally telling columns, one a thousand times larger and off by 50,000, which is best is luck: a
/// threshold chosen for one must not meet the other.
#[test]
fn a_threshold_stays_with_its_column_when_it_is_learned_anew() {
    for secrets in [2, 3] {
        for seed in 0..20 {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let rows: Vec<(usize, Vec<f64>)> = (0..900)
                .map(|row| {
                    let secret = row / 3 % secrets;
                    let mut value = || 1.6 * secret as f64 + normal(&mut rng);
                    (secret, vec![value(), 1_000.0 * value() + 50_000.0])
                })
                .collect();
            let (observations, split) = log(secrets, 2, &rows);
            let tuned = tuned(&observations, &split, ScorerChoice::Threshold).unwrap();
            let learn = split.fit.plus(&split.tune);
            let again = tuned.scorer.refit(&observations, &learn).unwrap();
            assert_eq!(again.description(), tuned.scorer.description());
            let scores = |scorer: &dyn Scorer| {
                let ids = split.certify.symbols();
                score_table(scorer, &observations, ids, secrets)
            };
            let (before, after) = (scores(&*tuned.scorer), scores(&*again));
            if secrets == 2 {
                assert_eq!(before.values(), after.values());
            }
            let right = |scorer: &dyn Scorer| accuracy(&observations, &split, scorer);
            assert!(right(&*again) > right(&*tuned.scorer) - 0.05);
        }
    }
}

/// Certify rows that are all alike, or all different, make nobody's turn come or go.
#[test]
fn costs_do_not_depend_on_what_the_certify_rows_show() {
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let rows: Vec<(usize, Vec<f64>)> = (0..1_200)
        .map(|row| (row / 3 % 2, (0..3).map(|_| normal(&mut rng)).collect()))
        .collect();
    let (observations, split) = log(2, 3, &rows);
    let cells = split.certify.rows().iter().enumerate();
    let alike = cells.map(|(secret, &count)| Cell {
        secret: secret as u32,
        symbol: 2,
        count,
    });
    let certify = Counts::new(2, alike.collect());
    let other = Split {
        certify,
        ..split.clone()
    };
    let tried = |split| {
        tuned(&observations, split, ScorerChoice::Auto)
            .unwrap()
            .tried
    };
    assert_eq!(tried(&split), tried(&other));
}

/// Neighbors chosen by one distance are tried again by that distance alone.
#[test]
fn only_the_kinds_that_won_are_tried_again() {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let rows: Vec<(usize, Vec<f64>)> = (0..900)
        .map(|row| (row / 3 % 2, (0..2).map(|_| normal(&mut rng)).collect()))
        .collect();
    let (observations, split) = log(2, 2, &rows);
    let kind = Kind::neighbors(
        crate::scorer::Metric::Manhattan,
        crate::scorer::TransformKind::Scaled,
    );
    let choice = &ScorerChoice::Auto.into();
    let again = tune_again(
        &observations,
        &split,
        choice,
        &[(kind.clone(), 1.0)],
        Goals::advantage(0.05),
    )
    .unwrap();
    assert!(again.tried.len() > 3);
    assert!(again.tried.iter().all(|tried| tried.kind == kind));
    assert_eq!(again.scorer.kinds(), [kind]);
}

#[test]
fn scores_do_not_depend_on_the_number_of_threads() {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let rows: Vec<(usize, Vec<f64>)> = (0..1_200)
        .map(|row| {
            let secret = row / 3 % 4;
            (
                secret,
                (0..4).map(|_| secret as f64 + normal(&mut rng)).collect(),
            )
        })
        .collect();
    let (observations, split) = log(4, 4, &rows);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            let tuned = tuned(&observations, &split, ScorerChoice::Auto).unwrap();
            (tuned.tried, tuned.scores.values().to_vec())
        })
    };
    assert_eq!(run(1), run(2));
}

/// Attackers answer or say why not; whatever they answer is finite.
#[test]
fn no_log_is_too_odd() {
    let few: Vec<Vec<f64>> = (0..12)
        .map(|row| (0..40).map(|c| ((row * c) % 7) as f64).collect())
        .collect();
    let mut logs: Vec<(&str, usize, Vec<Vec<f64>>)> = vec![
        ("all rows equal", 2, vec![vec![1.0, 2.0]; 60]),
        (
            "a constant column",
            2,
            (0..60).map(|row| vec![f64::from(row), 5.0]).collect(),
        ),
        (
            "two equal columns",
            2,
            (0..60).map(|row| vec![f64::from(row); 2]).collect(),
        ),
        ("more columns than rows", 2, few),
        (
            "huge",
            2,
            (0..60)
                .map(|row| {
                    vec![
                        1e300 * f64::from(row % 5 - 2),
                        f64::MAX * f64::from(row % 3 - 1),
                    ]
                })
                .collect(),
        ),
        (
            "tiny",
            2,
            (0..60)
                .map(|row| vec![5e-324 * f64::from(row), 0.0])
                .collect(),
        ),
        (
            "one far row",
            2,
            (0..60)
                .map(|row| {
                    vec![
                        if row == 30 { 1e300 } else { f64::from(row) },
                        f64::from(row % 7),
                    ]
                })
                .collect(),
        ),
        (
            "one column",
            2,
            (0..60).map(|row| vec![f64::from(row)]).collect(),
        ),
    ];
    logs.push(("a secret without fit rows", 3, logs[1].2.clone()));
    for (name, secrets, numbers) in logs {
        let rows: Vec<(usize, Vec<f64>)> = numbers
            .into_iter()
            .enumerate()
            .map(|(row, numbers)| {
                (
                    if row == 1 && secrets == 3 {
                        2
                    } else {
                        row / 3 % 2
                    },
                    numbers,
                )
            })
            .collect();
        let (observations, split) = log(secrets, rows[0].1.len(), &rows);
        for choice in [
            ScorerChoice::Auto,
            ScorerChoice::Gaussian,
            ScorerChoice::Forest,
            ScorerChoice::Threshold,
            ScorerChoice::Linear,
        ] {
            if let Ok(tuned) = tuned(&observations, &split, choice) {
                let all = (0..observations.len() as u32).collect();
                let table = score_table(&*tuned.scorer, &observations, all, secrets);
                assert!(
                    table.values().iter().all(|score| score.is_finite()),
                    "{name}: {choice:?}"
                );
            }
        }
    }
}

#[test]
fn a_small_budget_thins_rows_then_leaves_attackers_out_and_says_so() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let rows: Vec<(usize, Vec<f64>)> = (0..6_000)
        .map(|row| (row / 3 % 2, (0..3).map(|_| normal(&mut rng)).collect()))
        .collect();
    let (observations, split) = log(2, 3, &rows);
    let tried = |budget: &str| {
        let budget = budget.parse().unwrap();
        tune(
            &observations,
            &split,
            &Attacks::default(),
            budget,
            Goals::advantage(0.05),
        )
        .unwrap()
        .tried
    };
    let forest = |tried: &[Tried]| {
        tried
            .iter()
            .find(|tried| tried.scorer == "forest")
            .cloned()
            .unwrap()
    };
    let full = tried("1m");
    assert_eq!(forest(&full).rows, 2_000);
    assert!(full.iter().map(|tried| tried.cost).sum::<f64>() < 60.0);
    let thin = forest(&tried("200ms"));
    assert!(thin.rows > 40 && thin.rows < 2_000, "{thin:?}");
    let Err(Failure::Skipped(reason)) = forest(&tried("1ms")).quality else {
        panic!("a forest is not grown in a millisecond")
    };
    assert!(reason.contains("`budget = "), "{reason}");
    // Where there is time for none, the cheapest answers.
    let one = tried("1e-12s");
    let kinds = |of: &dyn Fn(&Tried) -> bool| one.iter().filter(|&tried| of(tried)).count();
    assert!(kinds(&|tried| tried.quality.is_ok()) > 0, "{one:?}");
    assert!(
        kinds(&|tried| matches!(tried.quality, Err(Failure::Skipped(_)))) > 3,
        "{one:?}"
    );
}
