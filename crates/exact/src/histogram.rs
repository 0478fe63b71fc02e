//! The distribution of the histogram of independent messages with different distributions.

mod boxed;

use boxed::Boxed;
pub use boxed::Line;
use leakgauge_base::error::{Error, Result};

/// The largest number of cells.
const MAX_CELLS: usize = 1 << 24;
/// The largest number of additions.
const MAX_STEPS: f64 = 4e9;
/// With more additions the law is computed on a box by Fourier transforms, if that fits.
const MANY_STEPS: f64 = 1e8;
/// What each side of each count may have outside of a box.
pub const OUTSIDE: f64 = 1e-12;
/// Cells of a binomial distribution below e^−60 times the largest are left out.
const TAIL: f64 = 60.0;

/// The distribution of the histogram (counts of each observation) of independent messages, stored for one more
/// message.
///
/// A histogram is encoded as a number: its digits, in base messages + 1, are the counts of all observations except
/// the last. `mass` holds the probability of each.
#[derive(Debug, Clone)]
pub struct HistogramLaw {
    observations: usize,
    messages: u64,
    base: usize,
    mass: Vec<f64>,
    /// Instead of `mass`: the law on a box around its mean.
    boxed: Option<Boxed>,
}

impl HistogramLaw {
    /// For groups of (distribution over the observations, number of messages).
    ///
    /// # Errors
    /// There are too many histograms to list.
    pub fn new(groups: &[(&[f64], u64)], observations: usize) -> Result<Self> {
        Self::within(groups, observations, OUTSIDE)
    }

    /// The same, where each side of each count may have up to some probability outside of what is listed.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn within(groups: &[(&[f64], u64)], observations: usize, outside: f64) -> Result<Self> {
        let messages = groups
            .iter()
            .map(|(_, count)| *count)
            .try_fold(0u64, u64::checked_add);
        let messages = messages.ok_or_else(|| too_many("2^64", observations))?;
        if observations < 2 {
            let mass = vec![1.0];
            return Ok(HistogramLaw {
                observations,
                messages,
                base: 1,
                mass,
                boxed: None,
            });
        }
        if observations == 2 {
            return Self::of_two(groups, messages);
        }
        let base = usize::try_from(messages)
            .ok()
            .and_then(|m| m.checked_add(2));
        let cells = base.and_then(|base| base.checked_pow(observations as u32 - 1));
        let steps = |cells: usize| cells as f64 * messages as f64 * observations as f64;
        let fits = cells.is_some_and(|cells| cells <= MAX_CELLS && steps(cells) <= MAX_STEPS);
        if (!fits || cells.is_some_and(|cells| steps(cells) > MANY_STEPS))
            && let Some(boxed) = Boxed::new(groups, observations, outside)
        {
            return Ok(HistogramLaw {
                observations,
                messages,
                base: 1,
                mass: Vec::new(),
                boxed: Some(boxed),
            });
        }
        let (true, Some(base), Some(cells)) = (fits, base, cells) else {
            return Err(too_many(&messages.to_string(), observations));
        };
        let mut law = HistogramLaw {
            observations,
            messages,
            base,
            mass: vec![0.0; cells],
            boxed: None,
        };
        law.mass[0] = 1.0;
        for (row, count) in groups {
            (0..*count).for_each(|_| law.add(row));
        }
        Ok(law)
    }

    /// Adds one message. Cells are visited in descending order, so that each reads the old values of its
    /// predecessors. Where a digit would borrow from the next, the cell that is read is empty.
    fn add(&mut self, row: &[f64]) {
        let last = row[self.observations - 1];
        for cell in (0..self.mass.len()).rev() {
            let mut sum = last * self.mass[cell];
            let mut stride = 1;
            for p in &row[..self.observations - 1] {
                if cell >= stride {
                    sum += p * self.mass[cell - stride];
                }
                stride *= self.base;
            }
            self.mass[cell] = sum;
        }
    }

    /// Two observations: a convolution of binomial laws.
    fn of_two(groups: &[(&[f64], u64)], messages: u64) -> Result<Self> {
        if messages >= MAX_CELLS as u64 {
            return Err(too_many(&messages.to_string(), 2));
        }
        let (mut start, mut law) = (0usize, vec![1.0]);
        for (row, count) in groups {
            let (first, term) = binomial_law(*count, row[0], row[1]);
            if law.len() as f64 * term.len() as f64 > MAX_STEPS {
                return Err(too_many(&messages.to_string(), 2));
            }
            let (short, long) = if law.len() < term.len() {
                (&law, &term)
            } else {
                (&term, &law)
            };
            let mut sum = vec![0.0; law.len() + term.len() - 1];
            for (at, p) in short.iter().enumerate() {
                sum[at..]
                    .iter_mut()
                    .zip(long)
                    .for_each(|(cell, q)| *cell += p * q);
            }
            (start, law) = (start + first, sum);
        }
        let base = messages as usize + 2;
        let mut mass = vec![0.0; base];
        mass[start..start + law.len()].copy_from_slice(&law);
        Ok(HistogramLaw {
            observations: 2,
            messages,
            base,
            mass,
            boxed: None,
        })
    }

    /// By how much a sum over all histograms of a part of their probability may be wrong: 0 where they are all listed.
    pub fn error(&self) -> f64 {
        self.boxed.as_ref().map_or(0.0, Boxed::error)
    }

    /// Calls `each` for blocks of histograms of one more message, where their counts do not matter: with their number
    /// and, for each observation y, the probabilities that the messages have them minus one y.
    pub fn for_each_block(&self, mut each: impl FnMut(usize, &[Line<'_>])) {
        if let Some(boxed) = &self.boxed {
            boxed.for_each_line(self.messages + 1, |_, width, before| each(width, before));
            return;
        }
        let mut block = vec![Vec::with_capacity(BLOCK); self.observations];
        let mut hand_over = |block: &mut [Vec<f64>]| {
            let lines = block.iter().map(|cells| Line { from: 0, cells });
            each(block[0].len(), &lines.collect::<Vec<_>>());
            block.iter_mut().for_each(Vec::clear);
        };
        self.for_each_extended(|_, before| {
            for (line, p) in block.iter_mut().zip(before) {
                line.push(*p);
            }
            if block[0].len() == BLOCK {
                hand_over(&mut block);
            }
        });
        hand_over(&mut block);
    }

    /// Calls `each` for every possible histogram of one more message: with its counts and, for each observation y,
    /// the probability that the messages have this histogram minus one y.
    pub fn for_each_extended(&self, mut each: impl FnMut(&[u64], &[f64])) {
        let whole = self.messages + 1;
        if let Some(boxed) = &self.boxed {
            boxed.for_each_extended(whole, each);
            return;
        }
        let mut counts = vec![0u64; self.observations];
        let mut before = vec![0.0; self.observations];
        for cell in 0..self.mass.len() {
            let (mut rest, mut sum) = (cell, 0u64);
            for count in &mut counts[..self.observations - 1] {
                *count = (rest % self.base) as u64;
                rest /= self.base;
                sum += *count;
            }
            if sum > whole {
                continue;
            }
            counts[self.observations - 1] = whole - sum;
            let mut stride = 1;
            for (y, slot) in before.iter_mut().enumerate() {
                let there = counts[y] > 0;
                *slot = if !there {
                    0.0
                } else if y + 1 == self.observations {
                    self.mass[cell]
                } else {
                    self.mass[cell - stride]
                };
                stride = stride.saturating_mul(self.base);
            }
            if before.iter().any(|p| *p > 0.0) {
                each(&counts, &before);
            }
        }
    }
}

/// Histograms of a block.
const BLOCK: usize = 512;

fn too_many(messages: &str, observations: usize) -> Error {
    Error::parameter(
        format!("{messages} messages with known distributions over {observations} observations"),
        "have too many histograms to list",
    )
    .with_hint("use fewer messages, or merge observations: with two observations, millions of messages are possible")
}

/// P(X = start), P(X = start + 1), … of a binomial distribution, without negligible tails, as
/// (start, probabilities); p + q = 1.
pub fn binomial_law(trials: u64, p: f64, q: f64) -> (usize, Vec<f64>) {
    if p <= 0.0 || trials == 0 {
        return (0, vec![1.0]);
    }
    if q <= 0.0 {
        return (trials as usize, vec![1.0]);
    }
    let mode = (((trials + 1) as f64 * p).floor() as u64).min(trials);
    let least = (-TAIL).exp();
    let mut above = vec![1.0];
    for k in mode + 1..=trials {
        let next = above[above.len() - 1] * ((trials - k + 1) as f64 / k as f64) * (p / q);
        if next < least {
            break;
        }
        above.push(next);
    }
    let mut below = Vec::new();
    let mut value = 1.0;
    for k in (0..mode).rev() {
        value *= ((k + 1) as f64 / (trials - k) as f64) * (q / p);
        if value < least {
            break;
        }
        below.push(value);
    }
    let start = mode as usize - below.len();
    below.reverse();
    below.extend(above);
    let whole: f64 = below.iter().sum();
    below.iter_mut().for_each(|x| *x /= whole);
    (start, below)
}
