//! Differences in the order of their blocks, and how far consecutive blocks depend on each other.

use super::middle;
use crate::long_run::LongRun;
use crate::special::chi_squared_survival;

/// The smallest number of runs of blocks whose sums are compared.
const MIN_RUNS: usize = 16;

/// Differences of two classes, one a block, in the order of the blocks.
#[derive(Debug, Clone)]
pub struct Sample {
    in_order: Vec<f64>,
    sorted: Vec<f64>,
    dependence: f64,
    signs: LongRun,
}

impl Sample {
    /// The differences b − a of every block, in order.
    ///
    /// # Panics
    /// If the two have different lengths.
    pub fn new(a: &[f64], b: &[f64]) -> Sample {
        assert_eq!(a.len(), b.len(), "one value of each class a block");
        Sample::of(a.iter().zip(b).map(|(x, y)| y - x).collect())
    }

    /// The differences of every block, in order.
    pub fn of(in_order: Vec<f64>) -> Sample {
        let mut sorted = in_order.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let (dependence, signs) = if sorted.is_empty() {
            (1.0, LongRun::INDEPENDENT)
        } else {
            let center = middle(&sorted);
            let signs = in_order.iter().map(|d| sign(d - center));
            (dependence(&in_order, center), LongRun::of(signs))
        };
        Sample {
            in_order,
            sorted,
            dependence,
            signs,
        }
    }

    /// The differences a − b.
    #[must_use]
    pub fn reversed(mut self) -> Sample {
        // Not the sign alone: 0 stays 0.
        let opposite = |d: &mut f64| *d = 0.0 - *d;
        self.in_order.iter_mut().for_each(opposite);
        self.sorted.iter_mut().for_each(opposite);
        self.sorted.reverse();
        self
    }

    pub(super) fn in_order(&self) -> &[f64] {
        &self.in_order
    }

    /// The differences, sorted.
    pub fn sorted(&self) -> &[f64] {
        &self.sorted
    }

    /// The same, and nothing else.
    pub fn into_sorted(self) -> Vec<f64> {
        self.sorted
    }

    /// The p-value of "differences of consecutive blocks do not resemble each other".
    ///
    /// # Formula
    /// With s the signs of the differences about their median, less their mean: for run lengths L = 2, 4, 8, … with at
    /// least 16 runs, the sum over runs of (Σ s)²/(L·mean of s²) is compared with the χ² law with one degree of freedom
    /// less than runs. The smallest p-value times the number of lengths.
    ///
    /// # Conditions
    /// Asymptotic in the length of runs and in their number. It looks for resemblance only: differences that alternate
    /// vary less in their mean than independent ones. It is for a warning: limits allow for dependence whatever it
    /// says.
    ///
    /// # References
    /// Lo and MacKinlay (1988), 10.1093/rfs/1.1.41, for tests of variance ratios.
    pub fn dependence(&self) -> f64 {
        self.dependence
    }

    /// How much the signs of the differences about their median vary in the long run.
    pub fn signs(&self) -> LongRun {
        self.signs
    }

    /// How many standard errors of independent values limits are from an estimate: the quantile of Student's law (∞:
    /// the normal law), and at least that for values of which the influence on the estimate varies so much in the long
    /// run.
    pub(super) fn reach(&self, alpha: f64, freedom: f64, influence: impl Fn(f64) -> f64) -> f64 {
        let series = self.in_order.iter().map(|&d| influence(d));
        LongRun::of(series).reach(alpha, freedom)
    }
}

/// −1, 0 or 1.
pub(super) fn sign(x: f64) -> f64 {
    f64::from(i8::from(x > 0.0) - i8::from(x < 0.0))
}

fn dependence(in_order: &[f64], median: f64) -> f64 {
    let mut sums: Vec<f64> = in_order.iter().map(|d| sign(d - median)).collect();
    let n = sums.len() as f64;
    let mean = sums.iter().sum::<f64>() / n;
    sums.iter_mut().for_each(|s| *s -= mean);
    let variance = sums.iter().map(|s| s * s).sum::<f64>() / n;
    if variance == 0.0 {
        return 1.0;
    }
    let (mut length, mut lengths, mut smallest) = (1.0, 0.0, 1.0f64);
    while sums.len() / 2 >= MIN_RUNS {
        sums = sums.chunks_exact(2).map(|pair| pair[0] + pair[1]).collect();
        length *= 2.0;
        lengths += 1.0;
        let squares = sums.iter().map(|s| s * s).sum::<f64>() / (length * variance);
        smallest = smallest.min(chi_squared_survival(squares, sums.len() as f64 - 1.0));
    }
    (smallest * f64::max(lengths, 1.0)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_testing::{at_most, rng};
    use rand::RngExt;

    fn noise(seed: u64, n: usize, kept: f64) -> Vec<f64> {
        let mut rng = rng(seed);
        let mut level = 0.0;
        (0..n)
            .map(|_| {
                level = kept * level + rng.random::<f64>() - 0.5;
                level
            })
            .collect()
    }

    #[test]
    fn independent_blocks_are_rarely_called_dependent_and_dependent_ones_always() {
        const LOGS: usize = 1000;
        let of = |seed: u64, kept: f64| Sample::new(&[0.0; 500], &noise(seed, 500, kept));
        let alarms = (0..LOGS as u64).filter(|&seed| of(seed, 0.0).dependence() <= 0.01);
        assert!(alarms.count() <= at_most(LOGS, 0.01));
        assert!((0..100).all(|seed| of(seed, 0.7).dependence() < 1e-3));
    }

    // An autoregressive series of weight 0.5 is worth (1 − 0.5)/(1 + 0.5) = 1/3 of its length.
    #[test]
    fn limits_widen_by_what_dependence_takes() {
        let sample = Sample::new(&[0.0; 20_000], &noise(3, 20_000, 0.5));
        let wider = sample.reach(0.025, f64::INFINITY, |d| d) / 1.96;
        // Chance and Student's law take a part more.
        assert!((0.95..1.2).contains(&(wider / 3f64.sqrt())), "{wider}");
        let drift: Vec<f64> = (0..1000).map(f64::from).collect();
        let sample = Sample::new(&[0.0; 1000], &drift);
        assert_eq!(sample.reach(0.025, 999.0, |d| d), f64::INFINITY);
    }

    #[test]
    fn a_reversed_sample_is_that_of_the_classes_exchanged() {
        let (a, b) = (noise(5, 300, 0.0), noise(6, 300, 0.5));
        let b: Vec<f64> = b
            .iter()
            .zip(&a)
            .map(|(y, x)| if *y > 0.3 { *x } else { *y })
            .collect();
        let (reversed, other) = (Sample::new(&a, &b).reversed(), Sample::new(&b, &a));
        let bits = |values: &[f64]| -> Vec<u64> { values.iter().map(|x| x.to_bits()).collect() };
        assert_eq!(bits(&reversed.in_order), bits(&other.in_order));
        assert_eq!(bits(&reversed.sorted), bits(&other.sorted));
        assert_eq!(reversed.dependence, other.dependence);
    }

    #[test]
    fn equal_differences_do_not_depend() {
        assert_eq!(Sample::new(&[1.0; 100], &[3.0; 100]).dependence(), 1.0);
        assert_eq!(Sample::new(&[], &[]).dependence(), 1.0);
    }
}
