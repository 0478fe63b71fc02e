//! What a promise of privacy leaves to each pair of a log's secrets.

use super::{Guarantee, orders};
use crate::extreme::Extreme;
use leakgauge_base::error::{Error, Result, shorten};
use leakgauge_base::naming::option;

/// Distances this close to a whole number of units, relative, count as it: 0.8 and 0.5 are 3 steps
/// of 0.1 apart.
const ROUNDING: f64 = 1e-9;

/// Which secrets a promise takes for neighbors, and what it asks of their labels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Neighbors {
    /// All secrets are neighbors of each other, whatever their labels.
    All,
    /// Secrets are numbers or points, and neighbors are at most `unit` apart (Euclidean distance).
    Within {
        /// The largest distance of neighbors, in the unit of the labels.
        unit: f64,
        /// Whether a part of a step counts as a step (group privacy) rather than as a part (metric privacy).
        whole_steps: bool,
    },
    /// Secrets are orders of the same items that differ within one group of places, written 2-1-3. All of
    /// them are neighbors.
    Orders {
        /// The first and the last place of the group, from 1; if not given, all places.
        group: Option<(i64, i64)>,
    },
}

impl Neighbors {
    /// The largest distance of neighbors, where distance plays a part.
    pub fn unit(self) -> Option<f64> {
        match self {
            Neighbors::Within { unit, .. } => Some(unit),
            Neighbors::All | Neighbors::Orders { .. } => None,
        }
    }
}

/// A promise of privacy with what it says about each pair of some secrets.
#[derive(Debug, Clone)]
pub struct BoundPromise {
    of_neighbors: Guarantee,
    space: Option<Space>,
}

/// Secrets as points, and how far apart neighbors may be.
#[derive(Debug, Clone)]
struct Space {
    points: Vec<Vec<f64>>,
    unit: f64,
    /// Whether part of a step is a step.
    whole_steps: bool,
}

impl BoundPromise {
    /// Binds a guarantee for neighbors to the secrets with these labels. `claim` is how the messages call
    /// the promise.
    ///
    /// # Errors
    /// Labels that do not fit: with a unit, a label that is no number and no point, or a point with another
    /// number of coordinates than the first; of orders, a label that is not an order of the first's items, or
    /// that differs from the first outside the group.
    pub fn bind(
        of_neighbors: Guarantee,
        neighbors: Neighbors,
        claim: &str,
        labels: &[String],
    ) -> Result<Self> {
        let space = match neighbors {
            Neighbors::All => None,
            Neighbors::Within { unit, whole_steps } => Some(Space {
                points: points(claim, labels)?,
                unit,
                whole_steps,
            }),
            Neighbors::Orders { group } => {
                orders::check(group, claim, labels)?;
                None
            }
        };
        Ok(BoundPromise {
            of_neighbors,
            space,
        })
    }

    /// What is promised about two secrets.
    pub fn between(&self, a: usize, b: usize) -> Guarantee {
        match &self.space {
            None => self.of_neighbors,
            Some(space) => self.of_neighbors.group(space.steps(a, b)),
        }
    }

    /// How many steps two secrets are apart, and the unit; `None` where all are neighbors.
    pub fn steps(&self, a: usize, b: usize) -> Option<(f64, f64)> {
        let space = self.space.as_ref()?;
        Some((space.steps(a, b), space.unit))
    }

    /// Whether all pairs are promised the same.
    pub fn is_uniform(&self) -> bool {
        self.space.is_none()
    }
}

impl Space {
    fn steps(&self, a: usize, b: usize) -> f64 {
        let differences = self.points[a].iter().zip(&self.points[b]);
        let distance = differences.fold(0.0f64, |sum, (x, y)| sum.hypot(x - y));
        // A finite number times an ε of 0 stays 0.
        let units = (distance / self.unit).at_most(f64::MAX);
        if self.whole_steps {
            // Two labels of one point are neighbors, not the same secret.
            (units * (1.0 - ROUNDING)).ceil().at_least(1.0)
        } else {
            units
        }
    }
}

fn points(claim: &str, labels: &[String]) -> Result<Vec<Vec<f64>>> {
    let mut points: Vec<Vec<f64>> = Vec::with_capacity(labels.len());
    for label in labels {
        let problem = |why: &str| {
            Error::parameter(
                shorten(claim),
                format!(
                    "unit= is a distance between secrets, so secrets must be {why}; the log has the secret {:?}",
                    shorten(label)
                ),
            )
            .with_hint(format!(
                "restrict the log to such secrets with {}, or leave unit= out: all secrets are then neighbors",
                option("secrets")
            ))
        };
        let point = point(label).ok_or_else(|| problem("numbers, or points such as 3;4"))?;
        if points
            .first()
            .is_some_and(|first| first.len() != point.len())
        {
            return Err(problem("points with the same number of coordinates"));
        }
        points.push(point);
    }
    Ok(points)
}

/// A number, or numbers with `;` (or all of them with `,`) between them, in parentheses or brackets or
/// not.
fn point(label: &str) -> Option<Vec<f64>> {
    let inside = label.trim();
    let inside = [("(", ")"), ("[", "]")]
        .iter()
        .find_map(|(open, close)| inside.strip_prefix(open)?.strip_suffix(close))
        .unwrap_or(inside);
    let separator = if inside.contains(';') { ';' } else { ',' };
    let number = |text: &str| text.trim().parse().ok().filter(|x: &f64| x.is_finite());
    inside.split(separator).map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::{Claim, ClaimKind};

    fn bind(text: &str, labels: &[&str]) -> Result<BoundPromise> {
        let ClaimKind::Promise(promise) = Claim::parse(text).expect(text).kind else {
            panic!("{text} is a mechanism")
        };
        let labels: Vec<String> = labels.iter().map(|&label| label.to_owned()).collect();
        let guarantee = promise.requirement().guarantee().expect("of privacy");
        BoundPromise::bind(guarantee, promise.neighbors(), text, &labels)
    }

    #[test]
    fn what_is_allowed_grows_with_the_distance() {
        let labels = ["0", "1", "2.5", "10"];
        let gaussian = bind("gdp(mu=0.5, unit=1)", &labels).unwrap();
        assert_eq!(gaussian.between(0, 1), Guarantee::Gaussian { mu: 0.5 });
        assert_eq!(gaussian.between(1, 2), Guarantee::Gaussian { mu: 1.0 });
        assert_eq!(gaussian.between(3, 0), Guarantee::Gaussian { mu: 5.0 });
        let concentrated = bind("zcdp(rho=0.5, unit=5)", &labels).unwrap();
        assert_eq!(
            concentrated.between(0, 3),
            Guarantee::Concentrated { rho: 2.0 }
        );
        let private = bind("dp(epsilon=1, delta=1e-6, unit=5)", &labels).unwrap();
        let Guarantee::Dp { epsilon, delta } = private.between(0, 3) else {
            panic!("not (ε, δ)")
        };
        assert_eq!(epsilon, 2.0);
        assert!((delta / (1e-6 * (1.0 + 1f64.exp())) - 1.0).abs() < 1e-14);
    }

    #[test]
    fn metric_privacy_counts_parts_of_a_unit_and_group_privacy_whole_steps() {
        let labels = ["0.5", "0.8", "0.80", "0.85"];
        let metric = bind("ldp(epsilon=2, unit=0.1)", &labels).unwrap();
        assert!((metric.between(0, 3).parameter() - 7.0).abs() < 1e-12);
        assert_eq!(metric.between(1, 2).parameter(), 0.0);
        let group = bind("dp(epsilon=2, unit=0.1)", &labels).unwrap();
        assert_eq!(group.steps(0, 1), Some((3.0, 0.1)));
        assert_eq!(group.steps(0, 3), Some((4.0, 0.1)));
        assert_eq!(group.steps(1, 2), Some((1.0, 0.1)));
    }

    #[test]
    fn points_are_read_with_or_without_parentheses() {
        let points = bind("dp(epsilon=1, unit=2.5)", &["0;0", "(3, 4)", "[3;-4]"]).unwrap();
        assert_eq!(points.steps(0, 1), Some((2.0, 2.5)));
        assert_eq!(points.steps(1, 2), Some((4.0, 2.5)));
    }

    #[test]
    fn labels_without_a_distance_are_refused_and_named() {
        for (labels, named) in [
            (["1", "two"], "\"two\""),
            (["1", "3;4"], "\"3;4\""),
            (["1", "inf"], "\"inf\""),
            (["", "1"], "\"\""),
        ] {
            let error = bind("gdp(mu=1, unit=1)", &labels).unwrap_err().to_string();
            assert!(error.contains(named) && error.contains("unit="), "{error}");
        }
        assert!(bind("gdp(mu=1)", &["one", "two"]).unwrap().is_uniform());
    }
}
