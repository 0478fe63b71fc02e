//! The lines of delimited text, as long as each is a row: before the first quote.
//!
//! Most logs of labels and small numbers say the same few lines over and over. Whoever has seen a line
//! need not take it apart again.

use std::io::{self, Cursor, Read};

use memchr::{memchr, memchr2};

use crate::numbering::Numbering;
use crate::source::LONGEST_ROW;

/// Bytes that are asked for at once.
const BUFFER: usize = 1 << 17;

/// What comes next in a text.
#[derive(Debug, PartialEq, Eq)]
pub enum Next<'t> {
    /// A row, without its line break.
    Line(&'t [u8]),
    /// Something that may not be a row by itself: a quote, a lone carriage return, far too much.
    Other,
    /// Nothing.
    End,
}

/// Rows that follow each other.
#[derive(Debug, Default)]
pub struct Batch {
    text: Vec<u8>,
    /// Where each row begins and ends in the text.
    rows: Vec<(u32, u32)>,
    /// Numbers of the first rows: equal ones are rows of equal bytes. Fewer than rows once too many are different.
    pub numbers: Vec<u32>,
}

impl Batch {
    /// A row.
    pub fn row(&self, at: usize) -> Option<&[u8]> {
        let (from, to) = *self.rows.get(at)?;
        Some(&self.text[from as usize..to as usize])
    }
}

/// Where a byte first stands among 16.
#[inline]
fn in_16(bytes: &[u8; 16], wanted: u8) -> Option<usize> {
    const ONES: u128 = u128::from_ne_bytes([1; 16]);
    // A byte is 0 where it is the one, and the lowest 0 borrows from nothing below it.
    let differ = u128::from_le_bytes(*bytes) ^ (ONES * wanted as u128);
    let found = differ.wrapping_sub(ONES) & !differ & (ONES << 7);
    (found != 0).then(|| found.trailing_zeros() as usize / 8)
}

/// A text line by line. Blank lines are passed over.
pub struct Lines {
    text: Box<dyn Read + Send>,
    buffer: Vec<u8>,
    /// What of the buffer has been taken.
    taken: usize,
    /// What of the buffer is filled.
    filled: usize,
    /// Behind this, the buffer was not looked through for quotes and carriage returns.
    searched: usize,
    /// Where the first quote or carriage return stands, if there is one in what was searched.
    special: Option<usize>,
    ended: bool,
    /// The length of the line shown last, its line break included.
    shown: usize,
}

impl Lines {
    /// The lines of a text whose beginning was already read.
    pub fn new(head: Vec<u8>, text: Box<dyn Read + Send>) -> Self {
        let filled = head.len();
        Lines {
            text,
            buffer: head,
            taken: 0,
            filled,
            searched: 0,
            special: None,
            ended: false,
            shown: 0,
        }
    }

    /// Takes the rows that the next bytes hold whole, at least one; `None` if what comes next is no row.
    pub fn batch(&mut self, numbers: &mut Numbering) -> io::Result<Option<Batch>> {
        if !matches!(self.next()?, Next::Line(_)) {
            return Ok(None);
        }
        let (begin, mut batch) = (self.taken, Batch::default());
        while let Some(length) = self.line_break() {
            if length == 0 {
                self.taken += 1;
                continue;
            }
            let from = (self.taken - begin) as u32;
            let Next::Line(line) = self.line(length, length + 1) else {
                break;
            };
            if !numbers.is_full() {
                batch.numbers.push(numbers.number(line));
            }
            batch.rows.push((from, from + line.len() as u32));
            self.take();
        }
        // The last line of a text, without a line break.
        if batch.rows.is_empty()
            && let Next::Line(line) = self.next()?
        {
            batch.rows.push((0, line.len() as u32));
            batch.numbers.push(numbers.number(line));
            self.take();
        }
        batch
            .text
            .extend_from_slice(&self.buffer[begin..self.taken]);
        Ok((!batch.rows.is_empty()).then_some(batch))
    }

    /// How many bytes stand before the next line break in the buffer.
    #[inline]
    fn line_break(&self) -> Option<usize> {
        let rest = &self.buffer[self.taken..self.filled];
        // Rows of labels are shorter than a search is worth its call.
        match rest.first_chunk::<16>() {
            Some(first) => in_16(first, b'\n').or_else(|| memchr(b'\n', rest)),
            None => memchr(b'\n', rest),
        }
    }

    /// Shows what comes next, and shows it again until it is taken.
    pub fn next(&mut self) -> io::Result<Next<'_>> {
        loop {
            let rest = &self.buffer[self.taken..self.filled];
            let Some(break_at) = memchr(b'\n', rest) else {
                if rest.len() > LONGEST_ROW {
                    return Ok(Next::Other);
                }
                if !self.ended {
                    self.fill()?;
                    continue;
                }
                if rest.is_empty() {
                    return Ok(Next::End);
                }
                let length = rest.len();
                return Ok(self.line(length, length));
            };
            if break_at == 0 {
                self.taken += 1;
                continue;
            }
            return Ok(self.line(break_at, break_at + 1));
        }
    }

    /// Passes over the line shown last.
    pub fn take(&mut self) {
        self.taken += std::mem::take(&mut self.shown);
    }

    /// All that was not taken.
    pub fn rest(mut self) -> impl Read + Send {
        self.buffer.truncate(self.filled);
        let mut left = Cursor::new(self.buffer);
        left.set_position(self.taken as u64);
        left.chain(self.text)
    }

    /// The next so many bytes, if they are a row: but for a carriage return at their end.
    #[inline]
    fn line(&mut self, length: usize, whole: usize) -> Next<'_> {
        let (from, to) = (self.taken, self.taken + length);
        if self.special(to).is_some_and(|at| at < to) {
            let line = &self.buffer[from..to];
            return match memchr2(b'"', b'\r', line) {
                Some(at) if at + 1 == length && at > 0 && line[at] == b'\r' && whole > length => {
                    self.shown = whole;
                    Next::Line(&self.buffer[from..to - 1])
                }
                Some(_) => Next::Other,
                None => self.shown_line(from, to, whole),
            };
        }
        self.shown_line(from, to, whole)
    }

    fn shown_line(&mut self, from: usize, to: usize, whole: usize) -> Next<'_> {
        self.shown = whole;
        Next::Line(&self.buffer[from..to])
    }

    /// Where the first quote or carriage return behind what was taken stands, if there is one before a
    /// place. All that is there is searched at once: a line is short.
    fn special(&mut self, before: usize) -> Option<usize> {
        if self.special.is_some_and(|at| at < self.taken) {
            self.special = None;
            self.searched = self.taken;
        }
        if self.special.is_none() && self.searched < before {
            let from = self.searched.max(self.taken);
            self.special =
                memchr2(b'"', b'\r', &self.buffer[from..self.filled]).map(|at| from + at);
            self.searched = match self.special {
                Some(at) => at,
                None => self.filled,
            };
        }
        self.special
    }

    fn fill(&mut self) -> io::Result<()> {
        if self.taken > 0 {
            self.buffer.copy_within(self.taken..self.filled, 0);
            self.filled -= self.taken;
            self.searched = self.searched.saturating_sub(self.taken);
            self.special = self.special.and_then(|at| at.checked_sub(self.taken));
            self.taken = 0;
        }
        if self.buffer.len() < self.filled + BUFFER {
            self.buffer.resize(self.filled + BUFFER, 0);
        }
        loop {
            match self.text.read(&mut self.buffer[self.filled..]) {
                Ok(n) => {
                    self.filled += n;
                    self.ended = n == 0;
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a few bytes at a time.
    struct Slow(Vec<u8>, usize);

    impl Read for Slow {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let n = self.1.min(self.0.len()).min(buffer.len());
            buffer[..n].copy_from_slice(&self.0[..n]);
            self.0.drain(..n);
            Ok(n)
        }
    }

    /// The lines of a text, and what is left from where lines end.
    fn all(text: &str, head: usize, step: usize) -> (Vec<String>, String) {
        let (head, rest) = text.as_bytes().split_at(head.min(text.len()));
        let mut lines = Lines::new(head.to_vec(), Box::new(Slow(rest.to_vec(), step)));
        let mut seen = Vec::new();
        let text = |line: &[u8]| String::from_utf8(line.to_vec()).unwrap();
        // Every second time one line, else all that there are.
        while let Next::Line(line) = lines.next().unwrap() {
            seen.push(text(line));
            lines.take();
            let Some(batch) = lines.batch(&mut Numbering::default()).unwrap() else {
                break;
            };
            assert_eq!(batch.numbers.len(), batch.rows.len());
            seen.extend((0..batch.rows.len()).map(|at| text(batch.row(at).unwrap())));
        }
        let mut left = String::new();
        lines.rest().read_to_string(&mut left).unwrap();
        (seen, left)
    }

    #[test]
    fn a_byte_is_found_where_it_first_stands() {
        for at in 0..16 {
            let mut bytes = *b"\x0b\x0b\x00\xff\x8a\x09\x0b\x0c\x0d\x0bab,1;2";
            assert_eq!(in_16(&bytes, b'\n'), None);
            bytes[at..].fill(b'\n');
            assert_eq!(in_16(&bytes, b'\n'), Some(at));
        }
    }

    #[test]
    fn lines_come_out_however_the_text_comes_in() {
        let cases: [(&str, &[&str], &str); 8] = [
            ("a,1\nb,2\n", &["a,1", "b,2"], ""),
            ("a,1\r\n\r\nb,2", &["a,1"], "\r\nb,2"),
            ("a,1\r\nb,2\r\n", &["a,1", "b,2"], ""),
            ("\n\na,1\n\n\nb,2", &["a,1", "b,2"], ""),
            ("a,1\nb,\"x\ny\"\nc,3\n", &["a,1"], "b,\"x\ny\"\nc,3\n"),
            ("a,1\rb,2\n", &[], "a,1\rb,2\n"),
            ("a,1\nb,2\r", &["a,1"], "b,2\r"),
            ("", &[], ""),
        ];
        for (text, expected, left) in cases {
            for head in 0..=text.len() {
                for step in [1, 2, 3, 100] {
                    let (lines, rest) = all(text, head, step);
                    assert_eq!(lines, expected, "{text:?}, {head} before, {step} at a time");
                    assert_eq!(rest, left, "{text:?}, {head} before, {step} at a time");
                }
            }
        }
    }
}
