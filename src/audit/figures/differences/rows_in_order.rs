//! Times that were taken one by one, in the order of their rows: how much differences between two secrets vary in the
//! long run.
//!
//! # Formula
//! An estimate of a difference is off by Σ_b ψ_b/n_b − Σ_a ψ_a/n_a, with ψ the influence of a row on its secret's part.
//! The terms of all rows of both secrets, in their order, are one series, and [`LongRun`] says how much more their sum
//! varies than that of independent terms. What drifts under both secrets alike cancels in every stretch of the log that
//! has both. Where one secret follows the other, each is judged by its own neighbors.

use leakgauge_log::observations::Observations;
use leakgauge_log::{Log, RowOrder};
use leakgauge_stats::long_run::LongRun;
use leakgauge_stats::unpaired::Ranked;

/// How much a density may differ between two secrets: spacings of few values tell little.
const MOST_UNLIKE: f64 = 10.0;
/// By how many standard errors densities must differ to be taken as different.
const STANDARD_ERRORS: f64 = 3.0;

/// The kept rows of a log in their order.
pub(super) struct InOrder<'a> {
    order: &'a RowOrder,
    observations: &'a Observations,
}

/// The rows of two secrets: whether each is the second's, and its time. None where the order is not known.
#[derive(Default)]
pub(super) struct PairInOrder {
    rows: Vec<(bool, f64)>,
}

impl<'a> InOrder<'a> {
    pub fn new(order: &'a RowOrder, log: &'a Log) -> Self {
        InOrder {
            order,
            observations: order.observations.as_ref().unwrap_or(&log.observations),
        }
    }

    /// The rows of a pair.
    pub fn of_pair(&self, [a, b]: [u32; 2]) -> PairInOrder {
        let all = self.order.secrets.iter().zip(&self.order.symbols);
        let rows = all.filter(|(secret, _)| [a, b].contains(secret));
        let row = |(&secret, &symbol)| (secret == b, self.observations.numbers(symbol)[0]);
        PairInOrder {
            rows: rows.map(row).collect(),
        }
    }
}

impl PairInOrder {
    /// How much the difference of two quantiles varies.
    pub fn quantile(&self, samples: [&Ranked; 2], p: f64) -> LongRun {
        let quantiles = samples.map(|sample| sample.quantile(p));
        let ratio = ratio_of_densities(samples, p);
        let above = |is_b: bool, x: f64| f64::from(u8::from(x > quantiles[usize::from(is_b)]));
        // By equal densities too: those of few values, or of values on a coarse grid, are not known.
        let equal = self.long_run(above);
        let own = self.long_run(|is_b, x| above(is_b, x) * if is_b { 1.0 } else { ratio });
        equal.or(own)
    }

    /// How much the share of pairs of rows varies in which the second secret's is larger.
    pub fn ranks(&self, samples: [&Ranked; 2]) -> LongRun {
        let shift = samples[1].quantile(0.5) - samples[0].quantile(0.5);
        self.long_run(|is_b, x| {
            let (other, at) = match is_b {
                true => (samples[0], x - shift),
                false => (samples[1], x + shift),
            };
            other.up_to(at) as f64 / other.rows() as f64
        })
    }

    /// How much the difference of two means varies, without this share of the values at either end.
    pub fn mean(&self, samples: [&Ranked; 2], trimmed: f64) -> LongRun {
        let ends = samples.map(|sample| match trimmed > 0.0 {
            true => [sample.quantile(trimmed), sample.quantile(1.0 - trimmed)],
            false => [f64::NEG_INFINITY, f64::INFINITY],
        });
        self.long_run(|is_b, x| {
            let [least, most] = ends[usize::from(is_b)];
            x.clamp(least, most)
        })
    }

    /// Of the difference of the two secrets' means of an influence.
    fn long_run(&self, influence: impl Fn(bool, f64) -> f64) -> LongRun {
        let (mut rows, mut sums) = ([0.0f64; 2], [0.0; 2]);
        let values: Vec<f64> = self
            .rows
            .iter()
            .map(|&(is_b, x)| influence(is_b, x))
            .collect();
        for (&(is_b, _), value) in self.rows.iter().zip(&values) {
            rows[usize::from(is_b)] += 1.0;
            sums[usize::from(is_b)] += value;
        }
        let of_row = |(&(is_b, _), value): (&(bool, f64), f64)| {
            let at = usize::from(is_b);
            let sign = if is_b { 1.0 } else { -1.0 };
            sign * (value - sums[at] / rows[at]) / rows[at]
        };
        LongRun::of(self.rows.iter().zip(values).map(of_row))
    }
}

/// About the second sample's density at a quantile over the first's, by the values around it; 1 where so few values
/// cannot tell them apart, because what drifts under both secrets alike cancels by equal weights only.
fn ratio_of_densities(samples: [&Ranked; 2], p: f64) -> f64 {
    let mut variance = 0.0;
    let densities = samples.map(|sample| {
        let rows = sample.rows() as f64;
        let half = (0.5 * rows.powf(-1.0 / 3.0)).min(0.5 * p.min(1.0 - p));
        // The relative variance of a density by so many values.
        variance += 1.0 / (2.0 * half * rows);
        2.0 * half / (sample.quantile(p + half) - sample.quantile(p - half))
    });
    let ratio = densities[1] / densities[0];
    if ratio.is_nan() || ratio.ln().abs() <= STANDARD_ERRORS * variance.sqrt() {
        return 1.0;
    }
    ratio.clamp(1.0 / MOST_UNLIKE, MOST_UNLIKE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_testing::rng;
    use rand::RngExt;

    /// Rows of two secrets in random order, each with its own process of this weight, on what drifts under both.
    fn rows(seed: u64, count: usize, kept: f64, drift: f64) -> PairInOrder {
        let mut rng = rng(seed);
        let mut levels = [0.0; 2];
        let mut next = |at: usize| {
            let is_b: bool = rng.random();
            let level = &mut levels[usize::from(is_b)];
            *level = kept * *level + rng.random::<f64>() - 0.5;
            (is_b, *level + drift * at as f64 / count as f64)
        };
        PairInOrder {
            rows: (0..count).map(&mut next).collect(),
        }
    }

    fn median(rows: &PairInOrder) -> LongRun {
        let samples = [false, true].map(|which| {
            let of = rows.rows.iter().filter(|(is_b, _)| *is_b == which);
            Ranked::new(of.map(|&(_, x)| (x, 1)))
        });
        rows.quantile([&samples[0], &samples[1]], 0.5)
    }

    #[test]
    fn processes_of_their_own_widen_and_shared_drift_does_not() {
        let mean = |kept: f64, drift: f64| -> f64 {
            let all = (0..20).map(|seed| median(&rows(seed, 4_000, kept, drift)).inflation());
            all.sum::<f64>() / 20.0
        };
        assert!(mean(0.0, 0.0) < 1.5);
        // The medians of the two lie a few rows of the drift apart, and rows between them differ one way: 1.7 where 1.4
        // is measured without drift. With unequal weights nothing cancels: infinite.
        assert!(mean(0.0, 100.0) < 2.0);
        assert!(mean(0.9, 0.0) > 8.0);
    }

    #[test]
    fn without_an_order_rows_are_taken_to_be_independent() {
        let sample = Ranked::new([(1.0, 3), (2.0, 4)]);
        let none = PairInOrder::default().quantile([&sample, &sample], 0.5);
        assert_eq!(none, LongRun::INDEPENDENT);
    }
}
