//! A log has the same figures in whatever shape it comes.

use crate::common::{Place, gzip, numeric_log, rows_of, stderr};
use serde_json::Value;

/// What must not depend on the shape of the file.
fn figures(report: &Value) -> String {
    let keys = [
        "method",
        "worst_pair",
        "pairs",
        "overall",
        "multiplicity",
        "claims",
    ];
    let mut report = report.clone();
    forget_names(&mut report);
    keys.map(|key| report[key].to_string()).join("\n")
}

/// Columns may be called otherwise: what names or pictures them is not compared.
fn forget_names(report: &mut Value) {
    report["worst_pair"]["distributions"] = Value::Null;
    for tried in report["method"]["tried"]
        .as_array_mut()
        .into_iter()
        .flatten()
    {
        tried["in_words"] = Value::Null;
    }
}

/// The worst pair without the picture of its observations, which is in their unit.
fn worst_pair(mut report: Value) -> Value {
    forget_names(&mut report);
    report["worst_pair"].take()
}

fn same_figures(one: &Value, other: &Value) {
    assert_eq!(figures(one), figures(other));
    assert_eq!(one["input"]["rows"], other["input"]["rows"]);
    assert_eq!(one["input"]["secrets"], other["input"]["secrets"]);
}

/// Two secrets, a label and a number: `b` answers later and says `yes` more often.
fn mixed_rows(rows: usize) -> Vec<[String; 3]> {
    rows_of(rows)
        .into_iter()
        .map(|(secret, time)| {
            let answer = if time > 0.6 { "yes" } else { "no" };
            [secret.to_owned(), answer.to_owned(), format!("{time:.3}")]
        })
        .collect()
}

fn joined(rows: &[[String; 3]], delimiter: &str, end: &str) -> String {
    let mut text = ["secret", "answer", "time"].join(delimiter) + end;
    for row in rows {
        text += &(row.join(delimiter) + end);
    }
    text
}

/// A discrete log: symbol by secret, in no order that a test would notice.
fn discrete_rows(rows: usize) -> Vec<(String, String)> {
    rows_of(rows)
        .into_iter()
        .map(|(secret, time)| (secret.to_owned(), format!("s{}", (time * 4.0) as u32)))
        .collect()
}

fn csv_of(rows: &[(String, String)]) -> String {
    let body: String = rows.iter().map(|(s, o)| format!("{s},{o}\n")).collect();
    format!("secret,symbol\n{body}")
}

#[test]
fn delimiters_line_ends_packing_and_marks_do_not_matter() {
    let rows = mixed_rows(400);
    let csv = joined(&rows, ",", "\n");
    let place = Place::with_log(&csv)
        .file("log.tsv", joined(&rows, "\t", "\n"))
        .file("tabs.txt", joined(&rows, "\t", "\n"))
        .file("semicolon.csv", joined(&rows, ";", "\n"))
        .file("bar.csv", joined(&rows, "|", "\n"))
        .file("crlf.csv", joined(&rows, ",", "\r\n"))
        .file("cr.csv", joined(&rows, ",", "\r"))
        .file("mark.csv", [b"\xef\xbb\xbf", csv.as_bytes()].concat())
        .file("packed.csv.gz", gzip(csv.as_bytes()))
        .file("packed.bin", gzip(csv.as_bytes()))
        .file("spaces.csv", joined(&rows, " , ", "\n"))
        .file("blank-lines.csv", joined(&rows, ",", "\n\n"))
        .file("no-last-end.csv", csv.trim_end());
    let expected = place.json(&["estimate", "log.csv"]);
    for file in [
        "log.tsv",
        "tabs.txt",
        "semicolon.csv",
        "crlf.csv",
        "cr.csv",
        "mark.csv",
        "packed.csv.gz",
        "packed.bin",
        "spaces.csv",
        "blank-lines.csv",
        "no-last-end.csv",
    ] {
        same_figures(&expected, &place.json(&["estimate", file]));
    }
    same_figures(
        &expected,
        &place.json(&["estimate", "bar.csv", "--delimiter", "|"]),
    );
    same_figures(
        &expected,
        &place.json_on(&["estimate", "-"], csv.as_bytes()),
    );
    same_figures(
        &expected,
        &place.json_on(&["estimate", "-"], gzip(csv.as_bytes())),
    );
}

#[test]
fn packed_parts_one_after_another_are_one_file() {
    let text = numeric_log(300);
    let (head, tail) = text.split_at(text.len() / 2);
    let place = Place::with_log(&text).file(
        "parts.csv.gz",
        [gzip(head.as_bytes()), gzip(tail.as_bytes())].concat(),
    );
    same_figures(
        &place.json(&["estimate", "log.csv"]),
        &place.json(&["estimate", "parts.csv.gz"]),
    );
}

#[test]
fn quoted_fields_hold_delimiters_quotes_and_line_breaks() {
    let rows = discrete_rows(400);
    let awkward = |text: &str| match text {
        "a" => "\"a, or \"\"A\"\"\"".to_owned(),
        "b" => "\"b\nb\"".to_owned(),
        other => format!("\"{other}\""),
    };
    let quoted: Vec<_> = rows.iter().map(|(s, o)| (awkward(s), awkward(o))).collect();
    let place = Place::with_log(csv_of(&rows)).file("quoted.csv", csv_of(&quoted));
    let plain = place.json(&["estimate", "log.csv"]);
    let report = place.json(&["estimate", "quoted.csv"]);
    assert_eq!(plain["overall"], report["overall"]);
    let labels: Vec<&str> = report["input"]["secrets"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|secret| secret["label"].as_str())
        .collect();
    assert_eq!(labels, ["a, or \"A\"", "b\nb"]);
}

#[test]
fn columns_may_be_named_or_numbered_with_a_header_or_without() {
    let rows = mixed_rows(400);
    let csv = joined(&rows, ",", "\n");
    let bare = csv.split_once('\n').map_or("", |(_, body)| body);
    let place = Place::with_log(&csv).file("bare.csv", bare);
    let expected = place.json(&["estimate", "log.csv"]);
    for arguments in [
        &["estimate", "log.csv", "--secret", "1", "--observe", "2,3"][..],
        &[
            "estimate",
            "log.csv",
            "--secret",
            "secret",
            "--observe",
            "answer,time",
        ],
        &["estimate", "log.csv", "--header"],
        &["estimate", "bare.csv", "--secret", "1"],
        &["estimate", "bare.csv", "--secret", "1", "--no-header"],
    ] {
        same_figures(&expected, &place.json(arguments));
    }
    assert_eq!(expected["input"]["header"], true);
    let found = place.json(&["estimate", "bare.csv", "--secret", "1"]);
    assert_eq!(found["input"]["header"], false);
    assert_eq!(found["input"]["header_detected"], true);
}

#[test]
fn several_files_are_one_log_whatever_the_order_of_their_columns() {
    let rows = mixed_rows(400);
    let swapped: String = rows[150..]
        .iter()
        .map(|[s, a, t]| format!("{t},{s},{a}\n"))
        .collect();
    let place = Place::with_log(joined(&rows, ",", "\n"))
        .file("one.csv", joined(&rows[..150], ",", "\n"))
        .file("two.csv", format!("time,secret,answer\n{swapped}"));
    same_figures(
        &place.json(&["estimate", "log.csv"]),
        &place.json(&["estimate", "one.csv", "two.csv"]),
    );
}

#[test]
fn columns_of_one_name_stay_apart_in_every_file() {
    let rows = mixed_rows(400);
    let text = |rows: &[[String; 3]]| joined(rows, ",", "\n").replacen("answer,time", "x,x", 1);
    let place = Place::with_log(text(&rows))
        .file("one.csv", text(&rows[..150]))
        .file("two.csv", text(&rows[150..]));
    let report = place.json(&["estimate", "log.csv"]);
    assert_eq!(report["input"]["observation"]["kind"], "mixed");
    same_figures(&report, &place.json(&["estimate", "one.csv", "two.csv"]));
}

#[test]
fn aggregated_rows_are_the_rows_they_stand_for() {
    let rows = discrete_rows(600);
    let mut counts = std::collections::BTreeMap::new();
    rows.iter()
        .for_each(|row| *counts.entry(row).or_insert(0u32) += 1);
    let body: String = counts
        .iter()
        .map(|((s, o), n)| format!("{n},{s},{o}\n"))
        .collect();
    let place = Place::with_log(csv_of(&rows)).file(
        "counted.csv",
        format!("n,secret,symbol\n{body}0,c,unseen\n"),
    );
    let raw = place.json(&["estimate", "log.csv"]);
    let counted = place.json(&["estimate", "counted.csv", "--count", "n"]);
    same_figures(&raw, &counted);
    assert!(
        counted["warnings"]
            .to_string()
            .contains("order-not-checked")
    );
}

#[test]
fn the_order_of_rows_changes_nothing_but_the_warnings() {
    let mut rows = mixed_rows(400);
    let place = Place::with_log(joined(&rows, ",", "\n"));
    let expected = place.json(&["estimate", "log.csv"]);
    rows.reverse();
    let place = place.file("reversed.csv", joined(&rows, ",", "\n"));
    same_figures(&expected, &place.json(&["estimate", "reversed.csv"]));
    rows.sort();
    let place = place.file("sorted.csv", joined(&rows, ",", "\n"));
    let sorted = place.json(&["estimate", "sorted.csv"]);
    same_figures(&expected, &sorted);
    assert!(
        !expected["warnings"]
            .to_string()
            .contains("labels-not-interleaved")
    );
    assert!(
        sorted["warnings"]
            .to_string()
            .contains("labels-not-interleaved")
    );
}

#[test]
fn threads_and_repetition_change_no_byte() {
    let place = Place::with_log(joined(&mixed_rows(800), ",", "\n"));
    let bytes = |threads: &str| {
        let arguments = [
            "audit",
            "log.csv",
            "--claim",
            "advantage(0.1)",
            "--threads",
            threads,
            "--format",
            "json",
        ];
        let output = place.run(&arguments);
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        output.stdout
    };
    let one = bytes("1");
    assert!(one == bytes("3") && one == bytes("1"));
}

#[test]
fn another_log_may_be_learned_from() {
    let place = Place::with_log(numeric_log(400)).file("old.csv", numeric_log(1_000));
    let report = place.json(&["estimate", "log.csv", "--fit-on", "old.csv"]);
    assert_eq!(report["method"]["rows"]["certify"], 400);
    assert_eq!(report["input"]["rows"], 400);
    assert_eq!(report["input"]["fit_on"], "old.csv");
    let fit = report["method"]["rows"]["fit"].as_u64();
    let tune = report["method"]["rows"]["tune"].as_u64();
    assert_eq!(fit.zip(tune).map(|(fit, tune)| fit + tune), Some(1_000));
}

#[test]
fn a_narrowed_log_is_the_log_of_those_secrets() {
    let rows = mixed_rows(400);
    let mut with_others = rows.clone();
    for i in 0..100 {
        let other = ["c".to_owned(), "maybe".to_owned(), format!("{i}.5")];
        with_others.insert(3 * i, other);
    }
    let place =
        Place::with_log(joined(&rows, ",", "\n")).file("more.csv", joined(&with_others, ",", "\n"));
    let expected = place.json(&["estimate", "log.csv"]);
    let narrowed = place.json(&["estimate", "more.csv", "--secrets", "b,a"]);
    assert_eq!(figures(&expected), figures(&narrowed));
    assert_eq!(narrowed["input"]["rows"], 500);
    assert_eq!(narrowed["input"]["rows_used"], 400);
}

#[test]
fn a_resolution_is_the_log_of_bins() {
    let rows = rows_of(600);
    let binned: String = rows
        .iter()
        .map(|(secret, time)| format!("{secret},{}\n", (time * 10.0).floor()))
        .collect();
    let exact: String = rows.iter().map(|(s, t)| format!("{s},{t}\n")).collect();
    let place = Place::with_log(format!("secret,time\n{exact}"))
        .file("bins.csv", format!("secret,time\n{binned}"));
    let report = place.json(&["estimate", "log.csv", "--resolution", "time=0.1"]);
    let bins = place.json(&["estimate", "bins.csv", "--resolution", "time=1"]);
    same_figures(&report, &bins);
    assert_eq!(report["input"]["observation"]["kind"], "discrete");
    assert!(report["worst_pair"]["total_variation"]["upper"].is_number());
}

/// Bins reach from their edge to the next however far from 0 they are.
#[test]
fn bins_far_from_zero_are_as_wide_as_bins_near_it() {
    let rows = |far: u64| -> String {
        let line =
            |(secret, time): (&str, f64)| format!("{secret},{}\n", far + (time * 1e4) as u64);
        rows_of(600).into_iter().map(line).collect()
    };
    let place = Place::with_log(format!("secret,time\n{}", rows(0))).file(
        "far.csv",
        format!("secret,time\n{}", rows(5_000_000_000_000)),
    );
    let [near, far] = ["log.csv", "far.csv"]
        .map(|file| place.json(&["estimate", file, "--resolution", "time=1000"]));
    assert_eq!(near["input"]["observation"], far["input"]["observation"]);
    // The estimate of attacks that compute with the numbers themselves may differ by their rounding: it can choose
    // another attack on one of the parts, which is a matter of the estimate's standard error (0.036).
    let limits = |report: &Value| {
        let pair = &report["worst_pair"];
        [&pair["total_variation"], &pair["attack_advantage"]]
            .map(|figure| [figure["lower"].clone(), figure["upper"].clone()])
    };
    assert_eq!(limits(&near), limits(&far));
    let point = |report: &Value| report["worst_pair"]["total_variation"]["point"].as_f64();
    assert!((point(&near).unwrap() - point(&far).unwrap()).abs() < 0.05);
}

#[test]
fn labels_and_numbers_make_a_mixed_log() {
    let place = Place::with_log(joined(&mixed_rows(400), ",", "\n"));
    let report = place.json(&["estimate", "log.csv"]);
    let observation = &report["input"]["observation"];
    assert_eq!(observation["kind"], "mixed");
    assert_eq!(observation["columns"][0]["type"], "categorical");
    assert_eq!(observation["columns"][1]["type"], "numeric");
    let labels = place.json(&["estimate", "log.csv", "--categorical", "time"]);
    assert_eq!(labels["input"]["observation"]["kind"], "discrete");
    let numbers = place.json(&["estimate", "log.csv", "--observe", "time"]);
    assert_eq!(numbers["input"]["observation"]["kind"], "numeric");
}

#[test]
fn extreme_numbers_are_measured_like_others() {
    let rows = rows_of(600);
    let text = |scale: f64| -> String {
        let line = |(secret, time): &(&str, f64)| {
            format!("{secret},{:e}\n", ((time - 0.75) * 1024.0).round() * scale)
        };
        format!("secret,time\n{}", rows.iter().map(line).collect::<String>())
    };
    let place = Place::with_log(text(1.0 / 1024.0))
        .file("huge.csv", text(2f64.powi(1000)))
        .file("tiny.csv", text(f64::MIN_POSITIVE * 2f64.powi(-48)));
    let expected = worst_pair(place.json(&["estimate", "log.csv"]));
    for file in ["huge.csv", "tiny.csv"] {
        let report = place.json(&["estimate", file]);
        assert_eq!(expected, worst_pair(report), "{file}");
    }
}

#[test]
#[ignore = "long"]
fn wide_logs_and_many_secrets_are_read() {
    let names: Vec<String> = (0..10_000).map(|i| format!("c{i}")).collect();
    let mut wide = format!("secret,{}\n", names.join(","));
    for (row, (secret, time)) in rows_of(20).into_iter().enumerate() {
        let numbers: Vec<String> = (0..10_000)
            .map(|i| format!("{:.2}", time + ((row * i) % 97) as f64))
            .collect();
        wide += &format!("{secret},{}\n", numbers.join(","));
    }
    let many: String = (0..4_000)
        .map(|i| format!("{},x{}\n", i % 300, i % 7))
        .collect();
    let place = Place::with_log(wide).file("many.csv", format!("secret,x\n{many}"));
    let report = place.json(&["estimate", "log.csv"]);
    assert_eq!(
        report["input"]["observation"]["columns"]
            .as_array()
            .map(Vec::len),
        Some(10_000)
    );
    let report = place.json(&["estimate", "many.csv"]);
    let listed = report["pairs"].as_array().map(Vec::len);
    assert_eq!(listed, Some(1000));
    assert_eq!(report["pairs_left_out"], 300 * 299 / 2 - 1000);
}
