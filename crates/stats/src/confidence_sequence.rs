//! A lower limit of a bounded mean that holds at all times at once, however often it is looked at.

use crate::bisection::bisect;

/// The largest stake, as a share of what can be staked without going into debt.
const LARGEST_STAKE: f64 = 0.99;
/// Stakes, each the square root of ½ of the one before: the least suits means of about 0.001.
const STAKES: i32 = 20;

/// How often each of the outcomes −1, 0 and 1 came up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Outcomes {
    /// Times −1.
    pub minus: u64,
    /// Times 0.
    pub zero: u64,
    /// Times 1.
    pub plus: u64,
}

impl Outcomes {
    /// The number of all.
    pub fn total(&self) -> u64 {
        self.minus + self.zero + self.plus
    }

    /// Their mean, if there are any.
    pub fn mean(&self) -> Option<f64> {
        let total = self.total();
        (total > 0).then(|| (self.plus as f64 - self.minus as f64) / total as f64)
    }

    /// These and others.
    #[must_use]
    pub fn plus(&self, other: &Outcomes) -> Outcomes {
        Outcomes {
            minus: self.minus + other.minus,
            zero: self.zero + other.zero,
            plus: self.plus + other.plus,
        }
    }
}

/// ln of the capital of one who bets that outcomes in {−1, 0, 1}, parted into successive segments, have
/// means above `bound`.
///
/// # Formula
/// Σ_s w_s mean_c Π (1 + c(z − bound)/(1 + bound)) + cash, the product over all outcomes from segment s
/// on, w_s = 1/((s+1)(s+2)) for s from 0, c over 0.99·2^(−j/2), j = 0..19; cash is the part of the
/// weights whose segments have not begun. It falls with the bound.
///
/// # Conditions
/// If each outcome, given those before it, has a mean of at most `bound` in [0, 1], the capital is a
/// nonnegative supermartingale that begins at 1, so that it ever reaches 1/α with probability at most α
/// (Ville's inequality). Segments must be begun without looking ahead.
///
/// # References
/// Waudby-Smith and Ramdas 2024, doi:10.1093/jrsssb/qkad009 (betting); Robbins 1970,
/// doi:10.1214/aoms/1177696786 (mixtures).
pub fn ln_capital(segments: &[Outcomes], bound: f64) -> f64 {
    let mut terms = vec![-((segments.len() + 1) as f64).ln()];
    let mut from_here = Outcomes::default();
    for (at, outcomes) in segments.iter().enumerate().rev() {
        from_here = from_here.plus(outcomes);
        let ln_weight = -(((at + 1) * (at + 2)) as f64).ln() - f64::from(STAKES).ln();
        terms.extend((0..STAKES).map(|j| {
            let stake = LARGEST_STAKE * 0.5f64.powf(0.5 * f64::from(j)) / (1.0 + bound);
            let grown =
                |count: u64, outcome: f64| count as f64 * (stake * (outcome - bound)).ln_1p();
            ln_weight
                + grown(from_here.minus, -1.0)
                + grown(from_here.zero, 0.0)
                + grown(from_here.plus, 1.0)
        }));
    }
    let most = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    most + terms
        .iter()
        .map(|term| (term - most).exp())
        .sum::<f64>()
        .ln()
}

/// The largest bound in [0, 1) that the capital refutes at level `alpha`: some outcome had a conditional
/// mean above it; 0 if none is refuted. The largest over all times looked at is a limit too.
///
/// # Conditions
/// See [`ln_capital`]: the limits at all times hold together with probability 1 − alpha.
pub fn mean_at_least(segments: &[Outcomes], alpha: f64) -> f64 {
    let refuted = |bound: f64| ln_capital(segments, bound) >= -alpha.ln();
    if !refuted(0.0) {
        return 0.0;
    }
    bisect((0.0, 1.0), 50, refuted).0
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn outcomes(values: &[i8]) -> Outcomes {
        let count = |value: i8| values.iter().filter(|&&v| v == value).count() as u64;
        Outcomes {
            minus: count(-1),
            zero: count(0),
            plus: count(1),
        }
    }

    /// The same bets, placed one after another.
    fn brute(segments: &[&[i8]], bound: f64) -> f64 {
        let mut capital = 0.0;
        let mut cash = 1.0;
        for start in 0..segments.len() {
            let weight = 1.0 / ((start + 1) * (start + 2)) as f64;
            cash -= weight;
            for j in 0..20 {
                let stake = 0.99 / 2f64.sqrt().powi(j);
                let mut account = weight / 20.0;
                for &value in segments[start..].iter().copied().flatten() {
                    account += account * stake * (f64::from(value) - bound) / (1.0 + bound);
                }
                capital += account;
            }
        }
        capital + cash
    }

    #[test]
    fn the_capital_is_that_of_placing_the_bets() {
        let segments: [&[i8]; 3] = [&[1, 0, -1, 1], &[], &[1, 1, 0, 1, 1]];
        let counted = segments.map(outcomes);
        for bound in [0.0, 0.1, 0.7, 1.0] {
            let expected = brute(&segments, bound).ln();
            assert!((ln_capital(&counted, bound) - expected).abs() < 1e-12);
        }
        assert!(ln_capital(&[], 0.3).abs() < 1e-15);
    }

    /// At a mean of exactly the bound the expected capital is 1, by enumeration of all outcomes.
    #[test]
    fn the_bets_are_fair_at_the_bound() {
        let (bound, p_plus, p_zero) = (0.2, 0.5, 0.2);
        let mut expected = 0.0;
        for code in 0..3usize.pow(6) {
            let values: Vec<i8> = (0..6)
                .map(|at| (code / 3usize.pow(at) % 3) as i8 - 1)
                .collect();
            let probability: f64 = values
                .iter()
                .map(|value| [1.0 - p_plus - p_zero, p_zero, p_plus][(value + 1) as usize])
                .product();
            let segments = [outcomes(&values[..2]), outcomes(&values[2..])];
            expected += probability * ln_capital(&segments, bound).exp();
        }
        assert!((expected - 1.0).abs() < 1e-12, "{expected}");
    }

    #[test]
    fn the_limit_solves_its_equation_and_capital_falls_with_the_bound() {
        let segments = [
            outcomes(&[0, 1]),
            Outcomes {
                minus: 100,
                zero: 400,
                plus: 500,
            },
        ];
        let limit = mean_at_least(&segments, 0.05);
        assert!(limit > 0.25 && limit < 0.4, "{limit}");
        assert!((ln_capital(&segments, limit) - 20f64.ln()).abs() < 1e-9);
        let capitals: Vec<f64> = (0..=10)
            .map(|at| ln_capital(&segments, f64::from(at) / 10.0))
            .collect();
        assert!(capitals.is_sorted_by(|x, y| x >= y), "{capitals:?}");
        assert_eq!(mean_at_least(&[], 0.05), 0.0);
    }

    /// Looked at after every outcome, the limit ever exceeds the truth on at most α of the paths.
    #[test]
    fn whole_paths_keep_the_level() {
        for (plus, zero) in [(0.25, 0.5), (0.4, 0.3)] {
            let mean: f64 = plus - (1.0 - plus - zero);
            let paths = 150;
            let wrong = (0..paths)
                .filter(|&seed| {
                    let mut rng = ChaCha8Rng::seed_from_u64(seed);
                    let mut segments = vec![Outcomes::default(); 1];
                    (0..600).any(|at| {
                        if [50, 100, 200, 400].contains(&at) {
                            segments.push(Outcomes::default());
                        }
                        let last = segments.last_mut().expect("one at least");
                        let draw: f64 = rng.random();
                        if draw < plus {
                            last.plus += 1;
                        } else if draw < plus + zero {
                            last.zero += 1;
                        } else {
                            last.minus += 1;
                        }
                        ln_capital(&segments, mean.max(0.0)) >= 20f64.ln()
                    })
                })
                .count();
            // 5 % and three standard deviations.
            assert!(wrong <= 15, "{wrong} of {paths}");
        }
    }
}
