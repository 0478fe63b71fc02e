//! Re-identification estimated from samples of the messages of the target and of the decoys.
//!
//! Half of each sample trains an attack, the other half certifies it. The certified part of the ROC curve gives lower
//! limits of the success for all n and k at once, because β_n^k is an integral that increases with the curve.

use crate::extreme::Extreme;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use super::bounds::hockey_stick_bound;
use super::game::{Game, Success};
use super::law::RatioLaw;
pub use super::u_statistic::u_statistic;
use leakgauge_base::error::{Error, Result};
use leakgauge_stats::binomial::{clopper_pearson_lower, clopper_pearson_upper};
use leakgauge_stats::concentration::mcdiarmid_hockey_stick_radius;
use leakgauge_stats::hypergeometric;
use leakgauge_stats::random::{Digest, Randomness, Stream};

/// The largest number of thresholds that are certified together.
const MAX_THRESHOLDS: u32 = 12;
/// The factors λ whose hockey-stick divergences are bounded together.
const FACTORS: [f64; 6] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];

/// Samples of messages.
#[derive(Debug, Clone, PartialEq)]
pub enum Messages {
    /// For each label, its count among the target's messages and among the decoys.
    Labels {
        /// The counts or values of the target.
        target: Vec<u64>,
        /// The counts or values of the decoys.
        decoys: Vec<u64>,
    },
    /// Finite numbers from a continuous distribution.
    Numbers {
        /// The counts or values of the target.
        target: Vec<f64>,
        /// The counts or values of the decoys.
        decoys: Vec<f64>,
    },
}

impl Messages {
    /// A digest of all samples.
    fn digest(&self) -> Digest {
        let of_both = |target: &mut dyn Iterator<Item = u64>,
                       decoys: &mut dyn Iterator<Item = u64>| {
            Digest::EMPTY.with_all(target).with_all(decoys)
        };
        match self {
            Messages::Labels { target, decoys } => {
                of_both(&mut target.iter().copied(), &mut decoys.iter().copied())
            }
            Messages::Numbers { target, decoys } => {
                let bits = |number: &f64| number.to_bits();
                of_both(&mut target.iter().map(bits), &mut decoys.iter().map(bits))
            }
        }
    }
}

/// An estimate of the success, with confidence limits.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// The scores of the certification rows of target and decoys, increasing.
    scores: [Vec<f64>; 2],
    /// The certified part of the ROC curve.
    certified: RatioLaw,
    /// Upper limits of E_λ for each of [`FACTORS`], if there are any.
    divergences: Option<Vec<f64>>,
    /// The number of training rows of target and decoys.
    pub fit: [u64; 2],
    /// The number of certification rows of target and decoys.
    pub certify: [u64; 2],
    /// The number of thresholds certified together.
    pub thresholds: usize,
}

/// The estimate and the confidence limits for one game.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Figure {
    /// The estimated success of the learned attack: the U-statistic of the certification rows. `None` if they have
    /// fewer than n − 1 decoys. A value that noise put outside of the limits is replaced by the nearest inside.
    pub point: Option<f64>,
    /// The estimate as it was computed, where that is another number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw: Option<f64>,
    /// A lower limit of the success of the optimal adversary.
    pub lower: f64,
    /// An upper limit of it; `None` for numbers, for which no such limit exists.
    pub upper: Option<f64>,
}

impl Estimate {
    /// Trains an attack on half of the rows and certifies it on the other half.
    ///
    /// # Formula
    /// Scores: for labels, the ratio of counts + ½ in the training rows; for numbers, the ratio of the distances to
    /// the k-th nearest decoy and target, k = √(training rows). Lower limits: Clopper–Pearson on
    /// both tail shares at up to 12 thresholds chosen on training rows, α divided equally; the concave hull of
    /// those points is below the true ROC curve. Upper limits, labels only:
    /// min_λ E_λ(P̂‖Q̂) + radius + λk/n over λ = 1, 2, …, 32, McDiarmid's radius, α divided equally.
    ///
    /// # Conditions
    /// Rows are independent. Lower and upper limits hold together with the stated confidence, for all n
    /// and k at once.
    ///
    /// # Errors
    /// A sample has fewer than two rows, the confidence is not strictly between 0.5 and 1, a number is not finite, or
    /// the tables of labels differ in length.
    pub fn new(messages: &Messages, confidence: f64, seed: u64) -> Result<Estimate> {
        if !(confidence > 0.5 && confidence < 1.0) {
            return Err(Error::setting(
                "confidence",
                confidence,
                "must be between 0.5 and 1",
            ));
        }
        let alpha = 1.0 - confidence;
        let mut rng = Randomness::new(seed, messages.digest()).rng(Stream::Messages);
        let (taught, divergences, share) = match messages {
            Messages::Labels { target, decoys } => {
                if target.len() != decoys.len() {
                    return Err(Error::parameter(
                        "labels",
                        "target and decoys differ in length",
                    ));
                }
                let divergences = divergences(target, decoys, 0.5 * alpha)?;
                let taught = teach_labels(target, decoys, &mut rng)?;
                (taught, Some(divergences), 0.5 * alpha)
            }
            Messages::Numbers { target, decoys } => {
                (teach_numbers(target, decoys, &mut rng)?, None, alpha)
            }
        };
        let Taught { fit, mut judge } = taught;
        judge
            .iter_mut()
            .for_each(|scores| scores.sort_by(f64::total_cmp));
        let thresholds = thresholds(&fit[1]);
        let certified = certified_curve(&judge, &thresholds, share);
        let count = |scores: &[Vec<f64>; 2]| [scores[0].len() as u64, scores[1].len() as u64];
        Ok(Estimate {
            fit: count(&fit),
            certify: count(&judge),
            scores: judge,
            certified,
            divergences,
            thresholds: thresholds.len(),
        })
    }

    /// The success in a game.
    pub fn success(&self, game: &Game) -> Figure {
        let upper = self.divergences.as_ref().map(|limits| {
            let bounds = FACTORS.iter().zip(limits);
            bounds
                .map(|(&factor, &limit)| hockey_stick_bound(factor, limit, game))
                .fold(1.0, f64::at_most)
        });
        let lower = self.certified.success(game).success;
        let lower = lower.at_least(game.blind_success());
        let computed = u_statistic(&self.scores[0], &self.scores[1], game);
        let point = computed.map(|at| at.at_most(upper.unwrap_or(1.0)).at_least(lower));
        Figure {
            point,
            raw: computed.filter(|_| computed != point),
            lower,
            upper,
        }
    }
}

/// The scores of the rows that taught and of those that judge, each of target and decoys.
struct Taught {
    fit: [Vec<f64>; 2],
    judge: [Vec<f64>; 2],
}

fn enough(target: u64, decoys: u64) -> Result<()> {
    for (name, rows) in [("target", target), ("decoys", decoys)] {
        if rows < 2 {
            return Err(Error::parameter(
                name,
                format!(
                    "has {rows} rows; at least two are needed, one for training and one for certification"
                ),
            ));
        }
    }
    Ok(())
}

fn teach_labels(target: &[u64], decoys: &[u64], rng: &mut ChaCha8Rng) -> Result<Taught> {
    enough(rows(target)?, rows(decoys)?)?;
    let [p, q] = [target, decoys].map(|counts| halve(counts, rng));
    let score = |label: usize| (p[label] as f64 + 0.5) / (q[label] as f64 + 0.5);
    let spread = |counts: &mut dyn Iterator<Item = (usize, u64)>| {
        let mut scores = Vec::new();
        for (label, count) in counts {
            scores.extend(std::iter::repeat_n(score(label), count as usize));
        }
        scores
    };
    let fit = |half: &[u64]| spread(&mut half.iter().copied().enumerate());
    let rest = |all: &[u64], half: &[u64]| {
        let rest = all.iter().zip(half).map(|(all, half)| all - half);
        spread(&mut rest.enumerate())
    };
    Ok(Taught {
        fit: [fit(&p), fit(&q)],
        judge: [rest(target, &p), rest(decoys, &q)],
    })
}

/// The largest number of rows of a sample.
const MAX_ROWS: u64 = 500_000_000;

fn rows(counts: &[u64]) -> Result<u64> {
    let sum = counts.iter().try_fold(0_u64, |sum, &n| sum.checked_add(n));
    match sum.filter(|&sum| sum <= MAX_ROWS) {
        Some(sum) => Ok(sum),
        None => Err(Error::parameter(
            "counts",
            format!("sum to more than {MAX_ROWS} rows"),
        )),
    }
}

/// A random half of the rows, as counts by label.
fn halve(counts: &[u64], rng: &mut ChaCha8Rng) -> Vec<u64> {
    let mut left: u64 = counts.iter().sum();
    let mut draws = left / 2;
    let half = counts.iter().map(|&count| {
        let drawn = hypergeometric::sample(left, count, draws, rng);
        left -= count;
        draws -= drawn;
        drawn
    });
    half.collect()
}

fn teach_numbers(target: &[f64], decoys: &[f64], rng: &mut ChaCha8Rng) -> Result<Taught> {
    enough(target.len() as u64, decoys.len() as u64)?;
    if let Some(odd) = target.iter().chain(decoys).find(|x| !x.is_finite()) {
        return Err(Error::parameter(odd.to_string(), "is not a finite number"));
    }
    let [p, q] = [target, decoys].map(|values| {
        let mut values = values.to_vec();
        values.sort_by(f64::total_cmp);
        values.shuffle(rng);
        let rest = values.split_off(values.len() / 2);
        values.sort_by(f64::total_cmp);
        (values, rest)
    });
    let k = |values: &[f64]| (values.len() as f64).sqrt().ceil() as usize;
    let (near_p, near_q) = (k(&p.0), k(&q.0));
    let score = |x: &f64| {
        let distance = |values: &[f64], k: usize| kth_distance(values, *x, k) + f64::MIN_POSITIVE;
        distance(&q.0, near_q).ln() - distance(&p.0, near_p).ln()
    };
    let scores = |values: &[f64]| values.iter().map(score).collect();
    Ok(Taught {
        fit: [scores(&p.0), scores(&q.0)],
        judge: [scores(&p.1), scores(&q.1)],
    })
}

/// The distance to the k-th nearest of increasing numbers, 1 ≤ k ≤ their number.
fn kth_distance(values: &[f64], x: f64, k: usize) -> f64 {
    let at = values.partition_point(|&value| value < x);
    let (mut left, mut right) = (at, at);
    let mut distance = 0.0;
    for _ in 0..k {
        let before = left.checked_sub(1).map_or(f64::INFINITY, |i| x - values[i]);
        let after = values.get(right).map_or(f64::INFINITY, |&value| value - x);
        if before <= after {
            left -= 1;
            distance = before;
        } else {
            right += 1;
            distance = after;
        }
    }
    distance
}

/// The scores reached by shares 1/2, 1/4, … of the training decoys, and one that none reaches, decreasing.
fn thresholds(decoys: &[f64]) -> Vec<f64> {
    let mut scores = decoys.to_vec();
    scores.sort_by(|a, b| b.total_cmp(a));
    let levels = (0..MAX_THRESHOLDS - 1).map(|level| scores.len() >> (level + 1));
    let mut found: Vec<f64> = levels
        .take_while(|&at| at > 0)
        .map(|at| scores[at - 1])
        .collect();
    if let Some(&highest) = scores.first() {
        found.push(highest.next_up());
    }
    found.sort_by(|a, b| b.total_cmp(a));
    found.dedup();
    found
}

/// The concave hull of the ROC points certified with probability 1 − α, as a likelihood-ratio distribution.
fn certified_curve(judge: &[Vec<f64>; 2], thresholds: &[f64], alpha: f64) -> RatioLaw {
    let each = alpha / (2 * thresholds.len().max(1)) as f64;
    let reach = |scores: &[f64], threshold: f64| {
        let below = scores.partition_point(|&score| score < threshold);
        ((scores.len() - below) as u64, scores.len() as u64)
    };
    let point = |&threshold: &f64| {
        let (hits, targets) = reach(&judge[0], threshold);
        let (misses, decoys) = reach(&judge[1], threshold);
        (
            clopper_pearson_upper(misses, decoys, each),
            clopper_pearson_lower(hits, targets, each),
        )
    };
    let mut points: Vec<(f64, f64)> = thresholds.iter().map(point).collect();
    points.extend([(0.0, 0.0), (1.0, 1.0)]);
    points.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
    let mut hull: Vec<(f64, f64)> = Vec::new();
    for point in points {
        while let [.., a, b] = hull[..] {
            let turn = (b.0 - a.0) * (point.1 - a.1) - (b.1 - a.1) * (point.0 - a.0);
            if turn < 0.0 {
                break;
            }
            hull.pop();
        }
        if hull.last().is_none_or(|last| point.0 > last.0) {
            hull.push(point);
        }
    }
    let masses = hull
        .windows(2)
        .map(|ab| (ab[1].1 - ab[0].1, ab[1].0 - ab[0].0));
    RatioLaw::from_sorted(&masses.collect::<Vec<_>>())
}

/// Upper limits of E_λ(P‖Q), all with probability 1 − α.
fn divergences(target: &[u64], decoys: &[u64], alpha: f64) -> Result<Vec<f64>> {
    let (targets, others) = (rows(target)?, rows(decoys)?);
    enough(targets, others)?;
    let each = alpha / FACTORS.len() as f64;
    let limit = |&factor: &f64| {
        let excess = |(&p, &q): (&u64, &u64)| {
            (p as f64 / targets as f64 - factor * q as f64 / others as f64).at_least(0.0)
        };
        let plug_in: f64 = target.iter().zip(decoys).map(excess).sum();
        let radius = mcdiarmid_hockey_stick_radius(targets, others, factor.ln(), each);
        (plug_in + radius).at_most(1.0)
    };
    Ok(FACTORS.iter().map(limit).collect())
}

impl Figure {
    /// The same for Adv⁺ and Adv×.
    pub fn advantages(&self, game: &Game) -> [Figure; 2] {
        let map = |f: &dyn Fn(Success) -> f64| {
            let at = |success: f64| f(Success::of(game, success));
            Figure {
                point: self.point.map(at),
                raw: self.raw.map(at),
                lower: at(self.lower),
                upper: self.upper.map(at),
            }
        };
        [
            map(&|s| s.additive_advantage),
            map(&|s| s.multiplicative_advantage),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_testing::{at_most, rng};
    use rand::RngExt;

    /// Two laws that are nearly one: the estimate of about every second game is below the success of a blind guess.
    #[test]
    fn an_estimate_stands_between_its_limits_and_what_was_computed_beside_it() {
        let mut moved = 0;
        for seed in 0..20 {
            let (target, decoys) = (vec![30, 29], vec![29, 30]);
            let estimate = Estimate::new(&Messages::Labels { target, decoys }, 0.95, seed).unwrap();
            let game = Game::new(3, 1).unwrap();
            let success = estimate.success(&game);
            for figure in [&[success][..], &success.advantages(&game)].concat() {
                let point = figure.point.unwrap();
                assert!(point >= figure.lower && point <= figure.upper.unwrap());
                assert!(figure.raw.is_none_or(|raw| raw != point));
            }
            moved += u32::from(success.raw.is_some());
        }
        assert!(moved > 0);
    }

    /// Both limits of all games hold together in 90 % of logs at least; seed fixed, limits exceeded by
    /// chance once in 2,000.
    #[test]
    fn limits_cover_the_truth_for_all_games_at_once() {
        let (p, q) = ([0.55, 0.25, 0.15, 0.05], [0.1, 0.2, 0.3, 0.4]);
        let law = RatioLaw::from_probabilities(&p, &q).unwrap();
        let games = [(2, 1), (5, 1), (5, 2), (50, 3), (1000, 1)];
        let games = games.map(|(n, k)| Game::new(n, k).unwrap());
        let truth = games.map(|game| law.success(&game).success);
        let mut rng = rng(2);
        let mut draw = |row: &[f64; 4], count: usize| {
            let mut counts = vec![0_u64; 4];
            for _ in 0..count {
                let mut u: f64 = rng.random();
                let label = row.iter().position(|p| {
                    u -= p;
                    u < 0.0
                });
                counts[label.unwrap_or(3)] += 1;
            }
            counts
        };
        let (runs, mut missed) = (300, 0);
        for seed in 0..runs {
            let messages = Messages::Labels {
                target: draw(&p, 200),
                decoys: draw(&q, 300),
            };
            let estimate = Estimate::new(&messages, 0.9, seed as u64).unwrap();
            let holds = games.iter().zip(truth).all(|(game, truth)| {
                let found = estimate.success(game);
                found.lower <= truth && truth <= found.upper.unwrap()
            });
            missed += usize::from(!holds);
        }
        assert!(missed <= at_most(runs, 0.1), "{missed} of {runs}");
    }

    #[test]
    fn equal_laws_give_no_more_than_blind_guesses_and_different_ones_do() {
        let uniform = |count: usize, to: f64, rng: &mut ChaCha8Rng| -> Vec<f64> {
            (0..count).map(|_| rng.random::<f64>() * to).collect()
        };
        let mut rng = rng(3);
        let game = Game::new(10, 1).unwrap();
        let estimate = |to: f64, rng: &mut ChaCha8Rng| {
            let messages = Messages::Numbers {
                target: uniform(4000, to, rng),
                decoys: uniform(4000, 1.0, rng),
            };
            Estimate::new(&messages, 0.95, 0).unwrap().success(&game)
        };
        let same = estimate(1.0, &mut rng);
        assert!(
            (same.point.unwrap() - 0.1).abs() < 0.02 && same.lower < 0.102,
            "{same:?}"
        );
        // Uniform on [0, 0.1] against [0, 1]: β = (1 − 0.9¹⁰)·10/10.
        let apart = estimate(0.1, &mut rng);
        let truth = 1.0 - 0.9_f64.powi(10);
        assert!((apart.point.unwrap() - truth).abs() < 0.03, "{apart:?}");
        assert!(
            apart.lower > 0.5 && apart.lower <= truth && apart.upper.is_none(),
            "{apart:?}"
        );
    }

    #[test]
    fn too_little_is_refused() {
        let numbers = |target: &[f64], decoys: &[f64]| Messages::Numbers {
            target: target.to_vec(),
            decoys: decoys.to_vec(),
        };
        let fails = |messages: &Messages| Estimate::new(messages, 0.95, 0).is_err();
        assert!(fails(&numbers(&[1.0], &[1.0, 2.0])));
        assert!(fails(&numbers(&[1.0, f64::NAN], &[1.0, 2.0])));
        let labels = |target: Vec<u64>| Messages::Labels {
            target,
            decoys: vec![5, 5],
        };
        assert!(fails(&labels(vec![u64::MAX, u64::MAX])) && fails(&labels(vec![1])));
        assert!(!fails(&labels(vec![1, 1])));
        assert!(Estimate::new(&labels(vec![1, 1]), 1.0, 0).is_err());
    }
}
