//! Tables that are drawn in text, as Markdown and the shells of databases write them: as rows of fields.
//!
//! `| secret | time |` is a row, and lines of `-`, `+`, `=` and `:` alone are rules, which do not count as rows.

use std::io::{self, BufRead, BufReader, Read};

use crate::source::LONGEST_ROW;

/// What the fields of a drawn table are separated by.
pub(super) const DELIMITER: u8 = b'|';

/// Whether a text begins with a drawn table. In one that is written for readers, it may stand further down.
pub(super) fn is_drawn(head: &[u8], may_stand_below: bool) -> bool {
    let mut lines = head
        .split(|&byte| byte == b'\n')
        .map(<[u8]>::trim_ascii)
        .filter(|line| !line.is_empty())
        .peekable();
    while let Some(line) = lines.next() {
        if let Some(next) = lines.peek()
            && begins_table(line, next)
        {
            return true;
        }
        if !may_stand_below {
            return false;
        }
    }
    false
}

/// Whether two lines are the first of a table: a row of names and a rule, or a rule and the names below it.
fn begins_table(line: &[u8], next: &[u8]) -> bool {
    let is_row = |line: &[u8]| line.contains(&b'|') && !is_rule(line);
    (is_row(line) && is_rule(next) && next.iter().any(|byte| b"|+".contains(byte)))
        || (line.starts_with(b"+") && is_rule(line) && is_row(next))
}

/// Whether a line may be drawn below names.
fn is_rule(line: &[u8]) -> bool {
    let is_short = || line.contains(&b'|') && line.contains(&b'-');
    is_long_rule(line) || (is_short() && line.iter().all(|byte| b"|-: \t".contains(byte)))
}

/// Whether a line is drawn, wherever it stands: `-` alone may be a value.
fn is_long_rule(line: &[u8]) -> bool {
    line.iter().all(|byte| b"|+-=: \t".contains(byte))
        && line.windows(2).any(|two| two == b"--" || two == b"==")
}

/// Where in the text a line is.
#[derive(PartialEq, Eq)]
enum State {
    Before,
    Inside,
    Behind,
}

/// The rows of the first table of a text, with nothing but `|` between fields.
pub(super) struct Drawn<R> {
    lines: BufReader<R>,
    state: State,
    /// A line before the table, as long as it may be its header.
    held: Vec<u8>,
    ready: Vec<u8>,
    at: usize,
}

impl<R: Read> Drawn<R> {
    pub(super) fn new(text: R) -> Self {
        Drawn {
            lines: BufReader::new(text),
            state: State::Before,
            held: Vec::new(),
            ready: Vec::new(),
            at: 0,
        }
    }

    fn line(&mut self, line: &[u8]) -> io::Result<()> {
        match self.state {
            State::Before if line.is_empty() => {}
            State::Before if begins_table(&self.held, line) => {
                self.state = State::Inside;
                let held = std::mem::take(&mut self.held);
                let names = [&held, line].into_iter().find(|line| !is_rule(line));
                names.into_iter().for_each(|names| self.row(names));
            }
            State::Before => self.held = line.to_vec(),
            State::Inside if is_long_rule(line) => {}
            State::Inside if line.contains(&b'|') => self.row(line),
            State::Inside => self.state = State::Behind,
            State::Behind if line.starts_with(b"|") && line.ends_with(b"|") => {
                return Err(io::Error::other(
                    "a second table stands behind the first: give each a file of its own",
                ));
            }
            State::Behind => {}
        }
        Ok(())
    }

    /// Adds a row.
    fn row(&mut self, line: &[u8]) {
        // Of a line that begins with a cell, the last one may be blank.
        let inside = match line.strip_prefix(b"|") {
            None => line,
            Some(rest) if rest.ends_with(b"\\|") => rest,
            Some(rest) => rest.strip_suffix(b"|").unwrap_or(rest),
        };
        let mut cell = Vec::new();
        let mut cells = Vec::new();
        let mut bytes = inside.iter().copied().peekable();
        while let Some(byte) = bytes.next() {
            match byte {
                b'\\' if bytes.peek() == Some(&b'|') => {
                    cell.push(b'|');
                    bytes.next();
                }
                b'|' => cells.push(std::mem::take(&mut cell)),
                byte => cell.push(byte),
            }
        }
        cells.push(cell);
        for (at, cell) in cells.iter().enumerate() {
            if at > 0 {
                self.ready.push(DELIMITER);
            }
            let cell = cell.trim_ascii();
            if !cell.iter().any(|byte| b"|\"".contains(byte)) {
                self.ready.extend(cell);
                continue;
            }
            self.ready.push(b'"');
            for &byte in cell {
                self.ready
                    .extend(std::iter::repeat_n(byte, 1 + usize::from(byte == b'"')));
            }
            self.ready.push(b'"');
        }
        self.ready.push(b'\n');
    }
}

impl<R: Read> Read for Drawn<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.ready.len() {
            self.ready.clear();
            self.at = 0;
            let mut line = Vec::new();
            let n = (&mut self.lines)
                .take(LONGEST_ROW as u64 + 1)
                .read_until(b'\n', &mut line)?;
            if n == 0 {
                return Ok(0);
            }
            if n > LONGEST_ROW {
                let problem = format!("a line of it is longer than {} MiB", LONGEST_ROW >> 20);
                return Err(io::Error::other(problem));
            }
            self.line(line.trim_ascii())?;
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

    fn rows(text: &str) -> String {
        let mut rows = String::new();
        Drawn::new(text.as_bytes())
            .read_to_string(&mut rows)
            .unwrap();
        rows
    }

    #[test]
    fn tables_are_rows_of_fields() {
        for (text, expected) in [
            ("| a | b |\n|---|:-:|\n| 1 | x y |\n", "a|b\n1|x y\n"),
            ("a | b\n- | -\n1 | \n", "a|b\n1|\n"),
            (
                "+---+---+\n| a | b |\n+---+---+\n| -1 | 2 |\n+---+---+\n2 rows in set\n",
                "a|b\n-1|2\n",
            ),
            (" a | b \n---+---\n 1 | 2\n(1 row)\n", "a|b\n1|2\n"),
            (
                "# Results\n\n| a | b |\n| --- | --- |\n| 1\\|2 | \"q\" |\n\nAn end.\n",
                "a|b\n\"1|2\"|\"\"\"q\"\"\"\n",
            ),
        ] {
            assert!(is_drawn(text.as_bytes(), true), "{text}");
            assert_eq!(rows(text), expected, "{text}");
        }
    }

    #[test]
    fn text_with_bars_is_no_table() {
        for text in [
            "secret|time\na|1\nb|2\n",
            "secret|time\na|-\nb|2\n",
            "secret,time\na,1\n",
            "-|-\n",
            "# Results\n\n| a | b |\n|---|---|\n",
        ] {
            assert!(!is_drawn(text.as_bytes(), false), "{text}");
        }
        let two = "| a |\n|--|\n| 1 |\n\n| b |\n|--|\n";
        assert!(io::read_to_string(Drawn::new(two.as_bytes())).is_err());
    }
}
