use super::*;
use leakgauge_testing::{at_most, rng};
use proptest::prelude::*;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

fn strata(weights: &[f64], errors: &[u64], rows: &[u64]) -> Vec<Stratum> {
    let counts = errors.iter().zip(rows);
    let stratum = |(&weight, (&errors, &rows)): (&f64, (&u64, &u64))| Stratum {
        weight,
        errors,
        rows,
    };
    weights.iter().zip(counts).map(stratum).collect()
}

/// Reference: the saddle point from the other side, scipy 1.17 SLSQP over p of the largest Σ π p
/// with min_t [tS + Σ n ln(1 − p a)] ≥ ln α, 30 starts, constraint met to 1e-7.
#[test]
fn chernoff_agrees_with_a_direct_optimization() {
    let cases: [(Vec<Stratum>, f64, f64); 7] = [
        (
            strata(&[0.5; 2], &[3, 10], &[20, 40]),
            0.05,
            0.354_526_330_7,
        ),
        (
            strata(&[0.7, 0.3], &[0, 5], &[50, 50]),
            0.01,
            0.130_172_264_9,
        ),
        (
            strata(&[0.9, 0.05, 0.05], &[10, 1, 0], &[100, 10, 5]),
            0.05,
            0.177_079_433_1,
        ),
        (
            strata(&[0.25; 4], &[1, 2, 3, 4], &[10, 20, 30, 40]),
            0.001,
            0.280_658_874_8,
        ),
        (
            strata(&[0.2, 0.3, 0.5], &[150, 90, 10], &[300, 100, 1000]),
            0.025,
            0.423_130_528_2,
        ),
        (strata(&[0.6, 0.4], &[1, 0], &[2, 3]), 0.05, 0.831_859_733_3),
        (strata(&[1.0], &[7], &[30]), 0.05, 0.448_246_209_2),
    ];
    for (strata, alpha, expected) in cases {
        let actual = chernoff_upper(&strata, alpha);
        assert!((actual - expected).abs() < 1e-6, "{strata:?}: {actual}");
    }
}

/// Without errors the bound is Π (1 − p)^n: with one stratum 1 − α^{1/n}, exactly.
#[test]
fn no_errors_and_all_errors() {
    let limit = chernoff_upper(&strata(&[1.0], &[0], &[100]), 0.05);
    let exact = 1.0 - 0.05_f64.powf(0.01);
    assert!(limit >= exact && limit - exact < 1e-12);
    assert_eq!(chernoff_upper(&strata(&[1.0], &[100], &[100]), 0.05), 1.0);
    let limit = chernoff_lower(&strata(&[1.0], &[100], &[100]), 0.05);
    assert!((1.0 - limit - exact).abs() < 1e-12);
    assert_eq!(chernoff_lower(&strata(&[1.0], &[0], &[100]), 0.05), 0.0);
}

#[test]
fn a_stratum_without_rows_counts_in_full() {
    let with = strata(&[0.5, 0.2, 0.3], &[5, 0, 7], &[50, 0, 70]);
    let without = strata(&[0.5, 0.3], &[5, 7], &[50, 70]);
    let difference = chernoff_upper(&with, 0.05) - chernoff_upper(&without, 0.05);
    assert!((difference - 0.2).abs() < 1e-12);
    let difference = chernoff_lower(&with, 0.05) - chernoff_lower(&without, 0.05);
    assert!(difference.abs() < 1e-12);
    assert_eq!(chernoff_upper(&strata(&[1.0], &[0], &[0]), 0.05), 1.0);
    assert_eq!(chernoff_lower(&strata(&[1.0], &[0], &[0]), 0.05), 0.0);
    assert_eq!(chernoff_upper(&[], 0.05), 0.0);
}

fn draw(rng: &mut ChaCha8Rng, weights: &[f64], rows: &[u64], p: &[f64]) -> Vec<Stratum> {
    let errors: Vec<u64> = rows
        .iter()
        .zip(p)
        .map(|(&n, &p)| (0..n).filter(|_| rng.random_bool(p)).count() as u64)
        .collect();
    strata(weights, &errors, rows)
}

/// Level 0.05, 2,000 replicates of four designs: at most 5 % misses plus 3.29 standard deviations.
#[test]
fn chernoff_covers() {
    let designs: [(&[f64], &[u64], &[f64]); 4] = [
        (&[0.25; 4], &[10, 20, 40, 80], &[0.02, 0.5, 0.1, 0.9]),
        (&[0.7, 0.2, 0.1], &[60, 5, 5], &[0.01, 0.9, 0.5]),
        (&[0.5, 0.5], &[3, 200], &[0.98, 0.03]),
        (&[0.9, 0.1], &[8, 200], &[0.35, 0.0]),
    ];
    let mut rng = rng(2);
    for (weights, rows, p) in designs {
        let truth: f64 = weights.iter().zip(p).map(|(w, p)| w * p).sum();
        let (mut above, mut below) = (0, 0);
        for _ in 0..2000 {
            let strata = draw(&mut rng, weights, rows, p);
            above += usize::from(chernoff_upper(&strata, 0.05) < truth);
            below += usize::from(chernoff_lower(&strata, 0.05) > truth);
        }
        let limit = at_most(2000, 0.05);
        assert!(above <= limit && below <= limit, "{above}, {below}");
    }
}

/// Hoeffding's limit sees nothing of a small risk, Chernoff's does.
#[test]
fn chernoff_is_tighter_than_hoeffding() {
    let strata = strata(&[0.1; 10], &[0, 1, 0, 2, 0, 0, 1, 0, 0, 1], &[100; 10]);
    let plug_in = 0.005;
    let (chernoff, hoeffding) = (
        chernoff_upper(&strata, 0.05) - plug_in,
        hoeffding_radius(&strata, 0.05),
    );
    assert!(chernoff < 0.25 * hoeffding, "{chernoff} {hoeffding}");
}

fn design() -> impl Strategy<Value = Vec<Stratum>> {
    let stratum =
        (0.01..1.0_f64, 1..500_u64, 0.0..=1.0_f64).prop_map(|(weight, rows, share)| Stratum {
            weight,
            errors: (rows as f64 * share) as u64,
            rows,
        });
    prop::collection::vec(stratum, 1..8)
}

proptest! {
    #[test]
    fn limits_lie_between_estimate_and_hoeffding(strata in design(), alpha in 1e-6..0.5_f64) {
        let total: f64 = strata.iter().map(|s| s.weight).sum();
        let plug_in: f64 =
            strata.iter().map(|s| s.weight * s.errors as f64 / s.rows as f64).sum();
        let radius = hoeffding_radius(&strata, alpha) + 1e-12;
        let (lower, upper) = (chernoff_lower(&strata, alpha), chernoff_upper(&strata, alpha));
        prop_assert!(plug_in <= upper + 1e-12 && upper <= (plug_in + radius).min(total + 1e-12));
        prop_assert!(lower <= plug_in + 1e-12 && lower >= (plug_in - radius).max(-1e-12));
    }

    /// The limit is near the least U_t of a fine grid, and below none by more than rounding.
    #[test]
    fn search_finds_the_minimum(strata in design(), alpha in 1e-6..0.5_f64) {
        let Some(problem) = Problem::new(&strata, alpha) else { return Ok(()) };
        prop_assume!(problem.observed > 0.0);
        let grid = (-200..=400)
            .map(|i| problem.limit_at((0.03 * f64::from(i)).exp(), &mut Vec::new()))
            .fold(f64::INFINITY, f64::min);
        prop_assert!(problem.upper() <= grid + 1e-6 * problem.weight);
    }

    /// Whatever p has the weighted sum of the limit, its bound at the same t is at most alpha.
    ///
    /// Written with q = 1 − p, because 1 − pa loses its digits in p once a is near 1. The limit
    /// is raised by the rounding that `upper` adds to it.
    #[test]
    fn no_p_at_the_limit_escapes(strata in design(), seed in 0..1000_u64, x in -1.0..3.0_f64) {
        let alpha = 0.05;
        let problem = Problem::new(&strata, alpha).unwrap();
        let t = (8.0 * problem.cost / problem.variation).sqrt() * x.exp();
        let limit = problem.limit_at(t, &mut Vec::new()) + 4.0 * f64::EPSILON * problem.weight;
        let rest = problem.weight - limit;
        let mut rng = rng(seed);
        for _ in 0..20 {
            let mut q: Vec<f64> = strata.iter().map(|_| rng.random::<f64>()).collect();
            let right: f64 = strata.iter().zip(&q).map(|(s, q)| s.weight * q).sum();
            if right >= rest {
                // Raise every p towards 1 until the sum is the limit's.
                q.iter_mut().for_each(|q| *q *= rest / right);
            }
            let exponent: f64 = strata
                .iter()
                .zip(&q)
                .map(|(s, q)| {
                    let kept = (-t * s.weight / s.rows as f64).exp();
                    s.rows as f64 * (q + (1.0 - q) * kept).ln()
                })
                .sum();
            prop_assert!(rest <= 0.0
                || t * problem.observed + exponent <= alpha.ln() + 1e-9 * problem.cost.max(t));
        }
    }
}

#[test]
fn plans_are_exact_or_absent() {
    assert_eq!(
        matched_plan(&[0.5, 0.0, 0.5], &[7, 3, 9]),
        Some(vec![7, 0, 7])
    );
    assert_eq!(matched_plan(&[0.4, 0.6], &[7, 9]), None);
    assert_eq!(matched_plan(&[0.5, 0.5], &[0, 9]), None);
    assert_eq!(matched_plan(&[0.0, 0.0], &[5, 9]), None);
    assert_eq!(matched_plan(&[], &[]), None);
}
