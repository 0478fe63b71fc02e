//! Logs of other tools are read without options, and the report says how.

use std::fmt::Write as _;
use std::io::Write as _;

use serde_json::{Value, json};

use crate::common::{Place, gzip, rows_of, stdout};

/// Rows that tell two secrets apart, as lines made by `line`.
fn lines(rows: usize, mut line: impl FnMut(usize, &str, f64) -> String) -> String {
    let rows = rows_of(rows).into_iter().enumerate();
    rows.map(|(at, (secret, time))| line(at, secret, time) + "\n")
        .collect()
}

fn check(place: &Place, arguments: &[&str]) -> Value {
    place.json(&[&["check"], arguments].concat())
}

fn secrets(report: &Value) -> Vec<(&str, u64)> {
    let secrets = report["input"]["secrets"].as_array().expect("secrets");
    secrets
        .iter()
        .map(|secret| {
            let rows = secret["rows"].as_u64().expect("rows");
            (secret["label"].as_str().expect("a label"), rows)
        })
        .collect()
}

#[test]
fn a_wide_timing_file_of_tlsfuzzer_is_recognized_by_name_and_shape() {
    let mut text = "valid,bad padding,bad mac\n".to_owned();
    let times: Vec<f64> = rows_of(900).into_iter().map(|row| row.1).collect();
    for block in times.chunks(3) {
        writeln!(text, "{:e},{:e},{:e}", block[0], block[1], block[2]).expect("memory");
    }
    let place = Place::new()
        .file("timing.csv", &text)
        .file("other.csv", &text);
    let report = check(&place, &["timing.csv"]);
    assert_eq!(report["input"]["recognized"], "tlsfuzzer-timing");
    assert_eq!(report["input"]["wide"], true);
    let expected = [("bad mac", 300), ("bad padding", 300), ("valid", 300)];
    assert_eq!(secrets(&report), expected);
    let text = stdout(&place.run(&["estimate", "timing.csv", "--quick", "--full"]));
    assert!(
        text.contains("Recognized as timing.csv of tlsfuzzer"),
        "{text}"
    );
    let report = place.json(&["estimate", "timing.csv", "--quick"]);
    let differences = report["differences"].as_array().expect("in blocks");
    assert_eq!(differences.len(), 3);
    // Seconds are known, so that a claim in nanoseconds needs no option.
    let judged = place.run(&[
        "audit",
        "timing.csv",
        "--quick",
        "--claim",
        "time-difference(1ns)",
    ]);
    assert!(
        matches!(judged.status.code(), Some(0 | 1 | 3)),
        "{judged:?}"
    );
    // The shape alone could be a table of any numbers.
    place.refuses(&["estimate", "other.csv"], &["no column is named `secret`"]);
}

#[test]
fn measurements_of_tlsfuzzer_are_block_class_and_value() {
    let place = Place::new().file(
        "measurements.csv.gz",
        gzip(
            lines(400, |at, _, time| {
                format!("{},{},{:e}", at / 2, 255 + at % 2, time)
            })
            .as_bytes(),
        ),
    );
    let report = check(&place, &["measurements.csv.gz"]);
    let input = &report["input"];
    assert_eq!(input["recognized"], "tlsfuzzer-measurements");
    assert_eq!(input["secret_column"], "2");
    assert_eq!(secrets(&report), [("255", 200), ("256", 200)]);
    let parts: Vec<&str> = report["columns"]
        .as_array()
        .expect("columns")
        .iter()
        .map(|column| column["part"].as_str().expect("a part"))
        .collect();
    assert_eq!(parts, ["block", "secret", "observation"]);
    assert_eq!(report["first_rows"][0][1], "255");
}

#[test]
fn the_only_column_of_a_few_labels_is_the_secret_and_that_is_said() {
    let times = lines(300, |_, secret, time| format!("{secret};{:.0}", time * 1e6));
    let place = Place::new()
        .file("times.csv", format!("Kind;Value\n{times}"))
        .file("x.csv", times.replace(';', ","));
    let report = check(&place, &["times.csv"]);
    assert_eq!(report["input"]["secret_chosen"], true);
    assert_eq!(report["input"]["secret_column"], "Kind");
    assert_eq!(
        report["command"],
        "leakgauge estimate times.csv --secret Kind"
    );
    let text = stdout(&place.run(&["estimate", "times.csv", "--quick", "--full"]));
    assert!(
        text.contains("column Kind (no column is named `secret`"),
        "{text}"
    );
    let report = check(&place, &["x.csv"]);
    assert_eq!(report["input"]["secret_column"], "1");
}

#[test]
fn two_columns_that_could_be_the_secret_are_an_error() {
    let two = lines(300, |at, secret, time| {
        format!("{secret},{},{time}", ["x", "y"][at % 2])
    });
    let unlike = lines(300, |at, _, time| format!("user{at},{time}"));
    let blank = lines(300, |at, secret, time| {
        format!("{},{time}", if at == 40 { "" } else { secret })
    });
    let numbers = lines(300, |at, _, time| format!("{},{time}", at % 3));
    for rows in [two, unlike, blank, numbers] {
        let place = Place::with_log(
            format!("first,second\n{rows}").replacen(
                "first,second",
                if rows
                    .lines()
                    .next()
                    .is_some_and(|row| row.split(',').count() == 3)
                {
                    "first,second,third"
                } else {
                    "first,second"
                },
                1,
            ),
        );
        place.refuses(
            &["estimate", "log.csv"],
            &[
                "no column is named `secret`",
                "say which it is with --secret ",
            ],
        );
    }
}

#[test]
fn a_second_file_has_the_secret_of_the_first() {
    let both = lines(300, |_, secret, time| format!("{secret},{time}"));
    let one = lines(300, |_, _, time| format!("a,{}", time + 2.0));
    let place = Place::new()
        .file("1.csv", format!("V1,V2\n{both}"))
        .file("2.csv", format!("V1,V2\n{one}"));
    let report = check(&place, &["1.csv", "2.csv"]);
    let rows: u64 = secrets(&report).iter().map(|secret| secret.1).sum();
    assert_eq!(rows, 600);
}

#[test]
fn a_dump_of_two_classes_is_recognized_with_commas_and_with_spaces() {
    let dump = |separator: &str| {
        lines(300, |_, secret, time| {
            format!("{}{separator}{:.0}", u8::from(secret == "b"), time * 1e6)
        })
    };
    let place = Place::new()
        .file("commas.txt", dump(","))
        .file("spaces.txt", dump(" "))
        .file("named.csv", format!("class,ticks\n{}", dump(",")))
        .file("bits.csv", format!("bit,ticks\n{}", dump(",")));
    for name in ["commas.txt", "spaces.txt", "named.csv"] {
        let report = check(&place, &[name]);
        assert_eq!(report["input"]["recognized"], "two-classes", "{name}");
        let labels: Vec<&str> = secrets(&report).iter().map(|secret| secret.0).collect();
        assert_eq!(labels, ["0", "1"]);
    }
    place.refuses(&["estimate", "bits.csv"], &["no column is named `secret`"]);
}

#[test]
fn counted_lines_are_rows_with_counts() {
    let text =
        "      1 secret,color\n     17 a,red\n    120 a,blue\n     80 b,red\n      9 b,blue\n";
    let place = Place::with_log(text).file("sorted.txt", "      9 b,blue\n      1 secret,color\n");
    let report = check(&place, &["log.csv"]);
    assert_eq!(report["input"]["recognized"], "counted-lines");
    assert_eq!(report["input"]["aggregated"], true);
    assert_eq!(secrets(&report), [("a", 137), ("b", 89)]);
    place.refuses(
        &["check", "sorted.txt", "--secret", "2"],
        &["sorted.txt, row 2", "is a header between rows"],
    );
}

#[test]
fn an_export_of_hyperfine_has_the_command_as_secret() {
    let times = |from: f64| -> Vec<f64> { (0..60).map(|at| from + f64::from(at) / 1e4).collect() };
    let result =
        |command: &str, from: f64| json!({"command": command, "mean": 0.1, "times": times(from)});
    let export = |results: &[Value]| json!({ "results": results }).to_string();
    let place = Place::new()
        .file(
            "bench.json",
            export(&[result("fast", 0.1), result("slow", 0.2)]),
        )
        .file(
            "twice.json",
            export(&[result("fast", 0.1), result("fast", 0.2)]),
        )
        .file("broken.json", &export(&[result("fast", 0.1)])[..200]);
    let report = check(&place, &["bench.json"]);
    assert_eq!(report["input"]["recognized"], "hyperfine");
    assert_eq!(report["input"]["format"], "hyperfine");
    assert_eq!(secrets(&report), [("fast", 60), ("slow", 60)]);
    place.refuses(
        &["check", "twice.json"],
        &["`fast` twice", "a name of its own"],
    );
    place.refuses(&["check", "broken.json"], &["is no export of hyperfine"]);
}

#[test]
fn a_json_array_is_read_like_json_lines() {
    let rows: Vec<Value> = rows_of(200)
        .into_iter()
        .map(|(secret, time)| json!({"secret": secret, "timing": {"total": time}}))
        .collect();
    let pretty = serde_json::to_string_pretty(&rows).expect("JSON");
    let place = Place::new()
        .file("log.json", &pretty)
        .file("open.json", pretty.trim_end_matches(']'))
        .file("numbers.json", "[1, 2]")
        .file("behind.json", format!("{pretty} 1"));
    let report = check(&place, &["log.json"]);
    assert_eq!(report["input"]["format"], "json-array");
    assert_eq!(report["input"]["rows"], 200);
    assert_eq!(report["columns"][1]["name"], "timing.total");
    place.refuses(&["check", "open.json"], &["open.json", "not closed"]);
    place.refuses(
        &["check", "behind.json"],
        &["something behind the JSON array"],
    );
    place.refuses(&["check", "numbers.json"], &["numbers.json, row 1"]);
}

/// An array as NumPy writes it.
fn npy(descr: &str, shape: &str, items: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut file = b"\x93NUMPY\x01\0".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(items);
    file
}

fn npz(arrays: &[(&str, Vec<u8>)], is_packed: bool) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let method = match is_packed {
        true => zip::CompressionMethod::Deflated,
        false => zip::CompressionMethod::Stored,
    };
    let options = zip::write::SimpleFileOptions::default().compression_method(method);
    for (name, array) in arrays {
        zip.start_file(format!("{name}.npy"), options)
            .expect("memory");
        zip.write_all(array).expect("memory");
    }
    zip.finish().expect("memory").into_inner()
}

/// Of an archive with more than one wide array, one is observed by its name.
#[test]
fn the_name_of_an_array_means_all_its_columns() {
    let (mut secrets, mut traces) = (Vec::new(), Vec::new());
    for row in 0..120u32 {
        secrets.push(if row % 2 == 0 { b'a' } else { b'b' });
        traces.extend((0..3).map(|column| (row * (7 + column) % 50) as u8));
    }
    let arrays = [
        ("labels", npy("'|S1'", "(120,)", &secrets)),
        ("traces", npy("'|u1'", "(120, 3)", &traces)),
        ("plaintext", npy("'|u1'", "(120, 3)", &traces)),
    ];
    let place = Place::new().file("set.npz", npz(&arrays, true));
    let report = place.json(&[
        "check",
        "set.npz",
        "--secret",
        "labels",
        "--observe",
        "traces",
    ]);
    let columns = report["input"]["observation"]["columns"]
        .as_array()
        .expect("columns");
    let names: Vec<&str> = columns
        .iter()
        .filter_map(|column| column["name"].as_str())
        .collect();
    assert_eq!(names, ["traces[1]", "traces[2]", "traces[3]"]);
    let wrong = [
        "check",
        "set.npz",
        "--secret",
        "labels",
        "--observe",
        "trace",
    ];
    place.refuses(&wrong, &["trace: no such column"]);
}

#[test]
fn arrays_of_numpy_are_columns() {
    let rows = rows_of(200);
    let secret: Vec<u8> = rows.iter().flat_map(|row| row.0.bytes()).collect();
    let times: Vec<u8> = rows.iter().flat_map(|row| row.1.to_le_bytes()).collect();
    let both: Vec<u8> = rows
        .iter()
        .flat_map(|row| [row.0.as_bytes(), &row.1.to_le_bytes()].concat())
        .collect();
    let arrays = [
        ("secret", npy("'|S1'", "(200,)", &secret)),
        ("trace", npy("'<f8'", "(200, 1)", &times)),
    ];
    let uneven = [
        ("a", npy("'<f8'", "(200,)", &times)),
        ("b", npy("'<f8'", "(100,)", &times[..800])),
    ];
    let record = "[('secret', '|S1'), ('trace', '<f8')]";
    let place = Place::new()
        .file("records.npy", npy(record, "(200,)", &both))
        .file("stored.npz", npz(&arrays, false))
        .file("packed.npz", npz(&arrays, true))
        .file("uneven.npz", npz(&uneven, true))
        .file("cut.npz", &npz(&arrays, true)[..100])
        .file("zip.csv", npz(&arrays, true))
        .file("short.npy", npy(record, "(201,)", &both));
    for name in ["records.npy", "stored.npz", "packed.npz"] {
        let report = check(&place, &[name]);
        let format = &name[name.len() - 3..];
        assert_eq!(report["input"]["format"], format, "{name}");
        assert_eq!(report["columns"][1]["name"], "trace");
        assert_eq!(report["input"]["observation"]["kind"], "numeric");
        let rows: u64 = secrets(&report).iter().map(|secret| secret.1).sum();
        assert_eq!(rows, 200);
    }
    place.refuses(&["check", "uneven.npz"], &["arrays of 100 and of 200 rows"]);
    let report = check(&place, &["uneven.npz", "--wide"]);
    assert_eq!(secrets(&report), [("a", 200), ("b", 100)]);
    place.refuses(&["check", "cut.npz"], &["broken archive"]);
    place.refuses(&["check", "zip.csv"], &["zip or spreadsheet"]);
    place.refuses(&["check", "short.npy"], &["not as long as its header says"]);
}

#[test]
fn two_files_of_fbleau_are_its_split_and_its_prior() {
    let log = |rows| {
        lines(rows, |_, secret, time| {
            format!("{},{time}", u8::from(secret == "b") * 4)
        })
    };
    let place = Place::new()
        .file("train.csv", log(400))
        .file("eval.csv", log(300))
        .file("named.csv", format!("label,x\n{}", log(300)));
    let report = place.json(&["estimate", "--like", "fbleau", "train.csv", "eval.csv"]);
    let input = &report["input"];
    assert_eq!(input["files"], json!(["eval.csv"]));
    assert_eq!(input["fit_on"], "train.csv");
    assert_eq!(input["rows"], 300);
    assert_eq!(input["recognized"], "fbleau");
    assert_eq!(report["overall"]["prior"], "empirical");
    let report = place.json(&[
        "estimate",
        "--like=fbleau",
        "eval.csv",
        "--prior",
        "uniform",
    ]);
    assert_eq!(report["overall"]["prior"], "uniform");
    place.refuses(
        &["check", "--like", "fbleau", "--header", "eval.csv"],
        &["--header", "--like fbleau", "have no header"],
    );
    place.refuses(
        &["estimate", "--like", "fbleau", "named.csv"],
        &["named.csv, row 1", "logs of F-BLEAU hold numbers only"],
    );
    place.refuses(
        &[
            "check",
            "--like",
            "fbleau",
            "train.csv",
            "eval.csv",
            "named.csv",
        ],
        &["--like fbleau", "3 are given"],
    );
}

#[test]
fn check_says_what_is_doubtful_and_measures_nothing() {
    let sorted: String = ["a", "b"]
        .iter()
        .flat_map(|secret| (0..200).map(move |at| format!("{secret},{}\n", at * 37 % 201)))
        .collect();
    let place = Place::with_log(format!("secret,time\n{sorted}"));
    let report = check(&place, &["log.csv"]);
    let codes: Vec<&str> = report["warnings"]
        .as_array()
        .expect("warnings")
        .iter()
        .map(|warning| warning["code"].as_str().expect("a code"))
        .collect();
    assert!(codes.contains(&"labels-not-interleaved"), "{codes:?}");
    assert!(report.get("worst_pair").is_none());
    let text = stdout(&place.run(&["check", "log.csv"]));
    for words in [
        "How log.csv is read",
        "Doubts",
        "leakgauge estimate log.csv",
    ] {
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn what_is_recognized_can_be_read_otherwise_and_the_notice_says_how() {
    let mut text = "valid,bad mac\n".to_owned();
    let times: Vec<f64> = rows_of(600).into_iter().map(|row| row.1).collect();
    for block in times.chunks(2) {
        writeln!(text, "{:e},{:e}", block[0], block[1]).expect("memory");
    }
    let place = Place::new().file("timing.csv", &text);
    let said = stdout(&place.run(&["check", "timing.csv"]));
    // Lines are broken anywhere.
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "compared inside their blocks",
        "--block none",
        "--like nothing",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let quick = ["estimate", "timing.csv", "--quick"];
    assert!(place.json(&quick)["differences"].is_array());
    let by_rows = place.json(&[&quick[..], &["--block", "none"]].concat());
    assert_eq!(by_rows["input"]["recognized"], "tlsfuzzer-timing");
    let one_by_one = &by_rows["differences"][0];
    assert!(
        one_by_one["blocks"].is_null() && by_rows["blocks"].is_null(),
        "{by_rows}"
    );
    place.refuses(
        &["estimate", "timing.csv", "--like", "nothing"],
        &["no column is named `secret`"],
    );
    place.refuses(
        &[
            "check",
            "timing.csv",
            "--wide",
            "--blocks",
            "--block",
            "none",
        ],
        &["--blocks", "cannot be together with --block"],
    );
}

/// Two lists of requests: read without an option, in the order in which they were sent.
#[test]
fn an_audit_of_a_prompt_cache_is_read_as_it_is() {
    let requests = |from: usize, slow: f64| -> Vec<serde_json::Value> {
        let request = |at: usize| {
            serde_json::json!({
                "client_time": slow + (at * 7919 % 10_007) as f64 / 100_000.0,
                "server_time": 0.1,
                "sent_timestamp": 1.7e9 + (2 * at + from) as f64,
            })
        };
        (0..250).map(request).collect()
    };
    let audit = serde_json::json!({
        "cache_hit": requests(0, 0.3), "cache_miss": requests(1, 0.5), "stats": {"cache_hit": 1},
    });
    let place = Place::new().file("audit.json", audit.to_string());
    let output = place.run(&["audit", "audit.json", "--claim", "time-difference(10ms)"]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    for words in ["an audit of a prompt cache", "cache_miss", "client_time"] {
        assert!(text.contains(words), "{words}: {text}");
    }
}
