//! Lines that begin with `#` in delimited text: comments, or a header as NumPy writes it (`# secret,time`).

use std::io::{Cursor, Read};

use crate::open::rewritten::Rewritten;
use crate::row::is_number;

/// A text without its comments, the beginning that was already read first. The lines before the rows are looked at: one
/// that may be a row is no comment; the last one is the header if it has as many fields as the row behind it, and that row
/// has a number or it names the secret. Where they are comments, all lines that begin with `#` are.
pub(super) fn left_out(
    name: &str,
    head: Vec<u8>,
    input: Box<dyn Read + Send>,
    delimiter: Option<u8>,
) -> (Vec<u8>, Box<dyn Read + Send>) {
    if head.first() != Some(&b'#') {
        return (head, input);
    }
    let Some((header, from)) = rest(name, &head, delimiter) else {
        return (head, input);
    };
    // The last line may go on behind what was read.
    let end = head
        .iter()
        .rposition(|&byte| byte == b'\n')
        .map_or(0, |at| at + 1);
    let mut is_open = false;
    let mut filtered = move |line: &[u8], ready: &mut Vec<u8>| {
        if is_open || !line.starts_with(b"#") {
            let quotes = line.iter().filter(|&&byte| byte == b'"').count();
            is_open ^= !quotes.is_multiple_of(2);
            ready.extend(line);
        }
    };
    let mut text = header.map_or_else(Vec::new, <[u8]>::to_vec);
    let lines = head[from..end.max(from)].split_inclusive(|&byte| byte == b'\n');
    lines.for_each(|line| filtered(line, &mut text));
    let behind = Cursor::new(head[end.max(from)..].to_vec()).chain(input);
    let behind = Rewritten::new(behind, move |line, ready| {
        filtered(line, ready);
        Ok(())
    });
    (text, Box::new(behind))
}

/// A header in the last comment, with its line break, and where the text behind the comments begins. `None` where lines
/// are rows whose first field begins with `#`.
fn rest<'h>(
    name: &str,
    head: &'h [u8],
    delimiter: Option<u8>,
) -> Option<(Option<&'h [u8]>, usize)> {
    let (mut from, mut before) = (0, Vec::new());
    let mut lines = head.split_inclusive(|&byte| byte == b'\n');
    let row = loop {
        let line = lines.next()?;
        match line.first() {
            Some(b'#') => before.push(line),
            _ if line.trim_ascii().is_empty() => {}
            _ => break line,
        }
        from += line.len();
    };
    let delimiter = crate::delimiter::delimiter(name, row, delimiter);
    let fields = |line: &[u8]| -> Vec<String> {
        let fields = line.split(|&byte| byte == delimiter);
        let text = |field| String::from_utf8_lossy(field).trim().to_owned();
        fields.map(text).collect()
    };
    let own = fields(row);
    let is_like_row = |line: &&[u8]| fields(line).len() == own.len();
    let mut behind = lines.filter(|line| line.starts_with(b"#"));
    if before.iter().all(is_like_row) && behind.any(|line| is_like_row(&line)) {
        return None;
    }
    let last = before.last().copied().unwrap_or_default();
    // Of a single column nobody can say what begins a comment.
    if own.len() < 2 {
        return None;
    }
    let hashes = last
        .iter()
        .take_while(|&&byte| byte == b'#' || byte == b' ');
    let header = &last[hashes.count()..];
    let names = fields(header);
    if names.len() != own.len() {
        return Some((None, from));
    }
    let are_numbers = |fields: &[String]| fields.iter().any(|field| is_number(field));
    if are_numbers(&fields(last)) && are_numbers(&own) {
        return None;
    }
    let is_secret = |name: &String| name.eq_ignore_ascii_case("secret");
    let is_header = !own.iter().any(is_secret)
        && !are_numbers(&names)
        && (are_numbers(&own) || names.iter().any(is_secret));
    Some((is_header.then_some(header), from))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text, where so many bytes of it were already read.
    fn read_after(text: &str, head: usize) -> String {
        let (head, behind) = text.as_bytes().split_at(head);
        let behind = Box::new(Cursor::new(behind.to_vec()));
        let (head, mut behind) = left_out("log.csv", head.to_vec(), behind, None);
        let mut text = String::from_utf8(head).unwrap();
        behind.read_to_string(&mut text).unwrap();
        text
    }

    fn without(text: &str) -> String {
        read_after(text, text.len())
    }

    #[test]
    fn comments_among_the_rows_are_left_out_where_the_first_lines_are_comments() {
        let text =
            "# made by x\nsecret,time\na,1.5\n# restart, at 10\nb,2\n#a,3\n\"c\n#c\",4\n#close";
        let rows = "secret,time\na,1.5\nb,2\n\"c\n#c\",4\n";
        for head in [30, 40, 50, 60, text.len()] {
            assert_eq!(read_after(text, head), rows, "{head}");
        }
        assert_eq!(
            without("# secret,time\na,1.5\n# restart\nb,2\n"),
            "secret,time\na,1.5\nb,2\n"
        );
    }

    #[test]
    fn comments_before_the_rows_are_left_out() {
        let rows = "secret,time\na,1.5\nb,2\n";
        for comments in ["# made by x\n", "#\n\n# at 10, in y, by z\n", "# a, b\n"] {
            assert_eq!(without(&format!("{comments}{rows}")), rows, "{comments}");
        }
        assert_eq!(without("# one row is one use\na;1\nb;2\n"), "a;1\nb;2\n");
        assert_eq!(without(rows), rows);
    }

    #[test]
    fn the_last_comment_may_be_the_header() {
        let rows = "a,1.5\nb,2\n";
        let header = "secret,time\n";
        assert_eq!(
            without(&format!("# made by x\n# {header}{rows}")),
            format!("{header}{rows}")
        );
        assert_eq!(
            without(&format!("#{header}{rows}")),
            format!("{header}{rows}")
        );
        assert_eq!(
            without("# secret x\n1 2.5\n2 3\n"),
            "secret x\n1 2.5\n2 3\n"
        );
        assert_eq!(
            without("#secret,answer\na,yes\nb,no\n"),
            "secret,answer\na,yes\nb,no\n"
        );
    }

    #[test]
    fn rows_that_begin_with_a_hash_are_rows() {
        for rows in [
            "#a,1\n#b,2\n",
            "#a,1\nb,2\n#a,3\n",
            "#a,1\nb,2\n",
            "#1pass\nsecret\n",
            "#a\n",
        ] {
            assert_eq!(without(rows), rows, "{rows}");
        }
    }
}
