//! How the error probability of a log was shared, for the report.

use serde::Serialize;

use crate::audit::certified_limit::{CertifiedLimit, Spender};
use crate::audit::pair::{Labels, Pair};

/// What takes a part of the error probability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LevelUse {
    /// Naming the secret, one of all.
    Identification,
    /// Total variations of all pairs, and what follows from them.
    TotalVariation,
    /// Both error rates of an attack between two secrets.
    ErrorRates,
    /// Both error rates of an attack that was chosen for privacy.
    PrivacyErrorRates,
    /// Guesses between two secrets where an attack is sure.
    Guesses,
    /// A divergence of two secrets, from scores in bins.
    Divergence,
    /// Differences of times of all pairs.
    TimeDifference,
    /// Both error rates of an attack, averaged over all pairs.
    Average,
    /// Tests of no leak at all.
    NoLeak,
    /// What rows gain by a posterior: mutual information.
    Information,
    /// The errors of an attack at all thresholds, at the worst pair.
    Band,
    /// Total variations of single columns, chosen on other rows.
    Columns,
}

/// A part of the error probability.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LevelShare {
    /// What takes it.
    pub limit: LevelUse,
    /// The two secrets, where it is about two only.
    pub secrets: Option<Pair>,
    /// The part of the whole error probability, in (0, 1].
    pub share: f64,
}

impl LevelShare {
    /// The part of a spender.
    pub(super) fn new(spender: Spender, share: f64, labels: &Labels) -> Self {
        let (limit, secrets) = match spender {
            Spender::Identification => (LevelUse::Identification, None),
            Spender::Limit(limit) => name(limit),
        };
        LevelShare {
            limit,
            secrets: secrets.map(|secrets| Pair::new(labels.clone(), secrets)),
            share,
        }
    }
}

fn name(limit: CertifiedLimit) -> (LevelUse, Option<[u32; 2]>) {
    match limit {
        CertifiedLimit::Table(_) => (LevelUse::TotalVariation, None),
        CertifiedLimit::Errors(rule) => (LevelUse::ErrorRates, Some([rule.a, rule.b])),
        CertifiedLimit::PrivacyErrors(rule) => {
            (LevelUse::PrivacyErrorRates, Some([rule.a, rule.b]))
        }
        CertifiedLimit::Guesses(secrets) => (LevelUse::Guesses, Some(secrets)),
        CertifiedLimit::Divergence(secrets, _) => (LevelUse::Divergence, Some(secrets)),
        CertifiedLimit::TimeDifference => (LevelUse::TimeDifference, None),
        CertifiedLimit::Average => (LevelUse::Average, None),
        CertifiedLimit::NoLeak => (LevelUse::NoLeak, None),
        CertifiedLimit::Information => (LevelUse::Information, None),
        CertifiedLimit::Band => (LevelUse::Band, None),
        CertifiedLimit::Columns => (LevelUse::Columns, None),
    }
}
