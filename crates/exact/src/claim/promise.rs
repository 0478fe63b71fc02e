//! Promises: claims that bound leakage without naming a mechanism.

use std::fmt;
use std::sync::Arc;

mod time;

use super::curve::{Curve, of_dp_calls, of_point_calls};
use super::matrix::{self, MatrixGaussian};
use super::training::{self, Training};
use super::{Guarantee, Neighbors, Requirement, TimeBound};
use crate::mechanism::Mechanism;
use leakgauge_base::error::Result;
use leakgauge_base::grammar::{Arguments, Bounds, Call, Parameter, Value, format_number};
use leakgauge_base::quantity::OverallFigure;
use time::{slower, time_bound};

/// A bound on what observations tell about secrets.
#[derive(Debug, Clone, PartialEq)]
pub enum Promise {
    /// ε-local differential privacy between all secrets of the log; with a unit, metric privacy: ε·d/u
    /// between secrets at distance d, of which a part of a unit counts as a part.
    LocalDp {
        /// ε.
        epsilon: f64,
        /// u, if secrets are numbers or points.
        unit: Option<f64>,
    },
    /// (ε, δ)-differential privacy, the secrets of the log being neighbors of each other. In this
    /// and the next two, a unit makes neighbors of the secrets at most so far apart, and secrets at
    /// distance d are ⌈d/u⌉ steps apart: [`Guarantee::group`] says what is left to them.
    Dp {
        /// ε.
        epsilon: f64,
        /// δ.
        delta: f64,
        /// u, if secrets are numbers or points.
        unit: Option<f64>,
    },
    /// μ-Gaussian differential privacy: f-differential privacy with the trade-off function of
    /// N(0, 1) against N(μ, 1).
    GaussianDp {
        /// μ.
        mu: f64,
        /// u, if secrets are numbers or points.
        unit: Option<f64>,
    },
    /// No attack tells a record's contributions better than from all releases of a matrix mechanism.
    Matrix(MatrixGaussian),
    /// ρ-zero-concentrated differential privacy.
    ConcentratedDp {
        /// ρ.
        rho: f64,
        /// u, if secrets are numbers or points.
        unit: Option<f64>,
    },
    /// (α, G)-d_σ privacy: the secrets are orders of the inputs that differ within one group of G, and
    /// no output is more than e^α times as likely under one of them as under another.
    Order {
        /// α.
        alpha: f64,
        /// The first and the last place of the group, from 1; if not given, all places.
        group: Option<(i64, i64)>,
    },
    /// No attack tells a record's presence better than from all steps of a training.
    Training {
        /// The training.
        training: Training,
        /// What this leaves, on its certified upper side.
        curve: Curve,
    },
    /// (α, ε)-Rényi differential privacy.
    Renyi {
        /// α, above 1.
        order: f64,
        /// ε.
        epsilon: f64,
    },
    /// Several (ε, δ) at once.
    DpCurve {
        /// All of them.
        curve: Curve,
    },
    /// f-differential privacy: no test has a smaller false negative rate than f of its false positive rate.
    TradeOff {
        /// Points of f, (false positive rate, false negative rate), as they were given.
        table: Arc<[(f64, f64)]>,
        /// What they imply.
        curve: Curve,
    },
    /// Bayes security is at least this.
    BayesSecurity {
        /// The least Bayes security.
        at_least: f64,
    },
    /// The advantage of the optimal adversary is at most this.
    Advantage {
        /// The largest advantage.
        at_most: f64,
    },
    /// The advantage of the best attack found is at most this. Says nothing about attacks that
    /// were not found.
    AttackAdvantage {
        /// The largest advantage.
        at_most: f64,
    },
    /// A figure of all secrets together is at most this.
    Overall {
        /// Which figure.
        figure: OverallFigure,
        /// The most bits.
        at_most: f64,
    },
    /// The times of any two secrets differ by at most this, the median of the differences inside blocks.
    TimeDifference {
        /// The largest difference.
        bound: TimeBound,
        /// The only secret that is no slower than the others by more; without it any two, in both directions.
        slower: Option<Arc<str>>,
    },
}

impl Promise {
    /// What is promised of neighboring secrets. All that judges a promise reads this and
    /// [`Promise::neighbors`], so that a new promise with a known requirement needs nothing else.
    pub fn requirement(&self) -> Requirement {
        let dp = |epsilon, delta| Requirement::Privacy(Guarantee::Dp { epsilon, delta });
        match *self {
            Promise::LocalDp { epsilon, .. } => dp(epsilon, 0.0),
            Promise::Dp { epsilon, delta, .. } => dp(epsilon, delta),
            Promise::GaussianDp { mu, .. } => Requirement::Privacy(Guarantee::Gaussian { mu }),
            Promise::Matrix(ref matrix) => {
                Requirement::Privacy(Guarantee::Gaussian { mu: matrix.mu() })
            }
            Promise::ConcentratedDp { rho, .. } => {
                Requirement::Privacy(Guarantee::Concentrated { rho })
            }
            Promise::Order { alpha, .. } => dp(alpha, 0.0),
            Promise::Renyi { order, epsilon } => {
                Requirement::Privacy(Guarantee::Renyi { order, epsilon })
            }
            Promise::Training { ref curve, .. }
            | Promise::DpCurve { ref curve }
            | Promise::TradeOff { ref curve, .. } => Requirement::Curve {
                advantage: curve.largest_total_variation(),
            },
            Promise::BayesSecurity { at_least } => Requirement::BayesSecurity { at_least },
            Promise::Advantage { at_most } => Requirement::Advantage { at_most },
            Promise::AttackAdvantage { at_most } => Requirement::AttackAdvantage { at_most },
            Promise::Overall { figure, at_most } => Requirement::Overall { figure, at_most },
            Promise::TimeDifference { bound, .. } => Requirement::TimeDifference(bound),
        }
    }

    /// Whether it is about the inputs of a local mechanism.
    pub(crate) fn is_local(&self) -> bool {
        matches!(self, Promise::LocalDp { .. })
    }

    /// The promise that T runs keep together, if it is one of the same form.
    ///
    /// # References
    /// M. Bun, T. Steinke, *Concentrated differential privacy*, Lemma 1.7, doi:10.1007/978-3-662-53641-4_24. I.
    /// Mironov, *Rényi differential privacy*, Proposition 1, doi:10.1109/CSF.2017.11. J. Dong, A. Roth, W. J.
    /// Su, *Gaussian differential privacy*, Corollary 3.3, doi:10.1111/rssb.12454.
    pub(crate) fn repeated(&self, steps: u64) -> Option<Promise> {
        let times = steps as f64;
        match *self {
            Promise::GaussianDp { mu, unit } => Some(Promise::GaussianDp {
                mu: libm::sqrt(times) * mu,
                unit,
            }),
            Promise::Matrix(ref matrix) => Some(Promise::GaussianDp {
                mu: libm::sqrt(times) * matrix.mu(),
                unit: None,
            }),
            Promise::ConcentratedDp { rho, unit } => Some(Promise::ConcentratedDp {
                rho: times * rho,
                unit,
            }),
            Promise::Renyi { order, epsilon } => Some(Promise::Renyi {
                order,
                epsilon: times * epsilon,
            }),
            _ => None,
        }
    }

    /// Which secrets are neighbors.
    pub fn neighbors(&self) -> Neighbors {
        let within = |unit: Option<f64>, whole_steps| {
            unit.map_or(Neighbors::All, |unit| Neighbors::Within {
                unit,
                whole_steps,
            })
        };
        match *self {
            Promise::LocalDp { unit, .. } => within(unit, false),
            Promise::Dp { unit, .. }
            | Promise::GaussianDp { unit, .. }
            | Promise::ConcentratedDp { unit, .. } => within(unit, true),
            Promise::Order { group, .. } => Neighbors::Orders { group },
            Promise::Training { .. }
            | Promise::Matrix(_)
            | Promise::Renyi { .. }
            | Promise::DpCurve { .. }
            | Promise::TradeOff { .. }
            | Promise::BayesSecurity { .. }
            | Promise::Advantage { .. }
            | Promise::AttackAdvantage { .. }
            | Promise::Overall { .. }
            | Promise::TimeDifference { .. } => Neighbors::All,
        }
    }

    /// The mechanism of one step and the number of steps, of a promise that is a composition.
    pub fn composition(&self) -> Option<(Arc<dyn Mechanism>, u64)> {
        match self {
            Promise::Training { training, .. } => Some(training.composition()),
            _ => None,
        }
    }

    /// The (ε, δ) that it promises together, of a promise that lists some or implies them.
    pub fn curve(&self) -> Option<&Curve> {
        match self {
            Promise::Training { curve, .. }
            | Promise::DpCurve { curve }
            | Promise::TradeOff { curve, .. } => Some(curve),
            _ => None,
        }
    }

    /// f-differential privacy by a table of points (false positive rate, least false negative rate). `name` is how
    /// messages call it.
    ///
    /// # Errors
    /// Those of [`Curve::of_trade_off`].
    pub fn of_trade_off(name: &str, table: Vec<(f64, f64)>) -> Result<Promise> {
        let curve = Curve::of_trade_off(name, &table)?;
        let table = table.into();
        Ok(Promise::TradeOff { table, curve })
    }

    /// The label of the only secret that is promised to be no slower than the others.
    pub fn slower(&self) -> Option<&str> {
        match self {
            Promise::TimeDifference { slower, .. } => slower.as_deref(),
            _ => None,
        }
    }

    /// The largest distance of neighboring secrets; `None` where distance plays no part.
    pub fn unit(&self) -> Option<f64> {
        self.neighbors().unit()
    }

    /// The largest total variation between two (neighboring) secrets that the promise leaves
    /// possible. A total variation above it refutes the promise; one below it proves it only for the
    /// promises that bound total variation itself ([`Promise::is_a_bound_on_total_variation`]).
    ///
    /// # Formula
    /// That of [`Requirement::largest_total_variation`].
    ///
    /// # References
    /// Chatzikokolakis et al., *Bayes Security*, Theorem 5 (local differential privacy),
    /// Corollary 2 (differential privacy, δ = 0; it follows from Theorem 5, while Theorem 6 and
    /// Corollary 1 bound the leakage about whole databases), Proposition 2 (ε = 0),
    /// doi:10.1109/CSF57540.2023.00011. The bound for both ε and δ follows from
    /// P ≤ e^ε Q + δ on the event P > Q and on its complement, and is attained.
    pub fn largest_total_variation(&self) -> f64 {
        self.requirement().largest_total_variation()
    }

    /// 1 − [`Promise::largest_total_variation`], computed without cancellation.
    pub fn least_bayes_security(&self) -> f64 {
        self.requirement().least_bayes_security()
    }

    /// The largest advantage that the promise leaves to any attack, if it is the same at every pair of
    /// secrets that it covers.
    pub fn largest_advantage_of_all_pairs(&self) -> Option<f64> {
        let requirement = self.requirement();
        let is_one_bound = requirement.covers_all_attacks() && self.unit().is_none();
        is_one_bound.then(|| requirement.largest_total_variation())
    }

    /// Whether the promise is a bound on the total variation of all pairs and nothing more.
    pub fn is_a_bound_on_total_variation(&self) -> bool {
        self.unit().is_none() && self.requirement().is_a_bound_on_total_variation()
    }
}

/// As it is written in the [grammar](leakgauge_base::grammar).
impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = format_number;
        let unit = self.unit();
        let unit = unit.map_or(String::new(), |unit| format!(", unit={}", number(unit)));
        match *self {
            Promise::LocalDp { epsilon, .. } => {
                write!(f, "ldp(epsilon={}{unit})", number(epsilon))
            }
            Promise::Dp { epsilon, delta, .. } => {
                let (epsilon, delta) = (number(epsilon), number(delta));
                write!(f, "dp(epsilon={epsilon}, delta={delta}{unit})")
            }
            Promise::GaussianDp { mu, .. } => write!(f, "gdp(mu={}{unit})", number(mu)),
            Promise::ConcentratedDp { rho, .. } => write!(f, "zcdp(rho={}{unit})", number(rho)),
            Promise::Order { alpha, group } => {
                write!(f, "dsigma(alpha={}", number(alpha))?;
                if let Some((from, to)) = group {
                    write!(f, ", group={from}..{to}")?;
                }
                f.write_str(")")
            }
            Promise::Training { ref training, .. } => training.fmt(f),
            Promise::Matrix(ref matrix) => matrix.fmt(f),
            Promise::Renyi { order, epsilon } => {
                write!(
                    f,
                    "rdp(alpha={}, epsilon={})",
                    number(order),
                    number(epsilon)
                )
            }
            Promise::DpCurve { ref curve } => {
                let points = curve.points().iter();
                let points = points.map(|&(epsilon, delta)| {
                    format!("dp(epsilon={}, delta={})", number(epsilon), number(delta))
                });
                write!(f, "dp-curve({})", points.collect::<Vec<_>>().join(", "))
            }
            Promise::TradeOff { ref table, .. } => {
                let points = table.iter();
                let points = points
                    .map(|&(fpr, fnr)| format!("point(fpr={}, fnr={})", number(fpr), number(fnr)));
                write!(f, "f-dp({})", points.collect::<Vec<_>>().join(", "))
            }
            Promise::BayesSecurity { at_least } => {
                write!(f, "bayes-security({})", number(at_least))
            }
            Promise::Advantage { at_most } => write!(f, "advantage({})", number(at_most)),
            Promise::AttackAdvantage { at_most } => {
                write!(f, "attack-advantage({})", number(at_most))
            }
            Promise::Overall { figure, at_most } => {
                write!(f, "{}({})", figure.name(), number(at_most))
            }
            Promise::TimeDifference { bound, ref slower } => {
                time::write(f, bound, slower.as_deref())
            }
        }
    }
}

/// A promise that the grammar of claims knows.
#[derive(Debug)]
pub struct PromiseEntry {
    /// The name: `ldp`.
    pub name: &'static str,
    /// What it promises, in one line.
    pub about: &'static str,
    /// Its parameters; none where it takes calls of another name.
    pub parameters: &'static [Parameter],
    build: Build,
}

/// How a promise is made of its call.
#[derive(Debug)]
enum Build {
    /// Of arguments that match the parameters.
    Arguments(fn(&Arguments<'_>) -> Result<Promise>),
    /// Of the calls inside.
    Calls(fn(&Call) -> Result<Promise>),
}

impl PromiseEntry {
    /// Makes the promise of a call of this name.
    ///
    /// # Errors
    /// Arguments that the promise does not take.
    pub fn build(&self, call: &Call) -> Result<Promise> {
        match self.build {
            Build::Arguments(build) => build(&Arguments::new(call, self.parameters)?),
            Build::Calls(build) => build(call),
        }
    }
}

const EPSILON: Parameter = Parameter::positional("epsilon", "ε, at least 0");
const UNIT: Parameter = Parameter::named(
    "unit",
    "secrets are numbers or points x;y, and neighbors are at most this far apart: secrets k times \
     as far are allowed k epsilon, delta (e^(k epsilon) - 1)/(e^epsilon - 1), k mu, k^2 rho, with k \
     rounded up but for ldp, which is metric privacy; default: all secrets are neighbors",
);
const PROBABILITY: Bounds = Bounds::Between(0.0, 1.0);

fn unit(arguments: &Arguments<'_>) -> Result<Option<f64>> {
    arguments.number_if_given("unit", Bounds::Above(0.0))
}

fn overall(figure: OverallFigure, arguments: &Arguments<'_>) -> Result<Promise> {
    let at_most = arguments.number("at-most", Bounds::AtLeast(0.0))?;
    Ok(Promise::Overall { figure, at_most })
}

fn of_training(training: Training) -> Result<Promise> {
    let (step, times) = training.composition();
    let curve = Curve::of_composition(&*step, times)?;
    Ok(Promise::Training { training, curve })
}

/// Every promise that [`Claim::parse`](super::Claim::parse) reads.
pub static PROMISES: &[PromiseEntry] = &[
    PromiseEntry {
        name: "ldp",
        about: "ε-local differential privacy between all secrets",
        parameters: &[EPSILON, UNIT],
        build: Build::Arguments(|arguments| {
            let epsilon = arguments.number("epsilon", Bounds::AtLeast(0.0))?;
            let unit = unit(arguments)?;
            Ok(Promise::LocalDp { epsilon, unit })
        }),
    },
    PromiseEntry {
        name: "dp",
        about: "(ε, δ)-differential privacy, the secrets being neighbors of each other",
        parameters: &[
            EPSILON,
            Parameter::named("delta", "δ, between 0 and 1; default 0"),
            UNIT,
        ],
        build: Build::Arguments(|arguments| {
            let epsilon = arguments.number("epsilon", Bounds::AtLeast(0.0))?;
            let delta = arguments.number_if_given("delta", PROBABILITY)?;
            Ok(Promise::Dp {
                epsilon,
                delta: delta.unwrap_or(0.0),
                unit: unit(arguments)?,
            })
        }),
    },
    PromiseEntry {
        name: "gdp",
        about: "μ-Gaussian differential privacy: secrets are no easier to tell apart than N(0, 1) \
                from N(μ, 1)",
        parameters: &[Parameter::positional("mu", "μ, at least 0"), UNIT],
        build: Build::Arguments(|arguments| {
            let mu = arguments.number("mu", Bounds::AtLeast(0.0))?;
            let unit = unit(arguments)?;
            Ok(Promise::GaussianDp { mu, unit })
        }),
    },
    PromiseEntry {
        name: "zcdp",
        about: "ρ-zero-concentrated differential privacy: Rényi divergences D_α are at most ρα",
        parameters: &[Parameter::positional("rho", "ρ, at least 0"), UNIT],
        build: Build::Arguments(|arguments| {
            let rho = arguments.number("rho", Bounds::AtLeast(0.0))?;
            let unit = unit(arguments)?;
            Ok(Promise::ConcentratedDp { rho, unit })
        }),
    },
    PromiseEntry {
        name: "rdp",
        about: "(α, ε)-Rényi differential privacy: the Rényi divergence of order α is at most ε, both ways",
        parameters: &[
            Parameter::named("alpha", "α, above 1"),
            Parameter::named("epsilon", "ε, at least 0"),
        ],
        build: Build::Arguments(|arguments| {
            let order = arguments.number("alpha", Bounds::Above(1.0))?;
            let epsilon = arguments.number("epsilon", Bounds::AtLeast(0.0))?;
            Ok(Promise::Renyi { order, epsilon })
        }),
    },
    PromiseEntry {
        name: "dp-curve",
        about: "several (ε, δ) at once: dp-curve(dp(1), dp(epsilon=0.5, delta=1e-3))",
        parameters: &[],
        build: Build::Calls(|call| {
            let curve = of_dp_calls(call)?;
            Ok(Promise::DpCurve { curve })
        }),
    },
    PromiseEntry {
        name: "f-dp",
        about: "f-differential privacy by points of f: f-dp(point(fpr=0.1, fnr=0.6), point(0.3, 0.35)), linear between \
                them and (0, 1) and (1, 0); on the command line also f-dp(FILE), with a point in each row",
        parameters: &[],
        build: Build::Calls(|call| Promise::of_trade_off(&call.to_string(), of_point_calls(call)?)),
    },
    PromiseEntry {
        name: "dsigma",
        about: "d_σ-privacy: the secrets are orders of a group's values, written 2-1-3, and no output is more than \
                e^α times as likely under one as under another",
        parameters: &[
            Parameter::positional("alpha", "α, at least 0"),
            Parameter::named(
                "group",
                "the places of the group, from 1, such as 1..3, if orders are of more than the group; default: all",
            ),
        ],
        build: Build::Arguments(|arguments| {
            let alpha = arguments.number("alpha", Bounds::AtLeast(0.0))?;
            let group = match arguments.value("group") {
                None => None,
                Some(&Value::Range { from, to }) if 1 <= from && from <= to => Some((from, to)),
                Some(_) => return Err(arguments.error("group must be places such as 1..3")),
            };
            Ok(Promise::Order { alpha, group })
        }),
    },
    PromiseEntry {
        name: "dp-sgd",
        about: "the secrets, without and with one record, are no easier to tell apart than from all steps of DP-SGD \
                with this noise and these batches (Poisson sampling)",
        parameters: training::DP_SGD,
        build: Build::Arguments(|arguments| of_training(Training::dp_sgd(arguments)?)),
    },
    PromiseEntry {
        name: "random-allocation",
        about: "the secrets, without and with one record, are no easier to tell apart than from all steps of training with Gaussian \
                noise where each epoch uses a record in exactly one step, chosen at random (balls in bins)",
        parameters: training::RANDOM_ALLOCATION,
        build: Build::Arguments(|arguments| of_training(Training::random_allocation(arguments)?)),
    },
    PromiseEntry {
        name: "matrix-gaussian",
        about: "the secrets, without and with one record, are no easier to tell apart than from all releases C·X + Z of a matrix \
                mechanism with Gaussian noise (DP-FTRL)",
        parameters: matrix::PARAMETERS,
        build: Build::Arguments(|arguments| MatrixGaussian::read(arguments).map(Promise::Matrix)),
    },
    PromiseEntry {
        name: "bayes-security",
        about: "Bayes security is at least this",
        parameters: &[Parameter::positional("at-least", "between 0 and 1")],
        build: Build::Arguments(|arguments| {
            let at_least = arguments.number("at-least", PROBABILITY)?;
            Ok(Promise::BayesSecurity { at_least })
        }),
    },
    PromiseEntry {
        name: "advantage",
        about: "the optimal adversary's advantage is at most this",
        parameters: &[Parameter::positional("at-most", "between 0 and 1")],
        build: Build::Arguments(|arguments| {
            let at_most = arguments.number("at-most", PROBABILITY)?;
            Ok(Promise::Advantage { at_most })
        }),
    },
    PromiseEntry {
        name: "attack-advantage",
        about: "the best attack found has an advantage of at most this",
        parameters: &[Parameter::positional("at-most", "between 0 and 1")],
        build: Build::Arguments(|arguments| {
            let at_most = arguments.number("at-most", PROBABILITY)?;
            Ok(Promise::AttackAdvantage { at_most })
        }),
    },
    PromiseEntry {
        name: "mutual-information",
        about: "an observation tells at most this about the secret, on average at the prior",
        parameters: &[Parameter::positional("at-most", "bits, at least 0")],
        build: Build::Arguments(|arguments| overall(OverallFigure::MutualInformation, arguments)),
    },
    PromiseEntry {
        name: "maximal-leakage",
        about: "an observation makes right guesses of the secret, or of anything about it, at most 2^b times more often, \
                whatever the prior",
        parameters: &[Parameter::positional("at-most", "b, bits, at least 0")],
        build: Build::Arguments(|arguments| overall(OverallFigure::MaximalLeakage, arguments)),
    },
    PromiseEntry {
        name: "time-difference",
        about: "the times of any two secrets, measured in blocks, differ by at most this (the median over blocks)",
        parameters: &[
            Parameter::positional(
                "at-most",
                "a time above 0, such as 10ns: s, ms, us, ns or cycles; without a unit, in that of the log; or who measures: \
                 shared-hardware (0.6ns), lan (100ns), internet (50us)",
            ),
            Parameter::named(
                "slower",
                "a secret, in quotes if it is no plain word: only this one, and only if it is slower; default: any two",
            ),
        ],
        build: Build::Arguments(|arguments| {
            let (bound, slower) = (time_bound(arguments)?, slower(arguments)?);
            Ok(Promise::TimeDifference { bound, slower })
        }),
    },
];

#[cfg(test)]
mod tests;
