//! Low intrinsic dimension: a k-d tree over the points of a secret.

use crate::scorer::neighbors::brute::ln_mean_distance;

/// Points a leaf.
const LEAF: usize = 16;

/// A balanced k-d tree with the dimension known at run time. Points are stored leaf by leaf; ties may
/// fall on either side of a split, so heavily tied data makes no deep trees.
pub struct Tree {
    d: usize,
    /// Row-major points in tree order.
    points: Vec<f64>,
    nodes: Vec<Node>,
}

/// A node over rows `from..to`; a leaf has no split.
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

impl Tree {
    /// Builds the tree of row-major points.
    pub fn new(points: &[f64], d: usize) -> Self {
        let rows = points.len() / d;
        let mut order: Vec<usize> = (0..rows).collect();
        let mut tree = Tree {
            d,
            points: Vec::with_capacity(points.len()),
            nodes: Vec::with_capacity(2 * rows / LEAF + 1),
        };
        if rows > 0 {
            tree.grow(points, &mut order, 0);
        }
        for row in order {
            tree.points
                .extend_from_slice(&points[row * d..(row + 1) * d]);
        }
        tree
    }

    /// Grows the node over `order`, which starts at row `from` of the tree. Depth is at most log₂ rows.
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

    /// Distances from row-major queries; see `Group::search`.
    pub fn search(&self, queries: &[f64], ks: &[usize], found: &mut dyn FnMut(usize, usize, f64)) {
        let most = ks.iter().copied().max().unwrap_or(1);
        for (query, x) in queries.chunks_exact(self.d).enumerate() {
            let nearest = self.nearest(x, most).0;
            for (rank, &k) in ks.iter().enumerate() {
                found(
                    query,
                    rank,
                    ln_mean_distance(&nearest[..k.min(nearest.len())]),
                );
            }
        }
    }

    /// The squared distances of the k nearest points, ascending, and the number of points looked at.
    fn nearest(&self, x: &[f64], k: usize) -> (Vec<f64>, usize) {
        let mut nearest = Nearest::new(k);
        let mut looked_at = 0;
        // Nodes to visit, with a lower bound of the squared distance to them.
        let mut waiting = vec![(0usize, 0.0f64)];
        while let Some((id, bound)) = waiting.pop() {
            if bound > nearest.farthest() {
                continue;
            }
            let node = &self.nodes[id];
            let Some(split) = &node.split else {
                looked_at += node.to - node.from;
                self.scan(node, x, &mut nearest);
                continue;
            };
            let offset = x[split.column] - split.value;
            let (near, far) = if offset < 0.0 {
                (split.left, split.right)
            } else {
                (split.right, split.left)
            };
            // Rounded down: the bound must never exceed a distance computed the long way.
            waiting.push((far, bound.max(offset * offset * (1.0 - 1e-12))));
            waiting.push((near, bound));
        }
        (nearest.into_sorted(), looked_at)
    }

    fn scan(&self, node: &Node, x: &[f64], nearest: &mut Nearest) {
        for point in self.points[node.from * self.d..node.to * self.d].chunks_exact(self.d) {
            let mut sum = 0.0;
            for (coordinate, value) in x.iter().zip(point) {
                let difference = coordinate - value;
                sum += difference * difference;
            }
            nearest.offer(sum);
        }
    }
}

/// The k smallest numbers offered so far, as a max-heap.
struct Nearest {
    k: usize,
    heap: std::collections::BinaryHeap<Ordered>,
}

#[derive(PartialEq)]
struct Ordered(f64);

impl Eq for Ordered {}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ordered {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl Nearest {
    fn new(k: usize) -> Self {
        Nearest {
            k,
            heap: std::collections::BinaryHeap::with_capacity(k + 1),
        }
    }

    fn farthest(&self) -> f64 {
        if self.heap.len() < self.k {
            return f64::INFINITY;
        }
        self.heap.peek().map_or(f64::INFINITY, |top| top.0)
    }

    fn offer(&mut self, square: f64) {
        if self.heap.len() < self.k {
            self.heap.push(Ordered(square));
        } else if square < self.farthest()
            && let Some(mut top) = self.heap.peek_mut()
        {
            top.0 = square;
        }
    }

    fn into_sorted(self) -> Vec<f64> {
        self.heap
            .into_sorted_vec()
            .into_iter()
            .map(|ordered| ordered.0)
            .collect()
    }
}

/// Whether trees beat looking at every point: counted on up to 64 of the points as queries, a visited
/// point of a tree costing about as much as eight of a straight pass.
pub fn pays(trees: &[Tree], points: &[Vec<f64>], d: usize) -> bool {
    const QUERIES: usize = 64;
    const COST: usize = 8;
    let rows: usize = points.iter().map(|numbers| numbers.len() / d).sum();
    let every = (rows / QUERIES).max(1);
    let queries = points
        .iter()
        .flat_map(|numbers| numbers.chunks_exact(d))
        .step_by(every);
    let (mut looked_at, mut all) = (0, 0);
    for x in queries {
        for tree in trees.iter().filter(|tree| !tree.points.is_empty()) {
            let tree_rows = tree.points.len() / d;
            let k = (tree_rows as f64).sqrt() as usize;
            looked_at += tree.nearest(x, k.max(1)).1;
            all += tree_rows;
        }
    }
    COST * looked_at < all
}

#[cfg(test)]
mod tests {
    use super::super::brute::Brute;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Tied and spread data, all dimensions: the tree and the straight pass agree to the bit.
        #[test]
        fn tree_and_straight_pass_agree_to_the_bit(
            d in 1usize..6,
            points in prop::collection::vec(-4i32..5, 6..900),
            queries in prop::collection::vec(-5i32..6, 6..60),
            scale in prop::sample::select(vec![1.0, 0.1, 0.37]),
            k in 1usize..40,
        ) {
            let number = |v: &i32| f64::from(*v) * scale;
            let points: Vec<f64> = points[..points.len() / d * d].iter().map(number).collect();
            let queries: Vec<f64> = queries[..queries.len() / d * d].iter().map(number).collect();
            let k = k.min(points.len() / d);
            let mut from_tree = vec![0.0; queries.len() / d];
            Tree::new(&points, d).search(&queries, &[k], &mut |query, _, ln| from_tree[query] = ln);
            let mut from_pass = from_tree.clone();
            Brute::new(&[points], d).search(0, &queries, &[k], &mut |query, _, ln| from_pass[query] = ln);
            prop_assert_eq!(from_tree, from_pass);
        }
    }

    #[test]
    fn equal_points_make_a_shallow_tree() {
        let tree = Tree::new(&vec![1.0; 300_000], 3);
        assert_eq!(tree.nearest(&[1.0, 1.0, 2.0], 2).0, vec![1.0, 1.0]);
    }

    /// linfa-nn's exact k-d tree as an independent oracle.
    #[test]
    fn the_nearest_are_those_that_linfa_finds() {
        use linfa_nn::{KdTree, NearestNeighbour, distance::L2Dist};
        use ndarray::{Array1, Array2};
        use rand::{RngExt, SeedableRng};
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(5);
        let points: Vec<f64> = (0..3 * 500).map(|_| rng.random()).collect();
        let array = Array2::from_shape_vec((500, 3), points.clone()).unwrap();
        let index = KdTree.from_batch(&array, L2Dist).unwrap();
        let tree = Tree::new(&points, 3);
        for _ in 0..100 {
            let x: Vec<f64> = (0..3).map(|_| rng.random()).collect();
            let theirs = index.k_nearest(Array1::from(x.clone()).view(), 7).unwrap();
            let ours = tree.nearest(&x, 7).0;
            for ((point, _), square) in theirs.iter().zip(ours) {
                let expected: f64 = point.iter().zip(&x).map(|(a, b)| (a - b).powi(2)).sum();
                assert!((expected - square).abs() < 1e-15);
            }
        }
    }
}
