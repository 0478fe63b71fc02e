//! Where a condition ceases to hold, between two numbers.

use crate::extreme::Extreme;

/// The ends of an interval in which a condition that holds at 0, or not at all, ceases to hold.
pub(super) fn crossing(from: f64, holds: impl Fn(f64) -> bool) -> (f64, f64) {
    if !holds(from) {
        return (from, from);
    }
    let mut to = 1.0;
    while holds(to) {
        to *= 2.0;
        if to > 1e300 {
            return (to, f64::INFINITY);
        }
    }
    bisected((from, to), holds)
}

/// The ends of an interval near the middle of another one in which a condition ceases to hold as numbers rise; an end
/// of that one twice where it does not.
pub(super) fn nearest_crossing(
    (low, middle, high): (f64, f64, f64),
    unit: f64,
    holds: impl Fn(f64) -> bool,
) -> (f64, f64) {
    let up = holds(middle);
    let (mut near, mut step) = (middle, 0.25 * unit);
    loop {
        let far = if up { middle + step } else { middle - step };
        let end = if up { high } else { low };
        let far = if up {
            far.at_most(high)
        } else {
            far.at_least(low)
        };
        if holds(far) != up {
            return bisected(if up { (near, far) } else { (far, near) }, holds);
        }
        if far == end {
            return (end, end);
        }
        (near, step) = (far, 2.0 * step);
    }
}

/// The same between an end where the condition holds and one where it does not.
fn bisected((mut from, mut to): (f64, f64), holds: impl Fn(f64) -> bool) -> (f64, f64) {
    while to - from > 1e-9 * to {
        let middle = 0.5 * (from + to);
        if middle <= from || middle >= to {
            break;
        }
        if holds(middle) {
            from = middle;
        } else {
            to = middle;
        }
    }
    (from, to)
}
