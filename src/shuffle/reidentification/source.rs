//! What a user names as P or Q: a table of probabilities or counts, samples, or a named family.

use std::io::Read;

use csv::{ReaderBuilder, StringRecord, Trim};
use hashbrown::HashMap;

use super::samples::Messages;
use crate::channel::SUM_TOLERANCE;
use crate::error::{Error, Place, Result};
use crate::grammar::{Arguments, Bounds, Call, Parameter};
use crate::log;

/// A count that a number holds exactly.
const MOST_COUNT: f64 = (1_u64 << 53) as f64;
/// The most labels of a named family.
const MOST_LABELS: u64 = 10_000_000;
/// Numbers are a continuous law's if more than this share of them differ.
const DISTINCT: f64 = 0.5;

/// One of the two distributions.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// Labels with weights: probabilities, or counts read as relative frequencies.
    Table {
        /// The labels, each once.
        labels: Vec<String>,
        /// Their weights.
        weights: Vec<f64>,
        /// Whether the weights are counts.
        counts: bool,
    },
    /// Messages, one a row.
    Samples(Vec<String>),
    /// Weight r^−a for the label of rank r; uniform for a = 0.
    Zipf {
        /// a.
        exponent: f64,
        /// The number of labels; that of the other distribution if not given.
        size: Option<u64>,
    },
}

/// P and Q over the same labels, or samples of them.
#[derive(Debug, Clone, PartialEq)]
pub enum Pair {
    /// Weights.
    Weights(Vec<f64>, Vec<f64>),
    /// Samples.
    Samples(Messages),
}

impl Source {
    /// Reads `uniform`, `zipf(0.7)`, `zipf(exponent=0.7, size=1000)`; `None` for anything else.
    ///
    /// # Errors
    /// Arguments that these do not take.
    pub fn named(text: &str) -> Result<Option<Source>> {
        let bare = text.trim();
        if bare != "uniform" && !bare.starts_with("uniform(") && !bare.starts_with("zipf(") {
            return Ok(None);
        }
        const SIZE: Parameter = Parameter::named("size", "the number of labels");
        const EXPONENT: Parameter = Parameter::positional("exponent", "the exponent, 0 or more");
        let call = Call::parse(bare)?;
        let is_zipf = call.name == "zipf";
        let parameters: &[Parameter] = if is_zipf { &[EXPONENT, SIZE] } else { &[SIZE] };
        let arguments = Arguments::new(&call, parameters)?;
        Ok(Some(Source::Zipf {
            exponent: if is_zipf {
                arguments.number("exponent", Bounds::Between(0.0, 100.0))?
            } else {
                0.0
            },
            size: arguments.whole_if_given("size", 1, MOST_LABELS)?,
        }))
    }

    /// Reads a file: one column are samples, two are labels with probabilities or counts. A first row
    /// whose second field is no number names the columns, as does one that is `label`, `value`,
    /// `observation`, `sample`, `message` or `password`, or a word above numbers.
    ///
    /// Weights under the name `count`, or whole numbers that do not sum to 1, are counts.
    ///
    /// # Errors
    /// An empty file, ragged rows, a label twice, weights that are negative, not finite or beyond 2⁵³,
    /// probabilities that do not sum to 1 within 1e-9.
    pub fn read(name: &str, input: impl Read, header: Option<bool>) -> Result<Source> {
        let (records, header) = records(name, input, header)?;
        let body = &records[usize::from(header)..];
        if body.is_empty() {
            return Err(Error::file(name, "has column names but no rows"));
        }
        if body[0].1.len() == 1 {
            let samples = body.iter().map(|(line, record)| match record.len() {
                1 => Ok(record[0].to_owned()),
                fields => Err(ragged(name, *line, fields, 1)),
            });
            return Ok(Source::Samples(samples.collect::<Result<_>>()?));
        }
        let counted = header && records[0].1[1].eq_ignore_ascii_case("count");
        table(name, body, counted)
    }
}

fn ragged(name: &str, line: u64, fields: usize, width: usize) -> Error {
    Error::data(
        Place::file(name).row(line),
        format!("has {fields} fields, others have {width}"),
    )
    .with_hint("one column of messages, or two columns: label and probability or count")
}

fn table(name: &str, body: &[(u64, StringRecord)], counted: bool) -> Result<Source> {
    let (mut labels, mut weights) = (
        Vec::with_capacity(body.len()),
        Vec::with_capacity(body.len()),
    );
    let mut seen: HashMap<&str, u64> = HashMap::with_capacity(body.len());
    for (line, record) in body {
        if record.len() != 2 {
            return Err(ragged(name, *line, record.len(), 2));
        }
        let place = || Place::file(name).row(*line).column("2").value(&record[1]);
        let weight: f64 = (record[1].parse()).map_err(|_| {
            Error::data(place(), "is not a number")
                .with_hint("use --header where row 1 names the columns")
        })?;
        if !weight.is_finite() || weight < 0.0 {
            return Err(Error::data(place(), "is neither a probability nor a count"));
        }
        if weight > MOST_COUNT {
            return Err(Error::data(
                place(),
                "is a count beyond 2^53, which no number holds exactly",
            ));
        }
        if let Some(first) = seen.insert(&record[0], *line) {
            let place = Place::file(name).row(*line).column("1").value(&record[0]);
            return Err(Error::data(
                place,
                format!("the label is already in row {first}"),
            ));
        }
        labels.push(record[0].to_owned());
        weights.push(weight);
    }
    let sum: f64 = weights.iter().sum();
    let is_one = (sum - 1.0).abs() <= SUM_TOLERANCE;
    let whole = weights.iter().all(|weight| weight.fract() == 0.0);
    let counts = whole && (counted || !is_one);
    if sum == 0.0 || !(counts || is_one) {
        return Err(
            Error::file(name, format!("the probabilities sum to {sum}, not 1"))
                .with_hint("probabilities sum to 1 within 1e-9; counts are whole numbers"),
        );
    }
    Ok(Source::Table {
        labels,
        weights,
        counts,
    })
}

/// All rows that are not empty, with their numbers, and whether the first names the columns.
fn records(
    name: &str,
    mut input: impl Read,
    header: Option<bool>,
) -> Result<(Vec<(u64, StringRecord)>, bool)> {
    let mut text = Vec::new();
    input
        .read_to_end(&mut text)
        .map_err(|error| log::read_error(name, &error))?;
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(Trim::All)
        .delimiter(log::delimiter(name, text.trim_ascii_start(), None))
        .from_reader(text.as_slice());
    let mut records = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| Error::file(name, error.to_string()))?;
        let line = record.position().map_or(0, csv::Position::line);
        if record.len() > 1 || !record[0].is_empty() {
            records.push((line, record));
        }
    }
    let Some((_, first)) = records.first() else {
        return Err(Error::file(name, "is empty")
            .with_hint("one message a row, or rows of a label and its probability or count"));
    };
    let number = |field: &str| field.parse::<f64>().is_ok();
    let found = if first.len() == 1 {
        const NAMES: [&str; 6] = [
            "label",
            "value",
            "observation",
            "sample",
            "message",
            "password",
        ];
        let rest = || records[1..].iter().all(|(_, record)| number(&record[0]));
        NAMES.iter().any(|name| first[0].eq_ignore_ascii_case(name))
            || (records.len() > 1 && !number(&first[0]) && rest())
    } else {
        !number(&first[1])
    };
    Ok((records, header.unwrap_or(found)))
}

/// Brings both to the same labels. A named family takes its number of labels from the other, and ranks
/// them by the other's weights, largest first.
///
/// # Errors
/// Samples beside a distribution, two named families without a size or of different sizes.
pub fn pair(target: Source, decoys: Source, as_samples: bool) -> Result<Pair> {
    let [target, decoys] = if as_samples {
        [as_counts(target, "target")?, as_counts(decoys, "decoys")?]
    } else {
        [target, decoys]
    };
    match (target, decoys) {
        (Source::Zipf { exponent: a, size }, Source::Zipf { exponent: b, size: other }) => {
            let size = match (size, other) {
                (Some(m), None) | (None, Some(m)) => m,
                (Some(m), Some(other)) if m == other => m,
                _ => {
                    return Err(Error::parameter("--target", "the number of labels is not known")
                        .with_hint("write zipf(exponent=0.7, size=1000)"));
                }
            };
            Ok(Pair::Weights(ranks(a, size), ranks(b, size)))
        }
        (Source::Table { weights, .. }, Source::Zipf { exponent, size }) => {
            let (p, q) = beside_ranks(weights, exponent, size)?;
            Ok(Pair::Weights(p, q))
        }
        (Source::Zipf { exponent, size }, Source::Table { weights, .. }) => {
            let (q, p) = beside_ranks(weights, exponent, size)?;
            Ok(Pair::Weights(p, q))
        }
        (
            Source::Table { labels, weights, counts },
            Source::Table { labels: others, weights: q, counts: other_counts },
        ) => {
            let p = labels.into_iter().zip(weights);
            let (p, q) = united(p, others.into_iter().zip(q));
            if as_samples && counts && other_counts {
                let whole = |row: Vec<f64>| row.into_iter().map(|x| x as u64).collect();
                return Ok(Pair::Samples(Messages::Labels { target: whole(p), decoys: whole(q) }));
            }
            Ok(Pair::Weights(p, q))
        }
        (Source::Samples(target), Source::Samples(decoys)) => {
            Ok(Pair::Samples(messages(target, decoys)))
        }
        _ => Err(Error::parameter(
            "--target and --decoys",
            "one is samples, the other a distribution",
        )
        .with_hint("give both as samples (one message a row) or both as distributions; --samples reads counts as samples")),
    }
}

/// Samples as a table of counts, for --samples.
fn as_counts(source: Source, name: &str) -> Result<Source> {
    match source {
        Source::Table { counts: true, .. } => Ok(source),
        Source::Samples(messages) => {
            let one = messages.into_iter().map(|label| (label, 1.0));
            let (labels, counts): (Vec<String>, Vec<f64>) = tally(one).into_iter().unzip();
            Ok(Source::Table {
                labels,
                weights: counts,
                counts: true,
            })
        }
        _ => Err(Error::parameter(
            "--samples",
            format!("the {name} are neither counts nor one message a row"),
        )),
    }
}

/// Weights by label, in order of first appearance.
fn tally(messages: impl Iterator<Item = (String, f64)>) -> Vec<(String, f64)> {
    let mut number: HashMap<String, usize> = HashMap::new();
    let mut found: Vec<(String, f64)> = Vec::new();
    for (label, weight) in messages {
        if let Some(&at) = number.get(&label) {
            found[at].1 += weight;
        } else {
            number.insert(label.clone(), found.len());
            found.push((label, weight));
        }
    }
    found
}

fn united(
    p: impl Iterator<Item = (String, f64)>,
    q: impl Iterator<Item = (String, f64)>,
) -> (Vec<f64>, Vec<f64>) {
    let (mut number, mut both) = (HashMap::<String, usize>::new(), Vec::new());
    for (side, (label, weight)) in p.map(|x| (0, x)).chain(q.map(|x| (1, x))) {
        let at = *number.entry(label).or_insert_with(|| {
            both.push([0.0, 0.0]);
            both.len() - 1
        });
        both[at][side] += weight;
    }
    both.into_iter().map(|[p, q]| (p, q)).unzip()
}

fn ranks(exponent: f64, size: u64) -> Vec<f64> {
    (1..=size)
        .map(|rank| libm::pow(rank as f64, -exponent))
        .collect()
}

/// Weights, largest first, beside those of as many ranks.
fn beside_ranks(
    mut weights: Vec<f64>,
    exponent: f64,
    size: Option<u64>,
) -> Result<(Vec<f64>, Vec<f64>)> {
    let size = size.unwrap_or(weights.len() as u64);
    if (size as usize) < weights.len() {
        return Err(Error::parameter(
            format!("size={size}"),
            format!("the other distribution has {} labels", weights.len()),
        ));
    }
    weights.sort_by(|a, b| b.total_cmp(a));
    weights.resize(size as usize, 0.0);
    Ok((weights, ranks(exponent, size)))
}

/// Numbers of which most differ are a continuous law's; everything else is labels.
fn messages(target: Vec<String>, decoys: Vec<String>) -> Messages {
    let numbers = |values: &[String]| -> Option<Vec<f64>> {
        let number = |value: &String| value.parse::<f64>().ok().filter(|x| x.is_finite());
        values.iter().map(number).collect()
    };
    if let (Some(p), Some(q)) = (numbers(&target), numbers(&decoys)) {
        let mut all: Vec<u64> = p.iter().chain(&q).map(|x| x.to_bits()).collect();
        let rows = all.len() as f64;
        all.sort_unstable();
        all.dedup();
        if all.len() as f64 > DISTINCT * rows {
            return Messages::Numbers {
                target: p,
                decoys: q,
            };
        }
    }
    let one = |values: Vec<String>| values.into_iter().map(|label| (label, 1.0));
    let (p, q) = united(one(target), one(decoys));
    let whole = |row: Vec<f64>| row.into_iter().map(|x| x as u64).collect();
    Messages::Labels {
        target: whole(p),
        decoys: whole(q),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Source> {
        Source::read("p.csv", text.as_bytes(), None)
    }

    #[test]
    fn tables_and_samples_are_told_apart() {
        let Source::Table { labels, counts, .. } =
            read("label,probability\na,0.25\nb,0.75\n").unwrap()
        else {
            panic!()
        };
        assert_eq!((labels.len(), counts), (2, false));
        assert!(matches!(
            read("a,3\nb,1\n").unwrap(),
            Source::Table { counts: true, .. }
        ));
        assert!(matches!(
            read("password,count\na,1\nb,0\n").unwrap(),
            Source::Table { counts: true, .. }
        ));
        assert!(matches!(
            read("a,1\nb,0\n").unwrap(),
            Source::Table { counts: false, .. }
        ));
        assert_eq!(
            read("value\n1\n2\n").unwrap(),
            Source::Samples(vec!["1".into(), "2".into()])
        );
        assert_eq!(
            read("b\na\n").unwrap(),
            Source::Samples(vec!["b".into(), "a".into()])
        );
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let message = |text: &str| read(text).unwrap_err().to_string();
        assert!(message("").contains("is empty"));
        assert!(message("a,0.5\nb,0.4\n").contains("sum to 0.9"));
        assert!(message("a,0.5\na,0.5\n").contains("already in row 1"));
        assert!(message("a,1e300\nb,1\n").contains("2^53"));
        assert!(message("a,1\nb,-1\n").contains("neither"));
        assert!(message("a,1\nb\n").contains("row 2"));
        assert!(message("label,count\n").contains("no rows"));
        assert!(message("a,0\nb,0\n").contains("sum to 0"));
    }

    #[test]
    fn families_rank_the_labels_of_the_other() {
        let table = read("a,1\nb,7\nc,2\n").unwrap();
        let zipf = Source::named("zipf(1)").unwrap().unwrap();
        let Pair::Weights(p, q) = pair(table, zipf.clone(), false).unwrap() else {
            panic!()
        };
        assert_eq!((p, q), (vec![7.0, 2.0, 1.0], vec![1.0, 0.5, 1.0 / 3.0]));
        assert!(pair(zipf.clone(), zipf, false).is_err());
        assert!(Source::named("uniform.csv").unwrap().is_none());
        assert!(Source::named("zipf(exponent=-1)").is_err());
        let samples = read("x\ny\n").unwrap();
        assert!(pair(samples, Source::named("uniform").unwrap().unwrap(), false).is_err());
    }
}
