//! Limits of the Shannon mutual information between secret and observation, at a prior π that is fixed beforehand, from
//! independent rows of each secret.
//!
//! # From below, for any observations
//!
//! For every conditional law q(s | o), I(S;O) ≥ E ln(q(S | O)/π_S): the difference is the mean Kullback–Leibler divergence
//! of the true posterior from q. With q mixed with the prior, (1 − η)q + ηπ, the gain ln(q/π) of a row is at least ln η. So
//! the mean of the gains of rows that q did not see is limited from below by bets: for fixed centers t_s and a fixed stake
//! Λ, c = (π_s/n_s)(gain − t_s) of the n_s rows of secret s, n in all, E Π (1 + Λc) ≤ (1 + Λ(E Σ π_s·gain − Σ π_s t_s)/n)ⁿ,
//! as rows are independent and a geometric mean is at most the arithmetic one ([`crate::betting`]).
//!
//! # From above, for discrete observations
//!
//! Let ℓ = ln(p(s | o)/π_s) with the true posterior p, which nobody knows but which is one fixed function. Its mean is
//! I = Σ π_s D_s, and its empirical mean Σ π_s Ê_s ℓ is at most the plug-in information Î, because the plug-in posterior is
//! the best of all q on these rows. So I is too large only where an empirical mean is far below its expectation. Under P_s,
//! E e^−ℓ = Σ p(o) over the observations that s has, which is at most 1, and −ℓ ≥ −b with b = ln(1/π_s). The ratio
//! (e^λz − 1 − λz)/(e^z − 1 − z) falls in z for 0 < λ < 1: with h(x) = x(e^x − 1)/(e^x − 1 − x), which grows because
//! (2 sinh(x/2))² ≥ x², its derivative has the sign of (h(λz) − h(z))/z. So with its value g(λ, b) at −b,
//! E e^−λℓ ≤ 1 − (λ − g)D_s, and for every Λ with all λ_s = Λπ_s/n_s < 1
//!
//! P(Σ π_s Ê_s ℓ ≤ x) ≤ exp(Λx − (Λ − G)·I), G = max_s n_s g(λ_s, b_s)/π_s.
//!
//! An I is refuted where that is at most α at x = Î. For each I one Λ, which depends on nothing else, refutes most: the
//! limit is the least (ln(1/α) + ΛÎ)/(Λ − G) over Λ. No size of an alphabet enters; what the plug-in is too large by makes the
//! limit wider and not wrong. The distance from Î falls as √(I/n).
//!
//! # References
//! Donsker and Varadhan 1975, doi:10.1002/cpa.3160280102, and Barber and Agakov 2003 (the bound from below); Durvaux and
//! Standaert 2016, doi:10.1007/978-3-662-49890-3_10 (perceived information); Waudby-Smith and Ramdas 2024,
//! doi:10.1093/jrsssb/qkad009 (bets).

use crate::betting::{Term, limit_above_center, stakes};

/// Stakes that the limit from above chooses from, between the smallest and the largest possible.
const TRIED: i32 = 400;

/// The gains ln(q(s | o)/π_s) of the rows of one secret that judge, and what was known of them beforehand.
#[derive(Debug, Clone, PartialEq)]
pub struct Gains {
    /// π_s, above 0.
    pub weight: f64,
    /// The gains and how many rows have each.
    pub values: Vec<(f64, u64)>,
    /// The smallest gain that a row can have.
    pub least: f64,
    /// The largest; for width only.
    pub most: f64,
    /// About their mean; for width only.
    pub center: f64,
    /// About their standard deviation; for width only.
    pub deviation: f64,
}

impl Gains {
    /// The number of rows.
    pub fn rows(&self) -> u64 {
        self.values.iter().map(|value| value.1).sum()
    }

    fn mean(&self) -> f64 {
        let sum: f64 = self
            .values
            .iter()
            .map(|&(gain, rows)| gain * rows as f64)
            .sum();
        sum / self.rows() as f64
    }
}

/// Σ π_s · mean gain, in nats; `None` if a secret has no rows.
pub fn mean_gain(secrets: &[Gains]) -> Option<f64> {
    let known = secrets.iter().all(|gains| gains.rows() > 0);
    known.then(|| {
        secrets
            .iter()
            .map(|gains| gains.weight * gains.mean())
            .sum()
    })
}

/// The lower limit at level 1 − `alpha` of the mutual information, in nats and at least 0; `None` if a secret has no rows.
///
/// # Formula
/// See the [module](self).
///
/// # Conditions
/// One entry for each secret of positive prior. Rows are independent; the posterior, centers and deviations were settled
/// without them; no gain is below `least`.
///
/// # References
/// See the [module](self).
pub fn information_at_least(secrets: &[Gains], alpha: f64) -> Option<f64> {
    weighted_mean_at_least(secrets, alpha).map(|limit| limit.max(0.0))
}

/// The lower limit at level 1 − `alpha` of Σ π_s E gain, whatever the gains are; `None` if a secret has no rows.
///
/// # Formula
/// See the [module](self): the product of bets.
///
/// # Conditions
/// Rows are independent, centers and deviations were settled without them, and no gain is below `least`.
///
/// # References
/// See the [module](self).
pub fn weighted_mean_at_least(secrets: &[Gains], alpha: f64) -> Option<f64> {
    mean_gain(secrets)?;
    let scale = |gains: &Gains| gains.weight / gains.rows() as f64;
    let most_down = secrets
        .iter()
        .map(|gains| scale(gains) * (gains.center - gains.least))
        .fold(0.0, f64::max);
    let largest = |gains: &Gains| (gains.most - gains.center).max(gains.center - gains.least);
    let sum = |part: &dyn Fn(&Gains) -> f64| -> f64 { secrets.iter().map(part).sum() };
    let squares = sum(&|gains| gains.weight * scale(gains) * largest(gains).powi(2));
    let variance = sum(&|gains| gains.weight * scale(gains) * gains.deviation.powi(2));
    let center = sum(&|gains| gains.weight * gains.center);
    let terms = secrets.iter().flat_map(|gains| {
        let (scale, center) = (scale(gains), gains.center);
        let values = gains.values.iter();
        values.map(move |&(gain, rows)| Term::of(scale * (gain - center), rows as f64))
    });
    let stakes = stakes(most_down, squares, variance, alpha);
    let number = secrets.iter().map(|gains| gains.rows() as f64).sum();
    let above = limit_above_center(terms, number, &stakes, alpha);
    Some(center + above)
}

/// The upper limit at level 1 − `alpha` of the mutual information, in nats and at most the entropy of the prior, from the
/// plug-in information of discrete rows; `None` if a secret has no rows.
///
/// # Formula
/// See the [module](self).
///
/// # Conditions
/// `secrets` are (π_s, n_s) of the secrets of positive prior; rows are independent; `plug_in` is the mutual information of
/// the empirical frequencies at π, in nats.
///
/// # References
/// See the [module](self).
pub fn information_at_most(plug_in: f64, secrets: &[(f64, u64)], alpha: f64) -> Option<f64> {
    if secrets.iter().any(|secret| secret.1 == 0) {
        return None;
    }
    let entropy: f64 = secrets.iter().map(|(prior, _)| -prior * prior.ln()).sum();
    // Λ below which every λ_s is at most 1.
    let each = secrets.iter().map(|&(prior, rows)| rows as f64 / prior);
    let largest = each.fold(f64::INFINITY, f64::min);
    let limit = |stake: f64| {
        let each = secrets.iter().map(|&(prior, rows)| {
            let rows = rows as f64;
            rows / prior * share(stake * prior / rows, -prior.ln())
        });
        let lost = each.fold(0.0, f64::max);
        match stake > lost {
            true => (plug_in * stake - alpha.ln()) / (stake - lost),
            false => f64::INFINITY,
        }
    };
    let tried = (0..TRIED).map(|k| largest * 0.96f64.powi(k + 1));
    Some(tried.map(limit).fold(entropy, f64::min))
}

/// g(λ, b) = (e^−λb − 1 + λb)/(e^−b − 1 + b), in \[λ², λ\]; λ² where b is 0.
fn share(stake: f64, bound: f64) -> f64 {
    // e^−x − 1 + x without cancellation.
    let excess = |x: f64| match x < 1e-2 {
        true => x * x * (0.5 - x * (1.0 / 6.0 - x * (1.0 / 24.0 - x / 120.0))),
        false => (-x).exp_m1() + x,
    };
    match bound > 0.0 {
        true => excess(stake * bound) / excess(bound),
        false => stake * stake,
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// The exact information of a channel at a prior, in nats.
    fn information(prior: &[f64], channel: &[Vec<f64>]) -> f64 {
        let mixed: Vec<f64> = (0..channel[0].len())
            .map(|o| prior.iter().zip(channel).map(|(p, row)| p * row[o]).sum())
            .collect();
        let of = |(p, row): (&f64, &Vec<f64>)| -> f64 {
            let cells = row.iter().zip(&mixed).filter(|cell| *cell.0 > 0.0);
            p * cells.map(|(x, m)| x * (x / m).ln()).sum::<f64>()
        };
        prior.iter().zip(channel).map(of).sum()
    }

    fn frequencies(counts: &[Vec<u64>]) -> Vec<Vec<f64>> {
        let of = |row: &Vec<u64>| {
            let all: u64 = row.iter().sum();
            row.iter().map(|&count| count as f64 / all as f64).collect()
        };
        counts.iter().map(of).collect()
    }

    fn draw(channel: &[Vec<f64>], rows: &[u64], random: &mut impl rand::Rng) -> Vec<Vec<u64>> {
        let of = |(row, &n): (&Vec<f64>, &u64)| {
            let mut counts = vec![0u64; row.len()];
            for _ in 0..n {
                let mut left: f64 = random.random();
                let found = row.iter().position(|p| {
                    left -= p;
                    left < 0.0
                });
                counts[found.unwrap_or(row.len() - 1)] += 1;
            }
            counts
        };
        channel.iter().zip(rows).map(of).collect()
    }

    /// A prior, a channel, rows of each secret.
    type Case = (Vec<f64>, Vec<Vec<f64>>, Vec<u64>);

    fn cases() -> Vec<Case> {
        let half = vec![0.5, 0.5];
        let third = vec![1.0 / 3.0; 3];
        vec![
            // No information, a little, much, all.
            (half.clone(), vec![vec![0.3, 0.7]; 2], vec![100, 100]),
            (
                half.clone(),
                vec![vec![0.6, 0.4], vec![0.4, 0.6]],
                vec![50, 400],
            ),
            (
                half.clone(),
                vec![vec![0.99, 0.01], vec![0.05, 0.95]],
                vec![60, 60],
            ),
            (half, vec![vec![1.0, 0.0], vec![0.0, 1.0]], vec![10, 10]),
            // An observation that is rare and tells much, and one that only one secret has.
            (
                vec![0.9, 0.1],
                vec![vec![0.999, 0.001, 0.0], vec![0.9, 0.05, 0.05]],
                vec![300, 100],
            ),
            (
                third,
                vec![
                    vec![0.5, 0.3, 0.1, 0.1],
                    vec![0.2, 0.2, 0.3, 0.3],
                    vec![0.25, 0.25, 0.25, 0.25],
                ],
                vec![80, 120, 40],
            ),
            (
                vec![0.998, 0.002],
                vec![vec![0.99, 0.01], vec![0.01, 0.99]],
                vec![200, 20],
            ),
        ]
    }

    /// The posterior of frequencies with a half added, mixed with the prior, as gains.
    fn gains(prior: &[f64], learned: &[Vec<u64>], judged: &[Vec<u64>], caution: f64) -> Vec<Gains> {
        let smoothed: Vec<Vec<f64>> = learned
            .iter()
            .map(|row| {
                let all: f64 = row.iter().map(|&count| count as f64 + 0.5).sum();
                row.iter()
                    .map(|&count| (count as f64 + 0.5) / all)
                    .collect()
            })
            .collect();
        let gain = |s: usize, o: usize| {
            let all: f64 = (0..prior.len()).map(|t| prior[t] * smoothed[t][o]).sum();
            ((1.0 - caution) * smoothed[s][o] / all + caution).ln()
        };
        let of = |s: usize| {
            let learned = frequencies(learned);
            let mean: f64 = (0..learned[s].len())
                .map(|o| learned[s][o] * gain(s, o))
                .sum();
            let square: f64 = (0..learned[s].len())
                .map(|o| learned[s][o] * (gain(s, o) - mean).powi(2))
                .sum();
            Gains {
                weight: prior[s],
                values: (0..judged[s].len())
                    .map(|o| (gain(s, o), judged[s][o]))
                    .collect(),
                least: caution.ln(),
                most: -prior[s].ln(),
                center: mean,
                deviation: square.sqrt() + 0.01,
            }
        };
        (0..prior.len()).map(of).collect()
    }

    /// Of 2,000 logs each, no more than a share α and three deviations of it, 0.05 + 3·√(0.05·0.95/2000) = 0.065, may have
    /// a limit on the wrong side.
    #[test]
    fn limits_cover() {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        for (prior, channel, rows) in cases() {
            let truth = information(&prior, &channel);
            let (mut above, mut below) = (0, 0);
            for _ in 0..2000 {
                let judged = draw(&channel, &rows, &mut random);
                let learned = draw(&channel, &rows, &mut random);
                let secrets: Vec<(f64, u64)> = prior.iter().copied().zip(rows.clone()).collect();
                let plug_in = information(&prior, &frequencies(&judged));
                let upper = information_at_most(plug_in, &secrets, 0.05).expect("rows");
                let lower = information_at_least(&gains(&prior, &learned, &judged, 0.05), 0.05);
                let lower = lower.expect("rows");
                above += u64::from(lower > truth + 1e-12);
                below += u64::from(upper < truth - 1e-12);
            }
            assert!(above <= 130, "{prior:?} {channel:?}: {above} lower limits");
            assert!(below <= 130, "{prior:?} {channel:?}: {below} upper limits");
        }
    }

    /// Sides close as 1/√n around 0.0823 nats (0.1187 bits) of two secrets that are told apart with 70 %.
    #[test]
    fn limits_close_with_rows() {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let (prior, channel) = ([0.5, 0.5], [vec![0.7, 0.3], vec![0.3, 0.7]]);
        let truth = information(&prior, &channel);
        let width = |rows: u64, random: &mut _| {
            let counts = [rows, rows];
            let judged = draw(&channel, &counts, random);
            let learned = draw(&channel, &counts, random);
            let secrets = [(0.5, rows), (0.5, rows)];
            let plug_in = information(&prior, &frequencies(&judged));
            let upper = information_at_most(plug_in, &secrets, 0.05).expect("rows");
            let lower = information_at_least(&gains(&prior, &learned, &judged, 0.05), 0.05);
            (upper - truth, truth - lower.expect("rows"))
        };
        let few = width(500, &mut random);
        let many = width(50_000, &mut random);
        assert!(few.0 < 0.08 && few.1 < 0.08, "{few:?}");
        assert!(many.0 < 0.008 && many.1 < 0.008, "{many:?}");
        assert!(many.0 > 0.0 && many.1 > 0.0, "{many:?}");
    }

    /// E e^−λℓ ≤ 1 − (λ − g)·D for the ℓ of random channels, and g is the largest ratio above −b on a grid.
    #[test]
    fn the_moment_bound_holds() {
        let mut random = ChaCha8Rng::seed_from_u64(5);
        for _ in 0..300 {
            let weight: f64 = random.random_range(0.001..0.999);
            let prior = [weight, 1.0 - weight];
            let mut channel = Vec::new();
            for _ in 0..2 {
                let row: Vec<f64> = (0..6).map(|_| random.random::<f64>().powi(8)).collect();
                let all: f64 = row.iter().sum();
                channel.push(row.iter().map(|x| x / all).collect::<Vec<f64>>());
            }
            for stake in [1e-4, 0.01, 0.3, 0.7, 0.999] {
                for s in 0..2 {
                    let (mut moment, mut divergence) = (0.0, 0.0);
                    for (a, b) in channel[0].iter().zip(&channel[1]) {
                        let mixed = prior[0] * a + prior[1] * b;
                        let here = [a, b][s];
                        let ratio = here / mixed;
                        moment += here * ratio.powf(-stake);
                        divergence += here * ratio.ln();
                    }
                    let bound = 1.0 - (stake - share(stake, -prior[s].ln())) * divergence;
                    assert!(moment <= bound + 1e-14, "{prior:?} {channel:?} {stake}");
                }
            }
        }
        for bound in [1e-6, 0.1, 2f64.ln(), 3.0, 30.0] {
            for stake in [1e-5, 0.1, 0.5, 0.9] {
                let ratio = |z: f64| ((stake * z).exp_m1() - stake * z) / (z.exp_m1() - z);
                let found = share(stake, bound);
                for k in 1..2000 {
                    let z = -bound + 0.01 * f64::from(k);
                    assert!(
                        z.abs() < 1e-3 || ratio(z) <= found * (1.0 + 1e-6),
                        "{bound} {stake} {z}"
                    );
                }
                assert!(found >= stake * stake * (1.0 - 1e-12) && found <= stake);
            }
        }
    }

    #[test]
    fn limits_stay_within_what_is_possible() {
        let one = |weight: f64, values: Vec<(f64, u64)>| Gains {
            weight,
            values,
            least: 0.01f64.ln(),
            most: -weight.ln(),
            center: 0.0,
            deviation: 0.1,
        };
        assert_eq!(
            information_at_least(&[one(0.5, vec![]), one(0.5, vec![(0.1, 3)])], 0.05),
            None
        );
        let worse = [one(0.5, vec![(-2.0, 90)]), one(0.5, vec![(-1.0, 90)])];
        assert_eq!(information_at_least(&worse, 0.05), Some(0.0));
        assert_eq!(information_at_most(0.1, &[(0.5, 0), (0.5, 4)], 0.05), None);
        // Two rows say nothing: one bit.
        let most = information_at_most(0.0, &[(0.5, 1), (0.5, 1)], 0.05).expect("rows");
        assert!((most - 2f64.ln()).abs() < 1e-12);
        assert!(information_at_most(0.0, &[(0.5, 1 << 40), (0.5, 1 << 40)], 0.05) < Some(1e-10));
    }
}
