//! Which attackers bet, and with which share of the capital.

use crate::attackers::Kind;
use crate::samples::{Cell, Column, Samples};

/// Columns of numbers with a threshold of their own at most.
const MAX_COLUMNS: usize = 8;

/// By the shape of the first outputs.
pub(crate) fn of(samples: &Samples, bits: bool) -> (Vec<Kind>, Vec<f64>) {
    let is_number = |column: &Column| match column {
        Column::Numbers(_) | Column::Integers(_) => true,
        Column::Cells(cells) => cells
            .iter()
            .any(|cell| matches!(cell, Cell::Number(_) | Cell::Integer(_))),
    };
    let columns = samples.columns();
    let numbers: Vec<usize> = (0..columns.len())
        .filter(|&at| is_number(&columns[at]))
        .take(MAX_COLUMNS)
        .collect();
    let mut all: Vec<(Kind, f64)> = Vec::new();
    let alone = columns.len() == 1;
    for &column in &numbers {
        let share = if alone { 10.0 } else { 1.0 };
        all.push((Kind::Threshold { column }, share));
        if alone {
            all.push((Kind::Bins { column }, 1.0));
        }
        if bits && matches!(columns[column], Column::Numbers(_)) {
            all.push((Kind::Bits { column }, 1.0));
        }
    }
    let rows: Vec<u32> = (0..samples.len() as u32).collect();
    let recur = samples.distinct(&rows, rows.len()) < rows.len();
    // Numbers that did not repeat so far will seldom.
    let values = match (numbers.is_empty(), recur) {
        (true, _) => 4.0,
        (false, true) => 1.0,
        (false, false) => 0.2,
    };
    all.push((Kind::Values, values));
    if !alone {
        all.push((Kind::Learned, all.iter().map(|kind| kind.1).sum()));
    }
    let total: f64 = all.iter().map(|kind| kind.1).sum();
    all.into_iter()
        .map(|(kind, share)| (kind, share / total))
        .unzip()
}
