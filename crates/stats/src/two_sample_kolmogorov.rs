//! The exact two-sample Kolmogorov–Smirnov test, with ties, to the smallest p-value.

use super::hypergeometric;

/// What the test found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoSampleKolmogorov {
    /// sup |F̂_a − F̂_b|.
    pub distance: f64,
    /// P(distance at least this) if all orders of the rows are equally likely.
    pub p_value: f64,
}

/// Up to so many steps ties are taken exactly; beyond, as if broken in the worst way.
const EXACT_STEPS: f64 = 4e7;
/// Up to so many steps the law is summed; beyond, it is bounded.
const MOST_STEPS: f64 = 2e8;
/// A bound above this says too little.
const LARGEST_BOUND: f64 = 1e-6;
/// No p-value is smaller: zero would claim what rounding did.
const LEAST: f64 = 1e-300;

/// The test of one law behind two samples; `cells` are the rows (of a, of b) with each distinct value, in
/// ascending order. None if it would take too long (more than about 0.4 s; from 150,000 rows of each on, between
/// p = 0.05 and 1e-6); p-value 1 if either sample is empty.
///
/// # Formula
/// Under the hypothesis each of the (n+m)!/n!m! orders of the pooled rows is equally likely: a lattice
/// path from (0, 0) to (n, m). C(i, j), the part of the paths to (i, j) that reach the distance at the end
/// of some value, is 1 where (i, j) is such an end and far enough, else
/// i/(i+j) C(i−1, j) + j/(i+j) C(i, j−1): the tail itself is summed, without cancellation. Above 4·10⁷ steps
/// ties are ignored, which makes C larger, and only the band inside the distance is visited. Above 2·10⁸
/// steps of the band, with N = n + m, the bound 2N exp(−2 (d·nm/N)²/min(n, m, N/2)): at each of N ends one
/// count is hypergeometric.
///
/// # Conditions
/// Independent rows. Conditional on the pooled values, so exact for any law, atoms or not; relative
/// error below 1e-9.
///
/// # References
/// Hodges (1958), 10.1007/BF02589501; without replacement: Hoeffding (1963), Section 6,
/// 10.1080/01621459.1963.10500830; ties: Schröer and Trenkler (1995), 10.1016/0167-9473(94)00040-P;
/// the upper tail's recursion: Viehmann (2021), arXiv:2102.08037.
pub fn two_sample_kolmogorov(cells: &[(u64, u64)]) -> Option<TwoSampleKolmogorov> {
    let n: u64 = cells.iter().map(|cell| cell.0).sum();
    let m: u64 = cells.iter().map(|cell| cell.1).sum();
    if n == 0 || m == 0 {
        let (distance, p_value) = (0.0, 1.0);
        return Some(TwoSampleKolmogorov { distance, p_value });
    }
    let (reached, _) = farthest(cells, n, m);
    let (n, m) = (i128::from(n), i128::from(m));
    let ties = cells.iter().any(|cell| cell.0 + cell.1 > 1);
    let grid = n as f64 * m as f64;
    let band = (2.0 * reached as f64 / n as f64 + 2.0) * n as f64;
    let bound = union_bound(n as f64, m as f64, reached as f64);
    let p_value = if reached == 0 {
        1.0
    } else if bound <= LEAST {
        LEAST
    } else if ties && grid <= EXACT_STEPS {
        with_ties(cells, n as i64, m as i64, reached as i64)
    } else if band.min(grid) <= MOST_STEPS && grid < 4e18 {
        in_band(n as i64, m as i64, reached as i64)
    } else {
        Some(bound).filter(|&p| p <= LARGEST_BOUND)?
    };
    Some(TwoSampleKolmogorov {
        distance: reached as f64 / (n * m) as f64,
        p_value: p_value.clamp(LEAST, 1.0),
    })
}

/// The distance of two samples, if that and their sizes alone decide the p-value, as they do where ties are not taken
/// exactly: then the largest of many distances has the smallest p-value.
pub fn deciding_distance(cells: &[(u64, u64)]) -> Option<f64> {
    let n: u64 = cells.iter().map(|cell| cell.0).sum();
    let m: u64 = cells.iter().map(|cell| cell.1).sum();
    let grid = n as f64 * m as f64;
    (grid > EXACT_STEPS).then(|| farthest(cells, n, m).0 as f64 / grid)
}

/// What the p-value of [`two_sample_kolmogorov`] is not below: the probability that the counts where they are farthest
/// apart are so on the same side, a tail of the hypergeometric law. 1 if either sample is empty.
pub fn p_value_at_least(cells: &[(u64, u64)]) -> f64 {
    /// More than the relative error of both.
    const ROUNDING: f64 = 1e-6;
    /// From here on a part of the tail will do: such a test proves nothing.
    const ENOUGH: f64 = 0.01;
    let n: u64 = cells.iter().map(|cell| cell.0).sum();
    let m: u64 = cells.iter().map(|cell| cell.1).sum();
    let (reached, (x, y)) = farthest(cells, n, m);
    if n == 0 || m == 0 || reached == 0 {
        return 1.0;
    }
    hypergeometric::tail(n + m, n, x + y, x, ENOUGH) * (1.0 - ROUNDING)
}

/// The distance times both numbers of rows, and the rows of both up to there.
fn farthest(cells: &[(u64, u64)], n: u64, m: u64) -> (i128, (u64, u64)) {
    let (n, m) = (i128::from(n), i128::from(m));
    let (mut x, mut y) = (0, 0);
    let mut farthest = (0, (0, 0));
    for cell in cells {
        (x, y) = (x + cell.0, y + cell.1);
        let apart = (i128::from(x) * m - i128::from(y) * n).abs();
        if apart > farthest.0 {
            farthest = (apart, (x, y));
        }
    }
    farthest
}

/// Hoeffding's bound of every end, added. `reached` is d·nm.
fn union_bound(n: f64, m: f64, reached: f64) -> f64 {
    let all = n + m;
    let far = reached / all;
    2.0 * all * (-2.0 * far * far / n.min(m).min(0.5 * all)).exp()
}

/// C(n, m), looked at only where a value ends.
fn with_ties(cells: &[(u64, u64)], n: i64, m: i64, reached: i64) -> f64 {
    let mut ends = vec![false; (n + m + 1) as usize];
    let mut below = 0;
    for cell in cells {
        below += (cell.0 + cell.1) as usize;
        ends[below] = true;
    }
    paths_that_reach(n, m, reached, |rows| ends[rows])
}

/// C(n, m), looked at everywhere: outside the band it is 1.
fn in_band(n: i64, m: i64, reached: i64) -> f64 {
    if reached <= 0 {
        return 1.0;
    }
    paths_that_reach(n, m, reached, |_| true)
}

/// C(n, m), where `is_end` says whether a value ends after so many rows.
///
/// By numbers of rows i + j: those of one number do not depend on each other, and only those between the first and the
/// last that are not 1 are visited, for where both before it are 1 so is C.
fn paths_that_reach(n: i64, m: i64, reached: i64, is_end: impl Fn(usize) -> bool) -> f64 {
    let (n, m) = (n.min(m), n.max(m));
    let weights: Vec<f64> = (0..=n).map(|i| i as f64).collect();
    // C(i, j) of one number of rows and of the one before, each i at i + 1. The neighbors of what is visited are 1;
    // beyond the edges they weigh nothing.
    let mut now = vec![1.0f64; n as usize + 3];
    let mut next = now.clone();
    let (mut first, mut last) = (0, 0);
    now[1] = 0.0;
    for rows in 1..=n + m {
        first = first.max(rows - m);
        last = (last + 1).min(n);
        let (from, to) = (first as usize, last as usize + 1);
        // A product costs a fourth of a quotient, and a rounding each.
        let (all, part) = (rows as f64, 1.0 / rows as f64);
        let before = now[from..to].iter().zip(&now[from + 1..=to]);
        let ahead = next[from + 1..=to].iter_mut().zip(&weights[from..to]);
        for ((next, &i), (&down, &left)) in ahead.zip(before) {
            *next = (i * down + (all - i) * left) * part;
        }
        if is_end(rows as usize) {
            // Not far: −reached < i·m − j·n < reached.
            first = first.max((rows * n - reached).div_euclid(n + m) + 1);
            last = last.min((rows * n + reached - 1).div_euclid(n + m));
            if first > last {
                return 1.0;
            }
        }
        next[first as usize] = 1.0;
        next[last as usize + 2] = 1.0;
        std::mem::swap(&mut now, &mut next);
    }
    now[n as usize + 1]
}

#[cfg(test)]
#[path = "two_sample_kolmogorov/tests.rs"]
mod tests;
