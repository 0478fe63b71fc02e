//! Tails of a column of numbers: how many rows they have, and where they end.
//!
//! Nobody knows how far out a leak shows, so tails of several sizes are tried, each twice as large as the next one:
//! with fewer sizes the best one is missed by more, with more of them each has less of the level.

/// Each tail has so many times the rows of the next one.
const RARER: u64 = 2;
/// The smallest tail has so many rows, at least: what fewer rows say is noise.
const LEAST: f64 = 10.0;

/// Numbers of rows from half of all down to ten, the largest first. They are not whole: whoever counts rounds.
pub fn halves(all: u64) -> impl Iterator<Item = f64> {
    let smaller = |rows: &f64| Some(rows / RARER as f64);
    std::iter::successors(Some(all as f64 / RARER as f64), smaller)
        .take_while(|&rows| rows >= LEAST)
}

/// Numbers of rows from so many up to half of all, the smallest first.
pub fn doubles(least: u64, all: u64) -> impl Iterator<Item = u64> {
    let larger = |rows: &u64| rows.checked_mul(RARER);
    let sizes = std::iter::successors(Some(least.max(1)), larger);
    sizes.take_while(move |&rows| rows <= all / RARER)
}

/// The places behind which one of some ascending numbers of rows, or several, are reached: of steps in the order of a
/// number, each with its rows. A step that is tied with the next one is no place to end, so that equal numbers stay
/// together.
pub fn ends(
    rows: impl IntoIterator<Item = u64>,
    is_tied: impl Fn(usize) -> bool,
    wanted: &[f64],
) -> Vec<usize> {
    let mut found = Vec::new();
    let (mut passed, mut next) = (0, 0);
    for (place, rows) in rows.into_iter().enumerate() {
        passed += rows;
        if !is_tied(place) && wanted.get(next).is_some_and(|&end| passed as f64 >= end) {
            next += wanted[next..].partition_point(|&end| passed as f64 >= end);
            found.push(place);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_halve_down_to_ten_rows_and_double_up_to_half() {
        let halves: Vec<f64> = halves(165).collect();
        assert_eq!(halves, [82.5, 41.25, 20.625, 10.3125]);
        assert_eq!(super::halves(19).count(), 0);
        assert_eq!(doubles(10, 165).collect::<Vec<_>>(), [10, 20, 40, 80]);
        assert_eq!(doubles(10, 160).last(), Some(80));
        assert_eq!(doubles(0, 9).collect::<Vec<_>>(), [1, 2, 4]);
        assert_eq!(doubles(u64::MAX, u64::MAX).count(), 0);
    }

    #[test]
    fn tails_end_where_a_size_is_reached_and_numbers_differ() {
        let free = |_: usize| false;
        assert_eq!(ends([4, 4, 4, 4], free, &[3.0, 4.5, 8.0, 13.0]), [0, 1, 3]);
        // The second step holds two sizes; the fourth is never reached.
        assert_eq!(ends([1, 20, 1], free, &[1.0, 10.0, 20.0, 99.0]), [0, 1]);
        let tied = |place: usize| place == 1;
        assert_eq!(ends([4, 4, 4, 4], tied, &[4.0, 8.0]), [0, 2]);
    }
}
