//! How much more the number of blocks on one side of a bound varies than that of independent blocks.
//!
//! Bets need blocks whose median is the same given the past. A class may have a slow course of its own (where its data
//! lie, what else runs while it is prepared): then blocks resemble those before them, and bets alone would see a leak
//! too often. Stretches of many blocks show how much such numbers vary. No test decides first whether they do: every
//! verdict needs both.

/// Numbers of stretches, with the blocks that there are at least.
const STRETCHES: [(usize, usize); 4] = [(256, 5120), (128, 2560), (64, 960), (32, 192)];
/// By what the variance of longer stretches counts, by how many there are: few stretches overestimate it often.
const WEIGHTS: [(usize, f64); 4] = [(128, 0.9), (64, 0.85), (32, 0.8), (16, 0.6)];
/// Stretches that resemble their neighbors more than this have no end of their resemblance in sight.
const MOST: f64 = 0.8;

/// What a series says of how much the number on one side of a bound varies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    inflation: f64,
    /// How many are on this side.
    pub(crate) right: usize,
}

impl Spread {
    /// Of values in the order of the blocks, and of the side of a bound; `None` for fewer than 192.
    ///
    /// # Formula
    /// Of the signs x = 1 on this side, 0 on the other, that of `leakgauge audit` (its page on timings): they are cut
    /// into B = 32 to 256 stretches of equal length. With y_j their sums less the mean, v their mean square over B − 1,
    /// r the correlation of neighbors and ρ = max(0, (B·r + 1)/(B − 3)), the long-run variance is v·(1 + ρ)/(1 − ρ),
    /// infinite for ρ > 0.8; the largest of that for B stretches and, with weights 0.9, 0.85, 0.8 and 0.6, for 128, 64,
    /// 32 and 16. Over n·x̄·(1 − x̄), at least 1, it is the inflation.
    ///
    /// # References
    /// Schmeiser 1982, doi:10.1287/opre.30.3.556; Kiefer and Vogelsang 2005, doi:10.1017/S0266466605050565 (Student's
    /// law); Andrews and Monahan 1992, doi:10.2307/2951574; Kendall 1954, doi:10.1093/biomet/41.3-4.403 (bias of r).
    pub(crate) fn of(values: &[f64], is_right: impl Fn(f64) -> bool) -> Option<Self> {
        let n = values.len();
        let &(stretches, _) = STRETCHES.iter().find(|(_, least)| n >= *least)?;
        let ends = |at: usize| at * n / stretches;
        let count = |at: usize| {
            let part = &values[ends(at)..ends(at + 1)];
            part.iter().filter(|value| is_right(**value)).count()
        };
        let counts: Vec<usize> = (0..stretches).map(count).collect();
        let right = counts.iter().sum::<usize>();
        let part = right as f64 / n as f64;
        let sums: Vec<f64> = counts
            .iter()
            .enumerate()
            .map(|(at, &count)| count as f64 - part * (ends(at + 1) - ends(at)) as f64)
            .collect();
        let independent = n as f64 * part * (1.0 - part);
        // Where all are on one side, nothing varies.
        let inflation = if independent > 0.0 {
            most(sums) / independent
        } else {
            1.0
        };
        let inflation = inflation.max(1.0);
        Some(Self { inflation, right })
    }

    /// How far beyond half of `n` values the number on this side is, in standard errors. By Student's law with
    /// [`freedom`](Self::freedom) where half are expected there.
    pub(crate) fn beyond(self, n: usize) -> f64 {
        let n = n as f64;
        (2.0 * self.right as f64 - n) / libm::sqrt(self.inflation * n)
    }

    /// Degrees of freedom for `n` values.
    pub(crate) fn freedom(n: usize) -> Option<f64> {
        let (stretches, _) = STRETCHES.iter().find(|(_, least)| n >= *least)?;
        Some((stretches / 2 - 1) as f64)
    }
}

/// The largest variance of the sum of all, by stretches of several lengths.
fn most(mut sums: Vec<f64>) -> f64 {
    let mut most = long_run(&sums);
    while let Some((_, weight)) = WEIGHTS.iter().find(|(count, _)| *count == sums.len() / 2) {
        sums = sums.chunks_exact(2).map(|two| two[0] + two[1]).collect();
        most = most.max(weight * long_run(&sums));
    }
    most
}

/// The variance of the sum of all: that of an autoregressive process of the stretches.
fn long_run(sums: &[f64]) -> f64 {
    let count = sums.len() as f64;
    let squares: f64 = sums.iter().map(|sum| sum * sum).sum();
    if squares <= 0.0 {
        return 0.0;
    }
    let products: f64 = sums.windows(2).map(|two| two[0] * two[1]).sum();
    let rho = ((count * products / squares + 1.0) / (count - 3.0)).max(0.0);
    if rho > MOST {
        return f64::INFINITY;
    }
    count * squares / (count - 1.0) * (1.0 + rho) / (1.0 - rho)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::student::upper_quantile;

    #[test]
    fn a_trend_has_no_end_in_sight() {
        let trend: Vec<f64> = (0..1000).map(f64::from).collect();
        let spread = Spread::of(&trend, |value| value > 400.0).expect("enough");
        assert_eq!((spread.right, spread.inflation), (599, f64::INFINITY));
        assert_eq!(spread.beyond(1000), 0.0);
        assert_eq!(Spread::of(&trend[..191], |_| true), None);
        let all = Spread::of(&trend, |_| true).expect("enough");
        assert_eq!((all.inflation, all.beyond(1000)), (1.0, 1000f64.sqrt()));
    }

    /// Signs of a process of weight φ: their sum varies more by 1 + 2 Σ (2/π)·asin(φ^k), the orthant probabilities of
    /// the normal law.
    #[test]
    fn the_variance_of_dependent_signs_is_found() {
        let phi: f64 = 0.8;
        let expected = 1.0
            + 2.0
                * (1..200)
                    .map(|k| phi.powi(k).asin() / std::f64::consts::FRAC_PI_2)
                    .sum::<f64>();
        let mut random = Random::new(4);
        let mut found: Vec<f64> = (0..100)
            .map(|_| {
                let mut state = 0.0;
                let process: Vec<f64> = (0..20_000)
                    .map(|_| {
                        state = phi * state + random.normal();
                        state
                    })
                    .collect();
                let spread = Spread::of(&process, |value| value > 0.0);
                spread.expect("enough").inflation
            })
            .collect();
        found.sort_by(f64::total_cmp);
        let median = found[50];
        assert!(
            median > 0.95 * expected && median < 1.4 * expected,
            "{median} {expected}"
        );
    }

    #[test]
    fn independent_signs_need_little_more_than_the_normal_law() {
        let mut random = Random::new(5);
        let all: Vec<f64> = (0..10_000).map(|_| random.normal()).collect();
        let spread = Spread::of(&all, |value| value > 0.0).expect("enough");
        // 1.96 for the normal law.
        let freedom = Spread::freedom(10_000).expect("enough");
        let needed = upper_quantile(0.025, freedom) * spread.inflation.sqrt();
        assert!((1.96..2.5).contains(&needed), "{needed}");
    }
}
