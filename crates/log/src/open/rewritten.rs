//! A text whose lines are written otherwise, or left out, while it is read.

use std::io::{self, BufRead, BufReader, Read};

use crate::source::LONGEST_ROW;

/// The lines of a text, each as something else writes it.
pub(super) struct Rewritten<R, F> {
    lines: BufReader<R>,
    line: Vec<u8>,
    rewrite: F,
    ready: Vec<u8>,
    at: usize,
}

impl<R: Read, F: FnMut(&[u8], &mut Vec<u8>) -> io::Result<()>> Rewritten<R, F> {
    /// `rewrite` gets a line with its break and adds what stands for it, nothing if it is left out.
    pub(super) fn new(text: R, rewrite: F) -> Self {
        Rewritten {
            lines: BufReader::new(text),
            line: Vec::new(),
            rewrite,
            ready: Vec::new(),
            at: 0,
        }
    }
}

impl<R: Read, F: FnMut(&[u8], &mut Vec<u8>) -> io::Result<()>> Read for Rewritten<R, F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.ready.len() {
            self.ready.clear();
            self.at = 0;
            self.line.clear();
            let n = (&mut self.lines)
                .take(LONGEST_ROW as u64 + 1)
                .read_until(b'\n', &mut self.line)?;
            if n == 0 {
                return Ok(0);
            }
            if n > LONGEST_ROW {
                let problem = format!("a line of it is longer than {} MiB", LONGEST_ROW >> 20);
                return Err(io::Error::other(problem));
            }
            (self.rewrite)(&self.line, &mut self.ready)?;
        }
        let n = buffer.len().min(self.ready.len() - self.at);
        buffer[..n].copy_from_slice(&self.ready[self.at..self.at + n]);
        self.at += n;
        Ok(n)
    }
}

/// Adds a row of delimited text.
pub(super) fn add_row<'f>(
    fields: impl Iterator<Item = &'f [u8]>,
    delimiter: u8,
    text: &mut Vec<u8>,
) {
    for (at, field) in fields.enumerate() {
        if at > 0 {
            text.push(delimiter);
        }
        let is_plain = |&byte: &u8| byte != delimiter && byte != b'"' && byte != b'\r';
        if field.iter().all(is_plain) {
            text.extend(field);
            continue;
        }
        text.push(b'"');
        for &byte in field {
            let times = 1 + usize::from(byte == b'"');
            text.extend(std::iter::repeat_n(byte, times));
        }
        text.push(b'"');
    }
    text.push(b'\n');
}
