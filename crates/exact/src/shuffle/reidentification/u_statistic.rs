//! The U-statistic of the success: an average over every choice of decoys.

use super::game::Game;

/// The success of guesses in decreasing order of the scores, averaged over every choice of one target score and n − 1
/// decoy scores, with ties in random order. `None` if there are fewer than n − 1 decoys or no target.
///
/// # Formula
/// With a decoys above a target score and e equal to it: (e + 1)⁻¹ Σ_{u=a}^{a+e} s_u, where s_u is the
/// probability that n − 1 of m decoys drawn without replacement hold fewer than k of u given ones. For
/// k = 1 this is \[C(m−a+1, n) − C(m−a−e, n)\]/((e + 1)·C(m, n−1)), the analogue of Gⁿ(t) − Gⁿ(t⁻).
///
/// # Conditions
/// Both slices are increasing and have no NaN.
pub fn u_statistic(target: &[f64], decoys: &[f64], game: &Game) -> Option<f64> {
    let all = decoys.len();
    if target.is_empty() || game.messages() - 1 > all as u64 {
        return None;
    }
    if game.is_won() {
        return Some(1.0);
    }
    let ahead = sums_ahead(all, game);
    let success = |score: &f64| {
        let below = decoys.partition_point(|other| other < score);
        let through = decoys.partition_point(|other| other <= score);
        let (above, equal) = (all - through, through - below);
        (ahead[above + equal + 1] - ahead[above]) / (equal + 1) as f64
    };
    let sum: f64 = target.iter().map(success).sum();
    Some((sum / target.len() as f64).clamp(0.0, 1.0))
}

/// The cumulative sums of s_0, s_1, …, s_m, starting at 0.
fn sums_ahead(all: usize, game: &Game) -> Vec<f64> {
    let (m, n, k) = (all as f64, game.messages() as f64, game.guesses() as f64);
    // s_u − s_{u+1}: the k-th decoy drawn is the (u + 1)-st; a negative hypergeometric distribution.
    let (first, last) = (k - 1.0, m - n + k);
    let ratio = |u: f64| (u + 1.0) / (u + 2.0 - k) * (m - u - n + k) / (m - u - 1.0);
    let mut drawn = vec![0.0; all + 1];
    let mode = (first..=last, (k - 1.0) * m / (n - 1.0));
    let start = mode.1.floor().clamp(*mode.0.start(), *mode.0.end());
    drawn[start as usize] = 1.0;
    let mut u = start;
    while u < last {
        drawn[u as usize + 1] = drawn[u as usize] * ratio(u);
        u += 1.0;
    }
    u = start;
    while u > first {
        u -= 1.0;
        drawn[u as usize] = drawn[u as usize + 1] / ratio(u);
    }
    let total: f64 = drawn.iter().sum();
    let mut later = 0.0;
    for share in drawn.iter_mut().rev() {
        later += *share / total;
        *share = later;
    }
    let mut sums = Vec::with_capacity(all + 2);
    let mut sum = 0.0;
    sums.push(0.0);
    for s in drawn {
        sum += s;
        sums.push(sum);
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extreme::Extreme;
    use leakgauge_testing::{assert_close, rng};
    use rand::RngExt;

    /// Every choice of one target and n − 1 decoys, every order of equal scores.
    fn by_enumeration(target: &[f64], decoys: &[f64], n: usize, k: usize) -> f64 {
        let (mut sum, mut choices) = (0.0, 0.0);
        for subset in 0_u32..1 << decoys.len() {
            if subset.count_ones() as usize != n - 1 {
                continue;
            }
            let chosen: Vec<f64> = (0..decoys.len())
                .filter(|i| subset >> i & 1 == 1)
                .map(|i| decoys[i])
                .collect();
            for score in target {
                let above = chosen.iter().filter(|x| *x > score).count();
                let equal = chosen.iter().filter(|x| *x == score).count();
                let places = k.saturating_sub(above) as f64;
                sum += (places / (equal + 1) as f64).at_most(1.0);
                choices += 1.0;
            }
        }
        sum / choices
    }

    #[test]
    fn the_u_statistic_is_the_mean_over_all_choices() {
        let mut rng = rng(1);
        for _ in 0..60 {
            let mut draw = |count: usize| {
                let mut scores: Vec<f64> = (0..count)
                    .map(|_| f64::from(rng.random_range(0..5_u8)))
                    .collect();
                scores.sort_by(f64::total_cmp);
                scores
            };
            let (target, decoys) = (draw(4), draw(8));
            for n in 2..=9 {
                for k in 1..n {
                    let game = Game::new(n as u64, k as u64).unwrap();
                    let found = u_statistic(&target, &decoys, &game).unwrap();
                    assert_close(
                        1.0 + found,
                        1.0 + by_enumeration(&target, &decoys, n, k),
                        1e-12,
                    );
                }
            }
        }
        assert_eq!(u_statistic(&[1.0], &[1.0], &Game::new(3, 1).unwrap()), None);
    }
}
