//! An upper limit of the total variation of two discrete laws that is not biased by a large alphabet.
//!
//! The plug-in of two equal laws on k observations is about 0.56 √(k/n): a limit above the plug-in
//! cannot be below that. A statistic of closeness testing (Chan et al. 2014) has mean 0 there. This
//! module turns it into a limit at every sample size.
//!
//! **Poisson rows.** Of each secret a Poisson number of rows of mean λ is drawn at random; λ is such that
//! more than the n rows of the rarer secret are asked for with probability at most α/50. Then the counts
//! X_o ~ Poisson(λ p_o) and Y_o ~ Poisson(λ q_o) are independent; with s = p + q and ρ = (p − q)/s,
//! M = X + Y is Poisson(λ s) and X given M is Bin(M, (1 + ρ)/2), and TV = ½ Σ s|ρ|.
//!
//! **Given the totals**, W_o = (X_o − Y_o)²/m_o and φ_m(ρ, t) = E e^{−tW}.
//! *Lemma:* φ_m(ρ, t) ≤ φ_m(0, t) e^{−Gρ²} with G = G_m(t) = (m − E₀[S² e^{−tS²/m}]/φ_m(0, t))/2, S a sum of m
//! fair signs. *Proof:* with z = (1+ρ)/(1−ρ), φ = ((1−ρ)/2)^m R(z), R(z) = Σ_x C(m, x) e^{−t(2x−m)²/m} z^x. The
//! sequence q^{x²}, 0 < q ≤ 1, is a multiplier sequence (Pólya and Schur 1914), so R has, as (1+z)^m, only
//! real zeros, negative as its coefficients are positive, and closed under z → 1/z as it is palindromic.
//! A pair (z + r)(z + 1/r)(1−ρ)² = (2 + κ) − (κ − 2)ρ², κ = r + 1/r ≥ 2, and a zero −1 gives (z + 1)(1 − ρ) = 2.
//! Hence φ = φ_m(0, t) Π(1 − g_i ρ²) with 0 ≤ g_i < 1: at most φ_m(0, t) e^{−ρ² Σ g_i}, and Σ g_i is G, by
//! the second derivative at 0. ∎
//!
//! By Chernoff's bound P(Σ W ≤ w) ≤ exp(tw + Σ ln φ_m(0, t) − Σ G ρ²). So with probability 1 − α₂, for all
//! t > 0 at once (each is an inversion of a tail of the same statistic),
//!
//! Σ G_m(t) ρ² ≤ B_t = ln(1/α₂) + t Σ W + Σ ln φ_m(0, t).
//!
//! This bounds A = Σ m|ρ| ≤ A*, the largest under B_t with |ρ| ≤ 1 (Cauchy–Schwarz, with those of few
//! rows at |ρ| = 1; a single row says nothing, G = 0), and Q = Σ mρ² ≤ Q*.
//!
//! **From A to TV.** E A = 2λ TV. Poisson sums have E e^{−ηA} ≤ exp(−η E A + η² V/2), V = λ Σ sρ² = E Q. So, each
//! with probability 1 − e^{−ℓ}: E A ≤ A + √(2Vℓ), and V ≤ Q + √(2Vℓ), that is
//! √V ≤ √(Q + ℓ/2) + √(ℓ/2). As V ≤ E A, too, TV ≤ (A* + √(2Vℓ))/2λ. Mass never seen is thus paid for.
//!
//! α = α/50 for the rows, 2 · α/25 for the last step, the rest α₂. All of this is finite-sample.

use crate::bisection::bisect;
use std::collections::BTreeMap;

use rand::{Rng, RngExt};

use super::hypergeometric;
use super::saddlepoint::{deviance, poisson};

/// Parts of α: more Poisson rows than there are; each of the two steps from A to TV.
const FOR_ROWS: f64 = 0.02;
const FOR_STEP: f64 = 0.04;

/// The upper limit at level 1 − `alpha` of the total variation of two discrete laws, from the rows of
/// (a, b) with each observation; at most 1, and 1 if either has none.
///
/// Reaches below the plug-in. About (k ln(1/α))^{1/4}/√n where the laws agree on k observations with
/// several rows each; where they differ on few observations, [`super::event_upper`] is narrower: choose
/// beforehand, or on other rows ([`is_narrower_on`]).
///
/// # Formula
/// (A* + √(2Vℓ))/2λ, see the [module](self), with the best of several t.
///
/// # Conditions
/// Independent rows; cells and pair fixed without looking at these rows. Any alphabet, seen or not.
/// `rng` independent of the rows: the limit is randomized, a seed gives one limit.
///
/// # References
/// Chan, Diakonikolas, Valiant and Valiant (2014), 10.1137/1.9781611973402.88; Pólya and Schur (1914),
/// 10.1515/crll.1914.144.89; Chernoff (1952), 10.1214/aoms/1177729330. The lemma and the limit are the
/// module's own.
///
/// # Panics
/// If `alpha` is not strictly between 0 and 1.
pub fn total_variation_upper(cells: &[(u64, u64)], alpha: f64, rng: &mut impl Rng) -> f64 {
    assert!(alpha > 0.0 && alpha < 1.0, "a level in (0, 1), not {alpha}");
    let n_a: u64 = cells.iter().map(|cell| cell.0).sum();
    let n_b: u64 = cells.iter().map(|cell| cell.1).sum();
    let least = n_a.min(n_b);
    let rate = poisson_rate(least, 0.5 * FOR_ROWS * alpha);
    if rate <= 0.0 {
        return 1.0;
    }
    // More than there are has been paid for: whatever follows then may be wrong.
    let drawn = [n_a, n_b].map(|_| sample_poisson(rate, rng).min(least));
    let mut pools = [(n_a, drawn[0]), (n_b, drawn[1])];
    let mut thinned = Vec::with_capacity(cells.len());
    for &(x, y) in cells {
        let x = draw(&mut pools[0], x, rng);
        thinned.push((x, draw(&mut pools[1], y, rng)));
    }
    of_poisson_rows(&thinned, rate, alpha)
}

/// Whether this limit was the narrower one on other rows: a choice for the rows that count.
pub fn is_narrower_on(other: &[(u64, u64)], alpha: f64, rng: &mut impl Rng) -> bool {
    let event = super::event_upper::total_variation_upper(other, alpha);
    total_variation_upper(other, alpha, rng) < event
}

/// How many of `part` rows are among those still to be drawn from (population, draws).
fn draw(pool: &mut (u64, u64), part: u64, rng: &mut impl Rng) -> u64 {
    let taken = hypergeometric::sample(pool.0, part, pool.1, rng);
    *pool = (pool.0 - part, pool.1 - taken);
    taken
}

/// The largest λ, about, with P(Poisson(λ) > n) ≤ alpha by Chernoff's bound.
fn poisson_rate(n: u64, alpha: f64) -> f64 {
    let more = n as f64 + 1.0;
    bisect((0.0, more), 60, |middle| {
        middle > 0.0 && deviance(more, middle) >= -alpha.ln()
    })
    .0
}

/// A Poisson number, by inversion outward from the mode.
fn sample_poisson(mean: f64, rng: &mut impl Rng) -> u64 {
    let mode = mean.floor();
    let at_mode = if mode == 0.0 {
        (-mean).exp()
    } else {
        poisson(mode, mean)
    };
    let mut left = rng.random::<f64>() - at_mode;
    let (mut low, mut high) = (mode, mode);
    let (mut below, mut above) = (at_mode, at_mode);
    while left >= 0.0 && below + above > f64::MIN_POSITIVE {
        high += 1.0;
        above *= mean / high;
        left -= above;
        if left < 0.0 {
            return high as u64;
        }
        if low > 0.0 {
            below *= low / mean;
            low -= 1.0;
            left -= below;
            if left < 0.0 {
                return low as u64;
            }
        } else {
            below = 0.0;
        }
    }
    mode as u64
}

/// The limit from Poisson rows of a known rate.
fn of_poisson_rows(cells: &[(u64, u64)], rate: f64, alpha: f64) -> f64 {
    let step = -(FOR_STEP * alpha).ln();
    let totals = Totals::new(cells, (1.0 - FOR_ROWS - 2.0 * FOR_STEP) * alpha);
    let (largest, square) = totals.largest();
    let root = |value: f64| ((value + 0.5 * step).sqrt() + (0.5 * step).sqrt()).powi(2);
    let variance = root(square).min(root(largest));
    let limit = (largest + (2.0 * variance * step).sqrt()) / (2.0 * rate);
    (limit * (1.0 + 1e-12)).min(1.0)
}

/// The counts by their totals.
struct Totals {
    /// (m, how many observations), m ≥ 2.
    classes: Vec<(u64, u64)>,
    /// Observations of one row: |ρ| may be 1.
    singles: f64,
    /// Σ W over the classes.
    statistic: f64,
    /// ln(1/α₂).
    cost: f64,
}

/// A class at some t: `size` observations of `total` rows, each paying `price`·ρ².
struct Priced {
    size: f64,
    total: f64,
    price: f64,
}

impl Totals {
    fn new(cells: &[(u64, u64)], alpha: f64) -> Self {
        let (mut classes, mut singles, mut statistic) = (BTreeMap::new(), 0.0, 0.0);
        for &(x, y) in cells {
            match x + y {
                0 => {}
                1 => singles += 1.0,
                m => {
                    *classes.entry(m).or_insert(0) += 1;
                    statistic += x.abs_diff(y) as f64 * (x.abs_diff(y) as f64 / m as f64);
                }
            }
        }
        Totals {
            classes: classes.into_iter().collect(),
            singles,
            statistic,
            cost: -alpha.ln(),
        }
    }

    /// A* and Q*: the least over several t, each of which is valid.
    fn largest(&self) -> (f64, f64) {
        const GRID: [f64; 2] = [1e-4, 1.7];
        let mut best = (f64::INFINITY, f64::INFINITY, GRID[0]);
        let mut take = |t: f64| {
            let (linear, square) = self.at(t);
            if linear < best.0 {
                best.2 = t;
            }
            best = (best.0.min(linear), best.1.min(square), best.2);
            best.2
        };
        let mut center = GRID[0];
        for i in 0..22 {
            center = take(GRID[0] * GRID[1].powi(i));
        }
        let mut ratio = GRID[1].sqrt();
        for _ in 0..4 {
            take(center * ratio);
            center = take(center / ratio);
            ratio = ratio.sqrt();
        }
        (self.singles + best.0, self.singles + best.1)
    }

    /// The largest Σ m|ρ| and Σ mρ² over the classes under the constraint of one t.
    fn at(&self, t: f64) -> (f64, f64) {
        let mut budget = self.cost + t * self.statistic;
        let mut priced: Vec<Priced> = Vec::with_capacity(self.classes.len());
        for &(m, size) in &self.classes {
            let (ln_phi, price) = fair(m, t);
            let size = size as f64;
            // Rounding of a class is far below this.
            budget += size * (ln_phi + 1e-12);
            priced.push(Priced {
                size,
                total: m as f64,
                price: price * (1.0 - 1e-9),
            });
        }
        let budget = budget.max(0.0);
        let worth = |class: &Priced| class.total / class.price;
        priced.sort_by(|one, other| worth(other).total_cmp(&worth(one)));
        (linear(&priced, budget), square(&priced, budget))
    }
}

/// max Σ mρ under Σ Gρ² ≤ B, 0 ≤ ρ ≤ 1, for classes by falling m/G: Lagrange's bound νB + Σ max (mρ − νGρ²),
/// valid at any ν > 0, at the ν that attains it.
fn linear(classes: &[Priced], budget: f64) -> f64 {
    let mut rest: f64 = classes
        .iter()
        .map(|c| c.size * c.total * c.total / c.price)
        .sum();
    let (mut left, mut full) = (budget, 0.0);
    for class in classes {
        let slope = (left.max(0.0) / rest.max(f64::MIN_POSITIVE)).sqrt();
        if slope * class.total <= class.price {
            return full + (left.max(0.0) * rest).sqrt();
        }
        // At |ρ| = 1 the whole class is in.
        left -= class.size * class.price;
        rest -= class.size * class.total * class.total / class.price;
        full += class.size * class.total;
    }
    full
}

/// max Σ mρ² under Σ Gρ² ≤ B, ρ² ≤ 1: those of largest m/G first.
fn square(classes: &[Priced], budget: f64) -> f64 {
    let (mut left, mut sum) = (budget, 0.0);
    for class in classes {
        let part = (left / (class.size * class.price)).clamp(0.0, 1.0);
        sum += part * class.size * class.total;
        left -= part * class.size * class.price;
    }
    sum
}

/// ln φ_m(0, t) and G_m(t), m ≥ 2: sums over half of the fair binomial law, from its middle outward.
fn fair(m: u64, t: f64) -> (f64, f64) {
    let n = m as f64;
    let mut x = (m / 2) as f64;
    let mut mass = middle_mass(m);
    let (mut all, mut tilted, mut squares) = (0.0, 0.0, 0.0);
    loop {
        let s = n - 2.0 * x;
        // The mirror image, except at the middle itself.
        let both = if s == 0.0 { mass } else { 2.0 * mass };
        let weight = both * (-t * s * s / n).exp();
        all += both;
        tilted += weight;
        squares += weight * (s * s / n);
        if x == 0.0 || mass < 1e-18 {
            break;
        }
        mass *= x / (n - x + 1.0);
        x -= 1.0;
    }
    // Normalizing by the law's own sum removes the error of its first term.
    ((tilted / all).ln(), 0.5 * n * (1.0 - squares / tilted))
}

/// P(Bin(m, ½) = ⌊m/2⌋).
fn middle_mass(m: u64) -> f64 {
    let (n, k) = (m as f64, (m / 2) as f64);
    super::saddlepoint::ln_binomial(k, n, 0.5, 0.5).exp()
}

#[cfg(test)]
#[path = "sparse_upper/tests.rs"]
mod tests;
