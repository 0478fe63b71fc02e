//! Upper limits of the hockey-stick divergence sup_A P(A) − e^ε Q(A): that a claim of (ε, δ)
//! differential privacy holds.
//!
//! The supremum is one fixed unknown event A*'s. Two limits, of different statistics:
//!
//! * **Difference.** The plug-in is at least P̂(A*) − e^ε Q̂(A*), so the limit of that difference, with
//!   the least favorable base rate, is evaluated at the plug-in ([`super::two_binomials`]). P ≤ 1
//!   forces Q(A*) ≤ e^{−ε}: the least favorable variance of the second term is about e^ε/n_b, where
//!   McDiarmid pays e^{2ε}/4n_b at ln(1/α) in place of z²/2. Whence 10 times fewer rows at ε = 3.
//! * **Both sides.** A limit L(x, y) of P(A) − e^ε Q(A) for a fixed event from both its counts, x of
//!   n_a and y of n_b. L is valid for A*, and (x, y) of A* is among those of all events, so the largest
//!   L over all events is valid: no union, for only A*'s own limit must hold. As L grows in x and falls
//!   in y, the largest is on the concave hull of the points (y, x), that of the likelihood ratio's
//!   events. It pays the *empirical* base rates, and wins by far where every event is rare or small.
//!
//! **L(x, y).** p_a = P(Bin(n_a, P) ≤ x) and p_b = P(Bin(n_b, Q) ≥ y) are independent and no smaller than
//! uniform at the true (P, Q). With z = −Φ⁻¹(p), z_a⁺² + z_b⁺² is at most as large as for two normal
//! variables: it exceeds r² with probability at most Φ(−r) + e^{−r²/2}/4, set to α. So with probability
//! 1 − α some φ in \[0, π/2\] has z_a ≤ r cos φ and z_b ≤ r sin φ, that is P and Q within Clopper and
//! Pearson's limits at Φ(−r cos φ) and Φ(−r sin φ). L is the largest of their differences, bounded on
//! cells of φ. r = 2.35 at α = 2.5 %: radius 2.35 √(σ_a² + σ_b²), where Bonferroni's pays
//! 2.24 (σ_a + σ_b).
//!
//! The least of the two is valid only at a split of α; one of them, chosen on other rows, at all of it.

mod both;
mod many;

pub use many::{Allowed, Divergences, PairCells};

use self::both::{Both, Levels, Rates};
use super::event_upper::likelier_in_a;
use super::special::normal_cdf;
use super::two_binomials::{Share, difference_upper};
use crate::bisection::bisect;

/// Part of α that goes to the difference in [`hockey_stick_upper`]: each radius grows by 11 to 14 %.
const OF_DIFFERENCE: f64 = 0.5;
/// Up to so many observations all events are enumerated.
const FEW_CELLS: usize = 10;
/// Pieces of the hull otherwise.
const PIECES: f64 = 400.0;

/// The upper limit at level 1 − `alpha` of sup_A P(A) − e^`epsilon` Q(A), in \[0, 1\], from the rows of a
/// (law P) and of b (law Q) with each observation; 1 if either has none.
///
/// # Formula
/// The least of [`hockey_stick_upper_by_difference`] and [`hockey_stick_upper_by_both`], each at half of
/// `alpha`. With other rows to choose by ([`is_both_narrower_on`]), the chosen one may have all of it.
///
/// # Conditions
/// Independent rows; ε, the cells and the ordered pair are fixed without looking at these rows. Any
/// alphabet. `alpha` at most 1/4.
///
/// # References
/// Those of the two limits.
///
/// # Panics
/// If `epsilon` is negative or above 700, or `alpha` is not strictly between 0 and 1.
pub fn hockey_stick_upper(cells: &[(u64, u64)], epsilon: f64, alpha: f64) -> f64 {
    let difference = hockey_stick_upper_by_difference(cells, epsilon, OF_DIFFERENCE * alpha);
    let both = hockey_stick_upper_by_both(cells, epsilon, (1.0 - OF_DIFFERENCE) * alpha);
    difference.min(both)
}

/// Whether [`hockey_stick_upper_by_both`] was the narrower one on other rows: a choice for the rows that
/// count. It never loses more than about a fifth of the radius, and often wins by a factor.
pub fn is_both_narrower_on(other: &[(u64, u64)], epsilon: f64, alpha: f64) -> bool {
    hockey_stick_upper_by_both(other, epsilon, alpha)
        <= hockey_stick_upper_by_difference(other, epsilon, alpha)
}

/// The same by the plug-in divergence alone, at the least favorable base rates.
///
/// # Formula
/// [`difference_upper`] at the event {x/n_a > e^ε y/n_b}, with weight e^ε.
///
/// # Conditions, References, Panics
/// Those of [`hockey_stick_upper`] and [`difference_upper`].
pub fn hockey_stick_upper_by_difference(cells: &[(u64, u64)], epsilon: f64, alpha: f64) -> f64 {
    let weight = factor(epsilon);
    let [a, b] = likelier_in_a(cells, weight);
    difference_upper(a, b, weight, alpha)
}

/// The same by both counts of every event, at the base rates seen.
///
/// # Formula
/// The largest L(x, y) of the [module](self) over the events: of up to ten observations all events,
/// of more the concave hull in pieces, each bounded by its largest x and least y.
///
/// # Conditions
/// Those of [`hockey_stick_upper`].
///
/// # References
/// Clopper and Pearson (1934), 10.1093/biomet/26.4.404; squared one-sided normal scores of independent
/// p-values in the manner of Kudô (1963), 10.1093/biomet/50.3-4.403.
///
/// # Panics
/// As [`hockey_stick_upper`].
pub fn hockey_stick_upper_by_both(cells: &[(u64, u64)], epsilon: f64, alpha: f64) -> f64 {
    let weight = factor(epsilon);
    let rows_a: u64 = cells.iter().map(|cell| cell.0).sum();
    let rows_b: u64 = cells.iter().map(|cell| cell.1).sum();
    let levels = Levels::new(radius(alpha));
    let [a, b] = [rows_a, rows_b].map(Rates::once);
    let limit = Both {
        a: &a,
        b: &b,
        levels: &levels,
        weight,
    };
    limit.over(cells)
}

/// The upper limit at level 1 − `alpha` of P(A) − `weight` · Q(A) for one event A fixed beforehand, from
/// both its counts.
///
/// # Formula
/// L(x, y) of the [module](self): max over φ of the difference of two Clopper–Pearson limits.
///
/// # Conditions
/// Independent rows, an event fixed beforehand.
///
/// # References
/// Those of [`hockey_stick_upper_by_both`].
///
/// # Panics
/// If more rows are inside than there are, or `alpha` is not strictly between 0 and 1.
pub fn fixed_event_upper(a: Share, b: Share, weight: f64, alpha: f64) -> f64 {
    let levels = Levels::new(radius(alpha));
    let [of_a, of_b] = [a, b].map(|share| Rates::once(share.rows));
    let limit = Both {
        a: &of_a,
        b: &of_b,
        levels: &levels,
        weight,
    };
    limit.at(a.inside, b.inside)
}

fn factor(epsilon: f64) -> f64 {
    assert!((0.0..=700.0).contains(&epsilon), "epsilon {epsilon}");
    epsilon.exp()
}

/// The r with Φ(−r) + e^{−r²/2}/4 = alpha, not below it; 0 where alpha exceeds 3/4.
fn radius(alpha: f64) -> f64 {
    assert!(alpha > 0.0 && alpha < 1.0, "a level in (0, 1), not {alpha}");
    let tail = |r: f64| normal_cdf(-r) + 0.25 * (-0.5 * r * r).exp();
    // Both terms are at most half of alpha at the right end.
    bisect((0.0, (-2.0 * (0.5 * alpha).ln()).sqrt()), 60, |middle| {
        tail(middle) > alpha
    })
    .1 * (1.0 + 1e-13)
}

/// Counts of events that dominate those of every event. `exchange` is how many rows of a weigh as much as one of b.
fn events(cells: &[(u64, u64)], exchange: f64) -> Vec<(u64, u64)> {
    let seen: Vec<(u64, u64)> = cells.iter().copied().filter(|c| c.0 + c.1 > 0).collect();
    if seen.len() <= FEW_CELLS {
        all_events(&seen)
    } else {
        hull(seen, exchange)
    }
}

/// The counts of all events.
fn all_events(cells: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut events = vec![(0, 0)];
    for cell in cells {
        for i in 0..events.len() {
            events.push((events[i].0 + cell.0, events[i].1 + cell.1));
        }
    }
    events
}

/// Points that dominate (more of a, fewer of b) every event: each piece of the hull's largest x with
/// its least y. `exchange` is how many rows of a weigh as much as one of b.
fn hull(mut cells: Vec<(u64, u64)>, exchange: f64) -> Vec<(u64, u64)> {
    sort_by_ratio(&mut cells);
    let length: f64 = cells
        .iter()
        .map(|c| c.0 as f64 + exchange * c.1 as f64)
        .sum();
    let mut points = Vec::new();
    let (mut x, mut y) = (0u64, 0u64);
    for (in_a, in_b) in cells {
        let share = (in_a as f64 + exchange * in_b as f64) / length;
        let pieces = ((share * PIECES).ceil() as u64).clamp(1, in_b.max(1));
        for piece in 0..pieces {
            let along =
                |of: u64, piece: u64| (u128::from(of) * u128::from(piece)) / u128::from(pieces);
            let least = y + along(in_b, piece) as u64;
            let most = x + along(in_a, piece + 1) as u64 + 1;
            points.push((most.min(x + in_a), least));
        }
        (x, y) = (x + in_a, y + in_b);
    }
    points
}

/// Those that speak most for a first.
fn sort_by_ratio(cells: &mut [(u64, u64)]) {
    let product = |one: u64, other: u64| u128::from(one) * u128::from(other);
    cells.sort_by(|c, d| product(d.0, c.1).cmp(&product(c.0, d.1)));
}

#[cfg(test)]
#[path = "dp_upper/tests.rs"]
mod tests;
