//! The grid that a log's numbers are written on, and goodness of fit to a law recorded on it.
//!
//! A correct mechanism whose outputs were rounded is refuted by any test of the unrounded law once there
//! are rows enough, so the law must be recorded as the log is. The grid is read from the values of all
//! secrets *together*: it belongs to the recorder, and one secret's few values may miss it.
//!
//! # What is recognized
//!
//! *Steps*: the greatest common divisor of all differences, in units of the last decimal: 0.05, 0.25, 100,
//! with an offset (bin centers). *Significant digits*: in every decade of magnitude the last place is a
//! fixed number of digits after the first. *In full*: no ties, and a step far below the spacing of rows.
//! What cannot be read from values, whether numbers were rounded to nearest, down, up or toward zero, is
//! settled by the largest p-value: the null hypothesis is that the law holds under *some* convention, which
//! each convention's test rejects with probability at most α if it is the true one.
//!
//! # References
//! Berger 1982, doi:10.1080/00401706.1982.10487790 (intersection–union: the largest p-value is valid);
//! Mann and Wald 1942, doi:10.1214/aoms/1177731569 (number of cells).

use crate::bisection::quantile;
use crate::goodness_of_fit::{chi_squared_test, kolmogorov_test};
use crate::multiplicity::holm;

/// Distinct values in a decade below which its last place is not read: a last digit is 0 by chance once in
/// ten.
const LEAST_IN_DECADE: usize = 10;
/// Distinct values that make a common divisor no chance: 2^−11.
const LEAST_DISTINCT: usize = 12;
/// Rows a distinct value, which make it no chance with fewer values: the grid has been filled.
const FILLED: u64 = 20;
/// Numbers written with more digits than this are measurements in full, or arithmetic.
const MOST_DIGITS: u32 = 12;
/// Grid steps a row, over the range, beyond which rounding is too fine to matter.
const FINE: f64 = 1000.0;

/// How numbers were written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Grid {
    /// In full: rounding does not matter.
    Full,
    /// offset + k·step for whole k.
    Step {
        /// The distance of neighbors.
        step: f64,
        /// In \[0, step).
        offset: f64,
    },
    /// So many significant decimal digits.
    Digits(u32),
}

/// How a number became one of the grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Convention {
    /// To the nearest.
    Nearest,
    /// To the next below (floor).
    Down,
    /// Toward zero (digits cut off).
    TowardZero,
    /// To the next above (ceiling).
    Up,
}

impl Convention {
    /// All of them, the commonest first.
    pub const ALL: [Convention; 4] = [
        Convention::Nearest,
        Convention::TowardZero,
        Convention::Down,
        Convention::Up,
    ];
}

/// A number as mantissa·10^exponent, the mantissa without trailing zeros.
#[derive(Debug, Clone, Copy)]
struct Decimal {
    mantissa: i128,
    exponent: i32,
    /// Of the first digit.
    decade: i32,
}

impl Decimal {
    /// To 15 significant digits, which forgives arithmetic like 3 · 0.05; `None` for 0 and what is not finite.
    fn of(value: f64) -> Option<Decimal> {
        if value == 0.0 || !value.is_finite() {
            return None;
        }
        let text = format!("{value:.14e}");
        let (digits, decade) = text.split_once('e')?;
        let decade: i32 = decade.parse().ok()?;
        let mut mantissa: i128 = digits.replace('.', "").parse().ok()?;
        let mut exponent = decade - 14;
        while mantissa % 10 == 0 {
            mantissa /= 10;
            exponent += 1;
        }
        Some(Decimal {
            mantissa,
            exponent,
            decade,
        })
    }

    fn digits(&self) -> u32 {
        (self.decade - self.exponent + 1) as u32
    }
}

/// The grid of a column's distinct values with their rows, of all secrets together.
///
/// # Conditions
/// None on the law. A grid finer than what values happen to show (every last digit 0 by chance) is missed
/// with probability below 0.001.
pub fn recognize(values: &[(f64, u64)]) -> Grid {
    let decimals: Vec<Decimal> = values.iter().filter_map(|v| Decimal::of(v.0)).collect();
    let rows: u64 = values.iter().map(|value| value.1).sum();
    if decimals.is_empty() {
        return Grid::Full;
    }
    if let Some(digits) = significant_digits(&decimals) {
        return Grid::Digits(digits);
    }
    let Some((step, offset)) = common_step(values, &decimals, rows) else {
        return Grid::Full;
    };
    let ends = values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |ends, v| {
            (ends.0.min(v.0), ends.1.max(v.0))
        });
    let ties = rows > values.len() as u64;
    // A long number may tie by being copied; a short one says where it was rounded.
    let long = decimals.iter().filter(|d| d.digits() > MOST_DIGITS).count();
    if 2 * long > decimals.len() || (!ties && (ends.1 - ends.0) / step > FINE * rows as f64) {
        return Grid::Full;
    }
    Grid::Step { step, offset }
}

/// The number of significant digits, if every decade with enough values ends so many places after its
/// first, in two decades at least.
fn significant_digits(decimals: &[Decimal]) -> Option<u32> {
    let most = decimals.iter().map(Decimal::digits).max()?;
    if most > MOST_DIGITS {
        return None;
    }
    let mut sorted: Vec<(i32, i32)> = decimals.iter().map(|d| (d.decade, d.exponent)).collect();
    sorted.sort_unstable();
    let mut decades = 0;
    for decade in sorted.chunk_by(|x, y| x.0 == y.0) {
        // A decade of two digits has ninety values, one of one digit nine.
        let possible = 9 * 10usize.pow(most.min(4) - 1);
        if decade.len() >= LEAST_IN_DECADE.min(possible / 2) {
            decades += 1;
            if decade[0].0 - decade[0].1 + 1 != most as i32 {
                return None;
            }
        }
    }
    (decades >= 2).then_some(most)
}

/// Step and offset by the greatest common divisor of differences.
fn common_step(values: &[(f64, u64)], decimals: &[Decimal], rows: u64) -> Option<(f64, f64)> {
    let last = decimals.iter().map(|d| d.exponent).min()?;
    let first = decimals.iter().map(|d| d.exponent).max()?;
    if first - last > 22 {
        return None;
    }
    let mut whole: Vec<i128> = decimals
        .iter()
        .map(|d| d.mantissa * 10i128.pow((d.exponent - last) as u32))
        .collect();
    if values.len() > decimals.len() {
        whole.push(0);
    }
    let unit = 10f64.powi(last);
    let trusted = whole.len() >= LEAST_DISTINCT || rows >= FILLED * whole.len() as u64;
    let divisor = whole.iter().fold(0, |d, w| gcd(d, (w - whole[0]).abs()));
    if !trusted || divisor == 0 {
        return Some((unit, 0.0));
    }
    // Divide by a power of ten where it is negative: 5·10⁻² must be the double 0.05.
    let scale = |w: i128| {
        if last < 0 {
            w as f64 / 10f64.powi(-last)
        } else {
            w as f64 * unit
        }
    };
    Some((scale(divisor), scale(whole[0].rem_euclid(divisor))))
}

fn gcd(mut a: i128, mut b: i128) -> i128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl Grid {
    /// The distance of neighbors away from zero at a value of the grid; 0 where rounding does not matter.
    pub fn step_at(self, value: f64) -> f64 {
        match self {
            Grid::Full => 0.0,
            Grid::Step { step, .. } => step,
            Grid::Digits(digits) => match Decimal::of(value) {
                Some(decimal) => 10f64.powi(decimal.decade - digits as i32 + 1),
                None => 0.0,
            },
        }
    }

    /// The distance to the neighbor above: below zero and at a power of ten it is a tenth.
    fn step_above(self, value: f64) -> f64 {
        let step = self.step_at(value);
        match (self, Decimal::of(value)) {
            (Grid::Digits(_), Some(decimal)) if decimal.mantissa == -1 => step / 10.0,
            _ => step,
        }
    }

    /// The largest number that is written as this value of the grid or a lower one.
    pub fn upper_edge(self, value: f64, convention: Convention) -> f64 {
        let step = self.step_above(value);
        match convention {
            Convention::Nearest => value + 0.5 * step,
            Convention::Down => value + step,
            Convention::Up => value,
            // Half a step below zero is still zero.
            Convention::TowardZero if value > -0.5 * step => value + step,
            Convention::TowardZero => value,
        }
    }

    /// Widths, absolute and relative, that are small beside a step: ends of cells are rounded to the grid anyway.
    fn resolution(self) -> (f64, f64) {
        match self {
            Grid::Full => (0.0, 0.0),
            Grid::Step { step, .. } => (1e-3 * step, 0.0),
            Grid::Digits(digits) => (0.0, 10f64.powi(-(digits as i32) - 3)),
        }
    }

    /// A value of the grid near a number.
    fn near(self, x: f64) -> f64 {
        match self {
            Grid::Full => x,
            Grid::Step { step, offset } => offset + ((x - offset) / step).round() * step,
            Grid::Digits(_) => {
                let step = self.step_at(x);
                if step == 0.0 {
                    x
                } else {
                    (x / step).round() * step
                }
            }
        }
    }
}

/// The p-value of one secret's values against a law recorded on the grid: χ² over cells of about equal
/// probability, 2·n^0.4 at most; Kolmogorov's test in full.
///
/// `values` ascend, distinct, each with its rows.
///
/// # Conditions
/// Independent rows; the law is fixed beforehand, and the grid, which is read from the values, does not
/// depend on how they are distributed on it. χ² is approximate: see [`chi_squared_test`].
pub fn p_value(
    values: &[(f64, u64)],
    grid: Grid,
    convention: Convention,
    cdf: &dyn Fn(f64) -> f64,
) -> f64 {
    match Cells::new(values, grid, cdf) {
        Some(cells) => cells.p_value(grid, convention, cdf),
        None => kolmogorov_test(values, cdf).p_value,
    }
}

/// Values in cells that the law and the number of rows alone decide.
struct Cells {
    /// The last value of the grid of each cell but the last.
    ends: Vec<f64>,
    observed: Vec<u64>,
}

impl Cells {
    /// `None` if numbers are written in full.
    fn new(values: &[(f64, u64)], grid: Grid, cdf: &dyn Fn(f64) -> f64) -> Option<Cells> {
        if grid == Grid::Full {
            return None;
        }
        let rows: u64 = values.iter().map(|value| value.1).sum();
        let cells = (2.0 * (rows as f64).powf(0.4)).clamp(2.0, 200.0) as u32;
        let mut ends: Vec<f64> = (1..cells)
            .map(|cell| {
                let probability = f64::from(cell) / f64::from(cells);
                grid.near(quantile(cdf, probability, grid.resolution()))
            })
            .collect();
        ends.dedup_by(|next, kept| next <= kept);
        // Values of the grid differ from ends by rounding only, or by a step.
        let beyond: Vec<f64> = ends
            .iter()
            .map(|&end| end + 0.01 * grid.step_at(end))
            .collect();
        let mut observed = vec![0; ends.len() + 1];
        for &(value, count) in values {
            observed[beyond.partition_point(|&beyond| beyond < value)] += count;
        }
        Some(Cells { ends, observed })
    }

    fn p_value(&self, grid: Grid, convention: Convention, cdf: &dyn Fn(f64) -> f64) -> f64 {
        let mut before = 0.0;
        let mut probabilities: Vec<f64> = Vec::with_capacity(self.observed.len());
        for &end in &self.ends {
            let until = cdf(grid.upper_edge(end, convention));
            probabilities.push((until - before).max(0.0));
            before = f64::max(before, until);
        }
        probabilities.push((1.0 - before).max(0.0));
        chi_squared_test(&self.observed, &probabilities).p_value
    }
}

/// A secret's values, ascending and distinct, each with its rows, and the law claimed for it.
pub type Claimed<'a> = (Vec<(f64, u64)>, &'a dyn Fn(f64) -> f64);

/// The p-value of a claim that fixes the law of every secret, with the convention that it holds under if
/// under any: the largest over conventions of the least over secrets, Holm-corrected.
///
/// # Conditions
/// As [`p_value`].
pub fn fit(secrets: &[Claimed], grid: Grid) -> (f64, Convention) {
    let cells: Vec<Option<Cells>> = secrets
        .iter()
        .map(|(values, cdf)| Cells::new(values, grid, cdf))
        .collect();
    let of = |convention: Convention| {
        let p_values: Vec<f64> = secrets
            .iter()
            .zip(&cells)
            .map(|((values, cdf), cells)| match cells {
                Some(cells) => cells.p_value(grid, convention, cdf),
                None => kolmogorov_test(values, cdf).p_value,
            })
            .collect();
        holm(&p_values).into_iter().fold(1.0, f64::min)
    };
    let conventions: &[Convention] = match grid {
        Grid::Full => &Convention::ALL[..1],
        _ => &Convention::ALL,
    };
    let tested = conventions
        .iter()
        .map(|&convention| (of(convention), convention));
    tested
        .reduce(|best, next| if next.0 > best.0 { next } else { best })
        .expect("one convention at least")
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_testing::{at_most, rng};
    use rand::RngExt;

    fn distinct(mut values: Vec<f64>) -> Vec<(f64, u64)> {
        values.sort_by(f64::total_cmp);
        let chunks = values.chunk_by(|x, y| x == y);
        chunks.map(|chunk| (chunk[0], chunk.len() as u64)).collect()
    }

    fn laplace(x: f64) -> f64 {
        if x < 0.0 {
            0.5 * x.exp()
        } else {
            1.0 - 0.5 * (-x).exp()
        }
    }

    fn draws(n: usize, seed: u64, record: impl Fn(f64) -> f64) -> Vec<(f64, u64)> {
        let mut rng = rng(seed);
        let mut draw = || {
            let u: f64 = rng.random::<f64>() - 0.5;
            record(-u.signum() * (1.0 - 2.0 * u.abs()).ln())
        };
        distinct((0..n).map(|_| draw()).collect())
    }

    fn digits(x: f64, digits: usize) -> f64 {
        format!("{x:.*e}", digits - 1).parse().unwrap()
    }

    #[test]
    fn grids_are_recognized() {
        let step = |width: f64| Grid::Step {
            step: width,
            offset: 0.0,
        };
        let at = |width: f64| draws(2000, 1, |x| (x / width).round() * width);
        assert_eq!(recognize(&at(0.05)), step(0.05));
        assert_eq!(recognize(&at(0.25)), step(0.25));
        assert_eq!(
            recognize(&draws(2000, 1, |x| (x * 100.0).trunc() / 100.0)),
            step(0.01)
        );
        assert_eq!(
            recognize(&draws(2000, 1, |x| (x * 3.0).round() * 500.0)),
            step(500.0)
        );
        assert_eq!(
            recognize(&draws(2000, 1, |x| digits(x, 3))),
            Grid::Digits(3)
        );
        assert_eq!(
            recognize(&draws(2000, 1, |x| digits(x, 2))),
            Grid::Digits(2)
        );
        assert_eq!(recognize(&draws(2000, 1, |x| x)), Grid::Full);
        let centers = draws(2000, 1, |x| (x / 0.5).floor() * 0.5 + 0.25);
        assert_eq!(
            recognize(&centers),
            Grid::Step {
                step: 0.5,
                offset: 0.25
            }
        );
        assert_eq!(recognize(&[]), Grid::Full);
    }

    #[test]
    fn edges_are_where_the_recorder_turns() {
        let grid = Grid::Step {
            step: 0.5,
            offset: 0.0,
        };
        assert_eq!(grid.upper_edge(1.0, Convention::Nearest), 1.25);
        assert_eq!(grid.upper_edge(-1.0, Convention::TowardZero), -1.0);
        assert_eq!(grid.upper_edge(0.0, Convention::TowardZero), 0.5);
        assert_eq!(grid.upper_edge(-0.5, Convention::Down), 0.0);
        let digits = Grid::Digits(2);
        assert!((digits.upper_edge(1.0, Convention::Nearest) - 1.05).abs() < 1e-12);
        assert!((digits.upper_edge(-1.0, Convention::Nearest) + 0.995).abs() < 1e-12);
        assert!((digits.upper_edge(-1.1, Convention::Nearest) + 1.05).abs() < 1e-12);
    }

    /// 300 correct logs of 800 rows for each recorder: p < 0.05 in at most 5 % and 3.29 standard
    /// deviations; 1.3 times the scale is refuted with 4,000 rows.
    #[test]
    fn correct_logs_are_not_accused_and_wrong_ones_are() {
        let recorders: [&dyn Fn(f64) -> f64; 5] = [
            &|x| (x / 0.05).round() * 0.05,
            &|x| (x * 10.0).trunc() / 10.0,
            &|x| (x * 4.0).floor() / 4.0,
            &|x| digits(x, 2),
            &|x| x,
        ];
        for (at, record) in recorders.iter().enumerate() {
            let mut accused = 0;
            for seed in 0..300 {
                let values = draws(800, 1000 * at as u64 + seed, record);
                let grid = recognize(&values);
                accused += usize::from(fit(&[(values, &laplace)], grid).0 < 0.05);
            }
            assert!(accused <= at_most(300, 0.05), "{at}: {accused}");
            let values = draws(4000, 9, record);
            let grid = recognize(&values);
            assert!(
                fit(&[(values, &|x| laplace(x / 1.3))], grid).0 < 1e-4,
                "{at}"
            );
        }
    }
}
