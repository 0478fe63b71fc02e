//! The largest additive g-leakage over all priors, and over classes of gains.

use crate::extreme::Extreme;
use serde::Serialize;

use super::branch::{Question, search};
use super::merged::merged;
use crate::channel::{Channel, Payoff, Prior};
use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::option;

/// The largest number of columns in which observations that tell the same are looked for.
const MOST_MERGED: usize = 2_000;
/// The largest number of entries visited when all subsets of secrets are tried.
const MOST_VISITS: f64 = 2e8;

/// Linear programs with larger numbers have no solution in double precision.
const MOST_GAIN: f64 = 1e30;

/// How much a channel leaks at most, additively.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AdditiveCapacity {
    /// max_π V_g(π, C) − V_g(π) is at least this, the leakage at `prior`.
    pub lower: f64,
    /// And at most this.
    pub upper: f64,
    /// The prior that attains `lower`.
    pub prior: Vec<f64>,
    /// The largest additive leakage at the prior of the report over all gains whose values for one guess differ by at
    /// most 1: the total variation between the joint distribution and that of independent secret and observation.
    pub any_spanning_gain: f64,
    /// The largest additive leakage over all gains of at most 1 with vulnerabilities that are not negative, at every prior
    /// without a secret of probability 0.
    pub any_bounded_gain: f64,
}

impl AdditiveCapacity {
    /// Of a channel under a gain.
    ///
    /// # Formula
    /// Over all priors, for gain g: the largest leakage is that of the best strategy σ, a guess for each observation, so
    /// max_σ max_π min_μ Σ_s π_s (Σ_o C\[s,o\]·g(σ(o), s) − Σ_w μ_w g(w, s)), where μ mixes blind guesses: a game for each
    /// σ. Branch and bound over σ; an observation without a guess counts with the best gain of every secret. Every mixture
    /// μ gives an upper limit, every prior a lower one. Where the gain is guessing the secret, a uniform prior over some
    /// of the secrets is best, as the leakage is convex where one secret stays the likeliest: all are tried if they are
    /// few enough. The upper limit is never above (1 − 1/k)·tv·r for k secrets, the largest total variation tv and the
    /// largest range r of the gain of one guess, nor above (1 − 1/ML×)·m and (1 − Σ_o min_s C\[s,o\])·m, where m is the
    /// largest gain after the least of every secret is subtracted, which changes no additive leakage.
    ///
    /// Over all gains: Σ_o q_o tv(δ_o, π) = tv(π×C, π×πC), as V_g changes by at most tv where a guess spans 1; and 1 −
    /// Σ_o min_s C\[s,o\], as δ_o = r·π + (1 − r)·ρ with r = min_s δ_o,s/π_s and V_g is convex.
    ///
    /// # Errors
    /// A gain or a prior over another number of secrets.
    ///
    /// # References
    /// M. S. Alvim, K. Chatzikokolakis, A. McIver, C. Morgan, C. Palamidessi, G. Smith, *Additive and multiplicative
    /// notions of leakage, and their capacities*, doi:10.1109/CSF.2014.29; the same, *The Science of Quantitative
    /// Information Flow*, chapter 7, doi:10.1007/978-3-319-96131-6.
    pub fn of(channel: &Channel, gain: &Payoff, at: &Prior) -> Result<AdditiveCapacity> {
        // It checks the numbers of secrets.
        gain.prior_vulnerability(at)?;
        let law = channel.push_forward(at)?;
        let n = channel.secrets().len();
        let columns = match channel.observations().len() {
            0..=MOST_MERGED => merged(channel),
            width => (0..width)
                .map(|o| channel.rows().map(|row| row[o]).collect())
                .collect(),
        };
        let question = Question::new(columns, gain, n);
        let largest = question.largest_gain();
        if largest > MOST_GAIN || largest.is_nan() {
            return Err(Error::parameter(
                option("gain"),
                format!("its values differ by more than {MOST_GAIN:e}"),
            )
            .with_hint("divide all values by the largest: the capacity is divided by it too"));
        }
        let limit = closed_limit(channel, gain, &question)?;
        let visits = 2f64.powi(n.min(1000) as i32) * question.columns().len() as f64;
        let (lower, upper, prior) = match question.guesses_the_secret() {
            Some(scale) if visits <= MOST_VISITS => {
                let (found, prior) = best_subset(question.columns(), n);
                (scale * found, scale * found, prior)
            }
            _ => search(&question, at.weights(), limit),
        };
        let rounding = question.rounding();
        let lower = (lower - rounding).at_least(0.0);
        let spanning = channel.rows().zip(at.weights()).map(|(row, weight)| {
            let apart = row.iter().zip(&law).map(|(p, q)| (p - q).abs());
            weight * apart.sum::<f64>() / 2.0
        });
        Ok(AdditiveCapacity {
            upper: (upper + rounding).at_most(limit).at_least(lower),
            lower,
            prior,
            any_spanning_gain: spanning.sum(),
            any_bounded_gain: channel
                .above_least()
                .chunks(law.len())
                .fold(1.0, |least, row| {
                    let above: f64 = row.iter().sum();
                    least.at_most(above)
                }),
        })
    }
}

/// An upper limit that needs no search.
fn closed_limit(channel: &Channel, gain: &Payoff, question: &Question) -> Result<f64> {
    let n = channel.secrets().len();
    let range = gain.values().chunks(n).map(|row| {
        let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::at_least);
        most - row.iter().copied().fold(f64::INFINITY, f64::at_most)
    });
    let worst = crate::channel::diameter(channel, Default::default())?.total_variation;
    let apart = (1.0 - 1.0 / n as f64) * worst * range.fold(0.0, f64::at_least);
    let capacity = channel.multiplicative_capacity();
    let most = question.largest_gain();
    let limit = apart.at_most((1.0 - 1.0 / capacity).at_least(0.0) * most);
    Ok(limit + question.rounding())
}

/// The largest (Σ_o max_{s∈U} C\[s,o\] − 1)/|U| over all sets U of secrets, and the uniform prior over that set.
fn best_subset(columns: &[Vec<f64>], n: usize) -> (f64, Vec<f64>) {
    let mut best = (0.0, 1u64);
    let width = columns.len();
    let rows: Vec<f64> = (0..n)
        .flat_map(|s| columns.iter().map(move |column| column[s]))
        .collect();
    // The largest entries of each column after each decision.
    let mut largest = vec![0.0; (n + 1) * width];
    let mut visit = vec![(0usize, 0u64, false)];
    while let Some((s, set, taken)) = visit.pop() {
        if s > 0 {
            let (before, after) = largest.split_at_mut(s * width);
            let before = &before[(s - 1) * width..];
            for (o, most) in after[..width].iter_mut().enumerate() {
                *most = match taken {
                    true => before[o].at_least(rows[(s - 1) * width + o]),
                    false => before[o],
                };
            }
        }
        if s == n {
            let count = set.count_ones();
            let sum: f64 = largest[n * width..].iter().sum();
            let leakage = (sum - 1.0) / f64::from(count.max(1));
            if leakage > best.0 {
                best = (leakage, set);
            }
            continue;
        }
        visit.push((s + 1, set, false));
        visit.push((s + 1, set | 1 << s, true));
    }
    let count = f64::from(best.1.count_ones());
    let weight = |s: usize| f64::from(u8::from(best.1 >> s & 1 == 1)) / count;
    (best.0, (0..n).map(weight).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_testing::rng;
    use rand::RngExt;

    fn found(channel: &Channel, gain: &Payoff) -> AdditiveCapacity {
        let n = channel.secrets().len();
        AdditiveCapacity::of(channel, gain, &Prior::uniform(n)).unwrap()
    }

    fn leakage(channel: &Channel, gain: &Payoff, prior: &Prior) -> f64 {
        gain.vulnerability(channel, prior).unwrap() - gain.prior_vulnerability(prior).unwrap()
    }

    fn random(source: &mut impl RngExt, rows: usize, columns: usize) -> Vec<Vec<f64>> {
        let row = |_| {
            let row: Vec<f64> = (0..columns).map(|_| source.random::<f64>()).collect();
            let sum: f64 = row.iter().sum();
            row.into_iter().map(|x| x / sum).collect()
        };
        (0..rows).map(row).collect()
    }

    /// Guessing the secret, by hand: ½·tv of two secrets; (1 − 1/k)·tv of randomized response over k.
    #[test]
    fn guessing_the_secret_has_the_capacities_of_closed_forms() {
        let two = Channel::from_rows(&[[0.9, 0.1], [0.4, 0.6]]).unwrap();
        let at = found(&two, &Payoff::identity(2));
        assert!(at.lower <= 0.25 && at.upper >= 0.25 && at.upper - at.lower < 1e-13);
        for k in [3usize, 6, 12, 30] {
            let tv = (1f64.exp() - 1.0) / (1f64.exp() + k as f64 - 1.0);
            let entry = |s, o| if s == o { 1f64.exp() } else { 1.0 };
            let row = |s| {
                (0..k)
                    .map(move |o| entry(s, o) / (1f64.exp() + k as f64 - 1.0))
                    .collect()
            };
            let rows: Vec<Vec<f64>> = (0..k).map(row).collect();
            let at = found(&Channel::from_rows(&rows).unwrap(), &Payoff::identity(k));
            let exact = (1.0 - 1.0 / k as f64) * tv;
            assert!(at.lower <= exact && exact <= at.upper, "{k} {at:?} {exact}");
            assert!(at.upper - at.lower < 1e-9, "{k} {at:?}");
        }
    }

    /// Branch and bound meets what scipy's linprog and a search over all strategies find (see the literals), and no prior
    /// of a fine grid leaks more.
    #[test]
    fn the_capacity_under_a_gain_is_that_of_all_strategies() {
        let rows = [[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.25, 0.25, 0.5]];
        let channel = Channel::from_rows(&rows).unwrap();
        let values = vec![1.0, 0.0, 0.2, 0.3, 0.8, 0.0, 0.0, 0.1, 0.9, 0.5, 0.4, 0.45];
        let gain = Payoff::new(crate::channel::numbered(4), 3, values).unwrap();
        let at = found(&channel, &gain);
        assert!(at.upper - at.lower < 1e-9, "{at:?}");
        assert!((at.lower - CAPACITY).abs() < 1e-9, "{at:?}");
        let prior = Prior::new(at.prior.clone()).unwrap();
        assert!((leakage(&channel, &gain, &prior) - at.lower).abs() < 1e-12);
        let mut largest = 0f64;
        for a in 0..=200 {
            for b in 0..=200 - a {
                let weights = [a, b, 200 - a - b].map(|x| f64::from(x) / 200.0).to_vec();
                let leaked = leakage(&channel, &gain, &Prior::new(weights).unwrap());
                largest = largest.at_least(leaked);
            }
        }
        assert!(
            largest <= at.upper && largest > 0.98 * at.lower,
            "{largest} {at:?}"
        );
    }

    /// The largest value of the linear programs over priors, one for each of the 64 strategies: linprog of scipy 1.17.1.
    const CAPACITY: f64 = 0.149_333_333_333_333_2;

    #[test]
    fn limits_enclose_the_leakage_of_random_priors_and_agree_where_the_search_ends() {
        let mut source = rng(3);
        for (n, width, guesses) in [(2, 3, 3), (3, 3, 4), (4, 5, 3), (5, 3, 6), (6, 8, 6)] {
            let channel = Channel::from_rows(&random(&mut source, n, width)).unwrap();
            let values: Vec<f64> = (0..n * guesses)
                .map(|_| 3.0 * source.random::<f64>() - 1.0)
                .collect();
            let gain = Payoff::new(crate::channel::numbered(guesses), n, values).unwrap();
            let at = found(&channel, &gain);
            assert!(at.lower <= at.upper);
            for _ in 0..500 {
                let prior = random(&mut source, 1, n).remove(0);
                let leaked = leakage(&channel, &gain, &Prior::new(prior).unwrap());
                assert!(leaked <= at.upper, "{leaked} {at:?}");
            }
            if n < 6 {
                assert!(at.upper - at.lower < 1e-8, "{n} {at:?}");
            }
        }
    }

    /// The gains of the documentation attain both figures over all gains.
    #[test]
    fn the_largest_leakage_over_all_gains_is_attained() {
        let mut source = rng(4);
        let channel = Channel::from_rows(&random(&mut source, 4, 5)).unwrap();
        let prior = Prior::new(random(&mut source, 1, 4).remove(0)).unwrap();
        let at = AdditiveCapacity::of(&channel, &Payoff::identity(4), &prior).unwrap();
        let law = channel.push_forward(&prior).unwrap();
        // 1 where the observation makes the secret likelier, less what that guess gains blindly.
        let mut values = Vec::new();
        for (o, q) in law.iter().enumerate() {
            let likelier = |s: usize| f64::from(u8::from(channel.row(s)[o] > *q));
            let blind: f64 = (0..4).map(|s| prior.weights()[s] * likelier(s)).sum();
            values.extend((0..4).map(|s| likelier(s) - blind));
        }
        let spanning = Payoff::new(crate::channel::numbered(5), 4, values).unwrap();
        assert!((leakage(&channel, &spanning, &prior) - at.any_spanning_gain).abs() < 1e-14);
        // 1 − [s = x]/π_x: nothing is gained blindly.
        let mut values = vec![1.0; 16];
        (0..4).for_each(|s| values[5 * s] = 1.0 - 1.0 / prior.weights()[s]);
        let bounded = Payoff::new(crate::channel::numbered(4), 4, values).unwrap();
        assert!((leakage(&channel, &bounded, &prior) - at.any_bounded_gain).abs() < 1e-13);
    }
}
