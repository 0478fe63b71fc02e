//! Logs through a query engine (Apache DataFusion), in this process or on a cluster (Apache Ballista):
//! all cores, groups that spill to disk, conditions on rows. Rows become counts of what is distinct, or
//! are read in the order that columns of the log give them.

mod answer;
mod condition;
mod failure;
mod kinds;
mod memory;
mod ordered;
mod own_rows;
mod precounted;
mod query;
mod sampling;
mod scan;
mod scheduler;
mod session;

use std::borrow::Cow;

use crate::answer::Answer;
use crate::ordered::Ordered;
use crate::query::Shape;
use crate::sampling::{Counted, Counting};
use crate::scan::Scan;
use crate::session::Session;
use leakgauge_base::error::{Error, Result, file_listing, shorten};
use leakgauge_base::naming::{option, setting};
use leakgauge_log::ingest::{EngineSample, Ingest, Part};
use leakgauge_log::layout::Layout;
use leakgauge_log::{Log, ReadMeter, ReadOptions, Row, open, records};

/// The column of counts.
const OCCURRENCES: &str = "rows";

/// How often a query is sent to a cluster that fails it.
const MAX_ATTEMPTS: usize = 3;

/// Reads a log through the engine.
///
/// # Errors
/// Anything wrong with a file, its content or the condition; a scheduler that does not answer; disks
/// that are full.
pub fn read(options: &ReadOptions, meter: &ReadMeter) -> Result<Log> {
    let engine = options.engine.as_ref().expect("only called for the engine");
    if options.keep_order && !options.is_ordered_by_engine() {
        return Err(Error::parameter(
            option("keep_order"),
            "the query engine does not keep the order of rows by itself",
        )
        .with_hint(format!(
            "name the column that says when a row was recorded: {}; or use {}",
            setting("order_by", "COLUMN"),
            setting("split", "random")
        )));
    }
    let session = Session::open(engine)?;
    let reading = Reading {
        session: &session,
        options,
        meter,
    };
    if options.is_ordered_by_engine() {
        let files: Vec<String> = options
            .files
            .iter()
            .chain(&options.fit_on)
            .cloned()
            .collect();
        let read = with_patience(options, || reading.log(&Reading::ordered));
        return read.map_err(|error| reading.placed(&files, error));
    }
    reading.log(&Reading::counted)
}

/// What reads a part of a log: its files, and the layout of the log where the part is the one to learn on.
type ReadPart<'a> =
    dyn Fn(&Reading<'a>, &mut Ingest, Part, &[String], Option<&Layout>) -> Result<Scan> + 'a;

/// A log being read.
struct Reading<'a> {
    session: &'a Session,
    options: &'a ReadOptions,
    meter: &'a ReadMeter,
}

impl<'a> Reading<'a> {
    /// The log, and the log to learn on.
    fn log(&self, part: &ReadPart<'a>) -> Result<Log> {
        let options = self.options;
        let mut ingest = Ingest::new(options);
        let log = part(self, &mut ingest, Part::Log, &options.files, None)?;
        if let Some(file) = &options.fit_on {
            let files = std::slice::from_ref(file);
            part(self, &mut ingest, Part::FitOn, files, Some(&log.layout))?;
        }
        ingest.finish()
    }
}

impl Reading<'_> {
    /// Counts one part of a log and hands the counts on.
    fn counted(
        &self,
        ingest: &mut Ingest,
        part: Part,
        files: &[String],
        first: Option<&Layout>,
    ) -> Result<Scan> {
        let options = self.options;
        let counting = with_patience(options, || self.count(files, first));
        let (scan, counted) = counting.map_err(|error| self.placed(files, error))?;
        if counted.rows == 0 {
            return Err(nothing(files, options));
        }
        if part == Part::Log {
            ingest.note(note(options));
        }
        let mut layout = scan.layout.clone();
        layout.count = Some(layout.names.len());
        layout.names.push(OCCURRENCES.into());
        let Counted {
            batches,
            picks,
            sampled,
            left_out,
            ..
        } = counted;
        let mut answer = Answer::new(batches, picks, &layout)?;
        layout.header = true;
        let name = file_listing(files);
        ingest
            .records(&name, part, &mut answer, Some(layout))
            .map_err(|error| self.placed(files, error))?;
        let sampled = sampled.map(|sampled| EngineSample {
            cap: sampled.cap,
            rows: sampled
                .seen
                .into_iter()
                .map(|(key, rows)| (query::label(&key), rows))
                .collect(),
        });
        ingest.drawn(part, sampled);
        if part == Part::Log {
            ingest.leave_out(left_out);
            ingest.read_as(scan.layout.header, scan.format);
        }
        Ok(scan)
    }

    /// Hands the rows of one part of a log on, in their order.
    fn ordered(
        &self,
        ingest: &mut Ingest,
        part: Part,
        files: &[String],
        first: Option<&Layout>,
    ) -> Result<Scan> {
        let Session { runtime, context } = self.session;
        let options = self.options;
        let scan = runtime.block_on(Scan::plan(context, files, options, first))?;
        let times = options.engine.iter().flat_map(|engine| &engine.order_by);
        let times: Vec<String> = times.cloned().collect();
        let frame = ordered::sorted(scan.frame.clone(), times.len())?;
        let mut layout = scan.layout.clone();
        let (sender, receiver) = ordered::channel();
        let mut rows = Ordered::new(receiver, &layout, &times, options.seed);
        layout.header = true;
        let read = std::thread::scope(|scope| {
            let ask = move || {
                let take = |batch| Ok(sender.send(Ok(batch)).is_ok());
                let asked = query::run(frame, self.meter, scan.bytes_per_row, take);
                if let Err(error) = runtime.block_on(asked) {
                    // Nobody listens any more where the rows were wrong already.
                    let _ = sender.send(Err(error));
                }
            };
            std::thread::Builder::new()
                .stack_size(session::STACK)
                .spawn_scoped(scope, ask)
                .map_err(|error| Error::parameter(option("threads"), error.to_string()))?;
            let read = ingest.records(&file_listing(files), part, &mut rows, Some(layout));
            let Ordered {
                given,
                tied,
                is_over,
                ..
            } = rows;
            // The engine waits until its rows are taken, or nobody is there to take them.
            drop(rows);
            match given {
                0 if is_over => Err(nothing(files, options)),
                _ => read.map(|()| tied),
            }
        });
        let tied = read?;
        if part == Part::Log {
            ingest.note(ordered::note(options, tied));
            ingest.read_as(scan.layout.header, scan.format);
        }
        Ok(scan)
    }

    /// An error that does not say where, as one that does, if the place can be found.
    fn placed(&self, files: &[String], error: Error) -> Error {
        let error = blamed(error, self.options);
        match lacks_place(&error) {
            true => diagnose(files, self.options, &error).unwrap_or(error),
            false => error,
        }
    }

    /// Counts the rows of files.
    fn count(&self, files: &[String], first: Option<&Layout>) -> Result<(Scan, Counted)> {
        let options = self.options;
        let counting = async {
            let scan = Scan::plan(&self.session.context, files, options, first).await?;
            let shape = Shape {
                secret: scan.layout.secret.len(),
                observe: scan.layout.observe.len(),
                counted: scan.layout.count.is_some(),
                precounted: scan.is_precounted,
            };
            let counting = Counting {
                frame: scan.frame.clone(),
                scan: &scan,
                options,
                meter: self.meter,
                shape,
            };
            let counted = counting.count().await?;
            Ok((scan, counted))
        };
        self.session.runtime.block_on(counting)
    }
}

/// Asks the engine. What fails on a cluster is asked again: an executor may have died.
fn with_patience<T>(options: &ReadOptions, ask: impl Fn() -> Result<T>) -> Result<T> {
    let engine = options.engine.as_ref();
    let is_remote = engine.is_some_and(|engine| engine.cluster.is_some());
    let mut attempts = if is_remote { MAX_ATTEMPTS } else { 1 };
    loop {
        attempts -= 1;
        match ask() {
            Err(error) if attempts > 0 && is_of_engine(&error) => {}
            answer => return answer,
        }
    }
}

/// A failure of the engine as one of what was asked of it.
fn blamed(error: Error, options: &ReadOptions) -> Error {
    let engine = options.engine.as_ref();
    let cluster = engine.and_then(|engine| engine.cluster.as_deref());
    let condition = engine.and_then(|engine| engine.condition.as_deref());
    match (error, cluster, condition) {
        (Error::Parameter { what, problem, .. }, Some(url), _) if what == failure::engine() => {
            Error::parameter(setting("cluster", url), problem)
                .with_hint("is it a Ballista 55 scheduler with executors that see the files under the same paths?")
        }
        (Error::Parameter { what, problem, .. }, None, Some(condition)) if what == failure::engine() => {
            Error::parameter(setting("condition", shorten(condition)), problem).with_hint(
                "columns of a text whose first rows are all numbers or dates are compared as such: repair the other rows",
            )
        }
        (error, ..) => error,
    }
}

fn is_of_engine(error: &Error) -> bool {
    matches!(error, Error::Parameter { what, .. } if *what == failure::engine())
}

/// What the engine does to a log, for the report: the same wherever it runs.
fn note(options: &ReadOptions) -> String {
    let engine = options.engine.as_ref();
    match engine.and_then(|engine| engine.condition.as_deref()) {
        None => "Rows were counted by the query engine, whatever their order.".into(),
        Some(condition) => format!(
            "Only the rows for which {condition} were read, by the query engine, whatever their order: the figures are \
             about these. A condition on what is observed changes what there is to tell."
        ),
    }
}

/// No row is left.
fn nothing(files: &[String], options: &ReadOptions) -> Error {
    let condition = options
        .engine
        .as_ref()
        .and_then(|engine| engine.condition.as_deref());
    if !options.secrets.is_empty() && condition.is_none() {
        let secrets = options.secrets.join(",");
        return Error::parameter(
            setting("secrets", shorten(&secrets)),
            format!(
                "{} has no row with one of these secrets",
                file_listing(files)
            ),
        )
        .with_hint("labels are compared as text, to the letter");
    }
    match condition {
        Some(condition) => Error::parameter(
            setting("condition", shorten(condition)),
            format!("no row of {} meets the condition", file_listing(files)),
        )
        .with_hint("compare with a value from the log; texts stand in 'single quotes', names of columns in \"double\" ones"),
        None => Error::file(file_listing(files), "has no rows to use"),
    }
}

/// Whether an error is one of rows that were put together: which row it was is not known.
fn lacks_place(error: &Error) -> bool {
    match error {
        Error::Parameter { what, .. } => {
            is_of_engine(error)
                || ["count", "condition", "cluster"]
                    .iter()
                    .any(|field| names(what, field))
        }
        Error::Data { place, .. } => place.row.is_none(),
        _ => false,
    }
}

/// Whether what was wrong is an option, with a value or without.
fn names(what: &str, field: &str) -> bool {
    // In front of its value an option stands as it is written alone, but for a closing quote.
    what.starts_with(option(field).trim_end_matches('`'))
}

/// Where in the files something is wrong, found by reading them row by row.
fn diagnose(files: &[String], options: &ReadOptions, error: &Error) -> Option<Error> {
    let every = ReadOptions {
        engine: None,
        ..options.clone()
    };
    let condition = options
        .engine
        .as_ref()
        .and_then(|engine| engine.condition.as_deref());
    if let Some(condition) = condition {
        let misfit = failure::misfit(error);
        return files
            .iter()
            .find_map(|file| unreadable(file, condition, &every, misfit.as_deref()).err());
    }
    let mut ingest = Ingest::streaming(Cow::Borrowed(&every));
    files.iter().find_map(|file| {
        let records = open::open_file(file, &ReadMeter::default(), &every);
        let read =
            records.and_then(|mut records| ingest.records(file, Part::Log, &mut *records, None));
        read.err()
    })
}

/// The positions of the columns that a condition speaks of.
fn spoken_of(file: &str, condition: &str, options: &ReadOptions) -> Result<Vec<usize>> {
    let mut records = open::open_file(file, &ReadMeter::default(), options)?;
    let probe = open::read_probe(file, &mut *records, records::PROBE_ROWS + 1)?;
    let names = Layout::find(file, &probe, records.is_named(), options)?.names;
    let columns = 0..names.len();
    Ok(columns
        .filter(|&at| condition.contains(&names[at]))
        .collect())
}

/// Whether all rows of a file can be read, whatever they say, unless a cell is what did not fit.
fn unreadable(
    file: &str,
    condition: &str,
    options: &ReadOptions,
    misfit: Option<&str>,
) -> Result<()> {
    let columns = spoken_of(file, condition, options)?;
    let mut records = open::open_file(file, &ReadMeter::default(), options)?;
    let mut row = Row::new();
    let mut width = None;
    while records.next(&mut row)? {
        let is_misfit = |&&column: &&usize| {
            let cell = row.text(column);
            misfit.is_some_and(|text| cell.is_some_and(|cell| cell.trim_ascii() == text))
        };
        if let Some(&column) = columns.iter().find(is_misfit) {
            let place = row.place(file).column((column + 1).to_string());
            let problem = "is neither number nor date, as the condition takes its column for";
            return Err(
                Error::data(place.value(misfit.unwrap_or_default()), problem)
                    .with_hint("repair the row, or choose rows by another column"),
            );
        }
        let expected = *width.get_or_insert(row.len());
        if row.len() != expected {
            let place = row.place(file);
            let problem = format!("has {} fields where {expected} are expected", row.len());
            return Err(Error::data(place, problem));
        }
    }
    Ok(())
}
