//! Low intrinsic dimension: a k-d tree.

use crate::Points;
use crate::kernel::Kernel;
use crate::metric::{Metric, Norm, with_norm};
use crate::nearest::{Collect, LEAF, Nearest, Smallest};

/// Runs an expression with the dimension as a constant where it is small, else with 0.
macro_rules! with_dimension {
    ($d:expr, $constant:ident => $run:expr) => {
        match $d {
            2 => with_dimension!(@ 2, $constant => $run),
            3 => with_dimension!(@ 3, $constant => $run),
            4 => with_dimension!(@ 4, $constant => $run),
            5 => with_dimension!(@ 5, $constant => $run),
            6 => with_dimension!(@ 6, $constant => $run),
            _ => with_dimension!(@ 0, $constant => $run),
        }
    };
    (@ $value:literal, $constant:ident => $run:expr) => {{
        const $constant: usize = $value;
        $run
    }};
}

/// A balanced k-d tree. Every node splits its points in the middle, and all leaves are equally deep; ties may fall
/// on either side of a split, so heavily tied data makes no deep trees.
pub struct Tree {
    d: usize,
    metric: Metric,
    kernel: Kernel,
    /// Leaf by leaf, each column by column with room for `LEAF` points.
    leaves: Vec<f64>,
    /// The first place of every leaf, and at the end the number of points.
    starts: Vec<usize>,
    /// Rows of each point, in tree order.
    counts: Vec<u32>,
    rows: usize,
    /// Inner nodes breadth first from the root: the column that is split, and where.
    splits: Vec<(u32, f64)>,
}

/// Parts of the tree that a query has not been in yet, the last first.
struct Ahead {
    /// How many they are.
    left: usize,
    /// A number and how near its points may be.
    nodes: Vec<(usize, f64)>,
    /// How far the query lies outside the box of each node, column by column.
    outside: Vec<f64>,
    /// The same of the present node, and how near its points may be.
    here: Vec<f64>,
    bound: f64,
    /// A little less than one: covers the rounding of bounds and keys.
    rounding: f64,
}

/// Queries that go to their first leaves together, each waiting for memory while the others go on.
const TOGETHER: usize = 4;

/// The ways of some queries from the root to the leaves whose boxes they are in.
struct Ways {
    /// Of each level and query: the other node, the column that is split, and how far away the split is.
    beside: Vec<[(usize, u32, f64); TOGETHER]>,
    leaves: [usize; TOGETHER],
}

impl Tree {
    /// Builds the tree of points with finite coordinates; their numbers of rows count as that many equal points.
    pub fn new(points: &Points, d: usize, metric: Metric) -> Self {
        Self::with_order(points, d, metric).0
    }

    /// The tree, and for each place in it the number of the point that is there.
    pub fn with_order(points: &Points, d: usize, metric: Metric) -> (Self, Vec<usize>) {
        let n = points.counts.len();
        let mut order: Vec<usize> = (0..n).collect();
        let mut leaves = 1;
        while n.div_ceil(leaves) > LEAF {
            leaves *= 2;
        }
        let mut tree = Tree {
            d,
            metric,
            kernel: Kernel::best(),
            starts: Vec::with_capacity(leaves + 1),
            leaves: vec![f64::INFINITY; leaves * LEAF * d],
            counts: Vec::with_capacity(n),
            rows: points.rows(),
            splits: vec![(0, 0.0); leaves - 1],
        };
        tree.grow(&points.numbers, &mut order, 0, 0);
        tree.starts.push(n);
        tree.counts
            .extend(order.iter().map(|&at| points.counts[at]));
        (tree, order)
    }

    /// Grows a node over the points in `order`, the first of which is at place `start`.
    fn grow(&mut self, points: &[f64], order: &mut [usize], start: usize, node: usize) {
        let d = self.d;
        if node >= self.splits.len() {
            self.starts.push(start);
            let leaf = &mut self.leaves[(node - self.splits.len()) * LEAF * d..];
            for (at, &row) in order.iter().enumerate() {
                for (column, &value) in points[row * d..(row + 1) * d].iter().enumerate() {
                    leaf[column * LEAF + at] = value;
                }
            }
            return;
        }
        let column = self.widest(points, order);
        let middle = order.len() / 2;
        let at = |row: usize| points[row * d + column];
        order.select_nth_unstable_by(middle, |&a, &b| at(a).total_cmp(&at(b)).then(a.cmp(&b)));
        self.splits[node] = (column as u32, at(order[middle]));
        let (low, high) = order.split_at_mut(middle);
        self.grow(points, low, start, 2 * node + 1);
        self.grow(points, high, start + middle, 2 * node + 2);
    }

    /// Splits on the way from the root to any leaf.
    fn depth(&self) -> usize {
        (self.splits.len() + 1).ilog2() as usize
    }

    /// The column in which points spread the most.
    fn widest(&self, points: &[f64], order: &[usize]) -> usize {
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
            .0
    }

    /// Searches for the nearest of row-major queries: `found(query, keys)` is called for each, with the keys of its `k`
    /// nearest rows, ascending; fewer where there are fewer.
    #[allow(unsafe_code)]
    pub fn search(&self, queries: &[f64], k: usize, found: &mut dyn FnMut(usize, &[f64])) {
        with_norm!(self.metric, N => with_dimension!(self.d, D => match self.kernel {
            Kernel::Portable => self.search_with::<N, D>(queries, k, found),
            // SAFETY: this kernel is only made where AVX2 was detected; the function is safe code.
            #[cfg(target_arch = "x86_64")]
            _ => unsafe { self.search_avx2::<N, D>(queries, k, found) },
        }));
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn search_avx2<N: Norm, const D: usize>(
        &self,
        queries: &[f64],
        k: usize,
        found: &mut dyn FnMut(usize, &[f64]),
    ) {
        self.search_with::<N, D>(queries, k, found);
    }

    #[inline(always)]
    fn search_with<N: Norm, const D: usize>(
        &self,
        queries: &[f64],
        k: usize,
        found: &mut dyn FnMut(usize, &[f64]),
    ) {
        let (mut ahead, mut ways) = (Ahead::of(self), Ways::of(self));
        let mut keys = Vec::new();
        let mut nearest = Nearest::new(k);
        for (part, queries) in queries.chunks(TOGETHER * self.d).enumerate() {
            match queries.len() == TOGETHER * self.d {
                true => self.descend::<D, TOGETHER>(queries, &mut ways),
                false => self.descend::<D, 0>(queries, &mut ways),
            }
            for (at, x) in queries.chunks_exact(self.d).enumerate() {
                let query = part * TOGETHER + at;
                if k == 1 {
                    let mut smallest = Smallest::default();
                    self.offer::<N, _, D>(x, (&ways, at), &mut ahead, &mut smallest);
                    found(query, &[smallest.key]);
                } else {
                    self.offer::<N, _, D>(x, (&ways, at), &mut ahead, &mut nearest);
                    nearest.drain_into(&mut keys);
                    found(query, &keys);
                }
            }
        }
    }

    /// Goes down to the leaves whose boxes these queries are in: `COUNT` of them, or any number if that is 0.
    #[inline(always)]
    fn descend<const D: usize, const COUNT: usize>(&self, queries: &[f64], ways: &mut Ways) {
        let d = if D == 0 { self.d } else { D };
        let count = if COUNT == 0 { queries.len() / d } else { COUNT };
        let mut nodes = [0; TOGETHER];
        for beside in &mut ways.beside {
            for (at, x) in queries.chunks_exact(d).take(count).enumerate() {
                let node = &mut nodes[at];
                let (column, value) = self.splits[*node];
                let offset = x[column as usize] - value;
                let is_high = usize::from(offset >= 0.0);
                beside[at] = (2 * *node + 2 - is_high, column, offset);
                *node = 2 * *node + 1 + is_high;
            }
        }
        // Where there are fewer queries, the root stands for the others.
        ways.leaves = nodes.map(|node| node.saturating_sub(self.splits.len()));
    }

    /// Offers all points to a collection that may be of use to it. Returns how many points were looked at.
    pub fn collect<C: Collect>(&self, x: &[f64], found: &mut C) -> usize {
        let (mut ahead, mut ways) = (Ahead::of(self), Ways::of(self));
        with_norm!(self.metric, N => with_dimension!(self.d, D => {
            self.descend::<D, 1>(x, &mut ways);
            self.offer::<N, C, D>(x, (&ways, 0), &mut ahead, found)
        }))
    }

    #[inline(always)]
    fn offer<N: Norm, C: Collect, const D: usize>(
        &self,
        x: &[f64],
        (ways, at): (&Ways, usize),
        ahead: &mut Ahead,
        found: &mut C,
    ) -> usize {
        let d = if D == 0 { self.d } else { D };
        let x = &x[..d];
        ahead.here[..d].fill(0.0);
        ahead.bound = 0.0;
        // On the way to the first leaf the query is in the box of every node. The points of this leaf say how near
        // those beside the way must be.
        let mut looked_at = self.scan::<N, C, D>(ways.leaves[at], x, found);
        for beside in &ways.beside {
            let (node, column, offset) = beside[at];
            ahead.leave::<N, C, D>(node, column as usize, offset, found);
        }
        while let Some(next) = ahead.next::<C, D>(found) {
            let mut node = next;
            while let Some(&(column, value)) = self.splits.get(node) {
                let offset = x[column as usize] - value;
                let is_high = usize::from(offset >= 0.0);
                ahead.leave::<N, C, D>(2 * node + 2 - is_high, column as usize, offset, found);
                node = 2 * node + 1 + is_high;
            }
            looked_at += self.scan::<N, C, D>(node - self.splits.len(), x, found);
        }
        looked_at
    }

    /// Offers the points of a leaf.
    #[inline(always)]
    fn scan<N: Norm, C: Collect, const D: usize>(
        &self,
        leaf: usize,
        x: &[f64],
        found: &mut C,
    ) -> usize {
        let places = self.starts[leaf]..self.starts[leaf + 1];
        let columns = self.leaves[leaf * LEAF * x.len()..].as_chunks::<LEAF>().0;
        // All leaves of a tree have as many points, give or take one.
        let keys = match places.len() {
            0..=12 => keys_of::<N, 12>(columns, x),
            _ => keys_of::<N, LEAF>(columns, x),
        };
        found.offer_all(&keys, places.start, &self.counts[places.clone()]);
        places.len()
    }
}

/// The keys of the first so many points of a leaf. The others are infinite.
#[inline(always)]
fn keys_of<N: Norm, const POINTS: usize>(columns: &[[f64; LEAF]], x: &[f64]) -> [f64; LEAF] {
    let mut keys = [f64::INFINITY; LEAF];
    keys[..POINTS].fill(0.0);
    for (column, &x) in columns.iter().zip(x) {
        for (key, value) in keys[..POINTS].iter_mut().zip(column) {
            *key = N::add(*key, x - value);
        }
    }
    keys
}

impl Ways {
    /// Room for some queries of a tree.
    fn of(tree: &Tree) -> Self {
        Ways {
            beside: vec![[(0, 0, 0.0); TOGETHER]; tree.depth()],
            leaves: [0; TOGETHER],
        }
    }
}

impl Ahead {
    /// Room for a query of a tree.
    fn of(tree: &Tree) -> Self {
        // A way from the root to a leaf leaves one node a level.
        let depth = tree.depth();
        Ahead {
            left: 0,
            nodes: vec![(0, 0.0); depth],
            outside: vec![0.0; depth * tree.d],
            here: vec![0.0; tree.d],
            bound: 0.0,
            // Three roundings a level in a bound, two a column in a key, relative to sums of what is not negative.
            rounding: 1.0 - (4 * depth + 4 * tree.d + 8) as f64 * f64::EPSILON,
        }
    }

    /// Leaves a node beyond a split for later.
    #[inline(always)]
    fn leave<N: Norm, C: Collect, const D: usize>(
        &mut self,
        node: usize,
        column: usize,
        offset: f64,
        found: &C,
    ) {
        let d = if D == 0 { self.here.len() } else { D };
        let here = &mut self.here[..d];
        let before = std::mem::replace(&mut here[column], offset);
        // It never decreases; the larger one is a number even where squares overflow.
        let bound = N::instead(self.bound, before, offset).max(self.bound);
        if found.reaches(bound * self.rounding) {
            let room = &mut self.outside[self.left * d..(self.left + 1) * d];
            room.copy_from_slice(here);
            self.nodes[self.left] = (node, bound);
            self.left += 1;
        }
        here[column] = before;
    }

    /// The next node with points that may be of use.
    #[inline(always)]
    fn next<C: Collect, const D: usize>(&mut self, found: &C) -> Option<usize> {
        let d = if D == 0 { self.here.len() } else { D };
        while self.left > 0 {
            self.left -= 1;
            let (node, bound) = self.nodes[self.left];
            if found.reaches(bound * self.rounding) {
                let from = self.left * d;
                self.bound = bound;
                self.here[..d].copy_from_slice(&self.outside[from..from + d]);
                return Some(node);
            }
        }
        None
    }
}

/// Whether trees of so many sets of points beat looking at every point: counted on up to 64 of the points as queries, a
/// visited point of a tree costing about as much as `cost` of a straight pass.
pub fn pays(trees: &[Tree], points: &[Points], d: usize, cost: usize) -> bool {
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
            looked_at += tree.collect(x, &mut Nearest::new(k.max(1)));
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

    /// Trees of one leaf and of many, queries in parts of all sizes.
    #[test]
    fn queries_that_go_together_find_what_each_finds_alone() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(6);
        for (rows, d) in [(1, 2), (5, 3), (16, 2), (17, 2), (40, 7), (700, 5)] {
            let numbers = (0..rows * d).map(|_| rng.random()).collect();
            let tree = Tree::new(&points(numbers, d), d, Metric::Euclidean);
            let queries: Vec<f64> = (0..9 * d).map(|_| rng.random()).collect();
            for (count, k) in [(1, 1), (3, 1), (4, 2), (5, 3), (8, 1), (9, 40)] {
                let mut together = Vec::new();
                tree.search(&queries[..count * d], k, &mut |query, found| {
                    assert_eq!(query, together.len());
                    together.push(found.to_vec());
                });
                let each = queries.chunks(d).take(count);
                let alone: Vec<Vec<f64>> = each.map(|x| keys(&tree, x, k)).collect();
                assert_eq!(together, alone, "{rows}, {d}, {count}, {k}");
                assert!(alone.iter().all(|found| found.len() == k.min(rows)));
            }
        }
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
