//! Does dependence between rows matter? It does where the secrets are not in random order, or where rows of
//! one secret hang together more than rows of the log do.
//!
//! With secrets in random order and a disturbance that all rows share, whatever their secrets, the secrets
//! are exchangeable given the disturbance: rows are independent given it, and limits hold for the mean of the
//! laws over the time of the log. A disturbance of each secret's own looks like a leak in any order.

use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::categorical::Interleaving;
use super::numeric::unit_scores;
use crate::special::{chi_squared_survival, normal_survival};

/// Distances between rows at which equal secrets are counted.
const LAGS: usize = 16;
/// Distances at which residuals are compared.
const MOST_LAGS: usize = 1024;
/// Rows that are looked at.
const MOST_ROWS: usize = 1 << 16;
/// Into how many stretches of time rows are cut.
const STRETCHES: [usize; 5] = [8, 16, 32, 64, 128];
/// A factor is beyond doubt.
const CLEAR: f64 = 1e-3;
/// Random orders of the secrets.
const ORDERS: usize = 200;

/// Are the secrets in random order? A p-value: small in blocks, in turns, and in any pattern with a period of
/// up to 16 rows.
///
/// # Formula
/// The test of interleaving of rows 1, 2, …, 16 apart, Bonferroni-corrected: for rows L apart it is asked of the rows
/// reordered as 0, L, 2L, …, 1, 1 + L, …, where L − 1 of the neighbors are no such rows.
///
/// # Conditions
/// Null hypothesis: every order of the secrets is equally likely.
///
/// # Panics
/// If a secret is not below `n_secrets`.
pub fn random_order(secrets: &[u32], n_secrets: usize) -> f64 {
    let law = Interleaving::new(secrets, n_secrets);
    let p = |lag: usize| law.test(equal_apart(secrets, lag)).p_value;
    let least = (1..=LAGS).map(p).fold(1.0, f64::min);
    (least * LAGS as f64).min(1.0)
}

/// Equal neighbors among the rows 0, L, 2L, …, 1, 1 + L, …
fn equal_apart(secrets: &[u32], lag: usize) -> usize {
    let rows = secrets.len();
    let apart = secrets.iter().zip(secrets.iter().skip(lag));
    // The last row L·i + r is followed by row r + 1.
    let ends = (1..lag.min(rows)).filter(|&first| {
        let last = first - 1 + (rows - first) / lag * lag;
        secrets[last] == secrets[first]
    });
    apart.filter(|(x, y)| x == y).count() + ends.count()
}

/// Do numbers of one secret hang together more than numbers of the log do, whichever secrets they have? A
/// p-value.
///
/// # Formula
/// T = Σ u_i u_j over successive rows i, j of a secret, u the mid-ranks within the secret. Its law if the
/// disturbance is shared: the same with the secrets in random order and u as it is; 200 orders give its mean
/// and deviation, one-sided normal tail. The first 65,536 rows are looked at.
///
/// # Conditions
/// Null hypothesis: u is a function of time alone, and every order of the secrets equally likely. The seed is
/// fixed: the same rows give the same p-value.
///
/// # Panics
/// If the slices differ in length, a secret is not below `n_secrets` or a value is NaN.
pub fn own_correlation(secrets: &[u32], values: &[f64], n_secrets: usize) -> f64 {
    assert_eq!(secrets.len(), values.len(), "one value per secret");
    let rows = secrets.len().min(MOST_ROWS);
    let scores = unit_scores(&secrets[..rows], &values[..rows], n_secrets);
    own(&secrets[..rows], n_secrets, |i, j| scores[i] * scores[j])
}

/// The same for labels: T counts successive rows of a secret with equal labels.
///
/// # Panics
/// As [`own_correlation`].
pub fn own_agreement(secrets: &[u32], codes: &[u32], n_secrets: usize) -> f64 {
    assert_eq!(secrets.len(), codes.len(), "one code per secret");
    let rows = secrets.len().min(MOST_ROWS);
    own(&secrets[..rows], n_secrets, |i, j| {
        f64::from(u8::from(codes[i] == codes[j]))
    })
}

fn own(secrets: &[u32], n_secrets: usize, score: impl Fn(usize, usize) -> f64) -> f64 {
    let sum = |secrets: &[u32]| {
        let mut last = vec![usize::MAX; n_secrets];
        let mut sum = 0.0;
        for (row, &secret) in secrets.iter().enumerate() {
            let before = std::mem::replace(&mut last[secret as usize], row);
            if before != usize::MAX {
                sum += score(before, row);
            }
        }
        sum
    };
    let observed = sum(secrets);
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    let mut shuffled = secrets.to_vec();
    let sums: Vec<f64> = (0..ORDERS)
        .map(|_| {
            shuffled.shuffle(&mut rng);
            sum(&shuffled)
        })
        .collect();
    let mean = sums.iter().sum::<f64>() / ORDERS as f64;
    let variance = sums.iter().map(|sum| (sum - mean).powi(2)).sum::<f64>() / (ORDERS - 1) as f64;
    if variance <= 0.0 {
        return 1.0;
    }
    normal_survival((observed - mean) / variance.sqrt())
}

/// How much further apart rows of different secrets are, over stretches of time, than rows that are independent but for what
/// they share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OwnInflation {
    /// The variance of the differences between secrets, in parts of what independent rows have: rows are worth that many
    /// times fewer.
    pub factor: f64,
    /// The probability of such a factor, or a larger one, of independent rows; corrected for the stretches that were tried.
    pub p_value: f64,
}

/// Are means of secrets over stretches of time further apart than those of independent rows?
///
/// # Formula
/// The rows are cut into 8, 16, 32, 64 and 128 stretches of equal length. With u the mid-ranks within the secret, Q is the sum
/// over stretches b and secrets s of n_bs·(ū_bs − ū_b)². If rows are independent given what all share, secrets stand in random
/// order within a stretch, and Q has the mean Σ σ_b²·(secrets in b − 1), σ_b² the variance of u in the stretch, and twice the
/// sum of their squares as its variance; a B-th of that is lost because u has the mean 0 for each secret. Ranks are estimated,
/// which adds the part of the rows that meet others to the mean, and its square to half of the variance. The factor is Q over
/// its mean, and the p-value that of a scaled χ² law with these two moments. A disturbance that all rows share is in ū_b too and
/// falls out. Of the cuts with a p-value below 0.001 the largest factor is reported, else the smallest p-value; `None` if secrets
/// do not meet in half of eight stretches, or have fewer than three rows in one.
///
/// # Conditions
/// Rows of the same secret and stretch are several. Rows that depend on their neighbors only are worth fewer by
/// 1 + 2·Σ of their correlations, which long stretches show.
///
/// # Panics
/// If the slices differ in length, a secret is not below `n_secrets` or a value is NaN.
pub fn own_inflation(secrets: &[u32], values: &[f64], n_secrets: usize) -> Option<OwnInflation> {
    assert_eq!(secrets.len(), values.len(), "one value per secret");
    let rows = secrets.len().min(MOST_ROWS);
    let scores = unit_scores(&secrets[..rows], &values[..rows], n_secrets);
    let found =
        STRETCHES.map(|stretches| inflation(&secrets[..rows], &scores, n_secrets, stretches));
    found[0]?;
    let tried = found.len() as f64;
    let found = found.into_iter().flatten().map(|one| OwnInflation {
        p_value: (tried * one.p_value).min(1.0),
        ..one
    });
    // A fine cut may be surer of a small factor than a coarse one of a large factor.
    let clear = found.clone().filter(|one| one.p_value < CLEAR);
    clear
        .max_by(|x, y| x.factor.total_cmp(&y.factor))
        .or_else(|| found.min_by(|x, y| x.p_value.total_cmp(&y.p_value)))
}

/// The same for stretches of one length; `None` where they are too short.
fn inflation(
    secrets: &[u32],
    scores: &[f64],
    n_secrets: usize,
    stretches: usize,
) -> Option<OwnInflation> {
    let (mut between, mut expected, mut squares) = (0.0, 0.0, 0.0);
    let mut meetings = 0.0;
    let (all, mut estimated) = (scores.len() as f64, 0.0);
    let mut of_secrets = vec![(0.0, 0.0); n_secrets];
    for at in 0..stretches {
        let stretch = at * secrets.len() / stretches..(at + 1) * secrets.len() / stretches;
        let (secrets, scores) = (&secrets[stretch.clone()], &scores[stretch]);
        let rows = scores.len() as f64;
        let mean = scores.iter().sum::<f64>() / rows;
        of_secrets.fill((0.0, 0.0));
        for (&secret, &score) in secrets.iter().zip(scores) {
            let (rows, sum) = &mut of_secrets[secret as usize];
            (*rows, *sum) = (*rows + 1.0, *sum + score - mean);
        }
        let seen = of_secrets.iter().filter(|of| of.0 > 0.0);
        let others = seen.clone().count() as f64 - 1.0;
        // With few rows beyond one of each secret, their variance is hardly known.
        if rows < 3.0 * (others + 1.0) {
            return None;
        }
        let spread = scores.iter().map(|score| (score - mean).powi(2));
        let variance = spread.sum::<f64>() / (rows - 1.0);
        between += seen.map(|(rows, sum)| sum * sum / rows).sum::<f64>();
        expected += variance * others;
        squares += variance * variance * others;
        estimated += others * rows / all;
        meetings += others;
    }
    let (others, stretches) = (n_secrets as f64 - 1.0, stretches as f64);
    let is_mixed = meetings >= 0.5 * stretches * others;
    // Ranks are estimated: that moves all rows of a secret together, in every stretch alike.
    expected += estimated;
    squares += estimated * estimated / others.max(1.0);
    if !is_mixed || squares <= 0.0 {
        return None;
    }
    let kept = 1.0 - 1.0 / stretches;
    let freedom = kept * expected * expected / squares;
    let factor = between / (kept * expected);
    Some(OwnInflation {
        factor,
        p_value: chi_squared_survival(freedom * factor, freedom),
    })
}

/// The distance at which rows resemble each other most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Period {
    /// Rows apart.
    pub lag: usize,
    /// Their correlation, less what is expected if order means nothing.
    pub correlation: f64,
    /// Two-sided p-value, corrected for all distances; 1 if nothing can be tested.
    pub p_value: f64,
}

/// Do values recur with a period? The correlation of rows 2 to 1,024 apart, whichever secrets they have, by
/// their ranks within the secret.
///
/// # Formula
/// z = Σ u_i u_{i+L}/√m over the m pairs of rows L apart, whose law is normal for exchangeable u of unit
/// variance up to terms of 1/n; the largest |z|, Bonferroni-corrected over distances. With at least 8 pairs a
/// distance. Only rows of one block of `block` rows are compared, and of the first 65,536 rows.
///
/// # Conditions
/// Null hypothesis: the rows of each secret are exchangeable, secrets independent of each other.
///
/// # Panics
/// As [`own_correlation`].
pub fn period(secrets: &[u32], values: &[f64], n_secrets: usize, block: usize) -> Period {
    assert_eq!(secrets.len(), values.len(), "one value per secret");
    let rows = secrets.len().min(MOST_ROWS);
    let scores = unit_scores(&secrets[..rows], &values[..rows], n_secrets);
    let most = MOST_LAGS.min(rows / 8).min(block / 2);
    let mut best = Period {
        lag: 0,
        correlation: 0.0,
        p_value: 1.0,
    };
    let mut largest = 0.0f64;
    for lag in 2..=most {
        let (mut sum, mut pairs) = (0.0, 0usize);
        for block in scores.chunks(block) {
            if block.len() > lag {
                sum += product(block, &block[lag..]);
                pairs += block.len() - lag;
            }
        }
        let z = sum / (pairs.max(1) as f64).sqrt();
        if z.abs() > largest {
            largest = z.abs();
            best = Period {
                lag,
                correlation: sum / pairs as f64,
                p_value: 1.0,
            };
        }
    }
    best.p_value = (2.0 * most as f64 * normal_survival(largest)).min(1.0);
    best
}

/// The sum of the products of two rows of numbers, as far as the shorter goes. Eight sums at once, since each addition
/// would wait for the one before.
fn product(x: &[f64], y: &[f64]) -> f64 {
    let rows = x.len().min(y.len());
    let (x, y) = (x[..rows].chunks_exact(8), y[..rows].chunks_exact(8));
    let rest = x.remainder().iter().zip(y.remainder());
    let rest: f64 = rest.map(|(x, y)| x * y).sum();
    let mut sums = [0.0; 8];
    for (x, y) in x.zip(y) {
        for ((sum, x), y) in sums.iter_mut().zip(x).zip(y) {
            *sum += x * y;
        }
    }
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_apart_are_compared_where_they_stand() {
        for rows in [0, 1, 2, 5, 16, 33, 100] {
            let secrets: Vec<u32> = (0..rows).map(|row| row * row % 7 % 3).collect();
            for lag in 1..=LAGS {
                let apart = (0..lag).flat_map(|first| secrets.iter().skip(first).step_by(lag));
                let apart: Vec<u32> = apart.copied().collect();
                let equal = apart.windows(2).filter(|pair| pair[0] == pair[1]);
                assert_eq!(equal_apart(&secrets, lag), equal.count(), "{rows} {lag}");
            }
        }
    }
}
