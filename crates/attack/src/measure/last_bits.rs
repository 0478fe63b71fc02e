//! Whether the last bits of numbers tell the secrets apart: noise in floating point that nobody rounded.

use std::collections::BTreeMap;

use leakgauge_log::observations::{Counts, Observations, Part};
use leakgauge_stats::special::chi_squared_survival;

/// Digits from which a number is taken to be printed in full: doubles have 15 to 17.
const DIGITS: usize = 15;
/// Zero bits at the end of a number that was rounded to a binary grid.
const ZEROS: u32 = 12;
/// Numbers that are looked at to see whether a column is printed in full.
const MAX_LOOKED_AT: usize = 4096;
/// The least expected count of a cell.
const MIN_EXPECTED: f64 = 5.0;

/// How the last bits of a column depend on the secret.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LastBits {
    /// The column, counted among all columns of the observation.
    pub column: usize,
    /// The probability of such a dependence, or a stronger one, if there is none.
    pub p_value: f64,
}

/// The column of numbers printed in full whose last bits depend most on the secret, its p-value corrected for the
/// number of such columns (Bonferroni). `None` where no column is printed in full.
///
/// # Formula
/// χ² of homogeneity of "the last of the 53 bits of the significand is set" between secrets, summed over binary
/// exponents: the sum x = s + noise has zeros at its end where it is smaller than the noise, and that depends on s.
/// Secrets with fewer than five expected rows in a cell are left out there.
///
/// # Conditions
/// Rows are independent. The test is asymptotic.
///
/// # References
/// I. Mironov, *On significance of the least significant bits for differential privacy*,
/// doi:10.1145/2382196.2382264.
pub fn last_bits(observations: &Observations, rows: &Counts) -> Option<LastBits> {
    let full: Vec<(usize, usize)> = observations
        .parts()
        .filter_map(|(column, part)| match part {
            Part::Number(at) => Some((column, at)),
            Part::Label(_) => None,
        })
        .filter(|&(_, at)| is_printed_in_full(observations, rows, at))
        .collect();
    let p_values = full.iter().map(|&(column, at)| LastBits {
        column,
        p_value: (p_value(observations, rows, at) * full.len() as f64).min(1.0),
    });
    p_values.min_by(|a, b| a.p_value.total_cmp(&b.p_value))
}

/// Whether most numbers have all their digits, in decimal and in binary notation.
fn is_printed_in_full(observations: &Observations, rows: &Counts, at: usize) -> bool {
    let ids = rows.symbols();
    let step = ids.len().div_ceil(MAX_LOOKED_AT).max(1);
    let looked_at: Vec<f64> = ids
        .iter()
        .step_by(step)
        .map(|&symbol| observations.numbers(symbol)[at])
        .collect();
    let full = looked_at.iter().filter(|&&value| {
        let fraction = fraction(value);
        fraction != 0 && fraction.trailing_zeros() < ZEROS && digits(value) >= DIGITS
    });
    2 * full.count() > looked_at.len()
}

/// Significant digits of the shortest text that reads as this number.
fn digits(value: f64) -> usize {
    let text = format!("{value:e}");
    let significand = text.split('e').next().unwrap_or_default();
    significand.bytes().filter(u8::is_ascii_digit).count()
}

fn fraction(value: f64) -> u64 {
    value.to_bits() & ((1 << 52) - 1)
}

fn p_value(observations: &Observations, rows: &Counts, at: usize) -> f64 {
    // By exponent: rows of each secret, and those of them with the last bit set.
    let mut strata: BTreeMap<u64, Vec<[u64; 2]>> = BTreeMap::new();
    for cell in rows.cells() {
        let value = observations.numbers(cell.symbol)[at];
        if !value.is_normal() {
            continue;
        }
        let exponent = (value.to_bits() >> 52) & 0x7ff;
        let secrets = strata
            .entry(exponent)
            .or_insert_with(|| vec![[0; 2]; rows.secrets()]);
        let [all, set] = &mut secrets[cell.secret as usize];
        *all += cell.count;
        *set += cell.count * (fraction(value) & 1);
    }
    let (mut sum, mut freedom) = (0.0, 0.0);
    for secrets in strata.values() {
        let (statistic, degrees) = homogeneity(secrets);
        sum += statistic;
        freedom += degrees;
    }
    if freedom == 0.0 {
        return 1.0;
    }
    chi_squared_survival(sum, freedom)
}

/// χ² of the shares of some secrets, and its degrees of freedom.
fn homogeneity(secrets: &[[u64; 2]]) -> (f64, f64) {
    let total = |of: &[[u64; 2]]| {
        of.iter()
            .fold([0, 0], |[all, set], one| [all + one[0], set + one[1]])
    };
    let [all, set] = total(secrets);
    let share = set as f64 / all as f64;
    let rarer = share.min(1.0 - share);
    let enough = |secret: &&[u64; 2]| secret[0] as f64 * rarer >= MIN_EXPECTED;
    let kept: Vec<[u64; 2]> = secrets.iter().filter(enough).copied().collect();
    let [all, set] = total(&kept);
    let share = set as f64 / all as f64;
    let variance = share * (1.0 - share);
    if kept.len() < 2 || variance == 0.0 {
        return (0.0, 0.0);
    }
    let statistic = kept.iter().map(|&[all, set]| {
        let off = set as f64 - all as f64 * share;
        off * off / (all as f64 * variance)
    });
    (statistic.sum(), (kept.len() - 1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_log::observations::Cell;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn p_value_of(rows: u64, draw: impl Fn(u32, &mut ChaCha8Rng) -> f64, seed: u64) -> Option<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let secrets: Vec<u32> = (0..rows).map(|row| (row % 2) as u32).collect();
        let values: Vec<f64> = secrets
            .iter()
            .map(|&secret| draw(secret, &mut rng))
            .collect();
        let observations = Observations::of_numbers(1, values);
        let cell = |(row, &secret): (usize, &u32)| Cell {
            symbol: row as u32,
            secret,
            count: 1,
        };
        let counts = Counts::new(2, secrets.iter().enumerate().map(cell).collect());
        last_bits(&observations, &counts).map(|found| found.p_value)
    }

    fn laplace(rng: &mut ChaCha8Rng) -> f64 {
        let uniform = rng.random_range(f64::EPSILON..1.0);
        let sign = if rng.random_bool(0.5) { 1.0 } else { -1.0 };
        -sign * uniform.ln()
    }

    /// 0 + noise keeps the last bits of the noise, 1 + noise does not.
    #[test]
    fn sums_in_floating_point_leave_traces() {
        let p = p_value_of(2_000, |secret, rng| f64::from(secret) + laplace(rng), 1);
        assert!(p.unwrap() < 1e-12, "{p:?}");
    }

    /// The same noise without a secret, or far from 0 under both, leaves none: p-values are spread evenly.
    #[test]
    fn what_does_not_depend_on_the_secret_is_not_accused() {
        let mut small = 0;
        for seed in 0..200 {
            let same = p_value_of(1_000, |_, rng| laplace(rng), seed).unwrap();
            let far = |secret: u32, rng: &mut ChaCha8Rng| 4096.0 + f64::from(secret) + laplace(rng);
            let far = p_value_of(1_000, far, seed).unwrap();
            small += u32::from(same < 0.05) + u32::from(far < 0.05);
        }
        // Binomial(400, 0.05): more than 38 with probability 1e-4.
        assert!(small <= 38, "{small}");
    }

    /// Rounded numbers have no last bits.
    #[test]
    fn rounded_numbers_are_not_looked_at() {
        let decimals = |secret: u32, rng: &mut ChaCha8Rng| {
            (1e6 * (f64::from(secret) + laplace(rng))).round() / 1e6
        };
        assert_eq!(p_value_of(1_000, decimals, 1), None);
        let grid = 2f64.powi(-30);
        let binary = |secret: u32, rng: &mut ChaCha8Rng| {
            ((f64::from(secret) + laplace(rng)) / grid).round() * grid
        };
        assert_eq!(p_value_of(1_000, binary, 1), None);
    }
}
