//! The columns that are asked for by name.

use crate::column_patterns::ColumnPattern;
use crate::layout::{Columns, had_twice};
use leakgauge_base::error::{Error, Place, Result, listing, shorten};
use leakgauge_base::naming::setting;

impl Columns<'_> {
    /// The columns that are asked for. The name of an array with several columns means all of them; a pattern that no
    /// column is named as means all columns that fit, but for these, which have other parts.
    pub(super) fn observed(&self, names: &[String], others: &[usize]) -> Result<Vec<usize>> {
        let mut columns: Vec<usize> = Vec::new();
        for wanted in names {
            if let Some(pattern) = self.pattern(wanted) {
                let found = self.fitting(&pattern, wanted)?;
                let is_new = |at: &usize| !others.contains(at) && !columns.contains(at);
                let found: Vec<usize> = found.into_iter().filter(is_new).collect();
                columns.extend(found);
                continue;
            }
            let is_part = |name: &str| {
                let number = name.strip_prefix(wanted.as_str());
                let number = number.and_then(|rest| rest.strip_prefix('[')?.strip_suffix(']'));
                number.is_some_and(|number| number.parse::<usize>().is_ok())
            };
            let parts = (0..self.names.len()).filter(|&at| is_part(&self.names[at]));
            let parts: Vec<usize> = parts.collect();
            match parts.is_empty() || self.names.contains(wanted) {
                true => columns.push(self.position(wanted, "observe")?),
                false => columns.extend(parts),
            }
        }
        Ok(columns)
    }

    /// The pattern that a name is which no column has.
    fn pattern(&self, wanted: &str) -> Option<ColumnPattern> {
        let is_name = self.names.iter().any(|name| name == wanted);
        ColumnPattern::of(wanted).filter(|_| !is_name && !had_twice(self.names, wanted))
    }

    /// The columns that fit a pattern.
    ///
    /// # Errors
    /// There are none.
    fn fitting(&self, pattern: &ColumnPattern, wanted: &str) -> Result<Vec<usize>> {
        let found = pattern.find(self.names, |name| self.position(name, "observe").ok());
        found.or_else(|missing| match pattern {
            // What is said of a name that no column has.
            ColumnPattern::Range(..) => self.position(&missing, "observe").map(|at| vec![at]),
            ColumnPattern::Named(_) => {
                let problem = format!(
                    "{}: no column fits; {}",
                    setting("observe", shorten(wanted)),
                    self.listing()
                );
                let error = Error::data(Place::file(self.file), problem);
                let near = near(self.names, &missing);
                Err(match near.is_empty() {
                    false => error.with_hint(format!("near names: {}", listing(near.into_iter()))),
                    true => error.with_hint("* stands for any letters, ? for one"),
                })
            }
        })
    }
}

/// The names that begin most like a text.
fn near<'n>(names: &'n [String], wanted: &str) -> Vec<&'n str> {
    let alike = |name: &str| {
        let letters = name.chars().zip(wanted.chars());
        letters
            .take_while(|(one, other)| one.to_lowercase().eq(other.to_lowercase()))
            .count()
    };
    let most = names.iter().map(|name| alike(name)).max().unwrap_or(0);
    let near = names.iter().filter(|name| most > 0 && alike(name) == most);
    near.map(String::as_str).collect()
}
