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

/// Visits of three sites, as Wang et al. keep them: a time and a direction on each line.
fn cells() -> Place {
    let place = Place::new();
    std::fs::create_dir(place.path().join("cells")).expect("a directory");
    (0..3u32).fold(place, |place, site| {
        (0..40u32).fold(place, |place, visit| {
            let sign = |at: u32| ["1", "-1"][((at + site) * (visit + 3) % 7 % 2) as usize];
            let lines = (0..20 + site).map(|at| format!("0.{at:02}{visit:02}\t{}\n", sign(at)));
            let name = format!("cells/{site}-{visit}");
            place.file(&name, lines.collect::<String>())
        })
    })
}

#[test]
fn a_directory_of_visits_is_refused_with_the_lines_that_join_them() {
    let place = cells();
    for command in ["check", "estimate"] {
        place.refuses(
            &[command, "cells"],
            &["119 more files, named SITE-INSTANCE", "docs/log-formats.md"],
        );
    }
    // The direction of a packet is no secret, in whatever column and however written.
    for (name, log) in [
        ("pm.tsv", "{time}\t{pm}\n"),
        ("first.tsv", "{pm}\t{time}\n"),
        ("12.tsv", "{time}\t{12}\n"),
        ("01.tsv", "{01}\t{time}\n"),
    ] {
        let line = |at: usize| {
            let bit = at * at % 7 % 2;
            log.replace("{time}", &format!("{:.3}", at as f64 * 0.013))
                .replace("{pm}", ["1", "-1"][bit])
                .replace("{12}", ["1", "2"][bit])
                .replace("{01}", ["1", "0"][bit])
        };
        std::fs::write(
            place.path().join(name),
            (0..300).map(line).collect::<String>(),
        )
        .expect("a file");
        place.refuses(&["estimate", name], &["no column is named `secret`"]);
    }
}

#[test]
fn the_lines_of_the_book_that_join_visits_make_a_log() {
    if std::process::Command::new("python3")
        .arg("--version")
        .output()
        .is_err()
    {
        return;
    }
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/log-formats.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let section = page.split("## A file a visit").nth(1).expect("the section");
    let code = section.split("```").nth(1).expect("code");
    let place = cells();
    let made = std::process::Command::new("sh")
        .args(["-c", code.trim_start_matches("sh\n")])
        .current_dir(place.path())
        .output()
        .expect("a shell");
    assert!(made.status.success(), "{made:?}");
    let report = place.json(&["check", "visits.jsonl"]);
    assert_eq!(report["input"]["rows"], 120);
    assert_eq!(report["input"]["secrets"].as_array().map(Vec::len), Some(3));
}
