//! What is said where the parts of columns are not clear.

use std::collections::BTreeSet;

use crate::column_names::secret_in_list;
use crate::few_labels::candidates;
use crate::layout::{Columns, ambiguous, had_twice};
use crate::options::ReadOptions;
use crate::record_keeping::LeftOutColumn;
use crate::row::{Field, Row, is_absent};
use crate::visits;
use leakgauge_base::error::{Error, Place, Result, shorten};
use leakgauge_base::naming::{option, setting};

/// Columns that are named as those which the secret may be.
const NAMED: usize = 3;

impl Columns<'_> {
    /// The column named `secret`.
    ///
    /// # Errors
    /// There is none, or more than one.
    pub(super) fn default_secret(&self, options: &ReadOptions, taken: &[usize]) -> Result<usize> {
        let secret = |name: &&String| name.eq_ignore_ascii_case("secret");
        if self.has_secret_twice() {
            return Err(ambiguous(self.file, "secret", "secret"));
        }
        let Some(name) = self.names.iter().find(secret) else {
            visits::refuse(&options.files, self.header, self.body)?;
            let hint = secret_in_list(self.names, self.example()).unwrap_or_else(|| {
                format!(
                    "say which it is with {}{}",
                    self.candidates(taken),
                    self.other_hints(options)
                )
            });
            return Err(Error::data(
                Place::file(self.file),
                format!("no column is named `secret`: {}", self.listing()),
            )
            .with_hint(hint));
        };
        if self.names.iter().filter(secret).count() > 1 {
            return Err(ambiguous(self.file, "secret", name));
        }
        self.position(name, "secret")
    }

    /// Whether several columns are named `secret`.
    pub(super) fn has_secret_twice(&self) -> bool {
        let names = self.names.iter().map(|name| name.to_ascii_lowercase());
        had_twice(&names.collect::<Vec<_>>(), "secret")
    }

    /// How the secret is named: with the columns of few values, if there are some.
    fn candidates(&self, taken: &[usize]) -> String {
        let found = candidates(self.body, self.names, taken);
        let found = found.iter().filter(|&&column| column < self.names.len());
        let settings = found.take(NAMED).map(|&column| {
            let name = &self.names[column];
            setting("secret", shorten(name))
        });
        let settings: Vec<String> = settings.collect();
        match settings.is_empty() {
            true => format!(
                "{} (a name or a number from 1)",
                setting("secret", "COLUMN")
            ),
            false => format!("{} (of few values)", settings.join(" or ")),
        }
    }

    /// That a table of numbers may be a wide log, and files may be secrets.
    fn other_hints(&self, options: &ReadOptions) -> String {
        if options.files.len() > 1 {
            return format!(
                "; if each file is a secret, say {}",
                setting("secret_from", "file")
            );
        }
        let is_number = |field: Field| field.is_number() || is_absent(field.text().trim());
        let mut body = self.body.iter();
        let is_number = |row: &Row| row.fields().all(is_number);
        if self.names.len() < 2 || self.body.is_empty() || !body.all(is_number) {
            return String::new();
        }
        format!(
            "; if they are in a file of their own, say {}; if every column is a secret and every cell an observation of it, say {}, and {} where each row is measured \
             together",
            setting("secret_from", "FILE"),
            option("wide"),
            option("blocks")
        )
    }

    /// Asks whether a column counts rows that is called so: where it holds whole numbers, observations recur, and none
    /// does with the same secret, each row is one of a table of counts.
    ///
    /// # Errors
    /// There is such a column, and nothing was said of counts or of what is observed.
    pub(super) fn refuse_uncounted(
        &self,
        options: &ReadOptions,
        secret: &[usize],
        observe: &[usize],
        left_out: &[LeftOutColumn],
    ) -> Result<()> {
        /// Columns of counts are called so.
        const NAMES: [&str; 7] = [
            "count",
            "counts",
            "cnt",
            "n",
            "freq",
            "frequency",
            "occurrences",
        ];
        /// Fewer rows are no table.
        const LEAST: usize = 4;
        let is_said = options.count.is_some() || options.observe.is_some();
        if is_said || options.scores.is_some() || options.wide || self.body.len() < LEAST {
            return Ok(());
        }
        let is_called = |at: &&usize| {
            let name = self.names[**at].trim().to_ascii_lowercase();
            NAMES.contains(&name.as_str())
        };
        let Some(&counts) = observe.iter().find(is_called) else {
            return Ok(());
        };
        let left_out = left_out.iter().map(|one| one.position);
        let seen: Vec<usize> = observe
            .iter()
            .copied()
            .chain(left_out)
            .filter(|&at| at != counts)
            .collect();
        let texts = |row: &Row, columns: &[usize]| -> Vec<String> {
            let text = |&at: &usize| row.text(at).unwrap_or_default().trim().to_owned();
            columns.iter().map(text).collect()
        };
        let is_count = |row: &Row| texts(row, &[counts])[0].parse::<u64>().is_ok();
        let (mut seen_once, mut rows_once) = (BTreeSet::new(), BTreeSet::new());
        let is_table = !seen.is_empty()
            && self.body.iter().all(is_count)
            && self.body.iter().all(|row| {
                let observed = texts(row, &seen);
                seen_once.insert(observed.clone());
                rows_once.insert((texts(row, secret), observed))
            });
        if !is_table || 3 * seen_once.len() > 2 * self.body.len() {
            return Ok(());
        }
        let name = shorten(&self.names[counts]);
        let all = seen.iter().chain([&counts]);
        let all: Vec<&str> = all.map(|&at| self.names[at].as_str()).collect();
        Err(Error::data(
            Place::file(self.file).column(&name),
            "may say how often each row occurred: no two rows have the same secret and the same observation",
        )
        .with_hint(format!(
            "if so, say {}; if an observer sees it, say {}",
            setting("count", &name),
            setting("observe", all.join(","))
        )))
    }

    /// Refuses a column that is asked to play two parts.
    ///
    /// # Errors
    /// There is one.
    pub(super) fn refuse_double_parts(
        &self,
        options: &ReadOptions,
        secret: &[usize],
        observe: &[usize],
    ) -> Result<()> {
        let mut parts: Vec<Option<String>> = vec![None; self.names.len()];
        let observed = match (&options.observe, &options.scores) {
            (_, Some(_)) => "scores",
            (Some(_), None) => "observe",
            // Whatever has no other part.
            (None, None) => "",
        };
        let named = [
            ("count", &options.count),
            ("block", &options.block),
            ("group", &options.group),
            ("row_id", &options.row_id),
        ];
        let mut asked: Vec<(usize, &str)> = Vec::new();
        let has = |field: &str| options.secret.is_some() || field != "secret";
        asked.extend(secret.iter().map(|&column| (column, "secret")));
        asked.extend(observe.iter().map(|&column| (column, observed)));
        for (field, name) in named {
            // Of a block and a group, the block counts.
            if let Some(name) = name
                .as_ref()
                .filter(|_| field != "group" || options.block.is_none())
            {
                asked.push((self.position(name, field)?, field));
            }
        }
        for (column, field) in asked {
            let name = &self.names[column];
            let part = match has(field) {
                true => setting(field, shorten(name)),
                false => "the secret, as its name says".to_owned(),
            };
            if let Some(before) = parts[column].replace(part.clone()) {
                let problem = match before == part {
                    true => format!("the column is asked to play one part twice: {part}"),
                    false => format!("the column is asked to play two parts: {before}, and {part}"),
                };
                return Err(Error::data(Place::file(self.file).column(name), problem)
                    .with_hint("each column has one part: name another column in one of the two"));
            }
        }
        Ok(())
    }

    pub(super) fn listing(&self) -> String {
        const MAX: usize = 30;
        let mut items: Vec<String> = if self.header {
            self.names
                .iter()
                .take(MAX)
                .map(|name| format!("`{}`", shorten(name)))
                .collect()
        } else {
            let example = |column: usize| {
                let text = self.example().and_then(|row| row.text(column));
                text.unwrap_or_default()
            };
            (0..self.names.len().min(MAX))
                .map(|column| format!("{} (row 1: {:?})", column + 1, shorten(&example(column))))
                .collect()
        };
        if self.names.len() > MAX {
            items.push(format!("… {} in all", self.names.len()));
        }
        let kind = if self.header {
            "columns"
        } else {
            "no header; columns"
        };
        format!("{kind}: {}", items.join(", "))
    }
}

/// Refuses a first line that is shorter than nearly all lines below: no header, and no row of theirs.
///
/// # Errors
/// There is one.
pub(super) fn refuse_stray_line(file: &str, names: &[String], later: &[Row]) -> Result<()> {
    let longer = later.iter().filter(|row| row.len() > names.len()).count();
    let Some(row) = later.iter().find(|row| row.len() > names.len()) else {
        return Ok(());
    };
    if 2 * longer < later.len() {
        return Ok(());
    }
    let fields = |count: usize| match count {
        1 => "1 field".to_owned(),
        _ => format!("{count} fields"),
    };
    let problem = format!(
        "has {}, and most rows below have {}",
        fields(names.len()),
        row.len()
    );
    Err(Error::data(Place::file(file).row(1), problem)
        .with_hint("if it is a remark and no row, delete it or put # before it"))
}
