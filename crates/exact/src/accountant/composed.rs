//! One side of the truth about a composition.

use super::grid::Measure;
use super::window::{Told, Window, about};
use crate::extreme::Extreme;

/// A measure composed with itself, as one side of the truth: from above (`sign` 1) or from below (−1).
pub(super) struct Composed<'a> {
    measure: &'a Measure,
    steps: u64,
    sign: f64,
    /// The mass at infinite loss, and that without any loss.
    infinite: f64,
    dropped: f64,
}

impl<'a> Composed<'a> {
    pub fn new(measure: &'a Measure, steps: u64, sign: f64) -> Self {
        let of_all = |mass: f64| -f64::exp_m1(steps as f64 * (-mass).ln_1p());
        Composed {
            measure,
            steps,
            sign,
            infinite: of_all(measure.infinite.at_most(1.0)),
            dropped: of_all(measure.dropped.at_most(1.0)),
        }
    }

    /// (δ, 1 − δ).
    pub fn delta(&self, epsilon: f64) -> (f64, f64) {
        let window = Window::new(self.measure, self.steps, epsilon);
        self.both(window.as_ref(), epsilon)
    }

    /// δ at ascending ε up to the first that is negligible. A window serves all ε within half a standard deviation of
    /// its middle: farther off, what may be wrong in the sums matters.
    pub fn deltas(&self, epsilons: &[f64], negligible: f64) -> Vec<f64> {
        let mut deltas = Vec::new();
        let mut window: Option<Window> = None;
        for &epsilon in epsilons {
            let near = |window: &Window| epsilon - window.middle <= 0.5 * window.spread;
            if !window.as_ref().is_some_and(near) {
                window = Window::new(self.measure, self.steps, epsilon);
            }
            let delta = self.both(window.as_ref(), epsilon).0;
            deltas.push(delta);
            if delta <= negligible {
                break;
            }
        }
        deltas
    }

    fn both(&self, window: Option<&Window>, epsilon: f64) -> (f64, f64) {
        let told = window.map_or(Told::Delta(0.0), |window| window.told(epsilon, self.sign));
        match told {
            Told::Delta(finite) => {
                let delta = (self.infinite + finite).at_most(1.0);
                (delta, 1.0 - delta)
            }
            Told::Kept(finite) => {
                let kept = (finite + self.dropped).at_most(1.0);
                (1.0 - kept, kept)
            }
        }
    }

    /// The ε at which δ(ε) crosses a value, on the side that keeps the direction of the bound, given δ(0).
    pub fn epsilon(&self, delta: f64, at_zero: f64) -> f64 {
        if self.infinite >= delta {
            return f64::INFINITY;
        }
        if at_zero <= delta {
            return 0.0;
        }
        // δ is larger than wanted at the first, and not at the second, which no sum of finite losses exceeds.
        let (mut below, mut above) = (0.0, self.largest());
        let mut epsilon = about(self.measure, self.steps, delta);
        for round in 0..WINDOWS {
            // A window reaches not much farther than the standard deviation, which may be next to nothing.
            if round >= FOLLOWED || epsilon <= below || epsilon >= above {
                epsilon = 0.5 * (below + above);
            }
            if above - below <= NEAR * above {
                break;
            }
            let Some(window) = Window::new(self.measure, self.steps, epsilon) else {
                above = epsilon;
                continue;
            };
            let is_above = |epsilon: f64| self.both(Some(&window), epsilon).0 > delta;
            let (mut low, mut high) = (
                (epsilon - 3.0 * window.spread).at_least(below),
                (epsilon + 3.0 * window.spread).at_most(above),
            );
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                if is_above(middle) {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            let found = if self.sign > 0.0 { high } else { low };
            if (found - epsilon).abs() <= window.spread {
                return found;
            }
            if is_above(epsilon) {
                below = epsilon;
            } else {
                above = epsilon;
            }
            epsilon = found;
        }
        if self.sign > 0.0 { above } else { below }
    }

    /// The largest sum of losses that are finite.
    fn largest(&self) -> f64 {
        let last = self.measure.masses.iter().rposition(|mass| *mass > 0.0);
        let most = last.map_or(0.0, |at| self.measure.loss(at));
        (self.steps as f64 * most).at_least(0.0)
    }
}

/// Windows that are computed for one ε at most, and those of them that are moved to where the one before crosses δ.
const WINDOWS: usize = 40;
const FOLLOWED: usize = 8;
/// Ends of an interval that are nearer to each other than this part of them are one.
const NEAR: f64 = 1e-9;
