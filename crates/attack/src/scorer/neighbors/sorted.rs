//! One dimension: a sweep over the sorted values of a secret, its k-neighbor window sliding along.

use leakgauge_neighbors::Metric;

use crate::scorer::neighbors::LN_NEAR;

/// The sorted values of each secret.
pub struct Sorted {
    metric: Metric,
    secrets: Vec<Values>,
    /// The smallest gap between different fit values: the grid that the data was rounded to, if any.
    grid: f64,
}

struct Values {
    /// Distinct values, ascending.
    distinct: Vec<f64>,
    /// Rows below each distinct value, and at the end all rows.
    below: Vec<usize>,
}

impl Sorted {
    /// Arranges the values of every secret, in any order, with their numbers of rows.
    pub fn new(metric: Metric, values: impl IntoIterator<Item = Vec<(f64, usize)>>) -> Self {
        let secrets: Vec<Values> = values.into_iter().map(Values::new).collect();
        let mut all: Vec<f64> = secrets
            .iter()
            .flat_map(|values| values.distinct.iter().copied())
            .collect();
        all.sort_unstable_by(f64::total_cmp);
        let gaps = all
            .windows(2)
            .map(|pair| pair[1] - pair[0])
            .filter(|gap| *gap > 0.0);
        let grid = gaps.fold(f64::INFINITY, f64::min);
        Sorted {
            metric,
            secrets,
            grid: if grid.is_finite() { grid } else { 1.0 },
        }
    }

    /// Calls `found(query, rank, ln r)` for every query and every k; `order` holds the queries by
    /// ascending value.
    pub fn search(
        &self,
        secret: usize,
        queries: &[f64],
        order: &[usize],
        ks: &[usize],
        found: &mut dyn FnMut(usize, usize, f64),
    ) {
        let values = &self.secrets[secret];
        for (rank, &k) in ks.iter().enumerate() {
            let Some(&start) = order.first() else {
                return;
            };
            let mut window = Window::around(values, k, queries[start]);
            for &query in order {
                let distance = window.spread_distance(queries[query], self.grid);
                found(query, rank, distance.ln().max(LN_NEAR));
            }
        }
    }

    /// The keys of the k nearest; see `Group::search`.
    pub fn keys(
        &self,
        secret: usize,
        queries: &[f64],
        k: usize,
        found: &mut dyn FnMut(usize, &[f64]),
    ) {
        let Values { distinct, below } = &self.secrets[secret];
        let mut nearest = Vec::with_capacity(k);
        for (query, &x) in queries.iter().enumerate() {
            nearest.clear();
            let mut high = distinct.partition_point(|&value| value < x);
            let mut low = high;
            while nearest.len() < k && (low > 0 || high < distinct.len()) {
                let down = low
                    .checked_sub(1)
                    .map_or(f64::INFINITY, |at| x - distinct[at]);
                let up = distinct.get(high).map_or(f64::INFINITY, |value| value - x);
                let at = if down <= up {
                    low -= 1;
                    low
                } else {
                    high += 1;
                    high - 1
                };
                let rows = (below[at + 1] - below[at]).min(k - nearest.len());
                let key = self.metric.key(&[down.min(up)], &[0.0]);
                nearest.resize(nearest.len() + rows, key);
            }
            found(query, &nearest);
        }
    }
}

impl Values {
    fn new(mut ascending: Vec<(f64, usize)>) -> Self {
        ascending.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut values = Values {
            distinct: Vec::with_capacity(ascending.len()),
            below: Vec::with_capacity(ascending.len() + 1),
        };
        let mut rows = 0;
        for (value, count) in ascending {
            // Scaling can make neighbors equal.
            if values.distinct.last() != Some(&value) {
                values.distinct.push(value);
                values.below.push(rows);
            }
            rows += count;
        }
        values.below.push(rows);
        values
    }

    fn rows(&self) -> usize {
        *self.below.last().expect("ends with the number of rows")
    }
}

/// k consecutive sorted rows, the nearest to a query that only moves up.
struct Window<'v> {
    values: &'v Values,
    k: usize,
    /// Row numbers of the window's first row and of its last, with their distinct values.
    first: usize,
    first_value: usize,
    last_value: usize,
}

impl<'v> Window<'v> {
    /// The window from which the k nearest of `x` are reached by moving up: it ends below `x`.
    fn around(values: &'v Values, k: usize, x: f64) -> Self {
        let below_x = values.below[values.distinct.partition_point(|&value| value < x)];
        let first = below_x.saturating_sub(k).min(values.rows() - k);
        let holding = |row: usize| values.below.partition_point(|&below| below <= row) - 1;
        Window {
            values,
            k,
            first,
            first_value: holding(first),
            last_value: holding(first + k - 1),
        }
    }

    fn catch_up(&mut self) {
        let below = &self.values.below;
        let (first, last) = (self.first, self.first + self.k - 1);
        self.first_value = gallop(below, self.first_value + 1, |&below| below <= first) - 1;
        self.last_value = gallop(below, self.last_value + 1, |&below| below <= last) - 1;
    }

    /// Leaves out the windows whose rows all lie below `x` but for the last of them.
    fn skip_to(&mut self, x: f64) {
        let Values { distinct, below } = self.values;
        let at = gallop(distinct, self.last_value, |&value| value < x);
        let first = below[at].saturating_sub(self.k);
        if first > self.first {
            self.first = first;
            self.catch_up();
        }
    }

    /// Moves the window so that it holds k rows nearest to `x`.
    fn move_to(&mut self, x: f64) {
        self.skip_to(x);
        let Values { distinct, below } = self.values;
        while self.first + self.k < self.values.rows() {
            let incoming = if below[self.last_value + 1] > self.first + self.k {
                self.last_value
            } else {
                self.last_value + 1
            };
            if distinct[incoming] - x >= x - distinct[self.first_value] {
                break;
            }
            // All rows of the first value leave together, unless the last value changes before.
            let leaving = below[self.first_value + 1] - self.first;
            let entering = below[incoming + 1] - (self.first + self.k);
            self.first += leaving.min(entering);
            self.catch_up();
        }
    }

    /// The distance to the k-th neighbor if every fit row were spread evenly over its grid cell. On
    /// data without ties this is the distance plus half a (tiny) grid step; on rounded data it keeps
    /// the order that ties would lose.
    fn spread_distance(&mut self, x: f64, grid: f64) -> f64 {
        self.move_to(x);
        let Values { distinct, below } = self.values;
        let radius = (x - distinct[self.first_value])
            .max(distinct[self.last_value] - x)
            .max(0.0);
        let (mut low, mut high) = (self.first_value, self.last_value);
        while low > 0 && x - distinct[low - 1] <= radius {
            low -= 1;
        }
        while high + 1 < distinct.len() && distinct[high + 1] - x <= radius {
            high += 1;
        }
        let within = below[high + 1] - below[low];
        if radius == 0.0 {
            return 0.5 * grid * self.k as f64 / within as f64;
        }
        let at_low = if x - distinct[low] == radius {
            below[low + 1] - below[low]
        } else {
            0
        };
        let at_high = if high != low && distinct[high] - x == radius {
            below[high + 1] - below[high]
        } else {
            0
        };
        let at_high = if high == low && at_low == 0 {
            within
        } else {
            at_high
        };
        let at_radius = at_low + at_high;
        let inside = within - at_radius;
        let share = (self.k - inside.min(self.k - 1)) as f64 / at_radius.max(1) as f64;
        (radius - 0.5 * grid + grid * share.min(1.0)).max(0.5 * radius)
    }
}

/// The first place from `start` on that a condition does not hold at, if it holds up to some place and nowhere beyond.
fn gallop<T>(values: &[T], start: usize, holds: impl Fn(&T) -> bool) -> usize {
    let (mut low, mut step) = (start, 1);
    while low + step <= values.len() && holds(&values[low + step - 1]) {
        low += step;
        step *= 2;
    }
    let high = (low + step - 1).min(values.len());
    low + values[low..high].partition_point(holds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sorted(values: &[f64]) -> Sorted {
        let mut values = values.to_vec();
        values.sort_by(f64::total_cmp);
        let counted = values
            .chunk_by(|a, b| a == b)
            .map(|equal| (equal[0], equal.len()));
        Sorted::new(Metric::Manhattan, [counted.collect()])
    }

    /// The definition: sort all distances, spread each tie over its cell.
    fn direct(values: &[f64], x: f64, k: usize, grid: f64) -> f64 {
        let mut distances: Vec<f64> = values.iter().map(|value| (value - x).abs()).collect();
        distances.sort_by(f64::total_cmp);
        let radius = distances[k - 1];
        let inside = distances.iter().filter(|d| **d < radius).count();
        let at = distances.iter().filter(|d| **d == radius).count();
        if radius == 0.0 {
            return 0.5 * grid * k as f64 / at as f64;
        }
        (radius - 0.5 * grid + grid * (k - inside) as f64 / at as f64).max(0.5 * radius)
    }

    proptest! {
        #[test]
        fn the_sweep_finds_what_sorting_all_distances_finds(
            values in prop::collection::vec(-12i32..12, 1..60),
            queries in prop::collection::vec(-15i32..15, 1..30),
            k in 1usize..20,
            step in prop::sample::select(vec![0.25, 1.0, 0.5]),
        ) {
            let values: Vec<f64> = values.iter().map(|&v| f64::from(v) * step).collect();
            let queries: Vec<f64> = queries.iter().map(|&q| f64::from(q) * step).collect();
            let order = super::super::ascending_order(&queries);
            let k = k.min(values.len());
            let index = sorted(&values);
            let mut found = vec![0.0; queries.len()];
            index.search(0, &queries, &order, &[k], &mut |query, _, ln| found[query] = ln);
            for (x, ln) in queries.iter().zip(found) {
                let expected = direct(&values, *x, k, index.grid).ln().max(LN_NEAR);
                prop_assert!((ln - expected).abs() < 1e-12, "{x}: {ln} {expected}");
            }
            index.keys(0, &queries, k, &mut |query, distances| {
                let mut all: Vec<f64> = values.iter().map(|v| (v - queries[query]).abs()).collect();
                all.sort_by(f64::total_cmp);
                assert_eq!(distances, &all[..k]);
            });
        }
    }
}
