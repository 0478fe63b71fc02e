//! Logs that say in a line of their own what their columns are: Zeek's, `#fields` with tabs between, and the extended format of
//! W3C, which IIS and CloudFront write, `#Fields:` with blanks between. They are read as delimited text with a header.

use std::io::{self, Read};

use super::rewritten::{Rewritten, add_row};

/// What begins the line of names in W3C's format.
const FIELDS: &[u8] = b"#fields:";

/// What the lines before the rows say of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Declaration {
    names: Vec<Vec<u8>>,
    /// What stands between the fields of a row.
    pub separator: u8,
    /// What stands for no value.
    unset: Vec<u8>,
    /// Whether fields may stand in quotes.
    has_quotes: bool,
}

/// What the first lines of a text say of its columns, if they do.
pub(super) fn of(head: &[u8]) -> Option<Declaration> {
    let mut lines = head
        .split_inclusive(|&byte| byte == b'\n')
        .map(<[u8]>::trim_ascii_end);
    let (mut separator, mut unset, mut names) = (None, b"-".to_vec(), None);
    let row = loop {
        let Some(line) = lines.next() else {
            break &b""[..];
        };
        if line.is_empty() {
            continue;
        }
        if !line.starts_with(b"#") {
            break line;
        }
        if let Some(text) = line.strip_prefix(b"#separator ") {
            separator = decoded(text);
        } else if let Some(text) = value(line, b"#unset_field", separator) {
            unset = text.to_vec();
        }
        names = names_of(line, separator).or(names);
    };
    let names = names?;
    let is_zeek = separator.is_some();
    let separator = separator.unwrap_or(match row.contains(&b'\t') {
        true => b'\t',
        false => b' ',
    });
    Some(Declaration {
        names,
        separator,
        unset,
        has_quotes: !is_zeek,
    })
}

/// The names that a line declares.
fn names_of(line: &[u8], separator: Option<u8>) -> Option<Vec<Vec<u8>>> {
    let names: Vec<Vec<u8>> = match separator {
        Some(separator) => {
            let text = value(line, b"#fields", Some(separator))?;
            text.split(|&byte| byte == separator)
                .map(<[u8]>::to_vec)
                .collect()
        }
        None => {
            let (begin, text) = line.split_at_checked(FIELDS.len())?;
            if !begin.eq_ignore_ascii_case(FIELDS) {
                return None;
            }
            let words = text.split(u8::is_ascii_whitespace);
            words
                .filter(|word| !word.is_empty())
                .map(<[u8]>::to_vec)
                .collect()
        }
    };
    (!names.is_empty()).then_some(names)
}

/// What stands behind a keyword and the separator.
fn value<'l>(line: &'l [u8], keyword: &[u8], separator: Option<u8>) -> Option<&'l [u8]> {
    let rest = line.strip_prefix(keyword)?;
    rest.strip_prefix(&[separator.unwrap_or(b'\t')])
}

/// A separator as Zeek writes it: a character, or `\x` with two digits.
fn decoded(text: &[u8]) -> Option<u8> {
    match text {
        [byte] => Some(*byte),
        [b'\\', b'x', digits @ ..] => {
            let digits = std::str::from_utf8(digits).ok()?;
            u8::from_str_radix(digits, 16).ok()
        }
        _ => None,
    }
}

impl Declaration {
    /// How the columns got their names, for the report.
    pub fn note(&self) -> String {
        let keyword = if self.has_quotes {
            "#Fields"
        } else {
            "#fields"
        };
        format!(
            "The line {keyword} names the columns; `{}` is no value, and lines that begin with # are left out.",
            String::from_utf8_lossy(&self.unset)
        )
    }

    /// The names of the columns, as the header of delimited text.
    pub fn header(&self) -> Vec<u8> {
        let mut text = Vec::new();
        let names = self.names.iter().map(Vec::as_slice);
        add_row(names, self.separator, &mut text);
        text
    }

    /// The rows of a text as delimited text. What stands for no value is blank, lines that begin with `#` are left out.
    pub fn rows(self, text: impl Read + Send + 'static) -> Box<dyn Read + Send> {
        let mut row = 0u64;
        Box::new(Rewritten::new(text, move |line, ready| {
            let line = line.trim_ascii_end_of_line();
            if line.starts_with(b"#") {
                let separator = (!self.has_quotes).then_some(self.separator);
                let names = names_of(line.trim_ascii_end(), separator);
                return match names.is_none_or(|names| names == self.names) {
                    true => Ok(()),
                    false => Err(io::Error::other(format!(
                        "declares other columns behind row {row}; write the rows behind that to a file of their own"
                    ))),
                };
            }
            if line.trim_ascii().is_empty() {
                return Ok(());
            }
            row += 1;
            let fields = self.fields(line);
            let fields = fields.iter().map(|field| match **field == *self.unset {
                true => &b""[..],
                false => field.as_slice(),
            });
            add_row(fields, self.separator, ready);
            Ok(())
        }))
    }

    fn fields(&self, line: &[u8]) -> Vec<Vec<u8>> {
        if !self.has_quotes || !line.contains(&b'"') {
            let is_separator = |byte: &u8| *byte == self.separator;
            let fields = line.split(is_separator).map(<[u8]>::to_vec);
            // Blanks may be several.
            return match self.separator {
                b' ' => fields.filter(|field| !field.is_empty()).collect(),
                _ => fields.collect(),
            };
        }
        let (mut fields, mut field) = (Vec::new(), Vec::new());
        let (mut is_quoted, mut is_begun) = (false, false);
        let mut bytes = line.iter().copied().peekable();
        while let Some(byte) = bytes.next() {
            match byte {
                b'"' if is_quoted && bytes.peek() == Some(&b'"') => {
                    bytes.next();
                    field.push(b'"');
                }
                b'"' if is_quoted || !is_begun => (is_quoted, is_begun) = (!is_quoted, true),
                _ if byte == self.separator && !is_quoted => {
                    if is_begun || byte != b' ' {
                        fields.push(std::mem::take(&mut field));
                    }
                    is_begun = false;
                }
                _ => {
                    field.push(byte);
                    is_begun = true;
                }
            }
        }
        if is_begun || self.separator != b' ' {
            fields.push(field);
        }
        fields
    }
}

/// A line without what ends it: fields may end in blanks.
trait WithoutEnd {
    fn trim_ascii_end_of_line(&self) -> &[u8];
}

impl WithoutEnd for [u8] {
    fn trim_ascii_end_of_line(&self) -> &[u8] {
        let line = self.strip_suffix(b"\n").unwrap_or(self);
        line.strip_suffix(b"\r").unwrap_or(line)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn text(log: &str) -> Option<String> {
        let declared = of(log.as_bytes())?;
        let mut text = String::from_utf8(declared.header()).unwrap();
        let log = Cursor::new(log.as_bytes().to_vec());
        declared.rows(log).read_to_string(&mut text).unwrap();
        Some(text)
    }

    #[test]
    fn logs_of_zeek_are_read() {
        let log = "#separator \\x09\n#set_separator\t,\n#empty_field\t(empty)\n#unset_field\t-\n#path\tconn\n\
                   #open\t2026-11-29-10-00-00\n#fields\tts\tuid\tduration\tagent\n#types\ttime\tstring\tinterval\tstring\n\
                   1.5\tC1\t-\t\"x\n2.5\tC2\t0.25\t(empty)\n#close\t2026-11-29-11-00-00\n";
        let rows = "ts\tuid\tduration\tagent\n1.5\tC1\t\t\"\"\"x\"\n2.5\tC2\t0.25\t(empty)\n";
        assert_eq!(text(log).as_deref(), Some(rows));
        let commas = "#separator ,\n#unset_field,NONE\n#fields,a,b\n#types,count,count\n1,NONE\n";
        assert_eq!(text(commas).as_deref(), Some("a,b\n1,\n"));
    }

    #[test]
    fn logs_in_the_extended_format_are_read() {
        let log = "#Software: Microsoft Internet Information Services 10.0\r\n#Version: 1.0\r\n\
                   #Fields: date time cs-method time-taken\r\n2026-11-29 10:00:01 GET 15\r\n\
                   #Date: 2026-11-29\r\n#Fields: date time cs-method time-taken\r\n\
                   2026-11-29  10:00:02 - \"a \"\"b\"\"\"\r\n";
        let rows = "date time cs-method time-taken\n2026-11-29 10:00:01 GET 15\n\
                    2026-11-29 10:00:02  \"a \"\"b\"\"\"\n";
        assert_eq!(text(log).as_deref(), Some(rows));
        let tabs = "#Version: 1.0\n#Fields: date time cs(User-Agent)\nd\tt\ta b\n";
        let rows = "date\ttime\tcs(User-Agent)\nd\tt\ta b\n";
        assert_eq!(text(tabs).as_deref(), Some(rows));
    }

    #[test]
    fn other_texts_declare_nothing() {
        for log in [
            "secret,time\na,1\n",
            "# fields: secret time\na 1\n",
            "#fields\na\n",
            "#Fields:\na\n",
            "#secret,time\na,1\n",
        ] {
            assert_eq!(text(log), None, "{log}");
        }
    }

    #[test]
    fn other_columns_further_down_are_an_error() {
        let log = "#Fields: a b\n1 2\n#Fields: a c\n1 2\n";
        let declared = of(log.as_bytes()).unwrap();
        let rows = std::io::read_to_string(declared.rows(Cursor::new(log)));
        let problem = rows.unwrap_err().to_string();
        assert!(problem.contains("other columns behind row 1"), "{problem}");
    }
}
