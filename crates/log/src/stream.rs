//! A log row by row, as it comes.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::Read;

use crate::blocks;
use crate::first_row::refuse_if_alone;
use crate::format::Columnar;
use crate::ingest::{Ingest, Measurement, Part};
use crate::layout::Layout;
use crate::observations::Observations;
use crate::open;
use crate::options::{Missing, ReadOptions};
use crate::recognize::{Form, recognize};
use crate::records::Records;
use crate::row::Row;
use crate::source;
use leakgauge_base::error::{Error, Place, Result, shorten};
use leakgauge_base::naming::option;
use leakgauge_base::time::TimeUnit;

/// Lines that settle the layout and the types of columns.
const SETTLING: usize = 1_000;
/// … unless they are this many bytes.
const SETTLING_BYTES: usize = 16 << 20;

/// A block of simultaneous measurements: the number of a secret and what was measured of it, each secret at most once.
pub type Block = Vec<(u32, f64)>;

/// Rows of a log as they come. Memory grows with what is distinct in them.
///
/// A log in blocks is read by [`next_block`](Self::next_block), another one by [`next_row`](Self::next_row).
pub struct RowStream<'a> {
    ingest: Ingest<'a>,
    name: String,
    layout: Layout,
    records: Box<dyn Records>,
    /// Rows that settled the layout and were not handed out yet.
    settling: VecDeque<Row>,
    row: Row,
    form: Option<Form>,
    is_blocked: bool,
    /// The block that is being read, with its number.
    open: Option<(u32, Block)>,
    /// Blocks that were handed out.
    blocks: u64,
}

/// What a row is.
enum Came {
    /// A secret and an observation.
    Row(u32, u32),
    /// A measurement of a block.
    Measured(Measurement),
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
        let found = recognize(&name, records, options, true)?;
        refuse_whole(&found.options)?;
        let is_blocked = found.options.is_blocked();
        let (mut records, form) = (found.records, found.form);
        let probe = open::read_probe(&name, &mut *records, SETTLING)?;
        let mut ingest = Ingest::streaming(Cow::Owned(found.options));
        ingest.recognized(form);
        let layout = ingest.settle(&name, &probe, records.is_named())?;
        if is_blocked {
            blocks::check_columns(&ingest.observed(), Place::file(&name))?;
        }
        let skipped = usize::from(layout.header);
        let settling = probe.into_iter().skip(skipped);
        Ok(RowStream {
            ingest,
            layout,
            records,
            settling: settling.collect(),
            row: Row::new(),
            form,
            is_blocked,
            open: None,
            blocks: 0,
            name,
        })
    }

    /// The tool that wrote the log, where it is recognized and has blocks.
    fn form_name(&self) -> Option<String> {
        let form = self.form.filter(|form| form.has_blocks());
        form.map(|form| form.to_string())
    }

    /// The unit of the measurements: that of the tool that wrote the log, or the one that the name of the column ends in.
    pub fn unit(&self) -> Option<TimeUnit> {
        let column = self.column()?;
        let of_tool = self.form.and_then(|form| form.unit(&column));
        of_tool.or_else(|| TimeUnit::of_column(&column))
    }

    /// The name of the first column that is observed.
    pub fn column(&self) -> Option<String> {
        let columns = self.ingest.observed();
        columns.first().map(|(column, _)| column.to_string())
    }

    /// Whether rows come in blocks of simultaneous measurements.
    pub fn is_blocked(&self) -> bool {
        self.is_blocked
    }

    /// The next row, numbers of its secret and its observation as they first came up; `None` at the end.
    /// Secrets that are left out are passed over.
    ///
    /// # Errors
    /// A row that does not fit, with its place.
    pub fn next_row(&mut self) -> Result<Option<(u32, u32)>> {
        match self.advance()? {
            Some(Came::Row(secret, symbol)) => Ok(Some((secret, symbol))),
            Some(Came::Measured(_)) | None => Ok(None),
        }
    }

    /// The next block; `None` at the end. A block is whole when another one begins. The last one is handed out if it
    /// has every secret so far, else it is left out: whoever writes it may not have finished.
    ///
    /// # Errors
    /// A row that does not fit, with its place; a block that has a secret twice, or that comes again behind others.
    pub fn next_block(&mut self) -> Result<Option<Block>> {
        while let Some(came) = self.advance()? {
            let Came::Measured(next) = came else {
                continue;
            };
            let is_same = |open: &&mut (u32, Block)| open.0 == next.block;
            if let Some((_, block)) = self.open.as_mut().filter(is_same) {
                if block.iter().any(|&(secret, _)| secret == next.secret) {
                    let label = self.ingest.block_label(next.block);
                    let secret = &self.ingest.labels()[next.secret as usize];
                    return Err(blocks::has_twice(
                        self.place(),
                        &label,
                        secret,
                        self.form_name().as_deref(),
                    ));
                }
                block.push((next.secret, next.value));
                continue;
            }
            self.refuse_again(next.block)?;
            let begun = (next.block, vec![(next.secret, next.value)]);
            if let Some((_, whole)) = self.open.replace(begun) {
                self.blocks += u64::from(whole.len() > 1);
                return Ok(Some(whole));
            }
        }
        let secrets = self.labels().len();
        let last = self.open.take();
        let whole = last.filter(|(_, block)| block.len() > 1 && block.len() == secrets);
        self.blocks += u64::from(whole.is_some());
        Ok(whole.map(|(_, block)| block))
    }

    /// Refuses a row of a block that was handed out.
    fn refuse_again(&self, block: u32) -> Result<()> {
        if self.open.as_ref().is_none_or(|open| open.0 < block) {
            return Ok(());
        }
        let label = self.ingest.block_label(block);
        let problem = format!("block {:?} goes on behind other blocks", shorten(&label));
        Err(Error::data(self.place(), problem).with_hint(format!(
            "of a log that grows, the rows of a block stand together: is {} the right column? Without {} the rows may \
             stand anywhere",
            option("block"),
            option("follow")
        )))
    }

    fn place(&self) -> Place {
        self.row.place(&self.name)
    }

    fn advance(&mut self) -> Result<Option<Came>> {
        loop {
            match self.settling.pop_front() {
                Some(settling) => self.row = settling,
                None if self.records.next(&mut self.row)? => {}
                None => return Ok(None),
            }
            self.ingest
                .row(&self.name, Part::Log, &self.layout, &self.row)?;
            if let Some(measured) = self.ingest.take_measured() {
                return Ok(Some(Came::Measured(measured)));
            }
            if let Some((secret, symbol)) = self.ingest.take_rows().pop() {
                return Ok(Some(Came::Row(secret, symbol)));
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
    /// No rows to use, only one secret, a secret asked for that never came; no block that is whole.
    pub fn check_end(&self) -> Result<()> {
        self.ingest.check_secrets()?;
        match self.is_blocked && self.blocks == 0 {
            true => Err(blocks::no_block_of_two(
                Place::file(&self.name),
                self.form_name().as_deref(),
            )),
            false => Ok(()),
        }
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
            options.wide && !options.blocks,
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
            options.missing == Missing::Drop,
            "missing",
            "leaves out no rows",
        ),
        (
            options.missing == Missing::Last,
            "missing",
            "judges times as they come, and which is the longest is known at the end",
        ),
        (options.skip_bad > 0, "skip_bad", "leaves out no rows"),
        (
            options.secret_from.is_some(),
            "secret_from",
            "reads one log that grows",
        ),
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
    let mut chunk = vec![0; 1 << 16];
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
        // All lines so far are read again, so not before those that are at hand are there: the next may be long in coming.
        if lines <= SETTLING && n < chunk.len() {
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
        if rows.is_blocked() {
            while rows.next_block()?.is_some() {}
        }
        while rows.advance()?.is_some() {}
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
