//! The law of a histogram on a box around its mean, by Fourier transforms.

mod spectrum;

use super::binomial_law;
use crate::extreme::Extreme;
use leakgauge_base::parallel;
use spectrum::Spectrum;

/// The largest number of cells of a box while there is a choice: it is gone through in a second.
const QUICK_BOX: f64 = 5.5e7;
/// The largest number of cells of a box; where the law is narrow it takes up to 20 bytes for each.
const MAX_BOX: f64 = 7e7;
/// A box that is one longer along every side, which is gone through place by place, may have so many places whatever it
/// has itself: of dozens of observations that hardly occur, a box has a few cells, and the longer one billions.
const MIN_PLACES: f64 = 1e7;
/// The probabilities of each side of each count outside of the box that are tried, the smallest first.
const OUTSIDE: [f64; 9] = [1e-17, 1e-14, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6];
/// Tasks that are done at a time, and the cells of each unless a slab has more.
const TASKS: usize = 4;
const TASK_CELLS: usize = 1 << 21;

/// The law of the counts of all observations but the last.
///
/// # Formula
/// The probability of counts c is the inverse Fourier transform of Π_g (Σ_y R_g(y)·e^(−i t_y))^(n_g), t = 0 for the
/// last observation, on a grid whose period along each count is the length of the box. What lies outside of the box is
/// added inside at the same place of the period: its mass, computed from the exact laws of the single counts, bounds
/// the error of a sum of probabilities.
#[derive(Debug, Clone)]
pub(super) struct Boxed {
    /// The smallest count and the number of counts of each observation but the last.
    sides: Vec<(u64, usize)>,
    spectrum: Spectrum,
    /// What lies outside of the box at most.
    outside: f64,
}

/// Probabilities of histograms that follow each other, from one of them on; those of all others are 0.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// The number of the first.
    pub from: usize,
    /// Their probabilities.
    pub cells: &'a [f64],
}

impl Line<'_> {
    fn at(&self, at: usize) -> f64 {
        let cell = at.checked_sub(self.from).and_then(|at| self.cells.get(at));
        cell.copied().unwrap_or(0.0)
    }
}

impl Boxed {
    /// For groups of (distribution, number of messages) over at least three observations; `None` if a box outside of
    /// which each side of each count has at most some probability is too large.
    pub(super) fn new(
        groups: &[(&[f64], u64)],
        observations: usize,
        outside: f64,
    ) -> Option<Boxed> {
        let laws: Vec<(u64, Vec<f64>)> = (0..observations - 1)
            .map(|y| law_of_count(groups, y))
            .collect();
        let allowed = OUTSIDE.into_iter().filter(|p| *p <= outside);
        let fitting = |most: f64| {
            allowed.clone().find_map(|outside| {
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
                (cells <= most && places <= MIN_PLACES.at_least(8.0 * cells)).then_some(sides)
            })
        };
        let sides = fitting(QUICK_BOX).or_else(|| fitting(MAX_BOX))?;
        let outside = laws
            .iter()
            .zip(&sides)
            .map(|((start, law), side)| beyond(*start, law, *side));
        Some(Boxed {
            outside: outside.sum(),
            spectrum: Spectrum::new(groups, &sides),
            sides,
        })
    }

    /// By how much a sum of probabilities may be wrong.
    pub(super) fn error(&self) -> f64 {
        self.outside + self.spectrum.rounding
    }

    /// As [`HistogramLaw::for_each_extended`](super::HistogramLaw::for_each_extended), for histograms of `whole`
    /// messages.
    pub(super) fn for_each_extended(&self, whole: u64, mut each: impl FnMut(&[u64], &[f64])) {
        let kinds = self.sides.len();
        let mut counts = vec![0u64; kinds + 1];
        let mut before = vec![0.0; kinds + 1];
        self.for_each_line(whole, |first, width, lines| {
            counts.copy_from_slice(first);
            for at in 0..width {
                for (slot, line) in before.iter_mut().zip(lines) {
                    *slot = line.at(at);
                }
                if before.iter().any(|p| *p > 0.0) {
                    each(&counts, &before);
                }
                counts[kinds - 1] += 1;
                counts[kinds] = counts[kinds].saturating_sub(1);
            }
        });
    }

    /// Calls `each` for histograms that differ in the last two counts only: with the counts of the first of them, of
    /// which the next have one more of the last but one, with their number, and for each observation with the
    /// probabilities of all of them without it.
    pub(super) fn for_each_line(
        &self,
        whole: u64,
        mut each: impl FnMut(&[u64], usize, &[Line<'_>]),
    ) {
        let kinds = self.sides.len();
        let mut counts = vec![0u64; kinds + 1];
        let mut slabs = self.slabs();
        let mut this = Vec::new();
        for first in 0..=self.sides[0].1 {
            let last = std::mem::replace(&mut this, slabs.next().unwrap_or_default());
            // A place along all sides but the last.
            let mut place = vec![0usize; kinds - 1];
            place[0] = first;
            loop {
                if let Some((width, lines)) = self.lines(&place, whole, (&last, &this), &mut counts)
                {
                    each(&counts, width, &lines);
                }
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

    /// The probabilities of all cells, by the position of their first count. Some are computed at a time.
    fn slabs(&self) -> impl Iterator<Item = Vec<f64>> {
        let transforms = self.spectrum.transforms();
        let cells: usize = self.sides[1..].iter().map(|side| side.1).product();
        let of_task = (TASK_CELLS / cells).max(1);
        let number = self.sides[0].1;
        (0..number).step_by(TASKS * of_task).flat_map(move |from| {
            let end = number.min(from + TASKS * of_task);
            let tasks = parallel::map((end - from).div_ceil(of_task), |task| {
                let from = from + task * of_task;
                let slabs = from..end.min(from + of_task);
                self.spectrum.slabs(slabs, &transforms)
            });
            tasks.into_iter().flatten()
        })
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

    /// The number of histograms with a place along all sides but the last, and their probabilities without each
    /// observation, if any of them is possible.
    fn lines<'a>(
        &self,
        place: &[usize],
        whole: u64,
        (last, this): (&'a [f64], &'a [f64]),
        counts: &mut [u64],
    ) -> Option<(usize, Vec<Line<'a>>)> {
        let inner = self.sides.len() - 1;
        let (start, length) = self.sides[inner];
        let mut sum = start;
        for ((count, at), (start, _)) in counts.iter_mut().zip(place).zip(&self.sides) {
            *count = start + *at as u64;
            sum += *count;
        }
        let rest = whole.checked_sub(sum)?;
        (counts[inner], counts[inner + 1]) = (start, rest);
        let width = usize::try_from(rest).map_or(length, |rest| rest.min(length)) + 1;
        let line = |y: usize| {
            // The cell of a place, and of the place one back along each side.
            let cells = match y {
                0 => self.line(last, place, None),
                y if y >= inner => self.line(this, place, None),
                y => self.line(this, place, Some(y)),
            };
            let from = usize::from(y == inner);
            // The last histogram may have none of the last observation, of which one is taken.
            let without = usize::from(y > inner && rest <= length as u64);
            let end = cells.len().min(width - from - without);
            let cells = &cells[..end];
            Line { from, cells }
        };
        let lines: Vec<Line<'_>> = (0..inner + 2).map(line).collect();
        let any = lines.iter().any(|line| !line.cells.is_empty());
        any.then_some((width, lines))
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

/// The mass of a law outside of a side.
fn beyond(start: u64, law: &[f64], (from, length): (u64, usize)) -> f64 {
    let below = (from - start) as usize;
    let above = law.iter().skip(below + length);
    law[..below].iter().sum::<f64>() + above.sum::<f64>()
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
            assert!(wrong <= kinds as f64 * boxed.error(), "{kinds}: {wrong:e}");
            assert!(boxed.error() < 2e-12, "{kinds}: {:e}", boxed.error());
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
        // The same in blocks.
        let mut blocks = [0.0; 3];
        law.for_each_block(|width, before| {
            for (sum, line) in blocks.iter_mut().zip(before) {
                assert!(line.from + line.cells.len() <= width);
                *sum += line.cells.iter().sum::<f64>();
            }
        });
        // A hundred thousand terms in another order.
        assert!(
            (0..3).all(|y| (blocks[y] - sums[y]).abs() < 1e-12),
            "{blocks:?}"
        );
        let wide = [0.125; 8];
        assert!(Boxed::new(&[(&wide, 1000)], 8, 1e-6).is_none());
        assert!(HistogramLaw::new(&[(&wide, 1000)], 8).is_err());
    }
}
