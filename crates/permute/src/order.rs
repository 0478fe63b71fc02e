//! Reference orders σ₀. A good one puts the rows of each group close together, which keeps the sensitivity small.

use leakgauge_base::parallel;
use serde::Serialize;

use super::graph::{Graph, Walk};
use super::groups::Groups;
use super::near::Near;
use super::points::Points;
use super::sensitivity::{Spread, spread};
use leakgauge_base::error::{Error, Result};

/// The heuristic that found an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum OrderName {
    /// Breadth first from the row with the largest group, as in the paper.
    BreadthFirst,
    /// Reverse Cuthill–McKee: breadth first from a peripheral row, rows with few neighbors first, then
    /// reversed.
    ReverseCuthillMckee,
    /// By the distance to one end of the graph minus the distance to the other, averaged over neighbors several
    /// times. The averaging is a few steps of power iteration towards the Fiedler vector.
    TwoEnded,
    /// By the coordinate with the largest range.
    Sweep,
    /// Given by the caller.
    Given,
}

/// Which order to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OrderChoice {
    /// The order with the smallest sensitivity Δ, so that θ = α/Δ moves values least; among ties, and for Hamming
    /// distance, the one with the smallest width.
    #[default]
    Best,
    /// The order with the smallest width; among ties, the one with the smallest Kendall sensitivity.
    Narrowest,
    /// This one.
    Named(OrderName),
}

/// An order of the rows, and how far apart it puts the members of a group.
#[derive(Debug, Clone)]
pub struct Order {
    /// How it was found.
    pub name: OrderName,
    /// The rows from 0, in order; empty in lists of candidates.
    pub rows: Vec<u32>,
    /// The width of the widest group: the difference between the positions of its first and last member.
    pub width: u64,
    /// The largest Kendall sensitivity of a group.
    pub kendall: u64,
}

/// The number of averaging steps of the two-ended order.
const AVERAGES: usize = 12;

/// All candidate orders, or the named one. [`OrderName::Sweep`] needs points and is left out without them.
///
/// # References
/// E. Cuthill, J. McKee, *Reducing the bandwidth of sparse symmetric matrices*, 1969,
/// doi:10.1145/800195.805928. N. E. Gibbs, W. G. Poole, P. K. Stockmeyer, *An algorithm for reducing the
/// bandwidth and profile of a sparse matrix*, 1976, doi:10.1137/0713023, for the ends of a graph and for
/// using distances from both.
pub fn orders(groups: &Groups, points: Option<&Points>, choice: OrderChoice) -> Vec<Order> {
    let wanted = |name| match choice {
        OrderChoice::Best | OrderChoice::Narrowest => true,
        OrderChoice::Named(one) => one == name,
    };
    let graph = Graph::new(groups);
    let mut found = Vec::new();
    let mut add = |name, rows: Vec<u32>| {
        let Spread { width, kendall } = spread(groups, &rows);
        found.push(Order {
            name,
            rows,
            width,
            kendall,
        });
    };
    if wanted(OrderName::BreadthFirst) {
        add(OrderName::BreadthFirst, breadth_first(groups, &graph));
    }
    if wanted(OrderName::ReverseCuthillMckee) || wanted(OrderName::TwoEnded) {
        let mut ends = ends(&graph);
        if let Some(points) = points {
            put_near_components_together(&mut ends, points);
        }
        if wanted(OrderName::ReverseCuthillMckee) {
            let rows = reverse_cuthill_mckee(&graph, &ends);
            add(OrderName::ReverseCuthillMckee, rows);
        }
        if wanted(OrderName::TwoEnded) {
            add(OrderName::TwoEnded, two_ended(groups, &graph, &ends));
        }
    }
    if let Some(points) = points.filter(|_| wanted(OrderName::Sweep)) {
        add(OrderName::Sweep, sweep(points));
    }
    found
}

/// An order that the caller gives, as the only candidate.
///
/// # Errors
/// It does not list every row once.
pub(super) fn given(groups: &Groups, rows: Vec<u32>) -> Result<Order> {
    let mut seen = vec![false; groups.rows()];
    let fits = |row: &u32| {
        seen.get_mut(*row as usize)
            .is_some_and(|seen| !std::mem::replace(seen, true))
    };
    if rows.len() != groups.rows() || !rows.iter().all(fits) {
        return Err(Error::option(
            "order_file",
            format!("must list each of the {} rows once", groups.rows()),
        ));
    }
    let Spread { width, kendall } = spread(groups, &rows);
    Ok(Order {
        name: OrderName::Given,
        rows,
        width,
        kendall,
    })
}

/// As in the paper: starts at the row with the largest group and visits neighbors in ascending order. When no
/// unvisited row is reachable, continues at the largest group left.
fn breadth_first(groups: &Groups, graph: &Graph<'_>) -> Vec<u32> {
    let mut size = vec![0u32; groups.rows()];
    for group in 0..groups.len() {
        let members = groups.members(group);
        match &groups.of_row {
            Some(_) => {}
            None => members.iter().for_each(|row| {
                size[*row as usize] = size[*row as usize].max(members.len() as u32)
            }),
        }
    }
    if let Some(of_row) = &groups.of_row {
        for (row, group) in of_row.iter().enumerate() {
            size[row] = groups.members(*group as usize).len() as u32;
        }
    }
    let mut starts: Vec<u32> = (0..groups.rows() as u32).collect();
    starts.sort_by_key(|row| std::cmp::Reverse(size[*row as usize]));
    let mut walk = Walk::new(graph);
    walk.restart();
    let mut order = Vec::with_capacity(starts.len());
    for start in starts {
        if !walk.has_seen(start) {
            walk.from(start, &mut order, <[u32]>::sort_unstable);
        }
    }
    order
}

/// Two rows of a connected component that are nearly as far apart as any two, and its number of rows.
struct Ends {
    ends: [u32; 2],
    rows: usize,
}

/// Finds the ends of each component: moves to a farthest row with few neighbors until the distance stops growing.
fn ends(graph: &Graph<'_>) -> Vec<Ends> {
    const MAX_WALKS: usize = 8;
    let mut done = vec![false; graph.rows()];
    let mut walk = Walk::new(graph);
    let mut order = Vec::new();
    let mut found = Vec::new();
    for first in 0..graph.rows() as u32 {
        if done[first as usize] {
            continue;
        }
        let mut ends = [first, first];
        let mut depth = 0;
        for _ in 0..MAX_WALKS {
            walk.restart();
            order.clear();
            let levels = walk.from(ends[1], &mut order, |_| {});
            if levels.len() <= depth {
                break;
            }
            depth = levels.len();
            let last = &order[levels[levels.len() - 1]..];
            let end = last.iter().min_by_key(|row| (graph.degree(**row), **row));
            ends = [ends[1], end.copied().unwrap_or(first)];
        }
        order.iter().for_each(|row| done[*row as usize] = true);
        found.push(Ends {
            ends,
            rows: order.len(),
        });
    }
    found
}

/// Sorts components in the order of a k-d tree of their ends. This changes no width, but a value that leaves
/// its component then lands in a nearby one.
fn put_near_components_together(ends: &mut Vec<Ends>, points: &Points) {
    let d = points.dimension();
    let at_ends: Vec<f64> = ends
        .iter()
        .flat_map(|component| points.get(component.ends[0] as usize))
        .copied()
        .collect();
    let tree = Near::new(&at_ends, d);
    let mut sorted: Vec<Option<Ends>> = ends.drain(..).map(Some).collect();
    let in_order = tree.numbers().iter();
    ends.extend(in_order.filter_map(|component| sorted[*component].take()));
}

fn reverse_cuthill_mckee(graph: &Graph<'_>, ends: &[Ends]) -> Vec<u32> {
    let mut walk = Walk::new(graph);
    walk.restart();
    let mut order = Vec::with_capacity(graph.rows());
    for component in ends {
        walk.from(component.ends[1], &mut order, |new| {
            new.sort_by_cached_key(|row| (graph.degree(*row), *row));
        });
    }
    order.reverse();
    order
}

fn two_ended(groups: &Groups, graph: &Graph<'_>, ends: &[Ends]) -> Vec<u32> {
    let mut walk = Walk::new(graph);
    let mut place = vec![0.0f64; graph.rows()];
    let mut order = Vec::with_capacity(graph.rows());
    for (end, sign) in [(0, 1.0), (1, -1.0)] {
        walk.restart();
        order.clear();
        for component in ends {
            let from = order.len();
            let levels = walk.from(component.ends[end], &mut order, |_| {});
            debug_assert_eq!(order.len() - from, component.rows);
            for (level, start) in levels.iter().enumerate() {
                let stop = levels.get(level + 1).copied().unwrap_or(order.len());
                for row in &order[*start..stop] {
                    place[*row as usize] += sign * level as f64;
                }
            }
        }
    }
    for _ in 0..AVERAGES {
        average(groups, &mut place);
    }
    let mut from = 0;
    for component in ends {
        let rows = &mut order[from..from + component.rows];
        rows.sort_unstable_by(|a, b| {
            let (x, y) = (place[*a as usize], place[*b as usize]);
            x.total_cmp(&y).then(a.cmp(b))
        });
        from += component.rows;
    }
    order
}

/// Moves every row to the mean position of the groups that it belongs to.
fn average(groups: &Groups, place: &mut [f64]) {
    let at: &[f64] = place;
    let means: Vec<f64> = parallel::map(groups.len(), |group| {
        let members = groups.members(group);
        let sum = members.iter().fold(0.0, |sum, row| sum + at[*row as usize]);
        sum / members.len() as f64
    });
    if let Some(of_row) = &groups.of_row {
        for (place, group) in place.iter_mut().zip(of_row) {
            *place = means[*group as usize];
        }
        return;
    }
    let mut sums = vec![(0.0, 0u32); place.len()];
    for (group, mean) in means.iter().enumerate() {
        for row in groups.members(group) {
            let (sum, count) = &mut sums[*row as usize];
            *sum += mean;
            *count += 1;
        }
    }
    for (place, (sum, count)) in place.iter_mut().zip(sums) {
        if count > 0 {
            *place = sum / f64::from(count);
        }
    }
}

fn sweep(points: &Points) -> Vec<u32> {
    let column = points.longest();
    let mut order: Vec<u32> = (0..points.len() as u32).collect();
    order.sort_unstable_by(|&a, &b| {
        let (x, y) = (
            points.get(a as usize)[column],
            points.get(b as usize)[column],
        );
        x.total_cmp(&y).then(a.cmp(&b))
    });
    order
}
