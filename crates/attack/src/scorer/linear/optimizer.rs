//! The smallest value of a smooth convex function: limited-memory BFGS.

/// Steps that are remembered.
const MEMORY: usize = 10;
/// A step must do at least this part of what the slope promises.
const SUFFICIENT: f64 = 1e-4;
/// Halvings of a step.
const HALVINGS: usize = 40;
/// Half the squared length of the gradient is about what is left to gain where the second derivative is about 1.
const NEGLIGIBLE: f64 = 1e-6;

/// A function that gives its value and its gradient.
type Smooth<'a> = dyn Fn(&[f64]) -> (f64, Vec<f64>) + 'a;

/// What one step has shown of the second derivative.
struct Seen {
    step: Vec<f64>,
    change: Vec<f64>,
    /// Their product.
    curvature: f64,
}

/// Where the function, which gives its value and its gradient, is smallest; its second derivative at the start should
/// be about the identity. It ends after `most` steps, or if no step helps.
///
/// # References
/// Nocedal and Wright 2006, Numerical Optimization, algorithm 7.5, with backtracking.
pub fn minimize(start: Vec<f64>, function: &Smooth<'_>, most: usize) -> Vec<f64> {
    let mut at = start;
    let (mut value, mut gradient) = function(&at);
    let mut memory: Vec<Seen> = Vec::new();
    for _ in 0..most {
        if 0.5 * dot(&gradient, &gradient) < NEGLIGIBLE {
            break;
        }
        let direction = direction(&gradient, &memory);
        let slope = dot(&direction, &gradient);
        let sizes = std::iter::successors(Some(1.0), |size| Some(0.5 * size));
        let tried = sizes.take(HALVINGS).map(|size| {
            let next: Vec<f64> = (at.iter().zip(&direction))
                .map(|(at, way)| at + size * way)
                .collect();
            let found = function(&next);
            (size, next, found)
        });
        let mut tried = tried;
        let better = tried.find(|(size, _, (new, _))| *new <= value + SUFFICIENT * size * slope);
        let Some((_, next, (new, slopes))) = better else {
            break;
        };
        let step: Vec<f64> = next.iter().zip(&at).map(|(new, old)| new - old).collect();
        let change: Vec<f64> = (slopes.iter().zip(&gradient))
            .map(|(new, old)| new - old)
            .collect();
        let curvature = dot(&step, &change);
        if curvature > 0.0 {
            memory.truncate(MEMORY - 1);
            memory.insert(
                0,
                Seen {
                    step,
                    change,
                    curvature,
                },
            );
        }
        (at, value, gradient) = (next, new, slopes);
    }
    at
}

/// Downhill, by what the last steps have shown; the last one first.
fn direction(gradient: &[f64], memory: &[Seen]) -> Vec<f64> {
    let mut way: Vec<f64> = gradient.iter().map(|slope| -slope).collect();
    let mut shares = Vec::with_capacity(memory.len());
    for seen in memory {
        let share = dot(&seen.step, &way) / seen.curvature;
        add(&mut way, -share, &seen.change);
        shares.push(share);
    }
    if let Some(last) = memory.first() {
        let size = last.curvature / dot(&last.change, &last.change);
        way.iter_mut().for_each(|value| *value *= size);
    }
    for (seen, share) in memory.iter().zip(shares).rev() {
        let back = dot(&seen.change, &way) / seen.curvature;
        add(&mut way, share - back, &seen.step);
    }
    way
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(to: &mut [f64], share: f64, what: &[f64]) {
    to.iter_mut()
        .zip(what)
        .for_each(|(to, what)| *to += share * what);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bowl_has_its_bottom_where_it_is() {
        // Σ c_i (x_i − i)², and a term that is flat far away.
        let bowl = |at: &[f64]| {
            let (mut value, mut gradient) = (0.0, Vec::new());
            for (i, x) in at.iter().enumerate() {
                let (steepness, away) = (1.0 + 5.0 * i as f64, x - i as f64);
                let root = (1.0 + away * away).sqrt();
                value += steepness * root;
                gradient.push(steepness * away / root);
            }
            (value, gradient)
        };
        let found = minimize(vec![50.0; 6], &bowl, 200);
        for (i, x) in found.iter().enumerate() {
            assert!((x - i as f64).abs() < 1e-3, "{i}: {x}");
        }
    }

    #[test]
    fn no_number_is_not_stepped_to() {
        let cliff = |at: &[f64]| match at[0] {
            x if x > 0.0 => (-(x.ln()) + x, vec![1.0 - 1.0 / x]),
            _ => (f64::NAN, vec![f64::NAN]),
        };
        let found = minimize(vec![20.0], &cliff, 100);
        assert!((found[0] - 1.0).abs() < 1e-2, "{found:?}");
    }
}
