//! Limits of a median at a few numbers of blocks that are fixed beforehand, for blocks that resemble their neighbors.
//!
//! # Formula
//! At the first 12, 24, 48, 68, 96, … blocks, √2 times as many each time from 48 on, the limit of a log of so many
//! blocks ([`paired::median`]) at α/(k·(k + 1)) for the k-th of them. The parts sum to α.
//!
//! # Conditions
//! Those of the limit of a log, at every number of blocks. All together are wrong with probability at most α.

use leakgauge_stats::long_run::LongRun;
use leakgauge_stats::paired::{self, Located, Sample, median_above, median_below, median_beyond};

/// The first numbers of blocks; then they grow.
const FIRST: [usize; 3] = [12, 24, 48];

/// A median of which nothing is known.
pub(super) const UNKNOWN: Located = Located {
    point: 0.0,
    lower: f64::NEG_INFINITY,
    upper: f64::INFINITY,
};

/// Of two limits at different times, the closer ones.
pub(super) fn closer(earlier: Located, now: Located) -> Located {
    Located {
        point: now.point,
        lower: earlier.lower.max(now.lower),
        upper: earlier.upper.min(now.upper),
    }
}

/// What the milestones that were passed say of the median of a pair.
pub(super) struct Milestones {
    passed: Vec<Milestone>,
    /// The closest limits for all pairs together.
    pub together: Located,
    /// The closest limits at the whole level.
    pub alone: Located,
    /// The closest limits of one side, for all pairs together.
    pub sided: Located,
}

struct Milestone {
    blocks: usize,
    /// Its part of the error probability.
    part: f64,
    signs: LongRun,
}

impl Default for Milestones {
    fn default() -> Self {
        Milestones {
            passed: Vec::new(),
            together: UNKNOWN,
            alone: UNKNOWN,
            sided: UNKNOWN,
        }
    }
}

impl Milestones {
    /// The number of blocks of the next milestone.
    fn next(&self) -> usize {
        let passed = self.passed.len();
        match FIRST.get(passed) {
            Some(&first) => first,
            None => (FIRST[2] as f64 * 2f64.powf(0.5 * (passed - 2) as f64)).round() as usize,
        }
    }

    /// Looks at the differences of all blocks so far, in their order, at the levels of limits of all pairs together, of
    /// each alone, and of one side of all pairs together.
    pub fn pass(&mut self, values: &[f64], [together, alone, sided]: [f64; 3]) {
        while self.next() <= values.len() {
            let blocks = self.next();
            let at = (self.passed.len() + 1) as f64;
            let part = 1.0 / (at * (at + 1.0));
            let sample = Sample::of(values[..blocks].to_vec());
            self.together = closer(self.together, paired::median(&sample, part * together));
            self.alone = closer(self.alone, paired::median(&sample, part * alone));
            self.sided = closer(self.sided, paired::median(&sample, part * sided));
            self.passed.push(Milestone {
                blocks,
                part,
                signs: sample.signs(),
            });
        }
    }

    /// The p-value of "the median is at least −`size` and at most `size`", of one side.
    pub fn against(&self, values: &[f64], size: f64) -> f64 {
        self.smallest(values, |sorted, signs| {
            median_beyond([sorted; 2], size, signs)
        })
    }

    /// The p-value of "the median is at most `size`".
    pub fn above(&self, values: &[f64], size: f64) -> f64 {
        self.smallest(values, |sorted, signs| median_above(sorted, size, signs))
    }

    /// The p-value of "the median is at least −`size`".
    pub fn below(&self, values: &[f64], size: f64) -> f64 {
        self.smallest(values, |sorted, signs| median_below(sorted, size, signs))
    }

    /// The smallest p-value of sorted differences at all milestones, each at its part.
    fn smallest(&self, values: &[f64], p_value: impl Fn(&[f64], LongRun) -> f64) -> f64 {
        let of = |milestone: &Milestone| {
            let mut sorted = values[..milestone.blocks].to_vec();
            sorted.sort_unstable_by(f64::total_cmp);
            p_value(&sorted, milestone.signs) / milestone.part
        };
        self.passed.iter().map(of).fold(1.0, f64::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milestones_are_fixed_beforehand_and_share_the_level() {
        let values: Vec<f64> = (0..1000).map(|at| f64::from(at * 37 % 100)).collect();
        let (mut once, mut often) = (Milestones::default(), Milestones::default());
        once.pass(&values, [0.01, 0.05, 0.02]);
        (0..=1000).for_each(|blocks| often.pass(&values[..blocks], [0.01, 0.05, 0.02]));
        let blocks: Vec<usize> = once.passed.iter().map(|one| one.blocks).collect();
        assert_eq!(blocks, [12, 24, 48, 68, 96, 136, 192, 272, 384, 543, 768]);
        assert_eq!((once.together, once.alone), (often.together, often.alone));
        let parts: f64 = once.passed.iter().map(|one| one.part).sum();
        assert!(parts < 1.0);
        // The limits are the bounds that the p-values refute.
        let lower = once.together.lower;
        assert!(once.against(&values, lower - 0.5) <= 0.01);
        assert!(once.against(&values, lower) > 0.01);
    }
}
