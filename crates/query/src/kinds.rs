//! Which attackers bet, by the shape of the first outputs.

use leakgauge_sequential::attackers::Kind;
use leakgauge_sequential::shares::{self, Shape};

use crate::samples::{Cell, Column, Samples};

/// The attackers with their shares of the capital; `bits`: whether low bits of numbers are looked at.
pub(crate) fn of(samples: &Samples, bits: bool) -> (Vec<Kind>, Vec<f64>) {
    let is_number = |column: &Column| match column {
        Column::Numbers(_) | Column::Integers(_) => true,
        Column::Cells(cells) => cells
            .iter()
            .any(|cell| matches!(cell, Cell::Number(_) | Cell::Integer(_))),
    };
    let columns = samples.columns().iter().enumerate();
    let numbers: Vec<(usize, bool)> = columns
        .filter(|(_, column)| is_number(column))
        .map(|(at, column)| (at, bits && matches!(column, Column::Numbers(_))))
        .collect();
    let rows: Vec<u32> = (0..samples.len() as u32).collect();
    shares::of(Shape {
        numbers: &numbers,
        is_alone: samples.columns().len() == 1,
        recurs: samples.distinct(&rows, rows.len()) < rows.len(),
        is_learned_alone: false,
    })
}
