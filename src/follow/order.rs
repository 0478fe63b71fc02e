//! Does the order of the rows so far put their independence in doubt?

use crate::audit::{Warning, order_warnings};
use crate::follow::attack::{Rows, ranks};
use leakgauge_log::OrderSketch;

/// Keeps the order of rows in bounded memory and looks at it from time to time, by the tests that an
/// audit of the whole log makes.
#[derive(Default)]
pub(super) struct OrderWatch {
    sketch: OrderSketch,
    rows: u64,
    /// Rows when it was last looked at.
    looked: u64,
    /// Whether it was looked at because a claim was refuted.
    hurried: bool,
    warnings: Vec<Warning>,
}

impl OrderWatch {
    /// Records the next row, a secret and an observation by their numbers.
    pub fn push(&mut self, (secret, symbol): (u32, u32)) {
        self.sketch.push(secret, symbol);
        self.rows += 1;
    }

    /// What is to be said of the order. Looking takes a while, so that it is done again only once there are
    /// a tenth more rows, or at once if `now` for the first time.
    pub fn warnings(&mut self, rows: &dyn Rows, now: bool) -> &[Warning] {
        let due = 10 * self.rows >= 11 * self.looked;
        let hurry = now && !self.hurried;
        self.hurried |= now;
        if self.rows > self.looked && (due || hurry) {
            self.looked = self.rows;
            let secrets = rows.labels().len();
            let (table, ids) = rows.table(self.sketch.kept().map(|row| row.1).collect());
            let same: Vec<u32> = (0..secrets as u32).collect();
            let order = self.sketch.so_far(&same, &ranks(&ids));
            self.warnings = order_warnings(&table, secrets, &order);
        }
        &self.warnings
    }
}
