//! Upper limits of quantities that are one unknown event's: total variation, Bayes vulnerability.
//!
//! The total variation of discrete P and Q is P(A*) − Q(A*) for the fixed event A* = {o : p(o) > q(o)},
//! which nobody knows. The plug-in is the largest P̂(A) − Q̂(A) over all events, so at least A*'s own
//! difference D. A limit for P(A) − Q(A) that holds for each fixed event and inverts a bound of
//! P(D ≤ d) may be evaluated at the plug-in instead of D (see [`super::two_binomials`], point 3): it
//! can only be missed where D itself is small. No union over the events, and no alphabet size, enters.
//! What A*'s two probabilities are is unknown too, so the limit takes the least favorable; D alone is
//! bounded by the plug-in, not P̂(A*) and Q̂(A*) one by one.
//!
//! With equal rows the errors (rows of a outside A*, of b inside) are equally many rows with two error
//! probabilities of mean (1 − TV)/2: the pooled binomial limit, no looser than the binomial (Hoeffding
//! 1956). With unequal rows the supremum over the base rate is bounded numerically. Both stay below
//! Chernoff's limit, and that below McDiarmid's. All invert bounds of the same tail of the same D, so
//! the least of them is valid without choosing beforehand.
//!
//! A Bayes vulnerability at a fixed prior is Σ π_s P_s(A_s) for a fixed partition (A_s), and the plug-in
//! is the largest Σ π_s P̂_s(A_s): the same argument, with the success of a fixed rule in place of D.

use super::poisson_binomial::poisson_binomial_upper;
use super::two_binomials::{Share, difference_upper};
use super::weighted_risk::{Stratum, chernoff_upper};

/// The upper limit at level 1 − `alpha` of the total variation of two discrete laws, from the number
/// of rows of each secret with each observation, as (rows of a, rows of b); 1 if either has none.
///
/// # Formula
/// [`difference_upper`] at the event {x/n_a > y/n_b}, with weight 1.
///
/// # Conditions
/// Independent rows; the cells and the pair are fixed without looking at these rows. Any alphabet.
/// `alpha` at most 1/4.
///
/// # References
/// Those of [`difference_upper`]; the plug-in's upward bias: [the module](self).
///
/// # Panics
/// If `alpha` is not strictly between 0 and 1.
pub fn total_variation_upper(cells: &[(u64, u64)], alpha: f64) -> f64 {
    let [a, b] = likelier_in_a(cells, 1.0);
    difference_upper(a, b, 1.0, alpha)
}

/// The shares of both secrets in the event of the largest empirical difference, {x/n_a > y/n_b}: the counts that
/// [`total_variation_upper`] reads.
///
/// `rows` are the rows of both, the sums over `cells`.
pub fn likelier(rows: [u64; 2], cells: impl Iterator<Item = (u64, u64)>) -> [Share; 2] {
    weighted(rows, cells, 1.0)
}

/// The empirical event {x/n_a > w·y/n_b}: it maximizes P̂(A) − w·Q̂(A).
pub(super) fn likelier_in_a(cells: &[(u64, u64)], weight: f64) -> [Share; 2] {
    let n_a: u64 = cells.iter().map(|cell| cell.0).sum();
    let n_b: u64 = cells.iter().map(|cell| cell.1).sum();
    weighted([n_a, n_b], cells.iter().copied(), weight)
}

fn weighted(
    [n_a, n_b]: [u64; 2],
    cells: impl Iterator<Item = (u64, u64)>,
    weight: f64,
) -> [Share; 2] {
    // Ties within rounding change the difference by less than the limit's own allowance.
    let factor = weight * (n_a as f64 / n_b.max(1) as f64);
    let (mut in_a, mut in_b) = (0, 0);
    for (x, y) in cells {
        // No branch, which would be taken at random.
        let inside = u64::from(x as f64 > factor * y as f64);
        in_a += inside * x;
        in_b += inside * y;
    }
    [(in_a, n_a), (in_b, n_b)].map(|(inside, rows)| Share { inside, rows })
}

/// The rows of a secret that the best rule on these very rows names rightly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Named {
    /// The secret's prior probability π, fixed beforehand.
    pub prior: f64,
    /// Rows named rightly, at most `rows`.
    pub right: u64,
    /// Independent rows.
    pub rows: u64,
}

/// The upper limit at level 1 − `alpha` of the Bayes vulnerability V = Σ_o max_s π_s P_s(o).
///
/// `secrets` come from the rule that names at each observation a secret of largest π_s P̂_s(o): with it
/// Σ π_s · right_s/rows_s is the plug-in V̂. A secret without rows counts as named always.
///
/// # Formula
/// The optimal rule is one fixed partition, whose empirical success is at most V̂. So V is at most the
/// upper limit of a fixed rule's success, evaluated at V̂: Chernoff's limit; with two secrets, of
/// π ≥ π′ and at least a row each, also π + π′ · [`difference_upper`] with weight π/π′; where all rows
/// weigh the same (π_s/rows_s equal), also the pooled binomial limit. All are functions of V̂ alone that
/// invert bounds of its tail, so the least of them is valid.
///
/// # Conditions
/// Independent rows given the secrets; prior and cells fixed without looking at the observations.
/// `alpha` at most 1/4.
///
/// # References
/// Those of [`chernoff_upper`], [`poisson_binomial_upper`] and [`difference_upper`].
///
/// # Panics
/// If a prior is negative or not finite, more rows are right than there are, or `alpha` is not strictly
/// between 0 and 1.
pub fn vulnerability_upper(secrets: &[Named], alpha: f64) -> f64 {
    let strata: Vec<Stratum> = secrets
        .iter()
        .map(|secret| Stratum {
            weight: secret.prior,
            errors: secret.right,
            rows: secret.rows,
        })
        .collect();
    let chernoff = chernoff_upper(&strata, alpha);
    let exact = pooled(secrets, alpha).or_else(|| of_two(secrets, alpha));
    exact.map_or(chernoff, |limit| limit.min(chernoff))
}

/// The pooled limit, where every row weighs the same.
fn pooled(secrets: &[Named], alpha: f64) -> Option<f64> {
    let positive = || secrets.iter().filter(|secret| secret.prior > 0.0);
    let unit = |secret: &Named| secret.prior / secret.rows as f64;
    let first = unit(positive().next()?);
    if !positive().all(|s| s.rows > 0 && (unit(s) - first).abs() <= 1e-12 * first) {
        return None;
    }
    let total: f64 = positive().map(|secret| secret.prior).sum();
    let right = positive().map(|secret| secret.right).sum();
    let rows = positive().map(|secret| secret.rows).sum();
    // Unequal weights within rounding move the success by less than this.
    Some(total * (poisson_binomial_upper(right, rows, alpha) + 4e-12).min(1.0))
}

/// With two secrets V = π + π′ (P′(A) − (π/π′) P(A)), A where π′'s secret is named.
fn of_two(secrets: &[Named], alpha: f64) -> Option<f64> {
    let mut positive = secrets.iter().filter(|secret| secret.prior > 0.0);
    let (one, other) = (positive.next()?, positive.next()?);
    let two = positive.next().is_none() && one.rows > 0 && other.rows > 0;
    let (likely, rare) = if one.prior >= other.prior {
        (one, other)
    } else {
        (other, one)
    };
    // A prior beside which the other is too small for their ratio has the bound of all numbers of secrets.
    let weight = likely.prior / rare.prior;
    (two && weight.is_finite()).then(|| {
        let named_rare = Share {
            inside: rare.right,
            rows: rare.rows,
        };
        let missed_likely = Share {
            inside: likely.rows - likely.right,
            rows: likely.rows,
        };
        let difference = difference_upper(named_rare, missed_likely, weight, alpha);
        likely.prior + rare.prior * difference
    })
}

#[cfg(test)]
#[path = "event_upper/tests.rs"]
mod tests;
