//! The number of rows at which an audit finds a leak often enough.

use std::collections::BTreeSet;

use crate::audit::{AuditOptions, Detection, two_digits};
use crate::power::design::Design;
use crate::power::{POWER, check_power, simulated};
use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::option;
use leakgauge_exact::claim::{Claim, Leak};

/// Rows of each secret below which nothing is planned: attacks could not be learned.
const LEAST: f64 = 20.0;
/// Rows beyond which no log is planned.
const MOST: f64 = 1e9;
/// Halvings of an interval whose ends have the ratio [`FACTOR`]: down to 2 %.
const HALVINGS: usize = 6;
const FACTOR: f64 = 4.0;
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
/// See the [module](crate::power): the number is exact for two outcomes, up to about 6 % from simulating 400 logs, and
/// too small for mechanisms whose attack is harder to learn.
///
/// # Errors
/// Options out of range; claims that do not fit the secrets; a leak that violates no claim, or that more than 10⁹ rows
/// would be needed for.
pub fn plan(options: &PlanOptions) -> Result<RowsPlan> {
    check_power(options.power)?;
    let audit = AuditOptions {
        confidence: options.confidence,
        margin: options.margin,
        claims: options.claims.clone(),
        seed: options.seed,
        ..AuditOptions::default()
    };
    let mut design = design(options, &audit)?;
    let secrets = options.secrets.len() as u64;
    let mut at = |rows: u64| {
        design.rows.fill(rows);
        simulated::detection(&design, options.power, options.power)
    };
    let mut is_enough = |rows: f64| Ok(at(rows as u64)?.share() >= options.power);
    let enough = least_rows(secrets, &mut is_enough)?.ok_or_else(|| out_of_reach(options))?;
    // Rounding must not undo what was found.
    let mut wanted = enough * secrets as f64;
    loop {
        let rows = two_digits(wanted).ok_or_else(|| out_of_reach(options))?;
        let rows_of_a_secret = rows.div_ceil(secrets);
        let detection = at(rows_of_a_secret)?;
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
    let rows = vec![LEAST as u64; options.secrets.len()];
    Design::new(options.secrets.clone(), rows, options.leak, audit)
}

/// Rows of each secret, by multiplying and halving; `None` if too many are needed.
fn least_rows(
    secrets: u64,
    is_enough: &mut impl FnMut(f64) -> Result<bool>,
) -> Result<Option<f64>> {
    let mut high = LEAST;
    while !is_enough(high)? {
        high *= FACTOR;
        if high * secrets as f64 > MOST {
            return Ok(None);
        }
    }
    let mut low = high / FACTOR;
    if high > LEAST {
        for _ in 0..HALVINGS {
            let middle = (low * high).sqrt();
            match is_enough(middle)? {
                true => high = middle,
                false => low = middle,
            }
        }
    }
    Ok(Some(high))
}

fn out_of_reach(options: &PlanOptions) -> Error {
    Error::parameter(
        options.leak.to_string(),
        "more than a billion rows would be needed to find such a leak",
    )
    .with_hint("name a leak that exceeds the claim by more")
}
