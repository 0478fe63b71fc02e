//! How to audit.

use std::collections::BTreeMap;
use std::fmt;

use leakgauge_attack::tuning::{Attacks, Budget};
use leakgauge_base::error::{Error, Result, shorten};
use leakgauge_base::naming::{option, setting};
use leakgauge_base::time::{ClockStep, TimeUnit};
use leakgauge_exact::channel::{Payoff, PayoffTable};
use leakgauge_exact::claim::{Claim, ClaimKind, Requirement};
use leakgauge_log::Log;

/// The prior of the figures that depend on one.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum PriorChoice {
    /// All secrets equally likely.
    #[default]
    Uniform,
    /// As often as in the log, taken as exact.
    Empirical,
    /// Given by label.
    Given(BTreeMap<String, f64>),
}

/// As it is set: `uniform`, `empirical` or `label=probability,…`.
impl fmt::Display for PriorChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PriorChoice::Uniform => f.write_str("uniform"),
            PriorChoice::Empirical => f.write_str("empirical"),
            PriorChoice::Given(given) => {
                let given = given.iter().map(|(label, p)| format!("{label}={p}"));
                f.write_str(&given.collect::<Vec<_>>().join(","))
            }
        }
    }
}

/// How the rows of a log are split into training, tuning and certification rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SplitChoice {
    /// At random, secret by secret: for rows that are exchangeable.
    #[default]
    Random,
    /// Earlier rows to learn and choose, later ones to judge, with limits that allow for
    /// autocorrelation: for rows that are not.
    Blocks,
}

/// How the rows of a training came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Design {
    /// Not said: claims of privacy about a training are not judged.
    #[default]
    Unstated,
    /// Every row comes from a run of the mechanism of its own.
    ManyRuns,
}

/// Whose success the figures are, where limits count units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Attacker {
    /// Not said. They are about a random row of a random unit; where units differ in their mix of secrets, nothing is said
    /// to hold, for a random row of the log may say more.
    #[default]
    Unstated,
    /// Who meets a random unit and sees one of its rows.
    OfUnits,
}

/// How to audit.
#[derive(Debug)]
pub struct AuditOptions {
    /// Level of every limit, in (0, 1).
    pub confidence: f64,
    /// Seed of every random choice.
    pub seed: u64,
    /// Which attacks are tried: built-in ones, the caller's own, or both.
    pub attacks: Attacks,
    /// How long attackers may be tried.
    pub budget: Budget,
    /// Limits and verdicts only: estimates come from the certification rows alone, and no learning curve is
    /// made.
    pub quick: bool,
    /// How rows are split.
    pub split: SplitChoice,
    /// The prior.
    pub prior: PriorChoice,
    /// How close to a mechanism's analytic value an upper limit must come to hold.
    pub margin: f64,
    /// The unit of the times of the log.
    pub unit: Option<TimeUnit>,
    /// The frequency of the clock in hertz, for times in cycles.
    pub clock_frequency: Option<f64>,
    /// The step in which the clock records times; found in the log if it is not given.
    pub clock_step: Option<ClockStep>,
    /// What is claimed.
    pub claims: Vec<Claim>,
    /// The pairs of secrets, by their labels, that claims of privacy are about. If there are none given, all secrets
    /// are neighbors of each other.
    pub neighbors: Vec<[String; 2]>,
    /// How the rows of a training came about.
    pub design: Design,
    /// Whose success the figures are, where limits count units.
    pub attacker: Attacker,
    /// The figures that are reported on request.
    pub requested: RequestedFigures,
}

/// Figures that are reported on request. With any number of guesses or order the whole leakage family is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RequestedFigures {
    /// The successes κ without the observation at which the success of a reconstruction is wanted, in (0, 1).
    pub reconstruction: Vec<f64>,
    /// Numbers of guesses k, at least 1.
    pub tries: Vec<u64>,
    /// Orders α of Sibson's information and of maximal α-leakage, above 0; ∞ is one.
    pub orders: Vec<f64>,
    /// A gain function (false) or a loss function (true) of guesses and secrets.
    pub payoff: Option<(PayoffTable, bool)>,
    /// 2: products of two columns are tested beside the columns, as masked implementations leak. 0 and 1: columns alone.
    pub order: u8,
}

impl RequestedFigures {
    /// Whether the leakage family is wanted.
    pub fn wants_family(&self) -> bool {
        !(self.tries.is_empty() && self.orders.is_empty())
    }

    /// Whether products of two columns are tested.
    pub fn wants_products(&self) -> bool {
        self.order == 2
    }

    fn check(&self) -> Result<()> {
        let kappa = |kappa: &&f64| !(**kappa > 0.0 && **kappa < 1.0);
        if let Some(kappa) = self.reconstruction.iter().find(kappa) {
            return Err(Error::parameter(
                setting("reconstruction", kappa),
                "must be above 0 and below 1",
            ));
        }
        if self.order > 2 {
            let problem = "must be 1, columns alone, or 2, products of two of them besides";
            return Err(Error::parameter(setting("order", self.order), problem));
        }
        if self.tries.contains(&0) {
            return Err(Error::parameter(setting("tries", 0), "must be at least 1"));
        }
        if let Some(order) = self
            .orders
            .iter()
            .find(|order| order.is_nan() || **order <= 0.0)
        {
            return Err(Error::parameter(
                setting("at_order", order),
                "must be above 0",
            ));
        }
        Ok(())
    }
}

impl Default for AuditOptions {
    fn default() -> Self {
        AuditOptions {
            confidence: 0.95,
            seed: 0,
            attacks: Attacks::default(),
            budget: Budget::default(),
            quick: false,
            split: SplitChoice::Random,
            prior: PriorChoice::Uniform,
            margin: 0.02,
            unit: None,
            clock_frequency: None,
            clock_step: None,
            claims: Vec::new(),
            neighbors: Vec::new(),
            design: Design::default(),
            attacker: Attacker::default(),
            requested: RequestedFigures::default(),
        }
    }
}

impl AuditOptions {
    /// The unit of the times of a log: seconds where its cells said units, else the given one, that of the tool that
    /// wrote it, or the one that the name of the column ends in.
    pub(super) fn unit_of(&self, log: &Log) -> Option<TimeUnit> {
        if log.facts.in_seconds {
            return Some(TimeUnit::Seconds);
        }
        let column = log.observations.columns().first();
        let of_tool = || match log.facts.ticks {
            true => None,
            false => log.facts.recognized?.unit(&column?.name),
        };
        let of_name = || TimeUnit::of_column(&column?.name);
        self.unit.or_else(of_tool).or_else(of_name)
    }

    /// Whether they say that what is observed are times.
    pub fn is_timed(&self) -> bool {
        let is_about_time = |claim: &Claim| match &claim.kind {
            ClaimKind::Promise(promise) => {
                matches!(promise.requirement(), Requirement::TimeDifference(_))
            }
            ClaimKind::Mechanism(_) => false,
        };
        self.unit.is_some()
            || self.clock_frequency.is_some()
            || self.clock_step.is_some()
            || self.claims.iter().any(is_about_time)
    }

    /// The step of the clock that was given, in the unit of the times of a log.
    pub(super) fn step_of(&self, log: &Log) -> Option<f64> {
        self.clock_step?
            .in_unit(self.unit_of(log), self.clock_frequency)
    }
}

pub(super) fn check(options: &AuditOptions) -> Result<()> {
    let confidence = options.confidence;
    if !(0.5..1.0).contains(&confidence) {
        return Err(Error::parameter(
            setting("confidence", confidence),
            "the level of confidence must be at least 0.5 and below 1",
        )
        .with_hint("0.95 means that a limit is wrong in at most 5 of 100 logs"));
    }
    if !(0.0..=1.0).contains(&options.margin) {
        return Err(Error::parameter(
            setting("margin", options.margin),
            "must be between 0 and 1",
        ));
    }
    options.requested.check()
}

pub(super) fn prior(log: &Log, choice: &PriorChoice) -> Result<Vec<f64>> {
    let secrets = log.secrets.len();
    match choice {
        PriorChoice::Uniform => Ok(vec![1.0 / secrets as f64; secrets]),
        PriorChoice::Empirical => {
            let rows = log.rows_of_secrets();
            let total = rows.iter().sum::<u64>() as f64;
            Ok(rows.iter().map(|&rows| rows as f64 / total).collect())
        }
        PriorChoice::Given(given) => given_prior(log, given),
    }
}

/// The payoff for the secrets of a log, and whether it is a loss.
pub(super) fn payoff(log: &Log, requested: &RequestedFigures) -> Result<Option<(Payoff, bool)>> {
    let payoff = requested.payoff.as_ref();
    payoff
        .map(|(table, is_loss)| Ok((table.bind(&log.secrets)?, *is_loss)))
        .transpose()
}

fn given_prior(log: &Log, given: &BTreeMap<String, f64>) -> Result<Vec<f64>> {
    for (label, p) in given {
        if !log.secrets.contains(label) {
            return Err(Error::parameter(
                setting("prior", format_args!("{}={p}", shorten(label))),
                "the log has no such secret",
            ));
        }
        if !(p.is_finite() && *p >= 0.0) {
            return Err(Error::parameter(
                setting("prior", format_args!("{}={p}", shorten(label))),
                "is not a probability",
            ));
        }
    }
    let sum: f64 = given.values().sum();
    if (sum - 1.0).abs() > 1e-9 {
        return Err(Error::parameter(
            option("prior"),
            format!("the probabilities sum to {sum}, not 1"),
        )
        .with_hint("secrets that are not named have probability 0"));
    }
    Ok(log
        .secrets
        .iter()
        .map(|label| given.get(label).copied().unwrap_or(0.0) / sum)
        .collect())
}
