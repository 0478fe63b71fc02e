//! Groups of similar rows of a log of several columns, judged together by all its rows.
//!
//! Of fifty outcomes that each tell a little, rows before do not say which ones, and each by itself is too rare. But
//! rows can be put into groups by what they are like, and of some groups the secrets show at once that more is told
//! than a claim allows.

use crate::audit::evidence::pair_test::{Names, PairTest, Planned, Shown, Tested, TestedPair};
use crate::audit::figures::privacy::witness::WitnessEvent;
use crate::estimate::Method;
use leakgauge_attack::pairwise::Event;
use leakgauge_attack::pairwise::similar_rows::{Group, Points, tails};
use leakgauge_log::observations::Observations;
use leakgauge_stats::groups::GroupTest;
use leakgauge_stats::secret_blind::TakenRows;

/// What groups get of the level beside events of columns, and beside events that rows before chose.
const BESIDE_EVENTS: f64 = 0.25;
const BESIDE_LEARNED_EVENTS: f64 = 0.2;
/// Groups have so many rows in a log of that many, and the sixth root of the rows more or less in others: chosen on
/// logs of sparse vectors and histograms of 800 to 20,000 rows.
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

/// A test by groups, and the rows that judge.
#[derive(Debug, Clone)]
struct JudgedGroups {
    groups: GroupTest,
    /// Rows of both secrets.
    rows: [u64; 2],
}

impl Shown for JudgedGroups {
    fn method(&self) -> Method {
        Method::GroupsOfRows
    }

    fn attack(&self) -> &str {
        "groups"
    }

    /// The groups that were kept for each secret.
    fn events(&self, names: &Names, _: [u32; 2]) -> Vec<WitnessEvent> {
        let formed = self.groups.formed();
        let kept = self.groups.kept();
        let event = |secret: usize| WitnessEvent {
            secrets: names.secrets([secret as u32, 1 - secret as u32]),
            event: Event::Groups {
                groups: kept[secret].groups,
                of: formed,
            },
            rows: [self.rows[secret], self.rows[1 - secret]],
            inside: [kept[secret].right, kept[secret].wrong],
        };
        vec![event(0), event(1)]
    }
}

/// Groups of similar rows.
pub(crate) struct Groups;

impl PairTest for Groups {
    fn plan<'a>(&self, pair: &'a TestedPair<'a>) -> Option<Planned<'a>> {
        let blind = pair.blind.as_ref();
        let blind = blind.filter(|blind| !blind.references.is_empty())?;
        let share = match pair.has_many_rows {
            true => BESIDE_LEARNED_EVENTS,
            false => BESIDE_EVENTS,
        };
        let observations = &pair.prepared.log.observations;
        Some(Planned::new(share, move |share| match &blind.rows {
            Some(rows) => tests(observations, &rows.taken, &blind.references, share),
            None => Vec::new(),
        }))
    }
}

/// Tests of all groups that are formed, which get equal parts of a share of the level.
fn tests(
    observations: &Observations,
    taken: &TakenRows,
    references: &[f64],
    share: f64,
) -> Vec<Tested> {
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
            tests.push(JudgedGroups {
                groups,
                rows: taken.rows(),
            });
        }
    }
    let each = share / tests.len().max(1) as f64;
    let tests = tests.into_iter();
    tests
        .map(|judged| Tested::new(each, judged.groups.clone(), judged))
        .collect()
}

/// Sets of groups of about so many rows: along tails where there are some, else along all axes and principal
/// components, or along all axes in two sizes where these are few.
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
