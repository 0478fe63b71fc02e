//! Several columns that are asked for at once: `pkt_*`, `x1..x40`.

use glob::Pattern;

/// Between the first and the last column of a range.
const RANGE: &str = "..";

/// What a name stands for that no column has.
#[derive(Debug, Clone)]
pub enum ColumnPattern {
    /// All columns whose names fit; `*` stands for any letters, `?` for one.
    Named(Pattern),
    /// All columns from one to another, in the order of the file.
    Range(String, String),
}

impl ColumnPattern {
    /// The pattern that a text is, if it is one.
    ///
    /// ```
    /// use leakgauge_log::ColumnPattern;
    ///
    /// let pattern = ColumnPattern::of("x[*]").expect("a pattern");
    /// assert_eq!(pattern.fits("x[12]"), Some(true));
    /// assert!(ColumnPattern::of("x1").is_none());
    /// ```
    pub fn of(wanted: &str) -> Option<Self> {
        if wanted.contains(['*', '?']) {
            return pattern(wanted).map(ColumnPattern::Named);
        }
        let (first, last) = wanted.split_once(RANGE)?;
        let (first, last) = (first.trim(), last.trim());
        let is_range = !first.is_empty() && !last.is_empty() && !last.starts_with('.');
        is_range.then(|| ColumnPattern::Range(first.to_owned(), last.to_owned()))
    }

    /// Whether a column fits by its name; `None` if only its place can say that.
    pub fn fits(&self, name: &str) -> Option<bool> {
        match self {
            ColumnPattern::Named(pattern) => Some(pattern.matches(name)),
            ColumnPattern::Range(..) => None,
        }
    }

    /// The places of the columns that fit, `place` being that of a column's name or number. An error is the end of a range
    /// that no column is, or the pattern without what stands for any letters.
    pub(crate) fn find(
        &self,
        names: &[String],
        place: impl Fn(&str) -> Option<usize>,
    ) -> Result<Vec<usize>, String> {
        let found: Vec<usize> = match self {
            ColumnPattern::Named(pattern) => {
                let fits = |at: &usize| pattern.matches(&names[*at]);
                (0..names.len()).filter(fits).collect()
            }
            ColumnPattern::Range(first, last) => {
                let from = place(first).ok_or_else(|| first.clone())?;
                let to = place(last).ok_or_else(|| last.clone())?;
                (from.min(to)..=from.max(to)).collect()
            }
        };
        match (found.is_empty(), self) {
            (true, ColumnPattern::Named(pattern)) => {
                let letters = pattern.as_str().replace("[[]", "[").replace("[]]", "]");
                Err(letters.replace(['*', '?'], ""))
            }
            _ => Ok(found),
        }
    }
}

/// A pattern in which brackets are letters, as in names of elements: `x[*]`.
fn pattern(wanted: &str) -> Option<Pattern> {
    let mut text = String::new();
    for letter in wanted.chars() {
        match letter {
            '[' => text.push_str("[[]"),
            ']' => text.push_str("[]]"),
            '*' if text.ends_with('*') => {}
            letter => text.push(letter),
        }
    }
    Pattern::new(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_ranges_and_nothing_else_are_patterns() {
        let names: Vec<String> = ["s", "x1", "x2", "y[1]", "y[2]"].map(String::from).into();
        let find = |wanted: &str| {
            let place = |name: &str| names.iter().position(|known| known == name);
            ColumnPattern::of(wanted).map(|pattern| pattern.find(&names, place))
        };
        for (wanted, places) in [
            ("x*", &[1, 2][..]),
            ("x?", &[1, 2]),
            ("y[*]", &[3, 4]),
            ("**", &[0, 1, 2, 3, 4]),
            ("x2..y[1]", &[2, 3]),
            ("y[1]..x2", &[2, 3]),
        ] {
            assert_eq!(find(wanted), Some(Ok(places.to_vec())), "{wanted}");
        }
        for (wanted, missing) in [("z*", "z"), ("x1..x9", "x9"), ("y[3*]", "y[3]")] {
            assert_eq!(find(wanted), Some(Err(missing.to_owned())), "{wanted}");
        }
        for wanted in ["x1", "..", "x1..", "a...b", "x[1]"] {
            assert_eq!(find(wanted), None, "{wanted}");
        }
    }
}
