//! A k-d tree over distinct points, with the dimension known at run time.

/// The largest number of points in a leaf.
const LEAF: usize = 16;

/// The points in tree order; the node over `from..to` splits at the middle.
pub(super) struct Tree {
    d: usize,
    /// Row-major, in tree order.
    points: Vec<f64>,
    /// The number of each point, in tree order.
    numbers: Vec<u32>,
    /// Node by node from the root, breadth first: the column that is split, and where.
    splits: Vec<(u16, f64)>,
}

impl Tree {
    /// Builds the tree of points of `d` coordinates.
    pub fn new(points: &[f64], d: usize) -> Self {
        let n = points.len() / d;
        let mut numbers: Vec<u32> = (0..n as u32).collect();
        let mut splits = vec![(0, 0.0); nodes(n)];
        split(points, d, &mut numbers, 0, &mut splits);
        let mut ordered = Vec::with_capacity(points.len());
        for &number in &numbers {
            ordered.extend_from_slice(&points[number as usize * d..(number as usize + 1) * d]);
        }
        Tree {
            d,
            points: ordered,
            numbers,
            splits,
        }
    }

    /// The numbers of the points, in tree order.
    pub fn numbers(&self) -> &[u32] {
        &self.numbers
    }

    /// A point by its place in tree order.
    pub fn point(&self, at: usize) -> &[f64] {
        &self.points[at * self.d..(at + 1) * self.d]
    }

    /// Appends the points within a squared distance of `x`.
    pub fn within(&self, x: &[f64], square: f64, found: &mut Vec<u32>) {
        let visit = &mut |at: usize, distance: f64| {
            if distance <= square {
                found.push(self.numbers[at]);
            }
            square
        };
        self.walk(0, 0, self.numbers.len(), x, square, visit);
    }

    /// The `k` nearest points as (squared distance, point), the nearest first. Ties are broken by the
    /// tree alone.
    pub fn nearest(&self, x: &[f64], k: usize, best: &mut Vec<(f64, u32)>) {
        best.clear();
        let visit = &mut |at: usize, distance: f64| {
            if best.len() < k || distance < best[best.len() - 1].0 {
                if best.len() == k {
                    best.pop();
                }
                let place = best.partition_point(|(d, _)| *d <= distance);
                best.insert(place, (distance, self.numbers[at]));
            }
            match best.last() {
                // A point as far away as the last one cannot enter.
                Some((last, _)) if best.len() == k => last.next_down(),
                _ => f64::INFINITY,
            }
        };
        self.walk(0, 0, self.numbers.len(), x, f64::INFINITY, visit);
    }

    /// Visits every point that may be within reach; each visit returns the new reach.
    fn walk(
        &self,
        node: usize,
        from: usize,
        to: usize,
        x: &[f64],
        mut reach: f64,
        visit: &mut impl FnMut(usize, f64) -> f64,
    ) -> f64 {
        if to - from <= LEAF {
            for at in from..to {
                let pairs = self.point(at).iter().zip(x);
                let distance = pairs.fold(0.0, |sum, (a, b)| sum + (a - b) * (a - b));
                reach = visit(at, distance);
            }
            return reach;
        }
        let middle = from + (to - from) / 2;
        let (column, value) = self.splits[node];
        let off = x[usize::from(column)] - value;
        let (left, right) = ((2 * node + 1, from, middle), (2 * node + 2, middle, to));
        let (near, far) = if off < 0.0 {
            (left, right)
        } else {
            (right, left)
        };
        reach = self.walk(near.0, near.1, near.2, x, reach, visit);
        if off * off <= reach {
            reach = self.walk(far.0, far.1, far.2, x, reach, visit);
        }
        reach
    }
}

/// Nodes of a tree in breadth-first numbering; leaves need none.
fn nodes(n: usize) -> usize {
    let mut count = 1;
    let mut size = n;
    while size > LEAF {
        count = 2 * count + 1;
        size = size.div_ceil(2);
    }
    count
}

fn split(points: &[f64], d: usize, numbers: &mut [u32], node: usize, splits: &mut [(u16, f64)]) {
    if numbers.len() <= LEAF {
        return;
    }
    let coordinate = |number: u32, column: usize| points[number as usize * d + column];
    let spread = |column: usize| {
        let all = numbers.iter().map(|&number| coordinate(number, column));
        let (low, high) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
            (low.min(x), high.max(x))
        });
        high - low
    };
    let column = (0..d)
        .map(|column| (spread(column), column))
        .fold((f64::NEG_INFINITY, 0), |best, next| {
            if next.0 > best.0 { next } else { best }
        })
        .1;
    let middle = numbers.len() / 2;
    numbers.select_nth_unstable_by(middle, |&a, &b| {
        coordinate(a, column)
            .total_cmp(&coordinate(b, column))
            .then(a.cmp(&b))
    });
    splits[node] = (column as u16, coordinate(numbers[middle], column));
    let (left, right) = numbers.split_at_mut(middle);
    split(points, d, left, 2 * node + 1, splits);
    split(points, d, right, 2 * node + 2, splits);
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn finds_what_a_plain_loop_finds() {
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        for d in 1..=4 {
            // Many ties.
            let points: Vec<f64> = (0..500 * d)
                .map(|_| f64::from(rng.random_range(0..12u8)))
                .collect();
            let tree = Tree::new(&points, d);
            for query in points.chunks(d).take(60) {
                let distance = |p: &[f64]| -> f64 {
                    p.iter().zip(query).map(|(a, b)| (a - b) * (a - b)).sum()
                };
                let mut all: Vec<(f64, u32)> = points.chunks(d).map(distance).zip(0..).collect();
                let mut found = Vec::new();
                tree.within(query, 9.0, &mut found);
                found.sort_unstable();
                let expected: Vec<u32> = all.iter().filter(|p| p.0 <= 9.0).map(|p| p.1).collect();
                assert_eq!(found, expected);
                let mut best = Vec::new();
                tree.nearest(query, 20, &mut best);
                all.sort_by(|a, b| a.0.total_cmp(&b.0));
                let distances = |list: &[(f64, u32)]| list.iter().map(|p| p.0).collect::<Vec<_>>();
                assert_eq!(distances(&best), distances(&all[..20]));
            }
        }
    }
}
