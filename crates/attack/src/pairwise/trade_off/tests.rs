use super::*;
use leakgauge_stats::special::normal_cdf;

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use thresholds::tail_rows;

use crate::pairwise::ErrorRates;

/// What the errors at all thresholds say of privacy.
trait AtLeast {
    fn largest(&self, alpha: f64, of: impl Fn(&ErrorRates) -> f64) -> Option<f64>;

    fn mu_at_least(&self, alpha: f64) -> Option<f64> {
        self.largest(alpha, ErrorRates::mu_at_least)
    }

    fn epsilon_at_least(&self, delta: f64, alpha: f64) -> Option<f64> {
        self.largest(alpha, |errors| errors.epsilon_at_least(delta))
    }
}

impl AtLeast for ScoredRows {
    fn largest(&self, alpha: f64, of: impl Fn(&ErrorRates) -> f64) -> Option<f64> {
        let limits = self.thresholds().errors_at_most(alpha);
        limits.iter().map(of).reduce(f64::max)
    }
}

/// 1000 rows of a and 400 of b at three scores.
fn three_scores() -> ScoredRows {
    ScoredRows::new(vec![
        (1.0, 300, 0),
        (-2.0, 100, 250),
        (7.0, 600, 0),
        (7.0, 0, 20),
        (1.0, 0, 130),
    ])
}

#[test]
fn equal_scores_are_one_step_and_both_zeros_are_equal() {
    let scored = ScoredRows::new(vec![(0.0, 1, 0), (-0.0, 0, 1), (f64::INFINITY, 2, 0)]);
    assert_eq!(scored.cuts(), 3);
    assert_eq!(scored.rows(), (3, 1));
    let curve = scored.curve(200);
    let errors: Vec<(f64, f64)> = curve
        .iter()
        .map(|point| (point.type_1, point.type_2))
        .collect();
    assert_eq!(errors, [(0.0, 1.0), (0.0, 1.0 / 3.0), (1.0, 0.0)]);
}

/// The formulas written out in Python with its `statistics.NormalDist`.
#[test]
fn limits_of_three_scores_by_an_independent_computation() {
    let scored = three_scores();
    let close = |found: Option<f64>, expected: f64| {
        let found = found.unwrap();
        assert!((found - expected).abs() < 1e-10, "{found} {expected}");
    };
    close(scored.mu_at_least(0.05), 1.288_899_683_363_384_8);
    close(scored.epsilon_at_least(0.0, 0.05), 1.495_339_560_804_348_7);
    close(scored.epsilon_at_least(0.01, 0.05), 1.477_097_262_337_063_5);
    close(scored.area(), 0.8525);
    close(scored.mu_by_area(), 1.480_986_970_264_911_4);
    // Where a tail says more than the band.
    let tail = ScoredRows::new(vec![(2.0, 100, 1), (1.0, 900, 999), (0.0, 1000, 1000)]);
    close(tail.mu_at_least(0.05), 0.624_057_527_021_353_3);
    close(tail.epsilon_at_least(0.0, 0.05), 1.538_042_294_839_611_3);
    close(tail.epsilon_at_least(0.01, 0.05), 1.220_392_211_176_125_8);
    let band = scored.band(0.05);
    close(Some(band.type_1), 0.074_010_359_365_039_91);
    close(Some(band.type_2), 0.046_808_261_208_219_86);
}

/// P(Bin(n, x) ≤ k) summed in full.
fn binomial_below(k: u64, n: u64, x: f64) -> f64 {
    let mut term = (1.0 - x).powi(n as i32);
    let mut sum = term;
    for j in 0..k {
        term *= (n - j) as f64 / (j + 1) as f64 * x / (1.0 - x);
        sum += term;
    }
    sum
}

#[test]
fn order_statistics_are_the_extreme_ones_that_the_binomial_law_allows() {
    for n in [1, 2, 41, 42, 43, 300, 1000] {
        for x in [0.1, 0.01] {
            for alpha in [0.0125, 0.2] {
                let below = (1..=n)
                    .rev()
                    .find(|&j| binomial_below(j - 1, n, x) <= alpha);
                assert_eq!(last_row_below(x, n, alpha), below, "{n} {x} {alpha}");
                let above = (1..=n).find(|&j| binomial_below(j - 1, n, x) >= 1.0 - alpha);
                assert_eq!(first_row_above(x, n, alpha), above, "{n} {x} {alpha}");
            }
        }
    }
    assert_eq!(rows_for_detection(0.001, 0.025), 4380);
    assert_eq!(last_row_below(0.001, 4379, 0.0125), None);
    assert_eq!(last_row_below(0.001, 4380, 0.0125), Some(1));
}

/// The coefficient and probability of a multinomial outcome over three scores.
fn probability(counts: [u64; 3], law: [f64; 3]) -> f64 {
    let factorial = |n: u64| (1..=n).map(|i| i as f64).product::<f64>();
    let arrangements =
        factorial(counts.iter().sum()) / counts.map(factorial).iter().product::<f64>();
    let powers = counts
        .iter()
        .zip(law)
        .map(|(&count, p)| p.powi(count as i32));
    arrangements * powers.product::<f64>()
}

fn outcomes(rows: u64) -> impl Iterator<Item = [u64; 3]> {
    (0..=rows).flat_map(move |i| (0..=rows - i).map(move |j| [i, j, rows - i - j]))
}

/// Every outcome of 9 rows of a and 12 of b over three scores, ties everywhere: the probability that
/// a limit misses, exactly.
#[test]
fn limits_of_tied_scores_cover_by_enumeration() {
    let alpha = 0.2;
    let (of_a, of_b) = ([0.6, 0.3, 0.1], [0.1, 0.3, 0.6]);
    for x in [0.1f64, 0.25, 0.4, 0.5] {
        // With the threshold at a score, and with a coin tossed on the score where the rate is met.
        let plain = if x < 0.1 {
            0.0
        } else if x < 0.4 {
            0.6
        } else {
            0.9
        };
        let tossed = if x < 0.4 {
            0.6 + 0.3 * (x - 0.1) / 0.3
        } else {
            0.9 + 0.1 * (x - 0.4) / 0.6
        };
        let (mut too_high, mut too_low) = (0.0, 0.0);
        for a in outcomes(9) {
            for b in outcomes(12) {
                let steps = (0..3).map(|s| (-(s as f64), a[s], b[s])).collect();
                let found = ScoredRows::new(steps).detection(x, alpha);
                let weight = probability(a, of_a) * probability(b, of_b);
                too_high += if found.lower.is_some_and(|lower| lower > plain) {
                    weight
                } else {
                    0.0
                };
                too_low += if found.upper.is_some_and(|upper| upper < tossed) {
                    weight
                } else {
                    0.0
                };
            }
        }
        assert!(
            too_high <= alpha && too_low <= alpha,
            "{x}: {too_high} {too_low}"
        );
    }
}

/// The band's lower limit of μ, over all outcomes of few rows: μ of the three-point law is the largest
/// over its cuts, ends excluded.
#[test]
fn the_limit_of_mu_covers_by_enumeration() {
    let alpha = 0.4;
    let (of_a, of_b) = ([0.6, 0.3, 0.1], [0.1, 0.3, 0.6]);
    let mu = |type_1: f64, type_2: f64| -normal_quantile(type_1) - normal_quantile(type_2);
    let truth = mu(0.1, 0.4).max(mu(0.4, 0.1));
    let mut missed = 0.0;
    for a in outcomes(20) {
        for b in outcomes(24) {
            let steps = (0..3).map(|s| (-(s as f64), a[s], b[s])).collect();
            let limit = ScoredRows::new(steps).mu_at_least(alpha).unwrap();
            missed += if limit > truth {
                probability(a, of_a) * probability(b, of_b)
            } else {
                0.0
            };
        }
    }
    assert!(missed <= alpha, "{missed}");
}

/// The same with thresholds in the tails: 40 rows of either over two scores.
#[test]
fn limits_from_the_tails_cover_by_enumeration() {
    let (alpha, rows) = (0.4, 40);
    assert_eq!(tail_rows(rows).collect::<Vec<_>>(), [4]);
    for (p, q) in [(0.3, 0.02), (0.5, 0.1), (0.1, 0.1)] {
        let law = |x: f64| [x, 1.0 - x, 0.0];
        let truth = ErrorRates {
            missed: 1.0 - p,
            false_alarm: q,
        };
        let mu = -normal_quantile(1.0 - p) - normal_quantile(q);
        let (mut of_mu, mut of_epsilon) = (0.0, 0.0);
        for a in 0..=rows {
            for b in 0..=rows {
                let scored = ScoredRows::new(vec![(1.0, a, b), (0.0, rows - a, rows - b)]);
                let weight =
                    probability([a, rows - a, 0], law(p)) * probability([b, rows - b, 0], law(q));
                let missed = |limit: Option<f64>, truth: f64| {
                    if limit.unwrap() > truth + 1e-9 {
                        weight
                    } else {
                        0.0
                    }
                };
                of_mu += missed(scored.mu_at_least(alpha), mu);
                of_epsilon += missed(
                    scored.epsilon_at_least(0.0, alpha),
                    truth.epsilon_at_least(0.0),
                );
            }
        }
        assert!(
            of_mu <= alpha && of_epsilon <= alpha,
            "{p} {q}: {of_mu} {of_epsilon}"
        );
    }
}

#[test]
fn the_point_is_taken_where_so_many_false_positives_are_seen() {
    // Ten rows of b, one of them above nine tenths of a.
    let mut scores: Vec<(f64, u64, u64)> = (0..10).map(|i| (f64::from(i), 1, 0)).collect();
    scores.extend((1..10).map(|i| (-f64::from(i), 0, 1)));
    scores.push((0.5, 0, 1));
    let scored = ScoredRows::new(scores);
    assert_eq!(scored.detection(0.1, 0.2).point, Some(1.0));
    // Less than one row: nothing is seen at this rate.
    assert_eq!(scored.detection(0.05, 0.2).point, None);
    // A tie of all rows of b, more than the rate allows: nothing above it.
    let tied = ScoredRows::new(vec![(1.0, 5, 10), (0.0, 5, 0)]);
    assert_eq!(tied.detection(0.1, 0.2).point, Some(0.0));
}

#[test]
fn few_rows_and_many_give_an_answer() {
    for (a, b) in [(0, 0), (0, 5), (5, 0)] {
        let scored = ScoredRows::new(vec![(0.0, a, b)]);
        let nothing = Detection {
            point: None,
            lower: None,
            upper: None,
        };
        assert_eq!(scored.detection(0.1, 0.05), nothing);
        assert_eq!(scored.curve(200), []);
        assert_eq!(
            (scored.mu_at_least(0.05), scored.mu_by_area()),
            (None, None)
        );
        assert_eq!(scored.epsilon_at_least(0.0, 0.05), None);
    }
    let two = ScoredRows::new(vec![(1.0, 1, 0), (0.0, 0, 1)]);
    assert_eq!(
        (two.mu_at_least(0.05), two.epsilon_at_least(0.0, 0.05)),
        (Some(0.0), Some(0.0))
    );
    assert_eq!((two.area(), two.mu_by_area()), (Some(1.0), None));
    let billions = ScoredRows::new(vec![(1.0, 3 << 50, 1 << 50), (0.0, 1 << 50, 3 << 50)]);
    let found = billions.detection(0.25, 0.05);
    assert!(found.lower.unwrap() < 0.75 + 1e-6 && found.upper.unwrap() > 0.75 - 1e-6);
    assert!((billions.epsilon_at_least(0.0, 0.05).unwrap() - 3f64.ln()).abs() < 1e-5);
}

/// Scores of a Gaussian shift at the midpoints of equal probabilities.
fn gaussian(rows: u64, mu: f64) -> ScoredRows {
    let at = |row: u64| normal_quantile((row as f64 + 0.5) / rows as f64);
    let scores = (0..rows).flat_map(|row| [(at(row) + mu, 1, 0), (at(row), 0, 1)]);
    ScoredRows::new(scores.collect())
}

#[test]
fn a_gaussian_shift_is_read_as_its_mu() {
    let scored = gaussian(20_000, 1.0);
    assert!((scored.mu_by_area().unwrap() - 1.0).abs() < 1e-3);
    assert!((0.93..0.95).contains(&scored.mu_at_least(0.05).unwrap()));
    for x in [0.1, 0.01] {
        let truth = normal_cdf(normal_quantile(x) + 1.0);
        let found = scored.detection(x, 0.025);
        assert!((found.point.unwrap() - truth).abs() < 1e-3);
        assert!(found.lower.unwrap() < truth && truth < found.upper.unwrap());
        let mirror = scored.exchanged().detection(x, 0.025);
        assert!((mirror.point.unwrap() - truth).abs() < 1e-3);
    }
}

#[test]
fn a_long_curve_is_thinned_to_its_corners_and_even_steps() {
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(3);
    let mut draw = || normal_quantile(rng.random::<f64>());
    let scores = (0..20_000).flat_map(|_| [(draw() + 1.0, 1, 0), (draw(), 0, 1)]);
    let scored = ScoredRows::new(scores.collect());
    let curve = scored.curve(200);
    assert!((150..=220).contains(&curve.len()), "{}", curve.len());
    let all: Vec<CurvePoint> = (0..scored.cuts()).map(|cut| scored.errors(cut)).collect();
    for corner in scored.corners() {
        assert!(curve.contains(&all[corner]));
    }
    assert!(curve.is_sorted_by(|x, y| x.type_1 <= y.type_1 && x.type_2 >= y.type_2));
    // Both tails are seen.
    let few = |error: &dyn Fn(&CurvePoint) -> f64| {
        curve
            .iter()
            .filter(|point| (1e-4..0.01).contains(&error(point)))
            .count()
    };
    assert!(few(&|point| point.type_1) > 10 && few(&|point| point.type_2) > 10);
}

proptest! {
    #[test]
    fn corners_have_the_largest_mu_and_epsilon_of_all_cuts(
        steps in proptest::collection::vec((0u64..40, 0u64..40), 1..30),
        raise in 0.01..0.6_f64,
    ) {
        let steps: Vec<_> = steps.iter().enumerate().map(|(s, &(a, b))| (s as f64, a + 1, b + 1)).collect();
        let scored = ScoredRows::new(steps);
        let values = |cut: usize| {
            let errors = scored.errors(cut);
            let rates = ErrorRates { missed: errors.type_2 + raise, false_alarm: errors.type_1 + 0.5 * raise };
            let mu = if rates.missed < 1.0 && rates.false_alarm < 1.0 {
                -normal_quantile(rates.missed) - normal_quantile(rates.false_alarm)
            } else {
                0.0
            };
            [mu.max(0.0), rates.epsilon_at_least(0.0), rates.epsilon_at_least(0.01)]
        };
        let corners = scored.corners();
        for at in 0..3 {
            let largest = |cuts: &mut dyn Iterator<Item = usize>| cuts.map(|cut| values(cut)[at]).fold(0.0, f64::max);
            let of_corners = largest(&mut corners.iter().copied());
            let of_all = largest(&mut (0..scored.cuts()));
            prop_assert!((of_corners - of_all).abs() < 1e-12);
        }
    }

    #[test]
    fn exchanging_twice_changes_nothing(steps in proptest::collection::vec((0u64..9, 0u64..9), 0..20)) {
        let steps: Vec<_> = steps.iter().enumerate().map(|(s, &(a, b))| (s as f64, a, b)).collect();
        let scored = ScoredRows::new(steps);
        prop_assert_eq!(&scored.exchanged().exchanged(), &scored);
        prop_assert_eq!(scored.exchanged().area(), scored.area());
        let mu = |scored: &ScoredRows| scored.mu_at_least(0.5).unwrap_or(-1.0);
        prop_assert!((mu(&scored.exchanged()) - mu(&scored)).abs() < 1e-9);
    }
}
