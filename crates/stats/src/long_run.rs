//! How much the mean of a series varies whose values depend on their neighbors.
//!
//! Times that follow each other resemble each other: caches, frequencies, other load. The mean of such a series varies
//! more than that of independent values, by its *inflation*, the long-run variance over the variance. No test decides
//! first whether values depend on each other: a test misses some dependence, and what it misses is what makes limits
//! wrong. Every limit counts stretches of the log, and is wider for it even where values are independent: by 6 % from
//! 5,120 values on, 10 % at 1,000, a third at 100.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::bisection::bisect;
use crate::special::{normal_quantile, normal_survival};

/// Numbers of stretches, with the values that a series has at least.
const STRETCHES: [(usize, usize); 5] = [(256, 5120), (128, 2560), (64, 960), (32, 192), (16, 48)];
/// By what the variance of longer stretches counts, by how many there are: few stretches overestimate it often.
const WEIGHTS: [(usize, f64); 4] = [(128, 0.9), (64, 0.85), (32, 0.8), (16, 0.6)];
/// Stretches that resemble their neighbors more than this have no end of their resemblance in sight.
const MOST: f64 = 0.8;
/// What is left of such a resemblance in stretches of half the length, at least: what lasts for two stretches is two
/// thirds of the variance of one, and 0.6 of that of a half. Sixteen independent stretches exceed `MOST` once in 150
/// series, and their halves then have no more than any.
const LEAST_OF_HALVES: f64 = 0.4;
/// Levels below this are none.
const LEAST_LEVEL: f64 = 1e-300;

/// What a series says of the variance of its mean.
///
/// # Formula
/// The series is cut into B stretches of equal length, B = 16, 32, 64, 128 or 256, as many as have 3, 6, 15, 20 and 20
/// values. With y_j the sums of their values less the mean, v their mean square (over B − 1), and r their correlation
/// with their neighbors, ρ = max(0, (B·r + 1)/(B − 3)) corrects the bias of r, and v·(1 + ρ)/(1 − ρ) is the long-run
/// variance of an autoregressive process of these sums; infinite for ρ > 0.8, if stretches of half the length have ρ ≥ 0.4
/// (else ρ counts as 0.8). The inflation is the largest of 1 and of
/// these over the variance of the values, for B and with weights of 0.9, 0.85, 0.8, 0.6 for longer stretches (128, 64,
/// 32, 16). Limits use Student's law with B/2 − 1 degrees of freedom.
///
/// # Conditions
/// Asymptotic in the length of the stretches. Simulated, two-sided at 5 %, with signs about the median and with the
/// values themselves: autoregressive processes of weight 0 to 0.95 are wrong in 2.6 to 4.2 % of series of 1,000 values
/// and more. At 200 values, up to weight 0.9: at most 4.7 %. A small random walk of its own in much noise is
/// mistaken for a difference: over the log it is one. Fewer than 48 values tell nothing, and are taken to be
/// independent.
///
/// # References
/// Batch means: Schmeiser (1982), 10.1287/opre.30.3.556. Student's law with few batches (fixed smoothing): Kiefer and
/// Vogelsang (2005), 10.1017/S0266466605050565. Prewhitening by an autoregression: Andrews and Monahan (1992),
/// 10.2307/2951574. Bias of r: Kendall (1954), 10.1093/biomet/41.3-4.403.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LongRun {
    inflation: f64,
    freedom: f64,
}

impl LongRun {
    /// The numbers of values from which on more stretches are compared.
    pub(crate) fn lengths() -> impl Iterator<Item = usize> {
        STRETCHES.iter().rev().map(|&(_, least)| least)
    }

    /// Of independent values.
    pub const INDEPENDENT: LongRun = LongRun {
        inflation: 1.0,
        freedom: f64::INFINITY,
    };

    /// Of a series in its order.
    ///
    /// ```
    /// use leakgauge_stats::long_run::LongRun;
    ///
    /// let trend: Vec<f64> = (0..1000).map(f64::from).collect();
    /// assert_eq!(LongRun::of(trend).inflation(), f64::INFINITY);
    /// ```
    pub fn of<I: ExactSizeIterator<Item = f64>>(
        series: impl IntoIterator<IntoIter = I>,
    ) -> LongRun {
        let series = series.into_iter();
        let n = series.len();
        let Some(&(stretches, _)) = STRETCHES.iter().find(|(_, least)| n >= *least) else {
            return LongRun::INDEPENDENT;
        };
        // Halves of stretches, of which the first stretches are made.
        let halves = 2 * stretches;
        let mut sums = vec![0.0; halves];
        let (mut sum, mut squares) = (0.0, 0.0);
        let (mut half, mut end) = (0, n / halves);
        for (at, value) in series.enumerate() {
            if at == end {
                half += 1;
                end = (half + 1) * n / halves;
            }
            sums[half] += value;
            sum += value;
            squares += value * value;
        }
        let mean = sum / n as f64;
        let variance = squares / n as f64 - mean * mean;
        let length = |at: usize| ((at + 1) * n / halves - at * n / halves) as f64;
        for (at, of) in sums.iter_mut().enumerate() {
            *of -= mean * length(at);
        }
        // Rounding of a constant is no variation.
        if variance <= 1e-20 * mean * mean {
            return LongRun::INDEPENDENT;
        }
        LongRun {
            inflation: inflation(&sums, n as f64, variance),
            freedom: freedom(stretches),
        }
    }

    /// That of so many independent values whose order is known: limits allow for dependence that is not there.
    pub fn of_independent(values: usize) -> LongRun {
        match STRETCHES.iter().find(|(_, least)| values >= *least) {
            None => LongRun::INDEPENDENT,
            Some(&(stretches, _)) => LongRun {
                inflation: 1.0,
                freedom: freedom(stretches),
            },
        }
    }

    /// The larger of two, of each figure by itself.
    #[must_use]
    pub fn or(self, other: LongRun) -> LongRun {
        LongRun {
            inflation: self.inflation.max(other.inflation),
            freedom: self.freedom.min(other.freedom),
        }
    }

    /// The variance of the mean over that of independent values; at least 1.
    pub fn inflation(self) -> f64 {
        self.inflation
    }

    /// How many independent values so many of the series are worth.
    pub fn worth(self, values: f64) -> f64 {
        values / self.inflation
    }

    /// How many standard errors of independent values a limit is from an estimate; `freedom`: of the estimate of the
    /// variance.
    pub fn reach(self, alpha: f64, freedom: f64) -> f64 {
        let independent = student_quantile(alpha, freedom);
        if self.inflation.is_infinite() {
            return f64::INFINITY;
        }
        independent.max(self.quantile(alpha))
    }

    /// The level at which a limit for independent values is one at `alpha` for those of the series; `None` if there is
    /// no such limit.
    pub fn level(self, alpha: f64) -> Option<f64> {
        if self.freedom.is_infinite() {
            return Some(alpha);
        }
        let level = alpha.min(normal_survival(self.quantile(alpha)));
        (level >= LEAST_LEVEL).then_some(level)
    }

    /// The p-value of one side for values of the series, from that for independent ones.
    pub fn p_value(self, independent: f64) -> f64 {
        if self.freedom.is_infinite() || independent >= 0.5 {
            return independent;
        }
        let z = -normal_quantile(independent.max(LEAST_LEVEL)) / self.inflation.sqrt();
        match StudentsT::new(0.0, 1.0, self.freedom) {
            Ok(law) => independent.max(law.sf(z)),
            Err(_) => 1.0,
        }
    }

    /// The part of the values that a binomial limit at `alpha` may count.
    pub fn share(self, alpha: f64) -> f64 {
        if self.freedom.is_infinite() {
            return 1.0;
        }
        let part = -normal_quantile(alpha) / self.quantile(alpha);
        (part * part).min(1.0)
    }

    fn quantile(self, alpha: f64) -> f64 {
        student_quantile(alpha, self.freedom) * self.inflation.sqrt()
    }
}

/// The upper quantile of Student's law; of the normal law for ∞ degrees of freedom.
pub(crate) fn student_quantile(alpha: f64, freedom: f64) -> f64 {
    // Beyond this many degrees of freedom the laws agree in six digits.
    const NORMAL: f64 = 1e7;
    if freedom > NORMAL {
        return -normal_quantile(alpha);
    }
    let Ok(law) = StudentsT::new(0.0, 1.0, freedom) else {
        return f64::INFINITY;
    };
    // The library's inverse has no answer far out.
    if alpha > 1e-9 {
        return -law.inverse_cdf(alpha);
    }
    let is_above = |log: f64| law.sf(log.exp()) >= alpha;
    bisect((0.0, 350.0), 60, is_above).1.exp()
}

/// Degrees of freedom of limits by so many stretches.
fn freedom(stretches: usize) -> f64 {
    (stretches / 2 - 1) as f64
}

/// The largest long-run variance by stretches of several lengths, over the variance; from halves of the shortest.
fn inflation(halves: &[f64], n: f64, variance: f64) -> f64 {
    let doubled = |sums: &[f64]| -> Vec<f64> {
        let pairs = sums.chunks_exact(2);
        pairs.map(|two| two[0] + two[1]).collect()
    };
    let mut of_halves = resemblance(halves);
    let mut sums = doubled(halves);
    let mut weight = 1.0;
    let mut most = 1.0f64;
    loop {
        let rho = resemblance(&sums);
        most = most.max(weight * long_run(&sums, n, (rho, of_halves)) / variance);
        let fewer = sums.len() / 2;
        let Some(&(_, next)) = WEIGHTS.iter().find(|(stretches, _)| *stretches == fewer) else {
            return most;
        };
        (weight, of_halves) = (next, rho);
        sums = doubled(&sums);
    }
}

/// The mean of the sums of stretches, and their squares about it.
fn moments(sums: &[f64]) -> (f64, f64) {
    let mean = sums.iter().sum::<f64>() / sums.len() as f64;
    let squares = sums.iter().map(|y| (y - mean) * (y - mean)).sum();
    (mean, squares)
}

/// ρ, the correlation of stretches with their neighbors, without its bias; at least 0.
fn resemblance(sums: &[f64]) -> f64 {
    let stretches = sums.len() as f64;
    let (mean, squares) = moments(sums);
    if squares == 0.0 {
        return 0.0;
    }
    let neighbors = sums.windows(2).map(|two| (two[0] - mean) * (two[1] - mean));
    let r = neighbors.sum::<f64>() / squares;
    ((stretches * r + 1.0) / (stretches - 3.0)).max(0.0)
}

/// The long-run variance by stretches: that of an autoregressive process, by ρ of stretches and of their halves.
fn long_run(sums: &[f64], n: f64, (rho, of_halves): (f64, f64)) -> f64 {
    let stretches = sums.len() as f64;
    if rho > MOST && of_halves >= LEAST_OF_HALVES {
        return f64::INFINITY;
    }
    let rho = rho.min(MOST);
    let (_, squares) = moments(sums);
    squares / (stretches - 1.0) * stretches / n * (1.0 + rho) / (1.0 - rho)
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_testing::{assert_close, at_most, rng};
    use rand_distr::{Distribution, StandardNormal};

    /// An autoregressive process of variance 1.
    fn process(seed: u64, n: usize, kept: f64) -> Vec<f64> {
        let mut rng = rng(seed);
        let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
        let mut level = normal();
        (0..n)
            .map(|_| {
                level = kept * level + (1.0 - kept * kept).sqrt() * normal();
                level
            })
            .collect()
    }

    /// By hand: stretches of one value would need 16 of 3; here sums of 16 stretches that alternate.
    #[test]
    fn students_quantile_has_an_answer_far_out() {
        let mut last = 0.0;
        for exponent in [1, 3, 8, 9, 10, 20, 100, 290] {
            let alpha = 10f64.powi(-exponent);
            let found = student_quantile(alpha, 7.0);
            let tail = StudentsT::new(0.0, 1.0, 7.0).unwrap().sf(found);
            assert!(
                (tail / alpha - 1.0).abs() < 1e-6,
                "{alpha:e}: {found:e} {tail:e}"
            );
            assert!(found > last, "{alpha:e}");
            last = found;
        }
    }

    #[test]
    fn the_inflation_is_that_of_the_sums_of_stretches() {
        let values: Vec<f64> = (0..48).map(|at| f64::from(at / 3 % 2)).collect();
        // Variance ¼, sums ±1.5, v = 16·2.25/15, r = −15/16: ρ = 0. Long-run: 2.4·16/48 = 0.8.
        assert_close(LongRun::of(values).inflation(), 3.2, 1e-12);
        assert_eq!(LongRun::of([1.0; 100]), LongRun::INDEPENDENT);
        assert_eq!(LongRun::of([1.0, 2.0]), LongRun::INDEPENDENT);
    }

    // An autoregressive process of weight ½ has (1 + ½)/(1 − ½) = 3 times the variance.
    #[test]
    fn long_series_have_their_inflation() {
        for (kept, truth) in [(0.5, 3.0), (0.9, 19.0)] {
            let found: f64 = (0..20)
                .map(|seed| LongRun::of(process(seed, 100_000, kept)).inflation())
                .sum();
            // The largest of several estimates is above the truth.
            let times = found / 20.0 / truth;
            assert!((0.95..1.4).contains(&times), "{kept}: {times}");
        }
    }

    #[test]
    fn levels_and_p_values_say_the_same() {
        let series = LongRun::of(process(3, 2_000, 0.7));
        for alpha in [0.05, 1e-3, 1e-7] {
            let level = series.level(alpha).expect("a level");
            assert!(level < alpha);
            assert_close(series.p_value(level), alpha, 1e-6);
            let reach = series.reach(alpha, f64::INFINITY);
            assert_close(-normal_quantile(level), reach, 1e-9);
        }
        assert_eq!(LongRun::INDEPENDENT.level(0.01), Some(0.01));
    }

    /// How many of so many series have a mean that is far from 0 at a level of 5 %, and how much wider limits are than
    /// those of a known variance, by the median.
    fn wrong(kept: f64, n: usize, series: usize, is_sign: bool) -> usize {
        let wrong = |seed: &usize| {
            let values = process(1_000_000 + *seed as u64, n, kept);
            let mut sorted = values.clone();
            sorted.sort_unstable_by(f64::total_cmp);
            let center = if is_sign { sorted[n / 2] } else { 0.0 };
            let of = |x: f64| if is_sign { (x - center).signum() } else { x };
            let influence: Vec<f64> = values.iter().map(|&x| of(x)).collect();
            let mean = influence.iter().sum::<f64>() / n as f64;
            let variance = influence
                .iter()
                .map(|x| (x - mean) * (x - mean))
                .sum::<f64>()
                / n as f64;
            let found = if is_sign {
                values.iter().map(|x| x.signum()).sum::<f64>() / n as f64
            } else {
                mean
            };
            let reach = LongRun::of(influence).reach(0.025, f64::INFINITY);
            found.abs() > reach * (variance / n as f64).sqrt()
        };
        (0..series).filter(wrong).count()
    }

    #[test]
    fn means_of_dependent_values_are_seldom_far_away() {
        let series = 400;
        for (kept, n) in [(0.0, 100), (0.5, 200), (0.9, 1_000), (0.95, 1_000)] {
            for is_sign in [false, true] {
                let found = wrong(kept, n, series, is_sign);
                assert!(found <= at_most(series, 0.05), "{kept}, {n}: {found}");
            }
        }
    }

    /// ```text
    /// cargo test --release -p leakgauge-stats long_run -- --ignored --nocapture
    /// ```
    #[test]
    #[ignore = "long"]
    fn means_of_dependent_values_are_seldom_far_away_over_many_series() {
        let series = 4_000;
        for n in [200, 1_000, 2_600, 6_000] {
            for kept in [0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95] {
                // 0.95 has too few turns in so few values.
                if n == 200 && kept > 0.9 {
                    continue;
                }
                for is_sign in [false, true] {
                    let found = wrong(kept, n, series, is_sign);
                    println!("{n} values, weight {kept}, signs {is_sign}: {found} of {series}");
                    assert!(found <= at_most(series, 0.05));
                }
            }
        }
    }
}
