//! A sample by its distinct values.

/// Measurements in ascending order, each distinct value once with the number of its rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    values: Vec<f64>,
    /// Rows up to and with each value.
    up_to: Vec<u64>,
}

impl Ranked {
    /// From values and how many rows have each; the same value may come again.
    ///
    /// # Panics
    /// If there is no row, or a value is not finite.
    pub fn new(rows: impl IntoIterator<Item = (f64, u64)>) -> Ranked {
        let mut rows: Vec<(f64, u64)> = rows.into_iter().filter(|row| row.1 > 0).collect();
        assert!(rows.iter().all(|row| row.0.is_finite()), "finite values");
        rows.sort_unstable_by(|x, y| x.0.total_cmp(&y.0));
        let (mut values, mut up_to): (Vec<f64>, Vec<u64>) = Default::default();
        let mut all = 0;
        for (value, count) in rows {
            all += count;
            if values.last() == Some(&value) {
                up_to.pop();
            } else {
                values.push(value);
            }
            up_to.push(all);
        }
        assert!(all > 0, "at least one row");
        Ranked { values, up_to }
    }

    /// The number of rows.
    pub fn rows(&self) -> u64 {
        self.up_to[self.up_to.len() - 1]
    }

    /// The value of this rank, from 1; −∞ below the first, ∞ above the last.
    pub(crate) fn at(&self, rank: i64) -> f64 {
        if rank < 1 {
            return f64::NEG_INFINITY;
        }
        let place = self.up_to.partition_point(|&up_to| up_to < rank as u64);
        self.values.get(place).copied().unwrap_or(f64::INFINITY)
    }

    /// The place among the distinct values of the value of this rank, from 0.
    pub(crate) fn place(&self, rank: u64) -> usize {
        let place = self.up_to.partition_point(|&up_to| up_to <= rank);
        place.min(self.values.len() - 1)
    }

    /// The smallest value that at least this share of the rows does not exceed; of a half, the middle of the two
    /// middle values.
    pub fn quantile(&self, p: f64) -> f64 {
        let n = self.rows();
        if p == 0.5 {
            return 0.5 * (self.at(n.div_ceil(2) as i64) + self.at(n as i64 / 2 + 1));
        }
        self.at(((n as f64 * p).ceil() as i64).clamp(1, n as i64))
    }

    /// Rows below a value.
    pub fn below(&self, value: f64) -> u64 {
        self.before(self.values.partition_point(|&x| x < value))
    }

    /// Rows up to a value.
    pub fn up_to(&self, value: f64) -> u64 {
        self.before(self.values.partition_point(|&x| x <= value))
    }

    /// Distinct values with their rows, ascending.
    pub(super) fn cells(&self) -> impl DoubleEndedIterator<Item = (f64, u64)> + Clone {
        (0..self.values.len()).map(|at| (self.values[at], self.count(at)))
    }

    /// The distinct values.
    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    /// Rows before the distinct value at this place.
    pub(super) fn before(&self, place: usize) -> u64 {
        place.checked_sub(1).map_or(0, |last| self.up_to[last])
    }

    fn count(&self, place: usize) -> u64 {
        self.up_to[place] - self.before(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_count_rows_of_equal_values() {
        let sample = Ranked::new([(3.0, 2), (1.0, 1), (2.0, 0), (3.0, 1)]);
        assert_eq!(sample.rows(), 4);
        let ranks: Vec<f64> = (0..=5).map(|rank| sample.at(rank)).collect();
        let inf = f64::INFINITY;
        assert_eq!(ranks, [-inf, 1.0, 3.0, 3.0, 3.0, inf]);
        assert_eq!((sample.quantile(0.25), sample.quantile(0.26)), (1.0, 3.0));
        assert_eq!(Ranked::new([(1.0, 1), (2.0, 1)]).quantile(0.5), 1.5);
        assert_eq!([1.0, 2.0, 9.0].map(|x| sample.below(x)), [0, 1, 4]);
        assert_eq!(sample.cells().collect::<Vec<_>>(), [(1.0, 1), (3.0, 3)]);
    }
}
