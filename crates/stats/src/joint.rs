//! One table of limits for all pairs, whose largest is the verdict's.
//!
//! Each pair p gets the share s_p of α, Σ s_p = 1, settled before the certify rows are seen; its limit at
//! α·s_p stands in the table, and the verdict reads the largest. All limits of the table hold together
//! with probability at least 1 − α (weighted Bonferroni), hence so does the largest, and the verdict's
//! limit is never below the best of the table: it *is* the best of the table.
//!
//! The pair chosen on the tune rows gets most of α, so that the verdict is as good as if it were read
//! alone, nearly; the rest guards against a wrong choice, and more of it goes to pairs that promised more.
//! With a chosen pair at 0.8 α its limit is 6 % farther from the estimate than at α (normal quantiles
//! 1.75 and 1.645).
//!
//! *Why not an average of e-values over pairs*: its limits are valid too, but an e-value needs √(2 ln 1/α)
//! standard deviations where a binomial limit needs z_α: half as many again at α = 0.05.
//!
//! # References
//! Genovese, Roeder and Wasserman 2006, doi:10.1093/biomet/93.3.509 (weighted Bonferroni); Vovk and Wang
//! 2021, doi:10.1214/20-AOS2020 (averages of e-values).

/// α's share of the chosen pair, where there are others.
pub const CHOSEN: f64 = 0.8;
/// α's share that all pairs have alike, whatever they promised.
const EQUAL: f64 = 0.05;

/// The shares of α of all pairs, from what each promises: the lower limit expected on its certify rows, by
/// its tune-row rates and its *number* of certify rows (which may be looked at). Pairs that cannot be
/// judged promise −∞ and get nothing. Sums to 1 if any pair can be judged.
///
/// # Formula
/// The largest promise, the first of equals: 0.8 and its parts of the rest. 0.15 by rank, each next pair
/// half of the one before. 0.05 alike over all.
///
/// # Conditions
/// Promises depend on tune rows and numbers of rows only.
pub fn shares(promises: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..promises.len())
        .filter(|&pair| promises[pair] > f64::NEG_INFINITY)
        .collect();
    // A stable sort: equal promises in the order given, whatever the number of threads.
    order.sort_by(|&x, &y| promises[y].total_cmp(&promises[x]));
    let mut shares = vec![0.0; promises.len()];
    let pairs = order.len() as f64;
    let halves = 1.0 - 0.5f64.powf(pairs - 1.0);
    for (rank, &pair) in order.iter().enumerate() {
        let by_rank = match rank {
            0 if order.len() == 1 => 1.0 - EQUAL,
            0 => CHOSEN,
            _ => (1.0 - CHOSEN - EQUAL) * 0.5f64.powi(rank as i32) / halves,
        };
        shares[pair] = by_rank + EQUAL / pairs;
    }
    shares
}

/// The table of joint limits and the position of its largest, which the verdict reads. A pair without a
/// share has the limit `none`.
///
/// # Formula
/// limit(pair, α·share) for each.
///
/// # Conditions
/// `limit` is valid for each pair at each level, its method settled beforehand. Then all hold together
/// with probability at least 1 − α.
pub fn table(
    shares: &[f64],
    alpha: f64,
    none: f64,
    limit: impl Fn(usize, f64) -> f64,
) -> (Vec<f64>, Option<usize>) {
    let limits: Vec<f64> = shares
        .iter()
        .enumerate()
        .map(|(pair, &share)| {
            if share > 0.0 {
                limit(pair, alpha * share)
            } else {
                none
            }
        })
        .collect();
    let best = (0..limits.len())
        .filter(|&pair| shares[pair] > 0.0)
        .reduce(|best, next| {
            if limits[next] > limits[best] {
                next
            } else {
                best
            }
        });
    (limits, best)
}

/// A lower limit to expect of a pair's advantage on so many certify rows of either secret, for [`shares`].
/// The doubt of the tune rows counts as much as that of the certify rows, so that neither the luckiest of
/// many pairs with a handful of tune rows wins, nor a pair that has no rows left to be judged on.
///
/// # Formula
/// 1 − p_a − p_b − z_α √(v_a/(t_a + 1) + v_b/(t_b + 1) + (v_a + v_b)/m), p the error rates on t tune rows,
/// drawn to ½ by one row's worth, v = p(1 − p), m the smaller number of certify rows, which pooled limits
/// read; −∞ without certify rows. For choosing only.
pub fn promise(errors: [u64; 2], tune_rows: [u64; 2], certify_rows: [u64; 2], alpha: f64) -> f64 {
    let least = certify_rows[0].min(certify_rows[1]) as f64;
    if least == 0.0 {
        return f64::NEG_INFINITY;
    }
    let z = -crate::special::normal_quantile(alpha);
    let rate = |at: usize| (errors[at] as f64 + 0.5) / (tune_rows[at] as f64 + 1.0);
    let variance = |at: usize, rows: f64| rate(at) * (1.0 - rate(at)) / rows;
    let tuned = |at: usize| variance(at, tune_rows[at] as f64 + 1.0);
    let doubt = (tuned(0) + tuned(1) + variance(0, least) + variance(1, least)).sqrt();
    1.0 - rate(0) - rate(1) - z * doubt
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::poisson_binomial::poisson_binomial_upper;
    use leakgauge_testing::{at_most, rng};
    use rand::RngExt;

    #[test]
    fn shares_sum_to_one_and_the_best_promise_has_most() {
        for promises in [
            vec![0.1],
            vec![0.1, 0.4],
            vec![0.3, 0.3, f64::NEG_INFINITY, 0.1],
            (0..78).map(f64::from).collect(),
        ] {
            let shares = shares(&promises);
            assert!(
                (shares.iter().sum::<f64>() - 1.0).abs() < 1e-12,
                "{shares:?}"
            );
            let best = promises.iter().copied().fold(f64::MIN, f64::max);
            let at = promises.iter().position(|&p| p == best).unwrap();
            assert!(shares[at] >= CHOSEN);
        }
        assert!(shares(&[f64::NEG_INFINITY]).iter().all(|&s| s == 0.0));
    }

    #[test]
    fn the_verdict_is_the_best_of_the_table() {
        let shares = shares(&[0.1, 0.5, f64::NEG_INFINITY]);
        let (limits, best) = table(&shares, 0.05, 0.0, |pair, alpha| [0.9, 0.2][pair] - alpha);
        assert_eq!(best, Some(0));
        assert!(limits[0] > limits[1] && limits[2] == 0.0);
    }

    #[test]
    fn few_certify_rows_promise_little() {
        let rich = promise([30, 30], [100, 100], [500, 500], 0.05);
        let poor = promise([5, 5], [20, 20], [12, 500], 0.05);
        assert!(rich > poor);
        assert_eq!(promise([0, 0], [9, 9], [0, 9], 0.05), f64::NEG_INFINITY);
    }

    /// 1,500 leak-free logs of 10 pairs, shares by luck of the tune rows: a limit above 0 anywhere in at
    /// most 5 %.
    #[test]
    fn all_limits_hold_together() {
        let mut rng = rng(8);
        let runs = 1500;
        let wrong = (0..runs)
            .filter(|_| {
                let mut errors =
                    |rows: u64| (0..rows).filter(|_| rng.random_bool(0.5)).count() as u64;
                let promises: Vec<f64> = (0..10)
                    .map(|_| promise([errors(40), errors(40)], [40, 40], [80, 80], 0.05))
                    .collect();
                let certify: Vec<u64> = (0..10).map(|_| errors(160)).collect();
                let (limits, best) = table(&shares(&promises), 0.05, 0.0, |pair, alpha| {
                    1.0 - 2.0 * poisson_binomial_upper(certify[pair], 160, alpha)
                });
                limits[best.unwrap()] > 0.0
            })
            .count();
        assert!(wrong <= at_most(runs, 0.05), "{wrong}");
    }
}
