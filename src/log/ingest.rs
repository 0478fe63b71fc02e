//! The reading loop: rows of files into numbered secrets, numbered observations and counts.

use csv::{ByteRecord, StringRecord};

use crate::error::{Error, Place, Result, shorten};
use crate::log::cell::{occurrences, secret};
use crate::log::encode::Encoder;
use crate::log::fold::{CellCounter, Interner, TupleInterner};
use crate::log::layout::{self, HeaderChoice, Layout};
use crate::log::lists;
use crate::log::order::OrderSketch;
use crate::log::records::{self, Records};
use crate::log::rows::{at_column, field, place_of};
use crate::log::tabulate::{kind_of, natural_order, ranks, tabulate};
use crate::log::typing::{self, ColumnPlan};
use crate::log::wide;
use crate::log::{InputFacts, Log, ReadOptions};
use crate::observations::{ColumnType, Counts, Observations};

/// More secrets than this make more pairs than anyone can look at.
const MOST_SECRETS: usize = 2_000;
/// Rows whose order can be kept, 8 bytes each.
const MOST_ORDERED: usize = 100_000_000;
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
    cells: CellCounter,
    fit_cells: CellCounter,
    /// Row 1 of the first file, where it was taken for data without a number in it.
    first_row: Option<(u32, u32, String)>,
    fit_rows: u64,
    order: OrderSketch,
    /// All rows of the log in order, if asked for.
    sequence: Vec<(u32, u32)>,
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
            cells: CellCounter::default(),
            fit_cells: CellCounter::default(),
            first_row: None,
            fit_rows: 0,
            order: OrderSketch::default(),
            sequence: Vec::new(),
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
        let (secret, symbol, texts) = self.first_row.as_ref()?;
        Some((*secret, *symbol, texts))
    }

    /// Some of the observations so far, without repetition, in their canonical order; and the order.
    pub fn table(&self, mut ids: Vec<u32>) -> (Observations, Vec<u32>) {
        let (_, plans) = self.settled.as_ref().expect("settled before rows are read");
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
        if self.settled.is_none() {
            self.facts.format = records.format();
            self.facts.delimiter = records.delimiter();
        }
        let probe = records::read_probe(name, &mut *records, records::PROBE_ROWS + 1)?;
        let columns = self.settle(name, &probe, records.is_named())?;
        let body = &probe[usize::from(columns.header)..];
        for record in body {
            self.row(name, part, &columns, record.as_byte_record())?;
        }
        let mut record = ByteRecord::new();
        while records.next(&mut record)? {
            self.row(name, part, &columns, &record)?;
        }
        if body.is_empty() {
            return Err(Error::file(name, "has a header and no rows")
                .with_hint("a log has one row per use of the mechanism"));
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
        let mut layout = Layout::find(name, probe, named, self.options)?;
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

    pub(super) fn row(
        &mut self,
        file: &str,
        part: Part,
        layout: &Layout,
        record: &ByteRecord,
    ) -> Result<()> {
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
            return Ok(());
        }
        if self.facts.narrowed && !self.options.secrets.iter().any(|kept| *kept == *secret) {
            self.left_out.intern(&secret);
            return Ok(());
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
        let symbol = self.tuples.intern(&self.encoder.tuple);
        if self.facts.rows == 1 && part == Part::Log && self.may_be_header(record) {
            let texts: Vec<String> = record
                .iter()
                .map(|f| String::from_utf8_lossy(f).into_owned())
                .collect();
            self.first_row = Some((secret, symbol, texts.join(", ")));
        }
        self.tally(part, layout, [secret, symbol], count, &place)
    }

    /// Counts a row, and keeps what is kept of its order.
    fn tally(
        &mut self,
        part: Part,
        layout: &Layout,
        [secret, symbol]: [u32; 2],
        count: u64,
        place: &dyn Fn() -> Place,
    ) -> Result<()> {
        match part {
            Part::FitOn => self.fit_cells.add(secret, symbol, count),
            Part::Log => {
                self.facts.rows_used += count;
                if !self.streaming {
                    self.cells.add(secret, symbol, count);
                }
                if layout.count.is_none() && !self.streaming {
                    self.order.push(secret, symbol);
                }
                if self.options.keep_order {
                    self.keep(secret, symbol, place)?;
                }
            }
        }
        Ok(())
    }

    /// Keeps a row in its place.
    fn keep(&mut self, secret: u32, symbol: u32, place: &dyn Fn() -> Place) -> Result<()> {
        if self.sequence.len() == MOST_ORDERED {
            let problem =
                format!("--split blocks keeps the order of at most {MOST_ORDERED} rows in memory");
            return Err(Error::data(place(), problem)
                .with_hint("give a part of the log, or use --split random"));
        }
        self.sequence.push((secret, symbol));
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

    /// Puts secrets and observations in their canonical order.
    pub fn finish(mut self) -> Result<Log> {
        let (_, plans) = self.settled.take().expect("at least one file was read");
        self.check_secrets()?;
        self.facts.decimals = std::mem::take(&mut self.encoder.decimals);
        let mut by_value: Vec<u32> = (0..self.tuples.len() as u32).collect();
        self.sort(&plans, &mut by_value);
        let labels = self.secrets.into_texts();
        let by_label = natural_order(&labels);
        let secret_rank = ranks(&by_label);
        let secrets: Vec<String> = by_label
            .iter()
            .map(|&id| labels[id as usize].clone())
            .collect();
        let symbol_rank = ranks(&by_value);
        let recurs = self.facts.rows_used >= RECURRENCE * self.tuples.len() as u64;
        let kind = kind_of(&plans, self.encoder.integers && recurs);
        let observations = tabulate(kind, &plans, &by_value, &self.tuples, &self.encoder.labels);
        let fit_counts = self.options.fit_on.is_some().then(|| {
            self.fit_cells
                .into_counts(secrets.len(), &secret_rank, &symbol_rank)
        });
        let counts =
            std::mem::take(&mut self.cells).into_counts(secrets.len(), &secret_rank, &symbol_rank);
        if let Some((secret, symbol, texts)) = &self.first_row {
            let (secret, symbol) = (secret_rank[*secret as usize], symbol_rank[*symbol as usize]);
            refuse_unclear_header(&self.options.files[0], texts, &counts, secret, symbol)?;
        }
        let in_order = std::mem::take(&mut self.sequence).into_iter();
        Ok(Log {
            sequence: self.options.keep_order.then(|| {
                in_order
                    .map(|(s, o)| (secret_rank[s as usize], symbol_rank[o as usize]))
                    .collect()
            }),
            counts,
            fit_counts,
            order: (!self.facts.aggregated && !self.facts.wide)
                .then(|| self.order.finish(&secret_rank, &symbol_rank)),
            secrets,
            left_out: self.left_out.into_texts(),
            observations,
            facts: self.facts,
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

/// Refuses to guess about a row 1 of words that occur nowhere else: a header word as a secret would
/// change every figure.
pub(super) fn refuse_unclear_header(
    file: &str,
    texts: &str,
    counts: &Counts,
    secret: u32,
    symbol: u32,
) -> Result<()> {
    let cells = counts.cells().iter().filter(|cell| cell.symbol == symbol);
    let alone =
        counts.rows()[secret as usize] == 1 && cells.map(|cell| cell.count).sum::<u64>() == 1;
    if !alone || counts.total() < 10 {
        return Ok(());
    }
    let problem = format!(
        "({}) looks like a header, for its words occur nowhere else",
        shorten(texts)
    );
    Err(Error::data(Place::file(file).row(1), problem)
        .with_hint("say which it is: --header or --no-header"))
}
