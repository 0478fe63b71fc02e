//! Distributions over labeled messages, from files or named families.

use std::collections::{HashMap, HashSet};

use crate::shuffle::reidentification::Source;
use leakgauge_base::error::{Error, Result};

/// A probability distribution over labels.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution {
    /// The labels, distinct.
    pub labels: Vec<String>,
    /// Their probabilities, which sum to 1.
    pub probabilities: Vec<f64>,
}

impl Distribution {
    /// The distribution given by a table of probabilities or counts (read as relative frequencies), or by a named
    /// family with a size, whose labels are then numbers from 1.
    ///
    /// # Errors
    /// The source is a sample, or a family without a size.
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
                "has one message per row: it is a sample, not a distribution",
            )
            .with_hint(
                "give rows with a label and its probability or count; for limits from samples use `leakgauge shuffle reidentify`",
            )),
        }
    }

    /// Two distributions. A named family takes its labels from the other distribution, the most likely first.
    ///
    /// # Errors
    /// As [`Distribution::of`], or a family has fewer labels than the other distribution.
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

    /// Zipf's law over these labels, the most likely first, and over further labels up to `size`.
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

    /// Extends several distributions to the union of their labels: those of the first, then new ones in order.
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

    /// The distribution as CSV with columns `label,probability`; reading it gives the same distribution.
    ///
    /// # Errors
    /// The CSV writer failed.
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
