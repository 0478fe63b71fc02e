//! The Gauss–Legendre quadrature rule, interpolation at its nodes, and compensated summation.

use std::sync::LazyLock;

/// The number of nodes: the rule is exact for polynomials of degree 31.
pub(in crate::shuffle) const POINTS: usize = 16;

/// Nodes in (0, 1), their weights, and barycentric weights for interpolation.
pub(in crate::shuffle) struct Rule {
    pub nodes: [f64; POINTS],
    pub weights: [f64; POINTS],
    barycentric: [f64; POINTS],
}

pub(in crate::shuffle) static RULE: LazyLock<Rule> = LazyLock::new(Rule::new);

/// P_0 to P_POINTS at x in \[−1, 1\].
pub(super) fn legendre(x: f64) -> [f64; POINTS + 1] {
    let mut p = [1.0; POINTS + 1];
    p[1] = x;
    for j in 2..=POINTS {
        let m = j as f64;
        p[j] = ((2.0 * m - 1.0) * x * p[j - 1] - (m - 1.0) * p[j - 2]) / m;
    }
    p
}

impl Rule {
    /// Finds the nodes by Newton's method on the Legendre polynomial, starting from Chebyshev nodes.
    fn new() -> Self {
        let size = POINTS as f64;
        let (mut nodes, mut weights) = ([0.0; POINTS], [0.0; POINTS]);
        for i in 0..POINTS {
            let mut x = -libm::cos(std::f64::consts::PI * (i as f64 + 0.75) / (size + 0.5));
            let mut slope = 1.0;
            for _ in 0..100 {
                let p = legendre(x);
                slope = size * (x * p[POINTS] - p[POINTS - 1]) / (x * x - 1.0);
                let step = p[POINTS] / slope;
                x -= step;
                if step.abs() < 1e-16 {
                    break;
                }
            }
            nodes[i] = 0.5 * (1.0 + x);
            weights[i] = 1.0 / ((1.0 - x * x) * slope * slope);
        }
        let sign = |i: usize| if i.is_multiple_of(2) { 1.0 } else { -1.0 };
        let barycentric = std::array::from_fn(|i| {
            let x: f64 = nodes[i];
            sign(i) * (x * (1.0 - x) * weights[i]).sqrt()
        });
        Rule {
            nodes,
            weights,
            barycentric,
        }
    }

    /// The value at u in \[0, 1\] of the polynomial through values at the nodes.
    pub fn interpolate(&self, values: &[f64; POINTS], u: f64) -> f64 {
        let (mut above, mut below) = (0.0, 0.0);
        for ((&node, &weight), &value) in self.nodes.iter().zip(&self.barycentric).zip(values) {
            if u == node {
                return value;
            }
            let share = weight / (u - node);
            above += share * value;
            below += share;
        }
        above / below
    }
}

/// A compensated sum (Neumaier summation), which hardly depends on the order of its terms.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sum {
    sum: f64,
    lost: f64,
}

impl Sum {
    /// One step of Neumaier summation: keeps the rounding error of the addition.
    pub fn add(&mut self, term: f64) {
        let next = self.sum + term;
        self.lost += if self.sum.abs() >= term.abs() {
            (self.sum - next) + term
        } else {
            (term - next) + self.sum
        };
        self.sum = next;
    }

    /// The sum, with the accumulated rounding errors added back.
    pub fn value(self) -> f64 {
        self.sum + self.lost
    }

    pub fn of(terms: impl Iterator<Item = f64>) -> f64 {
        let mut sum = Sum::default();
        terms.for_each(|term| sum.add(term));
        sum.value()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_are_integrated_and_interpolated() {
        for degree in 0..=31 {
            let sum: f64 = (0..POINTS)
                .map(|i| RULE.weights[i] * RULE.nodes[i].powi(degree))
                .sum();
            assert!(
                (sum * f64::from(degree + 1) - 1.0).abs() < 1e-14,
                "{degree}"
            );
        }
        let values = RULE.nodes.map(|x| x.powi(15) - x);
        for u in [0.0_f64, 0.2, 0.77, 1.0] {
            assert!((RULE.interpolate(&values, u) - (u.powi(15) - u)).abs() < 1e-14);
        }
    }
}
