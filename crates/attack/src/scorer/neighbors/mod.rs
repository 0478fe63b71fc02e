//! The distance to the k-th nearest fit row of **each** secret, so that one pass serves all pairs.
//!
//! # Formula
//! score_s(x) = ln(k_s/n_s) − d·ln r_s(x): r_s is the distance from x to the k_s-th nearest of the n_s
//! fit rows of s, d the intrinsic dimension estimated on the tune rows. Up to a constant this is the
//! logarithm of the k-nearest-neighbor density estimate (Loftsgaarden and Quesenberry 1965,
//! doi:10.1214/aoms/1177700079).
//!
//! r is the mean distance to the k nearest (root mean square if Euclidean), which breaks ties in the
//! k-th. Observations with a categorical part are compared within it: the neighbors of x are the rows
//! of s with the same labels. Where s has none, r is taken a million times the spread of the data.
//! Where all k neighbors coincide with x, the number of rows that do decides.
//!
//! The Hamming distance counts the columns that differ, labels among them, and compares all rows. Columns
//! whose values hardly recur among the fit rows differ anyway and are left out, if two others remain.
//! Nearly all of its distances tie, so the rows at each are spread evenly over half a column to
//! either side: the more rows are equally far, the nearer is the first of them.

mod codes;
mod exact;
mod hamming;
mod knearest;
mod nominal;
mod numbers;
mod plugged;
mod rank;
mod sorted;
mod vote;

use std::sync::Arc;

use crate::scorer::transform::{Transform, TransformKind};
use crate::scorer::{Kind, Parameter};
use leakgauge_log::observations::{Counts, Observations};

pub use exact::ExactNeighbors;
use hamming::Hamming;
pub use knearest::KNearest;
pub use leakgauge_neighbors::Metric;
pub use nominal::Search;
use numbers::{Group, Index, Numbers, ascending_order, tree_cost};
pub(crate) use plugged::{BuildIndex, FindNearest};
pub use rank::Rank;
pub use vote::Vote;

/// The fit rows, arranged for finding neighbors secret by secret.
pub struct Neighbors {
    metric: Metric,
    transform: TransformKind,
    fit: Counts,
    space: Space,
    /// What arranges the points, if it is not one of the indexes here.
    plugged: Option<Arc<dyn BuildIndex>>,
}

enum Space {
    /// Numeric columns, within each categorical part.
    Numbers(Numbers),
    /// All columns, equal or not.
    Codes(Hamming),
}

/// The logarithm of a distance that stands for "no neighbor at all", in scaled units of spread 1.
const LN_FAR: f64 = 14.0;
/// The logarithm of the smallest distance that is told from 0.
const LN_NEAR: f64 = -36.0;

impl Neighbors {
    /// ln r at or below which a distance counts as 0.
    pub const LN_ZERO: f64 = LN_NEAR;

    /// Arranges the fit rows: Euclidean distance of the scaled numeric columns.
    pub fn fit(observations: &Observations, fit: &Counts) -> Self {
        Self::fit_with(observations, fit, Metric::Euclidean, TransformKind::Scaled)
            .expect("scaling is always possible")
    }

    /// Arranges the fit rows. The transform is learned on them; the Hamming distance uses none.
    ///
    /// # Errors
    /// Why the transform cannot be learned; a distance of numbers and a log without any.
    pub fn fit_with(
        observations: &Observations,
        fit: &Counts,
        metric: Metric,
        transform: TransformKind,
    ) -> Result<Self, String> {
        Self::arrange(observations, fit, metric, transform, None)
    }

    /// The same with an index from outside.
    ///
    /// # Errors
    /// As for [`Neighbors::fit_with`]; the Hamming distance; what the index says.
    pub(crate) fn fit_with_index(
        observations: &Observations,
        fit: &Counts,
        metric: Metric,
        transform: TransformKind,
        index: Arc<dyn BuildIndex>,
    ) -> Result<Self, String> {
        if metric == Metric::Hamming {
            return Err("an index from outside measures distances of numbers".to_owned());
        }
        Self::arrange(observations, fit, metric, transform, Some(index))
    }

    fn arrange(
        observations: &Observations,
        fit: &Counts,
        metric: Metric,
        transform: TransformKind,
        plugged: Option<Arc<dyn BuildIndex>>,
    ) -> Result<Self, String> {
        let space = if metric == Metric::Hamming {
            let columns = hamming::columns(observations, fit);
            Space::Codes(Hamming::fit(observations, fit, columns))
        } else if observations.dimensions() == 0 {
            return Err("there is no numeric column to measure a distance in".to_owned());
        } else {
            let learned = Transform::fit(transform, observations, fit)?;
            Space::Numbers(Numbers::fit(
                observations,
                fit,
                metric,
                learned,
                plugged.as_deref(),
            )?)
        };
        Ok(Neighbors {
            metric,
            transform,
            fit: fit.clone(),
            space,
            plugged,
        })
    }

    /// The same metric, transform and, for the Hamming distance, columns for other fit rows.
    ///
    /// # Errors
    /// As for [`Neighbors::fit_with`].
    pub fn refit(&self, observations: &Observations, fit: &Counts) -> Result<Self, String> {
        match &self.space {
            Space::Numbers(_) => {
                let plugged = self.plugged.clone();
                Self::arrange(observations, fit, self.metric, self.transform, plugged)
            }
            Space::Codes(hamming) => Ok(Neighbors {
                metric: self.metric,
                transform: self.transform,
                fit: fit.clone(),
                space: Space::Codes(Hamming::fit(observations, fit, hamming.places())),
                plugged: None,
            }),
        }
    }

    /// The kind of the attacks that look for these neighbors.
    fn kind(&self) -> Kind {
        Kind::neighbors(self.metric, self.transform)
    }

    /// The distance.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// What a reader wants to know beside k.
    fn words(&self) -> impl Iterator<Item = (String, Parameter)> {
        let metric = (self.metric != Metric::Euclidean).then(|| self.metric.name());
        let usual = self.metric == Metric::Hamming || self.transform == TransformKind::Scaled;
        let space = (!usual).then(|| self.transform.name());
        let words = [("distance", metric), ("columns", space)].into_iter();
        words.filter_map(|(name, word)| Some((name.to_owned(), Parameter::Word(word?.into()))))
    }

    /// The distance in words, if it is not the usual one.
    fn description(&self) -> String {
        let words: Vec<String> = self.words().map(|(_, word)| word.to_string()).collect();
        if words.is_empty() {
            String::new()
        } else {
            format!(" ({})", words.join(", "))
        }
    }

    /// How numeric columns were prepared.
    pub fn transform(&self) -> TransformKind {
        self.transform
    }

    /// The number of columns that distances are measured in: numeric columns that vary among the fit
    /// rows, after the transform; recurring columns for the Hamming distance.
    pub fn dimensions(&self) -> usize {
        match &self.space {
            Space::Numbers(numbers) => numbers.transform.dimensions(),
            Space::Codes(hamming) => hamming.columns(),
        }
    }

    /// Which index serves, for the report: `sorted`, `tree`, `brute`, `codes`, or `plugged` for one from
    /// outside.
    pub fn index_name(&self) -> &'static str {
        let Space::Numbers(numbers) = &self.space else {
            return "codes";
        };
        let name = |group: &Group| match group.index {
            Index::Sorted(_) => Some("sorted"),
            Index::Trees(_) => Some("tree"),
            Index::Brute(_) => Some("brute"),
            Index::Plugged(_) => Some("plugged"),
            Index::Empty => None,
        };
        numbers.groups.iter().find_map(name).unwrap_or("none")
    }

    /// ln r for each observation, secret and rank: `out[j]` is row-major, observations × secrets.
    pub fn ln_distances(
        &self,
        observations: &Observations,
        ids: &[u32],
        ranks: &[Rank],
        out: &mut [&mut [f64]],
    ) {
        match &self.space {
            Space::Numbers(numbers) => {
                self.ln_distances_of_numbers(numbers, observations, ids, ranks, out);
            }
            Space::Codes(hamming) => {
                self.ln_distances_of_codes(hamming, observations, ids, ranks, out);
            }
        }
    }

    fn ln_distances_of_numbers(
        &self,
        numbers: &Numbers,
        observations: &Observations,
        ids: &[u32],
        ranks: &[Rank],
        out: &mut [&mut [f64]],
    ) {
        let secrets = self.fit.secrets();
        let d = numbers.transform.dimensions();
        for (group, rows, queries) in numbers.by_group(observations, ids) {
            let sorted = matches!(group.index, Index::Sorted(_));
            let order = if sorted {
                ascending_order(&queries)
            } else {
                Vec::new()
            };
            for secret in 0..secrets {
                let ks: Vec<usize> = ranks
                    .iter()
                    .map(|rank| rank.neighbors(group.rows[secret]))
                    .collect();
                let mut found = |query: usize, rank: usize, ln_distance: f64| {
                    let row = rows[query];
                    out[rank][row * secrets + secret] = if d > 1 && ln_distance <= LN_NEAR {
                        self.ln_coincident(ids[row], secret, ks[rank], d)
                    } else {
                        ln_distance
                    };
                };
                if let (Index::Sorted(sorted), 1..) = (&group.index, group.rows[secret]) {
                    sorted.search(secret, &queries, &order, &ks, &mut found);
                    continue;
                }
                let most = ks.iter().copied().max().unwrap_or(1);
                group.search(secret, &queries, d, most, &mut |query, keys| {
                    for (rank, &k) in ks.iter().enumerate() {
                        let ln_distance = match keys {
                            [] => LN_FAR,
                            keys => ln_mean(self.metric, &keys[..k.min(keys.len())]),
                        };
                        found(query, rank, ln_distance);
                    }
                });
            }
        }
    }

    fn ln_distances_of_codes(
        &self,
        hamming: &Hamming,
        observations: &Observations,
        ids: &[u32],
        ranks: &[Rank],
        out: &mut [&mut [f64]],
    ) {
        let queries = hamming.queries(observations, ids);
        for (secret, &rows) in self.fit.rows().iter().enumerate() {
            let at = |row: usize| row * self.fit.secrets() + secret;
            if rows == 0 {
                out.iter_mut()
                    .for_each(|out| (0..ids.len()).for_each(|row| out[at(row)] = LN_FAR));
                continue;
            }
            hamming.search(secret, &queries, &mut |query, histogram| {
                for (out, rank) in out.iter_mut().zip(ranks) {
                    let k = rank.neighbors(rows as usize);
                    out[at(query)] = hamming::ln_spread_mean(histogram, k);
                }
            });
        }
    }

    /// Calls `found(row, keys)` for each observation and one secret: the keys of its k nearest fit rows
    /// (see [`Metric::distance`]), ascending; fewer where there are fewer, none where there are none.
    fn nearest(
        &self,
        observations: &Observations,
        ids: &[u32],
        secret: usize,
        k: usize,
        found: &mut dyn FnMut(usize, &[f64]),
    ) {
        match &self.space {
            Space::Numbers(numbers) => {
                let d = numbers.transform.dimensions();
                for (group, rows, queries) in numbers.by_group(observations, ids) {
                    let k = k.min(group.rows[secret]).max(1);
                    group.search(secret, &queries, d, k, &mut |query, keys| {
                        found(rows[query], keys);
                    });
                }
            }
            Space::Codes(hamming) => {
                let queries = hamming.queries(observations, ids);
                let mut distances = Vec::with_capacity(k);
                hamming.search(secret, &queries, &mut |query, histogram| {
                    hamming::ascending(histogram, k, &mut distances);
                    found(query, &distances);
                });
            }
        }
    }

    /// ln r where all k neighbors are at distance 0: the more rows coincide, the smaller.
    fn ln_coincident(&self, symbol: u32, secret: usize, k: usize, d: usize) -> f64 {
        let cells = self.fit.cells();
        let at =
            cells.binary_search_by_key(&(symbol, secret as u32), |cell| (cell.symbol, cell.secret));
        let rows = at.map_or(k as f64, |at| cells[at].count as f64);
        LN_NEAR + (k as f64 / rows).ln().min(0.0) / d as f64
    }

    /// The fit rows of a secret that observations of a category are compared with.
    fn rows_compared(&self, category: u32, secret: usize) -> usize {
        match &self.space {
            Space::Numbers(numbers) => numbers.groups[category as usize].rows[secret],
            Space::Codes(_) => self.fit.rows()[secret] as usize,
        }
    }
}

/// The logarithm of a mean of ascending distances given as the metric's keys. Ties in the k-th distance, which rounded
/// data has everywhere, are broken by the nearer ones.
fn ln_mean(metric: Metric, ascending: &[f64]) -> f64 {
    let mean = ascending.iter().sum::<f64>() / ascending.len() as f64;
    let power = if metric == Metric::Euclidean {
        0.5
    } else {
        1.0
    };
    (power * mean.ln()).max(LN_NEAR)
}

#[cfg(test)]
mod tests;
