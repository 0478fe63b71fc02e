//! Rows that are left out: those that cannot be read, as far as that is allowed, and those that lack a value.

use std::collections::BTreeMap;

use crate::cell::secret;
use crate::ingest::tables::{self, FIRST_ROWS};
use crate::ingest::{Ingest, Part};
use crate::layout::Layout;
use crate::number::Number;
use crate::options::Missing;
use crate::recognize::Form;
use crate::records::Records;
use crate::row::{Field, Row, is_absent, is_not_a_number};
use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::setting;

impl Ingest<'_> {
    /// The log was recognized as that of another tool.
    pub(crate) fn recognized(&mut self, form: Option<Form>) {
        self.facts.recognized = form;
    }

    /// Whether the form of the log, and no one who asked, says if row 1 is a header.
    pub(super) fn is_settled_by_looking(&self) -> bool {
        self.facts.recognized == Some(Form::TlsfuzzerMeasurements)
    }

    /// Reads a row: the number of its secret, if it is used.
    ///
    /// # Errors
    /// A row that cannot be read, if no more of them may be left out.
    pub(crate) fn row(
        &mut self,
        file: &str,
        part: Part,
        layout: &Layout,
        row: &Row,
    ) -> Result<Option<u32>> {
        let before = (
            self.facts.rows,
            self.fit_rows,
            self.secrets.texts().len(),
            self.merging.len(),
        );
        let read = self.readable_row(file, part, layout, row);
        let Err(error) = read else {
            if part == Part::Log && self.shown < FIRST_ROWS && matches!(read, Ok(Some(_))) {
                self.show(row);
            }
            return read;
        };
        self.skip(error)?;
        self.count_unread(part, layout, row);
        // The row is none of the log: what was noted of it before it failed is taken back.
        (self.facts.rows, self.fit_rows) = (before.0, before.1);
        self.secrets.truncate(before.2);
        self.merging.truncate(before.3);
        Ok(None)
    }

    /// Keeps one of the first rows that are used, in place of those that were looked at.
    fn show(&mut self, row: &Row) {
        let shown = &mut self.facts.first_rows.rows;
        if self.shown == 0 {
            shown.clear();
        }
        shown.push(tables::texts(row));
        self.shown += 1;
    }

    /// Leaves out a row that cannot be read, if it may be.
    ///
    /// # Errors
    /// The error, if it is not about a row or if no more rows may be left out.
    pub(crate) fn skip(&mut self, error: Error) -> Result<()> {
        let is_of_a_row = matches!(&error, Error::Data { place, .. } if place.row.is_some());
        let (skipped, most) = (&mut self.facts.skipped, self.options.skip_bad);
        if !is_of_a_row || most == 0 {
            return Err(error);
        }
        if skipped.rows == most {
            let hint = format!(
                "{most} rows before it were left out, which is all that {} allows",
                setting("skip_bad", most)
            );
            return Err(error.with_hint(hint));
        }
        skipped.rows += 1;
        skipped.first.get_or_insert_with(|| error.to_string());
        Ok(())
    }

    /// Refuses columns that were left out because they counted with the first rows, and do not with all.
    pub(super) fn check_watched(&mut self, name: &str, layout: &Layout) -> Result<()> {
        let observed = layout.observed_names();
        let observed: Vec<&str> = observed.iter().map(String::as_str).collect();
        let mut watched = std::mem::take(&mut self.watched).into_iter();
        watched.try_for_each(|watch| watch.check(name, &observed))
    }

    /// The first row, and those behind it that have as many fields as most, where others may be left out: they decide nothing.
    pub(super) fn even_rows(&self, rows: &[Row]) -> Option<Vec<Row>> {
        let (first, later) = rows.split_first().filter(|_| self.options.skip_bad > 0)?;
        let mut lengths: BTreeMap<usize, usize> = BTreeMap::new();
        later
            .iter()
            .for_each(|row| *lengths.entry(row.len()).or_default() += 1);
        let most = lengths.into_iter().max_by_key(|&(_, rows)| rows);
        let most = most.map_or(first.len(), |(length, _)| length);
        let even = later.iter().filter(|row| row.len() == most);
        Some(std::iter::once(first).chain(even).cloned().collect())
    }

    /// Counts the rows that were dropped for a word where an observation has a number.
    pub(super) fn leave_out_dropped(
        &mut self,
        part: Part,
        layout: &Layout,
        records: &mut dyn Records,
    ) {
        let observed = layout.observed_names();
        let filters = self.options.filters.iter();
        let mut words = filters.filter(|filter| filter.drops_words());
        if !words.any(|filter| observed.contains(&filter.column)) {
            return;
        }
        for (row, count) in records.dropped(&layout.secret) {
            if part == Part::Log {
                self.facts.rows += count;
                self.facts.drops_words = true;
            }
            self.leave_out_incomplete(part, layout, &row, count);
        }
    }

    /// Whether a row is left out because a value that is used is missing, or is not a number (NaN).
    pub(super) fn is_incomplete(&self, layout: &Layout, row: &Row) -> bool {
        self.options.missing == Missing::Drop
            && layout.used().any(|column| match row.get(column) {
                Some(Field::Text(bytes) | Field::Quoted(bytes)) => {
                    let text = std::str::from_utf8(bytes).map(str::trim);
                    text.is_ok_and(|text| is_absent(text) || is_not_a_number(text))
                }
                Some(Field::Number(Number::Float(value))) => value.is_nan(),
                Some(Field::Number(_)) => false,
                Some(Field::Null | Field::Missing) | None => true,
            })
    }

    /// Counts a row that is left out, by its secret where that can be read: it may depend on the secret what is missing.
    pub(super) fn leave_out_incomplete(
        &mut self,
        part: Part,
        layout: &Layout,
        row: &Row,
        count: u64,
    ) {
        self.facts.missing_rows += count;
        if part != Part::Log {
            return;
        }
        if let Some(label) = self.label_if_readable(layout, row) {
            add(&mut self.facts.missing_of, label, count);
        }
    }

    /// Counts a row that was left out because it could not be read, by its secret where that can be told.
    pub(super) fn count_unread(&mut self, part: Part, layout: &Layout, row: &Row) {
        // Fields of a row with too few or too many may be those of other columns.
        if part == Part::Log
            && let Some(label) = self.label_if_readable(layout, row)
        {
            add(&mut self.facts.unread_of, label, 1);
        }
    }

    /// The label of a row's secret, where it can be read.
    fn label_if_readable(&mut self, layout: &Layout, row: &Row) -> Option<String> {
        if layout.secret.is_empty() {
            return None;
        }
        let place = || row.place("");
        let label = secret(row, layout, &place, false, &mut self.text).ok()?;
        match &self.options.merge {
            Some(rules) => Some(self.merging.label(rules, &label).ok()?.to_owned()),
            None => Some(label.into_owned()),
        }
    }

    /// The rows that lack nothing, where others are left out.
    pub(super) fn complete(&self, layout: &Layout, rows: &[Row]) -> Option<Vec<Row>> {
        let is_complete = |row: &&Row| !self.is_incomplete(layout, row);
        (self.options.missing == Missing::Drop)
            .then(|| rows.iter().filter(is_complete).cloned().collect())
    }
}

/// Adds to what is known of a secret; labels beyond a thousand are counted nowhere.
fn add(known: &mut BTreeMap<String, u64>, label: String, count: u64) {
    const MOST_SECRETS: usize = 1000;
    if known.len() < MOST_SECRETS || known.contains_key(&label) {
        *known.entry(label).or_insert(0) += count;
    }
}
