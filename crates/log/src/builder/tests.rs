//! What is wrong with values in memory is said with its place; what is asked of a builder is asked of a file.

use super::*;
use crate::options::ReadOptions;
use crate::read::read_from;
use crate::row::NULL;

fn two() -> LogBuilder {
    LogBuilder::new()
        .secrets(&["a", "b", "a"])
        .numbers("time", &[1.5, 2.0, 0.25])
}

fn refused(log: LogBuilder) -> String {
    log.build().map(|log| log.secrets).unwrap_err().to_string()
}

fn assert_refused<const N: usize>(cases: [(LogBuilder, &str); N]) {
    for (log, words) in cases {
        let error = refused(log);
        assert!(error.contains(words), "{words}\n{error}");
    }
}

#[test]
fn columns_that_do_not_fit_are_named() {
    let none: [&str; 0] = [];
    assert_refused([
        (
            two().numbers("size", &[1.0]),
            "memory, column size: has 1 values where there are 3 secrets",
        ),
        (two().counts(&[1, 2]), "memory, column count: has 2 values"),
        (
            two().labels("time", &["x", "y", "z"]),
            "memory, column time: two columns have this name",
        ),
        (
            LogBuilder::new().secrets(&["a", "b"]),
            "memory: has no observation column",
        ),
        (
            LogBuilder::new().secrets(&none).number_column("time"),
            "memory: has no rows to use",
        ),
        (
            two().scores(ScoreColumns::One("loss".into())),
            "memory, column loss: is no column of numbers",
        ),
        (
            two().fit_on(LogBuilder::new().secrets(&["a"]).labels("time", &["x"])),
            "memory to learn on: has other columns",
        ),
    ]);
}

#[test]
fn values_that_do_not_fit_are_said_with_their_row() {
    let many: Vec<String> = (0..2_001).map(|at| at.to_string()).collect();
    let labels = vec!["x"; many.len()];
    assert_refused([
        (
            LogBuilder::new()
                .secrets(&["a", "b"])
                .numbers("time", &[1.0, f64::NAN]),
            "memory, row 2, column time, value \"NaN\": is not a finite number",
        ),
        (
            LogBuilder::new()
                .secrets(&["a", "b"])
                .numbers("time", &[f64::INFINITY, 1.0]),
            "memory, row 1, column time, value \"inf\": is not a finite number",
        ),
        (
            LogBuilder::new()
                .secrets(&["a", "b"])
                .mixed("time", &[1.0.into(), "1,234".into()]),
            "memory, row 2, column time, value \"1,234\": is written with a comma",
        ),
        (
            LogBuilder::new()
                .name("mine")
                .secrets(&["a", "a"])
                .numbers("time", &[1.0, 2.0]),
            "mine, column secret: there is only one secret, \"a\"",
        ),
        (
            LogBuilder::new()
                .secrets(&["a", " "])
                .numbers("time", &[1.0, 2.0]),
            "memory, row 2, column secret: the secret is blank",
        ),
        (
            LogBuilder::new().secrets(&many).labels("seen", &labels),
            "memory, row 2001, column secret, value \"2000\": there are more than 2000 secrets",
        ),
    ]);
}

#[test]
fn options_that_do_not_fit_are_named_by_their_field() {
    assert_refused([
        (
            two().restrict_to(&["a", "c"]),
            "`secrets = c`: memory has no row with this secret",
        ),
        (
            two().resolution("size", 1.0),
            "`resolution = size`: is not an observation column of numbers",
        ),
        (
            two().resolution("time", 0.0),
            "`resolution = time=0`: the width of a bin",
        ),
        (
            two().counts(&[1, 1, 1]).keep_order(),
            "`keep_order`: an aggregated log",
        ),
    ]);
}

#[test]
fn a_row_that_does_not_fit_is_left_out() {
    let mut log = two().label_column("seen");
    let error = log.push("a", &[1.0.into()]).unwrap_err().to_string();
    assert!(
        error.contains("memory, row 4: has 1 values where 2 are expected"),
        "{error}"
    );
    let mut log = LogBuilder::new()
        .integer_column("size")
        .label_column("seen");
    log.push("a", &[1i64.into(), "x".into()]).unwrap();
    for (values, words) in [
        (
            [1.5.into(), "x".into()],
            "row 2, column size, value \"1.5\": is not what the column holds: integers",
        ),
        (
            [1i64.into(), 2i64.into()],
            "row 2, column seen, value \"2\": is not what the column holds: labels",
        ),
    ] {
        let error = log.push("b", &values).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    log.push("b", &[2i64.into(), None::<&str>.into()]).unwrap();
    let log = log.build().unwrap();
    assert_eq!(log.counts.total(), 2);
    assert_eq!(log.observations.categories(), [["x"], [NULL]]);
}

#[test]
fn words_among_numbers_are_those_of_a_file() {
    let values = [Some(1.5), None, Some(2.5), None];
    let built = LogBuilder::new()
        .secrets(&["a", "b", "a", "a"])
        .optional_numbers("time", &values)
        .mixed(
            "size",
            &[1i64.into(), "ERR".into(), 2i64.into(), Value::Missing],
        )
        .build()
        .unwrap();
    let text = "secret,time,size\na,1.5,1\nb,(null),ERR\na,2.5,2\na,(null),(null)\n";
    let read = read_from("memory", text.as_bytes(), &ReadOptions::default()).unwrap();
    assert_eq!(built.counts, read.counts);
    let found = |log: &Log| format!("{:?}", log.observations);
    assert_eq!(found(&built), found(&read));
    let labels: Vec<String> = (0..4)
        .map(|symbol| built.observations.label(symbol))
        .collect();
    assert_eq!(labels, ["1.5,1", "2.5,2", "(null),(null)", "(null),ERR"]);
}

#[test]
fn counts_are_those_of_an_aggregated_file() {
    let built = two().counts(&[3, 4, 0]).build().unwrap();
    let text = "secret,time,count\na,1.5,3\nb,2,4\na,0.25,0\n";
    let options = ReadOptions {
        count: Some("count".into()),
        numeric: vec!["time".into()],
        ..ReadOptions::default()
    };
    let read = read_from("memory", text.as_bytes(), &options).unwrap();
    assert_eq!(built.counts, read.counts);
    assert_eq!(built.counts.rows(), [3, 4]);
    assert!(built.order.is_none() && built.facts.aggregated);
    assert_eq!(built.facts.rows, read.facts.rows);
}

#[test]
fn scores_are_the_observation_and_may_be_infinite() {
    let built = two()
        .numbers("yes", &[0.5, f64::INFINITY, 1.0])
        .numbers("no", &[1.0, 0.0, 2.0])
        .scores(ScoreColumns::PerSecret(vec![
            ("b".into(), "no".into()),
            ("a".into(), "yes".into()),
        ]))
        .build()
        .unwrap();
    let names: Vec<&str> = built
        .observations
        .columns()
        .iter()
        .map(|c| c.name.as_str())
        .collect();
    assert_eq!(names, ["no", "yes"]);
    assert!(
        built
            .observations
            .all_numbers()
            .iter()
            .all(|score| score.is_finite())
    );
    assert_eq!(
        built.facts.scores.map(|scores| scores.columns().len()),
        Some(2)
    );
}

#[test]
fn a_second_log_is_learned_from() {
    let built = two().fit_on(two().name("other")).build().unwrap();
    assert_eq!(built.facts.fit_on.as_deref(), Some("other"));
    assert_eq!(built.fit_counts.as_ref(), Some(&built.counts));
    assert_eq!(built.facts.rows, 3);
}

#[test]
fn a_sample_is_drawn_as_of_a_file() {
    let secrets: Vec<&str> = ["a", "b"].repeat(2_000);
    let values: Vec<f64> = (0..4_000).map(|at| f64::from(at) / 3.0).collect();
    let built = LogBuilder::new()
        .secrets(&secrets)
        .numbers("time", &values)
        .max_rows(1_000, 7)
        .build()
        .unwrap();
    let rows = secrets.iter().zip(&values);
    let text: String = rows
        .map(|(secret, value)| format!("{secret},{value}\n"))
        .collect();
    let options = ReadOptions {
        max_rows: Some(1_000),
        seed: 7,
        ..ReadOptions::default()
    };
    let text = std::io::Cursor::new(format!("secret,time\n{text}"));
    let read = read_from("memory", text, &options).unwrap();
    assert_eq!(built.counts, read.counts);
    assert_eq!(built.facts.sampled, read.facts.sampled);
    assert_eq!(built.facts.rows_used, 1_000);
}
