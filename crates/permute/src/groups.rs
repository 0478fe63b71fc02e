//! Groups of rows, built from public attributes of the rows.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use leakgauge_base::parallel;

use super::edges::Edges;
use super::lists::Lists;
use super::near::Near;
use super::points::Points;
use leakgauge_base::error::{Error, Result};

/// The largest number of rows of all distinct groups together (4 bytes each, so 1.2 GB).
pub const MAX_MEMBERSHIPS: usize = 300_000_000;

/// The number of rows in one parallel task.
const CHUNK: usize = 4096;

/// A group assignment: the distinct groups (lists of rows from 0), and which group belongs to which row.
#[derive(Debug, Clone)]
pub struct Groups {
    rows: usize,
    /// Members in ascending order, no group empty.
    pub(super) lists: Lists,
    /// The group of each row; `None` if groups do not belong to single rows.
    pub(super) of_row: Option<Vec<u32>>,
    /// Whether j ∈ G_i whenever i ∈ G_j.
    pub(super) mutual: bool,
    /// The labels of the groups, if they have labels.
    labels: Option<Vec<String>>,
}

/// Refuses groups that are too large for memory before any is made, where that is easily seen: what lies within half of
/// the radius of one place lies within the radius of each other.
///
/// # Errors
/// More than [`MAX_MEMBERSHIPS`] rows in all groups together.
fn check_reach<'p>(
    tree: &Near,
    places: &Lists,
    square: f64,
    place_of: &dyn Fn(usize) -> &'p [f64],
) -> Result<()> {
    /// Places that are looked at.
    const LOOKED_AT: usize = 16;
    // A little less than half, for rounding.
    let half = 0.25 * square * (1.0 - 1e-9);
    let step = places.len().div_ceil(LOOKED_AT).max(1);
    let mut near = Vec::new();
    for place in (0..places.len()).step_by(step) {
        near.clear();
        tree.within(place_of(place), half, &mut near);
        let rows: usize = near
            .iter()
            .map(|&place| places.get(place as usize).len())
            .sum();
        if near.len().saturating_mul(rows) > MAX_MEMBERSHIPS {
            return Err(too_many_members());
        }
    }
    Ok(())
}

impl Groups {
    /// Each row with all rows within a distance: G_i = {j : d(t_i, t_j) ≤ r}, r in the unit of
    /// [`Points::distance`]. Rows at the same point share their group.
    ///
    /// # Errors
    /// The radius is negative or NaN; the groups are too large for memory.
    pub fn within(points: &Points, radius: f64) -> Result<Self> {
        if !(radius >= 0.0 && radius.is_finite()) {
            return Err(Error::parameter(
                format!("a radius of {radius}"),
                "must be at least 0",
            ));
        }
        let places = points.distinct();
        let d = points.dimension();
        let mut at_places = Vec::with_capacity(places.len() * d);
        for rows in places.iter() {
            at_places.extend_from_slice(points.get(rows[0] as usize));
        }
        let tree = Near::new(&at_places, d);
        let square = points.square_of(radius);
        let place_of = |place: usize| &at_places[place * d..(place + 1) * d];
        check_reach(&tree, &places, square, &place_of)?;
        // Groups in the order of the tree: what is near is near in memory.
        let lists = collect(places.len(), |group, found| {
            let mut near = Vec::new();
            let place = tree.numbers()[group];
            tree.within(place_of(place), square, &mut near);
            for place in near {
                found.extend_from_slice(places.get(place as usize));
            }
            found.sort_unstable();
        })?;
        let mut of_row = vec![0; points.len()];
        for (group, place) in (0..).zip(tree.numbers()) {
            for row in places.get(*place) {
                of_row[*row as usize] = group;
            }
        }
        Ok(Groups::owned(lists, of_row, true))
    }

    /// Each row with the `size` − 1 rows nearest to it. Ties are broken in an arbitrary but fixed way.
    ///
    /// # Errors
    /// `size` is 0 or exceeds the number of rows; more than [`MAX_MEMBERSHIPS`] rows in all groups together.
    pub fn nearest(points: &Points, size: usize) -> Result<Self> {
        let n = points.len();
        check_size(size, n)?;
        if n.saturating_mul(size) > MAX_MEMBERSHIPS {
            return Err(too_many_members());
        }
        let d = points.dimension();
        let all: Vec<f64> = (0..n)
            .flat_map(|row| points.get(row).iter().copied())
            .collect();
        let tree = Near::new(&all, d);
        let lists = collect(n, |row, found| {
            let mut near = Vec::with_capacity(size + 1);
            tree.nearest(points.get(row), size, &mut near);
            found.extend(near.iter().map(|(_, other)| *other));
            // If many rows are at one point, the tree may not have returned the row itself.
            if !found.contains(&(row as u32)) {
                found[size - 1] = row as u32;
            }
            found.sort_unstable();
        })?;
        Ok(Groups::owned(lists, (0..n as u32).collect(), false))
    }

    /// Each row with all rows that are at most `length` edges away.
    ///
    /// # Errors
    /// The groups are too large for memory.
    pub fn by_path(edges: &Edges, length: u32) -> Result<Self> {
        let n = edges.rows();
        let lists = collect(n, |row, found| {
            edges.reach(row as u32, length, found);
            found.sort_unstable();
        })?;
        Ok(Groups::owned(lists, (0..n as u32).collect(), true))
    }

    /// Each row with the rows that are fewest edges away, `size` rows with itself, or all that it is connected to. Of
    /// equally far rows the first ones are taken.
    ///
    /// # Errors
    /// As [`Groups::nearest`].
    pub fn closest(edges: &Edges, size: usize) -> Result<Self> {
        let n = edges.rows();
        check_size(size, n)?;
        let lists = collect(n, |row, found| {
            edges.closest(row as u32, size, found);
            found.sort_unstable();
        })?;
        Ok(Groups::owned(lists, (0..n as u32).collect(), false))
    }

    /// Rows with equal labels, one label per row.
    ///
    /// # Errors
    /// There are more than 2³² − 1 rows.
    pub fn equal(labels: &[String]) -> Result<Self> {
        let mut members: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for (row, label) in labels.iter().enumerate() {
            members.entry(label).or_default().push(row as u32);
        }
        let mut lists = Lists::with_capacity(members.len(), labels.len());
        let mut of_row = vec![0; labels.len()];
        for (group, rows) in members.values().enumerate() {
            for row in rows {
                of_row[*row as usize] = group as u32;
            }
            lists.push(rows.iter().copied());
        }
        let mut groups = Groups::owned(lists, of_row, true);
        groups.labels = Some(members.into_keys().map(str::to_owned).collect());
        Ok(groups)
    }

    /// Groups given by label and members (rows from 0); a row may be in several groups or in none.
    ///
    /// # Errors
    /// There is no group, or a member is not below `rows`.
    pub fn listed(rows: usize, named: Vec<(String, Vec<u32>)>) -> Result<Self> {
        let named: Vec<_> = named.into_iter().filter(|(_, m)| !m.is_empty()).collect();
        if named.is_empty() {
            return Err(Error::parameter("groups", "there is no group"));
        }
        let mut lists = Lists::with_capacity(named.len(), 0);
        let mut labels = Vec::with_capacity(named.len());
        for (label, mut members) in named {
            members.sort_unstable();
            members.dedup();
            if let Some(row) = members.last().filter(|row| **row as usize >= rows) {
                return Err(Error::parameter(
                    format!("group {label}"),
                    format!(
                        "has row {}, but the log has {rows} rows",
                        u64::from(*row) + 1
                    ),
                ));
            }
            lists.push(members);
            labels.push(label);
        }
        Ok(Groups {
            rows,
            lists,
            of_row: None,
            mutual: true,
            labels: Some(labels),
        })
    }

    fn owned(lists: Lists, of_row: Vec<u32>, mutual: bool) -> Self {
        Groups {
            rows: of_row.len(),
            lists,
            of_row: Some(of_row),
            mutual,
            labels: None,
        }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of distinct groups.
    pub fn len(&self) -> usize {
        self.lists.len()
    }

    /// Whether there is no group, which means that there are no rows.
    pub fn is_empty(&self) -> bool {
        self.lists.len() == 0
    }

    /// The rows of a group, ascending.
    pub fn members(&self, group: usize) -> &[u32] {
        self.lists.get(group)
    }

    /// The group that belongs to a row, if each row has one.
    pub fn of_row(&self, row: usize) -> Option<usize> {
        self.of_row.as_ref().map(|of_row| of_row[row] as usize)
    }

    /// The names of the groups: their labels or, without labels, the first row (from 1) that each belongs to.
    pub fn names(&self) -> Names<'_> {
        let mut first_rows = vec![0; self.len()];
        if let Some(of_row) = &self.of_row {
            for (row, group) in of_row.iter().enumerate().rev() {
                first_rows[*group as usize] = row + 1;
            }
        }
        Names {
            labels: self.labels.as_deref(),
            first_rows,
        }
    }

    /// The number of rows of all distinct groups together.
    pub fn memberships(&self) -> usize {
        self.lists.entries()
    }

    /// The sizes of the groups.
    pub fn sizes(&self) -> impl ExactSizeIterator<Item = usize> {
        (0..self.len()).map(|group| self.lists.size(group))
    }

    /// The number of rows in no group: the guarantee does not cover them.
    pub fn uncovered(&self) -> usize {
        if self.of_row.is_some() {
            return 0;
        }
        let mut seen = vec![false; self.rows];
        for row in self.lists.iter().flatten() {
            seen[*row as usize] = true;
        }
        seen.iter().filter(|seen| !**seen).count()
    }
}

/// The names of groups.
#[derive(Debug, Clone)]
pub struct Names<'a> {
    labels: Option<&'a [String]>,
    first_rows: Vec<usize>,
}

impl Names<'_> {
    /// The name of a group.
    pub fn get(&self, group: usize) -> String {
        self.labels.map_or_else(
            || self.first_rows[group].to_string(),
            |labels| labels[group].clone(),
        )
    }
}

fn check_size(size: usize, rows: usize) -> Result<()> {
    if size == 0 {
        return Err(Error::parameter(
            "groups of 0 rows",
            "a group needs at least one row",
        ));
    }
    if size > rows {
        return Err(Error::parameter(
            format!("groups of {size} rows"),
            format!("the log has only {rows} rows"),
        ));
    }
    Ok(())
}

fn too_many_members() -> Error {
    Error::parameter(
        "groups",
        format!("have more than {MAX_MEMBERSHIPS} rows in total, too many for memory"),
    )
    .with_hint("use a smaller radius or group size, or group rows by equal values of a column")
}

/// Builds this many lists in parallel; the result does not depend on the number of threads.
fn collect(lists: usize, make: impl Fn(usize, &mut Vec<u32>) + Sync) -> Result<Lists> {
    let held = AtomicUsize::new(0);
    let chunk = |at: usize| {
        let mut part = Lists::with_capacity(CHUNK, 0);
        let mut found = Vec::new();
        for list in at * CHUNK..((at + 1) * CHUNK).min(lists) {
            if held.load(Ordering::Relaxed) > MAX_MEMBERSHIPS {
                return part;
            }
            found.clear();
            make(list, &mut found);
            held.fetch_add(found.len(), Ordering::Relaxed);
            part.push(found.iter().copied());
        }
        part
    };
    let parts: Vec<Lists> = parallel::map(lists.div_ceil(CHUNK), chunk);
    let held = held.into_inner();
    if held > MAX_MEMBERSHIPS {
        return Err(too_many_members());
    }
    let mut all = Lists::with_capacity(lists, held);
    for part in parts {
        for list in part.iter() {
            all.push(list.iter().copied());
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EARTH_RADIUS_KM;

    #[test]
    fn rows_at_one_place_share_a_group() {
        let points = Points::new(vec![0.3, 5.0, 0.1, 0.3, -0.0, 0.0], 1).unwrap();
        let groups = Groups::within(&points, 0.2).unwrap();
        assert_eq!(groups.len(), 4);
        assert_eq!(groups.members(groups.of_row(0).unwrap()), [0, 2, 3]);
        assert_eq!(groups.members(groups.of_row(5).unwrap()), [2, 4, 5]);
        assert_eq!(groups.of_row(0), groups.of_row(3));
        assert_eq!(groups.names().get(groups.of_row(3).unwrap()), "1");
    }

    #[test]
    fn distances_on_earth_are_great_circles() {
        let places = [
            [52.5200, 13.4050],
            [48.8566, 2.3522],
            [-33.8688, 151.2093],
            [0.0, 180.0],
            [0.0, -180.0],
        ];
        let points = Points::on_earth(&places).unwrap();
        // Berlin–Paris, Berlin–Sydney by the haversine formula.
        let haversine = |a: [f64; 2], b: [f64; 2]| {
            let [p, l, q, m] = [a[0], a[1], b[0], b[1]].map(f64::to_radians);
            let h =
                ((p - q) / 2.0).sin().powi(2) + p.cos() * q.cos() * ((l - m) / 2.0).sin().powi(2);
            2.0 * EARTH_RADIUS_KM * h.sqrt().asin()
        };
        for other in 1..4 {
            let expected = haversine(places[0], places[other]);
            assert!((points.distance(0, other) / expected - 1.0).abs() < 1e-12);
        }
        assert!((points.distance(0, 1) - 877.46).abs() < 0.1);
        let groups = Groups::within(&points, 878.0).unwrap();
        assert_eq!(groups.members(groups.of_row(0).unwrap()), [0, 1]);
        assert_eq!(groups.members(groups.of_row(3).unwrap()), [3, 4]);
        assert_eq!(
            Groups::within(&points, 20_100.0).unwrap().members(0).len(),
            5
        );
        assert!(Points::on_earth(&[[91.0, 0.0]]).is_err());
    }

    #[test]
    fn nearest_groups_have_their_size_and_their_owner() {
        let points = Points::new(vec![1.0; 100], 1).unwrap();
        let groups = Groups::nearest(&points, 3).unwrap();
        for row in 0..100 {
            let members = groups.members(groups.of_row(row).unwrap());
            assert!(members.len() == 3 && members.contains(&(row as u32)));
            assert!(members.windows(2).all(|pair| pair[0] < pair[1]));
        }
        let points = Points::new(vec![0.0, 10.0, 1.0, 12.0], 1).unwrap();
        let groups = Groups::nearest(&points, 2).unwrap();
        assert_eq!(groups.members(3), [1, 3]);
        assert!(Groups::nearest(&points, 5).is_err() && Groups::nearest(&points, 0).is_err());
    }

    #[test]
    fn listed_groups_must_name_rows_that_are_there() {
        let named = |rows: &[u32]| vec![("a".to_owned(), rows.to_vec())];
        let groups = Groups::listed(5, named(&[4, 1, 4])).unwrap();
        assert_eq!((groups.members(0), groups.uncovered()), (&[1, 4][..], 3));
        let error = Groups::listed(4, named(&[4])).unwrap_err().to_string();
        assert!(
            error.contains("row 5") && error.contains("4 rows"),
            "{error}"
        );
        assert!(Groups::listed(4, Vec::new()).is_err());
    }
}
