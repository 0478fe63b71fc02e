//! What no attack can have learned, or has not seen: then the best attack found says nothing of others.

use std::collections::HashMap;

use crate::audit::claims::reason::Grounds;
use crate::audit::learn::blocks::are_few;
use crate::audit::warnings::warning::Warning;
use leakgauge_log::observations::ColumnType;
use leakgauge_log::{Log, Loss};

/// With more of the rows beyond what recurs, a column of labels teaches next to nothing.
const MOST: f64 = 0.5;

/// A column that attacks have not learned from, or not from all of it.
pub(super) fn find(log: &Log, warnings: &[Warning]) -> Option<Grounds> {
    let bits = warnings.iter().find_map(|warning| match warning {
        Warning::LastBits { column, .. } => Some(Grounds::LastBits {
            column: column.clone(),
        }),
        _ => None,
    });
    if bits.is_some() {
        return bits;
    }
    let lost = warnings.iter().find_map(|warning| match warning {
        Warning::MergedSpellings(merged) if merged.loss == Loss::Digits => {
            Some(Grounds::LostDigits {
                column: merged.column.clone(),
            })
        }
        _ => None,
    });
    if lost.is_some() {
        return lost;
    }
    seen_in_part(log)
        .or_else(|| labels_seen_once(log))
        .or_else(|| numbers_as_labels(log, warnings))
}

/// Numbers that were read as labels, of which there are too many for an attack to know each.
fn numbers_as_labels(log: &Log, warnings: &[Warning]) -> Option<Grounds> {
    if are_few(log.observations.len(), log.counts.total()) {
        return None;
    }
    warnings.iter().find_map(|warning| match warning {
        Warning::NumbersAsLabels { column, example } => Some(Grounds::NumbersAsLabels {
            column: column.clone(),
            example: example.clone(),
        }),
        _ => None,
    })
}

/// A column of which only a part was observed, while an observer may see all: no limit is about the rest.
pub(super) fn seen_in_part(log: &Log) -> Option<Grounds> {
    let lists = log.facts.lists_in_part.first();
    let lists = lists.map(|(column, reading)| Grounds::ListsInPart {
        column: column.clone(),
        reading: *reading,
    });
    rare_items(log).or(lists)
}

/// With items that have no column of their own in more of the rows, attacks have not seen what an observer of items sees.
const MOST_RARE: f64 = 0.01;

/// Texts of items many of which are too rare for a column, so that all that is known of them is their number.
fn rare_items(log: &Log) -> Option<Grounds> {
    let columns = log.observations.columns().iter().enumerate();
    let of_items = columns.filter(|(_, column)| log.facts.item_columns.contains(&column.name));
    let mut others = of_items.filter_map(|(at, column)| {
        let text = column.name.strip_suffix(".others")?;
        let has_others = |symbol: u32| log.observations.number_in(symbol, at) > Some(0.0);
        let cells = log.counts.cells().iter();
        let rows: u64 = cells
            .filter(|cell| has_others(cell.symbol))
            .map(|cell| cell.count)
            .sum();
        let share = rows as f64 / log.counts.total() as f64;
        (share > MOST_RARE).then(|| Grounds::RareItems {
            column: text.to_owned(),
            share,
        })
    });
    others.next()
}

/// A column most of whose labels are in one row only.
fn labels_seen_once(log: &Log) -> Option<Grounds> {
    let observations = &log.observations;
    let total = log.counts.total() as f64;
    // Fewer different observations than that cannot be.
    if (observations.len() as f64) < MOST * total {
        return None;
    }
    let mut words = 0;
    for column in observations.columns() {
        let at = words;
        words += usize::from(column.kind != ColumnType::Numeric);
        if column.kind != ColumnType::Categorical {
            continue;
        }
        let mut rows: HashMap<&str, u64> = HashMap::new();
        for cell in log.counts.cells() {
            let label = &observations.categories()[observations.category(cell.symbol) as usize][at];
            *rows.entry(label).or_default() += cell.count;
        }
        let share = rows.values().filter(|rows| **rows == 1).count() as f64 / total;
        if share > MOST {
            let column = column.name.clone();
            return Some(Grounds::LabelsSeenOnce { column, share });
        }
    }
    None
}
