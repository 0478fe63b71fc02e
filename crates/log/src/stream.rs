//! A log row by row, as it comes.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::Read;

use crate::first_row::refuse_if_alone;
use crate::format::Columnar;
use crate::ingest::{Ingest, Part};
use crate::layout::Layout;
use crate::observations::Observations;
use crate::open;
use crate::options::{Missing, ReadOptions};
use crate::recognize::recognize;
use crate::records::Records;
use crate::row::Row;
use crate::source;
use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::option;

/// Lines that settle the layout and the types of columns.
const SETTLING: usize = 1_000;
/// … unless they are this many bytes.
const SETTLING_BYTES: usize = 16 << 20;

/// Rows of a log as they come. Memory grows with what is distinct in them.
pub struct RowStream<'a> {
    ingest: Ingest<'a>,
    name: String,
    layout: Layout,
    records: Box<dyn Records>,
    /// Rows that settled the layout and were not handed out yet.
    settling: VecDeque<Row>,
    row: Row,
}

impl<'a> RowStream<'a> {
    /// Begins to read: its first 1,000 lines settle layout and types.
    ///
    /// # Errors
    /// As [`read`](super::read()); options that need the whole log: several files, counts, another log to
    /// learn on.
    pub fn new(mut input: Box<dyn Read + Send>, options: &'a ReadOptions) -> Result<Self> {
        refuse_whole(options)?;
        options.check()?;
        let name = options.files[0].clone();
        let head = first_lines(&name, &mut input, options)?;
        Self::behind(name, head, input, options)
    }

    /// As [`RowStream::new`], behind the first lines.
    fn behind(
        name: String,
        head: Vec<u8>,
        input: Box<dyn Read + Send>,
        options: &'a ReadOptions,
    ) -> Result<Self> {
        let records = open::open_behind(&name, head, input, options, SETTLING)?;
        let found = recognize(&name, records, options, false)?;
        refuse_whole(&found.options)?;
        let (mut records, form) = (found.records, found.form);
        let probe = open::read_probe(&name, &mut *records, SETTLING)?;
        let mut ingest = Ingest::streaming(Cow::Owned(found.options));
        ingest.recognized(form);
        let layout = ingest.settle(&name, &probe, records.is_named())?;
        let skipped = usize::from(layout.header);
        let settling = probe.into_iter().skip(skipped);
        Ok(RowStream {
            ingest,
            layout,
            records,
            settling: settling.collect(),
            row: Row::new(),
            name,
        })
    }

    /// The next row, numbers of its secret and its observation as they first came up; `None` at the end.
    /// Secrets that are left out are passed over.
    ///
    /// # Errors
    /// A row that does not fit, with its place.
    pub fn next_row(&mut self) -> Result<Option<(u32, u32)>> {
        loop {
            match self.settling.pop_front() {
                Some(settling) => self.row = settling,
                None if self.records.next(&mut self.row)? => {}
                None => return Ok(None),
            }
            self.ingest
                .row(&self.name, Part::Log, &self.layout, &self.row)?;
            if let Some(row) = self.ingest.take_rows().pop() {
                return Ok(Some(row));
            }
        }
    }

    /// Whether rows were read that were not handed out yet.
    pub fn holds_rows(&self) -> bool {
        !self.settling.is_empty()
    }

    /// Whether a log that has ended is one.
    ///
    /// # Errors
    /// No rows to use, only one secret, a secret asked for that never came.
    pub fn check_end(&self) -> Result<()> {
        self.ingest.check_secrets()
    }

    /// The labels of the secrets so far, by number.
    pub fn labels(&self) -> &[String] {
        self.ingest.labels()
    }

    /// A table of some observations in their canonical order, and the numbers they have in the stream.
    pub fn table(&self, ids: Vec<u32>) -> (Observations, Vec<u32>) {
        self.ingest.table(ids)
    }

    /// Refuses to guess whether row 1 is a header, given the first rows.
    ///
    /// # Errors
    /// Where its words occur nowhere else.
    pub fn check_header(&self, rows: &[(u32, u32)]) -> Result<()> {
        let Some((secret, symbol, texts)) = self.ingest.unclear_row() else {
            return Ok(());
        };
        let once = |is_like: &dyn Fn(&(u32, u32)) -> bool| {
            rows.iter().filter(|row| is_like(row)).count() == 1
        };
        let alone = once(&|row| row.0 == secret) && once(&|row| row.1 == symbol);
        refuse_if_alone(&self.name, texts, alone, rows.len() as u64)
    }
}

fn refuse_whole(options: &ReadOptions) -> Result<()> {
    let follow = option("follow");
    let refused = [
        (options.files.len() > 1, "files", "reads one log"),
        (
            options.engine.is_some(),
            "engine",
            "reads a log row by row, and the query engine counts a whole log",
        ),
        (
            options.wide,
            "wide",
            "needs the rows in the order in which they were recorded",
        ),
        (
            options.count.is_some(),
            "count",
            "needs the rows one by one",
        ),
        (
            options.group.is_some(),
            "group",
            "bets on single rows and takes each for new evidence",
        ),
        (
            options.block.is_some(),
            "block",
            "bets on single rows and takes each for new evidence",
        ),
        (
            options.missing == Missing::Drop,
            "missing",
            "leaves out no rows",
        ),
        (options.skip_bad > 0, "skip_bad", "leaves out no rows"),
        (
            options.fit_on.is_some(),
            "fit_on",
            "learns from the log that it follows",
        ),
    ];
    match refused.into_iter().find(|(is, ..)| *is) {
        Some((_, field, problem)) => Err(Error::parameter(
            option(field),
            format!("{follow} {problem}"),
        )
        .with_hint("leave one of the two options out")),
        None => Ok(()),
    }
}

/// The first lines, as many as settle the layout, fewer only at the end.
///
/// # Errors
/// A row that does not fit is reported when it comes.
fn first_lines(
    name: &str,
    input: &mut Box<dyn Read + Send>,
    options: &ReadOptions,
) -> Result<Vec<u8>> {
    let mut head = Vec::new();
    let mut chunk = vec![0; 1 << 12];
    let mut lines = 0;
    while lines <= SETTLING && head.len() < SETTLING_BYTES {
        let n = input
            .read(&mut chunk)
            .map_err(|error| source::read_error(name, &error))?;
        if n == 0 {
            break;
        }
        lines += chunk[..n].iter().filter(|&&byte| byte == b'\n').count();
        head.extend_from_slice(&chunk[..n]);
        // It has no lines to wait for.
        if let Some(columnar) = Columnar::of(&head) {
            return Err(columnar.cannot_grow(name));
        }
        if lines <= SETTLING {
            check_so_far(name, &head, options)?;
        }
    }
    Ok(head)
}

/// Reads the whole lines so far as if the log ended there, for a row that does not fit. Other problems may vanish
/// with more rows.
fn check_so_far(name: &str, head: &[u8], options: &ReadOptions) -> Result<()> {
    let end = head.iter().rposition(|&byte| byte == b'\n');
    let whole = end.map_or(&[][..], |end| &head[..=end]);
    let quotes = whole.iter().filter(|&&byte| byte == b'"').count();
    // Within a quoted field.
    if whole.is_empty() || quotes % 2 == 1 {
        return Ok(());
    }
    let read = || -> Result<()> {
        let nothing = Box::new(std::io::empty());
        let mut rows = RowStream::behind(name.to_owned(), whole.to_vec(), nothing, options)?;
        while rows.next_row()?.is_some() {}
        Ok(())
    };
    match read() {
        Err(Error::Data {
            place,
            problem,
            hint,
            ..
        }) if place.row.is_some_and(|row| row > 1) => {
            let error = Error::data(*place, problem);
            Err(match hint {
                Some(hint) => error.with_hint(hint),
                None => error,
            })
        }
        _ => Ok(()),
    }
}
