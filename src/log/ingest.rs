//! The reading loop: rows of files into numbered secrets, numbered observations and counts.

use std::io::{Cursor, Read};

use csv::{ByteRecord, Reader, ReaderBuilder, StringRecord};

use crate::error::{Error, Place, Result};
use crate::log::fold::{CellCounter, Interner, TupleInterner};
use crate::log::layout::{self, HeaderChoice, Layout};
use crate::log::order::OrderSketch;
use crate::log::source;
use crate::log::typing::{self, ColumnPlan};
use crate::log::{InputFacts, Log, ReadOptions};
use crate::observations::{Column, ColumnType, ObservationKind, Observations};

/// Rows looked at before the types of columns are settled.
const PROBE_ROWS: usize = 10_000;
/// … unless they are this many bytes.
const PROBE_BYTES: usize = 16 << 20;
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
    labels: Vec<Interner>,
    tuples: TupleInterner,
    cells: CellCounter,
    fit_cells: CellCounter,
    order: OrderSketch,
    integers: bool,
    facts: InputFacts,
    tuple: Vec<u64>,
}

impl<'a> Ingest<'a> {
    /// A log of which nothing has been read.
    pub fn new(options: &'a ReadOptions) -> Self {
        Ingest {
            options,
            settled: None,
            secrets: Interner::default(),
            labels: Vec::new(),
            tuples: TupleInterner::new(0),
            cells: CellCounter::default(),
            fit_cells: CellCounter::default(),
            order: OrderSketch::default(),
            integers: true,
            facts: InputFacts {
                files: options.files.clone(),
                fit_on: options.fit_on.clone(),
                aggregated: options.count.is_some(),
                narrowed: !options.secrets.is_empty(),
                ..InputFacts::default()
            },
            tuple: Vec::new(),
        }
    }

    /// Reads one file to its end.
    pub fn file(&mut self, name: &str, part: Part, input: Box<dyn Read + Send>) -> Result<()> {
        let mut reader = self.csv_reader(name, input)?;
        let probe = read_probe(name, &mut reader)?;
        let columns = self.settle(name, &probe)?;
        let body = if columns.header {
            &probe[1..]
        } else {
            &probe[..]
        };
        for record in body {
            self.row(name, part, &columns, record.as_byte_record())?;
        }
        let mut record = ByteRecord::new();
        while next(name, &mut reader, &mut record)? {
            self.row(name, part, &columns, &record)?;
        }
        if body.is_empty() {
            return Err(Error::file(name, "has a header and no rows")
                .with_hint("a log has one row per use of the mechanism"));
        }
        Ok(())
    }

    fn csv_reader(
        &mut self,
        name: &str,
        mut input: Box<dyn Read + Send>,
    ) -> Result<Reader<Box<dyn Read + Send>>> {
        let mut head = Vec::new();
        (&mut input)
            .take(1 << 16)
            .read_to_end(&mut head)
            .map_err(|error| source::read_error(name, &error))?;
        let delimiter = layout::delimiter(name, &head, self.options.delimiter);
        if self.settled.is_none() {
            self.facts.delimiter = char::from(delimiter);
        }
        let input: Box<dyn Read + Send> = Box::new(Cursor::new(head).chain(input));
        Ok(ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .buffer_capacity(1 << 17)
            .from_reader(input))
    }

    /// The first file settles layout and types; later files must have the same columns.
    fn settle(&mut self, name: &str, probe: &[StringRecord]) -> Result<Layout> {
        let layout = Layout::find(name, probe, self.options)?;
        let Some((first, plans)) = &self.settled else {
            let body = if layout.header { &probe[1..] } else { probe };
            let plans = typing::plan_columns(body, &layout, self.options)?;
            self.tuples = TupleInterner::new(plans.len());
            self.labels = plans.iter().map(|_| Interner::default()).collect();
            self.facts.header = layout.header;
            self.facts.header_detected = self.options.header == HeaderChoice::Detect;
            self.facts
                .secret_column
                .clone_from(&layout.names[layout.secret]);
            self.facts.decided = plans.iter().map(|plan| plan.decided).collect();
            self.facts.decimals = plans
                .iter()
                .map(|plan| (plan.kind == ColumnType::Numeric).then_some(0))
                .collect();
            self.facts.suspicious_columns = plans
                .iter()
                .filter(|plan| typing::is_suspicious(plan))
                .map(|plan| plan.name.clone())
                .collect();
            self.settled = Some((layout.clone(), plans));
            return Ok(layout);
        };
        match_columns(name, first, plans, layout)
    }

    fn row(&mut self, file: &str, part: Part, layout: &Layout, record: &ByteRecord) -> Result<()> {
        let place = || Place::file(file).row(record.position().map_or(0, csv::Position::line));
        if record.len() != layout.names.len() {
            return Err(Error::data(
                place(),
                format!(
                    "has {} fields where {} are expected",
                    record.len(),
                    layout.names.len()
                ),
            )
            .with_hint(
                "every row needs the same columns; quote fields that contain the delimiter",
            ));
        }
        let count = match layout.count {
            Some(column) => occurrences(field(record, column, layout, &place)?)
                .map_err(|problem| at_column(place(), layout, column, record, problem))?,
            None => 1,
        };
        if part == Part::Log {
            self.facts.rows = self
                .facts
                .rows
                .checked_add(count)
                .filter(|&rows| rows < 1 << 53)
                .ok_or_else(|| Error::data(place(), "the counts add up to more than 2^53 rows"))?;
        }
        let secret = field(record, layout.secret, layout, &place)?;
        if secret.is_empty() {
            return Err(Error::data(
                place().column(&layout.names[layout.secret]),
                "the secret is blank",
            )
            .with_hint("remove the row, or give its secret a label"));
        }
        if count == 0
            || (self.facts.narrowed && !self.options.secrets.iter().any(|kept| kept == secret))
        {
            return Ok(());
        }
        let secret = self.secrets.intern(secret);
        self.observation(layout, record, &place)?;
        let symbol = self.tuples.intern(&self.tuple);
        match part {
            Part::FitOn => self.fit_cells.add(secret, symbol, count),
            Part::Log => {
                self.facts.rows_used += count;
                self.cells.add(secret, symbol, count);
                if layout.count.is_none() {
                    self.order.push(secret, symbol);
                }
            }
        }
        Ok(())
    }

    /// Encodes a row's observation into `self.tuple`: bits of numbers, numbers of labels.
    fn observation(
        &mut self,
        layout: &Layout,
        record: &ByteRecord,
        place: &dyn Fn() -> Place,
    ) -> Result<()> {
        let (_, plans) = self.settled.as_ref().expect("settled before rows are read");
        self.tuple.clear();
        for (index, plan) in plans.iter().enumerate() {
            let column = layout.observe[index];
            let text = field(record, column, layout, place)?;
            let word = match plan.kind {
                ColumnType::Categorical => u64::from(self.labels[index].intern(text)),
                ColumnType::Numeric => {
                    let value = typing::finite_number(text).map_err(|problem| {
                        at_column(place(), layout, column, record, problem).with_hint(format!(
                            "remove or repair the row, or read the column as labels with --categorical {}",
                            plan.name
                        ))
                    })?;
                    let most = &mut self.facts.decimals[index];
                    *most = most
                        .zip(typing::decimals(text))
                        .map(|(most, here)| most.max(here));
                    let value = plan.resolution.map_or(value, |width| bin(value, width));
                    self.integers &= value == value.trunc();
                    // Adding 0 turns −0 into 0, so that equal numbers have equal bits.
                    (value + 0.0).to_bits()
                }
            };
            self.tuple.push(word);
        }
        Ok(())
    }

    /// Puts secrets and observations in their canonical order.
    pub fn finish(mut self) -> Result<Log> {
        let (_, plans) = self.settled.take().expect("at least one file was read");
        self.check_secrets()?;
        let labels = self.secrets.into_texts();
        let by_label = natural_order(&labels);
        let secret_rank = ranks(&by_label);
        let secrets: Vec<String> = by_label
            .iter()
            .map(|&id| labels[id as usize].clone())
            .collect();
        let label_ranks: Vec<Vec<u32>> = self
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
        let mut by_value: Vec<u32> = (0..self.tuples.len() as u32).collect();
        by_value.sort_unstable_by(|&a, &b| {
            (0..plans.len())
                .map(|column| sortable(a, column).total_cmp(&sortable(b, column)))
                .find(|order| order.is_ne())
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        let symbol_rank = ranks(&by_value);
        let recurs = self.facts.rows_used >= RECURRENCE * self.tuples.len() as u64;
        let kind = kind_of(&plans, self.integers && recurs);
        let observations = tabulate(kind, &plans, &by_value, &self.tuples, &self.labels);
        let fit_counts = self.options.fit_on.is_some().then(|| {
            self.fit_cells
                .into_counts(secrets.len(), &secret_rank, &symbol_rank)
        });
        Ok(Log {
            counts: self
                .cells
                .into_counts(secrets.len(), &secret_rank, &symbol_rank),
            fit_counts,
            order: (!self.facts.aggregated).then(|| self.order.finish(&secret_rank, &symbol_rank)),
            secrets,
            observations,
            facts: self.facts,
        })
    }

    fn check_secrets(&self) -> Result<()> {
        let file = &self.options.files[0];
        let seen = self.secrets.texts();
        for wanted in &self.options.secrets {
            if !seen.contains(wanted) {
                let error = Error::parameter(
                    format!("--secrets {wanted}"),
                    format!("{file} has no row with this secret"),
                );
                return Err(error.with_hint("labels are compared as text, to the letter"));
            }
        }
        match seen {
            [] => Err(Error::file(file, "has no rows to use")),
            [only] => Err(Error::data(
                Place::file(file).column(&self.facts.secret_column),
                format!("there is only one secret, {only:?}"),
            )
            .with_hint("leakage is a difference between secrets: log at least two, or choose another --secret column")),
            _ => Ok(()),
        }
    }
}

fn kind_of(plans: &[ColumnPlan], recurring_integers: bool) -> ObservationKind {
    let numeric: Vec<&ColumnPlan> = plans
        .iter()
        .filter(|plan| plan.kind == ColumnType::Numeric)
        .collect();
    // An observer that sees bins sees labels; a user who says "numeric" is believed.
    let resolved = numeric.iter().all(|plan| plan.resolution.is_some());
    let inferred = numeric
        .iter()
        .all(|plan| plan.decided == typing::Decision::Inferred || plan.resolution.is_some());
    if numeric.is_empty() || resolved || (inferred && recurring_integers) {
        ObservationKind::Discrete
    } else if numeric.len() == plans.len() {
        ObservationKind::Numeric
    } else {
        ObservationKind::Mixed
    }
}

fn tabulate(
    kind: ObservationKind,
    plans: &[ColumnPlan],
    order: &[u32],
    tuples: &TupleInterner,
    labels: &[Interner],
) -> Observations {
    let numeric: Vec<usize> = (0..plans.len())
        .filter(|&c| plans[c].kind == ColumnType::Numeric)
        .collect();
    let categorical: Vec<usize> = (0..plans.len())
        .filter(|&c| plans[c].kind == ColumnType::Categorical)
        .collect();
    let mut numbers = Vec::with_capacity(order.len() * numeric.len());
    let mut categories = TupleInterner::new(categorical.len());
    let mut category = Vec::new();
    let mut key = Vec::new();
    for &id in order {
        let tuple = tuples.tuple(id);
        numbers.extend(numeric.iter().map(|&column| f64::from_bits(tuple[column])));
        if !categorical.is_empty() {
            key.clear();
            key.extend(categorical.iter().map(|&column| tuple[column]));
            category.push(categories.intern(&key));
        }
    }
    let label = |column: usize, word: u64| labels[column].texts()[word as usize].clone();
    Observations {
        kind,
        columns: plans
            .iter()
            .map(|plan| Column {
                name: plan.name.clone(),
                kind: plan.kind,
                resolution: plan.resolution,
            })
            .collect(),
        numbers,
        category,
        categories: (0..categories.len() as u32)
            .filter(|_| !categorical.is_empty())
            .map(|id| {
                let words = categories.tuple(id).iter();
                words
                    .zip(&categorical)
                    .map(|(&word, &column)| label(column, word))
                    .collect()
            })
            .collect(),
        len: order.len(),
    }
}

/// The number of the bin of a width, anchored at 0, that a value falls into. A value within rounding
/// of an edge counts as on it.
fn bin(value: f64, width: f64) -> f64 {
    let quotient = value / width;
    let nearest = quotient.round();
    if (quotient - nearest).abs() <= 1e-9 * quotient.abs().max(1.0) {
        nearest
    } else {
        quotient.floor()
    }
}

/// The positions of labels in numeric order if all are finite numbers, else in alphabetical order.
fn natural_order(labels: &[String]) -> Vec<u32> {
    let numbers: Option<Vec<f64>> = labels
        .iter()
        .map(|label| label.parse::<f64>().ok().filter(|value| value.is_finite()))
        .collect();
    let mut order: Vec<u32> = (0..labels.len() as u32).collect();
    order.sort_unstable_by(|&a, &b| {
        let (a, b) = (a as usize, b as usize);
        let by_number = numbers
            .as_ref()
            .map(|values| values[a].total_cmp(&values[b]));
        by_number
            .filter(|order| order.is_ne())
            .unwrap_or_else(|| labels[a].cmp(&labels[b]))
    });
    order
}

/// The inverse of a permutation.
fn ranks(order: &[u32]) -> Vec<u32> {
    let mut ranks = vec![0; order.len()];
    for (rank, &id) in order.iter().enumerate() {
        ranks[id as usize] = rank as u32;
    }
    ranks
}

/// Checks that a later file has the columns of the first, in any order if both have headers.
fn match_columns(
    name: &str,
    first: &Layout,
    plans: &[ColumnPlan],
    layout: Layout,
) -> Result<Layout> {
    let wanted: Vec<&str> = plans.iter().map(|plan| plan.name.as_str()).collect();
    let mismatch = |problem: String| {
        Error::data(Place::file(name), problem).with_hint(format!(
            "the first file has the columns: {}",
            first.names.join(", ")
        ))
    };
    if layout.header != first.header {
        return Err(
            mismatch("one file has a header and another has none".into())
                .with_hint("say it with --header or --no-header"),
        );
    }
    if !layout.header && layout.names.len() != first.names.len() {
        return Err(mismatch(format!(
            "has {} columns where the first file has {}",
            layout.names.len(),
            first.names.len()
        )));
    }
    let observe = wanted
        .iter()
        .map(|wanted| {
            layout
                .names
                .iter()
                .position(|name| name == wanted)
                .ok_or_else(|| mismatch(format!("has no column `{wanted}`")))
        })
        .collect::<Result<Vec<_>>>()?;
    if layout.observe.len() != observe.len() {
        let extra = layout
            .observe
            .iter()
            .find(|column| !observe.contains(column));
        let extra = extra.map_or("another", |&column| layout.names[column].as_str());
        return Err(mismatch(format!(
            "has a column `{extra}` that the first file has not"
        ))
        .with_hint("name the observation columns with --observe"));
    }
    Ok(Layout { observe, ..layout })
}

fn read_probe(name: &str, reader: &mut Reader<Box<dyn Read + Send>>) -> Result<Vec<StringRecord>> {
    let mut rows = Vec::new();
    let mut bytes = 0;
    let mut record = ByteRecord::new();
    while rows.len() <= PROBE_ROWS && bytes < PROBE_BYTES && next(name, reader, &mut record)? {
        bytes += record.as_slice().len();
        let row = StringRecord::from_byte_record(record.clone()).map_err(|error| {
            let place = Place::file(name).row(record.position().map_or(0, csv::Position::line));
            not_utf8(place.column((error.utf8_error().field() + 1).to_string()))
        })?;
        rows.push(row);
    }
    Ok(rows)
}

fn next(
    name: &str,
    reader: &mut Reader<Box<dyn Read + Send>>,
    record: &mut ByteRecord,
) -> Result<bool> {
    reader
        .read_byte_record(record)
        .map_err(|error| match error.into_kind() {
            csv::ErrorKind::Io(error) => source::read_error(name, &error),
            other => Error::file(name, format!("{other:?}")),
        })
}

fn field<'r>(
    record: &'r ByteRecord,
    column: usize,
    layout: &Layout,
    place: &dyn Fn() -> Place,
) -> Result<&'r str> {
    std::str::from_utf8(&record[column])
        .map(str::trim)
        .map_err(|_| not_utf8(place().column(&layout.names[column])))
}

fn not_utf8(place: Place) -> Error {
    Error::data(place, "is not UTF-8 text")
        .with_hint("convert the file, for instance with `iconv -f latin1 -t utf-8`")
}

fn at_column(
    place: Place,
    layout: &Layout,
    column: usize,
    record: &ByteRecord,
    problem: &str,
) -> Error {
    let value = String::from_utf8_lossy(&record[column]);
    Error::data(
        place.column(&layout.names[column]).value(value.trim()),
        problem,
    )
}

fn occurrences(text: &str) -> std::result::Result<u64, &'static str> {
    if let Ok(count) = text.parse::<u64>() {
        return Ok(count);
    }
    // Databases export counts as 12.0 or 1e3 too.
    match text.parse::<f64>() {
        Ok(value) if value >= 0.0 && value == value.trunc() && value < 9e15 => Ok(value as u64),
        _ => Err("is not a number of occurrences (a whole number, 0 or more)"),
    }
}
