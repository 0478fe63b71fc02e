//! What is observed of a column whose cells are lists.

use leakgauge_base::error::{Error, Result, shorten};
use leakgauge_base::naming::setting;

/// More elements than this are no fixed-length observation.
const MAX_ELEMENTS: usize = 10_000;

/// What is observed of a list. Elements that a list lacks are the label `(missing)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListReading {
    /// Its first elements, each a column.
    First(usize),
    /// The number of its elements.
    Length,
    /// The sum of its elements.
    Sum,
    /// Its elements without order and repetition.
    Set,
    /// Its words and its numbers, in columns of their own; cells may be texts with `/`, `|`, `;` or `,` between items,
    /// too.
    Parts,
    /// Its frequent items, in columns of their own; cells may be texts of items of any kind, too.
    Items,
}

impl ListReading {
    /// Reads `COLUMN=first:20`, `COLUMN=length`, `COLUMN=sum`, `COLUMN=set`, `COLUMN=parts` or `COLUMN=items`.
    ///
    /// # Errors
    /// Anything else.
    pub fn parse(text: &str) -> Result<(String, Self)> {
        let wrong = || {
            Error::parameter(
                setting("lists", shorten(text)),
                "is not COLUMN=first:N, COLUMN=length, COLUMN=sum, COLUMN=set, COLUMN=parts or COLUMN=items",
            )
            .with_hint(format!(
                "for instance {}",
                setting("lists", "sizes=first:20")
            ))
        };
        let (column, reading) = text.rsplit_once('=').ok_or_else(wrong)?;
        let reading = match reading.trim() {
            "length" => ListReading::Length,
            "sum" => ListReading::Sum,
            "set" => ListReading::Set,
            "parts" => ListReading::Parts,
            "items" => ListReading::Items,
            first => {
                let number = first.strip_prefix("first:").ok_or_else(wrong)?;
                let number = number.parse().map_err(|_| wrong())?;
                if !(1..=MAX_ELEMENTS).contains(&number) {
                    return Err(Error::parameter(
                        setting("lists", shorten(text)),
                        format!("the first 1 to {MAX_ELEMENTS} elements can be observed"),
                    ));
                }
                ListReading::First(number)
            }
        };
        Ok((column.trim().to_owned(), reading))
    }

    /// What is observed, in words.
    pub(crate) fn description(self) -> String {
        match self {
            ListReading::First(of) => format!("its first {of} elements"),
            ListReading::Length => "its length".to_owned(),
            ListReading::Sum => "the sum of its elements".to_owned(),
            ListReading::Set => "the set of its elements".to_owned(),
            ListReading::Parts => "its words and its numbers".to_owned(),
            ListReading::Items => "its frequent items".to_owned(),
        }
    }

    /// How it is asked for.
    pub fn name(self) -> String {
        match self {
            ListReading::First(of) => format!("first:{of}"),
            ListReading::Length => "length".to_owned(),
            ListReading::Sum => "sum".to_owned(),
            ListReading::Set => "set".to_owned(),
            ListReading::Parts => "parts".to_owned(),
            ListReading::Items => "items".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_is_a_column_and_what_is_observed() {
        let parsed = ListReading::parse("a=b=first:3").unwrap();
        assert_eq!(parsed, ("a=b".to_owned(), ListReading::First(3)));
        assert_eq!(ListReading::parse("a=parts").unwrap().1, ListReading::Parts);
        assert_eq!(ListReading::parse("a=items").unwrap().1, ListReading::Items);
        for wrong in ["a", "a=", "a=first", "a=first:0", "a=first:x", "a=mean"] {
            assert!(ListReading::parse(wrong).is_err(), "{wrong}");
        }
    }
}
