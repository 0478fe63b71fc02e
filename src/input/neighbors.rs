//! Pairs of neighboring secrets, as they are written on the command line or in a file.

use leakgauge_base::error::{Error, Result, shorten};
use leakgauge_base::naming::setting;

use super::rows;

/// Reads pairs written `A:B`.
///
/// # Errors
/// A pair that is not two labels with one colon between them.
pub fn parse(pairs: &[String]) -> Result<Vec<[String; 2]>> {
    pairs.iter().map(|text| pair(text)).collect()
}

fn pair(text: &str) -> Result<[String; 2]> {
    match text.split_once(':') {
        Some((a, b)) if !b.contains(':') => Ok([a, b].map(|label| label.trim().to_owned())),
        _ => Err(Error::parameter(
            setting("neighbors", shorten(text)),
            "is not a pair A:B of two secrets",
        )
        .with_hint(format!(
            "labels with a colon or a comma can be given in a file: {}",
            setting("neighbors_file", "FILE")
        ))),
    }
}

/// Reads a file of pairs: two comma-separated fields a row, no header.
///
/// # Errors
/// The file cannot be read, has no rows, or has a row of other than two fields.
pub fn read(file: &str) -> Result<Vec<[String; 2]>> {
    let mut pairs = Vec::new();
    for (place, record) in rows::read(file)? {
        if record.len() != 2 {
            let message = format!("has {} fields, not two", record.len());
            return Err(Error::data(place, message)
                .with_hint("each row names two neighboring secrets: A,B"));
        }
        pairs.push([record[0].to_owned(), record[1].to_owned()]);
    }
    if pairs.is_empty() {
        return Err(Error::file(file, "has no pair of secrets"));
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_has_one_colon() {
        let pairs = parse(&["a:b".to_owned(), " 0 : 1 ".to_owned()]).unwrap();
        assert_eq!(pairs, [["a", "b"], ["0", "1"]]);
        for text in ["a", "a:b:c", ""] {
            let error = parse(&[text.to_owned()]).unwrap_err().to_string();
            assert!(error.contains("A:B"), "{error}");
        }
    }
}
