//! Generated points with labels of three granularities, as in Figure 1 of the paper.

use libm::{cos, sin};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

use leakgauge_permute::Randomness;

/// Generated points and their labels.
#[derive(Debug, Clone, PartialEq)]
pub struct Crescents {
    /// The points in the plane.
    pub points: Vec<[f64; 2]>,
    /// 4 × cluster + 2 × crescent + half: integer division by 4, 2 and 1 gives 2, 4 and 8 classes.
    pub labels: Vec<u8>,
}

/// Two clusters of two interlocked crescents, each with a light and a dark half.
pub fn crescents(n: usize, randomness: &mut Randomness) -> Crescents {
    const NOISE: f64 = 0.08;
    const CLUSTERS_APART: f64 = 4.5;
    let mut made = Crescents {
        points: Vec::with_capacity(n),
        labels: Vec::with_capacity(n),
    };
    for _ in 0..n {
        let label = randomness.random_range(0..8u8);
        let [cluster, crescent, half] = [label / 4, label / 2 % 2, label % 2].map(f64::from);
        let angle = std::f64::consts::FRAC_PI_2 * (half + randomness.random::<f64>());
        let (x, y) = if crescent == 0.0 {
            (cos(angle), sin(angle))
        } else {
            (1.0 - cos(angle), 0.4 - sin(angle))
        };
        let mut noise = || -> f64 {
            let z: f64 = StandardNormal.sample(randomness);
            NOISE * z
        };
        made.points
            .push([x + CLUSTERS_APART * cluster + noise(), y + noise()]);
        made.labels.push(label);
    }
    made
}
