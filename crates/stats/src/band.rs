//! The total variation of two secrets fixed beforehand, on one numeric column, from all rows at once:
//! no split, no learner, no seed.
//!
//! For every threshold t, TV ≥ F_a(t) − F_b(t) ≥ F̂_a(t) − F̂_b(t) − R_a − R_b, where
//! R_a = sup (F̂_a − F_a) and R_b = sup (F_b − F̂_b). Each is stochastically at most a Rayleigh variable of
//! variance parameter 1/(4n) (the one-sided Dvoretzky–Kiefer–Wolfowitz inequality, at every level), and
//! the two are independent. So R_a + R_b is stochastically at most the sum of two independent Rayleigh
//! variables, whose tail has a closed form. Two radii at α/2 each are a third wider for equal rows.
//!
//! # References
//! Massart 1990, doi:10.1214/aop/1176990746; Reeve 2024, doi:10.48550/arXiv.2403.16651 (one-sided without
//! restriction of the level).

use crate::bisection::bisect;
use std::f64::consts::TAU;

use crate::special::normal_cdf;

/// P(R_a + R_b > x) for independent Rayleigh variables with variance parameters 1/(4n_a) and 1/(4n_b); an
/// upper limit of P(sup over t of (F̂_a − F_a) − (F̂_b − F_b) > x).
///
/// # Formula
/// With σ² = σ_a² + σ_b², v = σ_a²σ_b²/σ², μ = xσ_a²/σ²:
/// e^(−x²/2σ_a²) + e^(−x²/2σ²)/σ_a² · (v(e^(−μ²/2v) − e^(−(x−μ)²/2v)) + μ√(2πv)(Φ((x−μ)/√v) − Φ(−μ/√v))).
///
/// # Conditions
/// Independent rows of two laws, which may have atoms. Without rows of either secret it is 1.
pub fn difference_tail(x: f64, a_rows: u64, b_rows: u64) -> f64 {
    if x <= 0.0 || a_rows == 0 || b_rows == 0 {
        return 1.0;
    }
    let (sa, sb) = (0.25 / a_rows as f64, 0.25 / b_rows as f64);
    let s = sa + sb;
    let v = sa * sb / s;
    let (mean, rest) = (x * sa / s, x * sb / s);
    let bell = |d: f64| (-d * d / (2.0 * v)).exp();
    let mass = normal_cdf(rest / v.sqrt()) - normal_cdf(-mean / v.sqrt());
    let inner = v * (bell(mean) - bell(rest)) + mean * (TAU * v).sqrt() * mass;
    let tail = (-x * x / (2.0 * sa)).exp() + (-x * x / (2.0 * s)).exp() / sa * inner;
    tail.clamp(0.0, 1.0)
}

/// The radius: the x with [`difference_tail`] = `alpha`, rounded upward; infinite without rows.
///
/// # Panics
/// If `alpha` is not strictly between 0 and 1.
pub fn difference_radius(a_rows: u64, b_rows: u64, alpha: f64) -> f64 {
    assert!(alpha > 0.0 && alpha < 1.0, "a level in (0, 1), not {alpha}");
    if a_rows == 0 || b_rows == 0 {
        return f64::INFINITY;
    }
    // Two radii at α/2 each are a limit.
    let single = |rows: u64| ((2.0 / alpha).ln() / (2.0 * rows as f64)).sqrt();
    bisect((0.0, single(a_rows) + single(b_rows)), 60, |middle| {
        difference_tail(middle, a_rows, b_rows) > alpha
    })
    .1 * (1.0 + 1e-12)
}

/// The lower limit at level 1 − `alpha` of the total variation, from the largest difference of the
/// empirical distribution functions either way. At least 0.
///
/// # Formula
/// max(0, D − radius at α/2): either direction may be the one that differs.
///
/// # Conditions
/// Independent rows; the pair and the column fixed before the log was seen; `distance` is
/// sup |F̂_a − F̂_b| over all their rows.
pub fn total_variation_at_least(distance: f64, a_rows: u64, b_rows: u64, alpha: f64) -> f64 {
    (distance - difference_radius(a_rows, b_rows, alpha / 2.0)).max(0.0)
}

/// The p-value of TV ≤ `allowed`: the smallest level at which
/// [`total_variation_at_least`] exceeds it.
pub fn p_value(distance: f64, allowed: f64, a_rows: u64, b_rows: u64) -> f64 {
    (2.0 * difference_tail(distance - allowed, a_rows, b_rows)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_testing::{at_most, rng};
    use rand::RngExt;

    /// The closed form against the integral of the densities, by the midpoint rule.
    #[test]
    fn the_tail_is_the_convolution() {
        for (a, b, x) in [(10u64, 10u64, 0.4f64), (100, 7, 0.3), (7, 100, 0.5)] {
            let (sa, sb) = (0.25 / a as f64, 0.25 / b as f64);
            let steps = 200_000;
            let inner: f64 = (0..steps)
                .map(|i| {
                    let r = x * (f64::from(i) + 0.5) / f64::from(steps);
                    r / sa * (-r * r / (2.0 * sa) - (x - r) * (x - r) / (2.0 * sb)).exp()
                })
                .sum::<f64>()
                * x
                / f64::from(steps);
            let expected = (-x * x / (2.0 * sa)).exp() + inner;
            let found = difference_tail(x, a, b);
            assert!((found / expected - 1.0).abs() < 1e-7, "{found} {expected}");
        }
    }

    #[test]
    fn one_radius_is_narrower_than_two() {
        let two = 2.0 * ((2.0f64 / 0.05).ln() / 2000.0).sqrt();
        let one = difference_radius(1000, 1000, 0.05);
        assert!(one < 0.77 * two && one > 0.7 * two, "{one} {two}");
        assert_eq!(difference_radius(0, 5, 0.05), f64::INFINITY);
        let p = p_value(0.1, 0.02, 900, 1100);
        assert!(total_variation_at_least(0.1, 900, 1100, p * 1.001) > 0.02);
        assert!(total_variation_at_least(0.1, 900, 1100, p * 0.999) <= 0.02 + 1e-9);
    }

    /// 2,000 leak-free logs and 2,000 with F_a − F_b = 0.3 at most: at most 5 % exceed.
    #[test]
    fn covers() {
        for shift in [0.0, 0.3] {
            let mut rng = rng(5);
            let runs = 2000;
            let wrong = (0..runs)
                .filter(|_| {
                    let mut rows: Vec<(f64, i32)> = (0..60)
                        .map(|_| (rng.random::<f64>(), 1))
                        .chain((0..80).map(|_| (0.0, -1)))
                        .collect();
                    for row in rows.iter_mut().filter(|row| row.1 < 0) {
                        row.0 = shift + rng.random::<f64>();
                    }
                    rows.sort_by(|x, y| x.0.total_cmp(&y.0));
                    let (mut d, mut largest) = (0.0f64, 0.0f64);
                    for (_, side) in rows {
                        d += if side > 0 { 1.0 / 60.0 } else { -1.0 / 80.0 };
                        largest = largest.max(d.abs());
                    }
                    total_variation_at_least(largest, 60, 80, 0.05) > shift
                })
                .count();
            assert!(wrong <= at_most(runs, 0.05), "{shift}: {wrong}");
        }
    }
}
