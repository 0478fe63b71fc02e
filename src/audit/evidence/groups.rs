//! Groups of similar rows of a log of several columns, judged together by all its rows.
//!
//! Of fifty outcomes that each tell a little, rows before do not say which ones, and each by itself is too rare. But rows can be put into groups
//! by what they are like, and of some groups the secrets show at once that more is told than a claim allows.

use crate::audit::prepare::Prepared;
use leakgauge_attack::pairwise::similar_rows::{Group, Points, tails};
use leakgauge_base::quantity::PrivacyParameter;
use leakgauge_exact::claim::Guarantee;
use leakgauge_log::observations::Observations;
use leakgauge_stats::groups::GroupTest;
use leakgauge_stats::secret_blind::TakenRows;

/// With so many rows of a secret attacks learn well enough.
const MOST_ROWS: u64 = 40_000;
/// With more rows times columns groups would take seconds to form.
const MOST_CELLS: u64 = 1 << 21;
/// What groups are kept by if nothing is claimed.
const UNCLAIMED: f64 = 1.0;
/// Of more claims the smallest, the middle and the largest count.
const MOST_CLAIMS: usize = 3;
/// Groups have so many rows in a log of that many, and the sixth root of the rows more or less in others: chosen on logs of sparse
/// vectors and histograms of 800 to 20,000 rows.
const ROWS: (f64, f64) = (40.0, 500.0);
/// A group shows little with fewer rows of the other secret than these, expected at the ε by which it is kept.
const WRONG: f64 = 4.0;
/// Fewer groups prove nothing.
const FEWEST_GROUPS: u64 = 4;
/// Beside all axes, groups are formed along so many principal components.
const COMPONENTS: [usize; 2] = [2, 3];
/// Where axes are too few for that, smaller and larger groups are formed.
const SIZES: [f64; 2] = [0.625, 1.6];
/// Groups along tails are smaller, for the outermost ones tell most.
const OF_TAILS: f64 = 0.4;

/// Tests with their shares of the level.
#[derive(Default)]
pub(crate) struct GroupTests {
    pub tests: Vec<(f64, Judged)>,
}

/// A test by groups, and the rows that judge.
#[derive(Debug, Clone)]
pub(crate) struct Judged {
    pub groups: GroupTest,
    /// Rows of both secrets.
    pub rows: [u64; 2],
}

/// The ε by which groups are kept: those that are claimed at δ = 0. None where groups are not tried: in logs of one column, of
/// many rows, and where other ε or curves are claimed and none at δ = 0.
pub(crate) fn references(prepared: &Prepared) -> Vec<f64> {
    let columns = prepared.log.observations.columns().len() as u64;
    let rows = prepared.log.counts.rows();
    let least = rows.iter().copied().min().unwrap_or(0);
    if columns < 2 || least >= MOST_ROWS || rows.iter().sum::<u64>() * columns > MOST_CELLS {
        return Vec::new();
    }
    let claims = || prepared.claims.iter();
    let promised = claims().filter_map(|claim| Some(claim.privacy()?.between(0, 1)));
    let promised: Vec<Guarantee> = promised.collect();
    let mut claimed: Vec<f64> = promised
        .iter()
        .filter(|one| one.quantity() == PrivacyParameter::Epsilon { delta: 0.0 })
        .map(|one| one.parameter())
        .filter(|epsilon| epsilon.is_finite())
        .collect();
    claimed.sort_unstable_by(f64::total_cmp);
    claimed.dedup();
    let is_other = |one: &Guarantee| matches!(one.quantity(), PrivacyParameter::Epsilon { .. });
    let other = promised.iter().any(is_other) || claims().any(|claim| claim.curve().is_some());
    match claimed.len() {
        0 if other => Vec::new(),
        0 => vec![UNCLAIMED],
        1..=MOST_CLAIMS => claimed,
        many => vec![claimed[0], claimed[many / 2], claimed[many - 1]],
    }
}

/// Tests of all groups that are formed, which get equal parts of a share of the level.
pub(crate) fn tests(
    observations: &Observations,
    taken: &TakenRows,
    references: &[f64],
    share: f64,
) -> GroupTests {
    let kinds = taken.kinds();
    let seen: Vec<(u32, u64)> = kinds
        .iter()
        .map(|(&kind, of)| (kind, of[0] + of[1]))
        .collect();
    let of: Vec<[u64; 2]> = kinds.into_values().collect();
    let all = taken.observed().len() as u64;
    let mut tests = Vec::new();
    for &reference in references {
        let rows = group_rows(all, reference);
        if rows * FEWEST_GROUPS > all {
            continue;
        }
        for groups in formed(observations, &seen, rows) {
            let groups = groups.iter().map(|group| {
                let rows = |secret: usize| group.iter().map(|&at| of[at][secret]).sum();
                [rows(0), rows(1)]
            });
            let groups = GroupTest::new(&groups.collect::<Vec<_>>(), reference);
            tests.push(Judged {
                groups,
                rows: taken.rows(),
            });
        }
    }
    let each = share / tests.len().max(1) as f64;
    GroupTests {
        tests: tests.into_iter().map(|test| (each, test)).collect(),
    }
}

/// Sets of groups of about so many rows: along tails where there are some, else along all axes and principal components, or along all
/// axes in two sizes where these are few.
fn formed(observations: &Observations, seen: &[(u32, u64)], rows: u64) -> Vec<Vec<Group>> {
    let of_size = |size: f64| (size * rows as f64) as u64;
    let of_tails = tails(observations, seen, of_size(OF_TAILS));
    if !of_tails.is_empty() {
        return of_tails;
    }
    let Some(points) = Points::new(observations, seen) else {
        return Vec::new();
    };
    let components = COMPONENTS.iter().filter_map(|&axes| points.principal(axes));
    let mut formed: Vec<Vec<Group>> = components.map(|points| points.groups(rows)).collect();
    if formed.is_empty() {
        formed.extend(SIZES.map(|size| points.groups(of_size(size))));
    } else {
        formed.push(points.groups(rows));
    }
    formed
}

/// Rows of a group.
fn group_rows(all: u64, reference: f64) -> u64 {
    let (rows, of) = ROWS;
    let by_rows = rows * (all as f64 / of).cbrt().sqrt();
    // Beyond any number of rows it stays that.
    by_rows.max(WRONG * (1.0 + reference.exp())).min(1e15) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_grow_slowly_with_rows_and_with_what_a_claim_allows() {
        assert_eq!(group_rows(500, 1.0), 40);
        assert_eq!(group_rows(32_000, 1.0), 80);
        assert_eq!(group_rows(500, 3.0), 84);
        assert_eq!(group_rows(500, 800.0), 1_000_000_000_000_000);
    }
}
