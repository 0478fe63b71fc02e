//! Finite alphabets of labels, listed or given as a range.

use std::collections::HashSet;
use std::sync::Arc;

use super::Secrets;
use leakgauge_base::error::{Error, Result};

/// The k labels of a mechanism, and which of them are the bound secrets. Declared secrets are not listed: there can
/// be up to 2^53.
#[derive(Debug, Clone)]
pub(super) struct Alphabet {
    labels: Labels,
    positions: Positions,
}

#[derive(Debug, Clone)]
enum Labels {
    Listed(Arc<[String]>),
    Whole(Secrets),
}

/// The positions of the bound secrets in the alphabet.
#[derive(Debug, Clone)]
enum Positions {
    /// All labels, in their order.
    All(u64),
    Some(Vec<u64>),
}

impl Alphabet {
    /// All declared secrets.
    pub(super) fn declared(secrets: Secrets) -> Self {
        Alphabet {
            labels: Labels::Whole(secrets),
            positions: Positions::All(secrets.count()),
        }
    }

    /// The secrets of a log: a subset of the declared secrets, or the whole alphabet if none are declared. A declared
    /// count also accepts that many labels of any kind.
    ///
    /// # Errors
    /// A label appears twice or is not a declared secret.
    pub(super) fn bind(
        mechanism: &str,
        labels: &[String],
        declared: Option<Secrets>,
    ) -> Result<Self> {
        let mut seen = HashSet::with_capacity(labels.len());
        if let Some(twice) = labels.iter().find(|&label| !seen.insert(label)) {
            let problem = format!("the secret {twice:?} appears twice");
            return Err(Error::parameter(mechanism, problem));
        }
        let listed = || Alphabet {
            labels: Labels::Listed(labels.into()),
            positions: Positions::All(labels.len() as u64),
        };
        let Some(secrets) = declared else {
            return Ok(listed());
        };
        let found: std::result::Result<Vec<u64>, &String> = labels
            .iter()
            .map(|label| secrets.position(label).ok_or(label))
            .collect();
        match (found, secrets) {
            (Ok(positions), _) => Ok(Alphabet {
                labels: Labels::Whole(secrets),
                positions: Positions::Some(positions),
            }),
            (Err(_), Secrets::Count(count)) if count == labels.len() as u64 => Ok(listed()),
            (Err(label), _) => Err(excluded(mechanism, label, secrets)),
        }
    }

    /// The number k of labels.
    pub(super) fn size(&self) -> u64 {
        match &self.labels {
            Labels::Listed(labels) => labels.len() as u64,
            Labels::Whole(secrets) => secrets.count(),
        }
    }

    /// The number of bound secrets.
    pub(super) fn count(&self) -> usize {
        match &self.positions {
            Positions::All(count) => usize::try_from(*count).unwrap_or(usize::MAX),
            Positions::Some(positions) => positions.len(),
        }
    }

    /// Whether every label is a bound secret.
    pub(super) fn is_whole(&self) -> bool {
        self.count() as u64 == self.size()
    }

    /// The position of a bound secret among the labels.
    pub(super) fn position(&self, secret: usize) -> u64 {
        assert!(secret < self.count(), "no secret number {secret}");
        match &self.positions {
            Positions::All(_) => secret as u64,
            Positions::Some(positions) => positions[secret],
        }
    }

    /// The label at a position.
    pub(super) fn label(&self, position: u64) -> String {
        match &self.labels {
            Labels::Listed(labels) => labels[position as usize].clone(),
            Labels::Whole(secrets) => (secrets.first() + position as i64).to_string(),
        }
    }

    /// The declared secrets, if the labels are those.
    pub(super) fn whole_numbers(&self) -> Option<Secrets> {
        match self.labels {
            Labels::Listed(_) => None,
            Labels::Whole(secrets) => Some(secrets),
        }
    }
}

fn excluded(mechanism: &str, label: &str, secrets: Secrets) -> Error {
    Error::parameter(
        mechanism,
        format!(
            "its secrets are the whole numbers {} to {}; the log has the secret {label:?}",
            secrets.first(),
            secrets.last()
        ),
    )
    .with_hint(
        "remove secrets= to use the secrets of the log, or declare a range that contains them, \
         secrets=1..10",
    )
}
