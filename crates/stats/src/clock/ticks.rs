//! Ticks that are printed with fewer digits than they have: readings of a clock of 15.625 ms, cut to whole milliseconds,
//! are 15, 16, 31 and 32, and nothing between.

/// Rows without which nothing is said.
const LEAST_ROWS: usize = 40;
/// Rows of a group on average: values that do not recur show no groups.
const RECUR: usize = 8;
/// The share of values that the groups have to explain.
const IN_GROUPS: f64 = 0.95;
/// Units between values of a group at most, and across it: two, and what rounding adds.
const WIDTH: f64 = 2.5;
/// Ticks up to the first group at most.
const MOST_TICKS: usize = 64;

/// A group of values that are next to each other.
#[derive(Debug, Clone, Copy)]
struct Group {
    least: f64,
    most: f64,
    rows: usize,
}

/// The tick of which values in ascending order are multiples, each to within one unit of the last digit; 0 if there is none
/// of five units at least.
///
/// # Formula
/// Values at most two units apart are a group. Groups that explain 95 % of the rows are at most two units wide. The tick is
/// the largest T such that every one of them has a whole number k with kT within a unit of all of its values. Of two groups
/// that may be chance. Then times have two values, and a step too large only widens limits.
pub(super) fn tick(values: &[f64], unit: f64) -> f64 {
    if values.len() < LEAST_ROWS || unit <= 0.0 {
        return 0.0;
    }
    let mut groups = groups(values, unit);
    if groups.len() < 2 || groups.len() * RECUR > values.len() {
        return 0.0;
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.rows));
    let mut explained = 0;
    let needed = groups.iter().position(|group| {
        explained += group.rows;
        explained as f64 >= IN_GROUPS * values.len() as f64
    });
    groups.truncate(needed.map_or(0, |last| last + 1));
    let is_narrow = |group: &Group| group.most - group.least <= WIDTH * unit;
    // Where every group is one value, nothing was cut.
    let cut = groups
        .iter()
        .filter(|group| group.most > group.least)
        .count();
    if groups.len() < 2 || 2 * cut < groups.len() || !groups.iter().all(is_narrow) {
        return 0.0;
    }
    groups.sort_by(|a, b| a.least.total_cmp(&b.least));
    let Some(first) = groups.iter().find(|group| group.least > unit) else {
        return 0.0;
    };
    let fits = |ticks: usize| fitting(&groups, bounds(first, ticks as f64, unit), unit);
    let found = (1..=MOST_TICKS).find_map(fits);
    found.filter(|tick| *tick >= 5.0 * unit).unwrap_or(0.0)
}

fn groups(values: &[f64], unit: f64) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for &value in values {
        match groups.last_mut() {
            Some(group) if value - group.most <= WIDTH * unit => {
                group.most = value;
                group.rows += 1;
            }
            _ => groups.push(Group {
                least: value,
                most: value,
                rows: 1,
            }),
        }
    }
    groups
}

/// The ticks of which a group is so many.
fn bounds(group: &Group, ticks: f64, unit: f64) -> (f64, f64) {
    ((group.most - unit) / ticks, (group.least + unit) / ticks)
}

/// The middle of the ticks within bounds that every group is a whole number of.
fn fitting(groups: &[Group], (mut least, mut most): (f64, f64), unit: f64) -> Option<f64> {
    for group in groups {
        let middle = 0.5 * (least + most);
        let ticks = (0.5 * (group.least + group.most) / middle).round();
        if ticks < 1.0 {
            if group.most > unit {
                return None;
            }
            continue;
        }
        let own = bounds(group, ticks, unit);
        (least, most) = (least.max(own.0), most.min(own.1));
        if least > most {
            return None;
        }
    }
    Some(0.5 * (least + most))
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_testing::rng;
    use rand::RngExt;

    /// Times between two readings of a clock with this tick, cut to units.
    fn readings(seed: u64, tick: f64, times: impl Fn(f64) -> f64) -> Vec<f64> {
        let mut rng = rng(seed);
        let mut draw = || -> f64 { rng.random() };
        let read = |time: f64| ((time / tick).floor() * tick).floor();
        let all = (0..3000).map(|_| {
            let start = 1000.0 * draw();
            read(start + times(draw())) - read(start)
        });
        let mut all: Vec<f64> = all.collect();
        all.sort_unstable_by(f64::total_cmp);
        all
    }

    #[test]
    fn a_tick_is_found_though_its_digits_were_cut() {
        for (seed, tick) in [(1, 15.625), (2, 1000.0 / 60.0), (3, 10.4)] {
            let found = tick_of(&readings(seed, tick, |u| 14.0 + 12.0 * u));
            assert!((found - tick).abs() < 0.7, "{tick}: {found}");
        }
    }

    #[test]
    fn a_fine_clock_has_none() {
        assert_eq!(tick_of(&readings(4, 1.0, |u| 14.0 + 12.0 * u)), 0.0);
        assert_eq!(tick_of(&readings(5, 1.0, |u| 900.0 * u)), 0.0);
        assert_eq!(tick_of(&readings(6, 1.0, |_| 14.0)), 0.0);
        // Values that do not recur.
        let rare: Vec<f64> = (0..100).map(|at| f64::from(at * 31)).collect();
        assert_eq!(tick_of(&rare), 0.0);
    }

    fn tick_of(values: &[f64]) -> f64 {
        tick(values, 1.0)
    }
}
