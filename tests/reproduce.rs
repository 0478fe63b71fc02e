//! Recomputed figures: their data against values computed elsewhere, and the command that writes them.

use crate::common::{Place, stderr, stdout};
use leakgauge::plot::{Cell, Table};
use leakgauge::reproduce::{self, ReproduceOptions, Reproduction, entry};
use serde_json::Value;

fn golden(kind: &str) -> Vec<Value> {
    let table: Value = serde_json::from_str(include_str!("golden/reproduce.json")).unwrap();
    let all = table["entries"].as_array().unwrap();
    let found: Vec<Value> = all.iter().filter(|e| e["kind"] == kind).cloned().collect();
    assert!(!found.is_empty(), "no entries of kind {kind}");
    found
}

/// Few draws: only closed forms are compared here.
fn figure(name: &str) -> Reproduction {
    let options = ReproduceOptions {
        priors: 20,
        rows: 2_000,
        ..reproduce::options()
    };
    entry(name).unwrap().reproduce(&options).unwrap()
}

fn number(cell: &Cell) -> f64 {
    match cell {
        Cell::Number(x) => *x,
        Cell::Text(text) => text.parse().unwrap(),
        Cell::None => f64::NAN,
    }
}

/// The row whose first columns are these numbers.
fn row<'t>(table: &'t Table, key: &[f64]) -> Option<&'t [Cell]> {
    let near = |cell: &Cell, x: f64| (number(cell) - x).abs() <= 1e-12 * x.abs();
    let found = table
        .rows
        .iter()
        .find(|row| row.iter().zip(key).all(|(cell, x)| near(cell, *x)));
    found.map(Vec::as_slice)
}

fn f(entry: &Value, part: &str, name: &str) -> f64 {
    entry[part][name].as_f64().unwrap()
}

/// 1e-12 relative, or of 1 for a difference of numbers of order 1.
fn check(entry: &Value, name: &str, cell: &Cell, difference: bool) {
    let (expected, found) = (f(entry, "values", name), number(cell));
    let scale = if difference {
        expected.abs().max(1.0)
    } else {
        expected.abs()
    };
    assert!(
        (found - expected).abs() <= 1e-12 * scale,
        "{}, {name}: {found:e}, not {expected:e}",
        entry["id"]
    );
}

#[test]
fn figure_4_is_what_the_corollary_and_the_older_bound_say() {
    let found = figure("bayes-security-figure-4");
    let mut compared = 0;
    for entry in golden("fig4") {
        let Some(row) = row(&found.pictures[0].table, &[f(&entry, "params", "eps")]) else {
            continue;
        };
        check(&entry, "beta_bound", &row[1], false);
        check(&entry, "yeom_beta_bound", &row[2], true);
        compared += 1;
    }
    assert!(compared >= 5, "{compared}");
}

#[test]
fn figure_6_is_what_the_closed_forms_say() {
    let mut compared = 0;
    for (name, kind, first) in [
        ("bayes-security-figure-6a", "rr", Some("n")),
        ("bayes-security-figure-6b", "laplace_dp", None),
        ("bayes-security-figure-6c", "gaussian_dp", Some("delta")),
    ] {
        let found = figure(name);
        for entry in golden(kind) {
            let mut key: Vec<f64> = first
                .map(|first| f(&entry, "params", first))
                .into_iter()
                .collect();
            key.push(f(&entry, "params", "eps"));
            let Some(row) = row(&found.pictures[0].table, &key) else {
                continue;
            };
            check(&entry, "beta_star", &row[key.len()], false);
            check(&entry, "guess_prob", &row[key.len() + 1], false);
            compared += 1;
        }
    }
    assert!(compared >= 25, "{compared}");
}

#[test]
fn figure_7_has_the_exact_bayes_security_of_400_secrets() {
    let found = figure("bayes-security-figure-7");
    let mut compared = 0;
    for entry in golden("rr") {
        let cells = f(&entry, "params", "n") == 400.0;
        let row = row(&found.pictures[0].table, &[f(&entry, "params", "eps")]);
        if let Some(row) = row.filter(|_| cells) {
            check(&entry, "beta_star", &row[3], false);
            compared += 1;
        }
    }
    assert!(compared >= 3, "{compared}");
    let wrong = found
        .comparisons
        .iter()
        .filter(|found| !found.agrees)
        .count();
    assert_eq!((found.comparisons.len(), wrong), (6, 4));
}

#[test]
fn figure_8_has_the_bounds_of_proposition_5() {
    let found = figure("bayes-security-figure-8");
    let mut compared = 0;
    for entry in golden("fig8") {
        let left = entry["id"].as_str().unwrap().contains("left");
        let (picture, key) = if left { (0, "eps") } else { (1, "n") };
        let Some(row) = row(&found.pictures[picture].table, &[f(&entry, "params", key)]) else {
            continue;
        };
        check(&entry, "exact", &row[1], false);
        for (at, name) in ["mean_row", "any_row", "l2_diameter"]
            .into_iter()
            .enumerate()
        {
            check(&entry, name, &row[2 + at], true);
        }
        compared += 1;
    }
    assert!(compared >= 8, "{compared}");
}

#[test]
fn proposition_1_names_all_minimizers() {
    let found = figure("bayes-security-proposition-1");
    let entry = &golden("parallel")[0];
    for (picture, pairs) in [(0, "beta_pairs_single"), (1, "beta_pairs")] {
        let table = &found.pictures[picture].table;
        assert_eq!(table.rows.len(), 6);
        for row in &table.rows {
            let name = |cell: &Cell| match cell {
                Cell::Text(text) => text.trim_start_matches('s').to_owned(),
                _ => String::new(),
            };
            let key = format!("{},{}", name(&row[0]), name(&row[1]));
            let expected = entry["values"][pairs][&key].as_f64().unwrap();
            assert!((number(&row[2]) - expected).abs() < 1e-12, "{key}");
        }
    }
    let said: Vec<&str> = found
        .comparisons
        .iter()
        .map(|found| found.recomputed.as_str())
        .collect();
    assert_eq!(
        said,
        [
            "0.6",
            "(s1, s3), (s1, s4), (s2, s4), (s3, s4)",
            "0.36",
            "(s1, s4), (s2, s4), (s3, s4)"
        ]
    );
    assert!(
        found.notes[0]
            .contains("(s1, s3) for one use, with 0.40, and (s2, s4) for two uses, with 0.25")
    );
}

/// The errata: what differs from the printed text, and nothing else.
#[test]
fn exactly_the_known_misprints_differ() {
    let found = figure("bayes-security-numbers");
    let differ = found.comparisons.iter().filter(|found| !found.agrees);
    let places: Vec<&str> = differ.map(|found| found.place).collect();
    assert_eq!(
        places,
        [
            "Proposition 1",
            "Proposition 1",
            "Figure 3, left",
            "Figure 3, left",
            "eq. (21)",
            "footnote 3",
            "section VI-B",
            "appendix H",
            "appendix H",
            "appendix H",
            "appendix H",
            "appendix I",
        ]
    );
}

#[test]
fn a_figure_is_written_as_data_and_picture_and_never_over_another() {
    let place = Place::new();
    let name = "bayes-security-figure-4";
    let output = place.run(&["reproduce", name]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(
        text.contains("bayes-security-figure-4.csv")
            && text.contains("bayes-security-figure-4.svg"),
        "{text}"
    );
    let svg = std::fs::read_to_string(place.path().join("bayes-security-figure-4.svg")).unwrap();
    roxmltree::Document::parse(&svg).unwrap();
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 2);

    place.refuses(&["reproduce", name], &["is already there", "--force"]);
    std::fs::write(place.path().join("bayes-security-figure-4.csv"), "old").unwrap();
    assert!(place.run(&["reproduce", name, "--force"]).status.success());
    let csv = std::fs::read_to_string(place.path().join("bayes-security-figure-4.csv")).unwrap();
    assert!(
        csv.starts_with("epsilon,bayes_security_corollary_2,"),
        "{csv}"
    );
    assert_eq!(
        std::fs::read_to_string(place.path().join("bayes-security-figure-4.svg")).unwrap(),
        svg
    );
}

#[test]
fn wrong_names_and_directories_are_refused() {
    let place = Place::new().file("file", "");
    place.refuses(
        &["reproduce", "bayes-security-figure-66"],
        &["did you mean bayes-security-figure-6"],
    );
    place.refuses(&["reproduce", "nothing"], &["--list"]);
    let name = "bayes-security-figure-4";
    place.refuses(
        &["reproduce", name, "--out", "missing"],
        &["missing", "no such directory"],
    );
    place.refuses(
        &["reproduce", name, "--out", "file"],
        &["file", "is not a directory"],
    );
    place.refuses(
        &["reproduce", name, "--data", "people.csv"],
        &["--data", "figure-7"],
    );
    let people = ["reproduce", "bayes-security-figure-7", "--data"];
    place.refuses(&[&people[..], &["missing.csv"]].concat(), &["missing.csv"]);
    place.refuses(&[&people[..], &["file"]].concat(), &["file"]);
}

/// For any user: a directory has the name of a file.
#[test]
fn nothing_is_left_of_a_file_that_cannot_be_written() {
    let place = Place::new();
    let name = "bayes-security-figure-4";
    std::fs::create_dir_all(place.path().join("bayes-security-figure-4.csv/x")).unwrap();
    place.refuses(
        &["reproduce", name, "--force"],
        &["bayes-security-figure-4.csv", "cannot be written"],
    );
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1);
}

/// Root may write anywhere: then there is nothing to see.
#[cfg(unix)]
#[test]
fn a_directory_that_cannot_be_written_to_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let directory = place.path().join("closed");
    std::fs::create_dir(&directory).unwrap();
    std::fs::set_permissions(&directory, PermissionsExt::from_mode(0o555)).unwrap();
    if std::fs::write(directory.join("probe"), "").is_ok() {
        eprintln!("skipped: the directory can be written to by this user");
        return;
    }
    place.refuses(
        &["reproduce", "bayes-security-figure-4", "--out", "closed"],
        &["cannot be written"],
    );
}

#[test]
fn the_list_names_every_figure() {
    let place = Place::new();
    let text = stdout(&place.run(&["reproduce", "--list"]));
    let json = place.json(&["reproduce", "--list"]);
    let figures = json["figures"].as_array().unwrap();
    let names: Vec<&str> = figures
        .iter()
        .map(|figure| figure["name"].as_str().unwrap())
        .collect();
    for name in &names {
        assert!(text.contains(name), "{name} is not in {text}");
    }
    let distinct: std::collections::BTreeSet<&&str> = names.iter().collect();
    assert_eq!(distinct.len(), names.len(), "{names:?}");
    let of = |paper: &str| names.iter().filter(|name| name.starts_with(paper)).count();
    assert_eq!((of("bayes-security-"), of("reidentification-")), (10, 4));
    assert_eq!((of("shuffle-information-"), of("shuffle-flow-")), (3, 7));
    assert_eq!(of("dsigma-"), 9);
}

#[test]
fn people_of_a_file_are_protected() {
    let mut people = "age,sex\n".to_owned();
    for k in 0..300 {
        people.push_str(&format!(
            "{},{}\n",
            k % 5,
            if k % 3 == 0 { "f" } else { "m" }
        ));
    }
    let place = Place::new().file("people.csv", people);
    let name = "bayes-security-figure-7";
    let arguments = [
        "reproduce",
        name,
        "--data",
        "people.csv",
        "--cells",
        "12",
        "--out",
        ".",
    ];
    let json = place.json(&arguments);
    let notes = json["figures"][0]["notes"][0].as_str().unwrap();
    assert!(notes.contains("300 people in 12 cells"), "{notes}");
    place.refuses(
        &[&arguments[..5], &["9", "--force"]].concat(),
        &["--cells 9", "has 10"],
    );
}
