//! What separates the fields of a text file.

use crate::unpack::without_packing;

/// The delimiter of a file: the one asked for, a tab for `.tsv`, else the commonest in its first line.
pub fn delimiter(file: &str, first_line: &[u8], asked: Option<u8>) -> u8 {
    if let Some(delimiter) = asked {
        return delimiter;
    }
    if without_packing(file).ends_with(".tsv") {
        return b'\t';
    }
    let mut quoted = false;
    let mut seen = [(b',', 0usize), (b'\t', 0), (b';', 0)];
    for &byte in first_line {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' => break,
            _ if !quoted => {
                if let Some((_, times)) = seen.iter_mut().find(|(d, _)| *d == byte) {
                    *times += 1;
                }
            }
            _ => {}
        }
    }
    let is_spaced = || are_numbers_between_spaces(first_line) || are_names_over_numbers(first_line);
    if seen.iter().all(|(_, times)| *times == 0) && is_spaced() {
        return b' ';
    }
    // The first of equals wins, so that a single column is read as CSV.
    seen.iter()
        .rev()
        .max_by_key(|(_, times)| *times)
        .map_or(b',', |&(byte, _)| byte)
}

/// Whether a line of names stands over as many numbers, with one space between each two. The first name may be blank, as
/// where rows have numbers of their own.
fn are_names_over_numbers(text: &[u8]) -> bool {
    let mut lines = text.splitn(3, |&byte| byte == b'\n');
    let (Some(names), Some(numbers), Some(_)) = (lines.next(), lines.next(), lines.next()) else {
        return false;
    };
    let parts = |line: &[u8]| line.trim_ascii_end().split(|&byte| byte == b' ').count();
    let mut names_of = names.trim_ascii_end().split(|&byte| byte == b' ').skip(1);
    are_numbers_between_spaces(numbers)
        && parts(names) == parts(numbers)
        && names_of.all(|name| !name.is_empty())
}

/// Whether a line holds several numbers with one space between each two.
fn are_numbers_between_spaces(text: &[u8]) -> bool {
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or(text);
    let line = std::str::from_utf8(line.trim_ascii_end()).unwrap_or_default();
    line.contains(' ') && line.split(' ').all(|number| number.parse::<f64>().is_ok())
}
