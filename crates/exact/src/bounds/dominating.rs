//! The pair of distributions that a promise leaves possible and that tells secrets apart best.

use crate::extreme::Extreme;
use libm::{exp, expm1};

use crate::claim::{Curve, Guarantee, Promise, Requirement};
use crate::profile::{Cell, Pair};

/// P and Q of which the observations of any two secrets that keep a promise are a post-processing; `None` of
/// promises that leave no such pair or whose pair is not known.
///
/// # Formula
/// (ε, δ): randomized response that reveals the secret with probability δ, which no composition exceeds either. μ:
/// N(0, 1) and N(μ, 1). Total variation t is (0, t). Several (ε, δ): the pair whose trade-off function is the largest
/// of all lines 1 − δ − e^ε·x and their mirror images.
///
/// # References
/// P. Kairouz, S. Oh, P. Viswanath, *The composition theorem for differential privacy*, doi:10.1109/TIT.2017.2685505.
/// J. Dong, A. Roth, W. J. Su, *Gaussian differential privacy*, Theorem 2.10 (Blackwell), doi:10.1111/rssb.12454.
pub(super) fn pair(promise: &Promise) -> Option<Pair> {
    of_requirement(promise.requirement(), promise.curve())
}

/// The same of a requirement, which of several (ε, δ) is a curve.
pub(super) fn of_requirement(requirement: Requirement, curve: Option<&Curve>) -> Option<Pair> {
    match requirement {
        Requirement::Privacy(Guarantee::Dp { epsilon, delta }) => {
            Some(Pair::Cells(of_points(&[(epsilon, delta)])))
        }
        Requirement::Privacy(Guarantee::Gaussian { mu }) => Some(Pair::Gaussian { mu }),
        Requirement::Privacy(Guarantee::Concentrated { .. } | Guarantee::Renyi { .. }) => None,
        Requirement::BayesSecurity { .. } | Requirement::Advantage { .. } => {
            let points = [(0.0, requirement.largest_total_variation())];
            Some(Pair::Cells(of_points(&points)))
        }
        Requirement::Curve { .. } => Some(Pair::Cells(of_points(curve?.points()))),
        Requirement::AttackAdvantage { .. }
        | Requirement::Overall { .. }
        | Requirement::TimeDifference(_) => None,
    }
}

/// The cells of the pair that (ε, δ) in ascending order of ε leave possible.
///
/// # Formula
/// The trade-off function is its own inverse. Left of its fixed point it is the largest of the lines 1 − δ − e^ε·x, and
/// where one of them is, P has the mass e^ε·dx and Q the mass dx: each line is followed to the first flatter one that
/// it meets. Places are kept as e^ε·x of the line, which does not underflow. At 0, P has the least δ, and Q nothing.
fn of_points(points: &[(f64, f64)]) -> Vec<Cell> {
    // Of lines with the same δ the flattest is above all others.
    let Some(first) = points.iter().min_by(|a, b| a.1.total_cmp(&b.1)) else {
        return vec![Cell::new(1.0, 0.0), Cell::new(0.0, 1.0)];
    };
    let (mut epsilon, mut delta) = *first;
    let mut left = vec![Cell::new(delta, 0.0)];
    let mut from = 0.0;
    loop {
        // Where it meets the diagonal.
        let mut to = (1.0 - delta) / (1.0 + exp(-epsilon));
        let mut next = None;
        for &(flatter, more) in points.iter().filter(|point| point.0 < epsilon) {
            let place = (more - delta) / -expm1(flatter - epsilon);
            if place < to {
                (to, next) = (place, Some((flatter, more)));
            }
        }
        let mass = (to - from).at_least(0.0);
        left.push(Cell::with_loss(mass, mass * exp(-epsilon), epsilon));
        let Some((flatter, more)) = next else {
            break;
        };
        from = to * exp(flatter - epsilon);
        (epsilon, delta) = (flatter, more);
    }
    let right: Vec<Cell> = left.iter().map(|cell| cell.swapped()).collect();
    left.extend(right);
    left.retain(|cell| cell.p > 0.0 || cell.q > 0.0);
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    /// δ(ε) of the cells beside sup 1 − f(x) − e^ε·x over all places where two lines of f meet.
    #[test]
    fn the_pair_has_the_trade_off_function_of_its_points() {
        for points in [
            &[(1.0, 1e-3)][..],
            &[(0.0, 0.3)],
            &[(0.0, 0.4), (0.5, 0.2), (1.0, 0.1), (2.0, 0.0)],
            &[
                (0.0, 0.3),
                (0.3, 0.29),
                (1.0, 0.1),
                (3.0, 0.02),
                (9.0, 0.01),
            ],
            &[(0.0, 0.0), (1.0, 0.0)],
        ] {
            let cells = of_points(points);
            let sum = |of: fn(&Cell) -> f64| cells.iter().map(of).sum::<f64>();
            assert!((sum(|cell| cell.p) - 1.0).abs() < 1e-14, "{points:?}");
            assert!((sum(|cell| cell.q) - 1.0).abs() < 1e-14, "{points:?}");
            // (height at 0, slope), 0 among them.
            let lines = points.iter().flat_map(|&(epsilon, delta)| {
                let kept = 1.0 - delta;
                [
                    (kept, -exp(epsilon)),
                    (kept * exp(-epsilon), -exp(-epsilon)),
                ]
            });
            let lines: Vec<(f64, f64)> = lines.chain([(0.0, 0.0)]).collect();
            let f = |x: f64| {
                lines
                    .iter()
                    .map(|(y, s)| y + s * x)
                    .fold(0.0, f64::at_least)
            };
            let meet = |a: &(f64, f64), b: &(f64, f64)| (b.0 - a.0) / (a.1 - b.1);
            let of_line = |a: (f64, f64)| lines.iter().map(move |b| meet(&a, b));
            let places: Vec<f64> = lines
                .iter()
                .flat_map(|a| of_line(*a))
                .chain([0.0])
                .collect();
            for epsilon in [0.0, 0.2, 0.7, 1.5, 4.0] {
                let inside = places.iter().filter(|x| (0.0..=1.0).contains(*x));
                let values = inside.map(|x| 1.0 - f(*x) - exp(epsilon) * x);
                let expected = values.fold(0.0, f64::at_least);
                let found = crate::profile::Cells(&cells).delta(epsilon);
                assert!(
                    (found - expected).abs() < 1e-13,
                    "{points:?} at {epsilon}: {found} {expected}"
                );
            }
        }
    }
}
