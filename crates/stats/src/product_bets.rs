//! Bets against a claim about two laws, one row of each at a time, that grow as fast as a rule allows.
//!
//! A rule that was fixed before sorts every row into one of three cells: A speaks for the first law P, B for the
//! second law Q, and the middle for neither. The claim is a pair of inequalities,
//!
//! P(A) ≤ w Q(A) + δ and Q(B) ≤ w P(B) + δ.
//!
//! (ε, δ)-differential privacy implies them with w = e^ε, a total variation of at most τ with w = 1 and δ = τ.
//!
//! **The bet.** Take μ and λ₁, λ₂ ≥ 0 and put ν = 2 − μ − (λ₁ + λ₂)δ,
//!
//! | | A | middle | B |
//! | --- | --- | --- | --- |
//! | factor f of a row of P | μ + λ₁ | μ | μ − wλ₂ |
//! | factor g of a row of Q | ν − wλ₁ | ν | ν + λ₂ |
//!
//! where all six are positive. Then, with x from P and y from Q independent,
//!
//! E f(x) + E g(y) = μ + ν + λ₁(P(A) − wQ(A)) + λ₂(Q(B) − wP(B)) ≤ 2
//!
//! under the claim, hence E f(x) g(y) = E f(x) · E g(y) ≤ ((E f(x) + E g(y))/2)² ≤ 1. So f(x) g(y) is an e-value
//! of one row of each. The product over such pairs of rows is a nonnegative supermartingale that starts at 1,
//! whatever of the past the rule, μ and λ depend on: it ever reaches 1/α with probability at most α (Ville).
//!
//! **Why it is fast.** Maximizing E ln f(x) + E ln g(y) over (μ, λ₁, λ₂) is the dual of minimizing
//! KL(P‖P°) + KL(Q‖Q°) over all (P°, Q°) that satisfy the claim, on the cells, and the maximum is that minimum:
//! f g is the likelihood ratio of (P, Q) against the nearest laws of the claim. No e-value of the cells grows
//! faster. A linear bet 1 + λ(1{A}(x) − w 1{A}(y) − δ) has one parameter in place of three.
//!
//! **What is not known** is learned: [`best_bet`] takes the counts of past rows, [`Counts::drawn_together`] moves
//! them toward each other first, so that a bet on few rows is small.
//!
//! # References
//! R. J. Turner, A. Ly, P. D. Grünwald, *Generic E-variables for exact sequential k-sample tests that allow for
//! optional stopping*, doi:10.1016/j.jspi.2023.106116 (convex null hypotheses of two samples); P. Grünwald,
//! R. de Heide, W. Koolen, *Safe testing*, doi:10.1093/jrsssb/qkae011 (reverse information projection); Ville 1939.

/// Rows of P and of Q in the cells A, middle and B. They need not be whole.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Counts {
    /// Of P.
    pub first: [f64; 3],
    /// Of Q.
    pub second: [f64; 3],
}

impl Counts {
    /// A row of P, or of Q, in a cell.
    pub fn add(&mut self, is_second: bool, cell: usize) {
        let side = if is_second {
            &mut self.second
        } else {
            &mut self.first
        };
        side[cell] += 1.0;
    }

    /// The same with `rows` more rows on either side, in cells as both sides together have them.
    #[must_use]
    pub fn drawn_together(&self, rows: f64) -> Counts {
        let total: f64 = self.first.iter().chain(&self.second).sum();
        let mut drawn = *self;
        for cell in 0..3 {
            let share = (self.first[cell] + self.second[cell] + 0.5) / (total + 1.5);
            drawn.first[cell] += rows * share;
            drawn.second[cell] += rows * share;
        }
        drawn
    }

    /// Both sides scaled down to as many rows as the smaller of them has.
    #[must_use]
    pub fn balanced(&self) -> Counts {
        let [first, second] = [&self.first, &self.second].map(|rows| rows.iter().sum::<f64>());
        let to = |rows: [f64; 3], total: f64| {
            let scale = if total > 0.0 {
                first.min(second) / total
            } else {
                0.0
            };
            rows.map(|count| count * scale)
        };
        Counts {
            first: to(self.first, first),
            second: to(self.second, second),
        }
    }

    /// Both sides' rows in all cells.
    pub fn total(&self) -> f64 {
        self.first.iter().chain(&self.second).sum()
    }
}

/// What the claim allows: P(A) ≤ `weight` · Q(A) + `delta`, and the mirror image at B.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Allowed {
    /// w = e^ε, at least 1.
    pub weight: f64,
    /// δ, in \[0, 1\].
    pub delta: f64,
}

impl Allowed {
    /// (ε, δ)-differential privacy.
    pub fn privacy(epsilon: f64, delta: f64) -> Allowed {
        Allowed {
            weight: epsilon.exp(),
            delta,
        }
    }

    /// A total variation of at most so much.
    pub fn total_variation(at_most: f64) -> Allowed {
        Allowed {
            weight: 1.0,
            delta: at_most,
        }
    }
}

/// The factors of a row of P and of a row of Q, by cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bet {
    /// f.
    pub first: [f64; 3],
    /// g.
    pub second: [f64; 3],
}

impl Bet {
    /// No bet.
    pub const NONE: Bet = Bet {
        first: [1.0; 3],
        second: [1.0; 3],
    };

    /// The bet of μ, λ₁ and λ₂; `None` if a factor is not positive.
    fn of(parameters: [f64; 3], allowed: Allowed) -> Option<Bet> {
        let [mu, one, two] = parameters;
        let Allowed { weight, delta } = allowed;
        let nu = 2.0 - mu - (one + two) * delta;
        let bet = Bet {
            first: [mu + one, mu, mu - weight * two],
            second: [nu - weight * one, nu, nu + two],
        };
        bet.first
            .iter()
            .chain(&bet.second)
            .all(|&factor| factor > 0.0)
            .then_some(bet)
    }

    /// ln of what a unit of capital became by rows in these cells.
    pub fn ln_growth(&self, rows: &Counts) -> f64 {
        let of = |rows: &[f64; 3], factors: &[f64; 3]| -> f64 {
            let each = rows.iter().zip(factors).filter(|(rows, _)| **rows > 0.0);
            each.map(|(rows, factor)| rows * factor.ln()).sum()
        };
        of(&rows.first, &self.first) + of(&rows.second, &self.second)
    }
}

/// Steps of Newton's method at most.
const STEPS: usize = 60;
/// Halvings of a step at most.
const HALVINGS: usize = 40;

/// The bet that would have grown most on past rows, one of P met by one of Q; [`Bet::NONE`] if none grows.
///
/// # Formula
/// The largest mean of ln f + mean of ln g over (μ, λ₁, λ₂), concave, by Newton's method: with both λ free, and where
/// one comes out negative with it at 0. The means are over [balanced](Counts::balanced) counts: with n rows of P and m
/// of Q, the maximum of the plain sums has μ near 2n/(n + m), which loses on every row of each where n and m differ.
///
/// # Conditions
/// The past must not contain the rows that are bet on. Counts are best [drawn together](Counts::drawn_together):
/// a cell without rows is bet on without bound.
pub fn best_bet(past: &Counts, allowed: Allowed) -> Bet {
    let past = &past.balanced();
    let mut best = (0.0, Bet::NONE);
    for free in [[true, true], [true, false], [false, true]] {
        let Some((parameters, bet)) = maximum(past, allowed, free) else {
            continue;
        };
        if parameters[1] < 0.0 || parameters[2] < 0.0 {
            continue;
        }
        let growth = bet.ln_growth(past);
        if growth > best.0 {
            best = (growth, bet);
        }
        if free == [true, true] {
            // It is the maximum of all.
            break;
        }
    }
    best.1
}

/// The maximum over the parameters that are free; the others are 0. λ may be negative.
fn maximum(past: &Counts, allowed: Allowed, free: [bool; 2]) -> Option<([f64; 3], Bet)> {
    let Allowed { weight, delta } = allowed;
    // Derivatives of the factors by (μ, λ₁, λ₂).
    let slopes = [
        [[1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, -weight]],
        [
            [-1.0, -delta - weight, -delta],
            [-1.0, -delta, -delta],
            [-1.0, -delta, 1.0 - delta],
        ],
    ];
    let is_free = [true, free[0], free[1]];
    let begin = |free: bool| if free { 0.01 / weight } else { 0.0 };
    let mut at = [1.0, begin(free[0]), begin(free[1])];
    let mut bet = Bet::of(at, allowed)?;
    let mut value = bet.ln_growth(past);
    for _ in 0..STEPS {
        let direction = newton_step(past, &bet, &slopes, is_free);
        let mut share = 1.0;
        let better = (0..HALVINGS).find_map(|_| {
            {
                let next: [f64; 3] = std::array::from_fn(|k| at[k] + share * direction[k]);
                share *= 0.5;
                let bet = Bet::of(next, allowed)?;
                let value = bet.ln_growth(past);
                Some((next, bet, value))
            }
            .filter(|found| found.2 >= value)
        });
        let Some((next, next_bet, next_value)) = better else {
            break;
        };
        let gain = next_value - value;
        (at, bet, value) = (next, next_bet, next_value);
        if gain <= 1e-9 {
            break;
        }
    }
    Some((at, bet))
}

/// The step to the maximum of the quadratic that has the same derivatives here.
fn newton_step(
    past: &Counts,
    bet: &Bet,
    slopes: &[[[f64; 3]; 3]; 2],
    is_free: [bool; 3],
) -> [f64; 3] {
    let mut gradient = [0.0; 3];
    let mut curvature = [[0.0; 3]; 3];
    let sides = [
        (&past.first, &bet.first, &slopes[0]),
        (&past.second, &bet.second, &slopes[1]),
    ];
    for (rows, factors, slopes) in sides {
        for cell in 0..3 {
            let first = rows[cell] / factors[cell];
            let second = first / factors[cell];
            let slope = slopes[cell];
            for j in (0..3).filter(|&j| is_free[j]) {
                gradient[j] += first * slope[j];
                for k in (0..3).filter(|&k| is_free[k]) {
                    curvature[j][k] += second * slope[j] * slope[k];
                }
            }
        }
    }
    for j in 0..3 {
        // A little more than the curvature keeps the step finite; one that is not free stays.
        curvature[j][j] = if is_free[j] {
            curvature[j][j] * (1.0 + 1e-12) + 1e-300
        } else {
            1.0
        };
    }
    solved(curvature, gradient)
}

/// The solution of a symmetric positive system, by elimination.
fn solved(mut matrix: [[f64; 3]; 3], mut right: [f64; 3]) -> [f64; 3] {
    for pivot in 0..3 {
        for row in pivot + 1..3 {
            let times = matrix[row][pivot] / matrix[pivot][pivot];
            let top = matrix[pivot];
            for (value, top) in matrix[row].iter_mut().zip(top).skip(pivot) {
                *value -= times * top;
            }
            right[row] -= times * right[pivot];
        }
    }
    for pivot in (0..3).rev() {
        for column in pivot + 1..3 {
            right[pivot] -= matrix[pivot][column] * right[column];
        }
        right[pivot] /= matrix[pivot][pivot];
    }
    right
}

/// About how fast a bet on one event grows, in nats for one row of each law: what events are compared by.
///
/// # Formula
/// (p − wq − δ)²/(2(p°(1 − p°) + w² q°(1 − q°))), with wq° and p° − δ halfway between; 0 where p ≤ wq + δ.
pub fn approximate_rate(p: f64, q: f64, allowed: Allowed) -> f64 {
    let Allowed { weight, delta } = allowed;
    let gap = p - weight * q - delta;
    if gap <= 0.0 {
        return 0.0;
    }
    let q = ((p - delta).max(0.0) + weight * q) / (2.0 * weight);
    let p = (weight * q + delta).min(0.999);
    let variance = p * (1.0 - p) + weight * weight * q * (1.0 - q);
    0.5 * gap * gap / variance.max(1e-12)
}

#[cfg(test)]
#[path = "product_bets/tests.rs"]
mod tests;
