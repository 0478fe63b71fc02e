//! Finding out how a file is laid out: its delimiter, whether its first row is a header, and which
//! column plays which part.

mod observed;
mod refusals;

use crate::column_names::{named_in_list, numbered};
use crate::column_patterns::ColumnPattern;
use crate::few_labels::only_labels;
use crate::notation::Notation;
use crate::options::{HeaderChoice, ReadOptions, RowFilter, ScoreColumns};
use crate::record_keeping::{FirstLook, LeftOutColumn, RecordKeeping};
use crate::row::{Field, Row, is_number};
use crate::units::{Suffix, Unit};
use leakgauge_base::error::{Error, Place, Result, listing, shorten};
use leakgauge_base::naming::{option, setting};
use leakgauge_base::suggest;

/// More columns than any log has: a file without line breaks, or a wrong delimiter.
pub const MAX_COLUMNS: usize = 100_000;

/// The part every column of a file plays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// Whether row 1 is a header.
    pub header: bool,
    /// The names of all columns: from the header, or `1`, `2`, … without one or where it is blank.
    pub names: Vec<String>,
    /// The positions of the secret's columns: one, or several whose values together are the secret.
    pub secret: Vec<usize>,
    /// Whether the secret's column was taken because it is the only one of a few labels.
    pub secret_chosen: bool,
    /// The positions of the observation columns, in the order asked for.
    pub observe: Vec<usize>,
    /// The columns that are not observed because they number rows, or say when they were recorded.
    pub left_out: Vec<LeftOutColumn>,
    /// The position of the number of occurrences.
    pub count: Option<usize>,
    /// The position of the unit that a row comes from.
    pub group: Option<usize>,
    /// The position of what identifies a row.
    pub row_id: Option<usize>,
    /// The positions of what says when a row was recorded, where the query engine puts rows in order.
    pub order: Vec<usize>,
}

impl Layout {
    /// The name of the secret's column, or of its columns, separated by commas.
    pub(crate) fn secret_name(&self) -> String {
        let names: Vec<&str> = self
            .secret
            .iter()
            .map(|&column| self.names[column].as_str())
            .collect();
        names.join(",")
    }

    /// The names of the observation's columns.
    pub(crate) fn observed_names(&self) -> Vec<String> {
        let names = self
            .observe
            .iter()
            .map(|&column| self.names[column].clone());
        names.collect()
    }

    /// Whether a column goes by a name: its own, or its number from 1 or a pattern where no column has that name.
    pub(crate) fn is_named(&self, position: usize, wanted: &str) -> bool {
        if self.names[position] == wanted {
            return true;
        }
        let is_other = self.names.iter().any(|name| name == wanted);
        if is_other || self.had_twice(wanted) {
            return false;
        }
        let place = |wanted: &str| {
            let named = self.names.iter().position(|name| name == wanted);
            named.or_else(|| wanted.parse::<usize>().ok()?.checked_sub(1))
        };
        match ColumnPattern::of(wanted) {
            Some(pattern) => {
                let found = pattern.find(&self.names, place);
                found.is_ok_and(|found| found.contains(&position))
            }
            None => wanted.parse() == Ok(position + 1),
        }
    }

    /// Whether several columns of the file have a name: it is none of theirs any more.
    pub(crate) fn had_twice(&self, name: &str) -> bool {
        had_twice(&self.names, name)
    }

    /// What columns are called whose names came several times in the header, for the report.
    fn renamed(&self, header: Option<&Row>) -> Option<String> {
        let header = header.filter(|_| self.header)?;
        let is_renamed = |&at: &usize| {
            let name = header.text(at).unwrap_or_default();
            !name.trim().is_empty() && *name.trim() != self.names[at]
        };
        let renamed: Vec<&str> = (0..self.names.len())
            .filter(is_renamed)
            .map(|at| self.names[at].as_str())
            .collect();
        (!renamed.is_empty()).then(|| {
            format!(
                "Several columns have the same name in the header. Here they are called {}.",
                listing(renamed.into_iter())
            )
        })
    }

    /// Adds what is to be said of the names of columns.
    pub(crate) fn note_names(
        &self,
        header: Option<&Row>,
        options: &ReadOptions,
        notes: &mut Vec<String>,
    ) {
        notes.extend(self.renamed(header));
        notes.extend(self.observed_secret(options));
    }

    /// That a column named `secret` is observed, because another one is the secret.
    fn observed_secret(&self, options: &ReadOptions) -> Option<String> {
        let mut observed = self.observe.iter().map(|&at| self.names[at].as_str());
        let found = observed.find(|name| name.eq_ignore_ascii_case("secret"));
        let name = found.filter(|_| options.observe.is_none() && options.scores.is_none())?;
        Some(format!(
            "Column {name} is observed: the secret is column {}, as {} says.",
            shorten(&self.secret_name()),
            option("secret")
        ))
    }

    /// The positions of the secret's columns and of the observation's, in this order.
    pub fn used(&self) -> impl Iterator<Item = usize> {
        self.secret.iter().chain(&self.observe).copied()
    }

    /// Finds the layout from the first rows of a file; `named` says that the first is a header for sure.
    ///
    /// # Errors
    /// A requested column that is not there or whose name is not its own, a column asked to play two
    /// parts, no observation left, too many columns.
    pub fn find(file: &str, rows: &[Row], named: bool, options: &ReadOptions) -> Result<Self> {
        let first = rows.first().ok_or_else(|| {
            Error::file(file, "is empty").with_hint("a log has one row per use of the mechanism")
        })?;
        if first.len() > MAX_COLUMNS {
            let problem = format!("has {} columns, more than {MAX_COLUMNS}", first.len());
            return Err(
                Error::data(Place::file(file).row(1), problem).with_hint(format!(
                    "is there one row per line, and is the delimiter right? ({})",
                    option("delimiter")
                )),
            );
        }
        let (header, names) = header_and_names(rows, named, options);
        refusals::refuse_stray_line(file, &names, &rows[1..])?;
        let columns = Columns {
            file,
            header,
            names: &names,
            body: &rows[usize::from(header)..],
        };
        let [count, group, row_id] = columns.others(options)?;
        let order = columns.order(options)?;
        let others: Vec<usize> = [count, group, row_id].into_iter().flatten().collect();
        let (secret, secret_chosen) = columns.secret_columns(options, &others, &order)?;
        let (observe, left_out) = columns.assign(options, &secret, &others, &order)?;
        columns.refuse_uncounted(options, &secret, &observe, &left_out)?;
        Ok(Layout {
            header,
            names,
            secret,
            secret_chosen,
            observe,
            left_out,
            count,
            group,
            row_id,
            order,
        })
    }
}

/// Whether the first row of some is a header, and what the columns are called.
pub(crate) fn header_and_names(
    rows: &[Row],
    named: bool,
    options: &ReadOptions,
) -> (bool, Vec<String>) {
    let Some(first) = rows.first() else {
        return (named, Vec::new());
    };
    let header = match options.header {
        _ if named => true,
        HeaderChoice::Present => true,
        HeaderChoice::Absent => false,
        // Its first row has the name of a column.
        HeaderChoice::Detect if !options.filters.is_empty() => true,
        HeaderChoice::Detect => looks_like_header(first, &rows[1..], options),
    };
    let names: Vec<String> = if header {
        let named = |(at, name): (usize, Field)| match name.text().trim() {
            "" => (at + 1).to_string(),
            name => name.to_owned(),
        };
        numbered(first.fields().enumerate().map(named).collect())
    } else {
        (1..=first.len()).map(|number| number.to_string()).collect()
    };
    (header, names)
}

/// Whether a name stood over several columns before they were numbered.
fn had_twice(names: &[String], wanted: &str) -> bool {
    let has = |name: &str| names.iter().any(|known| known == name);
    !has(wanted) && has(&format!("{wanted} (1)")) && has(&format!("{wanted} (2)"))
}

/// A header has no number where later rows have one, or names a column that was asked for.
pub(crate) fn looks_like_header(first: &Row, later: &[Row], options: &ReadOptions) -> bool {
    let asked = |name: &str| {
        name.eq_ignore_ascii_case("secret")
            || (!is_number(name) && options.named_columns().any(|wanted| wanted == name))
    };
    if first.fields().any(|field| asked(field.text().trim())) {
        return true;
    }
    first.fields().enumerate().any(|(column, field)| {
        if is_value(field) {
            return false;
        }
        let of_column = later.iter().filter_map(|row| row.get(column));
        let numbers = of_column.filter(|field| is_value(*field)).count();
        numbers > 0 && 2 * numbers > later.len()
    })
}

/// Whether a field is a number, or is read as one: a duration, a date, a number with a unit or in a notation that is
/// refused.
fn is_value(field: Field) -> bool {
    if field.is_number() {
        return true;
    }
    let text = field.text();
    let text = text.trim();
    if Suffix::of(text).is_some() {
        return true;
    }
    text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'))
        && (Unit::of(std::iter::once(text)).is_some()
            || Notation::of(text).is_some_and(Notation::is_number))
}

struct Columns<'a> {
    file: &'a str,
    header: bool,
    names: &'a [String],
    /// The first rows behind the header.
    body: &'a [Row],
}

impl Columns<'_> {
    fn example(&self) -> Option<&Row> {
        self.body.first()
    }

    /// The columns of the count, of the unit and of what identifies a row.
    fn others(&self, options: &ReadOptions) -> Result<[Option<usize>; 3]> {
        let position = |name: &Option<String>, field: &str| {
            let name = name.as_ref();
            name.map(|name| self.position(name, field)).transpose()
        };
        Ok([
            position(&options.count, "count")?,
            match &options.block {
                Some(name) => Some(self.position(name, "block")?),
                None => position(&options.group, "group")?,
            },
            position(&options.row_id, "row_id")?,
        ])
    }

    /// The columns that say when a row was recorded.
    fn order(&self, options: &ReadOptions) -> Result<Vec<usize>> {
        let names = options.engine.iter().flat_map(|engine| &engine.order_by);
        names.map(|name| self.position(name, "order_by")).collect()
    }

    /// The columns of the secret, and whether the rows chose it.
    fn secret_columns(
        &self,
        options: &ReadOptions,
        others: &[usize],
        order: &[usize],
    ) -> Result<(Vec<usize>, bool)> {
        if let Some(name) = &options.secret {
            return Ok((self.secret(name)?, false));
        }
        let is_secret = |name: &String| name.eq_ignore_ascii_case("secret");
        let is_named = self.names.iter().any(is_secret) || self.has_secret_twice();
        let observed = self.observed(options.observe.as_deref().unwrap_or_default(), &[])?;
        let may_choose = !is_named && options.scores.is_none();
        let filtering = self.filtering(options);
        let taken = [others, order, &observed, &filtering].concat();
        match may_choose
            .then(|| only_labels(self.body, self.names, &taken))
            .flatten()
        {
            Some(column) => Ok((vec![column], true)),
            None => Ok((vec![self.default_secret(options, &taken)?], false)),
        }
    }

    /// The columns that choose the rows. One of numbers is still observed where words in it are dropped, such as those of
    /// errors.
    fn filtering(&self, options: &ReadOptions) -> Vec<usize> {
        let position =
            |filter: &RowFilter| self.names.iter().position(|name| *name == filter.column);
        let chooses = |filter: &RowFilter| {
            let stays = |column| filter.drops_words() && self.holds_numbers(column);
            position(filter).filter(|&column| !stays(column))
        };
        options.filters.iter().filter_map(chooses).collect()
    }

    /// Whether most values of a column are numbers.
    fn holds_numbers(&self, column: usize) -> bool {
        let fields = self.body.iter().filter_map(|row| row.get(column));
        2 * fields.filter(|field| is_value(*field)).count() > self.body.len()
    }

    fn assign(
        &self,
        options: &ReadOptions,
        secret: &[usize],
        others: &[usize],
        order: &[usize],
    ) -> Result<(Vec<usize>, Vec<LeftOutColumn>)> {
        let scores = options.scores.as_ref().map(ScoreColumns::columns);
        let observe = match (&options.observe, scores) {
            (_, Some(names)) => names
                .into_iter()
                .map(|name| self.position(name, "scores"))
                .collect::<Result<Vec<_>>>()?,
            (Some(names), None) => self.observed(names, &[secret, others, order].concat())?,
            (None, None) => (0..self.names.len())
                .filter(|&column| !secret.contains(&column))
                .filter(|column| !others.contains(column) && !order.contains(column))
                .collect(),
        };
        self.refuse_double_parts(options, secret, &observe)?;
        let (observe, left_out) = self.without_records(options, secret, observe);
        if observe.is_empty() {
            return Err(Error::data(
                Place::file(self.file),
                format!("no observation column: {}", self.listing()),
            )
            .with_hint(format!(
                "a log needs a secret and at least one observation; is the delimiter right? ({})",
                option("delimiter")
            )));
        }
        Ok((observe, left_out))
    }

    /// What is observed unless columns are asked for: not those that number rows, or say when they were recorded.
    fn without_records(
        &self,
        options: &ReadOptions,
        secret: &[usize],
        observe: Vec<usize>,
    ) -> (Vec<usize>, Vec<LeftOutColumn>) {
        if options.observe.is_some() || options.scores.is_some() || options.wide {
            return (observe, Vec::new());
        }
        let look = FirstLook {
            names: self.names,
            body: self.body,
            secret,
        };
        // Whoever says how a column is read says that it is observed.
        let is_spoken_of = |column: &usize| {
            options
                .observed_columns()
                .any(|name| *name == self.names[*column])
        };
        let silent: Vec<usize> = observe
            .iter()
            .copied()
            .filter(|column| !is_spoken_of(column))
            .collect();
        let filtering = self.filtering(options);
        let mut left_out = look.find(&silent);
        left_out.retain(|one| !filtering.contains(&one.position));
        let chose = silent.iter().filter(|column| filtering.contains(column));
        left_out.extend(chose.map(|&position| LeftOutColumn {
            position,
            name: self.names[position].clone(),
            why: RecordKeeping::Filter,
        }));
        left_out.sort_by_key(|one| one.position);
        let is_left = |column: &usize| left_out.iter().any(|one| one.position == *column);
        let rest: Vec<usize> = observe
            .iter()
            .copied()
            .filter(|column| !is_left(column))
            .collect();
        // A log of nothing else observes them.
        match rest.is_empty() {
            true => (observe, Vec::new()),
            false => (rest, left_out),
        }
    }

    /// One column by its name or number, or several between commas.
    fn secret(&self, wanted: &str) -> Result<Vec<usize>> {
        if !wanted.contains(',') || self.names.iter().any(|name| name == wanted) {
            return Ok(vec![self.position(wanted, "secret")?]);
        }
        let columns = wanted.split(',').map(str::trim);
        columns.map(|name| self.position(name, "secret")).collect()
    }

    fn position(&self, wanted: &str, field: &str) -> Result<usize> {
        let mut named = (0..self.names.len()).filter(|&at| self.names[at] == wanted);
        match (named.next(), named.next()) {
            (Some(at), None) => return Ok(at),
            (Some(_), Some(_)) => return Err(ambiguous(self.file, field, wanted)),
            (None, _) if had_twice(self.names, wanted) => {
                return Err(ambiguous(self.file, field, wanted));
            }
            (None, _) => {}
        }
        match wanted.parse::<usize>() {
            Ok(number) if (1..=self.names.len()).contains(&number) => Ok(number - 1),
            _ => {
                let error = Error::data(
                    Place::file(self.file),
                    format!(
                        "{}: no such column; {}",
                        setting(field, shorten(wanted)),
                        self.listing()
                    ),
                );
                let names = self.names.iter().map(String::as_str);
                // A row of words is not known to be a header before one of its names is asked for.
                let words: Vec<_> = self.example().iter().flat_map(|row| row.fields()).collect();
                let words = words.iter().filter(|word| !word.is_number());
                let words: Vec<_> = words.map(|word| word.text()).collect();
                let near = if self.header {
                    suggest::nearest(wanted, names)
                } else {
                    suggest::nearest(wanted, words.iter().map(|word| word.trim()))
                };
                Err(match near {
                    Some(near) => error.with_hint(format!("did you mean `{near}`?")),
                    None => {
                        error.with_hint(named_in_list(self.names, self.example(), field, wanted))
                    }
                })
            }
        }
    }
}

/// Checks that a later file has the columns of the first, in any order if both have headers.
pub fn match_columns(name: &str, first: &Layout, layout: Layout) -> Result<Layout> {
    let mismatch = |problem: String| {
        Error::data(Place::file(name), problem).with_hint(format!(
            "the first file has the columns: {}",
            listing(first.names.iter().map(String::as_str))
        ))
    };
    if layout.header != first.header {
        return Err(
            mismatch("one file has a header and another has none".into()).with_hint(format!(
                "say it with {} or {}",
                setting("header", "present"),
                setting("header", "absent")
            )),
        );
    }
    if !layout.header && layout.names.len() != first.names.len() {
        return Err(mismatch(format!(
            "has {} columns where the first file has {}",
            layout.names.len(),
            first.names.len()
        )));
    }
    // Asked for by number, another column may stand there.
    let [here, there] = [&layout, first].map(Layout::secret_name);
    if !here.eq_ignore_ascii_case(&there) {
        return Err(mismatch(format!(
            "the secret is column `{}`, in the first file `{}`",
            shorten(&here),
            shorten(&there)
        ))
        .with_hint(format!(
            "give columns by name with {} and {}",
            option("secret"),
            option("observe")
        )));
    }
    let observe = if layout.names == first.names {
        first.observe.clone()
    } else {
        same_observations(first, &layout, &mismatch)?
    };
    Ok(Layout { observe, ..layout })
}

/// The positions of the first file's observation columns in a file with other columns.
fn same_observations(
    first: &Layout,
    layout: &Layout,
    mismatch: &dyn Fn(String) -> Error,
) -> Result<Vec<usize>> {
    let position = |&wanted: &usize| {
        let wanted = &first.names[wanted];
        let mut named = (0..layout.names.len()).filter(|&at| layout.names[at] == *wanted);
        match (named.next(), named.next()) {
            (Some(at), None) => Ok(at),
            (None, _) => Err(mismatch(format!("has no column `{}`", shorten(wanted)))),
            _ => {
                let name = shorten(wanted);
                Err(mismatch(format!("has several columns named `{name}`")))
            }
        }
    };
    let observe = first
        .observe
        .iter()
        .map(position)
        .collect::<Result<Vec<_>>>()?;
    let extra = layout
        .observe
        .iter()
        .find(|&column| !observe.contains(column));
    match extra {
        None => Ok(observe),
        Some(&extra) => Err(mismatch(format!(
            "has a column `{}` that the first file has not",
            shorten(&layout.names[extra])
        ))
        .with_hint(format!(
            "name the observation columns with {}",
            option("observe")
        ))),
    }
}

/// A name that several columns have says nothing.
pub(crate) fn ambiguous(file: &str, field: &str, name: &str) -> Error {
    let problem = format!(
        "{}: several columns are named `{}`",
        option(field),
        shorten(name)
    );
    Error::data(Place::file(file), problem).with_hint("say which one by its number from 1")
}

#[cfg(test)]
mod tests;
