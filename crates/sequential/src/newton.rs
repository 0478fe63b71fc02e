//! The parameters at which capital would have grown most: a concave function of up to three numbers, by Newton's method.

/// Steps at most.
const STEPS: usize = 60;
/// Halvings of a step at most.
const HALVINGS: usize = 40;

/// A factor of the capital, constant + slopes · parameters, and how often it came up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Factor {
    pub count: f64,
    pub constant: f64,
    pub slopes: [f64; 3],
}

impl Factor {
    fn at(&self, parameters: [f64; 3]) -> f64 {
        let moved = self.slopes.iter().zip(parameters);
        self.constant
            + moved
                .map(|(slope, parameter)| slope * parameter)
                .sum::<f64>()
    }
}

/// Σ count · ln factor; `None` where a factor is not positive, whether it came up or not.
fn growth(factors: &[Factor], parameters: [f64; 3]) -> Option<f64> {
    let mut sum = 0.0;
    for factor in factors {
        let value = factor.at(parameters);
        if value <= 0.0 {
            return None;
        }
        if factor.count > 0.0 {
            sum += factor.count * value.ln();
        }
    }
    Some(sum)
}

/// The maximum over the parameters that are free, from a start at which all factors are positive, and its value; the
/// others stay.
pub(crate) fn maximum(
    factors: &[Factor],
    start: [f64; 3],
    is_free: [bool; 3],
) -> Option<([f64; 3], f64)> {
    let mut at = start;
    let mut value = growth(factors, at)?;
    for _ in 0..STEPS {
        let direction = newton_step(factors, at, is_free);
        let mut share = 1.0;
        let better = (0..HALVINGS).find_map(|_| {
            let next: [f64; 3] = std::array::from_fn(|k| at[k] + share * direction[k]);
            share *= 0.5;
            let found = growth(factors, next)?;
            (found >= value).then_some((next, found))
        });
        let Some((next, found)) = better else {
            break;
        };
        let gain = found - value;
        (at, value) = (next, found);
        if gain <= 1e-9 {
            break;
        }
    }
    Some((at, value))
}

/// The step to the maximum of the quadratic that has the same derivatives here.
fn newton_step(factors: &[Factor], at: [f64; 3], is_free: [bool; 3]) -> [f64; 3] {
    let mut gradient = [0.0; 3];
    let mut curvature = [[0.0; 3]; 3];
    for factor in factors.iter().filter(|factor| factor.count > 0.0) {
        let value = factor.at(at);
        let first = factor.count / value;
        let second = first / value;
        for j in (0..3).filter(|&j| is_free[j]) {
            gradient[j] += first * factor.slopes[j];
            for k in (0..3).filter(|&k| is_free[k]) {
                curvature[j][k] += second * factor.slopes[j] * factor.slopes[k];
            }
        }
    }
    for j in 0..3 {
        // A little more than the curvature keeps the step finite; one that is not free stays.
        curvature[j][j] = if is_free[j] {
            curvature[j][j] * (1.0 + 1e-12) + 1e-300
        } else {
            1.0
        };
    }
    solved(curvature, gradient)
}

/// The solution of a symmetric positive system, by elimination.
fn solved(mut matrix: [[f64; 3]; 3], mut right: [f64; 3]) -> [f64; 3] {
    for pivot in 0..3 {
        for row in pivot + 1..3 {
            let times = matrix[row][pivot] / matrix[pivot][pivot];
            let top = matrix[pivot];
            for (value, top) in matrix[row].iter_mut().zip(top).skip(pivot) {
                *value -= times * top;
            }
            right[row] -= times * right[pivot];
        }
    }
    for pivot in (0..3).rev() {
        for column in pivot + 1..3 {
            right[pivot] -= matrix[pivot][column] * right[column];
        }
        right[pivot] /= matrix[pivot][pivot];
    }
    right
}
