//! Distributions over messages and samples of them, from delimited text.

use std::io::Read;

use csv::{ReaderBuilder, StringRecord, Trim};
use hashbrown::{HashMap, HashSet};

use leakgauge_base::error::{Error, Place, Result};
use leakgauge_base::naming::option;
use leakgauge_exact::channel::SUM_TOLERANCE;
use leakgauge_exact::shuffle::reidentification::Source;
use leakgauge_log as log;

use super::rows;

/// The largest count that is exact as an `f64`.
const MAX_COUNT: f64 = (1_u64 << 53) as f64;

/// Reads a file: one column is a sample, two columns are labels with probabilities or counts. The first row is a
/// header if its second field is not a number, if it is `label`, `value`, `observation`, `sample`, `message` or
/// `password`, or if it is a word above numbers. Counts may stand before their labels.
///
/// Weights in a column named `count`, and whole numbers that do not sum to 1, are counts.
///
/// # Errors
/// The file is empty, rows differ in length, a label is repeated, a weight is negative, not finite or beyond 2⁵³, or
/// probabilities do not sum to 1 within 1e-9.
pub fn read(name: &str, input: impl Read, header: Option<bool>) -> Result<Source> {
    let text = log::whole_table(name, input)?;
    refuse_printed_table(name, &text)?;
    if let Some(found) = lines(name, &text, header) {
        return Ok(found);
    }
    let (records, header) = records(name, &text, header)?;
    let body = &records[usize::from(header)..];
    if body.is_empty() {
        return Err(Error::file(name, "has a header but no rows"));
    }
    if body[0].1.len() == 1 {
        let samples = body.iter().map(|(line, record)| match record.len() {
            1 => Ok(record[0].to_owned()),
            fields => Err(ragged(name, *line, fields, 1)),
        });
        return Ok(Source::Samples(samples.collect::<Result<_>>()?));
    }
    let weight = usize::from(!is_weighed_first(&records, header));
    let counted = header && records[0].1[weight].eq_ignore_ascii_case("count");
    table(name, body, weight, counted)
}

/// Refuses what a database prints for people: its header, rules and footer would be messages.
fn refuse_printed_table(name: &str, text: &[u8]) -> Result<()> {
    let is_rule = |line: &str| {
        let line = line.trim();
        line.contains("---")
            && line.contains(['+', '|'])
            && line.chars().all(|c| "-+|: ".contains(c))
    };
    let first = text.split(|byte| *byte == b'\n').take(3);
    let mut first = first.filter_map(|line| std::str::from_utf8(line).ok());
    match first.any(is_rule) {
        true => Err(Error::file(name, "is a table as it is printed").with_hint(
            "save it as CSV with a header: in psql `\\copy (SELECT …) TO 'counts.csv' CSV HEADER`",
        )),
        false => Ok(()),
    }
}

/// A list whose lines are not fields: each behind its count, as `uniq -c` writes them, or messages with delimiters in some
/// of them. Quotes and a second column throughout are those of a table.
fn lines(name: &str, text: &[u8], header: Option<bool>) -> Option<Source> {
    let text = std::str::from_utf8(text).ok()?;
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    if let Some(counted) = log::counted_lines(&lines) {
        let (labels, weights) = counted
            .into_iter()
            .map(|(count, label)| (label.to_owned(), count as f64))
            .unzip();
        return Some(Source::Table {
            labels,
            weights,
            counts: true,
        });
    }
    if let Some(source) = behind_colons(&lines) {
        return Some(source);
    }
    let delimiter = char::from(log::delimiter(
        name,
        text.trim_ascii_start().as_bytes(),
        None,
    ));
    let whole = lines
        .iter()
        .filter(|line| !line.contains(delimiter))
        .count();
    let is_list = 2 * whole > lines.len() && whole < lines.len();
    if !is_list || text.contains('"') {
        return None;
    }
    let first = usize::from(header.unwrap_or_else(|| is_name(lines[0])));
    let samples = lines[first..].iter().map(|line| line.trim().to_owned());
    Some(Source::Samples(samples.collect()))
}

/// Lists of counts and messages with a colon between them, in either order. Numbers in front of messages may be those of
/// users as well: they are counts where they fall from line to line, as in lists of frequent messages, or recur.
fn behind_colons(lines: &[&str]) -> Option<Source> {
    let count_first = |line: &&'_ str| {
        let (count, message) = line.split_once(':')?;
        Some((message.trim().to_owned(), count.trim().parse().ok()?))
    };
    let count_last = |line: &&'_ str| {
        let (message, count) = line.rsplit_once(':')?;
        Some((message.trim().to_owned(), count.trim().parse().ok()?))
    };
    let all = |split: &dyn Fn(&&str) -> Option<(String, u64)>| -> Option<Vec<(String, u64)>> {
        let rows: Vec<(String, u64)> = lines.iter().map(split).collect::<Option<_>>()?;
        let mut counts: Vec<u64> = rows.iter().map(|(_, count)| *count).collect();
        let falls = counts.is_sorted_by(|a, b| a >= b);
        counts.sort_unstable();
        let recurs = counts.windows(2).any(|two| two[0] == two[1]);
        let is_named = rows.iter().all(|(message, _)| !message.is_empty());
        (is_named && rows.len() > 1 && (falls || recurs)).then_some(rows)
    };
    let rows = all(&count_first).or_else(|| all(&count_last))?;
    let distinct = |rows: &[(String, u64)]| {
        let messages: HashSet<&String> = rows.iter().map(|(message, _)| message).collect();
        messages.len()
    };
    if distinct(&rows) < rows.len() {
        return None;
    }
    let (labels, weights) = rows
        .into_iter()
        .map(|(message, count)| (message, count as f64))
        .unzip();
    Some(Source::Table {
        labels,
        weights,
        counts: true,
    })
}

/// Whether a column of messages is called so.
fn is_name(text: &str) -> bool {
    const NAMES: [&str; 6] = [
        "label",
        "value",
        "observation",
        "sample",
        "message",
        "password",
    ];
    NAMES
        .iter()
        .any(|name| text.trim().eq_ignore_ascii_case(name))
}

fn ragged(name: &str, line: u64, fields: usize, width: usize) -> Error {
    Error::data(
        Place::file(name).row(line),
        format!("has {fields} fields, other rows have {width}"),
    )
    .with_hint("use one column of messages, or two columns: label, and probability or count")
}

/// Whether counts stand before their messages: in a column that is called so, or before messages that are no numbers.
fn is_weighed_first(records: &[(u64, StringRecord)], header: bool) -> bool {
    let is_count = |record: &StringRecord| record[0].parse::<u64>().is_ok();
    let is_number = |record: &StringRecord| record.get(1).is_some_and(is_weight);
    let body = || records[usize::from(header)..].iter();
    let is_named = header && records[0].1[0].eq_ignore_ascii_case("count");
    body().all(|(_, record)| is_count(record))
        && (is_named || body().any(|(_, record)| !is_number(record)))
}

fn is_weight(field: &str) -> bool {
    field.parse::<f64>().is_ok()
}

/// A table of labels and weights, these in column 0 or 1.
fn table(
    name: &str,
    body: &[(u64, StringRecord)],
    weight_at: usize,
    counted: bool,
) -> Result<Source> {
    let label_at = 1 - weight_at;
    let (mut labels, mut weights) = (
        Vec::with_capacity(body.len()),
        Vec::with_capacity(body.len()),
    );
    let mut seen: HashMap<&str, u64> = HashMap::with_capacity(body.len());
    for (line, record) in body {
        if record.len() != 2 {
            return Err(ragged(name, *line, record.len(), 2));
        }
        let (label, weight) = (&record[label_at], &record[weight_at]);
        let place = |at: usize| {
            let place = Place::file(name).row(*line).column((at + 1).to_string());
            place.value(&record[at])
        };
        let weight: f64 = (weight.parse()).map_err(|_| {
            Error::data(place(weight_at), "is not a number").with_hint(match line {
                1 => format!(
                    "use {} if row 1 has the names of the columns",
                    option("header")
                ),
                _ => "write a probability or a count as a number, such as 0.25 or 12".to_owned(),
            })
        })?;
        if !weight.is_finite() || weight < 0.0 {
            let problem = "is neither a probability nor a count";
            return Err(Error::data(place(weight_at), problem));
        }
        if weight > MAX_COUNT {
            let problem = "is a count above 2^53, the largest that can be read exactly";
            return Err(Error::data(place(weight_at), problem));
        }
        if let Some(first) = seen.insert(label, *line) {
            let problem = format!("the label is already in row {first}");
            return Err(Error::data(place(label_at), problem));
        }
        labels.push(label.to_owned());
        weights.push(weight);
    }
    let sum: f64 = weights.iter().sum();
    let is_one = (sum - 1.0).abs() <= SUM_TOLERANCE;
    let whole = weights.iter().all(|weight| weight.fract() == 0.0);
    let counts = whole && (counted || !is_one);
    if sum == 0.0 || !(counts || is_one) {
        return Err(
            Error::file(name, format!("the probabilities sum to {sum}, not 1")).with_hint(
                "probabilities must sum to 1 within 1e-9, and counts must be whole numbers",
            ),
        );
    }
    Ok(Source::Table {
        labels,
        weights,
        counts,
    })
}

/// All rows that are not empty, with their numbers, and whether the first is a header.
fn records(
    name: &str,
    text: &[u8],
    header: Option<bool>,
) -> Result<(Vec<(u64, StringRecord)>, bool)> {
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(Trim::All)
        .delimiter(log::delimiter(name, text.trim_ascii_start(), None))
        .from_reader(text);
    let mut records = Vec::new();
    for record in reader.records() {
        let record = rows::checked(name, record)?;
        let line = record.position().map_or(0, csv::Position::line);
        if record.len() > 1 || !record[0].is_empty() {
            records.push((line, record));
        }
    }
    let Some((_, first)) = records.first() else {
        return Err(Error::file(name, "is empty").with_hint(
            "write one message per row, or a label and its probability or count per row",
        ));
    };
    let found = if first.len() == 1 {
        let rest = || records[1..].iter().all(|(_, record)| is_weight(&record[0]));
        is_name(&first[0]) || (records.len() > 1 && !is_weight(&first[0]) && rest())
    } else {
        !is_weight(&first[1]) && !is_weighed_first(&records, false)
    };
    Ok((records, header.unwrap_or(found)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_exact::shuffle::reidentification::{Pair, pair};

    fn read(text: &str) -> Result<Source> {
        super::read("p.csv", text.as_bytes(), None)
    }

    /// The labels and the counts of a table.
    fn counted(text: &str) -> (Vec<String>, Vec<f64>) {
        match read(text).unwrap() {
            Source::Table {
                labels,
                weights,
                counts: true,
            } => (labels, weights),
            other => panic!("{text}: {other:?}"),
        }
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
    fn counts_may_stand_before_their_messages() {
        for text in [
            "count,password\n9,letmein\n4,123456\n",
            "9,letmein\n4,123456\n",
            "Count,message\n9,letmein\n4,\"123456\"\n",
        ] {
            let (labels, weights) = counted(text);
            assert_eq!(labels, ["letmein", "123456"], "{text}");
            assert_eq!(weights, [9.0, 4.0], "{text}");
        }
        // Which are the counts is not said: the second, as everywhere.
        let Source::Table { labels, .. } = read("1,9\n2,4\n").unwrap() else {
            panic!()
        };
        assert_eq!(labels, ["1", "2"]);
        let twice = read("count,password\n9,a\n4,a\n").unwrap_err();
        assert!(twice.to_string().contains("row 3, column 2, value \"a\""));
    }

    #[test]
    fn bytes_that_are_no_text_have_their_place_and_a_remedy() {
        let error = super::read("p.txt", &b"caf\xe9\nhi\n"[..], None).unwrap_err();
        assert!(error.to_string().contains("row 1, column 1"), "{error}");
        assert!(error.hint().is_some_and(|hint| hint.contains("iconv")));
    }

    /// As the logs are read: counted lines, and messages as they are.
    #[test]
    fn lists_of_messages_are_read_line_by_line() {
        for text in ["9:letmein\n4:a:b\n1:x,y\n", "letmein:9\na:b:4\nx,y:1\n"] {
            let (labels, weights) = counted(text);
            assert_eq!(labels, ["letmein", "a:b", "x,y"]);
            assert_eq!(weights, [9.0, 4.0, 1.0]);
        }
        // Users with their messages.
        assert!(matches!(
            read("1:letmein\n2:qwerty\n3:letmein\n").unwrap(),
            Source::Samples(_)
        ));
        let counted = read("      2 letmein\n      3 qwerty 1\n      1 a,b\n").unwrap();
        let Source::Table {
            labels,
            weights,
            counts: true,
        } = counted
        else {
            panic!()
        };
        assert_eq!(labels, ["letmein", "qwerty 1", "a,b"]);
        assert_eq!(weights, [2.0, 3.0, 1.0]);
        let Source::Samples(messages) = read("password\nletmein\nhi\npa,ss;word\nhi\n").unwrap()
        else {
            panic!()
        };
        assert_eq!(messages, ["letmein", "hi", "pa,ss;word", "hi"]);
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
        let samples = read("x\ny\nx\n").unwrap();
        let uniform = Source::named("uniform").unwrap().unwrap();
        let Pair::Weights(p, q) = pair(samples, uniform, false).unwrap() else {
            panic!()
        };
        assert_eq!((p, q), (vec![2.0, 1.0], vec![1.0, 1.0]));
    }
}

#[cfg(test)]
mod distribution_tests {
    use super::*;
    use leakgauge_exact::shuffle::information::Distribution;

    fn read(text: &str) -> Source {
        super::read("p.csv", text.as_bytes(), None).unwrap()
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
