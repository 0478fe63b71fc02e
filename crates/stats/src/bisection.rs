//! Where a monotone condition changes.

/// Halves an interval whose lower end satisfies a condition and whose upper end does not, so many times. Returns
/// both ends: the condition holds at the lower one, and not at the upper one unless that is still the first.
///
/// # Conditions
/// The condition is monotone: true up to some point and false from there.
pub fn bisect(interval: (f64, f64), steps: u32, holds: impl Fn(f64) -> bool) -> (f64, f64) {
    let (mut low, mut high) = interval;
    for _ in 0..steps {
        let middle = 0.5 * (low + high);
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low, high)
}

/// About the smallest x with cdf(x) ≥ p, down to a width that is absolute and one that is relative; with (0, 0)
/// to rounding.
///
/// # Conditions
/// `cdf` does not decrease. A quantile beyond ±1e300 gives that number.
pub fn quantile(cdf: &dyn Fn(f64) -> f64, p: f64, (absolute, relative): (f64, f64)) -> f64 {
    /// From 1e300 down to neighboring numbers.
    const MOST_STEPS: u32 = 1100;
    let mut reach = 1.0;
    while reach < 1e300 && (cdf(-reach) >= p || cdf(reach) < p) {
        reach *= 2.0;
    }
    let (mut low, mut high) = (-reach, reach);
    for _ in 0..MOST_STEPS {
        let middle = 0.5 * (low + high);
        let enough = absolute + relative * low.abs().min(high.abs());
        if middle <= low || middle >= high || high - low <= enough {
            break;
        }
        if cdf(middle) >= p {
            high = middle
        } else {
            low = middle
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_close_in_on_the_change() {
        let (low, high) = bisect((0.0, 2.0), 40, |x| x * x < 2.0);
        assert!(low * low < 2.0 && high * high >= 2.0 && high - low < 1e-11);
    }

    #[test]
    fn the_quantile_of_a_step_is_where_it_is() {
        let step = |x: f64| if x >= 3.0 { 1.0 } else { 0.0 };
        assert_eq!(quantile(&step, 0.5, (0.0, 0.0)), 3.0);
        let rough = quantile(&step, 0.5, (0.1, 0.0));
        assert!((3.0..=3.1).contains(&rough), "{rough}");
    }
}
