//! The reading loop: rows of files into numbered secrets, numbered observations and counts.

mod engine_input;
mod finish;
mod left_out;
mod repeated;
mod tables;

use std::borrow::Cow;

use crate::apart;
use crate::cell::{self, at_column, occurrences, occurrences_of, secret};
use crate::encode::Encoder;
use crate::filtered;
use crate::first_row::{FirstRow, repeats_header};
use crate::fold::{Interner, TupleInterner};
use crate::groups::{UnitCell, UnitReader};
use crate::layout::{self, Layout};
use crate::lists;
use crate::log::InputFacts;
use crate::merge::Merging;
use crate::open;
use crate::options::{HeaderChoice, Missing, ReadOptions};
use crate::order::{self, OrderSketch};
use crate::overlaps::{AT_ONCE, Overlaps};
use crate::pooled;
use crate::pure;
use crate::record_keeping::Watch;
use crate::records::{PROBE_ROWS, Records};
use crate::repeats::{Meaning, Repeats};
use crate::row::{Field, Row};
use crate::row_ids::RowIds;
use crate::row_store::RowStore;
use crate::sample::Sample;
use crate::typing::{self, ColumnPlan};
use crate::units::Unit;
use crate::wide;
use leakgauge_base::credentials::without_credentials;
use leakgauge_base::error::{Error, Place, Result};
use leakgauge_base::naming::option;

/// More secrets than this make more pairs than anyone can look at.
const MAX_SECRETS: usize = 2_000;

/// Which log a file belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The log that is measured.
    Log,
    /// The log that is only learned from.
    FitOn,
}

pub use engine_input::EngineSample;

/// A row of a log that comes row by row in blocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Measurement {
    /// The number of its block, by the order in which blocks begin.
    pub block: u32,
    /// The number of its secret.
    pub secret: u32,
    /// What was measured.
    pub value: f64,
}

/// A log being read.
pub struct Ingest<'a> {
    options: Cow<'a, ReadOptions>,
    /// Settled by the first file: its layout and the plan of its observation columns.
    settled: Option<(Layout, Vec<ColumnPlan>)>,
    secrets: Interner,
    /// Secrets of the log that are not among those asked for.
    left_out: Interner,
    encoder: Encoder,
    tuples: TupleInterner,
    counted: RowStore,
    fit_counted: RowStore,
    /// Row 1 of the first file, where it was taken for data without a number in it.
    first_row: Option<FirstRow>,
    fit_rows: u64,
    /// What rows that were drawn elsewhere were drawn from.
    drawn: Option<Sample>,
    fit_drawn: Option<Sample>,
    order: OrderSketch,
    /// All rows of the log in order, if asked for.
    sequence: Vec<(u32, u32)>,
    /// The units that rows come from, if a column says so.
    units: UnitReader,
    /// What identifies the rows so far, if a column does.
    row_ids: RowIds,
    /// Looks for runs of rows that come again.
    overlaps: Overlaps,
    /// Lines of the file being read whose rows are known.
    repeats: Repeats,
    /// Whether rows are only kept in order, for someone to take them, and not counted.
    streaming: bool,
    /// Of a log that comes row by row in blocks: the row that was read last.
    measured: Option<Measurement>,
    /// The secrets that are joined.
    merging: Merging,
    /// Where numbers are written that are labels.
    text: String,
    /// How many of the first rows that are used are kept to be shown.
    shown: usize,
    /// Columns of the first file that count with its rows, as it seemed.
    watched: Vec<Watch>,
    facts: InputFacts,
}

impl<'a> Ingest<'a> {
    /// A log of which nothing has been read.
    pub fn new(options: &'a ReadOptions) -> Self {
        Self::with(Cow::Borrowed(options))
    }

    fn with(options: Cow<'a, ReadOptions>) -> Self {
        let shown = |name: &String| without_credentials(name).into_owned();
        Ingest {
            settled: None,
            secrets: Interner::default(),
            left_out: Interner::default(),
            encoder: Encoder::default(),
            tuples: TupleInterner::new(0),
            counted: RowStore::new(options.max_rows, options.seed),
            fit_counted: RowStore::new(options.max_rows, !options.seed),
            first_row: None,
            fit_rows: 0,
            drawn: None,
            fit_drawn: None,
            order: OrderSketch::default(),
            sequence: Vec::new(),
            units: UnitReader::default(),
            row_ids: RowIds::default(),
            overlaps: Overlaps::default(),
            repeats: Repeats::default(),
            streaming: false,
            measured: None,
            merging: Merging::default(),
            text: String::new(),
            shown: 0,
            watched: Vec::new(),
            facts: InputFacts {
                files: options.files.iter().map(shown).collect(),
                fit_on: options.fit_on.as_ref().map(shown),
                aggregated: options.count.is_some(),
                wide: options.wide,
                narrowed: !options.secrets.is_empty(),
                notes: filtered::note(&options.filters).into_iter().collect(),
                scores: options.scores.clone(),
                row_id: options.row_id.clone(),
                ..InputFacts::default()
            },
            options,
        }
    }

    /// A log whose rows are taken as they come.
    pub fn streaming(options: Cow<'a, ReadOptions>) -> Self {
        Ingest {
            streaming: true,
            ..Ingest::with(options)
        }
    }

    /// The rows since they were last taken: numbers of secrets and of observations as they first came up.
    pub(crate) fn take_rows(&mut self) -> Vec<(u32, u32)> {
        std::mem::take(&mut self.sequence)
    }

    /// The row that was read last, of a log in blocks.
    pub(crate) fn take_measured(&mut self) -> Option<Measurement> {
        self.measured.take()
    }

    /// How the block with this number is called.
    pub(crate) fn block_label(&self, block: u32) -> String {
        let label = self.units.labels().get(block).map(str::to_owned);
        label.unwrap_or_else(|| (block + 1).to_string())
    }

    /// The labels of the secrets so far, as they first came up.
    pub(crate) fn labels(&self) -> &[String] {
        self.secrets.texts()
    }

    /// A row 1 that was taken for data without a number in it.
    pub(crate) fn unclear_row(&self) -> Option<(u32, u32, &str)> {
        let first = self.first_row.as_ref()?;
        Some((first.secret, first.symbol, &first.texts))
    }

    /// Reads one file to its end.
    pub fn file(&mut self, name: &str, part: Part, mut records: Box<dyn Records>) -> Result<()> {
        self.records(name, part, &mut *records, None)
    }

    /// Reads rows to their end; their layout is found if it is not known.
    pub fn records(
        &mut self,
        name: &str,
        part: Part,
        records: &mut dyn Records,
        known: Option<Layout>,
    ) -> Result<()> {
        if self.settled.is_none() {
            self.facts.format = records.format();
            self.facts.notes.extend(records.note());
            self.facts.delimiter = records.delimiter();
        }
        let mut skip = |error| self.skip(error);
        let probe = open::read_probe_or(name, records, PROBE_ROWS + 1, &mut skip)?;
        let even = self.even_rows(&probe);
        let first = even.as_deref().unwrap_or(&probe);
        let columns = match known {
            Some(layout) => self.settle_as(name, first, layout)?,
            None => self.settle(name, first, records.is_named())?,
        };
        self.overlaps.begin(name);
        self.units.begin_file();
        let body = &probe[usize::from(columns.header)..];
        for row in body {
            self.row(name, part, &columns, row)?;
        }
        self.remaining(name, part, &columns, records)?;
        self.leave_out_dropped(part, &columns, records);
        self.check_watched(name, &columns)?;
        if body.is_empty() {
            return Err(Error::file(name, "has a header and no rows")
                .with_hint("a log has one row per use of the mechanism"));
        }
        Ok(())
    }

    /// Reads rows of a table whose layout and types are settled.
    pub(crate) fn rows(
        &mut self,
        name: &str,
        part: Part,
        layout: &Layout,
        rows: impl Iterator<Item = Row>,
    ) -> Result<()> {
        self.overlaps.begin(name);
        for row in rows {
            self.row(name, part, layout, &row)?;
        }
        Ok(())
    }

    /// Reads the rows behind the first ones. One whose line was read before is only counted.
    fn remaining(
        &mut self,
        name: &str,
        part: Part,
        columns: &Layout,
        records: &mut dyn Records,
    ) -> Result<()> {
        self.repeats = Repeats::default();
        let each = [columns.count, columns.group, columns.row_id];
        if each.iter().any(Option::is_some) || self.options.blocks || self.streaming {
            self.repeats.end();
        }
        let mut row = Row::new();
        loop {
            let mut number = None;
            if !self.repeats.is_over() {
                let numbers = records.ahead()?;
                let numbers = &numbers[..numbers.len().min(AT_ONCE)];
                let known = self.again(part, numbers, name)?;
                number = numbers.get(known).copied();
                let is_all = known > 0 && number.is_none();
                records.pass(known);
                if is_all {
                    continue;
                }
            }
            match records.next(&mut row) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) if records.resumes() => {
                    self.skip(error)?;
                    continue;
                }
                Err(error) => return Err(error),
            }
            let used = self.row(name, part, columns, &row)?;
            if let (Some(secret), Some(number)) = (used, number)
                && !self.repeats.is_over()
            {
                let tuple = &self.encoder.tuple;
                let meaning = Meaning {
                    secret,
                    symbol: self.tuples.intern(tuple),
                    hash: Overlaps::hash(secret, tuple),
                };
                self.repeats.remember(number, meaning);
            }
        }
        self.add_repeats(part, &|| Place::file(name))
    }

    /// The first file settles layout and types; later files must have the same columns.
    pub(crate) fn settle(&mut self, name: &str, probe: &[Row], named: bool) -> Result<Layout> {
        let layout = match &self.settled {
            // What was chosen by the rows of the first file is the same in all.
            Some((first, _)) if first.secret_chosen || !first.left_out.is_empty() => {
                let mut options = self.options.clone().into_owned();
                options.secret = Some(first.secret_name());
                if !first.left_out.is_empty() {
                    options.observe = Some(first.observed_names());
                }
                Layout::find(name, probe, named, &options)?
            }
            _ => Layout::find(name, probe, named, &self.options)?,
        };
        self.settle_as(name, probe, layout)
    }

    fn settle_as(&mut self, name: &str, probe: &[Row], mut layout: Layout) -> Result<Layout> {
        let Some((first, _)) = &self.settled else {
            let body = &probe[usize::from(layout.header)..];
            self.facts.first_rows = tables::first_rows(&layout, body);
            let filters = self.options.filters.iter();
            let decided: Vec<&str> = filters.map(|filter| filter.column.as_str()).collect();
            self.facts.pooled = pooled::find(&layout, body, &decided);
            let is_asked = self.options.observe.is_some();
            self.facts.pure_columns = pure::find(&layout, body, &decided, is_asked);
            layout.note_names(probe.first(), &self.options, &mut self.facts.notes);
            let mut elements = lists::expand(&mut layout, &self.options)?;
            let apart = apart::expand(&mut layout, &mut elements, body, &self.options)?;
            self.facts.lists_in_part = lists::in_part(&layout, &elements);
            self.facts.item_columns = lists::item_columns(&layout, &elements);
            let complete = self.complete(&layout, body);
            let body = complete.as_deref().unwrap_or(body);
            let timed = self.options.timed
                || self.options.is_blocked()
                || self.facts.recognized.is_some_and(|form| form.is_timed());
            let plans = typing::plan_columns(name, body, &layout, &elements, &self.options, timed)?;
            self.facts.notes.extend(lists::notes(&self.options));
            self.facts.notes.extend(apart);
            self.settle_with(layout.clone(), plans);
            return Ok(layout);
        };
        layout::match_columns(name, first, layout)
    }

    /// Settles layout and types that are known.
    pub(crate) fn settle_with(&mut self, layout: Layout, plans: Vec<ColumnPlan>) {
        self.tuples = TupleInterner::new(plans.len());
        self.encoder = Encoder::new(&plans, self.options.scores.is_some());
        self.facts.header = layout.header;
        let is_detected = self.options.header == HeaderChoice::Detect;
        self.facts.header_detected = is_detected || self.is_settled_by_looking();
        self.facts.secret_column = layout.secret_name();
        self.facts.secret_chosen = layout.secret_chosen;
        self.facts.left_out_columns = layout.left_out.clone();
        self.watched = Watch::of(&layout.left_out);
        self.facts.decided = plans.iter().map(|plan| plan.decided).collect();
        self.facts.like_numbers = plans
            .iter()
            .filter_map(|plan| Some((plan.name.clone(), plan.like_a_number.clone()?)))
            .collect();
        self.facts.notes.extend(typing::notes(&plans));
        self.facts.in_seconds = plans.iter().any(|plan| plan.unit == Some(Unit::Duration));
        self.settled = Some((layout, plans));
    }

    /// Reads a row that can be read: the number of its secret, if it is used.
    fn readable_row(
        &mut self,
        file: &str,
        part: Part,
        layout: &Layout,
        row: &Row,
    ) -> Result<Option<u32>> {
        let place = || row.place(file);
        if row.len() != layout.names.len() {
            let (found, expected) = (row.len(), layout.names.len());
            let problem = format!("has {found} fields where {expected} are expected");
            return Err(Error::data(place(), problem).with_hint(
                "every row needs the same columns; quote fields that contain the delimiter",
            ));
        }
        // Records of other formats name their fields by themselves.
        if self.facts.delimiter.is_some() && repeats_header(layout, row) {
            return Err(Error::data(place(), "repeats the header").with_hint(
                "remove such rows; files are joined when they are given one by one: a.csv b.csv",
            ));
        }
        for watch in &mut self.watched {
            watch.push(row);
        }
        let count = self.count(part, layout, row, &place)?;
        if self.is_incomplete(layout, row) {
            self.leave_out_incomplete(part, layout, row, count);
            return Ok(None);
        }
        let Some(secret) = self.secret(layout, row, count, &place)? else {
            return Ok(None);
        };
        let (_, plans) = self.settled.as_ref().expect("settled before rows are read");
        self.encoder
            .row(plans, layout, row, &place)
            .map_err(|error| wide::in_its_column(&self.options, row, error))?;
        let tuple = &self.encoder.tuple;
        if let Some(column) = layout.row_id {
            let held = (secret, &tuple[..]);
            if self.row_ids.is_copy(row, column, layout, held, &place)? {
                self.facts.repeated_ids += count;
                return Ok(None);
            }
        }
        if self.has_order(layout) {
            self.overlaps.push(secret, tuple);
        }
        if self.facts.rows == 1 && part == Part::Log && self.may_be_header(row) {
            let texts: Vec<String> = row
                .fields()
                .map(|field| field.text().into_owned())
                .collect();
            let symbol = self.tuples.intern(tuple);
            self.first_row = Some(FirstRow::new(secret, symbol, tuple, &texts));
        }
        if let Some(first) = self.first_row.as_mut().filter(|_| part == Part::Log) {
            first.compare(tuple, count);
        }
        let unit = match layout.group {
            Some(column) => {
                let asked = match self.options.block {
                    Some(_) => "block",
                    None => "group",
                };
                Some(self.units.unit(row, column, layout, asked, &place)?)
            }
            None if self.options.blocks => Some(self.units.wide_block(row)),
            None => None,
        };
        self.count_row(part, layout, (secret, unit), count, &place)?;
        Ok(Some(secret))
    }

    /// The number of a row's secret, if the row is used.
    fn secret(
        &mut self,
        layout: &Layout,
        row: &Row,
        count: u64,
        place: &dyn Fn() -> Place,
    ) -> Result<Option<u32>> {
        let may_lack = self.options.missing == Missing::Label;
        let secret = secret(row, layout, place, may_lack, &mut self.text)?;
        if count == 0 {
            return Ok(None);
        }
        let secret = match &self.options.merge {
            Some(rules) => Cow::Borrowed(self.merging.label(rules, &secret)?),
            None => secret,
        };
        if self.facts.narrowed && !self.options.secrets.iter().any(|kept| *kept == *secret) {
            self.left_out.intern(&secret);
            return Ok(None);
        }
        let secret = self.secrets.intern(&secret);
        if self.secrets.texts().len() > MAX_SECRETS {
            let problem = format!("there are more than {MAX_SECRETS} secrets");
            return Err(
                at_column(place(), layout, layout.secret[0], row, &problem).with_hint(format!(
                    "every pair of secrets is compared: is this the right column ({})? Or name the secrets that \
                     matter with {}",
                    option("secret"),
                    option("secrets")
                )),
            );
        }
        Ok(Some(secret))
    }

    /// Whether rows come one by one as they were recorded.
    fn has_order(&self, layout: &Layout) -> bool {
        let is_sorted = self.facts.recognized.is_some_and(|form| form.is_sorted());
        layout.count.is_none() && !self.streaming && !self.facts.wide && !is_sorted
    }

    /// Counts the row that was encoded last, and keeps what is kept of its order. Its observation gets a
    /// number only if something of that needs it.
    fn count_row(
        &mut self,
        part: Part,
        layout: &Layout,
        (secret, unit): (u32, Option<u32>),
        count: u64,
        place: &dyn Fn() -> Place,
    ) -> Result<()> {
        if let Some(block) = unit.filter(|_| self.streaming) {
            self.facts.rows_used += count;
            // Such a log observes one column of numbers.
            self.measured = Some(Measurement {
                block,
                secret,
                value: f64::from_bits(self.encoder.tuple[0]),
            });
            return Ok(());
        }
        let has_order = self.has_order(layout);
        let (tuples, tuple) = (&mut self.tuples, &self.encoder.tuple);
        let mut known = None;
        let mut symbol = || *known.get_or_insert_with(|| tuples.intern(tuple));
        if let Some(unit) = unit {
            let cell = UnitCell {
                unit,
                symbol: symbol(),
                secret,
                count,
            };
            self.units.add(part == Part::FitOn, cell);
        }
        let may_free = match part {
            Part::FitOn => self.fit_counted.add(secret, count, symbol),
            Part::Log => {
                self.facts.rows_used += count;
                if has_order {
                    self.order.push_with(secret, &mut symbol);
                }
                if self.options.keep_order {
                    order::keep(&mut self.sequence, secret, symbol(), place)?;
                }
                !self.streaming && self.counted.add(secret, count, symbol)
            }
        };
        if may_free {
            self.free(part, place)?;
        }
        Ok(())
    }

    /// Forgets observations that nothing needs any more.
    fn free(&mut self, part: Part, place: &dyn Fn() -> Place) -> Result<()> {
        self.add_repeats(part, place)?;
        if self.options.keep_order && self.counted.is_sampled() {
            return Err(order::too_different(self.options.max_rows, place()));
        }
        if self.options.has_units() {
            return Err(order::too_many_units(self.options.max_rows, place()));
        }
        let mut needed = vec![false; self.tuples.len()];
        let ordered = self.order.kept().map(|row| row.1);
        let counted = self.counted.symbols().chain(self.fit_counted.symbols());
        for symbol in counted.chain(ordered) {
            needed[symbol as usize] = true;
        }
        let numbers = self.tuples.retain(&needed);
        self.counted.renumber(&numbers);
        self.fit_counted.renumber(&numbers);
        self.order.renumber(&numbers);
        Ok(())
    }

    /// Whether a row 1 that was taken for data could be a header after all.
    fn may_be_header(&self, row: &Row) -> bool {
        let has_number = || row.fields().any(Field::is_number);
        self.facts.header_detected && !self.facts.header && !has_number()
    }

    /// How often a row occurred; adds it to the rows of its part.
    fn count(
        &mut self,
        part: Part,
        layout: &Layout,
        row: &Row,
        place: &dyn Fn() -> Place,
    ) -> Result<u64> {
        let count = match layout.count {
            Some(column) => match row.get(column) {
                Some(Field::Number(number)) => occurrences_of(number),
                _ => occurrences(cell::text(row, column, layout, place, &mut self.text)?.trim()),
            }
            .map_err(|problem| {
                at_column(place(), layout, column, row, problem).with_hint(format!(
                    "{} names the column that says how often its row occurred",
                    option("count")
                ))
            })?,
            None => 1,
        };
        let rows = match part {
            Part::Log => &mut self.facts.rows,
            Part::FitOn => &mut self.fit_rows,
        };
        *rows =
            rows.checked_add(count)
                .filter(|&rows| rows < 1 << 53)
                .ok_or_else(|| {
                    Error::data(place(), "the counts add up to more than 2^53 rows").with_hint(
                        format!("is this the column of counts ({})?", option("count")),
                    )
                })?;
        Ok(count)
    }
}
