//! Files of load generators and texts of clocks, sizes and dates, as programs write them.

use serde_json::Value;

use crate::common::Place;

fn columns(report: &Value) -> Vec<(&str, &str)> {
    let columns = report["input"]["observation"]["columns"].as_array();
    let columns = columns.expect("a list").iter();
    columns
        .filter_map(|column| Some((column["name"].as_str()?, column["type"].as_str()?)))
        .collect()
}

/// 200 rows of two secrets.
fn log(header: &str, cell: fn(usize) -> String) -> Place {
    let row = |at: usize| format!("{}\t{}\n", ["a", "b"][at * 7 % 5 % 2], cell(at));
    let rows: String = (0..200).map(row).collect();
    Place::new().file("log.tsv", format!("secret\t{header}\n{rows}"))
}

fn read(header: &str, cell: fn(usize) -> String) -> Value {
    log(header, cell).json(&["estimate", "log.tsv", "--quick"])
}

#[test]
fn the_time_of_ab_is_the_whole() {
    fn row(at: usize) -> String {
        let wait = 20 + at * 31 % 37;
        let second = at * 7919 % 9;
        format!(
            "Sun Nov 29 12:28:0{second} 2026\t{}\t1\t{wait}\t{}\t{wait}",
            1_764_419_280 + second,
            wait + 1
        )
    }
    let names = "starttime\tseconds\tctime\tdtime\tttime\twait";
    let text = |from: usize| {
        let rows: Vec<String> = (from..from + 100).map(row).collect();
        format!("{names}\n{}\n", rows.join("\n"))
    };
    let place = Place::new()
        .file("hit.tsv", text(0))
        .file("miss.tsv", text(100));
    let report = place.json(&[
        "estimate",
        "hit.tsv",
        "miss.tsv",
        "--secret-from",
        "file",
        "--quick",
    ]);
    assert_eq!(columns(&report), [("ttime", "numeric")]);
    // Whoever names the secret sees all parts; when a request was sent is still left out.
    let place = log(names, row);
    let report = place.json(&["estimate", "log.tsv", "--secret", "secret", "--quick"]);
    let names: Vec<&str> = columns(&report)
        .into_iter()
        .map(|column| column.0)
        .collect();
    assert_eq!(names, ["ctime", "dtime", "ttime", "wait"]);
}

#[test]
fn sizes_with_multiplied_units_are_numbers() {
    for cell in [
        |at: usize| match at % 3 {
            0 => format!("{}", 500 + at),
            1 => format!("{}.7 k", 1 + at % 29),
            _ => format!("{}.5M", 1 + at % 31),
        },
        |at: usize| match at % 2 {
            0 => format!("{} B", 500 + at),
            _ => format!("2.{at} GiB"),
        },
    ] {
        let report = read("size", cell);
        assert_eq!(columns(&report), [("size", "numeric")]);
        let notes = report["input"]["notes"].to_string();
        assert!(notes.contains("1 Ki is 1024"), "{notes}");
    }
    let other = log("size", |at| format!("{at} {}", ["MB", "km"][at % 2]));
    other.refuses(&["estimate", "log.tsv"], &["column size", "several units"]);
}

#[test]
fn dates_with_slashes_are_clocks_where_one_order_fits() {
    let report = read("when\tx", |at| {
        format!(
            "{:02}/11/2026 10:{:02}:00\t{}",
            1 + at / 8,
            at % 8,
            at * 31 % 37
        )
    });
    assert_eq!(columns(&report), [("x", "numeric")]);
    let unclear = log("when", |at| {
        format!("{:02}/11/2026 10:{:02}:00", 1 + at / 20, at % 20)
    });
    unclear.refuses(
        &["estimate", "log.tsv"],
        &["column when", "day and month cannot be told"],
    );
}
