//! Rows with a number of their own: a number that comes again is a copy.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashMap};

use crate::cell;
use crate::layout::Layout;
use crate::row::{self, Row};
use leakgauge_base::error::{Place, Result};
use leakgauge_base::naming::option;

/// The numbers of rows so far.
#[derive(Default)]
pub(crate) struct RowIds {
    /// What each row held, as a hash, and how many rows of its file stood before it.
    seen: HashMap<String, (u64, Option<u64>)>,
    hasher: DefaultHashBuilder,
    text: String,
}

impl RowIds {
    /// Whether a row with this number and the same secret and observation was read before.
    ///
    /// # Errors
    /// A row without a number; a number that another row had with another secret or observation.
    pub fn is_copy(
        &mut self,
        row: &Row,
        column: usize,
        layout: &Layout,
        (secret, observation): (u32, &[u64]),
        place: &dyn Fn() -> Place,
    ) -> Result<bool> {
        let id = cell::text(row, column, layout, place, &mut self.text)?.trim();
        let error = |problem: &str, hint: String| {
            Err(cell::at_column(place(), layout, column, row, problem).with_hint(hint))
        };
        if row::is_absent(id) {
            return error(
                "does not say which row it is",
                format!(
                    "every row needs a value of its own in the column of {}",
                    option("row_id")
                ),
            );
        }
        let held = self.hasher.hash_one((secret, observation));
        let Some(&(before, position)) = self.seen.get(id) else {
            self.seen.insert(id.to_owned(), (held, row.position()));
            return Ok(false);
        };
        if before == held {
            return Ok(true);
        }
        let first = position.map_or(String::new(), |rows| {
            format!(" (row {} of its file)", rows + 1)
        });
        error(
            &format!(
                "another row{first} has the same value there, and another secret or observation"
            ),
            format!(
                "rows of equal {} are taken for copies of one: name a column that identifies rows",
                option("row_id")
            ),
        )
    }
}
