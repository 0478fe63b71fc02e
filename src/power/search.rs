//! The number of rows at which an audit finds a leak often enough.

use std::collections::BTreeSet;

use crate::audit::{self, AuditOptions, Detection, two_digits};
use crate::power::design::Design;
use crate::power::simulated::LOGS;
use crate::power::{POWER, check_power, simulated};
use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::option;
use leakgauge_exact::claim::{BoundClaim, Claim, Leak, Terms};
use leakgauge_exact::mechanism::{BoundMechanism, Law};
use leakgauge_stats::special::normal_quantile;

/// Rows of each secret below which nothing is planned: attacks could not be learned.
const LEAST: f64 = 20.0;
/// Rows beyond which no log is planned: 400 audits of so many would take minutes.
const MOST: f64 = 1e7;
/// By how much rows grow at most while they are not enough.
const FACTOR: f64 = 4.0;
/// Where the ratio of enough rows to too few ends the search.
const CLOSE: f64 = 1.05;
/// A share above this tells how many rows are enough.
const TELLING: f64 = 0.1;
/// Numbers of rows that are tried, more than any search needs.
const STEPS: usize = 40;
/// Logs that are drawn for each of them.
const LOGS_OF_A_STEP: u64 = 200;
/// How much is added where the rounded number of rows misses the power by chance.
const MORE: f64 = 1.03;

/// What a log is planned for.
#[derive(Debug, Clone)]
pub struct PlanOptions {
    /// The leak that must be found.
    pub leak: Leak,
    /// The share of logs with such a leak in which it is found, in (0, 1).
    pub power: f64,
    /// All claims that the audit will judge: they share the error probability.
    pub claims: Vec<Claim>,
    /// The labels of the secrets, at least two.
    pub secrets: Vec<String>,
    /// The confidence of the audit.
    pub confidence: f64,
    /// Its margin for claims of mechanisms.
    pub margin: f64,
    /// Seed of the simulated logs.
    pub seed: u64,
}

impl PlanOptions {
    /// For two secrets, 0 and 1, at the power 0.9 and with the settings of an audit.
    pub fn new(leak: Leak, claims: Vec<Claim>) -> Self {
        let audit = AuditOptions::default();
        PlanOptions {
            leak,
            power: POWER,
            claims,
            secrets: vec!["0".to_owned(), "1".to_owned()],
            confidence: audit.confidence,
            margin: audit.margin,
            seed: audit.seed,
        }
    }
}

/// How many rows a log needs.
#[derive(Debug, Clone)]
pub struct RowsPlan {
    /// What was asked for.
    pub options: PlanOptions,
    /// Rows of all secrets together.
    pub rows: u64,
    /// Rows of each secret.
    pub rows_of_a_secret: u64,
    /// The two secrets that were taken to leak.
    pub pair: [String; 2],
    /// How many simulated logs with so many rows showed the leak.
    pub detection: Detection,
}

/// The least number of rows at which an audit finds the leak in the wanted share of simulated logs, to two significant
/// digits: all secrets have equally many rows.
///
/// # Conditions
/// See the [module](crate::power): the number is exact for two outcomes, up to about 10 % from simulating 400 logs, and
/// too small for mechanisms whose attack is harder to learn.
///
/// # Errors
/// Options out of range; claims that do not fit the secrets; a leak that violates no claim, or that more than 10⁷ rows
/// would be needed for.
pub fn plan(options: &PlanOptions) -> Result<RowsPlan> {
    check_power(options.power)?;
    let audit = AuditOptions {
        confidence: options.confidence,
        margin: options.margin,
        claims: options.claims.clone(),
        seed: options.seed,
        // Rows that are planned are of runs of their own, whatever secrets are called.
        design: audit::Design::ManyRuns,
        ..AuditOptions::default()
    };
    let mut design = design(options, &audit)?;
    let secrets = options.secrets.len() as u64;
    let mut at = |rows: u64, logs: u64| {
        design.rows.fill(rows);
        simulated::detection(&design, options.power, options.power, logs)
    };
    let enough = least_rows(secrets, options, |rows| {
        Ok(at(rows, LOGS_OF_A_STEP)?.share())
    })?;
    let enough = enough.ok_or_else(|| out_of_reach(options))?;
    // Rounding must not undo what was found.
    let mut wanted = enough * secrets as f64;
    loop {
        let rows = two_digits(wanted).ok_or_else(|| out_of_reach(options))?;
        let rows_of_a_secret = rows.div_ceil(secrets);
        let detection = at(rows_of_a_secret, LOGS)?;
        if detection.share() >= options.power {
            let pair = design.pair.map(|secret| design.labels[secret].clone());
            return Ok(RowsPlan {
                options: options.clone(),
                rows: rows_of_a_secret * secrets,
                rows_of_a_secret,
                pair,
                detection,
            });
        }
        wanted = rows as f64 * MORE;
    }
}

fn design<'a>(options: &PlanOptions, audit: &'a AuditOptions) -> Result<Design<'a>> {
    let distinct: BTreeSet<&String> = options.secrets.iter().collect();
    if distinct.len() < 2 || distinct.len() < options.secrets.len() {
        return Err(Error::parameter(
            option("secrets"),
            "a log has at least two secrets, each with a label of its own",
        ));
    }
    for claim in BoundClaim::bind_all(&options.claims, &options.secrets, &[])? {
        if let Terms::Mechanism(mechanism) = claim.terms() {
            refuse_other_outcomes(claim.claim(), &**mechanism)?;
        }
    }
    let rows = vec![LEAST as u64; options.secrets.len()];
    Design::new(options.secrets.clone(), rows, options.leak, audit)
}

/// Refuses a mechanism that has other observations than two: logs of two outcomes are told from its logs whatever leaks.
fn refuse_other_outcomes(claim: &Claim, mechanism: &dyn BoundMechanism) -> Result<()> {
    if matches!(mechanism.law(0), Law::Labels(labels) if labels.len() == 2) {
        return Ok(());
    }
    let problem = "has other observations than the two outcomes of the logs that are simulated";
    Err(Error::parameter(claim.to_string(), problem).with_hint(
        "plan with what it promises, such as ldp(epsilon=1); or draw logs with a larger leak by `leakgauge simulate`, and \
         audit them",
    ))
}

/// A number of rows of each secret, and the share of logs in which the leak was found.
#[derive(Clone, Copy)]
struct Tried {
    rows: f64,
    share: f64,
}

/// Rows of each secret between a number that is not enough and one that is; `None` if too many are needed.
fn least_rows(
    secrets: u64,
    options: &PlanOptions,
    mut share: impl FnMut(u64) -> Result<f64>,
) -> Result<Option<f64>> {
    let (mut low, mut high) = (None, None);
    let mut next = LEAST;
    for _ in 0..STEPS {
        let rows = next.ceil();
        if rows * secrets as f64 > MOST {
            return Ok(None);
        }
        let share = share(rows as u64)?;
        let tried = Some(Tried { rows, share });
        match share >= options.power {
            true => high = tried,
            false => low = tried,
        }
        next = match (low, high) {
            (None, _) => return Ok(Some(rows)),
            (Some(low), None) => further(low, options),
            (Some(low), Some(high)) if high.rows <= CLOSE * low.rows => break,
            (Some(low), Some(high)) => between(low, high, options.power),
        };
    }
    Ok(high.map(|high| high.rows))
}

/// The normal quantile of a share, of a share near 0 or 1 that of one a little away.
fn quantile(share: f64) -> f64 {
    normal_quantile(share.clamp(0.02, 0.98))
}

/// More rows, if these are not enough: about as many as are enough, where the share tells. The leak is found where a
/// normal variable, whose mean grows with the square root of the rows, exceeds the quantile of the confidence.
fn further(low: Tried, options: &PlanOptions) -> f64 {
    let critical = normal_quantile(options.confidence);
    let (mean, wanted) = (
        critical + quantile(low.share),
        critical + quantile(options.power),
    );
    let factor = match low.share > TELLING {
        true => (wanted / mean).powi(2) * CLOSE,
        false => FACTOR,
    };
    low.rows * factor.clamp(CLOSE, FACTOR)
}

/// Between too few and enough rows: linear in the square root of the rows and the quantile of the share, but not at
/// the ends.
fn between(low: Tried, high: Tried, power: f64) -> f64 {
    let [from, to] = [low, high].map(|tried| quantile(tried.share));
    let part = (quantile(power) - from) / (to - from);
    let root = |tried: Tried| tried.rows.sqrt();
    let part = if part.is_finite() {
        part.clamp(0.2, 0.8)
    } else {
        0.5
    };
    (root(low) + part * (root(high) - root(low))).powi(2)
}

fn out_of_reach(options: &PlanOptions) -> Error {
    Error::parameter(
        options.leak.to_string(),
        "more than 10,000,000 rows would be needed to find such a leak",
    )
    .with_hint("name a leak that exceeds the claim by more")
}
