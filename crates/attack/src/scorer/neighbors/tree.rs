//! Low intrinsic dimension: a k-d tree over the points of a secret.

use crate::scorer::neighbors::Points;
use crate::scorer::neighbors::metric::{Metric, Norm, with_norm};
use crate::scorer::neighbors::nearest::{Collect, Nearest};

/// Points a leaf.
const LEAF: usize = 16;

/// A balanced k-d tree with the dimension known at run time. Points are stored leaf by leaf; ties may
/// fall on either side of a split, so heavily tied data makes no deep trees.
pub(super) struct Tree {
    d: usize,
    metric: Metric,
    /// Row-major points in tree order.
    points: Vec<f64>,
    /// Rows of each of them.
    counts: Vec<u32>,
    rows: usize,
    nodes: Vec<Node>,
}

/// A node over points `from..to`; a leaf has no split.
struct Node {
    from: usize,
    to: usize,
    split: Option<Split>,
}

struct Split {
    column: usize,
    value: f64,
    left: usize,
    right: usize,
}

/// A query on its way through the tree.
struct Search<'a, C> {
    x: &'a [f64],
    /// How far the query lies outside the current box, column by column.
    outside: Vec<f64>,
    found: C,
    looked_at: usize,
}

impl Tree {
    /// Builds the tree of distinct points.
    pub fn new(points: &Points, d: usize, metric: Metric) -> Self {
        Self::with_order(points, d, metric).0
    }

    /// The tree, and for each place in it the number of the point that is there.
    pub fn with_order(points: &Points, d: usize, metric: Metric) -> (Self, Vec<usize>) {
        let mut order: Vec<usize> = (0..points.counts.len()).collect();
        let mut tree = Tree {
            d,
            metric,
            points: Vec::with_capacity(points.numbers.len()),
            counts: Vec::with_capacity(order.len()),
            rows: points.rows(),
            nodes: Vec::with_capacity(2 * order.len() / LEAF + 1),
        };
        if !order.is_empty() {
            tree.grow(&points.numbers, &mut order, 0);
        }
        for &at in &order {
            tree.points
                .extend_from_slice(&points.numbers[at * d..(at + 1) * d]);
            tree.counts.push(points.counts[at]);
        }
        (tree, order)
    }

    /// Grows the node over `order`, which starts at point `from` of the tree. Depth is at most log₂ of
    /// the number of points.
    fn grow(&mut self, points: &[f64], order: &mut [usize], from: usize) -> usize {
        let id = self.nodes.len();
        self.nodes.push(Node {
            from,
            to: from + order.len(),
            split: None,
        });
        if order.len() <= LEAF {
            return id;
        }
        let (column, width) = self.widest(points, order);
        if width == 0.0 {
            return id;
        }
        let d = self.d;
        let middle = order.len() / 2;
        let at = |row: usize| points[row * d + column];
        order.select_nth_unstable_by(middle, |&a, &b| at(a).total_cmp(&at(b)).then(a.cmp(&b)));
        let value = at(order[middle]);
        let (low, high) = order.split_at_mut(middle);
        let left = self.grow(points, low, from);
        let right = self.grow(points, high, from + middle);
        self.nodes[id].split = Some(Split {
            column,
            value,
            left,
            right,
        });
        id
    }

    fn widest(&self, points: &[f64], order: &[usize]) -> (usize, f64) {
        let width = |column: usize| {
            let values = order.iter().map(|&row| points[row * self.d + column]);
            let (low, high) = values
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                    (low.min(value), high.max(value))
                });
            high - low
        };
        (0..self.d)
            .map(|column| (column, width(column)))
            .fold(
                (0, 0.0),
                |best, next| if next.1 > best.1 { next } else { best },
            )
    }

    /// The keys of the nearest of row-major queries; see `Group::search`.
    pub fn search(&self, queries: &[f64], k: usize, found: &mut dyn FnMut(usize, &[f64])) {
        with_norm!(self.metric, N => self.search_with::<N>(queries, k, found));
    }

    fn search_with<N: Norm>(
        &self,
        queries: &[f64],
        k: usize,
        found: &mut dyn FnMut(usize, &[f64]),
    ) {
        let mut keys = Vec::new();
        for (query, x) in queries.chunks_exact(self.d).enumerate() {
            let mut search = self.collect_with::<N, _>(x, Nearest::new(k));
            search.found.drain_into(&mut keys);
            found(query, &keys);
        }
    }

    /// Offers all points to a collection that may be of use to it.
    pub fn collect<C: Collect>(&self, x: &[f64], found: C) -> C {
        with_norm!(self.metric, N => self.collect_with::<N, C>(x, found).found)
    }

    fn collect_with<'a, N: Norm, C: Collect>(&self, x: &'a [f64], found: C) -> Search<'a, C> {
        let mut search = Search {
            x,
            outside: vec![0.0; self.d],
            found,
            looked_at: 0,
        };
        if !self.nodes.is_empty() {
            self.descend::<N, C>(0, &mut search);
        }
        search
    }

    fn descend<N: Norm, C: Collect>(&self, id: usize, search: &mut Search<C>) {
        let node = &self.nodes[id];
        let Some(split) = &node.split else {
            search.looked_at += node.to - node.from;
            self.scan::<N, C>(node, search);
            return;
        };
        let offset = search.x[split.column] - split.value;
        let (near, far) = if offset < 0.0 {
            (split.left, split.right)
        } else {
            (split.right, split.left)
        };
        self.descend::<N, C>(near, search);
        let before = std::mem::replace(&mut search.outside[split.column], offset);
        // Summed as the keys of points are, every term at most theirs: the bound never exceeds a key.
        let bound = search.outside.iter().fold(0.0, |sum, &o| N::add(sum, o));
        if search.found.reaches(bound) {
            self.descend::<N, C>(far, search);
        }
        search.outside[split.column] = before;
    }

    fn scan<N: Norm, C: Collect>(&self, node: &Node, search: &mut Search<C>) {
        let points = &self.points[node.from * self.d..node.to * self.d];
        let counts = &self.counts[node.from..node.to];
        let points = points.chunks_exact(self.d).zip(counts);
        for (place, (point, &count)) in (node.from..).zip(points) {
            let key = search
                .x
                .iter()
                .zip(point)
                .fold(0.0, |sum, (a, b)| N::add(sum, a - b));
            search.found.offer(key, place, count as usize);
        }
    }
}

/// Whether trees beat looking at every point: counted on up to 64 of the points as queries, a visited
/// point of a tree costing about as much as so many of a straight pass.
pub(super) fn pays(trees: &[Tree], points: &[Points], d: usize, cost: usize) -> bool {
    const QUERIES: usize = 64;
    let all: usize = points.iter().map(|points| points.counts.len()).sum();
    let queries = points
        .iter()
        .flat_map(|points| points.numbers.chunks_exact(d))
        .step_by((all / QUERIES).max(1));
    let (mut looked_at, mut straight) = (0, 0);
    for x in queries {
        for tree in trees.iter().filter(|tree| tree.rows > 0) {
            let k = (tree.rows as f64).sqrt() as usize;
            looked_at += with_norm!(tree.metric, N => tree.collect_with::<N, _>(x, Nearest::new(k.max(1))).looked_at);
            straight += tree.counts.len();
        }
    }
    cost * looked_at < straight
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    fn points(numbers: Vec<f64>, d: usize) -> Points {
        let counts = vec![1; numbers.len() / d];
        Points { numbers, counts }
    }

    fn keys(tree: &Tree, x: &[f64], k: usize) -> Vec<f64> {
        let mut keys = Vec::new();
        tree.search(x, k, &mut |_, found| keys = found.to_vec());
        keys
    }

    #[test]
    fn equal_points_make_a_shallow_tree() {
        let tree = Tree::new(&points(vec![1.0; 300_000], 3), 3, Metric::Euclidean);
        assert_eq!(keys(&tree, &[1.0, 1.0, 2.0], 2), vec![1.0, 1.0]);
    }

    /// linfa-nn's exact k-d tree as an independent oracle, for every metric.
    #[test]
    fn the_nearest_are_those_that_linfa_finds() {
        use linfa_nn::distance::{Distance, L1Dist, L2Dist, LInfDist};
        use linfa_nn::{KdTree, NearestNeighbour};
        use ndarray::{Array1, Array2};
        fn compare<D: Distance<f64> + 'static>(metric: Metric, oracle: D, power: i32) {
            let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(5);
            let numbers: Vec<f64> = (0..3 * 500).map(|_| rng.random()).collect();
            let array = Array2::from_shape_vec((500, 3), numbers.clone()).unwrap();
            let index = KdTree.from_batch(&array, oracle.clone()).unwrap();
            let tree = Tree::new(&points(numbers, 3), 3, metric);
            for _ in 0..100 {
                let x: Vec<f64> = (0..3).map(|_| rng.random()).collect();
                let query = Array1::from(x.clone());
                let theirs = index.k_nearest(query.view(), 7).unwrap();
                for ((point, _), key) in theirs.iter().zip(keys(&tree, &x, 7)) {
                    let expected: f64 = oracle.distance(query.view(), point.view()).powi(power);
                    assert!((expected - key).abs() < 1e-14);
                }
            }
        }
        compare(Metric::Euclidean, L2Dist, 2);
        compare(Metric::Manhattan, L1Dist, 1);
        compare(Metric::Chebyshev, LInfDist, 1);
    }
}
