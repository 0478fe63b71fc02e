//! Logs in directories, as Hive, Spark and DuckDB write them.

use crate::common::{Place, stderr};

fn place() -> Place {
    let part = |seed: u32| {
        let rows = (0..300u32).map(|row| format!("{}\n", (row * 7 + seed * 5) % 11 + 3 * seed));
        format!("time\n{}", rows.collect::<String>())
    };
    let place = Place::new();
    for directory in [
        "logs/secret=a/day=1",
        "logs/secret=a/day=2",
        "logs/secret=b%20c/day=1",
        "plain",
        "mixed/k=1",
        "twice/time=1",
    ] {
        std::fs::create_dir_all(place.path().join(directory)).expect("a directory");
    }
    place
        .file("logs/secret=a/day=1/x.csv", part(0))
        .file("logs/secret=a/day=2/x.csv", part(1))
        .file("logs/secret=b%20c/day=1/x.csv", part(2))
        .file("logs/secret=b%20c/day=1/y.csv", part(3))
        .file("logs/_SUCCESS", String::new())
        .file("plain/a.csv", "secret,time\na,1\nb,2\n")
        .file("plain/b.csv", "secret,time\na,3\nb,4\n")
        .file("mixed/k=1/a.csv", "secret,time\na,1\nb,2\n")
        .file("mixed/b.csv", "secret,time\na,1\nb,2\n")
        .file("twice/time=1/a.csv", "secret,time\na,1\nb,2\n")
}

#[test]
fn names_of_directories_are_columns() {
    let place = place();
    let report = place.json(&["estimate", "logs", "--observe", "time"]);
    assert_eq!(report["input"]["rows"], 1200);
    assert_eq!(report["input"]["files"].as_array().map(Vec::len), Some(4));
    let secrets = report["input"]["secrets"].to_string();
    assert!(
        secrets.contains("b c") && secrets.contains("600"),
        "{secrets}"
    );
    let shown = place.json(&["check", "logs/"]);
    assert!(shown.to_string().contains("day"), "{shown}");
    // Below the directory that was named, not above it.
    let inner = place.json(&["estimate", "logs/secret=a", "--secret", "day"]);
    assert_eq!(inner["input"]["rows"], 600);
}

#[test]
fn files_below_a_directory_are_one_log() {
    let report = place().json(&["check", "plain"]);
    assert!(report.to_string().contains("plain/b.csv"), "{report}");
}

#[test]
fn directories_that_contradict_each_other_or_their_files_are_refused() {
    let place = place();
    for (arguments, says) in [
        (vec!["check", "mixed"], "give other columns"),
        (vec!["check", "twice"], "time"),
        (
            vec!["check", "logs", "--no-header"],
            "row 1 has to hold names",
        ),
        (vec!["check", "nowhere"], "no such file"),
    ] {
        let output = place.run(&arguments);
        assert_eq!(
            output.status.code(),
            Some(2),
            "{arguments:?}: {}",
            stderr(&output)
        );
        assert!(
            stderr(&output).to_lowercase().contains(says),
            "{arguments:?}: {}",
            stderr(&output)
        );
    }
}
