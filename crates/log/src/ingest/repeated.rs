//! Rows that mean what rows before them meant: they are counted, and their order is kept, without being read.

use super::{Ingest, Part};
use crate::order;
use crate::repeats::Meaning;
use leakgauge_base::error::{Place, Result};

impl Ingest<'_> {
    /// Counts the first of the rows that come next, as long as they mean what rows before them meant; how many they
    /// are.
    pub(super) fn again(&mut self, part: Part, numbers: &[u32], name: &str) -> Result<usize> {
        let (mut known, repeats) = (0, &mut self.repeats);
        self.overlaps
            .push_with(|hashes| known = repeats.again(numbers, hashes));
        if part == Part::Log {
            let repeats = &self.repeats;
            let row = |at: usize| {
                let meaning = repeats.meaning(numbers[at]);
                (meaning.secret, meaning.symbol)
            };
            self.order.push_all(known, row);
            if let Some(first) = &mut self.first_row {
                let tuples = (0..known).map(|at| self.tuples.tuple(row(at).1));
                tuples.for_each(|tuple| first.compare(&tuple, 1));
            }
            if self.options.keep_order {
                for (secret, symbol) in (0..known).map(row) {
                    order::keep(&mut self.sequence, secret, symbol, &|| Place::file(name))?;
                }
            }
        }
        match part {
            Part::FitOn => self.fit_rows += known as u64,
            Part::Log => {
                self.facts.rows += known as u64;
                self.facts.rows_used += known as u64;
            }
        }
        Ok(known)
    }

    /// Adds what came again to the counts.
    pub(super) fn add_repeats(&mut self, part: Part, place: &dyn Fn() -> Place) -> Result<()> {
        let counted = match part {
            Part::Log => &mut self.counted,
            Part::FitOn => &mut self.fit_counted,
        };
        let mut may_free = false;
        for (Meaning { secret, symbol, .. }, count) in self.repeats.take() {
            may_free |= counted.add(secret, count, || symbol);
        }
        self.repeats.end();
        if may_free {
            self.free(part, place)?;
        }
        Ok(())
    }
}
