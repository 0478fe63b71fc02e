//! Sequential limits that bet on the claim of (ε, δ)-differential privacy itself.
//!
//! A rule with three answers (a, b, none), fixed before the rows it judges, says a on A and b on B. The
//! n-th row of a and the n-th row of b since the rule was fixed make one outcome: r right guesses and w
//! wrong ones, r + w ≤ 2. Under the claim P_a(A) ≤ e^ε P_b(A) + δ and P_b(B) ≤ e^ε P_a(B) + δ, hence
//!
//! E\[r − e^ε w\] = P_a(A) + P_b(B) − e^ε (P_b(A) + P_a(B)) ≤ 2δ,
//!
//! given everything before the two rows. So with a stake λ in \[0, 1) the factors
//! 1 + λ (r − e^ε w − 2δ)/(2(e^ε + δ)), which are positive, make a nonnegative supermartingale: the
//! capital of one who bets that the claim is false. It ever reaches 1/α with probability at most α.
//!
//! Bets on the advantage refute `ldp(ε)` only above TV = tanh(ε/2), which no Laplace mechanism near its ε
//! reaches; these bets read the likelihood ratio itself.
//!
//! # Conditions
//! Rows are independent given the secrets, whose order does not depend on earlier observations; rules,
//! their pairs and when they change depend on earlier rows only. Rows may come in any order of secrets: no
//! shuffling and no coin is needed, as rows meet in pairs.
//!
//! # References
//! Ville 1939; Waudby-Smith and Ramdas 2024, doi:10.1093/jrsssb/qkad009 (betting); Robbins 1970,
//! doi:10.1214/aoms/1177696786 (mixtures); Kairouz, Oh and Viswanath 2015, doi:10.1109/TIT.2017.2685505.

use crate::bisection::bisect;

/// The largest stake.
const LARGEST_STAKE: f64 = 0.99;
/// Stakes, each the square root of ½ of the one before.
const STAKES: i32 = 16;
/// ε is looked for in steps of this, from 0 on.
const STEP: f64 = 0.01;
/// Steps looked at: ε up to 40.
const STEPS: u32 = 4000;

/// Outcomes by (right, wrong): how often each came up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GuessOutcomes {
    /// `counts[r][w]`: pairs of rows with r right and w wrong guesses; r + w ≤ 2.
    pub counts: [[u64; 3]; 3],
}

impl GuessOutcomes {
    /// One pair of rows.
    ///
    /// # Panics
    /// If there are more than two guesses.
    pub fn add(&mut self, right: usize, wrong: usize) {
        assert!(right + wrong <= 2, "{right} right and {wrong} wrong of two");
        self.counts[right][wrong] += 1;
    }

    fn plus(&self, other: &GuessOutcomes) -> GuessOutcomes {
        let mut sum = *self;
        for (row, other) in sum.counts.iter_mut().zip(&other.counts) {
            for (count, other) in row.iter_mut().zip(other) {
                *count += other;
            }
        }
        sum
    }

    /// Σ count · ln(1 + stake · (r − e^ε w − 2δ)/(2(e^ε + δ))).
    fn ln_growth(&self, stake: f64, epsilon: f64, delta: f64) -> f64 {
        let odds = epsilon.exp();
        let unit = stake / (2.0 * (odds + delta));
        let mut sum = 0.0;
        for (right, row) in self.counts.iter().enumerate() {
            for (wrong, &count) in row.iter().enumerate().filter(|(_, count)| **count > 0) {
                let gain = right as f64 - odds * wrong as f64 - 2.0 * delta;
                sum += count as f64 * (unit * gain).ln_1p();
            }
        }
        sum
    }
}

/// ln of the capital of one who bets against (ε, δ), the outcomes parted into segments.
///
/// # Formula
/// Σ_s v_s mean_λ Π (factor) + cash, the product over all outcomes from segment s on, v_s = 1/((s+1)(s+2))
/// for s from 0, λ over 0.99·2^(−j/2), j = 0..15; cash is the part of the weights whose segments have not
/// begun. A segment may begin whenever a rule changes: early rules that were bad are then not paid for.
///
/// # Conditions
/// See the [module](self). Segments are begun without looking ahead.
pub fn ln_capital(segments: &[GuessOutcomes], epsilon: f64, delta: f64) -> f64 {
    let mut terms = vec![-((segments.len() + 1) as f64).ln()];
    let mut from_here = GuessOutcomes::default();
    for (at, outcomes) in segments.iter().enumerate().rev() {
        from_here = from_here.plus(outcomes);
        let ln_weight = -(((at + 1) * (at + 2)) as f64).ln() - f64::from(STAKES).ln();
        terms.extend((0..STAKES).map(|j| {
            let stake = LARGEST_STAKE * 0.5f64.powf(0.5 * f64::from(j));
            ln_weight + from_here.ln_growth(stake, epsilon, delta)
        }));
    }
    let most = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    most + terms
        .iter()
        .map(|term| (term - most).exp())
        .sum::<f64>()
        .ln()
}

/// The p-value of the claim at this time: 1/capital, at most 1. The smallest over all times looked at is a
/// p-value too.
///
/// # References
/// Ville's inequality; Ramdas et al. 2023, doi:10.1214/23-STS894.
pub fn p_value(segments: &[GuessOutcomes], epsilon: f64, delta: f64) -> f64 {
    (-ln_capital(segments, epsilon, delta)).exp().min(1.0)
}

/// The lower limit of ε for a given δ, at level 1 − `alpha` at all times together; the largest over all
/// times looked at is a limit too. 0 if ε = 0 is not refuted.
///
/// # Formula
/// The last multiple of 0.01 such that all up to it are refuted. If that exceeds the true ε then the
/// multiple next above the true ε was refuted, which is a true claim too and fixed beforehand; so the
/// capital need not fall with ε.
///
/// # Conditions
/// See the [module](self).
pub fn epsilon_at_least(segments: &[GuessOutcomes], delta: f64, alpha: f64) -> f64 {
    let refuted = |step: u32| ln_capital(segments, STEP * f64::from(step), delta) >= -alpha.ln();
    let first = (0..STEPS).find(|&step| !refuted(step)).unwrap_or(STEPS);
    (STEP * (f64::from(first) - 1.0)).max(0.0)
}

/// The lower limit of ε at δ = 0, at level 1 − `alpha` at all times together; the largest over all times
/// looked at is a limit too. 0 if ε = 0 is not refuted.
///
/// # Formula
/// The largest ε up to 40 at which the capital is at least 1/`alpha`, by bisection. At δ = 0 every factor
/// falls with ε: (r − e^ε w)/(2e^ε) = r e^−ε/2 − w/2. So does the capital, and what is refuted is an interval.
///
/// # Conditions
/// See the [module](self). The capital at ε is also below that of bets whose ε was smaller early on, so a
/// bound on ε that grows with the secrets that come, and is above the truth at every time, may be compared
/// with this limit.
pub fn pure_epsilon_at_least(segments: &[GuessOutcomes], alpha: f64) -> f64 {
    let refuted = |epsilon: f64| ln_capital(segments, epsilon, 0.0) >= -alpha.ln();
    if !refuted(0.0) {
        return 0.0;
    }
    bisect((0.0, STEP * f64::from(STEPS)), 50, refuted).0
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_testing::{at_most, rng};
    use rand::RngExt;

    /// At the extreme of the claim the expected capital is 1, by enumeration of three pairs of rows.
    #[test]
    fn the_bets_are_fair_at_the_claim() {
        let (epsilon, delta) = (0.7f64, 0.05);
        // P_a(A) = P_b(B) = e^ε q + δ, P_b(A) = P_a(B) = q.
        let q = 0.2;
        let p = epsilon.exp() * q + delta;
        let one = [(1usize, 0usize, p), (0, 1, q), (0, 0, 1.0 - p - q)];
        let mut pairs = Vec::new();
        for x in one {
            for y in one {
                pairs.push((x.0 + y.0, x.1 + y.1, x.2 * y.2));
            }
        }
        let mut expected = 0.0;
        for x in &pairs {
            for y in &pairs {
                for z in &pairs {
                    let mut segments = [GuessOutcomes::default(); 2];
                    segments[0].add(x.0, x.1);
                    segments[1].add(y.0, y.1);
                    segments[1].add(z.0, z.1);
                    expected += x.2 * y.2 * z.2 * ln_capital(&segments, epsilon, delta).exp();
                }
            }
        }
        assert!((expected - 1.0).abs() < 1e-12, "{expected}");
    }

    #[test]
    fn a_false_claim_is_refuted_and_the_limit_is_below_the_truth() {
        let mut outcomes = GuessOutcomes::default();
        // Randomized response at ε = 1.2: right 0.769 of the time; 2,000 pairs at their expected counts.
        outcomes.counts[2][0] = 1182;
        outcomes.counts[1][1] = 711;
        outcomes.counts[0][2] = 107;
        let limit = epsilon_at_least(&[outcomes], 0.0, 0.05);
        assert!(limit > 1.0 && limit < 1.2, "{limit}");
        assert!(p_value(&[outcomes], 1.0, 0.0) < 0.05 && p_value(&[outcomes], 1.2, 0.0) > 0.5);
        assert!(epsilon_at_least(&[outcomes], 1e-3, 0.05) <= limit);
        assert_eq!(epsilon_at_least(&[], 0.0, 0.05), 0.0);
        // Between the last multiple of 0.01 and the next.
        let exact = pure_epsilon_at_least(&[outcomes], 0.05);
        assert!((limit..limit + 0.01).contains(&exact), "{limit} {exact}");
        assert!((ln_capital(&[outcomes], exact, 0.0) - 20f64.ln()).abs() < 1e-9);
        assert_eq!(pure_epsilon_at_least(&[], 0.05), 0.0);
    }

    #[test]
    fn capital_falls_with_epsilon_at_delta_0() {
        let mut segments = [GuessOutcomes::default(); 2];
        for (at, (right, wrong)) in [(2, 0), (1, 1), (1, 0), (0, 0), (0, 1), (0, 2), (2, 0)]
            .into_iter()
            .enumerate()
        {
            segments[at % 2].add(right, wrong);
        }
        let capitals: Vec<f64> = (0..100)
            .map(|step| ln_capital(&segments, 0.05 * f64::from(step), 0.0))
            .collect();
        assert!(capitals.is_sorted_by(|x, y| x > y), "{capitals:?}");
    }

    /// Whole paths at the truth, looked at every 20 pairs: 400 paths, at most 5 %.
    #[test]
    fn whole_paths_keep_the_level() {
        let (epsilon, paths) = (1.0f64, 400);
        let right = epsilon.exp() / (1.0 + epsilon.exp());
        let wrong = (0..paths)
            .filter(|&seed| {
                let mut rng = rng(seed);
                let mut segments = vec![GuessOutcomes::default()];
                (0..600).any(|at| {
                    if [100, 300].contains(&at) {
                        segments.push(GuessOutcomes::default());
                    }
                    let good = (0..2).filter(|_| rng.random_bool(right)).count();
                    segments.last_mut().unwrap().add(good, 2 - good);
                    at % 20 == 19 && ln_capital(&segments, epsilon, 0.0) >= 20f64.ln()
                })
            })
            .count();
        assert!(wrong <= at_most(paths as usize, 0.05), "{wrong}");
    }
}
