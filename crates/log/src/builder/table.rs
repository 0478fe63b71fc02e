//! The columns of a builder as a table: its layout, the types of its columns, its rows.

use crate::builder::LogBuilder;
use crate::builder::columns::{Column, Kind};
use crate::layout::Layout;
use crate::number::Number;
use crate::observations::ColumnType;
use crate::options::{Missing, ReadOptions, ScoreColumns};
use crate::row::{Field, Row};
use crate::typing::{self, ColumnPlan, Decision};
use leakgauge_base::error::{Error, Place, Result, listing, shorten};
use leakgauge_base::naming::{option, setting};

/// The name of the column of secrets.
const SECRET: &str = "secret";
/// The name of the column of counts.
pub(super) const COUNT: &str = "count";

/// A builder whose columns fit together.
pub(super) struct Table<'b> {
    name: &'b str,
    builder: &'b LogBuilder,
    layout: Layout,
}

impl<'b> Table<'b> {
    /// Checks names and lengths.
    ///
    /// # Errors
    /// No column, no rows, unequal lengths, equal names, scores that are no columns of numbers.
    pub(super) fn new(
        name: &'b str,
        builder: &'b LogBuilder,
        options: &ReadOptions,
    ) -> Result<Self> {
        let columns = &builder.columns;
        let rows = builder.secrets.len();
        let place = |column: &str| Place::file(name).column(column);
        if columns.is_empty() {
            return Err(Error::file(name, "has no observation column")
                .with_hint("a log needs a secret and at least one observation"));
        }
        let counts = builder.counts.iter().map(|counts| (COUNT, counts.len()));
        let groups = builder.groups.iter();
        let groups = groups.map(|(name, labels)| (name.as_str(), labels.len()));
        let lengths = columns
            .iter()
            .map(|column| (column.name.as_str(), column.len()));
        for (column, length) in lengths.chain(counts).chain(groups) {
            if length != rows {
                let problem = format!("has {length} values where there are {rows} secrets");
                return Err(Error::data(place(column), problem)
                    .with_hint("every column has one value a row, and so have the secrets"));
            }
        }
        if rows == 0 {
            return Err(Error::file(name, "has no rows to use"));
        }
        for (at, column) in columns.iter().enumerate() {
            let group = builder.groups.as_ref().map(|groups| &groups.0);
            if group == Some(&column.name)
                || columns[..at].iter().any(|other| other.name == column.name)
            {
                return Err(
                    Error::data(place(&column.name), "two columns have this name")
                        .with_hint("give each column a name of its own"),
                );
            }
        }
        Ok(Table {
            name,
            builder,
            layout: layout(name, builder, options.scores.as_ref())?,
        })
    }

    pub(super) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// How the observation columns are read: as the builder says.
    ///
    /// # Errors
    /// A resolution of what is no column of numbers, or two of one.
    pub(super) fn plans(&self, options: &ReadOptions) -> Result<Vec<ColumnPlan>> {
        let observed = || {
            self.layout
                .observe
                .iter()
                .map(|&at| &self.builder.columns[at - 1])
        };
        for (wanted, _) in &options.resolution {
            let is_number = |column: &Column| !matches!(column.kind, Kind::Labels(_));
            if !observed().any(|column| column.name == *wanted && is_number(column)) {
                let names: Vec<&str> = observed()
                    .filter(|column| is_number(column))
                    .map(|column| column.name.as_str())
                    .collect();
                return Err(Error::parameter(
                    setting("resolution", shorten(wanted)),
                    "is not an observation column of numbers",
                )
                .with_hint(format!(
                    "the columns of numbers are: {}",
                    listing(names.into_iter())
                )));
            }
        }
        let plan = |&position: &usize| {
            let column = &self.builder.columns[position - 1];
            let kind = match column.kind {
                Kind::Labels(_) => ColumnType::Categorical,
                _ => ColumnType::Numeric,
            };
            Ok(ColumnPlan {
                name: column.name.clone(),
                position,
                element: None,
                unit: None,
                kind,
                decided: Decision::Asked,
                resolution: typing::resolution(&self.layout, position, options)?,
                padded: false,
                integers: false,
                countable: column.are_integers(),
                words: options.scores.is_none(),
                last: options.missing == Missing::Last && self.layout.observe.len() == 1,
                nan_is_word: false,
                like_a_number: None,
            })
        };
        self.layout.observe.iter().map(plan).collect()
    }

    /// Checks that the log to learn on has the columns of the log itself.
    ///
    /// # Errors
    /// A column that is missing, of another type or at another place.
    pub(super) fn check_alike(&self, log: &Table, log_name: &str) -> Result<()> {
        let (here, there) = (&self.builder.columns, &log.builder.columns);
        let is_alike = |(one, other): (&Column, &Column)| {
            one.name == other.name && one.description() == other.description()
        };
        let counted = |table: &Table| table.builder.counts.is_some();
        let grouped = |table: &Table| table.builder.groups.as_ref().map(|groups| groups.0.clone());
        if here.len() == there.len()
            && here.iter().zip(there).all(is_alike)
            && counted(self) == counted(log)
            && grouped(self) == grouped(log)
        {
            return Ok(());
        }
        let columns: Vec<String> = there
            .iter()
            .map(|column| format!("{} ({})", column.name, column.description()))
            .chain(counted(log).then(|| COUNT.to_owned()))
            .chain(grouped(log))
            .collect();
        Err(
            Error::file(self.name, format!("has other columns than {log_name}")).with_hint(
                format!(
                    "the columns of {log_name} are: {}",
                    listing(columns.iter().map(String::as_str))
                ),
            ),
        )
    }

    /// All rows, in their order.
    pub(super) fn rows(&self) -> impl Iterator<Item = Row> + '_ {
        let counts = self.builder.counts.as_deref();
        (0..self.builder.secrets.len()).map(move |at| {
            let mut row = Row::new();
            row.push(self.builder.secrets.field(at));
            for column in &self.builder.columns {
                row.push(column.field(at));
            }
            if let Some(counts) = counts {
                row.push(Field::Number(Number::Unsigned(counts[at])));
            }
            if let Some((_, labels)) = &self.builder.groups {
                row.push(labels.field(at));
            }
            row.set_position(at as u64);
            row
        })
    }
}

/// Secrets first, then the columns, then the counts.
fn layout(name: &str, builder: &LogBuilder, scores: Option<&ScoreColumns>) -> Result<Layout> {
    let columns = &builder.columns;
    let own = columns.iter().map(|column| column.name.clone());
    let names: Vec<String> = std::iter::once(SECRET.to_owned())
        .chain(own)
        .chain(builder.counts.iter().map(|_| COUNT.to_owned()))
        .chain(builder.groups.iter().map(|groups| groups.0.clone()))
        .collect();
    let position = |wanted: &str| {
        let number =
            |column: &Column| column.name == wanted && !matches!(column.kind, Kind::Labels(_));
        let at = columns.iter().position(number);
        at.map(|at| at + 1).ok_or_else(|| {
            Error::data(Place::file(name).column(wanted), "is no column of numbers")
                .with_hint(format!("{} names columns of numbers", option("scores")))
        })
    };
    let observe = match scores {
        Some(scores) => scores
            .columns()
            .into_iter()
            .map(position)
            .collect::<Result<_>>()?,
        None => (1..=columns.len()).collect(),
    };
    Ok(Layout {
        secret_chosen: false,
        header: true,
        count: builder.counts.as_ref().map(|_| columns.len() + 1),
        group: builder.groups.as_ref().map(|_| names.len() - 1),
        row_id: None,
        order: Vec::new(),
        names,
        secret: vec![0],
        observe,
        left_out: Vec::new(),
    })
}
