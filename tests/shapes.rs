//! Logs of other shapes than one plain CSV file: the same rows give the same figures.

use crate::common::shapes::{FIELDS, json_lines, of, rewritten, same_figures, zstd};
use crate::common::{Place, numeric_log, rows_of, stderr};

#[test]
fn files_that_match_are_one_log_sorted_by_name() {
    let text = numeric_log(700);
    let rows: Vec<&str> = text.lines().skip(1).collect();
    let mut place = Place::with_log(&text);
    std::fs::create_dir(place.path().join("logs")).unwrap();
    for (at, part) in rows.chunks(100).enumerate().rev() {
        let name = format!("logs/part-{}.csv", at + 1);
        place = place.file(&name, format!("secret,time\n{}\n", part.join("\n")));
    }
    let report = place.json(&of("logs/*.csv", &[]));
    same_figures(&place.json(&of("log.csv", &[])), &report);
    assert_eq!(
        report["warnings"],
        place.json(&of("log.csv", &[]))["warnings"]
    );
    assert_eq!(report["input"]["files"][0], "logs/part-1.csv");
    assert_eq!(report["input"]["files"].as_array().map(Vec::len), Some(7));
    let text = String::from_utf8(place.run(&of("logs/*.csv", &["--full"])).stdout).unwrap();
    assert!(
        text.contains("7 files are one log, sorted by name"),
        "{text}"
    );
    assert!(text.contains("logs/part-1.csv, logs/part-2.csv, … logs/part-7.csv (7 files)"));
    same_figures(
        &report,
        &place.json(&of("logs/part-[1-3].csv", &["logs/part-[4-7].csv"])),
    );
}

#[test]
fn files_that_do_not_fit_together_are_named() {
    let mut place = Place::new();
    std::fs::create_dir(place.path().join("logs")).unwrap();
    for part in 1..=7 {
        place = place.file(&format!("logs/part-{part}.csv"), numeric_log(20));
    }
    place.refuses(&of("logs/*.tsv", &[]), &["logs/*.tsv", "no file matches"]);
    place.refuses(&of("logs/a***", &[]), &["logs/a***", "pattern"]);
    place.refuses(
        &of("logs/*.csv", &["logs/part-2.csv"]),
        &["part-2.csv", "twice"],
    );
    let place = place.file("logs/part-7.csv", "secret,tine\na,1\n");
    place.refuses(
        &of("logs/*.csv", &[]),
        &["logs/part-7.csv", "no column `time`"],
    );
    let place = place.file("logs/part-7.csv", "secret,time,more\na,1,1\n");
    place.refuses(
        &of("logs/*.csv", &[]),
        &["logs/part-7.csv", "a column `more`"],
    );
    let place = place.file("logs/part-7.csv", "secret,time\na,1\nb,slow\n");
    place.refuses(
        &of("logs/*.csv", &["--numeric", "time"]),
        &["logs/part-7.csv, row 3, column time", "slow"],
    );
}

#[test]
fn logs_that_match_a_pattern_are_compared() {
    let place = Place::new()
        .file("b.csv", numeric_log(400))
        .file("a.csv", numeric_log(500));
    let report = place.json(&["compare", "[ab].csv", "--quick", "--budget", "1s"]);
    assert_eq!(report["logs"][0]["files"][0], "a.csv");
    assert_eq!(report["logs"][1]["files"][0], "b.csv");
    place.refuses(&["compare", "a*.csv"], &["two"]);
}

#[test]
fn a_format_may_differ_between_the_files_of_a_log() {
    let text = numeric_log(300);
    let line = |line: &str| {
        let (secret, time) = line.split_once(',').expect("two fields");
        format!("{{\"time\":{time},\"secret\":\"{secret}\"}}\n")
    };
    let place = Place::with_log(&text).file("a.csv", &text).file(
        "b.jsonl",
        text.lines().skip(1).map(line).collect::<String>(),
    );
    let twice = place.json(&of("a.csv", &["log.csv"]).map_last("copy.csv", &place));
    same_figures(&twice, &place.json(&of("a.csv", &["b.jsonl"])));
}

/// Replaces the last argument by the name of a copy of the file.
trait MapLast {
    fn map_last(self, name: &'static str, place: &Place) -> Self;
}

impl MapLast for Vec<&str> {
    fn map_last(mut self, name: &'static str, place: &Place) -> Self {
        let last = self.pop().expect("a file");
        std::fs::copy(place.path().join(last), place.path().join(name)).expect("a copy");
        self.push(name);
        self
    }
}

/// The rows of a log, a column a secret.
fn wide(rows: usize, delimiter: &str) -> String {
    let of = |wanted: &str| -> Vec<String> {
        let rows = rows_of(rows).into_iter();
        rows.filter(|(secret, _)| *secret == wanted)
            .map(|(_, time)| format!("{time:.3}"))
            .collect()
    };
    let (a, b) = (of("a"), of("b"));
    let blank = String::new();
    let row = |at: usize| {
        let cell = |column: &[String]| column.get(at).unwrap_or(&blank).clone();
        format!("{}{delimiter}{}\n", cell(&a), cell(&b))
    };
    format!("a{delimiter}b\n") + &(0..a.len().max(b.len())).map(row).collect::<String>()
}

#[test]
fn wide_files_have_a_column_for_each_secret() {
    let place = Place::with_log(numeric_log(600))
        .file("wide.csv", wide(600, ","))
        .file("wide.tsv", wide(600, "\t"))
        .file("wide.txt", wide(600, ";"))
        .file("bare.csv", wide(600, ",").split_off("a,b\n".len()));
    let expected = place.json(&of("log.csv", &[]));
    for file in ["wide.csv", "wide.tsv", "wide.txt"] {
        let found = place.json(&of(file, &["--wide"]));
        same_figures(&expected, &found);
        assert_eq!(found["input"]["wide"], true);
        assert_eq!(found["warnings"][0]["code"], "order-not-checked");
    }
    let bare = place.json(&of("bare.csv", &["--wide", "--no-header"]));
    assert_eq!(bare["input"]["secrets"][1]["label"], "2");
    assert_eq!(bare["input"]["rows"], 600);
}

#[test]
fn what_is_no_wide_file_is_refused_where_it_is_none() {
    for (text, words) in [
        (
            "a,b\n1,2\n,3\n4,5\n",
            &["row 3, column a", "blank", "row 4"][..],
        ),
        ("a,b\n1,2\n3,4,5\n", &["row 3", "3 fields", "2"]),
        (
            "a,a\n1,2\n",
            &["row 1, column 2", "two columns are named `a`"],
        ),
        ("a,\n1,2\n", &["row 1, column 2", "blank"]),
        (
            "a,b\n1.5,2.5\n3,NaN\n",
            &["row 3, column b", "NaN", "finite"],
        ),
        ("a,b\n1,\n2,\n", &["only one secret"]),
        ("a,b\n", &["no rows"]),
        ("", &["is empty"]),
    ] {
        let place = Place::with_log(text);
        place.refuses(&of("log.csv", &["--wide"]), &[&["log.csv"], words].concat());
    }
    let place = Place::with_log(wide(100, ","));
    for option in [
        ["--secret", "a"],
        ["--observe", "a"],
        ["--count", "a"],
        ["--split", "blocks"],
    ] {
        let more = [&["--wide"], &option[..]].concat();
        place.refuses(&of("log.csv", &more), &[option[0], "wide"]);
    }
    place.refuses(
        &["estimate", "log.csv", "--wide", "--follow"],
        &["--wide", "--follow"],
    );
}

#[test]
fn lists_are_observed_by_elements_length_sum_or_set() {
    let lists =
        |_: &str, time: f64| format!("\"[{time:.3}, {}, {time:.3}]\"", i64::from(time > 0.7));
    let place = Place::with_log(numeric_log(600))
        .file("lists.csv", rewritten(&numeric_log(600), lists))
        .file(
            "elements.csv",
            rewritten(&numeric_log(600), |_, time| {
                format!("{time:.3},{}", i64::from(time > 0.7))
            })
            .replace("secret,time", "secret,time,late"),
        );
    same_figures(
        &place.json(&of("log.csv", &[])),
        &place.json(&of("lists.csv", &["--list", "time=first:1"])),
    );
    let report = place.json(&of("lists.csv", &["--list", "time=first:2"]));
    same_figures(&place.json(&of("elements.csv", &[])), &report);
    assert_eq!(
        report["input"]["observation"]["columns"][1]["name"],
        "time[2]"
    );
    let many = [
        "--list",
        "time=length",
        "--list",
        "time=sum,2=set",
        "--observe",
        "time",
    ];
    let report = place.json(&of("lists.csv", &many));
    let names: Vec<&str> = report["input"]["observation"]["columns"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|column| column["name"].as_str())
        .collect();
    assert_eq!(names, ["time.length", "time.sum", "time.set"]);
    let json = rows_of(600)
        .into_iter()
        .map(|(secret, time)| format!("{{\"secret\":\"{secret}\",\"seen\":[{time:.3},7]}}\n"));
    let place = place.file("lists.jsonl", json.collect::<String>());
    same_figures(
        &place.json(&of("log.csv", &[])),
        &place.json(&of("lists.jsonl", &["--list", "seen=first:1"])),
    );
}

#[test]
fn lists_that_are_none_are_named_with_their_row_and_short_ones_are_padded() {
    let text = rewritten(&numeric_log(40), |_, time| format!("\"[{time:.3}, 1]\""));
    for (tail, words) in [
        ("a,0.5\n", "is not a list"),
        ("a,\"[1,2\"\n", "is not a list"),
        ("a,\n", "is not a list"),
        ("a,\"[1,[2]]\"\n", "at 2"),
    ] {
        let place = Place::with_log(text.clone() + tail);
        place.refuses(
            &of("log.csv", &["--list", "time=first:2"]),
            &["log.csv, row 42, column time", words],
        );
    }
    let place = Place::with_log(text.clone() + "a,\"[0.5]\"\n");
    let report = place.json(&of("log.csv", &["--list", "time=first:2"]));
    assert_eq!(report["input"]["rows"], 41);
    let place = Place::with_log(text);
    for (list, words) in [
        ("time", &["--list time", "COLUMN=first:N"][..]),
        ("time=first:0", &["first 1 to"]),
        (
            "secret=length",
            &["--list secret", "not an observation column"],
        ),
        ("time=sum,time=sum", &["--list time", "twice"]),
        ("time=first:1,time=first:2", &["--list time", "twice"]),
    ] {
        place.refuses(&of("log.csv", &["--list", list]), words);
    }
}

#[test]
fn dates_and_durations_are_seconds_where_all_of_a_column_are() {
    let seconds = numeric_log(600);
    let place = Place::with_log(&seconds)
        .file(
            "ms.csv",
            rewritten(&seconds, |_, time| format!("{:.0}ms", time * 1e3)),
        )
        .file(
            "mixed.csv",
            rewritten(&seconds, |_, time| {
                if time < 1.0 {
                    format!("{:.0} us", time * 1e6)
                } else {
                    format!("{time:.3}s")
                }
            }),
        )
        .file(
            "dates.csv",
            rewritten(&seconds, |_, time| format!("1970-01-01T00:00:0{time:.3}Z")),
        );
    let expected = place.json(&of("log.csv", &[]));
    for (file, words) in [
        ("ms.csv", "durations"),
        ("mixed.csv", "durations"),
        ("dates.csv", "dates"),
    ] {
        let found = place.json(&of(file, &[]));
        same_figures(&expected, &found);
        let notes = found["input"]["notes"][0].as_str().expect("a note");
        assert!(
            notes.contains(words) && notes.contains("seconds"),
            "{notes}"
        );
    }
    let labels = place.json(&of("ms.csv", &["--categorical", "time"]));
    assert_eq!(labels["input"]["observation"]["kind"], "discrete");
    let binned = place.json(&of("ms.csv", &["--resolution", "time=0.1"]));
    let plain = place.json(&of("log.csv", &["--resolution", "time=0.1"]));
    same_figures(&plain, &binned);
}

#[test]
fn what_is_no_duration_among_durations_is_named() {
    let tail = |text: &str| {
        rewritten(&numeric_log(10_100), |_, time| {
            format!("{:.0}ms", time * 1e3)
        }) + text
    };
    for (row, words) in [
        ("a,12\n", "not a duration"),
        ("a,12 parsecs\n", "not a duration"),
    ] {
        let place = Place::with_log(tail(row));
        place.refuses(
            &of("log.csv", &[]),
            &["log.csv, row 10102, column time", words],
        );
    }
    for row in ["a,soon\n", "a,\n"] {
        let report = Place::with_log(tail(row)).json(&of("log.csv", &[]));
        let column = &report["input"]["observation"]["columns"][0];
        assert_eq!(column["type"], "mixed");
    }
}

#[test]
fn a_decimal_comma_is_refused_where_it_stands() {
    let text = numeric_log(300).replace(',', ";").replace('.', ",");
    let place = Place::with_log(text);
    place.refuses(
        &of("log.csv", &[]),
        &[
            "log.csv, row 2, column time",
            "decimal comma",
            "--categorical time",
        ],
    );
    place.refuses(
        &of("log.csv", &["--numeric", "time"]),
        &["row 2, column time", "not a number"],
    );
    place.json(&of("log.csv", &["--categorical", "time"]));
}

/// Nothing is written before all is read.
#[test]
fn an_interrupted_run_leaves_nothing_behind() {
    use std::io::Write;
    use std::process::Stdio;
    let place = Place::new();
    let mut program = std::process::Command::new(assert_cmd::cargo::cargo_bin!("leakgauge"))
        .args(["estimate", "-", "--html", "page.html", "--plots", "plots"])
        .args(FIELDS)
        .current_dir(place.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut input = program.stdin.take().expect("a pipe");
    input
        .write_all(json_lines(20_000).as_bytes())
        .expect("rows are read");
    // Where the tests themselves run with interrupts ignored, as in the background of a script, so does the program.
    let told = ["-INT", "-TERM"].map(|signal| {
        std::process::Command::new("kill")
            .args([signal, &program.id().to_string()])
            .status()
    });
    if !told
        .into_iter()
        .all(|told| told.is_ok_and(|status| status.success()))
    {
        program.kill().expect("the program is there");
    }
    let output = program.wait_with_output().expect("it ends");
    drop(input);
    assert!(
        !output.status.success() && output.stdout.is_empty(),
        "{}",
        stderr(&output)
    );
    let left: Vec<_> = std::fs::read_dir(place.path()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

/// What is left is about all files, from the first byte on.
#[test]
fn the_meter_knows_all_files_before_the_first_is_read() {
    use leakgauge::log::{ReadMeter, ReadOptions, read};
    let text = numeric_log(100);
    let packed = zstd(text.as_bytes());
    let place = Place::with_log(&text).file("log.csv.zst", &packed);
    let path = |name: &str| place.path().join(name).to_str().expect("UTF-8").to_owned();
    let options = ReadOptions {
        files: vec![path("log.csv"), path("log.csv.zst")],
        fit_on: Some(path("absent.csv")),
        ..ReadOptions::default()
    };
    let meter = ReadMeter::default();
    assert!(read(&options, &meter).is_err());
    let size = (text.len() + packed.len()) as u64;
    assert_eq!((meter.total(), meter.read()), (size, size));
}
