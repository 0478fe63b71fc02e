//! The observations of a log as those of a claimed mechanism.

use std::borrow::Cow;
use std::collections::HashSet;

use leakgauge_base::error::{Error, Result};
use leakgauge_exact::claim::{BoundClaim, Terms};
use leakgauge_exact::mechanism::{BoundMechanism, Law, Spelling};
use leakgauge_log::Log;
use leakgauge_log::observations::ColumnType;

/// How the observations of a log are written, where the mechanism has labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    /// As the mechanism writes them, all or some of them.
    Alike,
    /// In another way, which tells all of them.
    Otherwise(Spelling),
    /// In no way that is known: not one of them is one of the mechanism.
    Unknown,
}

impl Written {
    /// As it is; of a mechanism whose observations are not listed, [`Written::Alike`].
    pub(crate) fn of(log: &Log, mechanism: &dyn BoundMechanism) -> Written {
        let Some(possible) = labels(mechanism) else {
            return Written::Alike;
        };
        let symbols = 0..log.observations.len() as u32;
        if log.observations.is_empty()
            || symbols
                .clone()
                .any(|symbol| possible.contains(&log.observations.label(symbol)))
        {
            return Written::Alike;
        }
        let tells = |spelling: &Spelling| {
            symbols.clone().all(|symbol| {
                let label = mechanism.respelled(&whole(log, symbol), *spelling);
                label.is_some_and(|label| possible.contains(&label))
            })
        };
        match Spelling::ALL.into_iter().find(tells) {
            Some(spelling) => Written::Otherwise(spelling),
            None => Written::Unknown,
        }
    }

    /// An observation as the mechanism writes it.
    pub(crate) fn label(self, log: &Log, mechanism: &dyn BoundMechanism, symbol: u32) -> String {
        let respelled = match self {
            Written::Alike | Written::Unknown => None,
            Written::Otherwise(spelling) => mechanism.respelled(&whole(log, symbol), spelling),
        };
        respelled.unwrap_or_else(|| log.observations.label(symbol))
    }
}

/// Refuses a claimed mechanism whose reports have another number of bits than those of the log: it was bound to the secrets
/// that are compared, and the reports are about all.
///
/// # Errors
/// Such a claim.
pub(crate) fn check_bits(log: &Log, claims: &[BoundClaim]) -> Result<()> {
    for claim in claims {
        let Terms::Mechanism(mechanism) = claim.terms() else {
            continue;
        };
        let values = mechanism.secret_count();
        let reads = |bits: usize| {
            let text = vec!["0"; bits].join(",");
            mechanism.respelled(&text, Spelling::Bits).is_some()
        };
        match bits(log) {
            Some(found) if found != values && reads(values) => {
                let problem =
                    format!("has reports of {values} bits, and those of the log have {found}");
                return Err(Error::parameter(claim.claim().to_string(), problem)
                    .with_hint(format!("say how many values there are: secrets={found}")));
            }
            _ => {}
        }
    }
    Ok(())
}

/// How many bits every observation of a log has, if it has nothing else.
fn bits(log: &Log) -> Option<usize> {
    let of = |symbol: u32| {
        let text = whole(log, symbol);
        let bits = text.chars().filter(|c| *c != ',');
        bits.clone()
            .all(|c| c == '0' || c == '1')
            .then(|| bits.count())
    };
    let mut all = (0..log.observations.len() as u32).map(of);
    let first = all.next()?.filter(|bits| *bits > 1)?;
    all.all(|bits| bits == Some(first)).then_some(first)
}

/// All observations that a mechanism may have; `None` if they are not listed.
fn labels(mechanism: &dyn BoundMechanism) -> Option<HashSet<String>> {
    let mut all = HashSet::new();
    for secret in 0..mechanism.secret_count() {
        let Law::Labels(law) = mechanism.law(secret) else {
            return None;
        };
        all.extend(law.into_iter().map(|(label, _)| label));
    }
    Some(all)
}

/// The text of an observation: of one that is read in parts as well, the whole.
fn whole(log: &Log, symbol: u32) -> Cow<'_, str> {
    let columns = log.observations.columns();
    let is_part = |name: &str| {
        name.strip_prefix(columns[0].name.as_str())
            .is_some_and(|rest| rest.starts_with(['[', '.']))
    };
    let in_parts = columns.len() > 1 && columns[1..].iter().all(|column| is_part(&column.name));
    match in_parts && columns[0].kind == ColumnType::Categorical {
        true => Cow::Borrowed(log.observations.label_at(symbol, 0)),
        false => Cow::Owned(log.observations.label(symbol)),
    }
}
