use super::*;
use crate::binomial_tail;
use leakgauge_testing::{at_most, rng};
use rand::RngExt;

#[test]
fn the_radius_solves_its_equation() {
    for alpha in [0.3, 0.025, 1e-6] {
        let r = radius(alpha);
        let tail = normal_cdf(-r) + 0.25 * (-0.5 * r * r).exp();
        assert!((tail / alpha - 1.0).abs() < 1e-9);
    }
    assert!((radius(0.025) - 2.354).abs() < 1e-3, "{}", radius(0.025));
}

/// Exact misses of the limit of a fixed event, all counts enumerated.
#[test]
fn a_fixed_event_is_covered_exactly() {
    let (n_a, n_b, weight, alpha) = (25, 40, 3.0, 0.05);
    let share = |inside, rows| Share { inside, rows };
    let limit = |x, y| fixed_event_upper(share(x, n_a), share(y, n_b), weight, alpha);
    let limits: Vec<Vec<f64>> = (0..=n_a)
        .map(|x| (0..=n_b).map(|y| limit(x, y)).collect())
        .collect();
    let mass = |k: u64, n: u64, p: f64| {
        let below = if k == 0 {
            0.0
        } else {
            binomial_tail::at_most(k - 1, n, p)
        };
        binomial_tail::at_most(k, n, p) - below
    };
    for p in [0.01, 0.05, 0.2, 0.5, 0.9, 0.999] {
        for q in [0.001, 0.05, 0.3, 0.6, 0.99] {
            let mut missed = 0.0;
            for (x, row) in limits.iter().enumerate() {
                for (y, limit) in row.iter().enumerate() {
                    if *limit < p - weight * q {
                        missed += mass(x as u64, n_a, p) * mass(y as u64, n_b, q);
                    }
                }
            }
            assert!(missed <= alpha, "{p} {q}: {missed}");
        }
    }
}

/// The hull's pieces bound every event of a larger alphabet.
#[test]
fn the_hull_is_above_every_event() {
    let mut rng = rng(3);
    for _ in 0..5 {
        let cells: Vec<(u64, u64)> = (0..11)
            .map(|_| (rng.random_range(0..60), rng.random_range(0..60)))
            .collect();
        let rows_a = cells.iter().map(|c| c.0).sum();
        let rows_b = cells.iter().map(|c| c.1).sum();
        let [a, b] = [rows_a, rows_b].map(Rates::once);
        let limit = Both {
            a: &a,
            b: &b,
            levels: &Levels::new(radius(0.05)),
            weight: 2.0,
        };
        let all = limit.largest(&all_events(&cells));
        let bound = limit.largest(&hull(cells, 2.0 * rows_a as f64 / rows_b as f64));
        assert!(bound >= all && bound < all + 0.05, "{bound} {all}");
    }
}

/// k-ary response at its own ε = 3 with 10,000 rows: McDiarmid's radius is 0.273, ten times the rows.
#[test]
fn ten_times_fewer_rows_at_epsilon_three() {
    let cells = [(9526, 474), (474, 9526)];
    let radius = crate::concentration::mcdiarmid_hockey_stick_radius(10_000, 10_000, 3.0, 0.025);
    let difference = hockey_stick_upper_by_difference(&cells, 3.0, 0.025);
    assert!((radius / difference).powi(2) > 9.6, "{radius} {difference}");
    // An event that is rare everywhere: both counts say so, the difference cannot.
    let rare = [(50, 30), (9950, 9970)];
    assert!(hockey_stick_upper_by_both(&rare, 3.0, 0.025) < 0.002);
    assert!(hockey_stick_upper_by_difference(&rare, 3.0, 0.025) > 0.08);
    assert!(hockey_stick_upper(&rare, 3.0, 0.025) < 0.002);
    assert!(is_both_narrower_on(&rare, 3.0, 0.025));
}

/// Level 2.5 %, 1,000 logs a case, both limits and their least.
#[test]
#[ignore = "long"]
fn divergence_is_covered() {
    type Case = (&'static [f64], &'static [f64], [u64; 2], f64);
    let cases: [Case; 4] = [
        (&[0.8, 0.2], &[0.2, 0.8], [300, 300], 1.0),
        (&[0.05, 0.475, 0.475], &[0.0, 0.5, 0.5], [1000, 100], 1.0),
        (&[0.9, 0.1, 0.0], &[0.02, 0.88, 0.1], [200, 900], 3.0),
        (&[0.998, 0.002], &[0.002, 0.998], [500, 500], 3.0),
    ];
    let mut rng = rng(4);
    for (a, b, rows, epsilon) in cases {
        let truth: f64 = a
            .iter()
            .zip(b)
            .map(|(p, q)| (p - f64::exp(epsilon) * q).max(0.0))
            .sum();
        let mut missed = [0; 3];
        for _ in 0..1000 {
            let mut cells = vec![(0, 0); a.len()];
            for (side, (law, n)) in [(a, rows[0]), (b, rows[1])].into_iter().enumerate() {
                for _ in 0..n {
                    let mut left = rng.random::<f64>();
                    let at = law.iter().position(|p| {
                        left -= p;
                        left < 0.0
                    });
                    let cell = &mut cells[at.unwrap_or(law.len() - 1)];
                    *(if side == 0 { &mut cell.0 } else { &mut cell.1 }) += 1;
                }
            }
            let limits = [
                hockey_stick_upper_by_difference(&cells, epsilon, 0.025),
                hockey_stick_upper_by_both(&cells, epsilon, 0.025),
                hockey_stick_upper(&cells, epsilon, 0.025),
            ];
            for (missed, limit) in missed.iter_mut().zip(limits) {
                *missed += usize::from(limit < truth - 1e-12);
            }
        }
        let most = at_most(1000, 0.025);
        assert!(
            missed.iter().all(|&missed| missed <= most),
            "{a:?} {b:?}: {missed:?}"
        );
    }
}
