//! A test of whether two measurements of a block may be exchanged.

use super::sample::sign;
use super::times::of_both;
use super::{Sample, Times};
use crate::binomial_tail;
use crate::long_run::LongRun;
use crate::special::normal_survival;

/// What a paired test looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sense {
    /// One class takes longer.
    Shift,
    /// One class takes much longer in a few blocks.
    Tail,
    /// The times of one class spread more.
    Spread,
    /// Some decile of one class is beyond that of the other; of [unpaired](crate::unpaired) times only.
    Deciles,
}

/// What a paired test found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedTest {
    /// The p-value of "it makes no difference which is which".
    pub p_value: f64,
    /// Where the evidence is.
    pub sense: Sense,
}

/// Parts of the level. They sum to 1. Shifts are what times mostly differ by; looking for them alone would find hardly
/// more.
const PARTS: [(Sense, f64); 3] = [
    (Sense::Shift, 0.98),
    (Sense::Tail, 0.01),
    (Sense::Spread, 0.01),
];
/// The share of the largest differences that the test of tails looks at.
const TAIL: f64 = 0.02;
/// Winsorizing scores cut at these quantiles of the absolute differences: from the sign test to the t-test.
const CUTS: [f64; 9] = [0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.85, 0.95, 1.0];
/// Redescending scores end at these multiples of the median absolute difference.
const ENDS: [f64; 7] = [0.25, 0.5, 1.0, 2.0, 4.0, 6.0, 10.0];
/// With fewer equal weights in effect the normal law is replaced by a bound.
const MIN_EFFECTIVE: f64 = 30.0;

/// Tests whether (a, b) and (b, a) have the same law.
///
/// # Formula
/// If so, the signs of any antisymmetric g(a_i, b_i) are fair coins, given the absolute values. The statistic is
/// Σ ψ(g_i), where the score ψ is odd and chosen by the absolute values alone, which costs nothing: among
/// winsorized differences (from the sign test to the t-test) and biweights, the one of the largest estimated
/// efficacy (mean of ψ′)²/mean of ψ², the mean of ψ′ less two standard errors. g is b − a (shift), with 0.98 of the
/// level, and |b − m| − |a − m| (spread; m the median of all values), with 0.01; 0.01 goes to a sign test of the 2 %
/// largest differences (tail).
///
/// # Conditions
/// Independent blocks. The level is exact given the absolute values; the tail of the sum of weighted coins is that
/// of the normal law, which is not below it beyond √3 standard deviations, because coins have negative excess
/// kurtosis. If a few weights dominate, 3.178 times the normal tail is used, a bound for all weights.
/// Blocks are independent if which is which is decided anew in every block. Where differences of consecutive blocks
/// resemble each other, it may not have been: the p-value is the larger one of [`LongRun::p_value`] of the scores.
///
/// # References
/// Lehmann and Romano, *Testing Statistical Hypotheses*, chapter 15 (randomization tests); Bentkus and
/// Dzindzalieta (2015), 10.3150/14-BEJ603, for the bound.
///
/// # Panics
/// If the two have different lengths.
pub fn exchangeable(times: [&Times; 2], sample: &Sample) -> PairedTest {
    let [a, b] = times.map(Times::in_order);
    assert_eq!(a.len(), b.len(), "one value of each class a block");
    let differences = sample.in_order();
    let sizes = sizes(sample.sorted());
    let of_shift = of_signs(differences, &sizes);
    let of_tail = of_tail(differences, &sizes);
    drop(sizes);
    let center = if a.is_empty() {
        0.0
    } else {
        of_both(times.map(Times::sorted), a.len())
    };
    let spread = |(x, y): (&f64, &f64)| (y - center).abs() - (x - center).abs();
    let spread: Vec<f64> = a.iter().zip(b).map(spread).collect();
    let mut of_spread: Vec<f64> = spread.iter().map(|x| x.abs()).collect();
    of_spread.retain(|&x| x > 0.0);
    of_spread.sort_unstable_by(f64::total_cmp);
    let of_spread = of_signs(&spread, &of_spread);
    let p_values = [of_shift, of_tail, of_spread];
    let parts = PARTS.iter().zip(p_values);
    let weighted = parts.map(|(&(sense, part), p)| PairedTest {
        p_value: (p / part).min(1.0),
        sense,
    });
    let none = PairedTest {
        p_value: 1.0,
        sense: Sense::Shift,
    };
    weighted.fold(none, |best, next| {
        if next.p_value < best.p_value {
            next
        } else {
            best
        }
    })
}

/// The absolute values of sorted values, sorted, without 0.
fn sizes(sorted: &[f64]) -> Vec<f64> {
    let (below, not_below) = sorted.split_at(sorted.partition_point(|&x| x < 0.0));
    let above = &not_below[not_below.partition_point(|&x| x <= 0.0)..];
    let mut sizes = Vec::with_capacity(below.len() + above.len());
    let mut above = above.iter().copied().peekable();
    for size in below.iter().rev().map(|x| -x) {
        while let Some(smaller) = above.next_if(|&x| x < size) {
            sizes.push(smaller);
        }
        sizes.push(size);
    }
    sizes.extend(above);
    sizes
}

/// The two-sided p-value of values that are symmetric about 0, with their sorted absolute values that are not 0.
fn of_signs(values: &[f64], sizes: &[f64]) -> f64 {
    if sizes.is_empty() {
        return 1.0;
    }
    let score = best_score(sizes);
    let (mut sum, mut squares, mut fourth) = (0.0, 0.0, 0.0);
    let mut least = f64::INFINITY;
    for &value in values.iter().filter(|&&x| x != 0.0) {
        let weight = score.of(value.abs());
        if weight > 0.0 {
            least = least.min(weight);
        }
        sum += weight * value.signum();
        squares += weight * weight;
        fourth += weight.powi(4);
    }
    if squares == 0.0 {
        return 1.0;
    }
    // Weights on a lattice make a lattice of sums, with steps of at most twice the least weight: half a step of it.
    let z = ((sum.abs() - least) / squares.sqrt()).max(0.0);
    let factor = if squares * squares / fourth >= MIN_EFFECTIVE {
        1.0
    } else {
        3.178
    };
    let independent = (2.0 * factor * normal_survival(z)).min(1.0);
    let series = values.iter().map(|x| score.of(x.abs()) * sign(*x));
    two_sided(independent, LongRun::of(series))
}

/// The sign test of the largest values, with the sorted absolute values that are not 0.
fn of_tail(values: &[f64], sizes: &[f64]) -> f64 {
    let most = (values.len() as f64 * TAIL).ceil() as usize;
    // Ties at the smallest of them are taken by size alone: all or none.
    let Some(&least) = sizes.get(sizes.len().saturating_sub(most)) else {
        return 1.0;
    };
    let above = values.iter().filter(|x| x.abs() >= least && **x != 0.0);
    let (positive, all) = above.fold((0u64, 0u64), |(positive, all), x| {
        (positive + u64::from(*x > 0.0), all + 1)
    });
    let fewer = positive.min(all - positive);
    let independent = (2.0 * binomial_tail::at_most(fewer, all, 0.5)).min(1.0);
    let is_large = |x: &f64| f64::from(u8::from(x.abs() >= least));
    let series = values.iter().map(|x| is_large(x) * sign(*x));
    two_sided(independent, LongRun::of(series))
}

/// A p-value of both sides together, each of which allows for the long run.
fn two_sided(independent: f64, scores: LongRun) -> f64 {
    (2.0 * scores.p_value(0.5 * independent)).min(1.0)
}

/// A score of absolute values.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Score {
    /// min(x, c).
    Winsorized(f64),
    /// x·(1 − (x/c)²)² up to c, then 0.
    Biweight(f64),
}

impl Score {
    fn of(self, x: f64) -> f64 {
        match self {
            Score::Winsorized(cut) => x.min(cut),
            Score::Biweight(end) if x < end => {
                let u = x / end;
                x * (1.0 - u * u) * (1.0 - u * u)
            }
            Score::Biweight(_) => 0.0,
        }
    }

    fn slope(self, x: f64) -> f64 {
        match self {
            Score::Winsorized(cut) => f64::from(u8::from(x < cut)),
            Score::Biweight(end) if x < end => {
                let u = (x / end) * (x / end);
                (1.0 - u) * (1.0 - 5.0 * u)
            }
            Score::Biweight(_) => 0.0,
        }
    }

    /// (mean of ψ′)²/mean of ψ², with a mean of ψ′ that is certain: less two standard errors, so that a score that
    /// few values decide is not chosen by chance.
    fn efficacy(self, sizes: &[f64]) -> f64 {
        let (mut slopes, mut slope_squares, mut squares) = (0.0, 0.0, 0.0);
        for &x in sizes {
            slopes += self.slope(x);
            slope_squares += self.slope(x).powi(2);
            squares += self.of(x).powi(2);
        }
        let variance = slope_squares - slopes * slopes / sizes.len() as f64;
        let certain = slopes - 2.0 * variance.max(0.0).sqrt();
        if squares > 0.0 && certain > 0.0 {
            certain * certain / squares
        } else {
            0.0
        }
    }
}

/// The score of the largest efficacy by sorted absolute values.
fn best_score(sizes: &[f64]) -> Score {
    let last = sizes.len() - 1;
    let at = |p: f64| sizes[(p * last as f64).round() as usize];
    // Nothing lies above the largest value: the t-test has no cut.
    let cut = |p: f64| if p < 1.0 { at(p) } else { f64::MAX };
    let winsorized = CUTS.iter().map(|&p| Score::Winsorized(cut(p)));
    let biweights = ENDS.iter().map(|&times| Score::Biweight(times * at(0.5)));
    // Choosing among all values needs no more than some of them.
    const MOST: usize = 100_000;
    let step = sizes.len().div_ceil(MOST);
    let some: Vec<f64> = sizes.iter().copied().step_by(step).collect();
    let sign = Score::Winsorized(at(0.05));
    let all = winsorized.chain(biweights);
    let best = all.fold((sign, 0.0), |best, next| {
        let efficacy = next.efficacy(&some);
        if efficacy > best.1 {
            (next, efficacy)
        } else {
            best
        }
    });
    best.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(a: &[f64], b: &[f64]) -> PairedTest {
        exchangeable([&Times::new(a), &Times::new(b)], &Sample::new(a, b))
    }

    #[test]
    fn scores_follow_the_law_of_the_differences() {
        let quantiles = |of: &dyn Fn(f64) -> f64| -> Vec<f64> {
            (0..2000)
                .map(|i| of((f64::from(i) + 0.5) / 2000.0))
                .collect()
        };
        let normal = quantiles(&|u| crate::special::normal_quantile(0.5 + 0.5 * u));
        let laplace = quantiles(&|u| -(1.0 - u).ln());
        let cauchy = quantiles(&|u| (std::f64::consts::FRAC_PI_2 * u).tan());
        let cut = |sizes: &[f64]| match best_score(sizes) {
            Score::Winsorized(cut) => cut,
            Score::Biweight(end) => -end,
        };
        assert!(cut(&normal) > 1.9, "{}", cut(&normal));
        assert!((0.0..0.5).contains(&cut(&laplace)), "{}", cut(&laplace));
        assert!(cut(&cauchy) < 2.0, "{}", cut(&cauchy));
    }

    #[test]
    fn nothing_but_ties_says_nothing() {
        let found = test(&[1.0; 50], &[1.0; 50]);
        assert_eq!(found.p_value, 1.0);
        assert_eq!(test(&[], &[]).p_value, 1.0);
    }

    #[test]
    fn each_sense_has_its_leak() {
        let base: Vec<f64> = (0..4000).map(|i| f64::from((i * 7919) % 1000)).collect();
        let other: Vec<f64> = (0..4000)
            .map(|i| f64::from((i * 104_729 + 13) % 1000))
            .collect();
        let shifted: Vec<f64> = other.iter().map(|x| x + 100.0).collect();
        let rarely: Vec<f64> = (0..4000)
            .map(|i| other[i] + if i % 50 == 7 { 5000.0 } else { 0.0 })
            .collect();
        let spread: Vec<f64> = other.iter().map(|x| 1.5 * (x - 500.0) + 500.0).collect();
        let found = [&shifted, &rarely, &spread].map(|b| test(&base, b));
        assert!(found.iter().all(|test| test.p_value < 1e-8), "{found:?}");
        assert_eq!(
            found.map(|test| test.sense),
            [Sense::Shift, Sense::Tail, Sense::Spread]
        );
        assert!(test(&base, &other).p_value > 0.01);
    }
}
