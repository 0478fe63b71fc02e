//! A recursive-descent parser over characters. Its depth is bounded, so that no text overflows the stack.

use super::{Argument, Call, MAX_DEPTH, MAX_WHOLE, Value};
use crate::error::{Error, Result, shorten};

const FORM: &str = "write name(parameter=value, …), for example laplace(scale=2)";
const FORM_OF_VALUES: &str = "a value is a number (2, .5, 1e-5), a range (0..9), a grid (0.5..4:8), a name, or a text in \
     quotes";

/// Reads one call that is the whole text.
pub(super) fn parse(text: &str) -> Result<Call> {
    let mut parser = Parser { text, at: 0 };
    parser.skip_space();
    if parser.peek().is_none() {
        return Err(Error::grammar("\"\"", 1, "the text is empty").with_hint(FORM));
    }
    let name = parser.name("a name")?;
    let call = parser.rest_of_call(name, 1)?;
    if parser.peek().is_some() {
        let expected = if call.arguments.is_empty() {
            "\"(\" or the end"
        } else {
            "the end"
        };
        return Err(parser.expected(expected).with_hint(parser.form()));
    }
    Ok(call)
}

/// Whether a text is a name, which needs no quotes.
pub(super) fn is_name(text: &str) -> bool {
    let mut parser = Parser { text, at: 0 };
    parser.name("a name").is_ok_and(|name| name == text)
}

struct Parser<'a> {
    text: &'a str,
    /// Byte offset of the next character.
    at: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// How the text is to be written, by what stands where something else should.
    fn form(&self) -> String {
        let name = self.text[..self.at].trim();
        match self.peek() {
            Some('=' | '<' | '≤') if is_name(name) => {
                let value = self.rest().trim_start_matches(['=', '<', '≤', ' ']);
                format!("values stand in brackets: {name}({})", shorten(value))
            }
            Some(';') => "parameters are separated by commas".to_owned(),
            Some('%') => "write a share as a number: 0.1 for 10 %".to_owned(),
            _ => FORM.to_owned(),
        }
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Steps over characters that satisfy a condition and returns them.
    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn skip_space(&mut self) {
        self.take_while(char::is_whitespace);
    }

    /// Steps over a symbol and the white space after it, if it is next.
    fn eat(&mut self, symbol: &str) -> bool {
        let found = self.rest().starts_with(symbol);
        if found {
            self.at += symbol.len();
            self.skip_space();
        }
        found
    }

    /// A name; steps over it and the white space after it.
    fn name(&mut self, what: &str) -> Result<String> {
        if !self.peek().is_some_and(|c| c.is_alphabetic() || c == '_') {
            return Err(self.expected(what).with_hint(FORM));
        }
        let rest = self.rest();
        let mut previous = ' ';
        let end = rest.char_indices().find(|&(_, c)| {
            let inside = c.is_alphanumeric() || "_-/".contains(c) || (c == '.' && previous != '.');
            previous = c;
            !inside
        });
        let name = &rest[..end.map_or(rest.len(), |(i, _)| i)];
        self.at += name.len();
        self.skip_space();
        Ok(name.to_owned())
    }

    /// What follows a name: nothing, or arguments in parentheses.
    fn rest_of_call(&mut self, name: String, depth: usize) -> Result<Call> {
        let mut arguments = Vec::new();
        if depth > MAX_DEPTH {
            return Err(self.problem(format!("nested more than {MAX_DEPTH} deep")));
        }
        if self.eat("(") && !self.eat(")") {
            loop {
                arguments.push(self.argument(depth)?);
                if self.eat(")") {
                    break;
                }
                if !self.eat(",") {
                    return Err(self.expected("\",\" or \")\"").with_hint(self.form()));
                }
            }
        }
        Ok(Call { name, arguments })
    }

    fn argument(&mut self, depth: usize) -> Result<Argument> {
        let starts_name = self.peek().is_some_and(|c| c.is_alphabetic() || c == '_');
        if !starts_name {
            let value = self.value(depth)?;
            return Ok(Argument { name: None, value });
        }
        let word = self.name("a parameter")?;
        if self.eat("=") {
            let value = self.value(depth)?;
            let name = Some(word);
            return Ok(Argument { name, value });
        }
        let value = self.word_or_call(word, depth)?;
        Ok(Argument { name: None, value })
    }

    fn value(&mut self, depth: usize) -> Result<Value> {
        match self.peek() {
            Some(c) if c.is_ascii_digit() || "+-.".contains(c) => self.numeric(),
            Some(c) if c.is_alphabetic() || c == '_' => {
                let word = self.name("a value")?;
                self.word_or_call(word, depth)
            }
            Some('"') => self.quoted(),
            _ => Err(self.expected("a value").with_hint(FORM_OF_VALUES)),
        }
    }

    /// A word in quotes, which may hold anything but quotes.
    fn quoted(&mut self) -> Result<Value> {
        let inside = &self.rest()[1..];
        let Some(end) = inside.find('"') else {
            self.at = self.text.len();
            return Err(self.expected("a closing quote (\")"));
        };
        let word = inside[..end].to_owned();
        self.at += end + 2;
        self.skip_space();
        Ok(Value::Word(word))
    }

    fn word_or_call(&mut self, word: String, depth: usize) -> Result<Value> {
        if self.peek() == Some('(') {
            let call = self.rest_of_call(word, depth + 1)?;
            return Ok(Value::Call(Box::new(call)));
        }
        Ok(Value::Word(word))
    }

    /// A number, or the range or grid that starts with it.
    fn numeric(&mut self) -> Result<Value> {
        let start = self.at;
        let from = self.number()?;
        if !self.eat("..") {
            if self.peek().is_some_and(char::is_alphabetic) {
                let unit = self.name("a unit")?;
                return Ok(Value::Measure { number: from, unit });
            }
            return Ok(Value::Number(from));
        }
        let to = self.number()?;
        if self.eat(":") {
            return self.grid(from, to);
        }
        match (whole(from), whole(to)) {
            (Some(from), Some(to)) => Ok(Value::Range { from, to }),
            _ => {
                let written = self.text[start..self.at].trim_end();
                Err(self
                    .problem(format!("the range {written} needs whole numbers"))
                    .with_hint(format!(
                        "for a grid also give the number of values: {written}:8; whole numbers go up to ±2^53"
                    )))
            }
        }
    }

    /// The number of points of a grid, which follows its colon.
    fn grid(&mut self, from: f64, to: f64) -> Result<Value> {
        let digits = self.take_while(|c| c.is_ascii_digit());
        let points = digits.parse().ok().filter(|&points: &usize| points >= 2);
        let Some(points) = points else {
            self.at -= digits.len();
            return Err(self
                .expected("a whole number of grid points, at least 2,")
                .with_hint("0.5..4:8 is 8 values from 0.5 to 4, ends included"));
        };
        self.skip_space();
        if !(to - from).is_finite() {
            return Err(self.problem("the ends of the grid are too far apart"));
        }
        Ok(Value::Grid { from, to, points })
    }

    /// A finite number; steps over it and the white space after it. In `0..9` the number is `0`, not `0.`.
    fn number(&mut self) -> Result<f64> {
        let text = self.rest();
        let length = length_of_number(text);
        let written = &text[..length];
        match written.parse::<f64>() {
            Ok(number) if number.is_finite() => {
                self.at += length;
                self.skip_space();
                Ok(number)
            }
            Ok(_) => Err(self.problem(format!("{} is too large", shorten(written)))),
            Err(_) => Err(self.expected("a number").with_hint(FORM_OF_VALUES)),
        }
    }

    /// An error that says what was expected here.
    fn expected(&self, what: &str) -> Error {
        self.problem(format!("expected {what}"))
    }

    /// An error that points here.
    fn problem(&self, problem: impl std::fmt::Display) -> Error {
        let character = self.text[..self.at].chars().count() + 1;
        let found = match self.rest() {
            "" => "the end".to_owned(),
            rest => format!("{:?}", rest.chars().take(12).collect::<String>()),
        };
        let text: String = self.text.replace(|c: char| c.is_control(), " ");
        Error::grammar(
            text.trim(),
            character,
            format!("{problem} at character {character}, found {found}"),
        )
    }
}

/// The bytes at the start of a text that look like a number; they may not be a complete one, as in `1.e`.
fn length_of_number(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit());
    let sign = |at: usize| usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
    let mut end = sign(0);
    end += digits(end).count();
    if bytes.get(end) == Some(&b'.') && bytes.get(end + 1) != Some(&b'.') {
        end += 1;
        end += digits(end).count();
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let exponent = end + 1 + sign(end + 1);
        let count = digits(exponent.min(bytes.len())).count();
        if count > 0 {
            end = exponent + count;
        }
    }
    end
}

/// The number as a whole number, if it is one and within ±[`MAX_WHOLE`].
fn whole(number: f64) -> Option<i64> {
    (number.fract() == 0.0 && number.abs() <= MAX_WHOLE as f64).then_some(number as i64)
}
