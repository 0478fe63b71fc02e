//! Learning local distributions from shuffled values with calibrated boosted trees.

use leakgauge_base::parallel;
use libm::{exp, log};
use rafor::dt::Regressor;
use rafor::prelude::*;

/// The parameters of boosting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Boosting {
    /// The number of trees per class.
    pub trees: usize,
    /// The depth of the trees.
    pub depth: usize,
    /// The smallest number of rows in a leaf.
    pub leaf: usize,
}

impl Default for Boosting {
    fn default() -> Self {
        Boosting {
            trees: 40,
            depth: 4,
            leaf: 20,
        }
    }
}

/// Gradient-boosted regression trees for the log-odds of each class against all others, calibrated by
/// Platt scaling on held-out rows (every third), normalized over the classes.
///
/// # References
/// J. H. Friedman, *Greedy function approximation*, 2001, doi:10.1214/aos/1013203451. J. Platt,
/// *Probabilistic outputs for support vector machines*, 1999.
pub struct Classifier {
    /// One model per class, or one for two classes.
    odds: Vec<Odds>,
}

struct Odds {
    start: f64,
    trees: Vec<Regressor>,
    /// Of Platt scaling.
    slope: f64,
    offset: f64,
}

/// The step along the mean residual of a leaf; 4 would be a full Newton step at probability 1/2.
const STEP: f64 = 0.8;

impl Classifier {
    /// Trains on rows of `d` features.
    pub fn fit(features: &[f32], d: usize, labels: &[u8], classes: u8, boosting: Boosting) -> Self {
        let models = if classes == 2 { 1 } else { classes };
        let odds = parallel::map(usize::from(models), |class| {
            let class = if classes == 2 { 1 } else { class as u8 };
            Odds::fit(features, d, labels, class, boosting)
        });
        Classifier { odds }
    }

    /// The distribution over the classes for each row.
    pub fn predict(&self, features: &[f32], d: usize) -> Vec<Vec<f64>> {
        let of_class: Vec<Vec<f64>> = parallel::map(self.odds.len(), |class| {
            self.odds[class].predict(features, d)
        });
        (0..features.len() / d)
            .map(|row| match &of_class[..] {
                [one] => vec![1.0 - one[row], one[row]],
                all => {
                    let total: f64 = all.iter().map(|p| p[row]).sum();
                    all.iter().map(|p| p[row] / total).collect()
                }
            })
            .collect()
    }
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + exp(-x))
}

impl Odds {
    fn fit(features: &[f32], d: usize, labels: &[u8], class: u8, boosting: Boosting) -> Odds {
        let rows = |kept: bool| -> (Vec<f32>, Vec<f64>) {
            let chosen = || (0..labels.len()).filter(move |row| (row % 3 == 2) == kept);
            let points = chosen().flat_map(|row| features[row * d..(row + 1) * d].iter().copied());
            let targets = chosen().map(|row| f64::from(u8::from(labels[row] == class)));
            (points.collect(), targets.collect())
        };
        let (points, targets) = rows(false);
        let n = targets.len() as f64;
        let positive = targets.iter().sum::<f64>();
        let start = log((positive + 0.5) / (n - positive + 0.5));
        let mut at = vec![start; targets.len()];
        let mut trees = Vec::with_capacity(boosting.trees);
        for _ in 0..boosting.trees {
            let residuals: Vec<f32> = targets
                .iter()
                .zip(&at)
                .map(|(y, x)| (y - logistic(*x)) as f32)
                .collect();
            let mut trainer = Regressor::trainer();
            trainer
                .with_max_depth(boosting.depth)
                .with_min_samples_leaf(boosting.leaf);
            let tree: Regressor = trainer.train(&points, &residuals);
            for (x, step) in at.iter_mut().zip(tree.predict_batch(&points)) {
                *x += STEP * f64::from(step);
            }
            trees.push(tree);
        }
        let mut odds = Odds {
            start,
            trees,
            slope: 1.0,
            offset: 0.0,
        };
        let (points, targets) = rows(true);
        if !targets.is_empty() {
            (odds.slope, odds.offset) = platt(&odds.raw(&points, d), &targets);
        }
        odds
    }

    fn raw(&self, points: &[f32], d: usize) -> Vec<f64> {
        let mut at = vec![self.start; points.len() / d];
        for tree in &self.trees {
            for (x, step) in at.iter_mut().zip(tree.predict_batch(points)) {
                *x += STEP * f64::from(step);
            }
        }
        at
    }

    fn predict(&self, points: &[f32], d: usize) -> Vec<f64> {
        let raw = self.raw(points, d);
        raw.iter()
            .map(|x| logistic(self.slope * x + self.offset))
            .collect()
    }
}

/// Slope and offset of a logistic regression on one number, by Newton's method, with slight shrinkage
/// towards 1 and 0 to keep them finite.
fn platt(x: &[f64], y: &[f64]) -> (f64, f64) {
    const SHRINKAGE: f64 = 1e-3;
    let (mut a, mut b) = (1.0, 0.0);
    for _ in 0..50 {
        let (mut ga, mut gb) = (SHRINKAGE * (1.0 - a), -SHRINKAGE * b);
        let (mut haa, mut hab, mut hbb) = (SHRINKAGE, 0.0, SHRINKAGE);
        for (x, y) in x.iter().zip(y) {
            let p = logistic(a * x + b);
            let weight = p * (1.0 - p);
            ga += (y - p) * x;
            gb += y - p;
            haa += weight * x * x;
            hab += weight * x;
            hbb += weight;
        }
        let determinant = haa * hbb - hab * hab;
        if determinant <= 0.0 {
            break;
        }
        let (da, db) = (
            (hbb * ga - hab * gb) / determinant,
            (haa * gb - hab * ga) / determinant,
        );
        // Steps that are too long diverge.
        let length = da.abs().max(db.abs());
        let scale = if length > 2.0 { 2.0 / length } else { 1.0 };
        (a, b) = (a + scale * da, b + scale * db);
        if length < 1e-9 {
            break;
        }
    }
    (a, b)
}

/// The mean total variation between predicted and true local distributions.
pub fn total_variation_error(predicted: &[Vec<f64>], truth: &[Vec<f64>]) -> f64 {
    let distance = |(p, q): (&Vec<f64>, &Vec<f64>)| -> f64 {
        let sum: f64 = p.iter().zip(q).map(|(a, b)| (a - b).abs()).sum();
        0.5 * sum
    };
    predicted.iter().zip(truth).map(distance).sum::<f64>() / truth.len().max(1) as f64
}

/// The error of the uniform distribution as prediction, the normalization of λ.
pub fn error_of_uniform(truth: &[Vec<f64>]) -> f64 {
    let uniform: Vec<Vec<f64>> = truth
        .iter()
        .map(|q| vec![1.0 / q.len() as f64; q.len()])
        .collect();
    total_variation_error(&uniform, truth)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// P(1 | x) = 0.1 + 0.8x on 6000 rows: predictions are within a few per cent of it on average.
    #[test]
    fn predictions_are_calibrated() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let x: Vec<f32> = (0..6000).map(|_| rng.random::<f32>()).collect();
        let p = |x: f32| 0.1 + 0.8 * f64::from(x);
        let labels: Vec<u8> = x
            .iter()
            .map(|x| u8::from(rng.random::<f64>() < p(*x)))
            .collect();
        let model = Classifier::fit(
            &x,
            1,
            &labels,
            2,
            Boosting {
                trees: 20,
                ..Boosting::default()
            },
        );
        let queries: Vec<f32> = (0..100).map(|i| i as f32 / 100.0).collect();
        let predicted = model.predict(&queries, 1);
        let truth: Vec<Vec<f64>> = queries.iter().map(|x| vec![1.0 - p(*x), p(*x)]).collect();
        let error = total_variation_error(&predicted, &truth);
        assert!(error < 0.04, "{error}");
        assert!((error_of_uniform(&truth) - 0.2).abs() < 0.01);
    }

    #[test]
    fn three_classes_are_told_apart() {
        let x: Vec<f32> = (0..900).map(|i| (i % 300) as f32 / 100.0).collect();
        let labels: Vec<u8> = x.iter().map(|x| *x as u8).collect();
        let model = Classifier::fit(
            &x,
            1,
            &labels,
            3,
            Boosting {
                trees: 20,
                ..Boosting::default()
            },
        );
        for (row, predicted) in model.predict(&[0.5, 1.5, 2.5], 1).iter().enumerate() {
            assert!(predicted[row] > 0.9, "{predicted:?}");
            assert!((predicted.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }
}
