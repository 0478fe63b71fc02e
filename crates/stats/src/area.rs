//! Limits of the area under the ROC curve, P(X > Y) + ½ P(X = Y), that hold for any two laws and any numbers of rows.
//!
//! DeLong's interval is the usual one. It is a normal approximation: near 1, and with few rows, it covers too
//! rarely, and at an area of 1 it has no width. So limits here are those of Hoeffding, and DeLong's standard error is
//! reported beside them.
//!
//! # References
//! W. Hoeffding 1963, section 5a, doi:10.1080/01621459.1963.10500830; E. R. DeLong, D. M. DeLong,
//! D. L. Clarke-Pearson 1988, doi:10.2307/2531595.

use crate::bisection::bisect;

/// Limits of the true area, each at level 1 − `alpha`, from the area on rows of both secrets.
///
/// # Formula
/// The area is the mean, over all ways of pairing r = min(n_a, n_b) rows of either secret, of means of r independent
/// numbers between 0 and 1. By convexity its moment generating function is at most that of one such mean, so
/// Chernoff's bound serves: the limits are the θ at which r·KL(area ‖ θ) = ln(1/α), KL that of two Bernoulli laws.
///
/// # Conditions
/// The score was fixed before the rows were seen; rows are independent.
pub fn limits(area: f64, rows: [u64; 2], alpha: f64) -> [f64; 2] {
    let lower = |area: f64| {
        let least = alpha.ln().abs() / rows[0].min(rows[1]) as f64;
        let refuted = |theta: f64| divergence(area, theta) >= least;
        if refuted(0.0) {
            bisect((0.0, area), 60, refuted).0
        } else {
            0.0
        }
    };
    [lower(area), 1.0 - lower(1.0 - area)]
}

/// KL(p ‖ q) of two Bernoulli laws.
fn divergence(p: f64, q: f64) -> f64 {
    let part = |p: f64, q: f64| if p > 0.0 { p * (p / q).ln() } else { 0.0 };
    part(p, q) + part(1.0 - p, 1.0 - q)
}

/// DeLong's standard error of the area; `None` with fewer than two rows of a secret.
///
/// # Formula
/// √(S_a/n_a + S_b/n_b), S the sample variances of the placements: of a row of a the share of b's rows below it, ties
/// half; of a row of b the share of a's rows above it.
///
/// `steps` has the rows of a and of b at each distinct score, the largest first.
pub fn standard_error(steps: &[(u64, u64)]) -> Option<f64> {
    let sum = |sum: (u64, u64), step: &(u64, u64)| (sum.0 + step.0, sum.1 + step.1);
    let (a, b) = steps.iter().fold((0, 0), sum);
    if a < 2 || b < 2 {
        return None;
    }
    let (n_a, n_b) = (a as f64, b as f64);
    let (mut above_a, mut below_b) = (0.0, n_b);
    let (mut of_a, mut of_b) = ([0.0; 2], [0.0; 2]);
    for &(here_a, here_b) in steps {
        let (here_a, here_b) = (here_a as f64, here_b as f64);
        let place_a = (below_b - 0.5 * here_b) / n_b;
        let place_b = (above_a + 0.5 * here_a) / n_a;
        of_a = [
            of_a[0] + here_a * place_a,
            of_a[1] + here_a * place_a * place_a,
        ];
        of_b = [
            of_b[0] + here_b * place_b,
            of_b[1] + here_b * place_b * place_b,
        ];
        above_a += here_a;
        below_b -= here_b;
    }
    let variance =
        |[sum, squares]: [f64; 2], n: f64| ((squares - sum * sum / n) / (n - 1.0)).max(0.0) / n;
    Some((variance(of_a, n_a) + variance(of_b, n_b)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::{normal_cdf, normal_quantile};
    use leakgauge_testing::{at_most, rng};
    use rand::RngExt;

    /// Rows of both at each score, of n rows N(μ, 1) and m rows N(0, 1) rounded to tenths.
    fn steps(mu: f64, rows: [u64; 2], seed: u64) -> Vec<(u64, u64)> {
        let mut rng = rng(seed);
        let mut scores = std::collections::BTreeMap::new();
        for (side, n) in rows.into_iter().enumerate() {
            for _ in 0..n {
                let shift = if side == 0 { mu } else { 0.0 };
                let x = shift + normal_quantile(rng.random_range(1e-12..1.0));
                let at: &mut (u64, u64) = scores.entry((10.0 * x).round() as i64).or_default();
                *(if side == 0 { &mut at.0 } else { &mut at.1 }) += 1;
            }
        }
        scores.into_values().rev().collect()
    }

    fn area(steps: &[(u64, u64)]) -> f64 {
        let (mut above, mut sum, mut b) = (0, 0.0, 0);
        for &(here_a, here_b) in steps {
            sum += here_b as f64 * (above as f64 + 0.5 * here_a as f64);
            above += here_a;
            b += here_b;
        }
        sum / (above as f64 * b as f64)
    }

    /// How often each limit is wrong; rounding to tenths leaves the area of N(μ, 1) and N(0, 1) as it is to 1e-4,
    /// which is added to the limits.
    fn wrong(runs: u64, mu: f64, rows: [u64; 2]) -> [usize; 2] {
        let truth = normal_cdf(mu / 2f64.sqrt());
        let mut wrong = [0; 2];
        for seed in 0..runs {
            let [lower, upper] = limits(area(&steps(mu, rows, seed)), rows, 0.05);
            wrong[0] += usize::from(lower > truth + 1e-3);
            wrong[1] += usize::from(upper < truth - 1e-3);
        }
        wrong
    }

    fn covers(runs: u64) {
        for (mu, rows) in [
            (0.0, [30, 40]),
            (1.0, [20, 200]),
            (3.0, [50, 50]),
            (4.0, [10, 300]),
        ] {
            let wrong = wrong(runs, mu, rows);
            let most = at_most(runs as usize, 0.05);
            assert!(
                wrong.iter().all(|&wrong| wrong <= most),
                "{mu}: {wrong:?} of {runs}"
            );
        }
    }

    #[test]
    fn limits_cover_the_area_of_shifted_normal_scores() {
        covers(300);
    }

    #[test]
    #[ignore = "20,000 logs a case: a minute"]
    fn limits_cover_the_area_in_many_logs() {
        covers(20_000);
    }

    #[test]
    fn limits_are_where_the_divergence_is_the_level() {
        for (area, rows) in [(0.8, [100, 400]), (0.5, [1000, 1000]), (0.99, [50, 20])] {
            let [lower, upper] = limits(area, rows, 0.05);
            let r = rows[0].min(rows[1]) as f64;
            for limit in [lower, upper] {
                assert!((r * divergence(area, limit) - 20f64.ln()).abs() < 1e-6);
            }
            assert!(lower < area && area < upper);
        }
        // All rows in order: the limit of r successes in r trials by the same bound, α^(1/r).
        let [lower, upper] = limits(1.0, [10, 90], 0.05);
        assert!((lower - 0.05f64.powf(0.1)).abs() < 1e-12);
        assert_eq!(upper, 1.0);
    }

    /// The example by hand: scores 3, 2 of a and 2, 1 of b. Placements of a: 1, ¾; of b: ¾, 1.
    #[test]
    fn the_standard_error_is_that_of_the_placements() {
        let found = standard_error(&[(1, 0), (1, 1), (0, 1)]).expect("two rows each");
        assert!(
            (found - (2.0 * 0.03125 / 2.0f64).sqrt()).abs() < 1e-15,
            "{found}"
        );
        assert_eq!(standard_error(&[(1, 5)]), None);
        // The spread of the area over logs is the standard error within a tenth.
        let areas: Vec<f64> = (0..400)
            .map(|seed| area(&steps(1.0, [150, 200], seed)))
            .collect();
        let mean = areas.iter().sum::<f64>() / 400.0;
        let spread = (areas.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 399.0).sqrt();
        let typical = standard_error(&steps(1.0, [150, 200], 7)).expect("many rows");
        assert!((typical / spread - 1.0).abs() < 0.15, "{typical} {spread}");
    }
}
