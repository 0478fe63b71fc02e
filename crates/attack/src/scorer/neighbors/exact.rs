//! This crate's neighbor search for users of linfa-nn.

use std::any::type_name;
use std::collections::BinaryHeap;
use std::slice::from_ref;

use linfa::Float;
use linfa_nn::distance::{Distance, L1Dist, L2Dist, LInfDist};
use linfa_nn::{BuildError, LinearSearch, NearestNeighbour, NearestNeighbourIndex, NnError};
use ndarray::{ArrayBase, ArrayView1, ArrayView2, Data, Ix2, aview1};

use leakgauge_neighbors::{Brute, Collect, Metric, Points, Tree, pays};

use crate::scorer::neighbors::tree_cost;

/// An exact nearest-neighbor algorithm for linfa-nn: a balanced k-d tree, or a vectorized pass over all points
/// where a tree would not pay. Any number of equal points is fine, and of equally far points those come first that
/// stand first in the batch.
///
/// # Conditions
/// Distances L1, L2 and L∞ are fast. For any other distance this is the linear search of linfa-nn. Coordinates are
/// compared in double precision; those that are not finite are allowed, and a distance that is not a number is larger
/// than any other. `within_range` gives the points nearer than the range, as linear search does. The leaf size has no
/// effect.
///
/// ```
/// use leakgauge_attack::linfa::ExactNeighbors;
/// use linfa_nn::{NearestNeighbour, distance::L2Dist};
/// use ndarray::{array, aview1};
///
/// let points = array![[0.0, 0.0], [3.0, 4.0], [1.0, 1.0]];
/// let index = ExactNeighbors.from_batch(&points, L2Dist)?;
/// let nearest = index.k_nearest(aview1(&[0.9, 0.9]), 2)?;
/// assert_eq!(nearest.iter().map(|found| found.1).collect::<Vec<_>>(), [2, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExactNeighbors;

impl NearestNeighbour for ExactNeighbors {
    fn from_batch_with_leaf_size<'a, F: Float, DT: Data<Elem = F>, D: 'a + Distance<F>>(
        &self,
        batch: &'a ArrayBase<DT, Ix2>,
        leaf_size: usize,
        dist_fn: D,
    ) -> Result<Box<dyn 'a + Send + Sync + NearestNeighbourIndex<F>>, BuildError> {
        if leaf_size == 0 {
            return Err(BuildError::EmptyLeaf);
        }
        if batch.ncols() == 0 {
            return Err(BuildError::ZeroDimension);
        }
        match metric(&dist_fn) {
            Some(metric) => Ok(Box::new(Exact::new(batch.view(), metric))),
            None => LinearSearch.from_batch_with_leaf_size(batch, leaf_size, dist_fn),
        }
    }
}

/// The metric that a distance is, if it is one of linfa-nn's own. A distance need not be `'static`, so that its type
/// is known by name only; a value decides whether the name tells the truth.
fn metric<F: Float, D: Distance<F>>(distance: &D) -> Option<Metric> {
    let [x, y] = [[0.0, 0.0], [3.0, -4.0]].map(|point| point.map(F::cast));
    let of_example = distance.distance(aview1(&x), aview1(&y)).to_f64()?;
    let known = [
        (type_name::<L1Dist>(), 7.0, Metric::Manhattan),
        (type_name::<L2Dist>(), 5.0, Metric::Euclidean),
        (type_name::<LInfDist>(), 4.0, Metric::Chebyshev),
    ];
    let found = known
        .into_iter()
        .find(|(name, ..)| *name == type_name::<D>())?;
    (found.1 == of_example).then_some(found.2)
}

struct Exact<'a, F> {
    batch: ArrayView2<'a, F>,
    metric: Metric,
    index: Index,
}

enum Index {
    /// A tree, with the row number of each of its points.
    Tree(Tree, Vec<usize>),
    /// All points in their order.
    All(Brute),
}

impl<'a, F: Float> Exact<'a, F> {
    fn new(batch: ArrayView2<'a, F>, metric: Metric) -> Self {
        let d = batch.ncols();
        let numbers = batch.rows().into_iter().flat_map(doubles).collect();
        let points = Points::of_rows(numbers, d);
        let all = || Index::All(Brute::in_order(&points, d, metric));
        // A tree's boxes know no order of what is not a number.
        let index = if points.numbers.iter().all(|number| number.is_finite()) {
            let (tree, order) = Tree::with_order(&points, d, metric);
            // The pass over all points is not filtered here, whatever the distance.
            let cost = tree_cost(Metric::Manhattan);
            if pays(from_ref(&tree), from_ref(&points), d, cost) {
                Index::Tree(tree, order)
            } else {
                all()
            }
        } else {
            all()
        };
        Exact {
            batch,
            metric,
            index,
        }
    }

    /// Offers points to a collection, with their row numbers.
    fn collect<C: Collect>(&self, x: &[f64], mut found: C) -> C {
        let is_finite = x.iter().all(|number| number.is_finite());
        match &self.index {
            Index::Tree(tree, order) if is_finite => {
                let mut renumbered = Renumbered { found, order };
                tree.collect(x, &mut renumbered);
                renumbered.found
            }
            Index::Tree(..) => {
                for (row, point) in self.batch.rows().into_iter().enumerate() {
                    found.offer(self.metric.key(x, &doubles(point)), row, 1);
                }
                found
            }
            Index::All(points) => {
                let keys = points.keys_in_order(x).into_iter().enumerate();
                keys.for_each(|(row, key)| found.offer(key, row, 1));
                found
            }
        }
    }

    /// A query as doubles.
    fn query(&self, point: ArrayView1<'_, F>) -> Result<Vec<f64>, NnError> {
        if point.len() == self.batch.ncols() {
            Ok(doubles(point))
        } else {
            Err(NnError::WrongDimension)
        }
    }

    fn points(&self, rows: impl Iterator<Item = usize>) -> Vec<(ArrayView1<'_, F>, usize)> {
        rows.map(|row| (self.batch.row(row), row)).collect()
    }
}

impl<F: Float> NearestNeighbourIndex<F> for Exact<'_, F> {
    fn k_nearest(
        &self,
        point: ArrayView1<'_, F>,
        k: usize,
    ) -> Result<Vec<(ArrayView1<'_, F>, usize)>, NnError> {
        let x = self.query(point)?;
        if k == 0 {
            return Ok(Vec::new());
        }
        let found = self.collect(&x, First::new(k)).nearest.into_sorted_vec();
        Ok(self.points(found.into_iter().map(|found| found.row)))
    }

    fn within_range(
        &self,
        point: ArrayView1<'_, F>,
        range: F,
    ) -> Result<Vec<(ArrayView1<'_, F>, usize)>, NnError> {
        let x = self.query(point)?;
        let range = range.to_f64().unwrap_or(f64::NAN);
        let squared = self.metric == Metric::Euclidean;
        let mut found = self.collect(
            &x,
            Within {
                limit: if squared { range * range.abs() } else { range },
                found: Vec::new(),
            },
        );
        found.found.sort_unstable();
        Ok(self.points(found.found.into_iter().map(|found| found.row)))
    }
}

fn doubles<F: Float>(point: ArrayView1<'_, F>) -> Vec<f64> {
    let numbers = point.iter().map(|number| number.to_f64());
    numbers.map(|number| number.unwrap_or(f64::NAN)).collect()
}

/// A point by its key, then its row number.
#[derive(PartialEq)]
struct Found {
    key: f64,
    row: usize,
}

impl Found {
    fn new(key: f64, row: usize) -> Self {
        // The sign of what is not a number means nothing.
        let key = if key.is_nan() { f64::NAN } else { key };
        Found { key, row }
    }
}

impl Eq for Found {}

impl PartialOrd for Found {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Found {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let by_key = self.key.total_cmp(&other.key);
        by_key.then(self.row.cmp(&other.row))
    }
}

/// The k first in order.
struct First {
    k: usize,
    nearest: BinaryHeap<Found>,
}

impl First {
    fn new(k: usize) -> Self {
        First {
            k,
            nearest: BinaryHeap::new(),
        }
    }
}

impl Collect for First {
    /// An equally far point may stand before the last one.
    fn reaches(&self, bound: f64) -> bool {
        let last = self.nearest.peek();
        self.nearest.len() < self.k || last.is_none_or(|last| bound <= last.key)
    }

    fn offer(&mut self, key: f64, row: usize, _: usize) {
        let new = Found::new(key, row);
        if self.nearest.len() < self.k {
            self.nearest.push(new);
        } else if let Some(mut last) = self.nearest.peek_mut()
            && new < *last
        {
            *last = new;
        }
    }
}

/// All that are nearer than a limit.
struct Within {
    limit: f64,
    found: Vec<Found>,
}

impl Collect for Within {
    fn reaches(&self, bound: f64) -> bool {
        bound < self.limit
    }

    fn offer(&mut self, key: f64, row: usize, _: usize) {
        if key < self.limit {
            self.found.push(Found::new(key, row));
        }
    }
}

/// A collection of row numbers, offered places in a tree.
struct Renumbered<'a, C> {
    found: C,
    order: &'a [usize],
}

impl<C: Collect> Collect for Renumbered<'_, C> {
    #[inline]
    fn reaches(&self, bound: f64) -> bool {
        self.found.reaches(bound)
    }

    #[inline]
    fn offer(&mut self, key: f64, place: usize, rows: usize) {
        self.found.offer(key, self.order[place], rows);
    }
}

#[cfg(test)]
mod tests;
