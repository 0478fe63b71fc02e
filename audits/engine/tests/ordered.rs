//! Rows in the order in which they were recorded, against this crate's own reader of files in that order.

mod common;

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, StringArray, TimestampMicrosecondArray};
use common::{Words, json, options, write};
use leakgauge::log::{EngineOptions, Log, ReadMeter, ReadOptions, read};

/// A row: when it was recorded, its session, its secret and its answer.
type Recorded = (i64, u64, &'static str, u64);

/// Rows of two secrets whose answers drift, each at a time of its own, in sessions of twenty rows.
fn rows(count: u64) -> Vec<Recorded> {
    let mut words = Words(7);
    (0..count)
        .map(|at| {
            let secret = words.next() % 2;
            let answer = at * 8 / count + words.next() % (3 + secret);
            let session = at / 20;
            (17 * at as i64, session, ["a", "b"][secret as usize], answer)
        })
        .collect()
}

/// The same rows in another order, which does not depend on what they hold.
fn mixed(rows: &[Recorded]) -> Vec<Recorded> {
    let mut words = Words(11);
    let mut keyed: Vec<_> = rows.iter().map(|row| (words.next(), *row)).collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, row)| row).collect()
}

fn csv(rows: &[Recorded], path: &Path) -> String {
    let mut text = "when,session,secret,answer\n".to_owned();
    for (when, session, secret, answer) in rows {
        writeln!(text, "{when},{session},{secret},{answer}").unwrap();
    }
    std::fs::write(path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn parquet(rows: &[Recorded], path: &Path) -> String {
    let when: Vec<i64> = rows.iter().map(|row| row.0).collect();
    let secrets: Vec<&str> = rows.iter().map(|row| row.2).collect();
    let column = |of: fn(&Recorded) -> u64| -> ArrayRef {
        Arc::new(
            rows.iter()
                .map(|row| of(row) as i64)
                .collect::<Int64Array>(),
        )
    };
    write(
        path,
        vec![
            (
                "when",
                Arc::new(TimestampMicrosecondArray::from(when)) as ArrayRef,
            ),
            ("session", column(|row| row.1)),
            ("secret", Arc::new(StringArray::from(secrets))),
            ("answer", column(|row| row.3)),
        ],
    );
    path.to_str().unwrap().to_owned()
}

fn by_time(files: &[String]) -> ReadOptions {
    let mut options = options(files, None, None);
    let engine = options.engine.as_mut().unwrap();
    engine.order_by = vec!["when".into()];
    ReadOptions {
        max_rows: None,
        observe: Some(vec!["answer".into()]),
        ..options
    }
}

fn plain(options: &ReadOptions, file: &str) -> ReadOptions {
    ReadOptions {
        files: vec![file.to_owned()],
        engine: None,
        ..options.clone()
    }
}

fn log(options: &ReadOptions) -> Log {
    read(options, &ReadMeter::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// What a log says, but for how it was read.
fn content(log: &Log) -> String {
    format!(
        "{:?} {:?} {:?} {:?} {:?} {:?}",
        log.secrets, log.counts, log.order, log.sequence, log.units, log.facts.blocks
    )
}

#[test]
fn rows_in_another_order_are_read_as_they_were_recorded() {
    let place = tempfile::tempdir().unwrap();
    let rows = rows(3_000);
    let in_order = csv(&rows, &place.path().join("in_order.csv"));
    let mixed = mixed(&rows);
    let files = [
        csv(&mixed, &place.path().join("mixed.csv")),
        parquet(&mixed, &place.path().join("mixed.parquet")),
    ];
    let halves = [
        parquet(&mixed[..1_000], &place.path().join("one.parquet")),
        parquet(&mixed[1_000..], &place.path().join("two.parquet")),
    ];
    for files in [&files[..1], &files[1..], &halves[..]] {
        let each = by_time(files);
        for options in [
            each.clone(),
            ReadOptions {
                keep_order: true,
                ..each.clone()
            },
            ReadOptions {
                group: Some("session".into()),
                ..each.clone()
            },
        ] {
            let (there, here) = (log(&options), log(&plain(&options, &in_order)));
            assert_eq!(content(&there), content(&here), "{files:?}");
            assert!(there.order.is_some());
        }
    }
}

#[test]
fn blocks_are_read_in_their_order() {
    let place = tempfile::tempdir().unwrap();
    let mut words = Words(3);
    let rows: Vec<Recorded> = (0..2_000)
        .map(|at| {
            let secret = (at % 2) as usize;
            let time = 100 + words.next() % 50 + 5 * secret as u64;
            (at as i64, at / 2, ["a", "b"][secret], time)
        })
        .collect();
    let in_order = csv(&rows, &place.path().join("in_order.csv"));
    let mixed = parquet(&mixed(&rows), &place.path().join("mixed.parquet"));
    let options = ReadOptions {
        block: Some("session".into()),
        numeric: vec!["answer".into()],
        ..by_time(&[mixed])
    };
    let (there, here) = (log(&options), log(&plain(&options, &in_order)));
    assert_eq!(content(&there), content(&here));
    assert!(there.facts.blocks.is_some());
}

#[test]
fn drift_is_seen_and_the_report_does_not_depend_on_files_or_threads() {
    let place = tempfile::tempdir().unwrap();
    // Secrets take turns: what drifts could be taken for them.
    let in_turns = rows(4_000).into_iter();
    let in_turns = in_turns.map(|(when, session, _, answer)| {
        let secret = ["a", "b"][session as usize % 2];
        (when, session, secret, answer)
    });
    let mixed = mixed(&in_turns.collect::<Vec<_>>());
    let whole = parquet(&mixed, &place.path().join("whole.parquet"));
    let options = ReadOptions {
        numeric: vec!["answer".into()],
        ..by_time(&[whole])
    };
    let report = json(&options);
    let text = String::from_utf8(report.clone()).unwrap();
    assert!(text.contains("\"drift\""), "{text}");
    assert!(text.contains("in the order of when"), "{text}");
    let one = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    assert_eq!(report, one.install(|| json(&options)));
}

#[test]
fn rows_of_one_time_are_in_random_order_which_does_not_depend_on_the_files() {
    let place = tempfile::tempdir().unwrap();
    // Forty rows share each time; sorted by what they hold, they would look like runs.
    let rows: Vec<Recorded> = rows(4_000)
        .into_iter()
        .enumerate()
        .map(|(at, (_, session, secret, answer))| (at as i64 / 40, session, secret, answer))
        .collect();
    let one = parquet(&rows, &place.path().join("one.parquet"));
    let other = parquet(&mixed(&rows), &place.path().join("other.parquet"));
    let [one, other] = [one, other].map(|file| {
        log(&ReadOptions {
            keep_order: true,
            ..by_time(&[file])
        })
    });
    assert_eq!(one.sequence, other.sequence);
    let sequence = one.sequence.as_ref().unwrap();
    let same = sequence
        .windows(2)
        .filter(|pair| pair[0] == pair[1])
        .count();
    // Neighbors that are equal: at random about one in six, sorted nearly all.
    assert!((300..1_200).contains(&same), "{same}");
    assert!(
        one.facts
            .notes
            .iter()
            .any(|note| note.contains("4000 rows share"))
    );
}

fn refused(options: &ReadOptions, words: &[&str]) {
    let error = read(options, &ReadMeter::default())
        .unwrap_err()
        .to_string();
    for word in words {
        assert!(error.contains(word), "{word:?} is not in: {error}");
    }
}

#[test]
fn an_order_that_is_none_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let file = |name: &str, text: String| {
        let path = place.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let lines = |when: &dyn Fn(usize) -> String| {
        let rows = (0..200).map(|at| format!("{},{},{}\n", when(at), at % 2, at % 5));
        format!("when,secret,answer\n{}", rows.collect::<String>())
    };
    let words = file("words.csv", lines(&|at| format!("day {at}")));
    refused(
        &by_time(&[words]),
        &["`order_by = when`", "not all numbers"],
    );
    // Behind the rows that are looked at first.
    let text = (0..3_000).map(|at| match at {
        2_500 => ",0,1\n".to_owned(),
        at => format!("{at},{},{}\n", at % 2, at % 5),
    });
    let hole = file(
        "hole.csv",
        format!("when,secret,answer\n{}", text.collect::<String>()),
    );
    refused(
        &by_time(&[hole]),
        &["`order_by = when`", "a row has nothing there"],
    );
    let fine = file("fine.csv", lines(&|at| at.to_string()));
    let with = |change: &dyn Fn(&mut ReadOptions)| {
        let mut options = by_time(std::slice::from_ref(&fine));
        change(&mut options);
        options
    };
    refused(
        &with(&|options| options.count = Some("answer".into())),
        &["`count`"],
    );
    refused(&with(&|options| options.wide = true), &["`wide`"]);
    refused(
        &with(&|options| options.engine.as_mut().unwrap().order_by = vec!["whem".into()]),
        &["whem", "did you mean `when`"],
    );
    refused(
        &with(&|options| options.engine.as_mut().unwrap().condition = Some("answer > 10".into())),
        &["no row", "meets the condition"],
    );
    let in_groups = ReadOptions {
        group: Some("answer".into()),
        observe: None,
        engine: Some(EngineOptions::default()),
        ..by_time(&[fine])
    };
    refused(&in_groups, &["`group`", "`order_by`"]);
}
