//! The exact figures of a known mechanism, and what a promise bounds, over a grid of parameters.
//!
//! ```
//! use leakgauge_exact::bounds::{BoundsOptions, bounds};
//!
//! let table = bounds("randomized-response(epsilon=0..2:3, secrets=10)", &BoundsOptions::default())?;
//! assert_eq!(table.rows.len(), 3);
//! assert_eq!(table.rows[0].figure("bayes_security"), Some(1.0));
//!
//! let table = bounds("ldp(epsilon=1)", &BoundsOptions::default())?;
//! let least = 2.0 / (1.0 + 1f64.exp());
//! assert!((table.rows[0].figure("bayes_security").unwrap() - least).abs() < 1e-15);
//! # Ok::<(), leakgauge_base::error::Error>(())
//! ```

use serde::Serialize;

use crate::claim::{ClaimKind, PROMISES};
use crate::mechanism::{BoundMechanism, MECHANISMS, Mechanism};
use crate::shuffle::vulnerability::RandomizedResponseShuffle;
use leakgauge_base::Tool;
use leakgauge_base::error::{Error, Result};
use leakgauge_base::grammar::{Arguments, Call, Parameter};
use leakgauge_base::naming::{option, setting};
use leakgauge_base::parallel;

mod composed;
mod composition;
mod curve;
mod dominating;
mod explain;
#[cfg(test)]
mod hostile;
mod model;
mod profile;
mod promise;
mod solve;

pub use curve::{CurvePoint, curve, write_curve};
pub use explain::{
    Allowed, Covered, Detection, Explanation, FALSE_POSITIVE_RATES, Guess, Implied, Naming,
    NotImplied, explain,
};
pub use model::{Bounds, Edge, Kind, ParameterValue, Row, Solved};
pub use solve::solve;

/// The most rows of a grid.
pub const MAX_ROWS: usize = 100_000;

/// Secrets are listed to name the worst pair up to this many.
const MAX_NAMED: u64 = 100_000;

/// What else is computed. Those after `repeat` are translations of a promise.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BoundsOptions {
    /// The ε to give δ for.
    pub at_epsilon: Option<f64>,
    /// The δ to give ε for.
    pub at_delta: Option<f64>,
    /// The success κ without the record to give that of a reconstruction for.
    pub reconstruction: Option<f64>,
    /// The order α ≥ 1 to give the Rényi divergence for; may be infinite.
    pub at_order: Option<f64>,
    /// The smallest ρ and μ of zero-concentrated and Gaussian differential privacy.
    pub profile: bool,
    /// How many times a mechanism, or one that keeps a promise, is applied to the same secret.
    pub repeat: Option<u64>,
    /// The number of secrets, for the capacity.
    pub secrets: Option<u64>,
    /// How many steps of adjacency two secrets are apart, for group privacy.
    pub group: Option<u64>,
    /// The number of values a record can have, absence included, for whole databases.
    pub values: Option<u64>,
    /// The number of records, for whole databases; default 1.
    pub records: Option<u64>,
    /// The largest prior probability of a database; default: the uniform prior.
    pub largest_prior: Option<f64>,
}

impl BoundsOptions {
    /// Checks that the numbers are possible.
    ///
    /// # Errors
    /// Fewer than 2 secrets or values, no records, a group of 0, a prior outside of
    /// [1/values^records, 1).
    fn check(&self) -> Result<()> {
        let wrong = |option: String, problem: &str| Err(Error::parameter(option, problem));
        if let Some(epsilon) = self.at_epsilon.filter(|epsilon| !(0.0..).contains(epsilon)) {
            return wrong(setting("at_epsilon", epsilon), "must be at least 0");
        }
        if let Some(delta) = self
            .at_delta
            .filter(|delta| !(*delta > 0.0 && *delta < 1.0))
        {
            return wrong(setting("at_delta", delta), "must be above 0 and below 1");
        }
        if let Some(kappa) = self
            .reconstruction
            .filter(|kappa| !(*kappa > 0.0 && *kappa < 1.0))
        {
            return wrong(
                setting("reconstruction", kappa),
                "must be above 0 and below 1",
            );
        }
        if let Some(order) = self
            .at_order
            .filter(|order| !(1.0..).contains(order) && *order != f64::INFINITY)
        {
            return wrong(setting("at_order", order), "must be at least 1");
        }
        for (name, value, least) in [
            ("repeat", self.repeat, 1),
            ("secrets", self.secrets, 2),
            ("group", self.group, 1),
            ("values", self.values, 2),
            ("records", self.records, 1),
        ] {
            if let Some(value) = value.filter(|&value| value < least) {
                let problem = format!("must be at least {least}");
                return wrong(setting(name, value), &problem);
            }
        }
        let whole = [
            ("records", self.records.is_some()),
            ("largest_prior", self.largest_prior.is_some()),
        ];
        if let (None, Some((name, _))) = (self.values, whole.iter().find(|(_, given)| *given)) {
            let problem = format!("is about whole databases and needs {}", option("values"));
            return wrong(option(name), &problem);
        }
        if let (Some(values), Some(prior)) = (self.values, self.largest_prior) {
            let uniform = (values as f64).powf(-(self.records.unwrap_or(1) as f64));
            if !(uniform * (1.0 - 1e-12)..1.0).contains(&prior) {
                let problem =
                    format!("must be at least that of the uniform prior, {uniform}, and below 1");
                return wrong(setting("largest_prior", prior), &problem);
            }
        }
        Ok(())
    }

    /// Checks that nothing is asked that only promises have.
    fn check_mechanism(&self, text: &str) -> Result<()> {
        let for_mechanisms = BoundsOptions {
            at_epsilon: self.at_epsilon,
            at_delta: self.at_delta,
            repeat: self.repeat,
            reconstruction: self.reconstruction,
            at_order: self.at_order,
            profile: self.profile,
            ..BoundsOptions::default()
        };
        if *self == for_mechanisms {
            return Ok(());
        }
        let of_promises = ["secrets", "group", "values", "records", "largest_prior"].map(option);
        Err(Error::parameter(
            text,
            format!("is a mechanism; {} are for promises", of_promises.join(", ")),
        )
        .with_hint("give the secrets in the mechanism, randomized-response(1, secrets=10), or name a promise: ldp(1)"))
    }
}

/// The figures of a mechanism or promise, a row for each point of its grids.
///
/// # Errors
/// Text that is not in the [grammar](leakgauge_base::grammar), an unknown name or impossible parameters;
/// more than [`MAX_ROWS`] points; a mechanism whose secrets are not declared or fewer than two;
/// options that do not fit.
pub fn bounds(text: &str, options: &BoundsOptions) -> Result<Bounds> {
    options.check()?;
    let rows = match composition::terms(text)? {
        Some(terms) => {
            options.check_mechanism(text)?;
            let row = composed::row_of_terms(&terms, options)?;
            vec![without_nan(text, (Kind::Mechanism, row))?]
        }
        None => {
            let calls = Call::parse(text)?.expand_grids(MAX_ROWS)?;
            parallel::map(calls.len(), |at| row(&calls[at], options))
                .into_iter()
                .collect::<Result<Vec<(Kind, Row)>>>()?
        }
    };
    let kind = rows.first().map_or(Kind::Mechanism, |row| row.0);
    Ok(Bounds {
        schema_version: 1,
        tool: Tool::default(),
        mechanism: text.trim().to_owned(),
        solved: None,
        kind,
        notes: if kind == Kind::Mechanism
            && rows.iter().any(|(_, row)| row.figure("steps").is_some())
        {
            composed::NOTES.to_vec()
        } else if rows.iter().any(|(_, row)| row.has_sides()) {
            [notes(kind), vec![SIDES]].concat()
        } else {
            notes(kind)
        },
        rows: rows.into_iter().map(|(_, row)| row).collect(),
    })
}

fn row(call: &Call, options: &BoundsOptions) -> Result<(Kind, Row)> {
    without_nan(&call.to_string(), unchecked_row(call, options)?)
}

/// Refuses a row with a figure that is no number.
fn without_nan(text: &str, (kind, row): (Kind, Row)) -> Result<(Kind, Row)> {
    let is_nan = |figure: &(&str, Option<f64>)| figure.1.is_some_and(f64::is_nan);
    match row.figures.iter().find(|figure| is_nan(figure)) {
        Some((name, _)) => Err(Error::parameter(
            text,
            format!("its {} cannot be computed", name.replace('_', " ")),
        )
        .with_hint("a parameter is too small or too large for double precision")),
        None => Ok((kind, row)),
    }
}

fn unchecked_row(call: &Call, options: &BoundsOptions) -> Result<(Kind, Row)> {
    match ClaimKind::from_call(call)? {
        ClaimKind::Promise(promise) if promise.composition().is_some() => {
            let entry = PROMISES.iter().find(|entry| entry.name == call.name);
            let parameters = parameters(call, entry.map_or(&[], |entry| entry.parameters))?;
            options.check_mechanism(&promise.to_string())?;
            let row = composed::of_promise(&promise, parameters, options)?;
            Ok((Kind::Mechanism, row))
        }
        ClaimKind::Promise(promise) if promise.unit().is_some() => Err(Error::parameter(
            call.to_string(),
            "unit= is a distance between the secrets of a log, and there is no log",
        )
        .with_hint(format!(
            "leave it out: figures are between neighbors, or with {} between secrets K units apart",
            setting("group", "K")
        ))),
        ClaimKind::Promise(promise) => {
            let entry = PROMISES.iter().find(|entry| entry.name == call.name);
            // Points of a curve are no parameters with names.
            let parameters = match promise.curve() {
                Some(_) => Vec::new(),
                None => parameters(call, entry.map_or(&[], |entry| entry.parameters))?,
            };
            let figures = match options.repeat {
                Some(steps) => promise::repeated(&promise, steps, options)?,
                None => promise::figures(&promise, options),
            };
            Ok((Kind::Promise, Row::new(parameters, figures)))
        }
        ClaimKind::Mechanism(mechanism) => {
            options.check_mechanism(&mechanism.to_string())?;
            let entry = MECHANISMS.iter().find(|entry| entry.name == call.name);
            let parameters = parameters(call, entry.map_or(&[], |entry| entry.parameters))?;
            let row = match options.repeat {
                Some(steps) => composed::row(&*mechanism, steps, parameters, options)?,
                None => mechanism_row(&*mechanism, parameters, options)?,
            };
            Ok((Kind::Mechanism, row))
        }
    }
}

fn parameters(call: &Call, known: &[Parameter]) -> Result<Vec<(&'static str, ParameterValue)>> {
    let arguments = Arguments::new(call, known)?;
    let given = arguments.given().iter();
    Ok(given
        .map(|&(name, value)| (name, ParameterValue::of(value)))
        .collect())
}

fn mechanism_row(
    mechanism: &dyn Mechanism,
    parameters: Vec<(&'static str, ParameterValue)>,
    options: &BoundsOptions,
) -> Result<Row> {
    let bound = mechanism.bind_declared()?;
    let Some((a, b)) = bound.worst_pair() else {
        return Err(one_secret(mechanism));
    };
    let (security, variation) = (bound.bayes_security(a, b), bound.total_variation(a, b));
    let mut figures = vec![
        ("bayes_security", Some(security)),
        ("total_variation", Some(variation)),
        ("advantage", Some(variation)),
        ("epsilon", Some(bound.epsilon())),
        (
            "capacity",
            bound.capacity().or_else(|| shuffled_capacity(&*bound)),
        ),
        ("delta_at_epsilon_zero", Some(variation)),
        ("guess_probability", Some(1.0 - 0.5 * security)),
    ];
    if let Some(epsilon) = options.at_epsilon {
        figures.push(("delta_at_epsilon", bound.delta(epsilon)));
    }
    if let Some(delta) = options.at_delta {
        let found = bound
            .delta(0.0)
            .map(|_| smallest_epsilon(delta, |epsilon| bound.delta(epsilon).unwrap_or(1.0)));
        figures.push(("epsilon_at_delta", found));
    }
    figures.extend(profile::figures(&*bound, options, 1));
    if let Some(kappa) = options.reconstruction {
        figures.push(("reconstruction", profile::reconstruction(&*bound, kappa)));
        if let Some(least) = profile::attained(&*bound, |pair| pair.reconstruction(kappa)) {
            figures.push(("reconstruction_at_least", Some(least)));
        }
    }
    let mut row = Row::new(parameters, figures);
    row.worst_pair = names(mechanism, (a, b));
    Ok(row)
}

fn one_secret(mechanism: &dyn Mechanism) -> Error {
    Error::parameter(
        mechanism.to_string(),
        "leakage is between two secrets, and secrets= gives one",
    )
    .with_hint("give two secrets or more, secrets=2")
}

/// The capacity of shuffled randomized response where the histograms are too many to list.
///
/// # Formula
/// k times the vulnerability at the uniform prior: 1 + (E\[max load\]·k/n − 1)·(kp − 1)/(k − 1).
///
/// # References
/// Jurado, Gonze, Alvim, Palamidessi, equation (17), arXiv:2305.13075.
fn shuffled_capacity(bound: &dyn BoundMechanism) -> Option<f64> {
    let (keep, users) = bound.shuffled_response()?;
    let values = bound.secret_count() as u64;
    let shuffle = RandomizedResponseShuffle::new(values, keep).ok()?;
    let advantage = shuffle.advantage(users).ok()?;
    Some(1.0 + values as f64 * advantage * shuffle.dampening())
}

/// The labels of two secrets, if there are not too many to list.
fn names(mechanism: &dyn Mechanism, (a, b): (usize, usize)) -> Option<[String; 2]> {
    let count = mechanism.declared_count();
    count.filter(|&count| count <= MAX_NAMED)?;
    let labels = mechanism.declared_secrets()?;
    Some([labels[a].clone(), labels[b].clone()])
}

/// The smallest ε with which something of known δ(ε) is (ε, δ)-private, by bisection, from above; infinite if there is
/// none.
fn smallest_epsilon(delta: f64, of: impl Fn(f64) -> f64) -> f64 {
    let private = |epsilon: f64| of(epsilon) <= delta;
    if private(0.0) {
        return 0.0;
    }
    let mut high = 1.0;
    while !private(high) {
        high *= 2.0;
        if high > 1e300 {
            return f64::INFINITY;
        }
    }
    let mut low = 0.0;
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return high;
        }
        if private(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
}

/// What is said of figures of one run that are only bounded.
const SIDES: &str = "Of a figure with two sides the true value is between them: no databases of this size exceed the one, \
                     and some whose other records are alike attain the other.";

fn notes(kind: Kind) -> Vec<&'static str> {
    match kind {
        Kind::Mechanism => vec![
            "Exact values, at the pair of secrets that is told apart best.",
            "Advantage is that of the optimal adversary at the uniform prior on that pair; by \
             Proposition 2 of the Bayes security paper (doi:10.1109/CSF57540.2023.00011) it is also the \
             delta at which the mechanism is (0, delta)-private.",
        ],
        Kind::Promise => vec![
            "Bounds that hold for every mechanism that keeps the promise, between any two secrets \
             that it covers: at least for Bayes security, at most for everything else. Bounds of other \
             papers stand as published: an advantage above 1 or a Bayes security below 0 says nothing.",
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A batch whose histograms are listed has Σ_h max_s P(h | s); beyond, the expected maximum load of 100 balls in 10
    /// bins by mpmath, and e/(e + 9).
    #[test]
    fn shuffled_randomized_response_has_a_capacity() {
        let of = |text: &str| {
            let mechanism = crate::mechanism::parse(text).unwrap();
            let bound = mechanism.bind_declared().unwrap();
            (bound.capacity(), shuffled_capacity(&*bound))
        };
        for text in [
            "shuffled(randomized-response(epsilon=1.3, secrets=3), n=7)",
            "shuffled(randomized-response(epsilon=0.2, secrets=2), n=40)",
            "shuffled(randomized-response(epsilon=4, secrets=5), n=1)",
        ] {
            let (listed, closed) = of(text);
            let error = listed.unwrap() / closed.unwrap() - 1.0;
            assert!(error.abs() < 1e-12, "{text}: {listed:?} {closed:?}");
        }
        let (listed, closed) = of("shuffled(randomized-response(epsilon=1, secrets=10), n=100)");
        assert_eq!(listed, None);
        assert!(
            (closed.unwrap() / 1.0751422647899007 - 1.0).abs() < 1e-12,
            "{closed:?}"
        );
        // One other user's secret is known to all: no closed form.
        let (_, closed) = of("shuffled(randomized-response(epsilon=1, secrets=3), n=7, others=1)");
        assert_eq!(closed, None);
        let (_, closed) = of("shuffled(subset-selection(epsilon=1, secrets=4, size=2), n=3)");
        assert_eq!(closed, None);
    }
}
