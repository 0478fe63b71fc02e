//! Numbers in a notation that is not read, and what is to be said of them. They are never taken for words: as labels
//! they would show next to nothing.

use crate::units::CURRENCIES;
use leakgauge_base::error::Error;

/// How a text is written that begins like a number and is none that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Notation {
    /// `1 234`, `1'234.5`, `1_000`, `1,234,567`.
    Separators,
    /// `1,234`: one thing or the other.
    Comma,
    /// `0,966`.
    DecimalComma,
    /// `0x1F`, `0b101`, `0o17`.
    Radix,
    /// Anything else: `0.58 km`, `12a`, `$5`.
    Other,
}

/// What may stand between groups of three digits.
const SEPARATORS: [char; 9] = [
    ',', '.', ' ', '\'', '_', '\u{a0}', '\u{2019}', '\u{2009}', '\u{202f}',
];

impl Notation {
    /// The notation of a text that is no number; `None` if it does not begin like one.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let text = text.trim();
        let unsigned = text.strip_prefix(['+', '-', '\u{2212}']).unwrap_or(text);
        if is_radix(unsigned) {
            return Some(Notation::Radix);
        }
        if let Some(found) = separated(unsigned.trim_start_matches(CURRENCIES)) {
            return Some(found);
        }
        let amount = unsigned.trim_start_matches(|c| CURRENCIES.contains(&c) || "., ".contains(c));
        amount
            .starts_with(char::is_numeric)
            .then_some(Notation::Other)
    }

    /// Whether the text is certainly a number, in whatever notation.
    pub(crate) fn is_number(self) -> bool {
        self != Notation::Other
    }

    /// What is wrong with the text, behind its place.
    pub(crate) fn problem(self) -> &'static str {
        match self {
            Notation::Separators => "is written with thousands separators",
            Notation::Comma => {
                "is written with a comma, which may be a decimal comma or a thousands separator"
            }
            Notation::DecimalComma => "is written with a decimal comma",
            Notation::Radix => "is not a decimal number, but hexadecimal, octal or binary",
            Notation::Other => "begins like a number and is none, in a column of numbers",
        }
    }

    /// An error with what to do; `labels` is the option that reads the column as labels.
    pub(crate) fn advise(self, error: Error, labels: &str) -> Error {
        let advice = match self {
            Notation::Separators => "write numbers without separators",
            Notation::Comma | Notation::DecimalComma => {
                "write numbers with a decimal point and without separators"
            }
            Notation::Radix => "write numbers in decimal notation",
            Notation::Other => "write numbers alone, without a unit or a sign of currency",
        };
        error.with_hint(format!(
            "{advice}, or read the column as labels with {labels}"
        ))
    }
}

fn is_radix(text: &str) -> bool {
    let radix = match text.as_bytes() {
        [b'0', b'x' | b'X', _, ..] => 16,
        [b'0', b'o' | b'O', _, ..] => 8,
        [b'0', b'b' | b'B', _, ..] => 2,
        _ => return false,
    };
    text[2..].chars().all(|digit| digit.is_digit(radix))
}

/// Digits with separators or with a comma for a point.
fn separated(text: &str) -> Option<Notation> {
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let separator = text.chars().find(|c| SEPARATORS.contains(c))?;
    // Behind the last group there may be decimals, after whichever mark did not separate the groups.
    let (whole, decimals) = match text.rsplit_once(['.', ',']) {
        Some((whole, decimals)) if !text[whole.len()..].starts_with(separator) => {
            (whole, Some(decimals))
        }
        _ => (text, None),
    };
    let mut groups = whole.split(separator);
    let first = groups.next()?;
    let rest: Vec<&str> = groups.collect();
    let is_grouped = is_digits(first)
        && first.len() <= 3
        && !rest.is_empty()
        && rest
            .iter()
            .all(|group| group.len() == 3 && is_digits(group))
        && decimals.is_none_or(|decimals| decimals.is_empty() || is_digits(decimals));
    match (separator, is_grouped) {
        (',', true) if rest.len() == 1 && decimals.is_none() => Some(match first {
            "0" => Notation::DecimalComma,
            _ => Notation::Comma,
        }),
        // One point is that of a decimal number.
        ('.', true) if rest.len() == 1 && decimals.is_none() => None,
        (_, true) => Some(Notation::Separators),
        (',', false) => {
            let [decimals] = rest[..] else { return None };
            let first = first.trim_start_matches('0');
            ((first.is_empty() || is_digits(first)) && is_digits(decimals))
                .then_some(Notation::DecimalComma)
        }
        _ => None,
    }
}

/// The most digits of a hexadecimal number; longer texts are identifiers.
const MAX_HEXADECIMAL: usize = 16;

/// Whether a text may be a hexadecimal number without a prefix.
pub(crate) fn may_be_hexadecimal(text: &str) -> bool {
    (2..=MAX_HEXADECIMAL).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notations_are_told_apart() {
        for (text, notation) in [
            ("1,234", Some(Notation::Comma)),
            ("1,234,567", Some(Notation::Separators)),
            ("-1,234.5", Some(Notation::Separators)),
            ("1.234,5", Some(Notation::Separators)),
            ("1.234.567", Some(Notation::Separators)),
            ("1 234", Some(Notation::Separators)),
            ("1'234", Some(Notation::Separators)),
            ("1_000", Some(Notation::Separators)),
            ("12\u{202f}345", Some(Notation::Separators)),
            ("0,966", Some(Notation::DecimalComma)),
            ("2,5", Some(Notation::DecimalComma)),
            ("1234,5", Some(Notation::DecimalComma)),
            ("0x1F", Some(Notation::Radix)),
            ("-0xff", Some(Notation::Radix)),
            ("0b101", Some(Notation::Radix)),
            ("0.58 km", Some(Notation::Other)),
            ("12a", Some(Notation::Other)),
            ("$5", Some(Notation::Other)),
            ("\u{2212}5", Some(Notation::Other)),
            ("1.2.3", Some(Notation::Other)),
            ("0xyz", Some(Notation::Other)),
            ("timeout", None),
            ("-", None),
            ("", None),
            ("N/A", None),
            ("ERR 5", None),
        ] {
            assert_eq!(Notation::of(text), notation, "{text}");
        }
    }
}
