//! Attacks of linfa beside the built-in ones.

use std::sync::Arc;

use linfa_bayes::GaussianNb;
use linfa_logistic::MultiLogisticRegression;
use linfa_nn::{BallTree, KdTree, LinearSearch};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::*;
use crate::attack::Attack;
use crate::scorer::neighbors::Neighbors;
use crate::scorer::{KNearest, Metric, Rank, TransformKind, score_table};
use crate::split::Split;
use crate::tuning::{Attacks, Budget, Goals, ScorerChoice, Tuned, tune};
use leakgauge_log::observations::{Cell, Counts, Observations};

/// Three secrets, two columns, the second shifted by the secret; every observation of two rows.
fn log(rows: u32, step: f64) -> (Observations, Counts) {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
    let numbers = (0..rows).flat_map(|row| {
        let shifted = [normal(), normal() + 1.5 * f64::from(row % 3)];
        shifted.map(|number| (number / step).round() * step)
    });
    let observations = Observations::of_numbers(2, numbers.collect());
    let cells = (0..rows).map(|symbol| Cell {
        secret: symbol % 3,
        symbol,
        count: 2,
    });
    (observations, Counts::new(3, cells.collect()))
}

fn tuned(attacks: &Attacks) -> Tuned {
    let (observations, counts) = log(600, 1e-9);
    let split = Split::stratified(&counts, &mut ChaCha8Rng::seed_from_u64(2));
    let goals = Goals::advantage(0.05);
    tune(&observations, &split, attacks, Budget::default(), goals).unwrap()
}

fn quality_of(attacks: &Attacks) -> f64 {
    tuned(attacks).tried[0].quality.as_ref().unwrap().total()
}

#[test]
fn a_classifier_of_linfa_is_as_good_an_attack_as_the_same_model_built_in() {
    let regression = || {
        LinfaAttack::with_probabilities(
            "linfa regression",
            MultiLogisticRegression::<f64>::default(),
            |model, points| {
                (
                    model.predict_probabilities(points),
                    model.classes().to_vec(),
                )
            },
        )
    };
    let built_in = quality_of(&ScorerChoice::Linear.into());
    let ours = quality_of(&Attacks::only(Arc::new(regression())));
    assert!((ours - built_in).abs() < 0.05, "{ours} {built_in}");
    // Labels alone say less, but far more than nothing.
    let bayes = LinfaAttack::new("linfa bayes", GaussianNb::<f64, usize>::params());
    let by_labels = quality_of(&Attacks::only(Arc::new(bayes)));
    assert!(by_labels > 0.5 * built_in, "{by_labels} {built_in}");
}

#[test]
fn an_attack_from_outside_competes_and_is_named() {
    let regression = LinfaAttack::with_probabilities(
        "linfa regression",
        MultiLogisticRegression::<f64>::default(),
        |model, points| {
            (
                model.predict_probabilities(points),
                model.classes().to_vec(),
            )
        },
    );
    let tuned = tuned(&Attacks::default().and(Arc::new(regression)));
    let names: Vec<&str> = tuned.tried.iter().map(|tried| &*tried.scorer).collect();
    assert!(names.contains(&"linfa regression") && names.contains(&"forest"));
}

/// With any index of linfa-nn: the scores of the built-in attack to the bit, ties and repeated rows included.
#[test]
fn plugged_indexes_give_the_scores_of_the_built_in_one() {
    for (rows, step) in [(300, 1e-9), (400, 0.25)] {
        let (observations, counts) = log(rows, step);
        let ids: Vec<u32> = (0..rows).collect();
        for metric in [Metric::Euclidean, Metric::Manhattan, Metric::Chebyshev] {
            let transform = TransformKind::Scaled;
            let neighbors = Neighbors::fit_with(&observations, &counts, metric, transform).unwrap();
            let rank = Rank::Fixed(7);
            let built_in = KNearest::new("knn", neighbors.into(), rank, 2.0);
            let expected = score_table(&built_in, &observations, ids.clone(), 3);
            let with = |attack: NeighborAttack| {
                let fitted = attack.metric(metric).rank(rank).fit(&observations, &counts);
                let mut scores = vec![0.0; 3 * ids.len()];
                fitted.unwrap().score(&observations, &ids, &mut scores);
                scores
            };
            assert_eq!(with(NeighborAttack::new("a", KdTree)), expected.values());
            assert_eq!(
                with(NeighborAttack::new("b", LinearSearch)),
                expected.values()
            );
            assert_eq!(with(NeighborAttack::new("c", BallTree)), expected.values());
            assert_eq!(
                with(NeighborAttack::new("d", ExactNeighbors)),
                expected.values()
            );
        }
    }
}

#[test]
fn a_distance_of_labels_has_no_index_of_linfa() {
    let (observations, counts) = log(60, 0.5);
    let attack = NeighborAttack::new("hamming", KdTree).metric(Metric::Hamming);
    assert!(attack.fit(&observations, &counts).is_err());
}
