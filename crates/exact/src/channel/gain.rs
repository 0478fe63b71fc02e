//! g-leakage: leakage under a gain or loss function other than guessing the whole secret.

use crate::channel::{Channel, Prior};
use crate::extreme::Extreme;
use leakgauge_base::error::{Error, Result};
use serde::Serialize;

/// The value of every guess under every secret: a gain to maximize or a loss to minimize.
///
/// # References
/// Alvim, Chatzikokolakis, Palamidessi, Smith 2012, doi:10.1109/CSF.2012.26; for losses: Bayes
/// Security, appendix F.
#[derive(Debug, Clone, PartialEq)]
pub struct Payoff {
    guesses: Vec<String>,
    secrets: usize,
    /// Row-major: one row per guess, one entry per secret.
    values: Vec<f64>,
}

/// A payoff matrix as it was written, before it is known which secrets its columns are of.
#[derive(Debug, Clone, PartialEq)]
pub struct PayoffTable {
    /// What messages call it.
    pub name: String,
    /// The names of its columns, if it has any.
    pub columns: Option<Vec<String>>,
    /// The labels of its guesses.
    pub guesses: Vec<String>,
    /// Row-major: one row per guess.
    pub values: Vec<f64>,
    /// Whether it was only guessed that the first row is no header.
    pub may_have_header: bool,
}

impl PayoffTable {
    /// The payoff for these secrets: columns are matched by name, or by their order where they have none.
    ///
    /// # Errors
    /// The columns are not these secrets, or the first guess seems to be a header of numbers.
    pub fn bind(&self, secrets: &[String]) -> Result<Payoff> {
        let hint = "a gain or loss matrix has one row per guess and one column per secret";
        let values = self.for_secrets(secrets, hint)?;
        Payoff::new(self.guesses.clone(), secrets.len(), values)
    }

    /// The values with their columns in the order of these secrets.
    ///
    /// # Errors
    /// As [`PayoffTable::bind`], with a hint that says what the table is.
    pub(super) fn for_secrets(&self, secrets: &[String], hint: &str) -> Result<Vec<f64>> {
        let width = self.values.len() / self.guesses.len().max(1);
        if width != secrets.len() {
            return Err(Error::file(
                &self.name,
                format!("has {width} columns for {} secrets", secrets.len()),
            )
            .with_hint(hint));
        }
        let positions: Vec<usize> = match &self.columns {
            Some(columns) => secrets
                .iter()
                .map(|secret| {
                    let found = columns.iter().position(|name| name == secret);
                    found.ok_or_else(|| {
                        Error::file(&self.name, format!("has no column for secret {secret}"))
                            .with_hint("use the names of the secrets, or remove the header")
                    })
                })
                .collect::<Result<_>>()?,
            None if self.begins_with(secrets) => {
                return Err(Error::file(
                    &self.name,
                    "has the labels of the secrets in its first row, which would be read as gains or losses",
                )
                .with_hint("write a first column with the names of the guesses and `guess` above it, or remove the row of labels"));
            }
            None => (0..width).collect(),
        };
        let rows = self.values.chunks_exact(width);
        let values = rows.flat_map(|row| positions.iter().map(|&at| row[at]));
        Ok(values.collect())
    }

    /// Whether the first row has the labels of the secrets, which are numbers then. One row for each of the secrets 0 and 1 is
    /// what their losses look like.
    fn begins_with(&self, secrets: &[String]) -> bool {
        let first = &self.values[..secrets.len()];
        let same = |(value, label): (&f64, &String)| label.trim().parse() == Ok(*value);
        let is_loss = self.guesses.len() == secrets.len()
            && first.iter().all(|value| [0.0, 1.0].contains(value));
        self.may_have_header && !is_loss && first.iter().zip(secrets).all(same)
    }
}

impl Payoff {
    /// A payoff from the labels of its guesses and its values, row-major: one row per guess, one entry per secret.
    ///
    /// # Errors
    /// There is no guess, the number of values does not fit, or a value is not finite.
    pub fn new(guesses: Vec<String>, secrets: usize, values: Vec<f64>) -> Result<Payoff> {
        if guesses.is_empty() || secrets == 0 || values.len() != guesses.len() * secrets {
            return Err(Error::parameter(
                "payoff matrix",
                format!(
                    "has {} entries, which is not {} guesses times {secrets} secrets",
                    values.len(),
                    guesses.len()
                ),
            ));
        }
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            return Err(Error::parameter(
                format!("payoff matrix, guess {}", guesses[at / secrets]),
                format!("entry {} is {}", at % secrets + 1, values[at]),
            ));
        }
        Ok(Payoff {
            guesses,
            secrets,
            values,
        })
    }

    /// The gain of guessing the secret itself: 1 if the guess is right, else 0.
    pub fn identity(secrets: usize) -> Payoff {
        let mut values = vec![0.0; secrets * secrets];
        (0..secrets).for_each(|s| values[s * secrets + s] = 1.0);
        Payoff {
            guesses: super::numbered(secrets),
            secrets,
            values,
        }
    }

    /// The values, row-major: one row per guess, one entry per secret.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The labels of the guesses.
    pub fn guesses(&self) -> &[String] {
        &self.guesses
    }

    /// Best expected gain of a blind guess, V_g(π) = max_w Σ_s π_s g(w, s).
    ///
    /// # Errors
    /// A prior over another number of secrets.
    pub fn prior_vulnerability(&self, prior: &Prior) -> Result<f64> {
        self.check(prior)?;
        Ok(self.extreme(prior.weights(), f64::at_least))
    }

    /// Best expected gain after the observation, V_g(π, C) = Σ_o max_w Σ_s π_s C\[s,o\] g(w, s).
    ///
    /// # Errors
    /// A prior or channel over another number of secrets.
    pub fn vulnerability(&self, channel: &Channel, prior: &Prior) -> Result<f64> {
        self.check(prior)?;
        channel.sum_over_columns(prior, |_, column| self.extreme(column, f64::at_least))
    }

    /// Smallest expected loss of a blind guess, R_ℓ(π) = min_w Σ_s π_s ℓ(w, s).
    ///
    /// # Errors
    /// A prior over another number of secrets.
    pub fn prior_risk(&self, prior: &Prior) -> Result<f64> {
        self.check(prior)?;
        Ok(self.extreme(prior.weights(), f64::at_most))
    }

    /// Smallest expected loss after the observation, R_ℓ(π, C) = Σ_o min_w Σ_s π_s C\[s,o\] ℓ(w, s).
    ///
    /// # Errors
    /// A prior or channel over another number of secrets.
    pub fn risk(&self, channel: &Channel, prior: &Prior) -> Result<f64> {
        self.check(prior)?;
        channel.sum_over_columns(prior, |_, column| self.extreme(column, f64::at_most))
    }

    /// The best (by `better`) of all guesses when secrets have these weights.
    fn extreme(&self, weights: &[f64], better: fn(f64, f64) -> f64) -> f64 {
        self.values
            .chunks_exact(self.secrets)
            .map(|payoffs| payoffs.iter().zip(weights).map(|(g, w)| g * w).sum())
            .reduce(better)
            .unwrap_or(0.0)
    }

    fn check(&self, prior: &Prior) -> Result<()> {
        if self.secrets == prior.weights().len() {
            return Ok(());
        }
        Err(Error::parameter(
            "payoff matrix",
            format!(
                "has {} columns for {} secrets",
                self.secrets,
                prior.weights().len()
            ),
        )
        .with_hint("use one row per guess and one column per secret"))
    }
}

/// Leakage under a gain.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GainFigures {
    /// V_g(π).
    pub prior_vulnerability: f64,
    /// V_g(π, C).
    pub vulnerability: f64,
    /// V_g(π, C)/V_g(π); null if V_g(π) is not positive. At most ML× for gains ≥ 0.
    pub multiplicative_leakage: Option<f64>,
    /// V_g(π, C) − V_g(π).
    pub additive_leakage: f64,
}

/// Leakage under a loss.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LossFigures {
    /// R_ℓ(π).
    pub prior_risk: f64,
    /// R_ℓ(π, C).
    pub risk: f64,
    /// R_ℓ(π, C)/R_ℓ(π); null if R_ℓ(π) is not positive.
    pub risk_leakage: Option<f64>,
}

/// Leakage under a gain, if one is given.
pub(super) fn gain_figures(
    channel: &Channel,
    prior: &Prior,
    gain: Option<&Payoff>,
) -> Result<Option<GainFigures>> {
    gain.map(|gain| {
        let before = gain.prior_vulnerability(prior)?;
        let after = gain.vulnerability(channel, prior)?;
        Ok(GainFigures {
            prior_vulnerability: before,
            vulnerability: after,
            multiplicative_leakage: (before > 0.0).then(|| after / before),
            additive_leakage: after - before,
        })
    })
    .transpose()
}

/// Leakage under a loss, if one is given.
pub(super) fn loss_figures(
    channel: &Channel,
    prior: &Prior,
    loss: Option<&Payoff>,
) -> Result<Option<LossFigures>> {
    loss.map(|loss| {
        let before = loss.prior_risk(prior)?;
        let after = loss.risk(channel, prior)?;
        Ok(LossFigures {
            prior_risk: before,
            risk: after,
            risk_leakage: (before > 0.0).then(|| after / before),
        })
    })
    .transpose()
}
