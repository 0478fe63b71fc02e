//! The parameter of a mechanism with which it just keeps a promise.

use super::{Bounds, BoundsOptions, Edge, Solved, bounds};
use crate::claim::{ClaimKind, Guarantee, Requirement};
use crate::extreme::Extreme;
use leakgauge_base::error::{Error, Result};
use leakgauge_base::grammar::Call;
use leakgauge_base::naming::{option, setting};

/// Finds the value of a parameter, at the edge of those with which a mechanism keeps a promise, and the figures there.
///
/// # Formula
/// The parameter stands in the text with a value to begin with, which is doubled and halved until the promise is kept on one
/// side and not on the other, then the interval is halved until both ends agree in seven digits. The end that keeps the
/// promise is returned, by the certified side of what it is about, and rounded to six digits where that keeps it too.
/// `steps` and other whole numbers stay whole.
///
/// # Conditions
/// Whether the promise is kept changes once as the parameter grows, as it does with noise, rates and steps.
///
/// # Errors
/// The parameter does not stand in the text once with a number; no promise is given, or one that no figure decides; it is kept
/// with every value that was tried, or with none; those of [`bounds`].
pub fn solve(
    text: &str,
    parameter: &str,
    promise: Option<&str>,
    options: &BoundsOptions,
) -> Result<Bounds> {
    let place = Place::find(text, parameter)?;
    let wanted = wanted(promise, options)?;
    let known = |value: f64| match bounds(&place.with(value), &wanted.options) {
        Ok(found) => wanted.is_kept(&found).map(Some),
        // Beyond what the parameter may be; at the first value the error is told.
        Err(_) if value != place.value => Ok(None),
        Err(error) => Err(error),
    };
    let (kept, other) = edge(&place, &known, &wanted.text)?;
    let value = neat(kept, &known)?;
    let mut found = bounds(&place.with(value), options)?;
    found.solved = Some(Solved {
        parameter: place.name.clone(),
        value,
        edge: match kept > other {
            true => Edge::Smallest,
            false => Edge::Largest,
        },
        keeps: wanted.text,
    });
    Ok(found)
}

/// The same value with six digits, if there is one that keeps the promise.
fn neat(value: f64, known: &dyn Fn(f64) -> Result<Option<bool>>) -> Result<f64> {
    let unit = 10f64.powi(value.abs().log10().floor() as i32 - 5);
    for rounded in [(value / unit).floor(), (value / unit).ceil()] {
        let text = format!("{:.5e}", rounded * unit);
        let rounded = text.parse::<f64>().unwrap_or(value);
        if rounded == value || known(rounded)? == Some(true) {
            return Ok(rounded);
        }
    }
    Ok(value)
}

/// Doublings and halvings of the first value.
const DOUBLINGS: i32 = 60;
/// Both ends of the interval are nearer to each other than this part of them.
const NEAR: f64 = 1e-7;

/// The value at the edge that keeps the promise, and the one beside it that does not.
fn edge(
    place: &Place,
    known: &dyn Fn(f64) -> Result<Option<bool>>,
    promise: &str,
) -> Result<(f64, f64)> {
    let first = known(place.value)? == Some(true);
    let mut found = None;
    // On either side the farthest value with the same answer, and the nearest one that the parameter cannot have.
    let (mut same, mut impossible) = ([place.value; 2], [None; 2]);
    'doubling: for _ in 0..DOUBLINGS {
        for (at, factor) in [2.0, 0.5].into_iter().enumerate() {
            let next = match impossible[at] {
                Some(end) => 0.5 * (same[at] + end),
                None => same[at] * factor,
            };
            let value = place.rounded(next);
            let is_new = value != same[at] && Some(value) != impossible[at];
            if !is_new || !value.is_finite() || value <= 0.0 {
                continue;
            }
            match known(value)? {
                Some(kept) if kept == first => same[at] = value,
                Some(_) => {
                    found = Some((same[at], value));
                    break 'doubling;
                }
                None => impossible[at] = Some(value),
            }
        }
    }
    let Some((mut here, mut there)) = found else {
        let problem = match first {
            true => format!("{promise} is kept with every value that was tried"),
            false => format!("{promise} is kept with no value that was tried"),
        };
        let hint = "does the promise depend on this parameter, and can it be kept at all?";
        return Err(Error::parameter(setting("solve", &place.name), problem).with_hint(hint));
    };
    while (here - there).abs() > NEAR * here.at_most(there) {
        let middle = place.rounded(0.5 * (here + there));
        if middle == here || middle == there {
            break;
        }
        match known(middle)? {
            Some(kept) if kept == first => here = middle,
            Some(_) => there = middle,
            None => break,
        }
    }
    Ok(if first { (here, there) } else { (there, here) })
}

/// A promise as figures.
struct Wanted {
    text: String,
    /// What computes the figure.
    options: BoundsOptions,
    requirement: Requirement,
}

fn wanted(promise: Option<&str>, options: &BoundsOptions) -> Result<Wanted> {
    let text = match (promise, options.at_epsilon, options.at_delta) {
        (Some(promise), ..) => promise.trim().to_owned(),
        (None, Some(epsilon), Some(delta)) => format!("dp(epsilon={epsilon}, delta={delta})"),
        (None, ..) => {
            return Err(
                Error::parameter(option("solve"), "what is to be kept is not given").with_hint(
                    format!(
                        "give {} and {}, or {}",
                        setting("at_epsilon", 1),
                        setting("at_delta", "1e-5"),
                        setting("keeps", "'advantage(0.1)'")
                    ),
                ),
            );
        }
    };
    let ClaimKind::Promise(promise) = ClaimKind::from_call(&Call::parse(&text)?)? else {
        return Err(Error::parameter(
            setting("keeps", &text),
            "is a mechanism and no promise",
        ));
    };
    let requirement = promise.requirement();
    let mut needed = BoundsOptions {
        repeat: options.repeat,
        ..BoundsOptions::default()
    };
    match requirement {
        Requirement::Privacy(Guarantee::Dp { epsilon, delta }) if delta > 0.0 => {
            needed.at_epsilon = Some(epsilon);
        }
        Requirement::Privacy(Guarantee::Gaussian { .. } | Guarantee::Concentrated { .. }) => {
            needed.profile = true;
        }
        Requirement::Privacy(Guarantee::Renyi { order, .. }) => needed.at_order = Some(order),
        Requirement::Privacy(Guarantee::Dp { .. })
        | Requirement::Advantage { .. }
        | Requirement::BayesSecurity { .. } => {}
        Requirement::Curve { .. }
        | Requirement::AttackAdvantage { .. }
        | Requirement::Overall { .. }
        | Requirement::TimeDifference(_) => {
            return Err(Error::parameter(
                setting("keeps", &text),
                "is decided by no figure of a mechanism",
            )
            .with_hint("name dp, ldp, gdp, zcdp, rdp, advantage or bayes-security"));
        }
    }
    Ok(Wanted {
        text,
        options: needed,
        requirement,
    })
}

impl Wanted {
    /// Whether a mechanism of these figures keeps the promise; an unknown figure keeps none.
    fn is_kept(&self, found: &Bounds) -> Result<bool> {
        let (name, most) = match self.requirement {
            Requirement::Privacy(Guarantee::Dp { delta, .. }) if delta > 0.0 => {
                ("delta_at_epsilon", delta)
            }
            Requirement::Privacy(Guarantee::Dp { epsilon, .. }) => ("epsilon", epsilon),
            Requirement::Privacy(Guarantee::Gaussian { mu }) => ("gdp_mu", mu),
            Requirement::Privacy(Guarantee::Concentrated { rho }) => ("zcdp_rho", rho),
            Requirement::Privacy(Guarantee::Renyi { epsilon, .. }) => ("renyi_divergence", epsilon),
            Requirement::Advantage { at_most } => ("total_variation", at_most),
            Requirement::BayesSecurity { at_least } => ("total_variation", 1.0 - at_least),
            _ => return Ok(false),
        };
        let [row] = &found.rows[..] else {
            return Err(Error::parameter(
                option("solve"),
                "is for one mechanism, and this is a grid",
            )
            .with_hint("give every other parameter one value"));
        };
        Ok(row.figure(name).is_some_and(|figure| figure <= most))
    }
}

/// Parameters that are whole numbers: of steps, users, values.
const WHOLE: [&str; 12] = [
    "batch",
    "records",
    "epochs",
    "steps",
    "n",
    "size",
    "others",
    "secrets",
    "buckets",
    "modulus",
    "width",
    "observations",
];

/// Where a parameter stands in a text.
struct Place<'t> {
    name: String,
    before: &'t str,
    behind: &'t str,
    value: f64,
    is_whole: bool,
}

impl<'t> Place<'t> {
    fn find(text: &'t str, name: &str) -> Result<Self> {
        let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        let starts = text.match_indices(name).filter_map(|(at, _)| {
            let rest = text[at + name.len()..].trim_start().strip_prefix('=')?;
            let is_alone = !text[..at].ends_with(is_of_name);
            is_alone.then(|| text.len() - rest.trim_start().len())
        });
        let starts: Vec<usize> = starts.collect();
        let wrong = |problem: &str| {
            let problem = format!("{problem} in {text}");
            Error::parameter(setting("solve", name), problem).with_hint(format!(
                "write the parameter once, with a value to begin with: gaussian({}=1, secrets=2)",
                if name.is_empty() { "sigma" } else { name }
            ))
        };
        let [start] = starts[..] else {
            return Err(wrong(match starts.is_empty() {
                true => "does not stand",
                false => "stands more than once",
            }));
        };
        let rest = &text[start..];
        let end = rest.find([',', ')']).unwrap_or(rest.len());
        let number = rest[..end].trim();
        let value = number.parse::<f64>().ok();
        let value = value.filter(|value| value.is_finite() && *value > 0.0);
        let value = value.ok_or_else(|| wrong("has no number above 0"))?;
        Ok(Place {
            name: name.to_owned(),
            before: &text[..start],
            behind: &rest[end..],
            value,
            is_whole: WHOLE.contains(&name),
        })
    }

    fn rounded(&self, value: f64) -> f64 {
        match self.is_whole {
            true => value.round().at_least(1.0),
            false => value,
        }
    }

    fn with(&self, value: f64) -> String {
        format!("{}{value}{}", self.before, self.behind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What stands behind a parameter of the mechanism that was found.
    fn value(found: &Bounds, name: &str) -> f64 {
        let place = Place::find(&found.mechanism, name).unwrap();
        place.value
    }

    /// Closed forms: μ = 1/σ, TV of Laplace noise 1 − e^(−1/(2λ)), ρ = 1/(2σ²), ε of the response itself.
    #[test]
    fn edges_are_those_of_closed_forms() {
        for (text, parameter, promise, expected) in [
            ("gaussian(sigma=1, secrets=2)", "sigma", "gdp(0.25)", 4.0),
            ("gaussian(sigma=9, secrets=2)", "sigma", "zcdp(0.02)", 5.0),
            (
                "laplace(scale=1, secrets=2)",
                "scale",
                "advantage(0.1)",
                -0.5 / f64::ln(0.9),
            ),
            (
                "laplace(scale=1, secrets=2)",
                "scale",
                "bayes-security(0.9)",
                -0.5 / f64::ln(0.9),
            ),
            (
                "randomized-response(epsilon=1, secrets=5)",
                "epsilon",
                "ldp(2.5)",
                2.5,
            ),
        ] {
            let found = solve(text, parameter, Some(promise), &BoundsOptions::default()).unwrap();
            let value = value(&found, parameter);
            assert!(
                (value / expected - 1.0).abs() < 1e-5,
                "{text} {promise}: {value}"
            );
            assert_eq!(found.solved.unwrap().keeps, promise);
        }
    }

    /// The edge keeps the promise, and a hair beyond it does not.
    #[test]
    fn the_edge_is_on_the_side_that_keeps() {
        let options = BoundsOptions {
            at_epsilon: Some(1.0),
            at_delta: Some(1e-5),
            ..BoundsOptions::default()
        };
        let found = solve("gaussian(sigma=1, secrets=2)", "sigma", None, &options).unwrap();
        assert!(found.rows[0].figure("delta_at_epsilon").unwrap() <= 1e-5);
        let less = value(&found, "sigma") * (1.0 - 1e-5);
        let beyond = bounds(&format!("gaussian(sigma={less}, secrets=2)"), &options).unwrap();
        assert!(beyond.rows[0].figure("delta_at_epsilon").unwrap() > 1e-5);
    }

    #[test]
    fn steps_stay_whole_and_terms_have_parameters_too() {
        let found = solve(
            "dp-sgd(sigma=4, rate=0.1, steps=40)",
            "steps",
            Some("advantage(0.05)"),
            &BoundsOptions::default(),
        )
        .unwrap();
        let steps = value(&found, "steps");
        assert!(steps.fract() == 0.0 && steps > 1.0, "{steps}");
        assert_eq!(found.solved.unwrap().edge, Edge::Largest);
        let found = solve(
            "compose(randomized-response(epsilon=1, secrets=2)*3, laplace(scale=9, secrets=2))",
            "epsilon",
            Some("advantage(0.3)"),
            &BoundsOptions::default(),
        )
        .unwrap();
        let most = found.rows[0].figure("total_variation").unwrap();
        assert!(most <= 0.3 && most > 0.2999, "{most}");
    }

    /// A rate is at most 1, and secrets are whole.
    #[test]
    fn edges_near_the_end_of_a_range_are_found() {
        let text = "subsampled(gaussian(sigma=1), rate=0.6)";
        let found = solve(
            text,
            "rate",
            Some("advantage(0.27)"),
            &BoundsOptions::default(),
        )
        .unwrap();
        // The total variation is that of the noise times the rate.
        let expected = 0.27 / libm::erf(1.0 / 8f64.sqrt());
        let rate = value(&found, "rate");
        assert!((rate / expected - 1.0).abs() < 1e-5, "{rate} {expected}");
        let text = "randomized-response(epsilon=1, secrets=2)";
        let found = solve(
            text,
            "secrets",
            Some("advantage(0.4)"),
            &BoundsOptions::default(),
        )
        .unwrap();
        assert_eq!(value(&found, "secrets"), 3.0);
    }

    #[test]
    fn what_cannot_be_solved_is_refused() {
        for (text, parameter, promise, words) in [
            (
                "gaussian(sigma=1, secrets=2)",
                "scale",
                Some("gdp(1)"),
                "does not stand",
            ),
            (
                "gaussian(sigma=1, secrets=2)",
                "sigma",
                None,
                "what is to be kept",
            ),
            (
                "gaussian(sigma=1, secrets=2)",
                "sigma",
                Some("ldp(1)"),
                "with no value",
            ),
            (
                "gaussian(sigma=1, secrets=2)",
                "sigma",
                Some("attack-advantage(0.1)"),
                "no figure",
            ),
            (
                "gaussian(sigma=1, secrets=2)",
                "sigma",
                Some("laplace(scale=2)"),
                "no promise",
            ),
            (
                "gaussian(sigma=x, secrets=2)",
                "sigma",
                Some("gdp(1)"),
                "no number",
            ),
            (
                "gaussian(sigma=1..2:3, secrets=2)",
                "sigma",
                Some("gdp(1)"),
                "no number",
            ),
            (
                "compose(gaussian(sigma=1, secrets=2), gaussian(sigma=2, secrets=2))",
                "sigma",
                Some("gdp(1)"),
                "more than once",
            ),
        ] {
            let error = solve(text, parameter, promise, &BoundsOptions::default())
                .unwrap_err()
                .to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
