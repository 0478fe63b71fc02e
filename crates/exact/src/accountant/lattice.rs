//! Privacy losses that are equally spaced: a grid holds them as they are.

use super::grid::{Grid, ON_GRID};
use super::loss::Loss;
use crate::extreme::Extreme;

/// The most steps between two losses.
const MOST_STEPS: f64 = 1e6;

impl Loss {
    /// A grid that all losses are on, if there is one. Without it, a few losses far apart need millions of cells.
    pub fn lattice(&self) -> Option<Grid> {
        if let Some(step) = self.common_step() {
            return Some(Grid { step, offset: 0.0 });
        }
        self.shifted_lattice()
    }

    /// The same of losses k·step + offset, as those of weights that are normalized for each secret: all of them contain
    /// the ratio of both sums of weights. A loss that is 0 but for rounding is no step either.
    fn shifted_lattice(&self) -> Option<Grid> {
        if self.smooth.is_some() {
            return None;
        }
        let losses = || {
            let all = self.atoms.iter().map(|atom| atom.loss());
            all.filter(|loss| loss.is_finite())
        };
        let offset = losses().fold(f64::INFINITY, f64::at_most);
        let span = losses().fold(f64::NEG_INFINITY, f64::at_least) - offset;
        if span.is_nan() || span <= 1e-12 {
            return None;
        }
        // What is left by rounding is far below the smallest step.
        let nothing = 1e-3 * span / MOST_STEPS;
        let step = losses().fold(span, |step, loss| divisor(step, loss - offset, nothing));
        // Of many steps the mean is right.
        let step = span / (span / step).round();
        let grid = Grid { step, offset };
        let is_on = |loss: f64| {
            let place = grid.place(loss);
            (place - place.round()).abs() <= ON_GRID
        };
        // A grid reaches from 0 to all losses, however near to each other they are.
        let (low, high) = self.support();
        (high - low <= MOST_STEPS * step && losses().all(is_on)).then_some(grid)
    }

    /// A step of which all losses are multiples, if there is one.
    fn common_step(&self) -> Option<f64> {
        if self.smooth.is_some() {
            return None;
        }
        let losses = || {
            self.atoms
                .iter()
                .map(|atom| atom.loss().abs())
                .filter(|loss| loss.is_finite())
        };
        let least = losses()
            .filter(|loss| *loss > 1e-14)
            .fold(f64::INFINITY, f64::at_most);
        let whole = |loss: f64| (loss / least - (loss / least).round()).abs() <= ON_GRID;
        (least.is_finite() && losses().all(|loss| loss < 1e6 * least && whole(loss)))
            .then_some(least)
    }
}

/// The largest number that both are multiples of, where what is below `nothing` is rounding.
fn divisor(mut a: f64, mut b: f64, nothing: f64) -> f64 {
    while b > nothing {
        let rest = (a - b * (a / b).round()).abs();
        (a, b) = (b, rest);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::super::grid::{Measure, grid};
    use super::super::{Accountant, Sides};
    use crate::extreme::Extreme;
    use crate::mechanism::parse;

    /// Mechanisms that hide next to nothing have few losses that are far apart: only a grid that has them needs few
    /// cells.
    #[test]
    fn mechanisms_that_hide_nothing_need_few_cells() {
        for (text, most) in [
            ("staircase(epsilon=30, secrets=6)", 100),
            ("staircase(epsilon=30, sensitivity=0.7, secrets=6)", 100),
            ("normalized-geometric(nu=30, secrets=4)", 100),
            ("normalized-geometric(nu=0.3, secrets=7)", 100),
            ("truncated-geometric(nu=30, secrets=4)", 100),
            ("planar-geometric(nu=30, secrets=0..1)", 200_000),
        ] {
            for loss in Accountant::losses(&*parse(text).unwrap(), 100).unwrap() {
                let cells = Measure::above(&loss, grid(&loss, 100)).masses.len();
                assert!(cells <= most, "{text}: {cells}");
            }
        }
    }

    fn of(text: &str, steps: u64) -> Accountant {
        Accountant::of_mechanism(&*parse(text).unwrap(), steps).unwrap()
    }

    fn check(Sides { least, most }: Sides, exact: f64, rounding: f64, what: &str) {
        let hair = 1e-11 * exact;
        assert!(
            least <= exact + hair && exact <= most + hair,
            "{what}: {least:e} {exact:e} {most:e}"
        );
        assert!(
            most - least <= rounding * exact,
            "{what}: {least:e} {exact:e} {most:e}"
        );
    }

    /// By all triples of outputs, whose probabilities are normalized weights.
    #[test]
    fn shifted_losses_are_summed() {
        for nu in [0.3, 1.0, 3.0] {
            let accountant = of(&format!("normalized-geometric(nu={nu}, secrets=4)"), 3);
            let row = |center: i32| {
                let weights = (0..4).map(|o: i32| f64::exp(-nu * f64::from((o - center).abs())));
                let weights: Vec<f64> = weights.collect();
                let sum: f64 = weights.iter().sum();
                weights
                    .into_iter()
                    .map(move |weight| weight / sum)
                    .collect::<Vec<f64>>()
            };
            for epsilon in [0.0, 0.5, 2.0, 5.0 * nu] {
                let of_pair = |(a, b): (i32, i32)| {
                    let (p, q) = (row(a), row(b));
                    let triples = (0..64).map(|at| [at % 4, at / 4 % 4, at / 16]);
                    let each = triples.map(|triple: [usize; 3]| {
                        let of = |row: &[f64]| triple.iter().map(|&o| row[o]).product::<f64>();
                        (of(&p) - f64::exp(epsilon) * of(&q)).at_least(0.0)
                    });
                    each.sum::<f64>()
                };
                let pairs = (0..16).map(|at| (at % 4, at / 4));
                let exact = pairs.map(of_pair).fold(0.0, f64::at_least);
                check(
                    accountant.delta(epsilon),
                    exact,
                    1e-9,
                    &format!("{nu} {epsilon}"),
                );
            }
        }
    }

    /// The largest sum T·L of losses is all but certain, with probability r: δ(ε) is r − e^(ε − TL)·r but for what is
    /// far below, so that the ε of a δ is TL + ln(1 − δ/r).
    #[test]
    fn epsilon_of_what_hides_nothing_is_next_to_the_largest() {
        let high = 1.0 / (1.0 + f64::exp(-15.0));
        for (text, steps, largest, certain) in [
            (
                "staircase(epsilon=30, secrets=6)",
                100,
                150.0,
                0.5 + 0.5 * high,
            ),
            ("normalized-geometric(nu=30, secrets=4)", 10, 90.0, 1.0),
            ("randomized-response(epsilon=30, secrets=4)", 10, 30.0, 1.0),
            ("discrete-gaussian(sigma=0.1, secrets=2)", 10, 50.0, 1.0),
            (
                "staircase(epsilon=100, sensitivity=0.3, secrets=6)",
                1000,
                1700.0,
                1.0,
            ),
        ] {
            let accountant = of(text, steps);
            let certain = f64::powi(certain, steps as i32);
            let exact = steps as f64 * largest + f64::ln_1p(-1e-3 / certain);
            let Sides { least, most } = accountant.epsilon(1e-3);
            // Rounding of sums of losses.
            let rounding = 1e-12 * exact;
            assert!(
                (least - exact).abs() <= rounding
                    && (most - exact).abs() <= rounding
                    && least <= most,
                "{text}: {least} {exact} {most}"
            );
            // Without privacy δ is 1, and no figure is lost.
            let (variation, security) = accountant.total_variation_and_bayes_security();
            assert!(
                variation.least <= 1.0 && variation.most == 1.0,
                "{text}: {variation:?}"
            );
            assert!(
                security.least <= security.most && security.most < 1e-40,
                "{text}: {security:?}"
            );
        }
    }

    /// T runs of randomized response between two labels: the sum of the losses is ε(2j − T) with a binomial j.
    #[test]
    fn security_of_what_hides_nothing_is_binomial() {
        let (epsilon, steps) = (30.0f64, 9);
        let security = of("randomized-response(epsilon=30, secrets=2)", steps)
            .total_variation_and_bayes_security()
            .1;
        let (keep, change) = (
            1.0 / (1.0 + f64::exp(-epsilon)),
            1.0 / (1.0 + f64::exp(epsilon)),
        );
        let mut ways = 1.0;
        let mut exact = 0.0;
        for j in 0..=steps as i32 {
            let one = |keep: f64, change: f64| keep.powi(j) * change.powi(steps as i32 - j);
            exact += ways * one(keep, change).at_most(one(change, keep));
            ways *= f64::from(steps as i32 - j) / f64::from(j + 1);
        }
        // The losses nearest to ε = 0 are ±30: what may be wrong elsewhere counts for e^15 as much.
        check(security, exact, 1e-4, "security");
    }

    /// Of one run with rare use of a record, nearly all of Q has the largest loss but for rounding: it is no infinite
    /// one.
    #[test]
    fn losses_next_to_the_largest_are_finite() {
        let accountant = of("subsampled(laplace(scale=0.03), rate=0.3)", 1);
        let variation = accountant.delta(0.0);
        assert!(
            variation.least <= 0.3 && variation.most >= 0.3 - 1e-6 && variation.most < 0.301,
            "{variation:?}"
        );
        assert!(accountant.epsilon(1e-5).most.is_finite());
    }
}
