//! By how much a quantile of one sample exceeds that of the other.

use super::Ranked;
use crate::binomial_tail::at_most;
use crate::long_run::LongRun;
use crate::paired::Located;
use crate::special::normal_quantile;

/// Ways in which a reach is divided between the two samples, less one.
const STEPS: usize = 64;
/// How much farther than the reach one sample alone may be off.
const ALONE: f64 = 1.2;
/// With fewer rows than this expected on either side of a quantile, no farther: order statistics run out.
const MIN_SIDE: f64 = 30.0;

/// Limits for q_b(p) − q_a(p), the difference of the quantiles of the laws that the two samples come from.
///
/// # Formula
/// With z_a and z_b the binomial numbers of rows up to the true quantiles, as far above or below their means n·p as
/// makes the limit wrong, in standard deviations √(n·p(1 − p)). Allowed are all pairs with z_a ≤ 1.2·r, z_b ≤ 1.2·r and
/// c_a·z_a + c_b·z_b ≤ r, where c_a/c_b = √(n_b/n_a) and c_a² + c_b² = 1: of two laws with equal densities at their
/// quantiles, the sum is the error of the difference of the two estimates. 65 corners (x, y) on the edge of this region
/// compare the order statistic of b at n_b·p − x·√(n_b·p(1 − p)) with that of a at n_a·p + y·√(n_a·p(1 − p)); the lower
/// limit is the smallest of these differences. It is wrong only if every one of them is above the truth, that is, if
/// (z_b, z_a) is beyond all corners: the probability of this is summed exactly, and r is the smallest of a grid (steps
/// of 1 %) that keeps it at `alpha`. The upper limit is the lower one with a and b exchanged. Where fewer than 30 rows
/// are expected on a side of the quantile, 1.2 is 1: order statistics run out.
///
/// # Conditions
/// Independent rows, two independent samples; any two laws, continuous or not: valid at every size. Where a quantile is
/// not unique, the limits are for the smallest and the largest difference alike. With many rows and α = 0.025 they are
/// 1.07 times as wide as those of a normal approximation that knows the densities, if these are equal, and at most 1.29
/// times whatever they are (1.35 times where one sample has far more rows; a quarter of a circle as the region: 1.24
/// times, always). No smaller region serves all laws: the truth may lie at a step of one law, where the other is off
/// alone.
///
/// # References
/// Order statistics as limits of one quantile: Thompson (1936), 10.1214/aoms/1177732502. Two samples, with the exact
/// probability of a joint region, instead of half of `alpha` for each: derived here.
///
/// # Panics
/// If p or `alpha` is not between 0 and 1.
pub fn quantile_shift(a: &Ranked, b: &Ranked, p: f64, alpha: f64) -> Located {
    assert!(p > 0.0 && p < 1.0 && alpha > 0.0 && alpha < 1.0);
    Located {
        point: b.quantile(p) - a.quantile(p),
        lower: lower(a, b, p, reach(a, b, p, alpha)),
        upper: -lower(b, a, p, reach(b, a, p, alpha)),
    }
}

/// The p-value of "the quantile of b exceeds that of a by at most `size`".
///
/// # Formula
/// The error probability of the lower limit of [`quantile_shift`] with the largest reach at which it is above `size`.
///
/// # Conditions
/// Those of [`quantile_shift`]. One side only.
///
/// # References
/// As for [`quantile_shift`].
pub fn quantile_beyond(a: &Ranked, b: &Ranked, p: f64, size: f64) -> f64 {
    const MOST: f64 = 40.0;
    const HALVINGS: usize = 24;
    let (mut above, mut not) = (0.0, MOST);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (above + not);
        if lower(a, b, p, middle) > size {
            above = middle;
        } else {
            not = middle;
        }
    }
    if above == 0.0 {
        return 1.0;
    }
    miss([a.rows(), b.rows()], p, above).min(1.0)
}

/// The least number of rows that gives [`quantile_shift`] limits, the same of either sample. Where rows are `in_order`,
/// limits at the [level](LongRun::level) of independent rows in their order, for this and any larger number.
///
/// # Panics
/// If p or `alpha` is not between 0 and 1.
///
/// ```
/// use leakgauge_stats::unpaired::{Ranked, least_rows, quantile_shift};
///
/// let least = least_rows(0.5, 0.025, false);
/// let sample = |rows: u64| Ranked::new((0..rows).map(|at| (at as f64, 1)));
/// assert!(quantile_shift(&sample(least), &sample(least), 0.5, 0.025).lower.is_finite());
/// assert!(quantile_shift(&sample(least - 1), &sample(least - 1), 0.5, 0.025).lower.is_infinite());
/// ```
pub fn least_rows(p: f64, alpha: f64, in_order: bool) -> u64 {
    let has_limits = |rows: &u64| {
        let series = LongRun::of_independent(2 * *rows as usize);
        let Some(alpha) = (if in_order {
            series.level(alpha)
        } else {
            Some(alpha)
        }) else {
            return false;
        };
        let sample = Ranked::new((0..*rows).map(|at| (at as f64, 1)));
        quantile_shift(&sample, &sample, p, alpha).lower.is_finite()
    };
    // Levels that are not 0 have limits at some number.
    let mut least = (1..).find(has_limits).unwrap_or(u64::MAX);
    // Limits are wider from the numbers on at which dependence can be seen.
    for steps in LongRun::lengths().map(|values| values.div_ceil(2) as u64) {
        if in_order && least < steps && !has_limits(&steps) {
            least = (steps..).find(has_limits).unwrap_or(u64::MAX);
        }
    }
    least
}

/// How far z_b and z_a may be at a corner of the region, each a multiple of the reach.
fn shares([n_a, n_b]: [u64; 2], alone: f64, step: usize) -> [f64; 2] {
    let all = (n_a + n_b) as f64;
    let [c_a, c_b] = [n_b, n_a].map(|n| (n as f64 / all).sqrt());
    // The ends of the line c_a·z_a + c_b·z_b = 1, neither beyond `alone` nor below 0: larger reaches have larger
    // regions.
    let end = |own: f64, other: f64| {
        let most = alone.min(1.0 / own);
        [most, ((1.0 - own * most) / other).clamp(0.0, alone)]
    };
    let ([b_first, a_first], [a_last, b_last]) = (end(c_b, c_a), end(c_a, c_b));
    let part = step as f64 / STEPS as f64;
    [
        b_first + part * (b_last - b_first),
        a_first + part * (a_last - a_first),
    ]
}

/// The ranks of a and of b that a corner compares.
fn corner(rows: [u64; 2], p: f64, reach: f64, step: usize) -> [i64; 2] {
    let side = rows[0].min(rows[1]) as f64 * p.min(1.0 - p);
    let alone = if side < MIN_SIDE { 1.0 } else { ALONE };
    let [z_b, z_a] = shares(rows, alone, step);
    let at = |n: u64, deviations: f64| {
        let n = n as f64;
        n * p + deviations * (n * p * (1.0 - p)).sqrt()
    };
    [
        at(rows[0], reach * z_a).ceil() as i64 + 1,
        at(rows[1], -reach * z_b).floor() as i64,
    ]
}

fn lower(a: &Ranked, b: &Ranked, p: f64, reach: f64) -> f64 {
    let rows = [a.rows(), b.rows()];
    let differences = (0..=STEPS).map(|step| {
        let [of_a, of_b] = corner(rows, p, reach, step);
        b.at(of_b) - a.at(of_a)
    });
    differences.fold(f64::INFINITY, f64::min)
}

/// The smallest reach of the grid whose lower limit is wrong with probability at most `alpha`.
fn reach(a: &Ranked, b: &Ranked, p: f64, alpha: f64) -> f64 {
    // One sample alone of known density needs as much.
    let mut reach = (-normal_quantile(alpha)).max(0.1);
    while miss([a.rows(), b.rows()], p, reach) > alpha {
        reach *= 1.01;
    }
    reach
}

/// The probability that the lower limit is above the truth, at most.
fn miss(rows: [u64; 2], p: f64, reach: f64) -> f64 {
    let corners: Vec<[i64; 2]> = (0..=STEPS)
        .map(|step| corner(rows, p, reach, step))
        .collect();
    // P(N ≥ j) and P(N < i), in tails that lose no digits.
    let at_least = |j: i64| match rows[0].checked_sub(j.max(0) as u64) {
        Some(most) => at_most(most, rows[0], 1.0 - p),
        None => 0.0,
    };
    let below = |i: i64| {
        if i < 1 {
            0.0
        } else {
            at_most(i as u64 - 1, rows[1], p)
        }
    };
    let mut sum = below(corners[0][1]);
    for (at, [of_a, of_b]) in corners.iter().enumerate() {
        let next = corners.get(at + 1).map_or(1.0, |next| below(next[1]));
        sum += (next - below(*of_b)).max(0.0) * at_least(*of_a);
    }
    // Sums of so many terms are off by less.
    sum * (1.0 + 1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_testing::assert_close;

    fn of(values: impl IntoIterator<Item = u32>) -> Ranked {
        Ranked::new(values.into_iter().map(|value| (f64::from(value), 1)))
    }

    /// By all pairs of binomial numbers: wrong if every corner is.
    #[test]
    fn the_probability_of_an_error_is_that_of_all_pairs_of_numbers() {
        let mass = |n: u64, k: u64, p: f64| {
            at_most(k, n, p) - k.checked_sub(1).map_or(0.0, |k| at_most(k, n, p))
        };
        for (rows, p, reach) in [
            ([20, 31], 0.5, 1.7),
            ([40, 12], 0.3, 2.4),
            ([9, 9], 0.5, 2.5),
        ] {
            let mut sum = 0.0;
            for x in 0..=rows[0] {
                for y in 0..=rows[1] {
                    let wrong = (0..=STEPS).all(|step| {
                        let [of_a, of_b] = corner(rows, p, reach, step);
                        (y as i64) < of_b || x as i64 >= of_a
                    });
                    sum += f64::from(u8::from(wrong)) * mass(rows[0], x, p) * mass(rows[1], y, p);
                }
            }
            assert_close(miss(rows, p, reach), sum, 2e-9);
        }
    }

    #[test]
    fn few_rows_have_no_limits_and_many_have_narrow_ones() {
        let few = quantile_shift(&of(0..3), &of(0..3), 0.5, 0.025);
        assert_eq!((few.lower, few.upper), (f64::NEG_INFINITY, f64::INFINITY));
        let many = quantile_shift(&of(0..10_000), &of(300..10_300), 0.5, 0.025);
        assert_eq!(many.point, 300.0);
        // Normal theory: 1.96·√2·√(10,000/4) = 139 on either side of 300.
        let radius = 1.959_964 * 2f64.sqrt() * 50.0;
        for reach in [300.0 - many.lower, many.upper - 300.0] {
            assert!((1.0..1.1).contains(&(reach / radius)), "{many:?}");
        }
    }

    /// Where one sample decides alone, because its values are far apart or it is small, limits are wider.
    #[test]
    fn regions_of_unequal_samples_are_no_wider_than_said() {
        let lowest = |a: &Ranked, b: &Ranked| lower(a, b, 0.5, reach(a, b, 0.5, 0.025));
        for (spread, rows, most) in [
            (1, 10_000, 1.09),
            (3, 10_000, 1.32),
            (1000, 10_000, 1.31),
            (50, 200, 1.15),
            (1, 200, 1.36),
        ] {
            let (a, b) = (of(0..10_000), of((0..rows).map(|at| at * spread)));
            let error = |n: u32, spread: u32| f64::from(spread) * f64::from(n).sqrt() / 2.0;
            let normal = 1.96 * error(10_000, 1).hypot(error(rows, spread));
            let found = b.quantile(0.5) - a.quantile(0.5) - lowest(&a, &b);
            assert!(
                found / normal < most && found > normal,
                "{spread} {rows}: {}",
                found / normal
            );
        }
    }

    #[test]
    fn larger_reaches_have_larger_regions() {
        for rows in [[100, 100], [5, 90_000], [90_000, 5], [8_000, 2_000]] {
            for step in 0..=STEPS {
                let [z_b, z_a] = shares(rows, ALONE, step);
                assert!((0.0..=ALONE).contains(&z_a) && (0.0..=ALONE).contains(&z_b));
                let [next_b, next_a] = shares(rows, ALONE, step + 1);
                assert!(
                    step == STEPS || next_b <= z_b && next_a >= z_a,
                    "{rows:?}, {step}"
                );
            }
        }
    }

    #[test]
    fn the_p_value_and_the_limit_agree() {
        let (a, b) = (of(0..500), of(60..560));
        for alpha in [0.2, 0.025, 1e-4] {
            let limit = lower(&a, &b, 0.5, reach(&a, &b, 0.5, alpha));
            assert!(quantile_beyond(&a, &b, 0.5, limit - 1.0) <= alpha);
            assert!(quantile_beyond(&a, &b, 0.5, limit + 3.0) > 0.8 * alpha);
        }
        assert_eq!(quantile_beyond(&a, &b, 0.5, 100.0), 1.0);
    }
}
