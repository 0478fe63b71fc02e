//! Distributions over messages, from what users name.

use std::collections::{HashMap, HashSet};

use crate::error::{Error, Result};
use crate::shuffle::reidentification::Source;

/// Probabilities of labels.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution {
    /// The labels, distinct.
    pub labels: Vec<String>,
    /// Their probabilities, which sum to 1.
    pub probabilities: Vec<f64>,
}

impl Distribution {
    /// The distribution of a table, of probabilities or of counts read as relative frequencies, or of a
    /// named family with its number of labels, which are then numbers from 1.
    ///
    /// # Errors
    /// Samples; a family whose number of labels is not known.
    pub fn of(name: &str, source: Source) -> Result<Distribution> {
        match source {
            Source::Table {
                labels, weights, ..
            } => Ok(Self::normalized(labels, weights)),
            Source::Zipf {
                exponent,
                size: Some(size),
            } => {
                let labels = (1..=size).map(|rank| rank.to_string()).collect();
                Ok(Self::normalized(labels, ranks(exponent, size)))
            }
            Source::Zipf { size: None, .. } => {
                Err(Error::parameter(name, "the number of labels is not known")
                    .with_hint("write zipf(exponent=0.7, size=1000)"))
            }
            Source::Samples(_) => Err(Error::file(
                name,
                "has one message a row: a sample, of which no law is known",
            )
            .with_hint(
                "give rows of a label and its probability or count; for limits from samples see `leakgauge shuffle reidentify`",
            )),
        }
    }

    /// Two of them. A named family takes its labels from the other, the likeliest first.
    ///
    /// # Errors
    /// As [`Distribution::of`]; a family of fewer labels than the other has.
    pub fn both(names: [&str; 2], sources: [Source; 2]) -> Result<[Distribution; 2]> {
        let [target, decoys] = names;
        Ok(match sources {
            [
                Source::Zipf { exponent, size },
                table @ Source::Table { .. },
            ] => {
                let table = Self::of(decoys, table)?;
                [table.family(exponent, size)?, table]
            }
            [
                table @ Source::Table { .. },
                Source::Zipf { exponent, size },
            ] => {
                let table = Self::of(target, table)?;
                let family = table.family(exponent, size)?;
                [table, family]
            }
            [
                Source::Zipf {
                    exponent: one,
                    size: a,
                },
                Source::Zipf {
                    exponent: other,
                    size: b,
                },
            ] => {
                let family = |name, exponent, size| Self::of(name, Source::Zipf { exponent, size });
                [
                    family(target, one, a.or(b))?,
                    family(decoys, other, b.or(a))?,
                ]
            }
            [one, other] => [Self::of(target, one)?, Self::of(decoys, other)?],
        })
    }

    fn normalized(labels: Vec<String>, mut weights: Vec<f64>) -> Distribution {
        let whole: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= whole);
        Distribution {
            labels,
            probabilities: weights,
        }
    }

    /// Zipf's law over these labels, the likeliest first, and over as many more as are asked for.
    fn family(&self, exponent: f64, size: Option<u64>) -> Result<Distribution> {
        let known = self.labels.len();
        let size = size.unwrap_or(known as u64);
        if size < known as u64 {
            return Err(Error::parameter(
                format!("size={size}"),
                format!("the other distribution has {known} labels"),
            ));
        }
        let mut order: Vec<usize> = (0..known).collect();
        order.sort_by(|&a, &b| self.probabilities[b].total_cmp(&self.probabilities[a]));
        let mut labels: Vec<String> = order.iter().map(|&at| self.labels[at].clone()).collect();
        let taken: HashSet<&String> = self.labels.iter().collect();
        for rank in known as u64 + 1..=size {
            let mut label = format!("rank {rank}");
            while taken.contains(&label) {
                label.push('\'');
            }
            labels.push(label);
        }
        Ok(Self::normalized(labels, ranks(exponent, size)))
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

    /// As a file of labels and probabilities, which reads as the same distribution.
    ///
    /// # Errors
    /// None that memory gives.
    pub fn to_csv(&self) -> Result<String> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let rows = self.labels.iter().zip(&self.probabilities);
        let lines = rows.map(|(label, p)| [label.clone(), p.to_string()]);
        let header = ["label", "probability"].map(str::to_owned);
        for line in [header].into_iter().chain(lines) {
            writer
                .write_record(line)
                .map_err(|error| Error::parameter("distribution", error.to_string()))?;
        }
        let bytes = writer
            .into_inner()
            .map_err(|error| Error::parameter("distribution", error.to_string()))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

fn ranks(exponent: f64, size: u64) -> Vec<f64> {
    (1..=size)
        .map(|rank| libm::pow(rank as f64, -exponent))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Source {
        Source::read("p.csv", text.as_bytes(), None).unwrap()
    }

    fn named(text: &str) -> Source {
        Source::named(text).unwrap().unwrap()
    }

    #[test]
    fn probabilities_and_counts_are_distributions() {
        let one = Distribution::of("p", read("a,0.5\nb,0.5\n")).unwrap();
        assert_eq!(
            one,
            Distribution::of("p", read("label,count\na,7\nb,7\n")).unwrap()
        );
        let other = Distribution::of("q", read("b,0.25\nc,0.75")).unwrap();
        let (labels, rows) = Distribution::align(&[&one, &other]);
        assert_eq!(labels, ["a", "b", "c"]);
        assert_eq!(rows, [[0.5, 0.5, 0.0], [0.0, 0.25, 0.75]]);
        let again = Distribution::of("p", read(&other.to_csv().unwrap())).unwrap();
        assert_eq!(again, other);
    }

    #[test]
    fn families_rank_the_labels_of_the_other() {
        let both = |target, decoys| Distribution::both(["p", "q"], [target, decoys]);
        let [p, q] = both(read("a,1\nb,7\nc,2\n"), named("zipf(1)")).unwrap();
        assert_eq!(p.labels, ["a", "b", "c"]);
        assert_eq!(q.labels, ["b", "c", "a"]);
        assert!((q.probabilities[0] - 6.0 / 11.0).abs() < 1e-15);
        let [p, q] = both(named("uniform(size=4)"), read("a,1\nrank 4,7\nc,2\n")).unwrap();
        assert_eq!(p.labels, ["rank 4", "c", "a", "rank 4'"]);
        assert_eq!((p.probabilities, q.labels.len()), (vec![0.25; 4], 3));
        let [p, q] = both(named("zipf(1, size=2)"), named("uniform")).unwrap();
        assert_eq!(
            (p.labels, q.labels.len()),
            (vec!["1".into(), "2".into()], 2)
        );
        let message = |target, decoys| both(target, decoys).unwrap_err().to_string();
        assert!(message(named("zipf(1)"), named("uniform")).contains("not known"));
        assert!(message(named("uniform(size=1)"), read("a,1\nb,7\n")).contains("has 2 labels"));
        assert!(message(read("x\ny\n"), named("uniform(size=3)")).contains("sample"));
    }
}
