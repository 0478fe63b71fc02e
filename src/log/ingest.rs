//! The reading loop: rows of files into numbered secrets, numbered observations and counts.

use csv::{ByteRecord, StringRecord};

use crate::error::{Error, Place, Result, file_listing, shorten};
use crate::log::cell::{occurrences, secret};
use crate::log::encode::Encoder;
use crate::log::first_row::FirstRow;
use crate::log::fold::{Interner, TupleInterner, to_counts};
#[cfg(feature = "engine")]
use crate::log::format::Format;
use crate::log::layout::{self, HeaderChoice, Layout};
use crate::log::lists;
use crate::log::order::{self, OrderSketch, RowOrder};
use crate::log::records::{self, Records};
use crate::log::repeats::{Meaning, Repeats};
use crate::log::rows::{at_column, field, place_of};
use crate::log::sample::Sample;
use crate::log::tabulate::{kind_of, natural_order, ranks, ranks_among, tabulate};
use crate::log::tally::Tally;
use crate::log::typing::{self, ColumnPlan};
use crate::log::wide;
use crate::log::{InputFacts, Log, ReadOptions, SampledFrom};
use crate::observations::{Cell, ColumnType, Observations};

/// More secrets than this make more pairs than anyone can look at.
const MOST_SECRETS: usize = 2_000;
/// Numbers are a discrete observation if integers recur this often on average.
const RECURRENCE: u64 = 5;

/// Which log a file belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The log that is measured.
    Log,
    /// The log that is only learned from.
    FitOn,
}

/// What a sample that was drawn elsewhere was drawn from.
#[cfg(feature = "engine")]
pub struct Drawn {
    /// The most rows of a secret.
    pub cap: u64,
    /// The rows of each secret.
    pub rows: Vec<(String, u64)>,
}

/// A log being read.
pub struct Ingest<'a> {
    options: &'a ReadOptions,
    /// Settled by the first file: its layout and the plan of its observation columns.
    settled: Option<(Layout, Vec<ColumnPlan>)>,
    secrets: Interner,
    /// Secrets of the log that `--secrets` leaves out.
    left_out: Interner,
    encoder: Encoder,
    tuples: TupleInterner,
    tally: Tally,
    fit_tally: Tally,
    /// Row 1 of the first file, where it was taken for data without a number in it.
    first_row: Option<FirstRow>,
    fit_rows: u64,
    /// What rows that were drawn elsewhere were drawn from.
    drawn: Option<Sample>,
    fit_drawn: Option<Sample>,
    order: OrderSketch,
    /// All rows of the log in order, if asked for.
    sequence: Vec<(u32, u32)>,
    /// Lines of the file being read whose rows are known.
    repeats: Repeats,
    /// Whether rows are only kept in order, for someone to take them, and not counted.
    streaming: bool,
    facts: InputFacts,
}

impl<'a> Ingest<'a> {
    /// A log of which nothing has been read.
    pub fn new(options: &'a ReadOptions) -> Self {
        Ingest {
            options,
            settled: None,
            secrets: Interner::default(),
            left_out: Interner::default(),
            encoder: Encoder::default(),
            tuples: TupleInterner::new(0),
            tally: Tally::new(options.max_rows, options.seed),
            fit_tally: Tally::new(options.max_rows, !options.seed),
            first_row: None,
            fit_rows: 0,
            drawn: None,
            fit_drawn: None,
            order: OrderSketch::default(),
            sequence: Vec::new(),
            repeats: Repeats::default(),
            streaming: false,
            facts: InputFacts {
                files: options.files.clone(),
                fit_on: options.fit_on.clone(),
                aggregated: options.count.is_some(),
                wide: options.wide,
                narrowed: !options.secrets.is_empty(),
                scores: options.scores.clone(),
                ..InputFacts::default()
            },
        }
    }

    /// A log whose rows are taken as they come.
    pub fn streaming(options: &'a ReadOptions) -> Self {
        Ingest {
            streaming: true,
            ..Ingest::new(options)
        }
    }

    /// The rows since they were last taken: numbers of secrets and of observations as they first came up.
    pub fn take_rows(&mut self) -> Vec<(u32, u32)> {
        std::mem::take(&mut self.sequence)
    }

    /// The labels of the secrets so far, as they first came up.
    pub fn labels(&self) -> &[String] {
        self.secrets.texts()
    }

    /// A row 1 that was taken for data without a number in it.
    pub fn unclear_row(&self) -> Option<(u32, u32, &str)> {
        let first = self.first_row.as_ref()?;
        Some((first.secret, first.symbol, &first.texts))
    }

    /// Some of the observations so far, without repetition, in their canonical order; and the order.
    pub fn table(&self, ids: Vec<u32>) -> (Observations, Vec<u32>) {
        let (_, plans) = self.settled.as_ref().expect("settled before rows are read");
        self.table_of(plans, ids)
    }

    fn table_of(&self, plans: &[ColumnPlan], mut ids: Vec<u32>) -> (Observations, Vec<u32>) {
        ids.sort_unstable();
        ids.dedup();
        self.sort(plans, &mut ids);
        let kind = kind_of(plans, false);
        let table = tabulate(kind, plans, &ids, &self.tuples, &self.encoder.labels);
        (table, ids)
    }

    /// Puts observations in their canonical order.
    fn sort(&self, plans: &[ColumnPlan], ids: &mut [u32]) {
        let label_ranks: Vec<Vec<u32>> = self
            .encoder
            .labels
            .iter()
            .map(|labels| ranks(&natural_order(labels.texts())))
            .collect();
        let sortable = |id: u32, column: usize| {
            let word = self.tuples.tuple(id)[column];
            match plans[column].kind {
                ColumnType::Numeric => f64::from_bits(word),
                ColumnType::Categorical => f64::from(label_ranks[column][word as usize]),
            }
        };
        ids.sort_unstable_by(|&a, &b| {
            (0..plans.len())
                .map(|column| sortable(a, column).total_cmp(&sortable(b, column)))
                .find(|order| order.is_ne())
                .unwrap_or(std::cmp::Ordering::Equal)
        });
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
            self.facts.delimiter = records.delimiter();
        }
        let probe = records::read_probe(name, records, records::PROBE_ROWS + 1)?;
        let columns = match known {
            Some(layout) => self.settle_as(name, &probe, layout)?,
            None => self.settle(name, &probe, records.is_named())?,
        };
        let body = &probe[usize::from(columns.header)..];
        for record in body {
            self.row(name, part, &columns, record.as_byte_record())?;
        }
        self.remaining(name, part, &columns, records)?;
        if body.is_empty() {
            return Err(Error::file(name, "has a header and no rows")
                .with_hint("a log has one row per use of the mechanism"));
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
        if columns.count.is_some() || self.streaming {
            self.repeats.end();
        }
        let mut record = ByteRecord::new();
        let mut line = Vec::new();
        loop {
            line.clear();
            if !self.repeats.is_over()
                && let Some(next) = records.line()?
            {
                if let Some(meaning) = self.repeats.again(next) {
                    records.skip_line();
                    self.again(part, meaning, name)?;
                    continue;
                }
                line.extend_from_slice(next);
            }
            if !records.next(&mut record)? {
                break;
            }
            let used = self.row(name, part, columns, &record)?;
            if let Some(secret) = used.filter(|_| !line.is_empty() && !self.repeats.is_over()) {
                let symbol = self.tuples.intern(&self.encoder.tuple);
                self.repeats.remember(&line, Meaning { secret, symbol });
            }
        }
        self.add_repeats(part, &|| Place::file(name))
    }

    /// Counts a row that means what a row before it meant.
    fn again(&mut self, part: Part, meaning: Meaning, name: &str) -> Result<()> {
        let Meaning { secret, symbol } = meaning;
        if part == Part::FitOn {
            self.fit_rows += 1;
            return Ok(());
        }
        self.facts.rows += 1;
        self.facts.rows_used += 1;
        if let Some(first) = &mut self.first_row {
            first.compare(self.tuples.tuple(symbol), 1);
        }
        self.order.push_with(secret, || symbol);
        if self.options.keep_order {
            order::keep(&mut self.sequence, secret, symbol, &|| Place::file(name))?;
        }
        Ok(())
    }

    /// Adds what came again to the counts.
    fn add_repeats(&mut self, part: Part, place: &dyn Fn() -> Place) -> Result<()> {
        let tally = match part {
            Part::Log => &mut self.tally,
            Part::FitOn => &mut self.fit_tally,
        };
        let mut may_free = false;
        for (Meaning { secret, symbol }, count) in self.repeats.take() {
            may_free |= tally.add(secret, count, || symbol);
        }
        self.repeats.end();
        if may_free {
            self.free(part, place)?;
        }
        Ok(())
    }

    /// The first file settles layout and types; later files must have the same columns.
    pub(super) fn settle(
        &mut self,
        name: &str,
        probe: &[StringRecord],
        named: bool,
    ) -> Result<Layout> {
        let layout = Layout::find(name, probe, named, self.options)?;
        self.settle_as(name, probe, layout)
    }

    fn settle_as(
        &mut self,
        name: &str,
        probe: &[StringRecord],
        mut layout: Layout,
    ) -> Result<Layout> {
        let Some((first, _)) = &self.settled else {
            let body = &probe[usize::from(layout.header)..];
            let elements = lists::expand(&mut layout, self.options)?;
            let plans = typing::plan_columns(name, body, &layout, &elements, self.options)?;
            self.tuples = TupleInterner::new(plans.len());
            self.encoder = Encoder::new(&plans, self.options.scores.is_some());
            self.facts.header = layout.header;
            self.facts.header_detected = self.options.header == HeaderChoice::Detect;
            self.facts.secret_column = layout.secret_name();
            self.facts.decided = plans.iter().map(|plan| plan.decided).collect();
            self.facts.suspicious_columns = plans
                .iter()
                .filter(|plan| typing::is_suspicious(plan))
                .map(|plan| plan.name.clone())
                .collect();
            self.facts.like_numbers = plans
                .iter()
                .filter_map(|plan| Some((plan.name.clone(), plan.like_a_number.clone()?)))
                .collect();
            self.facts.notes.extend(lists::notes(self.options));
            self.facts.notes.extend(typing::notes(&plans));
            self.settled = Some((layout.clone(), plans));
            return Ok(layout);
        };
        layout::match_columns(name, first, layout)
    }

    /// Reads a row: the number of its secret, if it is used.
    pub(super) fn row(
        &mut self,
        file: &str,
        part: Part,
        layout: &Layout,
        record: &ByteRecord,
    ) -> Result<Option<u32>> {
        let place = || place_of(file, record);
        if record.len() != layout.names.len() {
            let (found, expected) = (record.len(), layout.names.len());
            let problem = format!("has {found} fields where {expected} are expected");
            return Err(Error::data(place(), problem).with_hint(
                "every row needs the same columns; quote fields that contain the delimiter",
            ));
        }
        let count = self.count(part, layout, record, &place)?;
        let secret = secret(record, layout, &place)?;
        if count == 0 {
            return Ok(None);
        }
        if self.facts.narrowed && !self.options.secrets.iter().any(|kept| *kept == *secret) {
            self.left_out.intern(&secret);
            return Ok(None);
        }
        let secret = self.secrets.intern(&secret);
        if self.secrets.texts().len() > MOST_SECRETS {
            let problem = format!("there are more than {MOST_SECRETS} secrets");
            return Err(at_column(place(), layout, layout.secret[0], record, &problem).with_hint(
                "every pair of secrets is compared: is this the right column (--secret)? Or name the secrets that \
                 matter with --secrets",
            ));
        }
        let (_, plans) = self.settled.as_ref().expect("settled before rows are read");
        self.encoder
            .row(plans, layout, record, &place)
            .map_err(|error| wide::in_its_column(self.options, record, error))?;
        let tuple = &self.encoder.tuple;
        if self.facts.rows == 1 && part == Part::Log && self.may_be_header(record) {
            let texts: Vec<String> = record
                .iter()
                .map(|f| String::from_utf8_lossy(f).into_owned())
                .collect();
            let symbol = self.tuples.intern(tuple);
            self.first_row = Some(FirstRow::new(secret, symbol, tuple, &texts));
        }
        if let Some(first) = self.first_row.as_mut().filter(|_| part == Part::Log) {
            first.compare(tuple, count);
        }
        self.tally(part, layout, secret, count, &place)?;
        Ok(Some(secret))
    }

    /// Counts the row that was encoded last, and keeps what is kept of its order. Its observation gets a
    /// number only if something of that needs it.
    fn tally(
        &mut self,
        part: Part,
        layout: &Layout,
        secret: u32,
        count: u64,
        place: &dyn Fn() -> Place,
    ) -> Result<()> {
        let (tuples, tuple) = (&mut self.tuples, &self.encoder.tuple);
        let mut known = None;
        let mut symbol = || *known.get_or_insert_with(|| tuples.intern(tuple));
        let may_free = match part {
            Part::FitOn => self.fit_tally.add(secret, count, symbol),
            Part::Log => {
                self.facts.rows_used += count;
                if layout.count.is_none() && !self.streaming && !self.facts.wide {
                    self.order.push_with(secret, &mut symbol);
                }
                if self.options.keep_order {
                    order::keep(&mut self.sequence, secret, symbol(), place)?;
                }
                !self.streaming && self.tally.add(secret, count, symbol)
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
        if self.options.keep_order && self.tally.is_sampled() {
            return Err(order::too_different(self.options.max_rows, place()));
        }
        let mut needed = vec![false; self.tuples.len()];
        let ordered = self.order.kept().map(|row| row.1);
        let counted = self.tally.symbols().chain(self.fit_tally.symbols());
        for symbol in counted.chain(ordered) {
            needed[symbol as usize] = true;
        }
        let numbers = self.tuples.retain(&needed);
        self.tally.renumber(&numbers);
        self.fit_tally.renumber(&numbers);
        self.order.renumber(&numbers);
        Ok(())
    }

    /// Whether a row 1 that was taken for data could be a header after all.
    fn may_be_header(&self, record: &ByteRecord) -> bool {
        let is_number = |field: &[u8]| std::str::from_utf8(field).is_ok_and(layout::is_number);
        self.facts.header_detected && !self.facts.header && !record.iter().any(is_number)
    }

    /// How often a row occurred; adds it to the rows of its part.
    fn count(
        &mut self,
        part: Part,
        layout: &Layout,
        record: &ByteRecord,
        place: &dyn Fn() -> Place,
    ) -> Result<u64> {
        let count = match layout.count {
            Some(column) => {
                occurrences(field(record, column, layout, place)?).map_err(|problem| {
                    at_column(place(), layout, column, record, problem)
                        .with_hint("--count names the column that says how often its row occurred")
                })?
            }
            None => 1,
        };
        let rows = match part {
            Part::Log => &mut self.facts.rows,
            Part::FitOn => &mut self.fit_rows,
        };
        *rows = rows
            .checked_add(count)
            .filter(|&rows| rows < 1 << 53)
            .ok_or_else(|| {
                Error::data(place(), "the counts add up to more than 2^53 rows")
                    .with_hint("is this the column of counts (--count)?")
            })?;
        Ok(count)
    }

    /// What the files looked like from which rows were counted elsewhere.
    #[cfg(feature = "engine")]
    pub fn read_as(&mut self, header: bool, (format, delimiter): (Format, Option<char>)) {
        self.facts.header = header;
        self.facts.format = format;
        self.facts.delimiter = delimiter;
    }

    /// Something for the report.
    #[cfg(feature = "engine")]
    pub fn note(&mut self, note: String) {
        self.facts.notes.push(note);
    }

    /// Secrets that were left out elsewhere, and their rows.
    #[cfg(feature = "engine")]
    pub fn leave_out(&mut self, secrets: Vec<(String, u64)>) {
        for (label, rows) in secrets {
            self.left_out.intern(&label);
            self.facts.rows += rows;
        }
    }

    /// The rows of a part were drawn elsewhere.
    #[cfg(feature = "engine")]
    pub fn drawn(&mut self, part: Part, drawn: Option<Drawn>) {
        let sample = drawn.map(|drawn| {
            let mut sample = Sample {
                cap: drawn.cap,
                rows: vec![0; self.secrets.texts().len()],
                cells: Vec::new(),
            };
            for (label, rows) in drawn.rows {
                let at = self.secrets.intern(&label) as usize;
                sample.rows.resize(sample.rows.len().max(at + 1), 0);
                sample.rows[at] += rows;
            }
            sample
        });
        match part {
            Part::FitOn => self.fit_drawn = sample,
            Part::Log => {
                if let Some(sample) = &sample {
                    self.facts.rows = sample.rows.iter().sum();
                }
                self.drawn = sample;
            }
        }
    }

    /// Puts secrets and observations in their canonical order.
    pub fn finish(mut self) -> Result<Log> {
        let (_, plans) = self.settled.take().expect("at least one file was read");
        self.check_secrets()?;
        self.facts.decimals = std::mem::take(&mut self.encoder.decimals);
        let labels = self.secrets.texts();
        let by_label = natural_order(labels);
        let secret_rank = ranks(&by_label);
        let secrets: Vec<String> = by_label
            .iter()
            .map(|&id| labels[id as usize].clone())
            .collect();
        let (cells, sample) = self.tally.finish();
        let (fit_cells, fit_sample) = self.fit_tally.finish();
        let (drawn, fit_drawn) = (self.drawn.take(), self.fit_drawn.take());
        self.note_samples(sample.or(drawn), fit_sample.or(fit_drawn), &secret_rank)?;
        let mut by_value = self.needed(&cells, &fit_cells);
        self.sort(&plans, &mut by_value);
        let symbol_rank = ranks_among(&by_value, self.tuples.len());
        let recurs = self.facts.rows_used >= RECURRENCE * by_value.len() as u64;
        let kind = kind_of(&plans, self.encoder.integers && recurs);
        let observations = tabulate(kind, &plans, &by_value, &self.tuples, &self.encoder.labels);
        let counts = |cells| to_counts(cells, secrets.len(), &secret_rank, &symbol_rank);
        let order = self.row_order(&plans, &secret_rank, &symbol_rank);
        let in_order = std::mem::take(&mut self.sequence).into_iter();
        let log = Log {
            sequence: self.options.keep_order.then(|| {
                in_order
                    .map(|(s, o)| (secret_rank[s as usize], symbol_rank[o as usize]))
                    .collect()
            }),
            counts: counts(cells),
            fit_counts: self.options.fit_on.is_some().then(|| counts(fit_cells)),
            order,
            left_out: self.left_out.into_texts(),
            observations,
            facts: self.facts,
            secrets,
        };
        if let Some(first) = &self.first_row {
            let rows = log.rows_of_secrets();
            let of_secret = rows[secret_rank[first.secret as usize] as usize];
            first.check(&self.options.files[0], of_secret, rows.iter().sum())?;
        }
        Ok(log)
    }

    /// What samples were drawn from, for the report.
    fn note_samples(
        &mut self,
        sample: Option<Sample>,
        fit_sample: Option<Sample>,
        secret_rank: &[u32],
    ) -> Result<()> {
        let place = Place::file(file_listing(&self.options.files));
        if self.options.keep_order && sample.is_some() {
            return Err(order::too_different(self.options.max_rows, place));
        }
        let most = self.options.max_rows.unwrap_or(u64::MAX);
        let from = |sample: Option<Sample>| {
            let from = sample.map(|sample| SampledFrom::new(&sample, most, secret_rank));
            from.map(|from| from.check(&place)).transpose()
        };
        self.facts.sampled = from(sample)?;
        self.facts.fit_sampled = from(fit_sample)?;
        if let Some(sampled) = &self.facts.sampled {
            self.facts.rows_used = sampled.rows_used();
        }
        Ok(())
    }

    /// The observations that are used: all, or those of the samples.
    fn needed(&self, cells: &[Cell], fit_cells: &[Cell]) -> Vec<u32> {
        if self.facts.sampled.is_none() && self.facts.fit_sampled.is_none() {
            return (0..self.tuples.len() as u32).collect();
        }
        let mut needed: Vec<u32> = cells.iter().chain(fit_cells).map(|c| c.symbol).collect();
        needed.sort_unstable();
        needed.dedup();
        needed
    }

    /// What was kept of the order of rows.
    fn row_order(
        &self,
        plans: &[ColumnPlan],
        secret_rank: &[u32],
        symbol_rank: &[u32],
    ) -> Option<RowOrder> {
        if self.facts.aggregated || self.facts.wide || self.options.engine.is_some() {
            return None;
        }
        if self.facts.sampled.is_none() {
            return Some(self.order.so_far(secret_rank, symbol_rank));
        }
        let (table, ids) = self.table_of(plans, self.order.kept().map(|row| row.1).collect());
        let symbol_rank = ranks_among(&ids, self.tuples.len());
        Some(RowOrder {
            observations: Some(table),
            ..self.order.so_far(secret_rank, &symbol_rank)
        })
    }

    pub(super) fn check_secrets(&self) -> Result<()> {
        let file = &self.options.files[0];
        let seen = self.secrets.texts();
        for wanted in &self.options.secrets {
            if !seen.contains(wanted) {
                let error = Error::parameter(
                    format!("--secrets {}", shorten(wanted)),
                    format!("{file} has no row with this secret"),
                );
                return Err(error.with_hint("labels are compared as text, to the letter"));
            }
        }
        let alone = if self.facts.narrowed {
            "leakage is a difference between secrets: name at least two with --secrets"
        } else {
            "leakage is a difference between secrets: log at least two, or choose another --secret column"
        };
        match seen {
            [] => Err(Error::file(file, "has no rows to use")),
            [only] => Err(Error::data(
                Place::file(file).column(&self.facts.secret_column),
                format!("there is only one secret, {:?}", shorten(only)),
            )
            .with_hint(alone)),
            _ => Ok(()),
        }
    }
}
