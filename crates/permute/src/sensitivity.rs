//! Sensitivity: how much reordering one group can change the distance from the reference order.

use leakgauge_base::parallel;

use super::groups::Groups;
pub use leakgauge_exact::mallows::kendall_of_group;
use leakgauge_exact::permutation::Distance;
use leakgauge_exact::permutation::inverse;

/// How far apart an order puts the members of groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spread {
    /// The largest width of a group, in positions.
    pub width: u64,
    /// The largest Kendall sensitivity of a group, in pairs.
    pub kendall: u64,
}

/// The paper's upper bound ω(ω + 1)/2 on the Kendall sensitivity of a group of width ω (Property 4).
pub fn bound_by_width(width: u64) -> u64 {
    width * (width + 1) / 2
}

/// The positions of a group's members, ascending.
fn places(groups: &Groups, group: usize, place_of: &[u32], places: &mut Vec<u32>) {
    places.clear();
    places.extend(
        groups
            .members(group)
            .iter()
            .map(|row| place_of[*row as usize]),
    );
    places.sort_unstable();
}

fn spread_of(places: &[u32]) -> Spread {
    match places {
        [first, .., last] => Spread {
            width: u64::from(last - first),
            kendall: kendall_of_group(places),
        },
        _ => Spread::default(),
    }
}

/// Width and Kendall sensitivity of every group, in the order of the groups.
pub fn of_groups(groups: &Groups, order: &[u32]) -> Vec<Spread> {
    let place_of = inverse(order);
    parallel::map(groups.len(), |group| {
        let mut list = Vec::new();
        places(groups, group, &place_of, &mut list);
        spread_of(&list)
    })
}

/// The largest width and the largest Kendall sensitivity of any group.
pub fn spread(groups: &Groups, order: &[u32]) -> Spread {
    let spreads = of_groups(groups, order).into_iter();
    spreads.fold(Spread::default(), |a, b| Spread {
        width: a.width.max(b.width),
        kendall: a.kendall.max(b.kendall),
    })
}

/// The Hamming sensitivity of a group: its size, 0 for one row.
pub(super) fn hamming_of_group(size: u64) -> u64 {
    if size < 2 { 0 } else { size }
}

/// The sensitivity of groups with this spread.
pub(super) fn sensitivity(distance: Distance, groups: &Groups, kendall: u64) -> u64 {
    match distance {
        Distance::Kendall => kendall,
        Distance::Hamming => hamming_of_group(groups.sizes().max().unwrap_or_default() as u64),
    }
}
