//! What a reader should know before believing the figures.

use std::collections::{BTreeMap, BTreeSet};

use crate::audit::options::Attacker;
use crate::audit::units::mix;
use crate::audit::warnings::observed;
use crate::audit::warnings::order::order_warnings;
use crate::audit::warnings::warning::{Lack, MissingTimes, Warning};
use leakgauge_attack::split::{Split, UnitParts};
use leakgauge_log::observations::{ColumnType, ObservationKind};
use leakgauge_log::{Log, PureColumn, is_of_units};

/// Fewer certify rows than this certify little.
const FEW: u64 = 30;
/// Fewer certification units of a secret than this certify little, however many rows they have.
const FEW_UNITS: u64 = 20;

/// Looks at the log and its split.
pub(crate) fn find(
    log: &Log,
    split: &Split,
    units: Option<&UnitParts>,
    attacker: Attacker,
) -> Vec<Warning> {
    let mut warnings = of_reading(log, units.is_some());
    look_at_rows(log, split, &mut warnings);
    if let Some(units) = units {
        look_at_units(log, units, &mut warnings);
        if attacker == Attacker::Unstated {
            warnings.extend(uneven_mix(log));
        }
    }
    look_at_sparseness(log, &mut warnings);
    look_at_columns(log, &mut warnings);
    warnings
}

/// What is seen of the rows and of their order before they are split.
fn of_reading(log: &Log, has_units: bool) -> Vec<Warning> {
    let mut warnings = Vec::new();
    match &log.order {
        // Rows of a unit may depend on each other, and units are in any order.
        _ if has_units => {}
        Some(order) => {
            let table = order.observations.as_ref().unwrap_or(&log.observations);
            warnings.extend(order_warnings(table, log.secrets.len(), order));
        }
        None => warnings.push(Warning::OrderNotChecked),
    }
    observed::look_at(log, &mut warnings);
    warnings.extend(log.facts.pooled.clone().map(Warning::PooledKinds));
    warnings.extend(missing_times(log).or_else(|| missing_rows(log)));
    let has_groups = has_units || log.facts.blocks.is_some();
    warnings.extend(pure_columns(log, has_groups));
    if !has_groups {
        warnings.extend(observed_units(log));
    }
    warnings.extend(secrets_alike(&log.secrets));
    look_at_left_out(log, &mut warnings);
    look_at_copies(log, &mut warnings);
    warnings
}

/// Labels that are the same but for upper and lower case: two loggers may have written one secret.
fn secrets_alike(labels: &[String]) -> Option<Warning> {
    let mut spellings: BTreeMap<String, Vec<&String>> = BTreeMap::new();
    for label in labels {
        spellings
            .entry(label.to_lowercase())
            .or_default()
            .push(label);
    }
    let mut alike = spellings.values().filter(|labels| labels.len() > 1);
    let first = alike.clone().next()?;
    Some(Warning::SecretsAlike {
        labels: [first[0].clone(), first[1].clone()],
        secrets: alike.by_ref().map(Vec::len).sum(),
    })
}

/// All that can be said of a log before it is split.
pub(crate) fn find_unsplit(log: &Log) -> Vec<Warning> {
    let mut warnings = of_reading(log, log.units.is_some());
    look_at_sparseness(log, &mut warnings);
    look_at_columns(log, &mut warnings);
    warnings
}

/// Rows that were left out while the log was read.
fn look_at_left_out(log: &Log, warnings: &mut Vec<Warning>) {
    let facts = &log.facts;
    if let Some(first) = facts.skipped.first.clone() {
        let rows = facts.skipped.rows;
        warnings.push(Warning::RowsSkipped { rows, first });
    }
    if facts.missing_rows > 0 {
        warnings.push(Warning::MissingDropped {
            rows: facts.missing_rows,
            of: facts.rows,
            lack: of_left_out(log),
        });
    }
}

fn look_at_rows(log: &Log, split: &Split, warnings: &mut Vec<Warning>) {
    let named = |wanted: &dyn Fn(usize) -> bool| {
        let secrets: Vec<usize> = (0..log.secrets.len())
            .filter(|&secret| wanted(secret))
            .collect();
        let examples = secrets
            .iter()
            .take(5)
            .map(|&secret| log.secrets[secret].clone())
            .collect();
        (examples, secrets.len())
    };
    let certify = split.certify.rows();
    let (examples, secrets) = named(&|secret| certify[secret] == 0);
    if secrets > 0 {
        let column = log.facts.secret_column.clone();
        warnings.push(Warning::NotCertifiable {
            column,
            examples,
            secrets,
        });
    }
    let (examples, secrets) = named(&|secret| (1..FEW).contains(&certify[secret]));
    if secrets > 0 {
        warnings.push(Warning::FewRows { examples, secrets });
    }
    let (examples, secrets) = named(&|secret| split.fit.rows()[secret] == 0);
    // Given scores have learned elsewhere.
    if secrets > 0 && split.fit.total() > 0 {
        warnings.push(Warning::NotLearned { examples, secrets });
    }
}

/// What was seen of copies while the log was read.
fn look_at_copies(log: &Log, warnings: &mut Vec<Warning>) {
    let facts = &log.facts;
    if let Some(column) = facts.row_id.clone()
        && facts.repeated_ids > 0
    {
        warnings.push(Warning::RepeatedIds {
            column,
            rows: facts.repeated_ids,
        });
    }
    if facts.repeated_runs.runs > 0 {
        warnings.push(Warning::RepeatedRuns(facts.repeated_runs.clone()));
    }
}

fn look_at_units(log: &Log, units: &UnitParts, warnings: &mut Vec<Warning>) {
    let certify = units.certify.units_of_secrets(log.secrets.len());
    let few: Vec<&String> = log
        .secrets
        .iter()
        .zip(&certify)
        .filter(|(_, units)| (1..FEW_UNITS).contains(*units))
        .map(|(label, _)| label)
        .collect();
    if !few.is_empty() {
        warnings.push(Warning::FewUnits {
            secrets: few.len(),
            examples: few.into_iter().take(5).cloned().collect(),
        });
    }
    let shared = &log.facts.shared_units;
    if !shared.is_empty() {
        warnings.push(Warning::SharedUnits {
            units: shared.len(),
            examples: shared.iter().take(5).cloned().collect(),
        });
    }
}

/// A random row of units that differ in their mix is not a row of a random unit. Blocks are made to compare secrets.
fn uneven_mix(log: &Log) -> Option<Warning> {
    let units = log.units.as_ref().filter(|_| log.facts.blocks.is_none())?;
    let mix = mix::uneven(&units.rows, log.secrets.len())?;
    Some(Warning::UnevenMix {
        secret: log.secrets[mix.secret as usize].clone(),
        from: mix.from,
        to: mix.to,
    })
}

/// Standard errors beyond an even part.
const FAR: f64 = 4.0;
/// With a smaller part of the rows of a secret, or of the blocks, the median of all lies near that of the others.
const PART: f64 = 0.1;

/// Which times are missing depends on the secret, if one of them lacks far more than its part, and in so many blocks that
/// medians can hide it. Where most blocks lack a secret, that was planned.
fn missing_times(log: &Log) -> Option<Warning> {
    let blocks = log.facts.blocks.as_ref()?;
    let incomplete = blocks.incomplete + blocks.alone;
    let (secret, &lacking) = blocks
        .lacking
        .iter()
        .enumerate()
        .max_by_key(|most| most.1)?;
    let all: u64 = blocks.lacking.iter().sum();
    let (part, times) = (1.0 / blocks.lacking.len() as f64, all as f64);
    let expected = times * part + FAR * (times * part * (1.0 - part)).sqrt();
    let planned = 2 * incomplete >= blocks.blocks + blocks.alone;
    let many = lacking as f64 > PART * (blocks.blocks + blocks.alone) as f64;
    (!planned && many && lacking as f64 > expected).then(|| {
        Warning::MissingTimes(MissingTimes {
            secret: log.secrets[secret].clone(),
            lacking,
            all,
            in_blocks: true,
            lack: Lack::Value,
        })
    })
}

/// What rows lack that were left out, as the options say.
fn of_left_out(log: &Log) -> Lack {
    match log.facts.drops_words {
        true => Lack::Number,
        false => Lack::Value,
    }
}

/// The same of rows without a value, or that could not be read, which were left out.
fn missing_rows(log: &Log) -> Option<Warning> {
    let facts = &log.facts;
    let of = |found: &BTreeMap<String, u64>, lack: Lack| mostly_of_one(log, found, lack);
    let missing = of(&facts.missing_of, of_left_out(log));
    missing.or_else(|| of(&facts.unread_of, Lack::Form))
}

fn mostly_of_one(log: &Log, found: &BTreeMap<String, u64>, lack: Lack) -> Option<Warning> {
    let of = |secret: &String| found.get(secret).copied().unwrap_or(0);
    // Of the secrets that are compared.
    let missing: u64 = log.secrets.iter().map(of).sum();
    let all = missing as f64;
    let rows = log.counts.total() as f64 + all;
    let found = log
        .secrets
        .iter()
        .zip(log.counts.rows())
        .map(|(secret, &kept)| {
            let lacking = of(secret);
            let own = lacking as f64 + kept as f64;
            let part = own / rows;
            let expected = all * part + FAR * (all * part * (1.0 - part)).sqrt();
            let is_far = lacking as f64 > expected && lacking as f64 > PART * own;
            (is_far, lacking, secret)
        });
    let (_, lacking, secret) = found.filter(|found| found.0).max_by_key(|found| found.1)?;
    Some(Warning::MissingTimes(MissingTimes {
        secret: secret.clone(),
        lacking,
        all: missing,
        in_blocks: false,
        lack,
    }))
}

/// Columns whose values tell the secret: what is observed names it, or rows are of units.
fn pure_columns(log: &Log, has_units: bool) -> Vec<Warning> {
    let columns = log.facts.pure_columns.iter();
    let warning = |pure: &PureColumn| {
        let column = pure.column.clone();
        // Nobody said that an attacker sees which device it is.
        let may_be_units = is_of_units(&column) && !pure.is_asked && pure.has_several;
        match pure.is_observed && !may_be_units {
            true => Some(Warning::NamesSecret { column }),
            false => (!has_units).then_some(Warning::MayBeUnits { column }),
        }
    };
    columns.filter_map(warning).collect()
}

/// An observed column of more than two labels that is called as units are.
fn observed_units(log: &Log) -> Option<Warning> {
    let pure = &log.facts.pure_columns;
    let mut words = 0;
    for column in log.observations.columns() {
        let at = words;
        words += usize::from(column.kind != ColumnType::Numeric);
        let is_pure = pure.iter().any(|pure| pure.column == column.name);
        if column.kind != ColumnType::Categorical || is_pure || !is_of_units(&column.name) {
            continue;
        }
        let categories = log.observations.categories().iter();
        let labels: BTreeSet<&str> = categories.map(|labels| labels[at].as_ref()).collect();
        if labels.len() > 2 {
            let column = column.name.clone();
            return Some(Warning::ObservedUnits { column });
        }
    }
    None
}

/// Labels that hardly recur teach nothing.
fn look_at_sparseness(log: &Log, warnings: &mut Vec<Warning>) {
    if log.observations.kind() != ObservationKind::Discrete {
        return;
    }
    let once = log.counts.by_symbol();
    let once = once.filter(|cells| cells.iter().map(|cell| cell.count).sum::<u64>() == 1);
    let share = once.count() as f64 / log.counts.total() as f64;
    if share > 0.5 {
        warnings.push(Warning::MostlySeenOnce { share });
    }
}

fn look_at_columns(log: &Log, warnings: &mut Vec<Warning>) {
    let observations = &log.observations;
    let symbols = 0..observations.len() as u32;
    let constant =
        |text: &dyn Fn(u32) -> String| symbols.clone().all(|symbol| text(symbol) == text(0));
    let mut number = 0;
    for column in observations.columns() {
        let is_constant = match column.kind {
            ColumnType::Numeric => symbols
                .clone()
                .all(|s| observations.numbers(s)[number] == observations.numbers(0)[number]),
            ColumnType::Categorical | ColumnType::Mixed => {
                observations.columns().len() == 1 && constant(&|s| observations.label(s))
            }
        };
        number += usize::from(column.kind != ColumnType::Categorical);
        // What the program made of texts nobody can leave out.
        if is_constant && !log.facts.item_columns.contains(&column.name) {
            warnings.push(Warning::ConstantColumn {
                column: column.name.clone(),
            });
        }
    }
    let (words, merged) = (log.facts.words.iter(), log.facts.merged.iter());
    // A list that is shorter than others has no value there, and its length is observed too.
    let words = words.filter(|words| !words.are_of_short_lists());
    warnings.extend(words.cloned().map(Warning::WordsAmongNumbers));
    warnings.extend(merged.cloned().map(Warning::MergedSpellings));
    let like_numbers = log.facts.like_numbers.iter().cloned();
    warnings
        .extend(like_numbers.map(|(column, example)| Warning::NumbersAsLabels { column, example }));
    let suspicious = log.facts.suspicious_columns.iter().cloned();
    warnings.extend(suspicious.map(|column| Warning::MostlyNumbers { column }));
    let numeric = observations
        .columns()
        .iter()
        .filter(|column| column.kind != ColumnType::Categorical);
    let (resolved, exact): (Vec<_>, Vec<_>) =
        numeric.partition(|column| column.resolution.is_some());
    if !resolved.is_empty() && !exact.is_empty() && observations.kind() != ObservationKind::Discrete
    {
        warnings.push(Warning::ResolutionIncomplete {
            columns: exact
                .into_iter()
                .map(|column| column.name.clone())
                .collect(),
        });
    }
}
