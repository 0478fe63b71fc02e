//! Lines that begin with `#` before the rows of delimited text: comments, or a header as NumPy writes it (`# secret,time`).

use crate::row::is_number;

/// The beginning of a text without the comments before its rows. A line that may be a row is none; the last one is the
/// header if it has as many fields as the row behind it, and that row has a number or it names the secret.
pub(super) fn left_out(name: &str, head: Vec<u8>, delimiter: Option<u8>) -> Vec<u8> {
    if head.first() != Some(&b'#') {
        return head;
    }
    match rest(name, &head, delimiter) {
        Some((header, from)) => {
            let mut text = header.map_or_else(Vec::new, <[u8]>::to_vec);
            text.extend_from_slice(&head[from..]);
            text
        }
        None => head,
    }
}

/// A header in the last comment, with its line break, and where the text behind the comments begins. `None` where lines
/// are rows whose first field begins with `#`.
fn rest<'h>(
    name: &str,
    head: &'h [u8],
    delimiter: Option<u8>,
) -> Option<(Option<&'h [u8]>, usize)> {
    let (mut from, mut last) = (0, &head[..0]);
    let mut lines = head.split_inclusive(|&byte| byte == b'\n');
    let row = loop {
        let line = lines.next()?;
        match line.first() {
            Some(b'#') => last = line,
            _ if line.trim_ascii().is_empty() => {}
            _ => break line,
        }
        from += line.len();
    };
    if lines.any(|line| line.starts_with(b"#")) {
        return None;
    }
    let delimiter = crate::delimiter::delimiter(name, row, delimiter);
    let fields = |line: &[u8]| -> Vec<String> {
        let fields = line.split(|&byte| byte == delimiter);
        let text = |field| String::from_utf8_lossy(field).trim().to_owned();
        fields.map(text).collect()
    };
    let own = fields(row);
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

    fn without(text: &str) -> String {
        String::from_utf8(left_out("log.csv", text.into(), None)).unwrap()
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
