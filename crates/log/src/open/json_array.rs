//! A JSON array as lines, one for each element, so that it is read like JSON lines; and objects that are written over
//! many lines.

use std::io::{self, Read};

/// Where in the text a byte stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the array.
    Before,
    /// In the array.
    Inside,
    /// In a string.
    Text,
    /// In a string behind a backslash.
    Escaped,
    /// Behind the array.
    Behind,
}

/// Reads an array: its brackets and the commas between its elements are left out, and every element ends a line.
pub(super) struct ArrayLines<R> {
    text: R,
    state: State,
    /// Whether there are brackets around all.
    is_array: bool,
    depth: usize,
    chunk: Vec<u8>,
    /// What was made of the last chunk, and how much of it was handed out.
    ready: Vec<u8>,
    at: usize,
}

impl<R: Read> ArrayLines<R> {
    pub(super) fn new(text: R) -> Self {
        ArrayLines {
            text,
            state: State::Before,
            is_array: true,
            depth: 0,
            chunk: vec![0; 1 << 16],
            ready: Vec::new(),
            at: 0,
        }
    }

    /// Reads objects that are written over many lines: every object ends a line.
    pub(super) fn of_objects(text: R) -> Self {
        ArrayLines {
            state: State::Inside,
            is_array: false,
            ..ArrayLines::new(text)
        }
    }

    fn byte(&mut self, byte: u8) -> io::Result<()> {
        let is_blank = byte.is_ascii_whitespace();
        match (self.state, byte) {
            (State::Before, b'[') => self.state = State::Inside,
            (State::Before | State::Behind, _) if is_blank => {}
            (State::Before | State::Behind, _) => {
                return Err(io::Error::other("there is something behind the JSON array"));
            }
            (State::Escaped, _) => self.push(State::Text, byte),
            (State::Text, b'\\') => self.push(State::Escaped, byte),
            (State::Text, b'"') => self.push(State::Inside, byte),
            (State::Text, _) => self.push(State::Text, byte),
            (State::Inside, b'"') => self.push(State::Text, byte),
            (State::Inside, b',') if self.depth == 0 && self.is_array => {
                self.push(State::Inside, b'\n')
            }
            (State::Inside, b']') if self.depth == 0 && self.is_array => {
                self.push(State::Behind, b'\n')
            }
            (State::Inside, _) => {
                match byte {
                    b'{' | b'[' => self.depth += 1,
                    b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                    _ => {}
                }
                // Lines end with elements only.
                self.push(State::Inside, if is_blank { b' ' } else { byte });
                if byte == b'}' && self.depth == 0 && !self.is_array {
                    self.push(State::Inside, b'\n');
                }
            }
        }
        Ok(())
    }

    fn push(&mut self, state: State, byte: u8) {
        self.state = state;
        self.ready.push(byte);
    }
}

impl<R: Read> Read for ArrayLines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.ready.len() {
            self.ready.clear();
            self.at = 0;
            let mut chunk = std::mem::take(&mut self.chunk);
            let n = self.text.read(&mut chunk)?;
            let read = chunk[..n].iter().try_for_each(|&byte| self.byte(byte));
            self.chunk = chunk;
            read?;
            if n == 0 {
                return match self.state {
                    State::Behind => Ok(0),
                    State::Inside if !self.is_array && self.depth == 0 => Ok(0),
                    _ if !self.is_array => Err(io::Error::other("the JSON object is not closed")),
                    _ => Err(io::Error::other("the JSON array is not closed")),
                };
            }
        }
        let n = buffer.len().min(self.ready.len() - self.at);
        buffer[..n].copy_from_slice(&self.ready[self.at..self.at + n]);
        self.at += n;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> io::Result<String> {
        let mut lines = String::new();
        ArrayLines::new(text.as_bytes()).read_to_string(&mut lines)?;
        Ok(lines)
    }

    #[test]
    fn every_element_becomes_a_line() {
        let text = " [{\"a\":\n[1,2]} , {\"b\":\"],\\\"\"}]\n";
        let lines = lines(text).unwrap();
        let lines: Vec<&str> = lines.lines().map(str::trim).collect();
        assert_eq!(lines, ["{\"a\": [1,2]}", "{\"b\":\"],\\\"\"}"]);
    }

    #[test]
    fn an_array_is_closed_and_alone() {
        for wrong in ["[{\"a\":1}", "[{\"a\":1}] {}", "[\"a", "["] {
            assert!(lines(wrong).is_err(), "{wrong}");
        }
    }
}
