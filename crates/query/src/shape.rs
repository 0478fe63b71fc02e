//! What the columns of past outputs hold: an output that has something else gets no score from learned attacks, so
//! that it cannot change how other outputs are read.

use crate::samples::{Cell, Samples};

/// Kinds of values.
const KINDS: usize = 5;

/// For each column, the kinds of values that it holds.
#[derive(Debug)]
pub(crate) struct Shape(Vec<[bool; KINDS]>);

impl Shape {
    /// Of these rows.
    pub fn of(samples: &Samples, rows: impl Iterator<Item = u32> + Clone) -> Shape {
        let held = |at: usize| {
            let mut held = [false; KINDS];
            for row in rows.clone() {
                held[kind(&samples.columns()[at].cell(row as usize))] = true;
            }
            // An integer among other numbers is one of them.
            held[INTEGER] |= held[NUMBER];
            held
        };
        Shape((0..samples.columns().len()).map(held).collect())
    }

    /// Whether a row has only kinds of values that its columns hold.
    pub fn fits(&self, samples: &Samples, row: u32) -> bool {
        let columns = self.0.iter().zip(samples.columns());
        columns
            .into_iter()
            .all(|(held, column)| held[kind(&column.cell(row as usize))])
    }
}

const INTEGER: usize = 0;
const NUMBER: usize = 1;

fn kind(cell: &Cell) -> usize {
    match cell {
        Cell::Integer(_) => INTEGER,
        Cell::Number(value) if value.is_finite() => NUMBER,
        Cell::Number(_) => 2,
        Cell::Word(_) => 3,
        Cell::Missing => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::Column;

    #[test]
    fn values_of_a_new_kind_do_not_fit() {
        let mut samples = Samples::new(1);
        let word = || Cell::Word("stop".to_owned());
        let first = vec![Cell::Integer(1), Cell::Number(0.5), word(), Cell::Missing];
        let second = vec![Cell::Integer(2), Cell::Integer(3), Cell::Integer(4), word()];
        let columns = [first, second].map(Column::Cells);
        samples.push(&[(0, 4)], columns.to_vec()).unwrap();
        let of_first = Shape::of(&samples, 0..1);
        let fits = |shape: &Shape| {
            (0..4)
                .map(|row| shape.fits(&samples, row))
                .collect::<Vec<_>>()
        };
        assert_eq!(fits(&of_first), [true, false, false, false]);
        let of_three = Shape::of(&samples, 1..3);
        assert_eq!(fits(&of_three), [true, true, true, false]);
        let infinite = Cell::Number(f64::INFINITY);
        assert!(kind(&infinite) != NUMBER && kind(&infinite) != kind(&word()));
    }
}
