//! The median of all pairwise means.

use super::{Located, Sample};

/// Limits for the median of (D + D′)/2, D and D′ independent of one law: the center of a symmetric law, and its
/// shift if one class is the other shifted.
///
/// # Formula
/// The pairwise means (d_i + d_j)/2, i ≤ j, are N = n(n + 1)/2. The estimate is their median; the limits are those
/// of rank N/2 ∓ z·n(n + 1)·s/√n, where s is the standard deviation over i of the share of j with
/// d_i + d_j > 2θ̂, and at least that of a symmetric continuous law, 1/√12. With 1/√12 it inverts the signed-rank
/// test of Wilcoxon.
///
/// Ranks are found without the N means, by passes over the sorted values: O(n) of work each, a few where many values
/// are equal and a few dozen otherwise.
///
/// # Conditions
/// Values of one law; asymptotic. Symmetry is not needed, because the law of the ranks is estimated. z is that of
/// [`LongRun::reach`](crate::long_run::LongRun::reach) of these ranks.
///
/// # References
/// Hodges and Lehmann (1963), 10.1214/aoms/1177704172; Hoeffding (1948), 10.1214/aoms/1177730196, for the variance
/// without symmetry.
///
/// # Panics
/// Without values, or if one is not finite.
pub fn hodges_lehmann(sample: &Sample, alpha: f64) -> Located {
    let sorted = sample.sorted();
    let n = sorted.len() as f64;
    let all = 0.5 * n * (n + 1.0);
    let point = 0.5 * ranked(sorted, (0.5 * all).ceil() as u64);
    let spread = share_spread(sorted, 2.0 * point).max(1.0 / 12f64.sqrt());
    let places = Places::new(sorted);
    let reach = sample.reach(alpha, f64::INFINITY, |d| places.of(2.0 * point - d));
    let radius = reach * n * (n + 1.0) * spread / n.sqrt();
    let rank = (0.5 * all - radius - 0.5).floor();
    if rank < 1.0 {
        return Located {
            point,
            lower: f64::NEG_INFINITY,
            upper: f64::INFINITY,
        };
    }
    Located {
        point,
        lower: 0.5 * ranked(sorted, rank as u64),
        upper: 0.5 * ranked(sorted, (all - rank + 1.0) as u64),
    }
}

/// About how many sorted values are below another: how far ranks resemble their neighbors needs no more.
struct Places {
    knots: Vec<f64>,
}

impl Places {
    const KNOTS: usize = 1024;

    fn new(sorted: &[f64]) -> Places {
        let n = sorted.len();
        let step = n.div_ceil(Places::KNOTS);
        Places {
            knots: sorted
                .iter()
                .copied()
                .skip(step / 2)
                .step_by(step)
                .collect(),
        }
    }

    /// The share of the knots up to a value; of a value that is several knots, the middle of them.
    fn of(&self, value: f64) -> f64 {
        let below = self.knots.partition_point(|&knot| knot < value);
        let up_to = below + self.knots[below..].partition_point(|&knot| knot <= value);
        (below + up_to) as f64
    }
}

/// From so many values on, some of them say where to look first.
const MANY: usize = 20_000;
/// How many of them.
const SOME: usize = 1_000;

/// The sum d_i + d_j, i ≤ j, of rank `rank`, from 1.
///
/// Both ends of the range where it may lie are sums themselves. Each pass over the values moves one of them, mostly to
/// where the number of sums below says that the other side of the rank begins: equal values end the search early.
fn ranked(sorted: &[f64], rank: u64) -> f64 {
    let mut range = Range::new(sorted);
    if sorted.len() >= MANY {
        for guess in guesses(sorted, rank) {
            range.narrow(sorted, rank, guess);
        }
    }
    let mut pass = 0;
    while range.low < range.high {
        let middle = match pass % 3 {
            // Halves whatever is left, should the sums be spread so unevenly that their numbers say little.
            2 => range.half(),
            side => range.beside(rank, side == 0),
        };
        range.narrow(sorted, rank, middle);
        pass += 1;
    }
    range.low
}

/// Where the sum of a rank may lie.
struct Range {
    low: f64,
    high: f64,
    /// Sums below `low`.
    below: u64,
    /// Sums up to `high`.
    up_to: u64,
}

impl Range {
    fn new(sorted: &[f64]) -> Range {
        let n = sorted.len() as u64;
        Range {
            low: 2.0 * sorted[0],
            high: 2.0 * sorted[sorted.len() - 1],
            below: 0,
            up_to: n * (n + 1) / 2,
        }
    }

    /// Moves one end to the sum beside `middle`, which is brought into the range.
    fn narrow(&mut self, sorted: &[f64], rank: u64, middle: f64) {
        let is_inside = self.low <= middle && middle < self.high;
        let middle = if is_inside { middle } else { self.low };
        let sums = Sums::around(sorted, middle);
        if sums.up_to >= rank {
            (self.high, self.up_to) = (sums.largest, sums.up_to);
        } else {
            (self.low, self.below) = (sums.next, sums.up_to);
        }
    }

    /// About where the rank is, a hundredth of the range to one side.
    fn beside(&self, rank: u64, is_before: bool) -> f64 {
        let inside = (self.up_to - self.below) as f64;
        let aside = if is_before { -0.01 } else { 0.01 };
        let share = ((rank - self.below) as f64 / inside + aside).clamp(0.0, 1.0);
        self.low + share * (self.high - self.low)
    }

    /// Halfway in the order of the floating-point numbers.
    fn half(&self) -> f64 {
        let (low, high) = (ordered(self.low), ordered(self.high));
        number(low + ((i128::from(high) - i128::from(low)) / 2) as i64)
    }
}

/// Two values between which the rank should lie, by some of the values.
fn guesses(sorted: &[f64], rank: u64) -> [f64; 2] {
    let step = sorted.len() / SOME;
    let some: Vec<f64> = sorted
        .iter()
        .copied()
        .skip(step / 2)
        .step_by(step)
        .collect();
    let (n, all) = (some.len() as u64, sorted.len() as f64);
    let sums = n * (n + 1) / 2;
    let at = (rank as f64 / (0.5 * all * (all + 1.0)) * sums as f64) as u64;
    [at.saturating_sub(n), at + n].map(|rank| ranked(&some, rank.clamp(1, sums)))
}

/// The sums d_i + d_j, i ≤ j, on either side of a value.
struct Sums {
    /// How many are at most the value.
    up_to: u64,
    /// The largest of them.
    largest: f64,
    /// The smallest of the others.
    next: f64,
}

impl Sums {
    fn around(sorted: &[f64], value: f64) -> Sums {
        let mut sums = Sums {
            up_to: 0,
            largest: f64::NEG_INFINITY,
            next: f64::INFINITY,
        };
        let mut below = sorted.len();
        for (at, one) in sorted.iter().enumerate() {
            while below > 0 && one + sorted[below - 1] > value {
                below -= 1;
            }
            if below < sorted.len() {
                sums.next = sums.next.min(one + sorted[below.max(at)]);
            }
            if below <= at {
                break;
            }
            sums.largest = sums.largest.max(one + sorted[below - 1]);
            sums.up_to += (below - at) as u64;
        }
        sums
    }
}

/// The standard deviation over i of the share of j with d_i + d_j > `sum`; ties count half.
fn share_spread(sorted: &[f64], sum: f64) -> f64 {
    let n = sorted.len();
    let (mut at_most, mut below) = (n, n);
    let (mut total, mut squares) = (0.0, 0.0);
    for value in sorted {
        while at_most > 0 && value + sorted[at_most - 1] > sum {
            at_most -= 1;
        }
        while below > 0 && value + sorted[below - 1] >= sum {
            below -= 1;
        }
        let share = (2 * n - at_most - below) as f64 / (2 * n) as f64;
        total += share;
        squares += share * share;
    }
    let mean = total / n as f64;
    (squares / n as f64 - mean * mean).max(0.0).sqrt()
}

/// Whole numbers in the order of the floating-point numbers.
pub(crate) fn ordered(x: f64) -> i64 {
    let bits = x.to_bits() as i64;
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}

/// The number at a place in this order.
pub(crate) fn number(ordered: i64) -> f64 {
    f64::from_bits((ordered ^ (((ordered >> 63) as u64) >> 1) as i64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ranks_are_those_of_all_sums(mut values in prop::collection::vec(-50i32..50, 1..30)) {
            values.sort_unstable();
            let sorted: Vec<f64> = values.iter().map(|&x| f64::from(x) / 4.0).collect();
            let mut sums: Vec<f64> = Vec::new();
            for (i, x) in sorted.iter().enumerate() {
                sums.extend(sorted[i..].iter().map(|y| x + y));
            }
            sums.sort_by(f64::total_cmp);
            for (at, &sum) in sums.iter().enumerate() {
                prop_assert_eq!(ranked(&sorted, at as u64 + 1), sum);
            }
        }
    }

    /// Values so many that some of them are looked at first: the ranks are those of all sums all the same.
    #[test]
    fn ranks_of_many_values_have_so_many_sums_below() {
        let spread: Vec<f64> = (0..MANY as u32)
            .map(|i| (f64::from(i * 7919 % 20_011) / 20_011.0).ln_1p())
            .collect();
        let coarse = spread.iter().map(|x| (20.0 * x).round()).collect();
        let tails = spread.iter().map(|x| 1.0 / (x - 0.3)).collect();
        for mut values in [spread, coarse, tails] {
            values.sort_unstable_by(f64::total_cmp);
            let all = (values.len() * (values.len() + 1) / 2) as u64;
            for rank in [1, 2, all / 3, all / 2, all / 2 + 1, all - 1, all] {
                let found = Sums::around(&values, ranked(&values, rank));
                let before = Sums::around(&values, found.largest.next_down());
                assert!(before.up_to < rank && rank <= found.up_to, "rank {rank}");
            }
        }
    }

    #[test]
    fn numbers_and_their_order_agree() {
        let all = [-f64::MAX, -1.5, -f64::MIN_POSITIVE, 0.0, 1e-300, 2.0];
        for pair in all.windows(2) {
            assert!(ordered(pair[0]) < ordered(pair[1]));
        }
        assert!(all.iter().all(|&x| number(ordered(x)) == x));
    }
}
