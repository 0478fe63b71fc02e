//! Numeric columns, arranged for the search of neighbors: an index a secret within each categorical part.

use std::collections::BTreeMap;

use crate::scorer::transform::Transform;
use leakgauge_log::observations::{Counts, Observations};
use leakgauge_neighbors::{Brute, Metric, Points, Tree, pays};

use super::plugged::{BuildIndex, Plugged};
use super::sorted::Sorted;

/// The fit rows of all secrets by their numbers.
pub(super) struct Numbers {
    pub(super) transform: Transform,
    /// One per categorical part.
    pub(super) groups: Vec<Group>,
}

pub(super) struct Group {
    pub(super) index: Index,
    /// Fit rows of each secret in this group.
    pub(super) rows: Vec<usize>,
}

pub(super) enum Index {
    /// One dimension.
    Sorted(Sorted),
    /// Low intrinsic dimension.
    Trees(Vec<Tree>),
    /// Anything else.
    Brute(Vec<Brute>),
    /// An index from outside for each secret with rows.
    Plugged(Vec<Option<Plugged>>),
    /// No fit row.
    Empty,
}

impl Numbers {
    pub(super) fn fit(
        observations: &Observations,
        fit: &Counts,
        metric: Metric,
        transform: Transform,
        plugged: Option<&dyn BuildIndex>,
    ) -> Result<Self, String> {
        let mut points =
            vec![vec![Points::default(); fit.secrets()]; observations.category_count()];
        let mut point = Vec::new();
        for cells in fit.by_symbol() {
            let symbol = cells[0].symbol;
            transform.apply(observations.numbers(symbol), &mut point);
            let group = &mut points[observations.category(symbol) as usize];
            for cell in cells {
                group[cell.secret as usize].push(&point, cell.count);
            }
        }
        let groups = points
            .iter()
            .map(|points| {
                Ok(Group {
                    rows: points.iter().map(Points::rows).collect(),
                    index: match plugged {
                        Some(builder) => plug(builder, points, transform.dimensions(), metric)?,
                        None => build(points, transform.dimensions(), metric),
                    },
                })
            })
            .collect::<Result<_, String>>()?;
        Ok(Numbers { transform, groups })
    }

    /// Observations by category: the group, their places in `ids`, their points row-major.
    pub(super) fn by_group(
        &self,
        observations: &Observations,
        ids: &[u32],
    ) -> impl Iterator<Item = (&Group, Vec<usize>, Vec<f64>)> {
        let mut by_group: BTreeMap<u32, (Vec<usize>, Vec<f64>)> = BTreeMap::new();
        let mut point = Vec::new();
        for (row, &symbol) in ids.iter().enumerate() {
            let (rows, queries) = by_group.entry(observations.category(symbol)).or_default();
            self.transform
                .apply(observations.numbers(symbol), &mut point);
            rows.push(row);
            queries.extend_from_slice(&point);
        }
        by_group
            .into_iter()
            .map(|(group, (rows, queries))| (&self.groups[group as usize], rows, queries))
    }
}

impl Group {
    /// Calls `found(query, keys)` for every row-major query: the keys of the k nearest rows of a
    /// secret, ascending, none if it has no rows.
    pub(super) fn search(
        &self,
        secret: usize,
        queries: &[f64],
        d: usize,
        k: usize,
        found: &mut dyn FnMut(usize, &[f64]),
    ) {
        if self.rows[secret] == 0 {
            (0..queries.len() / d.max(1)).for_each(|query| found(query, &[]));
            return;
        }
        match &self.index {
            Index::Sorted(sorted) => sorted.keys(secret, queries, k, found),
            Index::Trees(trees) => trees[secret].search(queries, k, found),
            Index::Brute(secrets) => secrets[secret].search(queries, k, found),
            Index::Plugged(secrets) => secrets[secret]
                .as_ref()
                .expect("a secret with rows has an index")
                .search(queries, k, found),
            Index::Empty => unreachable!("a group without rows has no secret with rows"),
        }
    }
}

/// A visited point of a tree costs about as much as so many of a straight pass, which is filtered if
/// the distance is Euclidean.
///
/// Measured at the largest k that attacks try, on 1,000 to 100,000 normal points in 2 to 10 dimensions: 4 to 8 on one
/// processor with 512-bit vectors and about 8 on another. At such k, sorting the nearest takes much of the time of both
/// ways; at small k a tree gains more.
pub(super) fn tree_cost(metric: Metric) -> usize {
    if metric == Metric::Euclidean { 5 } else { 4 }
}

fn build(points: &[Points], d: usize, metric: Metric) -> Index {
    if points.iter().all(|points| points.counts.is_empty()) {
        return Index::Empty;
    }
    if d == 1 {
        let counted = |points: &Points| {
            let values = points.numbers.iter().copied();
            values
                .zip(points.counts.iter().map(|&count| count as usize))
                .collect()
        };
        return Index::Sorted(Sorted::new(metric, points.iter().map(counted)));
    }
    let trees: Vec<Tree> = points
        .iter()
        .map(|points| Tree::new(points, d, metric))
        .collect();
    if pays(&trees, points, d, tree_cost(metric)) {
        Index::Trees(trees)
    } else {
        let arranged = points.iter().map(|points| Brute::new(points, d, metric));
        Index::Brute(arranged.collect())
    }
}

/// The points of every secret that has some, in an index from outside.
fn plug(
    builder: &dyn BuildIndex,
    points: &[Points],
    d: usize,
    metric: Metric,
) -> Result<Index, String> {
    let arranged = points.iter().map(|points| {
        let filled = !points.counts.is_empty();
        filled
            .then(|| Plugged::new(builder, points, d, metric))
            .transpose()
    });
    Ok(Index::Plugged(arranged.collect::<Result<_, _>>()?))
}

/// Places of numbers in ascending order.
pub(super) fn ascending_order(numbers: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    if !numbers.is_sorted() {
        order.sort_by(|&a, &b| numbers[a].total_cmp(&numbers[b]));
    }
    order
}
