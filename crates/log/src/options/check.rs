//! Options that are wrong, or that exclude each other, before anything is read.

use std::path::Path;

use crate::options::{Like, MAX_ROWS, Missing, ReadOptions};
use crate::source::STDIN;
use leakgauge_base::error::{Error, Result};
use leakgauge_base::files::{first_twice, is_same_file};
use leakgauge_base::naming::{option, setting};

/// A smaller limit saves no memory worth having; whoever gives it probably meant something else.
const MIN_MAX_ROWS: u64 = 1_000;

impl ReadOptions {
    /// Checks options that can be wrong before anything is read.
    ///
    /// # Errors
    /// A file named twice, numbers out of range, options that exclude each other.
    pub fn check(&self) -> Result<()> {
        if self.files.is_empty() {
            return Err(Error::parameter(option("files"), "no file is named"));
        }
        let names = self.files.iter().chain(&self.fit_on);
        if names.filter(|name| *name == STDIN).count() > 1 {
            return Err(Error::parameter(
                "-",
                "standard input can be read only once",
            ));
        }
        self.refuse_files_twice()?;
        if let Some(most) = self.max_rows.filter(|&most| most < MIN_MAX_ROWS) {
            return Err(Error::parameter(
                setting("max_rows", most),
                format!("must be at least {MIN_MAX_ROWS}"),
            )
            .with_hint(format!(
                "the default is {MAX_ROWS}; fewer than that save little memory"
            )));
        }
        if self.scores.is_some() {
            refuse_beside_scores(self)?;
        }
        if self.engine.is_some() {
            refuse_beside_engine(self)?;
        }
        if self.wide {
            refuse_beside_wide(self)?;
        }
        if self.secret_from.is_some() {
            refuse_beside_secrets_apart(self)?;
        }
        if self.missing == Missing::Last {
            refuse_beside_last(self)?;
        }
        refuse_beside_blocks(self)?;
        if self.group.is_some() {
            refuse_beside_group(self)?;
        }
        if let Some(column) = &self.row_id {
            refuse_beside_row_id(self, column)?;
        }
        if self.keep_order && self.count.is_some() {
            return Err(Error::parameter(
                option("keep_order"),
                format!(
                    "an aggregated log ({}) has lost the order of its rows",
                    option("count")
                ),
            )
            .with_hint(format!(
                "give the rows one by one as they were recorded, or use {}",
                setting("split", "random")
            )));
        }
        for (column, width) in &self.resolution {
            if !(width.is_finite() && *width > 0.0) {
                return Err(Error::parameter(
                    setting("resolution", format!("{column}={width}")),
                    "the width of a bin must be a positive number",
                ));
            }
        }
        Ok(())
    }

    /// Refuses a file that is named twice, and a log that is also the one to learn on.
    fn refuse_files_twice(&self) -> Result<()> {
        let twice = first_twice(self.files.iter().map(Path::new));
        for (at, file) in self.files.iter().enumerate() {
            if self
                .secret_from
                .as_ref()
                .filter(|_| !self.is_file_a_secret())
                .is_some_and(|secrets| is_same(secrets, file))
            {
                return Err(Error::file(
                    file,
                    format!("is the log and also the file of {}", option("secret_from")),
                )
                .with_hint(format!(
                    "a column of the log is named by {}",
                    option("secret")
                )));
            }
            if twice == Some(at) {
                return Err(Error::file(file, "is named twice")
                    .with_hint("its rows would count twice; several files are read as one log"));
            }
            if self
                .fit_on
                .as_ref()
                .is_some_and(|fit_on| is_same(file, fit_on))
            {
                return Err(Error::file(
                    file,
                    match self.like {
                        Some(Like::Fbleau) => "is the log and also the one to learn on".to_owned(),
                        _ => format!("is the log and also the one of {}", option("fit_on")),
                    },
                )
                .with_hint(
                    "rows that an attack learned from certify nothing: give the log once, and it is split",
                ));
            }
        }
        Ok(())
    }
}

/// Whether two names are of one file, through links of either kind.
pub fn is_same(one: &str, other: &str) -> bool {
    is_same_file(Path::new(one), Path::new(other))
}

/// Refuses options with which the secrets of a file of their own would not be those of the rows.
fn refuse_beside_secrets_apart(options: &ReadOptions) -> Result<()> {
    let others = [
        (
            "secret",
            options.secret.is_some() && options.is_file_a_secret(),
        ),
        ("wide", options.wide),
        ("fit_on", options.fit_on.is_some()),
        ("engine", options.engine.is_some()),
        (
            "skip_bad",
            options.skip_bad > 0 && !options.is_file_a_secret(),
        ),
        ("like", options.like.is_some()),
    ];
    if let Some((field, _)) = others.into_iter().find(|(_, is_given)| *is_given) {
        let problem = format!("cannot be together with {}", option(field));
        return Err(Error::parameter(option("secret_from"), problem)
            .with_hint("leave one of the two options out"));
    }
    if options.is_file_a_secret() {
        if options.files.len() < 2 {
            let problem = "makes each file a secret, and one file is given";
            return Err(Error::parameter(setting("secret_from", "file"), problem)
                .with_hint("give a file for each secret; a file that is called so is ./file"));
        }
        return Ok(());
    }
    if options.files.len() > 1 {
        let problem = format!("is about one log, and {} are given", options.files.len());
        return Err(Error::parameter(option("secret_from"), problem)
            .with_hint(format!(
                "give one log with its secrets, or a column of secrets in each; if each file is a secret, say {}",
                setting("secret_from", "file")
            )));
    }
    Ok(())
}

/// Refuses options that say something else of what is observed.
fn refuse_beside_scores(options: &ReadOptions) -> Result<()> {
    let others = [
        ("observe", options.observe.is_some()),
        ("categorical", !options.categorical.is_empty()),
        ("resolution", !options.resolution.is_empty()),
        ("lists", !options.lists.is_empty()),
    ];
    match others.into_iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((field, _)) => Err(Error::parameter(
            option(field),
            format!(
                "cannot be together with {}: the scores are what is observed, as exact numbers",
                option("scores")
            ),
        )
        .with_hint("other columns are left aside anyway")),
    }
}

/// Refuses options with which no observation can be larger than all others.
fn refuse_beside_last(options: &ReadOptions) -> Result<()> {
    let others = [
        ("scores", options.scores.is_some()),
        ("categorical", !options.categorical.is_empty()),
        ("resolution", !options.resolution.is_empty()),
        ("lists", !options.lists.is_empty()),
        ("fit_on", options.fit_on.is_some()),
    ];
    match others.into_iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((field, _)) => Err(Error::parameter(
            setting("missing", Missing::Last.name()),
            format!("cannot be together with {}", option(field)),
        )
        .with_hint("it is about one column of times in one log: leave one of the two options out")),
    }
}

/// Refuses options about single rows, which the engine does not show.
fn refuse_beside_engine(options: &ReadOptions) -> Result<()> {
    let others = [
        ("merge", options.merge.is_some()),
        ("missing", options.missing != Missing::Refuse),
        ("skip_bad", options.skip_bad > 0),
        ("keep", options.filters.iter().any(|filter| filter.keeps)),
        ("drop", options.filters.iter().any(|filter| !filter.keeps)),
        ("like", options.like.is_some()),
    ];
    if options.is_ordered_by_engine() {
        refuse_beside_order(options)?;
    }
    match others.into_iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((field, _)) => Err(Error::parameter(
            option(field),
            format!("cannot be together with {}", option("engine")),
        )
        .with_hint("it is about rows that are read one by one: leave one of the two options out")),
    }
}

/// Refuses options with which rows have no order.
fn refuse_beside_order(options: &ReadOptions) -> Result<()> {
    let others = [("count", options.count.is_some()), ("wide", options.wide)];
    match others.into_iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((field, _)) => Err(Error::parameter(
            option("order_by"),
            format!("cannot be together with {}", option(field)),
        )
        .with_hint("an order needs one row for each use of the mechanism: leave one of the two options out")),
    }
}

/// Refuses options with which rows lose their units.
fn refuse_beside_group(options: &ReadOptions) -> Result<()> {
    let (other, hint) = if options.keep_order {
        (
            setting("split", "blocks"),
            "units are independent of each other in any order: leave one of the two options out"
                .to_owned(),
        )
    } else if options.engine.is_some() && !options.is_ordered_by_engine() {
        (
            option("engine"),
            format!(
                "the engine adds up rows and loses their units, unless {} names the column that says when a row was recorded",
                option("order_by")
            ),
        )
    } else if options.wide {
        (
            option("wide"),
            "a wide log has no column that could name units: write one observation a row"
                .to_owned(),
        )
    } else {
        return Ok(());
    };
    Err(
        Error::parameter(option("group"), format!("cannot be together with {other}"))
            .with_hint(hint),
    )
}

/// Refuses options with which measurements lose their blocks.
fn refuse_beside_blocks(options: &ReadOptions) -> Result<()> {
    if !options.is_blocked() {
        return Ok(());
    }
    let field = if options.blocks { "blocks" } else { "block" };
    if options.blocks && !options.wide {
        return Err(Error::parameter(
            option(field),
            format!(
                "needs {}: each row of a wide file is a block",
                option("wide")
            ),
        )
        .with_hint(format!(
            "of a log with one observation a row, name the column of the block: {}",
            setting("block", "COLUMN")
        )));
    }
    let others = [
        ("wide", options.wide && options.block.is_some()),
        (
            "block",
            options.one_by_one || options.blocks && options.block.is_some(),
        ),
        ("group", options.group.is_some()),
        ("count", options.count.is_some()),
        ("row_id", options.row_id.is_some()),
        ("scores", options.scores.is_some()),
        ("fit_on", options.fit_on.is_some()),
        (
            "engine",
            options.engine.is_some() && !options.is_ordered_by_engine(),
        ),
        // An observer compares the measurements of a block: bins would be taken for times.
        ("resolution", !options.resolution.is_empty()),
    ];
    match others.into_iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((other, _)) => Err(Error::parameter(
            option(field),
            format!("cannot be together with {}", option(other)),
        )
        .with_hint(format!(
            "blocks of a wide file are its rows ({}), those of a log with one observation a row share a value ({}); \
             they are read row by row from one log, through {} only with {}",
            option("blocks"),
            option("block"),
            option("engine"),
            option("order_by")
        ))),
    }
}

/// Refuses options with which rows cannot be told apart.
fn refuse_beside_row_id(options: &ReadOptions, column: &str) -> Result<()> {
    let others = [("engine", options.engine.is_some()), ("wide", options.wide)];
    match others.into_iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((field, _)) => Err(Error::parameter(
            setting("row_id", column),
            format!("cannot be together with {}", option(field)),
        )
        .with_hint(
            "rows are told apart where they are read one by one: leave one of the two options out",
        )),
    }
}

/// Refuses options about columns that a wide file does not have.
fn refuse_beside_wide(options: &ReadOptions) -> Result<()> {
    let others = [
        ("secret", options.secret.is_some()),
        ("observe", options.observe.is_some()),
        ("count", options.count.is_some()),
        ("scores", options.scores.is_some()),
        ("keep", options.filters.iter().any(|filter| filter.keeps)),
        ("drop", options.filters.iter().any(|filter| !filter.keeps)),
    ];
    if let Some((field, _)) = others.into_iter().find(|(_, is_given)| *is_given) {
        return Err(Error::parameter(
            option(field),
            format!(
                "cannot be together with {}: every column is a secret, every cell an observation",
                option("wide")
            ),
        )
        .with_hint("leave one of the two options out"));
    }
    if options.keep_order {
        return Err(Error::parameter(
            option("keep_order"),
            "a wide log does not say which of its columns was recorded when",
        )
        .with_hint(format!(
            "give one observation a row as they were recorded, or use {}",
            setting("split", "random")
        )));
    }
    Ok(())
}
