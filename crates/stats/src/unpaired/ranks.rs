//! What the ranks of two samples say.

use super::{Ranked, quantile_beyond};
use crate::long_run::LongRun;
use crate::paired::{DECILES, Located, Sense, number, ordered};
use crate::special::normal_survival;

/// Limits for the median of B − A, A and B independent of their laws: the shift, if one law is the other shifted.
///
/// # Formula
/// The differences b_j − a_i are n_a·n_b. The estimate is their median; the limits are those of rank n_a·n_b·(½ ∓ t·s),
/// with s² = s_a²/n_a + s_b²/n_b, where s_a² is the variance over i of the share of b below a_i + θ̂ (ties count half),
/// and s_b² likewise; t is the quantile of Student's law with degrees of freedom after Welch and Satterthwaite.
/// Ranks are found by bisection over the floating-point numbers, without the n_a·n_b differences.
///
/// # Conditions
/// Independent rows, or rows of which the influence on the estimate varies so much in the long run; asymptotic. The two
/// laws may have different shapes, because the law of the ranks is estimated.
///
/// # References
/// Hodges and Lehmann (1963), 10.1214/aoms/1177704172; Brunner and Munzel (2000),
/// 10.1002/(SICI)1521-4036(200001)42:1<17::AID-BIMJ17>3.0.CO;2-U, for the variance.
pub fn hodges_lehmann(a: &Ranked, b: &Ranked, alpha: f64, varies: LongRun) -> Located {
    let all = u128::from(a.rows()) * u128::from(b.rows());
    let middle = [all.div_ceil(2), all / 2 + 1].map(|rank| ranked(a, b, rank));
    let point = 0.5 * (middle[0] + middle[1]);
    let [of_a, of_b] = [shares(a, b, point), shares(b, a, -point)].map(|shares| shares.1);
    let [x, y] = [(of_a, a.rows()), (of_b, b.rows())].map(|(variance, n)| variance / n as f64);
    let freedom =
        (x + y) * (x + y) / (x * x / (a.rows() as f64 - 1.0) + y * y / (b.rows() as f64 - 1.0));
    let radius = varies.reach(alpha, freedom) * (x + y).sqrt();
    let rank = ((0.5 - radius) * all as f64).floor();
    // Not a number where all ranks are equal: nothing is known of how they vary.
    let is_known = rank >= 1.0;
    let limit = |rank: u128, none: f64| match is_known {
        true => ranked(a, b, rank),
        false => none,
    };
    let rank = if is_known { rank as u128 } else { 1 };
    Located {
        point,
        lower: limit(rank, f64::NEG_INFINITY),
        upper: limit(all - rank + 1, f64::INFINITY),
    }
}

/// The difference b − a of this rank, from 1.
fn ranked(a: &Ranked, b: &Ranked, rank: u128) -> f64 {
    let ends = |sample: &Ranked| {
        let values = sample.values();
        [values[0], values[values.len() - 1]]
    };
    let ([a_least, a_most], [b_least, b_most]) = (ends(a), ends(b));
    let (mut low, mut high) = (ordered(b_least - a_most), ordered(b_most - a_least));
    while low < high {
        let middle = low + ((i128::from(high) - i128::from(low)) / 2) as i64;
        if differences_up_to(a, b, number(middle)) >= rank {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    number(low)
}

/// How many differences b − a are at most `most`.
fn differences_up_to(a: &Ranked, b: &Ranked, most: f64) -> u128 {
    let values = b.values();
    let mut place = 0;
    let mut sum = 0;
    for (value, count) in a.cells() {
        while place < values.len() && values[place] - value <= most {
            place += 1;
        }
        sum += u128::from(count) * u128::from(b.before(place));
    }
    sum
}

/// The mean and the variance over the rows of `of` of the share of `among` below the row plus `shift`; ties count half.
fn shares(of: &Ranked, among: &Ranked, shift: f64) -> (f64, f64) {
    let values = among.values();
    let (mut below, mut up_to) = (0, 0);
    let (mut sum, mut squares) = (0.0, 0.0);
    for (value, count) in of.cells() {
        while below < values.len() && values[below] - value < shift {
            below += 1;
        }
        while up_to < values.len() && values[up_to] - value <= shift {
            up_to += 1;
        }
        let twice = among.before(below) + among.before(up_to);
        let share = 0.5 * twice as f64 / among.rows() as f64;
        sum += count as f64 * share;
        squares += count as f64 * share * share;
    }
    let n = of.rows() as f64;
    let mean = sum / n;
    (mean, (squares / n - mean * mean).max(0.0) * n / (n - 1.0))
}

/// With at most so many rows together all ways to deal them are counted.
const FEW: u64 = 40;

/// What the test of one law found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SameLaw {
    /// The p-value.
    pub p_value: f64,
    /// Where the evidence is.
    pub sense: Sense,
}

/// The p-value of "the two samples come from one law".
///
/// # Formula
/// With at most 40 rows together: the two-sided rank-sum test of Wilcoxon, Mann and Whitney by all ways to deal the
/// values, the share of these whose rank sum is at least as far from its mean. With more rows: min(1, 2·min(w, d)),
/// where w is this test in its normal approximation with the variance for ties, and d is 18 times the smallest p-value
/// of "this decile of one exceeds that of the other" ([`quantile_beyond`]), over nine deciles and both directions.
///
/// # Conditions
/// Independent rows. The rank-sum test is asymptotic, the others are valid at every size.
///
/// # References
/// Mann and Whitney (1947), 10.1214/aoms/1177730491; RTLF (Dunsche et al., USENIX Security 2024) looks at the same nine
/// deciles.
pub fn same_law(a: &Ranked, b: &Ranked) -> SameLaw {
    if a.rows() + b.rows() <= FEW {
        return SameLaw {
            p_value: exact_rank_sum(a, b),
            sense: Sense::Shift,
        };
    }
    let by_ranks = rank_sum(a, b);
    let deciles = DECILES.iter().flat_map(|&p| {
        let beyond = |x: &Ranked, y: &Ranked| quantile_beyond(x, y, p, 0.0);
        [beyond(a, b), beyond(b, a)]
    });
    let by_deciles = 2.0 * DECILES.len() as f64 * deciles.fold(1.0, f64::min);
    let sense = if by_ranks <= by_deciles {
        Sense::Shift
    } else {
        Sense::Deciles
    };
    SameLaw {
        p_value: (2.0 * by_ranks.min(by_deciles)).min(1.0),
        sense,
    }
}

/// The two-sided rank-sum test by all ways to deal the values to the two samples; ties have their mean rank.
fn exact_rank_sum(a: &Ranked, b: &Ranked) -> f64 {
    let merged = Ranked::new(a.cells().chain(b.cells()));
    // Twice the mean ranks are whole.
    let mut ranks: Vec<(f64, usize)> = Vec::new();
    let mut before = 0;
    for (value, count) in merged.cells() {
        let twice = (2 * before + count + 1) as usize;
        ranks.extend((0..count).map(|_| (value, twice)));
        before += count;
    }
    let most: usize = ranks.iter().map(|rank| rank.1).sum();
    let few = a.rows() as usize;
    // In how many ways so many of the values have this sum of ranks.
    let mut ways = vec![vec![0.0f64; most + 1]; few + 1];
    ways[0][0] = 1.0;
    for &(_, rank) in &ranks {
        for taken in (1..=few).rev() {
            for sum in rank..=most {
                ways[taken][sum] += ways[taken - 1][sum - rank];
            }
        }
    }
    let rank_of = |x: f64| {
        ranks
            .iter()
            .find(|rank| rank.0 == x)
            .map_or(0, |rank| rank.1)
    };
    let found: usize = a
        .cells()
        .map(|(x, count)| count as usize * rank_of(x))
        .sum();
    let twice_mean = few * (ranks.len() + 1);
    let far = |sum: usize| sum.abs_diff(twice_mean) >= found.abs_diff(twice_mean);
    let all: f64 = ways[few].iter().sum();
    let as_far: f64 = (0..=most)
        .filter(|&sum| far(sum))
        .map(|sum| ways[few][sum])
        .sum();
    (as_far / all).min(1.0)
}

fn rank_sum(a: &Ranked, b: &Ranked) -> f64 {
    let (n, m) = (a.rows() as f64, b.rows() as f64);
    let all = n + m;
    let merged = Ranked::new(a.cells().chain(b.cells()));
    let ties: f64 = merged
        .cells()
        .map(|(_, count)| {
            let count = count as f64;
            count * (count * count - 1.0)
        })
        .sum();
    // Of the share of pairs in which b is below a.
    let variance = (all + 1.0 - ties / (all * (all - 1.0))) / (12.0 * n * m);
    if variance <= 0.0 {
        return 1.0;
    }
    let (share, _) = shares(a, b, 0.0);
    (2.0 * normal_survival((share - 0.5).abs() / variance.sqrt())).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_testing::assert_close;
    use proptest::prelude::*;

    fn of(values: &[i32]) -> Ranked {
        Ranked::new(values.iter().map(|&value| (f64::from(value), 1)))
    }

    proptest! {
        #[test]
        fn ranks_are_those_of_all_differences(
            a in prop::collection::vec(-20i32..20, 1..12),
            b in prop::collection::vec(-20i32..20, 1..12),
        ) {
            let mut all: Vec<i32> = a.iter().flat_map(|x| b.iter().map(move |y| y - x)).collect();
            all.sort_unstable();
            for (at, &difference) in all.iter().enumerate() {
                let found = ranked(&of(&a), &of(&b), at as u128 + 1);
                prop_assert_eq!(found, f64::from(difference));
            }
        }
    }

    // 1..5 against 6..10: the rank sum is as small as can be, and the normal approximation has
    // z = 12.5/√(25·11/12) = 2.6112 and p = 0.009023 (tables).
    #[test]
    fn the_rank_sum_test_is_that_of_the_tables() {
        let (a, b) = (of(&[1, 2, 3, 4, 5]), of(&[6, 7, 8, 9, 10]));
        assert_close(rank_sum(&a, &b), 0.009_023, 1e-4);
        assert_eq!(rank_sum(&of(&[1, 1]), &of(&[1])), 1.0);
    }

    /// Of 252 ways to deal ten values, two put five on either side; with one step across, 4 and 252 (tables: p =
    /// 0.0159).
    #[test]
    fn few_rows_are_judged_by_all_ways_to_deal_them() {
        let (a, b) = (of(&[1, 2, 3, 4, 5]), of(&[6, 7, 8, 9, 10]));
        assert_close(same_law(&a, &b).p_value, 2.0 / 252.0, 1e-12);
        let (a, b) = (of(&[1, 2, 3, 4, 6]), of(&[5, 7, 8, 9, 10]));
        assert_close(same_law(&a, &b).p_value, 4.0 / 252.0, 1e-12);
        assert_eq!(same_law(&of(&[1, 1]), &of(&[1])).p_value, 1.0);
        // One of three values that are not equal is the largest.
        assert_close(same_law(&of(&[3]), &of(&[1, 1])).p_value, 1.0 / 3.0, 1e-12);
    }

    #[test]
    fn a_shift_is_found_with_limits_around_it() {
        let values: Vec<i32> = (0..400).map(|at| at * 37 % 401).collect();
        let moved: Vec<i32> = values.iter().map(|value| value + 60).collect();
        let found = hodges_lehmann(&of(&values), &of(&moved), 0.025, LongRun::INDEPENDENT);
        assert_eq!(found.point, 60.0);
        // 1.96·401·√(2/(12·400)) = 16.0
        assert!((43.0..46.0).contains(&found.lower) && (74.0..77.0).contains(&found.upper));
        let test = same_law(&of(&values), &of(&moved));
        assert!(test.p_value < 1e-6 && test.sense == Sense::Shift);
    }
}
