//! Pairs of neighboring secrets, as they are written on the command line or in a file.

use csv::{ReaderBuilder, Trim};

use leakgauge_base::error::{Error, Place, Result, shorten};
use leakgauge_base::naming::setting;

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
    let reader = std::fs::File::open(file).map_err(|error| Error::io(file, error))?;
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(Trim::All)
        .from_reader(reader);
    let mut pairs = Vec::new();
    for (at, record) in reader.records().enumerate() {
        let row = at as u64 + 1;
        let record =
            record.map_err(|error| Error::data(Place::file(file).row(row), error.to_string()))?;
        if record.len() != 2 {
            return Err(Error::data(
                Place::file(file).row(row),
                format!("has {} fields, not two", record.len()),
            )
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
