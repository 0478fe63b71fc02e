//! Lines behind the number of times that they occurred, as `uniq -c` writes them.

use std::borrow::Cow;

use crate::format::Format;
use crate::records::Records;
use crate::row::{Field, Row};
use leakgauge_base::error::{Error, Result};

/// Places that `uniq -c` gives a number: of GNU, of BSD.
const WIDTHS: [usize; 2] = [7, 4];

/// The count that a line begins with, where it ends, and what is behind it.
fn count(text: &str) -> Option<(&str, usize, &str)> {
    let number = text.trim_start_matches(' ');
    let digits = number.bytes().take_while(u8::is_ascii_digit).count();
    let (count, rest) = number.split_at(digits);
    let rest = rest.strip_prefix(' ')?;
    let end = text.len() - number.len() + digits;
    (digits > 0).then_some((count, end, rest))
}

/// Lines as `uniq -c` writes them, each with its count; `None` for others.
pub fn counted_lines<'a>(lines: &[&'a str]) -> Option<Vec<(u64, &'a str)>> {
    if !are_aligned(&|| lines.iter().map(|line| Cow::Borrowed(*line))) {
        return None;
    }
    let split = |line: &&'a str| {
        let (count, _, rest) = count(line)?;
        Some((count.parse().ok()?, rest))
    };
    lines.iter().map(split).collect()
}

/// Whether all rows begin with a number that is aligned as by `uniq -c`.
pub(crate) fn are_counted(rows: &[Row]) -> bool {
    are_aligned(&|| rows.iter().map(|row| row.text(0).unwrap_or_default()))
}

/// The same of texts, which are looked at once for each width.
fn are_aligned<'a, I: Iterator<Item = Cow<'a, str>>>(texts: &dyn Fn() -> I) -> bool {
    let is_aligned = |width: usize| {
        let mut has_space = false;
        let fits = texts().all(|text| {
            has_space |= text.starts_with(' ');
            count(&text).is_some_and(|(count, end, rest)| {
                !rest.is_empty() && (end == width || (end > width && end == count.len()))
            })
        });
        fits && has_space
    };
    texts().next().is_some() && WIDTHS.into_iter().any(is_aligned)
}

/// Such lines as rows: the count, then the fields.
pub(crate) struct CountedLines {
    name: String,
    inner: Box<dyn Records>,
    line: Row,
    is_begun: bool,
}

impl CountedLines {
    /// Rows of these lines.
    pub(crate) fn new(name: &str, inner: Box<dyn Records>) -> Self {
        CountedLines {
            name: name.to_owned(),
            inner,
            line: Row::new(),
            is_begun: false,
        }
    }
}

impl Records for CountedLines {
    fn is_named(&self) -> bool {
        false
    }

    fn format(&self) -> Format {
        self.inner.format()
    }

    fn delimiter(&self) -> Option<char> {
        self.inner.delimiter()
    }

    fn next(&mut self, row: &mut Row) -> Result<bool> {
        if !self.inner.next(&mut self.line)? {
            return Ok(false);
        }
        let first = self.line.text(0).unwrap_or_default();
        let Some((count, _, rest)) = count(&first) else {
            let place = self.line.place(&self.name);
            return Err(Error::data(
                place,
                "does not begin with a number of occurrences, as the rows before it",
            )
            .with_hint("write the whole file with `uniq -c`"));
        };
        row.clear();
        row.push_text(count.as_bytes());
        if self.line.len() == 1 && rest.contains(' ') {
            rest.split(' ')
                .for_each(|field| row.push_text(field.as_bytes()));
        } else {
            row.push_text(rest.as_bytes());
            let others = self.line.fields().skip(1);
            others.for_each(|field| row.push(field));
        }
        row.stands_at(&self.line);
        let is_header = |field: Field| field.text().trim().eq_ignore_ascii_case("secret");
        if self.is_begun && row.fields().any(is_header) {
            return Err(
                Error::data(row.place(&self.name), "is a header between rows").with_hint(
                    "sort the rows behind it only: (head -1 log.csv; tail -n +2 log.csv | sort) | uniq -c",
                ),
            );
        }
        self.is_begun = true;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Vec<Row> {
        let lines = text.lines();
        lines.map(|line| Row::of_texts(line.split(','))).collect()
    }

    #[test]
    fn counts_are_told_by_their_alignment() {
        assert!(are_counted(&rows(
            "      1 secret,time\n     17 a,1.5\n12345678 b,2\n"
        )));
        assert!(are_counted(&rows("  17 a,1\n   2 b,1\n")));
        for other in [
            "17 a,1\n2 b,1\n",
            "      1 a,1\n  2 b,1\n",
            "a,1\n",
            "      1 ,1\n",
            "",
        ] {
            assert!(!are_counted(&rows(other)), "{other}");
        }
    }
}
