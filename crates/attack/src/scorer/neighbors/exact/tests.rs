//! linfa-nn's own algorithms as oracles.

use super::*;
use linfa_nn::KdTree;
use linfa_nn::distance::LpDist;
use ndarray::{Array1, Array2};
use proptest::prelude::*;

/// The distances of what an index finds, and that its points are those of the batch at their row numbers.
fn found<D: Distance<f64>>(
    batch: &Array2<f64>,
    x: &Array1<f64>,
    distance: &D,
    found: &[(ArrayView1<'_, f64>, usize)],
) -> Vec<f64> {
    let each = found.iter().map(|(point, row)| {
        assert_eq!(*point, batch.row(*row));
        distance.distance(x.view(), point.view())
    });
    each.collect()
}

fn compare<D: Distance<f64> + 'static>(
    batch: &Array2<f64>,
    queries: &Array2<f64>,
    k: usize,
    range: f64,
    distance: D,
) {
    let ours = ExactNeighbors.from_batch(batch, distance.clone()).unwrap();
    let linear = LinearSearch.from_batch(batch, distance.clone()).unwrap();
    let tree = KdTree.from_batch(batch, distance.clone()).unwrap();
    for x in queries.rows() {
        let x = x.to_owned();
        let nearest = ours.k_nearest(x.view(), k).unwrap();
        let distances = found(batch, &x, &distance, &nearest);
        for other in [&linear, &tree] {
            let theirs = other.k_nearest(x.view(), k).unwrap();
            assert_eq!(distances, found(batch, &x, &distance, &theirs));
        }
        // Of equally far points those that stand first.
        let mut all: Vec<(f64, usize)> = batch
            .rows()
            .into_iter()
            .enumerate()
            .map(|(row, point)| (distance.rdistance(x.view(), point), row))
            .collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let rows: Vec<usize> = nearest.iter().map(|found| found.1).collect();
        let first: Vec<usize> = all.iter().take(k).map(|found| found.1).collect();
        assert_eq!(rows, first);
        let within = |index: &dyn NearestNeighbourIndex<f64>| {
            let found = index.within_range(x.view(), range).unwrap();
            let mut rows: Vec<usize> = found.into_iter().map(|found| found.1).collect();
            rows.sort_unstable();
            rows
        };
        assert_eq!(within(&*ours), within(&*linear));
    }
}

/// Multiples of a quarter, so that sums of squares are exact and ties are ties.
fn array(numbers: &[i32], d: usize) -> Array2<f64> {
    let rows = numbers.len() / d;
    let numbers = numbers[..rows * d].iter().map(|&n| f64::from(n) * 0.25);
    Array2::from_shape_vec((rows, d), numbers.collect()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn the_nearest_are_those_of_linfa_with_ties_and_duplicates(
        d in 1usize..6,
        width in prop::sample::select(vec![2, 8, 100_000]),
        seeds in prop::collection::vec(any::<u32>(), 10..600),
        k in 1usize..40,
        range in 0u32..16,
    ) {
        let numbers: Vec<i32> = seeds.iter().map(|seed| (seed % width) as i32).collect();
        let batch = array(&numbers, d);
        let queries: Vec<i32> = seeds.iter().rev().take(10 * d).map(|seed| (seed % (width + 2)) as i32 - 1).collect();
        let queries = array(&queries, d);
        let range = f64::from(range) * 0.25 * f64::from(width) / 8.0;
        compare(&batch, &queries, k, range, L1Dist);
        compare(&batch, &queries, k, range, L2Dist);
        compare(&batch, &queries, k, range, LInfDist);
    }
}

#[test]
fn points_that_are_all_equal_are_found_in_their_order() {
    for d in 1..6 {
        let batch = Array2::from_elem((3000, d), 0.5);
        let x = Array1::zeros(d);
        let index = ExactNeighbors.from_batch(&batch, L2Dist).unwrap();
        let nearest = index.k_nearest(x.view(), 4).unwrap();
        let rows: Vec<usize> = nearest.iter().map(|found| found.1).collect();
        assert_eq!(rows, [0, 1, 2, 3]);
        assert_eq!(index.within_range(x.view(), 1e9).unwrap().len(), 3000);
    }
}

#[test]
fn numbers_that_are_not_finite_come_last() {
    let batch = ndarray::arr2(&[[f64::NAN], [2.0], [f64::INFINITY], [1.0]]);
    let index = ExactNeighbors.from_batch(&batch, L1Dist).unwrap();
    let nearest = index.k_nearest(aview1(&[0.0]), 4).unwrap();
    let rows: Vec<usize> = nearest.iter().map(|found| found.1).collect();
    assert_eq!(rows, [3, 1, 2, 0]);
    let many = Array2::from_shape_fn((5000, 1), |(row, _)| row as f64);
    let index = ExactNeighbors.from_batch(&many, L1Dist).unwrap();
    let nearest = index.k_nearest(aview1(&[f64::NAN]), 2).unwrap();
    assert_eq!(nearest[1].1, 1);
}

#[test]
fn single_precision_and_other_distances_are_served_too() {
    let batch = ndarray::arr2(&[[0f32, 0.0], [3.0, 4.0], [1.0, 1.0]]);
    let x = aview1(&[0.9f32, 0.9]);
    let index = ExactNeighbors.from_batch(&batch, L2Dist).unwrap();
    assert_eq!(index.k_nearest(x, 1).unwrap()[0].1, 2);
    let index = ExactNeighbors
        .from_batch(&batch, LpDist::new(3f32))
        .unwrap();
    assert_eq!(index.k_nearest(x, 1).unwrap()[0].1, 2);
}

#[test]
fn what_cannot_be_is_refused_as_linfa_does() {
    let batch = Array2::<f64>::zeros((3, 2));
    let index = ExactNeighbors.from_batch(&batch, L2Dist).unwrap();
    assert!(index.k_nearest(aview1(&[0.0]), 1).is_err());
    assert!(index.within_range(aview1(&[0.0]), 1.0).is_err());
    assert!(index.k_nearest(aview1(&[0.0, 0.0]), 0).unwrap().is_empty());
    assert!(
        ExactNeighbors
            .from_batch_with_leaf_size(&batch, 0, L2Dist)
            .is_err()
    );
    let empty = Array2::<f64>::zeros((3, 0));
    assert!(ExactNeighbors.from_batch(&empty, L2Dist).is_err());
    let none = Array2::<f64>::zeros((0, 2));
    let index = ExactNeighbors.from_batch(&none, L2Dist).unwrap();
    assert!(index.k_nearest(aview1(&[0.0, 0.0]), 3).unwrap().is_empty());
}
