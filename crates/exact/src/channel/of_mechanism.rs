//! The channel of a known mechanism.

use crate::channel::Channel;
use crate::extreme::Extreme;
use crate::mechanism::{Mechanism, NoiseShape, listed_secrets};
use leakgauge_base::error::{Error, Result};
use leakgauge_base::grammar::format_number;

impl Channel {
    /// The matrix of a mechanism over the secrets that its parameters declare. Its ε is that of the mechanism, which
    /// the matrix rounds where it is tiny, and where a probability underflows.
    ///
    /// # Errors
    /// The mechanism declares no secrets or only one, or its observations are infinitely many or too many to list.
    pub fn of_mechanism(mechanism: &dyn Mechanism) -> Result<Channel> {
        let secrets = listed_secrets(mechanism)?;
        let bound = mechanism.bind_declared()?;
        let written = bound.probabilities().ok_or_else(|| {
            Error::parameter(
                mechanism.to_string(),
                "has no finite matrix, or one that is too large",
            )
            .with_hint("`leakgauge bounds` computes its exact figures without a matrix")
        })?;
        let mut channel = Channel::new(secrets, written.observations, written.rows.concat())?;
        channel.deviations = bound.deviations().map(|rows| rows.concat());
        channel.epsilon = Some(bound.epsilon()).filter(|epsilon| epsilon.is_finite());
        Ok(channel)
    }

    /// The same, also where the observations are all whole numbers or the density is piecewise constant: then those on
    /// either side of a range are one observation. Its probability, under the secret that makes it most likely, is the
    /// second result: at most 1e-18 for each side, and 0 where nothing is merged.
    ///
    /// Whoever sees the merged observations learns no more. No probability of an event, and so no total variation, δ or
    /// Bayes security, differs by more than the merged probability. The ε is that of the mechanism.
    ///
    /// # Errors
    /// As [`of_mechanism`](Self::of_mechanism); the range is too long to list.
    pub fn merged(mechanism: &dyn Mechanism) -> Result<(Channel, f64)> {
        let bound = mechanism.bind_declared()?;
        let steps = match bound.located() {
            Some((shape @ (NoiseShape::Integer(_) | NoiseShape::Steps { .. }), centers))
                if bound.probabilities().is_none() =>
            {
                columns(&shape, &centers)
            }
            _ => return Ok((Channel::of_mechanism(mechanism)?, 0.0)),
        };
        let Some(Columns { labels, rows }) = steps else {
            let problem = "has too many observations to list";
            return Err(Error::parameter(mechanism.to_string(), problem));
        };
        let last = labels.len() - 1;
        let merged = rows.iter().map(|row| row[0] + row[last]);
        let merged = merged.fold(0.0, f64::at_least);
        let mut channel = Channel::new(listed_secrets(mechanism)?, labels, rows.concat())?;
        channel.epsilon = Some(bound.epsilon());
        Ok((channel, merged))
    }
}

/// The observations of noise on numbers, with the probabilities of every secret.
struct Columns {
    labels: Vec<String>,
    rows: Vec<Vec<f64>>,
}

/// The probability of what is merged on each side.
const MERGED: f64 = 1e-18;
/// The most entries of a matrix of noise.
const MOST_ENTRIES: f64 = 1e7;

/// Whole numbers, or the stretches of equal density, in a range, and what is on either side of it; `None` if there are
/// too many. Only the distribution function below 0 is used, where it has all digits.
fn columns(shape: &NoiseShape, centers: &[f64]) -> Option<Columns> {
    let (distribution, cuts): (&dyn Fn(f64) -> f64, Vec<f64>) = match shape {
        NoiseShape::Integer(distribution) => (distribution, integer_cuts(distribution, centers)?),
        NoiseShape::Steps {
            edges,
            distribution,
        } => (distribution, step_cuts(edges, distribution, centers)?),
        NoiseShape::Laplace { .. } | NoiseShape::Gaussian { .. } => return None,
    };
    let integer = matches!(shape, NoiseShape::Integer(_));
    // P(noise < x) and P(noise > x) for a cut x.
    let below = |x: f64| distribution(if integer { (x - 0.5).round() } else { x });
    let above = |x: f64| below(-x);
    let row = |center: &f64| {
        let inner = cuts.windows(2).map(|cut| {
            let (from, to) = (cut[0] - center, cut[1] - center);
            let mass = if to <= 0.0 {
                below(to) - below(from)
            } else if from >= 0.0 {
                above(from) - above(to)
            } else {
                1.0 - below(from) - above(to)
            };
            mass.at_least(0.0)
        });
        let first = below(cuts[0] - center);
        let last = above(cuts[cuts.len() - 1] - center);
        let mut row: Vec<f64> = std::iter::once(first).chain(inner).collect();
        row.push(last);
        row
    };
    Some(Columns {
        labels: column_labels(&cuts, integer),
        rows: centers.iter().map(row).collect(),
    })
}

/// Cuts between whole numbers: an observation is from a cut to the next.
fn integer_cuts(distribution: impl Fn(f64) -> f64, centers: &[f64]) -> Option<Vec<f64>> {
    let low = centers.iter().copied().fold(f64::INFINITY, f64::at_most);
    let high = centers
        .iter()
        .copied()
        .fold(f64::NEG_INFINITY, f64::at_least);
    let mut reach = 1.0;
    while distribution(-reach) > MERGED && reach < MOST_ENTRIES {
        reach += (0.1 * reach).at_least(1.0).floor();
    }
    let count = high - low + 2.0 * reach;
    if count * centers.len() as f64 > MOST_ENTRIES {
        return None;
    }
    let cuts = (0..=count as u64).map(|at| low - reach + at as f64 - 0.5);
    Some(cuts.collect())
}

/// Cuts between stretches of equal density.
fn step_cuts(
    edges: &[f64],
    distribution: impl Fn(f64) -> f64,
    centers: &[f64],
) -> Option<Vec<f64>> {
    let far = edges.iter().position(|&edge| distribution(-edge) <= MERGED);
    let edges = &edges[..=far.unwrap_or(edges.len() - 1)];
    let entries = 2.0 * (edges.len() * centers.len()) as f64 * centers.len() as f64;
    if entries > MOST_ENTRIES {
        return None;
    }
    let offsets = edges.iter().flat_map(|&edge| [-edge, edge]);
    let mut cuts: Vec<f64> = offsets
        .flat_map(|offset| centers.iter().map(move |center| center + offset))
        .collect();
    cuts.sort_by(f64::total_cmp);
    // Steps that should meet and do not, by rounding, enclose nothing.
    let hair = 1e-10 * edges.last().map_or(1.0, |far| far / edges.len() as f64);
    cuts.dedup_by(|b, a| *b - *a <= hair);
    Some(cuts)
}

/// The names of the observations between cuts, and of those beyond them.
fn column_labels(cuts: &[f64], integer: bool) -> Vec<String> {
    let half = if integer { 0.5 } else { 0.0 };
    let inner = cuts.windows(2).map(|cut| match integer {
        true => format_number(cut[0] + half),
        false => format!("{} to {}", format_number(cut[0]), format_number(cut[1])),
    });
    let mut labels = vec![format!("below {}", format_number(cuts[0] + half))];
    labels.extend(inner);
    let last = cuts[cuts.len() - 1] - half;
    labels.push(format!("above {}", format_number(last)));
    labels
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::{SearchMethod, diameter};
    use crate::mechanism::parse;

    /// Two rooms that compute alone: the mechanism's closed forms and the measures of its matrix.
    #[test]
    fn the_figures_of_a_mechanism_are_those_of_its_channel() {
        for text in [
            "randomized-response(epsilon=1.5, secrets=7)",
            "truncated-geometric(nu=0.3, secrets=6, observations=10)",
            "rappor(epsilon=1, secrets=4)",
            "oue(epsilon=2, secrets=4)",
            "subset-selection(epsilon=1, secrets=6, size=2)",
            "hadamard-response(epsilon=1, secrets=5)",
            "identity(p=0.3, secrets=4)",
            "exponential(epsilon=1, secrets=5)",
        ] {
            let mechanism = parse(text).expect(text);
            let bound = mechanism.bind_declared().expect(text);
            let channel = Channel::of_mechanism(&*mechanism).expect(text);
            let found = diameter(&channel, SearchMethod::Direct).expect(text);
            let (a, b) = bound.worst_pair().expect(text);
            let close = |x: f64, y: f64| (x - y).abs() < 1e-12;
            assert!(
                close(found.bayes_security, bound.bayes_security(a, b)),
                "{text}"
            );
            if let Some(capacity) = bound.capacity() {
                assert!(
                    (channel.multiplicative_capacity() / capacity - 1.0).abs() < 1e-12,
                    "{text}"
                );
            }
            let epsilon = channel.epsilon().unwrap_or(f64::INFINITY);
            assert!(
                epsilon == bound.epsilon() || close(epsilon, bound.epsilon()),
                "{text}: {epsilon}"
            );
        }
    }

    #[test]
    fn epsilon_is_not_that_of_rounded_probabilities() {
        for epsilon in [1e-12, 1e-5, 2.0, 740.0, 1e4] {
            let text = format!("randomized-response(epsilon={epsilon}, secrets=3)");
            let channel = Channel::of_mechanism(&*parse(&text).unwrap()).unwrap();
            assert_eq!(channel.epsilon(), Some(epsilon));
        }
        let channel =
            Channel::of_mechanism(&*parse("identity(p=0.5, secrets=2, otherwise=none)").unwrap());
        assert_eq!(channel.unwrap().epsilon(), None);
    }

    /// Randomized response with ε = 1e-12, by mpmath with 60 digits.
    #[test]
    fn figures_of_a_tiny_epsilon_have_all_digits() {
        let text = "randomized-response(epsilon=1e-12, secrets=2)";
        let channel = Channel::of_mechanism(&*parse(text).unwrap()).unwrap();
        let uniform = crate::channel::Prior::uniform(2);
        let shannon = channel.shannon_capacity();
        let figures = [
            (channel.total_variation(0, 1), 5e-13),
            (channel.additive_leakage(&uniform).unwrap(), 2.5e-13),
            (
                channel.min_entropy_leakage(&uniform).unwrap(),
                4.999_999_999_998_75e-13,
            ),
            (channel.min_entropy_capacity(), 4.999_999_999_998_75e-13),
            (channel.mutual_information(&uniform).unwrap(), 1.25e-25),
            (shannon.lower, 1.25e-25),
            (shannon.upper, 1.25e-25),
            (channel.pair_epsilon(0, 1).unwrap().unwrap(), 1e-12),
            (channel.delta(5e-13).unwrap().0, 2.5e-13),
        ];
        for (at, (found, expected)) in figures.into_iter().enumerate() {
            assert!((found / expected - 1.0).abs() < 1e-12, "{at}: {found:e}");
        }
        let prior = crate::channel::Prior::new(vec![0.25, 0.75]).unwrap();
        assert_eq!(channel.additive_leakage(&prior).unwrap(), 0.0);
        let found = channel.mutual_information(&prior).unwrap();
        assert!((found / 9.375e-26 - 1.0).abs() < 1e-12, "{found:e}");
    }

    /// Where observations far out are one, the figures are those of the mechanism, up to the probability of these.
    #[test]
    fn merged_observations_hardly_change_a_figure() {
        for text in [
            "geometric(nu=0.5, secrets=4)",
            "discrete-gaussian(sigma=1.5, secrets=3)",
            "staircase(epsilon=1, secrets=3)",
            "staircase(epsilon=0.7, sensitivity=2, gamma=0.3, secrets=2)",
        ] {
            let mechanism = parse(text).unwrap();
            let bound = mechanism.bind_declared().unwrap();
            let (channel, merged) = Channel::merged(&*mechanism).unwrap();
            assert!(merged > 0.0 && merged <= 2e-18, "{text}: {merged}");
            assert_eq!(channel.epsilon().is_none(), bound.epsilon().is_infinite());
            for a in 0..bound.secret_count() {
                for b in 0..a {
                    let gap = channel.total_variation(a, b) - bound.total_variation(a, b);
                    assert!(gap.abs() < 1e-14, "{text}: {gap}");
                }
            }
            let ratio = channel.multiplicative_capacity() / bound.capacity().unwrap();
            assert!((ratio - 1.0).abs() < 1e-14, "{text}: {ratio}");
            let delta = channel.delta(0.3).unwrap().0 - bound.delta(0.3).unwrap();
            assert!(delta.abs() < 1e-14, "{text}: {delta}");
        }
    }

    #[test]
    fn a_mechanism_on_the_real_line_has_no_matrix() {
        let error =
            Channel::of_mechanism(&*parse("laplace(scale=1, secrets=0..3)").unwrap()).unwrap_err();
        assert!(error.to_string().contains("no finite matrix"), "{error}");
    }
}
