//! Secrets that are points of the plane.

use super::{MAX_LISTED, Secrets};
use crate::error::{Error, Result};
use crate::grammar::{Arguments, Parameter};

/// The parameter `secrets` of planar mechanisms.
pub(super) const PARAMETER: Parameter = Parameter::named(
    "secrets",
    "the secrets there are: the points x;y with x and y in a range a..b of whole numbers (a count \
     n is 0..n-1); default: those of the log, such as 3;4 or (0.5, 2)",
);

/// The columns of an observation that is a point.
pub(super) const COLUMNS: &[&str] = &["x", "y"];

/// The points whose coordinates are whole numbers of a range, row by row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid(pub Secrets);

impl Grid {
    /// Reads a count or a range, if it is given.
    pub(super) fn read(arguments: &Arguments<'_>, parameter: &str) -> Result<Option<Self>> {
        match Secrets::read(arguments, parameter)? {
            Some(side) if side.count() > MAX_LISTED.isqrt() => Err(arguments.error(format!(
                "{parameter} has {} numbers, so too many points to list; the most is {}",
                side.count(),
                MAX_LISTED.isqrt()
            ))),
            side => Ok(side.map(Grid)),
        }
    }

    /// How many points there are.
    pub fn count(self) -> u64 {
        self.0.count() * self.0.count()
    }

    /// The point of a number below the count.
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

    /// Whether a point is one of these.
    pub fn contains(self, point: [f64; 2]) -> bool {
        let range = self.0.first() as f64..=self.0.last() as f64;
        point.iter().all(|x| x.fract() == 0.0 && range.contains(x))
    }
}

/// Reads labels as points: two numbers with `;` or `,` between them, parentheses or brackets around
/// them or not.
///
/// # Errors
/// A label that is no point, or none of the declared ones.
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
                let problem = format!("{label:?} is none of its secrets");
                Err(Error::parameter(mechanism, problem)
                    .with_hint("leave secrets= out to take the secrets of the log"))
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

/// The first pair of points that are farthest apart; `None` if there are fewer than two.
pub(super) fn outermost(points: &[[f64; 2]]) -> Option<(usize, usize)> {
    let mut best: Option<(f64, (usize, usize))> = None;
    for (a, &from) in points.iter().enumerate() {
        for (b, &to) in points.iter().enumerate().skip(a + 1) {
            let apart = distance(from, to);
            if best.is_none_or(|(most, _)| apart > most) {
                best = Some((apart, (a, b)));
            }
        }
    }
    best.map(|(_, pair)| pair)
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
}
