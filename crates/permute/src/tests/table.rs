//! Tables of columns in memory, and what a release makes of them.

use crate::{Grouping, OrderChoice, ReleaseOptions, Table, release};
use leakgauge_exact::permutation::Distance;

fn column(name: &str, values: &[&str]) -> (String, Vec<String>) {
    let values = values.iter().map(|&value| value.to_owned()).collect();
    (name.to_owned(), values)
}

fn options() -> ReleaseOptions {
    ReleaseOptions {
        groups: Grouping::Equal { by: "g".to_owned() },
        id: None,
        alpha: 1.0,
        distance: Distance::Kendall,
        order: OrderChoice::Best,
        bound_by_width: false,
        moved: vec!["v".to_owned()],
        randomizer: None,
        values: Vec::new(),
        prior_epsilon: None,
        subsets: vec![1],
        alternative_radii: Vec::new(),
        other_files: Vec::new(),
        previous: Vec::new(),
        delta: 0.05,
        eta: 0.8,
        confidence: 0.95,
        trials: Some(0),
        seed: Some(3),
    }
}

#[test]
fn columns_in_memory_are_shuffled_as_those_of_a_file() {
    let columns = [
        column("g", &["a", "b", "a", "b", "a"]),
        column("v", &["1", "two, three", "3", "", "5"]),
    ];
    let table = Table::from_columns("memory", &columns).unwrap();
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("log.csv");
    std::fs::write(&file, "g,v\na,1\nb,\"two, three\"\na,3\nb,\na,5\n").unwrap();
    let files = [file.display().to_string()];
    let read = Table::read(&files, &Default::default()).unwrap();
    let written = |table: &Table| {
        let made = release(table, &files, &options()).unwrap();
        let mut out = Vec::new();
        made.write(table, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        (
            made.permutation,
            text.trim_start_matches("g,v\n").to_owned(),
        )
    };
    assert_eq!(written(&table), written(&read));
}

#[test]
fn randomized_values_are_those_that_are_written() {
    let columns = [
        column("g", &["a"; 6]),
        column("v", &["x", "y", "x", "y", "x", "y"]),
    ];
    let table = Table::from_columns("memory", &columns).unwrap();
    let options = ReleaseOptions {
        randomizer: Some("randomized-response(epsilon=0.5)".to_owned()),
        values: vec!["x".to_owned(), "y".to_owned()],
        ..options()
    };
    let made = release(&table, &["memory".to_owned()], &options).unwrap();
    assert_eq!(made.randomized(0), None);
    let values = made.randomized(1).unwrap();
    let mut out = Vec::new();
    made.write(&table, &mut out).unwrap();
    let received = made.permutation.iter().map(|&from| &values[from as usize]);
    let lines: String = received.map(|value| format!("a,{value}\n")).collect();
    assert_eq!(String::from_utf8(out).unwrap(), lines);
}

#[test]
fn columns_that_are_no_table_are_refused() {
    for (columns, words) in [
        (vec![], "memory: has no columns"),
        (vec![column("g", &[])], "memory: has no rows"),
        (
            vec![column("g", &["a", "b"]), column("v", &["1"])],
            "memory, column v: has 1 values where column g has 2",
        ),
    ] {
        let error = Table::from_columns("memory", &columns).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
}
