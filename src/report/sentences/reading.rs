//! How columns were read, where that is doubtful or less than what was written.

use crate::audit::Warning;
use leakgauge_base::error::shorten;
use leakgauge_base::naming::setting;
use leakgauge_log::{Loss, Merged, Missing, Words};

/// The observer that a verdict is about, in a sentence; `None` for what is not about reading.
pub fn observer(warning: &Warning) -> Option<String> {
    Some(match warning {
        Warning::WordsAmongNumbers(words) => format!(
            "In column {} an observer sees a number, or a word in its place ({}).",
            shorten(&words.column),
            most(words)
        ),
        Warning::MergedSpellings(merged) => spelling(merged),
        Warning::MostlyNumbers { column } => format!(
            "But column {} is read as labels, and many of its values are numbers: an observer who compares them as numbers \
             may learn more ({}).",
            shorten(column),
            warning.code()
        ),
        Warning::NumbersAsLabels { column, example } => format!(
            "But column {} is read as labels, and its values look like numbers ({}): an observer who compares them as \
             numbers may learn more ({}).",
            shorten(column),
            shorten(example),
            warning.code()
        ),
        Warning::LastBits { column, .. } => format!(
            "But the last bits of column {} depend on the secret: an observer who reads them may learn more ({}).",
            shorten(column),
            warning.code()
        ),
        _ => return None,
    })
}

fn spelling(merged: &Merged) -> String {
    let column = shorten(&merged.column);
    let texts = texts(merged);
    match merged.loss {
        Loss::Spelling => format!(
            "This is for an observer that sees the number in column {column}, not how it was written ({texts})."
        ),
        Loss::Digits => format!(
            "This is for an observer that sees column {column} in double precision, not every digit of it ({texts})."
        ),
    }
}

/// The warning that a column of numbers holds words.
pub fn words(words: &Words) -> String {
    let column = shorten(&words.column);
    let kinds = match words.different {
        1 => "1 word".to_owned(),
        different => format!("{different} different words"),
    };
    format!(
        "column {column} holds numbers in {} rows and {kinds} in {}: {}. Each word is an observation of its own. {}",
        words.numbers,
        words.rows,
        most(words),
        match words.are_blank() {
            true => format!(
                "To leave out rows without a value, set {}",
                setting("missing", Missing::Drop.name())
            ),
            false => format!(
                "If the column holds labels, set {}{}",
                setting("categorical", &column),
                without(words).map_or(String::new(), |drop| format!(
                    "; if a word means that nothing was measured, whatever the secret is, leave its rows out with {drop}"
                ))
            ),
        }
    )
}

/// The option that leaves out the rows with the words among numbers, if it can name them.
pub fn without(words: &Words) -> Option<String> {
    words
        .condition()
        .map(|condition| setting("drop", condition))
}

/// The warning that reading numbers lost something.
pub fn merged(merged: &Merged) -> String {
    let column = shorten(&merged.column);
    let counted: Vec<String> = merged
        .examples
        .iter()
        .map(|(text, rows)| format!("{} in at least {}", quoted(text), rows_of(*rows)))
        .collect();
    let what = match merged.loss {
        Loss::Spelling => "writes numbers in more than one way",
        Loss::Digits => "has digits that its numbers do not keep",
    };
    format!(
        "column {column} {what}: {}. Only the number is looked at. If the rest can depend on the secret, set {}, which keeps \
         texts apart",
        counted.join(", "),
        setting("categorical", shorten(source_of(&merged.column)))
    )
}

/// The column of the file that an observed column is of: of an element `sizes[4]`, the column `sizes`.
pub fn source_of(column: &str) -> &str {
    match column
        .strip_suffix(']')
        .and_then(|name| name.rsplit_once('['))
    {
        Some((source, place)) if is_place(place) && !source.is_empty() => source,
        _ => column,
    }
}

fn is_place(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn rows_of(rows: u64) -> String {
    match rows {
        1 => "1 row".to_owned(),
        rows => format!("{rows} rows"),
    }
}

/// The most frequent words and their rows.
fn most(words: &Words) -> String {
    let named = words.most.iter().map(|(word, rows)| {
        let word = match word.as_str() {
            "" => "a blank".to_owned(),
            word => shorten(word),
        };
        format!("{word} in {}", rows_of(*rows))
    });
    let mut named: Vec<String> = named.collect();
    if words.different > named.len() {
        named.push("…".to_owned());
    }
    named.join(", ")
}

fn texts(merged: &Merged) -> String {
    let texts = merged.examples.iter().map(|(text, _)| quoted(text));
    texts.collect::<Vec<_>>().join(", ")
}

/// A text as it was written, blanks around it included.
fn quoted(text: &str) -> String {
    format!("`{}`", shorten(text))
}
