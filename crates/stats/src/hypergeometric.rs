//! Random draws without replacement, for populations of any size.

use rand::{Rng, RngExt};

use super::saddlepoint::ln_binomial;

/// How many of `draws` rows drawn without replacement from `population` belong to a part of size
/// `part`.
///
/// Inversion outward from the mode, about as many steps as the standard deviation; the probability of
/// the mode keeps its relative accuracy for any population (Loader 2000), the others follow from it by
/// exact ratios.
///
/// # Panics
/// If the part or the draw is larger than the population.
pub fn sample(population: u64, part: u64, draws: u64, rng: &mut impl Rng) -> u64 {
    assert!(
        part <= population && draws <= population,
        "part {part}, draws {draws} of {population}"
    );
    let least = draws.saturating_sub(population - part);
    let most = draws.min(part);
    if least == most {
        return least;
    }
    let law = Law {
        population: population as f64,
        part: part as f64,
        draws: draws as f64,
    };
    let mode = (law.mode() as u64).clamp(least, most);
    let at_mode = law.ln_probability(mode as f64).exp();
    let mut left = rng.random::<f64>() - at_mode;
    let (mut low, mut high) = (mode, mode);
    let (mut below, mut above) = (at_mode, at_mode);
    while left >= 0.0 && (low > least || high < most) {
        if high < most {
            above *= law.step_up(high as f64);
            high += 1;
            left -= above;
            if left < 0.0 {
                return high;
            }
        }
        if low > least {
            below /= law.step_up((low - 1) as f64);
            low -= 1;
            left -= below;
            if left < 0.0 {
                return low;
            }
        }
        if above + below < f64::MIN_POSITIVE {
            break;
        }
    }
    // Reached at once, or by what rounding has left over.
    mode
}

/// The probability that [`sample`] gives `x`; 0 where it cannot.
///
/// # Panics
/// If the part or the draw is larger than the population.
pub fn probability(population: u64, part: u64, draws: u64, x: u64) -> f64 {
    assert!(
        part <= population && draws <= population,
        "part {part}, draws {draws} of {population}"
    );
    let least = draws.saturating_sub(population - part);
    let most = draws.min(part);
    if x < least || x > most {
        return 0.0;
    }
    if least == most {
        return 1.0;
    }
    let law = Law {
        population: population as f64,
        part: part as f64,
        draws: draws as f64,
    };
    law.ln_probability(x as f64).exp()
}

struct Law {
    population: f64,
    part: f64,
    draws: f64,
}

impl Law {
    fn mode(&self) -> f64 {
        ((self.draws + 1.0) * ((self.part + 1.0) / (self.population + 2.0))).floor()
    }

    /// P(x + 1) / P(x).
    fn step_up(&self, x: f64) -> f64 {
        let rest = self.population - self.part - self.draws;
        (self.part - x) / (x + 1.0) * ((self.draws - x) / (rest + x + 1.0))
    }

    /// As a ratio of binomial probabilities with p = draws/population.
    fn ln_probability(&self, x: f64) -> f64 {
        let p = self.draws / self.population;
        let q = (self.population - self.draws) / self.population;
        let binomial = |k: f64, n: f64| {
            if k == 0.0 {
                n * (-p).ln_1p()
            } else if k == n {
                n * p.ln()
            } else {
                ln_binomial(k, n, p, q)
            }
        };
        binomial(x, self.part) + binomial(self.draws - x, self.population - self.part)
            - binomial(self.draws, self.population)
    }
}

/// The probability of a count at least as far on the same side of the mean as `x`, of [`sample`]'s law, to 1e-9; where it
/// is more than `enough`, a part of it that is: of many tails only the least counts.
///
/// # Panics
/// If the part or the draw is larger than the population.
pub fn tail(population: u64, part: u64, draws: u64, x: u64, enough: f64) -> f64 {
    let mean = part as f64 * (draws as f64 / population as f64);
    let above = x as f64 > mean;
    let (least, most) = (draws.saturating_sub(population - part), draws.min(part));
    let (mut sum, mut at) = (0.0, x);
    loop {
        let term = probability(population, part, draws, at);
        sum += term;
        let end = if above { at >= most } else { at <= least };
        if end || term <= sum * 1e-17 || sum >= enough {
            return sum.min(1.0) * (1.0 + 1e-9);
        }
        at = if above { at + 1 } else { at - 1 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    /// ln C(n, k) by summing logarithms: slow and sure.
    fn ln_choose(n: u64, k: u64) -> f64 {
        (1..=k).map(|i| ((n - k + i) as f64 / i as f64).ln()).sum()
    }

    #[test]
    fn a_tail_is_the_sum_of_probabilities_beyond_a_count() {
        let (population, part, draws) = (300, 80, 120);
        for x in 0..=80 {
            let law = |x| probability(population, part, draws, x);
            let expected: f64 = match x > 32 {
                true => (x..=80).map(law).sum(),
                false => (0..=x).map(law).sum(),
            };
            let whole = tail(population, part, draws, x, 1.0);
            assert!(
                (whole / expected - 1.0).abs() < 2e-9,
                "{x}: {whole} {expected}"
            );
            let part = tail(population, part, draws, x, 0.1);
            assert!(
                part <= whole && part >= whole.min(0.1),
                "{x}: {part} {whole}"
            );
        }
    }

    #[test]
    fn probabilities_are_ratios_of_binomial_coefficients() {
        for (population, part, draws) in [
            (10u64, 3u64, 4u64),
            (100, 50, 7),
            (10_016, 31, 5000),
            (700, 699, 350),
        ] {
            let law = Law {
                population: population as f64,
                part: part as f64,
                draws: draws as f64,
            };
            for x in draws.saturating_sub(population - part)..=draws.min(part) {
                let expected = ln_choose(part, x) + ln_choose(population - part, draws - x)
                    - ln_choose(population, draws);
                let found = law.ln_probability(x as f64);
                assert!(
                    (found - expected).abs() < 1e-9 * expected.abs().max(1.0),
                    "{x}: {found} {expected}"
                );
            }
        }
    }

    /// Mean and variance against their formulas, five standard errors; sizes from a handful to
    /// billions, shares from rare to nearly all.
    #[test]
    fn draws_have_the_mean_and_variance_of_the_law() {
        let cases = [
            (20u64, 7u64, 9u64),
            (1000, 40, 400),
            (10_016, 9_000, 31),
            (4_000_000_000, 3_000_000_000, 1_600_000_000),
        ];
        for (population, part, draws) in cases {
            let mut rng = ChaCha8Rng::seed_from_u64(11);
            let replicates = 4000;
            let (n, k, m) = (population as f64, part as f64, draws as f64);
            let mean = m * k / n;
            let variance = mean * (1.0 - k / n) * (n - m) / (n - 1.0);
            let values: Vec<f64> = (0..replicates)
                .map(|_| sample(population, part, draws, &mut rng) as f64 - mean)
                .collect();
            let replicates = f64::from(replicates);
            let found = values.iter().sum::<f64>() / replicates;
            let squares = values.iter().map(|value| value * value).sum::<f64>() / replicates;
            assert!(
                found.abs() < 5.0 * (variance / replicates).sqrt(),
                "{population}: {found}"
            );
            assert!(
                (squares / variance - 1.0).abs() < 5.0 * (2.5 / replicates).sqrt(),
                "{population}: {squares}"
            );
        }
    }

    /// χ² against the probabilities, 50,000 draws, 9 cells, false alarm 1e-6: 42.7 (scipy.stats.chi2).
    #[test]
    fn draws_follow_the_law() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let mut counts = [0u32; 9];
        for _ in 0..50_000 {
            counts[sample(30, 12, 8, &mut rng) as usize] += 1;
        }
        let law = Law {
            population: 30.0,
            part: 12.0,
            draws: 8.0,
        };
        let statistic: f64 = counts
            .iter()
            .enumerate()
            .map(|(x, &count)| {
                let expected = 50_000.0 * law.ln_probability(x as f64).exp();
                (f64::from(count) - expected).powi(2) / expected
            })
            .sum();
        assert!(statistic < 42.7, "{statistic}");
    }
}
