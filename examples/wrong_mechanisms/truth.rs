//! What is true of each case: its privacy on its two inputs, by closed forms, enumeration and quadrature.
//!
//! Integrals are midpoint sums. No kink of a Laplace density or distribution function lies inside a step,
//! as long as answers and thresholds are multiples of the step, so the error is of second order.

use super::cases::{Case, Mechanism, Returns, classic_sigma};
use super::noise::{laplace_cdf, laplace_density};
use super::sparse_vector::SparseVector;

/// Steps in a unit, the difference of neighboring answers.
const STEPS: f64 = 32.0;

/// The ε between a case's two inputs at the δ it claims: the least at which they are (ε, δ)-close.
pub fn epsilon(case: &Case, claimed: f64) -> f64 {
    match case.mechanism {
        Mechanism::SparseVector { .. } | Mechanism::NoisyMax(_) => {
            largest_ratio(&outcomes(case, claimed))
        }
        Mechanism::Histogram { sensitivity } => {
            let [a, b] = case.inputs;
            let distance: f64 = a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum();
            distance * claimed / sensitivity
        }
        Mechanism::Laplace { share } => claimed / share,
        Mechanism::RandomizedResponse { coin } => {
            let truthful = (claimed / 2.0).tanh();
            let lie = coin.min(1.0 - coin) * (1.0 - truthful);
            (truthful / lie).ln_1p()
        }
        Mechanism::ClassicGaussian { delta } => {
            let sigma = classic_sigma(claimed, delta);
            root(|epsilon| gaussian_delta(sigma, epsilon) - delta, 0.0, 100.0)
        }
    }
}

/// The δ of Gaussian noise at ε, for answers that differ by 1.
///
/// Φ(1/2σ − εσ) − e^ε Φ(−1/2σ − εσ); Balle and Wang 2018, Theorem 8.
pub fn gaussian_delta(sigma: f64, epsilon: f64) -> f64 {
    let cdf = |x: f64| 0.5 * libm::erfc(-x / std::f64::consts::SQRT_2);
    cdf(0.5 / sigma - epsilon * sigma) - epsilon.exp() * cdf(-0.5 / sigma - epsilon * sigma)
}

/// Where a decreasing function is 0.
fn root(f: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if f(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// Probabilities, or densities at points, of every outcome under the first and the second input.
pub type Outcomes = Vec<(f64, f64)>;

/// All outcomes on a grid; of a histogram, the two counts that move.
pub fn outcomes(case: &Case, claimed: f64) -> Outcomes {
    match case.mechanism {
        Mechanism::SparseVector { algorithm: 3, .. } => revealing(case, claimed),
        Mechanism::SparseVector { .. } => probabilities(sequences(case, claimed)),
        Mechanism::NoisyMax(returns) => noisy_max(case, claimed, returns),
        Mechanism::Histogram { sensitivity } => {
            let scale = sensitivity / claimed;
            let density = |x: f64, y: f64| laplace_density(x, scale) * laplace_density(y, scale);
            let points = grid(15.0 * scale);
            let pairs = points
                .clone()
                .flat_map(|x| points.clone().map(move |y| (x, y)));
            pairs
                .map(|(x, y)| (density(x - 1.0, y), density(x, y - 1.0)))
                .collect()
        }
        Mechanism::Laplace { share } => {
            let scale = share / claimed;
            let points = grid(30.0 * scale);
            points
                .map(|x| (laplace_density(x, scale), laplace_density(x - 1.0, scale)))
                .collect()
        }
        Mechanism::RandomizedResponse { coin } => {
            let truthful = (claimed / 2.0).tanh();
            let shows_one = (1.0 - truthful) * coin;
            vec![
                (shows_one, truthful + shows_one),
                (1.0 - shows_one, 1.0 - truthful - shows_one),
            ]
        }
        Mechanism::ClassicGaussian { delta } => {
            let sigma = classic_sigma(claimed, delta);
            let density = |x: f64| (-0.5 * (x / sigma).powi(2)).exp();
            // The steps are fractions of σ, which may be far below 1.
            let points = (-4_000..=4_000).map(|at| f64::from(at) * sigma / 400.0 + 0.5);
            points.map(|x| (density(x), density(x - 1.0))).collect()
        }
    }
}

fn largest_ratio(outcomes: &Outcomes) -> f64 {
    outcomes
        .iter()
        .filter(|(a, b)| a.max(*b) > 0.0)
        .map(|(a, b)| (a / b).ln().abs())
        .fold(0.0, f64::max)
}

/// Midpoints of steps from −reach to reach.
fn grid(reach: f64) -> impl Iterator<Item = f64> + Clone {
    let steps = (2.0 * reach.ceil() * STEPS) as usize;
    (0..steps).map(move |at| (at as f64 + 0.5) / STEPS - reach.ceil())
}

/// The threshold's noise on a grid, with its probabilities.
fn threshold_noise(mechanism: &SparseVector) -> (Vec<f64>, Vec<f64>) {
    let scale = mechanism.threshold_scale;
    let points: Vec<f64> = grid(30.0 * scale).collect();
    let weights = points.iter().map(|z| laplace_density(*z, scale) / STEPS);
    (points.clone(), weights.collect())
}

fn variant(case: &Case, claimed: f64) -> (SparseVector, f64) {
    match case.mechanism {
        Mechanism::SparseVector {
            algorithm,
            cutoff,
            threshold,
        } => (
            SparseVector::published(algorithm, cutoff, claimed),
            threshold,
        ),
        _ => unreachable!("only of the sparse vector"),
    }
}

fn probabilities(sequences: Vec<(String, (f64, f64))>) -> Outcomes {
    sequences.into_iter().map(|(_, outcome)| outcome).collect()
}

/// Every sequence of answers, 1 for above and 0 for below, with its probabilities under both inputs.
pub fn sequences(case: &Case, claimed: f64) -> Vec<(String, (f64, f64))> {
    let (mechanism, threshold) = variant(case, claimed);
    let (points, noise) = threshold_noise(&mechanism);
    let of = |input: &[f64]| {
        // Each by its own tail: 1 − p would lose the small ones.
        let chances = |z: f64, query: f64| {
            let margin = threshold + z - query;
            let scale = mechanism.answer_scale;
            (laplace_cdf(margin, scale), laplace_cdf(-margin, scale))
        };
        let chances: Vec<Vec<(f64, f64)>> = input
            .iter()
            .map(|&query| points.iter().map(|&z| chances(z, query)).collect())
            .collect();
        let mut tree = Tree {
            mechanism: &mechanism,
            noise: &noise,
            chances: &chances,
            found: Vec::new(),
        };
        tree.grow(String::new(), 0, noise.clone(), 1.0);
        tree.found
    };
    let [a, b] = case.inputs.map(of);
    let both = a.into_iter().zip(b);
    both.map(|((name, a), (_, b))| (name, (a, b))).collect()
}

/// All sequences of answers, grown answer by answer.
struct Tree<'a> {
    mechanism: &'a SparseVector,
    noise: &'a [f64],
    /// For each query, the probabilities of "below" and "above" at each point of the threshold's noise.
    chances: &'a [Vec<(f64, f64)>],
    found: Vec<(String, f64)>,
}

impl Tree<'_> {
    /// `joint` is the probability of the answers since the threshold got its noise together with that
    /// noise, `before` that of those before.
    fn grow(&mut self, answers: String, above: usize, joint: Vec<f64>, before: f64) {
        let query = answers.len();
        if query == self.chances.len() || self.mechanism.cutoff == Some(above) {
            self.found
                .push((answers, before * joint.iter().sum::<f64>()));
            return;
        }
        let chances = joint.iter().zip(&self.chances[query]);
        let (says_below, says_above): (Vec<f64>, Vec<f64>) = chances
            .map(|(joint, (below, above))| (joint * below, joint * above))
            .unzip();
        self.grow(format!("{answers}0"), above, says_below, before);
        let answers = answers + "1";
        if self.mechanism.refresh {
            let before = before * says_above.iter().sum::<f64>();
            self.grow(answers, above + 1, self.noise.to_vec(), before);
        } else {
            self.grow(answers, above + 1, says_above, before);
        }
    }
}

/// Outcomes of a variant that returns its noisy answer and stops: the number of answers below and the
/// value, on a grid; last, that all answers are below.
pub fn revealing(case: &Case, claimed: f64) -> Outcomes {
    let (mechanism, threshold) = variant(case, claimed);
    assert_eq!(mechanism.cutoff, Some(1), "one value at most");
    let (points, noise) = threshold_noise(&mechanism);
    let of = |input: &[f64]| {
        let mut joint = noise.clone();
        let mut found = Vec::new();
        for query in input {
            let mut so_far = 0.0;
            for (z, joint) in points.iter().zip(&joint) {
                // The value is at the point: half of the step lies below it.
                let density =
                    laplace_density(threshold + z - query, mechanism.answer_scale) / STEPS;
                found.push((so_far + 0.5 * joint) * density);
                so_far += joint;
            }
            for (z, joint) in points.iter().zip(&mut joint) {
                *joint *= laplace_cdf(threshold + z - query, mechanism.answer_scale);
            }
        }
        found.push(joint.iter().sum());
        found
    };
    let [a, b] = case.inputs.map(of);
    a.into_iter().zip(b).collect()
}

fn noisy_max(case: &Case, claimed: f64, returns: Returns) -> Outcomes {
    let scale = 2.0 / claimed;
    let of = |input: &[f64]| {
        let wins = |index: usize, x: f64| {
            let others = input
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != index);
            let below = others.map(|(_, answer)| laplace_cdf(x - answer, scale));
            laplace_density(x - input[index], scale) * below.product::<f64>() / STEPS
        };
        let indices = 0..input.len();
        let points = grid(30.0 * scale);
        match returns {
            Returns::Index => indices
                .map(|index| points.clone().map(|x| wins(index, x)).sum())
                .collect(),
            Returns::Value => points
                .map(|x| indices.clone().map(|index| wins(index, x)).sum())
                .collect(),
            Returns::Both => indices
                .flat_map(|index| points.clone().map(move |x| (index, x)))
                .map(|(index, x)| wins(index, x))
                .collect::<Vec<f64>>(),
        }
    };
    let [a, b] = case.inputs.map(of);
    a.into_iter().zip(b).collect()
}
