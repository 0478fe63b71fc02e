//! The step of the clock that recorded times, and what it hides.
//!
//! A clock of whole milliseconds does not say whether a time of 12 ms was rounded, cut, or is the difference of two
//! readings that were both cut. In each case the time is less than a step away from what was recorded. So a time is
//! known to within a step, and a difference of two times to within two, however many rows a log has. Equal records are
//! not equal times.

mod ticks;

use crate::paired::Located;
use crate::unpaired::Ranked;

/// Steps by which a difference of two times is uncertain, in either direction.
const STEPS: f64 = 2.0;
/// The share of values that lie on a grid. The others may be anything: one row decides nothing.
const ON_GRID: f64 = 0.95;
/// Values that a sample is told by.
const SOME: usize = 4096;
/// Values by which one step is told from another lie on it by chance at most this often.
const BY_CHANCE: f64 = 1e-4;
/// Digits after the point at most.
const MAX_DECIMALS: i32 = 12;
/// Rounding in double precision moves a value by at most this part of a step.
const TINY: f64 = 1e-3;

/// The clock of a log.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clock {
    step: f64,
    /// The place of the last digit that values have, 0 for values that have all digits of double precision.
    digit: f64,
}

impl Clock {
    /// A clock that records times as they are.
    pub const EXACT: Clock = Clock {
        step: 0.0,
        digit: 0.0,
    };

    /// The clock of these parts of a log, its secrets for example.
    ///
    /// # Formula
    /// The step is the largest grid on which at least 95 % of the values lie, of all values or of one part: with d the
    /// fewest digits after the point, 10⁻ᵈ, or a whole multiple of it, or any real number (of a counter of 24 MHz,
    /// 41.67 ns) that the values are multiples of up to the rounding of their last digit. A grid coarser than the last
    /// digit counts if values would lie on it by chance with a probability of at most 10⁻⁴. Ticks that were cut to few digits,
    /// 15.625 ms to 15 and 16, count with a digit more. 0 if there is no grid.
    ///
    /// # Conditions
    /// At most 5 % of all values, and of those of a part, are finer than the clock.
    ///
    /// ```
    /// use leakgauge_stats::clock::{Clock, Recorded};
    ///
    /// let of = |values: &[f64]| Clock::of(&[Recorded::sorted(values)]).step();
    /// assert_eq!(of(&[12.0, 12.0, 13.0, 15.0]), 1.0);
    /// assert_eq!(of(&[12.25, 12.5]), 0.01); // By chance both are multiples of 0.25.
    /// assert_eq!(of(&[12.25, 12.5, 13.0]), 0.25);
    /// assert_eq!(of(&[1000.0, 3000.0, 4000.0]), 1000.0);
    /// ```
    pub fn of(parts: &[Recorded]) -> Clock {
        let all = Recorded::together(parts);
        let digit = all.digit();
        let mut step = all.step(digit);
        for part in parts.iter().filter(|_| parts.len() > 1) {
            let own = part.step(part.digit());
            // One value makes the grid, the others lie on it: a single one is a multiple of itself.
            let others = part.distinct().saturating_sub(1);
            let chance = (step / own).powi(others as i32);
            if own > step && chance * parts.len() as f64 <= BY_CHANCE {
                step = own;
            }
        }
        Clock { step, digit }
    }

    /// The same clock with a step that is known.
    #[must_use]
    pub fn with_step(self, step: f64) -> Clock {
        Clock { step, ..self }
    }

    /// The step; 0 if none was found.
    pub fn step(&self) -> f64 {
        self.step
    }

    /// By how much limits of a difference of recorded times are to be moved outward to be limits of the difference of
    /// the times themselves.
    ///
    /// # Formula
    /// 2 steps. Each time is within a step of its record. Quantiles, medians of differences or of their pairwise
    /// means, and means move by at most as much as every value does.
    pub fn blur(&self) -> f64 {
        STEPS * self.step
    }

    /// Limits of the difference of the times, from those of the difference of their records.
    #[must_use]
    pub fn around(&self, found: Located) -> Located {
        Located {
            point: self.written(found.point),
            lower: self.written(self.written(found.lower) - self.blur()),
            upper: self.written(self.written(found.upper) + self.blur()),
        }
    }

    /// Recorded differences up to this say nothing against a bound on differences of times.
    ///
    /// # Formula
    /// bound + 2 steps, and what rounding may add: 4·2⁻⁵² of the bound, a thousandth of the last digit.
    ///
    /// ```
    /// use leakgauge_stats::clock::{Clock, Recorded};
    ///
    /// let clock = Clock::of(&[Recorded::sorted(&[0.1, 0.4])]).with_step(0.0);
    /// assert!(0.4 - 0.1 > 0.3 && 0.4 - 0.1 <= clock.hides(0.3));
    /// ```
    pub fn hides(&self, bound: f64) -> f64 {
        within_rounding(bound) + self.blur() + TINY * self.digit
    }

    /// A difference of two numbers that were written with few digits has few digits.
    fn written(&self, x: f64) -> f64 {
        if self.digit == 0.0 || !x.is_finite() {
            return x;
        }
        // A division by a power of ten is correctly rounded, a multiplication by its inverse is not.
        let places = (1.0 / self.digit).round();
        let near = (x * places).round() / places + 0.0;
        if (near - x).abs() <= TINY * self.digit {
            near
        } else {
            x
        }
    }
}

/// The largest number that is a bound, but for its conversion into another unit.
pub fn within_rounding(bound: f64) -> f64 {
    bound + 4.0 * f64::EPSILON * bound.abs()
}

/// Recorded values in ascending order, or a sample of them that shows their grid.
#[derive(Debug, Clone, Default)]
pub struct Recorded {
    /// Values from the smallest to the largest, evenly by rank.
    spread: Vec<f64>,
    /// Different values that follow each other, around the median.
    dense: Vec<f64>,
}

impl Recorded {
    /// Of values from the smallest to the largest.
    pub fn sorted(values: &[f64]) -> Recorded {
        let middle = values.len() / 2;
        let around = middle.saturating_sub(8 * SOME)..(middle + 8 * SOME).min(values.len());
        let mut dense = values[around].to_vec();
        dense.dedup();
        Recorded {
            spread: thinned(values.len(), |at| values[at]),
            dense: central(&dense),
        }
    }

    /// Of a sample by its distinct values.
    pub fn ranked(sample: &Ranked) -> Recorded {
        let rows = sample.rows() as usize;
        let place = sample.place(rows as u64 / 2);
        let values = sample.values();
        let around = place.saturating_sub(SOME / 2)..(place + SOME / 2).min(values.len());
        Recorded {
            spread: thinned(rows, |at| sample.at(at as i64 + 1)),
            dense: values[around].to_vec(),
        }
    }

    /// Of values in any order, of which some are looked at.
    pub fn some(values: &[f64]) -> Recorded {
        let mut some = thinned(values.len(), |at| values[at]);
        some.sort_unstable_by(f64::total_cmp);
        Recorded::sorted(&some)
    }

    fn together(parts: &[Recorded]) -> Recorded {
        if let [only] = parts {
            return only.clone();
        }
        let join = |of: fn(&Recorded) -> &[f64]| -> Vec<f64> {
            let mut all: Vec<f64> = parts.iter().flat_map(|part| of(part).to_vec()).collect();
            all.sort_unstable_by(f64::total_cmp);
            all
        };
        let mut dense = join(|part| &part.dense);
        dense.dedup();
        Recorded {
            spread: join(|part| &part.spread),
            dense: central(&dense),
        }
    }

    /// How many different values the sample has.
    fn distinct(&self) -> usize {
        let changes = self.spread.windows(2).filter(|two| two[0] != two[1]);
        changes.count() + usize::from(!self.spread.is_empty())
    }

    fn share(&self, fits: impl Fn(f64) -> bool) -> f64 {
        let fitting = self.spread.iter().filter(|&&x| fits(x)).count();
        fitting as f64 / self.spread.len().max(1) as f64
    }

    /// The place of the last digit that nearly all values are written with.
    fn digit(&self) -> f64 {
        let fits = |decimals: &i32| {
            let places = 10f64.powi(*decimals);
            self.share(|x| (x * places).round() / places == x) >= ON_GRID
        };
        let found = (0..=MAX_DECIMALS).find(fits);
        match found {
            Some(decimals) if !self.spread.is_empty() => 10f64.powi(-decimals),
            _ => 0.0,
        }
    }

    fn step(&self, digit: f64) -> f64 {
        let mut step = digit;
        if digit > 0.0 {
            step = step.max(digit * self.common_divisor(digit) as f64);
        }
        step = step.max(self.counter(digit));
        if step > digit {
            return step;
        }
        // Readings of ticks were cut to digits, so that a time is known to within both.
        let tick = ticks::tick(&self.spread, digit);
        if tick > 0.0 { tick + digit } else { step }
    }

    /// The largest whole number of digits that nearly all values differ by multiples of.
    fn common_divisor(&self, digit: f64) -> u64 {
        const TRIES: usize = 300;
        const MOST: f64 = 9e15;
        let places = (1.0 / digit).round();
        let whole: Vec<i64> = self
            .spread
            .iter()
            .map(|x| (x * places).round())
            .filter(|x| x.abs() < MOST)
            .map(|x| x as i64)
            .collect();
        let n = whole.len();
        if n == 0 {
            return 1;
        }
        // Multiples of the golden ratio spread evenly over the ranks, without a pattern that a clock could share.
        let at = |place: usize| {
            whole[((place as f64 * 0.618_033_988_749_894_9).fract() * n as f64) as usize]
        };
        let of_three = |first: usize| {
            let apart = |place: usize| at(6 * first + place).abs_diff(at(6 * first + place + 1));
            [0, 2, 4].into_iter().map(apart).fold(0, divisor)
        };
        let mut candidates: Vec<u64> = (0..TRIES).map(of_three).filter(|&g| g > 1).collect();
        // Of one value or two, what they are multiples of.
        candidates.push(whole.iter().fold(0, |g, x| divisor(g, x.unsigned_abs())));
        candidates.sort_unstable();
        candidates.dedup();
        let fits = |&&step: &&u64| {
            step > 1
                && [n / 4, n / 2, 3 * n / 4].iter().any(|&anchor| {
                    let rest = whole[anchor].rem_euclid(step as i64);
                    let mut on: Vec<i64> = whole
                        .iter()
                        .copied()
                        .filter(|x| x.rem_euclid(step as i64) == rest)
                        .collect();
                    let share = on.len() as f64 / self.spread.len() as f64;
                    on.dedup();
                    // Which remainder they have is not known beforehand, unless it is 0.
                    let free = on.len() - usize::from(rest != 0);
                    let chance = (step as f64).powi(-(free as i32)) * candidates.len() as f64;
                    share >= ON_GRID && chance <= BY_CHANCE
                })
        };
        candidates.iter().rev().find(fits).copied().unwrap_or(1)
    }

    /// A step that is no multiple of the last digit: values are rounded multiples of it. 0 if there is none.
    fn counter(&self, digit: f64) -> f64 {
        const LEAST: usize = 8;
        if self.dense.len() < LEAST {
            return 0.0;
        }
        let mut gaps: Vec<f64> = self.dense.windows(2).map(|two| two[1] - two[0]).collect();
        gaps.sort_unstable_by(f64::total_cmp);
        let at = |share: f64| gaps[(share * (gaps.len() - 1) as f64) as usize];
        let guesses = [0.05, 0.25, 0.5].into_iter().map(at);
        let guesses = guesses.flat_map(|gap| [gap, gap / 2.0, gap / 3.0]);
        let found = guesses.filter_map(|guess| self.refined(guess, digit));
        found.fold(0.0, f64::max)
    }

    /// The step near a guess that nearly all values are multiples of, by least squares over ever more of them.
    fn refined(&self, mut step: f64, digit: f64) -> Option<f64> {
        let coarse = |step: f64| step > 4.0 * digit && step > 0.0;
        if !coarse(step) {
            return None;
        }
        let start = self.dense[self.dense.len() / 2];
        let mut values = [&self.dense[..], &self.spread].concat();
        values.sort_unstable_by(f64::total_cmp);
        values.dedup();
        let n = values.len();
        let far = (start - values[n / 20]).max(values[n - 1 - n / 20] - start);
        let (mut reach, mut offset) = (4.0 * step, 0.0);
        loop {
            let near = values
                .iter()
                .map(|x| x - start)
                .filter(|x| x.abs() <= reach);
            (step, offset) = line(near, step, offset)?;
            if reach >= far {
                break;
            }
            reach *= 2.0;
        }
        let slack = |x: f64| 0.75 * digit + 16.0 * f64::EPSILON * x.abs();
        let off = |x: f64| {
            let from = x - start - offset;
            (from - (from / step).round() * step).abs()
        };
        let on: Vec<f64> = values
            .iter()
            .copied()
            .filter(|&x| off(x) <= slack(x))
            .collect();
        let width = 2.0 * slack(values[n / 2]) / step;
        let chance = width.powi(on.len() as i32 - 3) * n as f64;
        let fits = self.share(|x| off(x) <= slack(x)) >= ON_GRID;
        (coarse(step) && fits && chance <= BY_CHANCE).then_some(step)
    }
}

/// The slope and the intercept of values over the number of steps that they are away.
fn line(values: impl Iterator<Item = f64>, step: f64, offset: f64) -> Option<(f64, f64)> {
    let (mut n, mut k_sum, mut x_sum, mut kk, mut kx) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for x in values {
        let k = ((x - offset) / step).round();
        n += 1.0;
        k_sum += k;
        x_sum += x;
        kk += k * k;
        kx += k * x;
    }
    let spread = n * kk - k_sum * k_sum;
    let slope = (n * kx - k_sum * x_sum) / spread;
    (spread > 0.0 && slope > 0.0).then(|| (slope, (x_sum - slope * k_sum) / n))
}

fn divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { divisor(b, a % b) }
}

/// At most so many, evenly by their place.
fn thinned(count: usize, value: impl Fn(usize) -> f64) -> Vec<f64> {
    let kept = count.min(SOME);
    (0..kept).map(|at| value(at * count / kept)).collect()
}

fn central(values: &[f64]) -> Vec<f64> {
    let middle = values.len() / 2;
    values[middle.saturating_sub(SOME / 2)..(middle + SOME / 2).min(values.len())].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_testing::rng;
    use rand::RngExt;

    fn step(mut values: Vec<f64>) -> f64 {
        values.sort_unstable_by(f64::total_cmp);
        Clock::of(&[Recorded::sorted(&values)]).step()
    }

    /// Times with a tail, from a clock with this step that starts anywhere.
    fn ticks(seed: u64, rows: usize, scale: f64, step: f64) -> Vec<f64> {
        let mut rng = rng(seed);
        let mut draw = || -> f64 { rng.random() };
        let times = (0..rows).map(|_| scale * (1.0 - draw().ln() * 0.3) + 0.1 * scale * draw());
        times.map(|time| (time / step).floor() * step).collect()
    }

    fn decimals(values: Vec<f64>, places: f64) -> Vec<f64> {
        values
            .into_iter()
            .map(|x| (x * places).round() / places)
            .collect()
    }

    #[test]
    fn the_step_is_the_grid_of_the_values() {
        for rows in [40, 500, 20_000] {
            assert_eq!(step(ticks(1, rows, 30.0, 1.0)), 1.0);
            assert_eq!(step(ticks(2, rows, 30_000.0, 1_000.0)), 1_000.0);
            assert_eq!(step(decimals(ticks(3, rows, 0.03, 1e-3), 1e3)), 1e-3);
            // A counter of two cycles, read with an offset.
            let odd: Vec<f64> = ticks(4, rows, 900.0, 2.0).iter().map(|x| x + 1.0).collect();
            assert_eq!(step(odd), 2.0);
            // Values with all digits have none.
            assert_eq!(step(ticks(5, rows, 30.0, 1e-13)), 0.0);
        }
    }

    #[test]
    fn a_counter_whose_step_has_no_few_digits_is_found() {
        let tick = 1e3 / 24.0;
        for rows in [200, 5_000] {
            for scale in [500.0, 20_000.0] {
                let exact = ticks(6, rows, scale, tick);
                for (values, off) in [
                    (exact.clone(), 1e-9),
                    (decimals(exact.clone(), 1.0), 0.05),
                    (decimals(exact, 100.0), 0.01),
                ] {
                    let found = step(values);
                    assert!((found - tick).abs() < off, "{rows}, {scale}: {found}");
                }
            }
        }
    }

    #[test]
    fn no_row_decides() {
        let mut values = ticks(7, 1_000, 30.0, 1.0);
        values[17] = 12.345_678;
        assert_eq!(step(values.clone()), 1.0);
        values[18] = 1_764_270_000.0;
        values[19] = 1e300;
        assert_eq!(step(values), 1.0);
        let mut values = ticks(8, 1_000, 30_000.0, 1_000.0);
        values[17] = 12_345.0;
        assert_eq!(step(values), 1_000.0);
    }

    #[test]
    fn one_part_may_have_a_coarser_clock() {
        let fine = decimals(ticks(9, 1_000, 30.0, 1e-3), 1e3);
        let parts = [fine.clone(), ticks(10, 1_000, 30.0, 1.0)];
        let parts = parts.map(|values| Recorded::some(&values));
        assert_eq!(Clock::of(&parts).step(), 1.0);
        // A row that happens to have fewer digits says nothing.
        let parts = [fine, vec![12.0]].map(|values| Recorded::some(&values));
        assert_eq!(Clock::of(&parts).step(), 1e-3);
    }

    #[test]
    fn few_different_values_have_the_step_of_their_digits() {
        assert_eq!(step(vec![118.0; 50]), 1.0);
        assert_eq!(step([vec![100.0; 50], vec![120.0; 50]].concat()), 1.0);
        assert_eq!(step(vec![]), 0.0);
    }

    #[test]
    fn limits_are_two_steps_wider_and_have_the_digits_of_the_values() {
        let clock = Clock::of(&[Recorded::sorted(&[0.1, 0.3, 0.4])]);
        let found = clock.around(Located {
            point: 0.4 - 0.1,
            lower: 0.4 - 0.3,
            upper: f64::INFINITY,
        });
        assert_eq!((found.point, found.lower), (0.3, -0.1));
        assert_eq!(found.upper, f64::INFINITY);
        assert_eq!(Clock::EXACT.hides(1.0), within_rounding(1.0));
        assert!(clock.hides(0.3) > 0.5 && clock.hides(0.3) < 0.5002);
    }

    /// Whatever a clock does within a step, limits hold for the times: quantiles of records are within a step of those
    /// of the times.
    #[test]
    fn quantiles_of_differences_of_readings_are_within_a_step() {
        let mut rng = rng(11);
        for _ in 0..50 {
            let times: Vec<f64> = (0..400).map(|_| 3.0 * rng.random::<f64>()).collect();
            let read = |time: &f64| {
                let start: f64 = rng.random();
                (start + time).floor() - start.floor()
            };
            let records = crate::paired::sorted(&times.iter().map(read).collect::<Vec<_>>());
            let times = crate::paired::sorted(&times);
            assert!(
                times
                    .iter()
                    .zip(records)
                    .all(|(time, record)| (time - record).abs() < 1.0)
            );
        }
    }
}
