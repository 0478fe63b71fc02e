//! Products of two columns, each less its mean: what a masked implementation of two shares leaks.

use std::ops::Range;

use super::standard::standardized;

/// Products of all pairs of windows of neighboring columns, a window with itself among them.
///
/// # Formula
/// Of columns x_c of n rows let z_c = (x_c − m_c)/d_c with the mean m_c and the deviation d_c of all rows. A window has
/// the mean of its z_c, on the same scale again. The product of two windows is that of theirs, row by row: with one
/// column a window the centered product of two samples, or the centered square of one.
///
/// # Conditions
/// m_c and d_c are of all rows, whatever their secrets: what a random assignment of secrets finds is what it would have
/// found on a log of that assignment.
///
/// # References
/// Prouff, Rivain and Bévan (2009), 10.1109/TC.2009.15: of the usual ways to combine two samples the centered product is
/// the best for noise that is large.
#[derive(Debug, Clone)]
pub struct Products {
    /// The columns of each window.
    windows: Vec<Range<usize>>,
    /// What each window has in every row.
    scaled: Vec<Vec<f32>>,
    /// The windows of each product.
    pairs: Vec<(usize, usize)>,
}

impl Products {
    /// Products of so many columns: of each with each where there are at most `most` columns, else of `most` windows of
    /// as equal numbers of neighbors as can be.
    pub fn of(numbers: &[&[f64]], columns: usize, most: usize) -> Self {
        let number = columns.min(most);
        let bound = |at: usize| (at * columns).div_ceil(number.max(1));
        let windows: Vec<Range<usize>> = (0..number).map(|at| bound(at)..bound(at + 1)).collect();
        let scaled = leakgauge_base::parallel::map(number, |at| {
            let mut sum = vec![0.0; numbers.len()];
            for column in windows[at].clone() {
                let own = standardized(numbers.iter().map(|row| row[column]).collect());
                sum.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
            }
            standardized(sum)
                .into_iter()
                .map(|value| value as f32)
                .collect()
        });
        let pairs = (0..number).flat_map(|left| (left..number).map(move |right| (left, right)));
        Products {
            pairs: pairs.collect(),
            windows,
            scaled,
        }
    }

    /// How many products there are.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// The columns of the two windows of a product.
    pub fn windows(&self, at: usize) -> (Range<usize>, Range<usize>) {
        let (left, right) = self.pairs[at];
        (self.windows[left].clone(), self.windows[right].clone())
    }

    /// What a product is in every row.
    pub fn values(&self, at: usize) -> Vec<f64> {
        let (left, right) = self.pairs[at];
        let pairs = self.scaled[left].iter().zip(&self.scaled[right]);
        pairs
            .map(|(&left, &right)| f64::from(left) * f64::from(right))
            .collect()
    }
}
