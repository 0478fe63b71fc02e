//! Times that nobody waited for: each is at least as long as the longest one that was recorded, and no one knows by how
//! much it is longer.
//!
//! Figures of ranks never fall when a time grows. So their lower limit is that of the smallest differences that are
//! possible, and their upper limit that of the largest ones. Two times of a block that both nobody waited for may differ
//! either way. Means have no limit: it would be that of times without an end.

use std::sync::Arc;

use leakgauge_log::Log;
use leakgauge_stats::long_run::LongRun;
use leakgauge_stats::paired::{Located, Sample, Times};
use leakgauge_stats::unpaired::{self, Ranked};

/// Stands for a time without an end: sums of a few are finite.
const ENDLESS: f64 = 1e300;
/// Limits beyond this are those of times without an end.
const KNOWN: f64 = 1e299;

/// The times that nobody waited for, in a log that has some.
#[derive(Debug, Clone, Copy)]
pub(super) struct Last {
    /// The number that stands for them.
    number: f64,
    /// The longest time that was recorded.
    longest: f64,
}

impl Last {
    /// Those of a log.
    pub fn of(log: &Log) -> Option<Self> {
        log.facts.last.as_ref().map(|last| Last {
            number: last.number,
            longest: last.largest,
        })
    }

    /// The longest time that was recorded.
    pub fn longest(self) -> f64 {
        self.longest
    }

    /// Those of sorted times that were recorded.
    pub fn recorded(self, sorted: &[f64]) -> &[f64] {
        &sorted[..sorted.partition_point(|&x| x < self.number)]
    }

    /// The same where times of some of them were not.
    pub fn is_in(self, times: &Times) -> bool {
        self.recorded(times.sorted()).len() < times.sorted().len()
    }

    /// The least and the most that a time can be.
    fn ends(self, time: f64) -> [f64; 2] {
        match time < self.number {
            true => [time; 2],
            false => [self.longest, ENDLESS],
        }
    }

    /// A time as far as it was recorded.
    pub fn capped(self, time: f64) -> f64 {
        if time < self.number {
            time
        } else {
            self.longest
        }
    }
}

/// The differences b − a inside blocks, as far as they are known.
pub(super) enum Differing {
    /// All are known.
    Known(Sample),
    /// The smallest that are possible, and the largest.
    Between([Sample; 2]),
}

impl Differing {
    /// Those of two secrets, whose differences are `sample` if all times were recorded.
    pub fn new(sample: &Sample, [a, b]: [&Times; 2], last: Option<Last>) -> Self {
        let Some(last) = last.filter(|last| last.is_in(a) || last.is_in(b)) else {
            return Differing::Known(sample.clone());
        };
        let ends = |at: usize| {
            let both = a.in_order().iter().zip(b.in_order());
            let difference = |(&x, &y): (&f64, &f64)| {
                let (of_x, of_y) = (last.ends(x), last.ends(y));
                match of_x[0] < of_x[1] && of_y[0] < of_y[1] {
                    true => [-ENDLESS, ENDLESS][at],
                    false => of_y[at] - of_x[1 - at],
                }
            };
            Sample::of(both.map(difference).collect())
        };
        Differing::Between([ends(0), ends(1)])
    }

    /// A figure of ranks.
    pub fn ranked(&self, figure: impl Fn(&Sample) -> Located) -> Located {
        match self {
            Differing::Known(sample) => figure(sample),
            Differing::Between([least, most]) => between(figure(least), figure(most)),
        }
    }

    /// A mean.
    pub fn mean(&self, figure: impl Fn(&Sample) -> Located) -> Located {
        match self {
            Differing::Known(sample) => figure(sample),
            Differing::Between(_) => UNKNOWN,
        }
    }

    /// How much the signs about the median vary in the long run.
    pub fn signs(&self) -> LongRun {
        match self {
            Differing::Known(sample) => sample.signs(),
            Differing::Between([least, most]) => least.signs().or(most.signs()),
        }
    }

    /// The smallest and the largest differences, sorted; `None` if all are known.
    pub fn into_ends(self) -> Option<[Vec<f64>; 2]> {
        match self {
            Differing::Known(_) => None,
            Differing::Between(ends) => Some(ends.map(Sample::into_sorted)),
        }
    }
}

/// The times of a secret that were taken one by one, as far as they are known.
#[derive(Debug, Clone)]
pub(super) struct OfSecret {
    /// With a number for those that nobody waited for.
    pub all: Arc<Ranked>,
    /// Each the shortest that it can be, and the longest: the same where all were recorded.
    pub ends: [Arc<Ranked>; 2],
    /// Those that were recorded, where there are others.
    recorded: Option<Ranked>,
}

impl OfSecret {
    /// Of times and how many rows have each; `None` without rows.
    pub fn new(rows: &[(f64, u64)], last: Option<Last>) -> Option<Self> {
        if rows.iter().all(|row| row.1 == 0) {
            return None;
        }
        let all = Arc::new(Ranked::new(rows.iter().copied()));
        let is_last =
            |row: &&(f64, u64)| row.1 > 0 && last.is_some_and(|last| row.0 >= last.number);
        let Some(last) = last.filter(|_| rows.iter().any(|row| is_last(&row))) else {
            let ends = [all.clone(), all.clone()];
            return Some(OfSecret {
                all,
                ends,
                recorded: None,
            });
        };
        let ends = [0, 1].map(|at: usize| {
            let rows = rows
                .iter()
                .map(|&(time, count)| (last.ends(time)[at], count));
            Arc::new(Ranked::new(rows))
        });
        let mut recorded = rows
            .iter()
            .filter(|row| row.1 > 0 && !is_last(row))
            .peekable();
        let has_some = recorded.peek().is_some();
        let recorded = has_some.then(|| Ranked::new(recorded.copied()));
        Some(OfSecret {
            all,
            ends,
            recorded,
        })
    }

    /// Those that were recorded; `None` if none was.
    pub fn recorded(&self) -> Option<&Ranked> {
        match self.has_last() {
            true => self.recorded.as_ref(),
            false => Some(&self.all),
        }
    }

    /// Whether nobody waited for some.
    pub fn has_last(&self) -> bool {
        !Arc::ptr_eq(&self.ends[0], &self.ends[1])
    }
}

/// A figure of the ranks of two samples, by the smallest and by the largest differences that are possible.
pub(super) fn ranked(
    [a, b]: [&OfSecret; 2],
    figure: impl Fn(&Ranked, &Ranked) -> Located,
) -> Located {
    match a.has_last() || b.has_last() {
        true => between(
            figure(&a.ends[1], &b.ends[0]),
            figure(&a.ends[0], &b.ends[1]),
        ),
        false => figure(&a.all, &b.all),
    }
}

/// A mean of two samples.
pub(super) fn mean(
    [a, b]: [&OfSecret; 2],
    figure: impl Fn(&Ranked, &Ranked) -> Located,
) -> Located {
    match a.has_last() || b.has_last() {
        true => UNKNOWN,
        false => figure(&a.all, &b.all),
    }
}

/// The difference of two quantiles with limits that allow for rows that resemble those before them.
pub(super) fn quantile_shift([a, b]: [&Ranked; 2], p: f64, alpha: f64, varies: LongRun) -> Located {
    match varies.level(alpha) {
        Some(level) => unpaired::quantile_shift(a, b, p, level),
        None => Located {
            point: b.quantile(p) - a.quantile(p),
            lower: f64::NEG_INFINITY,
            upper: f64::INFINITY,
        },
    }
}

/// Nothing is known.
const UNKNOWN: Located = Located {
    point: f64::NAN,
    lower: f64::NEG_INFINITY,
    upper: f64::INFINITY,
};

/// From the smallest differences and from the largest ones: of the estimates between the two the one nearest to 0.
pub(super) fn between(least: Located, most: Located) -> Located {
    let known = |limit: f64, none: f64| if limit.abs() < KNOWN { limit } else { none };
    Located {
        point: 0f64.max(least.point).min(most.point),
        lower: known(least.lower, f64::NEG_INFINITY),
        upper: known(most.upper, f64::INFINITY),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_stats::paired::median;

    const LAST: Last = Last {
        number: 99.0,
        longest: 20.0,
    };

    #[test]
    fn a_time_that_nobody_waited_for_is_at_least_the_longest() {
        let a = Times::new(vec![10.0; 20]);
        let b = Times::new([vec![99.0; 18], vec![11.0; 2]].concat());
        let sample = Sample::new(a.in_order(), b.in_order());
        let differing = Differing::new(&sample, [&a, &b], Some(LAST));
        let found = differing.ranked(|sample| median(sample, 0.025));
        assert_eq!(
            (found.point, found.lower, found.upper),
            (10.0, 10.0, f64::INFINITY)
        );
        assert!(differing.mean(|_| unreachable!()).point.is_nan());
    }

    #[test]
    fn two_times_that_nobody_waited_for_may_differ_either_way() {
        // 12 of 20 blocks say nothing: the median of the others is no limit.
        let a = Times::new([vec![99.0; 12], vec![10.0; 8]].concat());
        let b = a.clone();
        let sample = Sample::new(a.in_order(), b.in_order());
        let differing = Differing::new(&sample, [&a, &b], Some(LAST));
        let found = differing.ranked(|sample| median(sample, 0.025));
        assert_eq!(found.point, 0.0);
        assert!(found.lower == f64::NEG_INFINITY && found.upper == f64::INFINITY);
    }

    #[test]
    fn few_of_them_leave_medians_their_limits() {
        let rows = |from: u64, lasts: u64| {
            let mut rows: Vec<(f64, u64)> =
                (from..from + 100).map(|x| (x as f64 / 10.0, 1)).collect();
            rows.push((99.0, lasts));
            OfSecret::new(&rows, Some(LAST)).unwrap()
        };
        let (a, b) = (rows(0, 0), rows(10, 10));
        let shift =
            |x: &Ranked, y: &Ranked| leakgauge_stats::unpaired::quantile_shift(x, y, 0.5, 0.025);
        let found = ranked([&a, &b], shift);
        assert!(
            found.lower < 1.5 && found.upper > 1.5 && found.upper < 9.0,
            "{found:?}"
        );
        assert_eq!(mean([&a, &b], shift).lower, f64::NEG_INFINITY);
        // Most of b: the median is at least the longest that was recorded, and has no upper limit.
        let b = rows(10, 500);
        let found = ranked([&a, &b], shift);
        assert!(
            found.lower > 13.0 && found.upper == f64::INFINITY,
            "{found:?}"
        );
    }
}
