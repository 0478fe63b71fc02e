//! Parquet and Arrow IPC: the same rows give the same report as in text.

use std::sync::Arc;

use crate::common::columns::{
    arrow_file, arrow_stream, batch, numeric_batch, parquet, plain_parquet,
};
use crate::common::shapes::{json_lines, of, same_figures, zstd};
use crate::common::{Place, gzip, numeric_log, rows_of, stdout};
use arrow::array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, DictionaryArray,
    DurationMicrosecondArray, FixedSizeListArray, Float32Array, Float64Array, Int8Array,
    Int64Array, LargeStringArray, ListArray, NullArray, StringArray, StringViewArray, StructArray,
    TimestampMillisecondArray, TimestampNanosecondArray, UInt64Array,
};
use arrow::datatypes::{DataType, Field, Fields, Float64Type, Int32Type, Int64Type};
use arrow::ipc::CompressionType;
use parquet::basic::{Compression, ZstdLevel};

use serde_json::Value;

/// A report without what names the file and its form.
fn without_input(mut report: Value) -> Value {
    report.as_object_mut().expect("an object").remove("input");
    report
}

/// A column that rows are chosen by is read, also where it is not observed.
#[test]
fn rows_are_chosen_by_a_column_that_is_not_observed() {
    let text = |of: &dyn Fn(usize) -> &'static str| -> ArrayRef {
        Arc::new(StringArray::from_iter_values((0..900).map(of)))
    };
    let times = (0..900).map(|row| (row * 7919 % 1009) as f64 / 8.0);
    let rows = batch(vec![
        (
            "kind",
            text(&|row| ["wait", "send"][usize::from(row % 3 == 0)]),
        ),
        ("secret", text(&|row| ["a", "b"][row * 31 % 7 % 2])),
        ("time", Arc::new(Float64Array::from_iter_values(times))),
    ]);
    let place = Place::new().file("log.parquet", plain_parquet(&rows));
    let kept = ["--keep", "kind=wait", "--observe", "time"];
    let report = place.json(&[&["estimate", "log.parquet"], &kept[..]].concat());
    assert_eq!(report["input"]["rows"], 600);
}

#[test]
fn the_same_rows_give_the_same_report_in_every_format() {
    let rows = numeric_batch(650);
    let place = Place::with_log(numeric_log(650))
        .file("snappy.parquet", parquet(&rows, Compression::SNAPPY, true))
        .file(
            "zstd",
            parquet(&rows, Compression::ZSTD(ZstdLevel::default()), true),
        )
        .file(
            "gzip.pq",
            parquet(&rows, Compression::GZIP(Default::default()), false),
        )
        .file(
            "brotli.parquet",
            parquet(&rows, Compression::BROTLI(Default::default()), false),
        )
        .file("lz4.parquet", parquet(&rows, Compression::LZ4_RAW, true))
        .file("plain.parquet", plain_parquet(&rows))
        .file("log.arrow", arrow_file(&rows, None))
        .file(
            "lz4.arrow",
            arrow_file(&rows, Some(CompressionType::LZ4_FRAME)),
        )
        .file("log.arrows", arrow_stream(&rows, None))
        .file(
            "zstd.arrows",
            arrow_stream(&rows, Some(CompressionType::ZSTD)),
        )
        .file("log.arrows.gz", gzip(&arrow_stream(&rows, None)))
        .file("log.arrows.zst", zstd(&arrow_stream(&rows, None)));
    let report = |file: &str| place.json(&of(file, &[]));
    let expected = without_input(report("log.csv"));
    for (file, format) in [
        ("snappy.parquet", "parquet"),
        ("zstd", "parquet"),
        ("gzip.pq", "parquet"),
        ("brotli.parquet", "parquet"),
        ("lz4.parquet", "parquet"),
        ("plain.parquet", "parquet"),
        ("log.arrow", "arrow"),
        ("lz4.arrow", "arrow"),
        ("log.arrows", "arrow"),
        ("zstd.arrows", "arrow"),
        ("log.arrows.gz", "arrow"),
        ("log.arrows.zst", "arrow"),
    ] {
        let found = report(file);
        assert_eq!(found["input"]["format"], format, "{file}");
        assert_eq!(found["input"]["delimiter"], Value::Null);
        assert_eq!(found["input"]["rows"], 650);
        assert!(without_input(found) == expected, "{file}");
    }
    let piped = place.json_on(&of("-", &[]), arrow_stream(&rows, None));
    assert!(without_input(piped) == expected);
    let text = stdout(&place.run(&of("log.arrow", &["--full"])));
    assert!(text.contains("650 used; from Arrow IPC"), "{text}");
}

#[test]
fn several_files_of_any_format_are_one_log_and_another_is_learned_from() {
    let rows = numeric_batch(900);
    let reordered = rows.slice(300, 300).project(&[1, 0]).unwrap();
    let text = numeric_log(900);
    let lines: Vec<&str> = text.lines().collect();
    let place = Place::with_log(&text)
        .file("part-1.parquet", plain_parquet(&rows.slice(0, 300)))
        .file("part-2.arrow", arrow_file(&reordered, None))
        .file(
            "part-3.csv",
            format!("{}\n{}\n", lines[0], lines[601..].join("\n")),
        );
    let expected = place.json(&of("log.csv", &[]));
    same_figures(&expected, &place.json(&of("part-*", &[])));
    let place_of_text =
        |from: usize, to: usize| format!("secret,time\n{}\n", lines[from..to].join("\n"));
    let place = Place::new()
        .file("a.csv", place_of_text(1, 301))
        .file("b.csv", place_of_text(301, 901))
        .file("a.parquet", plain_parquet(&rows.slice(0, 300)))
        .file("b.parquet", plain_parquet(&rows.slice(300, 600)));
    let learned = |log: &str, fit: &str| place.json(&of(log, &["--fit-on", fit]));
    same_figures(
        &learned("b.csv", "a.csv"),
        &learned("b.parquet", "a.parquet"),
    );
}

#[test]
fn fields_of_structs_go_by_their_paths_and_lists_are_taken_apart() {
    let (secrets, times): (Vec<&str>, Vec<f64>) = rows_of(500).into_iter().unzip();
    let times: Vec<f64> = times
        .iter()
        .map(|time| (time * 1e3).round() / 1e3)
        .collect();
    let parts = ListArray::from_iter_primitive::<Int64Type, _, _>(
        secrets.iter().map(|_| Some(vec![Some(1), Some(2)])),
    );
    let of_one = |name: &str, column: ArrayRef| -> ArrayRef {
        let field = Field::new(name, column.data_type().clone(), true);
        Arc::new(StructArray::new(
            Fields::from(vec![field]),
            vec![column],
            None,
        ))
    };
    let timing = StructArray::new(
        Fields::from(vec![
            Field::new("total", DataType::Float64, true),
            Field::new("parts", parts.data_type().clone(), true),
        ]),
        vec![Arc::new(Float64Array::from(times)), Arc::new(parts)],
        None,
    );
    let rows = batch(vec![
        ("user", of_one("id", Arc::new(StringArray::from(secrets)))),
        ("timing", Arc::new(timing)),
        (
            "raw",
            of_one(
                "bytes",
                Arc::new(BinaryArray::from(vec![&b"\xff"[..]; 500])),
            ),
        ),
    ]);
    let place = Place::new()
        .file("log.jsonl", json_lines(500))
        .file("log.parquet", plain_parquet(&rows))
        .file("log.arrow", arrow_file(&rows, None))
        .file("log.arrows", arrow_stream(&rows, None));
    for list in ["first:2", "length", "sum", "set"] {
        let list = format!("timing.parts={list}");
        let options = [
            "--secret",
            "user.id",
            "--observe",
            "timing.total,timing.parts",
            "--list",
            &list,
        ];
        let expected = without_input(place.json(&of("log.jsonl", &options)));
        for file in ["log.parquet", "log.arrow", "log.arrows"] {
            assert!(
                without_input(place.json(&of(file, &options))) == expected,
                "{file} {list}"
            );
        }
    }
    // By number, and the bytes are no matter where nobody asks for them.
    let numbers = ["--secret", "1", "--observe", "2"];
    same_figures(
        &place.json(&of("log.jsonl", &numbers)),
        &place.json(&of("log.parquet", &numbers)),
    );
    place.refuses(
        &of("log.parquet", &["--secret", "user.id"]),
        &["log.parquet, column raw.bytes", "bytes", "--observe"],
    );
    place.refuses(
        &of(
            "log.parquet",
            &["--secret", "user.idd", "--observe", "timing.total"],
        ),
        &["user.idd", "did you mean `user.id`"],
    );
}

#[test]
fn lists_of_any_kind_are_texts_that_list_reads() {
    let secrets = StringArray::from_iter_values((0..60).map(|i| ["a", "b"][i % 2]));
    let lengths = |i: usize| i % 3 + 1;
    let numbers = ListArray::from_iter_primitive::<Float64Type, _, _>((0..60).map(|i| {
        Some(
            (0..lengths(i))
                .map(|j| Some(j as f64 + 0.5))
                .collect::<Vec<_>>(),
        )
    }));
    let fixed = FixedSizeListArray::from_iter_primitive::<Int32Type, _, _>(
        (0..60).map(|i| Some(vec![Some(i), Some(-i)])),
        2,
    );
    let rows = batch(vec![
        ("secret", Arc::new(secrets)),
        ("numbers", Arc::new(numbers)),
        ("fixed", Arc::new(fixed)),
    ]);
    // A slice: its lists do not begin with the first element.
    let place = Place::new()
        .file("log.parquet", plain_parquet(&rows.slice(6, 50)))
        .file("log.arrow", arrow_file(&rows.slice(6, 50), None));
    for file in ["log.parquet", "log.arrow"] {
        let report = place.json(&of(
            file,
            &["--observe", "numbers", "--list", "numbers=length"],
        ));
        assert_eq!(report["input"]["observation"]["distinct"], 3, "{file}");
        let report = place.json(&of(file, &["--observe", "fixed", "--list", "fixed=sum"]));
        assert_eq!(report["input"]["observation"]["distinct"], 1, "{file}");
        // Shorter lists are padded.
        let first = ["--observe", "numbers", "--list", "numbers=first:2"];
        let report = place.json(&of(file, &first));
        let columns = &report["input"]["observation"]["columns"];
        assert_eq!(columns[1]["name"], "numbers[2]", "{file}");
    }
}

#[test]
fn a_wide_file_has_a_column_for_each_secret() {
    let column = |shift: f64, rows: usize| -> ArrayRef {
        let value = |i: usize| (i < rows).then(|| (i * 37 % 997) as f64 / 64.0 + shift);
        Arc::new((0..300).map(value).collect::<Float64Array>())
    };
    let rows = batch(vec![("a", column(0.0, 300)), ("b", column(0.5, 250))]);
    let cell = |shift: f64, i: usize| (i * 37 % 997) as f64 / 64.0 + shift;
    let lines = (0..300).map(|i| match i < 250 {
        true => format!("{},{}\n", cell(0.0, i), cell(0.5, i)),
        false => format!("{},\n", cell(0.0, i)),
    });
    let gap = batch(vec![
        ("a", column(0.0, 300)),
        (
            "b",
            Arc::new(Float64Array::from_iter(
                (0..300).map(|i| (i != 7).then_some(i as f64)),
            )),
        ),
    ]);
    let place = Place::with_log("a,b\n".to_owned() + &lines.collect::<String>())
        .file("log.parquet", plain_parquet(&rows))
        .file("gap.parquet", plain_parquet(&gap));
    let report = |file: &str| without_input(place.json(&of(file, &["--wide"])));
    assert!(report("log.csv") == report("log.parquet"));
    place.refuses(
        &of("gap.parquet", &["--wide"]),
        &["gap.parquet, row 8, column b", "blank", "row 9"],
    );
}

#[test]
fn what_is_null_is_a_label_of_its_own_and_a_word_among_numbers() {
    let secret = |i: usize| ["a", "b"][i % 2];
    let secrets = || -> ArrayRef { Arc::new(StringArray::from_iter_values((0..400).map(secret))) };
    let seen = |i: usize| match i % 4 {
        0 => Some("x"),
        1 => None,
        _ => Some(""),
    };
    let words = batch(vec![
        ("secret", secrets()),
        (
            "seen",
            Arc::new((0..400).map(seen).collect::<StringArray>()),
        ),
    ]);
    let lines = (0..400).map(|i| match seen(i) {
        Some(text) => format!("{{\"secret\":\"{}\",\"seen\":\"{text}\"}}\n", secret(i)),
        None => format!("{{\"secret\":\"{}\",\"seen\":null}}\n", secret(i)),
    });
    let number = |i: usize| (i != 250).then_some(i as f64 / 8.0);
    let number_lines = (0..400).map(|i| {
        let time = number(i).map_or("null".to_owned(), |time| time.to_string());
        format!("{{\"secret\":\"{}\",\"time\":{time}}}\n", secret(i))
    });
    let numbers = batch(vec![
        ("secret", secrets()),
        (
            "time",
            Arc::new((0..400).map(number).collect::<Float64Array>()),
        ),
    ]);
    let nameless = batch(vec![
        (
            "secret",
            Arc::new(
                (0..400)
                    .map(|i| (i != 250).then_some("a"))
                    .collect::<StringArray>(),
            ),
        ),
        ("time", Arc::new(Float64Array::from(vec![0.5; 400]))),
        ("nothing", Arc::new(NullArray::new(400))),
    ]);
    let place = Place::new()
        .file("log.jsonl", lines.collect::<String>())
        .file("words.parquet", plain_parquet(&words))
        .file("numbers.jsonl", number_lines.collect::<String>())
        .file("numbers.parquet", plain_parquet(&numbers))
        .file("numbers.arrows", arrow_stream(&numbers, None))
        .file("nameless.arrow", arrow_file(&nameless, None));
    let report = |file: &str| without_input(place.json(&of(file, &[])));
    assert!(report("log.jsonl") == report("words.parquet"));
    for file in ["numbers.parquet", "numbers.arrows"] {
        assert!(report("numbers.jsonl") == report(file));
        place.refuses(
            &of(file, &["--numeric", "time"]),
            &[file, "row 251, column time", "is null"],
        );
    }
    place.refuses(
        &of("nameless.arrow", &[]),
        &[
            "nameless.arrow",
            "row 251, column secret",
            "the secret is null",
        ],
    );
}

/// One cell of every type, as the text that stands in the report where it is the only secret.
#[test]
fn every_value_is_the_shortest_text_that_reads_back_the_same() {
    let nanos = TimestampNanosecondArray::from(vec![1_767_225_600_000_000_001]);
    let millis = TimestampMillisecondArray::from(vec![1_767_225_600_500]);
    let decimals = Decimal128Array::from(vec![-15_000]);
    let cells: Vec<(ArrayRef, &str)> = vec![
        (Arc::new(BooleanArray::from(vec![true])), "true"),
        (Arc::new(Int8Array::from(vec![-128])), "-128"),
        (
            Arc::new(UInt64Array::from(vec![u64::MAX])),
            "18446744073709551615",
        ),
        (Arc::new(Float64Array::from(vec![0.1])), "0.1"),
        (Arc::new(Float64Array::from(vec![-3.0])), "-3"),
        (Arc::new(Float64Array::from(vec![1e-7])), "0.0000001"),
        (
            Arc::new(Float64Array::from(vec![1e21])),
            "1000000000000000000000",
        ),
        (Arc::new(Float32Array::from(vec![0.1])), "0.1"),
        (Arc::new(StringArray::from(vec!["a,\"b"])), "a,\"b"),
        (Arc::new(LargeStringArray::from(vec!["é"])), "é"),
        (
            Arc::new(StringViewArray::from(vec!["a text that is not inlined"])),
            "a text that is not inlined",
        ),
        (
            Arc::new(
                vec!["word"]
                    .into_iter()
                    .collect::<DictionaryArray<Int32Type>>(),
            ),
            "word",
        ),
        (Arc::new(Date32Array::from(vec![-1])), "1969-12-31"),
        (Arc::new(nanos), "2026-01-01T00:00:00.000000001"),
        (Arc::new(millis.clone()), "2026-01-01T00:00:00.500"),
        (
            Arc::new(millis.clone().with_timezone("+02:00")),
            "2026-01-01T00:00:00.500Z",
        ),
        (
            Arc::new(millis.with_timezone("Europe/Berlin")),
            "2026-01-01T00:00:00.500Z",
        ),
        (
            Arc::new(DurationMicrosecondArray::from(vec![-1_500_000])),
            "-PT1.5S",
        ),
        (
            Arc::new(DurationMicrosecondArray::from(vec![7])),
            "PT0.000007S",
        ),
        (
            Arc::new(decimals.clone().with_precision_and_scale(9, 4).unwrap()),
            "-1.5",
        ),
        (
            Arc::new(decimals.with_precision_and_scale(9, 0).unwrap()),
            "-15000",
        ),
    ];
    for (at, (column, text)) in cells.into_iter().enumerate() {
        let kind = column.data_type().clone();
        let rows = batch(vec![
            ("secret", column),
            ("x", Arc::new(Int64Array::from(vec![1]))),
        ]);
        let shown = text.replace('\n', "\\n").replace('"', "\\\"");
        let words = [&format!("there is only one secret, \"{shown}\"")[..]];
        let place = Place::new()
            .file("log.arrows", arrow_stream(&rows, None))
            .file("log.parquet", plain_parquet(&rows));
        place.refuses(&of("log.arrows", &[]), &words);
        // Parquet has no durations of its own, and knows them by the schema it keeps.
        place.refuses(&of("log.parquet", &[]), &words);
        eprintln!("{at} {kind} is {text}");
    }
}

#[test]
fn times_and_durations_are_read_in_seconds() {
    let secrets = || -> ArrayRef {
        Arc::new(StringArray::from_iter_values(
            (0..400).map(|i| ["a", "b"][i % 2]),
        ))
    };
    let micros = |i: usize| (i * 7919 % 1000) as i64 * 1000 + (i % 2) as i64 * 500_000;
    let took = DurationMicrosecondArray::from_iter_values((0..400).map(micros));
    let at = TimestampNanosecondArray::from_iter_values((0..400).map(|i| micros(i) * 1000));
    let seconds = Float64Array::from_iter_values((0..400).map(|i| micros(i) as f64 / 1e6));
    let log =
        |column: ArrayRef| plain_parquet(&batch(vec![("secret", secrets()), ("took", column)]));
    let place = Place::new()
        .file("took.parquet", log(Arc::new(took)))
        .file("at.parquet", log(Arc::new(at)))
        .file("seconds.parquet", log(Arc::new(seconds)));
    let numeric = ["--resolution", "took=0.25"];
    let expected = place.json(&of("seconds.parquet", &numeric));
    for file in ["took.parquet", "at.parquet"] {
        let found = place.json(&of(file, &numeric));
        same_figures(&expected, &found);
        assert!(
            found["input"]["notes"].to_string().contains("seconds"),
            "{found}"
        );
    }
}

#[test]
fn counts_secrets_resolution_and_scores_work_as_in_text() {
    let secrets = ["a", "b", "c", "a", "b", "c"];
    let seen = [0i64, 0, 0, 1, 1, 1];
    let counts = [400.0, 100.0, 250.0, 100.0, 400.0, 250.0];
    let rows = batch(vec![
        ("secret", Arc::new(StringArray::from(secrets.to_vec()))),
        ("seen", Arc::new(Int64Array::from(seen.to_vec()))),
        // As databases export the sum of counts.
        ("n", Arc::new(Float64Array::from(counts.to_vec()))),
    ]);
    let lines = (0..6).map(|i| format!("{},{},{}\n", secrets[i], seen[i], counts[i]));
    let numeric = numeric_batch(600);
    let place = Place::with_log("secret,seen,n\n".to_owned() + &lines.collect::<String>())
        .file("log.parquet", plain_parquet(&rows))
        .file("times.csv", numeric_log(600))
        .file("times.parquet", plain_parquet(&numeric));
    for (log, options) in [
        ("log", &["--count", "n"][..]),
        ("log", &["--count", "n", "--secrets", "a,b"]),
        ("log", &["--count", "3", "--observe", "2"]),
        ("times", &["--resolution", "time=0.125"]),
        ("times", &["--scores", "time", "--scorer", "given"]),
        ("times", &["--split", "blocks"]),
    ] {
        let [text, columns] = ["csv", "parquet"]
            .map(|ending| format!("{log}.{ending}"))
            .map(|file| without_input(place.json(&of(&file, options))));
        assert!(text == columns, "{options:?}");
    }
}
