//! Secrets that are points in the plane.

use super::{MAX_LISTED, Secrets};
use leakgauge_base::error::{Error, Result};
use leakgauge_base::grammar::{Arguments, Parameter};

/// The parameter `secrets` of planar mechanisms.
pub(super) const PARAMETER: Parameter = Parameter::named(
    "secrets",
    "the possible secrets: the points x;y with x and y in a range a..b of whole numbers (a count n \
     means 0..n-1); default: the secrets of the log, such as 3;4 or (0.5, 2)",
);

/// The columns of an observation that is a point.
pub(super) const COLUMNS: &[&str] = &["x", "y"];

/// The points whose coordinates are whole numbers in a range, row by row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid(pub Secrets);

impl Grid {
    /// Reads a count or a range, if it is given.
    pub(super) fn read(arguments: &Arguments<'_>, parameter: &str) -> Result<Option<Self>> {
        match Secrets::read(arguments, parameter)? {
            Some(side) if side.count() > MAX_LISTED.isqrt() => Err(arguments.error(format!(
                "{parameter} has {} numbers, which gives too many points to list; the limit is {} points",
                side.count(),
                MAX_LISTED.isqrt()
            ))),
            side => Ok(side.map(Grid)),
        }
    }

    /// The number of points.
    pub fn count(self) -> u64 {
        self.0.count() * self.0.count()
    }

    /// A point by its number, from 0.
    pub fn point(self, number: u64) -> [f64; 2] {
        let (side, first) = (self.0.count(), self.0.first() as f64);
        [(number / side) as f64, (number % side) as f64].map(|step| first + step)
    }

    /// The labels of all points: `3;4`.
    pub fn labels(self) -> Vec<String> {
        (0..self.count())
            .map(|number| {
                let [x, y] = self.point(number);
                format!("{x};{y}")
            })
            .collect()
    }

    /// Whether the grid contains a point.
    pub fn contains(self, point: [f64; 2]) -> bool {
        let range = self.0.first() as f64..=self.0.last() as f64;
        point.iter().all(|x| x.fract() == 0.0 && range.contains(x))
    }
}

/// Reads labels as points: two numbers separated by `;` or `,`, optionally in parentheses or brackets.
///
/// # Errors
/// A label is not a point, or not one of the declared points.
pub(super) fn bind(
    mechanism: &str,
    labels: &[String],
    declared: Option<Grid>,
) -> Result<Vec<[f64; 2]>> {
    let read = |label: &String| {
        let point = read(label).ok_or_else(|| {
            let problem = format!("its secrets are points; the log has the secret {label:?}");
            Error::parameter(mechanism, problem)
                .with_hint("write points as 3;4 or \"(3, 4)\" in the column of the secret")
        })?;
        match declared {
            Some(grid) if !grid.contains(point) => {
                let problem = format!("{label:?} is not one of its secrets");
                Err(Error::parameter(mechanism, problem)
                    .with_hint("remove secrets= to use the secrets of the log"))
            }
            _ => Ok(point),
        }
    };
    labels.iter().map(read).collect()
}

fn read(label: &str) -> Option<[f64; 2]> {
    let inside = label.trim();
    let inside = [("(", ")"), ("[", "]")]
        .iter()
        .find_map(|(open, close)| inside.strip_prefix(open)?.strip_suffix(close))
        .unwrap_or(inside);
    let (x, y) = inside.split_once([';', ','])?;
    let number = |text: &str| text.trim().parse().ok().filter(|x: &f64| x.is_finite());
    Some([number(x)?, number(y)?])
}

/// The Euclidean distance of two points.
pub(super) fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

/// The first pair of points that are farthest apart; `None` if there are fewer than two. Both are
/// vertices of the convex hull, which usually has few.
pub(super) fn outermost(points: &[[f64; 2]]) -> Option<(usize, usize)> {
    if points.len() < 2 {
        return None;
    }
    let corners = hull(points);
    let mut best = (0.0, (0, 1));
    for (i, &a) in corners.iter().enumerate() {
        for &b in &corners[i + 1..] {
            let (apart, pair) = (distance(points[a], points[b]), (a.min(b), a.max(b)));
            if apart > best.0 || (apart == best.0 && apart > 0.0 && pair < best.1) {
                best = (apart, pair);
            }
        }
    }
    Some(best.1)
}

/// The vertices of the convex hull, in the order of their numbers.
fn hull(points: &[[f64; 2]]) -> Vec<usize> {
    let mut corners = ring(points);
    corners.sort_unstable();
    corners
}

/// The vertices of the convex hull, counterclockwise, by Andrew's monotone chain; of equal points, the first.
pub(super) fn ring(points: &[[f64; 2]]) -> Vec<usize> {
    let mut sorted: Vec<usize> = (0..points.len()).collect();
    let order = |&a: &usize, &b: &usize| {
        let ([ax, ay], [bx, by]) = (points[a], points[b]);
        ax.total_cmp(&bx).then(ay.total_cmp(&by)).then(a.cmp(&b))
    };
    sorted.sort_unstable_by(order);
    sorted.dedup_by(|next, kept| points[*next] == points[*kept]);
    let chain = |order: &mut dyn Iterator<Item = usize>| {
        let mut chain: Vec<usize> = Vec::new();
        for c in order {
            while let [.., a, b] = chain[..]
                && !turns_left(points[a], points[b], points[c])
            {
                chain.pop();
            }
            chain.push(c);
        }
        chain
    };
    let mut corners = chain(&mut sorted.iter().copied());
    let back = chain(&mut sorted.iter().rev().copied());
    // Both ends are in both chains.
    if let [_, inner @ .., _] = &back[..] {
        corners.extend(inner);
    }
    corners
}

fn turns_left([ax, ay]: [f64; 2], [bx, by]: [f64; 2], [cx, cy]: [f64; 2]) -> bool {
    (bx - ax) * (cy - ay) - (by - ay) * (cx - ax) > 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_read_in_every_form_that_logs_have() {
        for label in [
            "3;-4.5",
            "3,-4.5",
            "(3, -4.5)",
            " [ 3 ; -4.5 ] ",
            "3e0;-45e-1",
        ] {
            assert_eq!(read(label), Some([3.0, -4.5]), "{label}");
        }
        for label in ["", "3", "3;", "3;4;5", "(3;4", "a;b", "NaN;1", "inf;1"] {
            assert_eq!(read(label), None, "{label}");
        }
    }

    #[test]
    fn a_grid_lists_its_points_row_by_row() {
        let grid = Grid(Secrets::Range { from: -1, to: 0 });
        assert_eq!(grid.labels(), ["-1;-1", "-1;0", "0;-1", "0;0"]);
        assert!(grid.contains([0.0, -1.0]) && !grid.contains([0.5, 0.0]));
        let points = bind("m", &grid.labels(), Some(grid)).unwrap();
        assert_eq!(points[2], grid.point(2));
        assert_eq!(outermost(&points), Some((0, 3)));
    }

    #[test]
    fn the_farthest_pair_is_the_first_of_all_pairs() {
        let mut state = 7u64;
        let mut next = |side: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            ((state >> 33) % side) as f64
        };
        for n in 0..200 {
            let side = 1 + n % 7;
            let points: Vec<_> = (0..n % 40).map(|_| [next(side), next(side)]).collect();
            let pairs = (0..points.len()).flat_map(|a| (a + 1..points.len()).map(move |b| (a, b)));
            let mut best: Option<(f64, (usize, usize))> = None;
            for (a, b) in pairs {
                let apart = distance(points[a], points[b]);
                if best.is_none_or(|(most, _)| apart > most) {
                    best = Some((apart, (a, b)));
                }
            }
            assert_eq!(outermost(&points), best.map(|(_, pair)| pair), "{points:?}");
        }
    }
}
