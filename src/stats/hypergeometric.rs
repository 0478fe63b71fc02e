//! Drawing without replacement, from any number of rows.
//!
//! The probability of the mode comes from Loader's saddle-point form, which keeps its accuracy where
//! differences of log-factorials lose it; the others follow by their ratios. The search starts at the
//! mode, so that a draw takes about as many steps as the standard deviation is long.
//!
//! # References
//! Kachitvichyanukul and Schmeiser (1985), doi:10.1080/00949658508810839 (inversion).

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::saddlepoint::ln_binomial;

/// How many of `draws` rows out of `population` belong to a part of size `part`.
///
/// # Conditions
/// Exact up to rounding for populations below 2^53.
///
/// # Panics
/// If the part or the draw is larger than the population.
pub fn hypergeometric(population: u64, part: u64, draws: u64, rng: &mut ChaCha8Rng) -> u64 {
    assert!(
        part <= population && draws <= population,
        "{part} and {draws} of {population}"
    );
    if part == 0 || draws == 0 {
        return 0;
    }
    if part == population {
        return draws;
    }
    if draws == population {
        return part;
    }
    Law::new(population, part, draws).invert(rng.random())
}

struct Law {
    part: f64,
    draws: f64,
    /// Rows that are neither in the part nor, at the least, drawn.
    spare: f64,
    least: f64,
    most: f64,
    mode: f64,
    /// The probability of the mode.
    peak: f64,
}

impl Law {
    fn new(population: u64, part: u64, draws: u64) -> Self {
        let rest = population - part;
        let product = (u128::from(part) + 1) * (u128::from(draws) + 1);
        let mode = (product / (u128::from(population) + 2)) as u64;
        let (least, most) = (draws.saturating_sub(rest), part.min(draws));
        let mode = mode.clamp(least, most);
        let p = draws as f64 / population as f64;
        let q = (population - draws) as f64 / population as f64;
        let peak = ln_probability(mode, part, p, q) + ln_probability(draws - mode, rest, p, q)
            - ln_probability(draws, population, p, q);
        Law {
            part: part as f64,
            draws: draws as f64,
            spare: rest as f64 - draws as f64,
            least: least as f64,
            most: most as f64,
            mode: mode as f64,
            peak: peak.exp(),
        }
    }

    /// P(x + 1) / P(x).
    fn ratio(&self, x: f64) -> f64 {
        (self.part - x) * (self.draws - x) / ((x + 1.0) * (self.spare + x + 1.0))
    }

    /// The value at a uniform number, the mode first, then its neighbours on both sides.
    fn invert(&self, uniform: f64) -> u64 {
        /// What is left of the uniform number beyond this is rounding.
        const NOTHING: f64 = 1e-20;
        let mut left = uniform - self.peak;
        let (mut above, mut up) = (self.mode, self.peak);
        let (mut below, mut down) = (self.mode, self.peak);
        while left >= 0.0 && up + down > NOTHING {
            up *= if above < self.most {
                self.ratio(above)
            } else {
                0.0
            };
            above += 1.0;
            left -= up;
            if left < 0.0 {
                return above as u64;
            }
            below -= 1.0;
            down /= if below >= self.least {
                self.ratio(below)
            } else {
                f64::INFINITY
            };
            left -= down;
            if left < 0.0 {
                return below as u64;
            }
        }
        self.mode as u64
    }
}

/// ln P(Bin(n, p) = k), p + q = 1, both positive.
fn ln_probability(k: u64, n: u64, p: f64, q: f64) -> f64 {
    match k {
        0 => n as f64 * q.ln(),
        _ if k == n => n as f64 * p.ln(),
        _ => ln_binomial(k as f64, n as f64, p, q),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    /// Frequencies of 100,000 draws against C(K,x)·C(N−K,n−x)/C(N,n), within five standard errors.
    #[test]
    fn frequencies_are_those_of_the_formula() {
        let choose =
            |n: u64, k: u64| -> f64 { (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product() };
        for (population, part, draws) in [(10, 4, 5), (50, 45, 30), (100, 3, 60), (80, 60, 40)] {
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            let mut seen = vec![0u32; draws as usize + 1];
            let all = 100_000;
            for _ in 0..all {
                seen[hypergeometric(population, part, draws, &mut rng) as usize] += 1;
            }
            for (x, &count) in seen.iter().enumerate() {
                let x = x as u64;
                let possible = x <= part && draws - x <= population - part;
                let p = if possible {
                    choose(part, x) * choose(population - part, draws - x)
                        / choose(population, draws)
                } else {
                    0.0
                };
                let off = (f64::from(count) - p * f64::from(all)).abs();
                let error = (p * (1.0 - p) * f64::from(all)).sqrt();
                assert!(off <= 5.0 * error + 1e-9, "{x}: {count}, {p}");
            }
        }
    }

    /// The mean of 200 draws within five standard errors, and their variance within half.
    #[test]
    fn rows_beyond_counting_are_drawn_at_once() {
        for (population, part, draws) in [
            (1u64 << 52, 1u64 << 51, 1u64 << 40),
            (1 << 52, 1000, 1 << 51),
            ((1 << 53) - 1, (1 << 53) - 3, 1 << 30),
        ] {
            let mut rng = ChaCha8Rng::seed_from_u64(2);
            let n = 200;
            let values: Vec<f64> = (0..n)
                .map(|_| hypergeometric(population, part, draws, &mut rng) as f64)
                .collect();
            let share = part as f64 / population as f64;
            let expected = draws as f64 * share;
            let variance =
                expected * (1.0 - share) * (population - draws) as f64 / (population - 1) as f64;
            let mean = values.iter().sum::<f64>() / f64::from(n);
            assert!((mean - expected).abs() <= 5.0 * (variance / f64::from(n)).sqrt() + 1e-3);
            let spread = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / f64::from(n);
            assert!((spread - variance).abs() <= 0.5 * variance + 1e-3);
        }
    }

    #[test]
    fn what_leaves_no_choice_is_not_drawn() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        assert_eq!(hypergeometric(9, 9, 4, &mut rng), 4);
        assert_eq!(hypergeometric(9, 4, 9, &mut rng), 4);
        assert_eq!(hypergeometric(9, 0, 4, &mut rng), 0);
        assert_eq!(hypergeometric(9, 4, 0, &mut rng), 0);
    }
}
