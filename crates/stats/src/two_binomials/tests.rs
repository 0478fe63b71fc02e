use super::*;
use crate::binomial_tail::at_most;

fn share(inside: u64, rows: u64) -> Share {
    Share { inside, rows }
}

fn mass(n: u64, p: f64) -> Vec<f64> {
    let below = |k: u64| if k == 0 { 0.0 } else { at_most(k - 1, n, p) };
    (0..=n).map(|k| at_most(k, n, p) - below(k)).collect()
}

/// The exact probability that a limit misses P − wQ, with the limits of all counts given.
fn misses(limits: &[Vec<f64>], p: f64, q: f64, weight: f64) -> f64 {
    let (n_a, n_b) = (limits.len() as u64 - 1, limits[0].len() as u64 - 1);
    let (of_a, of_b) = (mass(n_a, p), mass(n_b, q));
    let truth = p - weight * q;
    let mut sum = 0.0;
    for (x, row) in limits.iter().enumerate() {
        for (y, limit) in row.iter().enumerate() {
            if *limit < truth - 1e-12 {
                sum += of_a[x] * of_b[y];
            }
        }
    }
    sum
}

/// Exact misses, all counts enumerated, base rates on a grid that is finer at the ends.
#[test]
fn covers_exactly() {
    for (n_a, n_b, weight, alpha) in [
        (12, 12, 1.0, 0.025),
        (10, 25, 1.0, 0.025),
        (31, 7, 1.0, 0.1),
        (20, 20, 2.72, 0.025),
        (9, 40, 20.0, 0.05),
        (40, 9, 20.0, 0.005),
    ] {
        let limits: Vec<Vec<f64>> = (0..=n_a)
            .map(|x| {
                let limit = |y| difference_upper(share(x, n_a), share(y, n_b), weight, alpha);
                (0..=n_b).map(limit).collect()
            })
            .collect();
        for delta in [0.001, 0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98] {
            for part in [0.0, 0.001, 0.02, 0.2, 0.35, 0.5, 0.7, 0.9, 0.99, 1.0] {
                let q = part * (1.0 - delta) / weight;
                let p = (delta + weight * q).min(1.0);
                let missed = misses(&limits, p, q, weight);
                assert!(
                    missed <= alpha,
                    "{n_a} {n_b} {weight}: {missed} at {p}, {q}"
                );
            }
        }
    }
}

/// What is proved by cells is true on a fine grid of base rates, and the limit is not needlessly large:
/// 2 % less of the radius is refuted somewhere.
#[test]
fn is_good_and_nearly_least() {
    for (n_a, n_b, x, weight) in [
        (300, 1000, 60, 1.0),
        (1000, 70, 10, 1.0),
        (500, 400, 25, 7.0),
    ] {
        let (a, b) = (share(x, n_a), share(0, n_b));
        let limit = difference_upper(a, b, weight, 0.025);
        let tail = Tail::new(a, b, weight);
        let largest = |delta: f64| {
            let most = (1.0 - delta) / weight;
            (0..=400)
                .map(|i| most * f64::from(i) / 400.0)
                .map(|q| tail.at((delta + weight * q).min(1.0), q))
                .fold(0.0, f64::max)
        };
        assert!(largest(limit) <= 0.025);
        let less = tail.observed + 0.98 * (limit - tail.observed);
        assert!(largest(less) > 0.025, "{}", largest(less));
    }
}

#[test]
fn the_tail_is_the_sum_over_all_counts() {
    let tail = Tail::new(share(5, 17), share(3, 23), 1.0);
    let (of_a, of_b) = (mass(17, 0.4), mass(23, 0.3));
    let mut sum = 0.0;
    for (x, p) in of_a.iter().enumerate() {
        for (y, q) in of_b.iter().enumerate() {
            // In whole numbers, so that ties are ties.
            if x as i64 * 23 - y as i64 * 17 <= 5 * 23 - 3 * 17 {
                sum += p * q;
            }
        }
    }
    assert!((tail.at(0.4, 0.3) - sum).abs() < 1e-8);
}

#[test]
fn never_above_mcdiarmid_and_two_to_eleven_times_fewer_rows() {
    let alpha = 0.025f64;
    for (n_a, n_b, weight) in [
        (1000, 1000, 1.0),
        (997, 1000, 1.0),
        (100, 5000, 1.0),
        (900, 800, 20.0),
    ] {
        for part in [0.0, 0.1, 0.5, 0.9, 1.0] {
            let a = share((part * n_a as f64) as u64, n_a);
            let limit = difference_upper(a, share(0, n_b), weight, alpha);
            let observed = a.inside as f64 / n_a as f64;
            let variation = 1.0 / n_a as f64 + weight * weight / n_b as f64;
            let radius = (variation * -alpha.ln() / 2.0).sqrt();
            assert!(limit >= observed && limit <= (observed + radius).min(1.0));
            if part < 1.0 {
                assert!((radius / (limit - observed)).powi(2) > 1.8);
            }
        }
    }
    let limit = difference_upper(share(900, 1000), share(0, 1000), 1.0, alpha);
    let radius = (-alpha.ln() / 1000.0).sqrt();
    assert!((radius / (limit - 0.9)).powi(2) > 10.0);
}

#[test]
fn without_rows_anything_is_possible() {
    assert_eq!(difference_upper(share(0, 0), share(3, 5), 1.0, 0.05), 1.0);
    assert_eq!(difference_upper(share(3, 5), share(0, 0), 1.0, 0.05), 1.0);
}

#[test]
#[should_panic(expected = "weight 0.5")]
fn a_weight_below_one() {
    difference_upper(share(1, 2), share(1, 2), 0.5, 0.05);
}

/// Few rows, whose tail is 1 at small differences: the root was looked for at no number, which panicked.
#[test]
fn few_rows_have_limits_too() {
    let rows = [(1, 2), (3, 1), (4, 5), (18, 40), (33, 30)];
    for (n_a, n_b) in rows {
        for (x, y) in [
            (0, 0),
            (1, 0),
            (0, 1),
            (1, 1),
            (n_a, 0),
            (n_a, n_b),
            (n_a / 2, n_b / 3),
            (n_a - n_a / 11, 0),
        ] {
            for (weight, alpha) in [
                (1.0, 0.05),
                (1.5, 0.05),
                (20.0, 0.05),
                (403.0, 1e-4),
                (1e13, 0.05),
            ] {
                let [a, b] = [(x, n_a), (y, n_b)].map(|(inside, rows)| Share { inside, rows });
                let limit = difference_upper(a, b, weight, alpha);
                let observed = x as f64 / n_a as f64 - weight * (y as f64 / n_b as f64);
                assert!(
                    limit >= observed && limit <= 1.0,
                    "{a:?} {b:?} {weight} {alpha}: {limit}"
                );
                for value in [-0.5, 0.0, 0.3, 0.999, limit, limit.next_up()] {
                    let reaches = difference_upper_reaches(a, b, weight, alpha, value);
                    assert_eq!(
                        reaches,
                        limit >= value,
                        "{a:?} {b:?} {weight} {alpha}: {value}"
                    );
                }
            }
        }
    }
}
