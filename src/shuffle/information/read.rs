//! Distributions over messages, as users write them: `label,probability`.

use std::collections::HashMap;
use std::io::Read;

use crate::error::{Error, Place, Result};
use crate::log::{ReadMeter, delimiter, open};

/// Probabilities of labels, in the order of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution {
    /// The labels, distinct.
    pub labels: Vec<String>,
    /// Their probabilities, which sum to 1.
    pub probabilities: Vec<f64>,
}

impl Distribution {
    /// Reads a file of two columns, label and probability; row 1 is a header if its second field is no
    /// number. `-` is standard input.
    ///
    /// # Errors
    /// A file that cannot be read or is empty; other numbers of columns; labels that repeat; fields that are
    /// no probabilities; a sum that is not 1 within 1e-9.
    pub fn read(name: &str) -> Result<Distribution> {
        let mut text = Vec::new();
        open(name, &ReadMeter::default())?
            .read_to_end(&mut text)
            .map_err(|error| Error::file(name, error.to_string()))?;
        Self::parse(name, &text)
    }

    fn parse(name: &str, text: &[u8]) -> Result<Distribution> {
        let first_line = text.split(|byte| *byte == b'\n').next().unwrap_or(&[]);
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(delimiter(name, first_line, None))
            .has_headers(false)
            .flexible(true)
            .trim(csv::Trim::All)
            .from_reader(text);
        let mut found = Distribution {
            labels: Vec::new(),
            probabilities: Vec::new(),
        };
        let mut seen = HashMap::new();
        for (at, record) in reader.records().enumerate() {
            let place = || Place::file(name).row(at as u64 + 1);
            let record = record.map_err(|error| Error::data(place(), error.to_string()))?;
            if record.len() != 2 {
                let problem = format!("has {} field(s), not 2", record.len());
                return Err(
                    Error::data(place(), problem).with_hint("each row is label,probability")
                );
            }
            let number = match record[1].parse::<f64>() {
                Ok(number) => number,
                Err(_) if at == 0 => continue,
                Err(_) => {
                    return Err(Error::data(
                        place().column("2").value(&record[1]),
                        "is not a number",
                    ));
                }
            };
            if !number.is_finite() || !(0.0..=1.0 + 1e-9).contains(&number) {
                return Err(Error::data(
                    place().column("2").value(&record[1]),
                    "is not a probability",
                ));
            }
            if let Some(before) = seen.insert(record[0].to_owned(), at + 1) {
                let problem = format!("this label is in row {before} already");
                return Err(Error::data(place().column("1").value(&record[0]), problem)
                    .with_hint("add their probabilities up"));
            }
            found.labels.push(record[0].to_owned());
            found.probabilities.push(number);
        }
        found.check(name)?;
        Ok(found)
    }

    fn check(&self, name: &str) -> Result<()> {
        if self.labels.is_empty() {
            return Err(Error::file(name, "has no probabilities")
                .with_hint("each row is label,probability"));
        }
        let sum: f64 = self.probabilities.iter().sum();
        if (sum - 1.0).abs() > 1e-9 {
            return Err(
                Error::file(name, format!("the probabilities sum to {sum}, not 1"))
                    .with_hint("divide each by the sum"),
            );
        }
        Ok(())
    }

    /// Several distributions over the labels of all of them: those of the first, then new ones in their order.
    pub fn align(all: &[&Distribution]) -> (Vec<String>, Vec<Vec<f64>>) {
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        let mut labels: Vec<String> = Vec::new();
        for label in all.iter().flat_map(|law| &law.labels) {
            numbers.entry(label).or_insert_with(|| {
                labels.push(label.clone());
                labels.len() - 1
            });
        }
        let spread = |law: &&Distribution| {
            let mut row = vec![0.0; labels.len()];
            law.labels
                .iter()
                .zip(&law.probabilities)
                .for_each(|(label, p)| row[numbers[label.as_str()]] = *p);
            row
        };
        let rows = all.iter().map(spread).collect();
        (labels, rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        Distribution::parse("p.csv", text.as_bytes())
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn distributions_are_read_with_or_without_a_header() {
        let bare = Distribution::parse("p", b"a,0.5\nb,0.5\n").unwrap();
        assert_eq!(
            bare,
            Distribution::parse("p", b"label,probability\na,0.5\nb,0.5\n").unwrap()
        );
        assert_eq!(bare, Distribution::parse("p", b"a\t0.5\nb\t5e-1").unwrap());
        let other = Distribution::parse("q", b"b,0.25\nc,0.75").unwrap();
        let (labels, rows) = Distribution::align(&[&bare, &other]);
        assert_eq!(labels, ["a", "b", "c"]);
        assert_eq!(rows, [[0.5, 0.5, 0.0], [0.0, 0.25, 0.75]]);
    }

    #[test]
    fn what_is_no_distribution_is_refused_with_its_place() {
        assert!(message("").contains("no probabilities"));
        assert!(message("label,probability\n").contains("no probabilities"));
        assert!(message("a,0.5\nb,0.4").contains("sum to 0.9"));
        assert!(
            message("a,0.5\na,0.5").contains("row 2")
                && message("a,0.5\na,0.5").contains("row 1 already")
        );
        assert!(message("a,1.5\nb,-0.5").contains("not a probability"));
        assert!(message("a,0.5\nb,-0.5\nc,1").contains("row 2"));
        assert!(message("a,NaN\n").contains("not a probability"));
        assert!(message("a,1\nb,x").contains("not a number"));
        assert!(message("a\nb\n").contains("1 field(s)"));
    }
}
