//! What answers mean: all are alike, and the first says how.

use leakgauge_base::error::shorten;
use serde_json::{Map, Value};

/// Columns that the log has beside the answers.
const RESERVED: [&str; 4] = ["block", "sequence", "secret", "time_ns"];

/// What the answers are, settled by the first.
#[derive(Debug, Default)]
pub(super) struct Answers {
    kind: Option<Kind>,
}

#[derive(Debug, PartialEq, Eq)]
enum Kind {
    /// Empty lines: the time is the observation.
    Empty,
    /// Numbers.
    Number,
    /// Texts.
    Text,
    /// JSON objects with these keys.
    Object(Vec<String>),
}

impl Answers {
    /// Whether all answers are empty.
    pub(super) fn are_empty(&self) -> bool {
        self.kind == Some(Kind::Empty)
    }

    /// The names of the columns of an answer.
    pub(super) fn columns(&self) -> Vec<String> {
        match &self.kind {
            Some(Kind::Object(keys)) => keys.clone(),
            _ => vec!["observation".to_owned()],
        }
    }

    /// The fields of an answer, or what is wrong with it.
    pub(super) fn fields(&mut self, line: &str, nanoseconds: u128) -> Result<Vec<String>, String> {
        let line = line.trim();
        let object =
            match line.starts_with('{') {
                true => Some(serde_json::from_str::<Map<String, Value>>(line).map_err(
                    |error| format!("answered {:?}, which is no JSON: {error}", shorten(line)),
                )?),
                false => None,
            };
        let kind = match &object {
            Some(fields) if fields.is_empty() => {
                return Err("answered an empty JSON object".to_owned());
            }
            Some(fields) => {
                if let Some(name) = RESERVED.iter().find(|name| fields.contains_key(**name)) {
                    return Err(format!(
                        "answered a field `{name}`, which is a column of the log already: give it another name"
                    ));
                }
                Kind::Object(fields.keys().cloned().collect())
            }
            None if line.is_empty() => Kind::Empty,
            None if line.parse::<f64>().is_ok_and(f64::is_finite) => Kind::Number,
            None => Kind::Text,
        };
        let first = self.kind.get_or_insert(kind_of_first(&kind));
        if *first != kind {
            return Err(format!(
                "answered {:?}, which is {}, where the first answer was {}",
                shorten(line),
                described(&kind),
                described(first)
            ));
        }
        let text = |value: Value| match value {
            Value::String(text) => text,
            value => value.to_string(),
        };
        Ok(match object {
            Some(fields) => fields.into_iter().map(|(_, value)| text(value)).collect(),
            None if line.is_empty() => vec![nanoseconds.to_string()],
            None => vec![line.to_owned()],
        })
    }
}

fn kind_of_first(kind: &Kind) -> Kind {
    match kind {
        Kind::Empty => Kind::Empty,
        Kind::Number => Kind::Number,
        Kind::Text => Kind::Text,
        Kind::Object(keys) => Kind::Object(keys.clone()),
    }
}

fn described(kind: &Kind) -> String {
    match kind {
        Kind::Empty => "an empty line".to_owned(),
        Kind::Number => "a number".to_owned(),
        Kind::Text => "a text".to_owned(),
        Kind::Object(keys) => format!("a JSON object of {}", keys.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_answer_says_what_all_are() {
        let all = |lines: &[&str]| -> Result<Vec<Vec<String>>, String> {
            let mut answers = Answers::default();
            lines.iter().map(|line| answers.fields(line, 7)).collect()
        };
        assert_eq!(all(&["1.5", " 2\r"]).unwrap(), [["1.5"], ["2"]]);
        assert_eq!(all(&["", ""]).unwrap(), [["7"], ["7"]]);
        assert_eq!(all(&["ok", "no"]).unwrap(), [["ok"], ["no"]]);
        let objects = ["{\"t\": 1.50, \"e\": \"x\"}", "{\"e\": null, \"t\": 2}"];
        assert_eq!(all(&objects).unwrap(), [["x", "1.5"], ["null", "2"]]);
        for (lines, words) in [
            (["1", "x"], "a text, where the first answer was a number"),
            (["1", ""], "an empty line"),
            (["1", "NaN"], "a text"),
            (["{\"a\":1}", "{\"b\":1}"], "a JSON object of b"),
            (["{\"a\":1}", "{\"a\":"], "no JSON"),
        ] {
            let problem = all(&lines).unwrap_err();
            assert!(problem.contains(words), "{problem}");
        }
    }
}
