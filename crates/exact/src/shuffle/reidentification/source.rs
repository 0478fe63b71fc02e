//! P or Q as users give them: a table of probabilities or counts, samples, or a named family.

use hashbrown::HashMap;
use serde::Serialize;

use super::samples::Messages;
use leakgauge_base::error::{Error, Result};
use leakgauge_base::grammar::{Arguments, Bounds, Call, Parameter};

/// The largest number of labels of a named family.
const MAX_LABELS: u64 = 10_000_000;
/// Numbers count as continuous if more than this share of them are distinct.
const DISTINCT: f64 = 0.5;

/// One of the two distributions.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// Labels with weights: probabilities, or counts read as relative frequencies.
    Table {
        /// The distinct labels.
        labels: Vec<String>,
        /// Their weights.
        weights: Vec<f64>,
        /// Whether the weights are counts.
        counts: bool,
    },
    /// Messages, one per row.
    Samples(Vec<String>),
    /// Weight r^−a for the label of rank r; uniform for a = 0.
    Zipf {
        /// The exponent a.
        exponent: f64,
        /// The number of labels; `None` for that of the other distribution.
        size: Option<u64>,
    },
}

/// How P or Q was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "form", rename_all = "kebab-case")]
pub enum Form {
    /// A table of probabilities.
    Probabilities {
        /// The number of messages.
        labels: u64,
    },
    /// A table of counts.
    Counts {
        /// The number of different messages.
        labels: u64,
        /// The sum of the counts.
        messages: u64,
    },
    /// One message per row.
    Messages {
        /// The number of rows.
        messages: u64,
    },
    /// A named family.
    Family,
}

/// P and Q over the same labels, or samples of them.
#[derive(Debug, Clone, PartialEq)]
pub enum Pair {
    /// Weights over the same labels.
    Weights(Vec<f64>, Vec<f64>),
    /// Samples of both.
    Samples(Messages),
}

impl Source {
    /// How it was read.
    pub fn form(&self) -> Form {
        match self {
            Source::Table {
                labels,
                weights,
                counts,
            } => {
                let labels = labels.len() as u64;
                match counts {
                    true => Form::Counts {
                        labels,
                        messages: weights.iter().sum::<f64>() as u64,
                    },
                    false => Form::Probabilities { labels },
                }
            }
            Source::Samples(messages) => Form::Messages {
                messages: messages.len() as u64,
            },
            Source::Zipf { .. } => Form::Family,
        }
    }

    /// Reads `uniform`, `zipf(0.7)`, `zipf(exponent=0.7, size=1000)`; `None` for anything else.
    ///
    /// # Errors
    /// An argument is invalid.
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
            size: arguments.whole_if_given("size", 1, MAX_LABELS)?,
        }))
    }

    /// The table as log-likelihood ratios and their probabilities, for [`RatioLaw::from_log_ratios`].
    ///
    /// # Errors
    /// It is no table of probabilities, or a label is no number; `name` says which.
    ///
    /// [`RatioLaw::from_log_ratios`]: super::RatioLaw::from_log_ratios
    pub fn log_ratios(self, name: &str) -> Result<Vec<(f64, f64)>> {
        let Source::Table {
            labels,
            weights,
            counts: false,
        } = self
        else {
            let problem = "is no table of log-likelihood ratios with their probabilities";
            return Err(Error::parameter(name, problem));
        };
        let number = |label: &String| {
            let number = label.trim().parse::<f64>().ok().filter(|x| !x.is_nan());
            number.ok_or_else(|| {
                Error::parameter(name, format!("{label:?} is no log-likelihood ratio"))
            })
        };
        let ratios = labels.iter().zip(weights);
        ratios.map(|(label, p)| Ok((number(label)?, p))).collect()
    }

    /// Messages and how often each occurred, in the order in which they occurred first.
    ///
    /// # Errors
    /// It is neither a sample nor a table of counts; `name` says which.
    pub fn messages(self, name: &str) -> Result<Vec<(String, u64)>> {
        match self {
            Source::Table {
                labels,
                weights,
                counts: true,
            } => {
                let counts = weights.into_iter().map(|count| count as u64);
                Ok(labels.into_iter().zip(counts).collect())
            }
            Source::Samples(messages) => {
                let mut counts: Vec<(String, u64)> = Vec::new();
                let mut places = HashMap::new();
                for message in messages {
                    let at = *places.entry(message.clone()).or_insert_with(|| {
                        counts.push((message, 0));
                        counts.len() - 1
                    });
                    counts[at].1 += 1;
                }
                Ok(counts)
            }
            _ => {
                let problem = "has neither one message per row nor counts of messages";
                Err(Error::parameter(name, problem))
            }
        }
    }
}

/// Brings P and Q to the same labels. A named family takes its number of labels from the other distribution and ranks
/// them by the other's weights, largest first. `as_samples` reads counts as samples. A list of messages beside a
/// distribution is one too: its frequencies are taken as probabilities.
///
/// # Errors
/// Two named families have no size or different sizes.
pub fn pair(target: Source, decoys: Source, as_samples: bool) -> Result<Pair> {
    let [target, decoys] = if as_samples {
        [as_counts(target, "target")?, as_counts(decoys, "decoys")?]
    } else {
        [target, decoys]
    };
    match (target, decoys) {
        (
            Source::Zipf { exponent: a, size },
            Source::Zipf {
                exponent: b,
                size: other,
            },
        ) => {
            let size = match (size, other) {
                (Some(m), None) | (None, Some(m)) => m,
                (Some(m), Some(other)) if m == other => m,
                _ => {
                    return Err(Error::option("target", "the number of labels is unknown")
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
            Source::Table {
                labels,
                weights,
                counts,
            },
            Source::Table {
                labels: others,
                weights: q,
                counts: other_counts,
            },
        ) => {
            let p = labels.into_iter().zip(weights);
            let (p, q) = united(p, others.into_iter().zip(q));
            if as_samples && counts && other_counts {
                let whole = |row: Vec<f64>| row.into_iter().map(|x| x as u64).collect();
                return Ok(Pair::Samples(Messages::Labels {
                    target: whole(p),
                    decoys: whole(q),
                }));
            }
            Ok(Pair::Weights(p, q))
        }
        (Source::Samples(target), Source::Samples(decoys)) => {
            Ok(Pair::Samples(messages(target, decoys)))
        }
        // Beside a distribution a list of messages is one by its counts.
        (target @ Source::Samples(_), decoys) => pair(as_counts(target, "target")?, decoys, false),
        (target, decoys @ Source::Samples(_)) => pair(target, as_counts(decoys, "decoys")?, false),
    }
}

/// A sample as a table of counts.
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
        _ => Err(Error::option(
            "samples",
            format!("the {name} file has neither counts nor one message per row"),
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

/// Weights, largest first, paired with those of the ranks of a named family.
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

/// Samples of mostly distinct numbers are continuous; all others are labels.
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
