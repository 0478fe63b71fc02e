//! What a mechanism says of the secrets of a log.

use serde::Serialize;

use crate::audit::{Findings, PriorChoice};
use leakgauge_attack::pairwise::pairs;
use leakgauge_base::error::Result;
use leakgauge_exact::mechanism::{BoundMechanism, Mechanism};
use leakgauge_log::Log;

/// Exact values of a mechanism on the secrets of a log.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Analytic {
    /// The mechanism in full.
    #[serde(skip)]
    pub mechanism: String,
    /// At the pair that was estimated.
    pub total_variation: f64,
    /// At the pair that was estimated.
    pub bayes_security: f64,
    /// At the pair of secrets of the log that the mechanism makes easiest to tell apart.
    pub worst_pair: AnalyticPair,
    /// V at the uniform prior; `None` at others, or where no exact value is known.
    pub bayes_vulnerability: Option<f64>,
}

/// A pair with its exact values.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AnalyticPair {
    /// The two secrets.
    pub secrets: [String; 2],
    /// Their total variation.
    pub total_variation: f64,
    /// 1 − that.
    pub bayes_security: f64,
}

impl Analytic {
    pub(super) fn of(mechanism: &dyn Mechanism, log: &Log, audit: &Findings) -> Result<Analytic> {
        // As in an audit: what --secrets leaves out is still part of its domain.
        let labels: Vec<String> = log.secrets.iter().chain(&log.left_out).cloned().collect();
        let bound = mechanism.bind(&labels)?;
        let [a, b] = audit
            .worst_pair
            .secrets
            .secrets()
            .map(|secret| secret as usize);
        let (first, second) = worst(&*bound, log.secrets.len(), log.left_out.is_empty());
        // Σ_o max_s P(o | s)/n, the capacity over n, is V at the uniform prior.
        let uniform = audit.overall.prior == PriorChoice::Uniform && log.left_out.is_empty();
        let capacity = if uniform { bound.capacity() } else { None };
        Ok(Analytic {
            mechanism: mechanism.to_string(),
            total_variation: bound.total_variation(a, b),
            bayes_security: bound.bayes_security(a, b),
            worst_pair: AnalyticPair {
                secrets: [first, second].map(|secret| log.secrets[secret].clone()),
                total_variation: bound.total_variation(first, second),
                bayes_security: bound.bayes_security(first, second),
            },
            bayes_vulnerability: capacity.map(|capacity| capacity / log.secrets.len() as f64),
        })
    }
}

/// The worst pair of the first `secrets` secrets.
fn worst(bound: &dyn BoundMechanism, secrets: usize, all: bool) -> (usize, usize) {
    let known = if all { bound.worst_pair() } else { None };
    known.unwrap_or_else(|| {
        let first = (f64::INFINITY, (0, 1));
        let least = pairs(secrets).fold(first, |least, (a, b)| {
            let pair = (a as usize, b as usize);
            let security = bound.bayes_security(pair.0, pair.1);
            if security < least.0 {
                (security, pair)
            } else {
                least
            }
        });
        least.1
    })
}
