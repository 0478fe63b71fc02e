//! The law of a histogram on a box around its mean, by Fourier transforms.

use std::f64::consts::TAU;
use std::sync::Arc;

use realfft::{ComplexToReal, RealFftPlanner};
use rustfft::{FftDirection, FftPlanner, num_complex::Complex};

use super::binomial_law;
use leakgauge_base::parallel;

/// The largest number of cells of a box; it takes about 8 bytes for each.
const MAX_BOX: f64 = 7e7;
/// A box that is one longer along every side, which is gone through place by place, may have so many places whatever it has
/// itself: of dozens of observations that hardly occur, a box has a few cells, and the longer one billions.
const MIN_PLACES: f64 = 1e7;
/// The probabilities of each side of each count outside of the box that are tried, the smallest first.
const OUTSIDE: [f64; 6] = [1e-17, 1e-14, 1e-12, 1e-10, 1e-8, 1e-6];
/// Rounding errors of the transforms, in total over all cells.
const ROUNDING: f64 = 1e-12;
/// The number of columns that are transformed together.
const COLUMNS: usize = 64;

/// The law of the counts of all observations but the last.
///
/// # Formula
/// The probability of counts c is the inverse Fourier transform of Π_g (Σ_y R_g(y)·e^(−i t_y))^(n_g), t = 0 for the last
/// observation, on a grid whose period along each count is the length of the box. What lies outside of the box is
/// added inside at the same place of the period: its mass, computed from the exact laws of the single counts, bounds the
/// error of a sum of probabilities.
#[derive(Debug, Clone)]
pub(super) struct Boxed {
    /// The smallest count and the number of counts of each observation but the last.
    sides: Vec<(u64, usize)>,
    /// The spectrum along the last side, transformed along all others.
    cells: Vec<Complex<f64>>,
    outside: f64,
}

impl Boxed {
    /// For groups of (distribution, number of messages) over at least three observations; `None` if a box outside of which
    /// each side of each count has at most some probability is too large.
    pub(super) fn new(
        groups: &[(&[f64], u64)],
        observations: usize,
        outside: f64,
    ) -> Option<Boxed> {
        let laws: Vec<(u64, Vec<f64>)> = (0..observations - 1)
            .map(|y| law_of_count(groups, y))
            .collect();
        let allowed = OUTSIDE.into_iter().filter(|p| *p <= outside);
        let (sides, outside) = allowed.into_iter().find_map(|outside| {
            let last = laws.len() - 1;
            let sides: Vec<(u64, usize)> = laws
                .iter()
                .enumerate()
                .map(|(at, (start, law))| side(*start, law, outside, at == last))
                .collect();
            let cells: f64 = sides.iter().map(|(_, length)| *length as f64).product();
            let places: f64 = sides
                .iter()
                .map(|(_, length)| *length as f64 + 1.0)
                .product();
            (cells <= MAX_BOX && places <= MIN_PLACES.max(8.0 * cells)).then_some((sides, outside))
        })?;
        let mut boxed = Boxed {
            outside: 2.0 * outside * laws.len() as f64,
            cells: spectrum(groups, &sides),
            sides,
        };
        boxed.transform();
        Some(boxed)
    }

    /// By how much a sum of probabilities may be wrong.
    pub(super) fn error(&self) -> f64 {
        self.outside + ROUNDING
    }

    /// The number of frequencies along the last side.
    fn half(&self) -> usize {
        self.sides.last().map_or(1, |(_, length)| length / 2 + 1)
    }

    /// Inverse transforms along all sides but the last.
    fn transform(&mut self) {
        let mut planner = FftPlanner::new();
        let mut stride = self.half();
        for (_, length) in self.sides[..self.sides.len() - 1].iter().rev() {
            let plan = planner.plan_fft(*length, FftDirection::Inverse);
            parallel::for_each_row(&mut self.cells, length * stride, &|_, block| {
                let mut lines = vec![Complex::default(); COLUMNS * length];
                for column in (0..stride).step_by(COLUMNS) {
                    let width = COLUMNS.min(stride - column);
                    for at in 0..*length {
                        for (c, cell) in block[at * stride + column..][..width].iter().enumerate() {
                            lines[c * length + at] = *cell;
                        }
                    }
                    plan.process(&mut lines[..width * length]);
                    for at in 0..*length {
                        for (c, cell) in block[at * stride + column..][..width]
                            .iter_mut()
                            .enumerate()
                        {
                            *cell = lines[c * length + at];
                        }
                    }
                }
            });
            stride *= length;
        }
    }

    /// The probabilities of all cells whose first count has a position.
    fn slab(&self, first: usize, plan: &Arc<dyn ComplexToReal<f64>>) -> Vec<f64> {
        let half = self.half();
        let length = self.sides.last().map_or(1, |(_, length)| *length);
        let all: f64 = self
            .sides
            .iter()
            .map(|(_, length)| *length as f64)
            .product();
        let lines: usize = self.sides[1..self.sides.len() - 1]
            .iter()
            .map(|(_, length)| length)
            .product();
        let mut slab = vec![0.0; lines * length];
        parallel::for_each_row(&mut slab, length, &|line, out| {
            let from = (first * lines + line) * half;
            let mut spectrum = self.cells[from..from + half].to_vec();
            // Both are real up to rounding; the transform refuses anything else.
            spectrum[0].im = 0.0;
            spectrum[half - 1].im = 0.0;
            plan.process(&mut spectrum, out)
                .expect("lengths of the plan");
            out.iter_mut().for_each(|p| *p = (*p / all).max(0.0));
        });
        slab
    }

    /// As [`HistogramLaw::for_each_extended`](super::HistogramLaw::for_each_extended), for histograms of `whole` messages.
    pub(super) fn for_each_extended(&self, whole: u64, mut each: impl FnMut(&[u64], &[f64])) {
        let (kinds, length) = (self.sides.len(), self.sides.last().map_or(1, |side| side.1));
        let plan = RealFftPlanner::new().plan_fft_inverse(length);
        let mut counts = vec![0u64; kinds + 1];
        let mut before = vec![0.0; kinds + 1];
        let (mut last, mut this): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
        for first in 0..=self.sides[0].1 {
            last = std::mem::replace(&mut this, last);
            this = if first < self.sides[0].1 {
                self.slab(first, &plan)
            } else {
                Vec::new()
            };
            // A place along all sides but the last.
            let mut place = vec![0usize; kinds - 1];
            place[0] = first;
            loop {
                self.visit(
                    &place,
                    whole,
                    (&last, &this),
                    (&mut counts, &mut before),
                    &mut each,
                );
                // The next place of the box that is one longer along every side.
                let mut side = kinds - 2;
                while side > 0 && place[side] == self.sides[side].1 {
                    place[side] = 0;
                    side -= 1;
                }
                if side == 0 {
                    break;
                }
                place[side] += 1;
            }
        }
    }

    /// The cells of a slab along the last side, at a place or one back from it along a side; none outside of the box.
    fn line<'a>(&self, slab: &'a [f64], place: &[usize], back: Option<usize>) -> &'a [f64] {
        let mut at = 0;
        for (side, (here, (_, length))) in place.iter().zip(&self.sides).enumerate().skip(1) {
            let here = here.checked_sub(usize::from(back == Some(side)));
            match here.filter(|here| here < length) {
                Some(here) => at = at * length + here,
                None => return &[],
            }
        }
        let length = self.sides.last().map_or(1, |(_, length)| *length);
        slab.get(at * length..(at + 1) * length).unwrap_or(&[])
    }

    /// All histograms with a place along all sides but the last, line by line: there are millions.
    fn visit(
        &self,
        place: &[usize],
        whole: u64,
        (last, this): (&[f64], &[f64]),
        (counts, before): (&mut [u64], &mut [f64]),
        each: &mut impl FnMut(&[u64], &[f64]),
    ) {
        let inner = self.sides.len() - 1;
        let mut sum = 0;
        for ((count, at), (start, _)) in counts.iter_mut().zip(place).zip(&self.sides) {
            *count = start + *at as u64;
            sum += *count;
        }
        // The cell of a place, and of the place one back along each side.
        let lines: Vec<&[f64]> = (0..=inner + 1)
            .map(|y| match y {
                0 => self.line(last, place, None),
                y if y >= inner => self.line(this, place, None),
                y => self.line(this, place, Some(y)),
            })
            .collect();
        if lines.iter().all(|line| line.is_empty()) {
            return;
        }
        let (start, length) = self.sides[inner];
        for here in 0..=length {
            counts[inner] = start + here as u64;
            let Some(rest) = whole.checked_sub(sum + counts[inner]) else {
                return;
            };
            counts[inner + 1] = rest;
            for (y, (slot, line)) in before.iter_mut().zip(&lines).enumerate() {
                let at = here.wrapping_sub(usize::from(y == inner));
                let possible = counts[y] > 0;
                *slot = line.get(at).copied().filter(|_| possible).unwrap_or(0.0);
            }
            if before.iter().any(|p| *p > 0.0) {
                each(counts, before);
            }
        }
    }
}

/// The law of the count of one observation: a convolution of binomial laws.
fn law_of_count(groups: &[(&[f64], u64)], y: usize) -> (u64, Vec<f64>) {
    let (mut start, mut law) = (0usize, vec![1.0]);
    for (row, count) in groups {
        let others: f64 = row
            .iter()
            .enumerate()
            .filter(|(z, _)| *z != y)
            .map(|(_, p)| p)
            .sum();
        let (first, term) = binomial_law(*count, row[y], others);
        let mut sum = vec![0.0; law.len() + term.len() - 1];
        for (at, p) in law.iter().enumerate() {
            sum[at..]
                .iter_mut()
                .zip(&term)
                .for_each(|(cell, q)| *cell += p * q);
        }
        (start, law) = (start + first, sum);
    }
    (start as u64, law)
}

/// The counts without tails of a given probability, extended to a length that transforms are fast for.
fn side(start: u64, law: &[f64], outside: f64, even: bool) -> (u64, usize) {
    let beyond = |tail: &mut dyn Iterator<Item = &f64>| {
        let mut sum = 0.0;
        tail.take_while(|p| {
            sum += **p;
            sum <= outside
        })
        .count()
    };
    let below = beyond(&mut law.iter());
    let above = beyond(&mut law.iter().rev());
    let mut length = law.len().saturating_sub(below + above).max(1);
    let smooth = |mut n: usize| {
        for factor in [2, 3, 5, 7] {
            while n.is_multiple_of(factor) {
                n /= factor;
            }
        }
        n == 1
    };
    while !smooth(length) || (even && !length.is_multiple_of(2)) {
        length += 1;
    }
    (start + below as u64, length)
}

/// The characteristic function at all frequencies of the grid, with the start of the box as origin.
fn spectrum(groups: &[(&[f64], u64)], sides: &[(u64, usize)]) -> Vec<Complex<f64>> {
    let kinds = sides.len();
    let lengths: Vec<usize> = sides
        .iter()
        .enumerate()
        .map(|(at, (_, length))| {
            if at + 1 == kinds {
                length / 2 + 1
            } else {
                *length
            }
        })
        .collect();
    // e^(−it) and e^(it·start) for each frequency t of each side.
    let turns: Vec<Vec<(Complex<f64>, Complex<f64>)>> = sides
        .iter()
        .zip(&lengths)
        .map(|((start, length), count)| {
            let turn = |f: usize| TAU * f as f64 / *length as f64;
            let wound = |f: usize| (f as u64 * (start % *length as u64)) % *length as u64;
            (0..*count)
                .map(|f| {
                    let back = TAU * wound(f) as f64 / *length as f64;
                    (Complex::cis(-turn(f)), Complex::cis(back))
                })
                .collect()
        })
        .collect();
    let width = lengths[kinds - 1];
    let mut cells = vec![Complex::default(); lengths.iter().product()];
    parallel::for_each_row(&mut cells, width, &|line, out| {
        let mut place = vec![0usize; kinds];
        let mut rest = line;
        for side in (0..kinds - 1).rev() {
            place[side] = rest % lengths[side];
            rest /= lengths[side];
        }
        let mut shift = Complex::new(1.0, 0.0);
        let mut sums: Vec<Complex<f64>> = groups
            .iter()
            .map(|(row, _)| Complex::new(row[kinds], 0.0))
            .collect();
        for side in 0..kinds - 1 {
            let (turn, back) = turns[side][place[side]];
            shift *= back;
            for (sum, (row, _)) in sums.iter_mut().zip(groups) {
                *sum += turn * row[side];
            }
        }
        for (cell, (turn, back)) in out.iter_mut().zip(&turns[kinds - 1]) {
            let mut product = shift * back;
            for (sum, (row, count)) in sums.iter().zip(groups) {
                product *= power(sum + turn * row[kinds - 1], *count);
            }
            *cell = product;
        }
    });
    cells
}

fn power(mut base: Complex<f64>, mut exponent: u64) -> Complex<f64> {
    let mut result = Complex::new(1.0, 0.0);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result *= base;
        }
        base = base * base;
        exponent >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histogram::HistogramLaw;
    use std::collections::BTreeMap;

    type Listed = BTreeMap<Vec<u64>, Vec<f64>>;

    fn listed(law: impl FnOnce(&mut dyn FnMut(&[u64], &[f64]))) -> Listed {
        let mut all = Listed::new();
        law(&mut |counts, before| {
            assert!(all.insert(counts.to_vec(), before.to_vec()).is_none());
        });
        all
    }

    /// The transforms against one addition per message, over laws with sure, impossible and shared observations.
    #[test]
    fn the_box_is_the_law_of_all_histograms() {
        let three: [(&[f64], u64); 3] = [
            (&[0.7, 0.2, 0.1], 9),
            (&[0.1, 0.8, 0.1], 14),
            (&[0.05, 0.05, 0.9], 20),
        ];
        let four: [(&[f64], u64); 2] = [(&[0.4, 0.3, 0.2, 0.1], 11), (&[0.0, 1.0, 0.0, 0.0], 4)];
        for (groups, kinds) in [(&three[..], 3), (&four, 4), (&three[..1], 3)] {
            let whole = 1 + groups.iter().map(|(_, n)| n).sum::<u64>();
            let boxed = Boxed::new(groups, kinds, 1e-12).unwrap();
            let found = listed(|each| boxed.for_each_extended(whole, each));
            let law = HistogramLaw::new(groups, kinds).unwrap();
            assert_eq!(law.error(), 0.0);
            let expected = listed(|each| law.for_each_extended(each));
            let zero = vec![0.0; kinds];
            let keys = found.keys().chain(expected.keys());
            let mut wrong = 0.0;
            for key in keys {
                let (a, b) = (
                    found.get(key).unwrap_or(&zero),
                    expected.get(key).unwrap_or(&zero),
                );
                let gap: f64 = a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum();
                wrong += gap;
            }
            assert!(wrong < 1e-13, "{kinds}: {wrong:e}");
        }
    }

    #[test]
    fn what_is_outside_is_bounded_and_too_large_boxes_are_refused() {
        let groups: [(&[f64], u64); 3] = [
            (&[0.8, 0.1, 0.1], 300),
            (&[0.1, 0.8, 0.1], 300),
            (&[0.1, 0.1, 0.8], 300),
        ];
        let law = HistogramLaw::new(&groups, 3).unwrap();
        assert!(law.error() > 0.0 && law.error() < 1e-11);
        let mut sums = [0.0; 3];
        law.for_each_extended(|_, before| {
            sums.iter_mut().zip(before).for_each(|(sum, p)| *sum += p);
        });
        assert!(
            sums.iter().all(|sum: &f64| (sum - 1.0).abs() < law.error()),
            "{sums:?}"
        );
        let wide = [0.125; 8];
        assert!(Boxed::new(&[(&wide, 1000)], 8, 1e-6).is_none());
        assert!(HistogramLaw::new(&[(&wide, 1000)], 8).is_err());
    }
}
