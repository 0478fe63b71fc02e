//! The times of one class, as they came and sorted.

use std::borrow::Cow;

/// The times of one class, one a block: in the order of the blocks, and sorted.
#[derive(Debug, Clone)]
pub struct Times<'a> {
    in_order: Cow<'a, [f64]>,
    sorted: Cow<'a, [f64]>,
}

impl<'a> Times<'a> {
    /// Sorts the times of every block, given in the order of the blocks.
    pub fn new(in_order: impl Into<Cow<'a, [f64]>>) -> Self {
        let in_order = in_order.into();
        let sorted = Cow::Owned(sorted(&in_order));
        Times { in_order, sorted }
    }

    /// Times that are sorted already: a class of many pairs is sorted once.
    ///
    /// # Panics
    /// If the two have different lengths.
    pub fn with_sorted(in_order: &'a [f64], sorted: &'a [f64]) -> Self {
        assert_eq!(in_order.len(), sorted.len(), "the same times");
        Times {
            in_order: Cow::Borrowed(in_order),
            sorted: Cow::Borrowed(sorted),
        }
    }

    /// In the order of the blocks.
    pub fn in_order(&self) -> &[f64] {
        &self.in_order
    }

    /// From the shortest to the longest.
    pub fn sorted(&self) -> &[f64] {
        &self.sorted
    }
}

/// The values from the smallest to the largest.
pub fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

/// The value at a place, from 0, among those of both.
///
/// # Panics
/// If they have not so many values.
pub(super) fn of_both([a, b]: [&[f64]; 2], place: usize) -> f64 {
    // How many of the values before the place are a's.
    let (mut low, mut high) = (place.saturating_sub(b.len()), place.min(a.len()));
    while low < high {
        let middle = low.midpoint(high);
        if a[middle].total_cmp(&b[place - middle - 1]).is_lt() {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    match (a.get(low), b.get(place - low)) {
        (Some(&x), Some(&y)) => x.min(y),
        (Some(&x), None) => x,
        (None, Some(&y)) => y,
        (None, None) => panic!("both together have a value at {place}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn places_are_those_of_all_values_together(
            a in prop::collection::vec(-9i32..9, 0..12),
            b in prop::collection::vec(-9i32..9, 1..12),
        ) {
            let [a, b] = [a, b].map(|values| -> Vec<f64> { values.into_iter().map(f64::from).collect() });
            let all = sorted(&[a.clone(), b.clone()].concat());
            let (a, b) = (Times::new(a), Times::new(b));
            for (place, &value) in all.iter().enumerate() {
                prop_assert_eq!(of_both([a.sorted(), b.sorted()], place), value);
            }
        }
    }
}
