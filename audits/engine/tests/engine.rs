//! The query engine in this process, against this crate's own reader.

mod common;

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, Int64Array, StringArray};
use common::{Words, json, options, write};
use leakgauge::log::{EngineOptions, Log, ReadMeter, ReadOptions, read};
use serde_json::Value;

fn file(directory: &Path, name: &str, text: impl AsRef<[u8]>) -> String {
    let path = directory.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// A log of labels and small numbers: three secrets, seven answers, two buckets.
fn rows(count: usize, seed: u64) -> Vec<(&'static str, u64, &'static str)> {
    let mut words = Words(seed);
    (0..count)
        .map(|_| {
            let secret = words.next() % 3;
            let answer = if words.next().is_multiple_of(2) {
                secret
            } else {
                words.next() % 7
            };
            (
                ["a", "b", "c"][secret as usize],
                answer,
                ["low", "high"][(words.next() % 2) as usize],
            )
        })
        .collect()
}

fn csv(rows: &[(&str, u64, &str)]) -> String {
    let mut text = "secret,answer,bucket\n".to_owned();
    for (secret, answer, bucket) in rows {
        writeln!(text, "{secret},{answer},{bucket}").unwrap();
    }
    text
}

fn parquet(path: &Path, rows: &[(&str, u64, &str)]) -> String {
    let secrets: Vec<&str> = rows.iter().map(|row| row.0).collect();
    let answers: Vec<i64> = rows.iter().map(|row| row.1 as i64).collect();
    let buckets: Vec<&str> = rows.iter().map(|row| row.2).collect();
    write(
        path,
        vec![
            ("secret", Arc::new(StringArray::from(secrets)) as ArrayRef),
            ("answer", Arc::new(Int64Array::from(answers))),
            ("bucket", Arc::new(StringArray::from(buckets))),
        ],
    );
    path.to_str().unwrap().to_owned()
}

fn plain(options: &ReadOptions) -> ReadOptions {
    ReadOptions {
        engine: None,
        ..options.clone()
    }
}

fn log(options: &ReadOptions) -> Log {
    read(options, &ReadMeter::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// What a log says, but for how it was read.
fn content(log: &Log) -> String {
    let facts = &log.facts;
    let observations: Vec<String> = (0..log.observations.len() as u32)
        .map(|at| log.observations.label(at))
        .collect();
    format!(
        "{:?} {:?} {observations:?} {:?} {:?} {} {} {:?} {:?}",
        log.secrets,
        log.left_out,
        log.counts,
        log.fit_counts,
        facts.rows,
        facts.rows_used,
        facts.decided,
        facts
            .sampled
            .as_ref()
            .map(|sampled| (&sampled.rows, sampled.cap)),
    )
}

fn assert_same(through_engine: &ReadOptions) {
    let (there, here) = (log(through_engine), log(&plain(through_engine)));
    assert_eq!(content(&there), content(&here));
    assert!(there.order.is_none());
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
fn counts_are_those_of_the_plain_reader_in_every_format() {
    let place = tempfile::tempdir().unwrap();
    let rows = rows(5_000, 1);
    let text = csv(&rows);
    let quoted = text.replace(",low\n", ",\"low\nline\"\n");
    let windows = text.replace('\n', "\r\n");
    let semicolons = text.replace(',', ";");
    let headless = text.split_once('\n').unwrap().1.to_owned();
    let lines: String = rows
        .iter()
        .map(|(secret, answer, bucket)| format!("{{\"secret\":\"{secret}\",\"seen\":{{\"answer\":{answer},\"bucket\":\"{bucket}\"}}}}\n"))
        .collect();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, text.as_bytes()).unwrap();
    let files = [
        file(place.path(), "log.csv", &text),
        file(place.path(), "quoted.csv", quoted),
        file(place.path(), "windows.csv", windows),
        file(place.path(), "semicolons.csv", semicolons),
        file(place.path(), "with ? and * [1].csv", &text),
        file(place.path(), "log.csv.gz", packed.finish().unwrap()),
        file(place.path(), "log.jsonl", lines),
        parquet(&place.path().join("log.parquet"), &rows),
    ];
    for name in &files {
        assert_same(&options(std::slice::from_ref(name), None, None));
    }
    let headless = ReadOptions {
        secret: Some("1".into()),
        ..options(&[file(place.path(), "headless.csv", headless)], None, None)
    };
    assert_same(&headless);
    let narrowed = |name: &String| ReadOptions {
        secrets: vec!["a".into(), "c".into()],
        observe: Some(vec!["answer".into()]),
        ..options(std::slice::from_ref(name), None, None)
    };
    assert_same(&narrowed(&files[0]));
    assert_same(&narrowed(&files[7]));
}

#[test]
fn several_files_are_one_log_whatever_they_are() {
    let place = tempfile::tempdir().unwrap();
    let all = rows(6_000, 2);
    let shuffled: String = all[2_000..4_000]
        .iter()
        .map(|(secret, answer, bucket)| format!("{bucket},{secret},{answer}\n"))
        .collect();
    let files = [
        file(place.path(), "1.csv", csv(&all[..2_000])),
        file(
            place.path(),
            "2.csv",
            format!("bucket,secret,answer\n{shuffled}"),
        ),
        parquet(&place.path().join("3.parquet"), &all[4_000..]),
    ];
    assert_same(&options(&files, None, None));
    let learned = ReadOptions {
        fit_on: Some(files[2].clone()),
        ..options(&files[..2], None, None)
    };
    assert_same(&learned);
    let seventh: Vec<String> = (0..7)
        .map(|at| {
            let text = csv(&all[..100]);
            let text = if at == 6 {
                text.replace("answer", "other")
            } else {
                text
            };
            file(place.path(), &format!("part-{at}.csv"), text)
        })
        .collect();
    refused(
        &options(&seventh, None, None),
        &["part-6.csv", "has no column `answer`"],
    );
}

#[test]
fn counts_of_occurrences_are_added_up() {
    let place = tempfile::tempdir().unwrap();
    let mut text = "secret,answer,n\n".to_owned();
    let mut words = Words(3);
    for row in 0..500 {
        writeln!(
            text,
            "{},{},{}",
            ["a", "b"][row % 2],
            words.next() % 5,
            words.next() % 1_000
        )
        .unwrap();
    }
    let counted = |text: &str| ReadOptions {
        count: Some("n".into()),
        ..options(&[file(place.path(), "counts.csv", text)], None, None)
    };
    assert_same(&counted(&text));
    for (wrong, row) in [
        ("a,1,-1\n", "row 502"),
        ("a,1,1.5\n", "row 502"),
        ("a,1,\n", "row 502"),
        ("a,1,x\n", "row 502"),
    ] {
        refused(
            &counted(&format!("{text}{wrong}")),
            &["counts.csv", row, "column n"],
        );
    }
}

#[test]
fn a_condition_leaves_the_rows_for_which_it_holds() {
    let place = tempfile::tempdir().unwrap();
    let all = rows(5_000, 4);
    let text = csv(&all);
    let lines: String = all
        .iter()
        .map(|(secret, answer, bucket)| {
            format!("{{\"secret\":\"{secret}\",\"answer\":{answer},\"bucket\":\"{bucket}\"}}\n")
        })
        .collect();
    let files = [
        file(place.path(), "log.csv", text),
        file(place.path(), "log.jsonl", lines),
        parquet(&place.path().join("log.parquet"), &all),
    ];
    let kept: Vec<_> = all
        .iter()
        .copied()
        .filter(|(_, answer, bucket)| *answer >= 2 && *answer < 10 && bucket.starts_with('l'))
        .collect();
    let by_hand = log(&plain(&options(
        &[file(place.path(), "kept.csv", csv(&kept))],
        None,
        None,
    )));
    for name in &files {
        // As text, "10" would be less than "2".
        let condition = Some("answer >= 2 AND answer < 10 AND bucket LIKE 'l%'");
        let found = log(&options(std::slice::from_ref(name), condition, None));
        assert_eq!(content(&found), content(&by_hand), "{name}");
        assert!(
            found
                .facts
                .notes
                .iter()
                .any(|note| note.contains("bucket LIKE 'l%'"))
        );
    }
    let asks = |condition: &str| options(&files[..1], Some(condition), None);
    refused(
        &asks("answer > 100"),
        &["`condition = answer > 100`", "no row of", "log.csv"],
    );
    refused(&asks("anwser > 1"), &["`condition = anwser > 1`", "anwser"]);
    refused(&asks("answer >"), &["`condition = answer >`"]);
    refused(&asks("bucket"), &["`condition = bucket`"]);
    refused(&asks("count(*) > 1"), &["`condition = "]);
    let odd = file(place.path(), "odd.csv", csv(&all) + "a,many,low\n");
    let odd = options(&[odd], Some("answer > 1"), None);
    refused(
        &odd,
        &[
            "odd.csv, row 5002, column 2",
            "many",
            "neither number nor date",
        ],
    );
    refused(&asks("random() < 0.5"), &["`condition = ", "chance"]);
    refused(
        &asks("now() > '2026-01-01'"),
        &["`condition = ", "time of day"],
    );
}

/// Statistics in a file leave out what is not a number: nothing may be concluded from them.
#[test]
fn what_statistics_of_a_file_leave_out_is_read_all_the_same() {
    let place = tempfile::tempdir().unwrap();
    let labeled = |name: &str, odd: f64, value: f64| {
        let path = place.path().join(name);
        let secrets: Vec<&str> = (0..2_000).map(|row| ["a", "b"][row % 2]).collect();
        let seen = (0..2_000).map(|row| if row % 4 == 1 { odd } else { value });
        write(
            &path,
            vec![
                ("secret", Arc::new(StringArray::from(secrets)) as ArrayRef),
                ("seen", Arc::new(Float64Array::from_iter_values(seen))),
            ],
        );
        ReadOptions {
            categorical: vec!["seen".into()],
            ..options(&[path.to_str().unwrap().to_owned()], None, None)
        }
    };
    for options in [
        labeled("nan.parquet", f64::NAN, 1.0),
        labeled("zero.parquet", -0.0, 0.0),
    ] {
        assert_eq!(log(&options).observations.len(), 2);
        assert_same(&options);
    }
    let mut above = labeled("above.parquet", f64::NAN, 1.0);
    above.engine.as_mut().unwrap().condition = Some("seen > 2".into());
    // SQL puts what is not a number above all numbers.
    refused(&above, &["only one secret"]);
    let mut as_numbers = labeled("number.parquet", f64::NAN, 1.0);
    as_numbers.categorical.clear();
    refused(
        &as_numbers,
        &["number.parquet, row 2, column seen", "not a finite number"],
    );
}

#[test]
fn dates_and_codes_are_compared_as_what_they_are() {
    let place = tempfile::tempdir().unwrap();
    let mut text = "secret,at,code,took,x\n".to_owned();
    for row in 0..240 {
        writeln!(
            text,
            "{},2026-01-{:02}T{:02}:00:00+02:00,{:03},{}ms,{}",
            ["a", "b"][row % 2],
            1 + row / 24,
            row % 24,
            row % 7,
            row,
            row % 5
        )
        .unwrap();
    }
    let name = file(place.path(), "log.csv", text);
    let asks = |condition: &str| options(std::slice::from_ref(&name), Some(condition), None);
    let rows = |condition: &str| log(&asks(condition)).facts.rows;
    // Two hours ahead: the first day begins at 22:00 of the day before.
    assert_eq!(rows("at < '2026-01-01'"), 2);
    assert_eq!(
        rows("at >= '2026-01-02 00:00:00' AND at < '2026-01-03'"),
        24
    );
    assert_eq!(rows("at LIKE '2026-01-01T%'"), 24);
    assert_eq!(rows("code = '003'"), 34);
    assert_eq!(rows("length(x) = 1"), 240);
    refused(&asks("took > '100ms'"), &["`condition = ", "durations"]);
}

#[test]
fn files_of_different_types_are_put_together_as_they_are_written() {
    let place = tempfile::tempdir().unwrap();
    let big = 1_i64 << 53;
    let part = |name: &str, seen: ArrayRef| {
        let path = place.path().join(name);
        let secrets: Vec<&str> = (0..seen.len()).map(|row| ["a", "b"][row % 2]).collect();
        write(
            &path,
            vec![
                ("secret", Arc::new(StringArray::from(secrets)) as ArrayRef),
                ("seen", seen),
            ],
        );
        path.to_str().unwrap().to_owned()
    };
    let files = [
        part(
            "whole.parquet",
            Arc::new(Int64Array::from(vec![big, big + 1, 3, 3])),
        ),
        part(
            "real.parquet",
            Arc::new(Float64Array::from(vec![0.5, 0.5, 3.0, 3.0])),
        ),
        file(place.path(), "text.csv", "secret,seen\na,3\nb,0.5\n"),
    ];
    let mixed = ReadOptions {
        categorical: vec!["seen".into()],
        ..options(&files, None, None)
    };
    assert_eq!(log(&mixed).observations.len(), 4);
    assert_same(&mixed);
    // A blank cell is a blank text beside a typed file too, and a name may have blanks around it.
    let spaced = place.path().join("spaced.parquet");
    write(
        &spaced,
        vec![
            (
                "secret",
                Arc::new(StringArray::from(vec!["a", "b"])) as ArrayRef,
            ),
            (" seen ", Arc::new(StringArray::from(vec!["x", "y"]))),
        ],
    );
    let spaced = spaced.to_str().unwrap().to_owned();
    let blank = file(place.path(), "blank.csv", "secret,seen\na,\nb,x\n");
    assert_same(&options(&[spaced, blank], None, None));
    let nobody = ReadOptions {
        secrets: vec!["nobody".into(), "noone".into()],
        ..options(&files[2..], None, None)
    };
    refused(&nobody, &["`secrets = nobody,noone`", "has no row"]);
}

#[test]
fn a_sample_depends_on_the_rows_alone() {
    let place = tempfile::tempdir().unwrap();
    let mut words = Words(5);
    let mut rows: Vec<(String, f64)> = (0..20_000)
        .map(|row| {
            let secret = if row % 10 == 0 { "rare" } else { "often" };
            (
                secret.to_owned(),
                words.uniform() + if row % 10 == 0 { 0.3 } else { 0.0 },
            )
        })
        .collect();
    // Some rows occur several times.
    let again: Vec<_> = rows[..500].to_vec();
    rows.extend(again.iter().cloned());
    rows.extend(again);
    let text = |rows: &[(String, f64)]| {
        let lines = rows
            .iter()
            .map(|(secret, time)| format!("{secret},{time}\n"));
        format!("secret,time\n{}", lines.collect::<String>())
    };
    let one = file(place.path(), "one.csv", text(&rows));
    let found = log(&options(std::slice::from_ref(&one), None, None));
    let sampled = found.facts.sampled.as_ref().expect("a sample");
    assert_eq!(sampled.rows.iter().sum::<u64>(), 21_000);
    assert_eq!(found.facts.rows, 21_000);
    let rare = rows.iter().filter(|row| row.0 == "rare").count() as u64;
    assert_eq!(
        found.counts.rows(),
        [5_000 - rare.min(2_500), rare.min(2_500)]
    );
    // The same rows in another order, in other files, in other formats.
    rows.reverse();
    let middle = rows.len() / 2;
    let secrets: Vec<&str> = rows[middle..].iter().map(|row| row.0.as_str()).collect();
    let times: Vec<f64> = rows[middle..].iter().map(|row| row.1).collect();
    let path = place.path().join("two.parquet");
    write(
        &path,
        vec![
            ("secret", Arc::new(StringArray::from(secrets)) as ArrayRef),
            ("time", Arc::new(Float64Array::from(times))),
        ],
    );
    let parts = [
        file(place.path(), "one-part.csv", text(&rows[..middle])),
        file(place.path(), "two-part.csv", text(&rows[middle..])),
    ];
    assert_eq!(content(&log(&options(&parts, None, None))), content(&found));
    for threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let again = pool.install(|| log(&options(std::slice::from_ref(&one), None, None)));
        assert_eq!(content(&again), content(&found), "{threads} threads");
    }
    let other_seed = ReadOptions {
        seed: 1,
        ..options(&[one], None, None)
    };
    assert_ne!(content(&log(&other_seed)), content(&found));
}

/// Rows that occur once and rows that occur often are drawn alike.
#[test]
fn every_row_is_as_likely_to_be_drawn() {
    let place = tempfile::tempdir().unwrap();
    // 8,000 rows that are all different and 400 that occur 10 times each.
    let mut text = "secret,time\n".to_owned();
    for row in 0..8_000 {
        writeln!(text, "{},{}.5", ["a", "b"][row % 2], row).unwrap();
    }
    for row in 0..4_000 {
        writeln!(text, "{},{}.25", ["a", "b"][row % 2], row % 400).unwrap();
    }
    let name = file(place.path(), "log.csv", text);
    let (mut often, mut all) = (0u64, 0u64);
    for seed in 0..40 {
        let options = ReadOptions {
            seed,
            max_rows: Some(2_000),
            ..options(std::slice::from_ref(&name), None, None)
        };
        let found = log(&options);
        assert_eq!(found.counts.total(), 2_000);
        all += found.counts.total();
        for cell in found.counts.cells() {
            if found.observations.label(cell.symbol).ends_with(".25") {
                often += cell.count;
            }
        }
    }
    // A third of the rows, drawn without replacement: standard deviation below that of a binomial.
    let (expected, deviation) = (all as f64 / 3.0, (all as f64 * 2.0 / 9.0).sqrt());
    assert!(
        (often as f64 - expected).abs() < 4.0 * deviation,
        "{often} of {all}"
    );
}

#[test]
fn the_report_says_how_the_log_was_read() {
    let place = tempfile::tempdir().unwrap();
    let name = file(place.path(), "log.csv", csv(&rows(2_000, 6)));
    let report: Value =
        serde_json::from_slice(&json(&options(&[name], Some("answer < 5"), None))).unwrap();
    let notes = report["input"]["notes"].to_string();
    assert!(
        notes.contains("Only the rows for which answer < 5"),
        "{notes}"
    );
    let warnings = report["warnings"].to_string();
    assert!(warnings.contains("order-not-checked"), "{warnings}");
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let place = tempfile::tempdir().unwrap();
    let text = csv(&rows(3_000, 7));
    let of = |name: &str, text: &str| options(&[file(place.path(), name, text)], None, None);
    refused(
        &of("ragged.csv", &format!("{text}a,1\n{text}")),
        &["ragged.csv", "row 3002", "2 fields"],
    );
    refused(
        &of("blank.csv", &format!("{text},1,low\n")),
        &["blank.csv", "row 3002", "secret is blank"],
    );
    refused(
        &of("open.csv", &format!("{text}a,1,\"low\n")),
        &["open.csv", "never closed"],
    );
    refused(
        &of(
            "cut.jsonl",
            "{\"secret\":\"a\",\"x\":1}\n{\"secret\":\"b\",\"x\"",
        ),
        &["cut.jsonl", "row 2"],
    );
    let latin = [text.as_bytes(), b"a,1,l\xf6w\n"].concat();
    refused(
        &options(&[file(place.path(), "latin.csv", latin)], None, None),
        &["latin.csv", "row 3002", "UTF-8"],
    );
    refused(
        &options(&["-".into()], None, None),
        &["standard input", "`engine`"],
    );
    refused(
        &options(&["missing.csv".into()], None, None),
        &["missing.csv", "no such file"],
    );
    let in_order = ReadOptions {
        keep_order: true,
        ..of("log.csv", &text)
    };
    refused(&in_order, &["`keep_order`", "query engine"]);
    let on_cluster = ReadOptions {
        engine: Some(EngineOptions {
            cluster: Some("scheduler:50050".into()),
            ..EngineOptions::default()
        }),
        ..of("log.csv", &text)
    };
    refused(&on_cluster, &["`cluster = scheduler:50050`", "df://"]);
}

#[test]
fn a_broken_row_group_is_named() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("log.parquet");
    parquet(&path, &rows(50_000, 8));
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 3;
    bytes[middle..middle + 200].fill(0xa5);
    let name = file(place.path(), "broken.parquet", bytes);
    refused(
        &options(&[name], None, None),
        &["broken.parquet", "row group"],
    );
}
