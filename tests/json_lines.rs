//! JSON lines and zstd: the same rows give the same figures, and what is broken is named with its row.

use crate::common::shapes::{FIELDS, json_lines, of, same_figures, zstd};
use crate::common::{Place, gzip, numeric_log};
use serde_json::Value;

#[test]
fn json_lines_are_read_by_the_paths_of_their_fields() {
    let text = json_lines(600);
    let spread = text.replace('\n', "\r\n\n");
    let place = Place::with_log(numeric_log(600))
        .file("log.jsonl", &text)
        .file("log.ndjson", spread)
        .file("log.json.gz", gzip(text.as_bytes()))
        .file("log.jsonl.zst", zstd(text.as_bytes()))
        .file("unnamed", &text);
    let expected = place.json(&of("log.csv", &[]));
    for file in [
        "log.jsonl",
        "log.ndjson",
        "log.json.gz",
        "log.jsonl.zst",
        "unnamed",
    ] {
        let found = place.json(&of(file, &FIELDS));
        same_figures(&expected, &found);
        assert_eq!(found["input"]["delimiter"], Value::Null);
        assert_eq!(found["input"]["secret_column"], "user.id");
    }
    same_figures(&expected, &place.json_on(&of("-", &FIELDS), text));
}

/// A list of runs with tests inside, in the forms that tools write.
#[test]
fn lists_of_objects_are_rows_where_their_fields_are_asked_for() {
    let tests = |run: usize| {
        let test = |at: usize| {
            let name = ["a", "b"][at % 2];
            format!(
                "{{\"name\": \"{name}\", \"time\": {}}}",
                (run * 31 + at * 17) % 97 * 1_000 + run * 20 + at
            )
        };
        (0..20).map(test).collect::<Vec<_>>().join(", ")
    };
    let run = |at: usize| format!("{{\"commit\": \"c{at}\", \"tests\": [{}]}}", tests(at));
    let runs: Vec<String> = (0..20).map(run).collect();
    let place = Place::new()
        .file("lines.jsonl", runs.join("\n"))
        .file("array.json", format!("[\n  {}\n]\n", runs.join(",\n  ")))
        .file(
            "object.json",
            format!("{{\n  \"runs\": [\n{}\n]\n}}\n", runs.join(",\n")),
        );
    let mut expected = None;
    for (file, path) in [
        ("lines.jsonl", ""),
        ("array.json", ""),
        ("object.json", "runs."),
    ] {
        let [secret, time] = ["tests.name", "tests.time"].map(|name| format!("{path}{name}"));
        let arguments = [
            "estimate",
            file,
            "--quick",
            "--secret",
            &secret,
            "--observe",
            &time,
        ];
        let found = place.json(&arguments);
        assert_eq!(found["input"]["rows"], 400, "{file}");
        let figures = found["worst_pair"]["total_variation"].clone();
        assert_eq!(*expected.get_or_insert(figures.clone()), figures, "{file}");
    }
    // Whoever does not know the path is told it.
    place.refuses(
        &["check", "lines.jsonl", "--secret", "name"],
        &[
            "column `tests` holds lists of objects",
            "--secret tests.name",
        ],
    );
    place.refuses(
        &["estimate", "lines.jsonl"],
        &[
            "no column is named `secret`",
            "such as --secret tests.name (fields: name, time)",
        ],
    );
    // Nobody asked for what the lists hold.
    let found = place.json(&["check", "lines.jsonl", "--secret", "commit"]);
    assert_eq!(found["input"]["rows"], 20);
}

#[test]
fn what_a_row_lacks_is_a_label_of_its_own() {
    let rows = (0..400).map(|i| match (i * 7) % 12 {
        0..3 => "{\"secret\":\"a\",\"seen\":\"x\"}\n",
        3..6 => "{\"secret\":\"a\",\"seen\":null}\n",
        6..9 => "{\"secret\":\"b\",\"seen\":\"\"}\n",
        _ => "{\"secret\":\"b\"}\n",
    });
    let report = Place::new()
        .file("log.jsonl", rows.collect::<String>())
        .json(&of("log.jsonl", &[]));
    assert_eq!(report["input"]["observation"]["distinct"], 4);
    assert!(report["worst_pair"]["total_variation"]["lower"].as_f64() > Some(0.8));
}

#[test]
fn json_lines_that_cannot_be_read_are_named_with_their_row() {
    let text = json_lines(50);
    for (tail, words) in [
        (
            "{\"user\":{\"id\":\"a\"},\"timing\":{\"tot",
            &["row 51", "column timing", "character 33", "truncated"][..],
        ),
        (
            "{\"user\":{\"id\":\"a\"}}\n",
            &["row 51", "column timing.total", "missing"],
        ),
        (
            "{\"user\":{\"id\":\"a\"},\"timing\":{\"total\":null}}\n",
            &["row 51", "column timing.total", "null"],
        ),
        (
            "{\"user\":{},\"timing\":{\"total\":1}}\n",
            &["row 51", "column user.id", "secret is missing"],
        ),
        (
            "{\"user\":{\"id\":null},\"timing\":{\"total\":1}}\n",
            &["row 51", "column user.id", "secret is null"],
        ),
        ("[1,2]\n", &["row 51", "not a JSON object", "jq"]),
        (
            "{\"user\":{\"id\":\"a\"},\"user\":{\"id\":\"b\"}}\n",
            &["row 51", "column user.id", "twice"],
        ),
        (
            "{\"user\":{\"id\":\"a\"},\"timing\":{\"total\":\"slow\"}}\n",
            &["row 51", "timing.total", "slow"],
        ),
    ] {
        let place = Place::new().file("log.jsonl", text.clone() + tail);
        let more = [&FIELDS[..], &["--numeric", "timing.total"]].concat();
        place.refuses(&of("log.jsonl", &more), &[&["log.jsonl"], words].concat());
    }
}

#[test]
fn files_that_are_no_json_lines_are_named() {
    let text = json_lines(50);
    let place = Place::new()
        .file("log.jsonl", [text.as_bytes(), b"{\"a\":\"\xff\"}"].concat())
        .file("pretty.json", "{\n  \"secret\": 1\n}\n")
        .file("cut.json", "{\n  \"secret\": 1,\n")
        .file("cut.jsonl", "{\"secret\": 1,\n\"seen\": 2}\n")
        .file("list.json", "[1]")
        .file("empty.jsonl", "\n\n")
        .file("nothing.jsonl", "{}\n{}\n")
        .file("good.jsonl", &text);
    place.refuses(
        &of("good.jsonl", &["--secret", "user.di"]),
        &["did you mean `user.id`"],
    );
    place.refuses(&of("log.jsonl", &FIELDS), &["row 51", "UTF-8"]);
    place.refuses(
        &of("pretty.json", &[]),
        &["pretty.json", "no observation column"],
    );
    place.refuses(&of("cut.json", &[]), &["cut.json", "is not closed"]);
    place.refuses(
        &of("cut.jsonl", &[]),
        &["cut.jsonl, row 1", "next line", "jq -c"],
    );
    place.refuses(
        &of("list.json", &[]),
        &["list.json, row 1", "not a JSON object"],
    );
    place.refuses(&of("empty.jsonl", &[]), &["empty.jsonl", "is empty"]);
    place.refuses(&of("nothing.jsonl", &[]), &["nothing.jsonl", "is empty"]);
    place.refuses(
        &of("log.jsonl", &["--no-header"]),
        &["--no-header", "leave it out"],
    );
}

#[test]
fn a_field_that_comes_up_late_is_an_error_unless_columns_are_named() {
    let row = |i: usize| format!("{{\"secret\":\"{}\",\"t\":{}.5}}\n", i % 2, (i * i) % 97);
    let late = "{\"secret\":\"0\",\"t\":1.5,\"new\":1}\n";
    let text = (0..10_500).map(row).collect::<String>() + late;
    let place = Place::new().file("log.jsonl", text);
    place.refuses(
        &of("log.jsonl", &[]),
        &["row 10501", "column new", "--observe"],
    );
    let report = place.json(&of("log.jsonl", &["--observe", "t"]));
    assert_eq!(report["input"]["rows"], 10_501);
}

#[test]
fn zstd_is_unpacked_frame_by_frame_and_what_is_broken_is_said() {
    let text = numeric_log(2_000);
    let (head, tail) = text.split_at(text.len() / 2);
    let skipped = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0], &b"abc"[..]].concat();
    let frames = [&zstd(head.as_bytes())[..], &skipped, &zstd(tail.as_bytes())].concat();
    let packed = zstd(text.as_bytes());
    let place = Place::with_log(&text)
        .file("frames.csv.zst", frames)
        .file("log.csv.zst", &packed);
    let expected = place.json(&of("log.csv", &[]));
    same_figures(&expected, &place.json(&of("frames.csv.zst", &[])));
    same_figures(&expected, &place.json(&of("log.csv.zst", &[])));
    for length in [4, 7, packed.len() / 2, packed.len() - 6, packed.len() - 1] {
        let place = Place::new().file("log.csv.zst", &packed[..length]);
        place.refuses(
            &of("log.csv.zst", &[]),
            &["log.csv.zst", "zstd", "truncated"],
        );
    }
    let mut damaged = packed;
    let middle = damaged.len() / 2;
    damaged[middle..middle + 40].fill(0x55);
    let place = Place::new().file("log.csv.zst", damaged);
    place.refuses(&of("log.csv.zst", &[]), &["log.csv.zst", "zstd", "damaged"]);
}

#[test]
fn json_lines_are_followed_like_other_logs() {
    let place = Place::new();
    let follow = ["estimate", "-", "--follow", "--every", "1000"];
    let expected = place.run_on(&follow, numeric_log(3_000));
    let found = place.run_on(&[&follow[..], &FIELDS].concat(), json_lines(3_000));
    assert!(found.status.success() && found.stdout == expected.stdout);
    let broken = place.run_on(
        &[&follow[..], &FIELDS].concat(),
        json_lines(2_000) + "{\"user\"",
    );
    assert_eq!(broken.status.code(), Some(2));
    assert!(crate::common::stderr(&broken).contains("standard input, row 2001"));
}
