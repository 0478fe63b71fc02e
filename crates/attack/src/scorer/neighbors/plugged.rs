//! Indexes from outside.

use leakgauge_neighbors::{Metric, Points, smallest};

/// An algorithm that arranges points for finding the nearest.
pub trait BuildIndex: Send + Sync {
    /// Its name, for the report.
    fn name(&self) -> String;

    /// Arranges row-major points, at least one, of `d` coordinates.
    ///
    /// # Errors
    /// Why it cannot.
    fn build(
        &self,
        points: Vec<f64>,
        d: usize,
        metric: Metric,
    ) -> Result<Box<dyn FindNearest>, String>;
}

/// Arranged points.
pub trait FindNearest: Send + Sync {
    /// The row numbers of the k nearest points to one, all points if there are fewer.
    fn nearest(&self, x: &[f64], k: usize) -> Vec<usize>;
}

/// The points of one secret in an index from outside.
pub(super) struct Plugged {
    d: usize,
    metric: Metric,
    points: Points,
    index: Box<dyn FindNearest>,
}

impl Plugged {
    /// Arranges distinct points.
    pub fn new(
        builder: &dyn BuildIndex,
        points: &Points,
        d: usize,
        metric: Metric,
    ) -> Result<Self, String> {
        Ok(Plugged {
            d,
            metric,
            index: builder.build(points.numbers.clone(), d, metric)?,
            points: points.clone(),
        })
    }

    /// The keys of the nearest of row-major queries; see `Group::search`.
    pub fn search(&self, queries: &[f64], k: usize, found: &mut dyn FnMut(usize, &[f64])) {
        let (mut keys, mut sorted) = (Vec::new(), Vec::new());
        for (query, x) in queries.chunks_exact(self.d).enumerate() {
            // A point can stand for several rows, so that k points have k rows at least.
            let places = self.index.nearest(x, k).into_iter();
            keys.clear();
            keys.extend(places.map(|place| (self.key(x, place), self.points.counts[place])));
            smallest(&mut keys, k, &mut sorted);
            found(query, &sorted);
        }
    }

    fn key(&self, x: &[f64], place: usize) -> f64 {
        let point = &self.points.numbers[place * self.d..(place + 1) * self.d];
        self.metric.key(x, point)
    }
}
