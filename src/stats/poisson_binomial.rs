//! Limits for the mean of Bernoulli rows whose parameters may differ.
//!
//! The number of errors S in N independent rows with error probabilities of mean p̄ is
//! Poisson-binomial. Hoeffding (1956, Theorem 4) shows P(S ≤ c) ≤ P(Bin(N, p̄) ≤ c) for every whole
//! c ≤ Np̄ − 1, so that the Clopper–Pearson limit stays valid as long as the counts c at which it
//! falls below p̄ satisfy this.
//!
//! They do, save one. Let α ≤ 1/4, and let c ≤ N − 2 be the largest count with upper limit below p̄,
//! that is P(Bin(N, p̄) ≤ c) < α. If c > Np̄ − 1 then c ≥ ⌊Np̄⌋, hence 1 − p̄ > 1/N, and then
//! P(Bin(N, p̄) ≤ Np̄) > 1/4 (Greenberg and Mohri 2014, for the failures): a contradiction. So
//! P(S ≤ c) < α.
//!
//! The exception is c = N − 1: P(S ≤ N − 1) = 1 − Π p_i can be as large as N(1 − p̄), when one row
//! has all the doubt, which exceeds the binomial 1 − p̄^N. There the upper limit is 1 − α/N in place
//! of (1 − α)^{1/N}. The lower limit mirrors all this: α/N at one error.

use super::binomial::{clopper_pearson_lower, clopper_pearson_upper};

/// Up to this level the argument of the module holds; a larger one is lowered to it.
const LARGEST_ALPHA: f64 = 0.25;

/// The upper limit at level 1 − `alpha` for the mean error probability of `rows` rows.
///
/// # Formula
/// The Clopper–Pearson limit; 1 − α/rows at rows − 1 errors.
///
/// # Conditions
/// Independent rows, each with a probability of its own. An `alpha` above 1/4 counts as 1/4. Valid
/// at every number of rows.
///
/// # References
/// Hoeffding (1956), Theorem 4, 10.1214/aoms/1177728178; Greenberg and Mohri (2014), Theorem 1,
/// 10.1016/j.spl.2013.12.009.
///
/// # Panics
/// As [`clopper_pearson_upper`].
pub fn poisson_binomial_upper(errors: u64, rows: u64, alpha: f64) -> f64 {
    let limit = clopper_pearson_upper(errors, rows, alpha);
    if rows == 0 || errors == rows {
        return limit;
    }
    let alpha = alpha.min(LARGEST_ALPHA);
    if errors == rows - 1 {
        return (1.0 - alpha / rows as f64).next_up();
    }
    clopper_pearson_upper(errors, rows, alpha)
}

/// The lower limit at level 1 − `alpha` for the mean error probability of `rows` rows.
///
/// # Formula
/// The Clopper–Pearson limit; α/rows at one error.
///
/// # Conditions
/// As [`poisson_binomial_upper`], with its references.
///
/// # Panics
/// As [`clopper_pearson_lower`].
pub fn poisson_binomial_lower(errors: u64, rows: u64, alpha: f64) -> f64 {
    let limit = clopper_pearson_lower(errors, rows, alpha);
    if errors == 0 {
        return limit;
    }
    let alpha = alpha.min(LARGEST_ALPHA);
    if errors == 1 {
        return (alpha / rows as f64).next_down();
    }
    clopper_pearson_lower(errors, rows, alpha)
}
