//! The weights against those of an implementation by others.

use linfa::Dataset;
use linfa::traits::Fit;
use linfa_logistic::MultiLogisticRegression;
use ndarray::{Array1, Array2, s};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::likelihood::{Rows, maximize};

/// Rows of correlated columns, of which some are equal, in three classes that differ in the second column.
fn rows(seed: u64, count: usize) -> Rows {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let classes: Vec<u32> = (0..count).map(|_| rng.random_range(0..3)).collect();
    let mut points = Array2::ones((count, 4));
    for (class, mut point) in classes.iter().zip(points.rows_mut()) {
        let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
        let common = normal();
        point[0] = 3.0 * common + 0.2 * normal();
        point[1] = common + 0.5 * f64::from(*class) + 0.3 * normal();
        point[2] = f64::from(normal() > 1.0);
    }
    let counts = (0..count).map(|at| (1 + at % 3) as f64).collect();
    Rows {
        points,
        classes,
        counts,
        all: 3,
    }
}

#[test]
fn weights_are_those_of_another_implementation() {
    for seed in 0..2 {
        let rows = rows(seed, 600);
        let found = maximize(&rows, 1.0, 100).unwrap();
        // Every row as often as it occurs; the other adds the intercept itself.
        let repeated: Vec<usize> = (0..rows.counts.len())
            .flat_map(|at| std::iter::repeat_n(at, rows.counts[at] as usize))
            .collect();
        let points = Array2::from_shape_fn((repeated.len(), 3), |(row, column)| {
            rows.points[[repeated[row], column]]
        });
        let targets: Array1<usize> = repeated
            .iter()
            .map(|&at| rows.classes[at] as usize)
            .collect();
        let theirs = MultiLogisticRegression::default()
            .alpha(1.0)
            .max_iterations(500)
            .gradient_tolerance(1e-7)
            .fit(&Dataset::new(points, targets))
            .unwrap();
        for class in 0..3 {
            let own = found.slice(s![..3, class]);
            for (own, theirs) in own.iter().zip(theirs.params().column(class)) {
                assert!((own - theirs).abs() < 2e-3, "{own} {theirs}");
            }
            // Intercepts may be shifted together.
            let shift = |values: &[f64]| values[class] - values[0];
            let own: Vec<f64> = found.row(3).to_vec();
            let theirs = theirs.intercept().to_vec();
            let (own, theirs) = (shift(&own), shift(&theirs));
            assert!((own - theirs).abs() < 2e-3, "{own} {theirs}");
        }
    }
}

#[test]
fn classes_that_a_column_tells_apart_have_finite_weights() {
    let mut rows = rows(5, 400);
    for (class, mut point) in rows.classes.iter().zip(rows.points.rows_mut()) {
        point[0] = 1e3 * f64::from(*class) + 1e-3 * point[0];
    }
    let found = maximize(&rows, 1.0, 100).unwrap();
    assert!(found.iter().all(|weight| weight.is_finite()));
    let scores = rows.points.dot(&found);
    for (class, scores) in rows.classes.iter().zip(scores.rows()) {
        let class = *class as usize;
        assert!(
            (0..3).all(|other| scores[class] >= scores[other]),
            "{scores}"
        );
    }
}

#[test]
fn columns_that_are_the_same_twice_share_their_weight() {
    let mut rows = rows(6, 1_000);
    for mut point in rows.points.rows_mut() {
        point[2] = point[1];
    }
    let found = maximize(&rows, 1.0, 100).unwrap();
    for class in 0..3 {
        let (first, second) = (found[[1, class]], found[[2, class]]);
        assert!((first - second).abs() < 2e-3, "{first} {second}");
    }
}

/// The same large column twice: beside its squares the penalty is lost to rounding.
#[test]
fn columns_alike_but_for_rounding_are_learned_from() {
    let mut rows = rows(8, 500);
    for mut point in rows.points.rows_mut() {
        (point[0], point[2]) = (1e8 * point[0], 1e8 * point[0]);
    }
    let found = maximize(&rows, 1.0, 100).unwrap();
    assert!(found[[1, 2]] > found[[1, 0]], "{found}");
}

/// Of many features only the sizes are made alike, and the optimum is the same.
#[test]
fn many_columns_without_leak_change_little() {
    let few = rows(7, 300);
    let mut wide = Array2::ones((300, 251));
    wide.slice_mut(s![.., ..3])
        .assign(&few.points.slice(s![.., ..3]));
    wide.slice_mut(s![.., 3..250]).fill(0.0);
    let wide = Rows {
        points: wide,
        classes: few.classes.clone(),
        counts: few.counts.clone(),
        all: 3,
    };
    let [found, expected] = [&wide, &few].map(|rows| maximize(rows, 1.0, 100).unwrap());
    for class in 0..3 {
        for at in 0..3 {
            let (found, expected) = (found[[at, class]], expected[[at, class]]);
            assert!((found - expected).abs() < 1e-2, "{found} {expected}");
        }
        assert!(
            found
                .slice(s![3..250, class])
                .iter()
                .all(|&weight| weight == 0.0)
        );
    }
}
