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
//! **Rows of one block** may depend on each other. Then (f(x) + g(y))/2 is an e-value, by the same inequality and
//! without independence ([`Meeting::Block`]). It grows more slowly: the product gains from both rows.
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

use crate::newton::{Factor, maximum};

/// Rows of P and of Q in the cells A, middle and B. They need not be whole.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Counts {
    /// Of P.
    pub first: [f64; 3],
    /// Of Q.
    pub second: [f64; 3],
}

impl Counts {
    /// Pearson's χ² of "both sides have the same law"; 0 where a side has no rows.
    pub fn chi_squared(&self) -> f64 {
        let rows = [
            self.first.iter().sum::<f64>(),
            self.second.iter().sum::<f64>(),
        ];
        if rows[0] <= 0.0 || rows[1] <= 0.0 {
            return 0.0;
        }
        let cell = |at: usize| {
            let (a, b) = (self.first[at] / rows[0], self.second[at] / rows[1]);
            let both = (self.first[at] + self.second[at]) / (rows[0] + rows[1]);
            if both <= 0.0 {
                0.0
            } else {
                (a - b) * (a - b) / both
            }
        };
        (0..3).map(cell).sum::<f64>() / (1.0 / rows[0] + 1.0 / rows[1])
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

/// How the two rows that meet depend on each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meeting {
    /// Independently drawn: their factors are multiplied.
    Independent,
    /// Of one block, whose rows may depend on each other in any way: the mean of their factors counts.
    Block,
}

/// Pairs of rows that met, by the cells of the row of P and of the row of Q.
pub type Met = [[f64; 3]; 3];

/// ln of the factor by which capital grows where two rows meet, by their cells.
pub type LnFactors = [[f64; 3]; 3];

/// ln of what pairs of rows made of a unit of capital.
pub fn ln_growth(factors: &LnFactors, met: &Met) -> f64 {
    let both = factors.iter().flatten().zip(met.iter().flatten());
    both.map(|(ln, pairs)| if *pairs > 0.0 { ln * pairs } else { 0.0 })
        .sum()
}

/// The rows of either law in pairs that met.
pub fn rows_of(met: &Met) -> Counts {
    let mut counts = Counts::default();
    for (first, row) in met.iter().enumerate() {
        for (second, pairs) in row.iter().enumerate() {
            counts.first[first] += pairs;
            counts.second[second] += pairs;
        }
    }
    counts
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

    /// The bet of μ, λ₁ and λ₂.
    fn of([mu, one, two]: [f64; 3], allowed: Allowed) -> Bet {
        let Allowed { weight, delta } = allowed;
        let nu = 2.0 - mu - (one + two) * delta;
        Bet {
            first: [mu + one, mu, mu - weight * two],
            second: [nu - weight * one, nu, nu + two],
        }
    }

    /// ln of what a unit of capital became by independent rows in these cells.
    pub fn ln_growth(&self, rows: &Counts) -> f64 {
        let of = |rows: &[f64; 3], factors: &[f64; 3]| -> f64 {
            let each = rows.iter().zip(factors).filter(|(rows, _)| **rows > 0.0);
            each.map(|(rows, factor)| rows * factor.ln()).sum()
        };
        of(&rows.first, &self.first) + of(&rows.second, &self.second)
    }

    /// ln of the factor of two rows that meet.
    pub fn ln_factors(&self, meeting: Meeting) -> LnFactors {
        self.first.map(|f| {
            self.second.map(|g| match meeting {
                Meeting::Independent => f.ln() + g.ln(),
                Meeting::Block => (0.5 * (f + g)).ln(),
            })
        })
    }
}

/// The bet that would have grown most on past rows, one of P met by one of Q; [`Bet::NONE`] if none grows.
///
/// # Formula
/// The largest mean of ln f + mean of ln g over (μ, λ₁, λ₂), concave, by Newton's method: with both λ free, and where
/// one comes out negative with it at 0. The means are over [balanced](Counts::balanced) counts: with n rows of P and m
/// of Q, the maximum of the plain sums has μ near 2n/(n + m), which loses on every row of each where n and m differ.
/// Of rows in blocks the largest mean of ln (f + g)/2 over λ₁ and λ₂, as if the two rows of a block were independent: that they
/// are not costs growth and no validity.
///
/// # Conditions
/// The past must not contain the rows that are bet on. Counts are best [drawn together](Counts::drawn_together):
/// a cell without rows is bet on without bound.
pub fn best_bet(past: &Counts, allowed: Allowed, meeting: Meeting) -> Bet {
    let past = &past.balanced();
    let factors: Vec<Factor> = match meeting {
        Meeting::Independent => factors_apart(past, allowed).into(),
        Meeting::Block => factors_in_blocks(past, allowed).into(),
    };
    let has_mu = meeting == Meeting::Independent;
    let mut best = (0.0, Bet::NONE);
    for free in [[true, true], [true, false], [false, true]] {
        let begin = |free: bool| if free { 0.01 / allowed.weight } else { 0.0 };
        let start = [1.0, begin(free[0]), begin(free[1])];
        let Some((parameters, growth)) = maximum(&factors, start, [has_mu, free[0], free[1]])
        else {
            continue;
        };
        if parameters[1] < 0.0 || parameters[2] < 0.0 {
            continue;
        }
        if growth > best.0 {
            best = (growth, Bet::of(parameters, allowed));
        }
        if free == [true, true] {
            // It is the maximum of all.
            break;
        }
    }
    best.1
}

/// The factors f and g as functions of (μ, λ₁, λ₂).
fn factors_apart(past: &Counts, allowed: Allowed) -> [Factor; 6] {
    let Allowed { weight, delta } = allowed;
    let first = |cell: usize, slopes| Factor {
        count: past.first[cell],
        constant: 0.0,
        slopes,
    };
    let second = |cell: usize, one: f64, two: f64| Factor {
        count: past.second[cell],
        constant: 2.0,
        slopes: [-1.0, one - delta, two - delta],
    };
    [
        first(0, [1.0, 1.0, 0.0]),
        first(1, [1.0, 0.0, 0.0]),
        first(2, [1.0, 0.0, -weight]),
        second(0, -weight, 0.0),
        second(1, 0.0, 0.0),
        second(2, 0.0, 1.0),
    ]
}

/// The factors (f + g)/2 of two rows of a block; μ cancels.
fn factors_in_blocks(past: &Counts, allowed: Allowed) -> [Factor; 9] {
    let Allowed { weight, delta } = allowed;
    let rows: f64 = past.first.iter().sum();
    std::array::from_fn(|at| {
        let (first, second) = (at / 3, at % 3);
        let is = |cell: usize, of: usize| f64::from(u8::from(cell == of));
        let one = is(first, 0) - weight * is(second, 0) - delta;
        let two = is(second, 2) - weight * is(first, 2) - delta;
        Factor {
            count: past.first[first] * past.second[second] / rows.max(1.0),
            constant: 1.0,
            slopes: [0.0, 0.5 * one, 0.5 * two],
        }
    })
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
