//! An upper limit for P − w·Q from two binomial counts when only their difference may be used.
//!
//! X ~ Bin(n_a, P) and Y ~ Bin(n_b, Q) are independent, D = X/n_a − w·Y/n_b with w ≥ 1, Δ = P − wQ.
//! Let B(δ, d) = sup { P(D ≤ d) : P − wQ = δ }, the supremum over the base rate that nobody knows.
//!
//! **Pointwise validity.** Call a number L(d) *good* if B(L(d), d) ≤ α or L(d) is the largest Δ there
//! is. Any function of good numbers is a limit at level 1 − α:
//!
//! 1. P(D ≤ d) falls in P and grows in Q (monotone coupling of the rows). Each (P, Q) with difference
//!    δ′ > δ has a (P′, Q′) with P′ ≤ P, Q′ ≥ Q and difference δ: so B falls in δ.
//! 2. Let d* be the largest attainable d with L(d) < Δ. Then P(L(D) < Δ) ≤ P(D ≤ d*) ≤ B(Δ, d*)
//!    ≤ B(L(d*), d*) ≤ α.
//! 3. The same holds for L(T) with any T ≥ D, however T came about: L(T) < Δ implies D ≤ T ≤ d*.
//!
//! Hence L need be neither monotone nor the exact inverse, the *least of several good numbers of the
//! same d is good* (nothing has to be chosen beforehand, as between limits of different statistics),
//! and T may be the plug-in supremum over all events. Hoeffding's, Chernoff's and, for w = 1 and equal
//! rows, the pooled binomial limit are good: each inverts a bound of this very tail.
//!
//! **The exact limit.** B is bounded over base rates without a grid's gap. On the line P = δ + wQ put
//! nodes (P_i − s, Q_i + s/w), and join neighbors by a segment in the log-odds (θ, η). Along it
//!
//! ln P(D ≤ d) = C − n_a ln(1 + e^θ) − n_b ln(1 + e^η),
//!
//! with C, the logarithm of a sum of exponentials, convex. So ln P(D ≤ d) exceeds the larger of its two
//! ends by at most (n_a v_a Δθ² + n_b v_b Δη²)/8, v the largest p(1 − p) on the segment. The segment bends
//! away from the straight line by at most Δθ²/8 · max|σ″|, σ the logistic function; while that is at
//! most s (s/w for Q), each point of the line has a point of the segment with less P and more Q, hence
//! a larger P(D ≤ d). Cells are halved until the bound is at most α, or a node exceeds α and the next
//! larger δ is tried. The price of s and of the steps in δ is about 1 % of the radius.

use super::poisson_binomial::poisson_binomial_lower;
use super::saddlepoint::ln_binomial;
use super::special::normal_quantile;
use super::weighted_risk::{Stratum, chernoff_upper};

/// Rows of an event: how many there are, and how many are in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// Rows in the event, at most `rows`.
    pub inside: u64,
    /// Independent rows.
    pub rows: u64,
}

/// From so many rows on the exact limit costs more than it gives: 0.1 to 0.2 s a pair.
const MOST_ROWS: u64 = 400_000;
/// The part of the radius by which nodes are moved towards the safe side.
const SHIFT: f64 = 1e-3;
/// Steps away from the approximate root that are tried, as parts of the radius.
const STEPS: [f64; 11] = [
    0.003, 0.006, 0.01, 0.015, 0.02, 0.03, 0.04, 0.06, 0.1, 0.15, 0.25,
];
/// max |σ″| of the logistic function, √3/18, rounded up.
const BEND: f64 = 0.096_226;
/// Mass outside the windows of summation, and rounding.
const LOST: f64 = 1e-14;

/// The upper limit at level 1 − `alpha` for P − `weight` · Q; at most 1, and 1 if either has no rows.
///
/// Never above Chernoff's limit, hence never above Hoeffding's and McDiarmid's
/// d + √((1/n_a + w²/n_b) ln(1/α)/2).
///
/// # Formula
/// The least δ found with sup { P(D ≤ d) : P − wQ = δ } ≤ α, where d = x/n_a − w·y/n_b; see the
/// [module](self). Within 2 % of the exact radius up to 400,000 rows; beyond, Chernoff's limit.
///
/// # Conditions
/// Independent rows, in each side with one probability. The event is fixed beforehand, or `a` and `b`
/// are those of an event that was chosen to make d largest: then the limit holds for every fixed
/// event, in particular for the one of largest P − wQ. `alpha` at most 1/4.
///
/// # References
/// Exact unconditional limits: Chan and Zhang (1999), 10.1111/j.0006-341X.1999.01202.x; Hoeffding
/// (1956), 10.1214/aoms/1177728178; Chernoff (1952), 10.1214/aoms/1177729330. The bound between nodes
/// is the module's.
///
/// # Panics
/// If more rows are inside than there are, `weight` is below 1 or infinite, or `alpha` is not strictly
/// between 0 and 1.
pub fn difference_upper(a: Share, b: Share, weight: f64, alpha: f64) -> f64 {
    assert!(a.inside <= a.rows && b.inside <= b.rows, "{a:?}, {b:?}");
    assert!(weight >= 1.0 && weight.is_finite(), "weight {weight}");
    assert!(alpha > 0.0 && alpha < 1.0, "a level in (0, 1), not {alpha}");
    if a.rows == 0 || b.rows == 0 {
        return 1.0;
    }
    let mut limit = chernoff(a, b, weight, alpha).min(1.0);
    if weight == 1.0 && a.rows == b.rows {
        limit = limit.min(pooled(a, b, alpha));
    } else if a.rows + b.rows <= MOST_ROWS {
        limit = Tail::new(a, b, weight).limit(alpha, limit);
    }
    limit
}

/// Whether [`difference_upper`] is at least `value`: most often told by a few tails, without the limit itself.
///
/// # Panics
/// As [`difference_upper`].
pub fn difference_upper_reaches(a: Share, b: Share, weight: f64, alpha: f64, value: f64) -> bool {
    /// Far above what tails are rounded by.
    const ROUNDING: f64 = 1e-6;
    if difference_upper_rough(a, b, weight, alpha) < value {
        return false;
    }
    let exact = weight != 1.0 || a.rows != b.rows;
    let exact = exact && a.rows > 0 && b.rows > 0 && a.rows + b.rows <= MOST_ROWS;
    // A limit below would not be good, for the tail falls in δ.
    if exact
        && (0.0..=1.0).contains(&value)
        && Tail::new(a, b, weight).largest(value) > alpha * (1.0 + ROUNDING)
    {
        return true;
    }
    difference_upper(a, b, weight, alpha) >= value
}

/// Chernoff's limit, which [`difference_upper`] never exceeds.
///
/// # Panics
/// As [`difference_upper`].
pub fn difference_upper_rough(a: Share, b: Share, weight: f64, alpha: f64) -> f64 {
    if a.rows == 0 || b.rows == 0 {
        return 1.0;
    }
    chernoff(a, b, weight, alpha).min(1.0)
}

/// The same without the exact limit of unequal rows: at most half as far again from the difference, in no time.
///
/// # Conditions, Panics
/// Those of [`difference_upper`].
pub fn difference_upper_quick(a: Share, b: Share, weight: f64, alpha: f64) -> f64 {
    let exact = weight == 1.0 && a.rows == b.rows;
    if exact {
        return difference_upper(a, b, weight, alpha);
    }
    difference_upper_rough(a, b, weight, alpha)
}

/// P + w(1 − Q) is a weighted sum of two parameters.
fn chernoff(a: Share, b: Share, weight: f64, alpha: f64) -> f64 {
    let strata = [
        Stratum {
            weight: 1.0,
            errors: a.inside,
            rows: a.rows,
        },
        Stratum {
            weight,
            errors: b.rows - b.inside,
            rows: b.rows,
        },
    ];
    (chernoff_upper(&strata, alpha) - weight) + 4.0 * f64::EPSILON * weight
}

/// With equal rows (1 − Δ)/2 is the mean error probability of all of them.
fn pooled(a: Share, b: Share, alpha: f64) -> f64 {
    let errors = a.rows - a.inside + b.inside;
    (1.0 - 2.0 * poisson_binomial_lower(errors, 2 * a.rows, alpha)).next_up()
}

/// P(D ≤ d) as a function of the two parameters.
struct Tail {
    n_a: f64,
    n_b: f64,
    weight: f64,
    observed: f64,
    /// D ≤ d is X ≤ `from` + `per_row` · Y; rounding is on the side of more.
    from: f64,
    per_row: f64,
}

/// A base rate with its node in log-odds and the tail there.
#[derive(Clone, Copy)]
struct Node {
    q: f64,
    odds: [f64; 2],
    spread: [f64; 2],
    tail: f64,
}

impl Tail {
    fn new(a: Share, b: Share, weight: f64) -> Self {
        let (n_a, n_b) = (a.rows as f64, b.rows as f64);
        let per_row = weight * n_a / n_b;
        Tail {
            n_a,
            n_b,
            weight,
            observed: a.inside as f64 / n_a - weight * (b.inside as f64 / n_b),
            from: a.inside as f64 - per_row * b.inside as f64
                + 1e-12
                + 1e-14 * n_a * (1.0 + weight),
            per_row,
        }
    }

    /// P(D ≤ d), rounded up.
    fn at(&self, p: f64, q: f64) -> f64 {
        let (x, y) = (Law::new(self.n_a, p), Law::new(self.n_b, q));
        let (mut sum, mut below, mut next) = (0.0, 0.0, 0);
        for (i, mass) in y.mass.iter().enumerate() {
            let most = (self.from + self.per_row * (y.first + i as f64)).floor() - x.first;
            while next < x.mass.len() && next as f64 <= most {
                below += x.mass[next];
                next += 1;
            }
            sum += mass * below;
        }
        sum * (1.0 + 1e-9) + LOST
    }

    /// The least good number found, at most `ceiling`.
    fn limit(&self, alpha: f64, ceiling: f64) -> f64 {
        // No event is the truth with less than no difference.
        let observed = self.observed.max(0.0);
        let root = self.root(alpha, observed, ceiling);
        for step in STEPS {
            let delta = observed + (root - observed) * (1.0 + step);
            if delta >= ceiling {
                break;
            }
            if self.is_good(delta, observed, alpha) {
                return delta;
            }
        }
        ceiling
    }

    /// Where the largest tail over a few base rates is alpha, about.
    fn root(&self, alpha: f64, low: f64, high: f64) -> f64 {
        /// Above the quantile of any number below 1.
        const MOST: f64 = 9.0;
        let target = normal_quantile(alpha);
        // A tail of 1 has no finite quantile, and steps would go astray.
        let excess = |delta: f64| normal_quantile(self.largest(delta).min(1.0)).min(MOST) - target;
        let (mut low, mut high) = (low, high);
        let (mut above, mut below) = (-target, excess(high).min(-1e-9));
        for _ in 0..12 {
            let share = (above / (above - below)).clamp(0.05, 0.95);
            let middle = low + (high - low) * share;
            let value = excess(middle);
            if value.abs() < 2e-3 || high - low < 1e-9 {
                return middle;
            }
            if value > 0.0 {
                (low, above) = (middle, value);
                below *= 0.7;
            } else {
                (high, below) = (middle, value);
                above *= 0.7;
            }
        }
        high
    }

    /// The largest tail over base rates near the one of most variance, and a few others.
    fn largest(&self, delta: f64) -> f64 {
        let most = (1.0 - delta) / self.weight;
        let pull = self.weight / self.n_b + (1.0 - 2.0 * delta) / self.n_a;
        let center = pull / (2.0 * self.weight * (1.0 / self.n_a + 1.0 / self.n_b));
        let center = center.clamp(0.0, most);
        [1.0, 0.9, 0.8, 0.5]
            .map(|part| part * center)
            .into_iter()
            .chain([0.5 * (center + most), 0.1 * most])
            .map(|q| self.at((delta + self.weight * q).min(1.0), q))
            .fold(0.0, f64::max)
    }

    /// Whether P(D ≤ d) ≤ alpha is proved for every base rate.
    fn is_good(&self, delta: f64, observed: f64, alpha: f64) -> bool {
        // Where the supremum is just at alpha, ever finer cells would be tried: the next δ is cheaper.
        let mut nodes_left = 200 + (3.0 * (self.n_a + self.n_b).sqrt()) as u64;
        let shift = SHIFT * (delta - observed);
        let most = (1.0 - delta) / self.weight;
        let node = |q: f64| self.node(q, delta, shift);
        let mut right = vec![node(most), node(0.5 * most)];
        let mut left = node(0.0);
        while let Some(&next) = right.last() {
            if left.tail.max(next.tail) > alpha || nodes_left == 0 {
                return false;
            }
            if self.is_covered(&left, &next, shift, alpha) {
                left = next;
                right.pop();
            } else {
                right.push(node(0.5 * (left.q + next.q)));
                nodes_left -= 1;
            }
        }
        left.tail <= alpha
    }

    fn node(&self, q: f64, delta: f64, shift: f64) -> Node {
        let p = (delta + self.weight * q).min(1.0) - shift;
        let at_b = q + shift / self.weight;
        let parameters = [p, at_b];
        Node {
            q,
            odds: parameters.map(|p| (p / (1.0 - p)).ln()),
            spread: parameters.map(|p| p * (1.0 - p)),
            tail: self.at(p, at_b),
        }
    }

    /// Whether the tail is at most alpha at all base rates between two nodes.
    fn is_covered(&self, low: &Node, high: &Node, shift: f64, alpha: f64) -> bool {
        let mut gap = 0.0;
        for (side, (rows, room)) in [(self.n_a, shift), (self.n_b, shift / self.weight)]
            .into_iter()
            .enumerate()
        {
            let step = high.odds[side] - low.odds[side];
            let spread = if low.odds[side] * high.odds[side] <= 0.0 {
                0.25
            } else {
                low.spread[side].max(high.spread[side])
            };
            let bend = step * step / 8.0 * spread.min(BEND);
            // A little less than the room, for rounding.
            if bend > 0.999 * room {
                return false;
            }
            gap += rows * spread * step * step / 8.0;
        }
        low.tail.max(high.tail) * gap.exp() <= alpha
    }
}

/// The binomial law where it is not negligible.
struct Law {
    first: f64,
    mass: Vec<f64>,
}

impl Law {
    fn new(n: f64, p: f64) -> Self {
        /// Terms below this end the window.
        const LEAST: f64 = 1e-19;
        if p <= 0.0 || p >= 1.0 {
            return Law {
                first: if p <= 0.0 { 0.0 } else { n },
                mass: vec![1.0],
            };
        }
        let odds = p / (1.0 - p);
        let mode = ((n + 1.0) * p).floor().min(n);
        let at_mode = match mode {
            0.0 => (n * (-p).ln_1p()).exp(),
            k if k == n => (n * p.ln()).exp(),
            k => ln_binomial(k, n, p, 1.0 - p).exp(),
        };
        let mut mass = Vec::with_capacity(32 + (20.0 * (n * p * (1.0 - p)).sqrt()) as usize);
        let (mut k, mut term) = (mode, at_mode);
        while term > LEAST {
            mass.push(term);
            if k == 0.0 {
                break;
            }
            term *= k / ((n - k + 1.0) * odds);
            k -= 1.0;
        }
        let first = mode + 1.0 - mass.len() as f64;
        mass.reverse();
        (k, term) = (mode, at_mode);
        while k < n {
            term *= (n - k) * odds / (k + 1.0);
            k += 1.0;
            if term <= LEAST {
                break;
            }
            mass.push(term);
        }
        Law { first, mass }
    }
}

#[cfg(test)]
#[path = "two_binomials/tests.rs"]
mod tests;
