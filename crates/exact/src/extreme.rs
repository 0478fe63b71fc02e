//! The smaller and the larger of two numbers where what is not a number stays visible.
//!
//! `f64::min` and `f64::max` return the other number if one is NaN: a figure that could not be computed then becomes a
//! limit such as 0 or 1, which says "perfectly secure". In this crate `clippy.toml` forbids them.

/// Comparisons that NaN wins.
pub(crate) trait Extreme: Copy {
    /// The smaller of both; NaN if one is.
    #[must_use]
    fn at_most(self, most: Self) -> Self;

    /// The larger of both; NaN if one is.
    #[must_use]
    fn at_least(self, least: Self) -> Self;
}

impl Extreme for f64 {
    fn at_most(self, most: f64) -> f64 {
        if self < most || self.is_nan() {
            self
        } else {
            most
        }
    }

    fn at_least(self, least: f64) -> f64 {
        if self > least || self.is_nan() {
            self
        } else {
            least
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_number_is_never_hidden() {
        assert_eq!((1.0.at_most(2.0), 3.0.at_most(2.0)), (1.0, 2.0));
        assert_eq!((1.0.at_least(2.0), 3.0.at_least(2.0)), (2.0, 3.0));
        for other in [0.0, 1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            assert!(f64::NAN.at_most(other).is_nan() && other.at_most(f64::NAN).is_nan());
            assert!(f64::NAN.at_least(other).is_nan() && other.at_least(f64::NAN).is_nan());
        }
        let worst = [0.5, f64::NAN, 0.25].into_iter().fold(1.0, f64::at_most);
        assert!(worst.is_nan());
    }
}
