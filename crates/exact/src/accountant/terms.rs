//! Measures that are composed with themselves and with each other.

use super::grid::Measure;
use crate::extreme::Extreme;

/// Measures on grids with the same step, each composed with itself so many times, then all with each other.
#[derive(Debug, Clone)]
pub(super) struct Terms(Vec<(Measure, u64)>);

impl Terms {
    /// One measure, composed with itself.
    pub fn of(measure: Measure, steps: u64) -> Terms {
        Terms(vec![(measure, steps)])
    }

    /// Several.
    ///
    /// # Panics
    /// Without measures, or if the steps of their grids differ.
    pub fn new(all: Vec<(Measure, u64)>) -> Terms {
        // Of hostile parameters a step is no number, which is not equal to itself; figures are refused then.
        let step = |(measure, _): &(Measure, u64)| measure.grid.step.to_bits();
        assert!(all.iter().all(|term| step(term) == step(&all[0])));
        Terms(all)
    }

    /// Each measure, and how often.
    pub fn each(&self) -> impl Iterator<Item = (&Measure, u64)> {
        self.0.iter().map(|(measure, steps)| (measure, *steps))
    }

    /// The step of all grids.
    pub fn step(&self) -> f64 {
        self.0[0].0.grid.step
    }

    /// The offset of the grid of sums.
    pub fn offset(&self) -> f64 {
        let offsets = self.each();
        offsets
            .map(|(measure, steps)| steps as f64 * measure.grid.offset)
            .sum()
    }

    /// The sum of so many times a value of each measure.
    pub fn total(&self, value: impl Fn(&Measure) -> f64) -> f64 {
        self.each()
            .map(|(measure, steps)| steps as f64 * value(measure))
            .sum()
    }

    /// The largest sum of losses that are finite.
    pub fn largest(&self) -> f64 {
        self.total(|measure| {
            let last = measure.masses.iter().rposition(|mass| *mass > 0.0);
            last.map_or(0.0, |at| measure.loss(at))
        })
        .at_least(0.0)
    }
}
