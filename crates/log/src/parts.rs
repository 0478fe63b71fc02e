//! Cells that hold words and numbers together, taken apart: `below/3.52/stop`, `["top", 3.5, null]`.

use serde_json::value::RawValue;

/// What stands for a number in a form.
const NUMBER: &str = "#";

/// What stands between the items of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Split {
    /// The cell is a JSON list.
    List,
    /// A character.
    At(char),
}

impl Split {
    /// How cells are split, in words.
    pub fn description(self) -> String {
        match self {
            Split::List => "as JSON lists".to_owned(),
            Split::At(separator) => format!("at each `{separator}`"),
        }
    }

    /// The items of a cell; none if it is no list.
    pub fn items(self, cell: &str) -> Option<Vec<&str>> {
        match self {
            Split::List => {
                let items: Vec<&RawValue> = serde_json::from_str(cell.trim()).ok()?;
                Some(items.into_iter().map(RawValue::get).collect())
            }
            Split::At(separator) => Some(cell.split(separator).map(str::trim).collect()),
        }
    }

    /// A cell as its form and its numbers, `most` of them at most. The form is the cell with `#` for each of these
    /// numbers, so that both together say what the cell says. What is no list is a form without numbers.
    pub fn apart(self, cell: &str, most: usize) -> (String, Vec<&str>) {
        let Some(items) = self.items(cell) else {
            return (distinct(cell.trim()), Vec::new());
        };
        let mut numbers = Vec::new();
        let mut words = Vec::new();
        for item in items {
            if numbers.len() < most && is_number(item) {
                numbers.push(item);
                words.push(NUMBER.to_owned());
            } else if self == Split::List {
                words.push(item.to_owned());
            } else {
                words.push(distinct(item));
            }
        }
        let form = match self {
            Split::List => format!("[{}]", words.join(",")),
            Split::At(separator) => words.join(separator.encode_utf8(&mut [0; 4])),
        };
        (form, numbers)
    }
}

/// Text that is not taken for one with a number in it.
fn distinct(text: &str) -> String {
    match text.contains(NUMBER) {
        true => format!("{text:?}"),
        false => text.to_owned(),
    }
}

/// Whether an item is a finite number in the notation that is read.
pub fn is_number(item: &str) -> bool {
    item.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'))
        && item.parse::<f64>().is_ok_and(f64::is_finite)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_and_the_numbers_say_what_the_cell_says() {
        let slash = Split::At('/');
        for (split, cell, form, numbers) in [
            (slash, "below/3.52/stop", "below/#/stop", &["3.52"][..]),
            (slash, " below / -1e-3 ", "below/#", &["-1e-3"]),
            (slash, "1/2/3", "#/#/3", &["1", "2"]),
            (slash, "stop", "stop", &[]),
            (slash, "#/1", "\"#\"/#", &["1"]),
            (slash, "nan/inf/", "nan/inf/", &[]),
            (
                Split::List,
                r#"["top", 3.5, null]"#,
                r#"["top",#,null]"#,
                &["3.5"],
            ),
            (Split::List, r##"["#",1,[2]]"##, r##"["#",#,[2]]"##, &["1"]),
            (Split::List, "[]", "[]", &[]),
            (Split::List, "3.5", "3.5", &[]),
            (Split::List, "[#]", "\"[#]\"", &[]),
        ] {
            assert_eq!(
                split.apart(cell, 2),
                (form.to_owned(), numbers.to_vec()),
                "{cell}"
            );
        }
    }
}
