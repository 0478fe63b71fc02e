//! Logs from memory: the same values give the same log and the same report as a file of them.

use crate::common::check_schema_of;
use leakgauge::audit::{AuditOptions, audit};
use leakgauge::claim::Claim;
use leakgauge::exact::mechanism::{self, Observed};
use leakgauge::exact::simulate::Simulation;
use leakgauge::log::{
    FirstRows, Format, InputFacts, Log, LogBuilder, ReadOptions, Value, read_from,
};
use serde_json::Value as Json;

const ROWS: usize = 600;

/// Rows of a secret, a number with decimals, an integer and a label that may be missing.
fn rows() -> Vec<(&'static str, f64, i64, Option<&'static str>)> {
    let row = |at: usize| {
        let secret = ["b", "a", "10"][at % 3];
        let time = (at * 7919 % 1000) as f64 / 8.0 + if secret == "a" { 3.0 } else { 0.0 };
        let label = [Some("hit"), Some(" miss"), None, Some("")][at / 3 % 4];
        (secret, time, (at * 31 % 46) as i64 - 7, label)
    };
    (0..ROWS).map(row).collect()
}

fn options() -> ReadOptions {
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    ReadOptions {
        numeric: names(&["time", "size"]),
        categorical: names(&["cache"]),
        ..ReadOptions::default()
    }
}

fn csv() -> String {
    let mut text = "secret,time,size,cache\n".to_owned();
    for (secret, time, size, cache) in rows() {
        let cache = cache.unwrap_or("(null)");
        text += &format!("{secret},{time},{size},{cache}\n");
    }
    text
}

fn json_lines() -> String {
    let line = |(secret, time, size, cache): (&str, f64, i64, Option<&str>)| {
        let cache = Json::from(cache);
        format!("{{\"secret\":\"{secret}\",\"time\":{time},\"size\":{size},\"cache\":{cache}}}\n")
    };
    rows().into_iter().map(line).collect()
}

fn read(text: String, options: &ReadOptions) -> Log {
    read_from("log", std::io::Cursor::new(text), options).unwrap()
}

fn columns() -> LogBuilder {
    let rows = rows();
    let secrets: Vec<&str> = rows.iter().map(|row| row.0).collect();
    let times: Vec<f64> = rows.iter().map(|row| row.1).collect();
    let sizes: Vec<f64> = rows.iter().map(|row| row.2 as f64).collect();
    let caches: Vec<Option<&str>> = rows.iter().map(|row| row.3).collect();
    LogBuilder::new()
        .name("log")
        .secrets(&secrets)
        .numbers("time", &times)
        .numbers("size", &sizes)
        .optional_labels("cache", &caches)
}

fn row_by_row() -> LogBuilder {
    let mut log = LogBuilder::new()
        .name("log")
        .number_column("time")
        .number_column("size")
        .label_column("cache");
    for (secret, time, size, cache) in rows() {
        log.push(secret, &[time.into(), Value::Integer(size), cache.into()])
            .unwrap();
    }
    log
}

/// The facts without how the log is written down.
fn facts(log: &Log) -> InputFacts {
    InputFacts {
        format: Format::Memory,
        delimiter: None,
        header_detected: false,
        first_rows: FirstRows::default(),
        // Nobody asks what first rows of a table in memory show.
        pure_columns: Vec::new(),
        ..log.facts.clone()
    }
}

fn assert_same(one: &Log, other: &Log, of: &str) {
    assert_eq!(one.secrets, other.secrets, "{of}");
    assert_eq!(one.left_out, other.left_out, "{of}");
    // Not printed if they differ: they are long.
    assert!(one.counts == other.counts, "{of}");
    assert!(one.fit_counts == other.fit_counts, "{of}");
    assert!(one.sequence == other.sequence, "{of}");
    assert_eq!(facts(one), facts(other), "{of}");
    // Tables and orders have no comparison of their own.
    let table = |log: &Log| format!("{:?}", log.observations);
    assert!(table(one) == table(other), "{of}");
    let order = |log: &Log| format!("{:?}", log.order);
    assert!(order(one) == order(other), "{of}");
}

fn report(log: &Log) -> Json {
    let options = AuditOptions {
        claims: vec![Claim::parse("advantage(0.1)").unwrap()],
        ..AuditOptions::default()
    };
    let mut report = serde_json::to_value(audit(log, &options).unwrap()).unwrap();
    check_schema_of("audit", &report);
    let input = report["input"].as_object_mut().expect("an object");
    for key in ["format", "delimiter", "header_detected"] {
        input.remove(key);
    }
    report
}

#[test]
fn columns_rows_csv_and_json_lines_give_the_same_log_and_the_same_report() {
    let log = columns().build().unwrap();
    assert_eq!(log.secrets, ["10", "a", "b"]);
    assert_eq!(log.facts.rows, ROWS as u64);
    assert_eq!(log.facts.decimals, [Some(3), Some(0), None]);
    let expected = report(&log);
    assert_eq!(expected["input"]["rows"], ROWS);
    for (of, other) in [
        ("rows", row_by_row().build().unwrap()),
        ("CSV", read(csv(), &options())),
        ("JSON lines", read(json_lines(), &options())),
    ] {
        assert_same(&log, &other, of);
        assert_eq!(report(&other), expected, "{of}");
    }
}

#[test]
fn order_bins_and_some_secrets_are_asked_for_as_of_a_file() {
    let built = columns()
        .keep_order()
        .resolution("time", 5.0)
        .restrict_to(&["a", "b"])
        .build()
        .unwrap();
    let read = read(
        csv(),
        &ReadOptions {
            numeric: vec!["size".to_owned()],
            keep_order: true,
            resolution: vec![("time".to_owned(), 5.0)],
            secrets: vec!["a".to_owned(), "b".to_owned()],
            ..options()
        },
    );
    assert_same(&built, &read, "CSV");
    assert_eq!(built.sequence.as_ref().map(Vec::len), Some(ROWS / 3 * 2));
    assert_eq!(built.left_out, ["10"]);
}

#[test]
fn integers_that_recur_make_a_discrete_log_and_floats_do_not() {
    let secrets: Vec<&str> = ["a", "b"].repeat(300);
    let values: Vec<i64> = (0..600).map(|at| at * 7 % 40).collect();
    let built = LogBuilder::new()
        .secrets(&secrets)
        .integers("size", &values)
        .build()
        .unwrap();
    let rows = secrets.iter().zip(&values);
    let text: String = rows.map(|(s, v)| format!("{s},{v}\n")).collect();
    let read = read(format!("secret,size\n{text}"), &ReadOptions::default());
    assert_eq!(
        format!("{:?}", built.observations),
        format!("{:?}", read.observations)
    );
    assert_eq!(built.counts, read.counts);
    let floats: Vec<f64> = values.iter().map(|&value| value as f64).collect();
    let floats = LogBuilder::new()
        .secrets(&secrets)
        .numbers("size", &floats)
        .build()
        .unwrap();
    assert_ne!(floats.observations.kind(), built.observations.kind());
}

#[test]
fn simulated_numbers_need_not_be_printed() {
    let mechanism = mechanism::parse("laplace(scale=2, secrets=0..2)").unwrap();
    let mut simulation = Simulation::new(&*mechanism, 5).unwrap();
    let mut built = LogBuilder::new().name("log").number_column("observation");
    let mut text = "secret,observation\n".to_owned();
    for _ in 0..500 {
        let (secret, observation) = simulation.next_values();
        let [Observed::Number(value)] = observation[..] else {
            panic!("noise is a number");
        };
        text += &format!("{secret},{value}\n");
        built.push(secret, &[value.into()]).unwrap();
    }
    let options = ReadOptions {
        numeric: vec!["observation".to_owned()],
        ..ReadOptions::default()
    };
    assert_same(&built.build().unwrap(), &read(text, &options), "CSV");
}

#[cfg(feature = "parquet")]
#[test]
fn record_batches_give_the_log_of_a_file() {
    use crate::common::columns::{arrow_file, numeric_batch};
    use leakgauge::log::from_batches;

    let batch = numeric_batch(900);
    let place = crate::common::Place::new().file("log.arrow", arrow_file(&batch, None));
    let file = place.path().join("log.arrow").display().to_string();
    let options = ReadOptions {
        files: vec![file],
        ..ReadOptions::default()
    };
    let read = leakgauge::log::read(&options, &Default::default()).unwrap();
    let batches = [batch.slice(0, 500), batch.slice(500, 400)];
    let built = from_batches(batches, &options).unwrap();
    assert_same(&built, &read, "Arrow");
    assert_eq!(built.facts.format, Format::Arrow);

    let error = from_batches([], &options).unwrap_err().to_string();
    assert!(error.contains("no record batch"), "{error}");
    let other = batch.project(&[1, 0]).unwrap();
    let error = from_batches([batch, other], &options).unwrap_err();
    assert!(error.to_string().contains("record batch 2"), "{error}");
}

#[cfg(feature = "parquet")]
#[test]
fn a_second_log_of_record_batches_is_learned_from() {
    use crate::common::columns::{arrow_file, numeric_batch};
    use leakgauge::log::from_batches_fit_on;

    let (batch, fit) = (numeric_batch(900), numeric_batch(300));
    let place = crate::common::Place::new()
        .file("log.arrow", arrow_file(&batch, None))
        .file("fit.arrow", arrow_file(&fit, None));
    let file = |name: &str| place.path().join(name).display().to_string();
    let options = ReadOptions {
        files: vec![file("log.arrow")],
        fit_on: Some(file("fit.arrow")),
        ..ReadOptions::default()
    };
    let read = leakgauge::log::read(&options, &Default::default()).unwrap();
    let name = file("fit.arrow");
    let built = from_batches_fit_on([batch.clone()], (&name, [fit]), &options).unwrap();
    assert_same(&built, &read, "Arrow");
    assert_eq!(built.fit_counts, read.fit_counts);
    assert_eq!(built.facts.fit_on, Some(name));

    let other = batch.project(&[0]).unwrap();
    let error = from_batches_fit_on([batch], ("other", [other]), &options).unwrap_err();
    assert!(error.to_string().contains("other"), "{error}");
}
