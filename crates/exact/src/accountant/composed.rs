//! One side of the truth about a composition.

use super::terms::Terms;
use super::window::{Told, Window, about};
use crate::extreme::Extreme;
use leakgauge_stats::bisection::bisect;

/// A composition, as one side of the truth: from above (`sign` 1) or from below (−1).
pub(super) struct Composed<'a> {
    terms: &'a Terms,
    sign: f64,
    /// The mass at infinite loss, and that without any loss.
    infinite: f64,
    dropped: f64,
    /// The rest of the mass at infinite loss, without cancellation.
    finite: f64,
}

impl<'a> Composed<'a> {
    pub fn new(terms: &'a Terms, sign: f64) -> Self {
        let log_rest = |mass: f64| (-mass.at_most(1.0)).ln_1p();
        let log_finite = terms.total(|measure| {
            if measure.infinite < 0.5 {
                log_rest(measure.infinite)
            } else {
                (measure.masses.iter().sum::<f64>() + measure.dropped).ln()
            }
        });
        let infinite = terms.total(|measure| log_rest(measure.infinite));
        let dropped = terms.total(|measure| log_rest(measure.dropped));
        Composed {
            terms,
            sign,
            infinite: -infinite.exp_m1(),
            dropped: -dropped.exp_m1(),
            finite: log_finite.exp(),
        }
    }

    /// (δ, 1 − δ).
    pub fn delta(&self, epsilon: f64) -> (f64, f64) {
        let window = Window::new(self.terms, epsilon);
        self.both(window.as_ref(), epsilon)
    }

    /// δ at ascending ε up to the first that is negligible. A window serves all ε within half a standard deviation of
    /// its middle: farther off, what may be wrong in the sums matters.
    pub fn deltas(&self, epsilons: &[f64], negligible: f64) -> Vec<f64> {
        let mut deltas = Vec::new();
        let mut window: Option<Window> = None;
        for &epsilon in epsilons {
            let near = |window: &Window| {
                epsilon - window.middle <= (0.5 * window.spread).at_most(window.reach())
            };
            if !window.as_ref().is_some_and(near) {
                window = Window::new(self.terms, epsilon);
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
                (delta, (self.finite - finite).at_least(0.0))
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
        let (mut below, mut above) = (0.0, self.terms.largest());
        let mut epsilon = about(self.terms, delta);
        for round in 0..WINDOWS {
            // A window reaches not much farther than the standard deviation, which may be next to nothing.
            if round >= FOLLOWED || epsilon <= below || epsilon >= above {
                epsilon = 0.5 * (below + above);
            }
            if above - below <= NEAR * above {
                break;
            }
            let Some(window) = Window::new(self.terms, epsilon) else {
                above = epsilon;
                continue;
            };
            let is_above = |epsilon: f64| self.both(Some(&window), epsilon).0 > delta;
            // The window serves no farther, and its ends, which are not tried, are not found.
            let far = (3.0 * window.spread).at_most(window.reach());
            let ends = (
                (epsilon - far).at_least(below),
                (epsilon + far).at_most(above),
            );
            let (low, high) = bisect(ends, 60, is_above);
            let found = if self.sign > 0.0 { high } else { low };
            if (found - epsilon).abs() <= far / 3.0 {
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
}

/// Windows that are computed for one ε at most, and those of them that are moved to where the one before crosses δ.
const WINDOWS: usize = 40;
const FOLLOWED: usize = 8;
/// Ends of an interval that are nearer to each other than this part of them are one.
const NEAR: f64 = 1e-9;

#[cfg(test)]
mod tests {
    use super::super::{Accountant, Sides};
    use crate::mechanism::parse;
    use crate::profile::Cell;

    fn check(Sides { least, most }: Sides, exact: f64, rounding: f64) {
        let hair = 1e-12 * exact;
        assert!(
            least <= exact + hair && exact <= most + hair && most - least <= rounding * exact,
            "{least:e} {exact:e} {most:e}"
        );
    }

    fn of(cells: [(f64, f64); 2], steps: u64) -> Accountant {
        let cells = cells.map(|(p, q)| Cell::new(p, q));
        Accountant::of_symmetric_cells(&cells, steps).unwrap()
    }

    /// A standard deviation of losses that are hundreds apart is farther than exponentials reach. Sums are T·l + (L − l)·j
    /// with a binomial j, and δ at an ε just below that of an m is P(j > m) + P(j = m)(1 − e^(ε − it)).
    #[test]
    fn losses_hundreds_apart_keep_both_sides() {
        let steps = 60;
        let rare = 1e-206f64;
        let (low, high) = (f64::ln(0.5), f64::ln(0.5) - rare.ln());
        let accountant = of([(0.5, 1.0), (0.5, rare)], steps);
        let mut ways = vec![f64::powi(0.5, 60)];
        for j in 0..60 {
            ways.push(ways[j] * (60 - j) as f64 / (j + 1) as f64);
        }
        for delta in [0.999, 0.9, 0.6, 0.1, 1e-3, 1e-8] {
            let mut above = 0.0;
            let at = (0..=60).rev().find(|&j| {
                above += ways[j];
                above > delta
            });
            let at = at.unwrap();
            let sum = low * (60 - at) as f64 + high * at as f64;
            check(
                accountant.epsilon(delta),
                sum + f64::ln((above - delta) / ways[at]),
                1e-9,
            );
        }
    }

    /// Just below the largest loss δ is a small part of the sums whose difference it is.
    #[test]
    fn differences_of_sums_keep_their_side() {
        let loss = 0.09010883364596764;
        let cells = [(3.75e-77, loss), (1.0, 1e-3)]
            .map(|(p, loss)| Cell::with_loss(p, p * f64::exp(-loss), loss));
        let accountant = Accountant::of_symmetric_cells(&cells, 1).unwrap();
        let epsilon = loss * (1.0 - 1e-9);
        let exact = -3.75e-77 * f64::exp_m1(epsilon - loss);
        let Sides { least, most } = accountant.delta(epsilon);
        assert!(
            least <= exact * (1.0 + 1e-6) && most >= exact * (1.0 - 1e-6),
            "{least:e} {exact:e} {most:e}"
        );
    }

    /// Where all but little of the loss is infinite, security is what is left.
    #[test]
    fn security_beside_infinite_losses_has_its_digits() {
        let security = of([(0.25, 0.0), (0.75, 1.0)], 300)
            .total_variation_and_bayes_security()
            .1;
        check(security, f64::powi(0.75, 300), 1e-10);
    }

    /// Integers that one secret all but never has are not impossible: the loss of ten runs, each of 1/2σ² at 0, is 12,500.
    #[test]
    fn small_noise_on_integers_has_no_infinite_loss() {
        let mechanism = parse("discrete-gaussian(sigma=0.02, secrets=2)").unwrap();
        let accountant = Accountant::of_mechanism(&*mechanism, 10).unwrap();
        check(
            accountant.epsilon(1e-5),
            12_500.0 + f64::ln(1.0 - 1e-5),
            1e-3,
        );
    }

    /// Rare use changes probabilities by less than their last digits.
    #[test]
    fn a_record_that_is_hardly_used_keeps_its_loss() {
        for rate in [1e-3, 1e-9, 1e-14, 1e-30] {
            let text =
                format!("subsampled(randomized-response(epsilon=1, secrets=2), rate={rate})");
            let accountant = Accountant::of_mechanism(&*parse(&text).unwrap(), 1).unwrap();
            let exact = rate * f64::tanh(0.5);
            check(accountant.delta(0.0), exact, 1e-8 + 1e-11 / exact);
        }
    }
}
