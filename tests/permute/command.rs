//! What is written and reported.

use super::{files, line, read, with};
use crate::common::{Place, check_schema_of, stderr, stdout};

#[test]
fn values_move_within_reach_and_everything_else_stays() {
    let place = Place::with_log(line(300));
    let output = place.run(&with(&[
        "--permutation",
        "p.csv",
        "--group-report",
        "g.csv",
        "--report",
        "r.json",
        "--seed",
        "3",
    ]));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let (before, after) = (line(300), read(&place, "out.csv"));
    let column = |text: &str, at: usize| -> Vec<String> {
        text.lines()
            .map(|line| line.split(',').nth(at).unwrap().to_owned())
            .collect()
    };
    assert_eq!(column(&before, 0), column(&after, 0));
    assert_eq!(column(&before, 1), column(&after, 1));
    let (old, new) = (column(&before, 2), column(&after, 2));
    assert_ne!(old, new);
    let sorted = |list: &[String]| {
        let mut list = list.to_vec();
        list.sort();
        list
    };
    assert_eq!(sorted(&old), sorted(&new));
    // The permutation is what was done.
    for line in read(&place, "p.csv").lines().skip(1) {
        let (row, from) = line.split_once(',').unwrap();
        let (row, from): (usize, usize) = (row.parse().unwrap(), from.parse().unwrap());
        assert_eq!(new[row], old[from]);
    }
    assert_eq!(read(&place, "g.csv").lines().count(), 301);
    let report: serde_json::Value = serde_json::from_str(&read(&place, "r.json")).unwrap();
    check_schema_of("permute", &report);
    // Eleven rows in one piece.
    assert_eq!(
        (report["width"].as_u64(), report["sensitivity"].as_u64()),
        (Some(10), Some(55))
    );
    assert_eq!(report["dispersion"].as_f64(), Some(1.0 / 55.0));
    assert_eq!(report["alpha"], 1.0);
    assert_eq!(report["groups"]["count"], 300);
    assert_eq!(report["moved"], serde_json::json!(["illness"]));
    let text = stdout(&output);
    assert!(
        !text.contains("v17") && text.contains("Anyone who knows the seed"),
        "{text}"
    );
}

#[test]
fn the_seed_decides_and_without_one_nobody_does() {
    let place = Place::with_log(line(200));
    let run = |more: &[&str], threads: &str| {
        let output = place.run(&with(&[more, &["--force", "--threads", threads]].concat()));
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        (read(&place, "out.csv"), stdout(&output))
    };
    let first = run(&["--seed", "1"], "1");
    assert_eq!(first, run(&["--seed", "1"], "2"));
    assert_ne!(first.0, run(&["--seed", "2"], "1").0);
    assert_ne!(
        run(&["--trials", "0"], "1").0,
        run(&["--trials", "0"], "1").0
    );
    // The smaller alpha, the farther values go.
    let moved = |alpha: &str| {
        let mut arguments = with(&["--force", "--seed", "1", "--trials", "0"]);
        arguments[12] = alpha;
        assert!(place.run(&arguments).status.success());
        let text = read(&place, "out.csv");
        let far = text.lines().skip(1).zip(0i64..).map(|(line, row)| {
            let value: i64 = line.rsplit_once(",v").unwrap().1.parse().unwrap();
            (value - row).abs()
        });
        far.sum::<i64>()
    };
    assert!(moved("--alpha=0.1") > moved("--alpha=2") && moved("--alpha=2") > moved("--alpha=50"));
}

#[test]
fn every_kind_of_group_is_made() {
    let text = "id,city,lat,lon,value\n\
                a,X,52.52,13.40,1\nb,X,52.40,13.06,0\nc,Y,48.14,11.58,1\nd,Y,48.37,10.90,0\ne,Z,0,0,1\n";
    let edges = "from,to\na,b\nc,d\nd,c\n";
    let groups = "group,row\nnorth,1\nnorth,2\nsouth,3\nsouth,4\nsouth,1\n";
    let place = Place::with_log(text)
        .file("edges.csv", edges)
        .file("groups.csv", groups);
    let cases: [(&[&str], u64, u64); 6] = [
        (&["haversine", "--by", "lat,lon", "--radius", "60"], 5, 2),
        (&["distance", "--by", "lat,lon", "--radius", "0.8"], 5, 2),
        (&["nearest", "--by", "lat,lon", "--size", "2"], 5, 2),
        (
            &[
                "path",
                "--edges",
                "edges.csv",
                "--id",
                "id",
                "--radius",
                "1",
            ],
            5,
            2,
        ),
        (&["equal", "--by", "city"], 3, 2),
        (&["file", "--group-file", "groups.csv"], 2, 3),
    ];
    for (kind, count, largest) in cases {
        for distance in ["kendall", "hamming"] {
            let mut arguments = vec![
                "permute",
                "log.csv",
                "--out",
                "out.csv",
                "--move",
                "value",
                "--alpha",
                "1",
                "--force",
                "--distance",
                distance,
                "--groups",
            ];
            arguments.extend(kind);
            let report = place.json(&arguments);
            assert_eq!(report["groups"]["count"], count, "{kind:?}");
            assert_eq!(report["groups"]["largest"], largest, "{kind:?}");
            if distance == "hamming" {
                assert_eq!(report["sensitivity"], largest);
                assert!(report["groups"]["list"][0]["failure"].is_number());
            }
        }
    }
    let listed = place.json(&[
        "permute",
        "log.csv",
        "--out",
        "o2.csv",
        "--move",
        "value",
        "--alpha",
        "1",
        "--groups",
        "file",
        "--group-file",
        "groups.csv",
    ]);
    assert_eq!(listed["groups"]["uncovered"], 1);
    assert_eq!(listed["warnings"][0]["code"], "rows-in-no-group");
}

#[test]
fn values_are_randomized_first_and_the_meaning_is_told() {
    let mut text = "x,ill\n".to_owned();
    (0..4000).for_each(|row| {
        text.push_str(&format!(
            "{},{}\n",
            row % 40,
            if row % 40 < 20 { "yes" } else { "no" }
        ))
    });
    let place = Place::with_log(text);
    let report = place.json(&[
        "permute",
        "log.csv",
        "--out",
        "out.csv",
        "--move",
        "ill",
        "--groups",
        "distance",
        "--by",
        "x",
        "--radius",
        "1",
        "--alpha",
        "2",
        "--epsilon",
        "1.5",
        "--values",
        "yes,no",
        "--subsets",
        "1,10",
        "--also",
        "0,3",
        "--previous",
        "1,0.5",
        "--seed",
        "1",
        "--already-epsilon",
        "0.25",
    ]);
    // The second randomization of a value leaves the promise of the first; alphas add up.
    assert_eq!(report["epsilon"], 0.25);
    assert_eq!(report["composition"]["alpha"], 3.5);
    let others = report["other_groups"].as_array().unwrap();
    assert!(
        others[0]["alpha"].as_f64().unwrap() < 2.0 && others[1]["alpha"].as_f64().unwrap() > 2.0
    );
    let bound = &report["subsets"][0];
    let r = bound["group"].as_u64().unwrap() as f64;
    let odds = (r - 1.0) * (-(2.0 * 0.25 + 3.5f64)).exp();
    assert!((bound["odds_of_losing"].as_f64().unwrap() / odds - 1.0).abs() < 1e-12);
    // With next to no shuffle: wrong with probability 1/(1 + e^1.5) = 0.182, 730 ± 24 of 4000.
    let arguments = [
        "permute",
        "log.csv",
        "--out",
        "near.csv",
        "--move",
        "ill",
        "--groups",
        "distance",
        "--by",
        "x",
        "--radius",
        "1",
        "--alpha",
        "1e7",
        "--epsilon",
        "1.5",
        "--seed",
        "2",
        "--trials",
        "0",
    ];
    assert!(place.run(&arguments).status.success());
    let after = read(&place, "near.csv");
    let wrong = after.lines().skip(1).filter(|line| {
        let (x, ill) = line.split_once(',').unwrap();
        (x.parse::<u32>().unwrap() < 20) != (ill == "yes")
    });
    let wrong = wrong.count();
    assert!(wrong.abs_diff(730) < 145, "{wrong}");
    place.refuses(
        &[
            "permute",
            "log.csv",
            "--out",
            "b.csv",
            "--move",
            "ill",
            "--groups",
            "equal",
            "--by",
            "x",
            "--alpha",
            "1",
            "--epsilon",
            "1",
            "--values",
            "yes,maybe",
        ],
        &["is not one of --values", "row 22", "no"],
    );
    assert!(!files(&place).contains(&"b.csv".to_owned()));
}

#[test]
fn several_files_quotes_and_no_header_are_kept_as_they_are() {
    let place =
        Place::with_log("k;v\n1;\"a;b\"\n2;c\n").file("more.csv", "k;v\n3;\"say \"\"x\"\"\"\n");
    let arguments = |files: &[&'static str], more: &[&'static str]| {
        let rest = [
            "--out", "out.csv", "--groups", "distance", "--radius", "9", "--alpha", "1", "--force",
        ];
        [&["permute"], files, &rest, more].concat()
    };
    let output = place.run(&arguments(
        &["log.csv", "more.csv"],
        &["--move", "v", "--by", "k"],
    ));
    assert!(output.status.success(), "{}", stderr(&output));
    let after = read(&place, "out.csv");
    let mut lines: Vec<&str> = after.lines().collect();
    assert_eq!(lines.remove(0), "k;v");
    assert!(
        after.contains("\"a;b\"") && after.contains("\"say \"\"x\"\"\""),
        "{after}"
    );
    assert!(
        lines
            .iter()
            .zip(["1;", "2;", "3;"])
            .all(|(line, start)| line.starts_with(start))
    );
    let output = place.run_on(
        &arguments(&["-"], &["--no-header", "--move", "2", "--by", "1"]),
        "1,x\n2,y\n",
    );
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(read(&place, "out.csv").lines().count(), 2);
    place.refuses(
        &arguments(&["log.csv", "-"], &["--move", "v", "--by", "k"]),
        &["standard input", "is empty"],
    );
}

#[test]
fn without_a_file_to_write_to_nothing_is_written() {
    let place = Place::with_log(line(50));
    let before = files(&place);
    let report = place.json(&[
        "permute", "log.csv", "--move", "illness", "--groups", "distance", "--by", "x", "--radius",
        "1", "--alpha", "1",
    ]);
    assert!(report["out"].is_null() && report["width"] == 20);
    assert_eq!(files(&place), before);
}

#[test]
fn groups_of_one_row_move_nothing_and_say_so() {
    let place = Place::with_log(line(50));
    let report = place.json(&[
        "permute", "log.csv", "--out", "out.csv", "--move", "illness", "--groups", "equal", "--by",
        "name", "--alpha", "1",
    ]);
    assert!(report["dispersion"].is_null() && report["sensitivity"] == 0);
    assert_eq!(read(&place, "out.csv"), line(50));
    assert!(
        report["warnings"]
            .as_array()
            .unwrap()
            .iter()
            .any(|w| w["code"] == "nothing-moved")
    );
}

/// Rows that are alone, values that all of a group have, and degrees that are no distances.
#[test]
fn groups_that_hide_nothing_are_named() {
    let text = "city,lat,lon,illness\nx,1,1,flu\nx,1,2,flu\ny,2,1,flu\ny,2,2,cold\nz,3,3,cold\n";
    let place = Place::with_log(text);
    let codes = |groups: &[&str]| -> Vec<String> {
        let report = place.json(&[&["permute", "log.csv", "--move", "illness"], groups].concat());
        let warnings = report["warnings"].as_array().unwrap();
        let codes = warnings.iter().map(|warning| &warning["code"]);
        codes
            .map(|code| code.as_str().unwrap().to_owned())
            .collect()
    };
    let within = codes(&["--groups", "equal", "--by", "city", "--within"]);
    assert_eq!(within[..2], ["rows-alone", "equal-values"]);
    let near = codes(&[
        "--groups", "distance", "--by", "lat,lon", "--radius", "1", "--alpha", "1",
    ]);
    assert_eq!(near[..2], ["rows-alone", "degrees"]);
}

/// A page has what the report says, and replaces only pages.
#[test]
fn the_report_is_a_page_too() {
    let place = Place::with_log(line(300));
    let arguments = with(&["--seed", "3", "--force", "--html", "page.html"]);
    for _ in 0..2 {
        let output = place.run(&arguments);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    }
    let page = read(&place, "page.html");
    let text = page.trim_start_matches("<!DOCTYPE html>");
    let document = roxmltree::Document::parse(text).unwrap();
    let names = |name: &str| {
        let nodes = document.descendants();
        nodes.filter(|node| node.tag_name().name() == name).count()
    };
    assert_eq!((names("h1"), names("svg")), (1, 1));
    assert!(
        page.contains("Values that stay within their group") && page.contains("leakgauge permute")
    );
    let log = with(&["--force", "--html", "log.csv"]);
    assert_eq!(place.run(&log).status.code(), Some(2));
}
