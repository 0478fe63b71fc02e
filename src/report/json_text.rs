//! JSON that a terminal shows and does not act on.

use std::io::{self, Write};

use leakgauge_base::error::first_acting_on_terminal;
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};

/// Writes a model as indented JSON.
pub(super) fn write_pretty(model: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    write(model, PrettyFormatter::new(), out)
}

/// Writes a model as JSON on one line.
pub(super) fn write_line(model: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    write(model, CompactFormatter, out)
}

fn write(model: &impl Serialize, layout: impl Formatter, out: &mut dyn Write) -> io::Result<()> {
    let mut serializer = Serializer::with_formatter(out, Harmless(layout));
    model.serialize(&mut serializer).map_err(io::Error::from)
}

/// A layout of JSON in which characters that a terminal acts on are escaped: serde escapes those below U+0020 only.
struct Harmless<F>(F);

/// Writes a text with characters that a terminal acts on as `\u009b`.
fn write_escaped<W: Write + ?Sized>(writer: &mut W, text: &str) -> io::Result<()> {
    let mut rest = text;
    while let Some(at) = first_acting_on_terminal(rest) {
        writer.write_all(&rest.as_bytes()[..at])?;
        let mut letters = rest[at..].chars();
        let mut units = [0; 2];
        if let Some(letter) = letters.next() {
            for unit in letter.encode_utf16(&mut units) {
                write!(writer, "\\u{unit:04x}")?;
            }
        }
        rest = letters.as_str();
    }
    writer.write_all(rest.as_bytes())
}

impl<F: Formatter> Formatter for Harmless<F> {
    fn write_string_fragment<W: Write + ?Sized>(
        &mut self,
        out: &mut W,
        text: &str,
    ) -> io::Result<()> {
        write_escaped(out, text)
    }

    fn begin_array<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_array(out)
    }

    fn end_array<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_array(out)
    }

    fn begin_array_value<W: Write + ?Sized>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_array_value(out, first)
    }

    fn end_array_value<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_array_value(out)
    }

    fn begin_object<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_object(out)
    }

    fn end_object<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_object(out)
    }

    fn begin_object_key<W: Write + ?Sized>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(out, first)
    }

    fn begin_object_value<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_object_value(out)
    }

    fn end_object_value<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_object_value(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_base::error::acts_on_terminal;

    #[test]
    fn what_a_terminal_acts_on_is_escaped_and_comes_back() {
        let text = "a\u{1b}[31m\u{9b}2J\u{202e}\u{7f}é";
        let model = std::collections::BTreeMap::from([(text, [text])]);
        let (mut pretty, mut line) = (Vec::new(), Vec::new());
        write_pretty(&model, &mut pretty).unwrap();
        write_line(&model, &mut line).unwrap();
        for json in [pretty, line] {
            let json = String::from_utf8(json).unwrap();
            assert!(
                !json.contains(|c| c != '\n' && acts_on_terminal(c)),
                "{json:?}"
            );
            let back: serde_json::Value = serde_json::from_str(&json).unwrap();
            assert_eq!(back[text][0], text);
        }
    }
}
