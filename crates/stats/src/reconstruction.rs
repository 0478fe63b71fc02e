//! Limits of sup{P(E) : Q(E) ≤ κ}, the largest success of an adversary who reconstructs a secret and whose success
//! without an observation is κ. Events may take an observation with a probability.
//!
//! R(κ) = sup{P(E) : Q(E) ≤ κ} is concave and does not fall in κ, R(0) ≥ 0 and R(1) = 1.
//!
//! * **From below.** An event with P(E) ≥ p and Q(E) ≤ q has R(q) ≥ p, hence by concavity R(κ) ≥ pκ/q for κ ≤ q, and
//!   R(κ) ≥ p + (1 − p)(κ − q)/(1 − q) beyond. R(κ) ≥ κ always.
//! * **From above.** For every slope t ≥ 0, R(κ) ≤ tκ + sup_E (P(E) − tQ(E)). Of one fixed t the supremum is a
//!   hockey-stick divergence, which discrete laws have limits of ([`super::dp_upper`]).
//!
//! # References
//! B. Balle, G. Cherubin, J. Hayes, *Reconstructing training data with informed adversaries*, arXiv:2201.04845.

use super::event_upper::likelier_in_a;
use super::two_binomials::{Share, difference_upper_quick};

/// The slopes that [`slope`] chooses from, and their inverses.
const SLOPES: [f64; 10] = [1.0, 1.25, 1.5, 2.0, 3.0, 5.0, 8.0, 16.0, 40.0, 100.0];

/// The largest success at κ that is proved by an event of probability at least `found` under P and at most
/// `without` under Q.
///
/// # Formula
/// With p = `found` and q = `without`: max(κ, pκ/q) for κ ≤ q, else max(κ, p + (1 − p)(κ − q)/(1 − q)).
///
/// # Conditions
/// All arguments in \[0, 1\]. It grows in p and falls in q, so that limits of both that hold together give a lower
/// limit.
pub fn success_at_least(found: f64, without: f64, kappa: f64) -> f64 {
    let (p, q) = (found.clamp(0.0, 1.0), without.clamp(0.0, 1.0));
    let shown = if kappa <= q {
        // κ ≤ q = 0 leaves 0/0, which shows nothing beyond κ.
        p * kappa / q.max(f64::MIN_POSITIVE)
    } else {
        p + (1.0 - p) * (kappa - q) / (1.0 - q)
    };
    shown.clamp(kappa, 1.0)
}

/// The largest success at κ that a limit of sup_E (P(E) − tQ(E)) allows: min(1, tκ + divergence).
pub fn success_at_most(slope: f64, divergence: f64, kappa: f64) -> f64 {
    (slope * kappa + divergence).clamp(kappa, 1.0)
}

/// The slope that promises the smallest upper limit at κ on `rows` rows of a (law P) and of b (law Q), judged by other
/// rows: `cells` has the rows of both with each observation. Slope 1 without rows.
///
/// # Conditions
/// A choice, no evidence: it must not see the rows of the limit.
pub fn slope(cells: &[(u64, u64)], rows: [u64; 2], kappa: f64, alpha: f64) -> f64 {
    let exchanged: Vec<(u64, u64)> = cells.iter().map(|&(a, b)| (b, a)).collect();
    let [of_a, of_b] = rows;
    let above = SLOPES.into_iter().map(|slope| {
        let divergence = promised(cells, [of_a, of_b], slope, alpha);
        (slope, success_at_most(slope, divergence, kappa))
    });
    let below = SLOPES[1..].iter().map(|&inverse| {
        let slope = 1.0 / inverse;
        let divergence = promised(&exchanged, [of_b, of_a], inverse, alpha);
        let divergence = other_way(slope, divergence);
        (slope, success_at_most(slope, divergence, kappa))
    });
    let best = above
        .chain(below)
        .reduce(|best, next| if next.1 < best.1 { next } else { best });
    best.map_or(1.0, |best| best.0)
}

/// sup_E (P(E) − tQ(E)) of a slope t < 1 from sup_E (Q(E) − P(E)/t): 1 − t + t times it.
pub fn other_way(slope: f64, exchanged: f64) -> f64 {
    1.0 - slope + slope * exchanged
}

/// The limit of sup_E (P(E) − tQ(E)), t ≥ 1, if the shares of other rows recur.
fn promised(cells: &[(u64, u64)], rows: [u64; 2], slope: f64, alpha: f64) -> f64 {
    let [a, b] = likelier_in_a(cells, slope);
    if a.rows == 0 || b.rows == 0 {
        return 1.0;
    }
    let expected = |share: Share, rows: u64| Share {
        inside: ((share.inside as f64 / share.rows as f64) * rows as f64) as u64,
        rows,
    };
    difference_upper_quick(expected(a, rows[0]), expected(b, rows[1]), slope, alpha)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::binomial::{clopper_pearson_lower, clopper_pearson_upper};
    use crate::dp_upper::hockey_stick_upper_by_difference;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// R(κ) of randomized response with two values and odds w: slope w up to κ = 1/(1 + w), then to (1, 1).
    fn exact(odds: f64, kappa: f64) -> f64 {
        let q = 1.0 / (1.0 + odds);
        let p = odds * q;
        if kappa <= q {
            odds * kappa
        } else {
            p + (1.0 - p) * (kappa - q) / (1.0 - q)
        }
    }

    #[test]
    fn the_best_event_of_randomized_response_proves_all_of_it() {
        for odds in [1.5, 3.0, 20.0] {
            let (p, q) = (odds / (1.0 + odds), 1.0 / (1.0 + odds));
            for kappa in [1e-3, 0.1, 0.4, 0.9] {
                let found = success_at_least(p, q, kappa);
                assert!(
                    (found - exact(odds, kappa)).abs() < 1e-12,
                    "{odds} {kappa}: {found}"
                );
            }
        }
        assert_eq!(success_at_least(0.2, 0.4, 0.3), 0.3);
        assert_eq!(success_at_least(0.0, 0.0, 0.3), 0.3);
        assert_eq!(success_at_least(1.0, 0.0, 0.3), 1.0);
    }

    /// At a slope between both of the curve's the bound from above is the curve itself at the corner.
    #[test]
    fn divergences_of_all_slopes_bound_the_curve() {
        let (odds, q) = (3.0, 0.25);
        let p = odds * q;
        for slope in [0.2, 1.0 / 3.0, 0.5, 1.0, 2.0, 3.0, 4.0f64] {
            let events = [(0.0, 0.0), (p, q), (1.0 - p, 1.0 - q), (1.0, 1.0)];
            let divergence = |slope: f64, ways: &dyn Fn((f64, f64)) -> (f64, f64)| {
                let differences = events.iter().map(|&event| {
                    let (p, q) = ways(event);
                    p - slope * q
                });
                differences.fold(0.0f64, f64::max)
            };
            let direct = divergence(slope, &|event| event);
            let exchanged = divergence(1.0 / slope, &|(p, q)| (q, p));
            assert!((other_way(slope, exchanged) - direct).abs() < 1e-12);
            for kappa in [0.01, 0.25, 0.6] {
                let most = success_at_most(slope, direct, kappa);
                assert!(most >= exact(odds, kappa) - 1e-12, "{slope} {kappa}");
                if kappa == 0.25 && (1.0 / 3.0..=3.0).contains(&slope) {
                    assert!((most - p).abs() < 1e-12);
                }
            }
        }
    }

    /// Both limits at level 0.95, of 1,500 logs of randomized response with odds 3 and 300 rows of each secret: each
    /// may miss in 5 % of them; 6.7 % are three standard deviations above. The event is fixed, the slope chosen on 60
    /// other rows.
    #[test]
    fn both_limits_cover_at_their_level() {
        let (odds, rows, logs) = (3.0, 300u64, 1_500);
        let mut rng = ChaCha8Rng::seed_from_u64(11);
        for kappa in [0.05, 0.3] {
            let truth = exact(odds, kappa);
            let (mut below, mut above) = (0, 0);
            for _ in 0..logs {
                let mut says =
                    |rows: u64, p: f64| (0..rows).filter(|_| rng.random_bool(p)).count() as u64;
                let (a, b) = (says(rows, 0.75), says(rows, 0.25));
                let other = (says(60, 0.75), says(60, 0.25));
                let found = clopper_pearson_lower(a, rows, 0.025);
                let without = clopper_pearson_upper(b, rows, 0.025);
                below += usize::from(success_at_least(found, without, kappa) > truth);
                let other = [other, (60 - other.0, 60 - other.1)];
                let slope = slope(&other, [rows; 2], kappa, 0.05);
                let cells = [(a, b), (rows - a, rows - b)];
                let exchanged = cells.map(|(a, b)| (b, a));
                let divergence = if slope >= 1.0 {
                    hockey_stick_upper_by_difference(&cells, slope.ln(), 0.05)
                } else {
                    let reverse = -slope.ln();
                    other_way(
                        slope,
                        hockey_stick_upper_by_difference(&exchanged, reverse, 0.05),
                    )
                };
                above += usize::from(success_at_most(slope, divergence, kappa) < truth);
            }
            let most = logs * 67 / 1_000;
            assert!(below <= most && above <= most, "{kappa}: {below} {above}");
        }
    }
}
