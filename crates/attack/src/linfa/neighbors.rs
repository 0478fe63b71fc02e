//! Indexes of linfa-nn for the neighbor attack.

use std::sync::Arc;

use linfa_nn::distance::{L1Dist, L2Dist, LInfDist};
use linfa_nn::{NearestNeighbour, NearestNeighbourIndex};
use ndarray::{Array2, aview1};
use self_cell::self_cell;

use crate::attack::{Attack, AttackError, FittedAttack};
use crate::scorer::neighbors::{BuildIndex, FindNearest};
use crate::scorer::{
    KNearest, Metric, Neighbors, Parameter, Parameters, Rank, Scorer, TransformKind,
};
use leakgauge_log::observations::{Counts, Observations};

/// The attack by the k-th nearest neighbor of each secret, with any index of linfa-nn in place of the
/// built-in ones. An exact index gives the scores of the built-in attack `knn` with the same rank and distance,
/// but on a single column, where that spreads rows between rounded values.
///
/// # Conditions
/// Several attacks with different ranks compete on the tuning rows like any attacks. `BallTree` of linfa-nn 0.8
/// overflows the stack where many points are equal; equal observations are given to the index once, but choose
/// it only for columns that do not tie.
///
/// ```
/// use leakgauge_attack::linfa::NeighborAttack;
/// use leakgauge_attack::scorer::{Metric, Rank};
/// use linfa_nn::KdTree;
///
/// let attack = NeighborAttack::new("k-d tree", KdTree)
///     .metric(Metric::Manhattan)
///     .rank(Rank::Fixed(5));
/// # let _ = attack;
/// ```
pub struct NeighborAttack {
    name: String,
    index: Arc<dyn BuildIndex>,
    metric: Metric,
    transform: TransformKind,
    rank: Rank,
}

impl NeighborAttack {
    /// Euclidean distance of scaled columns, k = √n for n training rows of a secret.
    pub fn new(name: impl Into<String>, index: impl NearestNeighbour + 'static) -> Self {
        NeighborAttack {
            name: name.into(),
            index: Arc::new(Linfa(index)),
            metric: Metric::Euclidean,
            transform: TransformKind::Scaled,
            rank: Rank::RootTimes(1.0),
        }
    }

    /// With another distance of numbers.
    #[must_use]
    pub fn metric(self, metric: Metric) -> Self {
        NeighborAttack { metric, ..self }
    }

    /// With another preparation of the numeric columns.
    #[must_use]
    pub fn transform(self, transform: TransformKind) -> Self {
        NeighborAttack { transform, ..self }
    }

    /// With another number of neighbors.
    #[must_use]
    pub fn rank(self, rank: Rank) -> Self {
        NeighborAttack { rank, ..self }
    }

    fn k_nearest(&self, observations: &Observations, fit: &Counts) -> Result<KNearest, String> {
        let neighbors = Neighbors::fit_with_index(
            observations,
            fit,
            self.metric,
            self.transform,
            self.index.clone(),
        )?;
        let dimension = neighbors.dimensions() as f64;
        let name = self.name.clone();
        Ok(KNearest::new(name, neighbors.into(), self.rank, dimension))
    }
}

impl Attack for NeighborAttack {
    fn name(&self) -> &str {
        &self.name
    }

    fn parameters(&self) -> Parameters {
        let words = [
            ("index", self.index.name()),
            ("k", self.rank.to_string()),
            ("distance", self.metric.name().to_owned()),
            ("columns", self.transform.name().to_owned()),
        ];
        words
            .map(|(name, word)| (name.to_owned(), Parameter::Word(word.into())))
            .into()
    }

    fn fit(
        &self,
        observations: &Observations,
        fit: &Counts,
    ) -> Result<Box<dyn FittedAttack>, AttackError> {
        let fitted = self.k_nearest(observations, fit)?;
        Ok(Box::new(
            move |observations: &Observations, ids: &[u32], scores: &mut [f64]| {
                fitted.score(observations, ids, scores);
            },
        ))
    }
}

/// An algorithm of linfa-nn.
struct Linfa<N>(N);

type Built<'a> = Box<dyn 'a + Send + Sync + NearestNeighbourIndex<f64>>;

self_cell! {
    /// An index with the points that it borrows.
    struct Indexed {
        owner: Array2<f64>,
        #[covariant]
        dependent: Built,
    }
}

impl<N: NearestNeighbour> BuildIndex for Linfa<N> {
    fn name(&self) -> String {
        format!("{:?}", self.0)
    }

    fn build(
        &self,
        points: Vec<f64>,
        d: usize,
        metric: Metric,
    ) -> Result<Box<dyn FindNearest>, String> {
        let points = Array2::from_shape_vec((points.len() / d, d), points)
            .map_err(|error| error.to_string())?;
        let indexed = Indexed::try_new(points, |points| match metric {
            Metric::Euclidean => self.0.from_batch(points, L2Dist).map_err(|e| e.to_string()),
            Metric::Manhattan => self.0.from_batch(points, L1Dist).map_err(|e| e.to_string()),
            Metric::Chebyshev => self
                .0
                .from_batch(points, LInfDist)
                .map_err(|e| e.to_string()),
            Metric::Hamming => Err("an index of linfa-nn measures distances of numbers".to_owned()),
        })?;
        Ok(Box::new(indexed))
    }
}

impl FindNearest for Indexed {
    fn nearest(&self, x: &[f64], k: usize) -> Vec<usize> {
        let found = self.borrow_dependent().k_nearest(aview1(x), k);
        // The dimensions are equal, the only condition there is.
        found.map_or_else(
            |_| Vec::new(),
            |found| found.into_iter().map(|(_, place)| place).collect(),
        )
    }
}
