//! Groups of similar rows, formed by what was observed and not by secrets.

use std::collections::{BTreeMap, BTreeSet};

use linfa_linalg::eigh::{EigSort, EighInto};
use ndarray::{Array2, s};

use super::ladder::{doubles, ends};
use leakgauge_log::observations::{Observations, Part};

/// A column with more labels has no axis for each of them, and one with more different numbers is one of many.
const MOST_LABELS: usize = 32;
/// With more axes no groups are formed.
const MOST_AXES: usize = 128;

/// With more columns of many numbers tails are not grouped.
const MOST_MANY: usize = 3;

/// A group, as positions among distinct observations.
pub type Group = Vec<usize>;

/// Distinct observations as points, with the rows that have them.
#[derive(Debug, Clone, PartialEq)]
pub struct Points {
    /// Observations × axes.
    places: Array2<f64>,
    rows: Vec<u64>,
}

impl Points {
    /// Places observations, each with its number of rows, by their columns: an axis for each column of numbers and for
    /// each label of another. An axis has mean 0 and variance 1 over all rows that have a number there, and rows that
    /// hold a word instead are at 0. A column without two different values, or with more than 32 labels, has no axis.
    /// `None` if there are no axes, or more than 128.
    ///
    /// # Conditions
    /// Neither the order of the observations nor the types of columns depend on secrets.
    pub fn new(observations: &Observations, seen: &[(u32, u64)]) -> Option<Self> {
        let of = Columns { observations, seen };
        let beside = observations.words_beside_numbers();
        let mut axes = Vec::new();
        for (_, part) in observations.parts() {
            match part {
                Part::Number(at) => axes.extend(of.numbers(at, beside[at])),
                Part::Label(at) => axes.extend(of.labels(at)),
            }
            if axes.len() > MOST_AXES {
                return None;
            }
        }
        let size = (seen.len(), axes.len());
        (!axes.is_empty()).then(|| Points {
            places: Array2::from_shape_fn(size, |(row, axis)| axes[axis][row]),
            rows: seen.iter().map(|one| one.1).collect(),
        })
    }

    /// The number of axes.
    pub fn axes(&self) -> usize {
        self.places.ncols()
    }

    /// The same points on so many axes along which they vary most: principal components. `None` if that is not less
    /// than half of the axes, where they are little else than the same axes turned.
    pub fn principal(&self, axes: usize) -> Option<Self> {
        if self.axes() <= 2 * axes {
            return None;
        }
        let mut weighted = self.places.clone();
        for (mut place, &rows) in weighted.rows_mut().into_iter().zip(&self.rows) {
            place *= rows as f64;
        }
        let covariance = weighted.t().dot(&self.places);
        let (_, directions) = covariance.eigh_into().ok()?.sort_eig_desc();
        Some(Points {
            places: self.places.dot(&directions.slice(s![.., ..axes])),
            rows: self.rows.clone(),
        })
    }

    /// Groups of about so many rows. A group of one and a half times as many, or more, is cut near its middle along the
    /// axis where that takes away most of the variance, as long as both sides have a third of them.
    pub fn groups(&self, rows: u64) -> Vec<Group> {
        let mut groups = Vec::new();
        let mut open = vec![(0..self.rows.len()).collect::<Group>()];
        while let Some(group) = open.pop() {
            let size: u64 = group.iter().map(|&at| self.rows[at]).sum();
            let cut = (2 * size >= 3 * rows).then(|| self.cut(&group, rows.div_ceil(3)));
            match cut.flatten() {
                Some(halves) => open.extend(halves),
                None => groups.push(group),
            }
        }
        groups
    }

    fn cut(&self, group: &[usize], least: u64) -> Option<[Group; 2]> {
        let mut best: Option<(f64, Group, usize)> = None;
        for axis in 0..self.axes() {
            let mut order = group.to_vec();
            order.sort_by(|&x, &y| self.places[[x, axis]].total_cmp(&self.places[[y, axis]]));
            let Some((at, gain)) = self.middle(&order, axis, least) else {
                continue;
            };
            if best.as_ref().is_none_or(|best| gain > best.0) {
                best = Some((gain, order, at));
            }
        }
        let (_, order, at) = best?;
        let (low, high) = order.split_at(at);
        Some([low.to_vec(), high.to_vec()])
    }

    /// The cut of points in the order of an axis that comes nearest to halving their rows: its position, and the sum of
    /// squares that it takes away, n₁n₂(m₁ − m₂)²/(n₁ + n₂). Equal points stay together.
    fn middle(&self, order: &[usize], axis: usize, least: u64) -> Option<(usize, f64)> {
        let place = |at: usize| self.places[[at, axis]];
        let weight = |at: usize| place(at) * self.rows[at] as f64;
        let all: u64 = order.iter().map(|&at| self.rows[at]).sum();
        let total: f64 = order.iter().map(|&at| weight(at)).sum();
        let (mut low, mut sum) = (0, 0.0);
        let mut best: Option<(u64, usize, f64)> = None;
        for (at, pair) in order.windows(2).enumerate() {
            low += self.rows[pair[0]];
            sum += weight(pair[0]);
            let smaller = low.min(all - low);
            let is_cut = place(pair[0]) < place(pair[1]) && smaller >= least;
            if is_cut && best.is_none_or(|best| smaller > best.0) {
                let (n, rest) = (low as f64, (all - low) as f64);
                let apart = sum / n - (total - sum) / rest;
                best = Some((smaller, at + 1, apart * apart * n * rest / (n + rest)));
            }
        }
        best.map(|(_, at, gain)| (at, gain))
    }
}

/// Groups by tails: rows that agree in all labels and in all numbers of few values are cut along one other number. From
/// either end groups have about so many rows, then as many, then twice and four times as many, and so on to the middle,
/// for what is extreme tells most of a leak of noise. One set of groups for each column of many numbers, where there is
/// one of few values beside it; fewer than a third of so many rows are no group.
///
/// # Conditions
/// As [`Points::new`].
pub fn tails(observations: &Observations, seen: &[(u32, u64)], rows: u64) -> Vec<Vec<Group>> {
    let of = Columns { observations, seen };
    let dimensions = observations.dimensions();
    let are_many: Vec<bool> = (0..dimensions).map(|at| of.has_many_numbers(at)).collect();
    let many: Vec<usize> = (0..dimensions).filter(|&at| are_many[at]).collect();
    let is_alone = many.len() == observations.columns().len();
    if is_alone || !(1..=MOST_MANY).contains(&many.len()) {
        return Vec::new();
    }
    let mut alike: BTreeMap<(u32, Vec<u64>), Group> = BTreeMap::new();
    for (at, &(symbol, _)) in seen.iter().enumerate() {
        let numbers = observations.numbers(symbol).iter().zip(&are_many);
        let few = numbers.filter(|(_, is_many)| !**is_many);
        let few = few.map(|(number, _)| number.to_bits()).collect();
        let key = (observations.category(symbol), few);
        alike.entry(key).or_default().push(at);
    }
    let along = |axis: usize| {
        let number = |at: usize| observations.numbers(seen[at].0)[axis];
        let groups = alike.values().flat_map(|group| {
            let mut order = group.clone();
            order.sort_by(|&x, &y| number(x).total_cmp(&number(y)));
            ladder(&order, seen, number, rows)
        });
        groups.collect()
    };
    many.into_iter().map(along).collect()
}

/// Groups of rows in the order of a number. Equal numbers stay together.
fn ladder(
    order: &[usize],
    seen: &[(u32, u64)],
    number: impl Fn(usize) -> f64,
    rows: u64,
) -> Vec<Group> {
    let of = |at: &usize| seen[*at].1;
    let all: u64 = order.iter().map(of).sum();
    // Groups end behind so many rows from below, or begin before so many from above.
    let low: Vec<u64> = doubles(rows, all).collect();
    let high = low.iter().rev().map(|ahead| all - ahead);
    let wanted = low.iter().copied().chain(high).chain([all]);
    let wanted: Vec<f64> = wanted.map(|rows| rows as f64).collect();
    let is_tied = |place: usize| {
        let after = order.get(place + 1);
        after.is_some_and(|&after| number(after) == number(order[place]))
    };
    let mut start = 0;
    let groups = ends(order.iter().map(of), is_tied, &wanted)
        .into_iter()
        .map(|end| {
            let group = order[start..=end].to_vec();
            start = end + 1;
            group
        });
    groups
        .filter(|group| 3 * group.iter().map(of).sum::<u64>() >= rows)
        .collect()
}

struct Columns<'a> {
    observations: &'a Observations,
    seen: &'a [(u32, u64)],
}

impl Columns<'_> {
    fn has_many_numbers(&self, at: usize) -> bool {
        let mut different = BTreeSet::new();
        let numbers = self
            .seen
            .iter()
            .map(|one| self.observations.numbers(one.0)[at]);
        numbers.into_iter().any(|number| {
            different.insert(number.to_bits());
            different.len() > MOST_LABELS
        })
    }

    /// The numbers at a position; a word stands beside some of them.
    fn numbers(&self, at: usize, word: Option<usize>) -> Option<Vec<f64>> {
        let number = |symbol: u32| self.observations.number_at(symbol, at, word);
        let numbers = self.seen.iter().map(|&(symbol, _)| number(symbol));
        self.standardized(&numbers.collect::<Vec<_>>())
    }

    /// Each label at a position; of two labels the second says all.
    fn labels(&self, at: usize) -> Vec<Vec<f64>> {
        let label = |symbol: u32| self.observations.label_at(symbol, at);
        let labels: BTreeSet<&str> = self.seen.iter().map(|one| label(one.0)).collect();
        if labels.len() > MOST_LABELS {
            return Vec::new();
        }
        let told = labels.iter().skip(usize::from(labels.len() <= 2));
        let axis = |wanted: &&str| {
            let is_it = |symbol: u32| Some(f64::from(u8::from(label(symbol) == *wanted)));
            let axis: Vec<_> = self.seen.iter().map(|one| is_it(one.0)).collect();
            self.standardized(&axis)
        };
        told.filter_map(axis).collect()
    }

    fn standardized(&self, numbers: &[Option<f64>]) -> Option<Vec<f64>> {
        let rows = self.seen.iter().map(|one| one.1 as f64);
        let there: Vec<(f64, f64)> = numbers
            .iter()
            .zip(rows)
            .filter_map(|(number, rows)| Some(((*number)?, rows)))
            .collect();
        let mean_of = |value: &dyn Fn(f64) -> f64| {
            let all: f64 = there.iter().map(|(_, rows)| rows).sum();
            let sum = there.iter().map(|&(number, rows)| value(number) * rows);
            sum.sum::<f64>() / all
        };
        let mean = mean_of(&|number| number);
        let deviation = mean_of(&|number| (number - mean) * (number - mean)).sqrt();
        let place = |number: &Option<f64>| number.map_or(0.0, |number| (number - mean) / deviation);
        (deviation > 0.0 && deviation.is_finite()).then(|| numbers.iter().map(place).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> (Observations, Vec<(u32, u64)>) {
        // 20 × 10 points; the first column spreads less per step, both the same once standardized.
        let numbers = (0..200).flat_map(|at| [f64::from(at % 20) * 0.01, f64::from(at / 20)]);
        let observations = Observations::of_numbers(2, numbers.collect());
        (observations, (0..200).map(|at| (at, 3)).collect())
    }

    #[test]
    fn groups_are_of_about_the_size_that_was_asked_for_and_share_no_row() {
        let (observations, seen) = grid();
        let points = Points::new(&observations, &seen).expect("axes");
        for rows in [10, 40, 100, 1000] {
            let groups = points.groups(rows);
            let sizes: Vec<u64> = groups.iter().map(|group| 3 * group.len() as u64).collect();
            assert!(sizes.iter().all(|&size| 3 * size >= rows), "{sizes:?}");
            assert!(
                sizes.iter().all(|&size| 2 * size < 3 * rows || size <= 3),
                "{rows} {sizes:?}"
            );
            let mut all = groups.concat();
            all.sort_unstable();
            assert_eq!(all, (0..200).collect::<Vec<_>>());
        }
        // Quarters of the grid.
        let quarters = points.groups(150);
        assert_eq!(quarters.len(), 4);
        for quarter in quarters {
            let number = |axis: usize| move |at: &usize| [at % 20 / 10, at / 20 / 5][axis];
            for axis in [0, 1] {
                let first = number(axis)(&quarter[0]);
                assert!(quarter.iter().map(number(axis)).all(|half| half == first));
            }
        }
    }

    /// Groups are sets of distinct observations: how often one was seen decides sizes, and nothing else does.
    #[test]
    fn equal_rows_stay_together_and_the_scale_of_a_column_does_not_matter() {
        let (observations, seen) = grid();
        let groups = |observations: &Observations, seen: &[(u32, u64)]| {
            Points::new(observations, seen).expect("axes").groups(45)
        };
        let numbers = observations.all_numbers().iter().enumerate();
        let scaled = numbers.map(|(at, number)| {
            if at % 2 == 0 {
                1024.0 * number
            } else {
                *number
            }
        });
        let scaled = Observations::of_numbers(2, scaled.collect());
        assert_eq!(groups(&observations, &seen), groups(&scaled, &seen));
        let heavy: Vec<(u32, u64)> = (0..200)
            .map(|at| (at, if at == 7 { 500 } else { 3 }))
            .collect();
        let with_it = groups(&observations, &heavy);
        let of_seven = with_it.iter().find(|group| group.contains(&7));
        assert!(of_seven.expect("a group").len() < 200);
    }

    #[test]
    fn the_first_component_is_where_points_vary_most() {
        // On a line, but for a little.
        let numbers = (0..90).flat_map(|at| {
            let x = f64::from(at);
            [x, 2.0 * x + f64::from(at % 3), -x]
        });
        let observations = Observations::of_numbers(3, numbers.collect());
        let seen: Vec<(u32, u64)> = (0..90).map(|at| (at, 1)).collect();
        let points = Points::new(&observations, &seen).expect("axes");
        let line = points.principal(1).expect("fewer axes");
        assert_eq!((line.axes(), points.axes()), (1, 3));
        for group in line.groups(30) {
            let (low, high) = (group.iter().min(), group.iter().max());
            assert_eq!(high.unwrap() - low.unwrap() + 1, group.len());
        }
        assert!(points.principal(2).is_none());
    }

    /// Rows alike in the first column are cut along the second: 10 from either end, 10 more, 20 more, and the rest.
    #[test]
    fn tails_are_cut_from_both_ends_of_rows_that_are_alike() {
        let numbers = (0..240).flat_map(|at| [f64::from(at % 2), f64::from(at / 2)]);
        let observations = Observations::of_numbers(2, numbers.collect());
        let seen: Vec<(u32, u64)> = (0..240).map(|at| (at, 1)).collect();
        let sets = tails(&observations, &seen, 10);
        assert_eq!(sets.len(), 1, "one column of many numbers");
        let sizes: Vec<usize> = sets[0].iter().map(Vec::len).collect();
        let each = [10, 10, 20, 40, 20, 10, 10];
        assert_eq!(sizes, [each, each].concat());
        for group in &sets[0] {
            assert!(group.iter().all(|at| at % 2 == group[0] % 2));
            assert!(group.windows(2).all(|pair| pair[0] < pair[1]));
        }
        let mut all = sets[0].concat();
        all.sort_unstable();
        assert_eq!(all, (0..240).collect::<Vec<_>>());
    }

    /// Two rows of each number, and a hundred of the smallest: these are a group, and no number is in two.
    #[test]
    fn equal_numbers_share_a_tail() {
        let number = |at: u32| at / 4;
        let numbers = (0..160).flat_map(|at| [f64::from(at % 2), f64::from(number(at))]);
        let observations = Observations::of_numbers(2, numbers.collect());
        let often = |at: u32| if number(at) == 0 { 50 } else { 1 };
        let seen: Vec<(u32, u64)> = (0..160).map(|at| (at, often(at))).collect();
        let sets = tails(&observations, &seen, 5);
        assert_eq!(sets[0][0], [0, 2]);
        let of = |group: &Group| -> BTreeSet<(usize, usize)> {
            group.iter().map(|at| (at % 2, at / 4)).collect()
        };
        let apart: usize = sets[0].iter().map(|group| of(group).len()).sum();
        assert_eq!(apart, of(&sets[0].concat()).len());
    }

    #[test]
    fn only_columns_of_many_numbers_beside_others_have_tails() {
        let numbers =
            (0..200).flat_map(|at| [f64::from(at % 2), f64::from(at % MOST_LABELS as u32)]);
        let few = Observations::of_numbers(2, numbers.collect());
        let numbers = (0..200).flat_map(|at| [f64::from(at), f64::from(at * 7 % 200)]);
        let observations = Observations::of_numbers(2, numbers.collect());
        let seen: Vec<(u32, u64)> = (0..200).map(|at| (at, 1)).collect();
        assert!(tails(&observations, &seen, 10).is_empty());
        assert!(tails(&few, &seen, 10).is_empty());
    }

    #[test]
    fn what_does_not_vary_has_no_axis() {
        let constant = Observations::of_numbers(1, vec![4.0, 4.0]);
        assert!(Points::new(&constant, &[(0, 5), (1, 5)]).is_none());
    }
}
